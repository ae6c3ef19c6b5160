"""Where the words of a verdict change: one documented table (thresholds.toml) for the report, studies and judges.

The report's limits may be overridden by the user (`read_thresholds`); the others are looked up by name (`limit_of`).
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from unjudged.errors import InputError, nearest
from unjudged.results import Verdict


@dataclass(frozen=True)
class Threshold:
    """The limits of one verdict."""

    key: str
    what: str
    better: str
    solid: float
    care: float
    source: str

    def word(self, value: float) -> str:
        """solid, with care or fragile; unknown where there is no value."""
        if value != value:
            return "unknown"
        sign = 1 if self.better == "higher" else -1
        good = sign * value + 1e-12
        return "solid" if good >= sign * self.solid else "with care" if good >= sign * self.care else "fragile"

    @property
    def sentence(self) -> str:
        """The limits in words."""
        side = "from" if self.better == "higher" else "up to"
        return f"solid {side} {self.solid:g}, with care {side} {self.care:g}"

    def verdict(self, sentence: str, value: float) -> Verdict:
        """The sentence with the word its value earns, and the limits as evidence."""
        return Verdict(self.word(value), sentence, value, self.sentence)


@dataclass(frozen=True)
class Thresholds:
    """All limits, and how many runs, topics and teams it takes to say anything."""

    limits: Mapping[str, Threshold]
    runs: int
    topics: int
    teams: int

    def __getitem__(self, key: str) -> Threshold:
        return self.limits[key]

    def rows(self) -> list[tuple[str, str, str, float, float, str]]:
        """The table as the report prints it."""
        return [(t.key, t.what, t.better, t.solid, t.care, t.source) for t in self.limits.values()]


def _own_table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("thresholds.toml").read_text("utf-8"))


@functools.cache
def limit_of(verdict: str) -> Threshold:
    """The limits of a verdict outside the report: of a study, of judges."""
    return Threshold(verdict, **_own_table()["verdict"][verdict])


def read_thresholds(path: str | Path | None = None) -> Thresholds:
    """The limits of the report, with the numbers of the user's file on top."""
    table = _own_table()
    del table["verdict"]
    if path is not None:
        _override(table, _user_table(Path(path)), str(path))
    needed = table.pop("needed")
    limits = {key: Threshold(key, **entry) for key, entry in table.items()}
    return Thresholds(limits, **needed)


def _user_table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"thresholds cannot be read ({problem})", str(path)) from None
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"thresholds are not TOML: {problem}", str(path)) from None


def _override(table: dict[str, Any], changes: Mapping[str, Any], source: str) -> None:
    for key, entry in changes.items():
        if key not in table:
            raise InputError(f"there is no verdict {key!r}{nearest(key, table)}", source)
        if not isinstance(entry, dict):
            raise InputError(f"[{key}] is a table with numbers, not {entry!r}", source)
        allowed = ("runs", "topics", "teams") if key == "needed" else ("solid", "care")
        for name, value in entry.items():
            if name not in allowed:
                raise InputError(f"[{key}] has no number {name!r}; there are {', '.join(allowed)}", source)
            whole = key == "needed"
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or value < 0:
                raise InputError(f"[{key}] {name} needs a {'whole ' * whole}number of 0 or more, not {value!r}", source)
            table[key][name] = value
        if key != "needed":
            ordered = (table[key]["solid"], table[key]["care"])
            if ordered != tuple(sorted(ordered, reverse=table[key]["better"] == "higher")):
                raise InputError(f"[{key}] solid must not be easier to reach than care", source)
