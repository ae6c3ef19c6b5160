"""Scores every run has on every topic: what all tests and all meta-evaluation stand on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats
from unjudged.errors import UsageError
from unjudged.measures import Measure, measures
from unjudged.options import check, default
from unjudged.results import Provenance
from unjudged.scoring import Scores, score

DEFAULT: tuple[str, ...] = default("measures")
"""Measures when none are asked for."""


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Scores measures x topics x runs without a hole, and where they come from."""

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Floats
    counted: tuple[int, ...]
    origin: Provenance
    notes: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The measures' spellings."""
        return [str(m) for m in self.measures]

    def means(self) -> Floats:
        """Measures x runs: the mean over topics."""
        return np.asarray(self.values.mean(axis=1))

    def provenance(self, call: str, seed: int | None, **settings: Any) -> Provenance:
        """That of the scores, with what was done to them."""
        return Provenance(
            self.origin.version,
            call or self.origin.call,
            self.origin.inputs,
            {**self.origin.settings, "measures": self.names, "topics counted": len(self.topics), **settings},
            seed,
        )


def paired_scores(
    source: Scores | Collection,
    wanted: Any = None,
    *,
    purpose: str,
    least_topics: int = 1,
    **scoring: Any,
) -> PairedScores:
    """The scores of a collection, or of scores at hand, that can be set against each other topic by topic.

    Topics that do not count for every run are left out and told. Fewer runs or topics than `purpose` needs are
    refused, and so are measures that exist only as a mean over topics.
    """
    scores = _scored(source, wanted, scoring)
    chosen = scores.measures if wanted is None or isinstance(source, Collection) else tuple(measures(wanted))
    check_topic_scores(chosen, purpose)
    values = np.stack([scores.matrix(m) for m in chosen]) if chosen else np.zeros((0, 0, 0))
    whole = np.asarray(scores.counted.all(axis=0))
    defined = np.asarray(np.isfinite(values).all(axis=(0, 2)))
    notes = []
    if not whole.all():
        notes.append(f"{_topics(~whole)} not counted for every run left out")
    if not defined[whole].all():
        notes.append(f"{_topics(whole & ~defined)} with an undefined score left out")
    kept = np.flatnonzero(whole & defined)
    if len(scores.runs) < 2:
        raise UsageError(f"{purpose} needs at least 2 runs, found {len(scores.runs)}")
    if len(kept) < least_topics:
        many = f"{least_topics} topic{'s' * (least_topics > 1)}"
        raise UsageError(f"{purpose} needs at least {many}, found {len(kept)}")
    return PairedScores(
        scores.runs,
        tuple(scores.topics[t] for t in kept),
        tuple(chosen),
        np.ascontiguousarray(values[:, kept]),
        tuple(kept.tolist()),
        scores.provenance,
        tuple(notes),
    )


def check_topic_scores(chosen: Iterable[Measure], purpose: str) -> None:
    """A UsageError for measures that exist only as a mean over topics."""
    for measure in chosen:
        if measure.mean == "geometric":
            plain = measure(mean="arithmetic")
            raise UsageError(f"{measure} is a mean over topics, and {purpose} needs scores of topics: take {plain}")


def _scored(source: Scores | Collection, wanted: Any, scoring: dict[str, Any]) -> Scores:
    if isinstance(source, Collection):
        return score(source, DEFAULT if wanted is None else wanted, **scoring)
    if not isinstance(source, Scores):
        raise UsageError(f"scores (uj.score) or a collection (uj.load) are needed, not {type(source).__name__}")
    return source


def _topics(chosen: npt.NDArray[np.bool_]) -> str:
    number = int(chosen.sum())
    return f"{number} topic{'s' * (number != 1)}"


@contextlib.contextmanager
def told() -> Iterator[None]:
    """What statistics refuse, as the sentence it is."""
    try:
        yield
    except ValueError as problem:
        raise UsageError(str(problem)) from None


def check_settings(alpha: float = 0.5, seed: int = 0, jobs: int = 1) -> None:
    """A UsageError for values that mean nothing."""
    check("alpha", alpha)
    check("seed", seed)
    check("jobs", jobs)
