"""How long estimates, pairs, judging orders and the judging page take with holes: CPU seconds at 130 runs.

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
from functools import partial
from pathlib import Path

import unjudged as uj
from unjudged.holes.estimates import Limits, estimates
from unjudged.holes.judging import Question
from unjudged.holes.labels import LabelFile
from unjudged.holes.order import values
from unjudged.holes.pairs import differences
from unjudged.holes.reading import read
from unjudged.holes.session import Session
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


def measured(what: str, target: float, work: Callable[[], object]) -> bool:
    """Print the CPU seconds; is the target missed?"""
    seconds = spent(work)
    print(f"{what:<45}{seconds:8.2f} s CPU   (target {target:g} s)")
    return seconds > target


def pairs_and_order(collection: uj.Collection) -> None:
    """Every pair of runs by nDCG@10, and what to judge next for all of them."""
    weights = weigh(collection, read(MEASURES[1], collection.judgments, 1000))
    values(weights, differences(weights, all_pairs(len(collection.runs))))


def pages(collection: uj.Collection, folder: Path) -> dict[str, JudgingPage]:
    """Judging pages one label before the end of a batch."""
    first, second = collection.runs[:2]
    questions = {
        "all pairs": Question(all_pairs=True),
        "best 10": Question(top=10),
        "one pair": Question(new=first, baseline=second),
    }
    found = {what: JudgingPage(collection, asked, folder / f"{what}.sqlite") for what, asked in questions.items()}
    for page in found.values():
        page.judge(9)
    return found


class JudgingPage:
    """What the page does between two batches: save the last label, fit again, choose, say where it stands."""

    def __init__(self, collection: uj.Collection, question: Question, labels: Path) -> None:
        self.session = Session(collection, LabelFile(labels, collection.judgments), question, batch=10)
        self.pair = self.session.next_for("bench", "bench")

    def judge(self, many: int) -> None:
        """Label so many documents; after ten of them the next ones are chosen."""
        for number in range(many):
            assert self.pair is not None
            self.session.label("bench", *self.pair, number % 2)
            self.pair = self.session.next_for("bench", "bench")
            self.session.progress()


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
            ("next --all, nDCG@10", 10.0, lambda: uj.next_to_judge(uj.shallow(full, 5), "nDCG@10", all_pairs=True)),
        )
        missed = 0
        print(f"{asked.runs} runs x {asked.topics} topics, {len(collection.judgments):,} judgments")
        for what, target, work in told:
            missed += measured(what, target, work)
        for what, at in pages(uj.shallow(full, 5), Path(folder)).items():
            missed += measured(f"the next batch on the page, {what}", 1.0, partial(at.judge, 1))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
