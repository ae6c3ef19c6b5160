"""The swap method: which differences do other topics confirm? (Voorhees and Buckley 2002; Sakai 2005, tables 1-5)"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from unjudged.comparing.paired_scores import told
from unjudged.comparing.swap import (
    COLUMNS,
    CONFIDENCES,
    CURVE,
    Counted,
    check_confidence,
    check_rule,
    check_samplings,
    curve_rows,
    required_rows,
)
from unjudged.errors import UsageError
from unjudged.figures import swap as charts
from unjudged.results import Result, Row, Verdict
from unjudged.statistics.draws import SAMPLINGS, Sampling
from unjudged.statistics.shared_topics import expected_shared_topics
from unjudged.statistics.swap import Rule, Swaps
from unjudged.statistics.swap import swap as count_swaps
from unjudged.studies import layouts
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Runs, Scoring
from unjudged.studies.matrices import Matrices, matrices
from unjudged.studies.preparing import Case, cases, columns, provenance, row, stage
from unjudged.studies.verdicts import swap_verdict
from unjudged.studies.workdir import Arrays


def swaps_of(shared: Matrices, unit: tuple[int, str, int, int, int]) -> Arrays:
    """One work unit: comparisons and swaps of one measure under one way of sampling."""
    m, sampling, size, trials, seed = unit
    with told():
        found = count_swaps(shared.values[m], sampling=cast(Sampling, sampling), size=size, trials=trials, seed=seed)
    return {"comparisons": found.comparisons, "swaps": found.swaps, "best": np.array(found.max_performance)}


@register(
    "swap",
    help="how large a difference other topics confirm",
    cite="voorhees2002",
    figures={"": ("sensitivity",), "curve": ("swap rate",)},
)
def swap(
    lab: Lab,
    scoring: Scoring,
    runs: Runs,
    *,
    sampling: Any = SAMPLINGS,
    c: int | None = None,
    trials: int = 1000,
    confidence: Any = CONFIDENCES,
    rule: str = "guarantee",
    curve: bool = False,
) -> Result:
    """How large must a difference be so that other topics confirm it?

    Two sets of c topics are drawn many times; a pair of runs swaps where the two sets disagree which is better. Swap
    rates are kept by the size of the difference in 21 bins of 0.01. The table tells, for each measure and way of
    sampling (disjoint, replacement, independent), the difference required for 95, 90 and 80 percent confidence, the
    best mean seen, their ratio, and the share of comparisons that large: the sensitivity of the measure (Sakai 2005,
    tables 1 to 4). --curve lists the bins. Independent sets share topics, so their swap rates are too low.
    """
    ways, levels, reading = check_samplings(sampling), check_confidence(confidence), check_rule(rule)
    found: list[tuple[Case, Matrices, int, Counted]] = []
    for case in cases(lab, scoring, runs):
        shared = matrices(case)
        size = c if c is not None else shared.topics // 2
        if "disjoint" in ways and 2 * size > shared.topics:
            raise UsageError(
                f"two disjoint sets of {size} topics need {2 * size}, {shared.topics} given; take a smaller --c, or "
                "--sampling replacement,independent"
            )
        units = [(m, way, size, trials, runs.seed) for way in ways for m in range(len(shared.names))]
        values = lab.run(swaps_of, shared, units, stage(lab, case.name, f"{len(shared.runs)} runs, {trials} trials"))
        swaps = {
            (shared.names[unit[0]], str(unit[1])): Swaps(v["comparisons"], v["swaps"], float(v["best"]))
            for unit, v in zip(units, values, strict=True)
        }
        found.append((case, shared, size, swaps))
    rows: list[Row] = [
        row(lab, case.name, values)
        for case, _, _, swaps in found
        for values in (curve_rows(swaps) if curve else required_rows(swaps, levels, reading))
    ]
    names = columns(lab, *(CURVE if curve else COLUMNS))
    sizes = {case.name: size for case, _, size, _ in found}
    return Result(
        names,
        lambda: rows,
        provenance(lab, [part[0] for part in found], trials=trials, c=sizes, rule=rule),
        layout=None if curve else lambda: _table(lab, names, rows),
        figures={"swap rate": charts.curves} if curve else {"sensitivity": charts.sensitivity},
        verdict=_verdict(found, levels[0], reading),
        caption="" if curve else _caption(found, ways, trials),
    )


def _table(lab: Lab, names: Sequence[str], rows: list[Row]) -> layouts.Table:
    """Tables 1 to 4 of Sakai 2005: per sampling and confidence, the measures by (iv)."""
    place = {name: i for i, name in enumerate(names)}
    keys = [*(["collection"] if lab.several else []), "sampling", "confidence"]
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for r in rows:
        groups.setdefault(tuple(r[place[k]] for k in keys), []).append(r)
    table: list[Row] = []
    for key, group in groups.items():
        shares = [-1.0 if math.isnan(r[place["share"]]) else r[place["share"]] for r in group]
        for k in sorted(range(len(group)), key=lambda i: -shares[i]):
            r = group[k]
            table.append(
                (
                    *key[:-1],
                    f"{key[-1]:g}%",
                    r[place["measure"]],
                    layouts.Shown(_two(r[place["required_difference"]])),
                    layouts.Shown(f"{r[place['max_performance']]:.4f}"),
                    layouts.Shown(layouts.percent(r[place["relative_difference"]], 0)),
                    layouts.Shown(layouts.percent(r[place["share"]]), shares[k] == max(shares) and shares[k] >= 0),
                )
            )
    return [*keys, "measure", "(i) difference", "(ii) maximum", "(iii) relative", "(iv) share"], table


def _two(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _caption(found: Sequence[tuple[Case, Matrices, int, Any]], ways: Sequence[Sampling], trials: int) -> str:
    """What the columns are, and how many topics two sets share (table 5)."""
    text = (
        "(i) difference required, (ii) best mean observed, (iii) = (i)/(ii), (iv) comparisons with the required "
        f"difference; {trials} trials, sorted by (iv)."
    )
    for case, shared, size, _ in found:
        name = f"{case.name}: " if len(found) > 1 else ""
        parts = []
        for way in ways:
            expected = expected_shared_topics(shared.topics, size, way)
            parts.append(f"{way} {expected.shared:.1f} of {expected.unique:.1f}")
        text += f" {name}Topics two sets of {size} share on average: {', '.join(parts)}."
    return text


def _verdict(found: Sequence[tuple[Case, Matrices, int, Counted]], level: float, rule: Rule) -> Verdict:
    """The most sensitive measure of the first collection, with disjoint sets where they were drawn."""
    _, _, size, swaps = found[0]
    way = "disjoint" if any(w == "disjoint" for _, w in swaps) else next(iter(swaps))[1]
    best: tuple[str, str, float, float, float] | None = None
    for (measure, w), counted in swaps.items():
        need = counted.required(level / 100, rule)
        if w == way and not math.isnan(need.share) and (best is None or need.share > best[3]):
            best = (measure, way, need.difference, need.share, need.relative)
    return swap_verdict(best, level / 100, size)
