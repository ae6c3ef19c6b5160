"""True against observed: what the pool's judgments say about the runs, beside what is so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unjudged.simulation import files
from unjudged.simulation.model import Topic
from unjudged.simulation.presets import Sizes
from unjudged.simulation.runs import Runs
from unjudged.statistics.correlation import tau_b

MEASURES = ("AP", "AP'", "P@10", "nDCG@10")
"""Measures of the summary; binary ones take the collection's `rel`. The true value of AP' is that of AP."""

Floats = NDArray[np.float64]


def summarise(p: Sizes, runs: Runs, topics: Sequence[Topic]) -> dict[str, Any]:
    """Score the runs with the judgments of the pool and with the truth, and compare.

    `R`: relevant documents per topic. `scores`: mean of each measure for groups of runs. `tau`: does the
    observed order of runs agree with the true one. `gap_pct`: how much worse teams without pooled runs are
    treated than the others, (observed / true) of the outsiders over (observed / true) of the others, less 1.
    `best`: the rank the truly best run (and the best run of an outside team) seems to have.
    """
    lists = [_as_read(topic, "ties" in p.quirk) for topic in topics]
    relevant = [np.flatnonzero(topic.grade > 0) for topic in topics]  # the rest changes none of these measures
    observed = _means(topics, lists, [(t.judged, t.judgment) for t in topics], p.rel, MEASURES)
    known = [(docs, topic.grade[docs]) for docs, topic in zip(relevant, topics, strict=True)]
    true = _means(topics, lists, known, p.rel, ("AP", "P@10", "nDCG@10"))
    true["AP'"] = true["AP"]

    has_pooled = np.bincount(runs.team, runs.pooled, len(runs.team_names)) > 0
    outside = ~has_pooled[runs.team]
    groups = {"all": np.ones(len(runs.names), dtype=bool), "pooled": runs.pooled, "unpooled": ~runs.pooled}
    if outside.any():
        groups["of outside teams"] = outside
    true_r = float(np.mean([np.count_nonzero(topic.grade >= p.rel) for topic in topics]))
    judged_r = float(np.mean([np.count_nonzero(topic.judgment >= p.rel) for topic in topics]))
    return {
        "rel": p.rel,
        "R": {"true": _round(true_r), "observed": _round(judged_r), "share": _ratio(judged_r, true_r)},
        "scores": [
            {
                "measure": measure,
                "runs": group,
                "count": int(np.count_nonzero(chosen)),
                "true": _round(float(true[measure][chosen].mean())),
                "observed": _round(float(observed[measure][chosen].mean())),
                "change_pct": _percent(_ratio_of(observed[measure], true[measure], chosen)),
            }
            for measure in MEASURES
            for group, chosen in groups.items()
            if chosen.any()
        ],
        "tau": {measure: _round(tau_b(observed[measure], true[measure])) for measure in MEASURES},
        "gap_pct": {measure: _gap(observed[measure], true[measure], outside) for measure in MEASURES},
        "best": [
            entry
            for measure in MEASURES
            for group, chosen in groups.items()
            if group in ("all", "of outside teams")
            for entry in [_best(measure, group, observed[measure], true[measure], chosen, runs.names)]
        ],
    }


def as_text(summary: Mapping[str, Any]) -> str:
    """The summary as a few lines for people."""
    r = summary["R"]
    share = "" if r["share"] is None else f" ({100 * r['share']:.0f} % of them judged)"
    lines = [
        f"relevant documents per topic (grade {summary['rel']} and up): true {r['true']:.1f}, "
        f"observed {r['observed']:.1f}{share}",
        "",
        f"{'measure':<10}{'runs':<18}{'number':>7}{'true':>9}{'observed':>10}{'change':>10}",
    ]
    for row in summary["scores"]:
        change = "" if row["change_pct"] is None else f"{row['change_pct']:+.1f} %"
        lines.append(
            f"{row['measure']:<10}{row['runs']:<18}{row['count']:>7}{row['true']:>9.4f}"
            f"{row['observed']:>10.4f}{change:>10}"
        )
    taus = ", ".join(f"{m} {_plain(v, '.2f')}" for m, v in summary["tau"].items())
    lines += ["", f"order of runs, tau(observed, true): {taus}"]
    if any(v is not None for v in summary["gap_pct"].values()):
        gaps = ", ".join(f"{m} {_plain(v, '+.1f')} %" for m, v in summary["gap_pct"].items())
        lines.append(f"gap of teams without pooled runs: {gaps}")
    for row in summary["best"]:
        whose = "truly best run" if row["runs"] == "all" else "best run of outside teams"
        if row["measure"] != "AP'":
            lines.append(
                f"{whose} by {row['measure']}: {row['run']}, true rank {row['true_rank']}, "
                f"observed rank {row['observed_rank']}"
            )
    return "\n".join(lines)


def _as_read(topic: Topic, tied: bool) -> NDArray[np.int32]:
    """The lists as a reader orders them: equal scores by document id, descending."""
    if not tied:
        return topic.lists
    beyond = np.arange(topic.lists.shape[1]) >= topic.lengths[:, None]
    order = np.lexsort((-topic.document[topic.lists], -topic.scores, beyond), axis=1)
    return np.take_along_axis(topic.lists, order, axis=1)


def _means(
    topics: Sequence[Topic],
    lists: Sequence[NDArray[np.int32]],
    known: Sequence[tuple[NDArray[np.int64], NDArray[np.int8]]],
    rel: int,
    measures: Sequence[str],
) -> dict[str, Floats]:
    """Mean over judged topics of each measure, one value per run.

    The library's own measures on hits taken from the lists at hand: the files need not be read again.
    """
    from unjudged.collection import Hits, Judgments
    from unjudged.io.dicts import qrels_from_dict
    from unjudged.measures import measures as spelled

    judged = [t for t, (docs, _) in enumerate(known) if len(docs)]
    qrels = {
        files.topic_name(t): dict(zip(map(str, known[t][0].tolist()), known[t][1].tolist(), strict=True))
        for t in judged
    }
    judgments = Judgments.of(qrels_from_dict(qrels))
    runs = lists[0].shape[0]
    count = np.zeros((runs, len(judged)), dtype=np.int64)
    row: list[list[NDArray[np.int32]]] = [[] for _ in range(runs)]
    rank: list[list[NDArray[np.int32]]] = [[] for _ in range(runs)]
    for column, t in enumerate(judged):
        docs, start = known[t][0], int(judgments.starts[column])
        row_of = np.full(len(topics[t].document), -1, dtype=np.int32)
        row_of[docs] = np.arange(start, start + len(docs))
        for r in range(runs):
            found = row_of[lists[t][r, : topics[t].lengths[r]]]
            at = np.flatnonzero(found >= 0)
            row[r].append(found[at])
            rank[r].append((at + 1).astype(np.int32))
            count[r, column] = len(at)
    length = np.array([topics[t].lengths for t in judged], dtype=np.int32).T.ravel()
    hits = Hits(
        judgments,
        np.concatenate(([0], np.cumsum(count.ravel()))),
        np.concatenate([part for parts in row for part in parts]),
        np.concatenate([part for parts in rank for part in parts]),
        length,
        length > 0,
    )
    out = {}
    for name in measures:
        (measure,) = spelled(_spelled(name, rel))
        out[name] = np.nan_to_num(measure.cells(hits)).reshape(runs, len(judged)).mean(axis=1)
    return out


def _spelled(measure: str, rel: int) -> str:
    """AP at rel 2 -> AP(rel=2); graded measures stay as they are."""
    if rel == 1 or measure.startswith("nDCG"):
        return measure
    name, at, cutoff = measure.partition("@")
    return f"{name}(rel={rel}){at}{cutoff}"


def _ratio(part: float, whole: float) -> float | None:
    return _round(part / whole) if whole > 0 else None


def _ratio_of(observed: Floats, true: Floats, chosen: NDArray[np.bool_]) -> float | None:
    """Observed over true mean of some runs."""
    if not chosen.any() or true[chosen].mean() <= 0:
        return None
    return float(observed[chosen].mean() / true[chosen].mean())


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else _round(100 * (ratio - 1))


def _gap(observed: Floats, true: Floats, outside: NDArray[np.bool_]) -> float | None:
    """By how many percent outsiders are treated worse (below 0) than the others; nothing without both."""
    out, inside = _ratio_of(observed, true, outside), _ratio_of(observed, true, ~outside)
    return None if out is None or not inside else _percent(out / inside)


def _best(
    measure: str, group: str, observed: Floats, true: Floats, chosen: NDArray[np.bool_], names: Sequence[str]
) -> dict[str, Any]:
    """True and observed rank among all runs of the truly best run of a group (1 + number of better runs)."""
    best = int(np.argmax(np.where(chosen, true, -np.inf)))
    return {
        "measure": measure,
        "runs": group,
        "run": names[best],
        "true_rank": int(np.count_nonzero(true > true[best] + 1e-12)) + 1,
        "observed_rank": int(np.count_nonzero(observed > observed[best] + 1e-12)) + 1,
    }


def _round(value: float) -> float | None:
    """Six decimals; nothing where undefined."""
    return None if math.isnan(value) else round(float(value), 6)


def _plain(value: float | None, form: str) -> str:
    return "undefined" if value is None else format(value, form)
