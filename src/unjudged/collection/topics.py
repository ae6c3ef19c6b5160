"""Topics named by a user: `601-650,700`."""

from __future__ import annotations

from unjudged.errors import InputError, UsageError


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit()


def chosen_topics(spec: str, topics: list[str]) -> list[int]:
    """Topic numbers for `601-650,700`: ranges over whole numbers, single ids as they are."""
    known = {topic: i for i, topic in enumerate(topics)}
    chosen: set[int] = set()
    for part in filter(None, (p.strip() for p in spec.split(","))):
        low, dash, high = part.partition("-")
        if part in known:
            found = [known[part]]
        elif dash and _is_whole(low) and _is_whole(high):
            found = [i for t, i in known.items() if _is_whole(t) and int(low) <= int(t) <= int(high)]
        else:
            found = []
        if not found:
            raise InputError(f"no judged topic matches {part!r} (there are {topics[0]} to {topics[-1]})")
        chosen.update(found)
    if not chosen:
        raise UsageError("no topics named")
    return sorted(chosen)
