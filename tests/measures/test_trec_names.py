"""trec_eval's parameters: read as C's atol and atof read them in the verb, checked elsewhere."""

from __future__ import annotations

import pytest

from unjudged.errors import MeasureError
from unjudged.measures import trec_names


def printed(name: str, parameters: str) -> list[str]:
    return [line.name for line in trec_names.lines_of(name, parameters)]


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("ndcg_cut", "20,10,23.4", ["ndcg_cut_10", "ndcg_cut_20", "ndcg_cut_23"]),
        ("P", " 5x,+7", ["P_5", "P_7"]),
        ("iprec_at_recall", ".5,.25", ["iprec_at_recall_0.25", "iprec_at_recall_0.50"]),
        ("iprec_at_recall", "1e-1,abc", ["iprec_at_recall_0.00", "iprec_at_recall_0.10"]),
        ("Rprec_mult", "0.5.5", ["Rprec_mult_0.50"]),
        ("utility", "1,-1,x,0", ["utility_1,-1,x,0"]),
        ("set_F", "0.5,9", ["set_F_0.5,9"]),
        ("ndcg", "1=2.5x,2=4", ["ndcg_1=2.5x,2=4"]),
        ("Rprec_mult", "0x1.8p1,-0x2,-.5e0", ["Rprec_mult_-2.00", "Rprec_mult_-0.50", "Rprec_mult_3.00"]),
    ],
)
def test_numbers_are_read_as_far_as_they_go(name: str, parameters: str, expected: list[str]) -> None:
    assert printed(name, parameters) == expected


def test_the_value_is_the_number_read() -> None:
    cut, gain = trec_names.lines_of("ndcg_cut", "23.4")[0].measure, trec_names.lines_of("ndcg", "1=2.5x")[0].measure
    assert str(cut) == "nDCG@23" and str(gain) == "nDCG(gains={1: 2.5})"


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("P", "0"), ("P", "x"), ("P", "-5"), ("P", "5,5.9"), ("utility", "1,2,3"), ("ndcg", "1"), ("ndcg", "1=2=3")],
)
def test_what_trec_eval_refuses_is_refused(name: str, parameters: str) -> None:
    with pytest.raises(MeasureError):
        printed(name, parameters)


@pytest.mark.parametrize("text", ["P.1O", "P.5,", "iprec_at_recall.abc", "ndcg.1=x", "utility.1,-1,x,0"])
def test_a_slip_of_the_finger_is_refused_outside_the_verb(text: str) -> None:
    with pytest.raises(MeasureError):
        trec_names.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        *("ndcg.0=1", "ndcg.-1=2", "G.1=-3", "iprec_at_recall.2", "11pt_avg.-0.5,1", "11pt_avg.1,0.5"),
        *("Rprec_mult.0", "Rprec_mult_avgjg.-1", "set_F.-0.5", "rbp_resid.p=2"),
    ],
)
def test_what_means_nothing_is_refused_outside_the_verb(text: str) -> None:
    name, _, parameters = text.partition(".")
    line = trec_names.lines_of(name, parameters)[0]
    assert line.own is not None and line.measure is None
    with pytest.raises(MeasureError):
        trec_names.parse(text)


def test_the_sets_name_measures_that_exist() -> None:
    known = trec_names.for_format(None)
    assert all(name in known for names in trec_names.SETS.values() for name in names)
    assert [str(line.measure) for line in trec_names.parse("P_avgjg.5,10") or ()] == ["P_avgjg@5", "P_avgjg@10"]
    assert str((trec_names.parse("prefs_simp_ret") or [])[0].measure) == "prefs_simp(pairs='retrieved')"
