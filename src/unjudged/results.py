"""Results: a tidy table with its provenance. Text, CSV, JSON, LaTeX and HTML are views of it.

Rows are plain Python values, so that printing a table needs neither pandas nor rich.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unjudged.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("text", "tsv", "csv", "jsonl", "json", "markdown", "latex")

Row = Sequence[Any]


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from: version, call, seed, inputs, and the settings that decide a score."""

    version: str
    call: str
    inputs: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None

    def hashes(self) -> dict[str, str | None]:
        """SHA-256 of every input file (None for objects in memory); reads the files."""
        import hashlib

        found: dict[str, str | None] = {}
        for path in self.inputs:
            if Path(path).is_file():
                with Path(path).open("rb") as file:
                    found[path] = hashlib.file_digest(file, "sha256").hexdigest()
            else:
                found[path] = None
        return found

    def to_dict(self) -> dict[str, Any]:
        """As plain values, hashes included."""
        return {
            "version": self.version,
            "call": self.call,
            "seed": self.seed,
            "inputs": self.hashes(),
            "settings": dict(self.settings),
        }


class Result:
    """A tidy table with provenance and views."""

    def __init__(
        self,
        columns: Sequence[str],
        rows: Callable[[], Iterable[Row]],
        provenance: Provenance,
        layout: Callable[[], tuple[Sequence[str], list[Row]]] | None = None,
    ) -> None:
        self.columns = tuple(columns)
        self._rows, self._layout = rows, layout
        self.provenance = provenance

    def rows(self) -> Iterable[Row]:
        """The rows of the tidy table."""
        return self._rows()

    @property
    def frame(self) -> pd.DataFrame:
        """The tidy table as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()), columns=list(self.columns))

    def table(self) -> str:
        """The result laid out for reading."""
        return self.render("text")

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return self.to_html()

    def render(self, format: str = "text") -> str:
        """The result as text in one of FORMATS; ends with a newline."""
        if format not in FORMATS:
            raise UsageError(f"unknown format {format!r}; there are {', '.join(FORMATS)}")
        if format.startswith("json"):
            import json
        if format == "tsv":
            return _lines(["\t".join(self.columns), *map("\t".join, self._cells(_tsv_cell))])
        if format == "csv":
            return _lines([",".join(map(_csv_cell, self.columns)), *map(",".join, self._cells(_csv_cell))])
        if format == "jsonl":
            names = [json.dumps(column) for column in self.columns]
            return _lines(
                "{" + ", ".join([f"{n}: {c}" for n, c in zip(names, cells, strict=True)]) + "}"
                for cells in self._cells(_json_cell)
            )
        if format == "json":
            whole = {"provenance": self.provenance.to_dict(), "rows": [self._object(row) for row in self.rows()]}
            return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
        columns, rows = self._layout() if self._layout else (self.columns, list(self.rows()))
        shown = [[_shown(v) for v in row] for row in rows]
        return {"text": _text, "markdown": _markdown, "latex": _latex}[format](list(columns), shown)

    def _cells(self, text: Callable[[Any], str]) -> Iterable[tuple[str, ...]]:
        """The rows with each value as text; a column's repeated names are written once and looked up."""
        columns: list[Iterable[str]] = []
        rows = list(self.rows())
        for i in range(len(self.columns)):
            column = [row[i] for row in rows]
            kinds = set(map(type, column))
            if kinds == {str}:
                written = {value: text(value) for value in set(column)}
                columns.append(map(written.__getitem__, column))
            elif kinds == {float}:
                missing = text(math.nan)
                columns.append(
                    [repr(v) if -math.inf < v < math.inf else missing if v != v else text(v) for v in column]
                )
            else:
                columns.append(map(text, column))
        return zip(*columns, strict=True)

    def _object(self, row: Row) -> dict[str, Any]:
        values = (None if isinstance(v, float) and not math.isfinite(v) else v for v in row)
        return dict(zip(self.columns, values, strict=True))

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """The tidy table as CSV with full precision, to a file or as text."""
        return self._write("csv", path)

    def to_json(self, path: str | Path | None = None) -> str | None:
        """Rows and provenance as one JSON document."""
        return self._write("json", path)

    def to_latex(self, path: str | Path | None = None) -> str | None:
        """The table of the paper."""
        return self._write("latex", path)

    def to_parquet(self, path: str | Path) -> None:
        """The tidy table as Parquet (needs pyarrow)."""
        self.frame.to_parquet(path)

    def to_html(self, path: str | Path | None = None) -> str:
        """The laid-out table as HTML."""
        from html import escape

        columns, rows = self._layout() if self._layout else (self.columns, list(self.rows()))
        head = "".join(f"<th>{escape(str(c))}</th>" for c in columns)
        body = "".join("<tr>" + "".join(f"<td>{escape(_shown(v))}</td>" for v in row) + "</tr>" for row in rows)
        text = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>\n"
        if path is not None:
            Path(path).write_text(text, "utf-8", "surrogateescape")
        return text

    def _write(self, format: str, path: str | Path | None) -> str | None:
        text = self.render(format)
        if path is None:
            return text
        Path(path).write_text(text, "utf-8", "surrogateescape")
        return None


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _cell(value: Any) -> str:
    """Full precision, shortest round trip; an undefined value is empty."""
    if type(value) is str:
        return value
    if isinstance(value, float):
        return repr(value) if value == value else ""
    return "" if value is None else str(value)


def _tsv_cell(value: Any) -> str:
    text = _cell(value)
    return text if text.isprintable() else text.replace("\t", " ").replace("\n", " ").replace("\r", " ")


def _csv_cell(value: Any) -> str:
    text = _cell(value)
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if any(c in text for c in ',"\n\r') else text


def _json_cell(value: Any) -> str:
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "null"
    import json

    return json.dumps(value, ensure_ascii=False)


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _is_number(text: str) -> bool:
    return text == "-" or text.lstrip("+-").replace(".", "", 1).isdigit()


def _text(columns: list[str], rows: list[list[str]]) -> str:
    clean = [[c.encode("unicode_escape").decode() if not c.isprintable() else c for c in row] for row in rows]
    widths = [max(len(c), *(len(row[i]) for row in clean)) if clean else len(c) for i, c in enumerate(columns)]
    right = [bool(clean) and all(_is_number(row[i]) for row in clean) for i in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
        return "  ".join(padded).rstrip()

    return _lines([line(columns), *map(line, clean)])


def _markdown(columns: list[str], rows: list[list[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(c.replace("|", "\\|").replace("\n", " ") for c in cells) + " |"

    right = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(columns))]
    return _lines([line(columns), line(["---:" if r else "---" for r in right]), *map(line, rows)])


_LATEX_SPECIAL = {c: "\\" + c for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def _latex(columns: list[str], rows: list[list[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join("".join(_LATEX_SPECIAL.get(x, x) for x in c) for c in cells) + r" \\"

    right = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(columns))]
    spec = "".join("r" if r else "l" for r in right)
    body = map(line, rows)
    return _lines(
        [
            rf"\begin{{tabular}}{{{spec}}}",
            r"\toprule",
            line(columns),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )
