"""Names, places and streams that crashed or wrote what they should not: one sentence, or output that is safe."""

from __future__ import annotations

import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import unjudged as uj
from unjudged.cli import VERBS
from unjudged.cli.options import shown_safely
from unjudged.figures import Figure
from unjudged.results import Provenance, Result
from unjudged.statistics.draws import topic_counts

ODD = ("bell\x07", "esc\x1b[2J", "none\ufffe", "line\u2028end", "half\udc80", "nul\x00", "\x9bcsi")


def unjudged(*words: str, **how: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "unjudged", *words]
    return subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", **how)  # type: ignore[call-overload, no-any-return]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    (tmp_path / "some.run").write_text("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n2 Q0 b 1 3 x\n")
    return str(tmp_path / "qrels.txt"), str(tmp_path / "some.run")


@pytest.mark.parametrize("name", ODD)
def test_a_chart_is_drawn_whatever_a_run_is_called(name: str) -> None:
    spec = {
        "description": f"scores of {name}",
        "data": {"values": [{"run": name, name: 1.0, "value": 0.5}]},
        "mark": "bar",
        "encoding": {"x": {"field": "value", "type": "quantitative"}, "y": {"field": "run", "type": "nominal"}},
    }
    figure = Figure(spec)
    assert figure.svg().startswith("<svg")
    assert figure.png()[:4] == b"\x89PNG"
    figure.json().encode("utf-8")
    assert Figure({**spec, "description": "plain"}).spec["data"]["values"][0]["value"] == 0.5


def test_names_that_spreadsheets_and_markdown_would_obey() -> None:
    rows = [("=cmd|' /C calc'!A0", 0.5), ("[click](http://x)", -0.25), ("-12", 1.0), ("+x", 2.0)]
    result = Result(("run", "value"), lambda: rows, Provenance.of("", ()))
    assert result.render("csv").splitlines()[1].startswith("=cmd")
    safe = result.render("safe-csv").splitlines()
    assert safe[1].startswith("'=cmd") and safe[4].startswith("'+x")
    assert safe[2].endswith(",-0.25") and safe[3].startswith("-12,")
    assert "](http" not in result.render("markdown")


def test_safe_csv_is_asked_for_with_csv(files: tuple[str, str]) -> None:
    assert unjudged("score", *files, "--format", "csv", "--safe-csv").returncode == 0
    said = unjudged("score", *files, "--safe-csv")
    assert (said.returncode, said.stdout) == (2, "")


def test_a_terminal_gets_no_control_characters_of_names(files: tuple[str, str], tmp_path: Path) -> None:
    run = tmp_path / "evil\x1b]0;title\x07.run"
    run.write_bytes(Path(files[1]).read_bytes())
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "unjudged", "score", files[0], str(run), "--format", "tsv", "-m", "AP'"]
    subprocess.run(command, stdout=theirs, stderr=subprocess.DEVNULL, check=True)
    os.close(theirs)
    shown = os.read(ours, 65536)
    os.close(ours)
    assert b"\x1b" not in shown and b"\x07" not in shown and b"title" in shown
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    assert b"\x1b]0;" in piped  # a pipe gets the bytes as they are


def test_colours_stay() -> None:
    assert shown_safely(b"\x1b[1mbold\x1b[0m \x1b[2J\xc2\x9b") == b"\x1b[1mbold\x1b[0m ?[2J?"


@pytest.mark.parametrize(
    "words", [("score",), ("score", "-m", "map"), ("check",), ("trec_eval",), ("compare",)], ids=" ".join
)
def test_closed_standard_output_is_a_sentence(words: tuple[str, ...], files: tuple[str, str]) -> None:
    shell = f'exec "$0" -m unjudged {words[0]} "$1" "$2" {" ".join(words[1:])} >&-'
    said = subprocess.run(["sh", "-c", shell, sys.executable, *files], stderr=subprocess.PIPE, text=True)
    assert (said.returncode, said.stderr) == (2, "unjudged: standard output is closed\n")


def test_closed_standard_input_is_a_sentence(files: tuple[str, str]) -> None:
    shell = 'exec "$0" -m unjudged score "$1" - <&-'
    said = subprocess.run(["sh", "-c", shell, sys.executable, files[0]], capture_output=True, text=True)
    assert said.returncode == 2
    assert "standard input is closed" in said.stderr and "Traceback" not in said.stderr


@pytest.mark.parametrize(
    "words", [("score", "-o", ""), ("score", "--format", "tsv", "-o", ""), ("ci", "--junit", "")], ids=" ".join
)
def test_an_empty_file_name_is_refused(words: tuple[str, ...], files: tuple[str, str]) -> None:
    more = ("--baseline", files[1]) if words[0] == "ci" else ()
    said = unjudged(words[0], *files, *more, *words[1:])
    assert (said.returncode, said.stdout, len(said.stderr.splitlines())) == (2, "", 1)


@pytest.mark.parametrize("folder", [".", "..", "/"])
def test_a_folder_in_place_of_a_file_is_refused(folder: str, files: tuple[str, str], tmp_path: Path) -> None:
    said = unjudged("score", *files, "-o", folder, cwd=tmp_path)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == f"unjudged: {folder}: cannot be written (Is a directory); name a file in it\n"


def test_an_empty_work_folder_is_refused(files: tuple[str, str], tmp_path: Path) -> None:
    said = unjudged("study", "agreement", *files, "--workdir", "", cwd=tmp_path)
    assert said.returncode == 2 and not (tmp_path / "units").exists()


def test_who_may_read_a_file_does_not_change(files: tuple[str, str], tmp_path: Path) -> None:
    target = tmp_path / "scores.tsv"
    target.write_text("old")
    target.chmod(0o600)
    assert unjudged("score", *files, "--format", "tsv", "-o", str(target)).returncode == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert target.read_text() != "old"


def test_the_longest_file_name_can_be_written(files: tuple[str, str], tmp_path: Path) -> None:
    target = tmp_path / ("x" * 251 + ".tsv")
    assert unjudged("score", *files, "--format", "tsv", "-o", str(target)).returncode == 0
    assert target.read_text().startswith("run\t")


def test_a_file_that_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    said = unjudged("report", str(tmp_path / "no.txt"), str(tmp_path / "no.run"), "-o", str(tmp_path / "no" / "r.html"))
    assert said.returncode == 2
    assert "r.html" in said.stderr and "no.txt" not in said.stderr  # not even the judgments were looked for


@pytest.mark.parametrize("text", ['{"1": {"a": ' + "9" * 5000 + "}}", '{"1": ' * 100_000 + "1" + "}" * 100_000])
def test_json_beyond_all_bounds_is_a_sentence(text: str, files: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "big.json").write_text(text)
    for words in ((files[0], str(tmp_path / "big.json")), (str(tmp_path / "big.json"), files[1])):
        said = unjudged("score", *words)
        assert (said.returncode, said.stdout, len(said.stderr.splitlines())) == (2, "", 1)
    (tmp_path / "big.jsonl").write_text('{"topic": "1", "doc": "a", "score": ' + "9" * 5000 + "}\n")
    said = unjudged("score", files[0], str(tmp_path / "big.jsonl"))
    assert (said.returncode, len(said.stderr.splitlines())) == (2, 1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("deep.json", '{"1": ' * 100_000 + "1" + "}" * 100_000),
        ("list.json", "[" * 100_000 + "]" * 100_000),
        ("lines.jsonl", '{"run": "r", "topic": "1", "AP": 0.5}\n{"run": "s", "AP": ' + "[" * 100_000 + "}\n"),
        ("quote.csv", 'run,topic,AP\nr,1,"' + "x" * 200_000 + "\n"),
        ("twice.csv", "run,topic,AP,AP\nr,1,.5,.6\n"),
        ("twice.tsv", "run\ttopic\tmeasure\tvalue\tvalue\nr\t1\tAP\t.5\t.6\n"),
    ],
    ids=lambda text: text[:12],
)
def test_hostile_score_tables_are_a_sentence(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(uj.InputError, match=rf"{name}.*(nested too deep|field larger|2 columns are called)"):
        uj.load_scores(tmp_path / name)


def test_hostile_answers_are_a_sentence(tmp_path: Path) -> None:
    from unjudged.holes.answers import merged

    collection = uj.load({"1": {"a": 1}}, {"r": {"1": {"a": 2.0, "b": 1.0}}})
    (tmp_path / "answers.csv").write_text('topic,document,grade\n1,b,"' + "x" * 200_000 + "\n")
    with pytest.raises(uj.InputError, match=r"answers\.csv:\d+: this CSV cannot be read"):
        merged(collection, tmp_path / "answers.csv")


def test_a_topic_called_all_is_not_mixed_up_with_the_means() -> None:
    c = uj.load({"all": {"a": 1}, "1": {"a": 1}}, {"r": {"all": {"a": 1.0}, "1": {"b": 1.0}}})
    scores = uj.score(c, ["AP"])
    with pytest.raises(uj.UsageError, match="a topic is called 'all'"):
        scores.render("tsv")
    assert uj.score(c, ["AP"], per_topic=False).render("tsv").splitlines()[1].split("\t")[:2] == ["r", "all"]


def test_samples_of_more_topics_than_two_bytes_can_number() -> None:
    topics = 70_000
    counts = topic_counts(np.arange(topics)[None, :], topics)
    assert counts.shape == (topics, 1) and (counts == 1).all()
    with pytest.raises(ValueError, match="up to 65535 times"):
        topic_counts(np.zeros((1, topics), np.int64), topics)


@pytest.mark.parametrize("digits", [30, 400, 5000])
def test_numbers_of_many_digits_in_dicts_are_a_sentence(digits: int) -> None:
    huge = 10**digits
    for grade in (huge, -huge):
        with pytest.raises(uj.InputError, match=r"topic '1', document 'a': the grade .* is too large") as told:
            uj.load({"1": {"a": grade}}, {"r": {"1": {"a": 1.0}}})
        assert len(str(told.value)) < 250
    if digits > 308:  # a float holds the other
        with pytest.raises(uj.InputError, match=r"topic '1', document 'a': the score .* is not a number") as told:
            uj.load({"1": {"a": 1}}, {"r": {"1": {"a": huge}}})
        assert len(str(told.value)) < 250


def test_a_work_folder_of_pipes_and_forged_lists_is_a_sentence(files: tuple[str, str], tmp_path: Path) -> None:
    words: tuple[str, ...] = (
        "study",
        "agreement",
        *files,
        "-m",
        "AP,P@1",
        "--workdir",
        str(tmp_path / "w"),
        "--jobs",
        "1",
    )
    Path(files[1]).with_name("other.run").write_text("1 Q0 b 1 2 x\n2 Q0 a 1 3 x\n")
    words = (*words[:4], str(tmp_path / "other.run"), *words[4:])
    assert unjudged(*words).returncode == 0
    inputs = tmp_path / "w" / "inputs.json"
    kept = inputs.read_bytes()
    for unit in [inputs, *(tmp_path / "w" / "units").iterdir()]:
        unit.unlink()
        os.mkfifo(unit)
        said = unjudged(*words, timeout=60)
        assert (said.returncode, said.stdout, len(said.stderr.splitlines())) == (2, "", 1)
        assert "this is not a file; give another work folder" in said.stderr
        if unit == inputs:
            unit.unlink()
            inputs.write_bytes(kept)
    for forged in (b'{"inputs": 3}', b'{"inputs": {"collection": 3}}', b'{"inputs": ' + b"[" * 100_000, b"null"):
        inputs.write_bytes(forged)
        said = unjudged(*words, timeout=60)
        assert (said.returncode, said.stdout, len(said.stderr.splitlines())) == (2, "", 1)
        assert "this is not the list of inputs of a work folder" in said.stderr


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_writes_to_a_closed_output(verb: str) -> None:
    shell = f'exec "$0" -m unjudged {verb} --help >&-'
    said = subprocess.run(["sh", "-c", shell, sys.executable], stderr=subprocess.PIPE, text=True)
    assert (said.returncode, said.stderr) == (2, "unjudged: standard output is closed\n")
