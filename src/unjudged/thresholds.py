"""Where the words of a verdict change: one table (thresholds.toml), one key per question.

`Thresholds` is the whole table, with the numbers of the user's own file on top (`read_thresholds`); every study gets
it as `case.limits`. A number that can turn a word stands in the table and nowhere else.
"""

from __future__ import annotations

import functools
import math
import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from unjudged.errors import InputError, nearest
from unjudged.io.toml import parsed
from unjudged.results import Step, Verdict
from unjudged.text import counted, in_order, percent

_NEEDED = ("runs", "topics", "teams")
_TEXTS = ("what", "unit", "better", "source")


@dataclass(frozen=True)
class Threshold:
    """The limits of one verdict.

    `solid` and `care` are where the words change, `needed` how many runs, topics and teams it takes to say anything,
    `more` the other numbers the rule uses, by name.
    """

    key: str
    what: str
    unit: str
    better: str
    solid: float
    care: float
    source: str
    needed: Mapping[str, int] = field(default_factory=dict)
    more: Mapping[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        return self.more[name]

    def word(self, value: float) -> str:
        """solid, with care or fragile; unknown where there is no value."""
        if value != value:
            return "unknown"
        sign = 1 if self.better == "higher" else -1
        good = sign * value + 1e-12
        return "solid" if good >= sign * self.solid else "with care" if good >= sign * self.care else "fragile"

    @property
    def sentence(self) -> str:
        """The limits in words, in the unit of the number: `solid up to 5 % of runs, with care up to 25 %`."""
        return self.limits_of()

    def limits_of(self, whole: int | None = None, things: str = "") -> str:
        """The same as counts where the whole is known: `solid up to 6 of 130 runs, with care up to 32`."""
        side = "from" if self.better == "higher" else "up to"
        if self.unit == "tau":
            solid, care = (
                f"{in_order(self.solid)} (tau {self.solid:.2f})",
                f"{in_order(self.care)} (tau {self.care:.2f})",
            )
            care = care.replace(" of 100 pairs", "")
            return f"solid {side} {solid}, with care {side} {care}"
        if whole is None:
            if self.unit.startswith("times "):
                once = self.unit.removeprefix("times ") if self.solid == 1 else f"{self.solid:g} {self.unit}"
                return f"solid {side} {once}, with care {side} {self.care:g} times that"
            if not self.unit.startswith("share of "):
                return f"solid {side} {self.solid:g} {self.unit}, with care {side} {self.care:g}"
            rest = self.unit.removeprefix("share of ")
            return f"solid {side} {percent(self.solid)} of {rest}, with care {side} {percent(self.care)}"
        most, more = (self._whole(share, whole) for share in (self.solid, self.care))
        if self.better == "lower" and not most:
            return f"solid with none of {whole:,} {things}, with care up to {more:,}"
        return f"solid {side} {most:,} of {whole:,} {things}, with care {side} {more:,}"

    def _whole(self, share: float, whole: int) -> int:
        """The last count that still has the word."""
        return math.ceil(share * whole - 1e-9) if self.better == "higher" else math.floor(share * whole + 1e-9)

    def too_few(self, **there: int) -> str:
        """Why nothing can be said: `only 17 runs (at least 20 are needed)`; empty where there are enough."""
        missing = [
            f"{counted(number, what[:-1])} (at least {self.needed[what]} are needed)"
            for what, number in there.items()
            if number < self.needed.get(what, 0)
        ]
        one = next((number for what, number in there.items() if number < self.needed.get(what, 0)), 0) == 1
        return f"there {'is' if one else 'are'} only {' and '.join(missing)}" if missing else ""

    def verdict(
        self,
        sentence: str,
        value: float,
        *,
        finding: str = "",
        whole: int | None = None,
        things: str = "",
        surely: float | None = None,
        too_few: str = "",
        decided_by: tuple[str, ...] = (),
        next: Step | None = None,
    ) -> Verdict:
        """The sentence with the word its value earns; `unknown`, with the reason, where there is too little.

        `surely` is the worse end of the value's interval: only where that end is solid, too, is the verdict.
        `finding` says the number in a dozen words; a value that is a share of `whole` things has limits in them.
        """
        word = "unknown" if too_few else self.word(value)
        if word == "solid" and surely is not None and self.word(surely) != "solid":
            word = "with care"
        said = f"{sentence}; but {too_few}" if too_few else sentence
        return Verdict(
            word, said, value, self.unit, self.limits_of(whole, things), decided_by, next, too_few or finding
        )

    def unknown(self, sentence: str, next: Step | None = None, finding: str = "") -> Verdict:
        """No number to judge by, and why."""
        return Verdict("unknown", sentence, None, self.unit, self.sentence, (), next, finding)


def wanted(limits: Iterable[Threshold], **there: int) -> str:
    """What questions without an answer need, where there is less of it: `these questions need 4 to 10 runs`."""
    found = list(limits)
    said = []
    for what, number in there.items():
        least = sorted({one.needed[what] for one in found if one.needed.get(what, 0) > number})
        if least:
            said.append(f"{least[0]} to {least[-1]} {what}" if len(least) > 1 else f"{least[0]} {what}")
    return f"these questions need {' and '.join(said) or 'more than there is'}"


@dataclass(frozen=True)
class Thresholds:
    """All limits by key."""

    limits: Mapping[str, Threshold]

    def __getitem__(self, key: str) -> Threshold:
        return self.limits[key]

    def rows(self) -> list[dict[str, Any]]:
        """The table as reports print it."""
        return [
            {
                "key": t.key,
                "what": t.what,
                "better": t.better,
                "solid": t.solid,
                "care": t.care,
                "source": t.source,
                "needed": dict(t.needed),
                **t.more,
            }
            for t in self.limits.values()
        ]


@functools.cache
def default_thresholds() -> Thresholds:
    """The limits as they come with the package."""
    return _made(_own_table())


def read_thresholds(path: str | os.PathLike[str] | None = None) -> Thresholds:
    """The limits, with the numbers of the user's file on top."""
    if path is None:
        return default_thresholds()
    table = _own_table()
    _override(table, _user_table(Path(path)), str(path))
    return _made(table)


def _own_table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("thresholds.toml").read_text("utf-8"))


def _made(table: Mapping[str, Mapping[str, Any]]) -> Thresholds:
    limits = {}
    for key, entry in table.items():
        known = {name: entry[name] for name in (*_TEXTS, "solid", "care")}
        needed = {name: entry[name] for name in _NEEDED if name in entry}
        more = {name: value for name, value in entry.items() if name not in known and name not in needed}
        limits[key] = Threshold(key, **known, needed=needed, more=more)
    return Thresholds(limits)


def _user_table(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"thresholds cannot be read ({problem})", str(path)) from None
    return parsed(text, str(path), "thresholds are")


def _override(table: dict[str, Any], changes: Mapping[str, Any], source: str) -> None:
    for key, entry in changes.items():
        if key not in table:
            raise InputError(f"there is no verdict {key!r}{nearest(key, table)}", source)
        if not isinstance(entry, dict):
            raise InputError(f"[{key}] is a table with numbers, not {entry!r}", source)
        allowed = [name for name in table[key] if name not in _TEXTS]
        for name, value in entry.items():
            if name not in allowed:
                raise InputError(f"[{key}] has no number {name!r}; there are {', '.join(allowed)}", source)
            whole = name in _NEEDED
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or value < 0:
                raise InputError(f"[{key}] {name} needs a {'whole ' * whole}number of 0 or more, not {value!r}", source)
            table[key][name] = value
        better, solid, care = (table[key][name] for name in ("better", "solid", "care"))
        if (solid < care) if better == "higher" else (solid > care):
            raise InputError(f"[{key}] solid must not be easier to reach than care ({solid:g} and {care:g})", source)
