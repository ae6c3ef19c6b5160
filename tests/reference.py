"""Builders for tests: collections from ranked grades, random collections, hypothesis strategies.

No measure is computed here. The only rules written down a second time, independently of the package, are
those of the ranking (METHODS 0.3), because peers that take no scores need lists in the right order.
"""

from __future__ import annotations

import gzip
import random
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import unjudged as uj

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

# -- one topic from ranked grades


def one_topic(
    ranked: Sequence[int | None], counts: Mapping[int, int] | None = None
) -> tuple[dict[str, int], dict[str, float]]:
    """Judgments and scored list of one topic: grades in rank order (None = unjudged).

    `counts` says how many documents of each grade the judgments hold; those not in the list are added.
    """
    judged = {f"r{i:04d}": grade for i, grade in enumerate(ranked) if grade is not None}
    scores = {f"r{i:04d}": float(len(ranked) - i) for i in range(len(ranked))}
    for grade, wanted in (counts or {}).items():
        missing = wanted - sum(g == grade for g in judged.values())
        assert missing >= 0, f"more documents of grade {grade} retrieved than judged"
        judged |= {f"missed{grade}_{i}": grade for i in range(missing)}
    return judged, scores


def collection_of(
    ranked: Sequence[int | None],
    counts: Mapping[int, int] | None = None,
    *,
    top_grade: int | None = None,
    negative: str = "unjudged",
    gains: Mapping[int, float] | None = None,
) -> uj.Collection:
    """A collection of one run and one topic, `t`; `top_grade` adds a topic with a document of that grade."""
    judged, scores = one_topic(ranked, counts)
    qrels, run = {"t": judged}, {"t": scores}
    if not judged:
        qrels["other"] = {"x": 0}
        run["other"] = {"x": 1.0}
    if top_grade is not None:
        qrels["top"] = {"best": top_grade}
        run["top"] = {"best": 1.0}
    return uj.load(qrels, {"run": run}, negative=negative, gains=gains)


def value(collection: uj.Collection, measure: object, run: int = 0, topic: str = "t", **options: Any) -> float:
    """One measure in one cell."""
    scores = uj.score(collection, measure, **options)
    return float(scores.values[run, collection.topics.index(topic), 0])


# -- the ranking, written down a second time


def float32(score: float) -> float:
    """The nearest 32-bit number (trec_eval 9 and pytrec_eval compare those)."""
    try:
        return float(struct.unpack("f", struct.pack("f", score))[0])
    except OverflowError:
        return float("inf") if score > 0 else float("-inf")


def in_order(scored: Mapping[str, float], ties: str) -> list[str]:
    """Documents by score descending, equal ones by rule (DESIGN 7)."""
    docs = list(scored)
    if ties in ("trec9", "trec10"):
        docs.sort(key=lambda d: d.encode("utf-8", "surrogateescape"), reverse=True)
    elif ties == "ascending":
        docs.sort(key=lambda d: d.encode("utf-8", "surrogateescape"))
    else:
        assert ties == "file"
    number = float32 if ties == "trec9" else float
    return sorted(docs, key=lambda d: -number(scored[d]))


def answered(run: Run, qrels: Qrels) -> Run:
    """The part of a run peers can take: judged topics with at least one document."""
    return {topic: docs for topic, docs in run.items() if docs and qrels.get(topic)}


# -- collections for parity


@dataclass
class Data:
    """A collection as peers take it (dicts) and where `uj.load` finds it."""

    name: str
    qrels: Qrels
    runs: dict[str, Run]
    source: tuple[object, object] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    _loaded: dict[str, uj.Collection] = field(default_factory=dict)

    def load(self, ties: str) -> uj.Collection:
        """Loaded once for each tie rule."""
        if ties not in self._loaded:
            qrels, runs = self.source or (self.qrels, self.runs)
            self._loaded[ties] = uj.load(qrels, runs, ties=ties, **self.options)
        return self._loaded[ties]


NASTY_DOCS = ("FT-01", "ft-01", "d-2", "d-10", "документ", "résumé", "文書", "😀", "a.b", "0")


def random_data(
    seed: int, topics: int = 12, runs: int = 6, grades: Sequence[int] = (-2, -1, 0, 0, 0, 0, 1, 1, 2, 3)
) -> Data:
    """Ties, near-ties, negative grades, short lists, missing and unjudged topics, R = 0, N = 0, non-ASCII ids."""
    rng = random.Random(seed)
    qrels: Qrels = {}
    pools: dict[str, list[str]] = {}
    for t in range(topics):
        topic = f"тема {t}".replace(" ", "-") if t % 5 == 4 else str(300 + t)
        docs = [f"{rng.choice('ABCd')}{rng.randrange(10**6)}-{i}" for i in range(rng.choice((8, 40, 150)))]
        docs += rng.sample(NASTY_DOCS, 6)
        pools[topic] = docs
        kinds = {0: (0,), 1: (1, 2, 3), 2: (0, 1)}.get(t, tuple(grades))  # R = 0, N = 0, binary, all
        qrels[topic] = {
            doc: rng.choice(kinds) for doc in rng.sample(docs, max(1, int(len(docs) * rng.uniform(0.2, 0.9))))
        }
    made: dict[str, Run] = {}
    for r in range(runs):
        run: Run = {"unjudged-topic": {"d1": 1.0, "d2": 0.5}} if r % 2 else {}
        for topic, docs in pools.items():
            if rng.random() < 0.12 and topic != "303":
                continue
            size = rng.choice((1, 2, 5, 11, len(docs), len(docs)))
            chosen = rng.sample(docs, min(size, len(docs)))
            kind = rng.randrange(4)
            scores = [
                rng.choice((-1.0, 0.0, 0.5, 2.0))  # many ties
                if kind == 0
                else 16777216.0 + rng.randrange(9)  # whole numbers float32 cannot tell apart
                if kind == 1
                else rng.gauss(0, 10)
                if kind == 2
                else float(len(chosen) - i)
                for i in range(len(chosen))
            ]
            run[topic] = dict(zip(chosen, scores, strict=True))
        made[f"run{r}"] = run
    return Data(f"random{seed}", qrels, made)


def read_qrels(path: Path) -> Qrels:
    """A TREC judgment file as a dict."""
    opener = gzip.open if path.suffix == ".gz" else open
    found: Qrels = {}
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            topic, _, doc, grade = line.split()
            assert doc not in found.setdefault(topic, {})
            found[topic][doc] = int(grade)
    return found


def read_run(path: Path, topics: Iterable[str]) -> Run:
    """A TREC run file as a dict: these topics, unusable lines passed over, the better of two equal ones kept."""
    opener = gzip.open if path.suffix == ".gz" else open
    found: Run = {topic: {} for topic in topics}
    with opener(path, "rt", encoding="latin-1") as file:
        for line in file:
            fields = line.split()
            if len(fields) < 6:
                continue
            docs = found.get(fields[0])
            if docs is None:
                continue
            score = float(fields[4])
            if score > docs.get(fields[2], float("-inf")):
                docs[fields[2]] = score
    return {topic: docs for topic, docs in found.items() if docs}


def real_data(folder: Path, **options: Any) -> Data:
    """A collection of ../shared/data."""
    qrels = read_qrels(folder / "qrels.txt.gz")
    files = sorted((folder / "runs").glob("*.gz"))
    runs = {path.name.removesuffix(".gz"): read_run(path, qrels) for path in files}
    source = (str(folder / "qrels.txt.gz"), str(folder / "runs"))
    return Data(folder.name, qrels, runs, source, dict(options))


# -- hypothesis strategies

TOPIC_IDS = ("1", "2", "10", "тема", "q-ü", "T.5")
DOC_IDS = (*(f"d{i}" for i in range(12)), *NASTY_DOCS)
SCORES = (-1e30, -2.0, -0.5, 0.0, 0.25, 0.25000000001, 1.0, 2.0, 3.0, 1e30)

grade_or_none = st.sampled_from((None, None, -2, -1, 0, 0, 0, 1, 1, 2, 3))
judged_grade = st.sampled_from((0, 0, 0, 1, 1, 2, 3))
ranked_lists = st.lists(st.sampled_from((None, None, 0, 0, 0, 1, 1, 2, 3)), max_size=14)
fully_judged_lists = st.lists(judged_grade, max_size=14)
missed_counts = st.fixed_dictionaries({g: st.integers(0, 4) for g in (0, 1, 2, 3)})


@st.composite
def topics_of_grades(
    draw: st.DrawFn, lists: st.SearchStrategy[list[int | None]] = ranked_lists
) -> tuple[list[int | None], dict[int, int]]:
    """(ranked grades, judged documents per grade): one topic for `collection_of`."""
    ranked, missed = draw(lists), draw(missed_counts)
    counts = {grade: missed[grade] + sum(g == grade for g in ranked) for grade in missed}
    return ranked, counts


@st.composite
def collections(
    draw: st.DrawFn, max_runs: int = 3, grades: st.SearchStrategy[int | None] = grade_or_none
) -> tuple[Qrels, dict[str, Run]]:
    """Judgments and runs as dicts: 1-4 topics, tied scores, unjudged documents, negative grades, empty lists,
    R = 0, N = 0, topics missing from runs, non-ASCII ids. Every run answers at least one judged topic."""
    topics = draw(st.lists(st.sampled_from(TOPIC_IDS), min_size=1, max_size=4, unique=True))
    qrels: Qrels = {}
    for topic in topics:
        drawn = draw(st.dictionaries(st.sampled_from(DOC_IDS), grades, max_size=14))
        qrels[topic] = {doc: grade for doc, grade in drawn.items() if grade is not None}
    qrels[topics[0]].setdefault("d0", draw(grades.filter(lambda g: g is not None)) or 0)
    runs: dict[str, Run] = {}
    for r in range(draw(st.integers(1, max_runs))):
        run: Run = {}
        for topic in topics:
            if draw(st.integers(0, 9)):
                run[topic] = draw(st.dictionaries(st.sampled_from(DOC_IDS), st.sampled_from(SCORES), max_size=14))
        if draw(st.booleans()):
            run["unjudged-topic"] = {"d1": 1.0}
        if not any(run.get(topic) for topic in topics):
            run[topics[0]] = {"d1": 1.0}
        runs[f"run{r}"] = run
    return qrels, runs
