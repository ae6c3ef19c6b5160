"""How much of the judgments the runs at hand explain; what is left tells of missing runs."""

from __future__ import annotations

from dataclasses import dataclass

from unjudged.collection import Collection, Pool
from unjudged.pooling.membership import membership


@dataclass(frozen=True)
class Coverage:
    """Judgments that lie in the top of some pooled run, out of all."""

    covered: int
    judgments: int
    depth: int
    runs: int

    @property
    def share(self) -> float:
        """Covered judgments out of all."""
        return self.covered / max(self.judgments, 1)

    def warnings(self) -> list[str]:
        """A sentence where judgments are left that no run at hand explains."""
        if self.covered == self.judgments:
            return []
        runs = f"{self.runs} runs" if self.runs != 1 else "one run"
        return [
            f"pooled runs are missing, or judgments were added in another way: only {self.covered:,} of "
            f"{self.judgments:,} judgments ({self.share:.1%}) lie in the top {self.depth} of the {runs} "
            f"taken as pooled; unique contributions are overestimated"
        ]


def coverage_of(collection: Collection, pool: Pool, by: str = "lines") -> Coverage:
    """The judgments covered by the top of the pooled runs."""
    found = membership(collection, pool, by).found()
    return Coverage(int(found.sum()), len(found), pool.depth, len(pool.runs))
