"""Several judges into one: majority, median or the model of Dawid and Skene, and how reliable each of them is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.changes.merge import RULES as PLAIN
from unjudged.changes.rejudge import each_judge, judgments_of, with_grades_from
from unjudged.collection import Collection, Judgments
from unjudged.collection.aligned import UNJUDGED, Aligned, align
from unjudged.collection.load import read_collection
from unjudged.errors import UsageError, check_seed, one_of
from unjudged.figures.bars import bars
from unjudged.io.trec import Reading
from unjudged.judges.agreement import is_qrels, names_of
from unjudged.judges.labels import ranges_of
from unjudged.results import Provenance, Result, Row
from unjudged.statistics.dawid_skene import DawidSkene, dawid_skene
from unjudged.statistics.draws import topic_counts, topic_resamples
from unjudged.statistics.judge_agreement import cohen_kappa
from unjudged.text import counted

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MODEL = "dawid-skene"
MERGING = ("majority", "median", MODEL)
COLUMNS = ("judge", "documents", "agreement", "kappa", "reliability", "low", "high", "grade_difference")
CONFUSION = ("judge", "true_grade", "given_grade", "probability")
DOCUMENTS = ("topic", "document", "grade", "probability", "judges", "lowest", "highest")


class MergedJudges(Result):
    """One row per judge: documents judged, agreement and kappa with the merged grades, reliability with its interval.

    `reliability` is the probability that the judge gives a document its true grade, by the model of Dawid and Skene;
    `low`, `high` its middle 95 % on redrawn topics. `judged` is a collection with the merged judgments, `documents` and
    `confusion` are further tables.
    """

    judged: Collection

    def __init__(
        self,
        rows: Sequence[Row],
        documents: Sequence[Row],
        confusion: Sequence[Row],
        judged: Collection,
        provenance: Provenance,
        notes: Sequence[str],
    ) -> None:
        kept = list(rows)
        self.judged = judged
        sure = {"sure": bars("probability", "topic", "document", said="How probable the merged grade of a document is")}
        self.documents: Result = Result(DOCUMENTS, lambda: documents, provenance, figures=sure)
        given = {"given": bars("probability", *CONFUSION[:3], said="How often a judge gives a grade for each true one")}
        self.confusion: Result = Result(CONFUSION, lambda: confusion, provenance, figures=given)
        charts = {"reliability": bars("reliability", "judge", said="How often each judge gives the true grade")}
        super().__init__(COLUMNS, lambda: kept, provenance, lambda: (COLUMNS, kept), charts, notes=notes)


def merge_judges(
    *sets: Any,
    names: Sequence[str] | None = None,
    rule: str = MODEL,
    resamples: int = 200,
    seed: int = 0,
    call: str = "",
) -> MergedJudges:
    """One set of judgments from several judges (files, dicts, data frames, collections, or one dict {name: set}).

    `rule` is the grade of a document: `majority` (a tie goes to the earlier judge), `median` (halves rounded up), or
    `dawid-skene`: the most probable grade, where reliable judges count more. `resamples` is how often topics are drawn
    again for the intervals of the reliabilities.
    """
    if len(sets) == 1 and isinstance(sets[0], Mapping) and not is_qrels(sets[0]):
        names, sets = [str(name) for name in sets[0]], tuple(sets[0].values())
    sets = tuple(each_judge(sets)) if names is None else sets
    if len(sets) < 2:
        raise UsageError("merging needs at least two judges")
    one_of(rule, MERGING, "rule")
    check_seed(seed)
    judges = [judgments_of(one) for one in sets]
    called = names_of(sets) if names is None else list(names)
    aligned = align(judges)
    if not (aligned.judged.sum(axis=1) > 1).any():
        raise UsageError("the judges have no judged document in common")
    values = np.unique(aligned.grade[aligned.judged]).astype(np.int64)
    patterns, pattern, model = _model(aligned, values)
    reliability = np.column_stack([model.reliability, _ranges(aligned, patterns, pattern, model, resamples, seed)])
    grades = _probable(values, pattern, model) if rule == MODEL else PLAIN[rule](aligned, seed).astype(np.int64)
    judged = _collection(sets[0], judges, aligned, grades, rule)
    notes = []
    if len(judges) == 2:
        notes.append("two judges who differ: nobody can tell who is right; reliabilities need three or more")
    common = aligned.judged & (aligned.judged.sum(axis=1) > 1)[:, None]
    for name, there in zip(called, common.any(axis=0), strict=True):
        if not there:
            notes.append(f"{name} shares no judged document with another judge: nothing tells how reliable it is")
    reliability[~common.any(axis=0)] = np.nan
    for name, given in zip(called, aligned.grade.T, strict=True):
        if len(grade := np.unique(given[given != UNJUDGED])) == 1:
            notes.append(f"{name} gives every document grade {int(grade[0])}: its labels tell nothing apart")
    if (values > 1).any() and len({int(j.grade.max(initial=0)) for j in judges}) > 1:
        notes.append("the judges' highest grades differ: are their scales the same?")
    rows = [_row(name, aligned, j, grades, values, reliability[j]) for j, name in enumerate(called)]
    settings = {"judges": called, "rule": rule, "resamples": resamples}
    provenance = Provenance.of(call, tuple(one.source for one in judges), settings, seed)
    documents = _documents(aligned, grades, values, pattern, model)
    told = values.tolist()
    confusion: list[Row] = [
        (name, true, given, float(model.confusion[j, k, c]))
        for j, name in enumerate(called)
        for k, true in enumerate(told)
        for c, given in enumerate(told)
    ]
    notes.append(f"{counted(len(grades), 'document')} by {len(judges)} judges, merged by {rule}")
    return MergedJudges(rows, documents, confusion, judged, provenance, notes)


def _model(aligned: Aligned, values: Ints) -> tuple[Ints, Ints, DawidSkene]:
    """Patterns of grades (as places among the values), the pattern of each document, and the model."""
    given = np.where(aligned.judged, np.searchsorted(values, aligned.grade), -1).astype(np.int64)
    patterns, pattern = np.unique(given, axis=0, return_inverse=True)
    pattern = pattern.reshape(-1)
    weight = np.bincount(pattern, minlength=len(patterns)).astype(np.float64)
    return patterns, pattern, dawid_skene(patterns, weight, len(values))


def _ranges(aligned: Aligned, patterns: Ints, pattern: Ints, model: DawidSkene, resamples: int, seed: int) -> Floats:
    """Judges x 2: the middle 95 % of the reliabilities on redrawn topics (in the order of their names)."""
    topics = list(aligned.topics)
    place = np.argsort(np.argsort(topics))
    by_topic = np.zeros((len(topics), len(patterns)))
    np.add.at(by_topic, (place[aligned.topic], pattern), 1.0)
    drawn = topic_counts(topic_resamples(len(topics), resamples, seed), len(topics))
    found = [_again(patterns, weight, model) for weight in drawn.T @ by_topic]
    return ranges_of(np.array(found))


def _again(patterns: Ints, weight: Floats, model: DawidSkene) -> Floats:
    """Reliabilities of a redrawn set, from the fit of the whole: near enough for an interval."""
    return dawid_skene(patterns, weight, len(model.share), start=model.chance, enough=1e-3).reliability


def _probable(values: Ints, pattern: Ints, model: DawidSkene) -> Ints:
    """The most probable grade of each document; the lower one of two."""
    return np.asarray(values[model.chance.round(12).argmax(axis=1)][pattern])


def _row(name: str, a: Aligned, judge: int, grades: Ints, values: Ints, reliability: Floats) -> Row:
    own = a.grade[:, judge]
    there = own != UNJUDGED
    size = len(values)
    cell = np.searchsorted(values, grades[there]) * size + np.searchsorted(values, own[there])
    known = np.isin(grades[there], values)  # a median may lie between the grades given
    table = np.bincount(cell[known], minlength=size * size).reshape(size, size)
    same = float((own[there] == grades[there]).mean())
    kappa = float(cohen_kappa(table, values))
    more = float((own[there] - grades[there]).mean())
    return name, int(there.sum()), same, kappa, *map(float, reliability), more


def _documents(a: Aligned, grades: Ints, values: Ints, pattern: Ints, model: DawidSkene) -> list[Row]:
    """Topic, document, merged grade, its probability by the model, number of judges, lowest and highest grade given."""
    lowest = np.where(a.judged, a.grade, np.iinfo(np.int32).max).min(axis=1).tolist()
    highest, many = a.grade.max(axis=1).tolist(), a.judged.sum(axis=1).tolist()
    place = np.minimum(np.searchsorted(values, grades), len(values) - 1)
    chance = np.where(values[place] == grades, model.chance[pattern, place], 0.0).tolist()
    topics = [a.topics[t] for t in range(len(a.topics))]
    return [
        (topics[t], a.docs[i], int(grades[i]), chance[i], many[i], lowest[i], highest[i])
        for i, t in enumerate(a.topic.tolist())
    ]


def _collection(first: Any, judges: Sequence[Judgments], aligned: Aligned, grades: Ints, rule: str) -> Collection:
    """The merged judgments as a collection, with the runs of the first where it has some."""
    base = first if isinstance(first, Collection) else None
    step = f"{len(judges)} judges merged by {rule}"
    if base is not None and not base.runs:
        return with_grades_from(base, judges[1:], lambda _: grades.astype(np.int32), step)
    table: dict[str, dict[str, int]] = {}
    for i, t in enumerate(aligned.topic.tolist()):
        table.setdefault(aligned.topics[t], {})[aligned.docs[i]] = int(grades[i])
    return read_collection(table, [], Reading(), need_runs=False)
