"""Do rank intervals hold what they promise? Coverage where the true ranks are known.

    python benchmarks/rank_coverage.py [--trials 4000] [--seed 1] [--worlds equal ...] [--shapes beta ...] > coverage.md

Worlds: runs that are all equally good (the hardest case: every difference found is an error), runs in two groups of
equals, and runs that all differ; scores that are normal, skewed and bounded (beta), coarse (precision at 10), and 0 or
1 (precision at 1: heavy ties).
`all ranks` is the share of trials in which the simultaneous intervals contain every run's true rank (all ranks that
are right for runs of equal worth), `one rank` the mean share of runs whose marginal interval does, `width` the mean
number of ranks in the simultaneous interval.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from unjudged.statistics.rank_intervals import rank_intervals

WORLDS = ("equal", "two groups", "all differ")
SHAPES = ("normal", "beta", "coarse", "0 or 1")
SIZES = ((10, 5), (10, 20), (10, 50), (25, 5), (25, 20), (50, 20), (50, 50), (100, 20))


def true_means(world: str, runs: int) -> np.ndarray:
    """The quality of each run."""
    if world == "equal":
        return np.full(runs, 0.4)
    if world == "two groups":
        return np.where(np.arange(runs) < runs // 2, 0.44, 0.36)
    return np.linspace(0.5, 0.3, runs)


def drawn_scores(rng: np.random.Generator, shape: str, means: np.ndarray, topics: int) -> np.ndarray:
    """Topics x runs scores with exactly these expected values: hard and easy topics, and runs that share luck."""
    runs = len(means)
    shared = rng.normal(0, 0.08, (topics, 1)) + rng.normal(0, 0.05, (topics, 2)) @ rng.normal(0, 1, (2, runs))
    if shape == "normal":
        return means + shared + rng.normal(0, 0.1, (topics, runs))
    cell = means + np.clip(shared, -0.25, 0.25)  # symmetric, and never outside 0 to 1: the expectation stays
    if shape == "beta":
        return rng.beta(2 * cell, 2 * (1 - cell))
    documents = 10 if shape == "coarse" else 1
    return rng.binomial(documents, cell) / documents


def covered(world: str, shape: str, topics: int, runs: int, trials: int, seed: int) -> tuple[float, float, float]:
    """Shares of trials and of runs in which the true ranks lie inside, and the mean width."""
    means = true_means(world, runs)
    best = 1 + (means[None, :] > means[:, None] + 1e-9).sum(axis=1)
    worst = runs - (means[None, :] < means[:, None] - 1e-9).sum(axis=1)
    every = one = width = 0.0
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        found = rank_intervals(drawn_scores(rng, shape, means, topics), resamples=500, seed=trial)
        every += ((found.low_simultaneous <= best) & (worst <= found.high_simultaneous)).all()
        one += ((found.low <= best) & (worst <= found.high)).mean()
        width += (found.high_simultaneous - found.low_simultaneous + 1).mean()
    return every / trials, one / trials, width / trials


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=WORLDS)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    args = parser.parse_args()
    start = time.perf_counter()
    print("| runs are | scores | topics | runs | all ranks | one rank | width |\n|---|---|--:|--:|--:|--:|--:|")
    for world in args.worlds:
        for shape in args.shapes:
            for topics, runs in SIZES:
                every, one, width = covered(world, shape, topics, runs, args.trials, args.seed)
                row = f"{100 * every:.1f} % | {100 * one:.1f} % | {width:.1f}"
                print(f"| {world} | {shape} | {topics} | {runs} | {row} |", flush=True)
    seconds = time.perf_counter() - start
    print(f"\n{args.trials} trials each, seed {args.seed}, alpha 0.05, 500 resamples; {seconds:.0f} s")


if __name__ == "__main__":
    main()
