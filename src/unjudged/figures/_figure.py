"""Figure: a chart as a Vega-Lite dict that can be shown and saved without a browser."""

from __future__ import annotations

import json
import os
import re
from html import escape
from pathlib import Path
from typing import Any

from unjudged.errors import UsageError, nearest
from unjudged.figures import theme
from unjudged.io.write import write_whole

ENDINGS = (".svg", ".png", ".pdf", ".html", ".json")
VEGA_LITE = "6.1"
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


_UNDRAWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
"""What no drawing can hold: control characters, halves of characters, line separators, what is no character."""


def drawable(spec: Any) -> Any:
    """A chart whose texts can be drawn: other characters become U+FFFD. Run names may hold anything."""
    if isinstance(spec, str):
        return _UNDRAWABLE.sub("\ufffd", spec)
    if isinstance(spec, dict):
        return {drawable(key): drawable(value) for key, value in spec.items()}
    if isinstance(spec, (list, tuple)):
        return [drawable(part) for part in spec]
    return spec


class Figure:
    """A chart: `.spec` is Vega-Lite, `.save("f.svg")` writes svg, png, pdf, html or json."""

    def __init__(self, spec: dict[str, Any]) -> None:
        if not spec.get("description"):
            raise ValueError("a chart needs a description, for readers who cannot see it")
        self.spec: dict[str, Any] = {"$schema": SCHEMA, **drawable(spec)}

    @property
    def description(self) -> str:
        """The chart in words."""
        return str(self.spec["description"])

    def __repr__(self) -> str:
        return f"<Figure: {self.description}>"

    def styled(self, mode: theme.Mode = "light") -> dict[str, Any]:
        """The spec with the theme, light or dark."""
        if mode not in ("light", "dark"):
            raise UsageError(f"a chart can be light or dark, not {mode!r}")
        return {**self.spec, "config": {**theme.config(mode), **self.spec.get("config", {})}}

    def svg(self, mode: theme.Mode = "light") -> str:
        """The chart as SVG text."""
        import vl_convert

        return str(vl_convert.vegalite_to_svg(self.styled(mode), vl_version=VEGA_LITE))

    def svg_for_page(self, width: int) -> str:
        """The chart as SVG for a page: in the colour of the text around it, as wide as told."""
        import vl_convert

        spec = {**self.spec, "config": {**theme.config("page"), **self.spec.get("config", {})}}
        if "facet" not in spec:
            spec |= {"width": width, "autosize": {"type": "fit-x", "contains": "padding"}}
        return str(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE))

    def png(self, mode: theme.Mode = "light", scale: float = 2.0) -> bytes:
        """The chart as PNG."""
        import vl_convert

        return bytes(vl_convert.vegalite_to_png(self.styled(mode), vl_version=VEGA_LITE, scale=scale))

    def pdf(self, mode: theme.Mode = "light") -> bytes:
        """The chart as PDF, for a paper."""
        import vl_convert

        return bytes(vl_convert.vegalite_to_pdf(self.styled(mode), vl_version=VEGA_LITE))

    def html(self, mode: theme.Mode = "light") -> str:
        """A page with the chart drawn in it; it needs no network and no scripts."""
        words = escape(self.description)
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{words}</title></head>\n'
            f'<body><figure role="img" aria-label="{words}">{self.svg(mode)}'
            f"<figcaption>{words}</figcaption></figure></body></html>\n"
        )

    def json(self, mode: theme.Mode = "light") -> str:
        """The themed spec as JSON text."""
        return json.dumps(self.styled(mode), indent=1, ensure_ascii=False) + "\n"

    def save(self, path: str | os.PathLike[str], mode: theme.Mode = "light") -> None:
        """Write the chart; the ending says how. The file appears whole or not at all."""
        ending = Path(path).suffix.lower()
        if ending not in ENDINGS:
            raise UsageError(
                f"{os.fspath(path)}: a chart ends in {', '.join(ENDINGS)}{nearest(ending, ENDINGS) if ending else ''}"
            )
        made: str | bytes = getattr(self, ending[1:])(mode)
        write_whole(Path(path), made.encode("utf-8") if isinstance(made, str) else made)

    def to_altair(self) -> Any:
        """The chart as an Altair object, where Altair is installed."""
        try:
            import altair  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            raise UsageError("Altair is not installed; .spec holds the chart as Vega-Lite") from None
        return altair.Chart.from_dict(self.styled())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {
            "application/vnd.vegalite.v6+json": self.styled(),
            "image/svg+xml": self.svg(),
            "text/plain": repr(self),
        }
