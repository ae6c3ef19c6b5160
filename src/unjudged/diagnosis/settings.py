"""What tools do differently: each setting with what it means, and whose habit it is.

Habits were looked up in the tools' documentation and tried (docs/doctor.md); a setting without one is a common slip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

GRADED = frozenset({"nDCG", "DCG"})
COUNTING = frozenset({"AP", "P", "R", "RR", "Success", "F", "Rprec", "bpref"})
"""Measures that ask whether a document is relevant."""


@dataclass(frozen=True)
class Setting:
    """One way in which a number may have been made otherwise, spelled `name=value`.

    `oddness` orders settings that explain a number equally well: 0 for what tools do by default, 2 for slips.
    `measures` are those it can change; empty: all.
    """

    name: str
    value: str
    means: str
    habit: str = ""
    oddness: int = 1
    measures: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


READING = (
    Setting("order", "file", "lines taken in the order of the file", "NTCIREVAL, lists of documents without scores"),
    Setting("order", "rank", "sorted by the rank column instead of the score", "MS MARCO's own script"),
    Setting("order", "distance", "lowest score first", "distances of vector stores taken for scores", 2),
    Setting("ties", "float32", "scores rounded to single precision", "trec_eval 9 and pytrec_eval", 0),
    Setting("ties", "file", "equal scores stay in the order of the file", "ranx, sorting by score in Python", 0),
    Setting("ties", "ascending", "equal scores by document id, ascending", "trectools", 0),
    Setting("duplicates", "counted", "a document listed twice counts twice", "scripts that count lines", 1),
    Setting(
        "duplicates", "last", "of a document listed twice the last line counts", "ir_measures, any dict in Python", 0
    ),
    Setting("ids", "number", "ids read as numbers (007 is 7)", "pandas without dtype=str", 0),
)
UNJUDGED = (
    Setting(
        "unjudged", "condensed", "unjudged documents dropped, then cut", "trec_eval -J, judged_only of ir_measures", 0
    ),
    Setting("unjudged", "cut-first", "cut, then unjudged documents dropped", "", 1),
)
GAINS = (
    Setting("gains", "exp", "gain 2^grade - 1 instead of the grade", "ranx ndcg_burges, LightGBM, XGBoost", 0, GRADED),
    Setting("gains", "binary", "every relevant document gains 1", "RAG and RecSys scripts", 0, GRADED),
    Setting("discount", "jk", "log2(rank) from rank 2 on", "Järvelin and Kekäläinen 2002, NTCIREVAL", 0, GRADED),
    Setting("discount", "log2(r+2)", "ranks counted one too far", "a slip with ranks that begin at 1", 2, GRADED),
    Setting("discount", "ln", "natural logarithm", "np.log in scripts", 1, frozenset({"DCG"})),
    Setting("discount", "log10", "decimal logarithm", "", 2, frozenset({"DCG"})),
    Setting("ideal", "retrieved", "ideal list of the retrieved documents alone",
            "scikit-learn's ndcg_score on a result list", 0, frozenset({"nDCG"})),
    Setting("ideal", "top", "ideal list of the documents above the cut-off alone", "many hand-written functions", 0,
            frozenset({"nDCG"})),
)  # fmt: skip
DENOMINATORS = (
    Setting("denominator", "min(k,R)", "divided by the smaller of cut-off and relevant documents",
            "NTCIREVAL's AP, BEIR's recall_cap, Kaggle's MAP@k", 0, frozenset({"AP", "R"})),
    Setting("denominator", "found", "divided by the relevant documents retrieved",
            "torchmetrics, scikit-learn on a result list", 1, frozenset({"AP"})),
    Setting("denominator", "k", "divided by the cut-off", "", 2, frozenset({"AP", "R"})),
    Setting("denominator", "retrieved", "divided by the documents retrieved, if fewer than the cut-off", "", 1,
            frozenset({"P"})),
)  # fmt: skip
AVERAGES = (Setting("average", "geometric", "geometric mean over the topics", "gm_map of trec_eval", 1),)
PERCENT = Setting("scale", "percent", "told in percent", "tables of papers and leaderboards", 0)
TOPICS = (
    Setting("topics", "run", "topics that the run lacks do not count", "trec_eval without -c, pytrec_eval", 0),
    Setting("topics", "all", "topics of the run that nobody judged count 0", "", 1),
    Setting("topics", "own", "the run's topics count, judged or not, and no others", "scripts that loop over a run", 1),
    Setting("undefined", "drop", "topics without a relevant document do not count", "many scripts", 0),
    Setting("average", "micro", "all topics added up before dividing", "", 1, frozenset({"nDCG", "R", "AP", "P"})),
    *AVERAGES,
)  # fmt: skip


def truncations(depths: Sequence[int]) -> list[Setting]:
    """Lists cut at these depths before anything was computed."""
    common = {1000: "trec_eval -M 1000, run files of TREC", 10: "vector stores that return ten"}
    return [
        Setting("truncate", str(depth), f"only the first {depth} documents of each list", common.get(depth, ""))
        for depth in depths
    ]


def thresholds(grades: Sequence[int]) -> list[Setting]:
    """Another smallest relevant grade."""
    return [
        Setting("rel", str(grade), f"documents count as relevant from grade {grade} on",
                "TREC Deep Learning's binary measures" if grade == 2 else "", 0 if grade == 2 else 1, COUNTING | GRADED)
        for grade in grades
    ]  # fmt: skip


def cutoffs(depths: Sequence[int | None]) -> list[Setting]:
    """Another cut-off than the measure's name says."""
    return [
        Setting("cutoff", "none" if k is None else str(k), "no cut-off" if k is None else f"cut at {k}", "", 2)
        for k in depths
    ]
