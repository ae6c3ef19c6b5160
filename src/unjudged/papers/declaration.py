"""What a paper is: studies with its options, tables and figures with its numbers, findings with a rule each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unjudged.errors import MeasureError, UsageError
from unjudged.measures import measures
from unjudged.results import Result

if TYPE_CHECKING:
    from unjudged.papers.found import Found

Check = tuple[str, bool]
"""One comparison behind a finding, in words, and whether it agrees."""


@dataclass(frozen=True)
class Asked:
    """A study as the paper asks it. `questions`: of collections of questions; `teams`: needs the teams of runs."""

    study: str
    options: Mapping[str, Any] = field(default_factory=dict)
    questions: bool = False
    teams: bool = False


@dataclass(frozen=True)
class Panel:
    """A part of a table or figure: a collection, a way of sampling."""

    title: str
    result: Result


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper; two numbers where the paper spreads one table over its collections."""

    kind: str
    numbers: tuple[int, ...]
    caption: str
    needs: tuple[str, ...]
    make: Callable[[Found], Sequence[Panel]]

    @property
    def title(self) -> str:
        """`Table 3`, `Tables 6 and 7`"""
        return f"{self.kind}{'s' * (len(self.numbers) > 1)} {' and '.join(map(str, self.numbers))}"

    @property
    def key(self) -> str:
        """`table-3`, `table-6-7`: for file names and links."""
        return f"{self.kind.lower()}-{'-'.join(map(str, self.numbers))}"


@dataclass(frozen=True)
class Finding:
    """What a paper concludes, and the comparisons that agree or disagree with it in one collection.

    `generally`: the finding is about most cases; else it says that something is not always so.
    """

    key: str
    claim: str
    rule: str
    needs: tuple[str, ...]
    checks: Callable[[Found, str], Sequence[Check]]
    generally: bool = True


@dataclass(frozen=True)
class Paper:
    """A paper. `named` maps our spellings to the paper's names, in the paper's order."""

    name: str
    title: str
    citation: str
    about: str
    studies: Mapping[str, Asked]
    items: tuple[Item, ...]
    findings: tuple[Finding, ...]
    named: Mapping[str, str]

    def chosen(self, tables: Sequence[int] | None, figures: Sequence[int] | None) -> list[Item]:
        """The tables and figures of these numbers; all where none are named."""
        wanted = {"Table": tables, "Figure": figures}
        if not tables and not figures:
            return list(self.items)
        for kind, numbers in wanted.items():
            there = sorted(n for item in self.items if item.kind == kind for n in item.numbers)
            for number in numbers or ():
                if number not in there:
                    known = f"{kind}s {there[0]} to {there[-1]}" if there else f"no {kind.lower()}s"
                    raise UsageError(f"{self.name} has no {kind} {number}; there are {known}")
        return [item for item in self.items if set(item.numbers) & set(wanted[item.kind] or ())]

    def measure(self, spelling: str) -> str:
        """A measure as the paper calls it, whatever gains and relevant grades a collection has. Other words stay."""
        plain = _plain(spelling, "gains")
        return self._known.get(spelling) or self._known.get(plain) or self._known.get(_plain(plain, "rel"), spelling)

    @functools.cached_property
    def _known(self) -> dict[str, str]:
        return {**{_plain(ours, ""): theirs for ours, theirs in self.named.items()}, **self.named}

    @property
    def legend(self) -> list[tuple[str, str]]:
        """(the paper's name, our full spelling) where they differ."""
        return [(theirs, ours) for ours, theirs in self.named.items() if theirs != ours]


@functools.cache
def _plain(spelling: str, without: str) -> str:
    """The spelling without a parameter; the same text where it is no measure."""
    try:
        found = measures(spelling)
    except MeasureError:
        return spelling
    if len(found) != 1:
        return spelling
    (measure,) = found
    parameter = measure.definition.parameters.get(without)
    return str(measure(**{without: parameter.default}) if parameter is not None else measure)
