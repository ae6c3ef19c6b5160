"""Sakai 2005: does the way topics are sampled change what the swap method says of measures?"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any

from unjudged.papers.declaration import Asked, Check, Finding, Item, Panel, Paper
from unjudged.papers.found import Found, Table, drawn, letter
from unjudged.results import Row
from unjudged.statistics.draws import SAMPLINGS

NAMED_BY_PAPER = {
    **{
        f"{ours}{rel}{cut}": f"{grades}-{theirs}"
        for rel, grades in (("", "Relaxed"), ("(rel=2)", "Rigid"))
        for ours, cut, theirs in (
            ("AP", "", "AveP"),
            ("Rprec", "", "R-Prec"),
            ("P", "@10", "PDoc10"),
            ("P", "@100", "PDoc100"),
            ("P", "@1000", "PDoc1000"),
        )
    },
    "Q": "Q-measure",
    "R_measure": "R-measure",
    **{
        f"{n}@{k}": f"{n.partition('(')[0]}{k}"
        for n in ("nCG", "AnCG", "nDCG(dcg='jk')", "AnDCG")
        for k in (10, 100, 1000)
    },
    "O_measure": "O-measure",
    "RR": "RR",
    "Q(gains={1: 1, 2: 1, 3: 1})": "Q1:1:1",
    "Q(gains={1: 1, 2: 1.5, 3: 2})": "Q2:1.5:1",
    "NQcorrect@1": "NQcorrect1",
    "NQcorrect@5": "NQcorrect5",
}
_BEST = {"top": 30, "by": "AP"}
_AS_PRINTED = {"rule": "guarantee", "repeats": 1}
"""The paper reads the required difference off the bins as they are, from one series of trials."""


def _swaps(name: str, confidence: tuple[int, ...], **options: Any) -> dict[str, Asked]:
    """The table of a set of measures, and its curves: the same swaps, counted once."""
    asked: dict[str, Any] = {"measures": f"sakai2005-{name}", "confidence": confidence, **_AS_PRINTED}
    if not options.get("questions"):
        asked |= _BEST
    return {
        name: Asked("swap", asked, **options),
        f"{name} curves": Asked("swap", {**asked, "curve": True}, **options),
    }


STUDIES = {
    **_swaps("binary", (95,)),
    **_swaps("graded", (95,)),
    **_swaps("one", (95, 90, 80)),
    **_swaps("qa", (95,), questions=True),
    "shared": Asked("swap", {"shared_topics": True}),
    "qa shared": Asked("swap", {"shared_topics": True}, questions=True),
}
_DOCUMENTS, _QUESTIONS = ("binary", "graded", "one"), ("qa",)


def _sensitivity(key: str) -> Callable[[Found], list[Panel]]:
    """Tables 1 to 4: a panel per collection and way of sampling."""

    def make(found: Found) -> list[Panel]:
        panels = []
        for name, (head, rows) in found.tables(key).items():
            way, level = head.index("sampling"), head.index("confidence")
            several = len({row[level] for row in rows}) > 1
            kept = [i for i in range(len(head)) if i != way and (several or i != level)]
            for i, sampling in enumerate(SAMPLINGS):
                lines: list[Row] = [tuple(row[k] for k in kept) for row in rows if row[way] == sampling]
                table: Table = [_short(head[k]) for k in kept], lines
                panels.append(found.shown(f"{name} {letter(i)} {sampling.capitalize()}", table, key))
        return panels

    return make


def _short(name: str) -> str:
    """`(i) difference` -> `(i)`, as the paper's tables have it; the caption explains."""
    return name.partition(" ")[0] if name.startswith("(") else name


def _overlap(found: Found) -> list[Panel]:
    """Table 5: topics that two sets share, of the different topics in a set, as expected."""
    there = [key for key in ("shared", "qa shared") if key in found.results]
    if not there:
        found.result("shared")
    cells: dict[str, list[str]] = {}
    for key in there:
        for row in found.rows(key):
            name = f"{row['collection']} ({'QA' if key == 'qa shared' else 'IR'})"
            cells.setdefault(name, []).append(f"{row['shared']:.1f}/{row['different']:.1f}")
    rows: list[Row] = [(way.capitalize(), *(column[i] for column in cells.values())) for i, way in enumerate(SAMPLINGS)]
    return [found.shown("", (["", *cells], rows), *there)]


def _curves(key: str, *measures: str) -> Callable[[Found], list[Panel]]:
    return drawn(f"{key} curves", "samplings", lambda row: row["measure"] in measures)


def _bars(key: str, level: int) -> Callable[[Found], list[Panel]]:
    """Figures 5 to 8: column (iv) of a table at one level of confidence."""

    return drawn(key, "sensitivity", lambda row: row["confidence"] == level)


def _higher_rates(found: Found, name: str) -> list[Check]:
    """Is the swap rate over all differences higher for disjoint sets than for the other two ways of sampling?"""
    checks: list[Check] = []
    for key in (*_DOCUMENTS, *_QUESTIONS):
        if f"{key} curves" not in found.results or name not in found.names[f"{key} curves"]:
            continue
        counted: dict[str, dict[str, list[float]]] = {}
        for row in found.rows(f"{key} curves"):
            if row["collection"] == name:
                both = counted.setdefault(row["measure"], {}).setdefault(row["sampling"], [0.0, 0.0])
                both[0] += row["swaps"]
                both[1] += row["comparisons"]
        for measure, ways in counted.items():
            rate = {way: swaps / comparisons if comparisons else math.nan for way, (swaps, comparisons) in ways.items()}
            if not rate.get("disjoint"):
                continue  # a measure by which runs never differ swaps nothing
            checks += [
                (
                    f"{measure}: {rate['disjoint']:.1%} against {rate[other]:.1%} ({other})",
                    rate["disjoint"] > rate[other],
                )
                for other in SAMPLINGS[1:]
            ]
    return checks


def _same_order(found: Found, name: str) -> list[Check]:
    """Are two measures in the same order of sensitivity under disjoint sets and under replacement?"""
    checks: list[Check] = []
    for key in (*_DOCUMENTS, *_QUESTIONS):
        if key not in found.results or name not in found.names[key]:
            continue
        share: dict[tuple[float, str], dict[str, float]] = {}
        for row in found.rows(key):
            if row["collection"] == name:
                value = row["share"]
                known = value is not None and not math.isnan(value)
                share.setdefault((row["confidence"], row["sampling"]), {})[row["measure"]] = value if known else 0.0
        for level in dict.fromkeys(level for level, _ in share):
            one, other = share[level, "disjoint"], share[level, "replacement"]
            for a, b in combinations(one, 2):
                if one[a] != one[b]:
                    agrees = (one[a] - one[b]) * (other[a] - other[b]) > 0
                    checks.append((f"{a} and {b} at {level:g}%", agrees))
    return checks


def _item(kind: str, number: int, caption: str, key: str, make: Callable[[Found], list[Panel]]) -> Item:
    return Item(kind, (number,), caption, (key,), make)


_LETTERS = "(i) difference required; (ii) largest mean seen; (iii) = (i)/(ii); (iv) share of comparisons that large."

PAPER = Paper(
    "sakai2005",
    "The Effect of Topic Sampling in Sensitivity Comparisons of Information Retrieval Metrics",
    "T. Sakai, NTCIR-5, 2005",
    "The swap method draws two sets of topics many times and asks how large a difference between two runs must be so "
    "that "
    "both sets agree on it. The paper draws the two sets in three ways (disjoint, with replacement, independently) and "
    "asks whether the measures keep their order of sensitivity. Here: the 30 best runs by Relaxed-AveP, half of the "
    "topics in each set, 1000 trials.",
    STUDIES,
    (
        _item(
            "Table",
            1,
            f"Sensitivity of binary measures at 95% confidence. {_LETTERS}",
            "binary",
            _sensitivity("binary"),
        ),
        _item(
            "Table",
            2,
            f"Sensitivity of graded measures at 95% confidence. {_LETTERS}",
            "graded",
            _sensitivity("graded"),
        ),
        _item(
            "Table",
            3,
            f"Sensitivity of measures for one relevant document, at 95, 90 and 80% confidence. {_LETTERS}",
            "one",
            _sensitivity("one"),
        ),
        _item(
            "Table", 4, f"Sensitivity of measures for answers at 95% confidence. {_LETTERS}", "qa", _sensitivity("qa")
        ),
        Item(
            "Table",
            (5,),
            "Topics that two sets share / different topics in a set, expected.",
            ("shared", "qa shared"),
            _overlap,
        ),
        _item(
            "Figure",
            2,
            "Swap rates of Q-measure and Relaxed-AveP.",
            "one curves",
            _curves("one", "Q-measure", "Relaxed-AveP"),
        ),
        _item("Figure", 3, "Swap rates of O-measure and RR.", "one curves", _curves("one", "O-measure", "RR")),
        _item(
            "Figure", 4, "Swap rates of Q-measure and RR for answers.", "qa curves", _curves("qa", "Q-measure", "RR")
        ),
        _item(
            "Figure",
            5,
            "Share of comparisons with the required difference, binary measures, 95%.",
            "binary",
            _bars("binary", 95),
        ),
        _item("Figure", 6, "The same for graded measures, 95%.", "graded", _bars("graded", 95)),
        _item("Figure", 7, "The same for measures of one relevant document, 80%.", "one", _bars("one", 80)),
        _item("Figure", 8, "The same for measures of answers, 95%.", "qa", _bars("qa", 95)),
    ),
    (
        Finding(
            "Hypothesis 1",
            "disjoint sets of topics give higher swap rates than the other ways of sampling",
            "for every measure, the swap rate over all differences under disjoint sets is compared with that under "
            "replacement and under independent sets",
            tuple(f"{key} curves" for key in (*_DOCUMENTS, *_QUESTIONS)),
            _higher_rates,
        ),
        Finding(
            "Hypothesis 2",
            "with replacement, the measures keep their order of sensitivity",
            "for every pair of measures of a table that differ in column (iv) under disjoint sets, the order under "
            "replacement is compared; a measure without a required difference counts as 0",
            (*_DOCUMENTS, *_QUESTIONS),
            _same_order,
        ),
    ),
    NAMED_BY_PAPER,
)
