"""The drawing of every question, from its study's table; a study without one here shows its own chart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unjudged.reporting.drawings import shapes
from unjudged.reporting.drawings.shapes import Axis, Drawing, Line, Row
from unjudged.reporting.sections import Section
from unjudged.results import Result
from unjudged.studies.compare import by_mean
from unjudged.studies.engine.slicing import TOO_SMALL
from unjudged.text import counted, in_order

BEST = 20
"""Runs of the matrix that shows single pairs."""
TENS = 25
"""From more runs than this on, pairs are shown in tens, too."""

Rows = list[dict[str, Any]]


def drawing_of(section: Section) -> Drawing | None:
    """The drawing of a section; None where there is nothing to draw."""
    rows = _rows(section.result)
    if not rows:
        return None
    own = DRAWN.get(section.key)
    columns = set(section.result.columns)
    if own is not None and own[0] <= columns:
        return own[1](section, rows)
    return _own_chart(section) if section.result.figures else None


def drawn_columns(section: Section) -> set[str]:
    """The columns of its table that the drawing of a section reads."""
    return DRAWN[section.key][0] if section.key in DRAWN else set(section.result.columns)


def _rows(result: Result) -> Rows:
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows()]


def _number(value: float | None, digits: int = 3) -> str:
    return "" if value is None or value != value else f"{value:.{digits}f}"


def _decided(section: Section) -> tuple[str, ...]:
    return section.verdict.decided_by if section.verdict is not None else ()


def _top(rows: Rows, shown: set[str]) -> Rows:
    """The rows that decide where an axis starts: the first of many, all of few."""
    return [row for row in rows if row["run"] in shown][: shapes.TOP]


# -- rows of runs


def contents(section: Section, rows: Rows) -> Drawing:
    """Judged and relevant documents of every topic."""
    smallest = section.result.provenance.settings.get("rel") or 1
    topics: dict[str, tuple[float, float]] = {}
    for row in rows:
        whole, part = topics.get(row["topic"], (0, 0))
        relevant = row["documents"] if row["grade"] >= smallest else 0
        topics[row["topic"]] = whole + row["documents"], part + relevant
    poorest = min(topics, key=lambda topic: topics[topic][1])
    fewest = counted(int(topics[poorest][1]), "relevant document")
    body = shapes.columns_of(list(topics.values()), "documents", f"{len(topics)} topics, most relevant first")
    about = f"One column per topic: judged documents (pale), relevant ones (full; grade {smallest} or more)."
    return Drawing(f"Topic {poorest} has the fewest: {fewest}", about, body)


def winners(section: Section, rows: Rows) -> Drawing:
    """Means with their intervals, the best first."""
    names = [row["run"] for row in rows]
    shown = shapes.chosen(names, _decided(section))
    axis = Axis.over([v for row in _top(rows, shown) for v in (row["low"], row["high"]) if v == v])
    measure = _measure(section)
    could = _ranks(section)
    holed = any(_number(row.get("estimate")) not in ("", _number(row["value"])) for row in rows)
    drawn = []
    for row in rows:
        tied = row["outcome"] in ("best", "same", "cannot tell")
        marks = shapes.bar(axis, row["low"], row["high"]) + shapes.dot(axis, row["value"])
        why = f"cannot tell: {row['why']}" if row["why"] else str(row["outcome"])
        likely = (_number(row["estimate"]),) if holed else ()
        cells = (_number(row["value"]), *likely, why, *((could.get(row["run"], ""),) if could else ()))
        drawn.append(Row(row["run"], marks, cells, "first" if tied else "", row["run"] in shown))
    together = sum(row.kind == "first" for row in drawn)
    finding = f"{rows[0]['run']} stands alone" if together == 1 else f"The {together} blue runs share first place"
    first = "in the order estimated for all documents judged" if holed else "best run first"
    about = f"Mean {measure} with its 95 % interval, {first}. The axis starts at {axis.told(axis.low)}."
    head = (measure, *(("estimated",) if holed else ()), "against the best", *(("rank could be",) if could else ()))
    body = shapes.table_of_rows("winners", head, drawn, axis, f"Runs by {measure}")
    return Drawing(finding, about, body.table, body)


def _ranks(section: Section) -> dict[str, str]:
    """Run -> the ranks it could have, all runs at once."""
    if section.beside is None:
        return {}
    ends = {row["run"]: (row["low_simultaneous"], row["high_simultaneous"]) for row in _rows(section.beside)}
    return {run: f"{low}" if low == high else f"{low} to {high}" for run, (low, high) in ends.items()}


def never_judged(section: Section, rows: Rows) -> Drawing:
    """Share of unjudged documents, by run and range of ranks."""
    ranges = list(dict.fromkeys(row["ranks"] for row in rows))
    names = list(dict.fromkeys(row["run"] for row in rows))
    share = {(row["run"], row["ranks"]): row["share_unjudged"] for row in rows}
    shown = shapes.chosen(names, _decided(section))
    drawn = [
        Row(run, cells=tuple(shapes.heat_cell(share.get((run, at))) for at in ranges), shown=run in shown)
        for run in names
    ]
    dark = [run for run in names if run in set(_decided(section))]
    finding = (
        f"{counted(len(dark), 'run')} may score too low: {dark[0]} first of all"
        if dark
        else "No run has many unjudged documents at the top"
    )
    about = "Unjudged documents in percent, by rank (columns); best run first. A row ends where the run's lists do."
    body = shapes.heat_rows(ranges, drawn, "Unjudged documents by run and rank")
    return Drawing(finding, about, body.table, body)


def score_range(section: Section, rows: Rows) -> Drawing:
    """The lowest and highest score that missing judgments allow, and what is likely."""
    names = [row["run"] for row in rows]
    first = set(_decided(section))
    widest = max(rows, key=lambda row: row["width"])
    shown = shapes.chosen(names, (widest["run"], *_decided(section)))
    axis = Axis.over([v for row in _top(rows, shown) for v in (row["low"], row["high"])])
    measure = _measure(section)
    drawn = [
        Row(
            row["run"],
            shapes.bar(axis, row["low"], row["high"], "range", 7)
            + ("" if row["estimate_low"] is None else shapes.bar(axis, row["estimate_low"], row["estimate_high"], "ci"))
            + shapes.dot(axis, row["value"]),
            (_number(row["value"]), _number(row["low"]), _number(row["high"])),
            "first" if row["run"] in first else "",
            row["run"] in shown,
        )
        for row in rows
    ]
    finding = f"{widest['run']} can move most: from {_number(widest['low'])} to {_number(widest['high'])}"
    about = (
        f"{measure} as it is (dot), the lowest and highest that unjudged documents allow (bar), and what is likely "
        f"with all documents judged (dark). Blue: could be first. The axis starts at {axis.told(axis.low)}."
    )
    head = (measure, "lowest", "highest")
    body = shapes.table_of_rows("score-range", head, drawn, axis, f"How far {measure} could move")
    return Drawing(finding, about, body.table, body)


def fair(section: Section, rows: Rows) -> Drawing | None:
    """The best run of every team, with its rank in the pool and without its team; None where no run scores anything."""
    measure = rows[0]["measure"]
    best: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["measure"] == measure and row["repeat"] == 1 and row["change_pct"] == row["change_pct"]:
            kept = best.get(row["left_out"])
            if kept is None or row["rank_full"] < kept["rank_full"]:
                best[row["left_out"]] = row
    if not best:
        return None
    order = sorted(best, key=lambda team: (best[team]["change_pct"], best[team]["rank_full"], team))
    shown = shapes.chosen(order, _decided(section))
    places = [float(v) for row in best.values() for v in (row["rank_full"], row["rank_reduced"])]
    axis = Axis.over([1.0, *places], whole=True)
    axis = Axis(1.0, max(places), (1.0, *(tick for tick in axis.ticks if 1 < tick < max(places)), max(places)), 0)
    drawn = []
    for team in order:
        row = best[team]
        before, after = row["rank_full"], row["rank_reduced"]
        marks = shapes.bar(axis, min(before, after), max(before, after), "way", 2)
        marks += shapes.dot(axis, before) + (shapes.dot(axis, after, "open") if after != before else "")
        cells = (f"{before} → {after}" if after != before else f"{before}", _lost(-row["change_pct"]))
        drawn.append(Row(row["run"], marks, cells, "loses" if after > before else "", team in shown))
    named = next((team for team in _decided(section) if team in best), order[0])
    worst = best[named]
    finding = "No run loses when its team is left out of the pool"
    if worst["change_pct"] < 0:
        fallen = worst["rank_reduced"] - worst["rank_full"]
        what = f"falls {counted(fallen, 'place')}" if fallen > 0 else "keeps its rank"
        finding = f"Leave {named} out of the pool and its best run {what}, losing {-worst['change_pct']:.1f}\u00a0%"
    about = f"Best run of each team by {measure}: rank in the pool (full), rank with its team left out (open)."
    body = shapes.table_of_rows("fair-to-outsiders", ("rank", "loss"), drawn, axis, "Ranks with a team left out")
    return Drawing(finding, about, body.table, body)


def _lost(share: float) -> str:
    return f"{share if share >= 0.05 else 0.0:.1f}\u00a0%"


def corrected(section: Section, rows: Rows) -> Drawing:
    """Scores before and after correction."""
    measure = rows[0]["measure"]
    here = sorted((r for r in rows if r["measure"] == measure), key=lambda r: (-r["score"], r["run"]))
    names = [row["run"] for row in here]
    shown = shapes.chosen(names, _decided(section))
    values = [
        r[c] for r in here for c in ("score", "corrected", "in_the_pool") if r[c] is not None and r["run"] in shown
    ]
    axis = Axis.over([v for v in values if v == v])
    drawn = []
    for row in here:
        before, after, pool = row["score"], row["corrected"], row["in_the_pool"]
        marks = shapes.dot(axis, before, "open")
        if after is not None and after == after:
            marks = shapes.bar(axis, min(before, after), max(before, after), "way", 2) + marks + shapes.dot(axis, after)
        marks += shapes.dot(axis, pool, "cross") if pool is not None and pool == pool else ""
        drawn.append(Row(row["run"], marks, (_number(before), _number(after)), "", row["run"] in shown))
    gains = {row["run"]: row["adjustment"] for row in here if row["adjustment"] == row["adjustment"]}
    most = max(gains, key=lambda run: gains[run]) if gains else ""
    finding = f"{most} gains most: {gains[most]:.3f}" if most and gains[most] > 0 else "No score changes"
    about = f"{measure} as it is (open) and corrected (full); a cross is the score in the pool. The axis starts at "
    body = shapes.table_of_rows("after-correction", ("score", "corrected"), drawn, axis, f"Corrected {measure}")
    return Drawing(finding, f"{about}{axis.told(axis.low)}.", body.table, body)


def which_measure(section: Section, rows: Rows) -> Drawing:
    """Pairs told apart by every measure, the difference it takes, and how alike the orders are."""
    known = sorted(rows, key=lambda row: -(row["power"] if row["power"] == row["power"] else -1))
    axis = Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0), 2)
    alike = _alike(section)
    drawn = [
        Row(
            row["measure"],
            shapes.bar(axis, 0.0, row["power"] if row["power"] == row["power"] else 0.0, "range", 9),
            (
                f"{row['significant']:,} of {row['pairs']:,}",
                _number(row["required_difference"]),
                *((alike.get(row["measure"], ""),) if alike else ()),
            ),
            "first" if place == 0 else "",
        )
        for place, row in enumerate(known)
    ]
    head = ("pairs told apart", "difference it takes", *((f"order as {rows[0]['measure']}",) if alike else ()))
    finding = f"{known[0]['measure']} tells most pairs of runs apart"
    about = "Share of all pairs of runs that differ significantly; a measure that tells more apart needs fewer topics."
    body = shapes.table_of_rows("which-measure", head, drawn, axis, "Measures", "measure")
    return Drawing(finding, about, body.table)


def every_slice(section: Section, rows: Rows) -> Drawing:
    """Of every slice: how many pairs of runs are decided, and which run has the best mean."""
    axis = Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0), 2)
    best: dict[str, tuple[float, str]] = {}
    for row in _rows(section.beside) if section.beside is not None else []:
        best[row["slice"]] = max(best.get(row["slice"], (-1.0, "")), (row["value"], row["run"]))
    drawn = []
    for label in dict.fromkeys(row["slice"] for row in rows):
        here = [row for row in rows if row["slice"] == label]
        small = any(row["why"] == TOO_SMALL for row in here)
        decided = sum(row["outcome"] in ("better", "worse") for row in here)
        told = TOO_SMALL if small else f"{decided:,} of {len(here):,}"
        cells = (str(here[0]["topics"]), told, shapes.escaped(best.get(label, (0.0, ""))[1]))
        drawn.append(Row(label, shapes.bar(axis, 0.0, 0.0 if small else decided / len(here), "range", 9), cells))
    winners = {run for _, run in best.values()}
    finding = (
        f"{next(iter(winners))} has the best mean in every slice"
        if len(winners) == 1
        else "The run with the best mean is not the same in every slice"
    )
    about = f"Share of the pairs of runs that are decided by {_measure(section)} within each slice of the topics."
    body = shapes.table_of_rows("slices", ("topics", "pairs decided", "best mean"), drawn, axis, "Slices", "slice")
    return Drawing(finding, about, body.table)


def _alike(section: Section) -> dict[str, str]:
    """Measure -> pairs of runs in the same order as by the first measure asked."""
    if section.beside is None:
        return {}
    first = section.result.provenance.settings["measures"][0]
    found = {str(first): "itself"}
    for row in _rows(section.beside):
        pair = {row["measure_a"], row["measure_b"]}
        if first in pair and row["tau"] == row["tau"]:
            (other,) = pair - {first} or {first}
            found[other] = in_order(row["tau"])
    return found


# -- curves


def fewer(section: Section, rows: Rows) -> Drawing:
    """What a budget buys: pairs in the same order against the cost in judgments."""
    settings = section.result.provenance.settings
    measures = list(dict.fromkeys(row["measure"] for row in rows))
    main = measures[0]
    deep = settings.get("study") == "depth"
    whole = int(settings["judgments"])
    lines, levels = [], sorted({row["level"] for row in rows}, reverse=True)
    cost = {level: next(r["judgments"] for r in rows if r["level"] == level) for level in levels}
    at: dict[tuple[float, str], float] = {}
    for row in rows:
        if row["tau"] == row["tau"]:
            at.setdefault((row["level"], row["measure"]), row["tau"])
    for measure in measures:
        points = [(float(whole), 100.0)]
        points += [(float(cost[level]), 50 * (1 + at[level, measure])) for level in levels if (level, measure) in at]
        told = {float(cost[level]): f"depth {level:g}" if deep else "" for level in levels}
        lines.append(Line(measure, sorted(points), told if deep else {}))
    kept = [level for level in levels if at.get((level, main), 0.0) >= 0.9]
    finding = f"No shallower pool tried keeps 95 of 100 pairs in order by {main}"
    if kept:
        what = f"A pool of depth {kept[-1]:g}" if deep else f"{kept[-1]:g}\u00a0% of the judgments"
        pairs = in_order(at[kept[-1], main])
        finding = f"{what} costs {cost[kept[-1]]:,} judgments instead of {whole:,} and keeps {pairs} in order"
    curve = shapes.curves(
        lines, "judgments", "of 100 pairs, so many in the same order", limit=(95.0, "solid: 95 of 100"), whole=True
    )
    table = [
        Row(
            f"depth {level:g}" if deep else f"{level:g} %",
            cells=(f"{cost[level]:,}", *(in_order(at[level, m]) if (level, m) in at else "" for m in measures)),
        )
        for level in levels
    ]
    buys = shapes.table_of_rows("", ("judgments", *measures), table, None, "What a budget buys", "pool")
    about = "Pairs of runs that keep their order when judgments are taken away; the table says what each budget buys."
    return Drawing(finding, about, curve + buys.table)


def enough_topics(section: Section, rows: Rows) -> Drawing | None:
    """Pairs that keep their order on other topics, against the number of topics."""
    points = section.plot().spec["data"]["values"]
    if not points or "collection" in points[0]:
        return _own_chart(section)
    by_measure: dict[str, list[tuple[float, float]]] = {}
    for row in points:
        by_measure.setdefault(row["measure"], []).append((float(row["topics"]), 50 * (1 + row["tau"])))
    here = float(points[0]["here"])
    lines = [Line(measure, values) for measure, values in by_measure.items()]
    now = dict(by_measure[lines[0].name])[here]
    words = f"{here:g} topics: {now:.0f}"
    curve = shapes.curves(
        [Line(line.name, [p for p in line.points if p[0] == here] and line.points) for line in lines],
        "topics",
        "of 100 pairs, so many in the same order",
        limit=(95.0, "solid: 95 of 100"),
        here=(here, words),
        whole=True,
    )
    finding = f"By {lines[0].name}, {now:.0f} of 100 pairs would stay in order on other topics"
    return Drawing(finding, "Expected from halves of the topics; the dashed line is the number of topics here.", curve)


def judging_errors(section: Section, rows: Rows) -> Drawing:
    """The order of the runs when a judge errs at random."""
    by_measure: dict[str, dict[float, list[float]]] = {}
    for row in rows:
        if row["kind"] == "random errors" and row["tau"] == row["tau"]:
            by_measure.setdefault(row["measure"], {}).setdefault(100 * row["rate"], []).append(50 * (1 + row["tau"]))
    lines = [
        Line(measure, [(rate, sum(values) / len(values)) for rate, values in sorted(found.items())])
        for measure, found in by_measure.items()
    ]
    curve = shapes.curves(
        lines, "relevant documents overlooked, %", "of 100 pairs, so many in the same order", whole=True
    )
    finding = "Random errors hardly change the order; errors that favour one kind of run do"
    return Drawing(finding, "What random errors of a judge would do here. Only a second judge shows the others.", curve)


# -- pairs


def safe(section: Section, rows: Rows) -> Drawing:
    """Pairs of runs, both ordered by score."""
    measure = rows[0]["measure"]
    here = [row for row in rows if row["measure"] == measure]
    order = by_mean(here)
    place = {run: i for i, run in enumerate(order)}
    kind: dict[tuple[int, int], str] = {}
    for row in here:
        a, b = sorted((place[row["run_a"]], place[row["run_b"]]))
        decided = row["outcome"] != "cannot tell"
        kind[a, b] = "safe" if decided else "holed" if row["why"] == "holes" else "open"
    best = order[:BEST]
    signs = {"safe": "", "holed": "?", "open": ""}
    cells = [(a, b, word, signs[word]) for (a, b), word in kind.items() if a < BEST and b < BEST]
    many = sum(word == "safe" for _, _, word, _ in cells)
    few = shapes.matrix(best, cells, 13 if len(best) > 12 else 22, 96)
    legend = (
        '<p class="legend"><span class="key safe"></span> safe <span class="key open"></span> more topics needed '
        '<span class="key holed"></span> more judgments needed</p>'
    )
    said = f"Among the best {len(best)}, {many} of {len(cells)} pairs {'is' if many == 1 else 'are'} safe"
    if len(order) <= TENS:
        return Drawing(said, f"Row run against column run, both ordered by {measure}.", shapes.markup(legend + few))
    tens = _in_tens(kind, len(order))
    body = (
        f'<div class="pair"><div><p class="sub">All {len(order)} runs in tens: safe pairs in percent</p>{tens}</div>'
        f'<div><p class="sub">{said}</p>{few}{legend}</div></div>'
    )
    about = f"Both matrices are ordered by {measure}; rows against columns, best first."
    return Drawing("Runs far apart are safe, neighbours are not", about, shapes.markup(body))


def _in_tens(kind: dict[tuple[int, int], str], many: int) -> str:
    """Safe pairs of every ten runs against every other ten, in percent."""
    size = 10 if many <= 150 else 10 * -(-many // 150)
    groups: dict[tuple[int, int], list[bool]] = {}
    for (a, b), word in kind.items():
        groups.setdefault((a // size, b // size), []).append(word == "safe")
    names = [f"{i + 1}-{min(i + size, many)}" for i in range(0, many, size)]
    cells = []
    for (a, b), safe in groups.items():
        share = sum(safe) / len(safe)
        step = 1 if share < 0.25 else 2 if share < 0.5 else 3 if share < 0.75 else 4
        cells.append((a, b, f"b{step}", "all" if share == 1 else f"{100 * share:.0f}"))
    return shapes.matrix(names, cells, max(18, min(24, 290 // len(names))), 62, size)


# -- what a study draws itself


def _own_chart(section: Section) -> Drawing:
    """The study's own chart, for a wide window and for a phone."""
    figure = section.plot()
    wide, narrow = figure.svg_for_page(720), figure.svg_for_page(350)
    both = f'<div class="wide">{wide}</div><div class="narrow" aria-hidden="true">{narrow}</div>'
    return Drawing(section.question, figure.description, shapes.markup(both))


def _measure(section: Section) -> str:
    return str(section.result.provenance.settings["measures"][0])


DRAWN: dict[str, tuple[set[str], Callable[[Section, Rows], Drawing | None]]] = {
    "contents": ({"topic", "grade", "documents"}, contents),
    "winners": ({"run", "value", "low", "high", "outcome", "why"}, winners),
    "never-judged": ({"run", "ranks", "share_unjudged"}, never_judged),
    "score-range": ({"run", "value", "low", "high", "width"}, score_range),
    "fair-to-outsiders": ({"left_out", "run", "measure", "change_pct", "rank_full", "rank_reduced", "repeat"}, fair),
    "fewer-judgments": ({"level", "measure", "tau", "judgments"}, fewer),
    "enough-topics": ({"measure", "expected_tau"}, enough_topics),
    "which-measure": ({"measure", "pairs", "significant", "power", "required_difference"}, which_measure),
    "another-judge": ({"kind", "rate", "measure", "tau"}, judging_errors),
    "after-correction": ({"run", "measure", "score", "corrected", "adjustment", "in_the_pool"}, corrected),
    "slices": ({"slice", "topics", "run_a", "run_b", "outcome", "why"}, every_slice),
    "safe-comparisons": ({"run_a", "run_b", "measure", "difference", "outcome", "why"}, safe),
}
"""Question -> the columns its drawing reads, and the drawing."""
