"""Verdicts of the trust report against the truth of simulated collections; prints the table of docs/report.md.

python benchmarks/report_truth.py [--seeds 1,2] [--only 9,19]

Truth (docs/simulation.md): order by tau(observed AP, true AP), fairness by the P@10 gap of teams outside the pool (in a
fair pool: the mean gap when each pooled team is left out), topics by tau of these topics against 100 fresh ones, both
fully judged. Classes: tau 0.9 and 0.8, gap 2 % and 10 %; below 20 runs or 25 topics unknown. Near a limit (tau within
0.02, gap within 1 %) either class counts as right.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import unjudged as uj
from unjudged.reporting import Settings, Subject, section
from unjudged.simulation import SCENARIOS
from unjudged.statistics.correlation import tau_b

ORDER = ("1", "2", "3", "4", "5", "6", "7", "9", "11", "13", "17", "19", "25", "26", "27")
TOPICS = {"14": 10, "15": 25, "16": 50, "18": 50}
FRESH = 100
LIMITS = {"order": ((0.9, 0.8), 0.02), "fairness": ((0.02, 0.10), 0.01), "topics": ((0.9, 0.8), 0.02)}
KEYS = {"order": "fewer-judgments", "fairness": "fair-to-outsiders", "topics": "enough-topics"}


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


def gap_if_left_out(observed: uj.Collection, truth: uj.Collection, subject: Subject) -> float:
    """Mean P@10 gap of a pooled team that is left out: (observed/true) of it over that of the others, less 1."""
    true = uj.score(truth, ["P@10"], rel=subject.settings.rel).mean_values()[:, 0]
    gaps = []
    for runs in subject.pooled_teams.values():
        after = uj.score(subject.without(runs), ["P@10"], rel=subject.settings.rel).mean_values()[:, 0]
        out = np.array([run in runs for run in observed.runs])
        gaps.append((after[out].mean() / true[out].mean()) / (after[~out].mean() / true[~out].mean()) - 1)
    return float(np.mean(gaps))


def setting(scenario: str, seed: int) -> list[tuple[str, str, float | None, set[str], str, float]]:
    """(question, truth, words that are right, verdict, its value) of one simulated collection."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) / "sim"
        more = {"topics": TOPICS[scenario] + FRESH} if scenario in TOPICS else {}
        made = uj.simulate(scenario=scenario, seed=seed, out=here, **more)
        about = json.loads((here / "simulation.json").read_text())["summary"]
        rel = about["rel"]
        observed = uj.load(str(made.qrels), str(made.run_folder), teams=made.teams)
        truth = uj.load(str(made.truth), str(made.run_folder))
        settings = Settings(rel=rel if rel != 1 else None)
        rows = []
        if scenario in TOPICS:
            n = TOPICS[scenario]
            x = uj.score(truth, ["AP"], rel=rel).matrix("AP")
            value = tau_b(x[:n].mean(axis=0), x[n:].mean(axis=0))
            subject = Subject(uj.only(observed, list(observed.topics[:n])), settings)
            found = section(KEYS["topics"], subject).verdict
            rows.append(("topics", value, classes("topics", value, n < 25), found.word, found.value))
            return rows
        subject = Subject(observed, settings)
        few = len(observed.runs) < 20
        value = about["tau"]["AP"]
        found = section(KEYS["order"], subject).verdict
        rows.append(("order", value, classes("order", value, few), found.word, found.value))
        given = about["gap_pct"]["P@10"]
        if given is None and subject.pool is None:  # nobody is outside, and nobody can be left out
            return rows
        gap = gap_if_left_out(observed, truth, subject) if given is None else given / 100
        right = classes("fairness", -gap, few) | ({"unknown"} if scenario == "11" else set())
        found = section(KEYS["fairness"], subject).verdict
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
    good = total = 0
    for scenario in args.only.split(","):
        for seed in map(int, args.seeds.split(",")):
            for question, value, right, word, number in setting(scenario, seed):
                agree = word in right
                good, total = good + agree, total + 1
                title = SCENARIOS[scenario].title
                words, mark = " or ".join(sorted(right)), "" if agree else "differs"
                cells = (f"{scenario} {title}", seed, question, f"{value:.3f}", words, word, f"{number:.3f}", mark)
                print("|", " | ".join(map(str, cells)), "|", flush=True)
    print(f"\n{good} of {total} verdicts agree.", file=sys.stdout)


if __name__ == "__main__":
    main()
