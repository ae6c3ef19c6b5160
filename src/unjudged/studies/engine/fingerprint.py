"""Fingerprints: what decides a work unit's value, in 64 hexadecimal digits.

The same arrays, names and options give the same fingerprint in every process and on every machine; where files
lie does not count.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from unjudged.collection import Collection, Hits, Judgments
from unjudged.io.ids import Ids
from unjudged.measures import Measure
from unjudged.scoring import Scores


def fingerprint(*things: Any) -> str:
    """SHA-256 over plain values, arrays, measures, collections, and tuples, lists, dicts and dataclasses of them."""
    digest = hashlib.sha256()
    for thing in things:
        _add(digest, thing)
    return digest.hexdigest()


def of_collection(collection: Collection) -> dict[str, str]:
    """Fingerprints of a collection's parts, to say which one differs."""
    settings = {k: v for k, v in collection.settings.items() if k != "only"}
    return {
        "judgments": fingerprint(collection.judgments),
        "runs": fingerprint(collection.runs, collection.hits),
        "teams": fingerprint(sorted(collection.teams.items())),
        "ways of reading": fingerprint(settings),
    }


def of_scores(scores: Scores) -> dict[str, str]:
    """Fingerprint of scores at hand."""
    parts = (scores.runs, scores.topics, scores.measures, scores.values, scores.counted)
    return {"scores": fingerprint(*parts)}


def _add(digest: Any, thing: Any) -> None:
    """Each value with its kind and size, so that no two things look alike."""
    parts: list[Any] | None = None
    if isinstance(thing, np.ndarray):
        head, body = f"array {thing.dtype.str} {thing.shape}", np.ascontiguousarray(thing).tobytes()
    elif isinstance(thing, bytes):
        head, body = f"bytes {len(thing)}", thing
    elif thing is None or isinstance(thing, (bool, int, float, str, np.generic)):
        kind = type(thing).__name__
        body = (thing if isinstance(thing, str) else repr(thing)).encode("utf-8", "surrogateescape")
        head = f"{kind} {len(body)}"
    else:
        parts = _parts(thing)
        head, body = f"{type(thing).__name__} {len(parts)}", b""
    digest.update(head.encode() + b"\0")
    digest.update(body)
    for part in parts or ():
        _add(digest, part)


def _parts(thing: Any) -> list[Any]:
    if isinstance(thing, Measure):
        code = getattr(thing.function, "__code__", None)
        return [str(thing), getattr(code, "co_code", b"")]
    if isinstance(thing, Ids):
        return [thing.blob, thing.ends]
    if isinstance(thing, Judgments):
        return [thing.topics, thing.starts, thing.docs, thing.grade, thing.gains, thing.stratum, thing.group]
    if isinstance(thing, Hits):
        return [thing.offsets, thing.row, thing.rank, thing.length, thing.answered, thing.rel, thing.ties]
    if isinstance(thing, Collection):
        return list(of_collection(thing).values())
    if isinstance(thing, Mapping):
        return [part for item in thing.items() for part in item]
    if isinstance(thing, (tuple, list)):
        return list(thing)
    if dataclasses.is_dataclass(thing):
        return [getattr(thing, f.name) for f in dataclasses.fields(thing)]
    raise TypeError(f"no fingerprint of a {type(thing).__name__}")
