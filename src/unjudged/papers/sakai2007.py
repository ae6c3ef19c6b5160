"""Sakai 2007: are measures on condensed lists better alternatives to bpref where judgments are missing?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from unjudged.papers import contents
from unjudged.papers.declaration import Asked, Check, Finding, Item, Panel, Paper
from unjudged.papers.found import Found, NotHere, by_collection, drawn, titled
from unjudged.statistics.pairs import exact_mean

NAMED_BY_PAPER = {
    "bpref_R": "bpref_R",
    "bpref_N": "bpref_N",
    "rpref_N": "rpref_N",
    "rpref_relative2": "rpref_relative2",
    "AP'": "AveP'",
    "Q'": "Q'",
    "nDCG'(dcg='jk')@1000": "nDCG'",
    "AP": "AveP",
    "Q": "Q-measure",
    "nDCG(dcg='jk')@1000": "nDCG",
}
_BEST = {"measures": "sakai2007", "top": 30, "by": "AP"}
LEFT_OUT = ("bpref_N", "rpref_N")
"""Measures that the paper leaves out of its experiments with fewer judgments."""
CONDENSED = ("Q'", "nDCG'", "rpref_relative2", "AveP'")
BPREF, AVEP = "bpref_R", "AveP"
FULL = 100

STUDIES = {
    "agreement": Asked("agreement", _BEST),
    "power": Asked("power", _BEST),
    "reduction": Asked("reduction", _BEST),
}


def _reduced(chart: str, levels: Sequence[float] | None = None) -> Callable[[Found], list[Panel]]:
    def keep(row: dict[str, Any]) -> bool:
        return row["measure"] not in LEFT_OUT and (levels is None or row["level"] in levels)

    return drawn("reduction", chart, keep)


def _at_least(statistic: str, better: Sequence[str], worse: str, strictly: bool) -> Callable[[Found, str], list[Check]]:
    """On average over the levels below all judgments: is each of these measures as good as that one (or better)?"""

    def checks(found: Found, name: str) -> list[Check]:
        values: dict[str, list[float]] = {}
        for row in found.rows("reduction"):
            if row["collection"] == name and row["level"] < FULL:
                values.setdefault(row["measure"], []).append(row[statistic])
        mean = {measure: exact_mean(series) for measure, series in values.items()}
        return [
            (
                f"{measure} {mean[measure]:.3f}, {worse} {mean[worse]:.3f}",
                mean[measure] > mean[worse] or (not strictly and mean[measure] == mean[worse]),
            )
            for measure in better
        ]

    return checks


def _more_robust(found: Found, name: str) -> list[Check]:
    against = [(AVEP, True), (BPREF, False)]
    return [
        c for worse, strictly in against for c in _at_least("tau", ("Q-measure", "nDCG"), worse, strictly)(found, name)
    ]


def _power(found: Found) -> list[Panel]:
    """Table 3: the collections, which the study puts side by side, one below the other."""
    head, rows = found.laid_out("power")
    names = found.told("power")
    if not names:
        raise NotHere(found.why_nothing(("power",), found.names["power"][0]))
    wide = len(head) // len(names)
    parts = {name: slice(i * wide, (i + 1) * wide) for i, name in enumerate(names)}
    return [
        found.shown(
            titled(i, name, len(names)),
            (["measure", *head[part][1:]], [row[part] for row in rows]),
            "power",
        )
        for i, (name, part) in enumerate(parts.items())
    ]


PAPER = Paper(
    "sakai2007",
    "Alternatives to Bpref",
    "T. Sakai, SIGIR 2007",
    "bpref was made for collections with few judgments. The paper takes judgments away at random and compares bpref "
    "with "
    "ordinary measures on condensed lists, from which unjudged documents are removed (AveP', Q', nDCG'). Here: the 30 "
    "best "
    "runs by AveP, one random order of the judgments, bootstrap tests at alpha 0.05.",
    STUDIES,
    (
        Item(
            "Table",
            (1,),
            "The collections: judged nonrelevant (N) and relevant documents (R) per topic.",
            (),
            contents.as_rows,
        ),
        Item(
            "Table",
            (2,),
            "Kendall's tau between the orders of the runs by two measures, all judgments.",
            ("agreement",),
            by_collection("agreement"),
        ),
        Item(
            "Table",
            (3,),
            "Discriminative power at alpha 0.05 with all judgments, and the difference required.",
            ("power",),
            _power,
        ),
        Item(
            "Figure",
            (1,),
            "Share of judgments kept against the mean score over topics and runs.",
            ("reduction",),
            _reduced("mean"),
        ),
        Item(
            "Figure",
            (2,),
            "Share of judgments kept against Kendall's tau with the order under all judgments.",
            ("reduction",),
            _reduced("tau"),
        ),
        Item(
            "Figure",
            (3,),
            "Share of judgments kept against discriminative power at alpha 0.05.",
            ("reduction",),
            _reduced("power", (100, 70, 50, 30, 10)),
        ),
    ),
    (
        Finding(
            "(i)",
            "the orders by Q', nDCG', rpref_relative2 and AveP' are at least as robust to missing judgments as that "
            "by bpref_R",
            "tau with the order under all judgments, averaged over 90, 70, 50, 30 and 10% of the judgments: that of "
            "each of the four is not below that of bpref_R",
            ("reduction",),
            _at_least("tau", CONDENSED, BPREF, strictly=False),
        ),
        Finding(
            "(ii)",
            "the orders by Q-measure and nDCG are more robust to missing judgments than that by AveP, and as robust "
            "as that by bpref_R",
            "the same averages: those of both are above that of AveP, and not below that of bpref_R",
            ("reduction",),
            _more_robust,
        ),
        Finding(
            "(iii)",
            "with few judgments, Q', nDCG', rpref_relative2 and AveP' tell more pairs of runs apart than bpref_R (the "
            "paper's i')",
            "discriminative power averaged over the same levels: that of each of the four is above that of bpref_R",
            ("reduction",),
            _at_least("power", CONDENSED, BPREF, strictly=True),
        ),
    ),
    NAMED_BY_PAPER,
)
