"""What describes a document before anybody judges it: rank, teams, and how rich its topic and lists are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unjudged import kernels
from unjudged.collection import Floats
from unjudged.holes.lists import Flags, Lists

NEAR = 30
"""Ranks whose judged documents say how rich a topic or a list is."""
PRIOR = 5.0
"""Judged documents that the mean of all topics (of the topic) counts as."""
RAREST = 0.001
"""The least and (from 1) the most a prevalence can be."""


@dataclass(frozen=True, eq=False)
class Features:
    """Five features x documents, as the regression sees them; `varied` says which of them vary in training."""

    values: Floats
    varied: Flags


def raw_features(lists: Lists, y: Floats) -> Floats:
    """(log best rank, log teams, log fused rank, logit prevalence of the topic, of the lists) x documents.

    `y` is the gain of each judged document between 0 and 1. A document's own label is left out of both prevalences.
    """
    doc, rank, cell = lists.entries
    judged, topic = ~lists.hole, lists.topic
    known = np.where(judged, y, 0.0)
    near = judged & (lists.best <= NEAR)
    sums = np.bincount(topic[near], known[near], lists.topics)
    counts = np.bincount(topic[near], minlength=lists.topics)
    mean = (sums.sum() + 1) / (counts.sum() + 4)
    of_topic = (sums[topic] - known * near + PRIOR * mean) / (counts[topic] - near + PRIOR)

    of_lists = np.empty(lists.docs)
    cells = len(lists.runs) * lists.topics
    kernels.richness(doc, rank, cell, judged, known, of_topic, of_lists, cells, NEAR, PRIOR)
    return np.stack((*lists.standing, _logit(of_topic), _logit(of_lists / lists.by_inverse_rank)))


def features(lists: Lists, y: Floats, training: Flags) -> Features:
    """The features within the range of the training documents (nothing is extrapolated) and standardised by them."""
    values = raw_features(lists, y)
    varied = np.zeros(len(values), bool)
    for i, feature in enumerate(values):
        seen = feature[training]
        spread = seen.std() if len(seen) else 0.0
        varied[i] = spread > 1e-12
        values[i] = (np.clip(feature, seen.min(), seen.max()) - seen.mean()) / spread if varied[i] else 0.0
    return Features(values, varied)


def _logit(share: Floats) -> Floats:
    share = np.clip(share, RAREST, 1 - RAREST)
    return np.asarray(np.log(share) - np.log1p(-share))
