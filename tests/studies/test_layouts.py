"""Cells of laid-out tables as the papers print them."""

from __future__ import annotations

import math
from typing import Any

import pytest

import unjudged as uj
from unjudged.results import Provenance, Result
from unjudged.studies import layouts


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (100 * (0.5879 - 0.5895) / 0.5895, "-0.27%"),  # Sakai 2009, section 5
        (100 * (0.6015 - 0.5980) / 0.5980, "+0.59%"),
        (1.93, "+1.93%"),
        (21.04, "+21.0%"),
        (-11.25, "-11.2%"),
        (9.996, "+10.0%"),
        (0.0, "0.00%"),
        (-0.001, "0.00%"),
        (math.nan, "n/a"),
    ],
)
def test_signed_percentages(change: float, text: str) -> None:
    assert layouts.signed_percent(change) == text


def test_other_cells() -> None:
    assert [layouts.rank_move(*pair) for pair in ((4, 4), (6, 5), (6, 8))] == ["4→4", "6↑5", "6↓8"]
    taus = [layouts.correlation(v) for v in (0.95, 1.0, -1.0, -0.3333, 0.0, 0.9999)]
    assert taus == [".950", "1", "-1", "-.333", ".000", "1"]
    assert [layouts.percent(v) for v in (0.6417, 0.0, math.nan)] == ["64.2%", "0.0%", "-"]
    shown = layouts.best([0.5, 0.7, 0.7], ["a", "b", "c"])
    assert [cell.bold for cell in shown] == [False, True, True]
    assert [cell.bold for cell in layouts.best([1.0, 2.0], ["a", "b"], smallest=True)] == [True, False]


@pytest.mark.parametrize(
    ("value", "text"), [(-0.00004, "0.0000"), (-0.0, "0.0000"), (-0.00006, "-0.0001"), (0.5, "0.5000")]
)
def test_nothing_has_no_sign(value: float, text: str) -> None:
    """A tiny negative number reads 0.0000 in every laid-out table; tidy rows keep it."""
    result = Result(("x",), lambda: [(value,)], Provenance("0", ""))
    assert result.render("text").split() == ["x", text]
    assert result.render("tsv").split() == ["x", repr(value)]
    assert f"<td>{text}</td>" in result.to_html()
    assert layouts.correlation(value) == {"0.0000": ".000", "-0.0001": ".000", "0.5000": ".500"}[text]
    assert layouts.percent(value, 2) == {"0.0000": "0.00%", "-0.0001": "-0.01%", "0.5000": "50.00%"}[text]


def test_heads_of_several_collections_do_not_claim_gains_others_lack() -> None:
    """Grades 0, 1, 2 bring gains into the names of a set, binary ones do not: the head they share is the short name."""
    made = {}
    for name, top in (("graded", 2), ("binary", 1)):
        qrels = {str(t): {f"d{i}": min((i + t) % 3, top) for i in range(8)} for t in range(4)}
        runs = {f"r{r}": {t: {f"d{(i * (r + 1)) % 8}": 8.0 - i for i in range(8)} for t in qrels} for r in range(1, 4)}
        made[name] = uj.load(qrels, runs, teams={run: f"t{run}" for run in runs})
    options: dict[str, Any] = {"measures": "sakai2009", "test": "none", "all_runs": True, "depth": 3, "pooled": "all"}
    result = uj.study("leave-team-out", made, **options)
    head = result.table().splitlines()[0]
    assert " Q " in head and "gains" not in head
    names: dict[Any, set[Any]] = {row[0]: set() for row in result.rows()}
    for row in result.rows():
        names[row[0]].add(row[3])
    assert "Q(gains={1: 1, 2: 3})" in names["graded"] and "Q" in names["binary"]
    assert any(note.startswith("graded: gains of ") and "Q(gains={1: 1, 2: 3})" in note for note in result.notes)
    assert result.provenance.settings["measures"]["graded"] != result.provenance.settings["measures"]["binary"]
