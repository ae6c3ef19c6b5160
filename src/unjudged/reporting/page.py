"""The report as one HTML file: everything inside, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import json
import math
import re
import shlex
import struct
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from unjudged.figures import theme
from unjudged.figures.records import records
from unjudged.reporting.drawings import drawing_of, drawn_columns
from unjudged.reporting.in_short import STEPS, in_few_words, steps_of, told
from unjudged.reporting.sections import Section
from unjudged.results import Result
from unjudged.text import begun, listed
from unjudged.text import shown as shown_value

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

    from unjudged.reporting.report import Report

MOST_ROWS = 8
"""Rows of a table that are written out; the CSV file of its chart has all of them."""

MOST_ON_LIVE_PAGE = 200
"""The same on the local page, whose tables are written when they are ready."""

LONG = 1000
"""Rows from which on numbers are carried as their bits, which takes half of the room."""

VERY_LONG = 3000
"""Rows from which on the CSV on the page has four digits; the command beside it gives all of them."""

MARKS = {"solid": "✔", "with care": "◐", "fragile": "✖", "unknown": "?"}
KINDS = {"with care": "care", "cannot tell": "unknown"}
"""Words whose mark and colour have another name."""


@functools.cache
def templates() -> jinja2.Environment:
    """The templates, with everything escaped that is not ours."""
    import jinja2

    made = jinja2.Environment(loader=jinja2.PackageLoader("unjudged.reporting", "."), autoescape=True, trim_blocks=True)
    made.globals.update(
        view_of=view_of,
        marks=MARKS,
        words=shlex.join,
        listed=listed,
        kind_of=kind_of,
        drawing_of=drawing_of,
        csv_of=csv_of,
        squeezed=squeezed,
    )
    made.filters |= {"unbroken": unbroken, "begun": begun}
    return made


def kind_of(word: str) -> str:
    """The class of a word: its mark and its colour."""
    return KINDS.get(word, word)


def tabled(section: Section) -> Result:
    """The section's table as the page carries it; where it is very long, what its chart draws, with four digits."""
    result = section.result
    columns, rows = result.columns, list(result.rows())
    if len(rows) > VERY_LONG:
        kept = [i for i, name in enumerate(columns) if name in drawn_columns(section) or name in ("low", "high")]
        columns = tuple(columns[i] for i in kept)
        rows = [tuple(_short(row[i]) for i in kept) for row in rows]
    return Result(columns, lambda: rows, result.provenance)


def csv_of(section: Section) -> str:
    """The table of the page as CSV, compressed."""
    return squeezed(tabled(section).render("csv"))


def squeezed(text: str) -> str:
    """Text that scripts unpack when somebody asks for it."""
    return base64.b64encode(gzip.compress(text.encode("utf-8", "backslashreplace"), 9, mtime=0)).decode()


def _short(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def asset(name: str) -> str:
    """A file of this package."""
    return files(__package__).joinpath(name).read_text("utf-8")


def unbroken(text: str) -> Markup:
    """Text, escaped, with a space before percent signs that does not break."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([\d.]+) %", "\\1\u00a0%", str(escape(text))))


def view_of(section: Section, most: int, beside: bool = False) -> dict[str, Any]:
    """A table as it is written out, with the columns of its CSV: the answer's, or the one beside it."""
    result = section.beside if beside and section.beside is not None else tabled(section)
    rows = list(result.rows())
    shown = rows[:most]
    columns = [
        {"name": name.replace("_", " "), "number": bool(shown) and all(_numeric(row[i]) for row in shown)}
        for i, name in enumerate(result.columns)
    ]
    return {"columns": columns, "rows": [[shown_value(v) for v in row] for row in shown], "total": len(rows)}


def _numeric(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def packed(section: Section) -> dict[str, Any]:
    """What the scripts of a paper's page need of a section: its columns and its chart."""
    return {"columns": packed_columns(section), "chart": chart_of(section)}


def packed_columns(section: Section) -> dict[str, Any]:
    """The columns of a section's table, repeated values as codes, long ones as bits."""
    columns: dict[str, Any] = {}
    for name, values in section.columns().items():
        values = [None if isinstance(v, float) and not math.isfinite(v) else v for v in values]
        known = dict.fromkeys(values)
        if 4 * len(known) < len(values) and len({type(v) for v in known}) == 1:
            place = {v: i for i, v in enumerate(known)}
            columns[name] = {"names": list(known), "codes": [place[v] for v in values]}
        elif len(values) >= LONG and all(v is None or isinstance(v, float) for v in values):
            bits = struct.pack(f"<{len(values)}d", *(math.nan if v is None else v for v in values))
            columns[name] = {"doubles": base64.b64encode(bits).decode()}
        else:
            columns[name] = values
    return columns


def chart_of(section: Section) -> dict[str, Any] | None:
    """The study's main chart for the page: as wide as its place, in the page's colours, its data told once.

    Data that are the section's own table are not written again: the chart reads them as `table`.
    """
    if not section.result.figures or not section.result.columns:
        return None
    spec = dict(section.plot().spec)
    rows = spec.get("data", {}).get("values", [])
    if rows == records(section.result):
        spec["data"] = {"name": "table"}
    inner = dict(spec["spec"]) if "facet" in spec else spec
    inner |= _quiet(inner)
    if isinstance(inner.get("height"), dict):  # so many pixels a name: told as a number, which fits any width
        inner["height"] = max(inner["height"]["step"] * _names_down(inner, rows), 120)
    if "facet" in spec:
        spec["spec"] = inner
    else:
        spec |= {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
    return {**spec, "config": {**theme.config("page"), **spec.get("config", {})}}


def _quiet(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The marks of a chart; lines and words that only guide the eye are not read out."""
    layers = [{**layer, **_quiet(layer)} for layer in spec.get("layer", [])]
    mark = spec.get("mark")
    kind = mark.get("type") if isinstance(mark, Mapping) else mark
    quiet = {"mark": {**(mark if isinstance(mark, Mapping) else {"type": mark}), "aria": False}}
    return {**({"layer": layers} if layers else {}), **(quiet if kind in ("rule", "text") else {})}


def _names_down(spec: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> int:
    """How many names stand down the side of a chart."""
    for part in (spec, *spec.get("layer", [])):
        field = part.get("encoding", {}).get("y", {}).get("field")
        if field is not None:
            return len({row.get(field) for row in rows})
    return 1


def as_script(data: Any) -> str:
    """JSON that cannot end its script element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def printable(text: str) -> str:
    """Text for a page: bytes that were no text are written as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def policy_hash(text: str) -> str:
    """A script or style by its hash, for the content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode()}'"


def html(report: Report, most: int = MOST_ROWS) -> str:
    """The whole file."""
    from unjudged import __version__

    css, js = asset("tokens.css") + asset("report.css"), asset("sortable.js") + asset("report.js")
    text = (
        templates()
        .get_template("report.html")
        .render(
            report=report,
            kicker="Trust report" if report.few is None else f"Comparison of {report.few.many} runs",
            answers=report.answered,
            unknown=report.beyond,
            few=report.few,
            steps=first_steps(report),
            made=report.how_made,
            most=most,
            css=css,
            js=js,
            version=__version__,
            script_hash=policy_hash(js),
            style_hash=policy_hash(css),
        )
    )
    return printable(text)


def first_steps(report: Report) -> list[dict[str, Any]]:
    """The next steps on the first screen."""
    steps = report.few.steps if report.few is not None else [step for _, _, step in steps_of(report.sections)]
    found = []
    for step in steps[:STEPS]:
        do, effect = told(step)
        found.append({"do": do, "effect": effect, "command": step.command, "short": in_few_words(step)})
    return found


def fragment(section: Section, most: int = MOST_ON_LIVE_PAGE) -> str:
    """One section's HTML, folded, for the local page."""
    parts: Any = templates().get_template("_section.html").module
    if section.key == "how-made":
        return printable(str(parts.how_made(section)))
    return printable(str(parts.section(section, most)))


def short_fragment(report: Report) -> str:
    """The first section's HTML, for the local page."""
    parts: Any = templates().get_template("_section.html").module
    answers = [s for s in report.sections if s.verdict is not None]
    return printable(str(parts.short(report, answers, first_steps(report))))


def symbols() -> str:
    """The marks, drawn once per page."""
    parts: Any = templates().get_template("_section.html").module
    return str(parts.symbols())
