"""`score_bounds`: the lowest and the highest value any completion of the judgments allows, for each run and topic.

A completion gives every unjudged document some grade from 0 to the highest grade of the collection; judged grades
stay. Which documents there are besides the run's own is an assumption with a name: see `GROWTH`. The modules here
find the completions at which a measure is lowest and highest, each with its proof; the values are then computed by
the registered measure itself. docs/bounds.md tells the same for users.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Cells, Collection, Floats
from unjudged.collection.topics import counted_topics
from unjudged.errors import UsageError
from unjudged.measures import Measure, measures, with_gains_of_sets
from unjudged.measures.bounds.binary import average_precision, preference, r_precision
from unjudged.measures.bounds.blended import q_measure
from unjudged.measures.bounds.cells import Cell, Completion, Limit, Search, Setting, cells_of, gains_of, scored
from unjudged.measures.bounds.discounted import ndcg
from unjudged.measures.bounds.monotone import falling, recall, rising
from unjudged.results import Provenance, Result, Row

if TYPE_CHECKING:
    import pandas as pd

GROWTH = ("retrieved", "free")
"""How far the relevant documents may grow: `retrieved`, only by documents some run of the collection retrieved for
the topic; `free`, by any number of further documents nobody retrieved."""

DEFAULT = ("AP", "nDCG@10", "P@10", "RR", "bpref")
"""Measures when none are asked for."""

_SEARCH: Mapping[str, Search] = {
    **dict.fromkeys(("P", "SetP", "RR", "Success", "RBP", "DCG", "ERR", "NumRelRet"), rising),
    **dict.fromkeys(("anti_P", "NumNonrelJudgedRet"), falling),
    **dict.fromkeys(("R", "SetR", "relative_P"), recall),
    "AP": average_precision,
    "Rprec": r_precision,
    "bpref": preference,
    **dict.fromkeys(("nDCG", "nCG"), ndcg),
    "Q": q_measure,
}

BOUNDED = tuple(_SEARCH)
"""Names of the measures that can be bounded."""

HIGHEST_GRADE = 1000
"""Grades above are refused: a search tries every grade up to the highest one."""

_ABOUT_JUDGMENTS = ("k", "unj", "Judged", "RBP_residual")


class Bounds(Result):
    """Lowest, ordinary and highest value: run x topic x measure, with the means of each run.

    Topics are completed independently of each other, so the mean of a run's lowest values is its lowest mean.
    Different runs reach their ends at different completions. `.means()` is a frame of runs x (value, low, high of each
    measure), `.frame` the tidy table; `.value`, `.low`, `.high` (runs x topics x measures) and `.counted` (runs x
    topics) are the arrays behind them.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    measures: tuple[Measure, ...]
    low: Floats
    value: Floats
    high: Floats
    counted: npt.NDArray[np.bool_]
    per_topic: bool

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
        super().__init__(("run", "topic", "measure", "value", "low", "high"), tuple, provenance)
        self.runs, self.topics, self.measures = tuple(runs), tuple(topics), tuple(measures)
        self.low, self.value, self.high = low, value, high
        self.counted, self.per_topic = counted, per_topic

    def __repr__(self) -> str:
        return f"<Bounds: {len(self.runs)} runs, {len(self.topics)} topics, {', '.join(map(str, self.measures))}>"

    def mean_values(self) -> Floats:
        """Runs x measures x (value, low, high): the mean, geometric mean or sum over the topics that count."""
        out = np.empty((len(self.runs), len(self.measures), 3))
        for i, values in enumerate((self.value, self.low, self.high)):
            for m, measure in enumerate(self.measures):
                for r, counted in enumerate(self.counted):
                    out[r, m, i] = measure.over_topics(values[r, counted, m])
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
        means = self.mean_values()
        values = np.stack((self.value, self.low, self.high), axis=-1)
        for r, run in enumerate(self.runs):
            if self.per_topic:
                for t, topic in enumerate(self.topics):
                    if self.counted[r, t]:
                        for m, name in enumerate(self.measures):
                            yield run, topic, str(name), *values[r, t, m].tolist()
            for m, name in enumerate(self.measures):
                yield run, "all", str(name), *means[r, m].tolist()

    def _laid_out(self) -> tuple[Sequence[str], list[Row]]:
        """A column per measure."""
        means, names = self.mean_values(), [str(m) for m in self.measures]
        values = np.stack((self.value, self.low, self.high), axis=-1)

        def shown(triples: Floats) -> list[str]:
            return [_interval(m, *triple) for m, triple in zip(self.measures, triples.tolist(), strict=True)]

        if not self.per_topic:
            return ["run", *names], [(run, *shown(means[r])) for r, run in enumerate(self.runs)]
        rows: list[Row] = []
        for r, run in enumerate(self.runs):
            rows += [(run, topic, *shown(values[r, t])) for t, topic in enumerate(self.topics) if self.counted[r, t]]
            rows.append((run, "all", *shown(means[r])))
        return ["run", "topic", *names], rows


def _interval(measure: Measure, value: float, low: float, high: float) -> str:
    if measure.definition.aggregate == "sum":
        return f"{value:.0f} [{low:.0f}, {high:.0f}]"
    return f"{value:.4f} [{low:.4f}, {high:.4f}]"


def score_bounds(
    collection: Collection,
    wanted: Any = DEFAULT,
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

    Raises UsageError for a measure without an exact algorithm; `BOUNDED` names those that have one.
    """
    if growth not in GROWTH:
        raise UsageError(f"growth can be {' or '.join(GROWTH)}, not {growth!r}")
    counted = counted_topics(collection, topics)
    refuse_unbounded(collection)
    chosen = measures(wanted, rel)
    collection = with_gains_of_sets(collection, wanted)
    setting = Setting(collection.judgments, growth == "free")
    searches = [_search_of(measure, setting) for measure in chosen]
    shape = len(collection.runs), len(collection.topics)
    low, value, high = (np.empty((*shape, len(chosen))) for _ in range(3))
    cells = list(cells_of(collection))
    for m, (measure, search) in enumerate(zip(chosen, searches, strict=True)):
        value[:, :, m] = np.nan_to_num(measure.cells(collection.hits), nan=0.0).reshape(shape)
        lowest, highest = _ends(cells, measure, search, setting, collection)
        low[:, :, m], high[:, :, m] = lowest.reshape(shape), highest.reshape(shape)
    from unjudged import __version__

    settings = {
        **collection.settings,
        "unjudged": "bounds",
        "growth": growth,
        "topics": topics,
        "topics counted": int(counted.any(axis=0).sum()),
        "undefined": "zero",
        "rel": rel if rel is not None else 1,
        "highest grade": setting.top,
        "measures": [str(m) for m in chosen],
    }
    provenance = Provenance(__version__, call, collection.sources, settings)
    return Bounds(collection.runs, collection.topics, chosen, low, value, high, counted, provenance, per_topic)


def refuse_unbounded(collection: Collection) -> None:
    """A UsageError for collections without bounds: answer classes, lists in many orders at once, endless grades."""
    top = collection.judgments.gains.top_grade
    if top > HIGHEST_GRADE:
        raise UsageError(
            f"bounds try each grade up to the highest; {top} is too high (at most {HIGHEST_GRADE}), collapse the grades"
        )
    if collection.judgments.group is not None:
        raise UsageError("answers outside the classes are wrong, not unjudged: bounds are for judged documents")
    if collection.hits.ties is not None:
        raise UsageError(
            "bounds need one order of the documents; ties 'expected' has many, read the runs with another rule"
        )


def _search_of(measure: Measure, setting: Setting) -> Search:
    """The search for this measure's ends, or a UsageError that says why there is none."""
    can = f"bounds exist for {', '.join(BOUNDED)}"
    if measure.name in _ABOUT_JUDGMENTS:
        raise UsageError(f"{measure} describes the judgments, of which a completion leaves none open; {can}")
    search = _SEARCH.get(measure.name)
    if search is None or not measure.definition.ours:
        raise UsageError(f"{measure} has no exact bounds for unjudged documents; {can}")
    if "gains" in measure.params and (np.diff(gains_of(measure, setting)) < 0).any():
        shown = gains_of(measure, setting).tolist()
        raise UsageError(f"{measure} has no bounds with gains that fall with the grade (grades 0, 1, ... gain {shown})")
    return recall if measure.name == "SetP" and measure.params["relative"] else search


def _ends(
    cells: Sequence[Cell], measure: Measure, search: Search, setting: Setting, collection: Collection
) -> tuple[Cells, Cells]:
    """Lowest and highest value of every cell, computed by the measure itself at the completions found."""
    ends = np.zeros((2, len(cells)))
    order: list[tuple[int, int]] = []

    def completed() -> Iterator[tuple[Cell, Completion]]:
        for number, cell in enumerate(cells):
            try:
                found = search(cell, measure, setting)
            except UsageError as error:
                run, topic = divmod(number, len(collection.topics))
                raise UsageError(f"run {collection.runs[run]}, topic {collection.topics[topic]}: {error}") from None
            for side, end in enumerate(found):
                if isinstance(end, Limit):
                    ends[side, number] = end.value
                else:
                    order.append((side, number))
                    yield cell, end

    for place, value in zip(order, scored(measure, setting.judgments, completed()).tolist(), strict=False):
        ends[place] = value
    return ends[0], ends[1]
