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
from unjudged.studies.engine.groups import Pooling

MEASURES = ("AP", "nDCG@10", "P@10")
"""Measures of a report when none are asked for; the first one leads."""


@dataclass(frozen=True)
class Question:
    """A question, the study that answers it with these options, and how to read the answer.

    `otherwise` is another (study, options) for collections on which `fits` says no. `leading` questions look at one
    measure, the first that was asked for.
    """

    key: str
    text: str
    study: str
    how: str
    options: Mapping[str, Any] = field(default_factory=dict)
    fits: Callable[[Collection, Mapping[str, Any]], bool] | None = None
    otherwise: tuple[str, Mapping[str, Any]] = ("", {})
    leading: bool = False

    def asked_of(self, source: Any, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The study that answers the question for this collection, and its options."""
        first = next(iter(source.values()), None) if isinstance(source, Mapping) else source
        fitting = self.fits is None or not isinstance(first, Collection) or self.fits(first, options)
        study, fixed = (self.study, self.options) if fitting else self.otherwise
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
            "One column per topic, the topic with most relevant documents first; its height is the number of judged "
            "documents, its darker parts the relevant ones by grade. A topic with few relevant documents gives coarse "
            "scores: one document more or less moves them far. Relevant documents that no pooled run found are missing "
            "here, so the number of relevant documents is a lower bound.",
        ),
        Question(
            "winners",
            "Who wins, and how sure is that?",
            "winners",
            "A dot is a run's mean over the topics, the line its 95 % interval: where the mean may lie on other topics of "
            "the same kind. Intervals of two runs may overlap although the runs differ, because topics that are hard for "
            "one are hard for the other; colour and table therefore rest on the outcomes of paired comparisons with the "
            "best run. 'Cannot tell' does not mean that the runs are equal.",
            {"measures": MEASURES},
        ),
        Question(
            "never-judged",
            "How much was never judged?",
            "holes",
            "One row per run, best run first; a column is a range of ranks. The darker a field, the more of the documents "
            "there were never judged. Scores count such documents as nonrelevant, so dark fields on the left mean a score "
            "that may be too low. Dark fields on the right are normal: pools stop at a depth. Where a row ends early, the "
            "lists of the run do.",
            {"measures": MEASURES},
        ),
        Question(
            "score-range",
            "How far could scores move?",
            "score-range",
            "The dot is the score as it is (unjudged documents count as nonrelevant). The bar runs from the lowest to the "
            "highest score that some judgments of the unjudged documents could give. Both ends are extremes: all unknown "
            "documents would have to be as bad, or as good, as they can be for that one run. A short bar means that no "
            "new judgment can change much.",
            {"measures": MEASURES},
        ),
        Question(
            "fair-to-outsiders",
            "Is the pool fair to outsiders?",
            "leave-team-out",
            "Each line is a run: on the left its rank when its team helped to make the pool, on the right its rank when "
            "the documents only its team found count as unjudged (Zobel 1998). Falling lines are losses that a newcomer "
            "would have. Leaving out one team is a mild test, because similar teams stay in the pool: a new kind of run "
            "will lose more.",
            {"measures": MEASURES, "all_runs": True},
            _with_teams,
            ("leave-run-out", {"measures": MEASURES}),
        ),
        Question(
            "fewer-judgments",
            "What if there were fewer judgments?",
            "depth",
            "Judgments are taken away as a shallower pool would have missed them (at random where no pool can be seen); "
            "every line shows how well the order of the runs then agrees with the order under all judgments (Kendall's "
            "tau). A line that stays high belongs to a measure that needs few judgments.",
            {"measures": MEASURES, "test": "none", "levels": (0.5, 0.25, 0.1, 0.05)},
            _with_pool,
            ("reduction", {"measures": MEASURES, "test": "none", "levels": (50, 25, 10, 5)}),
        ),
        Question(
            "enough-topics",
            "Are there enough topics?",
            "reliability",
            "How well the order of the runs on so many topics would agree with their order on other topics of the same "
            "kind (Urbano, Marrero and Martín 2013). The vertical line is the number of topics here, the horizontal one "
            "the agreement that counts as the same order.",
            {"measures": MEASURES},
        ),
        Question(
            "which-measure",
            "Which measure?",
            "power",
            "The bar is the share of all pairs of runs that a measure tells apart with these topics (discriminative power, "
            "Sakai 2006). A measure that tells more pairs apart needs fewer topics. It says nothing about whether the "
            "measure is the right one for your users.",
            {"measures": MEASURES},
        ),
        Question(
            "another-judge",
            "Would another judge change it?",
            "judges",
            "Each line is a run: on the left its rank under these judgments, on the right its rank under the other "
            "judge's, on the documents both have judged (of several judges, the one who changes most).",
            {"measures": MEASURES},
        ),
        Question(
            "after-correction",
            "What changes after correction?",
            "correct",
            "A run that was not pooled has unjudged documents at the top, which count as nonrelevant. Correction (Lipani, "
            "Lupu and Hanbury 2015) estimates what they cost. The open circle is the score as it is, the filled one the "
            "corrected score. Where every run was pooled, each team is left out in turn and corrected as if it were new; "
            "the cross is then the score it had in the pool. A corrected score is an estimate with an error of its own.",
        ),
        Question(
            "safe-comparisons",
            "Which comparisons are safe?",
            "compare",
            "A field is a pair of runs: better, worse, or cannot tell, with the reason: too few topics to tell the runs "
            "apart, or so many unjudged documents at the top that judging them could turn the order.",
            {"measures": MEASURES[:1]},
            leading=True,
        ),
    )
}
"""By key, in the reader's order; what to do next (`next`) follows from their verdicts."""
