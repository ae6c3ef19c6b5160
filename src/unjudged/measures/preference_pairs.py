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
    behind: dict[int, list[int]] = field(default_factory=dict)
    """For a group (by number), what trec_eval finds in its memory behind the places of that group; empty: nothing."""

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


class Memory:
    """What trec_eval's `prefs_avgjg_Rnonrel` reads where a group has fewer documents of its lowest level than it takes.

    It reads on behind the places of the group: into those of the next group, of an earlier topic, and then into the
    table of retrieved documents, which lies next in memory (with glibc: a word of padding where the number of places
    is even, a length, then address, score and place of each judged document in order of names). Addresses, lengths and
    positive scores are larger than any place: they count as documents below all others. Topics must come in
    trec_eval's order.
    """

    LARGE = 2**62

    def __init__(self) -> None:
        self._places: list[int] = []

    def behind(self, groups: Sequence[Group], lines: int, found: Sequence[str]) -> dict[int, list[int]]:
        """For each group with one subgroup, what follows its places; `found`: the judged documents in rank order."""
        if lines > len(self._places):
            self._places = [self.LARGE] * (len(self._places) + lines)
        ends, end = {}, 0
        for number, group in enumerate(groups):
            places = [place for _, docs in group.classes for place in docs]
            self._places[end : end + len(places)] = places
            end += len(places)
            if places:
                ends[number] = end
        table = [self.LARGE] * (1 + (len(self._places) + 1) % 2)
        for place in sorted(range(len(found)), key=lambda i: in_bytes(found[i])):
            table += [self.LARGE, self.LARGE, place]
        return {number: [*self._places[end:], *table] for number, end in ends.items()}


def pairs_of(ranked: Sequence[str], levels: Sequence[Level], memory: Memory | None = None) -> Pairs:
    """The pairs of a topic, for a list of documents, best first."""
    judged = {said.doc for said in levels}
    found = [doc for doc in ranked if doc in judged]
    missed = sorted(judged.difference(found), key=in_bytes)
    place = {doc: i for i, doc in enumerate([*found, *missed])}
    out = Pairs(len(found))
    for _, of_group in itertools.groupby(levels, key=lambda said: said.group):
        out.groups.append(_group(list(of_group), place))
    if memory is not None:
        out.behind = memory.behind(out.groups, len(levels), found)
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
            if before is not None and 0 in (before, said.level) and max(before, said.level) > 0:
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
    for number, g in enumerate(p.groups):
        ret = kind == "ret"
        relevant = [i for i, level in g.level.items() if level > 0 and (not ret or i < p.retrieved)]
        others = [i for i, level in g.level.items() if level <= 0 and (not ret or i < p.retrieved)]
        if not g.classes:  # with subgroups, negative levels are no nonrelevant documents
            others = [i for i in others if g.level[i] == 0]
        many, spare = len(relevant), len(relevant) - len(others)
        if spare >= 0:
            found = sum(i < p.retrieved for i in relevant)
            all_relevant = sum(level > 0 for level in g.level.values())
            fulfilled = p.ful(g.pairs, not ret) + found * spare
            possible = p.poss(g.pairs, kind) + all_relevant * spare
        elif g.classes:
            fulfilled, possible = _with_first(p, g, many, ret, p.behind.get(number, []))
        else:
            limit = sum(level > 0 for level in g.level.values())
            dropped = set([i for i, level in sorted(g.level.items()) if level == 0][limit:])
            kept = [pair for pair in g.pairs if not dropped.intersection(pair)]
            fulfilled, possible = p.ful(kept, not ret), p.poss(kept, kind)
        if not possible:
            return 0.0  # trec_eval: 0/0 in one group leaves the topic without a value
        total += fulfilled / possible
    return total / len(p.groups)


def _with_first(p: Pairs, g: Group, many: int, ret: bool, behind: list[int]) -> tuple[int, int]:
    """Pairs honoured and possible with the first `many` documents of the lowest level.

    trec_eval's own way of counting: the lowest level is compared with its first documents, too.
    """
    first = [*g.classes[-1][1], *behind][:many]  # with negative levels there can be fewer: trec_eval reads on
    if ret:
        first = list(itertools.takewhile(lambda i: i < p.retrieved, first))
    *upper, (_, lowest) = [(level, [i for i in docs if not ret or i < p.retrieved]) for level, docs in g.classes]
    pairs = [(a, b) for (_, above), (_, below) in itertools.combinations(upper, 2) for a in above for b in below]
    pairs += [(a, b) for _, above in [*upper, (0.0, lowest)] for a in above for b in first]
    return sum(a < b and a < p.retrieved for a, b in pairs), len(pairs)


def _count(p: Pairs, implied: bool) -> float:
    return float(sum(p.ful(g.pairs, implied) for g in p.groups))


MEASURES: dict[str, Callable[[Pairs], float]] = {
    "prefs_num_prefs_poss": lambda p: float(sum(len(g.pairs) for g in p.groups)),
    "prefs_num_prefs_ful": lambda p: _count(p, True),
    "prefs_num_prefs_ful_ret": lambda p: _count(p, False),
    "prefs_simp": lambda p: _simp(p, ""),
    "prefs_pair": lambda p: _pair(p, ""),
    "prefs_avgjg": lambda p: _avgjg(p, ""),
    "prefs_avgjg_Rnonrel": lambda p: _rnonrel(p, ""),
    "prefs_simp_ret": lambda p: _simp(p, "ret"),
    "prefs_pair_ret": lambda p: _pair(p, "ret"),
    "prefs_avgjg_ret": lambda p: _avgjg(p, "ret"),
    "prefs_avgjg_Rnonrel_ret": lambda p: _rnonrel(p, "ret"),
    "prefs_simp_imp": lambda p: _simp(p, "imp"),
    "prefs_pair_imp": lambda p: _pair(p, "imp"),
    "prefs_avgjg_imp": lambda p: _avgjg(p, "imp"),
}
"""trec_eval's name -> the value in a topic, in trec_eval's order; the registered measures say what they are."""
