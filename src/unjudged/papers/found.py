"""What the studies of a paper found, in the paper's words: tables by collection, rows with its names of measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unjudged.collection.manifest import Collections
from unjudged.errors import UsageError
from unjudged.papers.declaration import Panel, Paper
from unjudged.results import Provenance, Result, Row, Shown

Table = tuple[list[str], list[Row]]


class NotHere(UsageError):
    """A table, figure or finding cannot be had from these collections; the text says why."""


@dataclass(frozen=True, eq=False)
class Found:
    """Results by key of the paper's studies; `absent` tells why one could not be done (for a collection, or at all)."""

    paper: Paper
    collections: Collections
    results: Mapping[str, Result]
    absent: Mapping[str, Mapping[str, str]]
    names: Mapping[str, tuple[str, ...]]
    """Which collections a study was done for."""

    def result(self, key: str) -> Result:
        """The study's result with the paper's names of measures."""
        if key not in self.results:
            why = "; ".join(dict.fromkeys(self.absent.get(key, {}).values()))
            raise NotHere(why or "this was not studied")
        return self.results[key].rewritten(self._renamed)

    def rows(self, key: str) -> list[dict[str, Any]]:
        """The rows of the tidy table, with the collection's name even where there is only one."""
        result = self.result(key)
        named = {} if "collection" in result.columns else {"collection": self.names[key][0]}
        return [{**named, **dict(zip(result.columns, row, strict=True))} for row in result.rows()]

    def laid_out(self, key: str) -> Table:
        """The study's table for reading, with the paper's names."""
        self.result(key)
        head, rows = self.results[key].laid_out()
        return [_HEADS.get(name) or self.paper.measure(name) for name in head], [
            tuple(map(self._cell, row)) for row in rows
        ]

    def tables(self, key: str) -> dict[str, Table]:
        """The same by collection."""
        head, rows = self.laid_out(key)
        if head[0] != "collection":
            return {self.names[key][0]: (head, rows)}
        names = [name for name in self.names[key] if any(row[0] == name for row in rows)]
        return {name: (head[1:], [row[1:] for row in rows if row[0] == name]) for name in names}

    def shown(self, title: str, table: Table, *keys: str) -> Panel:
        """A table as a panel."""
        head, rows = table
        return Panel(title, Result(head, lambda: _tidy(rows), self.provenance(*keys), lambda: (head, rows)))

    def drawn(self, key: str, chart: str, keep: Callable[[dict[str, Any]], bool] = lambda row: True) -> Panel:
        """A chart of a study, of some of its rows."""
        result = self.result(key).rewritten(lambda row: row if keep(row) else None)
        if chart not in result.figures:
            raise NotHere(f"this needs more collections than {len(self.names[key])}")
        if not list(result.rows()):
            raise NotHere("there is nothing to draw here")
        made = {chart: lambda own: result.plot(chart)}
        return Panel("", Result(result.columns, result.rows, result.provenance, None, made, notes=result.notes))

    def told(self, key: str) -> tuple[str, ...]:
        """The collections that a study has an answer for."""
        there = {row["collection"] for row in self.rows(key)}
        return tuple(name for name in self.names[key] if name in there)

    def why_nothing(self, keys: Sequence[str], name: str) -> str:
        """Why a study has no answer for a collection, in the study's own words."""
        for key in keys:
            if key in self.results:
                mark = f"{name}: no answer here: "
                told = [note.removeprefix(mark) for note in self.results[key].notes if note.startswith(mark)]
                verdict = self.results[key].verdict
                if not told and verdict is not None and not list(self.results[key].rows()):
                    told = [verdict.sentence]
                if told:
                    return told[0]
        return "nothing can be compared here"

    def provenance(self, *keys: str) -> Provenance:
        """That of the first study."""
        return self.results[keys[0]].provenance if keys else Provenance.of("", ())

    def _renamed(self, row: dict[str, Any]) -> dict[str, Any]:
        return {k: self.paper.measure(v) if k in _NAMES and isinstance(v, str) else v for k, v in row.items()}

    def _cell(self, cell: Any) -> Any:
        return self.paper.measure(cell) if isinstance(cell, str) else cell


_HEADS = {"left_out": "team", "taken": "team"}
"""Heads of studies in the words of the papers."""
_NAMES = ("measure", "measure_a", "measure_b", "method")
"""Columns that hold names of measures or methods."""


def _tidy(rows: Sequence[Row]) -> list[Row]:
    return [tuple(str(cell) if isinstance(cell, Shown) else cell for cell in row) for row in rows]


def letter(number: int) -> str:
    """0 -> (a)"""
    return f"({chr(ord('a') + number)})" if number < 26 else f"({number + 1})"


def titled(number: int, name: str, many: int) -> str:
    """`(a) robust03`; the name alone where there is one collection."""
    return f"{letter(number)} {name}" if many > 1 else name


def by_collection(key: str) -> Callable[[Found], list[Panel]]:
    """A table with one panel per collection: (a) robust03, (b) ..."""

    def make(found: Found) -> list[Panel]:
        tables = found.tables(key)
        return [found.shown(titled(i, name, len(tables)), table, key) for i, (name, table) in enumerate(tables.items())]

    return make


def drawn(
    key: str, chart: str, keep: Callable[[dict[str, Any]], bool] = lambda row: True
) -> Callable[[Found], list[Panel]]:
    """A figure that is a chart of one study."""
    return lambda found: [found.drawn(key, chart, keep)]
