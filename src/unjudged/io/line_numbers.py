"""On which lines of a file judgments stand, for messages that name them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from unjudged.io import files
from unjudged.io.formats import qrels_format
from unjudged.io.ids import to_text
from unjudged.io.several_judges import module

_BETWEEN = re.compile(r'[\s,"]+')
"""What stands between names in all formats with a judgment on each line."""


def line_numbers(source: str, pairs: Sequence[tuple[str, str]]) -> list[int | None]:
    """The line of each (topic, document): the first on which both names stand; None where there is none, or no file.

    Of `FILE#JUDGE` only that judge's lines count.
    """
    file, judge = files.chosen_judge(source)
    if not Path(file).is_file():
        return [None] * len(pairs)
    found: dict[tuple[str, str], int] = {}
    own = set(module(qrels_format(file)).lines_by(file, judge)) if judge else None
    for number, raw in files.lines(file):
        if len(found) == len(pairs):
            break
        if own is not None and number not in own:
            continue
        names = set(_BETWEEN.split(to_text(raw)))
        for pair in pairs:
            if pair not in found and names.issuperset(pair):
                found[pair] = number
    return [found.get(pair) for pair in pairs]
