"""The page of a paper as one HTML file, in the look of the trust report: everything inside, nothing loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unjudged.papers.made import HOLDS, Made
from unjudged.reporting.javascript import vega
from unjudged.reporting.page import as_script, asset, packed, policy_hash, printable, templates
from unjudged.reporting.sections import Section
from unjudged.results import Result, Shown
from unjudged.text import shown

if TYPE_CHECKING:
    from unjudged.papers.made import PaperResult


def html(result: PaperResult) -> str:
    """The whole file."""
    from unjudged import __version__

    css = asset("tokens.css") + asset("report.css") + asset("paper.css")
    js, library = asset("sortable.js") + asset("paper.js"), vega()
    drawn = {one.item.key: packed(_section(one)) for one in result.made if one.item.kind == "Figure" and one.panels}
    text = (
        templates()
        .get_template("paper.html")
        .render(
            result=result,
            paper=result.paper,
            collections=result.provenance.settings["collections"],
            holds=HOLDS,
            view=_view,
            drawn=drawn,
            css=css,
            js=js,
            vega=library,
            version=__version__,
            hashes=result.provenance.hashes(),
            data=as_script(drawn),
            script_hashes=f"{policy_hash(library)} {policy_hash(js)}",
            style_hash=policy_hash(css),
        )
    )
    return printable(text)


def _section(one: Made) -> Section:
    """A figure as the page of the report knows it."""
    return Section(one.item.key, one.title, one.item.caption, one.result)


def _view(result: Result) -> dict[str, Any]:
    """A laid-out table: cells with their text, weight, raised mark and side."""
    columns, rows = result.laid_out()
    cells: list[list[dict[str, Any]]] = [
        [
            {"text": c.text, "bold": c.bold, "raised": c.raised}
            if isinstance(c, Shown)
            else {"text": shown(c), "bold": False, "raised": ""}
            for c in row
        ]
        for row in rows
    ]
    right = [
        any(row[i]["text"] for row in cells) and all(_number(row[i]["text"]) for row in cells)
        for i in range(len(columns))
    ]
    return {"columns": [{"name": str(c), "number": r} for c, r in zip(columns, right, strict=True)], "rows": cells}


def _number(text: str) -> bool:
    plain = text.strip().rstrip("%").lstrip("+-").replace(".", "", 1)
    return text in ("", "-") or plain.isdigit()
