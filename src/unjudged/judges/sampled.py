"""Scores from a random sample of documents that humans judged and from a machine's grades of all of them.

For measures that are sums over documents (P, DCG, RBP) the machine's score is corrected by what humans say of the
sample (the difference estimator of survey sampling; Cochran 1977, chapter 5A): unbiased whatever the machine says.
Documents are drawn at random within strata that were fixed before anybody judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.ids import to_text

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TOPIC, DOCUMENT, STRATUM, INCLUSION = "topic", "document", "stratum", "inclusion"
LEAST = 2
"""Documents of a stratum that must be judged, unless all of it is."""


@dataclass(frozen=True)
class Sample:
    """What was drawn for humans to judge: whole topics, or documents with their stratum and inclusion probability.

    `documents` is {topic: {document: (stratum, probability)}}, empty where topics were drawn.
    """

    source: str
    topics: tuple[str, ...]
    documents: Mapping[str, Mapping[str, tuple[str, float]]]

    @property
    def of_documents(self) -> bool:
        """Were documents drawn, not topics?"""
        return bool(self.documents)


@dataclass(frozen=True, eq=False)
class Strata:
    """The sample of one topic: the stratum of each sampled document, and drawn and all documents of every stratum."""

    place: Ints
    drawn: Ints
    size: Ints


def holds_sample(path: str | Path) -> bool:
    """Does this file have a column of inclusion probabilities?"""
    first = next((to_text(line) for _, line in files.lines(str(path)) if line.strip() and line[:1] != b"#"), "")
    return INCLUSION in first.casefold().rstrip("\r\n").split("\t")


def read_sample(path: str | Path) -> Sample:
    """The file that `judges sample` writes: a TSV with the columns topic and inclusion, and for a sample of documents
    document and stratum; further columns are passed over, lines that begin with # are comments."""
    source = str(path)
    columns: dict[str, int] = {}
    topics: dict[str, None] = {}
    documents: dict[str, dict[str, tuple[str, float]]] = {}
    for number, raw in files.lines(source):
        line = to_text(raw).rstrip("\r\n")
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if not columns:
            columns = {name.strip().casefold(): place for place, name in enumerate(fields)}
            if missing := [name for name in (TOPIC, INCLUSION) if name not in columns]:
                raise InputError(
                    f"a sample needs the columns topic and inclusion, found no {missing[0]}", source, number
                )
            continue
        if len(fields) < len(columns):
            raise InputError(f"{len(columns)} columns are needed, found {len(fields)}", source, number)
        topic, chance = fields[columns[TOPIC]], _probability(fields[columns[INCLUSION]], source, number)
        topics.setdefault(topic)
        if DOCUMENT in columns:
            stratum = fields[columns[STRATUM]] if STRATUM in columns else ""
            of_topic = documents.setdefault(topic, {})
            if fields[columns[DOCUMENT]] in of_topic:
                raise InputError(f"{fields[columns[DOCUMENT]]} appears twice in topic {topic}", source, number)
            of_topic[fields[columns[DOCUMENT]]] = stratum, chance
    if not topics:
        raise InputError("no sample in this file", source)
    return Sample(source, tuple(topics), documents)


def _probability(text: str, source: str, line: int) -> float:
    try:
        chance = float(text)
    except ValueError:
        chance = -1.0
    if not 0 < chance <= 1:
        raise InputError(f"an inclusion probability lies between 0 and 1, found {text!r}", source, line)
    return chance


def strata_of(sample: Sample, topic: str, pool: int) -> tuple[list[str], Strata]:
    """The sampled documents of a topic, and their strata; `pool` is the number of documents that could be drawn.

    A stratum's size is the number drawn over their probability, which is the same for all of them.
    """
    drawn = sample.documents[topic]
    names = list(dict.fromkeys(stratum for stratum, _ in drawn.values()))
    place = np.array([names.index(stratum) for stratum, _ in drawn.values()], np.int64)
    many = np.bincount(place, minlength=len(names))
    sizes = []
    for s, name in enumerate(names):
        chances = {chance for stratum, chance in drawn.values() if stratum == name}
        if len(chances) > 1:
            raise InputError(f"topic {topic}: stratum {name!r} has several inclusion probabilities", sample.source)
        size = many[s] / chances.pop()
        if abs(size - round(size)) > 1e-3 * size:
            raise InputError(
                f"topic {topic}: {many[s]} documents cannot be drawn so from stratum {name!r}", sample.source
            )
        sizes.append(round(size))
    if sum(sizes) != pool:
        raise InputError(
            f"topic {topic}: the strata hold {sum(sizes)} documents, but the machine judged {pool}; every document it "
            "judged must be able to be drawn",
            sample.source,
        )
    return list(drawn), Strata(place, many.astype(np.int64), np.array(sizes, np.int64))


def too_thin(strata: Sequence[Strata]) -> int:
    """Strata with fewer than two documents drawn (and not all of them): there is no variance."""
    return sum(int(((s.drawn < LEAST) & (s.drawn < s.size)).sum()) for s in strata)


def stratified_sum(values: npt.ArrayLike, strata: Strata) -> tuple[Any, Any]:
    """The sum over all documents of a value known of the sample (last axis), and the variance of that estimate."""
    d = np.asarray(values, np.float64)
    total, variance = np.zeros(d.shape[:-1]), np.zeros(d.shape[:-1])
    for s, (drawn, size) in enumerate(zip(strata.drawn.tolist(), strata.size.tolist(), strict=True)):
        own = d[..., strata.place == s]
        total = total + size * own.mean(axis=-1)
        if drawn < size:
            variance = variance + size**2 * (1 - drawn / size) * own.var(axis=-1, ddof=1) / drawn
    return total, variance
