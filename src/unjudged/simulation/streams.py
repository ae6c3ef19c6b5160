"""Random numbers that never change: one counter-based stream per (seed, purpose, topic, team, run).

NumPy promises stable *bits* (Philox), not stable distributions, so uniforms, exponentials, normals and
permutations are made here from the raw bits. Two streams of different address are independent, and none
depends on how many numbers another one gave: a deeper pool, another judge or more topics leave every other
draw as it was.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from unjudged.errors import UsageError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TWO_PI = 6.283185307179586


class Purpose(IntEnum):
    """What a stream is for. The numbers are part of every collection's bytes: add new ones, change none."""

    ASSIGN_RUNS = 1
    ASSIGN_FAMILIES = 2
    TEAM = 3
    RUN = 4
    TOPIC = 5
    GRADES = 6
    IDS = 7
    COMMON_SCORE = 8
    FAMILY_SCORE = 9
    TEAM_SCORE = 10
    RUN_SCORE = 11
    COMMON_HARDNESS = 12
    FAMILY_HARDNESS = 13
    TEAM_HARDNESS = 14
    TEAM_ABILITY = 15
    RUN_ABILITY = 16
    HIDDEN_SCORE = 17
    HIDDEN_HARDNESS = 18
    JUDGE_NOISE = 19
    JUDGE_FAVOUR = 20
    JUDGE_RATE = 21
    QUIRK_SHORT = 22
    QUIRK_MISSING = 23
    QUIRK_NEGATIVE = 24
    LATENT_TRUTH = 25
    LATENT_FAMILY = 26
    LATENT_TEAM = 27
    LATENT_RUN = 28
    LATENT_TOPIC = 29
    LATENT_FEATURES = 30
    LATENT_RELEVANCE = 31
    LATENT_TEAM_NOISE = 32
    LATENT_RUN_NOISE = 33
    LATENT_TEAM_TOPIC = 34


class Stream:
    """One stream of random numbers; successive calls continue it."""

    def __init__(self, seed: int, purpose: Purpose, topic: int = 0, team: int = 0, run: int = 0) -> None:
        if not 0 <= seed < 2**64:
            raise UsageError(f"the seed must be a whole number from 0 to 2**64 - 1, not {seed}.")
        key = np.array([seed, int(purpose)], dtype=np.uint64)
        counter = np.array([0, topic, team, run], dtype=np.uint64)
        self._bits = np.random.Philox(key=key, counter=counter)

    def raw(self, n: int) -> NDArray[np.uint64]:
        """n times 64 random bits."""
        return np.asarray(self._bits.random_raw(n), dtype=np.uint64)

    def uniforms(self, n: int) -> Floats:
        """n numbers strictly between 0 and 1, 52 bits each."""
        return ((self.raw(n) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52

    def _halves(self, n: int) -> Floats:
        """n numbers strictly between 0 and 1, 32 bits each: two for every 64 bits, low half first."""
        halves = self.raw((n + 1) // 2).astype("<u8", copy=False).view("<u4")[:n].astype(np.float64)
        halves += 0.5
        halves *= 2.0**-32
        return halves

    def exponentials(self, n: int) -> Floats:
        """n exponential numbers with mean 1."""
        out = self._halves(n)
        np.log(out, out=out)
        np.negative(out, out=out)
        return out

    def gammas(self, n: int, k: int) -> Floats:
        """n numbers (Gamma(k) - k) / sqrt(k): mean 0, variance 1, heavy to the right; k a whole number."""
        product = self._halves(n)
        for _ in range(k - 1):
            product *= self._halves(n)
        np.log(product, out=product)
        product += k
        product *= -1.0 / k**0.5
        return product

    def normals(self, n: int) -> Floats:
        """n standard normal numbers (Box and Muller): the cosines first, then the sines."""
        pairs = (n + 1) // 2
        bits = self.raw(pairs).astype("<u8", copy=False).view("<u4").reshape(pairs, 2)
        radius = bits[:, 0].astype(np.float64)
        radius += 0.5
        radius *= 2.0**-32
        np.log(radius, out=radius)
        radius *= -2.0
        np.sqrt(radius, out=radius)
        angle = bits[:, 1].astype(np.float64)
        angle *= _TWO_PI * 2.0**-32
        out = np.empty(2 * pairs)
        np.cos(angle, out=out[:pairs])
        np.sin(angle, out=out[pairs:])
        out[:pairs] *= radius
        out[pairs:] *= radius
        return out[:n]

    def permutation(self, n: int) -> Ints:
        """The numbers 0 .. n - 1 in random order."""
        width = np.uint64(max(1, (n - 1).bit_length()))
        keys = (self.raw(n) >> width) << width
        keys |= np.arange(n, dtype=np.uint64)
        keys.sort()
        keys &= (np.uint64(1) << width) - np.uint64(1)
        return keys.astype(np.int64)
