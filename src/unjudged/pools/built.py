"""A pool as it was built: the list to judge, or judgments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unjudged.changes.rejudge import judged_anew
from unjudged.collection import Collection, Judgments
from unjudged.errors import UsageError
from unjudged.io.ids import Ids, to_bytes
from unjudged.io.trec import QrelsTable
from unjudged.io.write import qrels_text, write_qrels, write_whole
from unjudged.pools.lists import Choice, TopicLists
from unjudged.results import Provenance, Result, Row

COLUMNS = ("topic", "doc", "best_rank", "runs", "stratum", "probability", "grade", "order")

POOLED = -1
"""Grade of a pooled document without a judgment (what infAP and xinfAP read)."""


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
