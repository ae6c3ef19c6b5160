"""Topics: those a user names (`601-650,700`), and those that count in a run's mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unjudged.errors import InputError, UsageError

if TYPE_CHECKING:
    from unjudged.collection.collection import Collection

TOPICS = ("judged", "run", "common")


class NoneOfTheTopics(InputError):
    """Not one of the topics named is judged."""


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _size(digits: str) -> tuple[int, str]:
    """What orders whole numbers of any length."""
    own = digits.lstrip("0")
    return len(own), own


def chosen_topics(spec: str, topics: list[str]) -> list[int]:
    """Topic numbers for `601-650,700`: ranges over whole numbers, single ids as they are."""
    known = {topic: i for i, topic in enumerate(topics)}
    chosen: set[int] = set()
    absent: list[str] = []
    for part in filter(None, (p.strip() for p in spec.split(","))):
        low, dash, high = part.partition("-")
        if part in known:
            found = [known[part]]
        elif dash and _is_whole(low) and _is_whole(high):
            found = [i for t, i in known.items() if _is_whole(t) and _size(low) <= _size(t) <= _size(high)]
        else:
            found = []
        absent += [] if found else [part]
        chosen.update(found)
    if absent:
        kind = InputError if chosen else NoneOfTheTopics
        raise kind(f"no judged topic matches {absent[0]!r} (there are {topics[0]} to {topics[-1]})")
    if not chosen:
        raise UsageError("no topics named")
    return sorted(chosen)


def named_topics(spec: str) -> Callable[[str], bool]:
    """Is a topic one of those named? For whoever does not know all topics yet."""
    parts = {part.strip() for part in spec.split(",")} - {""}
    ends = [(low, high) for low, dash, high in (part.partition("-") for part in parts) if dash]
    ranges = [(_size(low), _size(high)) for low, high in ends if _is_whole(low) and _is_whole(high)]
    return lambda topic: topic in parts or (_is_whole(topic) and any(a <= _size(topic) <= b for a, b in ranges))


def counted_topics(collection: Collection, topics: str) -> npt.NDArray[np.bool_]:
    """Runs x topics: does the topic count? `judged` counts missing lists as empty ones."""
    if topics not in TOPICS:
        raise UsageError(f"topics can be {', '.join(TOPICS)}, not {topics!r}")
    shape = len(collection.runs), len(collection.judgments.topics)
    if topics == "judged":
        return np.ones(shape, bool)
    answered = collection.hits.answered.reshape(shape)
    if topics == "run":
        return answered.copy()
    common = answered.all(axis=0)
    if not common.any():
        raise UsageError("no judged topic is answered by all runs")
    return np.tile(common, (shape[0], 1))
