"""P@n of runs that were not pooled: the pooled runs and all judgments say what is to be added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unjudged.collection import Collection, Floats, Pool
from unjudged.correction.counts import Plan, binary, count
from unjudged.correction.full_lists import Lists
from unjudged.correction.lipani import Effect
from unjudged.correction.methods import adjustments
from unjudged.correction.protocols import Protocol


@dataclass(frozen=True, eq=False)
class NewRuns:
    """New runs and the pooled ones with their full lists, ready to travel. A pooled run is corrected by the others."""

    lists: Lists
    grade: npt.NDArray[np.int32]
    depth: int
    pooled: int
    new: tuple[int, ...]
    protocol: Protocol
    methods: tuple[str, ...]
    alpha: float = 1.0
    indicator: str = "lambda"

    @classmethod
    def of(
        cls,
        collection: Collection,
        pool: Pool,
        new: Sequence[str],
        protocol: Protocol,
        methods: Sequence[str],
        **how: Any,
    ) -> NewRuns:
        """The runs called `new`, which are among those of the collection; `how` are `alpha` and `indicator`."""
        everyone = tuple(dict.fromkeys([*pool.runs, *new]))
        numbers = tuple(everyone.index(name) for name in new)
        lists, grade = Lists.of(collection, everyone), collection.judgments.grade
        return cls(lists, grade, pool.depth, len(pool.runs), numbers, protocol, tuple(methods), **how)

    def effect(self, n: int, rel: int = 1) -> tuple[Effect, dict[str, Floats]]:
        """What the new runs do to P@n of the pooled ones, and what each method adds to their own."""
        new, pooled = np.array(self.new, np.int64), np.arange(self.pooled)
        everything = np.ones((1, len(self.grade)), bool)
        plan = Plan(n, new, pooled, new[:, None] != pooled, everything, np.zeros(len(new), np.int64))
        repooled = self.protocol.repooled
        grade = binary(self.grade, rel)
        (counted,) = count(self.lists, grade, [plan], self.depth, alpha=self.alpha, repooled=repooled)
        return adjustments(self.lists, counted, self.protocol, self.methods, self.indicator)
