"""`report`: every question of a reader, answered by its study; one offline HTML file, Markdown or JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

from unjudged.collection import Collection
from unjudged.errors import UsageError, nearest
from unjudged.figures import Figure, marks, records, theme
from unjudged.reporting import page
from unjudged.reporting.few import Few, few_of
from unjudged.reporting.how_made import how_made
from unjudged.reporting.in_short import facts_of, lead_of, next_section, verdict_section
from unjudged.reporting.sections import Asking, Progress, Section, Settings, silent
from unjudged.results import Result
from unjudged.studies.engine.case import Source
from unjudged.studies.questions import MEASURES
from unjudged.text import begun, in_markdown
from unjudged.thresholds import Thresholds, read_thresholds, wanted

BY_PAIRS = ("winners", "never-judged", "safe-comparisons")
"""Questions that a page of few runs answers pair by pair."""


class Report(Result):
    """All answers of a report; as a table, their verdicts. `report["winners"]` is one answer, with its `.plot()`.

    `.sections` holds the answers in order, `.lead` the sentences a reader takes away.
    """

    asking: Asking
    sections: tuple[Section, ...]
    what: str
    lead: str

    def __init__(self, asking: Asking, answers: Sequence[Section]) -> None:
        self.asking: Asking = asking
        self.sections = (*answers, next_section(asking, answers))
        self.in_short: Section = verdict_section(asking, answers)
        self.how_made: Section = how_made(asking)
        verdicts = self.in_short.result
        charts = {s.key: partial(_chart_of, s) for s in answers if s.result.figures}
        super().__init__(
            verdicts.columns, verdicts.rows, verdicts.provenance, self._short, {"verdicts": verdict_chart, **charts}
        )
        self.title: str = asking.title or name_of(asking.collection)
        self.what = facts_of(asking)
        self.few: Few | None = few_of(asking, answers)
        self.lead = lead_of(answers) if self.few is None else self.few.lead

    def __repr__(self) -> str:
        words = ", ".join(f"{key} {word}" for key, word in self.words.items())
        return f"<Report: {words}>"

    @property
    def answered(self) -> list[Section]:
        """The answers of the page in order; of few runs those that have one and are not told pair by pair."""
        told = [s for s in self.sections if s.verdict is not None]
        if self.few is None:
            return told
        return [s for s in told if s.verdict and s.verdict.word != "unknown" and s.key not in BY_PAIRS]

    @property
    def beyond(self) -> list[Section]:
        """Of few runs, the questions that have no answer; not what is told pair by pair, or in the line of facts."""
        told = (*BY_PAIRS, "contents")
        unknown = [s for s in self.sections if s.verdict is not None and s.verdict.word == "unknown"]
        return [s for s in unknown if self.few is not None and s.key not in told]

    @property
    def too_few(self) -> str:
        """What those need, where there is less of it."""
        c = self.asking.collection
        teams = {c.teams.get(run, run) for run in c.runs} if isinstance(c, Collection) else c.runs
        limits = [self.asking.limits[s.key] for s in self.beyond]
        need = wanted(limits, runs=len(c.runs), teams=len(teams), topics=len(c.topics))
        alone = self.asking.second is None and any(s.key == "another-judge" for s in self.beyond)
        return f"{need}{', and one needs a second judge' if alone else ''}"

    @property
    def words(self) -> dict[str, str]:
        """The word of each verdict."""
        return {s.key: s.verdict.word for s in self.sections if s.verdict is not None}

    def __getitem__(self, key: str) -> Section:
        for found in (*self.sections, self.in_short, self.how_made):
            if found.key == key:
                return found
        raise KeyError(key)

    def _short(self) -> tuple[Sequence[str], list[Any]]:
        return ("question", "verdict", "finding"), [
            (s.question, s.verdict.word, begun(s.verdict.finding)) for s in self.sections if s.verdict is not None
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

    def to_dict(self) -> dict[str, Any]:
        """The whole report as plain values."""
        return {
            "provenance": self.provenance.to_dict(),
            "verdict": None,
            "notes": [],
            "title": self.title,
            "lead": self.lead,
            "thresholds": self.asking.limits.rows(),
            "sections": [s.to_dict() for s in self.sections],
        }

    def render(self, format: str = "text") -> str:
        """The verdicts as text or in another format of results; `html` and `json` give the whole report."""
        if format == "html":
            return self.html()
        if format == "json":
            return json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"
        if format == "markdown":
            said = "\n\n".join(
                "\n".join(map(in_markdown, part.split("\n"))) for part in (self.title, self.what, self.lead)
            )
            return f"# {said}\n\n{super().render('markdown')}"
        return super().render(format)


PLAIN = ("qrels", "judgments", "relevance", "test", "labels")
"""Names of files that say nothing about the collection: their folder does."""


def _chart_of(section: Section, report: Result) -> Figure:
    return section.plot()


def verdict_chart(report: Result) -> Figure:
    """All verdicts as a strip: a mark of its own shape and colour for every word."""
    words = ("solid", "with care", "fragile", "unknown")
    domain = {"domain": list(words)}
    colours = {**domain, "range": [theme.GREEN, theme.ORANGE, theme.VERMILION, theme.GREY]}
    shapes = {**domain, "range": ["circle", "diamond", "triangle-up", "square"]}
    rows = [{name: row[name] for name in ("question", "verdict", "finding")} for row in records(report)]
    verdict = marks.field("verdict", "nominal", "")
    marked = marks.layer(
        "point",
        {"filled": True, "size": 90, "opacity": 1},
        x={**marks.names("verdict", words), "scale": domain},
        y=marks.names("question", [row["question"] for row in rows]),
        color={**verdict, "scale": colours, "legend": None},
        shape={**verdict, "scale": shapes, "legend": None},
        tooltip=marks.as_it_is("question", "verdict", "finding"),
    )
    return marks.chart(rows, "The verdict of every question", marked, width=320, height={"step": 22})


def name_of(collection: Source) -> str:
    """What to call a collection: its file of judgments, or that file's folder; a score table, after its file."""
    if not isinstance(collection, Collection):
        inputs = collection.provenance.inputs
        return Path(inputs[0]).name.split(".")[0] if inputs and Path(inputs[0]).is_file() else "Scores in memory"
    source = Path(collection.judgments.source)
    name = source.name.split(".")[0]
    folder = source.resolve().parent.name if source.is_file() else ""
    return folder if name.lower() in PLAIN and folder else name or "Judgments in memory"


def report(
    collection: Source,
    path: str | Path | None = None,
    *,
    measures: Any = MEASURES,
    rel: int | None = None,
    unjudged: str = "nonrelevant",
    seed: int = 0,
    depth: int | None = None,
    pooled: Any = "infer",
    thresholds: str | os.PathLike[str] | Thresholds | None = None,
    second: Any = None,
    judge_rel: Any = None,
    judge_scale: Any = None,
    families: Any = None,
    title: str = "",
    queries: Mapping[str, str] | None = None,
    slice: Any = None,
    executor: Executor | None = None,
    jobs: int | None = None,
    workdir: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    call: str = "",
) -> Report:
    """How far can this collection be trusted? All questions; written to `path` as one offline HTML file.

    `measures` (the first one leads), `rel` and `unjudged` as for `score`; `depth` and `pooled` describe the pool where
    they are known. `thresholds` changes the limits of the verdicts (a TOML file, docs/report.md). `second` are the
    judgments of somebody else for the same topics (several, or {name: one}), with `judge_rel`, `judge_scale` and
    `families` as for `audit`. `title` stands on top (else the collection's name); `queries` are
    the texts of the topics, {topic: text}. `slice` asks whether it holds in every kind of topic (a TSV topic<TAB>label,
    or {topic: label}). Scores (`load_scores`) get the questions that need no judgments. `executor`, `jobs` and
    `workdir` as for `study`. `progress` is told (key of the question, share of all that is done).
    """
    limits = thresholds if isinstance(thresholds, Thresholds) else read_thresholds(thresholds)
    wanted: tuple[Any, ...]
    if not isinstance(collection, Collection):
        wanted = tuple(m for m in collection.measures if m.mean == "arithmetic") or tuple(collection.measures)
        wanted = wanted if measures is MEASURES else tuple(collection.named(measures))
    else:
        wanted = tuple(str(m) for m in ([measures] if isinstance(measures, str) else measures))
    settings = Settings(wanted, rel, unjudged, seed, depth, pooled)
    of_judges = {"judge_rel": judge_rel, "judge_scale": judge_scale, "families": families}
    asking = Asking(
        collection, settings, limits, second, call, executor, jobs, workdir, {}, title, queries or {}, slice, of_judges
    )
    made = Report(asking, list(asking.sections(progress or silent)))
    if path is not None:
        made.to_html(path)
    return made


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
