"""Is the pool fair to outsiders? Every team is left out of the pool in turn; runs outside it are looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unjudged.collection import Collection, Floats
from unjudged.errors import UsageError
from unjudged.measures import measures
from unjudged.reporting import charts
from unjudged.reporting.section import Progress, Section, counted, percent, share, silent
from unjudged.reporting.subject import OUTSIDER, Subject
from unjudged.results import Row, Verdict
from unjudged.scoring import score

KEY, QUESTION = "fair-to-outsiders", "Is the pool fair to outsiders?"
TOP = 10
HOW = (
    "Each line is a run: on the left its rank when its team helped to make the pool, on the right its rank when "
    "the documents only its team found are treated as unjudged (Zobel 1998). Falling lines are losses a newcomer "
    f"would have. The percentages are changes of {OUTSIDER}. Leaving out one team is a mild test, for similar "
    "teams stay in the pool: a new kind of run will lose more than this."
)


@dataclass(frozen=True)
class Outside:
    """What being outside costs: mean relative loss of a left-out team, estimated loss of the runs that are outside."""

    rows: list[Row]
    loss: float
    worst: tuple[str, float]
    falls: float
    chance: float
    outside: float
    unjudged: float
    primed: float
    measure: str

    @property
    def value(self) -> float:
        """The larger of both losses."""
        known = [v for v in (self.loss, self.outside) if np.isfinite(v)]
        return max(known) if known else float("nan")


def outside(subject: Subject, progress: Progress = silent) -> Outside:
    """Leave every pooled team out in turn; the losses in P@10, the main measure and its condensed form."""
    c, rel = subject.collection, subject.settings.rel
    (main,) = measures(subject.settings.measures[0])
    wanted = [OUTSIDER, str(main)]
    if not main.condensed and not main.definition.condensed:
        wanted.append(str(main(judged_only=True)))
    plain = [str(m) for m in measures(wanted, rel)]
    scores = {m: i for i, m in enumerate(dict.fromkeys(plain))}
    full = _means(subject, list(scores))
    rank = 1 + (full[None, :, :] > full[:, None, :] + 1e-12).sum(axis=1)
    rows: list[Row] = []
    losses: dict[str, float] = {}
    falls: list[float] = []
    primes: list[float] = []
    lost = found = 0
    teams = subject.pooled_teams if len(subject.pooled_teams) > 1 else {}
    hits = c.hits.judged().top(TOP)
    run_of = hits.run
    for place, (team, runs) in enumerate(teams.items()):
        progress(place / len(teams))
        here = [subject.runs.index(run) for run in runs if run in subject.runs]
        if not here:
            continue
        try:
            left = subject.without(runs)
        except UsageError:  # nothing would be left
            continue
        after = _means(subject, list(scores), left)
        new_rank = 1 + (after[None, :, :] > after[here][:, None, :] + 1e-12).sum(axis=1)
        gone = np.ones(len(c.judgments), bool)
        gone[np.searchsorted(c.rows, left.rows)] = False
        theirs = np.isin(run_of, here) & gone[hits.row]
        lost += int(theirs.sum())
        found += int((hits.grade[theirs] >= (rel or 1)).sum())
        losses[team] = 1 - share(after[here, 0].mean(), full[here, 0].mean()) if full[here, 0].mean() > 0 else 0.0
        falls += (new_rank[:, 0] - rank[here, 0]).tolist()
        if len(scores) > 2:
            primes += [share(after[r, 2], full[r, 2]) - 1 for r in here]
        for name, m in scores.items():
            rows += [
                (
                    team,
                    subject.runs[r],
                    name,
                    full[r, m],
                    after[r, m],
                    _change(full[r, m], after[r, m]),
                    rank[r, m],
                    new_rank[i, m],
                )
                for i, r in enumerate(here)
            ]
    chance = share(found, lost)
    unjudged, estimate = _outsiders(subject, full[:, 0], chance) if losses else (float("nan"), float("nan"))
    worst = max(losses.items(), key=lambda item: item[1]) if losses else ("", float("nan"))
    return Outside(
        rows,
        float(np.mean(list(losses.values()))) if losses else float("nan"),
        worst,
        float(np.mean(falls)) if falls else 0.0,
        chance,
        estimate,
        unjudged,
        float(np.mean(primes)) if primes else float("nan"),
        next(iter(scores)),
    )


def _means(subject: Subject, names: list[str], collection: Collection | None = None) -> Floats:
    """Runs x measures; unjudged documents count as nonrelevant, as for any newcomer, unless a measure is condensed."""
    return score(collection or subject.collection, names).mean_values()


def _outsiders(subject: Subject, scores: Floats, chance: float) -> tuple[float, float]:
    """Unjudged share of the top of the runs outside, and the share of P@10 they lose by it.

    Their unjudged documents are relevant less often than their judged ones, and more often than those only one
    left-out team finds (`chance`), for that team's kin stayed in the pool. Their geometric mean is taken.
    """
    out = subject.outsiders
    if not out:
        return float("nan"), float("nan")
    judged = float(_means(subject, [f"Judged@{TOP}"])[out, 0].mean())
    now = float(scores[out].mean())
    gain = (1 - judged) * float(np.sqrt(chance * share(now, judged)))
    return 1 - judged, share(gain, now + gain)


def section(subject: Subject, progress: Progress = silent) -> Section:
    """What a team outside the pool loses."""
    limit = subject.thresholds[KEY]
    found = subject.outside(progress)
    name, value = found.measure, found.value
    teams = len(subject.pooled_teams)
    if not found.rows:
        why = (
            "no pool can be recognised in these judgments"
            if subject.pool is None
            else f"only {counted(teams, 'team')} was pooled, so none can be left out"
        )
        sentence = f"What an outsider loses cannot be estimated: {why}."
        word = "unknown"
    else:
        sentence = f"A team left out of the pool loses {percent(found.loss)} of its {name} on average"
        if np.isfinite(found.outside):
            sentence += (
                f"; the {counted(len(subject.outsiders), 'run')} outside the pool about {percent(found.outside)}"
            )
        sentence += f" (worst left out: {found.worst[0]}, {percent(found.worst[1])})."
        word = limit.word(value)
        if teams < subject.thresholds.teams or len(subject.topics) < subject.thresholds.topics:
            few = f"{counted(teams, 'pooled team')} and {counted(len(subject.topics), 'topic')}"
            word, sentence = "unknown", f"{sentence[:-1]}; {few} are too few to be sure."
    points = []
    if found.rows:
        points.append(
            f"Left out, a run falls by {found.falls:.1f} ranks on average; of the documents in its top {TOP} that only "
            f"its team found, {percent(found.chance)} are relevant."
        )
    if np.isfinite(found.unjudged):
        points.append(
            f"Runs of teams outside the pool have {percent(found.unjudged)} unjudged documents in their top {TOP}."
        )
    if np.isfinite(found.primed) and found.primed > 0.01:
        points.append(
            f"Condensed lists are no remedy: left out, a run's {subject.settings.measures[0]}' rises by "
            f"{percent(found.primed)}, which is too kind to it."
        )
    if not subject.collection.teams:
        points.append("No teams are known: every run was taken for a team of its own, which understates the loss.")
    return Section(
        KEY,
        QUESTION,
        Verdict(word, sentence, value, limit.sentence),
        subject.result(
            ("left_out", "run", "measure", "full", "reduced", "change_pct", "rank_full", "rank_reduced"),
            found.rows or [("-", run, name, None, None, None, None, None) for run in subject.runs],
        ),
        HOW,
        _chart(subject, name),
        f"Rank by {name} of each run in the pool and with its team left out",
        points,
        {"left out": found.loss, "outside": found.outside},
    )


def _chart(subject: Subject, name: str) -> charts.Spec:
    kind: charts.Spec = {
        "field": "what",
        "type": "nominal",
        "title": "left out, it",
        "legend": charts.LINES,
        "scale": {"domain": ["falls", "stays", "rises"], "range": [charts.VERMILION, charts.GREY, charts.BLUE]},
    }
    rises = "datum.rank_reduced < datum.rank_full ? 'rises' : 'stays'"
    tooltip = charts.tips("run", "left_out", "rank_full", "rank_reduced", ("change_pct", "+.1f"))
    return charts.chart(
        f"Rank by {name} of each run in the pool and with its team left out",
        max(240, min(700, 9 * len(subject.runs))),
        transform=[
            {"filter": {"field": "measure", "equal": name}},
            {"filter": "isValid(datum.rank_full)"},
            {"calculate": f"datum.rank_reduced > datum.rank_full ? 'falls' : {rises}", "as": "what"},
            {"fold": ["rank_full", "rank_reduced"], "as": ["where", "rank"]},
            {"calculate": "datum.where == 'rank_full' ? 'in the pool' : 'left out'", "as": "where"},
        ],
        mark={"type": "line", "point": True, "opacity": 0.75},
        encoding={
            "x": {
                "field": "where",
                "type": "nominal",
                "title": None,
                "axis": {"labelAngle": 0, "orient": "top"},
                "scale": {"padding": 0.2},
            },
            "y": charts.field("rank", title=f"rank by {name}", scale={"reverse": True, "zero": False}),
            "detail": {"field": "run"},
            "color": kind,
            "strokeDash": {**kind, "scale": {"domain": kind["scale"]["domain"], "range": [[1, 0], [2, 3], [6, 3]]}},
            "tooltip": tooltip,
        },
    )


def _change(before: float, after: float) -> float | None:
    return 100 * (after - before) / before if before > 0 else None
