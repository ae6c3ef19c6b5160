"""How long estimates, pairs and judging orders take with holes: CPU seconds at 130 runs.

    python benchmarks/bench_holes.py            # 130 runs x 50 topics; exit code 1 if a target is missed
    python benchmarks/bench_holes.py --runs 60

The collection is simulated with a fixed seed and its pool cut to depth 5, so that lists have holes. Reading files is
not counted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import unjudged as uj
from unjudged.holes.estimates import Limits, estimates
from unjudged.holes.order import values
from unjudged.holes.pairs import differences
from unjudged.holes.reading import read
from unjudged.holes.weights import weigh
from unjudged.measures import measures
from unjudged.statistics.pairs import all_pairs
from unjudged.thresholds import default_thresholds

MEASURES = measures("P@10, nDCG@10, RBP(p=0.8)")


def spent(work: Callable[[], object]) -> float:
    """CPU seconds."""
    before = time.process_time()
    work()
    return time.process_time() - before


def pairs_and_order(collection: uj.Collection) -> None:
    """Every pair of runs by nDCG@10, and what to judge next for all of them."""
    weights = weigh(collection, read(MEASURES[1], collection.judgments, 1000))
    values(weights, differences(weights, all_pairs(len(collection.runs))))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=130)
    parser.add_argument("--topics", type=int, default=50)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder) / "made"
        uj.simulate("adhoc", seed=1, runs=asked.runs, teams=max(5, asked.runs // 3), topics=asked.topics, out=where)
        full = uj.load(where / "qrels.txt", where / "runs", teams=where / "teams.tsv")
        collection = uj.shallow(full, 5)
        assert len(collection.rankings.doc)
        limits = Limits.of(default_thresholds()["score-range"])
        told = (
            ("estimate, 3 measures", 2.0, lambda: estimates(collection, MEASURES, limits)),
            ("all pairs and what to judge next, nDCG@10", 10.0, lambda: pairs_and_order(collection)),
        )
        missed = 0
        print(f"{asked.runs} runs x {asked.topics} topics, {len(collection.judgments):,} judgments")
        for what, target, work in told:
            seconds = spent(work)
            missed += seconds > target
            print(f"{what:<45}{seconds:8.2f} s CPU   (target {target:g} s)")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
