"""The table of strategies: what each is called, what it needs, and its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from unjudged.errors import UsageError, nearest
from unjudged.pools import adaptive, fusion, sampling
from unjudged.pools.lists import TopicLists

VALUE, SAMPLE, ADAPTIVE = "value", "sample", "adaptive"


@dataclass(frozen=True)
class Strategy:
    """A way to choose the documents to judge.

    `kind` says how `make` is called: `value` gives a value per document, `sample` draws, `adaptive` learns from
    every judgment. `judged` strategies need grades while they choose.
    """

    name: str
    kind: str
    make: Callable[..., Any]
    judged: bool = False

    def start(self, lists: TopicLists, settings: Mapping[str, Any], **there: Any) -> Any:
        """`make` called with the settings and whatever it takes of what is there (`rng`, `size`)."""
        taken = inspect.signature(self.make).parameters
        return self.make(lists, **{name: value for name, value in there.items() if name in taken}, **settings)

    @property
    def options(self) -> dict[str, Any]:
        """Names and defaults of the options."""
        known = inspect.signature(self.make).parameters.values()
        return {p.name: p.default for p in known if p.name not in ("lists", "size", "rng")}

    @property
    def help(self) -> str:
        """What the strategy does, in one line."""
        return (inspect.getdoc(self.make) or "").partition("\n")[0]

    def checked(self, given: dict[str, Any]) -> dict[str, Any]:
        """The options with their values, text turned into numbers; refused where one does not exist or fit."""
        known = self.options
        out = {name: default for name, default in known.items() if default is not inspect.Parameter.empty}
        for name, value in given.items():
            if name not in known:
                there = f"; there are {', '.join(known)}" if known else " (it has none)"
                raise UsageError(f"{self.name} has no option {name!r}{nearest(name, known)}{there}")
            out[name] = sampling.strata_of(value) if name == "strata" else _number(name, value)
        if missing := [name for name in known if name not in out]:
            raise UsageError(f"{self.name} needs {' and '.join(missing)}")
        return out


_LIMITS = {"p": (0.0, 1.0), "beta": (0.0, 1.0), "epsilon": (0.0, 1.0), "rate": (0.0, 1.0)}
_OPEN = ("p", "beta")


def _number(name: str, value: Any) -> float | int:
    try:
        number = float(value)
        if number != number:
            raise ValueError
    except (TypeError, ValueError):
        raise UsageError(f"{name} needs a number, not {value!r}") from None
    low, high = _LIMITS.get(name, (0.0, float("inf")))
    if not low <= number <= high or (name in _OPEN and number in (low, high)):
        between = "strictly between" if name in _OPEN else "from"
        joint = "and" if name in _OPEN else "to"
        raise UsageError(f"{name} must lie {between} {low:g} {joint} {high:g}, not {value!r}")
    if name == "cutoff":
        if number != int(number) or number < 1:
            raise UsageError(f"cutoff needs a whole number from 1, not {value!r}")
        return int(number)
    return number


_FUSION = (
    *(fusion.depth, fusion.take, fusion.fair_take, fusion.rrf, fusion.dcg, fusion.precision, fusion.popularity),
    *(fusion.borda, fusion.condorcet, fusion.combmin, fusion.combmax, fusion.combsum, fusion.combanz),
    *(fusion.combmnz, fusion.combmed, fusion.rbp_a),
)

STRATEGIES: dict[str, Strategy] = {
    s.name: s
    for s in (
        *(Strategy(function.__name__.replace("_", "-"), VALUE, function) for function in _FUSION),
        Strategy("rbp-b", ADAPTIVE, adaptive.RbpB),
        Strategy("rbp-c", ADAPTIVE, adaptive.RbpC, judged=True),
        Strategy("uniform", SAMPLE, sampling.uniform),
        Strategy("stratified", SAMPLE, sampling.stratified),
        Strategy("sampled-depth", SAMPLE, sampling.sampled_depth),
        Strategy("move-to-front", ADAPTIVE, adaptive.MoveToFront, judged=True),
        Strategy("hedge", ADAPTIVE, adaptive.Hedge, judged=True),
        Strategy("random", ADAPTIVE, adaptive.RandomArm),
        Strategy("epsilon-greedy", ADAPTIVE, adaptive.EpsilonGreedy, judged=True),
        Strategy("ucb1-tuned", ADAPTIVE, adaptive.Ucb1Tuned, judged=True),
        Strategy("thompson", ADAPTIVE, adaptive.Thompson, judged=True),
        Strategy("max-mean", ADAPTIVE, adaptive.MaxMean, judged=True),
    )
}

ALIASES = {
    "depth-k": "depth",
    "take-n": "take",
    "fair-take-n": "fair-take",
    "mtf": "move-to-front",
    "ucb": "ucb1-tuned",
}


def strategy(name: str) -> Strategy:
    """The strategy of this name; case and `_` make no difference."""
    plain = name.strip().casefold().replace("_", "-")
    found = STRATEGIES.get(ALIASES.get(plain, plain))
    if found is None:
        near = nearest(plain, [*STRATEGIES, *ALIASES])
        raise UsageError(f"unknown strategy {name!r}{near}; there are {', '.join(STRATEGIES)}")
    return found


def overview() -> str:
    """All strategies, one line each, with their options."""
    lines = []
    for one in STRATEGIES.values():
        known = [n if d is inspect.Parameter.empty else f"{n}={_shown(d)}" for n, d in one.options.items()]
        brackets = f" [{', '.join(known)}]" if known else ""
        lines.append(f"  {one.name:<15} {one.help}{brackets}")
    return "\n".join(lines)


def _shown(value: Any) -> str:
    return ",".join(f"{k}:{v:g}" for k, v in value.items()) if isinstance(value, Mapping) else f"{value:g}"
