"""The correction study: CPU time of the whole leave-one-organisation-out experiment, its growth, and a plain version.

    python benchmarks/bench_correction.py                       # on ../shared/data/trec2-adhoc, else on a simulation
    python benchmarks/bench_correction.py --data DIR            # any folder with qrels.txt(.gz), runs/, teams.tsv

1. The study at five cut-offs, both methods, SRE* included: CPU seconds after loading (target: at most 2).
2. Growth: the same with parts of the runs, topics, cut-offs and list lengths.
3. A straightforward version, pair by pair on dicts and lists, on a few topics: equal numbers, ratio of times.

CPU time of this process, all threads; medians of interleaved repeats.
Exit code: 0 targets met, 1 missed, 2 values differ.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import unjudged as uj
from unjudged.collection import Collection, Pool
from unjudged.correction.experiment import Experiment
from unjudged.correction.protocols import SIGIR2015

CUTOFFS = (5, 10, 20, 30, 100)
TARGET = 2.0
TREC2 = Path(__file__).parents[2] / "shared" / "data" / "trec2-adhoc"


def read(folder: Path, **options: Any) -> Collection:
    """The collection of a folder, as the paper's protocol reads it, lists included."""
    qrels = next(p for p in (folder / "qrels.txt.gz", folder / "qrels.txt") if p.is_file())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c = uj.load(qrels, folder / "runs", teams=folder / "teams.tsv", lenient=True, ties="trec9", **options)
    _ = c.rankings
    return c


def cpu(work: Callable[[], Any]) -> float:
    """CPU seconds of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def medians(works: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median CPU time of each, interleaved."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            found[name].append(cpu(work))
    return {name: statistics.median(times) for name, times in found.items()}


# -- the plain version


def merge(pooled: list[str], new: dict[str, int]) -> list[str]:
    """r o u, whole lists."""
    places = []
    for rank, doc in enumerate(pooled, 1):
        other = new.get(doc)
        place = rank if other is None else other
        places.append((place, (place > rank) - (place < rank), rank, doc))
    return [doc for *_, doc in sorted(places)]


def plain_lipani(c: Collection, pool: Pool, n: int) -> dict[str, float]:
    """The estimator pair by pair, all pooled runs kept, float means (strict means, siblings stay)."""
    topics, judgments = c.topics, c.judgments
    lists = {
        run: {t: c.rankings.ids(judgments, c.runs.index(run) * len(topics) + i) for i, t in enumerate(topics)}
        for run in pool.runs
    }
    grades: dict[str, dict[str, int]] = {t: {} for t in topics}
    for row in range(len(judgments)):
        grades[topics[int(judgments.topic[row])]][judgments.docs[row]] = int(judgments.grade[row])
    answered = {run: [t for t in topics if lists[run][t]] for run in pool.runs}
    tops = {run: {t: set(docs[: pool.depth]) for t, docs in lists[run].items()} for run in pool.runs}

    def mean(run_lists: dict[str, list[str]], qrels: dict[str, dict[str, int]], relevant: bool) -> float:
        found = sum((qrels[t][d] > 0) == relevant for t, docs in run_lists.items() for d in docs[:n] if d in qrels[t])
        value = found / (n * len(run_lists))
        return int(value * 10000 + 0.5 + 1e-9) / 10000

    scores = {}
    for u in pool.runs:
        left = [r for r in pool.runs if c.teams[r] != c.teams[u]]
        qrels = {t: {d: g for d, g in grades[t].items() if any(d in tops[r][t] for r in left)} for t in topics}
        own = {t: lists[u][t] for t in answered[u]}
        ranks = {t: {d: i for i, d in enumerate(docs, 1)} for t, docs in own.items()}
        s, a = mean(own, qrels, True), mean(own, qrels, False)
        rise = anti = 0.0
        peers = [r for r in pool.runs if r != u]
        for r in peers:
            before = {t: lists[r][t] for t in answered[r]}
            after = {t: merge(docs, ranks[t]) for t, docs in before.items() if t in ranks}
            rise += mean(after, qrels, True) - mean(before, qrels, True)
            anti += mean(after, qrels, False) - mean(before, qrels, False)
        rise, anti, k = rise / len(peers), anti / len(peers), max(1 - s - a, 0.0)
        scores[u] = s + (k * max(-rise - anti, 0.0) if k * (rise * a - anti * s) > 1e-12 else 0.0)
    return scores


def compare(folder: Path, repeats: int) -> bool:
    """Plain against ours on three topics and one cut-off; True where all numbers agree."""
    whole = read(folder)
    c = whole.only(range(min(3, len(whole.topics))))
    pool = Pool(*_pool(whole))
    pool = Pool(
        pool.depth, tuple(r for r in pool.runs if all(len(c.rankings.ids(c.judgments, i)) for i in _cells(c, r)))
    )
    kept: dict[str, Any] = {}

    def ours() -> None:
        (trial,) = Experiment.of(c, pool, c.teams, SIGIR2015, methods=("lipani",)).trials([10])
        kept["ours"] = dict(zip(trial.runs, trial.estimate("lipani").tolist(), strict=True))

    def plain() -> None:
        kept["plain"] = plain_lipani(c, pool, 10)

    times = medians({"ours": ours, "plain": plain}, repeats)
    worst = max(abs(kept["ours"][run] - kept["plain"][run]) for run in pool.runs)
    print(
        f"\nplain version, 3 topics, {len(pool.runs)} runs, P@10: {times['plain']:.2f} s, ours {times['ours']:.3f} s, "
        f"ratio {times['plain'] / times['ours']:.0f}; largest difference {worst:.1e}"
    )
    return bool(worst < 1e-9)


def _cells(c: Collection, run: str) -> range:
    first = c.runs.index(run) * len(c.topics)
    return range(first, first + len(c.topics))


def _pool(c: Collection) -> tuple[int, tuple[str, ...]]:
    pool = uj.pool_of(c, pooled="infer")
    return pool.depth, pool.runs


# -- the study and its growth


def growth(folder: Path, repeats: int) -> None:
    """How time grows with runs, topics, cut-off and list length."""
    whole = read(folder)
    depth, runs = _pool(whole)
    parts: dict[str, Callable[[], Any]] = {}

    def add(name: str, c: Collection, names: tuple[str, ...], cutoffs: tuple[int, ...]) -> None:
        _ = c.rankings
        parts[name] = lambda: Experiment.of(c, Pool(depth, names), whole.teams, SIGIR2015).trials(cutoffs)

    add("all runs, all topics, P@100", whole, runs, (100,))
    add("half of the runs", whole, runs[::2], (100,))
    add("half of the topics", whole.only(range(0, len(whole.topics), 2)), runs, (100,))
    add("P@50", whole, runs, (50,))
    add("P@25", whole, runs, (25,))
    for length in (500, 250):
        add(f"lists of {length}", read(folder, truncate=length), runs, (100,))
    times = medians(parts, repeats)
    first = times["all runs, all topics, P@100"]
    print("\ngrowth of the experiment at one cut-off (CPU s, share of the whole)")
    for name, seconds in times.items():
        print(f"  {name:<30} {seconds:7.3f} {seconds / first:6.2f}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with qrels.txt(.gz), runs/, teams.tsv")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.data or (TREC2 if TREC2.is_dir() else None)
        if folder is None:
            folder = Path(temporary) / "simulated"
            uj.simulate("adhoc", seed=1, out=folder)
        c = read(folder)
        warm = cpu(lambda: uj.study("correction", c, protocol="sigir2015", top=0.75, cutoffs=CUTOFFS))
        times = [
            cpu(lambda: list(uj.study("correction", c, protocol="sigir2015", top=0.75, cutoffs=CUTOFFS).rows()))
            for _ in range(args.repeats)
        ]
        middle = statistics.median(times)
        print(f"{folder.name}: {len(c.runs)} runs, {len(c.topics)} topics, cut-offs {', '.join(map(str, CUTOFFS))}")
        print(f"whole study, CPU s after loading: first call {warm:.2f} (imports included), then {middle:.2f}")
        growth(folder, args.repeats)
        same = compare(folder, 1)
    print(f"\ntarget at most {TARGET:.1f} s: {'met' if warm <= TARGET else 'missed'}")
    return 2 if not same else 0 if warm <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
