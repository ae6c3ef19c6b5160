"""In short: the sentences a reader takes away, all verdicts in one table, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from unjudged.reporting.sections import Asking, Section
from unjudged.results import WORST_FIRST

HOW = (
    "Each verdict is a word with its number and the limits that decide it: solid, with care, fragile, or unknown "
    "where there are not enough runs, teams or topics to say. There is no overall mark: what matters depends on "
    "what you want to do. The limits can be changed (unjudged report --thresholds FILE) and are listed in the "
    "last section."
)
NEXT = "What follows from the verdicts, the weakest first, each with the command that does it."

SENTENCES = {
    "fewer-judgments": {
        "solid": "You can rely on the order of these runs as far as judgments go.",
        "with care": "The order of these runs is roughly right: neighbours may change places with more judgments.",
        "fragile": "Do not rely on the order of these runs: it hangs on which documents happened to be judged.",
        "unknown": "There is too little here to say how far the order of these runs can be relied on.",
    },
    "fair-to-outsiders": {
        "solid": "A new run can be scored with these judgments.",
        "with care": "A new run will score a little too low: say so, or correct it.",
        "fragile": "Do not score a new run with these judgments without correction: it would score too low.",
        "unknown": "Whether a new run can be scored fairly cannot be told.",
    },
    "enough-topics": {
        "with care": "On other topics the order would differ somewhat.",
        "fragile": "On other topics the order would be another one.",
    },
}
"""Question -> what its word means for a reader."""


def lead_of(answers: Sequence[Section]) -> str:
    """Two or three sentences from the verdicts that are there."""
    words = {s.key: s.verdict.word for s in answers if s.verdict is not None}
    said = [SENTENCES[key].get(words[key], "") for key in SENTENCES if key in words]
    return " ".join(filter(None, said)) or "The verdicts, one by one."


def verdict_section(asking: Asking, answers: Sequence[Section]) -> Section:
    """The table of verdicts."""
    rows = [
        (s.key, s.question, v.word, v.value, v.unit, v.limit, v.sentence)
        for s in answers
        if (v := s.verdict) is not None
    ]
    columns = ("section", "question", "verdict", "value", "unit", "limit", "sentence")
    return Section("in-short", "In short", HOW, asking.result(columns, rows))


def next_section(asking: Asking, answers: Sequence[Section]) -> Section:
    """The next steps of the verdicts, those of the weakest first; each step once."""
    rows: dict[tuple[str, str], tuple[str, ...]] = {}
    told = [(s, s.verdict) for s in answers if s.verdict is not None and s.verdict.next is not None]
    for s, verdict in sorted(told, key=lambda pair: WORST_FIRST.index(pair[1].word)):
        step = verdict.next
        if step is not None and verdict.word != "solid":
            command = shlex.join(("unjudged", *step.command)) if step.command else ""
            rows.setdefault((step.sentence, command), (s.key, verdict.word, step.sentence, command))
    columns = ("section", "verdict", "next", "command")
    return Section("next", "What should I do next?", NEXT, asking.result(columns, list(rows.values())))
