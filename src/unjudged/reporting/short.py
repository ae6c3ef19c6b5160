"""In short: the sentence a reader takes away, and the verdicts of all sections in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unjudged.reporting.section import Section
from unjudged.reporting.subject import Subject

KEY, QUESTION = "in-short", "In short"
CARDS = ("winners", "fair-to-outsiders", "fewer-judgments", "enough-topics", "another-judge")
"""The sections whose verdicts stand on the cards."""

HOW = (
    "Each verdict is a word with its number and the limits that decide it: solid, with care, fragile, or unknown "
    "where there are not enough runs, teams or topics to say. There is no overall mark: what matters depends on "
    "what you want to do. The limits can be changed (unjudged report --thresholds FILE) and are listed in the "
    "last section."
)

_ORDER = {
    "solid": "You can rely on the order of these runs as far as judgments go.",
    "with care": "The order of these runs is roughly right: neighbours may change places with more judgments.",
    "fragile": "Do not rely on the order of these runs: it hangs on which documents happened to be judged.",
    "unknown": "There is too little here to say how far the order of these runs can be relied on.",
}
_OUTSIDERS = {
    "solid": "A new run can be scored with these judgments.",
    "with care": "A new run will score a little too low: say so, or correct it.",
    "fragile": "Do not score a new run with these judgments without correction: it would score too low.",
    "unknown": "Whether a new run can be scored fairly cannot be told.",
}
_TOPICS = {
    "solid": "",
    "with care": "On other topics the order would differ somewhat.",
    "fragile": "On other topics the order would be another one.",
    "unknown": "",
}


def lead(sections: Mapping[str, Section]) -> str:
    """Two or three sentences from the verdicts that are there."""
    said = []
    for key, sentences in (("fewer-judgments", _ORDER), ("fair-to-outsiders", _OUTSIDERS), ("enough-topics", _TOPICS)):
        found = sections.get(key)
        if found is not None and found.verdict is not None:
            said.append(sentences[found.verdict.word])
    return " ".join(filter(None, said)) or "The verdicts, one by one."


def section(subject: Subject, others: Sequence[Section]) -> Section:
    """The table of verdicts."""
    rows = [
        (s.key, s.question, s.verdict.word, s.verdict.value, s.verdict.threshold, s.verdict.sentence)
        for s in others
        if s.verdict is not None
    ]
    columns = ("section", "question", "verdict", "value", "threshold", "sentence")
    return Section(KEY, QUESTION, None, subject.result(columns, rows), HOW)
