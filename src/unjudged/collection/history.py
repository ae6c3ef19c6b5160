"""What was done to a collection, as data, and how it is done again.

Every function from a collection to a collection that is decorated with `@change` leaves a `Change` in `.history`: its
name and its parameters. Where the runs have to be read again, the history decides what becomes of them:

* other ties (`Collection.with_ties`): `replay` calls the same functions with the same parameters in the same order;
* one more run (`Collection.adding`): `carried` repeats what the functions did to the judgments then, because a run
  that comes later was not there to be pooled.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import numpy as np

from unjudged.collection.judgments import Judgments
from unjudged.collection.segments import locked
from unjudged.errors import UsageError
from unjudged.io.ids import Ids

if TYPE_CHECKING:
    from unjudged.collection.collection import Collection

Function = TypeVar("Function", bound=Callable[..., "Collection"])
Hold = Callable[["Collection", Any], Any]
"""Makes of a parameter what is kept of it: plain data that nobody changes afterwards."""

ADDING, WITH_RUNS = "Collection.adding", "Collection.with_runs"


@dataclass(frozen=True, eq=False)
class Change:
    """One step of a collection's history: the name of a function and its parameters.

    `str` gives the line that stands in notes and in the provenance of results (`lines` are several, where a step was
    made of others). Changes are equal where name, parameters and lines are.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    steps: tuple[Change, ...] | None = field(default=None, repr=False)
    """The changes it consisted of; None for a basic change."""
    judgments: Judgments | None = field(default=None, repr=False)
    """The judgments before, where a parameter has one value for each of them."""

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return "; ".join(self.lines) or f"{self.name.removeprefix('Collection.')}({given})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Change) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash((self.name, self.lines))

    def _content(self) -> Any:
        return self.name, self.lines, _comparable(dict(self.parameters))

    def basic(self) -> Iterator[Change]:
        """The basic changes it consisted of, in order."""
        if self.steps is None:
            yield self
        for step in self.steps or ():
            yield from step.basic()

    def told(self) -> Change:
        """Without what it takes to do it again."""
        return replace(self, steps=None, judgments=None)

    def again(self, collection: Collection) -> Collection:
        """The same change to another collection."""
        given, known = dict(self.parameters), self._known()
        for name, otherwise in known.by_row.items():
            if self.judgments is not None and self.judgments is not collection.judgments:
                here = otherwise(collection.judgments)
                given[name] = _by_document(given[name], self.judgments, collection.judgments, here)
        return known(collection, given)

    def exactly(self, collection: Collection) -> Collection:
        """The same change to a collection with the same judgments."""
        return self._known()(collection, dict(self.parameters))

    def _known(self) -> Registered:
        if self.name not in CHANGES:
            raise UsageError(f"the change {self.name} is not known here; import the module that defines it")
        return CHANGES[self.name]


@dataclass(frozen=True)
class Registered:
    """A function that can be called again by name."""

    function: Callable[..., Collection]
    signature: inspect.Signature
    module: str
    by_row: Mapping[str, Callable[[Judgments], Any]]
    """Parameters with one value per judgment, and the values of judgments that were not there then."""

    def __call__(self, collection: Collection, given: Mapping[str, Any]) -> Collection:
        first = next(iter(self.signature.parameters))
        bound = inspect.BoundArguments(self.signature, cast(Any, {first: collection, **given}))
        return self.function(*bound.args, **bound.kwargs)


CHANGES: dict[str, Registered] = {}
"""Every change there is, by name."""


@overload
def change(function: Function, /) -> Function: ...
@overload
def change(
    function: None = None,
    /,
    *,
    basic: bool = False,
    by_row: Mapping[str, Callable[[Judgments], Any]] | None = None,
    **hold: Hold,
) -> Callable[[Function], Function]: ...
def change(
    function: Any = None,
    /,
    *,
    basic: bool = False,
    by_row: Mapping[str, Callable[[Judgments], Any]] | None = None,
    **hold: Hold,
) -> Any:
    """Make a function from a collection to a collection part of the history it leaves.

    The function is called again, with the parameters it was given, where the collection is read with other ties.
    Parameters are kept as they were at the call: numbers, text, and copies of lists, dicts and arrays; `hold` says for
    single parameters what else is kept. A basic change (`basic`) sets the fields of the collection itself; all others
    are made of basic ones.
    """

    def register(function: Function) -> Function:
        signature, name = inspect.signature(function), function.__qualname__
        first, *_ = signature.parameters

        @functools.wraps(function)
        def changed(*args: Any, **kwargs: Any) -> Collection:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                return function(*args, **kwargs)  # says itself what is wrong
            before = cast("Collection", bound.arguments[first])
            for key, value in list(bound.arguments.items())[1:]:
                bound.arguments[key] = hold[key](before, value) if key in hold else _held(value)
            after = function(*bound.args, **bound.kwargs)
            if basic and after is before:
                return after
            given = {key: value for key, value in bound.arguments.items() if key != first}
            lines = after.settings.get("history", ())[len(before.settings.get("history", ())) :]
            steps = None if basic else after.history[len(before.history) :]
            known = before.judgments if by_row else None
            return replace(after, history=(*before.history, Change(name, given, tuple(lines), steps, known)))

        there = CHANGES.get(name)
        if there is not None and there.module != function.__module__:
            raise UsageError(f"there is a change called {name} in {there.module}; choose another name")
        CHANGES[name] = Registered(changed, signature, function.__module__, by_row or {})
        return cast(Function, changed)

    return register if function is None else register(function)


def replay(collection: Collection, history: Sequence[Change]) -> Collection:
    """The changes of a history made to another reading of the same judgments and runs, one after the other."""
    for step in history:
        collection = step.again(collection)
    return collection


def added(history: Sequence[Change]) -> list[Any]:
    """The runs a history added."""
    return [run for step in history for one in step.basic() if one.name == ADDING for run in one.parameters["runs"]]


def carried(collection: Collection, history: Sequence[Change], original: int) -> Collection:
    """The judgments a history led to, over a collection that holds all runs from the beginning.

    The first `original` runs are those that were read then; behind them stand the runs that the history added, and
    new ones. Nothing looks at runs here: the judgments are the same whichever runs have come.
    """
    runs, there = collection.runs, original
    for one in (basic for step in history for basic in step.basic()):
        if one.name == ADDING:
            there += len(one.parameters["runs"])
        elif one.name == WITH_RUNS:
            collection = collection.with_runs([*one.parameters["runs"], *runs[there:]])
        else:
            collection = one.exactly(collection)
    return collection


def _held(value: Any) -> Any:
    """A parameter as it is now, whatever its owner does to it later."""
    if value is None or isinstance(value, (str, bytes, int, float)):
        return value
    if hasattr(value, "__array__") and np.ndim(value):
        return locked(np.array(value))
    if isinstance(value, Mapping):
        return {key: _held(one) for key, one in value.items()}
    return tuple(map(_held, value)) if isinstance(value, Iterable) and not is_dataclass(value) else value


def _comparable(value: Any) -> Any:
    """Plain values that are equal where the parameters are."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return {key: _comparable(one) for key, one in value.items()}
    if isinstance(value, Ids):
        return value.blob, value.ends.tobytes()
    if isinstance(value, Judgments):
        return [_comparable(part) for part in (value.topics, value.starts, value.docs, value.grade, value.gains)]
    if is_dataclass(value) and not isinstance(value, type):
        return [_comparable(getattr(value, part.name)) for part in fields(value)]
    return [_comparable(one) for one in value] if isinstance(value, (tuple, list)) else value


def _by_document(values: Any, then: Judgments, now: Judgments, otherwise: Any) -> Any:
    """The values of the documents judged then, for the documents judged now; `otherwise` for those not judged then."""
    row_of = {key: row for row, key in enumerate(_documents(then))}
    row = np.array([row_of.get(key, -1) for key in _documents(now)], np.int64)
    found = np.array(otherwise)
    found[row >= 0] = values[row[row >= 0]]
    return found


def _documents(judgments: Judgments) -> Iterator[tuple[bytes, bytes]]:
    for row, topic in enumerate(judgments.topic.tolist()):
        yield judgments.topics.raw(topic), judgments.docs.raw(row)
