"""The contenders of bench_scoring.py, each as it is called in its own documentation.

    python peers.py files NAME SET QRELS RUN... [--scores FILE] [--again FILE]
    python peers.py dicts CASES.json SET OUT.json

`files`: from TREC files to the scores of every topic, held in memory, in this fresh process. `--scores` also
writes them (for the check of the values, never while timing); `--again` does the whole job twice and writes
CPU and wall seconds of both rounds (a process that is already warm).
`dicts`: the same from dicts {topic: {doc: number}} that are in memory before the clock starts, all contenders
in turn in one process.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

SEVEN = ("map", "ndcg", "ndcg_cut_10", "P_10", "recip_rank", "bpref", "Rprec")
"""The seven usual measures under trec_eval's names."""

OURS = dict(zip(SEVEN, ("AP", "nDCG", "nDCG@10", "P@10", "RR", "bpref", "Rprec"), strict=True))
RANX = dict(zip(SEVEN, ("map", "ndcg", "ndcg@10", "precision@10", "mrr", "bpref", "r-precision"), strict=True))

Scores = dict[tuple[str, str, str], float]
"""(run, topic, measure by trec_eval's name) -> value"""
Job = Callable[[], Any]
"""One measurement; what it returns `Contender.tidy` turns into Scores."""


def registered() -> list[str]:
    """Every measure of the registry, at 10 (recall 0.1) where it needs a cut-off."""
    from unjudged.measures import REGISTRY

    found = []
    for name, measure in REGISTRY.items():
        needs = any(p.required and p.name == measure.definition.cutoff for p in measure.definition.parameters.values())
        cut = {"k": "@10", "recall": "@0.1"}[measure.definition.cutoff] if needs else ""
        found.append(f"{name}{cut}")
    return found


class Unjudged:
    """This package."""

    module = "unjudged"

    def __init__(self) -> None:
        import unjudged

        self.package = unjudged

    def wanted(self, which: str) -> Any:
        """The measures of a set."""
        return {"seven": list(OURS.values()), "all": "all_trec"}.get(which) or registered()

    def files(self, which: str, qrels: str, runs: list[str]) -> Any:
        """From files to scores."""
        return self.package.score(self.package.load(qrels, runs, jobs=1), self.wanted(which))

    def dicts(self, which: str, qrels: Mapping[str, Any], runs: Mapping[str, Any]) -> Any:
        """From dicts to scores."""
        return self.package.score(self.package.load(qrels, runs, jobs=1), self.wanted(which))

    def tidy(self, result: Any) -> Scores:
        """The result in common terms."""
        names = {ours: name for name, ours in OURS.items()}
        rows = ((run, topic, names[m], value) for run, topic, m, value in result.rows() if topic != "all")
        return {(run, topic, name): value for run, topic, name, value in rows}


class PytrecEval:
    """pytrec_eval(-terrier)."""

    module = "pytrec_eval"

    def __init__(self) -> None:
        import pytrec_eval

        self.package = pytrec_eval

    def wanted(self, which: str) -> set[str]:
        """The measures of a set."""
        if which == "all":
            return set(self.package.supported_measures) - {"relstring", "runid"}
        return {name.replace("_cut_", "_cut.").replace("P_", "P.") for name in SEVEN}

    def files(self, which: str, qrels: str, runs: list[str]) -> Any:
        """From files to scores."""
        with open(qrels) as file:  # noqa: PTH123 - as its README does
            judge = self.package.RelevanceEvaluator(self.package.parse_qrel(file), self.wanted(which))
        found = {}
        for path in runs:
            with open(path) as file:  # noqa: PTH123
                found[Path(path).name] = judge.evaluate(self.package.parse_run(file))
        return found

    def dicts(self, which: str, qrels: Mapping[str, Any], runs: Mapping[str, Any]) -> Any:
        """From dicts to scores."""
        judge = self.package.RelevanceEvaluator(qrels, self.wanted(which))
        return {name: judge.evaluate(run) for name, run in runs.items()}

    def tidy(self, result: Any) -> Scores:
        """The result in common terms."""
        return {
            (run, topic, name): values[name]
            for run, topics in result.items()
            for topic, values in topics.items()
            for name in SEVEN
        }


class IrMeasures:
    """ir_measures."""

    module = "ir_measures"

    def __init__(self) -> None:
        import ir_measures

        self.package: Any = ir_measures
        self.names = dict(zip(("AP", "nDCG", "nDCG@10", "P@10", "RR", "Bpref", "Rprec"), SEVEN, strict=True))

    def judge(self, qrels: Any) -> Any:
        """Its evaluator, which takes many runs."""
        return self.package.evaluator([self.package.parse_measure(m) for m in self.names], qrels)

    def files(self, which: str, qrels: str, runs: list[str]) -> Any:
        """From files to scores."""
        judge = self.judge(self.package.read_trec_qrels(qrels))
        return {Path(p).name: list(judge.iter_calc(self.package.read_trec_run(p))) for p in runs}

    def dicts(self, which: str, qrels: Mapping[str, Any], runs: Mapping[str, Any]) -> Any:
        """From dicts to scores."""
        judge = self.judge(qrels)
        return {name: list(judge.iter_calc(run)) for name, run in runs.items()}

    def tidy(self, result: Any) -> Scores:
        """The result in common terms."""
        return {
            (run, score.query_id, self.names[str(score.measure)]): score.value
            for run, scores in result.items()
            for score in scores
        }


class Ranx:
    """ranx."""

    module = "ranx"

    def __init__(self) -> None:
        import ranx

        self.package = ranx

    def evaluate(self, qrels: Any, run: Any) -> Any:
        """Scores of one run, by topic."""
        self.package.evaluate(qrels, run, list(RANX.values()), return_mean=False, threads=1)
        return run.scores

    def files(self, which: str, qrels: str, runs: list[str]) -> Any:
        """From files to scores."""
        judged = self.package.Qrels.from_file(qrels, kind="trec")
        return {Path(p).name: self.evaluate(judged, self.package.Run.from_file(p, kind="trec")) for p in runs}

    def dicts(self, which: str, qrels: Mapping[str, Any], runs: Mapping[str, Any]) -> Any:
        """From dicts to scores."""
        judged = self.package.Qrels(qrels)
        return {name: self.evaluate(judged, self.package.Run(run)) for name, run in runs.items()}

    def tidy(self, result: Any) -> Scores:
        """The result in common terms."""
        return {
            (run, topic, name): float(value)
            for run, scores in result.items()
            for name in SEVEN
            for topic, value in scores[RANX[name]].items()
        }


CONTENDERS: dict[str, Any] = {c.module: c for c in (Unjudged, PytrecEval, IrMeasures, Ranx)}


def timed(job: Job) -> tuple[Any, list[float]]:
    """The result, and CPU and wall seconds."""
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    result = job()
    return result, [time.process_time() - cpu, time.perf_counter() - wall]


def write_scores(path: str, scores: Scores) -> None:
    """As lines run, topic, measure, value."""
    with Path(path).open("w") as file:
        file.writelines(f"{r}\t{t}\t{m}\t{v!r}\n" for (r, t, m), v in scores.items())


def read_dict(
    path: str, column: int, kind: type, topics: int | None = None, length: int | None = None
) -> dict[str, dict[str, Any]]:
    """A TREC file as {topic: {doc: number}}: the first `topics` topics of it, the first `length` lines of each."""
    found: dict[str, dict[str, Any]] = {}
    with Path(path).open() as file:
        for line in file:
            fields = line.split()
            if fields[0] not in found:
                if topics is not None and len(found) == topics:
                    break
                found[fields[0]] = {}
            if length is None or len(found[fields[0]]) < length:
                found[fields[0]][fields[2]] = kind(fields[column])
    return found


def largest_difference(ours: Scores, theirs: Scores) -> dict[str, float]:
    """Per measure; infinite where one side lacks a value or has NaN."""
    worst = dict.fromkeys(SEVEN, 0.0)
    for key in ours.keys() | theirs.keys():
        gap = abs(ours.get(key, float("nan")) - theirs.get(key, float("nan")))
        worst[key[2]] = max(worst[key[2]], float("inf") if gap != gap else gap)
    return worst


def compare_dicts(cases: Iterable[Mapping[str, Any]], which: str) -> dict[str, Any]:
    """All contenders in turn on the same dicts: times of each round, differences of the values from ours."""
    from importlib.util import find_spec

    there = {name: kind() for name, kind in CONTENDERS.items() if find_spec(name)}
    out: dict[str, Any] = {}
    for case in cases:
        qrels = read_dict(case["qrels"], 3, int, case.get("topics"))
        cut = case.get("topics"), case.get("length")
        runs = {Path(p).name: read_dict(p, 4, float, *cut) for p in case["runs"]}
        gc.freeze()
        times: dict[str, list[list[float]]] = {name: [] for name in there}
        differences: dict[str, dict[str, float]] = {}
        ours: Scores = {}
        for turn in range(case["repeats"] + 1):  # the first one warms up and is reported apart
            for name, contender in there.items():
                result, spent = timed(partial(contender.dicts, which, qrels, runs))
                times[name].append(spent)
                if not turn:
                    scores = contender.tidy(result)
                    ours = scores if name == "unjudged" else ours
                    differences[name] = largest_difference(ours, scores)
                del result
        gc.unfreeze()
        out[case["name"]] = {"times": times, "differences": differences}
    return out


def option(name: str, given: list[str]) -> str | None:
    """Takes `name VALUE` out of the arguments. (No argparse here: its import is not the contender's cost.)"""
    if name not in given:
        return None
    at = given.index(name)
    value = given[at + 1]
    del given[at : at + 2]
    return value


def main(given: list[str]) -> None:
    """One contender on files, or all on dicts."""
    scores, again = option("--scores", given), option("--again", given)
    if given[:1] == ["dicts"]:
        import json

        cases, which, out = given[1:]
        Path(out).write_text(json.dumps(compare_dicts(json.loads(Path(cases).read_text()), which)))
        return
    if given[:1] != ["files"] or len(given) < 5:
        sys.exit(__doc__)
    name, which, qrels, *runs = given[1:]
    contender = CONTENDERS[name]()
    if again:
        rounds = []
        for _ in range(2):
            result, spent = timed(lambda: contender.files(which, qrels, runs))
            rounds.append(spent)
            del result
        Path(again).write_text(repr(rounds))
        return
    result = contender.files(which, qrels, runs)
    if scores:
        write_scores(scores, contender.tidy(result))


if __name__ == "__main__":
    main(sys.argv[1:])
