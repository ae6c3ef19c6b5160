"""What changes after correction? P@10 of runs outside the pool corrected, or correction tried on left-out teams."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unjudged.collection import Floats
from unjudged.correction import correct
from unjudged.correction.experiment import experiment
from unjudged.correction.protocols import protocol_of
from unjudged.errors import UsageError
from unjudged.reporting import charts
from unjudged.reporting.section import Progress, Section, counted, listed, percent, share, silent
from unjudged.reporting.subject import OUTSIDER, Subject
from unjudged.results import Row, Verdict
from unjudged.scoring import score

KEY, QUESTION = "after-correction", "What changes after correction?"
CUTOFF = 10
HOW = (
    "A run that was not pooled has unjudged documents at the top, which count as nonrelevant. Correction (Lipani, "
    "Lupu, Hanbury 2015) estimates what they cost from what the run's order does to pooled runs. The open circle "
    "is the score as it is, the filled one the corrected score. Where every run was pooled, each team is left out "
    "in turn and corrected as if it were new; the cross is then the score it had in the pool. A corrected score "
    "is an estimate with an error of its own: it repairs an average, not a single topic."
)
COLUMNS = ("run", "team", "score", "corrected", "in_the_pool", "adjustment", "rank", "rank_corrected")


def section(subject: Subject, progress: Progress = silent) -> Section:
    """Correct what can be corrected."""
    limit = subject.thresholds[KEY]
    try:
        new = _unpooled(subject)
        rows, points, value, sentence = _corrected(subject, new) if new else _tried(subject)
        word, sentence = subject.weighed(limit.word(value), sentence)
    except UsageError as problem:
        rows, points, value, word = _nothing(subject), [], float("nan"), "unknown"
        sentence = f"Nothing can be corrected: {str(problem).rstrip('.')}."
    order = [str(row[0]) for row in rows]
    description = f"{OUTSIDER} of {counted(len(rows), 'run')} before and after correction"
    y = charts.names("run", order)
    tooltip = charts.tips(
        "run", "team", ("score", ".4f"), ("corrected", ".4f"), ("in_the_pool", ".4f"), "rank", "rank_corrected"
    )

    def layer(mark: charts.Spec, x: str, x2: str | None = None) -> charts.Spec:
        encoding: charts.Spec = {
            "x": charts.field(x, title=OUTSIDER, scale={"zero": False}),
            "y": y,
            "tooltip": tooltip,
        }
        return {"mark": mark, "encoding": encoding | ({"x2": {"field": x2}} if x2 else {})}

    chart = charts.chart(
        description,
        charts.rows_high(len(rows)),
        layer=[
            layer({"type": "rule", "strokeWidth": 2, "color": charts.GREY}, "score", "corrected"),
            layer({"type": "point", "filled": False, "color": charts.BLUE, "size": 50}, "score"),
            layer({"type": "point", "filled": True, "color": charts.VERMILION, "opacity": 1, "size": 40}, "corrected"),
            *(
                [layer({"type": "point", "shape": "cross", "color": charts.GREEN, "size": 40}, "in_the_pool")]
                if any(row[4] is not None for row in rows)
                else []
            ),
        ],
    )
    return Section(
        KEY,
        QUESTION,
        Verdict(word, sentence, value, limit.sentence),
        subject.result(COLUMNS, rows, {"measure": OUTSIDER, "method": "lipani"}),
        HOW,
        chart,
        description,
        points,
        {"turned pairs": value},
    )


def _unpooled(subject: Subject) -> list[str]:
    if subject.pool is None:
        raise UsageError("no pool can be recognised in these judgments")
    return [run for run in subject.runs if run not in set(subject.pool.runs)]


def _corrected(subject: Subject, new: list[str]) -> tuple[list[Row], list[str], float, str]:
    """Runs outside the pool among all runs, before and after."""
    assert subject.pool is not None
    pool = subject.pool
    found = correct(
        subject.collection,
        new,
        OUTSIDER,
        depth=pool.depth,
        pooled=[run for run in pool.runs if run in set(subject.runs)],
        rel=subject.settings.rel,
        validate=False,
    )
    row_of = {row[found.columns.index("run")]: row for row in found.rows()}
    scored, corrected = ([row_of[run][found.columns.index(name)] for run in new] for name in ("score", "corrected"))
    raw = score(subject.collection, [OUTSIDER], rel=subject.settings.rel).mean_values()[:, 0]
    places = np.array([subject.runs.index(run) for run in new])
    raw[places] = scored
    after = raw.copy()
    after[places] = corrected
    rank, new_rank = _ranks(raw), _ranks(after)
    rows: list[Row] = [
        (subject.runs[r], subject.teams[r], raw[r], after[r], None, after[r] - raw[r], rank[r], new_rank[r])
        for r in sorted(places.tolist(), key=lambda r: (-after[r], subject.runs[r]))
    ]
    before_signs, after_signs = (np.sign(np.round(v[places][:, None] - v[None, :], 12)) for v in (raw, after))
    turned = before_signs * after_signs < 0
    inner = int(turned[:, places].sum()) // 2
    pairs = len(places) * len(raw) - len(places) * (len(places) + 1) // 2
    number = int(turned.sum()) - inner
    value = share(number, pairs)
    lifted = [row for row in rows if row[5] > 1e-12]
    sentence = (
        f"Correction lifts {counted(len(lifted), 'run')} of {len(rows)} outside the pool and turns {number:,} of "
        f"{pairs:,} pairs ({percent(value)}) by {OUTSIDER}."
    )
    points = []
    if lifted:
        most = max(lifted, key=lambda row: row[5])
        points.append(f"Most: {most[0]}, from {most[2]:.4f} (rank {most[6]}) to {most[3]:.4f} (rank {most[7]}).")
    top = [row[0] for row in rows if row[7] <= 5 < row[6]]
    if top:
        points.append(f"Into the best five by correction: {listed(top)}.")
    return rows, points, value, sentence


def _tried(subject: Subject) -> tuple[list[Row], list[str], float, str]:
    """Every pooled team left out and corrected as if it were new."""
    assert subject.pool is not None
    c, pool, protocol = subject.collection, subject.pool, protocol_of("strict")
    team_of = dict(zip(subject.runs, subject.teams, strict=True))
    pool = replace(pool, runs=tuple(run for run in pool.runs if run in team_of))
    groups, left = {run: team_of[run] for run in pool.runs}, "team" if c.teams else "run"
    if len(set(groups.values())) < 2:
        raise UsageError("the pooled runs belong to fewer than two teams")
    trial = experiment(c, pool, groups, [CUTOFF], protocol, methods=("lipani",), rel=subject.settings.rel or 1)[0]
    estimate = trial.estimate("lipani")
    error, corrected = float(np.abs(trial.true - trial.reduced).mean()), float(np.abs(trial.true - estimate).mean())
    rank = 1 + (trial.true[None, :] > trial.reduced[:, None] + 1e-12).sum(axis=1)
    new_rank = 1 + (trial.true[None, :] > estimate[:, None] + 1e-12).sum(axis=1)
    rows: list[Row] = [
        (
            run,
            team_of[run],
            trial.reduced[i],
            estimate[i],
            trial.true[i],
            estimate[i] - trial.reduced[i],
            rank[i],
            new_rank[i],
        )
        for i, run in enumerate(trial.runs)
    ]
    rows.sort(key=lambda row: (-row[4], row[0]))
    sentence = (
        f"Every run was pooled, so no score changes. Tried on each {left} left out in turn, correction moves the mean "
        f"error of {OUTSIDER} from {error:.4f} to {corrected:.4f}."
    )
    return rows, [], 0.0, sentence


def _nothing(subject: Subject) -> list[Row]:
    raw = score(subject.collection, [OUTSIDER], rel=subject.settings.rel).mean_values()[:, 0]
    rank = _ranks(raw)
    return [
        (subject.runs[r], subject.teams[r], raw[r], raw[r], None, 0.0, rank[r], rank[r])
        for r in sorted(range(len(raw)), key=lambda r: (-raw[r], subject.runs[r]))
    ]


def _ranks(values: Floats) -> Floats:
    ranks: Floats = 1 + (values[None, :] > values[:, None] + 1e-12).sum(axis=1)
    return ranks
