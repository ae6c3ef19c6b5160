"""Rows of a result as the plain records a chart carries: four digits, undefined values left empty."""

from __future__ import annotations

import math
from typing import Any

from unjudged.results import Result

Records = list[dict[str, Any]]


def records(result: Result) -> Records:
    """One dict per row of the tidy table."""
    names, finite = result.columns, math.isfinite
    return [
        {
            name: (round(value, 4) if finite(value) else None) if type(value) is float else _value(value)
            for name, value in zip(names, row, strict=True)
        }
        for row in result.rows()
    ]


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    return value


def distinct(rows: Records, field: str) -> list[Any]:
    """The values of a field in order of appearance."""
    return list(dict.fromkeys(row[field] for row in rows))


def side_by_side(rows: Records, spec: dict[str, Any]) -> dict[str, Any]:
    """The chart once, or once per collection where there are several."""
    if not rows or "collection" not in rows[0]:
        return {"data": {"values": rows}, **spec}
    outer: dict[str, Any] = {key: spec.pop(key) for key in ("description", "title", "resolve") if key in spec}
    facet = {"field": "collection", "type": "nominal", "title": None, "sort": distinct(rows, "collection")}
    return {**outer, "data": {"values": rows}, "facet": facet, "columns": 2, "spec": spec}
