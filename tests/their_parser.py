"""ir_measures 0.4.3 reads the numbers in a name (P@5) with classes of `ast` that Python 3.14 no longer has."""

from __future__ import annotations

import ir_measures
import pytest

try:
    ir_measures.parse_measure("P@5")
    READS_NUMBERS = True
except AttributeError:
    READS_NUMBERS = False

WHY_NOT = "this ir_measures cannot read P@5 on this Python (it needs ast.Num, gone in 3.14)"
needs_their_parser = pytest.mark.skipif(not READS_NUMBERS, reason=WHY_NOT)
