"""Named sets of measures."""

from __future__ import annotations

_RECALLS = tuple(f"IPrec@{i / 10}" for i in range(11))
_CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


def _cut(name: str) -> tuple[str, ...]:
    return tuple(f"{name}@{k}" for k in _CUTS)


OFFICIAL = (*("NumQ", "NumRet", "NumRel", "NumRelRet", "AP", "GMAP", "Rprec", "bpref", "RR"), *_RECALLS, *_cut("P"))

SET = ("SetP", "SetP(relative=True)", "SetR", "SetAP", "SetF")

ALL_TREC = (
    *OFFICIAL,
    *_cut("R"),
    *("infAP", "bpref(mean='geometric')"),
    *(f"Rprec(mult={m / 10})" for m in range(2, 21, 2)),
    *("Utility", "IPrecAvg", "binG", "G", "nDCG", "nDCG_rel", "RnDCG"),
    *_cut("nDCG"),
    *_cut("AP"),
    *_cut("relative_P"),
    *("Success@1", "Success@5", "Success@10"),
    *SET,
    *("NumNonrelJudgedRet", "RBP(p=0.9)", "RBP_residual(p=0.9)", "unj@5", "unj@10", "unj@20"),
)

_SAKAI2005_BINARY = tuple(
    f"{name}{rel}{cut}"
    for name, cut in (("AP", ""), ("Rprec", ""), ("P", "@10"), ("P", "@100"), ("P", "@1000"))
    for rel in ("", "(rel=2)")
)

_SAKAI2005_GRADED = (
    *("Q", "R_measure"),
    *(f"{name}@{k}" for name in ("nCG", "AnCG", "nDCG(dcg='jk')", "AnDCG") for k in (10, 100, 1000)),
)

_NDCG = "nDCG(dcg='jk')@1000"
_CONDENSED_NDCG = "nDCG'(dcg='jk')@1000"

NAMED: dict[str, tuple[str, ...]] = {
    "official": OFFICIAL,
    "all_trec": ALL_TREC,
    "set": SET,
    "sakai2005-binary": _SAKAI2005_BINARY,
    "sakai2005-graded": _SAKAI2005_GRADED,
    "sakai2005-one": ("O_measure", "RR", "Q", "AP"),
    "sakai2005-qa": (
        *("Q", "Q(gains={1: 1, 2: 1, 3: 1})", "Q(gains={1: 1, 2: 1.5, 3: 2})"),
        *("RR", "NQcorrect@1", "NQcorrect@5"),
    ),
    "sakai2007": (
        *("bpref_R", "bpref_N", "rpref_N", "rpref_relative2", "AP'", "Q'", _CONDENSED_NDCG),
        *("AP", "Q", _NDCG),
    ),
    "sakai2009": ("AP'", "Q'", _CONDENSED_NDCG, "RBP'", "bpref", "AP", "Q", _NDCG, "RBP"),
    "lipani2015": ("P@5", "P@10", "P@20", "P@30", "P@100"),
}
"""Set name -> spellings, with the parameters of the papers."""

ANSWERS = "sakai2005-qa"
"""The measures of question answering, where none are asked for."""

PAPERS = tuple(name for name in NAMED if name.startswith("sakai") and name != ANSWERS)
"""Sets of the papers that take the best runs by AP."""

PAPER_GAINS: dict[int, float] = {1: 1, 2: 3}
"""Sakai's gains for judgments of documents with the grades 0, 1, 2: TREC's two levels are B (gain 1) and S (gain 3) of
NTCIR's three (Sakai 2009, section 3). With other grades, the grade is the gain."""

WITH_PAPER_GAINS = tuple(name for name in NAMED if name.startswith("sakai"))
"""The sets whose graded measures take these gains where the user gives none. The gains then stand in the measure's
spelling, as in `Q(gains={1: 1, 2: 3})`: a measure without gains in its name has those of the collection."""
