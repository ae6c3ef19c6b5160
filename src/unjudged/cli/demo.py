"""A tour on a simulated collection: a pool that left one family of teams out, and what the scores then say.

unjudged demo [-o DIR] [--seed N]
"""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "simulate a collection with a biased pool and score it"

SCENARIO = 9
SHOWN = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    parser.add_argument(
        "-o", "--output", default="demo", metavar="DIR", help="where to put the collection (default: demo)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another seed, another collection (default 1)")


def run(args: argparse.Namespace) -> int:
    """Simulate, score by the pool and by the truth, print both."""
    import numpy as np

    from unjudged.io.trec import Reading
    from unjudged.loading import read_collection
    from unjudged.scoring import score
    from unjudged.simulation import simulate

    folder = Path(args.output)
    simulate(scenario=SCENARIO, seed=args.seed, out=folder, force=True)
    wanted = ["AP", "AP'", "P@10", "Judged@10"]
    observed = read_collection(str(folder / "qrels.txt"), str(folder / "runs"), Reading(), teams=folder / "teams.tsv")
    truth = read_collection(str(folder / "truth.txt"), str(folder / "runs"), Reading())
    seen = score(observed, wanted).mean_values()
    true = score(truth, ["AP", "P@10"]).mean_values()
    pooled = {
        line.split("\t")[0] for line in (folder / "pooled.tsv").read_text().splitlines()[1:] if line.endswith("yes")
    }
    rank_seen = 1 + (seen[:, 0][:, None] < seen[:, 0][None, :]).sum(axis=1)
    rank_true = 1 + (true[:, 0][:, None] < true[:, 0][None, :]).sum(axis=1)
    print(
        f"{len(observed.runs)} runs, {len(observed.topics)} topics, {len(observed.judgments)} judgments in {folder}/\n"
    )
    print("The runs that are truly best (the simulator knows all relevant documents), and what the pool says:\n")
    print("run      pooled   true AP  rank   judged AP  rank     AP'    true P@10   P@10  judged@10")
    for r in np.argsort(rank_true, kind="stable")[:SHOWN]:
        name = observed.runs[r]
        print(
            f"{name:<8} {'yes' if name in pooled else 'no':<6} {true[r, 0]:>9.4f}  {rank_true[r]:>4}"
            f" {seen[r, 0]:>11.4f}  {rank_seen[r]:>4}  {seen[r, 1]:.4f}"
            f" {true[r, 1]:>11.4f} {seen[r, 2]:.4f} {seen[r, 3]:>10.4f}"
        )
    inside = np.array([name in pooled for name in observed.runs])
    gap = seen[:, 2] / true[:, 1]
    unfair = gap[~inside].mean() / gap[inside].mean() - 1 if (~inside).any() else 0.0
    print(f"\nRuns outside the pool keep {100 * (1 + unfair):.0f} % of the P@10 that runs in the pool keep.")
    print("\nTry:")
    print(f'  unjudged score {folder}/qrels.txt {folder}/runs -m "AP, AP\', nDCG@10, Judged@10"')
    print(f"  unjudged score {folder}/truth.txt {folder}/runs -m AP     (the truth)")
    print(f"  unjudged check {folder}/qrels.txt {folder}/runs")
    return 0
