"""Relevant documents found per budget: every strategy of pool building against the depth-k pool of the same size.

    python benchmarks/bench_pools.py qrels.txt runs/ --cut 100
    python benchmarks/bench_pools.py --simulate adhoc --seed 1 --cut 100

For each depth k the budget is the size of the depth-k pool, so column k compares all strategies at equal cost.
Existing judgments answer for the assessor; an unjudged document costs its share of the budget and counts as
nonrelevant. `--cut` (the depth to which the collection was judged) keeps the candidates to documents that were mostly
judged; a simulation is read with its truth, where every retrieved document is judged. Random strategies are averaged
over seeds. tau: Kendall's tau_b of the runs' mean AP under the pool of the largest budget (samples: infAP, xinfAP;
seed 0) with that under all judgments. seconds: CPU time for the largest budget, lists read.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings

import numpy as np

import unjudged as uj
from unjudged.pools.strategies import SAMPLE, STRATEGIES
from unjudged.statistics.correlation import tau_b

RANDOM = ("fair-take", "uniform", "stratified", "random", "epsilon-greedy", "thompson")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("qrels", nargs="?", help="judgments")
    parser.add_argument("runs", nargs="*", help="runs: files, folders, globs")
    parser.add_argument("--simulate", metavar="PRESET", help="a simulated collection instead, judged completely")
    parser.add_argument("--seed", type=int, default=1, help="seed of the simulation (default 1)")
    parser.add_argument("--cut", type=int, metavar="D", help="cut every list at rank D first")
    parser.add_argument("--depths", default="2,5,10,20", help="depth-k pools to compare with (default 2,5,10,20)")
    parser.add_argument("--seeds", type=int, default=5, help="seeds of random strategies (default 5)")
    parser.add_argument("--only", metavar="TOPICS", help="these topics alone, as 601-650,700")
    given = parser.parse_args()
    if bool(given.simulate) == bool(given.qrels):
        parser.error("give judgments and runs, or --simulate PRESET")
    return given


def read(args: argparse.Namespace) -> uj.Collection:
    if not args.simulate:
        return uj.load(args.qrels, args.runs, lenient=True, truncate=args.cut, only=args.only)
    with tempfile.TemporaryDirectory() as folder:
        uj.simulate(args.simulate, seed=args.seed, out=folder)
        collection = uj.load(f"{folder}/truth.txt", f"{folder}/runs", truncate=args.cut)
        _ = collection.rankings  # while the files are there
        return collection


ESTIMATED = {"uniform": "infAP", "stratified": "xinfAP"}


def order_kept(collection: uj.Collection, name: str, budget: int) -> float:
    """tau_b of the runs under the built pool with the runs under all judgments."""
    built = uj.build_pool(collection, name, budget=budget).collection()
    whole = uj.score(collection, ["AP"]).mean_values()[:, 0]
    return tau_b(whole, uj.score(built, [ESTIMATED.get(name, "AP")]).mean_values()[:, 0])


def found(collection: uj.Collection, name: str, budget: int, seeds: int) -> tuple[float, float, int]:
    """Relevant documents found, CPU seconds, and the documents chosen."""
    relevant, size, start = [], 0, time.process_time()
    for seed in range(seeds if name in RANDOM else 1):
        pool = uj.build_pool(collection, name, budget=budget, seed=seed)
        relevant.append(pool.relevant)
        size = len(pool)
    return float(np.mean(relevant)), (time.process_time() - start) / len(relevant), size


def main() -> int:
    args = arguments()
    warnings.simplefilter("ignore", uj.DataWarning)
    collection = read(args)
    depths = [int(k) for k in args.depths.split(",")]
    budgets = [len(uj.build_pool(collection, "depth", depth=k)) for k in depths]
    base = [uj.build_pool(collection, "depth", depth=k).relevant for k in depths]
    total = int((collection.judgments.grade >= 1).sum())
    print(f"{collection!r}, {total} relevant documents judged\n")
    print("| strategy | " + " | ".join(f"k = {k}" for k in depths) + " | tau | seconds |")
    print("|---|" + "---:|" * (len(depths) + 2))
    print("| budget (documents) | " + " | ".join(map(str, budgets)) + " | | |")
    kept = order_kept(collection, "depth", budgets[-1])
    print("| **depth-k** | " + " | ".join(f"**{n}**" for n in base) + f" | **{kept:.3f}** | |")
    worst = 0
    for name, strategy in STRATEGIES.items():
        if name in ("depth", "sampled-depth"):
            continue
        cells, seconds = [], 0.0
        for budget, depth_k in zip(budgets, base, strict=True):
            relevant, seconds, size = found(collection, name, budget, args.seeds)
            worst = max(worst, size - budget)
            cells.append(f"{relevant:.0f} ({relevant / depth_k - 1:+.0%})")
        kind = " (learns)" if strategy.judged else " (sample)" if strategy.kind == SAMPLE else ""
        cells.append(f"{order_kept(collection, name, budgets[-1]):.3f}")
        print(f"| {name}{kind} | " + " | ".join(cells) + f" | {seconds:.1f} |", flush=True)
    return int(worst > 0)


if __name__ == "__main__":
    sys.exit(main())
