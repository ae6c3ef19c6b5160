"""What a reader of the report may choose."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from unjudged.errors import UsageError
from unjudged.measures import measures
from unjudged.options import check
from unjudged.studies.questions import MEASURES


@dataclass(frozen=True)
class Settings:
    """Measures (the first one leads), what counts how, and the pool: what the report hands to its studies."""

    measures: tuple[str, ...] = MEASURES
    rel: int | None = None
    unjudged: str = "nonrelevant"
    seed: int = 0
    depth: int | None = None
    pooled: str | tuple[str, ...] = "infer"

    def __post_init__(self) -> None:
        if not self.measures:
            raise UsageError("a report needs at least one measure")
        names = tuple(str(m) for m in measures(list(self.measures)))
        object.__setattr__(self, "measures", tuple(dict.fromkeys(names)))
        if not isinstance(self.pooled, str):
            object.__setattr__(self, "pooled", tuple(self.pooled))
        for name in ("unjudged", "seed", "depth"):
            check(name, getattr(self, name), "report")

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self), "measures": list(self.measures)}

    def options(self) -> dict[str, Any]:
        """As options of studies."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def flags(self) -> list[str]:
        """As words of a command, where they are not what a question has anyway."""
        words: list[str] = []
        for f in fields(self):
            value = getattr(self, f.name)
            if value == f.default:
                continue
            if f.name == "measures":
                words += ["-m", ",".join(value)]
            elif isinstance(value, (str, int)):
                words += [f"--{f.name}", str(value)]
        return words
