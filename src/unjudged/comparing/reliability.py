"""Are there enough topics? Generalizability theory on the scores (Urbano, Marrero and Martín, SIGIR 2013)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unjudged.collection import Collection
from unjudged.comparing.paired_scores import check_settings, paired_scores, told
from unjudged.errors import UsageError
from unjudged.figures import reliability as charts
from unjudged.results import Result, Row
from unjudged.scoring import Scores
from unjudged.statistics.reliability import d_study, g_study, topics_for_erho2, topics_for_phi

COLUMNS = (
    *("measure", "erho2", "phi", "low", "high", "topics_needed"),
    *("phi_low", "phi_high", "phi_topics_needed", "var_runs", "var_topics", "var_error"),
)


def reliability(
    source: Scores | Collection,
    measures: Any = None,
    *,
    topics: int | None = None,
    stability: float = 0.95,
    alpha: float = 0.05,
    drop: float = 0.0,
    call: str = "",
    **scoring: Any,
) -> Result:
    """How well the topics order the runs (E rho^2) and estimate their true scores (Phi); Urbano et al., SIGIR 2013.

    `topics` asks for another number of topics than scored. `low` and `high` are the 1 - alpha interval of E rho^2,
    `topics_needed` the topics for an E rho^2 of `stability` (empty where runs do not differ at all). The columns with
    `phi` say the same for Phi, `var_...` are the variance components. `drop` leaves out the runs below that quantile
    of the means, since hopeless runs make any topic set look reliable.
    """
    check_settings(alpha)
    if not 0 < stability < 1:
        raise UsageError(f"the stability wanted lies between 0 and 1, not {stability}")
    paired = paired_scores(source, measures, purpose="reliability", least_topics=2, **scoring)
    notes = list(paired.notes)
    rows: list[Row] = []
    with told():
        for measure, matrix in zip(paired.names, paired.values, strict=True):
            study = g_study(matrix, drop)
            found = d_study(study, topics, alpha / 2)
            needed, phi_needed = topics_for_erho2(study, stability), topics_for_phi(study, stability)
            notes += [f"{measure}: the variance of {part} was estimated below 0 and set to 0" for part in study.clipped]
            rows.append(
                (
                    *(measure, found.erho2, found.phi, found.erho2_low, found.erho2_high, _whole(needed)),
                    *(found.phi_low, found.phi_high, _whole(phi_needed)),
                    *(study.var_runs, study.var_topics, study.var_error),
                )
            )

    def given() -> Iterator[Row]:
        return iter(rows)

    figures = {"reliability": charts.reliability, "topics": charts.topics(topics or len(paired.topics))}
    provenance = paired.provenance(call, None, alpha=alpha, stability=stability, drop=drop, topics_assumed=topics)
    return Result(COLUMNS, given, provenance, None, figures, notes=notes)


def _whole(number: float) -> int | None:
    return None if number == float("inf") else int(number)
