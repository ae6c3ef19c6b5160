"""trec_eval's preference measures: pairs of documents of which assessors prefer one, and which pairs a list honours.

A pair is *retrieved* if both documents are in the list, *implied* if one is: a retrieved document counts as placed
above one that is not. Assessors (judgment groups) may contradict each other. Inside a group preferences are
transitive across its subgroups. The values are formed as in trec_eval, whose documentation
(`trec_eval -h -m all_prefs`) is their definition.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from unjudged.errors import UsageError
from unjudged.io.judgment_groups import Level, in_bytes


@dataclass
class Group:
    """The pairs of one assessor in one topic, by the places of their documents (retrieved ones first, by rank)."""

    classes: list[tuple[float, list[int]]]
    """One subgroup: levels, highest first, and their documents in order. Empty where there are several subgroups."""
    level: dict[int, float]
    pairs: list[tuple[int, int]]
    """(preferred, other)."""


@dataclass
class Pairs:
    """What a list makes of all pairs of a topic."""

    retrieved: int
    """Judged documents in the list: places below are retrieved."""
    groups: list[Group] = field(default_factory=list)

    def ful(self, pairs: Sequence[tuple[int, int]], implied: bool = True) -> int:
        """Pairs honoured: the preferred document retrieved, and above the other one."""
        end = self.retrieved
        return sum(a < b and a < end and (implied or b < end) for a, b in pairs)

    def poss(self, pairs: Sequence[tuple[int, int]], kind: str) -> int:
        """Pairs that could be honoured: all, those with a retrieved document (imp), with two of them (ret)."""
        end = self.retrieved
        if kind == "ret":
            return sum(a < end and b < end for a, b in pairs)
        return sum(kind == "" or a < end or b < end for a, b in pairs)


def pairs_of(ranked: Sequence[str], levels: Sequence[Level]) -> Pairs:
    """The pairs of a topic, for a list of documents, best first."""
    judged = {said.doc for said in levels}
    found = [doc for doc in ranked if doc in judged]
    missed = sorted(judged.difference(found), key=in_bytes)
    place = {doc: i for i, doc in enumerate([*found, *missed])}
    out = Pairs(len(found))
    for _, of_group in itertools.groupby(levels, key=lambda said: said.group):
        out.groups.append(_group(list(of_group), place))
    return out


def _group(levels: list[Level], place: dict[str, int]) -> Group:
    subgroups: dict[str, list[Level]] = {}
    for said in levels:
        subgroups.setdefault(said.subgroup, []).append(said)
    by_level = [_classes(said, place) for said in subgroups.values()]
    level: dict[int, float] = {}
    for name in sorted(subgroups, key=in_bytes):
        for said in subgroups[name]:
            before = level.get(place[said.doc])
            if before is not None and (before == 0) != (said.level == 0):
                raise UsageError(f"prefs: document {said.doc} has level 0 and another one in group {said.group}")
            level[place[said.doc]] = said.level
    direct = {
        (a, b)
        for classes in by_level
        for (_, above), (_, below) in itertools.combinations(classes, 2)
        for a in above
        for b in below
    }
    if len(by_level) == 1:
        return Group(by_level[0], level, sorted(direct))
    pairs = _transitive(direct)
    for a, b in pairs:
        if (b, a) in pairs:
            names = {i: doc for doc, i in place.items()}
            raise UsageError(f"prefs: group {levels[0].group} prefers {names[a]} to {names[b]} and the other way round")
    return Group([], level, sorted(pairs))


def _classes(levels: list[Level], place: dict[str, int]) -> list[tuple[float, list[int]]]:
    found: dict[float, list[int]] = {}
    for said in levels:
        found.setdefault(said.level, []).append(place[said.doc])
    return [(level, sorted(found[level])) for level in sorted(found, reverse=True)]


def _transitive(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    below: dict[int, set[int]] = {}
    for a, b in pairs:
        below.setdefault(a, set()).add(b)
    out: set[tuple[int, int]] = set()
    for a in below:
        reached: set[int] = set()
        waiting = list(below[a])
        while waiting:
            b = waiting.pop()
            if b not in reached:
                reached.add(b)
                waiting += below.get(b, ())
        out |= {(a, b) for b in reached if b != a}
        if a in reached:  # a circle: both ways, so that it is noticed
            out |= {(b, a) for b in reached if b != a}
    return out


def _simp(p: Pairs, kind: str) -> float:
    """Pairs honoured over pairs possible."""
    possible = sum(p.poss(g.pairs, kind) for g in p.groups)
    return sum(p.ful(g.pairs, kind != "ret") for g in p.groups) / possible if possible else 0.0


def _avgjg(p: Pairs, kind: str) -> float:
    """The same inside each group, averaged over groups."""
    total = 0.0
    for g in p.groups:
        if possible := p.poss(g.pairs, kind):
            total += p.ful(g.pairs, kind != "ret") / possible
    return total / len(p.groups)


def _pair(p: Pairs, kind: str) -> float:
    """For each two documents the share of groups with a preference that the list agrees with, averaged over pairs."""
    votes: dict[tuple[int, int], int] = {}
    for pair in itertools.chain.from_iterable(g.pairs for g in p.groups):
        votes[pair] = votes.get(pair, 0) + 1
    end, total, many = p.retrieved, 0.0, 0
    documents = {(min(pair), max(pair)) for pair in votes}
    for a, b in sorted(documents, key=lambda pair: (pair[1] >= end, pair)):  # trec_eval adds retrieved pairs first
        if (kind == "ret" and b >= end) or (kind == "imp" and a >= end):
            continue
        many += 1
        if a < end:
            yes, no = votes.get((a, b), 0), votes.get((b, a), 0)
            total += yes / (yes + no)
    return total / many if many else 0.0


def _rnonrel(p: Pairs, kind: str) -> float:
    """As avgjg, as if each group had as many nonrelevant documents as relevant ones (akin to bpref)."""
    total = 0.0
    for g in p.groups:
        ret = kind == "ret"
        relevant = [i for i, level in g.level.items() if level > 0 and (not ret or i < p.retrieved)]
        others = sorted(i for i, level in g.level.items() if level <= 0 and (not ret or i < p.retrieved))
        many, spare = len(relevant), len(relevant) - len(others)
        if spare >= 0:
            found = sum(i < p.retrieved for i in relevant)
            all_relevant = sum(level > 0 for level in g.level.values())
            fulfilled = p.ful(g.pairs, not ret) + found * spare
            possible = p.poss(g.pairs, kind) + all_relevant * spare
        elif g.classes:
            fulfilled, possible = _with_first(p, g, many, ret)
        else:
            limit = sum(level > 0 for level in g.level.values())
            dropped = set([i for i, level in sorted(g.level.items()) if level == 0][limit:])
            kept = [pair for pair in g.pairs if not dropped.intersection(pair)]
            fulfilled, possible = p.ful(kept, not ret), p.poss(kept, kind)
        if not possible:
            return 0.0  # trec_eval: 0/0 in one group leaves the topic without a value
        total += fulfilled / possible
    return total / len(p.groups)


def _with_first(p: Pairs, g: Group, many: int, ret: bool) -> tuple[int, int]:
    """Pairs honoured and possible with the first `many` documents of the lowest level.

    trec_eval's own way of counting: the lowest level is compared with its first documents, too.
    """
    *upper, (_, lowest) = [(level, [i for i in docs if not ret or i < p.retrieved]) for level, docs in g.classes]
    first = lowest[:many]  # with negative levels there can be fewer: trec_eval reads on into other memory
    pairs = [(a, b) for (_, above), (_, below) in itertools.combinations(upper, 2) for a in above for b in below]
    pairs += [(a, b) for _, above in [*upper, (0.0, lowest)] for a in above for b in first]
    return sum(a < b and a < p.retrieved for a, b in pairs), len(pairs)


def _count(p: Pairs, implied: bool) -> float:
    return float(sum(p.ful(g.pairs, implied) for g in p.groups))


MEASURES: dict[str, tuple[Callable[[Pairs], float], str]] = {
    "prefs_num_prefs_poss": (
        lambda p: float(sum(len(g.pairs) for g in p.groups)),
        "number of preferences, summed over topics",
    ),
    "prefs_num_prefs_ful": (lambda p: _count(p, True), "preferences honoured, summed over topics"),
    "prefs_num_prefs_ful_ret": (lambda p: _count(p, False), "those with both documents retrieved, summed over topics"),
    "prefs_simp": (lambda p: _simp(p, ""), "preferences honoured over all of them"),
    "prefs_pair": (lambda p: _pair(p, ""), "share of the groups that agree, averaged over pairs of documents"),
    "prefs_avgjg": (lambda p: _avgjg(p, ""), "prefs_simp inside each group, averaged over groups"),
    "prefs_avgjg_Rnonrel": (lambda p: _rnonrel(p, ""), "prefs_avgjg with as many nonrelevant documents as relevant"),
    "prefs_simp_ret": (lambda p: _simp(p, "ret"), "prefs_simp over pairs with both documents retrieved"),
    "prefs_pair_ret": (lambda p: _pair(p, "ret"), "prefs_pair over pairs with both documents retrieved"),
    "prefs_avgjg_ret": (lambda p: _avgjg(p, "ret"), "prefs_avgjg over pairs with both documents retrieved"),
    "prefs_avgjg_Rnonrel_ret": (lambda p: _rnonrel(p, "ret"), "prefs_avgjg_Rnonrel over retrieved documents"),
    "prefs_simp_imp": (lambda p: _simp(p, "imp"), "prefs_simp over pairs with a retrieved document"),
    "prefs_pair_imp": (lambda p: _pair(p, "imp"), "prefs_pair over pairs with a retrieved document"),
    "prefs_avgjg_imp": (lambda p: _avgjg(p, "imp"), "prefs_avgjg over pairs with a retrieved document"),
}
"""trec_eval's name -> the value in a topic, and what it is; in trec_eval's order."""
