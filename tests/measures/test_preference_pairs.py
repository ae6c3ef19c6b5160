"""Preferences against a count of pairs one by one, and the examples of trec_eval's own description."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.io.judgment_groups import Level, read_groups
from unjudged.measures import trec_names
from unjudged.measures.preference_pairs import MEASURES, pairs_of


def value(name: str, ranked: list[str], levels: list[Level]) -> float:
    return MEASURES[name](pairs_of(ranked, levels))


def said(group: str, subgroup: str, **levels: float) -> list[Level]:
    return [Level(group, subgroup, doc, level) for doc, level in levels.items()]


def test_six_documents_of_four_levels_make_13_preferences() -> None:
    levels = said("1", "1", a=3, b=2, c=0, d=6, e=0, f=2)
    assert value("prefs_num_prefs_poss", [], levels) == 13
    assert value("prefs_num_prefs_ful", [], levels) == 0
    assert value("prefs_simp", list("dabfce"), levels) == 1
    assert value("prefs_num_prefs_ful_ret", list("ecfbad"), levels) == 0


def test_subgroups_are_transitive_and_say_nothing_about_the_rest() -> None:
    levels = said("1", "1", a=3, b=2, c=1) + said("1", "2", b=5, d=4)
    assert value("prefs_num_prefs_poss", [], levels) == 5  # a>b a>c b>c b>d a>d, nothing between c and d
    assert value("prefs_num_prefs_ful", list("abcd"), levels) == value("prefs_num_prefs_ful", list("abdc"), levels) == 5


def test_groups_may_contradict_each_other() -> None:
    levels = said("1", "1", a=2, b=1) + said("2", "1", a=2, b=1) + said("3", "1", a=1, b=2)
    assert value("prefs_pair", ["a", "b"], levels) == 2 / 3
    assert value("prefs_simp", ["b", "a"], levels) == 1 / 3
    assert value("prefs_pair_ret", ["a"], levels) == 0 and value("prefs_pair_imp", ["a"], levels) == 2 / 3


def test_a_circle_inside_a_group_is_refused() -> None:
    with pytest.raises(UsageError, match="the other way round"):
        pairs_of([], said("1", "1", a=2, b=1) + said("1", "2", b=2, c=1) + said("1", "3", c=2, a=1))
    with pytest.raises(UsageError, match="level 0 and another"):
        pairs_of([], said("1", "1", a=2, b=0) + said("1", "2", b=1))


graded = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1)


@given(st.lists(graded, min_size=1, max_size=3), st.permutations("abcdefghxy"), st.integers(0, 10))
def test_every_pair_counted_one_by_one(groups: list[dict[str, int]], order: list[str], depth: int) -> None:
    ranked = order[:depth]
    levels = [Level(str(g), "0", doc, level) for g, docs in enumerate(groups) for doc, level in docs.items()]
    shares: dict[str, list[float]] = {"": [], "_ret": [], "_imp": []}
    counts = {kind: [0, 0] for kind in shares}
    for docs in groups:
        mine = {kind: [0, 0] for kind in shares}
        for better, worse in itertools.permutations(docs, 2):
            if docs[better] <= docs[worse]:
                continue
            here = [doc in ranked for doc in (better, worse)]
            right = here[0] and (not here[1] or ranked.index(better) < ranked.index(worse))
            for kind, counted in (("", True), ("_ret", all(here)), ("_imp", any(here))):
                mine[kind][0] += right and counted
                mine[kind][1] += counted
        for kind, (good, possible) in mine.items():
            shares[kind].append(good / possible if possible else 0.0)
            counts[kind][0] += good
            counts[kind][1] += possible
    assert value("prefs_num_prefs_poss", ranked, levels) == counts[""][1]
    assert value("prefs_num_prefs_ful", ranked, levels) == counts[""][0]
    assert value("prefs_num_prefs_ful_ret", ranked, levels) == counts["_ret"][0]
    for kind, (good, possible) in counts.items():
        assert value(f"prefs_simp{kind}", ranked, levels) == (good / possible if possible else 0.0)
        assert value(f"prefs_avgjg{kind}", ranked, levels) == pytest.approx(sum(shares[kind]) / len(groups))
        if len(groups) == 1:  # trec_eval: the same where no pair is in two groups
            assert value(f"prefs_pair{kind}", ranked, levels) == pytest.approx(good / possible if possible else 0.0)


said_by = st.dictionaries(st.sampled_from("abc"), graded, min_size=1)


@given(st.dictionaries(st.sampled_from("123"), said_by, min_size=1), st.permutations("abcdefghxy"), st.integers(1, 10))
def test_measures_of_grades_are_those_of_pairs(
    tmp_path_factory: pytest.TempPathFactory, topics: dict[str, dict[str, dict[str, int]]], order: list[str], depth: int
) -> None:
    """The registered measures count without looking at pairs; several assessors, and one alone."""
    ranked, folder = order[:depth], tmp_path_factory.mktemp("said")
    run = {topic: {doc: -float(rank) for rank, doc in enumerate(ranked)} for topic in topics}
    several = topics, "qrels_jg"
    alone = {topic: {"0": next(iter(groups.values()))} for topic, groups in topics.items()}, None
    for said_of, format in (several, alone):
        lines = [
            f"{t} {g} {d} {x}\n" for t, groups in said_of.items() for g, docs in groups.items() for d, x in docs.items()
        ]
        (folder / "qrels").write_text("".join(lines))
        levels = read_groups(str(folder / "qrels"), "qrels_prefs")
        c = uj.load(folder / "qrels", {"run": run}, qrels_format=format)
        for name in MEASURES:
            (line,) = trec_names.lines_of(name)
            assert line.measure is not None
            found = uj.score(c, [line.measure]).values[0, :, 0]
            for t, topic in enumerate(c.topics):
                pairs = pairs_of(ranked, levels[topic])
                assert found[t] == pytest.approx(MEASURES[name](pairs), abs=1e-12), (name, topic)
