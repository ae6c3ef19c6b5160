"""`build_pool`: which documents to judge, for a given budget; as a list to judge, or as judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from unjudged.changes.rejudge import judged_anew
from unjudged.collection import Collection, Floats, Judgments
from unjudged.errors import UsageError, check_seed
from unjudged.io.ids import Ids, to_bytes
from unjudged.io.trec import QrelsTable
from unjudged.io.write import qrels_text, write_qrels, write_whole
from unjudged.pools.adaptive import Turns, Weighing
from unjudged.pools.lists import Choice, TopicLists, topic_lists
from unjudged.pools.strategies import ADAPTIVE, SAMPLE, Strategy, strategy
from unjudged.results import Provenance, Result, Row

COLUMNS = ("topic", "doc", "best_rank", "runs", "stratum", "probability", "grade", "order")

POOLED = -1
"""Grade of a pooled document without a judgment (what infAP and xinfAP read)."""

Judge = Callable[[str, str], Any]
"""judge(topic, doc) -> grade"""


@dataclass(frozen=True, eq=False)
class Chosen:
    """One topic's part: its lists, what was chosen, and the grades known (None: not judged yet)."""

    lists: TopicLists
    choice: Choice
    grades: list[int | None]


class BuiltPool(Result):
    """Documents to judge, topic by topic in the order of judging.

    Columns: `best_rank` and `runs` (how many retrieve it), `stratum` and `probability` (inclusion probability) of a
    sample, `grade` where it is known, `order` 1, 2, 3... inside the topic.
    """

    def __init__(
        self,
        collection: Collection,
        strategy: str,
        parts: Sequence[Chosen],
        provenance: Provenance,
        notes: Sequence[str] = (),
        rel: int = 1,
    ) -> None:
        self.strategy: str = strategy
        self.parts: tuple[Chosen, ...] = tuple(parts)
        self.rel: int = rel
        self._collection = collection
        super().__init__(COLUMNS, tuple, provenance, notes=(self._summary(), *notes))

    def __repr__(self) -> str:
        return f"<BuiltPool: {self._summary()}>"

    def __len__(self) -> int:
        return sum(len(part.choice.chosen) for part in self.parts)

    @property
    def judged(self) -> int:
        """Number of chosen documents with a grade."""
        return sum(grade is not None for part in self.parts for grade in part.grades)

    @property
    def relevant(self) -> int:
        """Number of chosen documents of a relevant grade."""
        return sum(grade is not None and grade >= self.rel for part in self.parts for grade in part.grades)

    def _summary(self) -> str:
        pooled = sum(len(part.choice.pool) for part in self.parts)
        of = f" of {pooled}" if pooled > len(self) else ""
        return (
            f"{self.strategy}: {len(self)}{of} documents for {len(self.parts)} topic{'s' * (len(self.parts) != 1)}, "
            f"{self.judged} of them judged, {self.relevant} relevant"
        )

    def rows(self) -> Iterator[Row]:
        """The chosen documents, topic by topic."""
        for part in self.parts:
            lists, choice = part.lists, part.choice
            place = np.searchsorted(choice.pool, choice.chosen)
            sampled = choice.probability is not None
            for i, doc in enumerate(choice.chosen.tolist()):
                yield (
                    lists.topic,
                    lists.ids[doc],
                    int(lists.best[doc]),
                    int(lists.popularity[doc]),
                    int(choice.stratum[place[i]]) if sampled else None,
                    float(choice.probability[i]) if choice.probability is not None else None,
                    part.grades[i],
                    i + 1,
                )

    def judgments(self) -> Judgments:
        """The whole pool as judgments, documents by id: the grade where it is known, else -1 (pooled, not judged).

        The stratum of a sample stands in the iteration column.
        """
        topic, docs, grades, strata = [], [], [], []
        for t, part in enumerate(self.parts):
            known = dict(zip(part.choice.chosen.tolist(), part.grades, strict=True))
            for doc, stratum in zip(part.choice.pool.tolist(), part.choice.stratum.tolist(), strict=True):
                grade = known.get(doc)
                topic.append(t)
                docs.append(to_bytes(part.lists.ids[doc]))
                grades.append(POOLED if grade is None else grade)
                strata.append(stratum)
        if not docs:
            raise UsageError("this pool holds no documents")
        names, codes = np.unique(strata, return_inverse=True)
        table = QrelsTable(
            f"pool ({self.strategy})",
            self._collection.judgments.topics,
            np.array(topic, np.int32),
            Ids.of(docs),
            np.array(grades, np.int32),
            Ids.of(map(str, names.tolist())),
            codes.astype(np.int32),
        )
        return Judgments.of(table, gains=dict(self._collection.judgments.gains.levels))

    def collection(self) -> Collection:
        """The runs under the judgments of this pool alone (gains and H stay those of the full collection)."""
        judgments = replace(self.judgments(), gains=self._collection.judgments.gains)
        return judged_anew(self._collection, judgments, f"pool built by {self._summary()}")

    def to_qrels(self, path: str | Path | None = None) -> str | None:
        """The pool as TREC judgments (`topic iteration doc grade`), to a file or as text."""
        if path is None:
            return qrels_text(self.judgments()).decode("utf-8", "surrogateescape")
        write_qrels(self.judgments(), path)
        return None

    def to_list(self, path: str | Path | None = None) -> str | None:
        """`topic<TAB>doc` for the assessors, documents by id, so that the list does not tell how they were ranked."""
        lines = [
            f"{part.lists.topic}\t{part.lists.ids[doc]}\n"
            for part in self.parts
            for doc in np.sort(part.choice.chosen).tolist()
        ]
        text = "".join(lines)
        if path is None:
            return text
        write_whole(path, to_bytes(text))
        return None


def build_pool(
    collection: Collection,
    name: str = "depth",
    *,
    budget: int | None = None,
    depth: int | None = None,
    first: int | None = None,
    seed: int = 0,
    judge: Judge | None = None,
    rel: int = 1,
    call: str = "",
    **options: Any,
) -> BuiltPool:
    """Choose the documents to judge: `name` is one of `unjudged.pools.strategies.STRATEGIES`.

    `budget` is the number of documents in all; topics share it evenly, one more each for the first ones, and
    what a topic cannot use goes to the others. `depth` cuts every list first; for `depth` it is the depth of the
    pool (without it: the deepest that fits the budget). Strategies that learn from judgments take their grades from
    `judge(topic, doc)`, else from the collection's judgments, where an unjudged document counts as nonrelevant;
    `rel` is the smallest relevant grade, and `first=k` judges the top k of every run before they start. `options` are
    the strategy's own (`k` of rrf, `p` of rbp-a, `strata` of stratified, ...).

    Ties go to the smaller document id and the first run by name: the order of the runs makes no difference. Ranks
    are those of the collection's rankings, in which a document stands once.
    """
    chosen = strategy(name)
    settings = chosen.checked(options)
    _check(chosen, collection, budget, depth, first, seed, judge)
    if chosen.name == "stratified":
        depth = max(settings["strata"])
    lists = list(topic_lists(collection, depth))
    if chosen.name == "depth" and budget is not None:
        depth = _deepest(lists, budget, depth)
        lists = list(topic_lists(collection, depth))
    sized = chosen.name in ("depth", "sampled-depth") or budget is None
    sizes = [one.docs for one in lists] if sized else split(budget or 0, [one.docs for one in lists])
    picked, unknown = [], 0
    for one, size in zip(lists, sizes, strict=True):
        bench = _Bench(one, collection, judge)
        rng = np.random.default_rng([seed, *one.topic.encode("utf-8", "surrogateescape")])
        picked.append(_choose(chosen, None if sized else size, rng, bench, first, rel, settings))
        unknown += bench.unknown
    notes = []
    if unknown and chosen.judged:
        notes.append(f"{unknown} of the documents {chosen.name} asked for are not judged; they counted as nonrelevant")
    told = {
        **collection.settings,
        "strategy": chosen.name,
        **settings,
        "budget": budget,
        "depth": depth,
        "first": first,
        "rel": rel,
        "judge": "existing judgments" if judge is None else "callback",
    }
    provenance = Provenance.of(call, collection.sources, told, seed)
    return BuiltPool(collection, chosen.name, picked, provenance, notes, rel)


def split(budget: int, available: Sequence[int]) -> list[int]:
    """The budget shared out one document at a time, topic after topic, passing over topics that have no more."""
    sizes = [0] * len(available)
    left = min(budget, sum(available))
    open_topics = [t for t, many in enumerate(available) if many]
    while left:
        each = max(min(left // len(open_topics), min(available[t] - sizes[t] for t in open_topics)), 1)
        for t in open_topics[:left]:
            sizes[t] += each
            left -= each
        open_topics = [t for t in open_topics if sizes[t] < available[t]]
    return sizes


def settled(values: Floats) -> Floats:
    """Values to 12 significant digits: what is equal but for rounding is a tie."""
    with np.errstate(divide="ignore"):
        digits = 11 - np.floor(np.log10(np.abs(values)))
    scale = 10.0 ** np.clip(np.where(np.isfinite(digits), digits, 0.0), -300, 300)
    return np.asarray(np.round(values * scale) / scale)


def _check(
    chosen: Strategy,
    collection: Collection,
    budget: int | None,
    depth: int | None,
    first: int | None,
    seed: int,
    judge: Judge | None,
) -> None:
    for what, value in (("budget", budget), ("depth", depth), ("first", first)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1):
            raise UsageError(f"{what} needs a positive whole number, not {value}")
    check_seed(seed)
    if chosen.name == "depth" and budget is None and depth is None:
        raise UsageError("a depth pool needs a depth or a budget")
    if chosen.name == "sampled-depth":
        if budget is not None:
            raise UsageError("the size of a sampled depth pool comes from depth and rate; uniform takes a budget")
        if depth is None:
            raise UsageError("a sampled depth pool needs a depth")
    elif chosen.name == "stratified":
        if depth is not None:
            raise UsageError("the depth of a stratified sample is that of its last stratum: give strata, not a depth")
    elif budget is None and chosen.name != "depth":
        raise UsageError(f"{chosen.name} needs a budget (documents in all)")
    if first is not None and chosen.kind != ADAPTIVE:
        raise UsageError(f"{chosen.name} does not learn from judgments, so a depth-k phase before it has no meaning")
    if chosen.judged and judge is None and not (collection.judgments.grade >= 0).any():
        raise UsageError(
            f"{chosen.name} learns from judgments and there are none: give them, or judge(topic, doc) -> grade"
        )


def _deepest(lists: list[TopicLists], budget: int, depth: int | None) -> int:
    """The deepest pool inside the budget (and not deeper than `depth`)."""
    best = np.sort(np.concatenate([one.best for one in lists]))
    if len(best) <= budget:
        return depth or int(best.max(initial=1))
    fits = int(best[budget]) - 1  # one document too many has this rank
    if not fits:
        many = int((best == 1).sum())
        raise UsageError(
            f"a budget of {budget} does not hold the {many} documents that runs rank first; take gives the best of them"
        )
    return fits


@dataclass
class _Bench:
    """Where documents of one topic are judged: by the callback, else by the judgments there are."""

    lists: TopicLists
    collection: Collection
    judge: Judge | None
    unknown: int = 0

    def grade(self, doc: int) -> int | None:
        """The grade, or None where there is none."""
        if self.judge is not None:
            given = self.judge(self.lists.topic, self.lists.ids[doc])
            if given is None:
                return None
            try:
                if isinstance(given, bool) or int(given) == given:
                    return int(given)
            except (TypeError, ValueError, OverflowError):
                pass
            where = f"topic {self.lists.topic}, document {self.lists.ids[doc]}"
            raise UsageError(f"judge gave {given!r} for {where}; a grade is a whole number")
        code, judgments = int(self.lists.code[doc]), self.collection.judgments
        if code < len(judgments) and judgments.grade[code] >= 0:
            return int(judgments.grade[code])
        return None


def _choose(
    chosen: Strategy,
    size: int | None,
    rng: np.random.Generator,
    bench: _Bench,
    first: int | None,
    rel: int,
    settings: dict[str, Any],
) -> Chosen:
    """One topic's part of the pool: `size` documents, or as many as the strategy takes."""
    lists = bench.lists
    started = chosen.start(lists, settings, rng=rng, size=size)
    if chosen.kind == ADAPTIVE:
        return _adapt(started, size or 0, bench, first, rel)
    if chosen.kind == SAMPLE:
        choice = started
    else:
        order = np.argsort(-settled(started), kind="stable")
        choice = Choice.all_of(order if size is None else order[:size])
    return Chosen(lists, choice, [bench.grade(doc) for doc in choice.chosen.tolist()])


def _adapt(learner: Weighing | Turns, size: int, bench: _Bench, first: int | None, rel: int) -> Chosen:
    """Judge and learn until the topic's share is used up."""
    order: list[int] = []
    grades: list[int | None] = []

    def judged(doc: int) -> bool:
        order.append(doc)
        grades.append(bench.grade(doc))
        bench.unknown += grades[-1] is None
        return grades[-1] is not None and grades[-1] >= rel

    if first is not None:
        for doc in bench.lists.by_best_rank(first)[:size].tolist():
            learner.learn_first(doc, judged(doc), first)
    while len(order) < size:
        doc = learner.pick()
        learner.learn(doc, judged(doc))
    return Chosen(bench.lists, Choice.all_of(np.array(order, np.int64)), grades)
