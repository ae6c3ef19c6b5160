"""Measures as Sakai's papers write them: `Q-measure`, `Relaxed-AveP`, `PDoc10`, `NQcorrect5`, `Q2:1.5:1`.

Relaxed counts every relevant grade, rigid only grades from 2 on. Spellings that could be taken for something else
(`nDCG10`) are not read here.
"""

from __future__ import annotations

import re

_SAME = {
    "Q-measure": "Q",
    "R-measure": "R_measure",
    "O-measure": "O_measure",
    "P-measure": "P_measure",
    "P-plus": "P_plus",
    "AveP": "AP",
    "R-Prec": "Rprec",
    "bpref-R": "bpref_R",
    "bpref-N": "bpref_N",
    "rpref-N": "rpref_N",
}
_SPELLING = re.compile(
    r"(?:(?P<grades>Relaxed|Rigid)-)?(?:(?P<name>[A-Za-z]+-?[A-Za-z]*?)|PDoc[_ ]?(?P<l>\d+))(?P<prime>['’′]?)"
)
_CORRECT = re.compile(r"NQcorrect(?P<k>\d+)")
_GAINS = re.compile(r"Q(?P<s>[\d.]+):(?P<a>[\d.]+):(?P<b>[\d.]+)")


def from_paper(text: str) -> str | None:
    """Our spelling of a paper's name, None where it is none."""
    if found := _CORRECT.fullmatch(text):
        return f"NQcorrect@{found['k']}"
    if found := _GAINS.fullmatch(text):
        return f"Q(gains={{1: {found['b']}, 2: {found['a']}, 3: {found['s']}}})"
    found = _SPELLING.fullmatch(text)
    if not found or not (found["l"] or found["name"] in _SAME):
        return None
    rigid = "(rel=2)" if found["grades"] == "Rigid" else ""
    prime = "'" if found["prime"] else ""
    return f"P{prime}{rigid}@{found['l']}" if found["l"] else f"{_SAME[found['name']]}{prime}{rigid}"
