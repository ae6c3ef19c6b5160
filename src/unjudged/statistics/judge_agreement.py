"""Agreement of judges beyond chance: Cohen's and Fleiss' kappa, Krippendorff's alpha.

All functions work on counts: a confusion table (grades of one judge x grades of the other), or `counts`, one row per
judged thing and one column per grade with the number of judges who gave it. `values` are the grades themselves,
ascending, one per column. A coefficient is NaN where it is not defined: nothing to compare, or no variation at all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

WEIGHTS = ("none", "linear", "quadratic")
LEVELS = ("nominal", "ordinal", "interval")


def observed_agreement(confusion: npt.ArrayLike) -> float:
    """Share of things with the same grade."""
    table = np.asarray(confusion, np.float64)
    return float(np.trace(table) / table.sum()) if table.sum() else float("nan")


def cohen_kappa(confusion: npt.ArrayLike, values: npt.ArrayLike, weights: str = "none") -> float:
    """Cohen's kappa (1960): 1 - observed / expected disagreement; weighted (1968) by the distance of the grades.

    `linear` weighs a disagreement by |a - b|, `quadratic` by its square, a and b being grades, not their places.
    """
    if weights not in WEIGHTS:
        raise ValueError(f"weights can be {', '.join(WEIGHTS)}, not {weights!r}")
    table, grade = np.asarray(confusion, np.float64), np.asarray(values, np.float64)
    distance = np.abs(grade[:, None] - grade[None, :])
    cost = (distance > 0) * 1.0 if weights == "none" else distance if weights == "linear" else distance**2
    total = table.sum()
    if not total:
        return float("nan")
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    by_chance = float((cost * expected).sum())
    return 1.0 - float((cost * table).sum()) / by_chance if by_chance else float("nan")


def fleiss_kappa(counts: npt.ArrayLike) -> float:
    """Fleiss' kappa (1971) of things judged by the same number of judges each."""
    table = np.asarray(counts, np.float64)
    if not len(table):
        return float("nan")
    judges = table.sum(axis=1)
    if (judges != judges[0]).any():
        raise ValueError("Fleiss' kappa needs the same number of judges for everything")
    n = float(judges[0])
    if n < 2:
        return float("nan")
    agreement = ((table**2).sum(axis=1) - n) / (n * (n - 1))
    share = table.sum(axis=0) / table.sum()
    by_chance = float((share**2).sum())
    return float((agreement.mean() - by_chance) / (1.0 - by_chance)) if by_chance < 1 else float("nan")


def coincidences(counts: npt.ArrayLike) -> Array:
    """Krippendorff's coincidence matrix: pairs of grades given to one thing; a thing counts once per judge."""
    table = np.asarray(counts, np.float64)
    judges = table.sum(axis=1)
    table, judges = table[judges > 1], judges[judges > 1]
    scaled = table / (judges - 1)[:, None]
    matrix: Array = table.T @ scaled - np.diag(scaled.sum(axis=0))
    return matrix


def krippendorff_alpha(counts: npt.ArrayLike, values: npt.ArrayLike, level: str = "nominal") -> float:
    """Krippendorff's alpha: 1 - observed / expected disagreement, over everything two or more judges graded.

    `level` says what a difference of grades means: `nominal` (same or not), `ordinal` (how many gradings lie
    between), `interval` (their squared difference).
    """
    return alpha_of_coincidences(coincidences(counts), values, level)


def alpha_of_two(confusion: npt.ArrayLike, values: npt.ArrayLike, level: str = "nominal") -> float:
    """Krippendorff's alpha of two judges who both judged everything, from their confusion table."""
    table = np.asarray(confusion, np.float64)
    return alpha_of_coincidences(table + table.T, values, level)


def alpha_of_coincidences(matrix: Array, values: npt.ArrayLike, level: str = "nominal") -> float:
    """Krippendorff's alpha from the coincidence matrix."""
    if level not in LEVELS:
        raise ValueError(f"the level can be {', '.join(LEVELS)}, not {level!r}")
    grade, given = np.asarray(values, np.float64), matrix.sum(axis=1)
    if level == "nominal":
        distance = 1.0 - np.eye(len(grade))
    elif level == "ordinal":
        below = np.cumsum(given) - given / 2.0
        distance = (below[:, None] - below[None, :]) ** 2
    else:
        distance = (grade[:, None] - grade[None, :]) ** 2
    by_chance = float((np.outer(given, given) * distance).sum())
    if not by_chance:
        return float("nan")
    return 1.0 - float(given.sum() - 1.0) * float((matrix * distance).sum()) / by_chance
