"""What a measure is: one decorated function over Hits, its parameters, its spelling.

`@measure` reads name, parameters, defaults and help from the function. The result is a `Measure`:
`nDCG @ 10` sets the cut-off, `P(rel=2)` sets parameters, a prime (or `judged_only=True`) means the
condensed list, `mean='geometric'` the geometric mean over topics. `repr` is the canonical spelling, which
`measures.parse` reads back.
"""

from __future__ import annotations

import math
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import numpy as np
import numpy.typing as npt

from unjudged.classical import GEOMETRIC_FLOOR
from unjudged.collection import LARGEST_GAIN, Cells, Hits, logarithms
from unjudged.errors import MeasureError, nearest

_SHARED = {"judged_only": False, "mean": "arithmetic"}
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "k": (lambda v: 1 <= v < 2**31, "a positive whole number below 2**31"),
    **dict.fromkeys(("rel", "min_rel", "max_rel"), (lambda v: 0 <= v < 2**31, "a grade of 0 or more, below 2**31")),
    "p": (lambda v: 0 < v < 1, "between 0 and 1"),
    "alpha": (lambda v: 0 <= v <= 1, "between 0 and 1"),
    "full": (lambda v: 1 <= v < 2**31, "a grade of 1 or more"),
    "beta": (lambda v: 0 <= v < math.inf, "a number, 0 or more"),
    "base": (lambda v: 1 < v < math.inf, "a number above 1"),
    "mult": (lambda v: 0 < v < math.inf, "a number above 0"),
    **dict.fromkeys(
        ("gains", "stops"),
        (lambda v: _by_grade(v), f"0 or more (at most {LARGEST_GAIN:g}) for each grade above 0, as {{1: 1, 2: 3}}"),
    ),
    "thresholds": (
        lambda v: _by_grade(v) and sum(v.values()) > 0,
        "a share for each grade above 0, as {1: 0.5, 2: 0.5}",
    ),
    "eps": (lambda v: 0 < v < math.inf, "a number above 0"),
    "judged_eps": (lambda v: 0 < v < math.inf, "a number above 0"),
    "gamma": (lambda v: 0 < v <= 1, "above 0 and at most 1"),
    "recalls": (lambda v: len(v) > 0 and all(_finite(x) and 0 <= x <= 1 for x in v), "numbers between 0 and 1"),
    "T": (lambda v: 0 < v < math.inf, "a number above 0"),
    "recall": (lambda v: 0 <= v <= 1, "between 0 and 1"),
}


def _finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < math.inf


def _by_grade(values: Mapping[Any, Any]) -> bool:
    """A number of 0 or more for each grade; grades of 0 and below can only have none."""
    whole = all(isinstance(grade, int) and not isinstance(grade, bool) for grade in values)
    return whole and all(_finite(x) and 0 <= x <= LARGEST_GAIN and (g > 0 or x == 0) for g, x in values.items())


@dataclass(frozen=True)
class Parameter:
    """One parameter of a measure."""

    name: str
    default: Any
    kinds: tuple[type, ...]
    choices: tuple[Any, ...] = ()
    required: bool = False

    def check(self, value: Any, measure: str) -> Any:
        """The value in the parameter's type, or a MeasureError that says what is wanted."""
        if self.choices:
            if value not in self.choices:
                raise MeasureError(
                    f"{measure}: {self.name} is one of {', '.join(map(repr, self.choices))}, not {value!r}"
                )
            return value
        if value is None and type(None) in self.kinds:
            return None
        if float in self.kinds and isinstance(value, int) and not isinstance(value, bool):
            value = float(value) if abs(value) <= sys.float_info.max else math.inf
        if int in self.kinds and isinstance(value, float) and value.is_integer() and float not in self.kinds:
            value = int(value)
        fits = isinstance(value, self.kinds) and not (isinstance(value, bool) and bool not in self.kinds)
        fits = fits and not (isinstance(value, float) and not math.isfinite(value))
        rule, wanted = _RULES.get(self.name, (lambda v: True, ""))
        if not fits or not rule(value):
            kind = next(k for k in self.kinds if k is not type(None)).__name__
            raise MeasureError(f"{measure}: {self.name} must be {wanted or f'of type {kind}'}, found {value!r}")
        return types.MappingProxyType(dict(value)) if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class Definition:
    """A measure as declared: its function and what the decorator was told."""

    name: str
    function: Callable[..., Cells]
    parameters: dict[str, Parameter]
    family: str
    cite: str
    cutoff: str
    aggregate: Literal["mean", "sum"]
    condensed: bool
    bounded: bool
    aliases: tuple[str, ...]

    @property
    def ours(self) -> bool:
        """Is it one of this package's measures, of which more is known than their values?"""
        return (self.function.__module__ or "").startswith("unjudged.measures.")

    @property
    def summary(self) -> str:
        """First line of the docstring."""
        return (self.function.__doc__ or "").strip().split("\n")[0]


ByGrade = Mapping[int, float] | None
"""Parameters such as `gains`: a number for each grade, or None for the collection's own."""

REGISTRY: dict[str, Measure] = {}
"""Canonical name -> the measure with its defaults, in order of declaration."""
ALIASES: dict[str, str] = {}
"""Other accepted names -> canonical spelling."""


class Measure:
    """A measure with its parameters fixed: `uj.AP`, `uj.nDCG @ 10`, `uj.RBP(p=0.8)`.

    Calling it sets parameters, `@` the cut-off; `judged_only=True` (spelt `AP'`) scores the condensed list. `str`
    gives the spelling that `parse` reads. Hashable, equal where the spelling is equal.
    """

    __slots__ = ("_given", "_text", "definition", "params")

    def __init__(self, definition: Definition, given: Mapping[str, Any]) -> None:
        self.definition: Definition = definition
        name = definition.name
        known = definition.parameters
        self._given: dict[str, Any] = {}
        for key, value in given.items():
            if key == "cutoff" and "k" in known:
                key = "k"
            if key in _SHARED:
                allowed = (False, True) if key == "judged_only" else ("arithmetic", "geometric")
                if value not in allowed:
                    raise MeasureError(f"{name}: {key} is one of {allowed}, not {value!r}")
                self._given[key] = value
            elif key in known:
                self._given[key] = known[key].check(value, name)
            else:
                can = ", ".join([*known, *_SHARED])
                raise MeasureError(
                    f"{name} has no parameter {key!r}{nearest(key, [*known, *_SHARED, 'cutoff'])}; it takes {can}"
                )
        if self._given.get("mean") == "geometric" and definition.aggregate == "sum":
            raise MeasureError(f"{name} is a count; it has no geometric mean")
        self.params: dict[str, Any] = {key: p.default for key, p in known.items()}
        self.params |= {key: value for key, value in self._given.items() if key in known}
        self._text = self._spell()

    # -- how it is written

    @property
    def name(self) -> str:
        """The name without parameters."""
        return self.definition.name

    @property
    def function(self) -> Callable[..., Cells]:
        """The declared function: Hits and parameters in, cells out (for measures built on others)."""
        return self.definition.function

    @property
    def condensed(self) -> bool:
        """Is it computed on the condensed list?"""
        return self.definition.condensed or bool(self._given.get("judged_only"))

    @property
    def mean(self) -> str:
        """How topics are put together: arithmetic, geometric or sum."""
        if self.definition.aggregate == "sum":
            return "sum"
        return str(self._given.get("mean", "arithmetic"))

    @property
    def bounded(self) -> bool:
        """Do the numbers that are averaged over topics lie between 0 and 1?"""
        return self.definition.bounded and self.mean == "arithmetic"

    def _spell(self) -> str:
        d = self.definition
        name, geometric = d.name, self.mean == "geometric"
        if name == "AP" and geometric:
            name, geometric = "GMAP", False
        prime = "'" if self._given.get("judged_only") and not d.condensed else ""
        shown = [(k, v) for k, v in self.params.items() if k != d.cutoff and v != d.parameters[k].default]
        if geometric:
            shown.append(("mean", "geometric"))
        inside = ", ".join(f"{k}={dict(v) if isinstance(v, Mapping) else v!r}" for k, v in shown)
        cut = self.params.get(d.cutoff)
        at = "" if cut is None else f"@{cut}"
        return f"{name}{prime}{f'({inside})' if inside else ''}{at}"

    def __repr__(self) -> str:
        return self._text

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        """Ours travel by name, the user's own with their function (which needs cloudpickle from a notebook)."""
        given = {key: dict(value) if isinstance(value, Mapping) else value for key, value in self._given.items()}
        if (self.function.__module__ or "").startswith("unjudged."):
            return _again, (self.name, given)
        return Measure, (self.definition, given)

    def __call__(self, **params: Any) -> Measure:
        return Measure(self.definition, self._given | params)

    def __matmul__(self, cut: float) -> Measure:
        if self.definition.cutoff not in self.definition.parameters:
            raise MeasureError(f"{self.name} has no cut-off")
        return self(**{self.definition.cutoff: cut})

    def default_rel(self, rel: int) -> Measure:
        """With `rel` as smallest relevant grade, where the measure has one and none was given."""
        if "rel" not in self.definition.parameters or "rel" in self._given:
            return self
        if self.definition.parameters["rel"].default is None:
            return self
        return self(rel=rel)

    # -- what it says

    def complete(self) -> Measure:
        """Itself, or a MeasureError if a parameter is missing."""
        for key, parameter in self.definition.parameters.items():
            if parameter.required and self.params[key] is None:
                example = f"{self.name}@0.1" if key == "recall" else f"{self.name}@10"
                raise MeasureError(
                    f"{self.name} needs {'a cut-off' if key == self.definition.cutoff else key}, e.g. {example}"
                )
        return self

    def cells(self, hits: Hits) -> Cells:
        """Its value in every (run, topic) cell; NaN where it is undefined."""
        self.complete()
        view = hits.condensed() if self.condensed else hits.judged()
        with np.errstate(divide="ignore", invalid="ignore"):
            values = self.definition.function(view, **self.params)
        return np.asarray(values, np.float64)

    def over_topics(self, values: npt.NDArray[np.float64]) -> float:
        """Its summary of per-topic values: mean, geometric mean or sum; NaN if there are none."""
        if self.mean == "sum":
            return float(np.sum(values))
        if not len(values):
            return float("nan")
        if self.mean == "geometric":
            return math.exp(np.mean(logarithms(np.maximum(values, GEOMETRIC_FLOOR))))
        return float(np.mean(values))


def _again(name: str, given: dict[str, Any]) -> Measure:
    """A registered measure with its parameters, in another process."""
    return Measure(REGISTRY[name].definition, given)


def _kinds(hint: Any, scope: dict[str, Any]) -> tuple[tuple[type, ...], tuple[Any, ...]]:
    """Types and choices of an annotation, as in `int | None` or `Literal["log2", "jk"]`."""
    key = (hint, id(scope)) if isinstance(hint, str) else None
    if key in _HINTS:
        return _HINTS[key]
    meant = eval(hint, dict(scope)) if isinstance(hint, str) else hint
    parts = get_args(meant) if get_origin(meant) in (typing.Union, types.UnionType) else (meant,)
    choices = tuple(c for part in parts if get_origin(part) is Literal for c in get_args(part))
    kinds = tuple(get_origin(part) or part or type(None) for part in parts if get_origin(part) is not Literal)
    if key is not None:
        _HINTS[key] = kinds, choices
    return kinds, choices


_HINTS: dict[Any, tuple[tuple[type, ...], tuple[Any, ...]]] = {}


def _parameters(function: Callable[..., Any]) -> Iterator[Parameter]:
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[1 : code.co_argcount]  # the hits come first
    first_default = len(names) - len(defaults)
    for i, name in enumerate(names):
        kinds, choices = _kinds(function.__annotations__.get(name, object), function.__globals__)
        required = i < first_default
        yield Parameter(name, None if required else defaults[i - first_default], kinds, choices, required)


@typing.overload
def measure(function: Callable[..., Cells]) -> Measure: ...
@typing.overload
def measure(
    *,
    family: str = ...,
    cite: str = ...,
    cutoff: str = ...,
    aggregate: Literal["mean", "sum"] = ...,
    condensed: bool = ...,
    bounded: bool = ...,
    aliases: tuple[str, ...] = ...,
) -> Callable[[Callable[..., Cells]], Measure]: ...
def measure(
    function: Callable[..., Cells] | None = None,
    *,
    family: str = "yours",
    cite: str = "",
    cutoff: str = "k",
    aggregate: Literal["mean", "sum"] = "mean",
    condensed: bool = False,
    bounded: bool = True,
    aliases: tuple[str, ...] = (),
) -> Measure | Callable[[Callable[..., Cells]], Measure]:
    """Declare a measure: a function of Hits that gives one value per cell.

    Parameters, defaults and help come from the signature and docstring. `cite` is a key of
    `measures.CITATIONS` or a text, `condensed=True` hands the function the condensed list, `bounded=False`
    says that values may leave [0, 1], `aggregate="sum"` adds topics up instead of averaging.
    Declaring a name again replaces it (so a notebook cell can be run twice).
    """

    def declare(f: Callable[..., Cells]) -> Measure:
        parameters = {p.name: p for p in _parameters(f)}
        definition = Definition(
            f.__name__, f, parameters, family, cite, cutoff, aggregate, condensed, bounded, tuple(aliases)
        )
        made = Measure(definition, {})
        REGISTRY[definition.name] = made
        for alias in aliases:
            ALIASES[alias] = definition.name
        return made

    return declare if function is None else declare(function)
