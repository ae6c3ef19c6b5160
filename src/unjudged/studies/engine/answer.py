"""Answer: what a study found in one collection; and one Result made of the answers of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from unjudged.results import WORST_FIRST, Provenance, Result, Row, Verdict
from unjudged.spelling import shortened, spellings

if TYPE_CHECKING:
    from unjudged.figures import Figure
    from unjudged.studies.engine.case import Case

Table = tuple[Sequence[str], list[Row]]
Chart = Callable[[Result], "Figure"]


@dataclass(frozen=True, eq=False)
class Answer:
    """The tidy table of one collection, how it is laid out and drawn, and the verdict.

    `caption` holds for every collection, `about` for this one; `settings` go into the provenance, and so do `sources`,
    the files read besides the collection; `data` is what `together` and `drawn_together` (see `register`) need to lay
    out and draw several answers.
    """

    columns: Sequence[str]
    rows: Sequence[Row]
    verdict: Verdict | None = None
    layout: Callable[[], Table] | None = None
    figures: Mapping[str, Chart] = field(default_factory=dict)
    caption: str = ""
    about: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    sources: Sequence[str] = ()
    data: Any = None

    def laid_out(self) -> Table:
        """The table for reading."""
        return self.layout() if self.layout is not None else (self.columns, list(self.rows))


Answers = Sequence[tuple["Case", Answer]]
Together = Callable[[Answers], Table]
DrawnTogether = Callable[[Answers], Mapping[str, Chart]]


def result_of(
    study: str,
    answers: Answers,
    call: str,
    notes: Sequence[str],
    together: Together | None = None,
    drawn_together: DrawnTogether | None = None,
) -> Result:
    """One result; where there are several collections, their names stand in the first column."""
    several = len(answers) > 1
    first = next((answer for _, answer in answers if answer.rows), answers[0][1])
    columns, rows = first.columns, list(first.rows)
    layout, figures = first.layout, next((a.figures for _, a in answers if a.figures), first.figures)
    if several:
        columns = ("collection", *first.columns)
        rows = [(case.name, *row) for case, answer in answers for row in answer.rows]
        layout = _stacked(answers, together)
        figures = figures if drawn_together is None else drawn_together(answers)
    every = [
        *(note for case, _ in answers for note in case.notes),
        *notes,
        *(_other_labels(answers) if several else ()),
    ]
    return Result(
        columns,
        lambda: rows,
        _provenance(study, answers, call),
        layout,
        figures,
        _verdict(answers),
        tuple(dict.fromkeys(every)),
        _caption(answers),
    )


def _stacked(answers: Answers, together: Together | None) -> Callable[[], Table] | None:
    if all(answer.layout is None for _, answer in answers):
        return None
    if together is not None:
        return lambda: together(answers)

    def stacked() -> Table:
        told = [pair for pair in answers if pair[1].rows] or answers
        tables = [(case.name, *answer.laid_out()) for case, answer in told]
        head = one_head([columns for _, columns, _ in tables])
        return ["collection", *head], [(name, *row) for name, _, rows in tables for row in rows]

    return stacked


def one_head(heads: Sequence[Sequence[str]]) -> list[str]:
    """The head of tables that stand under each other: short names of measures whose gains differ by collection."""
    first = list(heads[0])
    if all(list(head) == first for head in heads):
        return first
    alike = {spelling: spelling.partition("(")[0] for head in heads for spelling in spellings(head)}
    return [name if all(head[i] == name for head in heads) else shortened(name, alike) for i, name in enumerate(first)]


def _other_labels(answers: Answers) -> list[str]:
    """A note for each collection whose measures are spelled otherwise than those of the first."""
    lists = {case.name: list(answer.settings.get("measures", ())) for case, answer in answers}
    alike = len({tuple(names) for names in lists.values()}) == 1
    told = {name: [m for m in names if "gains=" in m] for name, names in lists.items()}
    return [] if alike else [f"{name}: gains of {', '.join(own)}" for name, own in told.items() if own]


def _caption(answers: Answers) -> str:
    """The caption once; what belongs to one collection behind its name."""
    parts = [answers[0][1].caption]
    about = [(case.name, " ".join(filter(None, (a.about, *case.told)))) for case, a in answers]
    parts += [f"{name}: {text}" if len(answers) > 1 else text for name, text in about if text]
    return " ".join(filter(None, parts))


def _verdict(answers: Answers) -> Verdict | None:
    """That of the collection; of several, the worst, by name: nothing is averaged over collections."""
    told = [(case.name, a.verdict) for case, a in answers if a.verdict is not None]
    if not told or len(answers) == 1:
        return told[0][1] if told else None
    name, worst = min(told, key=lambda pair: WORST_FIRST.index(pair[1].word))
    return replace(worst, sentence=f"{name}: {worst.sentence}")


def _provenance(study: str, answers: Answers, call: str) -> Provenance:
    """Settings all collections share, and those that differ by collection."""
    from unjudged import __version__

    found = [(case.name, {"study": study, **case.settings, **answer.settings}) for case, answer in answers]
    settings: dict[str, Any] = {}
    for key in dict.fromkeys(key for _, own in found for key in own):
        values = {name: own[key] for name, own in found if key in own}
        alike = len(values) == len(found) and all(v == values[found[0][0]] for v in values.values())
        settings[key] = values[found[0][0]] if alike else values
    sources = tuple(source for case, answer in answers for source in (*case.sources, *answer.sources))
    return Provenance(__version__, call, sources, settings, answers[0][1].seed)
