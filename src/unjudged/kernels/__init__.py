"""Fast loops: scan, rank and join TREC text; segmented sums; bootstrap and swap counting; rows of text.

`_c` (C, optional) and `_numpy` have the same functions with equal results; whichever is there is used.
`UNJUDGED_KERNELS=numpy` in the environment forces the twin.
"""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from unjudged.kernels import _numpy

_kernels: ModuleType | Any = _numpy
if os.environ.get("UNJUDGED_KERNELS", "") != "numpy":
    try:
        from unjudged.kernels import _c  # type: ignore[attr-defined, unused-ignore]
    except ImportError:
        pass
    else:
        if hasattr(_c, "write_rows"):  # else a build of older sources was left behind: the twin is right
            _kernels = _c

IN_USE: str = "C" if _kernels is not _numpy else "NumPy"
Index = _kernels.Index
RunScanner = _kernels.RunScanner
scan_qrels = _kernels.scan_qrels
code_documents = _kernels.code_documents
bootstrap_count = _kernels.bootstrap_count
choose_hits = _kernels.choose_hits
swap_count = _kernels.swap_count
weighted_sums = _kernels.weighted_sums
segment_sum = _kernels.segment_sum
segment_cumsum = _kernels.segment_cumsum
segment_cumprod = _kernels.segment_cumprod
segment_max_from = _kernels.segment_max_from
segment_read = _kernels.segment_read
write_rows = _kernels.write_rows

OUTSIDE_COUNTED = _numpy.OUTSIDE_COUNTED
"""So many topics outside the judgments a scanner tells apart, unless it keeps full lists."""

TIES = {"trec10": 0, "trec9": 1, "file": 2, "ascending": 3, "expected": 0}
"""How equal scores are ordered, and the number the kernels know it by.

`expected` reads the order of trec10 and keeps the groups of equal scores."""
