"""`load_scores`: per-topic scores that somebody else computed, ready for every study that needs no judgments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection.topics import named_topics
from unjudged.errors import InputError, UsageError, one_of
from unjudged.io import files
from unjudged.io.frames import is_frame
from unjudged.io.score_tables import Cells, ScoreTable, add_nested, read_file, read_frame, read_metrics
from unjudged.measures.elsewhere import elsewhere, known_as
from unjudged.options import OPTIONS
from unjudged.results import Provenance
from unjudged.scoring import Scores
from unjudged.text import counted, listed

TABLE = "score table"
"""What provenance says of scores that were not computed here."""


def load_scores(
    source: Any,
    measures: Any = None,
    *,
    missing: str = "refuse",
    only: str | Iterable[str] | None = None,
    call: str = "",
) -> Scores:
    """Read per-topic scores of several runs: `uj.compare(uj.load_scores("scores.csv"), baseline="bm25")`.

    `source` is a file, folder, glob or a list of them (CSV, TSV, JSON lines, JSON, Parquet, output of trec_eval -q or
    ir_measures -q), a pandas, polars or arrow frame, or a dict {run: what holds its scores}: a frame, `.scores` of a
    ranx run, what ir_measures.iter_calc gives, {measure: {topic: value}}. `measures` keeps these alone. Every run needs
    a score on every topic; `missing` says what becomes of cells without one: refuse, zero, drop-topics or drop-runs.
    `only` keeps these topics (tasks of a leaderboard) alone: `"601-650,700"` or a list.
    """
    one_of(missing, OPTIONS["missing"].choices, "rule for missing scores")
    if isinstance(source, Scores):
        return source
    named = only if only is None or isinstance(only, str) else ",".join(map(str, only))
    cells = Cells(lambda name: known_as(name) is not None, wanted=None if named is None else named_topics(named))
    inputs = _read(source, cells)
    found = cells.table()
    for part in filter(None, (named or "").split(",")):
        if not any(map(named_topics(part), found.topics)):
            raise InputError(f"no score of topic {part.strip()} in this table", inputs[0])
    found = _chosen(found, measures)
    kept, notes = _complete(found, missing, inputs[0] if len(inputs) == 1 else None)
    names = [m for m, _ in _named(kept.measures)]
    settings = {
        "source": TABLE,
        "missing": missing,
        **({} if named is None else {"only": named}),
        "topics counted": len(kept.topics),
        "measures": [str(m) for m in names],
    }
    counting = np.ones(kept.values.shape[:2], np.bool_)
    provenance = Provenance.of(call, inputs, settings)
    return Scores(kept.runs, kept.topics, names, kept.values, counting, provenance, notes=(*kept.notes, *notes))


def is_table(scores: Scores) -> bool:
    """Were these scores read from a table, not computed here?"""
    return scores.provenance.settings.get("source") == TABLE


def _read(source: Any, cells: Cells) -> tuple[str, ...]:
    """Read everything; the names of the inputs."""
    if isinstance(source, (str, os.PathLike)):
        paths = files.expand(os.fspath(source))
        for path in paths:
            read_file(path, cells)
        return tuple(paths)
    if is_frame(source):
        read_frame(source, "run", cells, "scores")
        return ("scores",)
    if isinstance(source, Mapping):
        if source and not any(isinstance(v, (Mapping, int, float)) for v in source.values()):
            for name, one in source.items():
                _read_one(one, str(name), cells)
        else:
            cells.source("scores", "")
            add_nested(source, "run", cells, "scores")
        return ("scores",)
    if isinstance(source, Iterable):
        parts = list(source)
        if parts and all(hasattr(part, "query_id") for part in parts):
            read_metrics(parts, "run", cells, "scores")
            return ("scores",)
        inputs: list[str] = []
        for number, part in enumerate(parts, 1):
            if isinstance(part, (str, os.PathLike)) or is_frame(part):
                inputs += _read(part, cells)
            else:
                _read_one(part, str(getattr(part, "name", None) or f"run {number}"), cells)
                inputs.append("scores")
        return tuple(dict.fromkeys(inputs))
    raise UsageError(f"scores are a file, a frame or a dict, not {type(source).__name__}")


def _read_one(one: Any, run: str, cells: Cells) -> None:
    """The scores of one run."""
    held = getattr(one, "scores", one)
    if isinstance(held, Mapping):
        if not held:
            raise InputError("this run has no scores yet; evaluate it first (ranx.evaluate)", run)
        cells.source(run, "")
        add_nested(held, run, cells, run)
    elif isinstance(held, (str, os.PathLike)):
        _read(held, cells)
    elif is_frame(held):
        read_frame(held, run, cells, run)
    elif isinstance(held, Iterable):
        read_metrics(held, run, cells, run)
    else:
        raise UsageError(f"scores of a run are a dict, a frame or what ir_measures gives, not {type(one).__name__}")


def _named(names: Iterable[str]) -> list[tuple[Any, str]]:
    """A measure for each name; names of which two mean the same measure stay as they are."""
    given = list(names)
    known = [known_as(name) for name in given]
    return [
        (measure if measure is not None and known.count(measure) == 1 else elsewhere(name), name)
        for measure, name in zip(known, given, strict=True)
    ]


def _chosen(table: ScoreTable, wanted: Any) -> ScoreTable:
    """The measures asked for, with the runs and topics that have a score in them."""
    if wanted is None or (not isinstance(wanted, str) and not len(wanted)):
        return table
    measures = [m for m, _ in _named(table.measures)]
    whole = Scores(
        table.runs, table.topics, measures, table.values, np.ones(table.values.shape[:2], np.bool_), Provenance("", "")
    )
    places = [measures.index(m) for m in whole.named(wanted)]
    values = table.values[:, :, places]
    there = np.asarray(~np.isnan(values).all(axis=2))
    return _kept(
        table._replace(values=values, measures=tuple(table.measures[p] for p in places)),
        np.asarray(there.any(axis=1)),
        np.asarray(there.any(axis=0)),
    )


def _kept(table: ScoreTable, runs: npt.NDArray[np.bool_], topics: npt.NDArray[np.bool_]) -> ScoreTable:
    if runs.all() and topics.all():
        return table
    return table._replace(
        runs=tuple(r for r, kept in zip(table.runs, runs, strict=True) if kept),
        topics=tuple(t for t, kept in zip(table.topics, topics, strict=True) if kept),
        values=np.ascontiguousarray(table.values[runs][:, topics]),
    )


def _complete(table: ScoreTable, missing: str, source: str | None) -> tuple[ScoreTable, list[str]]:
    """The table without a hole, by the rule asked for, and what was done about them."""
    lacking = np.isnan(table.values)
    many = int(lacking.sum())
    if not many:
        return table, []
    cell = np.asarray(lacking.any(axis=2))
    what = f"{counted(many, 'score')} of {lacking.size} {'is' if many == 1 else 'are'} missing"
    runs, topics = np.asarray(cell.any(axis=1)), np.asarray(cell.any(axis=0))
    if missing == "refuse":
        lists = (
            listed([r for r, bad in zip(table.runs, runs, strict=True) if bad], 3),
            listed([t for t, bad in zip(table.topics, topics, strict=True) if bad], 3),
        )
        raise InputError(
            f"{what} (runs {lists[0]}; topics {lists[1]}): take --missing zero, "
            f"drop-topics ({int((~topics).sum())} stay) or drop-runs ({int((~runs).sum())} stay)",
            source,
        )
    if missing == "zero":
        return table._replace(values=np.where(lacking, 0.0, table.values)), [f"{what}, and count as 0"]
    every = np.ones(len(table.runs), np.bool_), np.ones(len(table.topics), np.bool_)
    if missing == "drop-topics":
        kept, left = _kept(table, every[0], ~topics), f"{counted(int(topics.sum()), 'topic')} left out for them"
    else:
        kept, left = _kept(table, ~runs, every[1]), f"{counted(int(runs.sum()), 'run')} left out for them"
    if not kept.values.size:
        raise InputError(f"{what}, and with --missing {missing} nothing stays", source)
    return kept, [f"{what}; {left}"]
