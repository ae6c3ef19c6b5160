"""How often tests, intervals, the gate and "enough topics" are wrong; prints the tables of docs/statistics.md.

python benchmarks/error_rates.py --data DIR --out rates.jsonl --processes 2
python benchmarks/error_rates.py --quick --only family          # a minute, to see that it works

family    family-wise error over all pairs of runs that are alike: scores permuted inside topics (1,000 collections)
coverage  how often 95 % intervals of means and of differences hold the true one
gate      what `ci` says of runs that are equal, better or worse by a known amount
topics    tau with other topics: split halves and the formula against the tau really seen

Score matrices come from real collections under DIR (trec2-adhoc, robust03, dl19-passage; without --data they are left
out), from two simulated ones of 600 and 400 topics, and from a skewed generator. Every cell is a line of --out; cells
found there are not computed again, so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import unjudged as uj
from unjudged.statistics.bootstrap import bootstrap
from unjudged.statistics.correlation import tau_b
from unjudged.statistics.draws import topic_resamples
from unjudged.statistics.intervals import difference_interval, mean_interval
from unjudged.statistics.multiple import holm
from unjudged.statistics.paired import t_interval, t_test
from unjudged.statistics.pairs import all_pairs, mean_differences
from unjudged.statistics.reliability import expected_tau, g_study
from unjudged.statistics.split_half import split_halves
from unjudged.statistics.tukey import randomised_tukey
from unjudged.studies.engine.outcome import Rule
from unjudged.studies.gate import Checked, _whole, not_worse
from unjudged.thresholds import default_thresholds

ALPHA = 0.05
MEASURES = ("AP", "nDCG@10", "P@10", "RR", "P@1")
REAL = {"trec2-adhoc": 1, "robust03": 1, "dl19-passage": 2}  # the smallest relevant grade
SIMULATED: dict[str, dict[str, Any]] = {
    "passage": {"preset": "passage", "topics": 600, "K": 100},
    "adhoc": {"preset": "adhoc", "topics": 400, "runs": 60, "teams": 20, "K": 200},
}
CHOSEN_ON = ("trec2-adhoc",)
"""Intervals were chosen on this collection (and on other seeds of the simulator), so that it says nothing of them."""
Matrix = np.ndarray
Sources = dict[tuple[str, str], Matrix]
SOURCES: Sources = {}
"""(collection, measure) -> topics x runs; filled before workers start."""


def skewed(topics: int, runs: int, seed: int) -> Matrix:
    """Most scores are near 0, a few near 1; hard topics are hard for all runs."""
    rng = np.random.default_rng(seed)
    ease = rng.beta(0.4, 1.2, (topics, 1))
    found = rng.random((topics, runs)) < ease * rng.uniform(0.5, 1.0, runs)
    return np.where(found, rng.beta(0.6, 1.0, (topics, runs)), 0.0)


def scores_of(qrels: Any, runs: Any, rel: int) -> dict[str, Matrix]:
    collection = uj.load(qrels, runs, lenient=True)
    scores = uj.score(collection, list(MEASURES), rel=rel)
    return {name: np.asarray(scores.matrix(m)) for name, m in zip(MEASURES, scores.measures, strict=True)}


def load_sources(data: Path | None, simulated: bool) -> Sources:
    found: Sources = {("skewed", "-"): skewed(1000, 60, 3)}
    for name, rel in REAL.items() if data is not None else ():
        assert data is not None
        matrices = scores_of(data / name / "qrels.txt.gz", data / name / "runs", rel)
        found |= {(name, measure): matrix for measure, matrix in matrices.items()}
    for name, how in SIMULATED.items() if simulated else ():
        with tempfile.TemporaryDirectory() as folder:
            made = uj.simulate(seed=5, out=Path(folder) / "sim", **how)
            matrices = scores_of(made.qrels, made.run_folder, 1)
        found |= {(name, measure): matrix for measure, matrix in matrices.items()}
    return found


# -- family-wise error


def nulls(source: Matrix, runs: int, topics: int, rng: np.random.Generator, bases: int, each: int) -> Iterator[Any]:
    """Runs and topics drawn from the source, then scores permuted inside topics: (number of the base, matrix)."""
    for base in range(bases):
        columns = rng.choice(source.shape[1], runs, replace=runs > source.shape[1])
        chosen = source[rng.integers(0, len(source), topics)][:, columns]
        for _ in range(each):
            yield base, rng.permuted(chosen, axis=1)


def enough_resamples(matrix: Matrix, pairs: Any, draws: Matrix) -> Matrix:
    """Bonferroni-adjusted p values of the paired bootstrap; 1 for pairs that cannot be significant any more.

    Chunks of resamples are looked at until no pair is left that can be. Only the ten pairs of the largest t are looked
    at: the others have larger p values.
    """
    many = len(pairs[0])
    left = np.argsort(-np.abs(t_test(matrix).statistic), kind="stable")[:10]
    chunks = np.array_split(draws, max(1, len(draws) // 2000))
    p = np.ones(many)
    reached = np.zeros(len(left))
    for chunk in chunks:
        columns, at = np.unique(np.stack([pairs[0][left], pairs[1][left]]), return_inverse=True)
        at = at.reshape(2, -1)
        part = bootstrap(np.ascontiguousarray(matrix[:, columns]), (at[0], at[1]), draws=chunk, asl=True).p_value
        reached += np.rint(part * len(chunk))
        kept = many * (1 + reached) / (1 + len(draws)) < ALPHA
        left, reached = left[kept], reached[kept]
        if not len(left):
            return p
    p[left] = many * (1 + reached) / (1 + len(draws))
    return p


def family(source: tuple[str, str], runs: int, how: str, collections: int, topics: int = 50) -> dict[str, Any]:
    """Share of collections in which some pair of equal runs is called different."""
    rng = np.random.default_rng(zlib.crc32(repr((source, runs, how)).encode()))
    each = min(40, collections)
    pairs, alarms, best_alarms = all_pairs(runs), 0, 0
    many = len(pairs[0])
    if how == "bootstrap + Holm" and many / 1001 >= ALPHA:  # no p value of 1,000 resamples is small enough
        return {"collections": collections, "error": 0.0, "best": 0.0}
    draws = topic_resamples(topics, max(1000, math.floor(many / ALPHA) + 1)) if how == "bootstrap, enough" else None
    ranges: dict[int, Matrix] = {}
    for base, matrix in nulls(SOURCES[source], runs, topics, rng, collections // each, each):
        if how == "t + Holm":
            p = holm(t_test(matrix).p_value)
        elif how == "bootstrap + Holm":
            p = holm(bootstrap(matrix).p_value)
        elif how == "bootstrap, enough":
            assert draws is not None
            p = enough_resamples(matrix, pairs, draws)
        else:  # the shuffles of a base serve all its collections: they hold the same scores
            if base not in ranges:
                ranges[base] = randomised_tukey(matrix, seed=base).ranges
            far = np.abs(mean_differences(matrix)) - 1e-12
            p = (1 + len(ranges[base]) - np.searchsorted(ranges[base], far)) / (1 + len(ranges[base]))
        best = int(matrix.mean(axis=0).argmax())
        alarms += bool((p < ALPHA).any())
        best_alarms += bool((p[(pairs[0] == best) | (pairs[1] == best)] < ALPHA).any())
    done = collections // each * each
    return {"collections": done, "error": alarms / done, "best": best_alarms / done}


# -- coverage


def coverage(source: tuple[str, str], topics: int, samples: int) -> dict[str, Any]:
    """Share of intervals that hold the mean (difference) of the whole population, averaged over runs and pairs.

    All runs of a sample share its topics, so that samples are what counts: the standard error is that over samples.
    """
    from scipy.stats import t as student

    population = SOURCES[source]
    rng = np.random.default_rng(zlib.crc32(repr((source, topics)).encode()))
    population = population[:, rng.permutation(population.shape[1])[:25]]
    runs, means = population.shape[1], population.mean(axis=0)
    pairs = all_pairs(runs)
    differing = np.ptp(population[:, pairs[0]] - population[:, pairs[1]], axis=0) > 0
    pairs = pairs[0][differing], pairs[1][differing]
    held: dict[str, list[Matrix]] = {}

    def count(name: str, low: Matrix, high: Matrix, true: Matrix) -> None:
        low, high = low.reshape(-1, len(true)), high.reshape(-1, len(true))
        held.setdefault(name, []).append(((low <= true + 1e-12) & (true - 1e-12 <= high)).mean(axis=1))

    each, unlimited = 50, np.array(np.inf)
    for _ in range(samples // each):  # samples side by side, as if their runs were different ones
        drawn = population[rng.integers(0, len(population), (each, topics))]
        matrix = np.ascontiguousarray(drawn.transpose(1, 0, 2).reshape(topics, each * runs))
        count("mean", *mean_interval(matrix), means)
        count("mean_t", *mean_interval(matrix, bounded=False), means)
        if sum(map(len, held.get("difference", []))) >= samples // 4:  # 300 pairs say more than 25 runs
            continue
        first, second = ((side + runs * np.arange(each)[:, None]).ravel() for side in pairs)
        true = mean_differences(population, pairs)
        count("difference", *difference_interval(matrix, (first, second)), true)
        low, high = t_interval(matrix, (first, second))
        count("difference_t", low, high, true)
        half = (high - low) / 2 * student.isf(ALPHA, topics - 1) / student.isf(ALPHA / 2, topics - 1)
        middle = (low + high) / 2  # one-sided bounds, as the gate has them
        count("low", middle - half, np.broadcast_to(unlimited, half.shape), true)
        count("high", np.broadcast_to(-unlimited, half.shape), middle + half, true)
    shares = {name: np.concatenate(parts) for name, parts in held.items()}
    found = {name: float(values.mean()) for name, values in shares.items()}
    errors = {
        f"{name}_error": float(shares[name].std() / math.sqrt(len(shares[name]))) for name in ("difference", "mean")
    }
    return {"samples": samples, **found, **errors}


# -- the gate

SHIFTS = (0.05, 0.0, -0.01, -0.05, -0.1)


def gate(source: str, measures: tuple[str, ...], topics: int, draws: int, margin: float = 0.01) -> dict[str, Any]:
    """What the gate says of two runs with a known difference, all documents judged.

    Swapping the two runs on random topics makes them equal; then the topics on which they differ are shifted. Lists are
    never the same.
    """
    rng = np.random.default_rng(zlib.crc32(repr((source, measures, topics)).encode()))
    matrices = [SOURCES[source, measure] for measure in measures]
    limit, rule = default_thresholds()["safe-comparisons"], Rule(ALPHA, "holm", margin, 10)
    fewest = int(limit["gate_topics"]), int(limit["gate_differing"])
    said = {shift: {"pass": 0, "fail": 0, "cannot tell": 0} for shift in SHIFTS}
    for _ in range(draws):
        a, b = rng.choice(matrices[0].shape[1], 2, replace=False)
        rows = rng.integers(0, len(matrices[0]), topics)
        signs = rng.choice([-1.0, 1.0], topics)
        swapped = [signs * (m[rows, a] - m[rows, b]) for m in matrices]
        differing = [float((m[:, a] != m[:, b]).mean()) for m in matrices]
        if not all(differing):
            continue
        for shift in SHIFTS:
            moved = [z + np.where(z != 0, shift / share, 0.0) for z, share in zip(swapped, differing, strict=True)]
            tests = [not_worse(z, rule, fewest[1]) for z in moved]
            worse = holm([t.p_worse for t in tests])
            one = [
                Checked(
                    measure=name,
                    baseline=0.5,
                    run=0.5,
                    difference=float(z.mean()),
                    tested=t,
                    by_topics=t,
                    from_holes=0.0,
                    p_worse=float(p),
                    same=False,
                    differing=int((z != 0).sum()),
                    topics=topics,
                    fewest=fewest,
                    unjudged=(0.0, 0.0),
                    top=10,
                    open=None,
                    limit=None,
                    strict=False,
                ).decided(rule)[0]
                for name, t, p, z in zip(measures, tests, worse, moved, strict=True)
            ]
            said[shift][_whole(one)] += 1
    counted = sum(said[0.0].values())
    return {"draws": counted, **{str(s): {word: n / counted for word, n in said[s].items()} for s in SHIFTS}}


# -- enough topics


def enough(source: tuple[str, str], topics: int, runs: int, odd: bool, samples: int) -> dict[str, Any]:
    """Expected tau by split halves and by the formula against the tau with other topics that were left out.

    `odd`: a tenth of the runs is hopeless. The others are 100 topics, or all that are left of a real collection.
    """
    rng = np.random.default_rng(zlib.crc32(repr((source, topics, runs, odd)).encode()))
    found = []
    for _ in range(samples):
        whole = SOURCES[source]
        matrix = whole[:, rng.choice(whole.shape[1], min(runs, whole.shape[1]), replace=False)].copy()
        if odd:
            matrix[:, : max(2, runs // 10)] *= rng.uniform(0, 0.3, max(2, runs // 10))
        order = rng.permutation(len(matrix))
        others = min(100, len(order) - topics)
        here, there = matrix[order[:topics]], matrix[order[topics : topics + others]]
        ahead = split_halves(here).expected(topics, others)
        study = g_study(here)
        formula = expected_tau(study.var_runs, study.var_error, topics, others)
        found.append((tau_b(here.mean(axis=0), there.mean(axis=0)), ahead.tau, ahead.low, ahead.high, formula))
    true, tau, low, high, formula = np.array(found).T
    solid = low >= default_thresholds()["enough-topics"].solid
    return {
        "samples": samples,
        "true": float(true.mean()),
        "split": float((tau - true).mean()),
        "split_rmse": float(np.sqrt(((tau - true) ** 2).mean())),
        "formula": float((formula - true).mean()),
        "formula_rmse": float(np.sqrt(((formula - true) ** 2).mean())),
        "covered": float(((low <= true) & (true <= high)).mean()),
        "solid": int(solid.sum()),
        "solid_wrong": int((solid & (true < default_thresholds()["enough-topics"].solid)).sum()),
    }


# -- cells and tables

HOW = ("t + Holm", "randomised Tukey", "bootstrap + Holm", "bootstrap, enough")


def cells(quick: bool) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Every cell: its name and how to compute it."""
    real = [s for s in SOURCES if s[0] in REAL]
    large = [s for s in SOURCES if s[0] in SIMULATED]
    most = 40 if quick else 1000
    chosen = [s for s in SOURCES if s in (("trec2-adhoc", "AP"), ("dl19-passage", "RR"), ("skewed", "-"))]
    families = list(itertools.product(chosen, (5, 20) if quick else (5, 20, 60, 130), HOW))
    for source, runs, how in families:
        yield f"family|{'/'.join(source)}|{runs}|{how}", functools.partial(family, source, runs, how, most)
    reported = [*large, ("skewed", "-"), *(s for s in real if s[0] not in CHOSEN_ON)]
    for source, topics in itertools.product(reported, (10, 25, 50)):
        work = functools.partial(coverage, source, topics, 100 if quick else 2000)
        yield f"coverage|{'/'.join(source)}|{topics}", work
    sets = (("nDCG@10",), ("RR",), ("nDCG@10", "P@10", "RR"))
    for name, measures, topics in itertools.product(dict.fromkeys(s for s, _ in large), sets, (5, 10, 25, 50)):
        work = functools.partial(gate, name, measures, topics, 100 if quick else 1000)
        yield f"gate|{name}|{', '.join(measures)}|{topics}", work
    samples = 5 if quick else 40
    for source, topics, runs, odd in itertools.product(large, (25, 50), (60,), (False, True)):
        if source[1] != "P@1":
            work = functools.partial(enough, source, topics, runs, odd, samples)
            yield f"topics|{'/'.join(source)}|{topics}|{runs}|{'odd' if odd else 'plain'}", work
    for source in real:
        if source[1] != "P@1":
            topics, runs = len(SOURCES[source]) // 2, SOURCES[source].shape[1]
            work = functools.partial(enough, source, topics, runs, False, samples)
            yield f"topics|{'/'.join(source)}|{topics}|{runs}|plain", work


def table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table."""
    columns = list(head)
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    lines += [f"| {' | '.join(map(str, row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def tables(found: dict[str, dict[str, Any]]) -> str:
    """All tables, from the cells there are."""
    parts: dict[str, dict[tuple[str, ...], Any]] = {kind: {} for kind in ("family", "coverage", "gate", "topics")}
    for key, value in found.items():
        kind, *rest = key.split("|")
        parts[kind][tuple(rest)] = value
    said = []
    if cells_of := parts["family"]:
        rows = []
        for source, runs in dict.fromkeys((s, r) for s, r, _ in cells_of):
            row = [source, runs]
            for how in HOW:
                v = cells_of.get((source, runs, how))
                row.append("-" if v is None else f"{v['error']:.3f} / {v['best']:.3f}")
            rows.append(row)
        many = sorted({v["collections"] for v in cells_of.values()}, reverse=True)
        said += [
            f"Family-wise error, all pairs / best against the others ({' or '.join(map(str, many))} collections)\n"
        ]
        said += [table(("scores", "runs", *HOW), rows)]
    if cells_of := parts["coverage"]:
        names = ("difference", "mean", "difference_t", "mean_t", "low", "high")
        rows = [
            [s, n, *(f"{100 * v[x]:.1f}" + (f" ± {100 * v[e]:.1f}" if (e := f"{x}_error") in v else "") for x in names)]
            for (s, n), v in cells_of.items()
        ]
        said += ["Coverage in percent\n", table(("scores", "topics", *names), rows)]
    if cells_of := parts["gate"]:
        rows = [
            [s, m, n, *(f"{100 * v[str(x)]['pass']:.1f} / {100 * v[str(x)]['fail']:.1f}" for x in SHIFTS)]
            for (s, m, n), v in cells_of.items()
        ]
        said += ["pass / fail in percent, by the true difference, margin .01\n"]
        said += [table(("scores", "measures", "topics", *(f"{x:+.2f}" for x in SHIFTS)), rows)]
    if cells_of := parts["topics"]:
        rows = [
            [
                *(s, n, r, o, f"{v['true']:.3f}", f"{v['split']:+.3f} ({v['split_rmse']:.3f})"),
                *(f"{v['formula']:+.3f} ({v['formula_rmse']:.3f})", f"{100 * v['covered']:.0f}"),
                f"{v['solid_wrong']} of {v['solid']}",
            ]
            for (s, n, r, o), v in cells_of.items()
        ]
        head = ("scores", "topics", "runs", "", "true tau", "split halves", "formula", "covered %", "solid wrong")
        said += ["Error of the expected tau (root mean square)\n", table(head, rows)]
    return "\n".join(said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of real collections")
    parser.add_argument("--out", type=Path, help="file of finished cells, one JSON line each")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", help="family, coverage, gate or topics; or any beginning of a cell's name")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    done: dict[str, dict[str, Any]] = {}
    if args.out and args.out.exists():
        for line in args.out.read_text("utf-8").splitlines():
            cell = json.loads(line)
            done[cell.pop("cell")] = cell
    SOURCES.update(load_sources(args.data, not (args.only or "").startswith("family")))
    left = [(k, w) for k, w in cells(args.quick) if k not in done and k.startswith(args.only or "")]
    with ProcessPoolExecutor(args.processes, get_context("fork")) as pool:  # with SOURCES as they are here
        running = {pool.submit(work): key for key, work in left}
        for finished in as_completed(running):
            key, value = running[finished], finished.result()
            done[key] = value
            if args.out:
                with args.out.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps({"cell": key, **value}) + "\n")
    order = {key: place for place, (key, _) in enumerate(cells(args.quick))}
    print(tables({key: done[key] for key in sorted(done, key=lambda key: order.get(key, len(order)))}))


if __name__ == "__main__":
    main()
