"""Pool-bias correction: scores before and after; and figures 1 to 4 of Lipani, Lupu & Hanbury (SIGIR 2015):
indicators against what a run loses, gain against stability, errors against the cut-off."""

from __future__ import annotations

from typing import Any

from unjudged.figures import theme
from unjudged.figures._figure import Figure
from unjudged.figures.marks import field, names, tips
from unjudged.figures.records import Records, distinct, records, side_by_side
from unjudged.results import Result

_INDICATORS = {"delta_p": "Delta P", "delta_anti_p": "Delta anti-P", "lambda": "lambda"}
_ERRORS = {"mae": "mean absolute error", "sre": "system rank error"}


def corrected(result: Result) -> Figure:
    """One row per run, best first: the score as it is (open), corrected (filled), and in the pool (cross)."""
    rows = records(result)
    first = rows[0] if rows else {"measure": "", "method": ""}
    shown = [row for row in rows if all(row[key] == first[key] for key in ("measure", "method"))]
    known = [row for row in shown if row["in_the_pool"] is not None]
    best = "in_the_pool" if known else "corrected"
    order = sorted(shown, key=lambda row: (-(row["score"] if row[best] is None else row[best]), row["run"]))
    y = names("run", [row["run"] for row in order])
    columns = ("score", "corrected", "low", "high", "in_the_pool")
    about = tips("run", "method", *((column, ".4f") for column in columns))

    def layer(mark: dict[str, Any], x: str, **more: Any) -> dict[str, Any]:
        place = field(x, title=first["measure"], scale={"zero": False})
        return {"mark": mark, "encoding": {"x": place, "y": y, "tooltip": about, **more}}

    layers = [
        layer({"type": "rule", "strokeWidth": 2, "color": theme.GREY}, "score", x2={"field": "corrected"}),
        layer({"type": "point", "filled": False, "color": theme.BLUE, "size": 50}, "score"),
        layer({"type": "point", "color": theme.VERMILION, "opacity": 1, "size": 40}, "corrected"),
    ]
    if known:
        layers.append(layer({"type": "point", "shape": "cross", "color": theme.GREEN, "size": 40}, "in_the_pool"))
    spec = {
        "description": f"{first['measure']} of {len(shown)} runs before (open) and after (filled) correction by "
        f"{first['method']}{'; the cross is the score in the pool' if known else ''}.",
        "transform": [{"filter": {"field": key, "equal": first[key]}} for key in ("measure", "method")],
        "width": 480,
        "height": {"step": 15},
        "layer": layers,
    }
    return Figure(side_by_side(rows, spec))


def indicator_points(rows: Records, n: int) -> dict[str, Any]:
    """Figure 1: Delta P, Delta anti-P and lambda of every left-out run against what its score lost (the residual).

    `rows` are those of the per-run table.
    """
    chosen = [row for row in rows if row["n"] == n]
    points: Records = []
    for row in chosen:
        kept = {"collection": row["collection"]} if "collection" in row else {}
        residual = round(row["true"] - row["reduced"], 6)
        points += [
            {**kept, "run": row["run"], "indicator": title, "residual": residual, "value": row[name]}
            for name, title in _INDICATORS.items()
        ]
    positive = [row for row in chosen if row["lambda"] > 0]
    lost = [row["true"] - row["reduced"] for row in chosen]
    description = (
        f"Indicators of {len(chosen)} left-out runs at P@{n} against the score each lost "
        f"(at most {max(lost, default=0):.4f}); lambda is positive for {len(positive)}."
    )
    points_of = {
        "width": 200,
        "height": 200,
        "layer": [
            {"mark": {"type": "rule", "color": theme.quiet()}, "encoding": {"y": {"datum": 0}}},
            {
                "mark": {"type": "point", "color": theme.BLUE, "tooltip": True},
                "encoding": {
                    "x": {
                        "field": "residual",
                        "type": "quantitative",
                        "title": f"P@{n} lost outside the pool",
                        "axis": {"tickCount": 4},
                    },
                    "y": {"field": "value", "type": "quantitative", "title": None},
                    "tooltip": [{"field": f} for f in ("run", "residual", "value")],
                },
            },
        ],
    }
    facet: dict[str, Any] = {
        "column": {"field": "indicator", "type": "nominal", "title": None, "sort": list(_INDICATORS.values())}
    }
    if points and "collection" in points[0]:
        facet["row"] = {"field": "collection", "type": "nominal", "title": None, "sort": distinct(points, "collection")}
    return {
        "description": description,
        "data": {"values": points},
        "facet": facet,
        "spec": points_of,
        "resolve": {"scale": {"x": "independent", "y": "independent"}},
    }


def error_lines(rows: Records, error: str) -> dict[str, Any]:
    """Figures 3 and 4: MAE or SRE of each method against the cut-off.

    `rows` are those of the summary; with a field `selection` (all runs, the best ones) it decides the dash.
    """
    methods, cutoffs = distinct(rows, "method"), sorted(set(distinct(rows, "n")))
    selections = distinct(rows, "selection") if rows and "selection" in rows[0] else []
    x = {"field": "n", "type": "ordinal", "sort": cutoffs, "title": "cut-off n of P@n", "axis": {"labelAngle": 0}}
    y = {"field": error, "type": "quantitative", "title": _ERRORS[error]}
    encoding = {"x": x, "y": y, "color": theme.colour("method", methods)}
    if selections:
        steps = [list(step) for step in theme.DASHES[: len(selections)]]
        scale = {"domain": selections, "range": steps}
        encoding["strokeDash"] = {"field": "selection", "type": "nominal", "title": None, "scale": scale}
    else:
        encoding["strokeDash"] = theme.dash("method", methods)
    last = [row for row in rows if row["n"] == cutoffs[-1]] if cutoffs else []
    told = ", ".join(f"{row['method']} {row[error]:g}" for row in last[: len(methods)])
    tooltip = [{"field": f} for f in ("method", "n", error, *(["selection"] if selections else []))]
    points = {key: value for key, value in encoding.items() if key != "strokeDash"}
    spec = {
        "description": f"{_ERRORS[error].capitalize()} of {', '.join(methods)} against the cut-off; "
        f"at n = {cutoffs[-1] if cutoffs else '-'}: {told}.",
        "width": 320,
        "height": 240,
        "layer": [
            {"mark": {"type": "line"}, "encoding": encoding},
            {
                "mark": {"type": "point", "tooltip": True},
                "encoding": {**points, "shape": theme.shape("method", methods), "tooltip": tooltip},
            },
        ],
    }
    return side_by_side(rows, spec)


def stability_points(rows: Records, correlations: Records) -> dict[str, Any]:
    """Figure 2: the change of MAE by a method against E rho^2 and Phi of each collection, with Spearman's correlation.

    `rows`: collection, n, coefficient, reliability, change (in percent). `correlations`: n, coefficient, rho, p_value.
    """
    told = "; ".join(f"P@{c['n']} against {c['coefficient']}: {_rho(c)}" for c in correlations)
    cutoffs, names = distinct(rows, "n"), distinct(rows, "collection")
    return {
        "description": f"Change of the mean absolute error in percent against the stability of {len(names)} "
        f"collections. Spearman's correlation, {told}.",
        "data": {"values": rows},
        "facet": {
            "row": {"field": "n", "type": "ordinal", "title": "n", "sort": cutoffs},
            "column": {"field": "coefficient", "type": "nominal", "title": None, "sort": ["E rho^2", "Phi"]},
        },
        "spec": {
            "width": 240,
            "height": 180,
            "layer": [
                {"mark": {"type": "rule", "color": theme.quiet()}, "encoding": {"y": {"datum": 0}}},
                {
                    "mark": {"type": "point", "tooltip": True},
                    "encoding": {
                        "x": {
                            "field": "reliability",
                            "type": "quantitative",
                            "title": "stability",
                            "scale": {"zero": False},
                        },
                        "y": {"field": "change", "type": "quantitative", "title": "MAE change (%)"},
                        "color": theme.colour("collection", names),
                        "shape": theme.shape("collection", names),
                        "tooltip": [{"field": f} for f in ("collection", "n", "reliability", "change")],
                    },
                },
            ],
        },
    }


def _rho(correlation: dict[str, Any]) -> str:
    rho, p = correlation["rho"], correlation["p_value"]
    return "undefined" if rho is None else f"{rho:.2f}" + ("" if p is None else f" (p {p:.2f})")
