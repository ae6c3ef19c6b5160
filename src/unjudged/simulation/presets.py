"""The parameters of the simulator, the presets fitted to real collections, and the named scenarios."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from unjudged.errors import UsageError

QUIRKS = ("ties", "short", "missing", "negative")


def _p(help: str, **kwargs: Any) -> Any:
    return field(metadata={"help": help}, **kwargs)


class Changeable:
    """Parameters that can be changed by name, and told as plain values."""

    def changed(self, changes: Mapping[str, object]) -> Self:
        """A copy with some parameters changed; values may be text, as from the command line."""
        parsed = {name: parse(name, value, type(self)) for name, value in changes.items()}
        return dataclasses.replace(self, **parsed)  # type: ignore[type-var]

    def as_dict(self) -> dict[str, Any]:
        """Plain values by name, in a fixed order, as written to `simulation.json`."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in vars(self).items()}


@dataclass(frozen=True, kw_only=True)
class Parameters(Changeable):
    """Everything that decides a simulated collection, apart from the seed.

    Scores are sums of shared, heavy-tailed terms (what all runs, a family, a team like in a document), a
    run's own noise, and a lift for relevant documents that are not too hard for the run.
    """

    topics: int = _p("number of topics")
    teams: int = _p("number of teams")
    runs: int = _p("number of runs, at least one per team")
    depth: int = _p("pool depth")
    pool_per_team: int | None = _p("pooled runs per team, or all")
    extra: int = _p("judged documents per topic from a hidden run outside the pool", default=0)
    q_extra: float = _p("quality of that hidden run", default=0.0)
    K: int = _p("length of a run's list")
    C: int = _p("candidate documents per topic: what any run can retrieve")
    R: float = _p("mean number of relevant documents per topic")
    Rsd: float = _p("sd of log R between topics")
    Rmin: int = _p("fewest relevant documents of a topic")
    Rmax: float = _p("most relevant documents of a topic, as a share of C")
    grades: tuple[float, ...] = _p("shares of the grades 1, 2, ... among the relevant documents", default=(1.0,))
    rel: int = _p("smallest relevant grade in the summary's binary measures", default=1)
    step: float = _p("how much easier a document gets per grade", default=0.0)
    mu: float = _p("mean ability: lifts relevant documents")
    q_team: float = _p("spread of quality between teams")
    q_run: float = _p("spread of quality between runs of a team")
    b: float = _p("spread of topic ease that has nothing to do with R")
    beta: float = _p("how much harder topics with many relevant documents are")
    i_team: float = _p("interaction of team and topic")
    i_run: float = _p("interaction of run and topic")
    c: float = _p("share of score variance common to all runs")
    f: float = _p("share of score variance common to a family of teams")
    m: float = _p("share of score variance common to a team")
    k: int = _p("gamma shape of the shared terms, a whole number; small is heavy-tailed")
    agree: float = _p("sd between topics of the logit of c")
    odd: float = _p("spread of oddness: how far teams and runs go their own way")
    style: float = _p("spread of style between early precision and deep recall")
    hard_c: float = _p("hardness of relevant documents common to all")
    hard_f: float = _p("hardness common to a family")
    hard_t: float = _p("hardness of a team's own")
    families: tuple[float, ...] = _p("shares of the families among the teams", default=(0.5, 0.3, 0.2))
    famq: tuple[float, ...] = _p("quality of each family (one number: all the same)", default=(0.0,))
    documents: int = _p("documents in the collection; 0 means ten times C", default=0)
    star: tuple[str, ...] = _p("TEAM:quality:oddness, set for one team", default=())
    big: tuple[str, ...] = _p("TEAM:n, n more runs for one team", default=())
    leave_out: tuple[str, ...] = _p("teams or families whose runs are not pooled", default=())
    noise: float = _p(
        "judge's errors: relevant to 0 with this probability, nonrelevant to 1 with a tenth of it",
        default=0.0,
    )
    favour: tuple[str, ...] = _p("FAMILY:p, nonrelevant in the top 10 of its pooled runs judged 1 with p", default=())
    rate: float = _p("share of the judgments kept", default=1.0)
    quirk: tuple[str, ...] = _p("real-data quirks: " + ", ".join(QUIRKS), default=())

    def __post_init__(self) -> None:
        _validate(self)

    @property
    def collection(self) -> int:
        """Number of documents in the collection."""
        return self.documents or 10 * self.C


@dataclass(frozen=True, kw_only=True)
class LatentParameters(Changeable):
    """Everything that decides a collection of the latent mechanism, apart from the seed (see `latent`)."""

    topics: int = _p("number of topics", default=50)
    teams: int = _p("number of teams", default=20)
    runs: int = _p("number of runs, at least one per team", default=60)
    depth: int = _p("pool depth", default=50)
    pool_per_team: int | None = _p("pooled runs per team, or all", default=None)
    K: int = _p("length of a run's list", default=500)
    C: int = _p("candidate documents per topic: what any run can retrieve", default=4000)
    R: float = _p("mean number of relevant documents per topic", default=70.0)
    Rsd: float = _p("sd of log R between topics", default=0.9)
    Rmin: int = _p("fewest relevant documents of a topic", default=4)
    Rmax: float = _p("most relevant documents of a topic, as a share of C", default=0.1)
    grades: tuple[float, ...] = _p("shares of the grades 1, 2, ... among the relevant documents", default=(1.0,))
    rel: int = _p("smallest relevant grade in the summary's binary measures", default=1)
    features: int = _p("features of a document that every kind of run can see", default=10)
    new_features: int = _p("features that only runs of a new kind look at", default=4)
    new_truth: float = _p("share of relevance that lies in the new features", default=0.12)
    new_kind: tuple[float, ...] = _p(
        "share of a run's score in the new features, one number per family (or one for all)", default=(0.05,)
    )
    vague: float = _p("share of relevance that no feature tells", default=0.12)
    ease: float = _p("spread of that share between topics", default=1.0)
    turn: float = _p("how far a topic turns the weights that decide relevance", default=0.35)
    turn_team: float = _p("how far a topic turns the weights of a team", default=0.45)
    far_family: float = _p("how far families of teams lie apart", default=0.25)
    far: float = _p("how far teams lie from the truth", default=0.4)
    far_run: float = _p("how far runs of a team lie apart", default=0.15)
    own_team: float = _p("noise in the scores that a team's runs share", default=0.3)
    own_run: float = _p("noise in the scores of a run alone", default=0.25)
    odd: float = _p("spread between teams of their noise", default=0.35)
    weak: float = _p("share of runs that are weak", default=0.04)
    families: tuple[float, ...] = _p("shares of the families among the teams", default=(0.5, 0.3, 0.2))
    documents: int = _p("documents in the collection; 0 means ten times C", default=0)
    big: tuple[str, ...] = _p("TEAM:n, n more runs for one team", default=())
    leave_out: tuple[str, ...] = _p("teams or families whose runs are not pooled", default=())
    noise: float = _p(
        "judge's errors: relevant to 0 with this probability, nonrelevant to 1 with a tenth of it", default=0.0
    )
    rate: float = _p("share of the judgments kept", default=1.0)
    quirk: tuple[str, ...] = _p("real-data quirks: " + ", ".join(QUIRKS), default=())

    def __post_init__(self) -> None:
        _validate_latent(self)

    @property
    def collection(self) -> int:
        """Number of documents in the collection."""
        return self.documents or 10 * self.C


Kind = type[Parameters] | type[LatentParameters]
Sizes = Parameters | LatentParameters
"""What every mechanism knows: sizes, relevant documents, pool and judge."""


def _types(kind: type[Any]) -> dict[str, str]:
    return {f.name: str(f.type) for f in dataclasses.fields(kind)}


def parameter_names(kind: Kind = Parameters) -> tuple[str, ...]:
    """Names of all parameters."""
    return tuple(_types(kind))


def parameter_help(name: str, kind: Kind = Parameters) -> str:
    """One line on what a parameter does."""
    return str(next(f for f in dataclasses.fields(kind) if f.name == name).metadata["help"])


def parse(name: str, value: object, of: type[Any] = Parameters) -> Any:
    """A parameter's value in its own type, from a value or from text such as `0.5` or `.5,.3,.2`."""
    types = _types(of)
    if name not in types:
        near = difflib.get_close_matches(name, types, n=1)
        hint = f"; did you mean '{near[0]}'?" if near else "."
        raise UsageError(f"the simulator has no parameter '{name}'{hint}")
    kind = types[name]
    try:
        if kind.startswith("tuple"):
            parts = value.replace(",", " ").split() if isinstance(value, str) else value
            parts = list(parts) if isinstance(parts, (list, tuple)) else [parts]
            return tuple(_finite(v) if "float" in kind else str(v) for v in parts)
        if kind == "int | None" and (value is None or value == "all"):
            return None
        if isinstance(value, bool):
            raise ValueError
        number = _finite(value)
        if kind != "float" and number != int(number):
            raise ValueError
        return number if kind == "float" else int(number)
    except (TypeError, ValueError):
        what = {"float": "a number", "int": "a whole number", "int | None": "a whole number or 'all'"}
        wanted = what.get(kind, "a list such as 0.5,0.3,0.2" if "float" in kind else "a list of names")
        raise UsageError(f"parameter '{name}' needs {wanted}, not {value!r}.") from None


def _finite(value: object) -> float:
    number = float(str(value))
    if not math.isfinite(number):
        raise ValueError
    return number


_SPREADS = (
    *("Rsd", "q_team", "q_run", "b", "i_team", "i_run", "agree", "odd", "style"),
    *("hard_c", "hard_f", "hard_t"),
)


def need(ok: bool, sentence: str) -> None:
    """Refuse parameters that make no sense."""
    if not ok:
        raise UsageError(sentence)


def _validate(p: Parameters) -> None:
    """One sentence for the first parameter that makes no sense."""
    _validate_sizes(p, whole=("k",), spreads=("extra", *_SPREADS, "c", "f", "m"))
    need(
        p.c < 1 and p.c + p.f + p.m <= 1 + 1e-12,
        f"the variance shares c, f, m must add up to at most 1, c below 1; they are {p.c}, {p.f}, {p.m}.",
    )
    need(
        len(p.famq) in (1, len(p.families)),
        f"parameter 'famq' needs one number or one per family ({len(p.families)}), not {len(p.famq)}.",
    )


def _validate_latent(p: LatentParameters) -> None:
    """The same for the latent mechanism."""
    spreads = ("Rsd", "ease", "turn", "turn_team", "far_family", "far", "far_run", "own_team", "own_run", "odd")
    _validate_sizes(p, whole=("features", "new_features"), spreads=spreads, shares=("new_truth", "vague", "weak"))
    need(
        len(p.new_kind) in (1, len(p.families)) and all(0 <= share <= 1 for share in p.new_kind),
        f"parameter 'new_kind' needs shares between 0 and 1, one or one per family ({len(p.families)}), "
        f"not {p.new_kind}.",
    )


def _validate_sizes(
    p: Sizes, *, whole: tuple[str, ...], spreads: tuple[str, ...], shares: tuple[str, ...] = ()
) -> None:
    """What both mechanisms need; `whole` numbers from 1, `spreads` from 0, `shares` between 0 and 1 are their own."""
    for name in ("topics", "teams", "runs", "depth", "K", "C", "Rmin", "rel", *whole):
        need(getattr(p, name) >= 1, f"parameter '{name}' must be at least 1, not {getattr(p, name)}.")
    for name in ("documents", *spreads):
        need(getattr(p, name) >= 0, f"parameter '{name}' must not be negative, not {getattr(p, name)}.")
    for name in ("noise", "rate", "Rmax", *shares):
        value = getattr(p, name)
        need(0 <= value <= 1, f"parameter '{name}' must lie between 0 and 1, not {value}.")
    need(
        p.pool_per_team is None or p.pool_per_team >= 0,
        f"parameter 'pool_per_team' must be 'all' or at least 0, not {p.pool_per_team}.",
    )
    need(p.runs >= p.teams, f"{p.runs} runs are too few for {p.teams} teams: every team has at least one run.")
    need(p.K <= p.C, f"a run cannot list K = {p.K} documents when a topic has C = {p.C} candidates.")
    need(p.R > 0, f"parameter 'R' must be above 0, not {p.R}.")
    need(
        p.Rmin <= p.Rmax * p.C,
        f"Rmin = {p.Rmin} is above Rmax C = {p.Rmax * p.C:g}: no number of relevant documents fits.",
    )
    for name in ("grades", "families"):
        parts = getattr(p, name)
        need(
            len(parts) > 0 and min(parts) >= 0 and sum(parts) > 0,
            f"parameter '{name}' needs shares that are not negative and not all 0, not {parts}.",
        )
    need(p.rel <= len(p.grades), f"rel = {p.rel}, but the highest grade is {len(p.grades)}.")
    need(
        p.documents == 0 or p.documents >= p.C,
        f"a collection of {p.documents} documents cannot hold C = {p.C} candidates.",
    )
    for quirk in p.quirk:
        need(quirk in QUIRKS, f"unknown quirk '{quirk}'; there are {', '.join(QUIRKS)}.")


_ADHOC = Parameters(
    topics=50, teams=40, runs=120, depth=100, pool_per_team=2, K=1000, C=12000, R=175, Rsd=1.15, Rmin=5,
    Rmax=0.1, mu=4.5, q_team=0.45, q_run=0.16, b=0.95, beta=1.1, i_team=0.38, i_run=0.36, c=0.40, f=0.08,
    m=0.24, k=2, agree=0.30, odd=0.36, style=0.22, hard_c=1.5, hard_f=0.9, hard_t=0.6,
)  # fmt: skip
_PASSAGE = Parameters(
    topics=50, teams=18, runs=60, depth=10, pool_per_team=None, extra=125, q_extra=3, K=1000, C=10500,
    R=115, Rsd=1.15, Rmin=6, Rmax=0.2, grades=(0.54, 0.28, 0.18), rel=2, step=0.85, mu=6.4, q_team=1.6,
    q_run=0.85, b=2.3, beta=1.5, i_team=0.83, i_run=0.34, c=0.51, f=0.09, m=0.22, k=3, agree=0.10, odd=0.28,
    style=0.22, hard_c=2.3, hard_f=1.1, hard_t=0.1, families=(0.45, 0.55),
)  # fmt: skip
_ROUNDS = Parameters(
    topics=30, teams=55, runs=140, depth=7, pool_per_team=1, extra=58, q_extra=1, K=1000, C=30000, R=540,
    Rsd=0.9, Rmin=20, Rmax=0.2, grades=(0.47, 0.53), step=0.38, mu=4.8, q_team=0.45, q_run=0.2, b=0.6,
    beta=0.8, i_team=0.42, i_run=0.33, c=0.22, f=0.06, m=0.37, k=2, agree=0.45, odd=0.22, style=0.12,
    hard_c=3.3, hard_f=0.8, hard_t=1.8,
)  # fmt: skip
_TINY = _ADHOC.changed(
    {"topics": 10, "teams": 5, "runs": 12, "depth": 10, "K": 100, "C": 1200, "R": 30, "Rsd": 0.6}
    | {"grades": (0.65, 0.35), "step": 0.5}
)

PRESETS: dict[str, Parameters] = {"adhoc": _ADHOC, "passage": _PASSAGE, "rounds": _ROUNDS, "tiny": _TINY}
"""`adhoc`: deep pool; `passage`: shallow pool, active search; `rounds`: very incomplete; `tiny`: for tests."""

LATENT_PRESETS: dict[str, LatentParameters] = {
    "adhoc": LatentParameters(),
    "tiny": LatentParameters(topics=10, teams=5, runs=12, depth=10, K=100, C=800, R=30, grades=(0.65, 0.35)),
}
"""The same names for the latent mechanism."""

_HALF = tuple(f"team{j:02d}" for j in range(1, 11))
_SAME: dict[str, object] = {"q_team": 0, "q_run": 0, "odd": 0, "style": 0}
_STAR: dict[str, object] = {"star": "team01:1.2:1.5"}


@dataclass(frozen=True)
class Scenario:
    """A situation whose true answer is known in kind, and the parameters that make it."""

    title: str
    preset: str = "adhoc"
    changes: Mapping[str, object] = field(default_factory=dict)

    def parameters(self) -> Parameters:
        """The preset (`adhoc` cut to 60 runs of 20 teams, 3 pooled per team) with this scenario's changes."""
        base = {"runs": 60, "teams": 20, "pool_per_team": 3} if self.preset == "adhoc" else {}
        return PRESETS[self.preset].changed(base | dict(self.changes))


SCENARIOS: dict[str, Scenario] = {
    "1": Scenario("fair pool, depth 100"),
    "2": Scenario("fair pool, depth 10", changes={"depth": 10}),
    "3": Scenario("fair pool, depth 3", changes={"depth": 3}),
    "4": Scenario("one team out, depth 100", changes={"leave_out": "team01"}),
    "5": Scenario("one team out, depth 10", changes={"leave_out": "team01", "depth": 10}),
    "6": Scenario("half of the teams out, depth 100", changes={"leave_out": _HALF}),
    "7": Scenario("half of the teams out, depth 10", changes={"leave_out": _HALF, "depth": 10}),
    "8": Scenario("one family out, depth 100", changes={"leave_out": "family3"}),
    "9": Scenario("one family out, depth 10", changes={"leave_out": "family3", "depth": 10}),
    "10": Scenario("a strong new family out, depth 10",
                   changes={"leave_out": "family3", "depth": 10, "famq": (0, 0, 1)}),
    "11": Scenario("one team alone pooled, depth 100",
                   changes={"leave_out": tuple(f"team{j:02d}" for j in range(2, 21))}),
    "12": Scenario("a strong odd team, pooled", changes=_STAR),
    "13": Scenario("a strong odd team, left out, depth 10",
                   changes=_STAR | {"leave_out": "team01", "depth": 10}),
    "14": Scenario("10 topics", changes={"topics": 10}),
    "15": Scenario("25 topics", changes={"topics": 25}),
    "16": Scenario("50 topics", changes={"topics": 50}),
    "17": Scenario("3 teams, 9 runs", changes={"teams": 3, "runs": 9}),
    "18": Scenario("no true differences", changes=_SAME),
    "19": Scenario("no true differences, half of the teams out, depth 10",
                   changes=_SAME | {"leave_out": _HALF, "depth": 10}),
    "20": Scenario("one team has half of the runs, all pooled, depth 10",
                   changes={"runs": 31, "big": "team01:29", "pool_per_team": None, "depth": 10}),
    "21": Scenario("few relevant documents", changes={"R": 8}),
    "22": Scenario("many relevant documents", changes={"R": 800, "Rmax": 0.2}),
    "23": Scenario("noisy judge, 10 %", changes={"noise": 0.1}),
    "23b": Scenario("noisy judge, 30 %", changes={"noise": 0.3}),
    "24": Scenario("the judge favours one family", changes={"favour": "family1:0.3"}),
    "25": Scenario("10 % of the judgments kept", changes={"rate": 0.1}),
    "26": Scenario("passage, relevant from grade 2", preset="passage"),
    "26b": Scenario("passage, relevant from grade 1", preset="passage", changes={"rel": 1}),
    "27": Scenario("passage, one family out, no extra judgments", preset="passage",
                   changes={"leave_out": "family1", "extra": 0}),
    "28": Scenario("rounds", preset="rounds"),
}  # fmt: skip
"""The scenarios of the documentation by number (`23b` and `26b` are second variants)."""


def resolve_latent(preset: str | None, scenario: int | str | None, changes: Mapping[str, object]) -> LatentParameters:
    """The parameters of a preset of the latent mechanism, with the given changes on top."""
    if scenario is not None:
        raise UsageError("scenarios belong to the mechanism 'shared'; the mechanism 'latent' takes parameters alone.")
    base = LATENT_PRESETS.get(preset or "adhoc")
    if base is None:
        raise UsageError(f"the mechanism 'latent' has no preset '{preset}'; it has {' and '.join(LATENT_PRESETS)}.")
    return base.changed(changes)


def resolve(preset: str | None, scenario: int | str | None, changes: Mapping[str, object]) -> Parameters:
    """The parameters of a preset or a scenario, with the given changes on top."""
    if scenario is not None:
        known = SCENARIOS.get(str(scenario))
        if known is None:
            raise UsageError(f"there is no scenario {scenario}; there are 1 to 28, 23b and 26b.")
        if preset is not None and preset != known.preset:
            raise UsageError(f"scenario {scenario} is made from preset '{known.preset}', not '{preset}'.")
        return known.parameters().changed(changes)
    base = PRESETS.get(preset or "adhoc")
    if base is None:
        raise UsageError(f"there is no preset '{preset}'; there are {', '.join(PRESETS)}.")
    return base.changed(changes)
