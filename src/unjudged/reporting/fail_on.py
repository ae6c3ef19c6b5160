"""`--fail-on`: verdicts that must not be lower than a word."""

from __future__ import annotations

from collections.abc import Mapping

from unjudged.errors import UsageError, nearest


def failing(conditions: str, words: Mapping[str, str]) -> list[str]:
    """The conditions of `--fail-on` that are met, as in `fair-to-outsiders<with care, enough-topics<solid`.

    The order of words is fragile < unknown < with care < solid.
    """
    order = ("fragile", "unknown", "with care", "solid")
    met = []
    for condition in filter(None, (part.strip() for part in conditions.split(","))):
        key, sign, word = (part.strip() for part in condition.partition("<"))
        if not sign or key not in words or word not in order:
            hint = nearest(key, words) if key not in words else ""
            raise UsageError(
                f"--fail-on takes conditions such as fair-to-outsiders<with care, not {condition!r}{hint}; "
                f"sections are {', '.join(words)}, words {', '.join(order)}"
            )
        if order.index(words[key]) < order.index(word):
            met.append(f"{key} is {words[key]}, below {word}")
    return met
