"""Speed of reductions: leave-one-team-out over all teams x all runs x the nine measures of set `sakai2009`.

    python benchmarks/bench_reductions.py [--data DIR] [--rounds N] [--teams N] [--quick]

Both sides hold everything in memory before the clock starts: unjudged a Collection, the peers dicts of judgments and
runs. The peers' sweep is the loop people write: for each team take the judgments away, make an evaluator, evaluate
every run. pytrec_eval has five of the nine measures (AP, nDCG, bpref; AP' and nDCG' from a second evaluator with
judged documents only), ir_measures the same five in one call. Contenders take turns within each round; CPU seconds
(user + system) per team, medians over rounds, then the ratio. The values of AP and bpref are compared first.
`DIR` is a folder with qrels.txt.gz, runs/ and teams.tsv (default: a simulated collection of 60 runs of 20 teams).
Then the same sweep of unjudged on a collection of ten times the hits (every run ten times): cost per hit.
Exit code: 0 target (50 times faster than pytrec_eval's loop) met or --quick, 1 not, 2 values differ.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import unjudged as uj
from unjudged.collection import Collection
from unjudged.measures import measures

TARGET = 50
Dicts = dict[str, dict[str, Any]]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--teams", type=int, default=3, help="teams the peers leave out in each round (theirs is slow)")
    parser.add_argument("--quick", action="store_true", help="one round, one team, target not binding")
    args = parser.parse_args()
    rounds, sample = (1, 1) if args.quick else (args.rounds, args.teams)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        data = args.data or _simulated(Path(folder) / "data", args.quick)
        qrels = next(p for p in (data / "qrels.txt.gz", data / "qrels.txt") if p.exists())
        collection = uj.load(qrels, data / "runs", teams=data / "teams.tsv", lenient=True)
        teams = sorted({collection.teams[run] for run in collection.runs})
        judgments, runs = _dicts(collection)
    print(f"{collection}: {len(collection.hits)} hits; {len(teams)} teams left out in turn")
    peers: dict[str, Callable[[Dicts, Dicts], Any]] = {"pytrec_eval": _pytrec_eval, "ir_measures": _ir_measures}
    if not _same_values(collection, judgments, runs, teams[0]):
        print("values differ")
        return 2
    spent: dict[str, list[float]] = {"unjudged": [], **{name: [] for name in peers}}
    for _ in range(rounds):
        spent["unjudged"].append(_cpu(lambda: _sweep(collection, teams)) / len(teams))
        for name, evaluate in peers.items():
            some = teams[:sample] if name == "pytrec_eval" else teams[:1]
            spent[name].append(_cpu(lambda: _peer_sweep(collection, judgments, runs, some, evaluate)) / len(some))  # noqa: B023
    medians = {name: statistics.median(values) for name, values in spent.items()}
    print("\nCPU milliseconds per team left out (all runs scored):")
    for name, value in medians.items():
        what = "9 measures" if name == "unjudged" else "5 of the 9 measures"
        print(f"  {name:<12} {1000 * value:9.1f}   {what:<20} {value / medians['unjudged']:6.1f} x")
    _linear(collection, teams, rounds)
    met = medians["pytrec_eval"] >= TARGET * medians["unjudged"]
    print(f"\ntarget {TARGET} x against pytrec_eval: {'met' if met else 'missed'}")
    return 0 if met or args.quick else 1


def _simulated(folder: Path, quick: bool) -> Path:
    size: dict[str, Any] = {"topics": 10, "runs": 24, "teams": 8} if quick else {"topics": 50, "runs": 60, "teams": 20}
    uj.simulate("adhoc", seed=1, out=folder, jobs=2, **size)
    return folder


def _cpu(job: Callable[[], Any]) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def _sweep(collection: Collection, teams: list[str]) -> list[Any]:
    wanted = measures("sakai2009")
    return [uj.score(uj.leave_out(collection, team=team), wanted).mean_values() for team in teams]


def _dicts(collection: Collection) -> tuple[Dicts, Dicts]:
    """The same judgments and runs as peers hold them; scores fall with the rank, so that nothing is tied."""
    judgments, rankings = collection.judgments, collection.rankings
    qrels: Dicts = {topic: {} for topic in collection.topics}
    for row, (doc, grade) in enumerate(zip(judgments.docs, judgments.grade.tolist(), strict=True)):
        qrels[collection.topics[int(judgments.topic[row])]][doc] = grade
    runs: Dicts = {run: {} for run in collection.runs}
    for cell in range(len(rankings.offsets) - 1):
        run, topic = divmod(cell, len(collection.topics))
        if docs := rankings.ids(judgments, cell):
            scored = {doc: float(len(docs) - i) for i, doc in enumerate(docs)}
            runs[collection.runs[run]][collection.topics[topic]] = scored
    return qrels, runs


def _without(collection: Collection, judgments: Dicts, team: str) -> Dicts:
    """The judgments without what only this team has in its top; which these are, unjudged tells in no time."""
    left = uj.leave_out(collection, team=team)
    gone = np.setdiff1d(np.arange(len(collection.judgments)), left.rows)
    reduced = {topic: dict(docs) for topic, docs in judgments.items()}
    for row in gone.tolist():
        topic = collection.topics[int(collection.judgments.topic[row])]
        del reduced[topic][collection.judgments.docs[row]]
    return reduced


def _peer_sweep(
    collection: Collection, judgments: Dicts, runs: Dicts, teams: list[str], evaluate: Callable[[Dicts, Dicts], Any]
) -> None:
    for team in teams:
        evaluate(_without(collection, judgments, team), runs)


def _pytrec_eval(judgments: Dicts, runs: Dicts) -> dict[str, Any]:
    import pytrec_eval

    plain = pytrec_eval.RelevanceEvaluator(judgments, {"map", "ndcg", "bpref"})
    condensed = pytrec_eval.RelevanceEvaluator(judgments, {"map", "ndcg"}, judged_docs_only_flag=True)
    return {name: (plain.evaluate(run), condensed.evaluate(run)) for name, run in runs.items()}


def _ir_measures(judgments: Dicts, runs: Dicts) -> Any:
    import ir_measures
    from ir_measures import AP, Bpref, nDCG

    wanted = [AP, nDCG, Bpref, AP(judged_only=True), nDCG(judged_only=True)]
    evaluator = ir_measures.evaluator(wanted, judgments)
    return {name: list(evaluator.iter_calc(run)) for name, run in runs.items()}


def _same_values(collection: Collection, judgments: Dicts, runs: Dicts, team: str) -> bool:
    """AP and bpref of every topic of every run, with one team left out."""
    ours = uj.score(uj.leave_out(collection, team=team), "AP, bpref, AP'").values
    theirs = _pytrec_eval(_without(collection, judgments, team), runs)
    for r, run in enumerate(collection.runs):
        plain, condensed = theirs[run]
        for t, topic in enumerate(collection.topics):
            if topic in plain:
                expected = plain[topic]["map"], plain[topic]["bpref"], condensed[topic]["map"]
                if not np.allclose(ours[r, t], expected, rtol=0, atol=1e-9):
                    return False
    return True


def _linear(collection: Collection, teams: list[str], rounds: int) -> None:
    """Ten times the runs: is the cost per hit the same?"""
    from unjudged.collection.joining import hits_of_cells

    cells = np.tile(np.arange(collection.hits.cells), 10)
    large = replace(
        collection,
        runs=tuple(f"{run}-{i}" for i in range(10) for run in collection.runs),
        hits=hits_of_cells(collection.hits, collection.judgments, cells),
        teams={f"{run}-{i}": collection.teams[run] for i in range(10) for run in collection.runs},
        outside=collection.outside * 10,
        tags=collection.tags * 10,
    )
    some, times = teams[:3], []
    for c in (collection, large):
        _sweep(c, some[:1])  # depth and membership are found once
    for c in (collection, large) * max(rounds // 2, 1):
        times.append(_cpu(lambda: _sweep(c, some)) / len(some) / len(c.hits))  # noqa: B023
    small, big = (1e9 * statistics.median(times[i::2]) for i in (0, 1))
    print(
        f"\ncost per hit: {small:.0f} ns with {len(collection.hits)} hits, {big:.0f} ns with {len(large.hits)} "
        f"({big / small:.2f} times; 1 is linear)"
    )


if __name__ == "__main__":
    sys.exit(main())
