"""What a study is: a function of one collection that answers one question, declared by a decorator.

    @register("power", help="which measure tells most pairs of runs apart", cite="sakai2006", figures={"": ("power",)})
    def power(case: Case, scoring: Scoring, runs: Runs, testing: Testing, *, pairs: bool = False) -> Answer: ...

The keyword arguments are the study's options, and so are the fields of the groups it names before them (`groups`), in
Python and on the command line alike. The function cuts its work into units and hands them to `case.run`, which runs
them wherever the user wants them run and keeps finished ones; it then puts the values together in an Answer. The
engine makes the Result: provenance, notes, and the column `collection` where several stand side by side.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_type_hints

from unjudged.collection import Collection
from unjudged.collection.manifest import Collections
from unjudged.correction.protocols import protocol_of
from unjudged.errors import UnjudgedError, UsageError, nearest
from unjudged.results import Result
from unjudged.scoring import Scores, usual
from unjudged.studies.engine.answer import Answer, DrawnTogether, Together, result_of
from unjudged.studies.engine.case import Case, Workplace
from unjudged.studies.engine.fingerprint import of_collection, of_scores
from unjudged.studies.engine.groups import Group, Pooling, Unanswerable
from unjudged.studies.engine.slicing import run_slices
from unjudged.studies.engine.workdir import Workdir
from unjudged.thresholds import Thresholds

NAMES = (
    *(
        "compare",
        "winners",
        "ranks",
        "slices",
        "gate",
        "contents",
        "holes",
        "score-range",
        "estimate",
        "agreement",
        "power",
        "swap",
    ),
    *(
        "stability",
        "reliability",
        "reduction",
        "depth",
        "leave-team-out",
        "leave-run-out",
        "take-team",
        "contributions",
    ),
    *("correct", "correction", "judges", "corrected", "over-judges", "noise", "change", "topics"),
)
"""The studies that come with the package; each has a module of its name (`leave_team_out.py`)."""


@dataclass(frozen=True, eq=False)
class Ready:
    """A study with its options, checked: groups and own options by parameter."""

    function: Callable[..., Answer]
    asked: Mapping[str, Any]

    def __call__(self, case: Case) -> Answer:
        return self.function(case, **self.asked)


@dataclass(frozen=True)
class Study:
    """A study as declared; `own` are its keyword arguments, `groups` the option groups it names, by parameter.

    `figures` are the names of its charts: under "" those of the usual table, under an option's name those of the table
    it asks for, under "several" those added where collections stand side by side. `scores` says whether it also works
    on scores without a collection. `together` lays out several collections, where stacking them is not enough, and
    `drawn_together` makes their charts, where those of the first, fed with all rows, are not enough.
    `columns` and `limit` (a key of thresholds.toml) are those of an answer that the data do not allow.
    """

    name: str
    function: Callable[..., Answer]
    help: str
    cite: str
    own: Mapping[str, inspect.Parameter]
    groups: Mapping[str, type[Group]]
    figures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    scores: bool = False
    together: Together | None = None
    columns: tuple[str, ...] = ()
    limit: str = ""
    drawn_together: DrawnTogether | None = None

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """Every option there is, those of the groups first."""
        inside = [inspect.signature(group).parameters for group in self.groups.values()]
        return {name: p for part in (*inside, self.own) for name, p in part.items()}

    @property
    def defaults(self) -> dict[str, Any]:
        """Its options and their values where none are given."""
        return {name: p.default for name, p in self.options.items()}

    def charts(self, options: Mapping[str, Any], several: bool = False) -> tuple[str, ...]:
        """Names of the charts its result will have with these options; none where they were not declared."""
        table = next((names for key, names in self.figures.items() if options.get(key)), self.figures.get("", ()))
        return (*table, *(self.figures.get("several", ()) if several else ()))

    def ready(self, options: Mapping[str, Any]) -> Ready:
        """The study with these options, which are checked as far as they can be without a collection."""
        for option in options:
            if option not in self.options:
                there = ", ".join(self.options)
                raise UsageError(f"study {self.name} has no option {option!r}{nearest(option, self.options)}: {there}")
        asked: dict[str, Any] = {}
        for parameter, group in self.groups.items():
            inside = inspect.signature(group).parameters
            asked[parameter] = group(**{n: v for n, v in options.items() if n in inside})
        asked |= {n: v for n, v in options.items() if n in self.own}
        return Ready(self.function, asked)


REGISTRY: dict[str, Study] = {}
"""Studies declared so far: ours once they were asked for, and the user's own."""


def register(
    name: str,
    *,
    help: str,
    cite: str = "",
    figures: Mapping[str, tuple[str, ...]] | None = None,
    scores: bool = False,
    together: Together | None = None,
    columns: Sequence[str] = (),
    limit: str = "",
    drawn_together: DrawnTogether | None = None,
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Declare a study; its keyword arguments and groups become its options. Declaring a name again replaces it."""

    def declare(function: Callable[..., Answer]) -> Callable[..., Answer]:
        _, *parameters = inspect.signature(function).parameters.values()
        own = {p.name: p for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
        named = [p.name for p in parameters if p.name not in own]
        hints = get_type_hints(function) if named else {}
        groups = {n: hints[n] for n in named}
        laid_out = (scores, together, tuple(columns), limit, drawn_together)
        REGISTRY[name] = Study(name, function, help, cite, own, groups, figures or {}, *laid_out)
        return function

    return declare


def known() -> tuple[str, ...]:
    """Names of all studies: ours, then the user's."""
    ours = tuple(n for n in NAMES if importlib.util.find_spec(_module(n)) is not None)
    return (*ours, *(n for n in REGISTRY if n not in NAMES))


def _module(name: str) -> str:
    return f"unjudged.studies.{name.replace('-', '_')}"


def find(name: str) -> Study:
    """The study of this name, or a UsageError that names the nearest one."""
    name = name.replace("_", "-")
    if name not in REGISTRY and name in known():
        importlib.import_module(_module(name))
    if name not in REGISTRY:
        raise UsageError(f"no study {name!r}{nearest(name, known())}; there are {', '.join(known())}")
    return REGISTRY[name]


def run_study(
    study: Study,
    source: Any,
    options: Mapping[str, Any],
    place: Workplace,
    limits: Thresholds,
    workdir: str | os.PathLike[str] | None = None,
    call: str = "",
    slice: Any = None,
) -> Result:
    """Run a declared study on one collection (or scores), on several side by side, or within slices of the topics."""
    named = named_sources(study, source)
    if slice is not None and len(named) > 1:
        raise UsageError("slices are those of the topics of one collection; ask one at a time")
    if place.jobs is not None and place.jobs < 1:
        raise UsageError(f"the number of jobs must be at least 1, not {place.jobs}")
    if "measures" in study.options:
        options = {**options, **_usual_measures(study, [source for _, source in named], options.get("measures"))}
    ready, notes = _ready_for_each(study, source, [name for name, _ in named], options), []
    if workdir is not None:
        inputs = {n: of_scores(s) if isinstance(s, Scores) else of_collection(s) for n, s in named}
        place = replace(place, workdir=Workdir(workdir, inputs))

    def answered() -> list[tuple[Case, Answer]] | Result:
        cases = [Case(name, one, place, limits, len(named) > 1) for name, one in named]
        if slice is not None:
            return run_slices(
                study, cases[0], slice, options, lambda case, own: _answer(study, study.ready(own), case), call
            )
        for case in cases:
            _tell_own_settings(study, source, case, options)
        if len(cases) > 1:
            _look_at_pools(study, ready, cases)
        return [(case, _answer(study, ready[case.name], case)) for case in cases]

    try:
        answers = answered()
    except UnjudgedError:
        raise
    except Exception:  # perhaps of a unit with the right checksum and another content: once more, without what was kept
        if place.workdir is None or not place.workdir.distrusted():
            raise
        answers = answered()
    if isinstance(answers, Result):
        return answers
    if place.workdir is not None and place.workdir.damaged:
        notes = [f"{place.workdir.folder}: {place.workdir.damaged} damaged work units were redone"]
    return result_of(study.name, answers, call, notes, study.together, study.drawn_together)


def _own_settings(study: Study, source: Any, name: str) -> dict[str, Any]:
    """The options of this study that a manifest states for one collection."""
    own = source.settings.get(name, {}) if isinstance(source, Collections) else {}
    return {option: value for option, value in own.items() if option in study.options}


def _ready_for_each(study: Study, source: Any, names: Sequence[str], options: Mapping[str, Any]) -> dict[str, Ready]:
    """The study for each collection: what a manifest says of one holds there, the options given hold elsewhere."""
    return {name: study.ready({**options, **_own_settings(study, source, name)}) for name in names}


def _tell_own_settings(study: Study, source: Any, case: Case, options: Mapping[str, Any]) -> None:
    """A note where the manifest says something else of a collection than the options given."""
    for option, value in _own_settings(study, source, case.name).items():
        if option in options and options[option] is not None and options[option] != value:
            case.note(f"{option} {value} of the manifest holds here, not {options[option]}")


def _look_at_pools(study: Study, ready: Mapping[str, Ready], cases: Sequence[Case]) -> None:
    """Of several collections, one whose pool cannot be told is named before the work on the others begins."""
    for case in cases:
        asked = ready[case.name].asked
        pooling = next((p for p in asked.values() if isinstance(p, Pooling)), None)
        if pooling is None or not isinstance(case.source, Collection):
            continue
        if "protocol" in study.own and pooling.tolerance is None:
            pooling = replace(pooling, tolerance=protocol_of(asked.get("protocol", "strict")).tolerance)
        try:
            pooling.of(case.source)
        except Unanswerable as why:
            if not study.limit:
                raise UsageError(f"{case.name}: {why}") from None
            case.tell(f"no answer here: {why}")
        except UsageError as problem:
            raise UsageError(f"{case.name}: {problem}") from None


def _usual_measures(study: Study, sources: Sequence[Collection | Scores], asked: Any = None) -> dict[str, Any]:
    """Measures of scores at hand by the names they have there. Where none are asked for: those of scores at hand (but
    counts and geometric means, unless there is nothing else), those of answers; else the study's own."""
    scored = next((s for s in sources if isinstance(s, Scores)), None) if study.scores else None
    if scored is not None and asked is not None:
        return {"measures": scored.named(asked)}
    if scored is not None:
        return {"measures": [m for m in scored.measures if m.mean == "arithmetic"] or list(scored.measures)}
    if asked is not None:
        return {}
    wanted = study.defaults["measures"]
    found = [wanted if isinstance(source, Scores) else usual(source, wanted) for source in sources]
    return {} if any(one is wanted for one in found) else {"measures": found[0]}


def _answer(study: Study, ready: Ready, case: Case) -> Answer:
    """The answer; an empty table and the verdict `unknown` where the data do not allow one."""
    try:
        if isinstance(case.source, Scores) and not study.scores:
            raise Unanswerable("this question needs judgments, and scores alone have none")
        return ready(case)
    except Unanswerable as why:
        if not study.limit:
            raise
        if case.several:
            case.note(f"no answer here: {why}")
            case.tell(f"no answer here: {why}")
        return Answer(study.columns, [], case.limits[study.limit].unknown(str(why), why.next))
    except UsageError as problem:
        if not case.several:
            raise
        raise UsageError(f"{case.name}: {problem}") from None


def named_sources(study: Study, source: Any) -> tuple[tuple[str, Collection | Scores], ...]:
    """The collections (or scores) by name, checked."""
    found: tuple[tuple[str, Any], ...]
    if isinstance(source, (Collection, Scores)):
        found = (("collection", source),)
    elif isinstance(source, Mapping):
        found = tuple((str(n), c) for n, c in source.items())
    elif isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        found = tuple((f"collection {i}", c) for i, c in enumerate(source, 1))
    else:
        found = ()
    if not found or not all(isinstance(c, (Collection, Scores)) for _, c in found):
        wanted = "a Collection or Scores" if study.scores else "a Collection"
        raise UsageError(f"a study needs {wanted}, or several as {{name: Collection}}")
    alone = [isinstance(c, Scores) for _, c in found]
    if not study.scores and (all(alone) if study.limit else any(alone)):
        raise UsageError(f"study {study.name} needs judgments (uj.load); scores are not enough")
    return found
