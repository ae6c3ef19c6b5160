"""What most studies are asked alike: groups of options that a study names in its signature.

    def power(case: Case, scoring: Scoring, runs: Runs, testing: Testing, *, pairs: bool = False) -> Answer: ...

The fields of a group are options of the study, written flat (`uj.study("power", c, alpha=0.01)`, `--alpha 0.01`);
`title` heads them in the help. Values that mean nothing are refused before any work is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from unjudged.collection import Collection, Pool
from unjudged.collection.membership import membership
from unjudged.collection.pool import pool_of, read_pooled
from unjudged.errors import UsageError, check_seed
from unjudged.measures import Measure, measures_for
from unjudged.measures import measures as parse_measures
from unjudged.options import check, names
from unjudged.scoring import under_policy
from unjudged.studies.engine.significance import Test, correction_of

if TYPE_CHECKING:
    from unjudged.results import Step
    from unjudged.studies.engine.case import Case

TOPICS = ("judged", "common")
UNDEFINED = ("zero", "drop")


Holes = Literal["estimate", "bounds", "ignored"]
"""What becomes of holes where runs are compared: estimated with their uncertainty, any grade at all, or nonrelevant."""


@dataclass(frozen=True)
class Group:
    """Options that belong together."""

    title: ClassVar[str] = ""


@dataclass(frozen=True)
class Scoring(Group):
    """What is scored, and how unjudged documents, topics and undefined values count; as in `score`.

    Studies set runs against each other topic by topic, so that every run needs one value on every topic that counts:
    no bounds, no topics of a run's own, no undefined values.
    """

    title: ClassVar[str] = "scoring"

    measures: Any = "sakai2009"
    rel: int | None = None
    unjudged: str = "nonrelevant"
    topics: str = "judged"
    undefined: str = "zero"

    def __post_init__(self) -> None:
        if self.unjudged == "bounds":
            raise UsageError("a study needs one value per score, bounds are two; take nonrelevant or condensed")
        if self.topics == "run":
            raise UsageError("a study compares runs on the same topics, not each on its own; take judged or common")
        if self.undefined == "nan":
            raise UsageError("a study needs a value on every topic, and nan is not a value; take zero or drop")
        if self.topics not in TOPICS:
            raise UsageError(f"topics can be {' or '.join(TOPICS)}, not {self.topics!r}")
        if self.undefined not in UNDEFINED:
            raise UsageError(f"undefined values can be {' or '.join(UNDEFINED)}, not {self.undefined!r}")
        self.chosen()

    def chosen(self, collection: Collection | None = None) -> list[Measure]:
        """The measures, under the policy; for a collection, those of named sets with the gains of their paper."""
        if collection is None:
            return under_policy(parse_measures(self.measures, self.rel), self.unjudged)
        return under_policy(measures_for(collection, self.measures, self.rel), self.unjudged)

    @property
    def smallest(self) -> int:
        """The smallest relevant grade."""
        return 1 if self.rel is None else self.rel

    def settings(self) -> dict[str, Any]:
        """For provenance."""
        return {"unjudged": self.unjudged, "topics": self.topics, "undefined": self.undefined, "rel": self.smallest}


@dataclass(frozen=True)
class UsualScoring(Scoring):
    """The same for questions about runs, not measures: the measures most people look at."""

    measures: Any = ("AP", "nDCG@10", "P@10")


@dataclass(frozen=True)
class PairScoring(UsualScoring):
    """The same where two runs meet: holes are estimated, unless they are to count as nonrelevant, or to be left out.

    Scores themselves are computed with unjudged documents nonrelevant (or left out).
    """

    policies: ClassVar[tuple[str, ...]] = ("estimate", "nonrelevant", "condensed")

    unjudged: str = "estimate"

    def __post_init__(self) -> None:
        if self.unjudged not in self.policies:
            listed = f"{', '.join(self.policies[:-1])} or {self.policies[-1]}"
            raise UsageError(f"unjudged documents can be {listed}, not {self.unjudged!r}")
        self.single_values()

    def single_values(self) -> UsualScoring:
        """How the scores are computed."""
        policy = "condensed" if self.unjudged == "condensed" else "nonrelevant"
        return UsualScoring(self.measures, self.rel, policy, self.topics, self.undefined)

    @property
    def holes(self) -> Holes:
        """What becomes of holes in a comparison."""
        return {"estimate": "estimate", "bounds": "bounds"}.get(self.unjudged, "ignored")  # type: ignore[return-value]


@dataclass(frozen=True)
class _Chosen(Group):
    """Some teams alone, the best runs alone, where asked for; and the seed of everything random.

    Runs that are not looked at stay in the pool: `analyse` and `top` decide whose scores are compared, not who
    contributed to the judgments.
    """

    title: ClassVar[str] = "runs"

    top: float | None = None
    by: Any = None
    seed: int = 0
    analyse: Any = None

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.by is not None and self.top is None:
            raise UsageError("--by says how --top ranks the runs; give --top, too")

    @property
    def analysed(self) -> tuple[str, ...]:
        """The teams or runs asked for; empty for all."""
        if self.analyse is None:
            return ()
        return names(self.analyse) if isinstance(self.analyse, str) else tuple(map(str, self.analyse))


@dataclass(frozen=True)
class Runs(_Chosen):
    """Which runs are looked at: all of them, unless told otherwise."""

    one_per_team: bool = False


@dataclass(frozen=True)
class RunsOfTeams(_Chosen):
    """Which runs are looked at: one of each team, drawn by the seed, unless told otherwise."""

    all_runs: bool = False

    @property
    def one_per_team(self) -> bool:
        """Is one run of each team drawn?"""
        return not self.all_runs


@dataclass(frozen=True)
class Testing(Group):
    """How pairs of runs are tested: as in the papers on discriminative power, where p is the share of resamples."""

    title: ClassVar[str] = "significance"
    asl: ClassVar[bool] = True

    alpha: float = 0.05
    resamples: int | None = None
    test: str = "bootstrap"

    def __post_init__(self) -> None:
        self.unless_none(0)

    def unless_none(self, seed: int) -> Test | None:
        """The test; None for `none`, where a study can do without significance."""
        return None if self.test == "none" else self.of(seed)

    def of(self, seed: int) -> Test:
        """The test, in one thread: units run side by side already."""
        return Test(self.test, self.alpha, self.resamples, seed, 1, self.asl)


@dataclass(frozen=True)
class PairTesting(Testing):
    """How two runs are compared wherever the question is about runs: paired t tests, adjusted for all pairs (Holm).

    p values of random tests are (1 + b) / (1 + resamples). The bootstrap is not the default here: with a correction
    for many pairs it needs very many resamples before any difference can be significant.
    """

    asl: ClassVar[bool] = False

    test: str = "t"
    correction: str | None = None

    def __post_init__(self) -> None:
        self.adjustment(0)

    def adjustment(self, seed: int) -> str:
        """The correction for the number of pairs: the one asked for, else the usual one of the test."""
        return correction_of(self.correction, self.of(seed))


@dataclass(frozen=True)
class Pooling(Group):
    """How deep the pool was, and from which runs: names, a file of them, `infer` (from the judgments), or `all`."""

    title: ClassVar[str] = "pool"

    depth: int | None = None
    pooled: Any = "infer"
    tolerance: float | None = None

    def __post_init__(self) -> None:
        check("depth", self.depth)
        check("tolerance", self.tolerance)

    def of(self, collection: Collection) -> Pool:
        """The pool of a collection; Unanswerable where it was to be inferred and cannot be seen."""
        if self.pooled not in (None, "infer"):
            return pool_of(collection, self.depth, self.runs(collection), self.tolerance)
        try:
            inferred = None if self.pooled is None or collection.pool is not None else "infer"
            return pool_of(collection, self.depth, inferred, self.tolerance)
        except UsageError as problem:
            raise Unanswerable(str(problem).rstrip(".")) from None

    def runs(self, collection: Collection) -> Any:
        """What `pooled` says, as names: of every run for `all`, else those in a file or given in Python."""
        if self.pooled == "all":
            return collection.full.runs if collection.pool is None else collection.pool.runs
        return read_pooled(self.pooled) if isinstance(self.pooled, str) else self.pooled

    @property
    def flags(self) -> list[str]:
        """As options of the command line, for a next step."""
        return [*(["--depth", str(self.depth)] if self.depth else [])]


def pool_settings(pool: Pool) -> dict[str, Any]:
    """The pool as provenance tells it."""
    return {"depth": pool.depth, "runs": len(pool.runs), "inferred": list(pool.inferred)}


def tell_pool(case: Case, pool: Pool, so: str) -> None:
    """Notes: depth and runs of the pool, and how much of the judgments the runs at hand explain.

    `so` says what follows for the study where pooled runs are missing.
    """
    share = float(membership(case.collection, pool).found().mean())
    case.note(f"{pool}{pool.guessed}")
    if share < 0.995:
        case.note(
            f"these runs explain {100 * share:.1f}% of the judgments; pooled runs are missing, or judgments were added "
            f"in another way: {so}"
        )
    for note in pool.notes:
        case.note(note)


class Unanswerable(UsageError):
    """The data do not allow an answer, whatever the options: the study's verdict is `unknown`, and says why."""

    def __init__(self, sentence: str, next: Step | None = None) -> None:
        super().__init__(sentence)
        self.next: Step | None = next
