"""What becomes of a paper: tables and figures under its numbers, findings with their words, a page and files."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unjudged.errors import UsageError, nearest
from unjudged.figures import Figure
from unjudged.figures.bars import bars
from unjudged.papers.declaration import Finding, Item, Panel, Paper
from unjudged.results import Provenance, Result, Row, Verdict
from unjudged.text import begun, in_markdown, listed

if TYPE_CHECKING:
    from unjudged.papers.found import Found

HOLDS = {"solid": "holds", "with care": "holds in part", "fragile": "does not hold", "unknown": "cannot be told"}
"""The word of a verdict, said of a finding."""
COLUMNS = ("finding", "collection", "word", "agree", "comparisons", "claim", "rule")


@dataclass(frozen=True, eq=False)
class Made:
    """A table or figure: its panels, or why it is not there; `left` tells what is missing for some collections."""

    item: Item
    panels: tuple[Panel, ...]
    why_not: str
    left: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...] = ()

    @property
    def title(self) -> str:
        """`Table 3`"""
        return self.item.title

    @property
    def result(self) -> Result:
        """Its first panel, which is all of it where there is one."""
        if not self.panels:
            raise UsageError(f"{self.title} is not here: {self.why_not}")
        return self.panels[0].result

    def plot(self) -> Figure:
        """The chart of a figure."""
        return self.result.plot()

    def __str__(self) -> str:
        return self.markdown()

    def markdown(self, picture: str | None = None) -> str:
        """Title, caption, and the tables or the chart (its description where there is no `picture`)."""
        parts = [f"## {self.title}", f"{self.item.caption}"]
        if self.why_not:
            return "\n\n".join([*parts, f"Not here: {in_markdown(self.why_not)}."]) + "\n"
        for panel in self.panels:
            if panel.title:
                parts.append(f"**{in_markdown(panel.title)}**")
            if self.item.kind == "Figure":
                words = in_markdown(self.plot().description)
                parts += ([f"![{_in_brackets(words)}]({picture})"] if picture else []) + [words]
            else:
                parts.append(panel.result.render("markdown").rstrip("\n"))
        parts += [f"Left aside: {in_markdown(why)}." for why in self.left]
        return "\n\n".join(parts) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "title": self.title,
            "caption": self.item.caption,
            "why_not": self.why_not or None,
            "panels": [{"title": p.title, **_plain(p.result)} for p in self.panels],
            "commands": [shlex.join(("unjudged", *command)) for command in self.commands],
        }


def _plain(result: Result) -> dict[str, Any]:
    whole = result.to_dict()
    return {"columns": whole["columns"], "rows": [list(row.values()) for row in whole["rows"]]}


def _in_brackets(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


@dataclass(frozen=True, eq=False)
class Decided:
    """A finding: its verdict in every collection, the comparisons that agree, all of them, and those against it."""

    finding: Finding
    verdicts: Mapping[str, tuple[Verdict, int, int, tuple[str, ...]]]
    limit: str

    @property
    def sentence(self) -> str:
        """`(1): holds for robust03 (12 of 13), holds in part for ...`: the comparisons that agree stand in brackets."""
        if not self.verdicts:
            return f"{self.finding.key}: cannot be told, what it needs is not here"
        groups: dict[str, list[str]] = {}
        for name, (verdict, agree, many, _) in self.verdicts.items():
            told = f"{name} ({agree} of {many})" if many else name
            groups.setdefault(HOLDS[verdict.word], []).append(told)
        return f"{self.finding.key}: " + ", ".join(f"{word} for {listed(names, 9)}" for word, names in groups.items())

    @property
    def word(self) -> str:
        """The word of the collection that agrees least."""
        order = ("fragile", "unknown", "with care", "solid")
        return min((v.word for v, *_ in self.verdicts.values()), key=order.index, default="unknown")

    @property
    def rule(self) -> str:
        """The rule in words, with its limits."""
        limits = self.limit.replace("solid", "it holds").replace("with care", "in part")
        return f"{begun(self.finding.rule)}. Share of comparisons that agree: {limits}."


class PaperResult(Result):
    """A paper's findings as a table; `["Table 3"]` and `["Figure 2"]` are its parts, `.made` all of them in order."""

    paper: Paper
    made: tuple[Made, ...]
    findings: tuple[Decided, ...]

    def __init__(
        self, paper: Paper, made: Sequence[Made], findings: Sequence[Decided], provenance: Provenance, found: Found
    ) -> None:
        self.paper = paper
        self.made = tuple(made)
        self.findings = tuple(findings)
        notes = tuple(dict.fromkeys(note for result in found.results.values() for note in result.notes))
        charts = {"findings": bars("agree", "finding", "collection", said="Comparisons that agree with each finding")}
        super().__init__(COLUMNS, self._finding_rows, provenance, self._short, charts, notes=notes)

    def _finding_rows(self) -> list[Row]:
        return [
            (d.finding.key, name, HOLDS[verdict.word], agree, many, d.finding.claim, d.finding.rule)
            for d in self.findings
            for name, (verdict, agree, many, _) in d.verdicts.items()
        ]

    def _short(self) -> tuple[Sequence[str], list[Row]]:
        return ("finding", "here"), [(begun(d.finding.claim), f"{d.sentence}.") for d in self.findings]

    def __repr__(self) -> str:
        return f"<PaperResult {self.paper.name}: {', '.join(m.title for m in self.made)}>"

    def __getitem__(self, title: str) -> Made:
        for one in self.made:
            if title in (one.title, one.item.key) or title in {f"{one.item.kind} {n}" for n in one.item.numbers}:
                return one
        there = [one.title for one in self.made]
        raise KeyError(f"no {title!r}{nearest(title, there)}; there are {', '.join(there)}")

    def render(self, format: str = "text") -> str:
        """`markdown` and `html` give the whole page, `json` everything as plain values, others the findings."""
        if format == "markdown":
            return self._markdown({})
        if format == "html":
            from unjudged.papers.page import html

            return html(self)
        return super().render(format)

    def to_html(self, path: str | Path | None = None) -> str:
        """The page as one HTML file, written where a path is given."""
        text = self.render("html")
        if path is not None:
            from unjudged.io.write import write_whole

            write_whole(str(path), text.encode("utf-8"))
        return text

    def to_dict(self) -> dict[str, Any]:
        """Findings, tables and figures as plain values."""
        return {**super().to_dict(), "paper": self.paper.name, "made": [one.to_dict() for one in self.made]}

    def _markdown(self, pictures: Mapping[str, str]) -> str:
        parts = [f"# {self.paper.title}", f"{self.paper.citation}. {self.paper.about}"]
        if self.findings:
            parts.append("## Do the findings hold here?")
            parts += [
                f"* **{begun(d.finding.claim)}.** {in_markdown(begun(d.sentence))}. *Rule:* {d.rule}"
                for d in self.findings
            ]
        parts += [one.markdown(pictures.get(one.item.key)).rstrip("\n") for one in self.made]
        if self.paper.legend:
            parts.append("## Names")
            parts.append("\n".join(f"* {theirs}: `{ours}`" for theirs, ours in self.paper.legend))
        if self.notes:
            parts += ["## Notes", "\n".join(f"* {in_markdown(begun(note))}." for note in self.notes)]
        return "\n\n".join(parts) + "\n"

    def save(self, folder: str | os.PathLike[str]) -> None:
        """The page (index.html, paper.md), every table (CSV, LaTeX) and figure (SVG) into a folder."""
        from unjudged.io.write import write_whole

        where = Path(folder)
        try:
            where.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise UsageError(f"{where}: the folder cannot be made ({problem.strerror})") from None
        pictures: dict[str, str] = {}
        for one in self.made:
            for number, panel in enumerate(one.panels):
                name = one.item.key + (f"{chr(ord('a') + number)}" if len(one.panels) > 1 else "")
                if one.item.kind == "Figure":
                    one.plot().save(where / f"{name}.svg")
                    pictures[one.item.key] = f"{name}.svg"
                else:
                    panel.result.to_latex(where / f"{name}.tex")
                panel.result.to_csv(where / f"{name}.csv")
        write_whole(where / "paper.md", self._markdown(pictures).encode("utf-8", "surrogateescape"))
        self.to_html(where / "index.html")
