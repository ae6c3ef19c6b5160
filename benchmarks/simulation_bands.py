"""Do simulated collections look like real ones? Every statistic of the model's description against its band.

Usage: python benchmarks/simulation_bands.py [--presets adhoc,passage,rounds] [--seeds 1,2,3,4,5]

For each preset the mean over the seeds of every statistic is printed beside the band in which a correct
implementation must lie; exit code 1 if any is out. Statistics are computed here from lists and grades, apart
from the library's measures, so that this is also a second opinion on them.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from numpy.typing import NDArray

from unjudged.simulation import Simulation, simulate
from unjudged.statistics.correlation import tau_b

Floats = NDArray[np.float64]
Band = tuple[float, float] | None
PRESETS = ("adhoc", "passage", "rounds")
SHALLOW = {"adhoc": 10, "passage": 5, "rounds": 3}
HALF_SPLITS = 10

# fmt: off
BANDS: tuple[tuple[str, Band, Band, Band], ...] = (
    ("R per topic, judged", (70, 121), (21.9, 43.5), (75.4, 85)),
    ("sd of log R", (0.73, 0.97), (0.68, 1.25), (0.39, 0.51)),
    ("N per topic", (1154, 2012), (164, 196), (194, 218)),
    ("sd of log N", (0.15, 0.31), (0.17, 0.31), (0.27, 0.36)),
    ("AP: mean of runs", (0.19, 0.28), (0.36, 0.42), (0.14, 0.18)),
    ("AP: sd of run means", (0.06, 0.13), (0.09, 0.17), (0.07, 0.1)),
    ("AP: variance run", (0.08, 0.31), (0.17, 0.34), (0.17, 0.42)),
    ("AP: variance interaction", (0.24, 0.33), (0.2, 0.29), (0.24, 0.42)),
    ("AP: E rho2", (0.91, 1), (0.92, 1), (0.91, 1)),
    ("AP: power (t, .05)", (0.66, 0.85), (0.76, 0.86), (0.69, 0.78)),
    ("AP: skew of run means", (-0.6, 0.32), (-0.97, 0.06), (0.28, 0.65)),
    ("AP: within-team part of run variance", (0.04, 0.26), (0.12, 0.4), (0.05, 0.22)),
    ("AP: residual correlation, same team", (0.54, 0.62), (0.6, 0.75), (0.63, 0.71)),
    ("P@10: mean", (0.4, 0.51), (0.41, 0.53), (0.41, 0.47)),
    ("nDCG@10: mean", (0.41, 0.54), (0.49, 0.61), (0.36, 0.41)),
    ("tau AP, P@10", (0.74, 0.9), (0.75, 0.96), (0.84, 0.95)),
    ("corr(topic AP, log R)", (-0.65, 0.18), (-0.52, 0.26), (-0.4, 0.41)),
    ("P(rel) at rank 1", (0.46, 0.63), (0.56, 0.67), (0.52, 0.59)),
    ("P(rel) at rank 10", (0.33, 0.44), (0.29, 0.45), (0.32, 0.38)),
    ("P(rel) at rank 100", (0.07, 0.16), (0.02, 0.09), (0.08, 0.1)),
    ("overlap@10 rel, same team", (0.52, 0.59), (0.63, 0.76), (0.48, 0.55)),
    ("overlap@10 rel, across", (0.2, 0.3), (0.41, 0.51), (0.1, 0.12)),
    ("overlap@10 nonrel, same team", (0.38, 0.47), (0.55, 0.65), (0.32, 0.36)),
    ("overlap@10 nonrel, across", (0.1, 0.21), (0.26, 0.35), (0.02, 0.04)),
    ("overlap@100 rel, same team", (0.66, 0.75), (0.75, 0.88), (0.63, 0.71)),
    ("overlap@100 rel, across", (0.39, 0.53), (0.59, 0.72), (0.26, 0.31)),
    ("overlap@100 nonrel, same team", (0.47, 0.59), (0.61, 0.69), (0.42, 0.47)),
    ("overlap@100 nonrel, across", (0.17, 0.32), (0.33, 0.4), (0.06, 0.08)),
    ("overlap@1000 rel, across", (0.65, 0.76), (0.75, 0.87), (0.51, 0.57)),
    ("overlap@1000 nonrel, same team", (0.55, 0.65), (0.65, 0.73), (0.47, 0.53)),
    ("overlap@1000 nonrel, across", (0.3, 0.42), (0.41, 0.47), (0.14, 0.16)),
    ("unique share of pooled docs", (0.57, 0.67), (0.54, 0.62), (0.75, 0.85)),
    ("unique share of pooled relevant", (0.12, 0.27), (0.17, 0.29), (0.45, 0.55)),
    ("relevant found at .5 of the depth", (0.77, 0.86), (0.68, 0.78), (0.68, 0.76)),
    ("judged@10, unpooled runs", (0.93, 1), None, (0.61, 0.69)),
    ("judged@100, unpooled runs", (0.86, 0.97), None, (0.27, 0.32)),
    ("judged@1000, pooled", (0.52, 0.59), (0.14, 0.16), (0.07, 0.09)),
    ("leave-team-out: judged@10", (0.87, 0.99), (0.82, 0.93), (0.47, 0.53)),
    ("leave-team-out: AP %", (-0.64, -0.13), (-1.45, -0.82), (-7, -5)),
    ("leave-team-out: AP' %", (2.49, 7.8), (1.12, 3.3), (4.5, 10.2)),
    ("leave-team-out: P@10 %", (-0.54, -0.03), (-3.2, -1.28), (-11.4, -8.5)),
    ("leave-team-out: P@10 %, worst 5 %", (-2.3, -0.21), (-6.9, -4.4), (-21.1, -16.1)),
    ("similar half of teams out: P@10 %", (-2.73, 0.34), (-18.5, -1.87), (-32.3, -24.2)),
    ("random half out: P@10 %", (-0.89, -0.21), (-6.1, -2.47), (-24.5, -18.9)),
    ("shallow pool: AP %", (15, 19.9), (12.6, 27.1), (-4.6, -0.05)),
    ("shallow pool: AP' %", (45.9, 60.6), (24.3, 38.6), (20.9, 24.8)),
    ("shallow pool: P@10 %", (-1.4, -0.46), (-5.4, -4.1), (-21.7, -18.6)),
    ("shallow pool: tau AP", (0.88, 1), (0.81, 0.96), (0.89, 1)),
    ("shallow pool: tau AP'", (0.84, 0.95), (0.81, 0.96), (0.79, 0.89)),
    ("shallow + team out: P@10 %", (-5.6, -2.41), (-4.3, -2.42), (-11.6, -8.8)),
    ("shallow + team out: AP %", (-3.2, -1.19), (-2.53, -1.66), (-9.7, -7.2)),
    ("true R per topic", (115, 214), (25.9, 79.5), (347, 594)),
    ("share of true relevant judged", (0.45, 0.72), (0.47, 0.8), (0.13, 0.21)),
    ("tau AP, truth", (0.92, 1), (0.91, 1), (0.87, 0.98)),
    ("tau AP', truth", (0.91, 1), (0.89, 1), (0.83, 0.93)),
    ("P@10 bias, unpooled %", (-0.2, 0.05), None, (-13.2, -8.5)),
)
# fmt: on


class Cells:
    """Scores of all runs on all topics under one set of judgments (one grade per candidate, -1 unjudged)."""

    def __init__(self, s: Simulation, judgments: list[NDArray[np.int8]], deep: bool = True) -> None:
        rel, runs, topics = s.parameters.rel, len(s.runs.names), len(s.results)
        self.judged10 = np.zeros((topics, runs))
        self.p10, self.ndcg10 = self.judged10.copy(), self.judged10.copy()
        self.ap, self.ap_condensed = self.judged10.copy(), self.judged10.copy()
        discount = 1 / np.log2(np.arange(2, 12))
        for t, (topic, grade) in enumerate(zip(s.results, judgments, strict=True)):
            top = grade[topic.lists[:, :10]]
            self.judged10[t] = (top >= 0).mean(axis=1)
            self.p10[t] = (top >= rel).sum(axis=1) / 10
            total = np.count_nonzero(grade >= rel)
            if not deep or not total:
                continue
            ideal = np.sort(grade[grade > 0])[::-1][:10]
            self.ndcg10[t] = np.maximum(top, 0) @ discount / (ideal @ discount[: len(ideal)])
            listed = grade[topic.lists]
            run, rank = np.nonzero(listed >= rel)
            found = np.arange(1, len(run) + 1) - np.searchsorted(run, run)
            position = np.cumsum(listed >= 0, axis=1)[run, rank]
            self.ap[t] = np.bincount(run, found / (rank + 1), runs) / total
            self.ap_condensed[t] = np.bincount(run, found / position, runs) / total


class Pool:
    """Who found what within a depth: per topic, teams x candidates."""

    def __init__(self, s: Simulation, depth: int) -> None:
        self.found = []
        for topic in s.results:
            found = np.zeros((s.parameters.teams, s.parameters.C), dtype=bool)
            for r in np.flatnonzero(s.runs.pooled):
                found[s.runs.team[r], topic.lists[r, :depth]] = True
            self.found.append(found)

    def without(self, judgments: list[NDArray[np.int8]], teams: NDArray[np.int64]) -> list[NDArray[np.int8]]:
        """The judgments less what only these teams found."""
        out = []
        for found, grade in zip(self.found, judgments, strict=True):
            others = np.delete(found, teams, axis=0).any(axis=0)
            out.append(np.where(found[teams].any(axis=0) & ~others, -1, grade).astype(np.int8))
        return out


def statistics_of(s: Simulation, shallow_depth: int) -> dict[str, float]:
    """All statistics of one collection."""
    p, runs, rel = s.parameters, s.runs, s.parameters.rel
    truth = [topic.grade for topic in s.results]
    judgments = []
    for topic in s.results:
        grade = np.full(p.C, -1, dtype=np.int8)
        grade[topic.judged] = topic.judgment
        judgments.append(grade)
    out: dict[str, float] = {}
    found = np.array([np.count_nonzero(g >= rel) for g in judgments], dtype=float)
    nonrelevant = np.array([np.count_nonzero((g >= 0) & (g < rel)) for g in judgments])
    true_r = np.array([np.count_nonzero(g >= rel) for g in truth])
    full, true = Cells(s, judgments), Cells(s, truth)
    some = found > 0
    out["R per topic, judged"] = found.mean()
    out["sd of log R"] = np.log(found[some]).std(ddof=1)
    out["N per topic"] = nonrelevant.mean()
    out["sd of log N"] = np.log(nonrelevant).std(ddof=1)
    out |= spread(full.ap, runs.team)
    out["P@10: mean"], out["nDCG@10: mean"] = full.p10.mean(), full.ndcg10.mean()
    out["tau AP, P@10"] = tau_b(full.ap.mean(axis=0), full.p10.mean(axis=0))
    out["corr(topic AP, log R)"] = float(np.corrcoef(full.ap.mean(axis=1)[some], np.log(found[some]))[0, 1])
    for rank in (1, 10, 100):
        seen = [g[topic.lists[:, rank - 1]] >= rel for g, topic in zip(judgments, s.results, strict=True)]
        out[f"P(rel) at rank {rank}"] = float(np.mean(seen))
    out |= overlaps(s, judgments)
    pool = Pool(s, p.depth)
    out |= uniqueness(s, judgments, pool)
    unpooled = ~runs.pooled
    for k, which, who in (
        (10, unpooled, "unpooled runs"),
        (100, unpooled, "unpooled runs"),
        (1000, ~unpooled, "pooled"),
    ):
        if which.any():
            seen = [g[topic.lists[which, :k]] >= 0 for g, topic in zip(judgments, s.results, strict=True)]
            out[f"judged@{k}, {who}"] = float(np.mean(seen))
    kept = full.ap.mean(axis=0) >= 0.3 * np.median(full.ap.mean(axis=0))

    changed = leave_team_out(s, judgments, pool, full, kept)
    out["leave-team-out: judged@10"] = changed["judged@10"].mean()
    for name in ("AP", "AP'", "P@10"):
        out[f"leave-team-out: {name} %"] = changed[name].mean()
    out["leave-team-out: P@10 %, worst 5 %"] = float(np.quantile(changed["P@10"], 0.05))
    out["similar half of teams out: P@10 %"], out["random half out: P@10 %"] = halves_out(
        s, judgments, pool, full, kept
    )

    shallow_pool = Pool(s, shallow_depth)
    shallow = [
        np.where(f.any(axis=0), g, -1).astype(np.int8) for f, g in zip(shallow_pool.found, judgments, strict=True)
    ]
    cut = Cells(s, shallow)
    out["shallow pool: AP %"] = 100 * (cut.ap.mean() / full.ap.mean() - 1)
    out["shallow pool: AP' %"] = 100 * (cut.ap_condensed.mean() / full.ap_condensed.mean() - 1)
    out["shallow pool: P@10 %"] = 100 * (cut.p10.mean() / full.p10.mean() - 1)
    out["shallow pool: tau AP"] = tau_b(cut.ap.mean(axis=0), full.ap.mean(axis=0))
    out["shallow pool: tau AP'"] = tau_b(cut.ap_condensed.mean(axis=0), full.ap.mean(axis=0))
    changed = leave_team_out(s, shallow, shallow_pool, cut, kept)
    out["shallow + team out: P@10 %"] = changed["P@10"].mean()
    out["shallow + team out: AP %"] = changed["AP"].mean()

    out["true R per topic"] = true_r.mean()
    out["share of true relevant judged"] = found.sum() / true_r.sum()
    out["tau AP, truth"] = tau_b(full.ap.mean(axis=0), true.ap.mean(axis=0))
    out["tau AP', truth"] = tau_b(full.ap_condensed.mean(axis=0), true.ap.mean(axis=0))
    if unpooled.any():
        out["P@10 bias, unpooled %"] = percent(full.p10, true.p10)[unpooled & kept].mean()
    return out


def percent(new: Floats, old: Floats) -> Floats:
    """Relative change of each run's mean, in percent."""
    return np.asarray(100 * (new.mean(axis=0) / old.mean(axis=0) - 1))


def spread(ap: Floats, team: NDArray[np.int64]) -> dict[str, float]:
    """Where the variance of AP comes from (topics x runs), and how runs of a team go together."""
    topics, runs = ap.shape
    means = ap.mean(axis=0)
    residual = ap - means - ap.mean(axis=1, keepdims=True) + ap.mean()
    error = (residual**2).sum() / ((topics - 1) * (runs - 1))
    run_part = max(0.0, means.var(ddof=1) - error / topics)
    topic_part = max(0.0, ap.mean(axis=1).var(ddof=1) - error / runs)
    total = run_part + topic_part + error
    centred = means - means.mean()
    out = {
        "AP: mean of runs": means.mean(),
        "AP: sd of run means": means.std(ddof=1),
        "AP: variance run": run_part / total,
        "AP: variance interaction": error / total,
        "AP: E rho2": run_part / (run_part + error / topics),
        "AP: skew of run means": (centred**3).mean() / (centred**2).mean() ** 1.5,
    }
    i, j = np.triu_indices(runs, 1)
    difference = ap[:, i] - ap[:, j]
    t = np.abs(difference.mean(axis=0)) / np.maximum(difference.std(axis=0, ddof=1) / np.sqrt(topics), 1e-12)
    critical = {50: 2.009575, 30: 2.045230}[topics]
    out["AP: power (t, .05)"] = float((t > critical).mean())
    several = [np.flatnonzero(team == k) for k in np.unique(team) if np.count_nonzero(team == k) > 1]
    within = sum(means[r].var(ddof=1) * (len(r) - 1) for r in several) / sum(len(r) - 1 for r in several)
    out["AP: within-team part of run variance"] = within / means.var(ddof=1)
    correlation = np.corrcoef(residual.T)
    same = team[i] == team[j]
    out["AP: residual correlation, same team"] = float(correlation[i[same], j[same]].mean())
    return out


def overlaps(s: Simulation, judgments: list[NDArray[np.int8]]) -> dict[str, float]:
    """Dice of two runs' top k, relevant and other documents apart, within and across teams."""
    i, j = np.triu_indices(len(s.runs.names), 1)
    same = s.runs.team[i] == s.runs.team[j]
    out = {}
    for k in (10, 100, 1000):
        values: dict[str, list[Floats]] = {"rel": [], "nonrel": []}
        for topic, grade in zip(s.results, judgments, strict=True):
            listed = np.zeros((len(s.runs.names), s.parameters.C), dtype=np.float32)
            np.put_along_axis(listed, topic.lists[:, :k].astype(np.int64), 1.0, axis=1)
            relevant = grade >= s.parameters.rel
            for name, part in (("rel", listed[:, relevant]), ("nonrel", listed[:, ~relevant])):
                both, size = (part @ part.T)[i, j], part.sum(axis=1)
                with np.errstate(invalid="ignore"):  # undefined where neither run has any
                    values[name].append(2 * both / (size[i] + size[j]))
        for name, dice in values.items():
            matrix = np.array(dice)
            out[f"overlap@{k} {name}, same team"] = mean_of_topics(matrix[:, same])
            out[f"overlap@{k} {name}, across"] = mean_of_topics(matrix[:, ~same])
    return out


def mean_of_topics(values: Floats) -> float:
    """Mean over pairs of runs where defined, then over topics."""
    defined = values[~np.isnan(values).all(axis=1)]
    return float(np.nanmean(defined, axis=1).mean())


def uniqueness(s: Simulation, judgments: list[NDArray[np.int8]], pool: Pool) -> dict[str, float]:
    """What one team alone brought into the pool, and how much half the depth would have found."""
    half = Pool(s, (s.parameters.depth + 1) // 2)
    sums = np.zeros(5)
    for found, early, grade in zip(pool.found, half.found, judgments, strict=True):
        teams, relevant = found.sum(axis=0), grade >= s.parameters.rel
        sums += [
            np.count_nonzero(teams == 1),
            np.count_nonzero(teams > 0),
            np.count_nonzero((teams == 1) & relevant),
            np.count_nonzero((teams > 0) & relevant),
            np.count_nonzero(early.any(axis=0) & relevant),
        ]
    return {
        "unique share of pooled docs": sums[0] / sums[1],
        "unique share of pooled relevant": sums[2] / sums[3],
        "relevant found at .5 of the depth": sums[4] / sums[3],
    }


def leave_team_out(
    s: Simulation, judgments: list[NDArray[np.int8]], pool: Pool, full: Cells, kept: NDArray[np.bool_]
) -> dict[str, Floats]:
    """Every team left out in turn: judged@10 of its runs, and relative changes of their scores."""
    parts: dict[str, list[Floats]] = {"judged@10": [], "AP": [], "AP'": [], "P@10": []}
    for team in range(s.parameters.teams):
        own = np.flatnonzero(s.runs.team == team)
        less, good = Cells(only(s, own), pool.without(judgments, np.array([team]))), kept[own]
        parts["judged@10"].append(less.judged10.mean(axis=0))
        parts["AP"].append(percent(less.ap, full.ap[:, own])[good])
        parts["AP'"].append(percent(less.ap_condensed, full.ap_condensed[:, own])[good])
        parts["P@10"].append(percent(less.p10, full.p10[:, own])[good])
    return {name: np.concatenate(values) for name, values in parts.items()}


def only(s: Simulation, chosen: NDArray[np.int64]) -> Simulation:
    """The same collection with some of its runs, for scoring."""
    from dataclasses import replace

    names = tuple(s.runs.names[r] for r in chosen)
    runs = replace(s.runs, names=names, team=s.runs.team[chosen], pooled=s.runs.pooled[chosen])
    return Simulation(s.parameters, s.seed, runs, tuple(replace(t, lists=t.lists[chosen]) for t in s.results))


def halves_out(
    s: Simulation, judgments: list[NDArray[np.int8]], pool: Pool, full: Cells, kept: NDArray[np.bool_]
) -> tuple[float, float]:
    """P@10 of half of the teams when they are left out: a half of similar teams, and random halves."""
    teams, k = s.parameters.teams, 100 if s.parameters.depth >= 100 else 10
    member = np.zeros((teams, len(s.runs.names)))
    member[s.runs.team, np.arange(len(s.runs.names))] = 1
    member /= member.sum(axis=1, keepdims=True)
    dice = np.zeros((len(s.runs.names),) * 2)
    for topic in s.results:
        listed = np.zeros((len(s.runs.names), s.parameters.C), dtype=np.float32)
        np.put_along_axis(listed, topic.lists[:, :k].astype(np.int64), 1.0, axis=1)
        dice += listed @ listed.T / k / len(s.results)
    similarity = member @ dice @ member.T
    centre = np.eye(teams) - 1 / teams
    vector = np.linalg.eigh(centre @ similarity @ centre)[1][:, -1]

    def loss(order: NDArray[np.int64]) -> float:
        values = []
        for half in (order[: teams // 2], order[teams // 2 :]):
            less = Cells(s, pool.without(judgments, half), deep=False)
            values.append(percent(less.p10, full.p10)[np.isin(s.runs.team, half) & kept].mean())
        return float(np.mean(values))

    rng = np.random.default_rng(s.seed)
    return loss(np.argsort(vector)), float(np.mean([loss(rng.permutation(teams)) for _ in range(HALF_SPLITS)]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", default=",".join(PRESETS))
    parser.add_argument("--seeds", default="1,2,3,4,5")
    args = parser.parse_args()
    seeds = [int(seed) for seed in args.seeds.split(",")]
    outside = 0
    for preset in args.presets.split(","):
        start = time.perf_counter()
        each = [statistics_of(simulate(preset, seed=seed), SHALLOW[preset]) for seed in seeds]
        seconds = time.perf_counter() - start
        print(f"\n{preset}: mean over seeds {args.seeds} ({seconds:.0f} s)")
        print(f"{'statistic':<40}{'value':>9}{'low':>9}{'high':>9}  {'':<4}{'sd of seeds':>12}")
        for name, *bands in BANDS:
            band = bands[PRESETS.index(preset)]
            if band is None:
                continue
            values = np.array([one[name] for one in each])
            mean = float(values.mean())
            fits = band[0] <= mean <= band[1]
            outside += not fits
            verdict = "in" if fits else "OUT"
            print(f"{name:<40}{mean:>9.3f}{band[0]:>9g}{band[1]:>9g}  {verdict:<4}{values.std():>12.3f}")
    print(f"\n{outside} statistics out of their bands" if outside else "\nall statistics in their bands")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
