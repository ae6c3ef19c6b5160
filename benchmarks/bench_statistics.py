"""Speed and memory of the statistics: bootstrap discriminative power and the swap method over all run pairs.

    python benchmarks/bench_statistics.py [--quick] [--json FILE]

Each is measured against two programs a user writes: the plain loop (over pairs and resamples, or trials and pairs, with
NumPy's mean and std inside) and the better one that hands NumPy all resamples of a pair, or all runs of a trial.
The plain loops would take minutes to hours, so they run on a stated part of the work and their time is scaled up to
all of it; their answers on that part are compared with ours first. Times are CPU seconds, the median of rounds in
which all contenders take turns. Memory is the peak resident size of a fresh process per number of resamples.
Exit code: 0 at least 100 times faster than the plain loops (or --quick), 1 not, 2 answers differ.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"

import argparse  # noqa: E402
import json  # noqa: E402
import math  # noqa: E402
import resource  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from unjudged import kernels  # noqa: E402
from unjudged.statistics import draws  # noqa: E402
from unjudged.statistics.bootstrap import bootstrap  # noqa: E402
from unjudged.statistics.pairs import all_pairs  # noqa: E402
from unjudged.statistics.swap import swap  # noqa: E402

SIZES = [(127, 34), (130, 50)]  # runs, topics
TARGET = 100.0


def scores(runs: int, topics: int) -> np.ndarray:
    """Scores as average precision has them: topics differ far more than runs do."""
    rng = np.random.default_rng(7)
    values = rng.beta(1, 2, (topics, 1)) * 0.6 + np.linspace(0, 0.1, runs) + rng.normal(0, 0.1, (topics, runs))
    return np.clip(values, 0, 1)


# ------------------------------------------------------------------------------------------ what a user writes


def plain_bootstrap(matrix: np.ndarray, samples: np.ndarray, pairs: list[tuple[int, int]]) -> list[float]:
    """Per pair and resample: one sample, its mean, its standard deviation."""
    found = []
    n = len(matrix)
    for i, j in pairs:
        z = matrix[:, i] - matrix[:, j]
        t = abs(z.mean() / (z.std(ddof=1) / math.sqrt(n)))
        w = z - z.mean()
        count = 0
        for sample in samples:
            resampled = w[sample]
            count += abs(resampled.mean() / (resampled.std(ddof=1) / math.sqrt(n))) >= t
        found.append(count / len(samples))
    return found


def pairwise_bootstrap(matrix: np.ndarray, samples: np.ndarray, pairs: list[tuple[int, int]]) -> list[float]:
    """Per pair: all resamples in one array."""
    found = []
    n = len(matrix)
    for i, j in pairs:
        z = matrix[:, i] - matrix[:, j]
        t = abs(z.mean() / (z.std(ddof=1) / math.sqrt(n)))
        resampled = (z - z.mean())[samples]
        ratio = resampled.mean(axis=1) / (resampled.std(axis=1, ddof=1) / math.sqrt(n))
        found.append(float((np.abs(ratio) >= t).mean()))
    return found


def plain_swap(matrix: np.ndarray, sets: tuple[np.ndarray, np.ndarray]) -> tuple[list[int], list[int]]:
    """Per trial and pair: four means."""
    compared, swapped = [0] * 21, [0] * 21
    runs = matrix.shape[1]
    for here, there in zip(*sets, strict=True):
        for i in range(runs):
            for j in range(i + 1, runs):
                d = matrix[here, i].mean() - matrix[here, j].mean()
                e = matrix[there, i].mean() - matrix[there, j].mean()
                b = min(20, int(abs(d) / 0.01 + 1e-9))
                compared[b] += 1
                d, e = (0.0 if abs(x) < 1e-12 else x for x in (d, e))
                swapped[b] += d * e < 0 or (d == 0) != (e == 0)
    return compared, swapped


def trialwise_swap(matrix: np.ndarray, sets: tuple[np.ndarray, np.ndarray]) -> tuple[list[int], list[int]]:
    """Per trial: all runs and pairs in arrays."""
    compared, swapped = np.zeros(21, int), np.zeros(21, int)
    i, j = np.triu_indices(matrix.shape[1], 1)
    for here, there in zip(*sets, strict=True):
        x, y = matrix[here].mean(axis=0), matrix[there].mean(axis=0)
        d, e = x[i] - x[j], y[i] - y[j]
        bins = np.minimum(20, np.floor(np.abs(d) / 0.01 + 1e-9)).astype(int)
        d[np.abs(d) < 1e-12] = 0
        e[np.abs(e) < 1e-12] = 0
        compared += np.bincount(bins, minlength=21)
        swapped += np.bincount(bins[(d * e < 0) | ((d == 0) != (e == 0))], minlength=21)
    return compared.tolist(), swapped.tolist()


# ------------------------------------------------------------------------------------------ measuring


def cpu(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def in_turn(contenders: dict[str, tuple[Callable[[], Any], float]], rounds: int) -> dict[str, float]:
    """Median CPU seconds of each, scaled to all of the work."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, (work, factor) in contenders.items():
            times[name].append(cpu(work) * factor)
    return {name: statistics.median(values) for name, values in times.items()}


def same(ours: Any, theirs: Any, what: str) -> None:
    if ours != theirs:
        print(f"{what}: answers differ")
        raise SystemExit(2)


def case_bootstrap(runs: int, topics: int, resamples: int, rounds: int) -> dict[str, float]:
    matrix = scores(runs, topics)
    samples = draws.topic_resamples(topics, resamples, 0)
    everything = list(zip(*(side.tolist() for side in all_pairs(runs)), strict=True))
    few, some = everything[:: len(everything) // 8][:8], everything[:: len(everything) // 200][:200]
    found = dict(zip(everything, bootstrap(matrix, resamples=resamples).p_value.tolist(), strict=True))
    same([found[pair] for pair in few], plain_bootstrap(matrix, samples, few), "bootstrap, plain loop")
    same([found[pair] for pair in some], pairwise_bootstrap(matrix, samples, some), "bootstrap, array per pair")
    return in_turn(
        {
            "unjudged": (lambda: bootstrap(matrix, resamples=resamples), 1.0),
            "plain loop": (lambda: plain_bootstrap(matrix, samples, few), len(everything) / len(few)),
            "arrays": (lambda: pairwise_bootstrap(matrix, samples, some), len(everything) / len(some)),
        },
        rounds,
    )


def case_swap(runs: int, topics: int, trials: int, sampling: draws.Sampling, rounds: int) -> dict[str, float]:
    matrix = scores(runs, topics)
    sets = draws.topic_set_pairs(topics, topics // 2, trials, sampling, 0)
    few = (sets[0][:1], sets[1][:1])
    ours, one = swap(matrix, sampling=sampling, trials=trials), swap(matrix, sets=few)
    same((one.comparisons.tolist(), one.swaps.tolist()), plain_swap(matrix, few), f"swap {sampling}, plain loop")
    same((ours.comparisons.tolist(), ours.swaps.tolist()), trialwise_swap(matrix, sets), f"swap {sampling}, arrays")
    return in_turn(
        {
            "unjudged": (lambda: swap(matrix, sampling=sampling, trials=trials), 1.0),
            "plain loop": (lambda: plain_swap(matrix, few), float(trials)),
            "arrays": (lambda: trialwise_swap(matrix, sets), 1.0),
        },
        rounds,
    )


def peak(runs: int, topics: int, resamples: int) -> tuple[float, float]:
    """Peak resident MB and CPU seconds of a fresh process."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", str(runs), str(topics), str(resamples)],
        capture_output=True,
        text=True,
        check=True,
    )
    values = json.loads(done.stdout)
    return values["mb"], values["cpu"]


def child(runs: int, topics: int, resamples: int) -> None:
    matrix = scores(runs, topics)
    seconds = cpu(lambda: bootstrap(matrix, resamples=resamples)) if resamples else 0.0
    print(json.dumps({"mb": peak_megabytes(), "cpu": seconds}))


def peak_megabytes() -> float:
    """Peak resident size of this process; the system's other figure (ru_maxrss) is never below the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few resamples, one round, targets not binding")
    parser.add_argument("--json", type=Path, help="write every measurement")
    parser.add_argument("--child", nargs=3, type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(*args.child)
        return 0
    count, rounds = (100, 1) if args.quick else (1000, 3)
    measured: dict[str, Any] = {"kernels": kernels.IN_USE, "resamples": count}
    slowest = math.inf
    print(f"kernels: {kernels.IN_USE}; {count} resamples or trials; CPU seconds, one thread")
    print(f"{'':34}{'unjudged':>10}{'plain loop':>12}{'ratio':>8}{'arrays':>9}{'ratio':>7}")
    for runs, topics in SIZES:
        cases = {f"bootstrap {runs} runs x {topics}": case_bootstrap(runs, topics, count, rounds)}
        for sampling in draws.SAMPLINGS:
            cases[f"swap {sampling} {runs} x {topics}"] = case_swap(runs, topics, count, sampling, rounds)
        for name, times in cases.items():
            ours, plain, arrays = times["unjudged"], times["plain loop"], times["arrays"]
            slowest = min(slowest, plain / ours)
            print(f"{name:34}{ours:10.3f}{plain:12.1f}{plain / ours:8.0f}{arrays:9.2f}{arrays / ours:7.1f}")
            measured[name] = times
    print("\npeak memory of the bootstrap, MB (CPU seconds)")
    steps = [0, 100, 1000] if args.quick else [0, 1000, 10_000, 100_000]
    for resamples in steps:
        megabytes, seconds = peak(127, 34, resamples)
        label = f"{resamples:,} resamples, 127 runs x 34" if resamples else "nothing computed"
        print(f"{label:34}{megabytes:10.1f}  ({seconds:.2f})")
        measured[f"memory {resamples}"] = megabytes
    print("\nmore runs, 50 topics, CPU seconds: bootstrap, swap (disjoint); peak MB")
    for runs in [130, 250] if args.quick else [130, 250, 500, 1000]:
        matrix = scores(runs, 50)
        swap_seconds = cpu(lambda m=matrix: swap(m, trials=count))  # type: ignore[misc]
        megabytes, seconds = peak(runs, 50, count)
        print(f"{runs:5} runs, {runs * (runs - 1) // 2:7,} pairs {seconds:14.2f}{swap_seconds:10.2f}{megabytes:10.1f}")
        measured[f"runs {runs}"] = {"bootstrap": seconds, "swap": swap_seconds, "mb": megabytes}
    if args.json:
        args.json.write_text(json.dumps(measured, indent=1) + "\n")
    met = slowest >= TARGET
    print(f"\nsmallest ratio to a plain loop: {slowest:.0f} (target {TARGET:.0f})")
    return 0 if met or args.quick else 1


if __name__ == "__main__":
    raise SystemExit(main())
