"""`score` and `score_bounds`: every measure in every (run, topic) cell, and the means per run."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats
from unjudged.collection.topics import counted_topics
from unjudged.errors import MeasureError, UsageError, as_utf8, nearest, some
from unjudged.kernels import write_rows
from unjudged.measures import Measure, measures, measures_for, split_list
from unjudged.measures.sets import ANSWERS
from unjudged.options import default
from unjudged.results import Provenance, Result, Row
from unjudged.text import counted

if TYPE_CHECKING:
    import pandas as pd

    from unjudged.figures import Figure

DEFAULT: tuple[str, ...] = default("measures", "score")
"""Measures when none are asked for: the usual ones, and how much of the top 10 was judged."""

BOUNDED_DEFAULT = ("AP", "nDCG@10", "P@10", "RR", "bpref")
"""Measures whose bounds are given when none are asked for."""

HITS_AT_ONCE = 1_000_000
"""Hits measured in one go: a few megabytes for each array on the way."""

TOPICS_AT_ONCE = 1 << 16
"""Topics written in one go; the text of more is not held."""

POLICIES = ("nonrelevant", "condensed")
UNDEFINED = ("zero", "nan", "drop")


class PerTopic(Result):
    """Values of runs for every topic and measure, with those over all topics that count."""

    runs: tuple[str, ...]
    measures: tuple[Measure, ...]
    counted: npt.NDArray[np.bool_]
    _per_topic: bool

    def __init__(
        self,
        values: Sequence[str],
        runs: Sequence[str],
        topics: Sequence[str],
        measures: Sequence[Measure],
        cells: Floats,
        counted: npt.NDArray[np.bool_],
        provenance: Provenance,
        per_topic: bool,
        notes: Sequence[str] = (),
    ) -> None:
        super().__init__(("run", "topic", "measure", *values), tuple, provenance, notes=notes)  # rows and layout: below
        self.runs, self._topics, self.measures = tuple(runs), topics, tuple(measures)
        self._values, self.counted, self._per_topic = cells, counted, per_topic

    @functools.cached_property
    def topics(self) -> tuple[str, ...]:
        """The topics, in the order of the judgments."""
        return tuple(self._topics)

    def mean_values(self) -> Floats:
        """Runs x measures: what holds over the topics that count."""
        raise NotImplementedError

    def _shown(self, values: Sequence[Any]) -> list[Any]:
        """The values of the measures as laid-out tables show them."""
        raise NotImplementedError

    def _lines(self) -> Iterator[tuple[str, str, list[Any]]]:
        """Run, topic, a value per measure: runs as given, topics as in the judgments with `all` last."""
        self._refuse_topic_all()
        means = self.mean_values().tolist()
        for r, run in enumerate(self.runs):
            if self._per_topic:
                values = self._values[r].tolist()
                for t in np.flatnonzero(self.counted[r]).tolist():
                    yield run, self.topics[t], values[t]
            yield run, "all", means[r]

    def _refuse_topic_all(self) -> None:
        """A topic of that name could not be told from the row of the means."""
        if self._per_topic and "all" in self._topics:
            raise UsageError("a topic is called 'all', as the row of the means is; rename it in judgments and runs")

    def _repr_html_(self) -> str:
        """The means, best run first; `.frame` has the topics."""
        means = self.mean_values()
        lead = means.reshape(len(self.runs), -1)[:, :1].ravel()
        order = np.argsort(-lead, kind="stable").tolist()
        rows = [(self.runs[r], *self._shown(means[r].tolist())) for r in order]
        names = [str(m) for m in self.measures]
        return Result(["run", *names], lambda: rows, self.provenance).to_html()

    def laid_out(self) -> tuple[Sequence[str], list[Row]]:
        """A column per measure."""
        names = [str(m) for m in self.measures]
        if self._per_topic:
            rows: list[Row] = [(run, topic, *self._shown(values)) for run, topic, values in self._lines()]
            return ["run", "topic", *names], rows
        return ["run", *names], [(run, *self._shown(values)) for run, _, values in self._lines()]


class Scores(PerTopic):
    """Scores of runs: run x topic x measure, with the mean (or sum) of each run.

    `.means()` is a frame of runs x measures, `.matrix("AP")` an array of topics x runs for tests of your own,
    `.frame` the tidy table; `.values` and `.counted` are the arrays behind them.
    """

    values: Floats

    def __init__(
        self,
        runs: Sequence[str],
        topics: Sequence[str],
        measures: Sequence[Measure],
        values: Floats,
        counted: npt.NDArray[np.bool_],
        provenance: Provenance,
        per_topic: bool = True,
        notes: Sequence[str] = (),
    ) -> None:
        super().__init__(("value",), runs, topics, measures, values, counted, provenance, per_topic, notes)
        self.values = values

    def __repr__(self) -> str:
        named = some([str(m) for m in self.measures], 5)
        return f"<Scores: {counted(len(self.runs), 'run')}, {counted(len(self._topics), 'topic')}, {named}>"

    def plot(self, name: str | None = None, baseline: str | None = None) -> Figure:
        """A chart: `box` (the spread over topics), `topics` (each one), or `scatter` against a baseline."""
        from unjudged.figures.scores import chart

        return chart(self, name, baseline)

    def rows(self) -> Iterator[Row]:
        """Runs as given, topics as in the judgments with `all` last, measures as asked."""
        names = [str(m) for m in self.measures]
        for run, topic, values in self._lines():
            for name, value in zip(names, values, strict=True):
                yield run, topic, name, value

    def _body(self, text: Callable[[Any], str], before: Sequence[str], end: str) -> Iterator[str]:
        """As for every result, but names are written once and numbers by a kernel."""
        self._refuse_topic_all()
        means = self.mean_values()
        if not (np.isfinite(self.values).all() and np.isfinite(means).all()):
            yield from super()._body(text, before, end)
            return

        def piece(place: int, name: str) -> bytes:
            return (before[place] + text(name)).encode("utf-8", "surrogateescape")

        def lines(heads: list[bytes], values: Floats) -> str:
            return str(write_rows(heads, names, values, end.encode()), "utf-8", "surrogateescape")

        names = [piece(2, str(m)) + before[3].encode() for m in self.measures]
        many = len(self._topics) if self._per_topic else 0
        topics: list[bytes] = []
        for r, run in enumerate(self.runs):
            head = piece(0, run)
            for first in range(0, many, TOPICS_AT_ONCE):
                block = slice(first, first + TOPICS_AT_ONCE)
                if not topics or many > TOPICS_AT_ONCE:  # as a rule there is one block, the same for all runs
                    topics = [piece(1, topic) for topic in self._topics[block]]
                there = np.flatnonzero(self.counted[r, block])
                yield lines([head + topics[t] for t in there.tolist()], self.values[r, there + first])
            yield lines([head + piece(1, "all")], means[r])

    @functools.cached_property
    def _counts(self) -> list[bool]:
        return [m.definition.aggregate == "sum" for m in self.measures]

    def _shown(self, values: Sequence[Any]) -> list[Any]:
        """Counts as whole numbers."""
        return [int(v) if c and math.isfinite(v) else v for v, c in zip(values, self._counts, strict=True)]

    def mean_values(self, topics: npt.NDArray[np.bool_] | None = None) -> Floats:
        """Runs x measures: the mean, geometric mean or sum over the topics that count (of these, where given)."""
        out = np.empty((len(self.runs), len(self.measures)))
        there = self.counted if topics is None else self.counted & topics
        everywhere = bool(there.all())
        for m, measure in enumerate(self.measures):
            column = self.values[:, :, m]
            if everywhere and measure.mean == "arithmetic" and column.shape[1]:
                out[:, m] = column.mean(axis=1)
            else:
                out[:, m] = [measure.over_topics(v[c]) for v, c in zip(column, there, strict=True)]
        return out

    def means(self) -> pd.DataFrame:
        """Means per run as a data frame: rows are runs, columns measures."""
        import pandas as pd

        try:
            runs = pd.Index(self.runs, name="run")
        except UnicodeEncodeError:  # as in `.frame`
            runs = pd.Index([as_utf8(run) for run in self.runs], name="run")
        return pd.DataFrame(self.mean_values(), index=runs, columns=[str(m) for m in self.measures])

    def per_topic(self) -> pd.DataFrame:
        """Scores topic by topic as a data frame: rows are (run, topic), columns measures.

        Topics that do not count for a run are left out.
        """
        import pandas as pd

        names = [str(m) for m in self.measures]
        frame = pd.DataFrame(self.values.reshape(-1, len(names)), columns=names)
        frame.index = pd.MultiIndex.from_product(
            [[as_utf8(run) for run in self.runs], [as_utf8(topic) for topic in self.topics]], names=("run", "topic")
        )
        return frame[self.counted.ravel()]

    def matrix(self, measure: str | Measure) -> Floats:
        """Topics x runs matrix of one measure, the input of every statistic."""
        return self.values[:, :, self.measures.index(self.named(measure)[0])].T

    def with_runs(self, runs: Sequence[str]) -> Scores:
        """The same with these runs, in this order."""
        places = [self.runs.index(run) for run in runs]
        values, counting = self.values[places], np.asarray(self.counted[places])
        return Scores(runs, self.topics, self.measures, values, counting, self.provenance, self._per_topic, self.notes)

    def named(self, wanted: Any) -> list[Measure]:
        """The measures asked for, of those scored here: by their names here, or as one spells them elsewhere."""
        asked = [wanted] if isinstance(wanted, (str, Measure)) else list(wanted)
        here = {str(m): m for m in self.measures}
        found: list[Measure] = []
        for one in asked:
            names = [one] if not isinstance(one, str) or one in here else split_list(one)
            for name in names:
                found += [here[str(name)]] if str(name) in here else self._spelled(name)
        return list(dict.fromkeys(found))

    def _spelled(self, name: Any) -> list[Measure]:
        known = ", ".join(map(str, self.measures))
        try:
            meant = measures(name)
        except MeasureError:
            near = nearest(str(name), map(str, self.measures))
            raise UsageError(f"{name} was not scored here{near}; there are {known}") from None
        for measure in meant:
            if measure not in self.measures:
                raise UsageError(f"{measure} was not scored here; there are {known}")
        return meant


class Bounds(PerTopic):
    """Lowest, ordinary and highest value: run x topic x measure, with the means of each run.

    Topics are completed independently of each other, so the mean of a run's lowest values is its lowest mean.
    Different runs reach their ends at different completions. `.means()` is a frame of runs x (value, low, high of each
    measure), `.frame` the tidy table; `.value`, `.low`, `.high` (runs x topics x measures) and `.counted` (runs x
    topics) are the arrays behind them.
    """

    low: Floats
    value: Floats
    high: Floats

    def __init__(
        self,
        runs: Sequence[str],
        topics: Sequence[str],
        measures: Sequence[Measure],
        low: Floats,
        value: Floats,
        high: Floats,
        counted: npt.NDArray[np.bool_],
        provenance: Provenance,
        per_topic: bool = True,
    ) -> None:
        cells = np.stack((value, low, high), axis=-1)
        super().__init__(("value", "low", "high"), runs, topics, measures, cells, counted, provenance, per_topic)
        self.value, self.low, self.high = (cells[..., end] for end in range(3))

    def __repr__(self) -> str:
        return f"<Bounds: {len(self.runs)} runs, {len(self.topics)} topics, {', '.join(map(str, self.measures))}>"

    def plot(self, name: str | None = None) -> Figure:
        """A chart: each run's score within the lowest and highest that the missing judgments allow (`range`)."""
        from unjudged.figures.scores import ranges

        return ranges(self, name)

    def mean_values(self) -> Floats:
        """Runs x measures x (value, low, high): the mean, geometric mean or sum over the topics that count."""
        out = np.empty((len(self.runs), len(self.measures), 3))
        for i, values in enumerate((self.value, self.low, self.high)):
            for m, measure in enumerate(self.measures):
                for r, there in enumerate(self.counted):
                    out[r, m, i] = measure.over_topics(values[r, there, m])
        return out

    def means(self) -> pd.DataFrame:
        """Means per run as a data frame: rows are runs, columns (measure, `value`, `low` or `high`)."""
        import pandas as pd

        names = [str(m) for m in self.measures]
        columns = pd.MultiIndex.from_product([names, ("value", "low", "high")], names=("measure", "end"))
        values = self.mean_values().reshape(len(self.runs), -1)
        return pd.DataFrame(values, index=pd.Index(self.runs, name="run"), columns=columns)

    def rows(self) -> Iterator[Row]:
        """Runs as given, topics as in the judgments with `all` last, measures as asked."""
        for run, topic, triples in self._lines():
            for name, triple in zip(self.measures, triples, strict=True):
                yield run, topic, str(name), *triple

    def _shown(self, values: Sequence[Any]) -> list[Any]:
        """`0.2861 [0.2100, 0.5432]`, counts as whole numbers."""
        digits = [0 if m.definition.aggregate == "sum" else 4 for m in self.measures]
        return [f"{v:.{d}f} [{low:.{d}f}, {high:.{d}f}]" for d, (v, low, high) in zip(digits, values, strict=True)]


def _blocks(collection: Collection) -> Iterator[tuple[slice, Collection]]:
    """A few runs at a time, so that the arrays on the way stay small however large the whole is."""
    hits, first = collection.hits, 0
    ends = hits.ends
    if ends[-1] > HITS_AT_ONCE and hits.ties is None:
        while first < len(collection.runs):
            last = max(int(np.searchsorted(ends, ends[first] + HITS_AT_ONCE, side="right")) - 1, first + 1)
            yield (
                slice(first, last),
                replace(collection, runs=collection.runs[first:last], hits=hits.of_runs(first, last)),
            )
            first = last
    else:
        yield slice(None), collection


def _cells(measure: Measure, collection: Collection) -> Floats:
    """A measure in every cell, averaged over the orders of tied documents where the collection was read so."""
    if collection.hits.ties is None:
        return measure.cells(collection.hits)
    from unjudged.measures.ties import expected

    return expected(measure, collection.hits, collection.runs)


def under_policy(chosen: Sequence[Measure], unjudged: str) -> list[Measure]:
    """The measures that score with unjudged documents `nonrelevant` (as they are), or `condensed`, each once."""
    if unjudged == "bounds":
        raise UsageError("bounds are two values per score: uj.score_bounds(collection, measures) gives them")
    if unjudged == "estimate":
        raise UsageError("estimates come with an interval: uj.estimate(collection, measures) gives them")
    if unjudged not in POLICIES:
        raise UsageError(f"unjudged documents can be {' or '.join(POLICIES)}, not {unjudged!r}")
    if unjudged == "nonrelevant":
        return list(chosen)
    return list(dict.fromkeys(m if m.condensed else m(judged_only=True) for m in chosen))


def usual(collection: Collection, otherwise: Any) -> Any:
    """The measures where none are asked for: those of question answering for answers, else the ones given."""
    return ANSWERS if collection.judgments.group is not None else otherwise


def refuse_condensed_answers(collection: Collection, chosen: Sequence[Measure]) -> None:
    """A UsageError for measures that leave out what is in no class: such answers are wrong, not unjudged."""
    if collection.judgments.group is None:
        return
    if condensed := next((m for m in chosen if m.condensed), None):
        raise UsageError(
            f"{condensed} leaves out documents that were never judged, and an answer outside the classes is wrong, not "
            f"unjudged; take measures of full lists, as in -m {ANSWERS}"
        )


def score(
    collection: Collection,
    wanted: Any = DEFAULT,
    *,
    rel: int | None = None,
    unjudged: str = "nonrelevant",
    topics: str = "judged",
    undefined: str = "zero",
    per_topic: bool = True,
    call: str = "",
) -> Scores:
    """Score every run of a collection.

    `wanted` are measures: spellings (`"AP, nDCG@10"`), measure objects, set names. `rel` is the smallest
    relevant grade of binary measures that name none. `unjudged` says what an unjudged document is:
    `nonrelevant`, or `condensed` (removed from the lists first). `topics` are the ones that count:
    `judged` (all, missing ones score as empty lists), `run` (the run's own) or `common` (answered by all
    runs). Answers (`qa=True` in load) have measures of their own where none are asked for. `undefined` values (no
    relevant document) become `zero`, stay `nan`, or `drop` the topic.
    With `per_topic=False` the table has the means alone.
    """
    if not len(collection.judgments):
        raise UsageError("there are no judgments to score with")
    if undefined not in UNDEFINED:
        raise UsageError(f"undefined values can be {', '.join(UNDEFINED)}, not {undefined!r}")
    counted = counted_topics(collection, topics)
    wanted = usual(collection, wanted) if wanted is DEFAULT else wanted
    chosen = measures_for(collection, wanted, rel)
    chosen = under_policy(chosen, unjudged)
    refuse_condensed_answers(collection, chosen)
    shape = len(collection.runs), len(collection.judgments.topics)
    values = np.empty((*shape, len(chosen)))
    for runs, part in _blocks(collection):
        for m, measure in enumerate(chosen):
            values[runs, :, m] = _cells(measure, part).reshape(-1, shape[1])
    missing = np.isnan(values)
    if undefined == "drop":
        counted &= ~np.asarray(missing.any(axis=(0, 2)))
    elif undefined == "zero":
        values[missing] = 0.0
    settings = {
        **collection.settings,
        "unjudged": unjudged,
        **_counting(topics, counted, undefined, rel),
        "measures": [str(m) for m in chosen],
    }
    provenance = Provenance.of(call, collection.sources, settings)
    return Scores(collection.runs, collection.judgments.topics, chosen, values, counted, provenance, per_topic)


def score_bounds(
    collection: Collection,
    wanted: Any = BOUNDED_DEFAULT,
    *,
    rel: int | None = None,
    growth: str = "retrieved",
    topics: str = "judged",
    per_topic: bool = True,
    call: str = "",
) -> Bounds:
    """The lowest and the highest value any completion of the judgments allows, for each run and topic.

    A completion gives every unjudged document any grade from 0 to the highest of the collection; documents listed
    with a negative grade are unjudged, too. `growth` says which documents there are besides those the run
    retrieved: `retrieved` (only those some run of the collection retrieved for the topic), or `free` (any number of
    further ones; measures that divide by the number of relevant documents then go down to 0, which is reported as
    their infimum). Undefined values (no relevant document) count as 0. `value` is the ordinary score, with unjudged
    documents nonrelevant. A condensed measure (AP', bpref) is bounded on the completed list: nothing is unjudged
    there, so nothing is removed, and its ordinary value may lie outside. With `per_topic=False` the table has the means
    alone.

    For alpha_nDCG, nERR_IA, nNRBP, D_nDCG and Dsharp_nDCG they are outer bounds (`outer bounds` among the settings): no
    completion leaves them, but the ends may not be attained.

    Raises UsageError for a measure without bounds; `measures.bounds.BOUNDED` names those that have them.
    """
    from unjudged.measures.bounds import OUTER, bounds_of, refuse_unbounded

    refuse_unbounded(collection, growth)
    counted = counted_topics(collection, topics)
    chosen = measures_for(collection, wanted, rel)
    ends = bounds_of(collection, chosen, growth)
    settings = {
        **collection.settings,
        "unjudged": "bounds",
        "growth": growth,
        **_counting(topics, counted, "zero", rel),
        "highest grade": collection.judgments.gains.top_grade,
        "measures": [str(m) for m in chosen],
        **({"outer bounds": outer} if (outer := [str(m) for m in chosen if m.name in OUTER]) else {}),
    }
    provenance = Provenance.of(call, collection.sources, settings)
    return Bounds(collection.runs, collection.topics, chosen, *ends, counted, provenance, per_topic)


def _counting(topics: str, counted: npt.NDArray[np.bool_], undefined: str, rel: int | None) -> dict[str, Any]:
    """The settings that say what counts."""
    many = int(counted.any(axis=0).sum())
    return {"topics": topics, "topics counted": many, "undefined": undefined, "rel": rel if rel is not None else 1}
