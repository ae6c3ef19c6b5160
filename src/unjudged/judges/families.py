"""Does a judge favour a family of runs (say, language-model rerankers under a language-model judge)?

Least squares over runs: score under the judge = a + b score under the human + g judged@10 + c [run in the family]; c is
the favour, in units of the measure. Its interval comes from redrawn topics. Its p value comes from permuting the family
between blocks of runs (teams): runs of one team are alike, and permuting single runs finds favour where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unjudged.judges.labels import ranges_of
from unjudged.statistics.bootstrap import sampled_means
from unjudged.statistics.draws import topic_resamples
from unjudged.statistics.pairs import ZERO, mean_scores

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Favour:
    """The favour of one family: effect, range on redrawn topics, p value of permuted blocks (not yet adjusted)."""

    effect: float
    low: float
    high: float
    p_value: float

    @property
    def apart(self) -> bool:
        """Does the range leave out 0?"""
        return self.low > 0 or self.high < 0


def blocks_of(teams: Sequence[str], inside: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], list[bool]]:
    """The block of each run, and whether each block is in the family: a team with runs inside and outside is two."""
    known: dict[tuple[str, bool], int] = {}
    numbers = [known.setdefault(pair, len(known)) for pair in zip(teams, inside.tolist(), strict=True)]
    return np.array(numbers), [within for _, within in known]


def favour(
    human: Floats,
    other: Floats,
    judged: Floats,
    inside: npt.NDArray[np.bool_],
    teams: Sequence[str] | None,
    *,
    curved: bool = False,
    resamples: int = 1000,
    permutations: int = 999,
    seed: int = 0,
) -> Favour:
    """The favour for the runs `inside`; matrices are topics x runs: scores under either judge, share of the top 10
    judged. `curved` adds the square of the score under the human: a check of the straight line. Where `teams` are not
    known there is no p value (NaN): runs of one team are alike, and permuting single runs finds favour everywhere.
    """
    member = inside.astype(np.float64)
    varies = bool(np.ptp(mean_scores(judged)) > ZERO)
    rest = _rest(mean_scores(human)[None], mean_scores(judged)[None], varies, curved)
    y = mean_scores(other)
    effect = float(_effects(rest, member, y[None])[0])
    draws = topic_resamples(len(human), resamples, seed)
    h, o, j = (sampled_means(matrix, draws) for matrix in (human, other, judged))
    ((low, high),) = ranges_of(_effects(_rest(h, j, varies, curved), member, o)[:, None])
    if teams is None:
        return Favour(effect, float(low), float(high), math.nan)
    block, within = blocks_of(teams, inside)
    shuffled = np.random.default_rng(seed).permuted(np.tile(within, (permutations, 1)), axis=1)[:, block].astype(float)
    left = np.eye(len(y)) - rest[0] @ np.linalg.pinv(rest[0])
    beside = shuffled @ left
    with np.errstate(divide="ignore", invalid="ignore"):
        permuted = (beside @ y) / (beside * shuffled).sum(axis=1)
    as_large = int((np.abs(permuted) >= abs(effect) - ZERO).sum())
    return Favour(effect, float(low), float(high), (1 + as_large) / (1 + permutations))


def _rest(human: Floats, judged: Floats, varies: bool, curved: bool) -> Floats:
    """Sets x runs x everything but the family: one, the score under the human, and the share judged where it varies."""
    columns = [np.ones_like(human), human]
    columns += [judged] if varies else []
    columns += [human**2] if curved else []
    return np.stack(columns, axis=-1)


def _effects(rest: Floats, member: Floats, y: Floats) -> Floats:
    """The coefficient of the family in each set."""
    family = np.broadcast_to(member[None, :, None], (*rest.shape[:2], 1))
    inverse = np.linalg.pinv(np.concatenate([rest, family], axis=-1))
    return np.asarray((inverse[:, -1, :] * y).sum(axis=1))
