"""The methods paragraph says what was done, in the words of the settings, and cites it."""

from __future__ import annotations

import re

import pytest

import unjudged as uj
from unjudged.measures import CITATIONS
from unjudged.methods import SOURCES, entry

TOPICS = [str(t) for t in range(1, 13)]
QRELS = {t: {"a": 1, "b": 0, "c": 2} for t in TOPICS}
RUNS = {
    "old": {t: {"a": 2.0, "b": 1.0} for t in TOPICS},
    "new": {t: {"c": 2.0, ("b" if int(t) % 2 else "a"): 1.0} for t in TOPICS},
}


def test_the_paragraph_follows_the_settings() -> None:
    c = uj.load(QRELS, RUNS)
    usual = uj.compare(c, ["nDCG@10", "AP"], baseline="old").methods()
    assert "nDCG@10 and AP" in usual and "over 12 topics" in usual and uj.__version__ in usual
    assert "compared with old by two-sided paired t tests" in usual and "Holm's procedure" in usual
    assert "at a level of 0.05" in usual and "@misc{holm," in usual and "@misc{jarvelin2002," in usual
    assert "bootstrap" not in usual and "tokens" not in usual
    other = uj.compare(
        c, "P@10", test="bootstrap", correction="bh", alpha=0.01, unjudged="nonrelevant", seed=3
    ).methods()
    assert "bootstrap tests (1,000 resamples, seed 3)" in other and "Benjamini and Hochberg" in other
    assert "at a level of 0.01" in other and "Unjudged documents counted as nonrelevant." in other
    assert "@misc{bootstrap," in other and "@misc{holm," not in other and "compared with" not in other


def test_how_lists_were_read_is_told() -> None:
    c = uj.load(QRELS, RUNS, gains={1: 1, 2: 3}, truncate=1, units="doc:#", ties="ascending")
    said = uj.score(c, "nDCG@5").methods()
    for part in (
        "nDCG@5",
        "gains were 1 for grade 1 and 3 for grade 2",
        "cut after 1 documents",
        "best chunk",
        "ascending",
    ):
        assert part in said
    assert "t tests" not in said


def test_the_gate_tells_its_margin() -> None:
    said = uj.gate(uj.load(QRELS, RUNS), "new", "old", ["nDCG@10"], margin=0.02).methods()
    assert "one-sided paired t tests" in said and "margin of 0.02" in said


@pytest.mark.parametrize("key", [*CITATIONS, *SOURCES])
def test_every_source_becomes_bibtex(key: str) -> None:
    text = {**CITATIONS, **SOURCES}[key]
    made = entry(key, text)
    assert made.startswith(f"@misc{{{key},\n") and made.count("{") == made.count("}")
    year = re.search(r"\d{4}$", text)
    if year:
        author, title = (re.search(rf"{name} = {{(.*)}}", made) for name in ("author", "title"))
        assert author and title and author[1].split(" and ")[0] == text.split(",")[0].split(" & ")[0]
        assert title[1].strip("{}").replace("\\", "") in text and f"year = {{{year[0]}}}" in made
