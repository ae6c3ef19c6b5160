"""Scores made of plain matrices, for tests that need no judgments."""

from __future__ import annotations

from typing import Any

import numpy as np

import unjudged as uj
from unjudged.measures import measures as parsed
from unjudged.results import Provenance


def scores_of(*matrices: Any, runs: list[str] | None = None, measures: str = "AP, nDCG@10") -> uj.Scores:
    """Scores from topics x runs matrices, one per measure."""
    values = np.stack([np.asarray(m, float) for m in matrices]).transpose(2, 1, 0)
    names = runs or [f"run{r:02d}" for r in range(values.shape[0])]
    topics = [f"t{t}" for t in range(values.shape[1])]
    return uj.Scores(
        names, topics, parsed(measures)[: len(matrices)], values, np.ones(values.shape[:2], bool), Provenance("0", "")
    )


def random_matrix(seed: int, topics: int = 16, runs: int = 6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.clip(rng.random((topics, 1)) * 0.6 + rng.normal(0, 0.1, (topics, runs)) + np.linspace(0, 0.2, runs), 0, 1)


def rows_of(result: uj.Result) -> list[dict[str, Any]]:
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows()]


MATRIX = random_matrix(3)
"""16 topics x 6 runs."""
