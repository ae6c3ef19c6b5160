"""The trust report: how far can this collection be trusted? One section per question, each with its verdict.

    uj.report(collection, "trust.html")              # one file, offline; returns a Report
    uj.report(collection).render("markdown")         # verdicts for a log
    section("fair-to-outsiders", Subject(collection)) # one question alone

A section is a module here with KEY, QUESTION and `section(subject, progress)`; SECTIONS gives their order.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from unjudged.collection import Collection
from unjudged.errors import UsageError, nearest
from unjudged.reporting import origin, page, short
from unjudged.reporting.fail_on import failing
from unjudged.reporting.section import Cancelled, Progress, Section, counted, silent
from unjudged.reporting.subject import MEASURES, Settings, Subject
from unjudged.results import Result
from unjudged.thresholds import Thresholds, read_thresholds

__all__ = [
    "MEASURES",
    "SECTIONS",
    "Cancelled",
    "Report",
    "Section",
    "Settings",
    "Subject",
    "Thresholds",
    "assemble",
    "failing",
    "read_thresholds",
    "report",
    "section",
]

SECTIONS: Mapping[str, str] = {
    "contents": "contents",
    "winners": "winners",
    "never-judged": "never_judged",
    "score-range": "score_range",
    "fair-to-outsiders": "fair_to_outsiders",
    "fewer-judgments": "fewer_judgments",
    "enough-topics": "enough_topics",
    "another-judge": "another_judge",
    "after-correction": "after_correction",
    "safe-comparisons": "safe_comparisons",
}
"""The questions in the reader's order, and the module that answers each (`in-short` and `how-made` frame them)."""


def section(key: str, subject: Subject, progress: Progress = silent) -> Section:
    """The answer to one question."""
    if key not in SECTIONS:
        raise UsageError(f"no section {key!r}{nearest(key, SECTIONS)}; there are {', '.join(SECTIONS)}")
    module = importlib.import_module(f"unjudged.reporting.{SECTIONS[key]}")
    found: Section = module.section(subject, progress)
    return found


class Report(Result):
    """All sections of a report; as a table, their verdicts. `.sections` holds the answers in order."""

    subject: Subject
    sections: tuple[Section, ...]
    what: str
    lead: str
    cards: list[Section]

    def __init__(self, subject: Subject, sections: Sequence[Section]) -> None:
        self.subject, self.sections = subject, tuple(sections)
        verdicts = sections[0].table
        super().__init__(verdicts.columns, verdicts.rows, verdicts.provenance, self._short)
        c = subject.collection
        self.title = "How far can this test collection be trusted?"
        self.what = (
            f"{Path(c.judgments.source).name}: {counted(len(subject.topics), 'topic')}, "
            f"{counted(len(subject.runs), 'run')}, {counted(len(c.judgments), 'judgment')}; "
            f"measures {', '.join(subject.names)}; unjudged documents: {subject.settings.unjudged}"
        )
        self.lead = short.lead({s.key: s for s in sections})
        self.cards = [s for s in sections if s.key in short.CARDS and s.verdict is not None]

    def __repr__(self) -> str:
        words = ", ".join(f"{key} {word}" for key, word in self.words.items())
        return f"<Report: {words}>"

    @property
    def words(self) -> dict[str, str]:
        """The verdict of each section."""
        return {s.key: s.verdict.word for s in self.sections if s.verdict is not None}

    def __getitem__(self, key: str) -> Section:
        for found in self.sections:
            if found.key == key:
                return found
        raise KeyError(key)

    def _short(self) -> tuple[Sequence[str], list[Any]]:
        return ("question", "verdict", "in a sentence"), [
            (s.question, s.verdict.word, s.verdict.sentence) for s in self.sections if s.verdict is not None
        ]

    def html(self) -> str:
        """The report as one HTML file."""
        return page.html(self)

    def to_html(self, path: str | Path | None = None) -> str:
        """The report as one HTML file, written where a path is given."""
        text = self.html()
        if path is not None:
            from unjudged.io.write import write_whole

            write_whole(str(path), text.encode("utf-8"))
        return text

    def _repr_html_(self) -> str:
        return super().to_html()

    def render(self, format: str = "text") -> str:
        """The verdicts as text or in another format of results; `html` and `json` give the whole report."""
        if format == "html":
            return self.html()
        if format == "json":
            whole = {
                "provenance": self.provenance.to_dict(),
                "thresholds": [
                    dict(zip(("key", "what", "better", "solid", "care", "source"), row, strict=True))
                    for row in self.subject.thresholds.rows()
                ],
                "lead": self.lead,
                "sections": [page.plain(s) for s in self.sections],
            }
            return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
        if format == "markdown":
            return f"# {self.title}\n\n{self.what}\n\n{self.lead}\n\n{super().render('markdown')}"
        return super().render(format)


def assemble(subject: Subject, answers: Iterable[Section]) -> Report:
    """A report from answered sections: adds the first and the last."""
    inner = list(answers)
    return Report(subject, [short.section(subject, inner), *inner, origin.section(subject, inner)])


def report(
    collection: Collection,
    path: str | Path | None = None,
    *,
    measures: Any = MEASURES,
    rel: int | None = None,
    unjudged: str = "nonrelevant",
    seed: int = 0,
    depth: int | None = None,
    thresholds: str | Path | Thresholds | None = None,
    second: Collection | None = None,
    progress: Callable[[str, float], None] | None = None,
    call: str = "",
) -> Report:
    """How far can this collection be trusted? All sections; written to `path` as one offline HTML file.

    `measures` (the first one leads), `rel` and `unjudged` as for `score`; `depth` is the pool depth where it is
    known. `thresholds` changes the limits of the verdicts (a TOML file, docs/report.md). `second` is the same
    collection judged by somebody else. `progress` is told (section, share of all that is done).
    """
    limits = thresholds if isinstance(thresholds, Thresholds) else read_thresholds(thresholds)
    wanted = tuple(str(m) for m in ([measures] if isinstance(measures, str) else measures))
    settings = Settings(wanted, rel, unjudged, seed, depth=depth)
    subject = Subject(collection, settings, limits, second=second, call=call)
    answers = []
    for place, key in enumerate(SECTIONS):

        def tell(part: float, place: int = place, key: str = key) -> None:
            if progress is not None:
                progress(key, (place + part) / len(SECTIONS))

        tell(0.0)
        answers.append(section(key, subject, tell))
    made = assemble(subject, answers)
    if path is not None:
        made.to_html(path)
    return made
