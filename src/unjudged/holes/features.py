"""What describes a document before anybody judges it: rank, teams, and how rich its topic and lists are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
    """Documents x five features, as the regression sees them; `varied` says which of them vary in training."""

    values: Floats
    varied: Flags


def raw_features(lists: Lists, y: Floats) -> Floats:
    """Documents x (log best rank, log teams, log fused rank, logit prevalence of the topic, of the lists).

    `y` is the gain of each judged document between 0 and 1. A document's own label is left out of both prevalences.
    """
    doc, rank, cell, _ = lists.entries
    judged, topic = ~lists.hole, lists.topic
    known = np.where(judged, y, 0.0)
    near = judged & (lists.best <= NEAR)
    sums = np.bincount(topic[near], known[near], lists.topics)
    counts = np.bincount(topic[near], minlength=lists.topics)
    mean = (sums.sum() + 1) / (counts.sum() + 4)
    of_topic = (sums[topic] - known * near + PRIOR * mean) / (counts[topic] - near + PRIOR)

    inside = judged[doc] & (rank <= NEAR)
    cells = len(lists.runs) * lists.topics
    gained = np.where(inside, known[doc], 0.0)
    of_cell = np.bincount(cell, gained, cells)
    in_cell = np.bincount(cell[inside], minlength=cells)
    of_entry = (of_cell[cell] - gained + PRIOR * of_topic[doc]) / (in_cell[cell] - inside + PRIOR)
    of_lists = lists.per_doc(of_entry / rank) / lists.by_inverse_rank
    return np.column_stack((*lists.standing, _logit(of_topic), _logit(of_lists)))


def features(lists: Lists, y: Floats, training: Flags) -> Features:
    """The features within the range of the training documents (nothing is extrapolated) and standardised by them."""
    values = raw_features(lists, y)
    if not training.any():
        return Features(np.zeros_like(values), np.zeros(values.shape[1], bool))
    seen = values[training]
    values = np.clip(values, seen.min(axis=0), seen.max(axis=0))
    spread = seen.std(axis=0)
    varied = spread > 1e-12
    return Features(np.where(varied, (values - seen.mean(axis=0)) / np.where(varied, spread, 1.0), 0.0), varied)


def _logit(share: Floats) -> Floats:
    share = np.clip(share, RAREST, 1 - RAREST)
    return np.asarray(np.log(share) - np.log1p(-share))
