"""The grades a judge can give: how many there are, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass

from unjudged.collection import Collection
from unjudged.errors import UsageError

MOST = 9
"""The highest grade that has a key."""

_USUAL = {
    1: (("Not relevant", "off topic"), ("Relevant", "on topic")),
    2: (("Not relevant", "off topic"), ("Relevant", "answers it in part"), ("Highly relevant", "answers it fully")),
    3: (
        ("Irrelevant", "off topic"),
        ("Related", "on topic, no answer"),
        ("Relevant", "answers it in part"),
        ("Perfect", "answers it fully"),
    ),
}


@dataclass(frozen=True)
class Grade:
    """One grade on the page."""

    number: int
    name: str
    help: str = ""


def scale_of(collection: Collection, given: str | None = None) -> tuple[Grade, ...]:
    """The grades from 0 up: those of the judgments, up to a number (`3`), or by names (`off topic,related,right`)."""
    top = collection.judgments.gains.top_grade
    names = [name.strip() for name in (given or "").split(",")]
    wanted = top if given is None else int(given) if given.isascii() and given.isdigit() else len(names) - 1
    if not 1 <= wanted <= MOST:
        raise UsageError(
            f"the page has keys for the grades 0 to {MOST}; a scale goes up to 1 at least, not to {wanted}"
        )
    if wanted < top:
        raise UsageError(f"the judgments have grades up to {top}; a scale up to {wanted} is too short")
    if given is not None and len(names) > 1:
        if not all(names):
            raise UsageError(f"every grade needs a name in {given!r}")
        return tuple(Grade(number, name) for number, name in enumerate(names))
    others = (("Not relevant", "off topic"), *((f"Grade {number}", "") for number in range(1, wanted + 1)))
    return tuple(Grade(number, *words) for number, words in enumerate(_USUAL.get(wanted, others)))


def with_scale(collection: Collection, top: int) -> Collection:
    """The collection with a scale that goes up to this grade, if it was shorter."""
    gains = collection.judgments.gains
    if top <= gains.top_grade:
        return collection
    levels = dict(gains.levels)
    return collection.with_gains({**levels, top: levels.get(top, float(top))})
