"""Named sets of measures."""

from __future__ import annotations

_RECALLS = tuple(f"IPrec@{i / 10}" for i in range(11))
_CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


def _cut(name: str) -> tuple[str, ...]:
    return tuple(f"{name}@{k}" for k in _CUTS)


OFFICIAL = (
    *("NumQ", "NumRet", "NumRel", "NumRelRet", "AP", "GMAP", "Rprec", "bpref", "RR"),
    *_RECALLS,
    *_cut("P"),
)

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

NAMED: dict[str, tuple[str, ...]] = {"official": OFFICIAL, "all_trec": ALL_TREC, "set": SET}
