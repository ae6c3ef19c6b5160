"""`judge_agreement`: how far sets of judgments agree, document by document."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.changes.rejudge import each_judge, judgments_of
from unjudged.collection import Collection
from unjudged.collection.aligned import UNJUDGED, Aligned, align
from unjudged.errors import UsageError
from unjudged.io.files import chosen_judge, is_input, judge_name
from unjudged.results import Provenance, Result, Row, Step
from unjudged.statistics.judge_agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha, observed_agreement
from unjudged.text import listed

ALL = "all"

PAIR = ("kappa", "kappa_linear", "kappa_quadratic")
GROUP = ("fleiss_kappa",)
STATISTICS = ("documents", "agreement", *PAIR, *GROUP, "alpha_nominal", "alpha_ordinal", "alpha_interval", "overlap")


def _next(sources: Sequence[str], rel: int) -> Step:
    """What to ask next: what these judges do to runs."""
    human, *others = (source if is_input(source) else "JUDGMENTS" for source in sources)
    command = ("judges", "audit", human, *others, "--runs", "RUN", *(("--rel", str(rel)) if rel > 1 else ()))
    return Step("see what this does to the order of runs and to decisions between them", command)


def judge_agreement(
    *sets: Any,
    names: Sequence[str] | None = None,
    rel: int = 1,
    binary: bool = False,
    per_topic: bool = True,
    call: str = "",
) -> JudgeAgreement:
    """Agreement of two or more sets of judgments: files, dicts, data frames, collections, or one dict {name: set}.

    Per topic and over all: `documents` judged by all who are compared; `agreement`, the share with the same grade;
    Cohen's `kappa`, plain and weighted by the distance of the grades (`kappa_linear`, `kappa_quadratic`) for each
    pair; `fleiss_kappa` over all judges; Krippendorff's alpha (`alpha_nominal`, `alpha_ordinal`,
    `alpha_interval`), which also counts documents that only some judged; `overlap`, the documents relevant (grade
    `rel` or more) to all, as a share of those relevant to any, among the documents judged by all (Voorhees 2000).
    `binary` compares relevant and nonrelevant instead of grades; for a judge whose highest grade is below `rel` that
    grade is relevant, as in the study `judges`. Negative grades count as unjudged. A value that is
    not defined (nothing in common, one grade only) is NaN. `.confusion` counts pairs of grades. `per_topic=False`
    gives only what holds over all topics. Whether judges agree well enough depends on what happens to the runs, so
    there is no verdict here: the study `judges` has one.
    """
    if len(sets) == 1 and isinstance(sets[0], Mapping) and not is_qrels(sets[0]):
        names, sets = [str(name) for name in sets[0]], tuple(sets[0].values())
    sets = tuple(each_judge(sets)) if names is None else sets
    if len(sets) < 2:
        raise UsageError("agreement needs at least two sets of judgments")
    judged = [judgments_of(one) for one in sets]
    called = names_of(sets) if names is None else list(names)
    if len(called) != len(judged) or len(set(called)) < len(called) or ALL in called:
        raise UsageError(f"every set of judgments needs a name of its own, found {', '.join(called)}")
    aligned = align(judged)
    tops = [int(one.grade.max(initial=0)) for one in judged]
    rels = np.array([min(rel, max(top, 1)) for top in tops], np.int32)
    notes = [
        f"{name}: relevant from {r}, since no grade is higher" for name, r in zip(called, rels, strict=True) if r < rel
    ]
    if binary:
        grade = np.where(aligned.judged, (aligned.grade >= rels).astype(np.int32), np.int32(UNJUDGED))
        aligned, rels = replace(aligned, grade=grade), np.ones_like(rels)
    elif len(set(tops)) > 1:
        told = listed([f"{top} ({name})" for name, top in zip(called, tops, strict=True)], 6)
        notes.append(
            f"the highest grades differ, {told}: on two scales only relevant and nonrelevant compare (--binary)"
        )
    if not (aligned.judged.sum(axis=1) > 1).any():
        raise UsageError("the sets of judgments have no judged document in common")
    settings = {"judges": called, "rel": rel, "binary": binary}
    sources = tuple(j.source for j in judged)
    provenance = Provenance.of(call, sources, settings)
    return JudgeAgreement(called, aligned, rels, provenance, per_topic, _next(sources, rel), notes)


def is_qrels(given: Mapping[Any, Any]) -> bool:
    """{topic: {doc: grade}} rather than {name: judgments}?"""
    first = next(iter(given.values()), None)
    return isinstance(first, Mapping) and not any(isinstance(v, Mapping) for v in first.values())


def names_of(sets: Sequence[Any]) -> list[str]:
    """The names of the files, or of judges in them; letters where there are none or two are the same."""
    found = []
    for given in sets:
        source = given.judgments.source if isinstance(given, Collection) else getattr(given, "source", None)
        if isinstance(given, str) or hasattr(given, "__fspath__"):
            source = str(given)
        found.append(source if isinstance(source, str) and source != "judgments" else "")
    found = _judge_names(found)
    if all(found) and len(set(found)) == len(found):
        return found
    return [chr(ord("A") + i) if len(sets) <= 26 else f"judge{i + 1}" for i in range(len(sets))]


def _judge_names(sources: Sequence[str]) -> list[str]:
    """A judge that several files hold is called by file and name."""
    short = [judge_name(source) for source in sources]
    return [
        f"{judge_name(file)}#{judge}" if judge and short.count(name) > 1 else name
        for name, (file, judge) in zip(short, map(chosen_judge, sources), strict=True)
    ]


class JudgeAgreement(Result):
    """Statistics of agreement in long form: topic, judge_a, judge_b, statistic, value.

    Rows over all judges have `all` in both judge columns; with two judges there is just the pair. `next` is the step
    that tells what the judges do to runs: labels alone have no verdict.
    """

    def __init__(
        self,
        judges: Sequence[str],
        aligned: Aligned,
        rels: npt.NDArray[np.int32],
        provenance: Provenance,
        per_topic: bool,
        next_step: Step,
        notes: Sequence[str],
    ) -> None:
        columns = ("topic", "judge_a", "judge_b", "statistic", "value")
        note = f"labels alone have no verdict; {next_step.sentence}: {next_step.typed}"
        super().__init__(columns, self._tidy, provenance, self._wide, notes=(*notes, note))
        self.next: Step = next_step
        self.judges: tuple[str, ...] = tuple(judges)
        self._rels = rels
        self.per_topic: bool = per_topic
        self.values: npt.NDArray[np.int32] = np.unique(aligned.grade[aligned.judged])
        self._aligned = aligned

    def to_dict(self) -> dict[str, Any]:
        """As of every result, with the next step beside the verdict that is missing."""
        found = super().to_dict()
        return {"provenance": found.pop("provenance"), "verdict": None, "next": self.next.to_dict(), **found}

    def _groups(self) -> Iterator[tuple[str, str, list[int]]]:
        """Pairs of judges, and all of them where there are more than two."""
        for a, b in itertools.combinations(range(len(self.judges)), 2):
            yield self.judges[a], self.judges[b], [a, b]
        if len(self.judges) > 2:
            yield ALL, ALL, list(range(len(self.judges)))

    def _topics(self) -> Iterator[tuple[str, npt.NDArray[np.int32]]]:
        """Grades (documents x judges) of each topic and of all together."""
        if self.per_topic:
            for t, topic in enumerate(self._aligned.topics):
                yield topic, self._aligned.grade[self._aligned.topic == t]
        yield ALL, self._aligned.grade

    def _rows_wide(self) -> Iterator[tuple[str, str, str, dict[str, float]]]:
        for topic, grade in self._topics():
            for a, b, columns in self._groups():
                yield topic, a, b, self._statistics(grade[:, columns], self._rels[columns])

    def _statistics(self, grade: npt.NDArray[np.int32], rels: npt.NDArray[np.int32]) -> dict[str, float]:
        judged = grade != UNJUDGED
        common = grade[judged.all(axis=1)]
        counts = np.stack([(grade == v).sum(axis=1) for v in self.values], axis=1)
        of_all = counts[judged.all(axis=1)]
        relevant = common >= rels
        union = int(relevant.any(axis=1).sum())
        found: dict[str, float] = {"documents": len(common)}
        if grade.shape[1] == 2:
            table = self._table(common)
            found["agreement"] = observed_agreement(table)
            found["kappa"] = cohen_kappa(table, self.values)
            found["kappa_linear"] = cohen_kappa(table, self.values, "linear")
            found["kappa_quadratic"] = cohen_kappa(table, self.values, "quadratic")
        else:
            same = (common == common[:, :1]).all(axis=1)
            found["agreement"] = float(same.mean()) if len(common) else float("nan")
        if grade.shape[1] == len(self.judges):
            found["fleiss_kappa"] = fleiss_kappa(of_all)
        for level in ("nominal", "ordinal", "interval"):
            found[f"alpha_{level}"] = krippendorff_alpha(counts, self.values, level)
        found["overlap"] = int(relevant.all(axis=1).sum()) / union if union else float("nan")
        return found

    def _table(self, common: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        place = np.searchsorted(self.values, common)
        size = len(self.values)
        return np.bincount(place[:, 0] * size + place[:, 1], minlength=size * size).reshape(size, size)

    def _tidy(self) -> Iterator[Row]:
        for topic, a, b, found in self._rows_wide():
            for statistic, value in found.items():
                yield topic, a, b, statistic, value

    def _wide(self) -> tuple[Sequence[str], list[Row]]:
        rows = list(self._rows_wide())
        shown = [s for s in STATISTICS if any(s in found for *_, found in rows)]
        return (
            ["topic", "judge_a", "judge_b", *shown],
            [(topic, a, b, *(found.get(s) for s in shown)) for topic, a, b, found in rows],
        )

    def value(self, statistic: str, topic: str = ALL, judges: tuple[str, str] | None = None) -> float:
        """One number: a statistic of all judges (or of two of them), over all topics (or in one)."""
        pair = judges or ((ALL, ALL) if len(self.judges) > 2 else (self.judges[0], self.judges[1]))
        for row in self._tidy():
            if tuple(row[:4]) == (topic, *pair, statistic):
                return float(row[4])
        raise UsageError(f"no {statistic} of {' and '.join(pair)} in topic {topic}; there are {', '.join(STATISTICS)}")

    @property
    def confusion(self) -> Result:
        """Pairs of grades given to the same document by two judges, counted, per topic and over all."""
        columns = ("topic", "judge_a", "judge_b", "grade_a", "grade_b", "documents")

        def tables() -> Iterator[tuple[str, str, str, npt.NDArray[np.int64]]]:
            for topic, grade in self._topics():
                for a, b, pair in self._groups():
                    if len(pair) == 2:
                        both = grade[:, pair]
                        yield topic, a, b, self._table(both[(both != UNJUDGED).all(axis=1)])

        def rows() -> Iterator[Row]:
            for topic, a, b, table in tables():
                for i, j in itertools.product(range(len(self.values)), repeat=2):
                    yield topic, a, b, int(self.values[i]), int(self.values[j]), int(table[i, j])

        def layout() -> tuple[Sequence[str], list[Row]]:
            head = ["topic", "judge_a", "judge_b", "grade_a", *(f"grade_b={v}" for v in self.values.tolist())]
            body: list[Row] = [
                (topic, a, b, int(v), *map(int, table[i]))
                for topic, a, b, table in tables()
                for i, v in enumerate(self.values.tolist())
            ]
            return head, body

        return Result(columns, rows, self.provenance, layout)
