"""In short: the one judgment a reader takes away, all verdicts in one table, and what to do now."""

from __future__ import annotations

from collections.abc import Sequence

from unjudged.collection import Collection
from unjudged.measures import measures
from unjudged.reporting.sections import Asking, Section
from unjudged.results import WORST_FIRST, Step, Verdict
from unjudged.text import begun, counted, percent

HOW = (
    "Each verdict is a word with its number and the limits that decide it: solid, with care, fragile, or unknown "
    "where there is too little to say. There is no overall mark: what matters depends on what you want to do. "
    "--thresholds FILE changes the limits."
)
NEXT = "What follows from the verdicts, the weakest first, each with the command that does it."
STEPS = 3
"""Next steps on the first screen."""

ORDER = {
    "solid": "You can rely on the order of these runs as far as judgments go",
    "with care": "Trust the groups, not the exact order: neighbours may swap with more judgments",
    "fragile": "Do not rely on this order: it hangs on which documents happened to be judged",
    "unknown": "We cannot say yet how far the order of these runs can be trusted",
}
GROUPS = "Trust the groups, not the exact order"
FEW_TOPICS = f"{GROUPS}: on other topics neighbours may swap"
OUTSIDERS = {
    "solid": "A new run gets a fair score",
    "with care": "A new run scores a little too low{loss}: say so, or correct it",
    "fragile": "Correct the score of a new run: these judgments make it too low{loss}",
    "unknown": "We cannot say yet whether a new run would get a fair score",
}
"""Word of the verdict -> what it means for a reader."""
DOES = {
    ("next",): "judge documents",
    ("study", "reliability"): "add topics",
    ("compare",): "report groups",
    ("correct",): "correct new runs",
    ("judges", "audit"): "ask a second judge",
    ("study", "judges"): "look at the second judge",
    ("study", "agreement"): "compare measures",
    ("ci",): "test it",
}
"""Beginning of a step's command -> what it does, in two or three words."""


def lead_of(answers: Sequence[Section]) -> str:
    """The judgment: how far the order can be trusted, and whether a new run gets a fair score; at most 35 words."""
    known = {s.key: s.verdict for s in answers if s.verdict is not None}
    said = []
    order, topics, fair = (known.get(key) for key in ("fewer-judgments", "enough-topics", "fair-to-outsiders"))
    if order is not None:
        swapped = order.word == "solid" and topics is not None and topics.word in ("with care", "fragile")
        said.append(FEW_TOPICS if swapped else ORDER[order.word])
        winners = known.get("winners")
        if winners is not None and winners.word in ("with care", "fragile"):
            shared = winners.finding.partition(",")[0]
            if swapped or order.word == "with care":
                said[-1] = f"{GROUPS}: {shared}"
            elif order.word == "solid":
                said[-1] += f", but {shared}"
    if fair is not None:
        said.append(OUTSIDERS[fair.word].format(loss=_by(fair)))
    if order is None and fair is None and (winners := known.get("winners")) is not None:  # scores without judgments
        said.append(begun(winners.finding))
        if topics is not None and topics.word in ("with care", "fragile"):
            said.append(FEW_TOPICS)
    return " ".join(f"{sentence}." for sentence in said) or "The verdicts, one by one."


def _by(fair: Verdict) -> str:
    return f", by about {percent(fair.value)}" if fair.value is not None and fair.value > 0 else ""


def facts_of(asking: Asking) -> str:
    """What was looked at, in one line."""
    c, settings = asking.collection, asking.settings
    if not isinstance(c, Collection):
        alone = "scores without judgments: nothing is said about unjudged documents"
        measured = f"measured by {settings.measures[0]}"
        return " · ".join((counted(len(c.topics), "topic"), counted(len(c.runs), "run"), measured, alone))
    teams = f" of {counted(len({c.teams.get(run, run) for run in c.runs}), 'team')}" if c.teams else ""
    kept = f"are {settings.unjudged}"
    if settings.unjudged == "nonrelevant":
        kept = "count as nonrelevant in scores and are estimated in comparisons"
    parts = (
        counted(len(c.topics), "topic"),
        f"{counted(len(c.runs), 'run')}{teams}",
        counted(len(c.judgments), "judgment"),
        f"measured by {measures(list(settings.measures), settings.rel)[0]}",
        f"unjudged documents {kept}",
    )
    return " · ".join(parts)


def verdict_section(asking: Asking, answers: Sequence[Section]) -> Section:
    """The table of verdicts."""
    rows = [
        (s.key, s.question, v.word, v.finding, v.value, v.unit, v.limit, v.sentence)
        for s in answers
        if (v := s.verdict) is not None
    ]
    columns = ("section", "question", "verdict", "finding", "value", "unit", "limit", "sentence")
    return Section("in-short", "In short", HOW, asking.result(columns, rows))


def steps_of(answers: Sequence[Section]) -> list[tuple[Section, Verdict, Step]]:
    """The next steps of the verdicts, those of the weakest first and of unknown ones last; each step once."""
    told = [(s, s.verdict, s.verdict.next) for s in answers if s.verdict is not None and s.verdict.next is not None]
    order = ("fragile", "with care", "unknown")
    found: dict[tuple[str, ...], tuple[Section, Verdict, Step]] = {}
    for s, verdict, step in sorted(told, key=lambda one: WORST_FIRST.index(one[1].word)):
        if verdict.word != "solid":
            found.setdefault(_asked(step), (s, verdict, step))
    return sorted(found.values(), key=lambda one: (order.index(one[1].word), not one[2].command))


def _asked(step: Step) -> tuple[str, ...]:
    """What makes a step another one: its command, whatever the measure; its sentence where it has none."""
    words, measure = list(step.command), "-m"
    if measure in words:
        at = words.index(measure)
        del words[at : at + 2]
    return tuple(words) or (step.sentence,)


def in_few_words(step: Step) -> str:
    """A step in two or three words: `judge documents`."""
    return next((short for verb, short in DOES.items() if step.command[: len(verb)] == verb), step.sentence)


def next_section(asking: Asking, answers: Sequence[Section]) -> Section:
    """All next steps as a table."""
    rows = [
        (
            s.key,
            verdict.word,
            step.sentence,
            step.effect,
            step.typed,
        )
        for s, verdict, step in steps_of(answers)
    ]
    columns = ("section", "verdict", "next", "effect", "command")
    return Section("next", "What should I do next?", NEXT, asking.result(columns, rows), short="What to do next?")


def told(step: Step) -> tuple[str, str]:
    """A step as sentences: what to do, and its effect."""
    effect = f"{begun(step.effect)}." if step.effect else ""
    return f"{begun(step.sentence)}.", effect
