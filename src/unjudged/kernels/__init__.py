"""Fast loops: scan, rank and join TREC text; segmented sums; bootstrap and swap counting; rows of text.

`_c` (C, optional) and `_numpy` have the same functions with equal results; whichever is there is used.
`UNJUDGED_KERNELS=numpy` in the environment forces the twin.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OUTSIDE_COUNTED = 1_000_000
"""So many topics outside the judgments a scanner tells apart, unless it keeps full lists. The same in entries.c."""


LONGEST_LINE = 1 << 24
"""A line longer than this has no end: the text is no text in lines. The same in text.h."""


def _chosen() -> tuple[str, Any]:
    """C where it is there; NumPy, which takes long to import, only where it is needed."""
    if os.environ.get("UNJUDGED_KERNELS", "") != "numpy":
        try:
            from unjudged.kernels import _c  # type: ignore[attr-defined, unused-ignore]
        except ImportError:
            pass
        else:
            if hasattr(_c, "look_at_topics") and hasattr(_c, "order_of"):  # else an older build was left behind
                return "C", _c
    from unjudged.kernels import _numpy

    return "NumPy", _numpy


IN_USE, _kernels = _chosen()
Index = _kernels.Index
RunScanner = _kernels.RunScanner
scan_qrels = _kernels.scan_qrels
code_documents = _kernels.code_documents
bootstrap_count = _kernels.bootstrap_count
pack_run = _kernels.pack_run
pack_judgments = _kernels.pack_judgments
choose_hits = _kernels.choose_hits
swap_count = _kernels.swap_count
weighted_sums = _kernels.weighted_sums
largest_gaps = _kernels.largest_gaps
look_at_topics = _kernels.look_at_topics
count_teams = _kernels.count_teams
richness = _kernels.richness
newton_sums = _kernels.newton_sums
count_levels = _kernels.count_levels
first_lines = _kernels.first_lines
order_of = _kernels.order_of
segment_sum = _kernels.segment_sum
segment_cumsum = _kernels.segment_cumsum
segment_cumprod = _kernels.segment_cumprod
segment_max_from = _kernels.segment_max_from
segment_read = _kernels.segment_read
logarithms = _kernels.logarithms
write_rows = _kernels.write_rows

TIES = {"trec10": 0, "trec9": 1, "file": 2, "ascending": 3, "expected": 0}
"""How equal scores are ordered, and the number the kernels know it by.

`expected` reads the order of trec10 and keeps the groups of equal scores."""
