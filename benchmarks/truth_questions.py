"""The questions of the report asked of a case, each with its true answer, for `report_truth.py`.

Every question speaks of AP, the measure that leads the report.

order      `fewer-judgments`. Truth: Kendall's tau of the order of the runs as seen and under the full judgments.
outsiders  `fair-to-outsiders`. Truth: the share of its AP that a team with no pooled run loses, 1 - s(as seen) / s(the
           team's own top documents judged, too, as deep as the pool), mean over its runs, then over such teams. Where
           no team is outside: the loss of each pooled team when it is left out. Runs below half of the median AP
           under the full judgments are left aside (`all_runs` has them).
topics     `enough-topics`. Truth in a simulation: tau of the order on these topics and on 100 others, both fully
           judged. Of a real collection only a part of the topics is asked about; the truth is an estimate from all of
           them, itself off by some hundredths: tau of the halves, mean over 50 random splits, stepped up to the
           topics asked about and 100 others (`stepped_up`).
winners    Is the run called best truly first (solid), at least not significantly worse than the truly best one (paired
           t test, p >= 0.05: with care), or worse (fragile)? A word is right if it promises no more than that.
range      `score-range`, by nDCG@10. Is the truly first run among those that the answer says could be first, and how
           many are these? The same of the exact bounds, which hold always and name more.
pairs      `safe-comparisons`. Of the pairs called better or worse: how many are the other way round under the full
           judgments, how many of them significantly so (t test, p < 0.05).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from truth_cases import FRESH, Case, Mask, runs_of, top

import unjudged as uj
from unjudged.collection import Floats
from unjudged.errors import UsageError
from unjudged.results import Result
from unjudged.statistics.correlation import tau_b
from unjudged.statistics.paired import t_test
from unjudged.studies import QUESTIONS, find

MEASURE = "AP"
KEYS = {
    "order": "fewer-judgments",
    "outsiders": "fair-to-outsiders",
    "topics": "enough-topics",
    "winners": "winners",
    "range": "score-range",
    "pairs": "safe-comparisons",
}
SMALL: dict[str, Any] = {"measures": (MEASURE,), "levels": (0.25,), "test": "none"}
"""Options that make a study cheap and leave its verdict alone; a study takes those it has."""
SMALL_FOR = {"winners": ("measures",), "safe-comparisons": ("measures",)}
SPLITS = 50
MATTER = 0.5
"""Runs that matter have at least this share of the median AP under the full judgments."""


@dataclass(frozen=True)
class Said:
    """What the tool answered."""

    asked: str  # given: told the pool; infer: has to see it
    result: Result | None
    word: str
    value: float | None
    sentence: str

    @property
    def interval(self) -> Any:
        """The interval of the value, where verdicts have one."""
        return None if self.result is None else getattr(self.result.verdict, "interval", None)


def means(collection: uj.Collection, rel: int, measure: str = MEASURE) -> Floats:
    """Mean score of every run."""
    return np.nan_to_num(uj.score(collection, [measure], rel=rel).mean_values()[:, 0])


def by_topic(collection: uj.Collection, rel: int) -> Floats:
    """AP of every run (column) on every topic."""
    scores = uj.score(collection, [MEASURE], rel=rel)
    return np.nan_to_num(scores.matrix(scores.measures[0]))


# -- truth


@dataclass(frozen=True)
class Losses:
    """What outsiders lose: over the runs that matter, over all runs; and P@10, nDCG@10 against the full judgments."""

    mattering: float | None
    all_runs: float | None
    teams: int
    outside: bool  # are there teams outside, or was each pooled team left out?
    by_full: dict[str, float | None]


def losses(case: Case) -> Losses | None:
    """The true loss of outsiders; None where there is no pool."""
    if case.pooled is None or case.depth is None:
        return None
    whole, kept, depth, rel = case.whole, case.kept, case.depth, case.rel
    teams = runs_of(whole)
    inside = {whole.teams[run] for run in case.pooled}
    outsiders = [team for team in teams if team not in inside]
    full = means(case.truth, rel)
    matters = full >= MATTER * float(np.median(full))
    found: dict[str, tuple[list[float], list[float]]] = {}
    for team in outsiders or [team for team in teams if team in inside]:
        if outsiders:
            more, less = kept | top(whole, teams[team], depth), kept
        else:
            others = [run for run in case.pooled if whole.teams[run] != team]
            own = [run for run in case.pooled if whole.teams[run] == team]
            more, less = kept, kept & ~(top(whole, own, depth) & ~top(whole, others, depth))
        places = [whole.runs.index(run) for run in teams[team]]
        with_it, without = (scores_of(whole, mask, teams[team], rel) for mask in (more, less))
        lost = [(r, 1 - b / a) for r, a, b in zip(places, with_it, without, strict=True) if a > 0]
        found[team] = [v for r, v in lost if matters[r]], [v for _, v in lost]
    chosen = [whole.runs.index(run) for team in outsiders for run in teams[team]]
    return Losses(
        _mean_of_means(part for part, _ in found.values()),
        _mean_of_means(part for _, part in found.values()),
        len(found),
        bool(outsiders),
        {name: _against_full(case, name, [r for r in chosen if matters[r]]) for name in ("P@10", "nDCG@10")},
    )


def scores_of(whole: uj.Collection, mask: Mask, runs: Sequence[str], rel: int) -> Floats:
    """Mean AP of these runs under some of the judgments."""
    if not mask.any():
        return np.zeros(len(runs))
    return means(whole.with_runs(runs).keeping(mask, "seen"), rel)


def _mean_of_means(parts: Iterator[Sequence[float]] | Any) -> float | None:
    values = [float(np.mean(part)) for part in parts if len(part)]
    return float(np.mean(values)) if values else None


def _against_full(case: Case, measure: str, runs: Sequence[int]) -> float | None:
    """1 - s(as seen) / s(full judgments), mean over runs."""
    seen, full = means(case.whole.keeping(case.kept, "seen"), case.rel, measure), means(case.truth, case.rel, measure)
    lost = [1 - seen[r] / full[r] for r in runs if full[r] > 0]
    return float(np.mean(lost)) if lost else None


def stepped_up(tau: float, size: int, topics: int, others: int = FRESH) -> float:
    """Expected tau of `topics` and `others` topics, where two sets of `size` topics agree by tau.

    As Spearman and Brown step up a reliability: tau becomes a correlation r of normal scores (sin(pi/2 tau)), which is
    the reliability of means over n topics, n / (n + k); k gives that over other numbers, and the correlation of two
    means is the root of their product. Below 0 nothing can be stepped up.
    """
    r = math.sin(math.pi / 2 * tau)
    if r <= 0:
        return tau
    k = size * (1 - r) / r
    return 2 / math.pi * math.asin(math.sqrt(topics / (topics + k) * others / (others + k)))


def topics_truth(case: Case) -> dict[str, float]:
    """tau of these topics and others."""
    assert case.few is not None
    scores = by_topic(case.whole, case.rel)
    few = np.zeros(len(scores), bool)
    few[list(case.few)] = True
    this = tau_b(scores[few].mean(axis=0), scores[~few].mean(axis=0))
    if case.spec.source != "real":
        return {"truth": this}
    random, half = np.random.default_rng(case.spec.seed), len(scores) // 2
    taus = []
    for _ in range(SPLITS):
        order = random.permutation(len(scores))
        here, there = order[:half], order[half : 2 * half]
        taus.append(tau_b(scores[here].mean(axis=0), scores[there].mean(axis=0)))
    halves = float(np.mean(taus))
    return {"truth": stepped_up(halves, half, int(few.sum())), "this_split": this, "halves": halves}


def p_of(scores: NDArray[np.float64], a: Sequence[int], b: Sequence[int]) -> Floats:
    """p values of paired t tests of runs a and b (columns); 1 where they tie on every topic."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(t_test(scores, (np.asarray(a), np.asarray(b))).p_value, nan=1.0)


# -- asking


def ask(key: str, collection: uj.Collection, pool: dict[str, Any], rel: int) -> tuple[str, Said]:
    """The answer of report and study, and whether the pool mattered to it (`given`, `infer`, or `any`)."""
    known = find(QUESTIONS[key].asked_of(collection, pool)[0]).options
    small = {name: SMALL[name] for name in SMALL_FOR.get(key, SMALL)}
    if "depth" not in known:
        small.pop("levels", None)
    options = {n: v for n, v in ({"rel": rel} | small | pool).items() if n in known}
    asked = ("infer" if pool["pooled"] == "infer" else "given") if "pooled" in known else "any"
    try:
        result = uj.study(key, collection, jobs=1, **options)
    except UsageError as problem:  # what cannot be asked of this collection at all, as the report says it
        return asked, Said(asked, None, "unknown", None, str(problem))
    verdict = result.verdict
    assert verdict is not None
    return asked, Said(asked, result, verdict.word, verdict.value, verdict.sentence)


def asked_both_ways(case: Case, question: str, collection: uj.Collection) -> list[Said]:
    """The answers with the pool given (where there is one) and inferred; a single one where the pool is no matter."""
    pools: list[dict[str, Any]] = [{"pooled": "infer"}]
    if case.pooled is not None:
        pools.insert(0, {"pooled": list(case.pooled), "depth": case.depth})
    out: list[Said] = []
    for pool in pools:
        asked, said = ask(KEYS[question], collection, pool, case.rel)
        out.append(said)
        if asked == "any":
            return [said]
    return out


def answers(case: Case, questions: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """One record per question and way of asking: truth, word, value and what else is known."""
    collection = case.observed
    about = {
        "source": case.spec.source,
        "setting": case.spec.setting,
        "seed": case.spec.seed,
        "runs": len(collection.runs),
        "topics": len(collection.topics),
        "teams": len(runs_of(collection)),
        "share": round(float(case.kept.mean()), 4),
    }
    for question in ("topics",) if case.few is not None else ("order", "outsiders", "winners", "range", "pairs"):
        if questions is not None and question not in questions:
            continue
        truth = _truth(case, question, collection)
        for said in asked_both_ways(case, question, collection):
            found = truth if said.result is None else truth | _compared(case, question, said.result)
            yield about | {
                "question": question,
                "asked": said.asked,
                **found,
                "word": said.word,
                "value": said.value,
                "interval": said.interval,
                "sentence": said.sentence,
            }


def _truth(case: Case, question: str, collection: uj.Collection) -> dict[str, Any]:
    """What is so, as far as it does not depend on the answer."""
    if question == "order":
        return {"truth": tau_b(means(case.whole.keeping(case.kept, "seen"), case.rel), means(case.truth, case.rel))}
    if question == "outsiders":
        found = losses(case)
        if found is None:
            return {"truth": None}
        more = {"all_runs": found.all_runs, "outside": found.outside, "outside_teams": found.teams}
        return {"truth": found.mattering, **more, **{f"{m} lost": v for m, v in found.by_full.items()}}
    return topics_truth(case) if question == "topics" else {"truth": None}


def _compared(case: Case, question: str, result: Result) -> dict[str, Any]:
    """What is so about the runs the answer names."""
    if question not in ("winners", "range", "pairs"):
        return {}
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.rows()]
    if not rows:
        return {}
    if question == "range":
        return _first_places(case, result, rows)
    scores = by_topic(case.truth, case.rel)
    full, place = scores.mean(axis=0), {run: r for r, run in enumerate(case.truth.runs)}
    if question == "winners":
        named, best = place[rows[0]["run"]], int(full.argmax())
        rank = 1 + int((full > full[named] + 1e-12).sum())
        p = 1.0 if rank == 1 else float(p_of(scores, [best], [named])[0])
        return {"truth": 0 if rank == 1 else 1 if p >= 0.05 else 2, "true_rank": rank, "p": p}
    decided = [
        (place[r["run_a"]], place[r["run_b"]], r["outcome"]) for r in rows if r["outcome"] in ("better", "worse")
    ]
    if not decided:
        return {"decided": 0, "pairs": len(rows), "reversed": 0, "significant": 0}
    a = np.array([i if word == "better" else j for i, j, word in decided])  # the run called better
    b = np.array([j if word == "better" else i for i, j, word in decided])
    turned = full[a] < full[b] - 1e-12
    significant = turned & (p_of(scores, a.tolist(), b.tolist()) < 0.05)
    out = {"decided": len(a), "pairs": len(rows), "reversed": int(turned.sum()), "significant": int(significant.sum())}
    if case.pooled is not None:
        inside = {case.whole.teams[run] for run in case.pooled}
        outside = np.array([case.truth.teams[run] not in inside for run in case.truth.runs])
        mixed = ~outside[a] & outside[b]
        out |= {"over_outsiders": int(mixed.sum()), "over_outsiders_reversed": int((mixed & turned).sum())}
        out |= {"over_outsiders_significant": int((mixed & significant).sum())}
    return out


def _first_places(case: Case, result: Result, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Which runs could be first by the answer and by the bounds alone, and is the truly first one among them?"""
    assert result.verdict is not None
    measure = result.provenance.settings["measures"][0]
    full = dict(zip(case.truth.runs, means(case.truth, case.rel, measure), strict=True))
    best = {run for run, value in full.items() if value >= max(full.values()) - 1e-12}
    floor = max(row["low"] for row in rows)
    possible = {row["run"] for row in rows if row["high"] >= floor - 1e-12}
    named = set(result.verdict.decided_by)
    found: dict[str, Any] = {"named": len(named), "possible": len(possible), "possible_holds": bool(best & possible)}
    return found | {"truth": None if not named else 0 if best & named else 2}
