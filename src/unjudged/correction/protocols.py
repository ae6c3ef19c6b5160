"""The two protocols of the correction experiment: what published numbers need, and a strict reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unjudged.collection import Collection, Ints
from unjudged.collection.pool import TOLERANCE
from unjudged.errors import UsageError, one_of

PLACES = 10_000
"""sigir2015 rounds every mean to four decimals."""


@dataclass(frozen=True)
class Protocol:
    """How means are taken and who may judge a left-out run.

    `siblings`: other runs of the left-out team still act as pooled runs. `own_topics`: a run's mean is over its own
    topics, also those without judgments; else over all judged topics, missing ones count 0. `rounded`: each mean is
    rounded half-up to four decimals before it is used. `ties`: the order of equal scores. `repooled`: where a
    pooled run is left out, judgments that no other pooled run found go, too, also those this run did not find.
    `bounded`: a correction adds no more than k, the share of unjudged places. `tolerance`: a pool that is not stated is
    inferred by the rule of the paper, with this tolerance.
    """

    name: str
    siblings: bool
    own_topics: bool
    rounded: bool
    ties: str
    repooled: bool
    bounded: bool
    tolerance: float | None = None

    def read(self, collection: Collection) -> Collection:
        """The collection as the protocol reads it: float32 scores for sigir2015, unless another order was asked for."""
        if collection.judgments.group is not None:
            raise UsageError("answer classes have no pool; correction is for document runs")
        ties = collection.settings["ties"]
        if ties == "expected":
            raise UsageError("correction needs one order of equal scores; read the runs without expected ties")
        return collection.with_ties(self.ties) if ties == "trec10" else collection

    def scale(self, n: int, judged_topics: int) -> int:
        """What a mean of P@n is counted in: 1/10000, or 1/(n * topics) where nothing is rounded."""
        return PLACES if self.rounded else n * judged_topics

    def means(self, found: Ints, n: int, topics: Ints) -> Ints:
        """Mean P@n in units of 1/scale, from the documents found in all topics and the number of topics averaged.

        Whole numbers, so that differences, signs and ties are exact. 0 where there is no topic.
        """
        if not self.rounded:
            return found
        size = n * np.maximum(topics, 1)
        return np.asarray((2 * PLACES * found + size) // (2 * size), np.int64)

    def settings(self) -> Mapping[str, Any]:
        """The choices in words, for the provenance of a result."""
        return {
            "protocol": self.name,
            "runs of the left-out team among the pooled runs": "stay" if self.siblings else "leave, too",
            "means over": "the run's own topics, also without judgments"
            if self.own_topics
            else "all judged topics, missing ones count 0",
            "means rounded": "half up to 4 decimals" if self.rounded else "no",
            "scores compared as": "float32" if self.ties == "trec9" else "float64",
            "a topic the new run lacks": "is left out of the merged run's mean"
            if self.own_topics
            else "leaves the pooled run's list as it is",
            "corrected scores": "at most P + k" if self.bounded else "not limited",
        }


SIGIR2015 = Protocol(
    "sigir2015",
    siblings=True,
    own_topics=True,
    rounded=True,
    ties="trec9",
    repooled=True,
    bounded=False,
    tolerance=TOLERANCE,
)
STRICT = Protocol(
    "strict", siblings=False, own_topics=False, rounded=False, ties="trec10", repooled=False, bounded=True
)
PROTOCOLS = {protocol.name: protocol for protocol in (SIGIR2015, STRICT)}


def protocol_of(name: str) -> Protocol:
    """The protocol of this name; a sentence for an unknown one."""
    return PROTOCOLS[one_of(name, PROTOCOLS, "protocol")]
