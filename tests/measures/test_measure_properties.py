"""Invariants of measures (METHODS D) on generated collections. No expected number: only relations between measures."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from reference import (
    Qrels,
    Run,
    collection_of,
    collections,
    fully_judged_lists,
    ranked_lists,
    topics_of_grades,
)

import unjudged as uj
from unjudged.measures import REGISTRY

quick = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Topic = tuple[list[int | None], dict[int, int]]

# "name@k" where a cut-off is needed
ORDINARY = ["AP", "Q", "nDCG", "nDCG(dcg='jk')@1000", "RBP", "ERR", "RR", "O_measure", "P_measure", "P_plus"]
CONDENSED_HIGHER = [*ORDINARY, "nDCG@10", "P@5", "Rprec", "R_measure", "AnDCG@10"]
PREFERENCE = [
    *("bpref", "bpref_R", "bpref_N", "bpref_10", "bpref_relative", "bpref_relative2", "old_bpref"),
    *("rpref_N", "rpref_relative", "rpref_relative2"),
]
NEEDS_CUT = {"IPrec": "@0.3"}


def with_cut(name: str) -> str:
    """A spelling that can be scored: the cut-off a measure cannot do without."""
    required = [p.name for p in REGISTRY[name].definition.parameters.values() if p.required]
    return name + NEEDS_CUT.get(name, "@5") if required else name


EVERY = [with_cut(name) for name in REGISTRY]


def primed(spelling: str) -> uj.Measure:
    measure = uj.parse(spelling)[0]
    return measure if measure.condensed else measure(judged_only=True)


def scored(collection: uj.Collection, spellings: Sequence[object], topic: int = 0, **options: Any) -> list[float]:
    """Values of one run and topic. Each measure alone: equal spellings may stand twice."""
    return [float(uj.score(collection, s, **options).values[0, topic, 0]) for s in spellings]


def of_topic(topic: Topic, spellings: Sequence[object], **options: Any) -> list[float]:
    return scored(collection_of(*topic, top_grade=3), spellings, **options)


def assert_equal(left: Sequence[float], right: Sequence[float], names: Sequence[object]) -> None:
    different = {str(n): (a, b) for n, a, b in zip(names, left, right, strict=True) if not abs(a - b) <= 1e-9}
    assert not different


def assert_at_most(low: Sequence[float], high: Sequence[float], names: Sequence[object]) -> None:
    different = {str(n): (a, b) for n, a, b in zip(names, low, high, strict=True) if not a <= b + 1e-9}
    assert not different


def has_relevant(topic: Topic) -> bool:
    return any(topic[1][g] for g in (1, 2, 3))


# -- relations between measures


@quick
@given(topics_of_grades())
def test_d1_q_without_blending_is_ap(topic: Topic) -> None:
    ap, q, ap_cut, q_cut = of_topic(topic, ["AP", "Q(beta=0.0)", "AP(norm='min')@4", "Q(beta=0.0)@4"])
    assert q == pytest.approx(ap, abs=1e-9)
    assert q_cut == pytest.approx(ap_cut, abs=1e-9)


@quick
@given(topics_of_grades())
def test_d2_without_blending_o_is_rr_and_r_measure_is_r_precision(topic: Topic) -> None:
    values = of_topic(topic, ["O_measure(beta=0.0)", "R_measure(beta=0.0)", "RR", "Rprec"])
    assert_equal(values[:2], values[2:], ["O", "R"])


@quick
@given(topics_of_grades(), st.floats(0, 50))
def test_d3_d4_equal_gains(topic: Topic, beta: float) -> None:
    flat = {1: 2.0, 2: 2.0, 3: 2.0}
    r_measure, rprec, q, ap = of_topic(
        topic, [uj.R_measure(beta=beta, gains=flat), "Rprec", uj.Q(beta=beta, gains=flat), "AP"]
    )
    assert r_measure == pytest.approx(rprec, abs=1e-9)
    assert q >= ap - 1e-9
    relevant = sum(n for g, n in topic[1].items() if g > 0)
    if all(rank <= relevant for rank, g in enumerate(topic[0], 1) if g):
        assert q == pytest.approx(ap, abs=1e-9)


@quick
@given(topics_of_grades(), st.floats(0.01, 20), st.floats(0, 20))
def test_d5_scaling_gains_is_scaling_beta(topic: Topic, scale: float, beta: float) -> None:
    gains = {1: 1.0, 2: 2.5, 3: 4.0}
    scaled = {grade: gain * scale for grade, gain in gains.items()}
    left, right = of_topic(topic, [uj.Q(beta=beta, gains=scaled), uj.Q(beta=beta * scale, gains=gains)])
    assert left == pytest.approx(right, abs=1e-9)


@quick
@given(topics_of_grades(), st.booleans())
def test_d6_to_d9_the_bpref_family(topic: Topic, binary: bool) -> None:
    ranked, counts = topic
    if binary:
        ranked = [g and 1 for g in ranked]
        counts = {0: counts[0], 1: counts[1] + counts[2] + counts[3]}
    R, N = sum(n for g, n in counts.items() if g), counts[0]
    names = ["bpref", "bpref_R", "bpref_N", "old_bpref", "bpref_relative", "bpref_relative2", "AP'"]
    bpref, by_R, by_N, old, relative, relative2, ap = scored(collection_of(ranked, counts), names)
    assert relative2 == pytest.approx(ap, abs=1e-9)
    assert old <= bpref + 1e-9
    if N > 0:
        assert bpref == pytest.approx(min(by_R, by_N), abs=1e-9)
        assert bpref == pytest.approx(by_R if R <= N else by_N, abs=1e-9)
    if sum(g == 0 for g in ranked) >= min(R, N):
        assert old == pytest.approx(bpref, abs=1e-9)
    if binary:
        graded = scored(collection_of(ranked, counts), ["rpref_relative2", "rpref_N", "rpref_relative"])
        assert_equal(graded, [ap, by_N, relative], ["rpref_relative2", "rpref_N", "rpref_relative"])


@quick
@given(topics_of_grades(), st.lists(st.sampled_from((None, 0)), max_size=3))
def test_d10_d11_an_ideal_list_scores_one(topic: Topic, tail: list[int | None]) -> None:
    _, counts = topic
    assume(has_relevant(topic))
    best = [g for g in (3, 2, 1) for _ in range(counts[g])]
    counts = counts | {0: counts[0] + tail.count(0)}
    ones = [
        *("AP", "Q", "nDCG", "nDCG@3", "nDCG(dcg='jk')@1000", "nDCG(dcg='exp-log2')", "Rprec", "RR", "bpref", "R"),
        *("R_measure", "O_measure", "P_measure", "P_plus", "bpref_N", "bpref_R", "rpref_N", "rpref_relative2"),
        *("nCG@4", "AnCG@4", "AnDCG@4", "nERR", "nERR(stop='ntcir')@3", "Compat", "GAP", "NCU", "NCU(pr='rb')"),
        *("NCU(nu='BR')", "IPrec@1.0", "G", "binG", "nDCG_rel", "RnDCG", "relative_P@3", "AP'", "Q'", "IPrecAvg"),
    ]
    # G's cost and RnDCG's points count the whole list; Compat weighs ranks behind the ideal list: no tail for them
    collection = collection_of(best + tail, counts, top_grade=3)
    assert_equal(scored(collection, ones), [1.0] * len(ones), ones)
    total = sum(best)
    relative, bpref_relative = scored(collection, ["rpref_relative", "bpref_relative"])
    assert relative == pytest.approx((total - best[0]) / total, abs=1e-9)
    assert bpref_relative == pytest.approx((len(best) - 1) / len(best), abs=1e-9)


@quick
@given(topics_of_grades(fully_judged_lists))  # type: ignore[arg-type]
def test_d12_without_unjudged_documents_condensing_changes_nothing(topic: Topic) -> None:
    collection = collection_of(*topic, top_grade=3)
    assert_equal(scored(collection, EVERY), scored(collection, [primed(s) for s in EVERY]), EVERY)


@quick
@given(topics_of_grades())
def test_d13_condensing_twice_is_condensing_once(topic: Topic) -> None:
    once = collection_of(*topic, top_grade=3).hits.condensed()
    twice = once.condensed()
    assert np.array_equal(once.rank, twice.rank) and np.array_equal(once.row, twice.row)
    assert np.array_equal(once.length, twice.length)
    judged = [g for g in topic[0] if g is not None]
    condensed_by_hand = (judged, topic[1])
    measures = [primed(s) for s in EVERY]
    assert_equal(of_topic(topic, measures), of_topic(condensed_by_hand, measures), measures)  # type: ignore[arg-type]
    plain = [s for s in EVERY if not uj.parse(s)[0].condensed]
    assert_equal(of_topic(topic, [primed(s) for s in plain]), of_topic(condensed_by_hand, plain), plain)  # type: ignore[arg-type]


@quick
@given(topics_of_grades())
def test_d14_condensing_never_lowers(topic: Topic) -> None:
    names = CONDENSED_HIGHER
    assert_at_most(of_topic(topic, names), of_topic(topic, [primed(s) for s in names]), names)


@quick
@given(topics_of_grades(), st.integers(0, 14))
def test_d15_an_unjudged_document_changes_no_condensed_measure(topic: Topic, place: int) -> None:
    ranked, counts = topic
    longer = [*ranked[:place], None, *ranked[place:]]
    measures = [*PREFERENCE, *(primed(s) for s in EVERY)]
    assert_equal(of_topic(topic, measures), of_topic((longer, counts), measures), measures)


@quick
@given(topics_of_grades(), st.sampled_from((None, 0)))
def test_d16_a_nonrelevant_document_at_the_end_changes_nothing(topic: Topic, added: int | None) -> None:
    ranked, counts = topic
    counts = counts | {0: counts[0] + 1}  # judged in both cases, retrieved in one
    names = [*ORDINARY, "RBP(rel=2)", *(p for p in PREFERENCE if p != "old_bpref")]
    shorter, longer = of_topic((ranked, counts), names), of_topic(([*ranked, added], counts), names)
    assert_equal(shorter, longer, names)


@quick
@given(topics_of_grades(), st.integers(1, 20), st.integers(1, 3))
def test_d17_precision_antiprecision_and_the_unknown_add_up(topic: Topic, n: int, rel: int) -> None:
    p, anti, k, unj = of_topic(topic, [uj.P(rel=rel) @ n, uj.anti_P(rel=rel) @ n, uj.k @ n, uj.unj @ n])
    assert p + anti + k == pytest.approx(1.0, abs=1e-12)
    if len(topic[0]) >= n:
        assert k == pytest.approx(unj, abs=1e-12)
    else:
        assert k - unj == pytest.approx((n - len(topic[0])) / n, abs=1e-12)


@settings(quick, max_examples=50)
@given(collections())
def test_d18_values_stay_between_0_and_1(drawn: tuple[Qrels, dict[str, Run]]) -> None:
    collection = uj.load(*drawn)
    bounded = [s for s in EVERY if uj.parse(s)[0].definition.bounded]
    for measures in (bounded, [primed(s) for s in bounded]):
        scores = uj.score(collection, measures, undefined="nan")
        for m, measure in enumerate(scores.measures):
            values = scores.values[:, :, m][~np.isnan(scores.values[:, :, m])]
            assert ((values >= -1e-9) & (values <= 1 + 1e-9)).all(), measure
        assert np.isfinite(uj.score(collection, measures).values).all()


@quick
@given(topics_of_grades())
def test_d19_r_precision_is_precision_and_recall_at_r(topic: Topic) -> None:
    assume(has_relevant(topic))
    R = sum(topic[1][g] for g in (1, 2, 3))
    rprec, p, recall = of_topic(topic, ["Rprec", uj.P @ R, uj.R @ R])
    assert rprec == pytest.approx(p, abs=1e-12) == pytest.approx(recall, abs=1e-12)


@quick
@given(topics_of_grades())
def test_d20_recall_bounds(topic: Topic) -> None:
    bpref, ap, rpref, recall, gained = of_topic(topic, ["bpref", "AP'", "rpref_relative2", "R", "nCG@1000"])
    assert_at_most([bpref, ap, rpref], [recall, recall, gained], ["bpref", "AP'", "rpref_relative2"])


@quick
@given(topics_of_grades(), st.floats(0.05, 0.99))
def test_d21_rbp_and_residual(topic: Topic, p: float) -> None:
    ranked, counts = topic
    rbp, residual = of_topic(topic, [uj.RBP(p=p), uj.RBP_residual(p=p)])
    assert rbp + residual <= 1 + 1e-9
    assert rbp <= 1 - p ** len(ranked) + 1e-9
    filled = [3 if g is None else g for g in ranked]
    counts = counts | {3: counts[3] + ranked.count(None)}
    best = of_topic((filled, counts), [uj.RBP(p=p)])[0]  # type: ignore[arg-type]
    assert best + p ** len(ranked) == pytest.approx(rbp + residual, abs=1e-9)


@quick
@given(topics_of_grades(), st.floats(0.05, 40))
def test_d22_scaling_all_gains_changes_nothing(topic: Topic, scale: float) -> None:
    gains = {1: 1.0, 2: 2.5, 3: 4.0}
    scaled = {grade: gain * scale for grade, gain in gains.items()}
    names = [
        *("nDCG", "nDCG@5", "nDCG(dcg='jk')@10", "RBP", "nCG@5", "AnCG@5", "AnDCG@5"),
        *("rpref_N", "rpref_relative", "rpref_relative2"),
    ]
    plain = of_topic(topic, [uj.parse(s)[0](gains=gains) for s in names])
    assert_equal(plain, of_topic(topic, [uj.parse(s)[0](gains=scaled) for s in names]), names)
    assert_equal(plain, scored(collection_of(*topic, top_grade=3, gains=scaled), names), names)


@quick
@given(topics_of_grades(), st.integers(2, 12), st.floats(0, 5))
def test_d23_a_base_beyond_the_cutoff_discounts_nothing(topic: Topic, cut: int, more: float) -> None:
    base = float(cut) + more
    ndcg, andcg, ncg, ancg, ndcg1, andcg1, ncg1, ancg1 = of_topic(
        topic,
        [
            *(uj.nDCG(dcg="jk", base=base) @ cut, uj.AnDCG(base=base) @ cut, uj.nCG @ cut, uj.AnCG @ cut),
            *("nDCG(dcg='jk')@1", "AnDCG@1", "nCG@1", "AnCG@1"),
        ],
    )
    assert_equal([ndcg, andcg, ndcg1, ancg1], [ncg, ancg, andcg1, ncg1], ["nDCG", "AnDCG", "nDCG@1", "nCG@1"])


@quick
@given(topics_of_grades(), st.integers(0, 30))
def test_d24_binary_ncg_beyond_r_is_recall(topic: Topic, more: int) -> None:
    assume(has_relevant(topic))
    cut = sum(topic[1][g] for g in (1, 2, 3)) + more
    ncg, recall = of_topic(topic, [uj.nCG(gains={1: 1, 2: 1, 3: 1}) @ cut, uj.R @ cut])
    assert ncg == pytest.approx(recall, abs=1e-9)


@quick
@given(topics_of_grades())
def test_d25_o_p_and_p_plus_agree_where_the_first_relevant_document_is_the_best(topic: Topic) -> None:
    relevant = [g for g in topic[0] if g]
    assume(relevant and relevant[0] == max(relevant))
    o, p, plus = of_topic(topic, ["O_measure", "P_measure", "P_plus"])
    assert_equal([p, plus], [o, o], ["P_measure", "P_plus"])


@settings(quick, max_examples=50)
@given(topics_of_grades(st.lists(st.sampled_from((None, 0, 0, 1, 2, 3)), min_size=2, max_size=12)), st.integers(0, 10))
def test_d26_moving_a_better_document_up_never_lowers(topic: Topic, place: int) -> None:
    ranked, counts = topic
    i = place % (len(ranked) - 1)
    assume((ranked[i] or 0) < (ranked[i + 1] or 0))
    better = [*ranked[:i], ranked[i + 1], ranked[i], *ranked[i + 2 :]]
    # an unjudged document is no judged one: those that count judged ones alone need two judged neighbours
    judged_only = ["bpref", "bpref_relative", "rpref_N", "rpref_relative", "rpref_relative2", "Q'"]
    names = [
        *("AP", "Q", "nDCG", "nDCG@5", "nDCG(dcg='jk')@1000", "RBP", "ERR", "RR", "O_measure", "R@3", "P@3"),
        *(judged_only if ranked[i] is not None else []),
    ]
    assert_at_most(of_topic((ranked, counts), names), of_topic((better, counts), names), names)


@quick
@given(topics_of_grades())
def test_d29_inferred_ap_without_pooled_unjudged_documents_is_ap(topic: Topic) -> None:
    # outside the pool = not in the judgments = nonrelevant, so AP of the list as it stands
    inferred, ap = of_topic(topic, [uj.infAP(eps=1e-12), "AP"])
    assert inferred == pytest.approx(ap, abs=1e-9)


@quick
@given(st.lists(topics_of_grades(), min_size=1, max_size=5))
def test_d30_the_geometric_mean_is_not_above_the_arithmetic(topics: list[Topic]) -> None:
    from reference import one_topic

    pairs = [one_topic(*topic) for topic in topics]
    qrels: Qrels = {str(i): judged for i, (judged, _) in enumerate(pairs)} | {"x": {"d": 1}}
    run: Run = {str(i): docs for i, (_, docs) in enumerate(pairs)} | {"x": {"d": 1.0}}
    scores = uj.score(uj.load(qrels, {"run": run}), ["AP", "GMAP"])
    mean, geometric = scores.mean_values()[0]
    if (scores.values[0, :, 0] >= 1e-5).all():
        assert geometric <= mean + 1e-12
    values = np.maximum(scores.values[0, :, 0], 1e-5)
    assert values.min() - 1e-12 <= geometric <= values.max() + 1e-12
    same = uj.score(uj.load({"a": qrels["x"], "b": qrels["x"]}, {"run": {"a": run["x"], "b": run["x"]}}), "GMAP")
    assert same.mean_values()[0, 0] == pytest.approx(1.0, abs=1e-12)


# -- what must not matter


def table(collection: uj.Collection, measures: Sequence[object] = EVERY) -> dict[tuple[str, str, str], float]:
    """(run, topic, measure) -> value, NaN as it is."""
    scores = uj.score(collection, measures, undefined="nan")
    return {
        (run, topic, str(measure)): float(scores.values[r, t, m])
        for r, run in enumerate(scores.runs)
        for t, topic in enumerate(scores.topics)
        for m, measure in enumerate(scores.measures)
    }


def assert_same(left: dict[tuple[str, str, str], float], right: dict[tuple[str, str, str], float]) -> None:
    assert left.keys() == right.keys()
    # the order of judgments may decide in which order a topic's gains are added up: the last bit is left open
    different = {
        k: (v, right[k])
        for k, v in left.items()
        if not (abs(v - right[k]) <= 1e-12 or (v != v and right[k] != right[k]))
    }
    assert not different


@quick
@given(collections(), st.integers(0, 2**32), st.sampled_from(("trec10", "trec9", "ascending")))
def test_the_order_of_lines_does_not_matter(drawn: tuple[Qrels, dict[str, Run]], seed: int, ties: str) -> None:
    qrels, runs = drawn
    rng = random.Random(seed)

    def shuffled(mapping: dict[str, Any]) -> dict[str, Any]:
        items = list(mapping.items())
        rng.shuffle(items)
        return dict(items)

    other_qrels = {topic: shuffled(judged) for topic, judged in shuffled(qrels).items()}
    other_runs = {name: {t: shuffled(docs) for t, docs in shuffled(run).items()} for name, run in runs.items()}
    assert_same(table(uj.load(qrels, runs, ties=ties)), table(uj.load(other_qrels, other_runs, ties=ties)))


@quick
@given(collections())
def test_names_of_topics_do_not_matter(drawn: tuple[Qrels, dict[str, Run]]) -> None:
    qrels, runs = drawn
    new = {topic: f"neu-{len(qrels) - i}-é" for i, topic in enumerate(qrels)}
    renamed = {n: {new.get(t, t + "?"): docs for t, docs in run.items()} for n, run in runs.items()}
    before = table(uj.load(qrels, runs))
    after = table(uj.load({new[t]: judged for t, judged in qrels.items()}, renamed))
    assert_same({(r, new[t], m): v for (r, t, m), v in before.items()}, after)


@quick
@given(collections())
def test_other_runs_do_not_matter(drawn: tuple[Qrels, dict[str, Run]]) -> None:
    qrels, runs = drawn
    together = table(uj.load(qrels, runs))
    alone: dict[tuple[str, str, str], float] = {}
    for name, run in runs.items():
        alone |= table(uj.load(qrels, {name: run}))
    assert_same(together, alone)


@quick
@given(collections())
def test_other_topics_do_not_matter(drawn: tuple[Qrels, dict[str, Run]]) -> None:
    """H aside: it belongs to the collection, so a topic with the top grade stays in."""
    qrels, runs = drawn
    qrels = qrels | {"top": {"best": 3}}
    runs = {name: run | {"top": {"best": 1.0}} for name, run in runs.items()}
    together = table(uj.load(qrels, runs))
    for topic in qrels:
        part = {t: judged for t, judged in qrels.items() if t in (topic, "top")}
        alone = table(uj.load(part, runs))
        assert_same({k: v for k, v in together.items() if k[1] in part}, alone)


@quick
@given(collections(), st.integers(1, 8))
def test_truncation_is_cutting_the_list(drawn: tuple[Qrels, dict[str, Run]], depth: int) -> None:
    from reference import in_order

    qrels, runs = drawn
    cut = {
        name: {t: {d: docs[d] for d in in_order(docs, "trec10")[:depth]} for t, docs in run.items()}
        for name, run in runs.items()
    }
    assert_same(table(uj.load(qrels, runs, truncate=depth)), table(uj.load(qrels, cut)))


@quick
@given(collections(), st.integers(1, 8))
def test_a_cutoff_is_a_truncation_for_measures_normalised_by_all_relevant(
    drawn: tuple[Qrels, dict[str, Run]], depth: int
) -> None:
    qrels, runs = drawn
    names = ["AP", "RR", "R", "ERR", "RBP", "DCG", "RBP(rel=2)"]
    whole = table(uj.load(qrels, runs, truncate=depth), names)
    cut = table(uj.load(qrels, runs), [uj.parse(s)[0] @ depth for s in names])
    assert_same({(r, t, str(uj.parse(m)[0] @ depth)): v for (r, t, m), v in whole.items()}, cut)


@quick
@given(ranked_lists)
def test_builders_keep_ranks(ranked: list[int | None]) -> None:
    collection = collection_of(ranked)
    hits = collection.hits
    first = hits.rank[hits.offsets[0] : hits.offsets[1]].tolist()
    assert first == [i for i, g in enumerate(ranked, 1) if g is not None]
    assert hits.length[0] == len(ranked)


@pytest.mark.parametrize("spelling", ["ERR", "nERR", "nDCG(dcg='exp-log2')"])
def test_a_grade_too_large_for_its_power_of_two_is_scored_or_refused(spelling: str) -> None:
    """The reader takes grades up to a thousand million; 2^grade ends at 1023. The best document stands first: 1."""
    collection = uj.load({"t": {"best": 1100, "other": 1}}, {"run": {"t": {"best": 2.0, "other": 1.0}}})
    try:
        got = scored(collection, [spelling])[0]
    except uj.UnjudgedError:
        return
    assert got == pytest.approx(1.0, abs=1e-9)
