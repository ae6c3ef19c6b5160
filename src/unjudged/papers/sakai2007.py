"""Sakai 2007: are measures on condensed lists better alternatives to bpref where judgments are missing?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from unjudged.papers import contents
from unjudged.papers.declaration import Asked, Check, Finding, Item, Panel, Paper
from unjudged.papers.found import Found, by_collection, drawn

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
    """At every level below all judgments: is each of these measures as good as that one (or better)?"""

    def checks(found: Found, name: str) -> list[Check]:
        values = {
            (row["level"], row["measure"]): row[statistic]
            for row in found.rows("reduction")
            if row["collection"] == name and row["level"] < FULL
        }
        return [
            (
                f"{measure} {values[level, measure]:.3f}, {worse} {values[level, worse]:.3f} at {level:g}%",
                values[level, measure] > values[level, worse]
                or (not strictly and values[level, measure] == values[level, worse]),
            )
            for level in dict.fromkeys(level for level, _ in values)
            for measure in better
        ]

    return checks


def _more_robust(found: Found, name: str) -> list[Check]:
    against = [(AVEP, True), (BPREF, False)]
    return [
        c for worse, strictly in against for c in _at_least("tau", ("Q-measure", "nDCG"), worse, strictly)(found, name)
    ]


def _power(found: Found) -> list[Panel]:
    """Table 3: the collections side by side, as the study has it."""
    return [found.shown("", found.laid_out("power"), "power")]


PAPER = Paper(
    "sakai2007",
    "Alternatives to Bpref",
    "T. Sakai, SIGIR 2007",
    "bpref was made for collections with few judgments. The paper takes judgments away at random and compares bpref with "
    "ordinary measures on condensed lists, from which unjudged documents are removed (AveP', Q', nDCG'). Here: the 30 best "
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
            "the orders by Q', nDCG', rpref_relative2 and AveP' are at least as robust to missing judgments as that by bpref_R",
            "at 90, 70, 50, 30 and 10% of the judgments, tau of each of the four is compared with tau of bpref_R; equal ones agree",
            ("reduction",),
            _at_least("tau", CONDENSED, BPREF, strictly=False),
        ),
        Finding(
            "(ii)",
            "the orders by Q-measure and nDCG are more robust to missing judgments than that by AveP, and as robust as that by bpref_R",
            "at each of these levels, tau of both is compared with tau of AveP (it must be larger) and of bpref_R (as large)",
            ("reduction",),
            _more_robust,
        ),
        Finding(
            "(iii)",
            "with few judgments, Q', nDCG', rpref_relative2 and AveP' tell more pairs of runs apart than bpref_R (the paper's i')",
            "at each of these levels, the discriminative power of each of the four is compared with that of bpref_R",
            ("reduction",),
            _at_least("power", CONDENSED, BPREF, strictly=True),
        ),
    ),
    NAMED_BY_PAPER,
)
