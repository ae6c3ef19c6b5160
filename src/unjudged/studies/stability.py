"""The stability method: how often do topic sets contradict each other? (Buckley and Voorhees 2000)"""

from __future__ import annotations

from typing import Any

import numpy as np

from unjudged.comparing.paired_scores import told
from unjudged.comparing.stability import COLUMNS
from unjudged.errors import UsageError
from unjudged.figures import stability as charts
from unjudged.results import Result, Row
from unjudged.statistics.stability import FUZZINESS
from unjudged.statistics.stability import stability as count_minorities
from unjudged.studies import layouts
from unjudged.studies._study import Lab, register
from unjudged.studies.asked import Runs, Scoring
from unjudged.studies.matrices import Matrices, matrices
from unjudged.studies.preparing import cases, columns, provenance, row, stage
from unjudged.studies.verdicts import stability_verdict
from unjudged.studies.workdir import Arrays


def minorities(shared: Matrices, unit: tuple[int, tuple[float, ...], int, int, int]) -> Arrays:
    """One work unit: minority rate and ties of one measure at every fuzziness."""
    m, fuzziness, size, trials, seed = unit
    with told():
        found = count_minorities(shared.values[m], fuzziness, size=size, trials=trials, seed=seed)
    return {"rate": np.array([f.minority_rate for f in found]), "ties": np.array([f.ties for f in found])}


@register(
    "stability",
    help="how often topic sets contradict each other about two runs",
    cite="buckley2000",
    figures={"": ("stability",)},
)
def stability(
    lab: Lab, scoring: Scoring, runs: Runs, *, fuzziness: Any = FUZZINESS, c: int | None = None, trials: int = 1000
) -> Result:
    """How often do topic sets contradict each other about two runs?

    Many sets of c topics are drawn; two runs whose means differ by less than a fuzziness share of the larger one count
    as tied. The minority rate is the share of comparisons that go against what most sets say about the pair. A good
    measure has a low minority rate with few ties (Buckley and Voorhees 2000; Sakai 2005, section 5.3).
    """
    given = tuple(fuzziness) if isinstance(fuzziness, (list, tuple)) else (fuzziness,)
    if not given or any(not 0 <= f < 1 for f in given):
        raise UsageError(f"fuzziness is a share as 0.05, not {','.join(map(str, given))}")
    rows: list[Row] = []
    main = min(given, key=lambda f: abs(f - 0.05))
    rates: list[tuple[str, float, float]] = []
    sizes: dict[str, int] = {}
    found = cases(lab, scoring, runs)
    for case in found:
        shared = matrices(case)
        size = c if c is not None else shared.topics // 2
        sizes[case.name] = size
        units = [(m, given, size, trials, runs.seed) for m in range(len(shared.names))]
        values = lab.run(minorities, shared, units, stage(lab, case.name, f"{len(shared.runs)} runs, {trials} trials"))
        for name, value in zip(shared.names, values, strict=True):
            for f, rate, ties in zip(given, value["rate"].tolist(), value["ties"].tolist(), strict=True):
                rows.append(row(lab, case.name, (name, f, rate, ties)))
                if f == main:
                    rates.append((name, rate, ties))
    head = columns(lab, *COLUMNS)
    return Result(
        head,
        lambda: rows,
        provenance(lab, found, trials=trials, c=sizes),
        layout=lambda: _table(head, rows, given),
        figures={"stability": charts.stability},
        verdict=stability_verdict(rates, main),
        caption="Minority rate / share of ties at each fuzziness; bold: the lowest minority rate.",
    )


def _table(head: tuple[str, ...], rows: list[Row], given: tuple[float, ...]) -> layouts.Table:
    """A line per measure, a column per fuzziness."""
    first = head.index("fuzziness")
    lines: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    for r in rows:
        lines.setdefault(tuple(r[:first]), []).append((r[first + 1], r[first + 2]))
    cells = [
        layouts.best(
            [pairs[i][0] for pairs in lines.values()],
            [f"{layouts.percent(pairs[i][0])} / {layouts.percent(pairs[i][1])}" for pairs in lines.values()],
            smallest=True,
        )
        for i in range(len(given))
    ]
    table: list[Row] = [(*line, *(column[k] for column in cells)) for k, line in enumerate(lines)]
    return [*head[:first], *(f"{f:g}" for f in given)], table
