"""What a person at a terminal gets: colours there and nowhere else, short tables, the worst first, help in order."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unjudged.cli import GROUPS, VERBS, _module, commands, main, options
from unjudged.cli.colour import painted
from unjudged.cli.parser import RARE
from unjudged.cli.width import fitted, refilled
from unjudged.text import folded


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal") / "c"
    assert main(["simulate", "--preset", "tiny", "--quirk", "ties,short", "-o", str(folder)]) == 0
    return folder


def on_a_terminal(*words: str, **environment: str) -> str:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    done = subprocess.Popen(
        [sys.executable, "-m", "unjudged", *words],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env={**kept, "TERM": "xterm", "COLUMNS": "1000", **environment},
    )
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(ours)
    done.wait()
    return text.decode().replace("\r\n", "\n")


def test_colours_on_terminals_only(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", str(made / "qrels.txt"), str(made / "runs"), "-m", "AP", "--pairs"]
    coloured = on_a_terminal(*words)
    assert coloured.startswith("\x1b[1m")
    assert re.search(r"\x1b\[1;3[123]m(better|worse|cannot tell)\x1b\[0m", coloured)
    main(words)
    plain = capsys.readouterr().out
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert on_a_terminal(*words, NO_COLOR="1") == plain


@pytest.mark.parametrize("measures", ["AP,P@10", "AP,RBP"])
def test_score_is_shown_as_every_verb(
    measures: str, made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The classical measures take a shorter way, which must not show: heading bold, no line wider than the terminal."""
    long = tmp_path / f"{'a-long-name-' * 9}.run"
    long.write_bytes((made / "runs" / "team01-1").read_bytes())
    words = ["score", str(made / "qrels.txt"), str(long), str(made / "runs" / "team01-2"), "-m", measures]
    coloured = on_a_terminal(*words)
    assert main(words) == 0
    assert coloured.startswith("\x1b[1mrun") and re.sub(r"\x1b\[[0-9;]*m", "", coloured) == capsys.readouterr().out
    narrow = re.sub(r"\x1b\[[0-9;]*m", "", on_a_terminal(*words, COLUMNS="60"))
    assert max(map(len, narrow.split("\n"))) <= 60


PROSE = """usage: unjudged next QRELS RUN... [--new RUN] [--baseline RUN] [-m M] [--budget N]
    [-o FILE]

Which documents to judge next: the unjudged ones whose labels would settle which
runs are better.

  sakai2005       The Effect of Topic Sampling in Sensitivity Comparisons
  a               short

  unjudged next qrels.txt runs/ --new my.run --baseline bm25.run --budget 20"""


def test_prose_is_folded_at_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refilled(PROSE) == PROSE  # not a terminal
    monkeypatch.setattr("unjudged.cli.width.terminal_width", lambda: 50)
    folded = refilled(PROSE).split("\n")
    assert [line for line in folded if len(line) > 50] == [PROSE.split("\n")[-1]]  # commands stay whole
    assert " ".join(" ".join(folded).split()) == " ".join(PROSE.split())
    assert folded[0].startswith("usage: ") and folded[1].startswith("    [")
    at = next(i for i, line in enumerate(folded) if "sakai2005" in line)
    assert folded[at + 1].startswith(" " * 18) and "  a               short" in folded


def test_a_sentence_that_is_folded_is_not_called_left_out() -> None:
    table = "run    measure  judged  bounds            why not\n"
    table += "bm25   P@10     0.1698  [0.1698, 0.8977]  73 % of the weight lies in holes\n"
    shown = fitted(table, 60)
    assert "73 % of" in shown and max(map(len, shown.split("\n"))) <= 60
    assert "why not" not in shown.partition("(not shown:")[2]


def test_notes_are_folded_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    note = "2 runs (runs/bm25base_p.gz, ...): 157 topics outside the judgments ignored (e.g. 11096)"
    options.print_notes([note])
    assert capsys.readouterr().err == f"note: {note}\n"
    monkeypatch.setattr(options, "_width_of_notes", lambda: 60)
    options.print_notes([note])
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and max(map(len, lines)) <= 60 and lines[1].startswith("      ")


@pytest.mark.parametrize("width", ["60", "100"])
def test_the_report_fits_the_terminal(width: str, made: Path, tmp_path: Path) -> None:
    few = [str(made / "runs" / f"team01-{i}") for i in (1, 2)]
    for runs in ([str(made / "runs")], few):
        words = ["report", str(made / "qrels.txt"), *runs, "--jobs", "1", "-o", str(tmp_path / "r.html")]
        shown = re.sub(r"\x1b\[[0-9;]*m", "", on_a_terminal(*words, COLUMNS=width)).split("\n")
        wide = [line for line in shown if len(line) > int(width) and not line.startswith("     unjudged ")]
        assert wide == [] and any(line.startswith("What to do now") for line in shown)


def test_words_inside_names_stay_plain() -> None:
    assert painted("run\nnot-better-v2\n", heading=False) == "run\nnot-better-v2\n"


def test_sort_top_and_digits(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["score", str(made / "qrels.txt"), str(made / "runs"), "-m", "AP,P@10"]
    assert main([*words, "--format", "tsv"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    precision = {run: float(value) for run, _, measure, value in rows if measure == "P@10"}
    assert main([*words, "--sort", "p@10", "--top", "3", "--digits", "2"]) == 0
    head, *shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert head == ["run", "AP", "P@10"]
    assert [float(line[2]) for line in shown] == [round(v, 2) for v in sorted(precision.values(), reverse=True)[:3]]
    assert all(re.fullmatch(r"0\.\d\d", line[1]) for line in shown)
    assert main([*words, "--sort", "run"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert names == sorted(precision)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--sort", "nDCG@1O"], "no column is called"),
        (["--top", "3", "--format", "tsv"], "--top belong"),
        (["--top", "0"], "at least 1 row"),
    ],
)
def test_arranging_what_cannot_be(made: Path, more: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(made / "qrels.txt"), str(made / "runs"), *more]) == 2
    assert said in capsys.readouterr().err


def test_files_that_were_written_are_named(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, chart = str(tmp_path / "t.tsv"), str(tmp_path / "f.json")
    words = ["compare", str(made / "qrels.txt"), str(made / "runs"), "-m", "AP"]
    assert main([*words, "--format", "tsv", "-o", table, "--figure", chart]) == 0
    found = capsys.readouterr()
    assert found.out == ""
    assert [line for line in found.err.splitlines() if line.startswith("wrote")] == [f"wrote {table}", f"wrote {chart}"]


def test_check_says_the_worst_first_and_filters(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "zz.run"
    bad.write_text("1 Q0 d1 1 word tag\n")
    words = ["check", str(made / "qrels.txt"), str(made / "runs"), str(bad)]
    assert main(words) == 1
    severities = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    order = ["error", "warning", "info"]
    assert set(severities) == set(order)
    assert severities == sorted(severities, key=order.index)
    assert main([*words, "--severity", "error"]) == 1
    found = capsys.readouterr()
    assert {line.split()[0] for line in found.out.splitlines()[1:]} == {"error"}
    assert "warning" in found.err  # what is left out is still counted


def test_the_overview_has_every_verb_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    places = [text.index(f"\n{group}\n") for group in GROUPS]
    assert places == sorted(places)
    for verb in VERBS:
        assert text.count(f"\n  {verb:<10} {_module(verb).HELP}\n") == 1


@pytest.mark.parametrize("command", ["score", "compare", "report", "next", "check", "ci"])
def test_help_begins_with_what_most_people_need(command: str) -> None:
    parser = next(parser for name, _, parser in commands() if name == command and parser is not None)
    usage = parser.format_usage()
    assert "QRELS" in usage.splitlines()[0]
    assert "--same-answer" not in usage
    text = parser.format_help()
    headings = re.findall(r"^(\w[\w ]*):$", text, re.MULTILINE)
    assert headings[-1] == "examples"
    assert all(rare in RARE for rare in headings[:-1] if headings.index(rare) > headings.index("output")) or (
        "reading" not in headings
    )
    assert f"\n  unjudged {command} " in text


LONG = "university-of-somewhere-else-{}-reranked-with-a-large-model"
TABLE = "\n".join(
    [
        f"{'run':<64}      AP  nDCG@10  unjudged",
        *(f"{LONG.format(name):<64}  0.1234   0.4321  12 %" for name in ("bm25", "dense", "hybrid")),
        "",
        "Means over 43 topics. " + "Runs that share a letter are not told apart. " * 3,
        "",
        "next: " + "judge the unjudged documents that matter most, " * 3,
        "      unjudged next qrels.txt runs/one.run runs/two.run -m P@10 --new one --baseline two --budget 20",
        "",
    ]
)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_tables_fit_the_terminal(width: int) -> None:
    lines = fitted(TABLE, width).split("\n")
    assert max(len(line) for line in lines if not line.startswith("      unjudged next")) <= width
    assert "  --budget 20" not in lines and lines[-2].endswith("--budget 20")  # a command stays whole
    names = [line.split()[0] for line in lines[1:4]]
    assert len(set(names)) == 3 and any("..." in name for name in names)
    left_out = " ".join(line for line in lines if "not shown" in line)
    for column in ("AP", "nDCG@10", "unjudged"):
        assert (column in lines[0].split()) != (column in left_out)
    assert " ".join(" ".join(lines).split()).count("Runs that share a letter are not told apart.") == 3


def test_a_table_that_fits_stays_as_it_is() -> None:
    assert fitted(TABLE, 400) == TABLE


def test_outcomes_stay_and_sentences_are_folded() -> None:
    pairs = "run_a  run_b  difference  interval            adjusted  outcome\n"
    pairs += "one    two       +0.1274  [-0.0347, +0.1173]    0.7511  cannot tell: topics"
    assert fitted(pairs, 40).split("\n")[1] == "one    two    cannot tell: topics"
    findings = "code   file   finding\nUJ114  a.run  " + "none of these documents is judged, it seems " * 3
    lines = fitted(findings, 60).split("\n")
    assert len(lines) > 3 and all(line.startswith(" " * 14) for line in lines[2:])


def test_phrases_are_folded_where_names_are_cut() -> None:
    settings = ["cutoff=20; rel=2; unjudged=condensed", "cutoff=20; rel=2"]
    table = "\n".join(
        [
            "settings                              known_habit",
            *(f"{one:<36}  {'said by many tools ' * 3}" for one in settings),
        ]
    )
    lines = fitted(table, 48).split("\n")
    assert max(map(len, lines)) <= 48 and "unjudged=condensed" in " ".join(line.split("  ")[0] for line in lines)


def test_a_number_keeps_its_percent_sign() -> None:
    for width in range(20, 60):
        lines = folded("a team that is not in the pool loses 2.3 % of its AP (1.7 % to 3.8 %; t1 most, 13 %)", width)
        assert max(map(len, lines)) <= width and not any(line.startswith("%") for line in lines)


def test_a_pipe_gets_every_column(
    made: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["score", str(made / "qrels.txt"), str(made / "runs"), "-m", "AP,P@10,RR,nDCG@10,bpref"]) == 0
    assert "bpref" in capsys.readouterr().out.split("\n")[0]


@pytest.mark.parametrize(
    ("command", "begins"),
    [
        ("ci", "QRELS RUN... --baseline RUN [-m M]"),
        ("report", "QRELS RUN... [--teams FILE] [-o FILE] [--open]"),
        ("next", "QRELS RUN... [--new RUN] [--baseline RUN]"),
        ("correct", "QRELS RUN... [--new RUN]"),
    ],
)
def test_usage_names_what_most_people_need(command: str, begins: str) -> None:
    parser = next(parser for name, _, parser in commands() if name == command and parser is not None)
    assert f"unjudged {command} {begins}" in " ".join(parser.format_usage().split())


@pytest.mark.parametrize("width", ["80", "120"])
def test_outcomes_are_whole_on_every_terminal(width: str, tmp_path: Path) -> None:
    """The runs' names and how far they are apart are what was asked for: neither is cut."""
    names = ["bm25-of-the-baseline-system-tuned", "dense-retriever-of-the-new-system", "hybrid-of-the-two-reranked"]
    qrels = {str(t): {f"d{i}": int(i < 3) for i in range(10)} for t in range(12)}
    paths = []
    for shift, name in enumerate(names):
        paths.append(tmp_path / f"{name}.json")
        run = {t: {f"d{i}": float((i * 7 + shift * int(t)) % 10) for i in range(10)} for t in qrels}
        paths[-1].write_text(json.dumps(run))
    (tmp_path / "qrels.json").write_text(json.dumps(qrels))
    shown = on_a_terminal("compare", str(tmp_path / "qrels.json"), *map(str, paths), "-m", "AP,P@3", COLUMNS=width)
    words = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", shown).split())
    for first, second in ((0, 1), (0, 2), (1, 2)):
        pair = (f"{names[a]} against {names[b]}:? [+-]" for a, b in ((first, second), (second, first)))
        assert len(re.findall("|".join(pair), words)) == 2, shown
    assert words.count("give or take 0.") == 6
