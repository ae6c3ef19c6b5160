"""Every word that an output uses is a plain English word or known to `explain`; no output shows an internal key.

All verbs of the determinism matrix are run once, tables as text. Words are plain because somebody wrote them into
`plain_words.txt`: a new word there is a decision, and a technical one belongs into `glossary.py`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import test_determinism
from places import ROOT
from test_determinism import Cell, Matrix, Outcome

import unjudged as uj
from unjudged.cli import VERBS, check, main
from unjudged.correction import truth
from unjudged.diagnosis import doctor
from unjudged.errors import MeasureError, UsageError
from unjudged.glossary import GLOSSARY, meaning
from unjudged.holes import judging
from unjudged.judges import leaderboards, merging, versions
from unjudged.measures import REGISTRY, parse, registered
from unjudged.papers import made
from unjudged.pools import build, describe
from unjudged.studies import QUESTIONS, find, known

PLAIN = frozenset((Path(__file__).parent / "plain_words.txt").read_text("utf-8").split())
DATA = re.compile(
    r"score(, (json|autojudge|tot|jsonl|csv))?|trec_eval|report, json|qrels (?!agree).*|pool build.*|next, assessors"
)
"""Commands whose output is data, or that are shown as pages for browsers."""
MODULES = (check, doctor, truth, judging, merging, versions, leaderboards, made, build)
NAMES = re.compile(
    r"team\d+(-\d+)?|\S*/\S+|-?\d[\d.,%e-]*|--[\w-]+|`[^`]*`|<[^>]*>|\\\\[a-z]+|unjudged [a-z-]+ .*|wrote \S+"
)
"""Runs, files, numbers, options, code, tags, commands and what was written."""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    """What every verb prints, tables as text."""
    as_text = {
        name: command if DATA.fullmatch(name) else re.sub(r" --format (tsv|csv|jsonl|latex)", "", command)
        for name, command in test_determinism.COMMANDS.items()
        if name != "demo"
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(test_determinism, "COMMANDS", as_text)
        folder = tmp_path_factory.mktemp("words")
        test_determinism.made_collection(folder)
        yield Matrix(folder).run("plain", Cell({"PYTHONHASHSEED": "0"}))


def words(outputs: Outcome) -> dict[str, str]:
    """Every word in lower case -> the command that used it first."""
    found: dict[str, str] = {}
    for command, (_, text, notes) in outputs.items():
        if not command.startswith("file") and not DATA.fullmatch(command) and command != "report":
            for word in re.findall(r"[A-Za-z][\w*'-]*", NAMES.sub(" ", f"{text} {notes}")):
                found.setdefault(word.lower().strip("'-*_"), command)
    return found


def is_measure(name: str) -> bool:
    try:
        return bool(registered(name) or name in {known.lower() for known in REGISTRY} or parse(name))
    except (MeasureError, UsageError):
        return False


@pytest.mark.slow
def test_explain_knows_every_technical_word_of_every_output(outputs: Outcome) -> None:
    found = words(outputs)
    assert len(found) > 500
    assert strange(found) == {}


def strange(found: dict[str, str]) -> dict[str, str]:
    """The words that nobody knows."""
    of_studies = {*known(), *QUESTIONS}
    return {
        word: command
        for word, command in found.items()
        if word not in PLAIN and meaning(word) is None and word not in of_studies and not is_measure(word)
    }


def test_a_word_that_nobody_knows_is_found() -> None:
    """So that the test above can fail: through the same two functions, from a line of output."""
    line = "fragile: by nDCG@10 the frobnication of tau is 0.31 in team02-1\n"
    assert strange(words({"compare": (0, line, "note: condensed zyzzyx\n")})) == {
        "frobnication": "compare",
        "zyzzyx": "compare",
    }


PAGES = {"serve", "judge"}
"""Verbs whose output is a page."""
OF_THE_PROGRAM = {"explain", "manual", "completion"}
"""Verbs that print explanations, and what the help says."""


def test_the_outputs_of_every_verb_are_read() -> None:
    """A verb counts where its words are collected: not where its output is only data."""
    read = {command.split()[0] for name, command in test_determinism.COMMANDS.items() if not DATA.fullmatch(name)}
    assert read | PAGES | OF_THE_PROGRAM | {"trec_eval", "demo"} == set(VERBS)


def test_explain_knows_the_words_of_the_demo() -> None:
    """It takes long; README shows what it prints, and is held to that elsewhere."""
    shown = (ROOT / "README.md").read_text("utf-8").partition("$ make demo\n")[2].partition("```")[0]
    assert "truly best" in shown and strange(words({"demo": (0, shown, "")})) == {}


def test_a_plain_word_needs_no_entry() -> None:
    assert sorted(PLAIN & GLOSSARY.keys()) == []


@pytest.mark.slow
def test_no_internal_key_in_what_a_user_reads(outputs: Outcome) -> None:
    """Questions are told by their text; keys stand in commands only (`--fail-on`, `unjudged study KEY`)."""
    keys = {key for key in QUESTIONS if "-" in key and key not in known()}
    assert len(keys) > 4
    report = {name: outputs[name][1] for name in ("report, markdown", "study winners", "study contents")}
    for name, text in report.items():
        told = re.sub(r"unjudged [^\n`]*|--fail-on[^\n`]*", "", text)
        assert [key for key in keys if key in told] == [], name


def test_every_column_is_explained() -> None:
    columns = {column for name in known() for column in find(name).columns}
    columns |= {column for module in MODULES for column in module.COLUMNS} | {*describe.RUN_COLUMNS}
    assert sorted(column for column in columns if meaning(column) is None and column not in PLAIN) == []


@pytest.mark.parametrize("word", ["tau", "pool", "condensed", "solid", "lambda", "SRE", "misses", "phi_low", "UJ102"])
def test_explain_answers_for_words_in_python_and_on_the_command_line(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", word]) == 0
    assert capsys.readouterr().out == uj.explain(word)
    assert repr(uj.explain(word)) == uj.explain(word)
    assert "<pre" in uj.explain(word)._repr_html_()


def test_an_unknown_word_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean condensed"):
        uj.explain("condenced")


def test_a_measure_stays_a_measure() -> None:
    assert uj.explain("P").startswith("P  (")
    assert "by chance" in uj.explain("p")
    assert shlex.split(uj.explain("power").splitlines()[0])[0] == "power"
    assert "unjudged study power" in uj.explain("power")


def test_options_are_explained_by_their_spelling() -> None:
    assert "smallest difference that matters" in uj.explain("--margin")
    with pytest.raises(UsageError, match="did you mean --margin"):
        uj.explain("--margn")
