"""The corrections by name: which measures they fit, and what they add to a score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unjudged.collection import Floats
from unjudged.correction import lipani, webber_park
from unjudged.correction.counts import MOST, Counts
from unjudged.correction.full_lists import Lists
from unjudged.correction.protocols import Protocol
from unjudged.errors import UsageError, one_of
from unjudged.measures import Measure

METHODS = ("lipani", "webber-park", "lipani-v2", "webber-ratio", "per-topic")
"""Corrections of P@n. The first two are the paper's comparison, the others later variants."""

RECALL = "webber-recall"
"""The later form of Webber & Park's adjustment for R@n."""

NONE = "none"
"""The score as it is: what is chosen where no correction did better."""

IN_WORDS = {
    "lipani": "Lipani's correction",
    "lipani-v2": "a variant of Lipani's correction",
    "per-topic": "Lipani's correction topic by topic",
    "webber-park": "Webber and Park's correction",
    "webber-ratio": "Webber and Park's correction as a ratio",
    RECALL: "Webber and Park's correction scaled to recall",
}
"""The corrections as a sentence names them."""


def candidates(measure: Measure) -> tuple[str, ...]:
    """Every correction that fits a measure."""
    if measure.name == "P":
        return METHODS
    return ("webber-park", RECALL) if measure.name == "R" and measure.params["k"] else ("webber-park",)


def methods_for(measure: Measure, method: str | Sequence[str] | None) -> tuple[str, ...]:
    """The methods asked for, checked against the measure; every one that fits where none is named."""
    counts = measure.name == "P"
    if counts and not measure.params["k"]:
        raise UsageError("P is corrected at a cut-off, e.g. P@10")
    if counts and measure.params["k"] > MOST:
        raise UsageError(f"cut-offs up to {MOST} are corrected, not {measure.params['k']}")
    if measure.condensed:
        raise UsageError(f"{measure} leaves unjudged documents out, so there is nothing to correct; take it without '")
    if method is None:
        return candidates(measure)
    asked = tuple(dict.fromkeys(m.strip() for m in (method.split(",") if isinstance(method, str) else method)))
    for one in asked:
        one_of(one, (*METHODS, RECALL), "method")
        if one == RECALL and (measure.name != "R" or not measure.params["k"]):
            raise UsageError(f"{one} corrects R@n, not {measure}")
        if one not in ("webber-park", RECALL) and not counts:
            raise UsageError(f"{one} corrects P@n; for {measure} there is webber-park")
    return asked


def adjustments(
    lists: Lists, counted: Counts, protocol: Protocol, methods: Sequence[str], indicator: str
) -> tuple[lipani.Effect, dict[str, Floats]]:
    """The effect of each new run on the pooled runs, and what each method adds to its P@n."""
    effect = lipani.effect(lists, counted, protocol)
    made = {
        "lipani": lambda: effect.adjustment(indicator),
        "lipani-v2": lambda: effect.adjustment(None),
        "webber-park": lambda: _inside(effect, webber_park.adjustment(lists, counted, protocol), protocol),
        "webber-ratio": lambda: webber_park.ratio_adjustment(lists, counted, protocol, effect.k),
        "per-topic": lambda: lipani.per_topic_adjustment(lists, counted, protocol, indicator),
    }
    return effect, {method: made[method]() for method in methods}


def _inside(effect: lipani.Effect, added: Floats, protocol: Protocol) -> Floats:
    """No more than k where the protocol keeps to what is possible: the true score lies in [P, P + k]."""
    return np.minimum(added, effect.k) if protocol.bounded else added
