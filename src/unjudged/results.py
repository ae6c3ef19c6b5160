"""Results: a tidy table with its provenance. Text, CSV, JSON, LaTeX and HTML are views of it.

Rows are plain Python values, so that printing a table needs neither pandas nor rich.
"""

from __future__ import annotations

import itertools
import math
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unjudged.errors import UsageError, as_utf8, nearest, some
from unjudged.io.files import chosen_judge, is_input
from unjudged.text import aligned, in_markdown, printable, reads_as_number, shown, to_the_right, tsv_cell

if TYPE_CHECKING:
    import pandas as pd

    from unjudged.figures import Figure

FORMATS = ("text", "tsv", "csv", "jsonl", "json", "markdown", "latex")
SAFE_CSV = "safe-csv"
"""CSV for spreadsheets: names that would be read as formulas are marked as text (`--safe-csv`)."""

Row = Sequence[Any]

_LINES_AT_ONCE = 10_000


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from: version, call, seed, inputs, and the settings that decide a score."""

    version: str
    call: str
    inputs: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None

    @classmethod
    def of(
        cls, call: str, inputs: tuple[str, ...], settings: Mapping[str, Any] | None = None, seed: int | None = None
    ) -> Provenance:
        """Of what this version makes."""
        from unjudged import __version__

        return cls(__version__, call, inputs, settings or {}, seed)

    def hashes(self) -> dict[str, str | None]:
        """SHA-256 of every input file (None for objects in memory); reads the files."""
        import hashlib

        found: dict[str, str | None] = {}
        for path in self.inputs:
            if is_input(path):
                with Path(chosen_judge(path)[0]).open("rb") as file:
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


WORDS = ("solid", "with care", "fragile", "unknown")
WORST_FIRST = ("fragile", "unknown", "with care", "solid")
"""The words in the order in which they should worry a reader."""


@dataclass(frozen=True)
class Step:
    """What to do next: a sentence, the words after `unjudged` that do it, and what it is expected to change."""

    sentence: str
    command: tuple[str, ...] = ()
    effect: str = ""

    @property
    def typed(self) -> str:
        """The command as it is typed; empty where there is none."""
        return printable(shlex.join(("unjudged", *self.command))) if self.command else ""

    def __str__(self) -> str:
        said = f"{self.sentence} ({self.effect})" if self.effect else self.sentence
        return f"{said}\n      {self.typed}" if self.command else said

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {"sentence": self.sentence, "command": list(self.command), "effect": self.effect}


@dataclass(frozen=True)
class Verdict:
    """One sentence a reader can act on, with its evidence.

    `word` is solid, with care, fragile or unknown; `value` the number behind it in `unit`, `limit` the limits it was
    held against, `decided_by` the runs, teams or topics that decided it, `next` what to do now. `finding` is the
    number in a dozen words, for lists of verdicts: how many of how many (`7 of 130 runs share first place`).
    """

    word: str
    sentence: str
    value: float | None = None
    unit: str = ""
    limit: str = ""
    decided_by: tuple[str, ...] = ()
    next: Step | None = None
    finding: str = ""

    def __post_init__(self) -> None:
        if self.word not in WORDS:
            raise ValueError(f"a verdict is {', '.join(WORDS)}, not {self.word!r}")
        if self.value is not None and not math.isfinite(self.value):
            object.__setattr__(self, "value", None)
        if not self.finding:
            object.__setattr__(self, "finding", self.sentence)

    def __str__(self) -> str:
        said = f"{self.word}: {self.sentence}" + (f" ({self.limit})" if self.limit else "")
        return said + (f"\nnext: {self.next}" if self.next else "")

    def __repr__(self) -> str:
        return f"<Verdict: {self.word}: {self.sentence}>"

    def _repr_html_(self) -> str:
        from html import escape

        sentence, _, command = (escape(part) for part in str(self.next or "").partition("\n"))
        step = f"<br>Next: {sentence}" if sentence else ""
        step += f"<br><code>{command.strip()}</code>" if command else ""
        return f"<p><strong>{escape(self.word)}</strong>: {escape(self.sentence)}{step}</p>"

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "word": self.word,
            "sentence": self.sentence,
            "finding": self.finding,
            "value": self.value,
            "unit": self.unit,
            "limit": self.limit,
            "decided_by": list(self.decided_by),
            "next": None if self.next is None else self.next.to_dict(),
        }


@dataclass(frozen=True)
class Shown:
    """A cell of a laid-out table with its own wording: `6↑5`, `+1.93%`; the best of its column is bold.

    `raised` is a small mark behind it: letters of groups, an arrow.
    """

    text: str
    bold: bool = False
    raised: str = ""

    def __str__(self) -> str:
        return f"{self.text} {self.raised}" if self.raised else self.text


class Result:
    """A tidy table with provenance and views.

    `layout` gives the table of the paper (columns and rows of values or `Shown` cells), `figures` the charts by
    name (the first is the main one), `verdict` the sentence, `notes` what a reader should know (one line each),
    `caption` the words under (in LaTeX and HTML over) the laid-out table. `without_rows` stands in the text where the
    table has none.
    """

    without_rows = "Nothing to list."

    def __init__(
        self,
        columns: Sequence[str],
        rows: Callable[[], Iterable[Row]],
        provenance: Provenance,
        layout: Callable[[], tuple[Sequence[str], list[Row]]] | None = None,
        figures: Mapping[str, Callable[[Result], Figure]] | None = None,
        verdict: Verdict | None = None,
        notes: Sequence[str] = (),
        caption: str = "",
    ) -> None:
        self.columns: tuple[str, ...] = tuple(columns)
        self._rows, self._layout = rows, layout
        self.provenance: Provenance = provenance
        self._figures = dict(figures or {})
        self.verdict: Verdict | None = verdict
        self.notes: tuple[str, ...] = tuple(notes)
        self.caption: str = caption

    def __setattr__(self, name: str, value: Any) -> None:
        """Every attribute is set once: a result does not change after it was made."""
        if name in self.__dict__:
            raise AttributeError(f"a result does not change after it was made; {name} was set already")
        object.__setattr__(self, name, value)

    def rows(self) -> Iterable[Row]:
        """The rows of the tidy table."""
        return self._rows()

    def laid_out(self) -> tuple[Sequence[str], list[Row]]:
        """The table of the paper: columns and rows."""
        return self._layout() if self._layout else (self.columns, list(self.rows()))

    def with_verdict(self, verdict: Verdict) -> Result:
        """The same result under this verdict."""
        return Result(
            self.columns,
            self._rows,
            self.provenance,
            self._layout,
            self._figures,
            verdict,
            self.notes,
            self.caption,
        )

    def arranged(self, sort: str | None = None, rows: int | None = None, digits: int | None = None) -> Result:
        """The same result, its laid-out table sorted by a column, cut to so many rows, with so many decimals."""
        if sort is None and rows is None and digits is None:
            return self

        def layout() -> tuple[Sequence[str], list[Row]]:
            columns, table = self.laid_out()
            if sort is not None:
                table = _sorted_by(sort, list(map(str, columns)), table)
            return columns, [[_with_digits(value, digits) for value in row] for row in table[:rows]]

        more = self._figures, self.verdict, self.notes, self.caption
        return Result(self.columns, self.rows, self.provenance, layout, *more)

    def rewritten(self, change: Callable[[dict[str, Any]], Mapping[str, Any] | None]) -> Result:
        """The same result with other words in its rows (None leaves a row out): its charts draw what it then says."""

        def rows() -> Iterator[Row]:
            for row in self.rows():
                made = change(dict(zip(self.columns, row, strict=True)))
                if made is not None:
                    yield tuple(made[column] for column in self.columns)

        return Result(self.columns, lambda: list(rows()), self.provenance, None, self._figures, notes=self.notes)

    @property
    def frame(self) -> pd.DataFrame:
        """The tidy table as a pandas data frame; in names, bytes that are not UTF-8 are escaped where they must be."""
        import pandas as pd

        rows = list(self.rows())
        try:
            return pd.DataFrame(rows, columns=list(self.columns))
        except UnicodeEncodeError:  # pyarrow's texts are UTF-8
            readable = [[as_utf8(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
            return pd.DataFrame(readable, columns=list(self.columns))

    @property
    def figures(self) -> tuple[str, ...]:
        """Names of the charts this result can draw, the main one first."""
        return tuple(self._figures)

    def plot(self, name: str | None = None) -> Figure:
        """A chart of this result (the main one, or one of `.figures`)."""
        if not self._figures:
            raise UsageError("this result has no chart")
        if name is not None and name not in self._figures:
            raise UsageError(f"no chart {name!r}; there are {', '.join(self._figures)}")
        return self._figures[name or next(iter(self._figures))](self)

    def table(self) -> str:
        """The result laid out for reading."""
        return self.render("text")

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        said = f"; {self.verdict.word}: {self.verdict.sentence}" if self.verdict else ""
        return f"<{type(self).__name__}: {some(self.columns, 4)}{said}>"

    def _repr_html_(self) -> str:
        return (self.verdict._repr_html_() if self.verdict else "") + self.to_html()

    def methods(self) -> str:
        """A methods paragraph for a paper, true to the settings used, and BibTeX of what it names."""
        import importlib  # the paragraph knows measures, which stand above this module

        said: str = importlib.import_module("unjudged.methods").methods(self)
        return said

    def render(self, format: str = "text") -> str:
        """The result as text in one of FORMATS; ends with a newline."""
        return "".join(self.pieces(format))

    def pieces(self, format: str = "text") -> Iterator[str]:
        """The text of `render` piece by piece: of tsv, csv and jsonl, only some thousand lines are held."""
        if format not in (*FORMATS, SAFE_CSV):
            raise UsageError(f"unknown format {format!r}; there are {', '.join(FORMATS)}")
        if format in ("tsv", "csv", SAFE_CSV):
            cells = {"tsv": _tsv_cell, "csv": _csv_cell, SAFE_CSV: _safe_csv_cell}
            cell, mark = cells[format], "\t" if format == "tsv" else ","
            head = mark.join(map(cell, self.columns)) + "\n"
            return itertools.chain([head], self._body(cell, ["", *[mark] * (len(self.columns) - 1)], "\n"))
        if format == "jsonl":
            names = [f"{_json_cell(column)}: " for column in self.columns]
            return self._body(_json_cell, ["{" + names[0], *[f", {name}" for name in names[1:]]], "}\n")
        return iter([self._whole(format)])

    def _whole(self, format: str) -> str:
        """The formats that need all rows at once: JSON, and tables whose columns have a width."""
        if format == "json":
            import json

            return json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"
        columns, rows = self.laid_out()
        if format == "latex":
            return self._latex(columns, rows)
        if format == "text" and not rows:
            return f"{self.without_rows}\n"
        from unjudged.spelling import legend, short_names, shortened, spellings

        long = spellings(map(str, columns)) if self._layout else []
        told = short_names([*map(str, columns), *(shown(v) for row in rows for v in row)]) if long else {}
        names = {name: told[name] for name in long if name in told}
        caption = " ".join(filter(None, [self.caption, f"{legend(names)}." if names else ""]))
        bold = {"text": "{}", "markdown": "**{}**"}[format]
        raised = {"text": " {}", "markdown": "<sup>{}</sup>"}[format]
        clean = {"text": printable, "markdown": in_markdown}[format]
        cells = [[clean(shown(v)) for v in row] for row in rows]
        right = to_the_right(cells, len(columns))

        def dressed(value: Any, text: str) -> str:
            if not isinstance(value, Shown):
                return text
            main = bold.format(clean(value.text)) if value.bold else clean(value.text)
            return main + (raised.format(clean(value.raised)) if value.raised else "")

        written = [
            [dressed(*pair) for pair in zip(row, texts, strict=True)] for row, texts in zip(rows, cells, strict=True)
        ]
        view = {"text": aligned, "markdown": _markdown}[format]
        table = view([clean(shortened(str(c), names)) for c in columns], written, right)
        return f"{table}\n{clean(caption)}\n" if caption else table

    def _latex(self, columns: Sequence[str], rows: list[Row]) -> str:
        from unjudged.latex import Cell, latex_table

        def cell(value: Any) -> Cell:
            if isinstance(value, Shown):
                return Cell(value.text, value.bold, value.raised)
            return Cell(printable(shown(value)))

        study = str(self.provenance.settings.get("study", "")) or self.provenance.call.partition(" ")[0] or "table"
        label = re.sub(r"[^A-Za-z0-9-]+", "-", study).strip("-") or "table"
        return latex_table(list(map(str, columns)), [[cell(v) for v in row] for row in rows], self.caption, label)

    def _body(self, text: Callable[[Any], str], before: Sequence[str], end: str) -> Iterator[str]:
        """A line for each row, some thousand at once: every value as text behind its piece of `before`, then `end`."""
        line = "".join(piece.replace("%", "%%") + "%s" for piece in before) + end
        rows = iter(self._cells(text))
        return iter(lambda: "".join([line % cells for cells in itertools.islice(rows, _LINES_AT_ONCE)]), "")

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

    def to_dict(self) -> dict[str, Any]:
        """The whole result as plain values: provenance, verdict, notes, columns, rows."""
        return {"provenance": self.provenance.to_dict(), **self.answer()}

    def answer(self) -> dict[str, Any]:
        """Verdict, notes, columns and rows as plain values, without the provenance (which reads all files again)."""
        return {
            "verdict": None if self.verdict is None else self.verdict.to_dict(),
            "notes": list(self.notes),
            "columns": list(self.columns),
            "rows": [self._object(row) for row in self.rows()],
        }

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
        import io

        from unjudged.io.write import write_whole

        buffer = io.BytesIO()
        self.frame.to_parquet(buffer)
        write_whole(path, buffer.getvalue())

    def to_html(self, path: str | Path | None = None) -> str:
        """The laid-out table as HTML."""
        columns, rows = self.laid_out()
        from html import escape

        head = "".join(f"<th>{escape(str(c))}</th>" for c in columns)
        body = "".join("<tr>" + "".join(map(_html_cell, row)) + "</tr>" for row in rows)
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        text = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>\n"
        if path is not None:
            _save(text, path)
        return text

    def _write(self, format: str, path: str | Path | None) -> str | None:
        text = self.render(format)
        if path is None:
            return text
        _save(text, path)
        return None


def _sorted_by(name: str, columns: list[str], rows: list[Row]) -> list[Row]:
    """Numbers from the largest down, texts from A to Z, what is undefined last; equal ones stay in their order."""
    alike = [i for i, column in enumerate(columns) if column.lower() == name.lower()]
    if not alike:
        raise UsageError(f"no column is called {name!r}{nearest(name, columns)}; there are {', '.join(columns)}")

    def key(row: Row) -> tuple[int, float, str]:
        text = str(row[alike[0]].text if isinstance(row[alike[0]], Shown) else row[alike[0]])
        try:
            number = float(text.replace(" %", "").replace("%", "").split(" ")[0])
        except ValueError:
            return (1, 0.0, text)
        return (2, 0.0, "") if math.isnan(number) else (0, -number, "")

    return sorted(rows, key=key)


def _with_digits(value: Any, digits: int | None) -> Any:
    return f"{value:z.{digits}f}" if digits is not None and isinstance(value, float) and value == value else value


def _save(text: str, path: str | Path) -> None:
    """The file appears whole or not at all."""
    from unjudged.io.write import write_whole

    write_whole(path, text.encode("utf-8", "surrogateescape"))


def _lines(lines: Iterable[str]) -> str:
    return "\n".join([*lines, ""])


def _cell(value: Any) -> str:
    """Full precision, shortest round trip; an undefined value is empty."""
    if type(value) is str:
        return value
    if isinstance(value, float):
        return repr(value) if value == value else ""
    return "" if value is None else str(value)


def _tsv_cell(value: Any) -> str:
    return tsv_cell(_cell(value))


def _csv_cell(value: Any) -> str:
    text = _cell(value)
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if any(c in text for c in ',"\n\r') else text


_FORMULA = re.compile(r"(^|[;\t\r\n])(?=\s*[=+\-@\t\r＝＋－＠])")
"""Where a formula may begin: a cell, or behind what some spreadsheets take for the end of one."""


def _safe_csv_cell(value: Any) -> str:
    """As in CSV; an apostrophe stands before what a spreadsheet would take for a formula."""
    if isinstance(value, str) and not reads_as_number(value):
        value = _FORMULA.sub(r"\1'", value)
    return _csv_cell(value)


def _json_cell(value: Any) -> str:
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "null"
    import json

    return json.dumps(value, ensure_ascii=False)


def _html_cell(value: Any) -> str:
    from html import escape

    if not isinstance(value, Shown):
        return f"<td>{escape(shown(value))}</td>"
    main = f"<strong>{escape(value.text)}</strong>" if value.bold else escape(value.text)
    return f"<td>{main}{f'<sup>{escape(value.raised)}</sup>' if value.raised else ''}</td>"


def _markdown(columns: list[str], rows: list[list[str]], right: list[bool]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    return _lines([line(columns), line(["---:" if r else "---" for r in right]), *map(line, rows)])
