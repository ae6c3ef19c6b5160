"""How many topics two sampled topic sets share: formulas and simulation (Sakai 2005, Table 5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unjudged.statistics.draws import SAMPLINGS, Sampling, topic_counts, topic_set_pairs


@dataclass(frozen=True)
class SharedTopics:
    """Different topics in one set, and topics that stand in both; averages over trials, or expectations."""

    unique: float
    shared: float


def expected_shared_topics(topics: int, size: int, sampling: Sampling) -> SharedTopics:
    """What to expect of two sets of `size` topics out of `topics`."""
    if not 1 <= size <= topics:
        raise ValueError(f"a topic set holds 1 to {topics} topics, not {size}")
    if sampling == "replacement":
        drawn = 1 - (1 - 1 / topics) ** size
        return SharedTopics(topics * drawn, topics * drawn**2)
    if sampling == "independent":
        return SharedTopics(size, size**2 / topics)
    if sampling != "disjoint":
        raise ValueError(f"sampling is one of {', '.join(SAMPLINGS)}, not {sampling!r}")
    return SharedTopics(size, 0.0)


def simulated_shared_topics(
    topics: int, size: int, sampling: Sampling, trials: int = 1000, seed: int = 0
) -> SharedTopics:
    """The same, averaged over the topic sets the swap method draws with this seed."""
    sets = topic_set_pairs(topics, size, trials, sampling, seed)
    here, there = (topic_counts(side, topics) > 0 for side in sets)
    unique = (here.sum() + there.sum()) / (2 * trials)
    return SharedTopics(float(unique), float(np.count_nonzero(here & there) / trials))
