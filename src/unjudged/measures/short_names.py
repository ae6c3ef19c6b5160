"""Short names for tables: `nDCG'` for `nDCG'(dcg='jk', gains={1: 1, 2: 3})@1000`, with a legend of full spellings.

A table cannot hold nine full spellings side by side. Short names leave parameters out, then the cut-off, as far as
different measures keep different names; the legend says what each stands for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from unjudged.errors import MeasureError
from unjudged.measures._grammar import registered

_SPELLING = re.compile(r"[A-Za-z_]\w*'?\([^()]*\)(?:@\d+(?:\.\d+)?)?")
"""A measure with parameters, anywhere in a text."""


def spellings(texts: Iterable[str]) -> list[str]:
    """The measures with parameters that these texts name, in order of appearance."""
    found = dict.fromkeys(match for text in texts for match in _SPELLING.findall(text))
    return [text for text in found if _known(text)]


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


def _known(text: str) -> bool:
    try:
        return registered(text) is not None
    except MeasureError:
        return False


def _bare(text: str) -> str:
    """The name with its prime."""
    return text.partition("(")[0]


def _without_parameters(text: str) -> str:
    """The name with its prime and cut-off."""
    return _bare(text) + text[text.rindex(")") + 1 :]


def _without(text: str) -> str:
    """The first word of a text that names a measure without parameters; it must not be taken by another."""
    return text.split(" ")[0] if "(" not in text else ""
