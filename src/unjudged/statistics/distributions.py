"""Tails and quantiles of the normal, t, F and chi-squared distributions, from `scipy.special` alone.

The same bits as `scipy.stats` gives (a test says so). Importing that would take a second of CPU in every command that
tests a difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def normal_quantile(share: Any) -> Any:
    """The value below which a normal variable lies with this probability."""
    from scipy.special import ndtri

    return ndtri(share)


def normal_above(value: Any) -> Any:
    """Probability that a normal variable is larger."""
    from scipy.special import ndtr

    return ndtr(-value)


def normal_limit(tail: Any) -> Any:
    """The value above which a normal variable lies with this probability."""
    return -normal_quantile(tail)


def student_above(value: Any, freedom: Any) -> Any:
    """Probability that a t variable is larger."""
    from scipy.special import stdtr

    return stdtr(freedom, -np.asarray(value, np.float64))


def student_limit(tail: Any, freedom: Any) -> Any:
    """The value above which a t variable lies with this probability."""
    return -student_quantile(tail, freedom)


def student_quantile(share: Any, freedom: Any) -> Any:
    """The value below which a t variable lies with this probability; infinite for 0 and 1."""
    from scipy.special import stdtrit

    share = np.asarray(share, np.float64)
    ends = np.where(share == 0, -np.inf, np.where(share == 1, np.inf, np.nan))
    return np.where((share > 0) & (share < 1), stdtrit(freedom, share), ends)


def f_above(value: Any, between: Any, within: Any) -> Any:
    """Probability that an F variable is larger."""
    from scipy.special import fdtrc

    return fdtrc(between, within, value)


def f_quantile(share: Any, between: Any, within: Any) -> Any:
    """The value below which an F variable lies with this probability."""
    from scipy.special import fdtri

    return fdtri(between, within, share)


def chi_squared_quantile(share: Any, freedom: Any) -> Any:
    """The value below which a chi-squared variable lies with this probability."""
    from scipy.special import gammaincinv

    return 2 * gammaincinv(freedom / 2, share)
