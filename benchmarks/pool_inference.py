"""Pool inference against pools whose depth and members are known; prints the tables of docs/pools.md.

python benchmarks/pool_inference.py [--seeds 1,2] [--data DIR] [--only KIND]

Pools are made from simulated collections and from the real ones under DIR (trec2-adhoc, robust03, dl19-passage): the
runs of some teams are declared pooled, and only the judgments in their top documents stay. Kinds:

fixed             half of the teams, one depth                  minority         a sixth of the teams
varying           a depth of 5 to 15 drawn for each topic       one team         one team alone
missing           a tenth of the judgments lost                 one run a team   of every team, the others not pooled
varying, missing  both                                          two depths       half of the runs twice as deep
some absent       half of the pooled teams are not at hand      judged further   half as many judgments again, of
as simulated, as published: not reduced                                          documents that most runs have

Where no pool can be seen, the right answer is unknown: absent (no pooled run is at hand), sampled (a tenth of the
judgments kept), scattered (judged without regard to rank). Seeds with an odd number served to choose the constants; the
others are reported apart. A depth is right if it is the true one; where depths vary, if it lies between them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import unjudged as uj
from unjudged.collection import Ints
from unjudged.collection.inference import infer_pool
from unjudged.collection.pool import inferred_depth, inferred_runs, read_pooled

REAL = {"trec2-adhoc": 100, "robust03": 125, "dl19-passage": 10}
OUTSIDE = {"trec2-adhoc": {"rutfmed", "uicah"}}  # 36 of 38 runs were pooled (Lipani et al. 2015)
ONLY = {"robust03": "601-650"}  # the other topics were pooled years before, from other runs
SIMULATED = {
    "adhoc": {"preset": "adhoc", "runs": 60, "teams": 20, "topics": 30, "K": 300},
    "passage": {"preset": "passage", "topics": 30, "K": 200},
    "small": {"preset": "tiny", "runs": 18, "teams": 8},
}
DEPTHS = {"dl19-passage": (3, 5, 7), "small": (5, 10, 20)}
SCENARIOS = (2, 5, 6, 7, 9, 11, 13, 17, 20, 26, 27, 28)
KINDS = (
    "fixed",
    "varying",
    "missing",
    "varying, missing",
    "minority",
    "one team",
    "one run a team",
    "two depths",
    "some absent",
    "judged further",
)
UNSEEN = ("absent", "sampled", "scattered")


@dataclass(frozen=True)
class Case:
    """A pool with its truth; `low` and `high` are the depths that count as right, none where nothing can be seen."""

    kind: str
    source: str
    seed: int
    collection: uj.Collection
    low: int | None
    high: int | None
    pooled: frozenset[str]


def reduced(collection: uj.Collection, depth: Ints, pooled: Iterable[str], lost: float, seed: int) -> uj.Collection:
    """Only the judgments in the top `depth` (runs x topics) of these runs, less a share lost at random."""
    hits = collection.hits.ungrouped
    wanted = set(pooled)
    inside = np.array([run in wanted for run in collection.runs])[hits.run] & (hits.line <= depth[hits.run, hits.topic])
    kept = np.zeros(len(collection.judgments), bool)
    kept[hits.row[inside]] = True
    kept &= np.random.default_rng([seed, 2]).random(len(kept)) >= lost
    return collection.keeping(kept, "reduced")


def further(whole: uj.Collection, cut: uj.Collection, depth: int, seed: int) -> uj.Collection:
    """A second round of judging: half as many judgments again, of documents most runs have in the top 3 `depth`."""
    hits = whole.hits.ungrouped
    votes = np.bincount(hits.row[hits.line <= 3 * depth], minlength=len(whole.judgments)).astype(float)
    votes += np.random.default_rng([seed, 3]).random(len(votes))
    votes[cut.rows] = -1
    kept = np.zeros(len(votes), bool)
    kept[np.argsort(-votes)[: len(cut.rows) // 2]] = True
    kept[cut.rows] = True
    return whole.keeping(kept, "judged further").alone()


def cases_of(source: str, whole: uj.Collection, seed: int) -> Iterator[Case]:
    """Every kind of reduction of a collection whose judgments go deeper than the pools made of it."""
    topics = len(whole.topics)
    outside = OUTSIDE.get(source, set())
    of_team: dict[str, list[str]] = {}
    for run in whole.runs:
        if run not in outside:
            of_team.setdefault(whole.teams[run], []).append(run)
    for k, kind in enumerate((*KINDS, *UNSEEN)):
        random = np.random.default_rng([seed, k, sum(map(ord, source))])
        teams = [sorted(of_team)[i] for i in random.permutation(len(of_team))]
        many = {"minority": max(2, len(teams) // 6), "one team": 1}.get(kind, len(teams) // 2)
        runs = [run for team in teams[:many] for run in of_team[team]]
        if kind == "one run a team":
            runs = [of_team[team][int(random.integers(len(of_team[team])))] for team in teams]
        one = int(random.choice(DEPTHS.get(source, (5, 10, 20, 50))))
        depth = np.full(topics, one)
        if kind.startswith("varying"):
            depth = random.integers(3, 9, topics) if source == "dl19-passage" else random.integers(5, 16, topics)
        last = np.array([depth] * len(whole.runs))
        if kind == "two depths":
            last[[whole.runs.index(run) for run in runs[::2]]] *= 2
        cut = reduced(whole, last, runs, 0.1 if "missing" in kind else 0.9 if kind == "sampled" else 0.0, seed)
        low, high, members = int(last.min()), int(last.max()), frozenset(runs)
        if kind == "some absent":
            members = frozenset(run for team in teams[:many:2] for run in of_team[team])
            cut = cut.with_runs([run for run in whole.runs if run in members or run not in set(runs)]).alone()
        if kind == "judged further":
            cut = further(whole, cut, one, seed)
        if kind == "absent":
            others = [run for run in whole.runs if run not in members]
            cut = cut.with_runs(others).alone()
        if kind == "scattered":
            cut = whole.keeping(random.random(len(whole.judgments)) < 0.3, "scattered").alone()
        if kind in UNSEEN:
            yield Case(kind, source, seed, cut.alone(), None, None, frozenset())
        else:
            yield Case(kind, source, seed, cut.alone(), low, high, members)


def cases(data: Path | None, seeds: Sequence[int], folder: Path) -> Iterator[Case]:
    """All cases: reductions of simulated and real collections, simulated pools and published ones as they are."""
    for seed in seeds:
        for name, parameters in SIMULATED.items():
            made = uj.simulate(**parameters, seed=seed, out=folder / f"{name}-{seed}")  # type: ignore[arg-type]
            yield from cases_of(name, uj.load(made.truth, made.run_folder, teams=made.teams), seed)
        for scenario in SCENARIOS:
            made = uj.simulate(scenario=scenario, seed=seed, topics=25, K=300, out=folder / f"{scenario}-{seed}")
            collection = uj.load(made.qrels, made.run_folder, teams=made.teams)
            depth, pooled = made.parameters.depth, read_pooled(str(folder / f"{scenario}-{seed}" / "pooled.tsv"))
            yield Case("as simulated", f"scenario {scenario}", seed, collection, depth, depth, frozenset(pooled))
        for name, depth in REAL.items() if data else ():
            assert data is not None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                paths = data / name / "qrels.txt.gz", data / name / "runs"
                whole = uj.load(*paths, teams=data / name / "teams.tsv", lenient=True, only=ONLY.get(name))
            yield from cases_of(name, whole, seed)
            if seed == seeds[0]:
                pooled = [run for run in whole.runs if run not in OUTSIDE.get(name, ())]
                yield Case("as published", name, seed, whole, depth, depth, frozenset(pooled))


@dataclass(frozen=True)
class Answer:
    """What one rule said about one case."""

    depth: int | None
    runs: frozenset[str]
    seconds: float

    def right(self, case: Case) -> bool:
        """Is the depth the true one, or unknown where no pool can be seen?"""
        if case.low is None or case.high is None:
            return self.depth is None
        return self.depth is not None and case.low <= self.depth <= case.high

    def members(self, case: Case) -> tuple[float, float]:
        """Precision and recall of the pooled runs."""
        both = len(self.runs & case.pooled)
        return both / max(len(self.runs), 1), both / max(len(case.pooled), 1)


def present(collection: uj.Collection) -> Answer:
    """The rule of the papers: the most frequent judged prefix, and runs judged so far in every topic."""
    start = time.process_time()
    depth = inferred_depth(collection)
    runs = frozenset(inferred_runs(collection, depth)) if depth else frozenset()
    return Answer(depth, runs, time.process_time() - start)


def by_likelihood(collection: uj.Collection) -> tuple[Answer, str]:
    """The new rule, and its reason."""
    start = time.process_time()
    found = infer_pool(collection)
    seconds = time.process_time() - start
    return Answer(found.depth, frozenset(found.pooled()) if found.depth else frozenset(), seconds), found.reason


def summary(title: str, rows: Sequence[tuple[Case, Answer, Answer]]) -> None:
    """One line per kind: depth right, wrong or unknown; precision and recall of members where a depth was said."""
    print(f"\n{title}\n{'':18s}{'':6s}{'likelihood':^42s}  {'rule of the papers':^30s}")
    print(f"{'kind':18s}{'cases':>6s}{'right':>7s}{'wrong':>7s}{'unknown':>9s}{'precision':>10s}{'recall':>8s}", end="")
    print(f"   {'right':>7s}{'wrong':>7s}{'precision':>10s}{'recall':>8s}")
    kinds = [
        kind for kind in (*KINDS, "as simulated", "as published", *UNSEEN) if any(c.kind == kind for c, _, _ in rows)
    ]
    groups = [(kind, [row for row in rows if row[0].kind == kind]) for kind in kinds]
    seen = [row for row in rows if row[0].low is not None]
    for kind, chosen in [*groups, ("all with a pool", seen), ("all", list(rows))]:
        print(f"{kind:18s}{len(chosen):6d}", end="")
        for which in (1, 2):
            pairs = [(row[0], row[which]) for row in chosen]
            right = sum(a.right(c) for c, a in pairs)  # type: ignore[union-attr]
            said = [(c, a) for c, a in pairs if c.low is not None and a.depth is not None]  # type: ignore[union-attr]
            unknown = sum(a.depth is None and not a.right(c) for c, a in pairs)  # type: ignore[union-attr]
            both = np.array([a.members(c) for c, a in said]).reshape(-1, 2)  # type: ignore[union-attr]
            shown = "".join(
                f"{v:{w}.3f}" if len(both) else f"{'-':>{w}s}" for v, w in zip(_mean(both), (10, 8), strict=True)
            )
            told = f"{unknown:9d}" if which == 1 else ""
            print(f"{'   ' * (which == 2)}{right:7d}{len(pairs) - right - unknown:7d}{told}{shown}", end="")
        print()


def _mean(values: np.ndarray) -> list[float]:
    return [float(v) for v in values.mean(axis=0)] if len(values) else [0.0, 0.0]


def main() -> None:
    """Make the cases, ask both rules, print a line per case and the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1,2", help="seeds, comma separated; odd ones served to choose constants")
    parser.add_argument("--data", type=Path, help="folder of the real collections")
    parser.add_argument("--only", help="one kind of case")
    args = parser.parse_args()
    rows: list[tuple[Case, Answer, Answer]] = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(args.data, [int(s) for s in args.seeds.split(",")], Path(folder)):
            if args.only in (None, case.kind):
                (new, reason), old = by_likelihood(case.collection), present(case.collection)
                rows.append((case, new, old))
                _line(case, new, old, reason)
    for title, odd in (("seeds the constants were chosen with", 1), ("held-out seeds", 0)):
        chosen = [row for row in rows if row[0].seed % 2 == odd]
        if chosen:
            summary(title, chosen)
    print(f"\nslowest: {max(new.seconds for _, new, _ in rows):.2f} CPU seconds")


def _line(case: Case, new: Answer, old: Answer, reason: str) -> None:
    truth = "none" if case.low is None else f"{case.low}" if case.low == case.high else f"{case.low}-{case.high}"
    shown = " ".join(f"{v:.2f}" for v in new.members(case)) if case.low is not None and new.depth else "-"
    before = " ".join(f"{v:.2f}" for v in old.members(case)) if case.low is not None and old.depth else "-"
    print(
        f"{case.kind:17s} {case.source:13s} {case.seed:3d}  true {truth:6s}"
        f" of {len(case.pooled):2d}/{len(case.collection.runs):2d}"
        f"  {'right' if new.right(case) else 'WRONG' if new.depth else 'unknown':7s} {new.depth!s:5s} {shown:10s}"
        f" before {old.depth!s:4s} {before:10s} {new.seconds:.2f}s {reason}",
        flush=True,
    )


if __name__ == "__main__":
    main()
