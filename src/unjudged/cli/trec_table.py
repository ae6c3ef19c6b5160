"""What trec_eval prints, from the values of one run."""

from __future__ import annotations

import math

from unjudged.classical import GEOMETRIC_FLOOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    ZScores = dict[tuple[str, str], tuple[float, float]]
    """Mean and deviation of a measure in a topic."""


class Table:
    """What trec_eval prints: a line per measure for each topic in byte order, then the summary."""

    def __init__(
        self,
        name: str,
        topics: Sequence[str],
        answered: Sequence[bool],
        values: Sequence[Any],
        relevant: float,
        lines: Sequence[Any],
        *,
        zscores: ZScores | None = None,
        complete: bool = False,
        version: int = 10,
        only: str = "",
    ) -> None:
        self.zscores, self.complete, self.lines = zscores, complete, lines
        self.name, self.topics, self.values, self.relevant = name, topics, values, relevant
        wanted = [t for t, topic in enumerate(self.topics) if only in ("", topic)]
        self.counted = [t for t in wanted if complete or answered[t]]
        printed = self.counted if version == 10 else [t for t in wanted if answered[t]]
        self.order = sorted(printed, key=lambda t: self.topics[t].encode("utf-8", "surrogateescape"))

    def text(self, *, per_topic: bool, summary: bool) -> str:
        """The whole output."""
        out: list[str] = []
        lines = list(zip(self.lines, self.values, strict=True))
        if per_topic:
            for topic in self.order:
                name = self.topics[topic]
                out += [
                    self._line(line, name, self._cell(line, cells, topic)) for line, cells in lines if line.per_topic
                ]
        if summary:
            out += [self._line(line, "all", self._summary(line, cells)) for line, cells in lines if line.summary]
        return "".join(out)

    def _line(self, line: Any, topic: str, value: Any) -> str:
        if isinstance(value, str):
            shown = value
        elif math.isnan(value):
            shown = "  -nan"
        else:
            shown = f"{value:.0f}" if line.value == "int" and self.zscores is None else f"{value:6.4f}"
        mark = "Z" if self.zscores is not None and not isinstance(value, str) else ""
        return f"{mark}{line.name:<22}\t{topic}\t{shown}\n"

    def _cell(self, line: Any, cells: Any, topic: int) -> Any:
        value = cells[topic]
        return value if isinstance(value, str) else self._zscore(self.topics[topic], line.name, float(value))

    def _summary(self, line: Any, cells: Any) -> Any:
        """The topics added one after another in the order printed, then divided: the last digit hangs on it."""
        many = len(self.counted)
        if line.value == "runid":
            return self.name
        if line.name == "num_q":
            return float(many)
        if line.name == "num_rel" and self.complete:  # of all judged topics, missing ones too; no z score, no -l
            return self.relevant
        geometric, total = line.geometric, 0.0
        for topic in self.order:
            value = float(cells[topic])
            if geometric:
                value = math.log(max(value, GEOMETRIC_FLOOR))
            total += self._zscore(self.topics[topic], line.name, value)
        if line.value == "int" or not many:
            return total
        if geometric:
            total += (many - len(self.order)) * math.log(GEOMETRIC_FLOOR)
            return math.exp(total / many)
        return total / many

    def _zscore(self, topic: str, name: str, value: float) -> float:
        if self.zscores is None:
            return value
        if (topic, name) not in self.zscores:
            return -1000000.0
        mean, deviation = self.zscores[topic, name]
        if deviation == 0:
            return 0.0 if value == mean else -1000000.0
        return (value - mean) / deviation
