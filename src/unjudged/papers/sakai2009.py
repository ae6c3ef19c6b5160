"""Sakai 2009: how robust are measures to biased judgments, from a few teams or from shallow pools?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from unjudged.papers import contents
from unjudged.papers.declaration import Asked, Check, Finding, Item, Panel, Paper
from unjudged.papers.found import Found, Table, by_collection, titled
from unjudged.results import Row, Shown
from unjudged.statistics.pairs import exact_mean
from unjudged.studies.bias import AVERAGE
from unjudged.studies.engine.conditions import FULL
from unjudged.studies.layouts import best

NAMED_BY_PAPER = {
    "AP'": "AP'",
    "Q'": "Q'",
    "nDCG'(dcg='jk')@1000": "nDCG'",
    "RBP'": "RBP'",
    "bpref": "bpref",
    "AP": "AP",
    "Q": "Q",
    "nDCG(dcg='jk')@1000": "nDCG",
    "RBP": "RBP",
}
_SET = {"measures": "sakai2009"}

STUDIES = {
    "contributions": Asked("contributions", teams=True),
    "leave": Asked("leave-team-out", {**_SET, "test": "none"}, teams=True),
    "take": Asked("take-team", {**_SET, "test": "none"}, teams=True),
    "power": Asked("power", {**_SET, "one_per_team": True}, teams=True),
    "taken": Asked("take-team", {**_SET, "summary": True}, teams=True),
    "depth": Asked("depth", {**_SET, "one_per_team": True}, teams=True),
}
_KINDS = ("power", "misses", "false alarms")


def _order(found: Found) -> list[Panel]:
    """Table 5: tau with the full order, judgments of three teams and of one (average)."""
    panels, tables = [], found.tables("taken")
    for i, (name, (head, rows)) in enumerate(tables.items()):
        shown: list[Row] = [(_taken(row[0]), *row[2:]) for row in rows if row[1] == "tau" and row[0] != FULL]
        panels.append(found.shown(titled(i, name, len(tables)), (["", *head[2:]], shown), "taken"))
    return panels


def _taken(condition: str) -> str:
    """As the paper calls it."""
    if condition == AVERAGE:
        return "take-one-team (average)"
    return f"take-three-teams ({condition.replace('+', ', ')})" if "+" in condition else condition


def _significant(found: Found) -> list[Panel]:
    """Tables 6 and 7: power and the difference required with all judgments; power, misses and false alarms with few."""
    panels, tables = [], found.tables("taken")
    needed = {(r["collection"], r["measure"]): r for r in found.rows("power")}
    for i, (name, (head, rows)) in enumerate(tables.items()):
        measures = head[2:]
        full = [needed[name, m] for m in measures]
        table: list[Row] = [
            ("all judgments", "power", *best([r["power"] for r in full], list(map(_counted, full)))),
            ("", "difference required", *(Shown(f"{r['required_difference']:.2f}") for r in full)),
        ]
        conditions = [c for c in dict.fromkeys(row[0] for row in rows) if c != FULL]
        for condition in conditions:
            kept = [row for kind in _KINDS for row in rows if row[0] == condition and row[1] == kind]
            table += [(_taken(condition) if k == 0 else "", *row[1:]) for k, row in enumerate(kept)]
        panels.append(found.shown(titled(i, name, len(tables)), (["", "", *measures], table), "taken", "power"))
    return panels


def _counted(row: dict[str, Any]) -> str:
    """`77/120 = 64.2%`"""
    return f"{row['significant']}/{row['pairs']} = {row['power']:.1%}"


def _levels(*kinds: str) -> Callable[[Found], list[Panel]]:
    """Tables 8 to 10: the lines of the study of shallower pools that tell these statistics."""

    def make(found: Found) -> list[Panel]:
        panels, tables = [], found.tables("depth")
        for i, (name, (head, rows)) in enumerate(tables.items()):
            table: Table = ["", "", *head[2:]], []
            for level in dict.fromkeys(row[1] for row in rows):
                lines = [row for kind in kinds for row in rows if row[1] == level and row[0] == kind]
                several = len(kinds) > 1
                table[1].extend(
                    (level if k == 0 else "", *([row[0]] if several else []), *row[2:]) for k, row in enumerate(lines)
                )
            if len(kinds) == 1:
                table = ["", *head[2:]], table[1]
            panels.append(found.shown(titled(i, name, len(tables)), table, "depth"))
        return panels

    return make


# -- findings

PAIRS = (("AP'", "AP"), ("Q'", "Q"), ("nDCG'", "nDCG"), ("RBP'", "RBP"))


def _over_and_under(found: Found, name: str) -> list[Check]:
    """Per measure: does its condensed form rise, its ordinary form fall, and the rise exceed the fall?"""
    changes: dict[str, list[float]] = {}
    for row in found.rows("leave"):
        if row["collection"] == name and row["change_pct"] is not None and row["change_pct"] == row["change_pct"]:
            changes.setdefault(row["measure"], []).append(row["change_pct"])
    mean = {measure: exact_mean(values) for measure, values in changes.items()}
    checks: list[Check] = []
    for condensed, ordinary in PAIRS:
        if condensed in mean and ordinary in mean:
            up, down = mean[condensed], mean[ordinary]
            checks += [
                (f"{condensed} rises ({up:+.2f}%)", up > 0),
                (f"{ordinary} falls ({down:+.2f}%)", down < 0),
                (f"{condensed} rises more than {ordinary} falls ({up:+.2f}%, {down:+.2f}%)", up > -down),
            ]
    if "bpref" in mean:
        checks.append((f"bpref rises ({mean['bpref']:+.2f}%)", mean["bpref"] > 0))
    return checks


def _powers(found: Found, key: str, name: str) -> dict[str, dict[str, float]]:
    """Condition (or depth) -> measure -> discriminative power under biased judgments."""
    told: dict[str, dict[str, float]] = {}
    for row in found.rows(key):
        condition = str(row["condition"]) if key == "taken" else f"depth {row['level']:g}"
        aside = key == "taken" and condition != AVERAGE and "+" not in condition
        if row["collection"] == name and not aside:
            words = {AVERAGE: "one team"}.get(condition, "three teams") if key == "taken" else condition
            told.setdefault(words, {})[row["measure"]] = row["power"]
    return told


def _not_superior(key: str) -> Callable[[Found, str], list[Check]]:
    def checks(found: Found, name: str) -> list[Check]:
        return [
            (f"{condition}: {condensed} {p[condensed]:.1%}, {ordinary} {p[ordinary]:.1%}", p[condensed] <= p[ordinary])
            for condition, p in _powers(found, key, name).items()
            for condensed, ordinary in PAIRS[:3]
        ]

    return checks


def _more_discriminative(found: Found, name: str) -> list[Check]:
    every: dict[str, Any] = {**_powers(found, "taken", name), **_powers(found, "depth", name)}
    return [
        (f"{condition}: {one} {p[one]:.1%}, {other} {p[other]:.1%}", p[one] > p[other])
        for condition, p in every.items()
        for one, other in product(("AP'", "Q'"), ("bpref", "RBP", "RBP'"))
    ]


PAPER = Paper(
    "sakai2009",
    "On the Robustness of Information Retrieval Metrics to Biased Relevance Assessments",
    "T. Sakai, Journal of Information Processing 17, 2009",
    "Judgments are biased where the judged documents come from a few teams, or from the very top of the runs. The "
    "paper "
    "compares measures on condensed lists (AP', Q', nDCG', RBP', bpref) with ordinary ones (AP, Q, nDCG, RBP) under "
    "such "
    "judgments. Here: one run of each team, drawn by the seed; bootstrap tests at alpha 0.05.",
    STUDIES,
    (
        Item(
            "Table",
            (1,),
            "The collections. The number of documents is not in judgments and runs.",
            (),
            contents.as_columns,
        ),
        Item(
            "Table",
            (2,),
            "Teams, their runs, and what only they brought into the pool: documents and relevant documents per topic. "
            "†: not used in take-one-team; *: used in take-three-teams.",
            ("contributions",),
            by_collection("contributions"),
        ),
        Item(
            "Table",
            (3,),
            "Change of score and rank of a team's run when its team is left out of the pool; bold: the rank changes.",
            ("leave",),
            by_collection("leave"),
        ),
        Item(
            "Table",
            (4,),
            "Change of score and rank of a team's run when its team alone makes the pool; bold: the rank changes.",
            ("take",),
            by_collection("take"),
        ),
        Item(
            "Table",
            (5,),
            "Kendall's tau between the full order and that by judgments of three teams, or of one.",
            ("taken",),
            _order,
        ),
        Item(
            "Table",
            (6, 7),
            "Discriminative power at alpha 0.05 with judgments of one team (average) and of three; bold: highest "
            "power, fewest errors.",
            ("taken", "power"),
            _significant,
        ),
        Item(
            "Table",
            (8,),
            "Kendall's tau between the full order and that by a shallower pool.",
            ("depth",),
            _levels("tau"),
        ),
        Item(
            "Table",
            (9, 10),
            "Discriminative power at alpha 0.05 with shallower pools; bold: highest power, fewest errors.",
            ("depth",),
            _levels(*_KINDS),
        ),
    ),
    (
        Finding(
            "(1)",
            "measures on condensed lists overestimate runs that were not in the pool, ordinary ones underestimate "
            "them, and the overestimation is larger",
            "for AP, Q, nDCG and RBP, averaged over left-out teams: the condensed form rises, the ordinary form "
            "falls, and the rise is larger than the fall; bpref rises",
            ("leave",),
            _over_and_under,
        ),
        Finding(
            "(2)",
            "with judgments from one team or three, AP', Q' and nDCG' are not always better than AP, Q and nDCG at "
            "telling runs apart",
            "for judgments of one team (average) and of three: the power of the condensed form is not above that of "
            "the ordinary form",
            ("taken",),
            _not_superior("taken"),
            generally=False,
        ),
        Finding(
            "(3)",
            "with shallow pools, AP', Q' and nDCG' are not always better than AP, Q and nDCG at telling runs apart",
            "the same at every depth",
            ("depth",),
            _not_superior("depth"),
            generally=False,
        ),
        Finding(
            "(4)",
            "under both kinds of bias, AP' and Q' tell more pairs of runs apart than bpref, RBP and RBP'",
            "under every condition of tables 6, 7, 9 and 10, the power of AP' and of Q' is compared with that of the "
            "three",
            ("taken", "depth"),
            _more_discriminative,
        ),
    ),
    NAMED_BY_PAPER,
)
