"""A tour on a simulated collection: a pool that left one family of teams out, the trust report, and the truth.

unjudged demo [-o DIR] [--seed N]
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unjudged.cli import options

HELP = "simulate a collection with a biased pool, report on it, and show the truth beside the verdicts"

SCENARIO = 9
SHOWN = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    options.add(parser, "output", "seed", command="demo")


def run(args: argparse.Namespace) -> int:
    """Simulate, report, print the verdicts and the truth."""
    import numpy as np

    from unjudged.collection.load import read_collection
    from unjudged.io.trec import Reading
    from unjudged.reporting import report
    from unjudged.scoring import score
    from unjudged.simulation import simulate
    from unjudged.statistics.ranks import ranks

    folder = Path(args.output)
    made = simulate(scenario=SCENARIO, seed=args.seed, out=folder, force=True)
    collection = read_collection(str(made.qrels), str(made.run_folder), Reading(), teams=made.teams)
    truth = read_collection(str(made.truth), str(made.run_folder), Reading())
    found = report(collection, folder / "trust.html", call=args.call)
    print(
        f"{len(collection.runs)} runs, {len(collection.topics)} topics, {len(collection.judgments)} judgments", end=""
    )
    print(f" in {folder}/; one family of teams was left out of the pool.\n")
    print("The verdicts of the report, and the truth where the simulator knows it:\n")
    said = true_answers(made.summary)
    for section in found.sections:
        if section.verdict is not None:
            line = f"{section.question:<36} {section.verdict.word:<10} {said.get(section.key, '')}"
            print(line.rstrip())
    seen, true = (score(c, ["AP"]).mean_values()[:, 0] for c in (collection, truth))
    judged = score(collection, ["Judged@10"]).mean_values()[:, 0]
    ranked = [ranks(values) for values in (seen, true)]
    pooled = {line.split("\t")[0] for line in (folder / "pooled.tsv").read_text().splitlines() if line.endswith("yes")}
    print("\nThe runs that are truly best, and what the pool says of them:\n")
    print("run       pooled  true AP  rank  judged AP  rank  judged@10")
    for r in np.argsort(ranked[1], kind="stable")[:SHOWN]:
        name = collection.runs[r]
        inside = "yes" if name in pooled else "no"
        both = f"{true[r]:>8.4f} {ranked[1][r]:>5} {seen[r]:>10.4f} {ranked[0][r]:>5}"
        print(f"{name:<9} {inside:<6} {both} {judged[r]:>10.4f}")
    print(f"\nThe report is {folder / 'trust.html'}: open it in a browser.")
    files, program = shlex.quote(str(folder)), _program()
    print("\nTry:")
    print(f"  {program} serve {files}/qrels.txt {files}/runs --teams {files}/teams.tsv     (the same with controls)")
    print(f'  {program} score {files}/qrels.txt {files}/runs -m "AP, AP\', nDCG@10, Judged@10"')
    print(f"  {program} score {files}/truth.txt {files}/runs -m AP     (the truth)")
    return 0


def _program() -> str:
    """How to call us again: by name where the shell finds it, else (`make demo`) by the path used now."""
    called = sys.argv[0]
    return called if shutil.which("unjudged") is None and Path(called).name == "unjudged" else "unjudged"


def true_answers(summary: Mapping[str, Any]) -> dict[str, str]:
    """What is so, by the section it belongs to, in the word the report would use for it."""
    from unjudged.thresholds import read_thresholds

    limits = read_thresholds()
    tau, gap = summary["tau"]["AP"], summary["gap_pct"]["P@10"]
    best = next(entry for entry in summary["best"] if entry["measure"] == "AP" and entry["runs"] == "all")
    said = {
        "winners": f"the truly best run, {best['run']}, seems to be number {best['observed_rank']}",
        "fewer-judgments": f"tau with the true order is {tau:.2f}: {limits['fewer-judgments'].word(tau)}",
    }
    if gap is not None:
        said["fair-to-outsiders"] = (
            f"outsiders lose {-gap:.0f} % of P@10: {limits['fair-to-outsiders'].word(-gap / 100)}"
        )
    return said
