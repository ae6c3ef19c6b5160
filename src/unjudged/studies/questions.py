"""The questions of the report in the reader's order, the study that answers each, and how to read its chart.

A question's key works wherever a study's name does: `unjudged study enough-topics`, `uj.study("enough-topics", c)`;
it stands for the study with the options fixed here, so that the answer is the report's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from unjudged.collection import Collection
from unjudged.errors import UsageError
from unjudged.scoring import Scores
from unjudged.studies.engine.groups import Pooling

MEASURES = ("AP", "nDCG@10", "P@10")
"""Measures of a report when none are asked for; the first one leads."""


@dataclass(frozen=True)
class Question:
    """A question, the study that answers it with these options, and how to read the answer.

    `otherwise` is another (study, options) for collections on which `fits` says no. `leading` questions look at one
    measure, the first that was asked for. `short` is the question in three words, `beside` a second study (with these
    options) whose table stands beside the answer; `compared` where it compares measures and needs two or more.
    """

    key: str
    text: str
    study: str
    how: str
    options: Mapping[str, Any] = field(default_factory=dict)
    fits: Callable[[Collection, Mapping[str, Any]], bool] | None = None
    otherwise: tuple[str, Mapping[str, Any]] = ("", {})
    leading: bool = False
    beside: str = ""
    beside_options: Mapping[str, Any] = field(default_factory=dict)
    compared: bool = False
    short: str = ""

    def asked_of(self, source: Any, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The study that answers the question for this collection, and its options."""
        first = next(iter(source.values()), None) if isinstance(source, Mapping) else source
        fitting = self.fits is None or not isinstance(first, Collection) or self.fits(first, options)
        study, fixed = (self.study, self.options) if fitting else self.otherwise
        if isinstance(first, Scores):  # have measures of their own
            fixed = {name: value for name, value in fixed.items() if name != "measures"}
        return study, {**fixed, **options}


def _with_teams(collection: Collection, options: Mapping[str, Any]) -> bool:
    """Are the teams of all runs known?"""
    return bool(collection.teams)


def _with_pool(collection: Collection, options: Mapping[str, Any]) -> bool:
    """Can a pool be seen that is deeper than 1 and made from two runs or more?"""
    try:
        pool = Pooling(options.get("depth"), options.get("pooled", "infer")).of(collection)
    except UsageError:
        return False
    return pool.depth > 1 and len(pool.runs) > 1


QUESTIONS: Mapping[str, Question] = {
    question.key: question
    for question in (
        Question(
            "contents",
            "What is in it?",
            "contents",
            "Relevant documents that no pooled run found are missing: the count of relevant ones is a lower bound.",
        ),
        Question(
            "winners",
            "Who wins, and how sure is that?",
            "winners",
            "Overlapping intervals do not mean equal runs; colours rest on paired comparisons with the best run. The "
            "ranks a run could have hold for all runs at once, for scores as they are.",
            {"measures": MEASURES},
            beside="ranks",
            short="Who wins?",
        ),
        Question(
            "never-judged",
            "How much was never judged?",
            "holes",
            "Unjudged documents count as nonrelevant, so high numbers on the left mean a score that may be too "
            "low. High ones on the right are normal.",
            {"measures": MEASURES},
            short="Never judged?",
        ),
        Question(
            "score-range",
            "How far could scores move?",
            "score-range",
            "Both ends of a bar are extremes: all unjudged documents as bad or as good as can be for one run. The dark part is likely.",
            {"measures": MEASURES},
            short="Could scores move?",
        ),
        Question(
            "fair-to-outsiders",
            "Is the pool fair to outsiders?",
            "leave-team-out",
            "Documents that only one team found count as unjudged (Zobel 1998). Similar teams stay in the pool: a "
            "new kind of run loses more.",
            {"measures": MEASURES, "all_runs": True},
            _with_teams,
            ("leave-run-out", {"measures": MEASURES}),
            short="Is the pool fair?",
        ),
        Question(
            "fewer-judgments",
            "What if there were fewer judgments?",
            "depth",
            "Judgments are taken away as a shallower pool would miss them, or at random where no pool can be "
            "seen. The verdict completes them instead.",
            {"measures": MEASURES, "test": "none", "levels": (0.7, 0.5, 0.3, 0.2, 0.1)},
            _with_pool,
            ("reduction", {"measures": MEASURES, "test": "none", "levels": (70, 50, 30, 20, 10)}),
            short="Fewer judgments?",
        ),
        Question(
            "enough-topics",
            "Are there enough topics?",
            "reliability",
            "Halves of the topics are compared and carried forward to more topics. 95 of 100 pairs (tau 0.90) "
            "count as the same order (Voorhees 1998).",
            {"measures": MEASURES},
            short="Enough topics?",
        ),
        Question(
            "which-measure",
            "Which measure?",
            "power",
            "Pairs with a significant difference (discriminative power, Sakai 2006). It does not say whether a "
            "measure suits your users.",
            {"measures": MEASURES},
            beside="agreement",
            compared=True,
        ),
        Question(
            "another-judge",
            "Would another judge change it?",
            "judges",
            "Random errors lower all scores alike; a judge who favours one kind of run changes the order.",
            {"measures": MEASURES},
            short="Another judge?",
        ),
        Question(
            "after-correction",
            "What changes after correction?",
            "correct",
            "A run outside the pool has unjudged documents at the top; correction estimates what they cost "
            "(Lipani, Lupu and Hanbury 2015).",
            short="After correction?",
        ),
        Question(
            "safe-comparisons",
            "Which comparisons are safe?",
            "compare",
            "A pair is open where topics are too few, or where unjudged documents at the top could turn the order.",
            {"measures": MEASURES[:1]},
            leading=True,
            short="Safe comparisons?",
        ),
    )
}
"""By key, in the reader's order; what to do next (`next`) follows from their verdicts."""

SLICES = Question(
    "slices",
    "Does it hold in every kind of topic?",
    "slices",
    "Runs are compared within each slice of the topics; what is said holds for all slices together. Slices of few topics "
    "are too small to say.",
    {"measures": MEASURES[:1]},
    leading=True,
    beside="slices",
    beside_options={"means": True},
    short="In every slice?",
)
"""Asked where somebody says which slice each topic is in."""
