"""Cases with known answers for `report_truth.py`: our simulator, the latent one, and reductions of real collections.

A case is a collection as a user would see it (`observed`), the judgments behind it (`whole`, of which `kept` are
seen), and the pool that made the difference, where there is one.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import unjudged as uj
from unjudged.simulation import SCENARIOS

Mask = NDArray[np.bool_]

SOURCES = ("ours", "latent", "real")
FRESH = 100
"""Topics nobody saw, which tell the truth about `enough-topics` in a simulation."""

POOLED = (*map(str, range(1, 14)), "17", *map(str, range(19, 24)), "23b", "25", "26", "27", "28")
"""Scenarios of our simulator about pools."""
TOPICS_OURS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "adhoc": ("16", {}),
    "no differences": ("18", {}),
    "few relevant": ("21", {}),
    "many relevant": ("22", {}),
    "passage": ("26", {}),
    "runs far apart": ("16", {"q_team": 1.0, "q_run": 0.5}),
}
"""Scenarios of our simulator, with changes, whose numbers of topics are asked about."""
FEW = (10, 25, 50, 100)
"""Numbers of topics in a simulation: on 10 nothing can be said."""
WORLDS = 2
"""Sets of runs and topics of each scenario, made from seeds of their own."""
PARTS = {"half": 1 / 2, "two thirds": 2 / 3}
SOME_TEAMS = 2 / 3
"""Shares of a real collection: its topics that are asked about, and its teams where only some take part."""

LATENT: Mapping[str, Mapping[str, object]] = {
    "plain": {},
    "graded, new kind outside": {
        "grades": (0.6, 0.4),
        "topics": 30,
        "new_kind": (0.05, 0.05, 0.6),
        "new_truth": 0.25,
    },
    "few relevant": {"R": 12},
    "close runs": {"far": 0.08, "far_family": 0.05, "weak": 0},
}
TOPICS_LATENT: Mapping[str, Mapping[str, object]] = {**LATENT, "runs far apart": {"far": 1.0, "far_run": 0.5}}
"""Variants whose numbers of topics are asked about."""
LATENT_SIZE: Mapping[str, object] = {"teams": 16, "runs": 44, "K": 300, "C": 3000}
TEAMS = (1, 2, 3, 5, 10)
LATENT_DEPTHS = (5, 10, 50, 100)

REAL: Mapping[str, Mapping[str, Any]] = {
    "trec2-adhoc": {"path": "trec2-adhoc", "depths": (5, 10, 50), "rel": 1, "qrels": "qrels.txt.gz"},
    "robust03": {"path": "robust03", "depths": (5, 10, 50), "rel": 1, "qrels": "qrels.txt.gz", "only": "601-650"},
    "dl19-passage": {"path": "dl19-passage", "depths": (3, 5, 10), "rel": 2, "qrels": "qrels.txt.gz"},
    "dl21-passage": {"path": "judges/dl21-passage", "depths": (3, 5, 10), "rel": 2, "qrels": "human.txt.gz"},
}
"""Depths no deeper than the pool there was; of robust03 the topics that were pooled from these runs."""
MORE_TOPICS: Mapping[str, Mapping[str, Any]] = {
    "robust03, all topics": {"path": "robust03", "rel": 1, "qrels": "qrels.txt.gz"}
}
"""Asked about numbers of topics alone, for which the older pools of the other 50 topics of robust03 will do."""
KINDS = ("random", "cheapest", "different")
"""How the pooled teams of a real collection are chosen."""
POOLABLE = 0.97
"""Share of its top documents that must have been judged for a run to count as pooled in a reduction."""


@dataclass(frozen=True)
class Spec:
    """What makes a case."""

    source: str
    setting: str
    seed: int
    how: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)

    @property
    def key(self) -> tuple[str, str, int]:
        """Its name in the file of results."""
        return self.source, self.setting, self.seed


@dataclass(frozen=True)
class Case:
    """A collection whose truth is known.

    `whole` are the judgments of which `kept` are seen, as the judge gave them; `truth` the right ones, where the judge
    makes errors. `pooled` and `depth` are the pool (None where judgments were taken away in another way). `few` names
    the topics a question about numbers of topics is asked on, all others being the truth; such a case has no other
    questions.
    """

    spec: Spec
    whole: uj.Collection
    kept: Mask
    rel: int
    pooled: tuple[str, ...] | None = None
    depth: int | None = None
    few: tuple[int, ...] | None = None
    right: uj.Collection | None = None

    @property
    def truth(self) -> uj.Collection:
        """The full judgments without a judge's errors."""
        return self.whole if self.right is None else self.right

    @property
    def observed(self) -> uj.Collection:
        """What a user has at hand, with no memory of the rest."""
        seen = self.whole.keeping(self.kept, "seen") if self.few is None else self.whole.only(self.few)
        return replace(seen, _full=None, _rows=None, history=())  # as `alone`, but the lists stay: bounds need them


def top(whole: uj.Collection, runs: Sequence[str], depth: int) -> Mask:
    """Per judgment: does it lie in the top `depth` of one of these runs?"""
    hits, wanted = whole.hits.ungrouped, set(runs)
    inside = np.array([run in wanted for run in whole.runs], bool)[hits.run] & (hits.line <= depth)
    out = np.zeros(len(whole.judgments), bool)
    out[hits.row[inside]] = True
    return out


def runs_of(whole: uj.Collection) -> dict[str, list[str]]:
    """The runs of every team."""
    out: dict[str, list[str]] = {}
    for run in whole.runs:
        out.setdefault(whole.teams[run], []).append(run)
    return out


def poolable(whole: uj.Collection, depth: int) -> set[str]:
    """The runs that were judged down to this depth, or nearly so."""
    hits = whole.hits.ungrouped
    judged = np.bincount(hits.run[hits.line <= depth], minlength=len(whole.runs))
    there = np.minimum(hits.length.reshape(len(whole.runs), -1), depth).sum(axis=1)
    return {run for run, n, of in zip(whole.runs, judged, there, strict=True) if of and n >= POOLABLE * of}


def chosen_teams(
    whole: uj.Collection, teams: Mapping[str, Sequence[str]], n: int, kind: str, depth: int, seed: int
) -> list[str]:
    """n teams: at random, or one after the other the team that adds fewest documents (most per run: `different`)."""
    names = sorted(teams)
    if kind == "random":
        return [names[i] for i in np.random.default_rng([seed, n, depth]).permutation(len(names))[:n]]
    found = {name: top(whole, teams[name], depth) for name in names}
    seen, out = np.zeros(len(whole.judgments), bool), list[str]()
    for _ in range(min(n, len(names))):
        added = {name: int((found[name] & ~seen).sum()) for name in names if name not in out}
        if kind == "cheapest":
            best = min(added, key=lambda name: (added[name], name))
        else:
            best = max(added, key=lambda name: (added[name] / len(teams[name]), name))
        out.append(best)
        seen |= found[best]
    return out


# -- the list of cases


def specs(source: str, seeds: Sequence[int]) -> Iterator[Spec]:
    """All cases of a source; those made from one collection stand together."""
    for seed in seeds:
        yield from {"ours": _ours, "latent": _latent, "real": _real}[source](seed)


def _ours(seed: int) -> Iterator[Spec]:
    for number in POOLED:
        yield Spec("ours", f"scenario {number} {SCENARIOS[number].title}", seed, {"scenario": number})
    yield from _topics("ours", TOPICS_OURS, seed)


def _topics(source: str, variants: Iterable[str], seed: int) -> Iterator[Spec]:
    for variant in variants:
        for world in range(1, WORLDS + 1):
            for few in FEW:
                how = {"variant": variant, "world": world, "few": few}
                yield Spec(source, f"topics, {variant} {world}, {few}", seed, how)


def _latent(seed: int) -> Iterator[Spec]:
    for variant in LATENT:
        usual = variant in ("plain", "graded, new kind outside")
        for depth in LATENT_DEPTHS if usual else (10, 50):
            for n in (*TEAMS, *((16,) if variant == "plain" else ())) if usual else (3, 10):
                how = {"variant": variant, "teams": n, "depth": depth}
                yield Spec("latent", f"{variant}, {n} teams, depth {depth}", seed, how)
    yield from _topics("latent", TOPICS_LATENT, seed)


def _real(seed: int) -> Iterator[Spec]:
    for name, about in REAL.items():
        depths = about["depths"]
        for i, n in enumerate(TEAMS):
            for j, kind in enumerate(KINDS):
                depth = depths[(i + j + seed) % len(depths)]
                how = {"collection": name, "teams": n, "kind": kind, "depth": depth}
                yield Spec("real", f"{name}, {n} teams {kind}, depth {depth}", seed, how)
        for depth in depths:
            for n, many in ((8, "8 teams"), (99, "all teams")):
                how = {"collection": name, "teams": n, "kind": "random", "depth": depth}
                yield Spec("real", f"{name}, {many}, depth {depth}", seed, how)
        yield Spec("real", f"{name}, one relevant", seed, {"collection": name, "one": "relevant"})
        yield Spec("real", f"{name}, one judgment", seed, {"collection": name, "one": "judgment"})
    for name in (*REAL, *MORE_TOPICS):
        for part in PARTS:
            for draw, who in enumerate(("all teams", "some teams", "other teams"), 1):
                how = {"collection": name, "part": part, "draw": draw, "who": who}
                yield Spec("real", f"topics, {name}, {part}, {who}", seed, how)


# -- making them


def make(spec: Spec, data: Path | None) -> Case:
    """The case; `data` is the folder of the real collections."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if spec.source == "ours":
            return _make_ours(spec)
        if spec.source == "latent":
            return _make_latent(spec)
        if data is None:
            raise SystemExit("the source real needs --data, the folder of the real collections")
        return _make_real(spec, str(data))


def loaded(*paths: Any, **options: Any) -> uj.Collection:
    """A collection with its full lists, whose files may go."""
    collection = uj.load(*paths, **options)
    assert collection.rankings is not None
    return collection


def everything(whole: uj.Collection) -> Mask:
    """All judgments."""
    return np.ones(len(whole.judgments), bool)


def first_topics(whole: uj.Collection, few: int) -> uj.Collection:
    """The first `few` topics and the last 100 of a simulation, which are the same whatever lies between."""
    many = len(whole.topics)
    return whole.only((*range(few), *range(many - FRESH, many)))


@lru_cache(maxsize=1)
def _ours_topics(variant: str, seed: int) -> tuple[uj.Collection, int]:
    """The complete judgments of a scenario with 100 topics more than are asked about, and the smallest grade."""
    scenario, changes = TOPICS_OURS[variant]
    with tempfile.TemporaryDirectory() as folder:
        more = {"topics": max(FEW) + FRESH, "K": 300} | dict(changes)
        made = uj.simulate(scenario=scenario, seed=seed, out=Path(folder) / "sim", **more)  # type: ignore[arg-type]
        return loaded(str(made.truth), str(made.run_folder), teams=made.teams), made.parameters.rel


def world_seed(spec: Spec) -> int:
    """The seed of a set of runs and topics, other than that of any case about pools."""
    return 10_000 * int(spec.how["world"]) + spec.seed


def _make_ours(spec: Spec) -> Case:
    if "few" in spec.how:
        few = spec.how["few"]
        whole, rel = _ours_topics(spec.how["variant"], world_seed(spec))
        part = first_topics(whole, few)
        return Case(spec, part, everything(part), rel, few=tuple(range(few)))
    scenario = spec.how["scenario"]
    with tempfile.TemporaryDirectory() as folder:
        made = uj.simulate(scenario=scenario, seed=spec.seed, out=Path(folder) / "sim", K=500)
        whole = loaded(str(made.truth), str(made.run_folder), teams=made.teams)
    rel = made.parameters.rel
    kept, grades = [], []
    for topic in made.results:  # the rows of truth.txt, in their order
        known = np.flatnonzero(topic.retrieved | (topic.grade > 0))
        known = known[np.argsort(topic.document[known])]
        given = topic.grade.copy()
        given[topic.judged] = topic.judgment
        kept.append(np.isin(known, topic.judged))
        grades.append(given[known])
    seen = whole.regraded(np.concatenate(grades).astype(np.int32), "as judged")
    pooled = tuple(run for run, yes in zip(made.runs.names, made.runs.pooled, strict=True) if yes)
    return Case(spec, seen, np.concatenate(kept), rel, pooled, made.parameters.depth, right=whole)


@lru_cache(maxsize=1)
def _latent_whole(variant: str, seed: int, few: int) -> tuple[uj.Collection, dict[str, str]]:
    """The complete judgments of a latent collection, and the family of every team."""
    more = dict(LATENT_SIZE) | dict(TOPICS_LATENT[variant]) | ({"topics": few + FRESH, "K": 200} if few else {})
    with tempfile.TemporaryDirectory() as folder:
        made = uj.simulate(mechanism="latent", seed=seed, out=Path(folder) / "sim", **more)  # type: ignore[arg-type]
        whole = loaded(str(made.truth), str(made.run_folder), teams=made.teams)
    names = (made.runs.family_names[h] for h in made.runs.family)
    return whole, dict(zip(made.runs.team_names, names, strict=True))


def _make_latent(spec: Spec) -> Case:
    variant, few = spec.how["variant"], spec.how.get("few", 0)
    if few:
        part = first_topics(_latent_whole(variant, world_seed(spec), max(FEW))[0], few)
        return Case(spec, part, everything(part), 1, few=tuple(range(few)))
    whole, family = _latent_whole(variant, spec.seed, 0)
    teams = runs_of(whole)
    if "new kind" in variant:
        teams = {team: runs for team, runs in teams.items() if family[team] != "family3"}
    depth = spec.how["depth"]
    chosen = chosen_teams(whole, teams, spec.how["teams"], "random", depth, spec.seed)
    pooled = tuple(run for team in chosen for run in teams[team])
    return Case(spec, whole, top(whole, pooled, depth), 1, pooled, depth)


@lru_cache(maxsize=1)
def _real_whole(name: str, data: str) -> uj.Collection:
    about = {**REAL, **MORE_TOPICS}[name]
    folder = Path(data) / about["path"]
    paths = folder / about["qrels"], folder / "runs"
    return loaded(*paths, teams=folder / "teams.tsv", lenient=True, only=about.get("only"))


def _make_real(spec: Spec, data: str) -> Case:
    name = spec.how["collection"]
    whole, rel = _real_whole(name, data), {**REAL, **MORE_TOPICS}[name]["rel"]
    random = np.random.default_rng([spec.seed, sum(map(ord, name))])
    if "part" in spec.how:
        return _some_topics(spec, whole, rel)
    if "one" in spec.how:
        return Case(spec, whole, one_per_topic(whole, rel, spec.how["one"], random), rel)
    depth = spec.how["depth"]
    fit = poolable(whole, depth)
    teams = {team: [run for run in runs if run in fit] for team, runs in runs_of(whole).items()}
    teams = {team: runs for team, runs in teams.items() if runs}
    chosen = chosen_teams(whole, teams, spec.how["teams"], spec.how["kind"], depth, spec.seed)
    pooled = tuple(run for team in chosen for run in teams[team])
    return Case(spec, whole, top(whole, pooled, depth), rel, pooled, depth)


def _some_topics(spec: Spec, whole: uj.Collection, rel: int) -> Case:
    """A share of the topics, drawn at random, of all runs or of those of some teams."""
    random = np.random.default_rng([spec.seed, spec.how["draw"], len(whole.topics), len(spec.how["part"])])
    if spec.how["who"] != "all teams":
        teams = runs_of(whole)
        chosen = random.permutation(sorted(teams))[: math.ceil(SOME_TEAMS * len(teams))]
        whole = whole.with_runs([run for team in sorted(chosen) for run in teams[team]])
    many = math.ceil(PARTS[spec.how["part"]] * len(whole.topics))
    few = np.sort(random.permutation(len(whole.topics))[:many])
    return Case(spec, whole, everything(whole), rel, few=tuple(few.tolist()))


def one_per_topic(whole: uj.Collection, rel: int, what: str, random: np.random.Generator) -> Mask:
    """One relevant document of each topic stays, with all nonrelevant ones (`relevant`) or alone (`judgment`)."""
    judgments = whole.judgments
    relevant = judgments.grade >= rel
    kept = ~relevant if what == "relevant" else np.zeros(len(judgments), bool)
    lot = random.permutation(len(judgments))
    for t in range(len(whole.topics)):
        rows = np.flatnonzero(relevant & (judgments.topic == t))
        if len(rows):
            kept[rows[np.argmin(lot[rows])]] = True
    return kept
