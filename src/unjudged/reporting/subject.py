"""What a report is about: a collection and its settings, and what several sections need, computed once."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unjudged.changes.leave_out import leave_out
from unjudged.collection import Collection, Floats, Pool
from unjudged.collection.membership import membership
from unjudged.collection.pool import pool_of
from unjudged.errors import UsageError
from unjudged.measures import measures
from unjudged.options import check, default
from unjudged.reporting.section import Progress, counted, silent
from unjudged.results import Provenance, Result, Row
from unjudged.scoring import POLICIES, Scores, score
from unjudged.thresholds import Thresholds, read_thresholds

if TYPE_CHECKING:
    from unjudged.reporting.fair_to_outsiders import Outside

MEASURES: tuple[str, ...] = default("measures", "report")
"""Measures of a report when none are asked for; the first one leads."""

OUTSIDER = "P@10"
"""The measure of fairness: what a reader sees first, and where a missing judgment costs at once."""


@dataclass(frozen=True)
class Settings:
    """What a reader may choose. `depth` and `pooled` describe the pool (None: inferred)."""

    measures: tuple[str, ...] = MEASURES
    rel: int | None = None
    unjudged: str = "nonrelevant"
    seed: int = 0
    alpha: float = 0.05
    depth: int | None = None

    def __post_init__(self) -> None:
        if not self.measures:
            raise UsageError("a report needs at least one measure")
        names = tuple(str(m) for m in measures(list(self.measures)))
        object.__setattr__(self, "measures", tuple(dict.fromkeys(names)))
        if self.unjudged not in POLICIES:
            raise UsageError(f"unjudged documents can be {' or '.join(POLICIES)}, not {self.unjudged!r}")
        for name in ("alpha", "seed", "depth"):
            check(name, getattr(self, name))

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self), "measures": list(self.measures)}


class Subject:
    """The collection under question, its runs in order of their names: the order given shows nowhere in a report."""

    collection: Collection
    call: str
    settings: Settings
    thresholds: Thresholds

    def __init__(
        self,
        collection: Collection,
        settings: Settings | None = None,
        thresholds: Thresholds | None = None,
        *,
        second: Collection | None = None,
        call: str = "",
    ) -> None:
        if len(collection.runs) < 2:
            raise UsageError("a report compares runs: at least two are needed")
        if len(collection.topics) < 2:
            raise UsageError("a report needs at least two judged topics")
        self.collection, self.call = collection.with_runs(sorted(collection.runs)), call
        self.settings = settings or Settings()
        self.thresholds = thresholds or read_thresholds()
        self.second = second
        self._outside: Outside | None = None

    # -- scores

    def score(self, wanted: Sequence[str], collection: Collection | None = None) -> Scores:
        """Scores under the report's settings."""
        s = self.settings
        return score(collection or self.collection, list(wanted), rel=s.rel, unjudged=s.unjudged, call=self.call)

    @functools.cached_property
    def scores(self) -> Scores:
        """The report's measures, every run and topic."""
        return self.score(self.settings.measures)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The measures as scored (a policy or `rel` may have changed their spelling)."""
        return tuple(str(m) for m in self.scores.measures)

    @property
    def main(self) -> str:
        """The measure that leads."""
        return self.names[0]

    @functools.cached_property
    def early(self) -> str:
        """The first of the measures that looks at the top of the lists only, else nDCG@10."""
        cut = [str(m) for m in self.scores.measures if 0 < (m.params.get("k") or 0) <= 20]
        return cut[0] if cut else "nDCG@10"

    def matrix(self, measure: str) -> Floats:
        """Topics x runs."""
        return self.scores.values[:, :, self.names.index(measure)].T

    def means(self, measure: str) -> Floats:
        """One value per run."""
        return self.scores.mean_values()[:, self.names.index(measure)]

    @functools.cached_property
    def order(self) -> list[int]:
        """Run numbers, best first by the main measure (equal ones by name)."""
        means = self.means(self.main)
        return sorted(range(len(self.runs)), key=lambda r: (-round(float(means[r]), 12), self.runs[r]))

    # -- runs and teams

    @property
    def runs(self) -> tuple[str, ...]:
        """Names of the runs."""
        return self.collection.runs

    @property
    def topics(self) -> tuple[str, ...]:
        """The judged topics."""
        return self.collection.topics

    @functools.cached_property
    def teams(self) -> tuple[str, ...]:
        """Each run's team; a run without one is its own team."""
        return tuple(self.collection.teams.get(run, run) for run in self.runs)

    @functools.cached_property
    def too_few(self) -> str:
        """Why nothing can be said for sure; empty where there are enough runs and topics."""
        missing = []
        if len(self.topics) < self.thresholds.topics:
            missing.append(f"{counted(len(self.topics), 'topic')} (at least {self.thresholds.topics} are needed)")
        if len(self.runs) < self.thresholds.runs:
            missing.append(f"{counted(len(self.runs), 'run')} (at least {self.thresholds.runs} are needed)")
        return "there are only " + " and ".join(missing) if missing else ""

    def weighed(self, word: str, sentence: str) -> tuple[str, str]:
        """A verdict's word and sentence; `unknown`, with the reason, where there are too few runs or topics."""
        return ("unknown", f"{sentence[:-1]}; but {self.too_few}.") if self.too_few else (word, sentence)

    # -- the pool

    @functools.cached_property
    def pool(self) -> Pool | None:
        """The pool the judgments show: depth and pooled runs; None where they show none."""
        c, depth = self.collection, self.settings.depth
        try:
            found = pool_of(c, depth, None if c.pool is not None else "infer")
        except UsageError:
            return None
        return replace(found, runs=tuple(sorted(found.runs)))

    @functools.cached_property
    def pooled_teams(self) -> dict[str, list[str]]:
        """The pooled runs of each team that has some."""
        team_of = {**{run: run for run in self.collection.full.runs}, **self.collection.teams}
        found: dict[str, list[str]] = {}
        for run in self.pool.runs if self.pool is not None else ():
            found.setdefault(team_of[run], []).append(run)
        return found

    @functools.cached_property
    def outsiders(self) -> list[int]:
        """Numbers of the runs whose team has no pooled run."""
        return [r for r, team in enumerate(self.teams) if self.pool is not None and team not in self.pooled_teams]

    def less_deep(self, depth: int) -> Collection:
        """The collection with a pool of this depth; judgments the pool does not explain stay."""
        assert self.pool is not None
        c, pool = self.collection, self.pool
        kept = membership(c, replace(pool, depth=depth)).found() | ~membership(c, pool).found()
        return c.keeping(kept, f"pool of depth {depth}", replace(pool, depth=depth))

    def without(self, runs: Sequence[str]) -> Collection:
        """The collection as if these runs had not been pooled."""
        assert self.pool is not None
        return leave_out(self.collection, runs=list(runs), depth=self.pool.depth, pooled=list(self.pool.runs))

    def outside(self, progress: Progress = silent) -> Outside:
        """What being outside the pool costs."""
        if self._outside is None:
            from unjudged.reporting.fair_to_outsiders import outside

            self._outside = outside(self, progress)
        return self._outside

    # -- results

    def result(self, columns: Sequence[str], rows: Sequence[Row], settings: Mapping[str, Any] | None = None) -> Result:
        """A table with the report's provenance."""
        from unjudged import __version__

        plain = [tuple(_plain(value) for value in row) for row in rows]
        pool = self.pool.settings if self.pool is not None else {"pool": "not recognised"}
        made = {**self.collection.settings, **pool, **self.settings.to_dict(), **(settings or {})}
        provenance = Provenance(__version__, self.call, self.collection.sources, made, self.settings.seed)
        return Result(columns, lambda: plain, provenance)


def _plain(value: Any) -> Any:
    """NumPy numbers as Python's."""
    return value.item() if isinstance(value, np.generic) else value
