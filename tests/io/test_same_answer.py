"""Which answers are the same: SQuAD's own normalisation written out, and what each rule keeps apart."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.io.same_answer import SAME_ANSWER, normalised


def squad(text: str) -> str:
    """The official evaluation script's rule, for ASCII: lower case, no punctuation, no articles, single blanks."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


@given(st.text(st.sampled_from("aAnN tThHeE.,'!-xX "), max_size=25))
def test_words_is_the_rule_of_squad(text: str) -> None:
    if expected := squad(text):
        assert normalised(text, "words") == expected


@given(st.text(max_size=20), st.sampled_from(list(SAME_ANSWER)))
def test_normalising_twice_changes_nothing(text: str, rule: str) -> None:
    once = normalised(text, rule)
    assert normalised(once, rule) == once and bool(once) == bool(text.strip())


@pytest.mark.parametrize(
    ("one", "other", "rules"),
    [
        (" Obama ", "Obama", ("exact", "folded", "words")),
        ("Barack  OBAMA", "barack obama", ("folded", "words")),
        ("\uff11\uff19\uff19\uff18\u5e74", "1998\u5e74", ("folded", "words")),  # full-width digits
        ("The Hague.", "hague", ("words",)),
        ("U.S.", "US", ("words",)),
        ("the", "a", ()),  # nothing would be left: both stay as they are
        ("Thebes", "bes", ()),
    ],
)
def test_what_each_rule_takes_as_the_same(one: str, other: str, rules: tuple[str, ...]) -> None:
    assert [rule for rule in SAME_ANSWER if normalised(one, rule) == normalised(other, rule)] == list(rules)


def test_the_rule_reaches_classes_and_runs() -> None:
    classes = {"Q1": {"1": {"The Hague": "S"}}}
    run = {"Q1": ["hague!", "HAGUE"]}
    for rule, expected in (("exact", 0.0), ("folded", 0.0), ("words", 1.0)):
        c = uj.load(classes, run, qa=True, same_answer=rule)
        assert uj.score(c, "RR").mean_values()[0, 0] == expected
        assert c.settings.get("same answer") == (None if rule == "exact" else rule)
    with pytest.raises(UsageError, match="same_answer can be exact, folded, words, not 'word'"):
        uj.load(classes, run, qa=True, same_answer="word")
    with pytest.raises(UsageError, match="--same-answer belongs to question answering"):
        uj.load({"1": {"d": 1}}, {"1": {"d": 1.0}}, same_answer="words")


def test_answers_that_become_one_are_told() -> None:
    classes = {"Q1": {"1": {"Paris": "S"}, "2": {"PARIS": "S"}}}
    with pytest.warns(uj.DataWarning, match="1 answer stands in two classes of a question; the first one counts"):
        uj.load(classes, {"Q1": ["paris"]}, qa=True, same_answer="folded")
