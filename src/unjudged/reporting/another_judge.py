"""Would another judge change it? Random errors, a judge who favours one team, and a second judge where there is one."""

from __future__ import annotations

import numpy as np

from unjudged.changes.noise import favour, flip
from unjudged.collection import Collection
from unjudged.reporting import charts
from unjudged.reporting.section import Progress, Section, counted, percent, silent
from unjudged.reporting.subject import Subject
from unjudged.results import Row, Verdict
from unjudged.statistics.correlation import tau_b

KEY, QUESTION = "another-judge", "Would another judge change it?"
RATES, REPEATS = (0.05, 0.1, 0.2, 0.3), 3
ERRORS = 0.1
"""The rate of errors the sentence speaks of: overlooked relevant documents; a tenth of it, invented ones."""

FAVOUR, FAVOURED = 0.3, 3
HOW = (
    "Judgments are changed on purpose: so many relevant documents become nonrelevant, and a tenth as many "
    "nonrelevant ones relevant, at random. Each line shows how well the order of the runs then agrees with the "
    f"one here (Kendall's tau, mean of {REPEATS} draws). Random errors shift all scores and hardly the order. "
    "Errors that favour one kind of run do turn it, and only a second judge can show them (unjudged report "
    "--second-judge FILE)."
)


def section(subject: Subject, progress: Progress = silent) -> Section:
    """Change grades, compare the orders."""
    limit, c, seed = subject.thresholds[KEY], subject.collection, subject.settings.seed
    names = list(subject.settings.measures)
    before = subject.scores.mean_values()
    rel = subject.settings.rel or 1
    rows: list[Row] = []

    def compared(other: Collection, kind: str, rate: float, repeat: int) -> list[float]:
        after = subject.score(names, other).mean_values()
        taus = [tau_b(before[:, m], after[:, m]) for m in range(len(names))]
        rows.extend((kind, rate, repeat, subject.names[m], after[:, m].mean(), tau) for m, tau in enumerate(taus))
        return taus

    rows += [("random errors", 0.0, 1, name, before[:, m].mean(), 1.0) for m, name in enumerate(subject.names)]
    random: dict[float, float] = {}
    for place, rate in enumerate(RATES):
        progress(place / (len(RATES) + 1))
        taus = [
            compared(
                flip(c, relevant=rate, nonrelevant=rate / 10, rel=rel, seed=1000 * seed + i),
                "random errors",
                rate,
                i + 1,
            )
            for i in range(REPEATS)
        ]
        random[rate] = float(np.mean([tau[0] for tau in taus]))
    favoured = {
        team: compared(favour(c, FAVOUR, team=team, rel=rel, seed=seed), f"favours {team}", FAVOUR, 1)[0]
        for team in _largest(subject)
    }
    points = [
        "Random errors of "
        + ", ".join(f"{percent(rate)} leave tau {tau:.2f}" for rate, tau in random.items())
        + f" by {subject.main}."
    ]
    if favoured:
        worst = min(favoured, key=lambda team: favoured[team])
        points.append(
            f"A judge who took {percent(FAVOUR)} of the nonrelevant documents in the top 10 of {worst} for relevant "
            f"would leave tau {favoured[worst]:.2f}."
        )
    value = random[ERRORS]
    if subject.second is not None:
        value = _second(subject, rows, points)
        word = limit.word(value)
        sentence = (
            f"With the second judge's judgments the order by {subject.main} agrees with this one by tau {value:.2f}."
        )
        word, sentence = subject.weighed(word, sentence)
    else:
        word = "fragile" if limit.word(value) == "fragile" and not subject.too_few else "unknown"
        sentence = (
            f"No second judge is known; random errors of {percent(ERRORS)} would leave tau {value:.2f} by "
            f"{subject.main}, errors that favour one kind of run cannot be seen."
        )
    description = (
        f"Agreement of the order of {counted(len(subject.runs), 'run')} with the one here, by share of judging errors"
    )
    chart = charts.chart(
        description,
        240,
        transform=[{"filter": {"field": "kind", "equal": "random errors"}}],
        layer=[
            {
                "mark": {"type": "line", "point": True},
                "encoding": {
                    "x": charts.field("rate", title="share of relevant documents overlooked", axis=charts.PERCENT),
                    "y": charts.field("tau", title="tau", aggregate="mean", scale={"zero": False}),
                    **charts.by_measure(subject.names),
                    "tooltip": [
                        *charts.tips("measure", ("rate", ".0%")),
                        {"field": "tau", "aggregate": "mean", "format": ".3f", "title": "tau"},
                    ],
                },
            },
            *charts.line_at(limit.solid, f"solid from {limit.solid:g}"),
        ],
    )
    return Section(
        KEY,
        QUESTION,
        Verdict(word, sentence, value, limit.sentence),
        subject.result(("kind", "rate", "repeat", "measure", "mean", "tau"), rows),
        HOW,
        chart,
        description,
        points,
        {"tau": value},
    )


def _largest(subject: Subject) -> list[str]:
    """The teams with most runs, where teams are known."""
    if not subject.collection.teams or any(run not in subject.collection.teams for run in subject.runs):
        return []
    teams, sizes = np.unique(np.array(subject.teams), return_counts=True)
    return [str(teams[i]) for i in np.lexsort((teams, -sizes))[:FAVOURED]] if len(teams) > 1 else []


def _second(subject: Subject, rows: list[Row], points: list[str]) -> float:
    """Tau between the orders by both judges, on the topics both have judged."""
    other = subject.second
    assert other is not None
    from unjudged.errors import UsageError

    shared = [t for t in subject.topics if t in set(other.topics)]
    runs = [run for run in subject.runs if run in set(other.runs)]
    if len(shared) < 2 or len(runs) < 2:
        raise UsageError("the second judge needs at least two topics and two runs in common with the first")
    means = []
    for collection in (subject.collection, other):
        scores = subject.score(subject.settings.measures[:1], collection.with_runs(runs))
        places = [collection.topics.index(t) for t in shared]
        means.append(scores.values[:, places, 0].mean(axis=1))
    tau = tau_b(means[0], means[1])
    rows.append(("second judge", 0.0, 1, subject.main, float(means[1].mean()), tau))
    points.append(f"The second judge covers {counted(len(shared), 'topic')} of {len(subject.topics)}.")
    return tau
