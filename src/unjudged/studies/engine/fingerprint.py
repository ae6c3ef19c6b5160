"""Fingerprints: what decides a work unit's value, in 64 hexadecimal digits.

The same data, options and code (see `user_code`) give the same fingerprint in every process and on every machine with
the same Python; where files lie does not count.
"""

from __future__ import annotations

import copyreg
import dataclasses
import functools
import hashlib
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from unjudged.collection import Collection, Hits, Judgments
from unjudged.io.ids import Ids
from unjudged.measures import Measure
from unjudged.scoring import Scores
from unjudged.studies.engine.user_code import code_parts, instructions, module_parts, outside

_PLAIN = (type(None), type(Ellipsis), bool, int, float, complex, str)


def fingerprint(*things: Any) -> str:
    """SHA-256 over data, measures, collections, functions, classes, and whatever is made of them and can be pickled.

    Raises TypeError for what cannot be told apart from its like: a lock, an open file, a generator.
    """
    writer = _Writer()
    try:
        for thing in things:
            writer.add(thing)
    except RecursionError:
        raise TypeError("no fingerprint of things inside each other without end") from None
    return writer.digest.hexdigest()


def of_collection(collection: Collection) -> dict[str, str]:
    """Fingerprints of a collection's parts, to say which one differs."""
    settings = {k: v for k, v in collection.settings.items() if k not in ("only", "teams")}
    return {
        "judgments": fingerprint(collection.judgments),
        "runs": fingerprint(collection.runs, collection.hits),
        "teams": fingerprint(sorted(collection.teams.items())),
        "ways of reading": fingerprint(settings),
    }


def of_scores(scores: Scores) -> dict[str, str]:
    """Fingerprint of scores at hand: the values, whatever code they came from."""
    names = [str(measure) for measure in scores.measures]
    return {"scores": fingerprint(scores.runs, scores.topics, names, scores.values, scores.counted)}


class _Writer:
    """Feeds things to a digest, each with its kind and size, so that no two look alike.

    A function, class or module that comes again is named by its number. Data is written out as often as it comes.
    """

    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self._known: dict[int, tuple[int, Any]] = {}
        self._open: list[int] = []

    def add(self, thing: Any) -> None:
        if isinstance(thing, (types.FunctionType, type, types.ModuleType)):
            if id(thing) in self._known:
                self._head("known", self._known[id(thing)][0])
                return
            self._known[id(thing)] = len(self._known), thing
            self._inside(thing, code_parts(thing))
        elif isinstance(thing, np.ndarray) and not thing.dtype.hasobject:
            kind = thing.dtype.str if thing.dtype.names is None else thing.dtype.descr
            self._head("array", kind, thing.shape, body=np.ascontiguousarray(thing).tobytes())
        elif isinstance(thing, (bytes, bytearray)):
            self._head(type(thing).__name__, len(thing), body=bytes(thing))
        elif type(thing) in _PLAIN or isinstance(thing, np.generic):
            body = (thing if isinstance(thing, str) else repr(thing)).encode("utf-8", "surrogatepass")
            self._head(type(thing).__name__, len(body), body=body)
        else:
            self._inside(thing, _parts(thing))

    def _head(self, *said: Any, body: bytes = b"") -> None:
        self.digest.update(" ".join(map(str, said)).encode("utf-8", "surrogatepass") + b"\0" + body)

    def _inside(self, thing: Any, parts: list[Any]) -> None:
        if id(thing) in self._open:
            self._head("inside itself", len(self._open) - self._open.index(id(thing)))
            return
        self._head(type(thing).__name__, len(parts))
        self._open.append(id(thing))
        for part in parts:
            self.add(part)
        self._open.pop()


def _parts(thing: Any) -> list[Any]:
    """What a thing consists of; with its class, where that is the user's."""
    if isinstance(thing, Measure):
        settings = thing.definition.condensed, thing.definition.aggregate
        return [str(thing), thing.params, *settings, thing.function]
    if isinstance(thing, Ids):
        return [thing.blob, thing.ends]
    if isinstance(thing, Judgments):
        return [thing.topics, thing.starts, thing.docs, thing.grade, thing.gains, thing.stratum, thing.group]
    if isinstance(thing, Hits):
        return [thing.offsets, thing.row, thing.rank, thing.length, thing.answered, thing.rel, thing.ties]
    if isinstance(thing, Collection):
        return list(of_collection(thing).values())
    if isinstance(thing, types.CodeType):
        return instructions(thing)
    if isinstance(thing, types.MethodType):
        return [thing.__func__, thing.__self__]
    if isinstance(thing, (staticmethod, classmethod)):
        return [thing.__func__]
    if isinstance(thing, property):
        return [thing.fget, thing.fset, thing.fdel]
    if isinstance(thing, functools.cached_property):
        return [thing.func]
    if isinstance(thing, types.CellType):
        try:
            return [thing.cell_contents]
        except ValueError:
            return []
    kind: list[Any] = [] if outside(type(thing).__module__) else [type(thing)]
    if isinstance(thing, (set, frozenset)):
        return [*kind, *sorted(fingerprint(member) for member in thing)]
    if isinstance(thing, np.ndarray):  # of objects
        return [*kind, thing.shape, thing.tolist()]
    if type(thing) in (dict, types.MappingProxyType):
        return [part for item in thing.items() for part in item]
    if type(thing) in (tuple, list):
        return list(thing)
    if dataclasses.is_dataclass(thing) and not kind:
        return [getattr(thing, f.name) for f in dataclasses.fields(thing)]
    return [*kind, *_pickled(thing)]


def _pickled(thing: Any) -> list[Any]:
    """Any other thing: as pickle takes it apart."""
    try:
        apart = copyreg.dispatch_table.get(type(thing))
        found = apart(thing) if apart is not None else thing.__reduce_ex__(4)
    except Exception as problem:  # a class may refuse with what it likes
        raise TypeError(f"no fingerprint of a {type(thing).__name__}") from problem
    if not isinstance(found, str):
        return [list(part) if isinstance(part, Iterator) else part for part in found]
    if (inner := getattr(thing, "__wrapped__", None)) is not None:  # a cache around a function
        return [found, inner]
    module = getattr(thing, "__module__", None) or type(thing).__module__
    return [found, *module_parts(module)]
