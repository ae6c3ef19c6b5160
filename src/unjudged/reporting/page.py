"""The report as one HTML file: everything inside, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import functools
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
from unjudged.reporting.sections import Section
from unjudged.results import shown as shown_value
from unjudged.text import begun

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

    from unjudged.reporting.report import Report

MOST_ROWS = 200
"""Rows of a table that are written out; the CSV file has all of them."""

LONG = 1000
"""Rows from which on numbers are carried as their bits, which takes half of the room."""

CARDS = ("winners", "fair-to-outsiders", "fewer-judgments", "enough-topics", "safe-comparisons")
"""The questions on the first screen."""

MARKS = {"solid": "✔", "with care": "◐", "fragile": "✖", "unknown": "?"}


@functools.cache
def templates() -> jinja2.Environment:
    """The templates, with everything escaped that is not ours."""
    import jinja2

    made = jinja2.Environment(loader=jinja2.PackageLoader("unjudged.reporting", "."), autoescape=True, trim_blocks=True)
    made.globals.update(view_of=view_of, number=shown_value, marks=MARKS, chart_of=chart_of, words=shlex.join)
    made.filters |= {"unbroken": unbroken, "begun": begun}
    return made


def asset(name: str) -> str:
    """A file of this package."""
    return files(__package__).joinpath(name).read_text("utf-8")


def unbroken(text: str) -> Markup:
    """Text, escaped, whose numbers stay on one line with their percent signs."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([\d.]+ %)", r'<span class="whole">\1</span>', str(escape(text))))


def view_of(section: Section, most: int) -> dict[str, Any]:
    """A table as it is written out."""
    rows = list(section.result.rows())
    shown = rows[:most]
    columns = [
        {"name": name.replace("_", " "), "number": bool(shown) and all(_numeric(row[i]) for row in shown)}
        for i, name in enumerate(section.result.columns)
    ]
    return {"columns": columns, "rows": [[shown_value(v) for v in row] for row in shown], "total": len(rows)}


def _numeric(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))


def packed(section: Section) -> dict[str, Any]:
    """What the scripts need of a section: its columns (repeated values as codes, long ones as bits) and its chart."""
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
    return {"columns": columns, "chart": chart_of(section)}


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
    from unjudged.reporting.javascript import vega

    css, js, library = asset("report.css"), asset("report.js"), vega()
    sections = (report.in_short, *report.sections, report.how_made)
    text = (
        templates()
        .get_template("report.html")
        .render(
            title=report.title,
            what=report.what,
            lead=report.lead,
            cards=cards(report.sections),
            sections=sections,
            most=most,
            css=css,
            js=js,
            vega=library,
            version=__version__,
            data=as_script({s.key: packed(s) for s in sections}),
            script_hashes=f"{policy_hash(library)} {policy_hash(js)}",
            style_hash=policy_hash(css),
        )
    )
    return printable(text)


def cards(sections: Sequence[Section]) -> list[Section]:
    """The sections whose verdicts stand on the cards."""
    return [s for s in sections if s.key in CARDS and s.verdict is not None]


def fragment(section: Section, most: int = MOST_ROWS) -> str:
    """One section's HTML, for the local page."""
    parts: Any = templates().get_template("_section.html").module
    return printable(str(parts.section(section, most)))


def short_fragment(cards: Sequence[Section], lead: str, table: Section, most: int = MOST_ROWS) -> str:
    """The first section's HTML, for the local page."""
    parts: Any = templates().get_template("_section.html").module
    return printable(str(parts.short(cards, lead, table, most)))
