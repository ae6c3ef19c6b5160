"""Studies: one file per question, for one collection or several, on a laptop or a cluster.

A study varies the judgments, scores the runs and compares. `study(name, collection, ...)` runs one; `register` declares
a new one. The option groups (`Scoring`, `Runs`, ...) are what most studies are asked alike.
"""

from __future__ import annotations

import os
from concurrent.futures import Executor
from typing import Any

from unjudged.errors import UsageError, nearest
from unjudged.results import Result
from unjudged.studies.engine import NAMES, Answer, Case, Progress, Study, find, known, register, run_study
from unjudged.studies.engine.case import Workplace
from unjudged.studies.engine.groups import Group, Pooling, Runs, RunsOfTeams, Scoring, Testing, Unanswerable
from unjudged.studies.engine.slicing import OWN
from unjudged.studies.questions import QUESTIONS, Question
from unjudged.thresholds import Thresholds, read_thresholds

__all__ = ["NAMES", "QUESTIONS", "Answer", "Case", "Question", "Study", "find", "known", "register", "study"]
__all__ += ["Group", "Pooling", "Runs", "RunsOfTeams", "Scoring", "Testing", "Unanswerable"]


def study(
    name: str,
    collection: Any,
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    workdir: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    thresholds: str | os.PathLike[str] | Thresholds | None = None,
    call: str = "",
    slice: Any = None,
    **options: Any,
) -> Result:
    """Run a study: `uj.study("leave-team-out", c, measures="sakai2009", seed=1)`.

    `name` is a study, or a question of the report (`"enough-topics"`). `collection` is one Collection, Scores where the
    study needs no judgments, or several side by side: {name: Collection}. `executor` is any
    concurrent.futures.Executor (Dask: `client.get_executor()`); without one the work is done in `jobs` local
    processes (default: as many as pay), in this one for jobs=1. `workdir` is a folder that keeps finished
    work units, so that the same call continues after an interruption. `progress` is told of every finished
    unit. `thresholds` changes the limits of verdicts (a TOML file).
    `slice`, a file or {topic: label}, asks the study within every slice of the topics, at a level that holds for all of
    them at once (docs/ranks.md). The other arguments are the study's options (`unjudged study NAME --help`). The result
    does not depend on where the work was done.
    """
    asked = name.replace("_", "-")
    if asked not in known() and asked not in QUESTIONS:
        there = (*known(), *(key for key in QUESTIONS if key not in known()))
        raise UsageError(f"no study {name!r}{nearest(asked, there)}; there are {', '.join(there)}")
    if asked in QUESTIONS:
        asked, options = QUESTIONS[asked].asked_of(collection, options)
    limits = thresholds if isinstance(thresholds, Thresholds) else read_thresholds(thresholds)
    if slice is not None and asked in OWN:  # tables of a study of their own
        options = {**{name: value for name, value in options.items() if name != "pairs"}, **OWN[asked]}
        asked = "slices"
    chosen = find(asked)
    if "slice" in chosen.options:
        options, slice = {**options, "slice": slice}, None
    place = Workplace(chosen.name, executor, jobs, None, progress)
    return run_study(chosen, collection, options, place, limits, workdir, call, slice)
