"""The lowest and the highest value any completion of the judgments allows, for each run and topic.

A completion gives every unjudged document some grade from 0 to the highest grade of the collection; judged grades
stay. Which documents there are besides the run's own is an assumption with a name: see `GROWTH`. The modules here
find the completions at which a measure is lowest and highest, each with its proof; the values are then computed by
the registered measure itself. docs/bounds.md tells the same for users.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from unjudged.collection import Cells, Collection, Floats
from unjudged.errors import UsageError
from unjudged.measures import Measure
from unjudged.measures.bounds import aspects
from unjudged.measures.bounds.binary import average_precision, preference, r_precision
from unjudged.measures.bounds.blended import q_measure
from unjudged.measures.bounds.cells import Cell, Completion, Limit, Search, Setting, cells_of, gains_of, scored
from unjudged.measures.bounds.discounted import ndcg
from unjudged.measures.bounds.monotone import falling, recall, rising
from unjudged.measures.bounds.together import ends_together

GROWTH = ("retrieved", "free")
"""How far the relevant documents may grow: `retrieved`, only by documents some run of the collection retrieved for
the topic; `free`, by any number of further documents nobody retrieved."""

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

BOUNDED = (*_SEARCH, *aspects.BOUNDED)
"""Names of the measures that can be bounded."""

OUTER = aspects.OUTER
"""Those of them whose bounds are outer ones: no completion leaves them, but their ends may not be attained."""
NOT_ATTAINED = "outer bounds: no completion of the judgments leaves them, but their ends may not be attained"
"""What is said of the bounds of these measures."""

HIGHEST_GRADE = 1000
"""Grades above are refused: a search tries every grade up to the highest one."""

ABOUT_JUDGMENTS = ("k", "unj", "Judged", "RBP_residual")
"""Measures of the judgments, not of the runs: they have no holes."""


def bounds_of(collection: Collection, chosen: Sequence[Measure], growth: str) -> tuple[Floats, Floats, Floats]:
    """Lowest, ordinary and highest values, runs x topics x measures each: the numbers behind `scoring.score_bounds`."""
    setting = Setting(collection.judgments, growth == "free")
    searches = [None if aspects.of_aspects(measure) else _search_of(measure, setting) for measure in chosen]
    shape = len(collection.runs), len(collection.topics)
    low, value, high = (np.empty((*shape, len(chosen))) for _ in range(3))
    cells: list[Cell] = []
    for m, (measure, search) in enumerate(zip(chosen, searches, strict=True)):
        value[:, :, m] = np.nan_to_num(measure.cells(collection.hits), nan=0.0).reshape(shape)
        if search is None:
            lowest, highest = aspects.aspect_ends(collection, measure, setting.free)
        elif (together := ends_together(collection, measure, setting)) is not None:
            lowest, highest = together
        else:
            cells = cells or list(cells_of(collection))
            lowest, highest = _ends(cells, measure, search, setting, collection)
        low[:, :, m], high[:, :, m] = lowest.reshape(shape), highest.reshape(shape)
    return low, value, high


def refuse_unbounded(collection: Collection, growth: str) -> None:
    """A UsageError for collections without bounds: answer classes, lists in many orders at once, endless grades."""
    if growth not in GROWTH:
        raise UsageError(f"growth can be {' or '.join(GROWTH)}, not {growth!r}")
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
    if measure.name in ABOUT_JUDGMENTS:
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
