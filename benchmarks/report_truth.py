"""Verdicts of the trust report against the truth of simulated collections; prints the tables of docs/report.md.

python benchmarks/report_truth.py [--seeds 1,2] [--only 9,19]        one line per verdict, then counts by scenario

Truth (docs/simulation.md): order by tau(observed AP, true AP), fairness by the P@10 gap of teams outside the pool (in a
fair pool: the mean gap when each pooled team is left out), topics by tau of these topics against 100 fresh ones, both
fully judged. Classes: tau 0.9 and 0.8, gap 2 % and 10 %; below 10 runs or 25 topics unknown. Near a limit (tau within
0.02, gap within 1 %) either class counts as right.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import unjudged as uj
from unjudged.collection import Pool
from unjudged.results import Verdict
from unjudged.simulation import SCENARIOS
from unjudged.statistics.correlation import tau_b
from unjudged.studies import Pooling, Unanswerable

ORDER = (*map(str, range(1, 14)), "17", *map(str, range(19, 24)), "25", "26", "27", "28")
TOPICS = {"14": 10, "15": 25, "16": 50, "18": 50}
FRESH = 100
LIMITS = {"order": ((0.9, 0.8), 0.02), "fairness": ((0.02, 0.10), 0.01), "topics": ((0.9, 0.8), 0.02)}
KEYS = {
    "order": "fewer-judgments",
    "fairness": "fair-to-outsiders",
    "topics": "enough-topics",
}
Answer = tuple[str, float | None, set[str], str, float | None]
"""(question, truth, words that are right, verdict, its value)."""


def classes(question: str, value: float | None, unknown: bool) -> set[str]:
    """The words that count as right."""
    if unknown or value is None:
        return {"unknown"}
    (solid, care), near = LIMITS[question]
    higher = question != "fairness"

    def word(v: float) -> str:
        good = (v >= solid, v >= care) if higher else (v <= solid, v <= care)
        return "solid" if good[0] else "with care" if good[1] else "fragile"

    return {word(value - near), word(value), word(value + near)}


def gap_if_left_out(observed: uj.Collection, truth: uj.Collection, pool: Pool, rel: int) -> float:
    """Mean P@10 gap of a pooled team that is left out: (observed/true) of it over that of the others, less 1."""
    true = uj.score(truth, ["P@10"], rel=rel).mean_values()[:, 0]
    gaps = []
    for team in dict.fromkeys(observed.teams[run] for run in pool.runs):
        left = uj.leave_out(observed, team=team, depth=pool.depth, pooled=list(pool.runs))
        after = uj.score(left, ["P@10"], rel=rel).mean_values()[:, 0]
        out = np.array([observed.teams[run] == team and run in pool.runs for run in observed.runs])
        if true[out].mean() > 0:  # a team that truly finds nothing loses nothing
            gaps.append((after[out].mean() / true[out].mean()) / (after[~out].mean() / true[~out].mean()) - 1)
    return float(np.mean(gaps))


def said(question: str, collection: uj.Collection, rel: int) -> Verdict:
    """The verdict on a question, as report and study give it."""
    found = uj.study(KEYS[question], collection, rel=rel, jobs=1).verdict
    assert found is not None
    return found


def setting(scenario: str, seed: int) -> list[Answer]:
    """The answers on one simulated collection."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) / "sim"
        more = {"topics": TOPICS[scenario] + FRESH} if scenario in TOPICS else {}
        made = uj.simulate(scenario=scenario, seed=seed, out=here, **more)
        about = json.loads((here / "simulation.json").read_text())["summary"]
        rel = about["rel"]
        observed = uj.load(str(made.qrels), str(made.run_folder), teams=made.teams)
        truth = uj.load(str(made.truth), str(made.run_folder))
        if scenario in TOPICS:
            n = TOPICS[scenario]
            x = uj.score(truth, ["AP"], rel=rel).matrix("AP")
            value = tau_b(x[:n].mean(axis=0), x[n:].mean(axis=0))
            found = said("topics", uj.only(observed, list(observed.topics[:n])), rel)
            return [("topics", value, classes("topics", value, n < 25), found.word, found.value)]
        few = len(observed.runs) < 10
        value = about["tau"]["AP"]
        found = said("order", observed, rel)
        rows: list[Answer] = [("order", value, classes("order", value, few), found.word, found.value)]
        given = about["gap_pct"]["P@10"]
        if given is None:
            try:
                gap = gap_if_left_out(observed, truth, Pooling().of(observed), rel)
            except Unanswerable:  # nobody is outside, and nobody can be left out
                return rows
        else:
            gap = given / 100
        right = classes("fairness", -gap, few) | ({"unknown"} if scenario == "11" else set())
        found = said("fairness", observed, rel)
        rows.append(("fairness", gap, right, found.word, found.value))
        return rows


def main() -> None:
    """Print the table and the disagreements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--only", default=",".join((*ORDER, *TOPICS)))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| scenario | seed | question | truth | right | verdict | value | |\n|---|---|---|---:|---|---|---:|---|")
    counts: dict[tuple[str, str], list[bool]] = {}
    for scenario in args.only.split(","):
        for seed in map(int, args.seeds.split(",")):
            for question, value, right, word, number in setting(scenario, seed):
                agree = word in right
                counts.setdefault((scenario, question), []).append(agree)
                title = SCENARIOS[scenario].title
                words, mark = " or ".join(sorted(right)), "" if agree else "differs"
                truth = "" if value is None else f"{value:.3f}"
                shown = "" if number is None else f"{number:.3f}"
                cells = (f"{scenario} {title}", seed, question, truth, words, word, shown, mark)
                print("|", " | ".join(map(str, cells)), "|", flush=True)
    print("\n" + "\n".join(by_scenario(counts)))


def by_scenario(counts: Mapping[tuple[str, str], Sequence[bool]]) -> list[str]:
    """How many verdicts agree, by scenario and question, and in all."""
    lines = ["| scenario | " + " | ".join(KEYS) + " |", "|---|" + "---:|" * len(KEYS)]

    def cell(found: Sequence[bool]) -> str:
        return f"{sum(found)} of {len(found)}" if found else ""

    for scenario in dict.fromkeys(scenario for scenario, _ in counts):
        cells = [cell(counts.get((scenario, question), ())) for question in KEYS]
        lines.append(f"| {scenario} {SCENARIOS[scenario].title} | " + " | ".join(cells) + " |")
    sums = [
        [agree for (_, asked), found in counts.items() if asked == question for agree in found] for question in KEYS
    ]
    lines.append("| all | " + " | ".join(map(cell, sums)) + " |")
    every = [agree for found in sums for agree in found]
    return [*lines, "", f"{cell(every)} verdicts agree."]


if __name__ == "__main__":
    main()
