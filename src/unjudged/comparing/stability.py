"""The stability method: how often do topic sets disagree about two runs? (Buckley and Voorhees, SIGIR 2000)"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from unjudged.collection import Collection
from unjudged.comparing.paired_scores import check_settings, paired_scores, told
from unjudged.figures import stability as charts
from unjudged.results import Result, Row
from unjudged.scoring import Scores
from unjudged.statistics import stability as stability_method

COLUMNS = ("measure", "fuzziness", "minority_rate", "ties")


def stability(
    source: Scores | Collection,
    measures: Any = None,
    *,
    fuzziness: float | Sequence[float] = stability_method.FUZZINESS,
    c: int | None = None,
    trials: int = 1000,
    replacement: bool = False,
    seed: int = 0,
    jobs: int = 1,
    call: str = "",
    **scoring: Any,
) -> Result:
    """Minority rate and share of ties of each measure at each fuzziness (Buckley and Voorhees, SIGIR 2000).

    Runs whose means over a random set of `c` topics (default: half of them) differ by less than `fuzziness` times the
    larger mean are tied. The minority rate is the share of comparisons that go against the majority of topic sets: an
    estimate of how often one would conclude the wrong thing.
    """
    check_settings(seed=seed, jobs=jobs)
    paired = paired_scores(source, measures, purpose="the stability method", least_topics=2, **scoring)
    values = (float(fuzziness),) if isinstance(fuzziness, (int, float)) else tuple(map(float, fuzziness))
    size = len(paired.topics) // 2 if c is None else c
    with told():
        found = [
            stability_method.stability(
                matrix, values, size=size, trials=trials, replacement=replacement, seed=seed, jobs=jobs
            )
            for matrix in paired.values
        ]

    def rows() -> Iterator[Row]:
        for measure, entries in zip(paired.names, found, strict=True):
            for entry in entries:
                yield measure, entry.fuzziness, entry.minority_rate, entry.ties

    provenance = paired.provenance(call, seed, c=size, trials=trials, replacement=replacement)
    return Result(COLUMNS, rows, provenance, None, {"stability": charts.stability}, notes=paired.notes)
