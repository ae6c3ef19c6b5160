"""How the ids of a run none of whose documents is judged may be related to the judged ones."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from unjudged.io.check.findings import shown


def kinship(sample: Sequence[bytes], known: set[bytes]) -> str:
    """The likeliest relation, in words; `sample` are ids of the run, `known` all judged ones."""
    here, there = shown(sample[0], 40), shown(min(known), 40)
    enough = max(1, len(sample) // 10)
    if len(known.intersection(sample)) >= enough:
        return "but they are for other topics: are the topics mixed up?"
    folded = {doc.lower() for doc in known}
    if sum(doc.lower() in folded for doc in sample) >= enough:
        return f"ids differ in upper and lower case (here e.g. {here}, there e.g. {there})"
    ids = sorted(known)
    for doc in sample:
        place = bisect_left(ids, doc)
        if not doc.isdigit() and ids[min(place, len(ids) - 1)].startswith(doc):
            return f"ids look cut (here e.g. {shown(doc, 40)}, there {shown(ids[place], 40)})"
        if not doc.isdigit() and place and doc.startswith(ids[place - 1]):
            return f"ids are longer than judged ones (here e.g. {shown(doc, 40)}, there {shown(ids[place - 1], 40)})"
    return f"ids look like another collection's (here e.g. {here}, there e.g. {there})"
