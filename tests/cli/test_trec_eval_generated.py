"""Generated judgments, runs and options: the bytes of trec_eval 9 (by way of pytrec_eval), or of a real binary.

pytrec_eval is trec_eval 9's own code, one topic at a time, without its reading and printing. What trec_eval does
around it (topics in order of their bytes, sums and means, formats) is written down here a second time, in
`Printer`. Environment:

- `TREC_EVAL=/path/to/trec_eval` compares with that program instead of skipping `test_same_bytes_as_the_real_program`;
- `UNJUDGED_GENERATED=10000` generates so many cases (a few hundred otherwise).
"""

from __future__ import annotations

import math
import os
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytrec_eval
from reference import Qrels, Run, in_order

from unjudged.cli import main

CASES = int(os.environ.get("UNJUDGED_GENERATED", "300"))
BLOCK = 50
REAL = os.environ.get("TREC_EVAL")

CUTS = ("P", "recall", "ndcg_cut", "map_cut", "relative_P", "success")
PLAIN = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "map", "gm_map", "Rprec", "bpref"),
    *("gm_bpref", "recip_rank", "infAP", "utility", "11pt_avg", "binG", "G", "ndcg", "ndcg_rel", "Rndcg", "set_P"),
    *("set_relative_P", "set_recall", "set_map", "set_F", "iprec_at_recall", "Rprec_mult"),
)
SUMMARY_ONLY = ("num_q", "gm_map", "gm_bpref")
FLOOR = 0.00001


@dataclass
class Case:
    """Judgments, one run and options."""

    qrels: Qrels
    run: Run
    measures: list[str]
    level: int = 1
    depth: int | None = None
    judged_only: bool = False
    complete: bool = False
    per_topic: bool = False
    summary: bool = True

    @property
    def options(self) -> list[str]:
        flags = [("-J", self.judged_only), ("-c", self.complete), ("-q", self.per_topic), ("-n", not self.summary)]
        valued = [f"-l{self.level}"] * (self.level != 1) + [f"-M{self.depth}"] * (self.depth is not None)
        return [flag for flag, set_ in flags if set_] + valued + [f"-m{measure}" for measure in self.measures]

    def write(self, folder: Path) -> list[str]:
        """The files, lines in no order."""
        judged = [f"{t} 0 {d} {g}\n" for t, docs in self.qrels.items() for d, g in docs.items()]
        listed = [f"{t} Q0 {d} 0 {s!r} made\n" for t, docs in self.run.items() for d, s in docs.items()]
        (folder / "qrels").write_text("".join(judged), encoding="utf-8")
        (folder / "run").write_text("".join(listed), encoding="utf-8")
        return [str(folder / "qrels"), str(folder / "run")]


def cutoffs(rng: random.Random) -> str:
    values = rng.sample((1, 2, 3, 4, 5, 7, 8, 10, 16, 20, 25, 40, 80, 100, 160), rng.randint(1, 4))
    return ",".join(map(str, values))


def generated(seed: int, missing: bool = True) -> Case:
    """Grades with and without negatives, ties, missing and extra topics, short lists; a few measures."""
    rng = random.Random(seed)
    kinds = rng.choice(((0, 1), (0, 0, 0, 1), (-2, -1, 0, 0, 1, 1, 2, 3), (0, 1, 2, 12), (-1, 0, 1), (1, 2)))
    names = [str(n) for n in rng.sample(range(1, 200), rng.randint(1, 9))] + ["t-é", "A b"[0]][: rng.randint(0, 2)]
    qrels: Qrels = {}
    run: Run = {}
    for topic in names:
        docs = [f"d{i}" for i in range(rng.choice((3, 8, 25, 60)))]
        judged = rng.sample(docs, rng.randint(1, len(docs)))
        qrels[topic] = {doc: rng.choice(kinds) for doc in judged}
        if all(grade < 0 for grade in qrels[topic].values()):
            qrels[topic][judged[0]] = 0
        if missing and topic != names[0] and rng.random() < 0.15:
            continue
        listed = rng.sample(docs, rng.choice((1, min(5, len(docs)), len(docs))))
        scores = rng.choice(((1.0,), (3.0, 2.0, 1.0), tuple(range(100)), (16777216.0, 16777217.0, 0.1, -0.1)))
        run[topic] = {doc: float(rng.choice(scores)) for doc in listed}
    if rng.random() < 0.3:
        run["unjudged"] = {"d1": 1.0}
    asked = list(rng.sample(PLAIN, rng.randint(1, 8)))
    asked += [f"{name}.{cutoffs(rng)}" if rng.random() < 0.7 else name for name in rng.sample(CUTS, rng.randint(0, 3))]
    depth = rng.choice((None, None, 1, 3, 10))
    flags = {name: rng.random() < 0.4 for name in ("judged_only", "complete", "per_topic")}
    return Case(qrels, run, asked, rng.choice((1, 1, 1, 2, 3)), depth, summary=rng.random() < 0.9, **flags)


class Printer:
    """What trec_eval 9 prints around the values of pytrec_eval."""

    def __init__(self, case: Case) -> None:
        self.case = case
        answered = {t: docs for t, docs in case.run.items() if t in case.qrels}
        if case.depth is not None:
            answered = {t: {d: docs[d] for d in in_order(docs, "trec9")[: case.depth]} for t, docs in answered.items()}
        peer = pytrec_eval.RelevanceEvaluator(
            case.qrels, case.measures, relevance_level=case.level, judged_docs_only_flag=case.judged_only
        )
        self.values = peer.evaluate(answered)
        self.topics = sorted(answered, key=lambda t: t.encode())
        self.counted = len(case.qrels) if case.complete else len(answered)

    def line(self, name: str, topic: str, value: float) -> str:
        number = f"{value:.0f}" if name.startswith("num_") else f"{value:6.4f}".replace("   nan", "  -nan")  # C's 0/0
        return f"{name:<22}\t{topic}\t{number}\n"

    def mean(self, name: str) -> float:
        total = 0.0
        for topic in self.topics:
            total += self.values[topic][name]
        if name == "num_q":
            return float(self.counted)
        if name == "num_rel" and self.case.complete:
            return float(sum(g > 0 for docs in self.case.qrels.values() for g in docs.values()))
        if name.startswith("num_"):
            return total
        if name.startswith("gm_"):
            total += (self.counted - len(self.topics)) * math.log(FLOOR)
            return math.exp(total / self.counted)
        return total / self.counted

    def text(self) -> str:
        names = list(self.values[self.topics[0]])
        out = ""
        if self.case.per_topic:
            for topic in self.topics:
                shown = [name for name in names if name not in SUMMARY_ONLY]
                out += "".join(self.line(name, topic, self.values[topic][name]) for name in shown)
        if self.case.summary:
            out += "".join(self.line(name, "all", self.mean(name)) for name in names)
        return out


@dataclass
class GroupedCase:
    """Judgments of several assessors or preferences, as lines, one run and options."""

    judgments: list[str]
    run: list[str]
    options: list[str]

    def write(self, folder: Path) -> list[str]:
        (folder / "qrels").write_text("".join(self.judgments), encoding="utf-8")
        (folder / "run").write_text("".join(self.run), encoding="utf-8")
        return [str(folder / "qrels"), str(folder / "run")]


def generated_groups(seed: int, missing: bool) -> GroupedCase:
    """Up to three assessors, for preferences with up to three subgroups; each gives a document one level."""
    rng = random.Random(seed)
    kind = rng.choice(("qrels_jg", "prefs", "qrels_prefs"))
    grades = rng.choice(((0, 1), (0, 0, 1, 2), (0, 1, 2, 3), (1, 2)))
    topics = [str(n) for n in rng.sample(range(1, 200), rng.randint(1, 5))]
    judgments, run = [], []
    for topic in topics:
        docs = [f"d{i}" for i in range(rng.choice((3, 8, 15)))]
        for group in range(rng.randint(1, 3)):
            level = {doc: rng.choice(grades) for doc in docs}
            for subgroup in range(rng.randint(1, 3) if kind == "prefs" else 1):
                column = f"s{subgroup} " * (kind == "prefs")
                some = rng.sample(docs, rng.randint(1, len(docs)))
                judgments += [f"{topic} g{group} {column}{doc} {level[doc]}\n" for doc in some]
        if not missing or topic == topics[0] or rng.random() < 0.9:
            scores = rng.choice(((1.0,), (3.0, 2.0, 1.0), tuple(range(1, 100))))
            listed = rng.sample([*docs, "x1", "x2"], rng.randint(1, len(docs)))
            run += [f"{topic} Q0 {doc} 0 {float(rng.choice(scores))} made\n" for doc in listed]
    asked = rng.choice(("qrels_jg", "P_avgjg.1,3,7")) if kind == "qrels_jg" else "all_prefs"
    options = ["-R", kind, f"-m{asked}", *(flag for flag in ("-q", "-c", "-J") if rng.random() < 0.4)]
    return GroupedCase(judgments, run, options + rng.choice(([], [], ["-M3"], ["-l2"])))


def ours(case: Case | GroupedCase, arguments: list[str], folder: Path, capfd: pytest.CaptureFixture[str]) -> str:
    assert main(["trec_eval", *arguments, *case.options, *case.write(folder)]) == 0
    return capfd.readouterr().out


def blocks() -> list[range]:
    return [range(start, min(start + BLOCK, CASES)) for start in range(0, CASES, BLOCK)]


@pytest.mark.parametrize("seeds", blocks(), ids=lambda seeds: f"from{seeds.start}")
def test_same_bytes_as_trec_eval_9(seeds: range, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for seed in seeds:
        case = generated(seed)
        assert ours(case, ["--as", "9"], tmp_path, capfd) == Printer(case).text(), f"seed {seed}: {case.options}"


def test_generated_cases_hold_what_can_go_wrong() -> None:
    cases = [generated(seed) for seed in range(300)]
    grades = {g for case in cases for docs in case.qrels.values() for g in docs.values()}
    assert min(grades) < 0 and max(grades) > 9
    assert any(case.qrels.keys() - case.run.keys() for case in cases)
    assert any(case.run.keys() - case.qrels.keys() for case in cases)
    lists = [docs for case in cases for docs in case.run.values()]
    assert any(len(set(docs.values())) < len(docs) for docs in lists) and any(len(docs) == 1 for docs in lists)
    assert {name.partition(".")[0] for case in cases for name in case.measures} == {*PLAIN, *CUTS}
    assert len({tuple(option[:2] for option in case.options if option[:2] != "-m") for case in cases}) > 20


@pytest.mark.skipif(not REAL, reason="TREC_EVAL does not name a trec_eval binary")
@pytest.mark.parametrize("seeds", blocks(), ids=lambda seeds: f"from{seeds.start}")
def test_same_bytes_as_the_real_program(seeds: range, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert REAL is not None
    told = subprocess.run([REAL, "-v"], capture_output=True, text=True, check=False)
    version = re.search(r"(\d+)\.\d", told.stdout + told.stderr)
    as_9 = ["--as", "9"] if version is not None and version[1] == "9" else []
    for seed in seeds:
        for make in (generated, generated_groups):
            case = make(seed, missing=bool(as_9))  # without -c, 10.0 exits where a judged topic is missing
            files = case.write(tmp_path)
            theirs = subprocess.run([REAL, *case.options, *files], capture_output=True, encoding="utf-8", check=True)
            assert ours(case, as_9, tmp_path, capfd) == theirs.stdout, f"seed {seed}: {case.options}"
