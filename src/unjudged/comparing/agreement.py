"""Do two measures rank the runs alike? Kendall's tau between measures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from unjudged.collection import Collection
from unjudged.comparing.paired_scores import paired_scores
from unjudged.errors import UsageError
from unjudged.figures import agreement as charts
from unjudged.results import Result, Row
from unjudged.scoring import Scores
from unjudged.statistics.correlation import tau_b, tau_p_value

COLUMNS = ("measure_a", "measure_b", "tau", "p_value")


def agreement(source: Scores | Collection, measures: Any = None, *, call: str = "", **scoring: Any) -> Result:
    """Kendall's tau_b between the rankings of the runs by every two measures, with its two-sided p value.

    Computed on unrounded means over topics. Both are empty where a measure gives all runs the same mean.
    """
    paired = paired_scores(source, measures, purpose="agreement", **scoring)
    if len(paired.measures) < 2:
        raise UsageError(f"agreement needs at least 2 measures, found {len(paired.measures)}")
    means = dict(zip(paired.names, paired.means(), strict=True))

    def rows() -> Iterator[Row]:
        for (a, x), (b, y) in combinations(means.items(), 2):
            yield a, b, tau_b(x, y), tau_p_value(x, y)

    return Result(
        COLUMNS, rows, paired.provenance(call, None), None, {"agreement": charts.agreement}, notes=paired.notes
    )
