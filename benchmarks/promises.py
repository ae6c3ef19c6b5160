"""What was promised and what was measured; the table of all of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass
class Target:
    """A promise and what was measured; `met` is None where nothing was."""

    text: str
    measured: str
    met: bool | None

    @property
    def word(self) -> str:
        """PASS, FAIL or NOT MEASURED."""
        return {True: "PASS", False: "FAIL", None: "NOT MEASURED"}[self.met]

    def __str__(self) -> str:
        return f"{self.word}: {self.text}: {self.measured}"


def write(targets: list[Target], path: Path) -> None:
    """The targets as JSON, for `read`."""
    path.write_text(json.dumps([asdict(target) for target in targets], indent=1))


def read(path: Path) -> list[Target]:
    """What `write` wrote."""
    return [Target(**one) for one in json.loads(path.read_text())]


def table(targets: list[Target]) -> str:
    """All of them, in Markdown."""
    rows = [f"| {one.text} | {one.measured} | {one.word} |" for one in targets]
    return "\n".join(["| target | measured | |", "| --- | ---: | --- |", *rows])
