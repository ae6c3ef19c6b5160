"""Where the words of a verdict change: one documented table (thresholds.toml), which users may override."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from unjudged.errors import InputError, UsageError, nearest


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


def read_thresholds(path: str | Path | None = None) -> Thresholds:
    """The table of the package, with the numbers of the user's file on top."""
    table = tomllib.loads(files(__package__).joinpath("thresholds.toml").read_text("utf-8"))
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


def failing(conditions: str, words: Mapping[str, str]) -> list[str]:
    """The conditions of `--fail-on` that are met, as in `fair-to-outsiders<with care, enough-topics<solid`.

    The order of words is fragile < unknown < with care < solid.
    """
    order = ("fragile", "unknown", "with care", "solid")
    met = []
    for condition in filter(None, (part.strip() for part in conditions.split(","))):
        key, sign, word = (part.strip() for part in condition.partition("<"))
        if not sign or key not in words or word not in order:
            hint = nearest(key, words) if key not in words else ""
            raise UsageError(
                f"--fail-on takes conditions such as fair-to-outsiders<with care, not {condition!r}{hint}; "
                f"sections are {', '.join(words)}, words {', '.join(order)}"
            )
        if order.index(words[key]) < order.index(word):
            met.append(f"{key} is {words[key]}, below {word}")
    return met
