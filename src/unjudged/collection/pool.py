"""Pool: what is known of how judgments came about, carried along when they are reduced."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pool:
    """The pool behind the judgments: the top `depth` of each of these runs was to be judged.

    `inferred` names what was read off the judgments instead of being stated: `depth`, `runs`, both or nothing.
    `notes` say what a reader should know about it.
    """

    depth: int
    runs: tuple[str, ...]
    inferred: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"pool of depth {self.depth} from {len(self.runs)} run{'s' * (len(self.runs) != 1)}"

    @property
    def guessed(self) -> str:
        """` (depth and runs inferred)`, or nothing where both were stated."""
        return f" ({' and '.join(self.inferred)} inferred)" if self.inferred else ""

    @property
    def settings(self) -> dict[str, object]:
        """For the provenance of a result."""
        how = {True: "inferred", False: "given"}
        return {
            "pool depth": f"{self.depth} ({how['depth' in self.inferred]})",
            "pooled runs": f"{len(self.runs)} ({how['runs' in self.inferred]})",
        }
