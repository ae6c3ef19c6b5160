"""What the spelling of a measure says by itself, for tables and charts: short names with a legend, condensed or not.

A table cannot hold nine full spellings side by side. `nDCG'(dcg='jk', gains={1: 1, 2: 3})@1000` becomes `nDCG'`: short
names leave parameters and cut-off out as far as different measures keep different names; the legend says what each
stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_SPELLING = re.compile(r"[A-Za-z_]\w*'?\([a-z_]+=[^()]*\)(?:@\d+(?:\.\d+)?)?")
"""A measure with parameters, anywhere in a text."""

_PREFERENCES = re.compile(r"(?:old_)?[br]pref")
"""Measures that leave unjudged documents out by definition."""


def is_condensed(name: str) -> bool:
    """Does a measure leave unjudged documents out? `AP'`, `nDCG'(dcg='jk')@1000`, `bpref`."""
    bare = re.split(r"[(@]", name)[0]
    return bare.endswith("'") or _PREFERENCES.match(bare) is not None


def ordinary(name: str) -> str:
    """The measure without its prime: `nDCG(dcg='jk')@1000` for `nDCG'(dcg='jk')@1000`."""
    bare = re.split(r"[(@]", name)[0]
    return bare.removesuffix("'") + name[len(bare) :]


def spellings(texts: Iterable[str]) -> list[str]:
    """The measures with parameters that these texts name, in order of appearance."""
    return list(dict.fromkeys(match for text in texts for match in _SPELLING.findall(text)))


def short_names(texts: Iterable[str]) -> dict[str, str]:
    """Spelling -> short name, for every measure with parameters in these texts that can be told apart without them.

    >>> short_names(["nDCG(dcg='jk')@1000", "AP", "AP(rel=2)"])
    {"nDCG(dcg='jk')@1000": 'nDCG'}
    """
    given = list(texts)
    taken = {_without(text) for text in given}
    found = spellings(given)
    for shorten in (_bare, _without_parameters):
        names = {text: shorten(text) for text in found}
        clear = {
            text: short
            for text, short in names.items()
            if list(names.values()).count(short) == 1 and short not in taken
        }
        if len(clear) == len(found):
            return clear
    return clear if found else {}


def shortened(text: str, names: Mapping[str, str]) -> str:
    """A text with short names in it."""
    for full, short in names.items():
        text = text.replace(full, short)
    return text


def legend(names: Mapping[str, str]) -> str:
    """`Q: Q(gains={1: 1, 2: 3}); nDCG: nDCG(dcg='jk')@1000`"""
    return "; ".join(f"{short}: {full}" for full, short in names.items())


def _bare(text: str) -> str:
    """The name with its prime."""
    return text.partition("(")[0]


def _without_parameters(text: str) -> str:
    """The name with its prime and cut-off."""
    return _bare(text) + text[text.rindex(")") + 1 :]


def _without(text: str) -> str:
    """The first word of a text that names a measure without parameters; it must not be taken by another."""
    return text.split(" ")[0] if "(" not in text else ""
