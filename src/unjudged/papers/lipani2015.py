"""Lipani, Lupu and Hanbury 2015: does a run's effect on the pooled ones tell what its unjudged documents cost it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unjudged.papers.declaration import Asked, Check, Finding, Item, Panel, Paper
from unjudged.papers.found import Found, NotHere, drawn
from unjudged.results import Result, Row, Shown
from unjudged.studies.correction import REDUCED, error_lines
from unjudged.text import printed

OURS, WEBBER, REDUCED_POOL = "Ours", "Webber", "Reduced Pool"
NAMED_BY_PAPER = {"lipani": OURS, "webber-park": WEBBER, REDUCED: REDUCED_POOL}
_HOW = {"protocol": "sigir2015", "methods": ("lipani", "webber-park")}
BEST = 0.75
N = 10
"""The cut-off of table 1 and figure 1."""

STUDIES = {
    "best": Asked("correction", {**_HOW, "top": BEST}, teams=True),
    "all": Asked("correction", _HOW, teams=True),
    "runs": Asked("correction", {**_HOW, "per_run": True}, teams=True),
}


def _discounted(found: Found) -> list[Panel]:
    """Table 1: the run that loses most when it is not part of the pool, in every collection."""
    table: list[Row] = []
    every = [row for row in found.rows("runs") if row["n"] == N]
    for name in found.names["runs"]:
        rows = [row for row in every if row["collection"] == name]
        if rows:
            most = max(rows, key=lambda row: (row["true"] - row["reduced"], row["run"]))
            shown = (f"{most[column]:.4f}" for column in ("reduced", "k", "delta_p", "delta_anti_p", "true"))
            table.append((name, most["run"], *map(Shown, shown)))
    if not table:
        raise NotHere("no run could be left out")
    head = ["", "run", f"P@{N}", f"k@{N}", f"ΔP@{N}", f"Δanti-P@{N}", f"P@{N} in the pool"]
    return [found.shown("", (head, table), "runs")]


def _errors(found: Found) -> list[Panel]:
    """Table 2, as the study has it, under the paper's names of methods."""
    head, rows = found.laid_out("best")
    rows = [row for row in rows if not str(row[0]).startswith("rho ")]  # they stand in figure 2
    for ours, theirs in NAMED_BY_PAPER.items():
        head = [theirs + name.removeprefix(ours) if name.startswith(f"{ours} ") else name for name in head]
    return [found.shown("", (head, rows), "best")]


def _lines(error: str) -> Callable[[Found], list[Panel]]:
    """Figures 3 and 4: an error against the cut-off, of all runs and of the best ones."""

    def make(found: Found) -> list[Panel]:
        chosen = [("all", "all runs"), ("best", f"top {BEST:.0%}")]
        rows: list[dict[str, Any]] = []
        for key, selection in chosen:
            several = len(found.names[key]) > 1 if key in found.names else False
            for row in found.rows(key):
                kept = {
                    k: round(v, 6) if isinstance(v, float) else v
                    for k, v in row.items()
                    if several or k != "collection"
                }
                rows.append({**kept, "selection": selection})
        result = found.result("best")
        columns = ("collection", "selection", "method", "n", error)
        tidy = [tuple(row.get(c, found.names["best"][0]) for c in columns) for row in rows]
        chart = {error: lambda own: error_lines(rows, error)}
        return [Panel("", Result(columns, lambda: tidy, result.provenance, None, chart, notes=result.notes))]

    return make


def _cells(found: Found, name: str) -> list[tuple[str, dict[str, float]]]:
    """Every cut-off and error: method -> its value, MAE as the table prints it."""
    cells: dict[str, dict[str, float]] = {}
    for row in found.rows("best"):
        if row["collection"] == name:
            for error in ("mae", "sre"):
                cells.setdefault(f"{error.upper()} at {row['n']}", {})[row["method"]] = (
                    float(printed(row[error])) if error == "mae" else row[error]
                )
    return list(cells.items())


def _smaller(found: Found, name: str) -> list[Check]:
    """Is the error smaller than that of each other method? Equal ones are not counted."""
    return [
        (f"{what}: {values[OURS]:g} against {values[other]:g} ({other})", values[OURS] < values[other])
        for what, values in _cells(found, name)
        for other in (WEBBER, REDUCED_POOL)
        if values[OURS] != values[other]
    ]


def _never_worst(found: Found, name: str) -> list[Check]:
    """Is some other method as bad or worse?"""
    return [
        (f"{what}: {values[OURS]:g}", values[OURS] <= max(values[WEBBER], values[REDUCED_POOL]))
        for what, values in _cells(found, name)
    ]


PAPER = Paper(
    "lipani2015",
    "Splitting Water: Precision and Anti-Precision to Reduce Pool Bias",
    "A. Lipani, M. Lupu, A. Hanbury, SIGIR 2015",
    "A run that was not pooled has unjudged documents at the top, which count as nonrelevant. The paper merges it "
    "with every "
    "pooled run and adds to P@n what that tells (Ours); it is compared with Webber and Park's correction (Webber) and "
    "with no "
    "correction (Reduced Pool). Here: one organisation left out at a time, the protocol of the paper "
    "(docs/correction.md).",
    STUDIES,
    (
        Item(
            "Table",
            (1,),
            f"The run that loses most P@{N} when it is not part of the pool, and the quantities of the method.",
            ("runs",),
            _discounted,
        ),
        Item(
            "Table",
            (2,),
            "Errors when one organisation is left out, top 75% of the pooled runs: MAE, mean absolute error; SRE, "
            "places that runs "
            "move; SRE*, significantly different runs passed. Bold: the smallest in a line; †: n is deeper than the "
            "pool, so "
            "that the true scores are uncertain, too (section 5.2).",
            ("best",),
            _errors,
        ),
        Item(
            "Figure",
            (1,),
            f"ΔP, Δanti-P and λ at {N} of every left-out run against what its score lost.",
            ("runs",),
            drawn("runs", "indicators"),
        ),
        Item(
            "Figure",
            (2,),
            "Change of the mean absolute error by the correction against the stability of the collections.",
            ("best",),
            drawn("best", "stability"),
        ),
        Item(
            "Figure",
            (3,),
            "Mean absolute error against the cut-off, all runs and the top 75%.",
            ("best", "all"),
            _lines("mae"),
        ),
        Item(
            "Figure",
            (4,),
            "System rank error against the cut-off, all runs and the top 75%.",
            ("best", "all"),
            _lines("sre"),
        ),
    ),
    (
        Finding(
            "Ours is better",
            "the paper's correction has smaller errors than Webber's and than no correction",
            "at every cut-off of table 2, MAE and SRE of Ours are compared with those of each other method; equal "
            "ones are not counted",
            ("best",),
            _smaller,
        ),
        Finding(
            "Ours is safe",
            "the paper's correction is hardly ever the worst of the three",
            "at every cut-off of table 2, MAE and SRE of Ours are not above those of both others",
            ("best",),
            _never_worst,
        ),
    ),
    NAMED_BY_PAPER,
)
