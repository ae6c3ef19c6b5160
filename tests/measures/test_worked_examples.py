"""Worked examples: values computed by an independent reference program (checked there against trec_eval 10
and NTCIREVAL), copied from the project's worked_examples.json. Rounded to six decimals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import reference
from reference import collection_of, value

import unjudged as uj
from unjudged.measures import ALIASES, REGISTRY

TOLERANCE = 6e-7  # six decimals are given


@dataclass(frozen=True)
class Example:
    """One topic: grades in rank order (None = unjudged), judged documents per grade, R, N, H, rel."""

    ranked: list[int | None]
    counts: dict[int, int]
    relevant: int
    nonrelevant: int
    highest: int | None = None
    rel: int = 1


EXAMPLES: dict[str, Example] = {
    "M1": Example(  # graded list with unjudged docs, R=9 <= N=12 (bpref == bpref_R)
        [2, None, 0, 3, None, 1, 0, 0, 2, None],
        {0: 12, 1: 4, 2: 3, 3: 2},
        relevant=9,
        nonrelevant=12,
        highest=3,
    ),
    "M2": Example(  # the NTCIREVAL sample topic; R=10 > N=1 (bpref == bpref_N)
        [0, 3, None, 2],
        {0: 1, 1: 4, 2: 3, 3: 3},
        relevant=10,
        nonrelevant=1,
        highest=3,
    ),
    "M3": Example(  # the example of trec_eval file bpref_bug: new bpref 0.5, buggy old_bpref 0
        [0, 1, 1, 1, 1],
        {0: 4, 1: 6},
        relevant=6,
        nonrelevant=4,
        highest=1,
    ),
    "M4": Example(  # ideal list followed by a nonrelevant and an unjudged doc
        [3, 3, 2, 1, 0, None],
        {0: 6, 1: 1, 2: 1, 3: 2},
        relevant=4,
        nonrelevant=6,
        highest=3,
    ),
    "M5": Example(  # no unjudged docs: every condensed measure equals its original
        [0, 1, 3, 0, 2, 0],
        {0: 8, 1: 2, 2: 2, 3: 1},
        relevant=5,
        nonrelevant=8,
        highest=3,
    ),
    "M6": Example(  # relative variants are 0 although the list is ideal
        [1, 0, None],
        {0: 5, 1: 1},
        relevant=1,
        nonrelevant=5,
        highest=3,
    ),
    "M7": Example(  # relevant doc at condensed rank 2: relative variants 0
        [0, 2, None],
        {0: 5, 1: 1, 2: 1},
        relevant=2,
        nonrelevant=5,
        highest=3,
    ),
    "M8": Example(  # empty run: every score 0, RBP residual 1
        [],
        {0: 5, 1: 2},
        relevant=2,
        nonrelevant=5,
        highest=3,
    ),
    "M9": Example(  # no relevant retrieved
        [0, None, 0],
        {0: 5, 1: 2, 3: 1},
        relevant=3,
        nonrelevant=5,
        highest=3,
    ),
    "M10": Example(  # run (3 docs) shorter than the cut-offs
        [1, None, 0],
        {0: 15, 1: 3, 2: 1},
        relevant=4,
        nonrelevant=15,
        highest=3,
    ),
    "M11": Example(  # N=0: bpref and bpref_N count 1 for every retrieved relevant document
        [None, 2, None, 1],
        {0: 0, 1: 3, 2: 1},
        relevant=4,
        nonrelevant=0,
        highest=3,
    ),
    "M12": Example(  # relaxed: levels 1,2,3 relevant
        [1, 0, 3, 1, None, 2],
        {0: 9, 1: 3, 2: 2, 3: 1},
        relevant=6,
        nonrelevant=9,
        highest=3,
    ),
    "M12_rigid": Example(  # rigid: only levels 2, 3 relevant, level 1 becomes judged nonrelevant
        [1, 0, 3, 1, None, 2],
        {0: 9, 1: 3, 2: 2, 3: 1},
        relevant=3,
        nonrelevant=12,
        rel=2,
    ),
    "M13": Example(  # R=0: undefined, 0 by default
        [0, None, 0],
        {0: 4},
        relevant=0,
        nonrelevant=4,
    ),
}

COLUMNS = ("M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8", "M9", "M10", "M11", "M12")
# fmt: off
EXPECTED: dict[str, tuple[float, ...]] = {  # one value for each of COLUMNS
    "P@5": (0.4, 0.4, 0.8, 0.8, 0.6, 0.2, 0.2, 0.0, 0.0, 0.2, 0.4, 0.6),
    "anti_P@5": (0.2, 0.2, 0.2, 0.2, 0.4, 0.2, 0.2, 0.0, 0.4, 0.2, 0.0, 0.2),
    "unj@5": (0.4, 0.2, 0.0, 0.0, 0.0, 0.2, 0.2, 0.0, 0.2, 0.2, 0.4, 0.2),
    "k@5": (0.4, 0.4, 0.0, 0.0, 0.0, 0.6, 0.6, 1.0, 0.6, 0.6, 0.6, 0.2),
    "P'@5": (0.6, 0.4, 0.8, 0.8, 0.6, 0.2, 0.2, 0.0, 0.0, 0.2, 0.4, 0.8),
    "P@10": (0.4, 0.2, 0.4, 0.4, 0.3, 0.1, 0.1, 0.0, 0.0, 0.1, 0.2, 0.4),
    "anti_P@10": (0.3, 0.1, 0.1, 0.1, 0.3, 0.1, 0.1, 0.0, 0.2, 0.1, 0.0, 0.1),
    "unj@10": (0.3, 0.1, 0.0, 0.1, 0.0, 0.1, 0.1, 0.0, 0.1, 0.1, 0.2, 0.1),
    "k@10": (0.3, 0.7, 0.5, 0.5, 0.4, 0.8, 0.8, 1.0, 0.8, 0.8, 0.8, 0.5),
    "P'@10": (0.4, 0.2, 0.4, 0.4, 0.3, 0.1, 0.1, 0.0, 0.0, 0.1, 0.2, 0.4),
    "R": (0.444444, 0.2, 0.666667, 1.0, 0.6, 1.0, 0.5, 0.0, 0.0, 0.25, 0.5, 0.666667),
    "R@5": (0.222222, 0.2, 0.666667, 1.0, 0.6, 1.0, 0.5, 0.0, 0.0, 0.25, 0.5, 0.5),
    "Rprec": (0.444444, 0.2, 0.666667, 1.0, 0.6, 1.0, 0.5, 0.0, 0.0, 0.25, 0.5, 0.666667),
    "RR": (1.0, 0.5, 0.5, 1.0, 0.5, 1.0, 0.5, 0.0, 0.0, 1.0, 0.5, 1.0),
    "AP": (0.271605, 0.1, 0.452778, 1.0, 0.353333, 1.0, 0.25, 0.0, 0.0, 0.25, 0.25, 0.513889),
    "AP(norm='min')@5": (0.3, 0.2, 0.543333, 1.0, 0.353333, 1.0, 0.25, 0.0, 0.0, 0.25, 0.25, 0.483333),
    "AP@5": (0.166667, 0.1, 0.452778, 1.0, 0.353333, 1.0, 0.25, 0.0, 0.0, 0.25, 0.25, 0.402778),
    "Q": (0.244854, 0.096667, 0.452778, 1.0, 0.305714, 1.0, 0.3, 0.0, 0.0, 0.166667, 0.288889, 0.409028),
    "Q(beta=0.0)": (0.271605, 0.1, 0.452778, 1.0, 0.353333, 1.0, 0.25, 0.0, 0.0, 0.25, 0.25, 0.513889),
    "Q(beta=10.0)":
        (0.237522, 0.095614, 0.452778, 1.0, 0.290008, 1.0, 0.328125, 0.0, 0.0, 0.130952, 0.312211, 0.376541),
    "Q@5": (0.25, 0.193333, 0.543333, 1.0, 0.305714, 1.0, 0.3, 0.0, 0.0, 0.166667, 0.288889, 0.353333),
    "R_measure": (0.48, 0.241379, 0.666667, 1.0, 0.642857, 1.0, 0.6, 0.0, 0.0, 0.222222, 0.555556, 0.6875),
    "O_measure": (0.75, 0.5, 0.5, 1.0, 0.285714, 1.0, 0.6, 0.0, 0.0, 0.666667, 0.6, 0.5),
    "P_measure": (0.5, 0.5, 0.5, 1.0, 0.6, 1.0, 0.6, 0.0, 0.0, 0.666667, 0.6, 0.6),
    "P_plus": (0.625, 0.5, 0.5, 1.0, 0.442857, 1.0, 0.6, 0.0, 0.0, 0.666667, 0.6, 0.55),
    "nCG@5": (0.416667, 0.384615, 0.8, 1.0, 0.666667, 1.0, 0.666667, 0.0, 0.0, 0.2, 0.6, 0.555556),
    "AnCG@5":
        (0.433333, 0.334499, 0.543333, 1.0, 0.387619, 1.0, 0.533333, 0.0, 0.0, 0.296667, 0.473333, 0.457063),
    "nDCG(dcg='jk')@5":
        (0.383637, 0.410082, 0.719228, 1.0, 0.52195, 1.0, 0.666667, 0.0, 0.0, 0.242076, 0.605191, 0.47171),
    "nDCG(dcg='jk', base=3.0)@5":
        (0.39976, 0.383673, 0.776541, 1.0, 0.633057, 1.0, 0.666667, 0.0, 0.0, 0.20866, 0.58268, 0.565479),
    "AnDCG@5":
        (0.416536, 0.347996, 0.503948, 1.0, 0.322346, 1.0, 0.533333, 0.0, 0.0, 0.318579, 0.485574, 0.393753),
    "nDCG@5":
        (0.437314, 0.343074, 0.66084, 1.0, 0.477784, 1.0, 0.479625, 0.0, 0.0, 0.280772, 0.475217, 0.482068),
    "nCG@10": (0.5, 0.263158, 0.666667, 1.0, 0.666667, 1.0, 0.666667, 0.0, 0.0, 0.2, 0.6, 0.7),
    "AnCG@10": (0.445678, 0.315338, 0.605, 1.0, 0.527143, 1.0, 0.6, 0.0, 0.0, 0.248333, 0.536667, 0.578532),
    "nDCG(dcg='jk')@10":
        (0.429648, 0.338012, 0.648761, 1.0, 0.52195, 1.0, 0.666667, 0.0, 0.0, 0.242076, 0.605191, 0.549714),
    "nDCG(dcg='jk', base=3.0)@10":
        (0.455343, 0.300723, 0.682965, 1.0, 0.633057, 1.0, 0.666667, 0.0, 0.0, 0.20866, 0.58268, 0.66226),
    "AnDCG@10":
        (0.412572, 0.352887, 0.576355, 1.0, 0.422148, 1.0, 0.6, 0.0, 0.0, 0.280328, 0.545382, 0.471734),
    "nDCG@10":
        (0.481136, 0.27599, 0.589608, 1.0, 0.477784, 1.0, 0.479625, 0.0, 0.0, 0.280772, 0.475217, 0.566084),
    "nDCG(dcg='jk')@1000":
        (0.429648, 0.338012, 0.648761, 1.0, 0.52195, 1.0, 0.666667, 0.0, 0.0, 0.242076, 0.605191, 0.549714),
    "nDCG":
        (0.481136, 0.27599, 0.589608, 1.0, 0.477784, 1.0, 0.479625, 0.0, 0.0, 0.280772, 0.475217, 0.566084),
    "ERR(stop='ntcir')":
        (0.604167, 0.40625, 0.377083, 0.85612, 0.33125, 0.25, 0.25, 0.0, 0.0, 0.25, 0.28125, 0.460938),
    "nERR(stop='ntcir')@5":
        (0.6907, 0.471228, 0.547655, 1.0, 0.394541, 1.0, 0.444444, 0.0, 0.0, 0.408946, 0.460064, 0.53505),
    "ERR":
        (0.516195, 0.449219, 0.139632, 0.931946, 0.325911, 0.125, 0.1875, 0.0, 0.0, 0.125, 0.207031, 0.389608),
    "AP'": (0.332011, 0.116667, 0.452778, 1.0, 0.353333, 1.0, 0.25, 0.0, 0.0, 0.25, 0.5, 0.536111),
    "Q'": (0.288961, 0.108333, 0.452778, 1.0, 0.305714, 1.0, 0.3, 0.0, 0.0, 0.166667, 0.5, 0.425397),
    "nDCG'(dcg='jk')@1000":
        (0.485513, 0.36014, 0.648761, 1.0, 0.52195, 1.0, 0.666667, 0.0, 0.0, 0.242076, 0.726229, 0.561278),
    "RR'": (1.0, 0.5, 0.5, 1.0, 0.5, 1.0, 0.5, 0.0, 0.0, 1.0, 1.0, 1.0),
    "Rprec'": (0.444444, 0.2, 0.666667, 1.0, 0.6, 1.0, 0.5, 0.0, 0.0, 0.25, 0.5, 0.666667),
    "nDCG'@10":
        (0.520422, 0.289883, 0.589608, 1.0, 0.477784, 1.0, 0.479625, 0.0, 0.0, 0.280772, 0.738692, 0.575608),
    "bpref": (0.382716, 0.0, 0.5, 1.0, 0.44, 1.0, 0.25, 0.0, 0.0, 0.25, 0.5, 0.583333),
    "bpref_R": (0.382716, 0.18, 0.555556, 1.0, 0.44, 1.0, 0.25, 0.0, 0.0, 0.25, 0.5, 0.583333),
    "bpref_N": (0.398148, 0.0, 0.5, 1.0, 0.5, 1.0, 0.4, 0.0, 0.0, 0.25, 0.5, 0.611111),
    "old_bpref": (0.259259, 0.0, 0.0, 1.0, 0.333333, 1.0, 0.0, 0.0, 0.0, 0.25, 0.5, 0.166667),
    "bpref_10": (0.398148, 0.0, 0.5, 1.0, 0.5, 1.0, 0.4, 0.0, 0.0, 0.25, 0.5, 0.611111),
    "bpref_relative": (0.185185, 0.05, 0.319444, 0.75, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25, 0.319444),
    "bpref_relative2":
        (0.332011, 0.116667, 0.452778, 1.0, 0.353333, 1.0, 0.25, 0.0, 0.0, 0.25, 0.5, 0.536111),
    "rpref_N": (0.452128, 0.206767, 0.5, 1.0, 0.544444, 1.0, 0.555556, 0.0, 0.0, 0.2, 0.6, 0.614286),
    "rpref_relative":
        (0.15625, 0.052632, 0.319444, 0.666667, 0.138889, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.216667),
    "rpref_relative2":
        (0.338542, 0.149123, 0.452778, 1.0, 0.314815, 1.0, 0.333333, 0.0, 0.0, 0.2, 0.6, 0.428333),
    "RBP":
        (0.111212, 0.076079, 0.176219, 0.141873, 0.088109, 0.016667, 0.031667, 0.0, 0.0, 0.016667, 0.045956, 0.101874),
    "RBP_residual":
        (0.718475, 0.859631, 0.773781, 0.773781, 0.735092, 0.9025, 0.9025, 1.0, 0.904875, 0.904875, 0.909631, 0.775817),
    "RBP'":
        (0.117251, 0.077583, 0.176219, 0.141873, 0.088109, 0.016667, 0.031667, 0.0, 0.0, 0.016667, 0.049167, 0.103231),
    "RBP(p=0.8)":
        (0.279948, 0.228267, 0.47232, 0.479467, 0.235947, 0.066667, 0.106667, 0.0, 0.0, 0.066667, 0.1408, 0.272491),
    "RBP_residual(p=0.8)":
        (0.376138, 0.5376, 0.32768, 0.32768, 0.262144, 0.64, 0.64, 1.0, 0.672, 0.672, 0.7376, 0.344064),
}
# fmt: on

RIGID: dict[str, float] = {  # M12_rigid: binary measures with rel=2
    "P@5": 0.2,
    "anti_P@5": 0.6,
    "AP": 0.222222,
    "AP'": 0.244444,
    "RR": 0.333333,
    "Rprec": 0.333333,
    "bpref": 0.111111,
    "bpref_N": 0.527778,
    "R": 0.666667,
}
NOTHING_RELEVANT: dict[str, float] = {  # M13
    "P@5": 0.0,
    "anti_P@5": 0.4,
    "unj@5": 0.2,
    "k@5": 0.6,
    "AP": 0.0,
    "Q": 0.0,
    "nDCG(dcg='jk')@1000": 0.0,
    "bpref": 0.0,
    "RBP": 0.0,
}
NEGATIVE: dict[str, dict[str, float]] = {  # NG1
    "unjudged": {"NumRel": 1, "AP": 0.2, "AP'": 0.5, "bpref": 0.0, "infAP": 0.200006, "unj@5": 0.6},
    "nonrelevant": {"NumRel": 1, "AP": 0.2, "AP'": 0.25, "bpref": 0.0, "unj@5": 0.2},
}
# fmt: off
CANONICAL = {
    "P", "R", "AP", "GMAP", "RR", "Rprec", "Success", "F", "IPrec", "nDCG", "DCG", "nCG", "AnCG",
    "AnDCG", "Q", "R_measure", "O_measure", "P_measure", "P_plus", "RBP", "ERR", "nERR", "bpref",
    "bpref_R", "bpref_N", "old_bpref", "bpref_10", "bpref_relative", "bpref_relative2", "rpref_N",
    "rpref_relative", "rpref_relative2", "infAP", "xinfAP", "anti_P", "k", "unj", "Judged", "Compat",
    "GAP", "NQcorrect", "BPM", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11", "INST", "INSQ", "SetP",
    "SetR", "SetAP", "SetF", "NumQ", "NumRet", "NumRel", "NumRelRet",
}
# fmt: on
"""The names of DESIGN 5."""


def name_of(spelling: str) -> str:
    return re.split(r"['(@]", spelling)[0]


def test_every_name_is_a_measure() -> None:
    names = {name_of(s) for s in (*EXPECTED, *RIGID, *NOTHING_RELEVANT, *NEGATIVE["unjudged"])} | CANONICAL
    unknown = {name for name in names if name not in REGISTRY and name not in ALIASES}
    assert not unknown


def test_the_table_is_complete() -> None:
    assert len(EXPECTED) == 63
    assert {len(values) for values in EXPECTED.values()} == {len(COLUMNS)} == {12}


@pytest.mark.parametrize("example", [*EXAMPLES])
def test_relevant_and_nonrelevant_are_counted_in_the_judgments(example: str) -> None:
    e = EXAMPLES[example]
    hits = collection_of(e.ranked, e.counts).hits.relevant(e.rel)
    assert (hits.R[0], hits.N[0]) == (e.relevant, e.nonrelevant)


@pytest.mark.parametrize("example", COLUMNS)
@pytest.mark.parametrize("spelling", [*EXPECTED])
def test_measure(spelling: str, example: str) -> None:
    e = EXAMPLES[example]
    expected = EXPECTED[spelling][COLUMNS.index(example)]
    # H and the highest grade of ERR belong to the collection: another topic holds a document of that grade.
    # The table's column `ERR(exp, gmax=3)` takes 3 also for M3, whose H is 1.
    top = 3 if spelling == "ERR" else e.highest
    assert value(collection_of(e.ranked, e.counts, top_grade=top), spelling) == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("spelling", ["RBP", "ERR", "ERR(stop='ntcir')"])
def test_the_highest_grade_is_that_of_the_collection_not_of_the_topic(spelling: str) -> None:
    e = EXAMPLES["M6"]
    of_topic = value(collection_of(e.ranked, e.counts), spelling)
    of_collection = value(collection_of(e.ranked, e.counts, top_grade=3), spelling)
    by_hand = {"RBP": (0.05, 0.05 / 3), "ERR": (1 / 2, 1 / 8), "ERR(stop='ntcir')": (1 / 2, 1 / 4)}[spelling]
    assert (of_topic, of_collection) == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("how", ["measure", "score"])
@pytest.mark.parametrize("spelling", [*RIGID])
def test_rigid_relevance_makes_low_grades_judged_nonrelevant(spelling: str, how: str) -> None:
    e = EXAMPLES["M12_rigid"]
    collection = collection_of(e.ranked, e.counts)
    wanted = uj.parse(spelling)[0]
    got = value(collection, wanted(rel=2)) if how == "measure" else value(collection, spelling, rel=2)
    assert got == pytest.approx(RIGID[spelling], abs=TOLERANCE)


@pytest.mark.parametrize("spelling", [*NOTHING_RELEVANT])
def test_nothing_relevant(spelling: str) -> None:
    e = EXAMPLES["M13"]
    assert value(collection_of(e.ranked, e.counts), spelling) == pytest.approx(
        NOTHING_RELEVANT[spelling], abs=TOLERANCE
    )


UNDEFINED_WITHOUT_RELEVANT = (  # METHODS 0.4
    *("AP", "Q", "nCG@10", "nDCG", "Rprec", "R_measure", "O_measure", "P_measure", "P_plus", "R", "infAP"),
    *("bpref", "bpref_R", "bpref_N", "rpref_N", "rpref_relative2"),
)


@pytest.mark.parametrize("spelling", UNDEFINED_WITHOUT_RELEVANT)
def test_undefined_without_relevant_documents_can_stay_nan_or_drop_the_topic(spelling: str) -> None:
    e = EXAMPLES["M13"]
    collection = collection_of(e.ranked, e.counts, top_grade=1)
    kept = uj.score(collection, spelling, undefined="nan")
    assert str(kept.values[0, 0, 0]) == "nan" and kept.values[0, 1, 0] == pytest.approx(1.0)
    dropped = uj.score(collection, spelling, undefined="drop")
    assert dropped.mean_values()[0, 0] == pytest.approx(1.0)
    assert uj.score(collection, spelling).mean_values()[0, 0] == pytest.approx(0.5)


@pytest.mark.parametrize(("policy", "spelling"), [(p, s) for p, table in NEGATIVE.items() for s in table])
def test_negative_grades(policy: str, spelling: str) -> None:
    qrels = {"t": {"a": 1, "b": -1, "c": -2, "d": 0}}
    run = {"t": {"b": 5.0, "c": 4.0, "z": 3.0, "d": 2.0, "a": 1.0}}
    collection = uj.load(qrels, {"run": run}, negative=policy)
    hits = collection.hits.judged().relevant(1)
    assert (hits.R[0], hits.N[0]) == {"unjudged": (1, 1), "nonrelevant": (1, 3)}[policy]
    assert value(collection, spelling) == pytest.approx(NEGATIVE[policy][spelling], abs=TOLERANCE)


def test_inferred_ap() -> None:
    x = None  # not pooled
    sample = collection_of([-1, 1, x, 0, -1, 1, 0, x, 1], {1: 4})
    assert value(sample, "infAP") == pytest.approx(0.423611, abs=TOLERANCE)
    complete = collection_of([1, 0, 1, x, 1], {1: 3})
    assert value(complete, "infAP") == pytest.approx(0.755555, abs=TOLERANCE)
    assert value(complete, "AP") == pytest.approx(0.755556, abs=TOLERANCE)


def test_extended_inferred_ap(tmp_path: Path) -> None:
    strata = {"a": (1, 1), "b": (1, 0), "c": (1, 1), "d": (2, -1), "e": (2, 1), "f": (2, 0), "g": (2, -1)}
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"t {stratum} {doc} {grade}\n" for doc, (stratum, grade) in strata.items()))
    run = {"t": {doc: -float(i) for i, doc in enumerate("adxcebg")}}
    assert value(uj.load(str(qrels), {"run": run}), "xinfAP") == pytest.approx(0.729163, abs=TOLERANCE)


def test_geometric_mean_has_a_floor() -> None:
    # one topic each with AP 1/2 (one of two relevant documents, at rank 1), 1/5 (at rank 5) and 0
    qrels = {"a": {"d1": 1, "d2": 1}, "b": {"d5": 1}, "c": {"d9": 1}}
    run = {"a": {"d1": 1.0}, "b": {f"d{i}": -float(i) for i in range(1, 6)}, "c": {"d1": 1.0}}
    scores = uj.score(uj.load(qrels, {"run": run}), ["AP", "GMAP", "AP(mean='geometric')", "gm_map"])
    assert scores.values[0, :, 0] == pytest.approx([0.5, 0.2, 0.0], abs=1e-15)
    assert [str(m) for m in scores.measures] == ["AP", "GMAP"]
    assert scores.mean_values()[0] == pytest.approx([0.233333, 0.01], abs=TOLERANCE)


def test_builders_refuse_impossible_counts() -> None:
    with pytest.raises(AssertionError, match="grade 1"):
        reference.one_topic([1, 1], {1: 1})
