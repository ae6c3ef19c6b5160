"""The two kernels as parameters of a test: `@both` runs it with NumPy and, where it was built, with C."""

from __future__ import annotations

import pytest

from unjudged.kernels import _numpy

try:
    from unjudged.kernels import _c as _c  # type: ignore[attr-defined, unused-ignore]
except ImportError:
    _c = None  # type: ignore[assignment, unused-ignore]

NO_C = "the C kernels are not built here (no compiler at installation), so there is nothing to compare"
needs_c = pytest.mark.skipif(_c is None, reason=NO_C)
both = pytest.mark.parametrize("kernels", [pytest.param(_numpy, id="numpy"), pytest.param(_c, id="c", marks=needs_c)])
