"""Names, places and streams that crashed or wrote what they should not: one sentence, or output that is safe."""

from __future__ import annotations

import csv
import io
import os
import pty
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import unjudged as uj
from unjudged.cli import VERBS
from unjudged.cli.options import shown_safely
from unjudged.figures import Figure
from unjudged.io.leaderboards import read_leaderboard
from unjudged.io.write import write_whole
from unjudged.results import Provenance, Result
from unjudged.statistics.draws import topic_counts
from unjudged.thresholds import read_thresholds

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


@pytest.mark.parametrize("name", ["a;=1+1", "a\t@x", "a\n=1", "a\r+1", "\uff1d1+1", " =1", "-1+1", "+-=1"])
def test_formulas_behind_what_ends_a_cell_elsewhere(name: str) -> None:
    """Where the comma is the sign of decimals, spreadsheets split at semicolons, quoted or not."""
    (_, line) = Result(("run",), lambda: [(name,)], Provenance.of("", ())).render("safe-csv").split("\n", 1)
    (cell,) = next(csv.reader(io.StringIO(line, newline="")))
    parts = re.split(r"[;\t\r\n]", cell)
    assert not any(part.lstrip()[:1] in tuple("=+-@\uff1d") for part in parts if part), cell
    assert cell.replace("'", "") == name


def test_a_bar_behind_a_backslash_ends_no_cell_of_markdown() -> None:
    """Two backslashes are one letter, so that a bar behind them is bare (GitHub Flavored Markdown, tables)."""
    rows = [("a\\|1.0000|\\|", 0.5)]
    line = Result(("run", "value"), lambda: rows, Provenance.of("", ())).render("markdown").splitlines()[2]
    assert line == "| a\\\\&#124;1.0000&#124;\\\\&#124; | 0.5000 |"


def test_sentences_of_a_report_in_markdown_obey_no_name() -> None:
    lists = {"1": {"z": 2.0}, "2": {"a": 1.0}}
    runs = {"![i](http://e)": lists, "[x](http://e)<b>": {"1": {"a": 2.0}}, "s": lists}
    said = uj.report(uj.load({"1": {"a": 1, "b": 0}, "2": {"a": 2}}, runs), jobs=1, title="<i>[t](u)").render(
        "markdown"
    )
    assert "](" not in said and "<b>" not in said and "<i>" not in said and r"![i]\(http://e)" in said


def test_safe_csv_is_asked_for_with_csv(files: tuple[str, str]) -> None:
    assert unjudged("score", *files, "--format", "csv", "--safe-csv").returncode == 0
    said = unjudged("score", *files, "--safe-csv")
    assert (said.returncode, said.stdout) == (2, "")


def test_a_terminal_gets_no_control_characters_of_names(files: tuple[str, str], tmp_path: Path) -> None:
    run = tmp_path / "evil\x1b]0;title\x07\x1b[8m.run"
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


def test_messages_get_no_control_characters_of_names(files: tuple[str, str], tmp_path: Path) -> None:
    """What is written and done is told on standard error, with names of files and of collections in a manifest."""
    run = tmp_path / "evil\x1b]0;title\x07.run"
    run.write_text("1 Q0 a 1 1 x\n1 Q0 a 2 1 x\n")
    (tmp_path / "some.toml").write_text(f'["evil\\u001b]0;title\\u0007"]\njudgments = "{files[0]}"\nruns = "*.run"\n')
    for words in (
        ("score", *files, "-o", str(tmp_path / "out\x1b[2J")),
        ("score", *files, "--evil\x1b[2J"),
        ("check", files[0], str(run), "--fix"),
        ("study", "agreement", "--collections", str(tmp_path / "some.toml"), "-m", "AP,P@1"),
        ("paper", "lipani2015", "--collections", str(tmp_path / "some.toml"), "--table", "2"),
    ):
        said = unjudged(*words)
        assert "\x1b" not in said.stderr and "\\x1b" in said.stderr and "Traceback" not in said.stderr, words


@pytest.mark.parametrize("words", [("demo", ""), ("check", "q", "r", "--fix", "", ""), ("manual", "")], ids=" ".join)
def test_empty_words_are_a_sentence(words: tuple[str, ...]) -> None:
    said = unjudged(*words)
    assert (said.returncode, said.stdout, len(said.stderr.splitlines())) == (2, "", 1)


def test_a_folder_that_cannot_be_made_is_told_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = unjudged("paper", "lipani2015", "no.txt", "no.run", "-o", str(tmp_path / "file" / "p" / "q"))
    assert (said.returncode, len(said.stderr.splitlines())) == (2, 1)
    assert "file/p/q: cannot be written (Not a directory)" in said.stderr  # not even the judgments were looked for


def test_colours_stay() -> None:
    assert shown_safely(b"\x1b[1mbold\x1b[0m \x1b[2J\xc2\x9b") == b"\x1b[1mbold\x1b[0m ?[2J?"


def test_colours_of_names_hide_nothing() -> None:
    assert shown_safely(b"a\x1b[8m\nb", painted=False) == b"a?\nb"


@pytest.mark.parametrize(
    "words", [("score",), ("score", "-m", "map"), ("check",), ("trec_eval",), ("compare",)], ids=" ".join
)
def test_closed_standard_output_is_a_sentence(words: tuple[str, ...], files: tuple[str, str]) -> None:
    shell = f'exec "$0" -m unjudged {words[0]} "$1" "$2" {" ".join(words[1:])} >&-'
    said = subprocess.run(["sh", "-c", shell, sys.executable, *files], stderr=subprocess.PIPE, text=True)
    assert (said.returncode, said.stderr) == (2, "unjudged: standard output is closed\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a file that is always full")
@pytest.mark.parametrize("words", [("score",), ("score", "-q"), ("compare",), ("check",), ("trec_eval",)], ids=" ".join)
@pytest.mark.parametrize("streams", [">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full"])
def test_full_disks_behind_the_streams(words: tuple[str, ...], streams: str, files: tuple[str, str]) -> None:
    """What nobody was told of the result is a failure, not Python's own complaint (exit code 120)."""
    said = unjudged_to(streams, words, files)
    has_notes = words[0] in ("compare", "check")
    assert said.returncode == (2 if streams.startswith(">") or has_notes else 0)
    assert "Traceback" not in said.stderr and "Exception" not in said.stderr


def unjudged_to(streams: str, words: tuple[str, ...], files: tuple[str, str]) -> subprocess.CompletedProcess[str]:
    shell = f'exec "$0" -m unjudged {words[0]} "$1" "$2" {" ".join(words[1:])} {streams}'
    return subprocess.run(["sh", "-c", shell, sys.executable, *files], capture_output=True, text=True)


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


@pytest.mark.parametrize("option", ["--slice", "--teams", "--lengths"])
def test_an_empty_name_of_a_file_is_not_none(option: str, files: tuple[str, str]) -> None:
    """As a script gives it whose variable is not set: results would be other ones without a word."""
    said = unjudged("score", *files, option, "")
    assert (said.returncode, said.stdout, said.stderr) == (2, "", f"unjudged: {option} needs the name of a file\n")


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


def test_nobody_else_reads_a_file_while_it_is_written(tmp_path: Path) -> None:
    target = tmp_path / "scores.tsv"
    target.write_text("old")
    target.chmod(0o640)

    def pieces() -> Iterator[bytes]:
        yield b"new"
        (half,) = set(tmp_path.iterdir()) - {target}
        assert stat.S_IMODE(half.stat().st_mode) == 0o600

    write_whole(target, pieces())
    assert stat.S_IMODE(target.stat().st_mode) == 0o640 and target.read_text() == "new"


def test_the_longest_file_name_can_be_written(files: tuple[str, str], tmp_path: Path) -> None:
    target = tmp_path / ("x" * 251 + ".tsv")
    assert unjudged("score", *files, "--format", "tsv", "-o", str(target)).returncode == 0
    assert target.read_text().startswith("run\t")


@pytest.mark.parametrize("words", [("report",), ("check",), ("qrels", "merge"), ("qrels", "agree")], ids=" ".join)
def test_a_file_that_cannot_be_written_is_told_before_the_work(words: tuple[str, ...], tmp_path: Path) -> None:
    said = unjudged(*words, str(tmp_path / "no.txt"), str(tmp_path / "no.run"), "-o", str(tmp_path / "no" / "r.html"))
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


HUGE = "1" + "0" * 400
"""A whole number that Python reads and no float can hold."""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.jsonl", '{"topic": "1", "doc": "a", "grade": %s}\n'),
        ("inside.jsonl", '{"topic": "1", "doc": "a", "grade": {"O": %s}}\n'),
        ("machine.jsonl", '{"topic": "1", "document": "a", "grade": %s, "judge": "m", "prompt_version": "1"}\n'),
        ("doccano.jsonl", '{"topic": "1", "document": "a", "label": [%s]}\n'),
        ("text.jsonl", '{"topic": "1", "document": "a", "label": ["' + "9" * 5000 + '"]}\n'),
        (
            "tasks.json",
            '[{"data": {"topic": "1", "document": "a"}, "annotations": [{"result": [{"value": {"rating": %s}}]}]}]',
        ),
        (
            "opensearch.json",
            '{"name": "n", "judgmentRatings": [{"query": "1", "ratings": [{"docId": "a", "rating": %s}]}]}',
        ),
        ("half.jsonl", '{"qid": "\\ud800", "nuggets": [{"text": "n", "importance": "vital", "docs": ["a"]}]}\n'),
    ],
    ids=lambda text: text[:12],
)
def test_judgments_beyond_all_bounds_are_a_sentence(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text.replace("%s", HUGE))
    with pytest.raises(uj.InputError, match=name):
        uj.load(tmp_path / name, {"r": {"1": {"a": 1.0}}})


@pytest.mark.parametrize("score", [HUGE, "1e308", "-1.01e100"])
def test_scores_beyond_all_bounds_are_a_sentence(score: str, tmp_path: Path) -> None:
    """Means and squares of them would be no numbers, and say so nowhere."""
    hits = '{"metric_score": 0.5, "details": {"1": {"hits": [{"hit": {"_index": "i", "_id": "a", "_score": %s}}]}}}'
    (tmp_path / "response.json").write_text(hits.replace("%s", HUGE))
    with pytest.raises(uj.InputError, match=r"response\.json: a score of topic 1 is not a finite number"):
        uj.load({"1": {"a": 1}}, tmp_path / "response.json")
    for name, text in (
        ("wide.jsonl", '{"run": "r", "topic": "1", "AP": %s}\n'),
        ("nested.json", '{"ndcg@10": {"1": %s, "2": 0.5}}'),
        ("table.csv", "run,topic,AP\nr,1,%s\n"),
    ):
        (tmp_path / name).write_text(text.replace("%s", score))
        with pytest.raises(
            uj.InputError, match=rf"{name}.*(is not a finite number|is too large: scores go from -1e\+100)"
        ):
            uj.load_scores(tmp_path / name)
    (tmp_path / "board.jsonl").write_text(f'{{"run_id": "r", "measure": "AP", "topic_id": "1", "value": {score}}}\n')
    with pytest.raises(uj.InputError, match=r"board\.jsonl:1: a value is a number"):
        read_leaderboard(str(tmp_path / "board.jsonl"))


@pytest.mark.parametrize(
    "measure",
    [
        "P_" + "9" * 5000,
        "map_cut_" + "9" * 5000,
        f"RBP(p={HUGE})",
        f"nDCG(gains={{1:{HUGE}}})",
        f"IPrecAvg(recalls=({HUGE},))",
    ],
    ids=lambda text: text[:8],
)
def test_measures_with_numbers_beyond_all_bounds_are_a_sentence(measure: str) -> None:
    with pytest.raises(uj.MeasureError):
        uj.score(uj.load({"1": {"a": 1}}, {"r": {"1": {"a": 1.0}}}), measure)


def test_topics_of_many_digits(files: tuple[str, str], tmp_path: Path) -> None:
    """They are names; ranges of topics and the search for settings look at them as numbers."""
    topic = "9" * 5000
    (tmp_path / "qrels.txt").write_text(f"1 0 a 1\n007 0 a 1\n{topic} 0 a 1\n")
    (tmp_path / "some.run").write_text(f"1 Q0 a 1 1 x\n{topic} Q0 a 1 1 x\n")
    assert set(uj.load(tmp_path / "qrels.txt", tmp_path / "some.run", only="1-10").topics) == {"007", "1"}
    assert uj.load(tmp_path / "qrels.txt", tmp_path / "some.run", only=f"8-{topic}").topics == (topic,)
    assert unjudged("doctor", *files, "--reported", "AP=0.5").returncode == 0
    for words in (("-M", topic), ("-l", topic), ("-N", topic), ("-m", f"relstring.{topic}")):
        said = unjudged("trec_eval", *words, *files)
        assert said.returncode in (0, 2) and "Traceback" not in said.stderr
    (tmp_path / "three.run").write_text(f"1\ta\t1\n1\tb\t{topic}\n1\tc\t3\n")
    assert unjudged("score", files[0], str(tmp_path / "three.run")).returncode == 0


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


@pytest.mark.parametrize("text", ["x = " + "9" * 5000, "x = " + "[" * 5000 + "]" * 5000], ids=["digits", "deep"])
def test_hostile_toml_is_a_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "some.toml").write_text(text)
    for read in (uj.load_manifest, read_thresholds):
        with pytest.raises(uj.InputError, match=r"some\.toml: .* not TOML: (a number has too many|nested too deep)"):
            read(tmp_path / "some.toml")


def test_the_home_of_nobody_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "some.toml").write_text('[a]\njudgments = "~nobody-has-this-name/q"\nruns = "runs"\n')
    with pytest.raises(uj.InputError, match=r"some\.toml:2: judgments: there is no file .*~nobody-has-this-name"):
        uj.load_manifest(tmp_path / "some.toml")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_locale_without_the_letters(encoding: str, files: tuple[str, str], tmp_path: Path) -> None:
    run = tmp_path / "名.run"
    run.write_bytes(Path(files[1]).read_bytes())
    how = {**os.environ, "PYTHONIOENCODING": f"{encoding}:strict"}
    said = unjudged("report", *files, str(run), "-o", str(tmp_path / "r.html"), env=how)
    assert (said.returncode, said.stderr.count("Traceback")) == (0, 0)
    assert "What to do now" in said.stdout


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_writes_to_a_closed_output(verb: str) -> None:
    shell = f'exec "$0" -m unjudged {verb} --help >&-'
    said = subprocess.run(["sh", "-c", shell, sys.executable], stderr=subprocess.PIPE, text=True)
    assert (said.returncode, said.stderr) == (2, "unjudged: standard output is closed\n")
