"""How measures are written (DESIGN 5): spellings, trec_eval names, objects of ours and of ir_measures, errors."""

from __future__ import annotations

import string
import types
from collections.abc import Mapping
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import collection_of
from their_parser import needs_their_parser

import unjudged as uj
from unjudged.measures import ALIASES, NAMED, REGISTRY, Measure, measures, split_list
from unjudged.measures._measure import Parameter

COLLECTION = collection_of([2, None, 0, 3, None, 1, 0, 0, 2, None], {0: 12, 1: 4, 2: 3, 3: 2})

numbers = st.floats(0.01, 0.99) | st.sampled_from((0.5, 0.95, 1e-3, 0.1 + 0.2))
SPECIAL: dict[str, st.SearchStrategy[Any]] = {
    "k": st.integers(1, 5000),
    "rel": st.integers(0, 5),
    "p": numbers,
    "alpha": st.floats(0, 1),
    "full": st.integers(1, 9),
    "gamma": numbers,
    "recall": st.floats(0, 1).filter(lambda v: v == 0 or v > 1e-4),  # the cut-off is written without exponent
    "beta": st.floats(0, 1e6),
    "base": st.floats(1.01, 1e3),
    "mult": st.floats(0.01, 10),
    "recalls": st.lists(st.floats(0, 1), min_size=1, max_size=4).map(tuple),
    "max_rel": st.integers(1, 9),
    "min_rel": st.integers(0, 0),
    "thresholds": st.dictionaries(st.integers(1, 9), st.floats(0.01, 1), min_size=1, max_size=4),
}
gain_maps = st.lists(st.integers(0, 50), min_size=1, max_size=4).map(
    lambda values: {i + 1: float(v) / 4 for i, v in enumerate(sorted(values))}
)


def values_of(parameter: Parameter) -> st.SearchStrategy[Any]:
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    if parameter.name in SPECIAL:
        return SPECIAL[parameter.name]
    if any(isinstance(kind, type) and issubclass(kind, Mapping) for kind in parameter.kinds):
        return gain_maps
    if bool in parameter.kinds:
        return st.booleans()
    if float in parameter.kinds:
        return st.floats(0.01, 100)
    assert int in parameter.kinds, f"no strategy for {parameter}"
    return st.integers(1, 9)


@st.composite
def parameters(draw: st.DrawFn, name: str) -> dict[str, Any]:
    known = REGISTRY[name].definition.parameters
    drawn = {p.name: draw(values_of(p)) for p in known.values() if p.required or draw(st.booleans())}
    if draw(st.booleans()):
        drawn["judged_only"] = True
    if REGISTRY[name].definition.aggregate != "sum" and draw(st.integers(0, 3)) == 0:
        drawn["mean"] = "geometric"
    return drawn


@pytest.mark.slow
@pytest.mark.parametrize("name", [*REGISTRY])
def test_the_spelling_of_any_measure_is_read_back(name: str) -> None:
    @settings(max_examples=25, deadline=None, database=None)
    @given(parameters(name))
    def check(drawn: dict[str, Any]) -> None:
        made = REGISTRY[name](**drawn)
        (read,) = uj.parse(repr(made))
        assert repr(read) == repr(made) == str(made)
        assert read == made and hash(read) == hash(made)
        assert read.definition is made.definition
        assert {k: _plain(v) for k, v in read.params.items()} == {k: _plain(v) for k, v in made.params.items()}
        assert (read.condensed, read.mean) == (made.condensed, made.mean)
        # one spelling stays one in a list, whatever stands beside it
        assert measures(f"AP@777,{made!r},P@777")[1:-1] == [made]

    check()


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


@pytest.mark.parametrize("name", [*REGISTRY])
def test_parameters_left_at_their_default_are_not_spelt(name: str) -> None:
    made = REGISTRY[name]
    known = made.definition.parameters
    spelt = made(**{key: p.default for key, p in known.items() if not p.required})
    assert repr(spelt) == name and spelt == made


@pytest.mark.parametrize("name", [*ALIASES])
def test_aliases_mean_their_measure(name: str) -> None:
    made = measures(name + ("@5" if ALIASES[name] in REGISTRY and _needs_cut(ALIASES[name]) else ""))
    assert len(made) == 1
    assert repr(made[0]).split("@")[0] in (ALIASES[name], name)


def _needs_cut(name: str) -> bool:
    return any(p.required for p in REGISTRY[name].definition.parameters.values())


# (typed, canonical spellings)
SPELLINGS: list[tuple[str, list[str]]] = [
    ("AP", ["AP"]),
    ("nDCG@10", ["nDCG@10"]),
    ("P(rel=2)@5", ["P(rel=2)@5"]),
    ("P(rel=1)@5", ["P@5"]),
    ("RBP(p=0.95)", ["RBP"]),
    ("RBP(p=0.8)", ["RBP(p=0.8)"]),
    ("Q(beta=1)", ["Q"]),
    ("Q(beta=10)", ["Q(beta=10.0)"]),
    ("nDCG(cutoff=10)", ["nDCG@10"]),
    ("nDCG(gains={1: 1, 2: 3})@10", ["nDCG(gains={1: 1, 2: 3})@10"]),
    ("nDCG(dcg='jk',base=2)@1000", ["nDCG(dcg='jk')@1000"]),
    ('nDCG(dcg="exp-log2")@10', ["nDCG(dcg='exp-log2')@10"]),
    ("MAP", ["AP"]),
    ("GMAP", ["GMAP"]),
    ("AP(mean='geometric')", ["GMAP"]),
    ("GMAP@100", ["GMAP@100"]),
    # primes
    ("AP'", ["AP'"]),
    ("AP’", ["AP'"]),
    ("AP′", ["AP'"]),
    ("AP(judged_only=True)", ["AP'"]),
    ("nDCG'@10", ["nDCG'@10"]),
    ("nDCG(judged_only=True)@10", ["nDCG'@10"]),
    ("nDCG'(dcg='jk')@1000", ["nDCG'(dcg='jk')@1000"]),
    ("AP(judged_only=False)", ["AP"]),
    # trec_eval names
    ("map", ["AP"]),
    ("gm_map", ["GMAP"]),
    ("recip_rank", ["RR"]),
    ("Rprec", ["Rprec"]),
    ("ndcg", ["nDCG"]),
    ("ndcg_cut_10", ["nDCG@10"]),
    ("ndcg_cut.10", ["nDCG@10"]),
    ("ndcg_cut.5,10", ["nDCG@5", "nDCG@10"]),
    ("map_cut_100", ["AP@100"]),
    ("P_5", ["P@5"]),
    ("P.5,10", ["P@5", "P@10"]),
    ("recall_1000", ["R@1000"]),
    ("success.1,5", ["Success@1", "Success@5"]),
    ("iprec_at_recall_0.10", ["IPrec@0.1"]),
    ("iprec_at_recall.0.1,.5", ["IPrec@0.1", "IPrec@0.5"]),
    ("Rprec_mult_0.20", ["Rprec(mult=0.2)"]),
    ("relative_P_15", ["relative_P@15"]),
    ("set_P", ["SetP"]),
    ("set_relative_P", ["SetP(relative=True)"]),
    ("set_F.0.5", ["SetF(beta=0.5)"]),
    ("utility", ["Utility"]),
    ("utility.1,-2,0,0", ["Utility(b=-2.0)"]),
    ("num_nonrel_judged_ret", ["NumNonrelJudgedRet"]),
    ("ndcg.1=1,2=3", ["nDCG(gains={1: 1.0, 2: 3.0})"]),
    # commas
    ("AP,nDCG@10", ["AP", "nDCG@10"]),
    ("AP, nDCG@10 ,P@5", ["AP", "nDCG@10", "P@5"]),
    ("P.5,10,map", ["P@5", "P@10", "AP"]),
    ("map,P.5,10,ndcg_cut.5,20", ["AP", "P@5", "P@10", "nDCG@5", "nDCG@20"]),
    ("P(rel=2)@5,P.5,10", ["P(rel=2)@5", "P@5", "P@10"]),
    ("nDCG(gains={1:1,2:3},dcg='jk')@10,AP", ["nDCG(dcg='jk', gains={1: 1, 2: 3})@10", "AP"]),
    ("AP',Q'", ["AP'", "Q'"]),
    ("nDCG'(dcg='jk')@10,AP',RR", ["nDCG'(dcg='jk')@10", "AP'", "RR"]),
    ("AP,map,MAP", ["AP"]),
]


@pytest.mark.parametrize(("typed", "canonical"), SPELLINGS)
def test_spelling(typed: str, canonical: list[str]) -> None:
    assert [str(m) for m in measures(typed)] == canonical
    assert measures(canonical) == measures(typed)
    scored = uj.score(COLLECTION, typed)
    assert list(scored.frame["measure"].unique()) == canonical


def test_lists_split_at_commas_outside_brackets() -> None:
    assert split_list("P.5,10,AP,nDCG(gains={1:1,2:3})@5") == ["P.5,10", "AP", "nDCG(gains={1:1,2:3})@5"]
    assert split_list(" AP ,, RR ") == ["AP", "RR"]


def test_set_names_stand_for_their_measures() -> None:
    official = [str(m) for m in measures("official")]
    assert official[:9] == ["NumQ", "NumRet", "NumRel", "NumRelRet", "AP", "GMAP", "Rprec", "bpref", "RR"]
    assert official[9:20] == [f"IPrec@{i / 10}" for i in range(11)]
    assert official[20:] == [f"P@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]
    assert measures("official,AP,Q")[-1] == uj.Q and len(measures("official,AP,Q")) == len(official) + 1
    for name in NAMED:
        assert measures(name)


def test_objects() -> None:
    assert str(uj.nDCG @ 10) == "nDCG@10"
    assert str(uj.P(rel=2) @ 5) == "P(rel=2)@5"
    assert str((uj.P @ 5)(rel=2)) == "P(rel=2)@5"
    assert str(uj.AP(judged_only=True)) == "AP'"
    assert uj.nDCG @ 10 == uj.parse("nDCG@10")[0] != uj.nDCG @ 20
    assert len({uj.nDCG @ 10, uj.parse("ndcg_cut_10")[0]}) == 1
    assert isinstance(uj.RBP(p=0.8), Measure)
    assert str(uj.RBP) == "RBP", "a measure with parameters leaves the plain one alone"


def test_objects_spellings_and_peers_mix() -> None:
    scores = uj.score(COLLECTION, [uj.nDCG @ 10, "AP,P.5,10", ir_measures.RR, uj.P(rel=2) @ 5])
    assert [str(m) for m in scores.measures] == ["nDCG@10", "AP", "P@5", "P@10", "RR", "P(rel=2)@5"]
    expected = [0.481136, 0.271605, 0.4, 0.4, 1.0, 0.4]  # M1 of the worked examples; P(rel=2)@5: grades 2 and 3 of 5
    assert scores.values[0, 0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (ir_measures.AP, "AP"),
        (ir_measures.AP(rel=2) @ 100, "AP(rel=2)@100"),
        (ir_measures.nDCG @ 10, "nDCG@10"),
        (ir_measures.nDCG(dcg="exp-log2") @ 10, "nDCG(dcg='exp-log2')@10"),
        (ir_measures.nDCG(judged_only=True), "nDCG'"),
        (ir_measures.RBP, "RBP(p=0.8)"),
        (ir_measures.RBP(rel=1), "RBP(p=0.8, rel=1)"),
        (ir_measures.RBP(p=0.95), "RBP"),
        (ir_measures.Bpref(rel=2), "bpref(rel=2)"),
        (ir_measures.IPrec @ 0.1, "IPrec@0.1"),
        (ir_measures.Judged @ 10, "Judged@10"),
        (ir_measures.SetF(beta=0.5), "SetF(beta=0.5)"),
        (ir_measures.P(rel=2) @ 5, "P(rel=2)@5"),
    ],
)
def test_ir_measures_objects_keep_their_defaults(theirs: Any, ours: str) -> None:
    assert [str(m) for m in measures(theirs)] == [ours]


@needs_their_parser
def test_the_same_spelling_means_the_same_to_ir_measures() -> None:
    """Spellings of ours that ir_measures reads too (but RBP, whose default p differs by design)."""
    for text in (
        "AP",
        "nDCG@10",
        "P(rel=2)@5",
        "RR@10",
        "R@100",
        "Success@3",
        "IPrec@0.1",
        "SetF(beta=0.5)",
        "Judged@10",
    ):
        assert measures(ir_measures.parse_measure(text)) == uj.parse(text)


# -- refusals: one sentence that helps


@pytest.mark.parametrize(
    ("typed", "pieces"),
    [
        ("nDGC@10", ["nDGC@10", "nDCG"]),
        ("bperf", ["bperf", "bpref"]),
        ("ndcg_cutt_10", ["ndcg_cut"]),
        ("recip_rnk", ["recip_rank"]),
        ("P(rell=2)@5", ["rell", "rel"]),
        ("RBP(persistence=0.8)", ["persistence", "p"]),
        ("nDCG(dcg='jx')@5", ["dcg", "'log2'", "'jk'"]),
        ("AP(norm='max')@5", ["norm", "'R'", "'min'"]),
        ("P@0", ["k", "positive"]),
        ("P@2.5", ["k", "positive"]),
        ("unj@99999999999999999999", ["k", "below 2**31"]),
        ("AP(rel=99999999999999999999)", ["rel", "below 2**31"]),
        ("AP(rel=-1)", ["rel", "0 or more"]),
        ("SDCG(max_rel=2147483648)@5", ["max_rel", "below 2**31"]),
        ("RBP(p=1.5)", ["p", "between 0 and 1"]),
        ("RBP(p='x')", ["p"]),
        ("INST(T=0)", ["T", "above 0"]),
        ("nDCG(gains={1: -1, 2: 1})", ["gains", "0 or more"]),
        ("nDCG(gains={1.5: 1})", ["gains", "grade"]),
        ("nDCG(gains={0: 1})", ["gains", "grade above 0"]),
        ("ndcg.1=-1,2=3", ["gains", "0 or more"]),
        ("infAP(eps=0)", ["eps", "above 0"]),
        ("xinfAP(judged_eps=-1.0)", ["judged_eps", "above 0"]),
        ("NCU(gamma=1.5)", ["gamma", "at most 1"]),
        ("NCU(stops={1: -1, 2: 1})", ["stops", "0 or more"]),
        ("IPrecAvg(recalls=())", ["recalls", "between 0 and 1"]),
        ("IPrecAvg(recalls=(0.5, 2))", ["recalls", "between 0 and 1"]),
        ("Utility(a=1e999)", ["a", "float"]),
        ("GAP(thresholds={1.5: 1})", ["thresholds", "grade"]),
        ("GAP(thresholds={1: 0})", ["thresholds", "share"]),
        ("IPrec", ["IPrec@0.1"]),
        ("Success", ["Success@10"]),
        ("bpref@10", ["bpref has no cut-off"]),
        ("P(2)@5", ["by name"]),
        ("P(rel=2", ["P(rel=2"]),
        ("P(rel=__import__('os'))@5", ["parameters"]),
        ("NumRet(mean='geometric')", ["geometric"]),
        ("P.5,x", ["x"]),
        ("P.5,5", ["twice"]),
        ("map.5", ["map", "5"]),
        ("", ["no measure"]),
        (",", ["no measure"]),
    ],
)
def test_errors_say_what_is_wrong_and_name_the_nearest(typed: str, pieces: list[str]) -> None:
    with pytest.raises(uj.MeasureError) as caught:
        uj.score(COLLECTION, typed)
    for piece in pieces:
        assert piece in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrong", [3, None, [], [["AP"], 7]])
def test_other_things_are_no_measures(wrong: Any) -> None:
    with pytest.raises(uj.MeasureError):
        measures(wrong)


def test_an_unknown_ir_measures_object_is_refused() -> None:
    with pytest.raises(uj.MeasureError, match="Serendipity"):
        measures(types.SimpleNamespace(NAME="Serendipity", params={}))


@settings(max_examples=400, deadline=None)
@given(st.text(string.ascii_letters + string.digits + "'@.,()=_{}: ’-\"", max_size=25) | st.text(max_size=12))
def test_any_text_is_read_or_refused_by_a_sentence(text: str) -> None:
    try:
        found = measures(text)
    except uj.MeasureError as error:
        assert str(error)
    else:
        assert found
        assert measures(",".join(map(str, found))) == found


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["AP", "P@5", "nDCG(dcg='jk')@10", "P.5,10", "RBP(p=0.5)", "ndcg_cut_10"]), st.data())
def test_a_damaged_spelling_is_read_or_refused_by_a_sentence(text: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text)))
    damaged = text[:place] + data.draw(st.sampled_from([*"'@.,()=_ 19-e", ""])) + text[place + 1 :]
    try:
        assert all(isinstance(m, Measure) for m in measures(damaged))
    except uj.MeasureError as error:
        assert str(error)


# -- a measure of one's own


@pytest.fixture
def first_grade() -> Measure:
    @uj.measure(cite="someone2030", bounded=False)
    def FirstGrade(h: uj.Hits, k: int | None = None, factor: float = 1.0) -> uj.Cells:
        """Grade of the first judged document, times a factor."""
        h = h.top(k)
        return h.sum(np.where(h.position == 1, h.grade * factor, 0.0))

    return FirstGrade


def test_a_measure_of_ones_own_works_like_any_other(first_grade: Measure) -> None:
    assert REGISTRY["FirstGrade"] is first_grade
    by_object = uj.score(COLLECTION, first_grade)
    assert by_object.values[0, 0, 0] == 2.0
    spelt = uj.score(COLLECTION, "FirstGrade(factor=2.5)@3,FirstGrade'@1,AP")
    assert [str(m) for m in spelt.measures] == ["FirstGrade(factor=2.5)@3", "FirstGrade'@1", "AP"]
    assert spelt.values[0, 0, :2].tolist() == [5.0, 2.0]
    assert uj.FirstGrade @ 3 == uj.parse("FirstGrade@3")[0]
    assert first_grade.definition.summary.startswith("Grade of the first judged")
    with pytest.raises(uj.MeasureError, match="factor"):
        uj.parse("FirstGrade(facktor=2)")


def test_the_condensed_list_is_handed_to_a_measure_of_ones_own(first_grade: Measure) -> None:
    unjudged_first = collection_of([None, None, 3, 0])
    got = uj.score(unjudged_first, ["FirstGrade@1", "FirstGrade'@1"]).values[0, 0].tolist()
    assert got == [0.0, 3.0]


def test_declaring_again_replaces(first_grade: Measure) -> None:
    @uj.measure
    def FirstGrade(h: uj.Hits) -> uj.Cells:
        """Always 7."""
        return np.full(h.cells, 7.0)

    assert uj.score(COLLECTION, "FirstGrade").values[0, 0, 0] == 7.0
    with pytest.raises(uj.MeasureError, match="no parameter"):
        uj.parse("FirstGrade(factor=2)")


# -- rel for all


def test_rel_reaches_binary_measures_that_name_none() -> None:
    found = [str(m) for m in measures("AP,P(rel=1)@5,P(rel=3)@5,nDCG,RBP,bpref", rel=2)]
    assert found == ["AP(rel=2)", "P@5", "P(rel=3)@5", "nDCG", "RBP", "bpref(rel=2)"]


@pytest.mark.parametrize(
    ("engineers", "ours"),
    [
        ("recall@10", "R@10"),
        ("RECALL@10", "R@10"),
        ("mrr@10", "RR@10"),
        ("hit_rate@5", "Success@5"),
        ("HitRate@5", "Success@5"),
        ("map", "AP"),
        ("Map@10", "AP@10"),
        ("NdCg@10", "nDCG@10"),
        ("precision@5", "P@5"),
        ("p(rel=2)@5", "P(rel=2)@5"),
    ],
)
def test_measures_are_known_in_any_case(engineers: str, ours: str) -> None:
    assert measures(engineers) == measures(ours)


def test_a_lower_case_name_with_another_meaning_elsewhere_is_refused() -> None:
    """sentence-transformers' accuracy@1 is Success@1, ir_measures' Accuracy@1 is not."""
    with pytest.raises(uj.MeasureError, match="unknown measure 'accuracy@1'"):
        measures("accuracy@1")


def test_all_wrong_measures_are_named_at_once() -> None:
    with pytest.raises(uj.MeasureError) as told:
        measures(["nDGC@10, AP", "recal@5"])
    said = str(told.value)
    assert "'nDGC@10'" in said and "'recal@5'" in said and said.count("--list") == 1


@pytest.mark.parametrize(
    ("typed", "meant"), [("ndgc@10", "nDCG@10"), ("recal@5", "Recall@5"), ("hit_rat@3", "hit_rate@3")]
)
def test_the_nearest_measure_keeps_its_cut_off(typed: str, meant: str) -> None:
    with pytest.raises(uj.MeasureError, match=rf"did you mean (?i:{meant})\?"):
        measures(typed)
