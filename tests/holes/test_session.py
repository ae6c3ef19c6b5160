"""A judging session: the documents of `next`, a batch at a time, for as many judges as there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hole_cases import MICRO, drawn, lists_of, micro

import unjudged as uj
from unjudged.errors import InputError, UsageError
from unjudged.holes import session as module
from unjudged.holes.answers import merged
from unjudged.holes.judging import Question, standing
from unjudged.holes.labels import LabelFile, grades
from unjudged.holes.scale import scale_of, with_scale
from unjudged.holes.session import CONFIRM, DONE, OPEN, Outcome, Session

PAIR = Question("P@5", "d", "a")


def session(
    folder: Path, question: Question = PAIR, collection: uj.Collection | None = None, **options: Any
) -> Session:
    collection = collection or micro("pool_seen P@5")
    return Session(collection, LabelFile(folder / "l.sqlite", collection.judgments), question, **options)


def judge_all(s: Session, truth: Any, judge: str = "Ann", until: str = DONE) -> Iterator[tuple[str, str]]:
    """Judge until it is done."""
    while (pair := s.next_for("window", judge)) is not None and s.progress().phase != until:
        yield pair
        s.label(judge, *pair, truth(*pair))


def test_documents_are_those_of_next(tmp_path: Path) -> None:
    s = session(tmp_path, batch=3)

    def truth(topic: str, doc: str) -> int:
        return int(doc in ("d4", "d5"))

    answers: dict[str, dict[str, int]] = {}
    for _ in range(2):
        found = uj.next_to_judge(s.collection, "P@5", new="d", baseline="a", batch=3, answers=answers or None)
        assert not found.settled
        batch = []
        for _ in range(3):
            pair = s.next_for("w", "Ann")
            assert pair is not None and s.next_for("w", "Ann") == pair, "asking again changes nothing"
            s.label("Ann", *pair, truth(*pair))
            batch.append(pair)
        assert batch == found.for_assessors()
        for topic, doc in batch:
            answers.setdefault(topic, {})[doc] = truth(topic, doc)
    assert grades(s.labels.rows()) == answers and s.progress().judged == 6


def test_labels_count_as_in_next(tmp_path: Path, made: Any) -> None:
    """Labels put in by place (a batch must take no second) give what merging them by name gives, grade by grade."""
    collection, truth = made
    question = Question("nDCG@10", "team06-2", "team08-3")
    s = session(tmp_path, question, collection)
    given: dict[str, dict[str, int]] = {}
    for topic, doc in sorted(s.holes)[::7]:
        s.label("Ann", topic, doc, truth.get((topic, doc), 0))
        given.setdefault(topic, {})[doc] = truth.get((topic, doc), 0)
    again = session(tmp_path, question, collection)
    by_name = standing(merged(collection, given).collection, question)
    point = again.progress().points[-1]
    low, high = by_name.found.interval
    assert point.difference == pytest.approx(float(by_name.found.difference[0]), abs=1e-12)
    assert point.margin == pytest.approx(float(high[0] - low[0]) / 2, abs=1e-12)
    assert again.progress().left == by_name.labels
    s.labels.add("Ann", collection.topics[0], "in no list", 2)  # a label from a question about other runs
    other = session(tmp_path, question, collection)
    assert other.progress().judged == s.progress().judged and other.progress().points[-1] != point


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    s = session(tmp_path, batch=4)
    for _ in range(6):
        pair = s.next_for("w", "Ann")
        assert pair is not None
        s.label("Ann", *pair, 1)
    again = session(tmp_path, batch=4)
    assert again.progress().judged == 6 and again.last_of("Ann") == s.last_of("Ann")
    done = {(row.topic, row.doc) for row in s.labels.rows()}
    assert again.next_for("w2", "Ann") not in done


def test_skip_and_undo(tmp_path: Path) -> None:
    s = session(tmp_path, batch=2)
    first = s.next_for("w", "Ann")
    assert first is not None
    s.skip("Ann", *first)
    second = s.next_for("w", "Ann")
    assert second is not None and second != first
    row = s.label("Ann", *second, 1)
    assert s.last_of("Ann") == row and s.last_of("Ben") is None
    s.undo("w", "Ann", row.number)
    assert s.next_for("w", "Ann") == second and grades(s.labels.rows()) == {}
    last = s.last_of("Ann")
    assert last is not None and (last.topic, last.doc) == first
    s.undo("w", "Ann", last.number)
    assert s.next_for("w", "Ann") == first and s.last_of("Ann") is None
    s.label("Ann", *first, 0)
    assert s.next_for("w", "Ann") == second


def test_what_was_skipped_comes_last(tmp_path: Path) -> None:
    s = session(tmp_path, batch=50)
    skipped = set()
    while (pair := s.next_for("w", "Ann")) is not None:
        s.skip("Ann", *pair)
        skipped.add(pair)
    assert skipped == s.holes or len(skipped) > 5
    again = s.next_for("w", "Ann", skipped=True)
    assert again in skipped
    assert s.next_for("w2", "Ben") in skipped, "Ben has skipped nothing"


def test_two_judges_get_other_documents_and_both_labels_stay(tmp_path: Path) -> None:
    s = session(tmp_path, batch=3)
    mine = [s.next_for("w1", "Ann")]
    theirs = [s.next_for("w2", "Ben")]
    for _ in range(2):
        for client, judge, got in (("w1", "Ann", mine), ("w2", "Ben", theirs)):
            pair = got[-1]
            assert pair is not None
            s.label(judge, *pair, 1)
            got.append(s.next_for(client, judge))
    assert set(mine).isdisjoint(theirs)
    pair = mine[0]
    assert pair is not None
    s.label("Ben", *pair, 0)
    assert [row.judge for row in s.labels.rows() if (row.topic, row.doc) == pair] == ["Ann", "Ben"]
    assert grades(s.labels.rows())[pair[0]][pair[1]] == 1, "a tie goes to the judge who began"


def test_a_silent_judge_loses_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s = session(tmp_path, batch=3)
    first = s.next_for("w1", "Ann")
    monkeypatch.setattr(module, "RESERVED", -1.0)
    assert s.next_for("w2", "Ben") == first


def test_another_process_is_seen(tmp_path: Path) -> None:
    s, other = session(tmp_path, batch=2), session(tmp_path, batch=2)
    pair = s.next_for("w", "Ann")
    assert pair is not None and other.next_for("v", "Ben") == pair
    other.label("Ben", *pair, 1)
    assert s.next_for("w", "Ann") != pair and s.progress().judged == 1


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[uj.Collection, dict[tuple[str, str], int]]:
    out = tmp_path_factory.mktemp("session") / "sim"
    uj.simulate("tiny", seed=1, topics=30, runs=16, teams=8, leave_out=["team04"], out=out)
    full = uj.load(out / "qrels.txt", out / "runs", teams=out / "teams.tsv")
    truth = {}
    for line in (out / "truth.txt").read_text().splitlines():
        topic, _, doc, grade = line.split()
        truth[topic, doc] = int(grade)
    return uj.shallow(full, 2), truth


def test_until_it_is_settled_and_confirmed(tmp_path: Path, made: Any) -> None:
    collection, truth = made
    question = Question("nDCG@10", "team06-2", "team08-3")
    s = session(tmp_path, question, collection)
    start = s.progress()
    assert (start.phase, start.headline, start.left) == (OPEN, "Not decided yet", 14)
    assert start.sentence == "About 14 more labels." and start.points[0].near < 1
    phases: list[tuple[str, int]] = []
    grade = lambda topic, doc: truth.get((topic, doc), 0)  # noqa: E731
    for _ in judge_all(s, grade):
        now = s.progress()
        phases.append((now.phase, now.judged))
    settled = [many for phase, many in phases if phase == CONFIRM]
    assert settled == list(range(settled[0], settled[0] + 10)) and settled[0] % 10 == 0 and settled[0] > 0
    assert (s.progress().phase, s.progress().judged) == (DONE, settled[-1] + 1)
    answers = grades(s.labels.rows())
    found = uj.next_to_judge(collection, "nDCG@10", new="team06-2", baseline="team08-3", answers=answers)
    assert found.settled
    again = session(tmp_path, question, collection)
    assert again.progress().phase == DONE, "a session that begins anew knows that it was confirmed"
    assert again.progress().points[-1].near == s.progress().points[-1].near
    assert again.next_for("w", "Ann") is not None, "who wants to may judge on"


def test_the_direction_is_told_to_those_who_ask(tmp_path: Path, made: Any) -> None:
    collection, _ = made
    s = session(tmp_path, Question("nDCG@10", "team06-2", "team08-3"), collection)
    progress = s.progress()
    shown = f"{progress.headline} {progress.sentence}"
    assert "better" not in shown and "worse" not in shown and "team" not in shown
    outcome = s.outcome()
    point = progress.points[-1]
    assert outcome.word == "cannot tell" and point.difference is not None and point.margin is not None
    assert outcome.sentence.startswith("team06-2 against team08-3 by nDCG@10: ") and "give or take" in outcome.sentence
    turned = session(tmp_path, Question("nDCG@10", "team08-3", "team06-2"), collection)
    other = turned.progress()
    assert (other.headline, other.sentence, other.points[-1].near) == (  # type: ignore[comparison-overlap]
        progress.headline,
        progress.sentence,
        pytest.approx(point.near),
    ), "what is shown does not know which run is ahead"


def test_several_pairs(tmp_path: Path, made: Any) -> None:
    collection, _ = made
    s = session(tmp_path, Question("nDCG@10", top=2), collection)
    assert s.aim.name == "the best 2 runs against the other 14"
    assert s.progress().headline.endswith("pairs still open") and s.outcome().word.endswith("pairs decided")
    pair = s.next_for("w", "Ann")
    assert pair in s.holes
    every = session(tmp_path, Question("nDCG@10", all_pairs=True, correction="none"), collection)
    assert every.progress().phase in (OPEN, DONE)


def test_decided_pairs_are_counted(tmp_path: Path) -> None:
    """Nothing is unjudged; a is far ahead in every topic, b and c win three topics each by as much."""
    hits = {"a": (4, 5, 4, 5, 4, 5), "b": (1, 0, 1, 0, 1, 0), "c": (0, 1, 0, 1, 0, 1)}
    runs = {run: {f"t{t}": [f"{run}{i}" for i in range(5)] for t in range(6)} for run in hits}
    judged = {f"t{t}": {f"{run}{i}": int(i < of[t]) for run, of in hits.items() for i in range(5)} for t in range(6)}
    s = session(tmp_path, Question("P@5", all_pairs=True), uj.load(judged, lists_of(runs)))
    assert s.outcome() == Outcome("2 of 3 pairs decided", "all pairs of 3 runs, by P@5.")


def test_a_few_open_pairs_are_told_as_a_share(tmp_path: Path) -> None:
    s = session(tmp_path, Question("P@5"))
    s._now = SimpleNamespace(found=SimpleNamespace(holes=np.ones(1)), aim=s.aim, votes=np.ones(1, bool))  # type: ignore[assignment]
    assert s._how_settled() == "Fewer than 5 % of the pairs are open for want of judgments"


# -- odd questions and odd collections


def test_no_holes(tmp_path: Path) -> None:
    qrels, runs = drawn(3, 3, 5, 8, 1.0)
    docs = sorted({doc for lists in runs.values() for docs in lists.values() for doc in docs})
    full = {topic: dict.fromkeys(docs, 0) | given for topic, given in qrels.items()}
    s = session(tmp_path, Question("P@5", "r0", "r1"), uj.load(full, lists_of(runs)))
    assert s.next_for("w", "Ann") is None
    assert (s.progress().phase, s.progress().headline) == (DONE, "Nothing is left to judge")


def test_all_holes_and_one_topic(tmp_path: Path) -> None:
    qrels, runs = drawn(5, 3, 9, 10, 0.0)
    s = session(tmp_path, Question("P@5"), uj.load(qrels, lists_of(runs)))
    assert s.next_for("w", "Ann") in s.holes
    qrels, runs = drawn(3, 3, 1, 8, 0.3)
    (tmp_path / "one").mkdir()
    one = session(tmp_path / "one", Question("P@5", "r0", "r1"), uj.load(qrels, lists_of(runs)))
    assert one.progress().phase == DONE and one.progress().headline == "More topics are needed, not more labels"
    assert one.outcome().word == "cannot tell" and one.outcome().sentence.endswith("one topic is too few.")


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (Question("AP@5"), "cannot lead the judging"),
        (Question("RR"), "cannot lead the judging"),
        (Question("P@5, P@3"), "one measure at a time"),
        (Question("P@5", "d"), "name both"),
        (Question("P@5", "d", "x"), "no run 'x'"),
        (Question("P@5", top=9), "k is 1 to 3"),
    ],
)
def test_questions_that_are_refused(question: Question, says: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=says):
        session(tmp_path, question)


def test_one_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two runs are needed"):
        session(tmp_path, Question("P@5"), micro("pool_seen P@5").with_runs(["a"]))


def test_labels_that_are_refused(tmp_path: Path) -> None:
    s = session(tmp_path)
    pair = s.next_for("w", "Ann")
    assert pair is not None
    for grade in (2, -1, True, "1", None, 0.5):
        with pytest.raises(UsageError, match="a grade is a whole number from 0 to 1"):
            s.label("Ann", *pair, grade)  # type: ignore[arg-type]
    judged = next((topic, doc) for topic, docs in MICRO["qrels"].items() for doc in docs)
    for strange in (judged, ("99", pair[1]), (pair[0], "nowhere")):
        with pytest.raises(UsageError, match="not among those to judge"):
            s.label("Ann", strange[0], strange[1], 1)
        with pytest.raises(UsageError, match="not among those to judge"):
            s.skip("Ann", *strange)
    assert s.labels.rows() == []


def test_the_scale() -> None:
    collection = micro("pool_seen P@5")
    assert [grade.name for grade in scale_of(collection)] == ["Not relevant", "Relevant"]
    assert [grade.name for grade in scale_of(collection, "3")][::3] == ["Irrelevant", "Perfect"]
    assert [grade.name for grade in scale_of(collection, "no, maybe,yes")] == ["no", "maybe", "yes"]
    assert [grade.number for grade in scale_of(collection, "9")] == list(range(10))
    assert with_scale(collection, 3).judgments.gains.top_grade == 3 and with_scale(collection, 1) is collection
    wide = uj.load({"1": {"a": 3}}, {"r": {"1": {"a": 1.0}}})
    with pytest.raises(UsageError, match="a scale up to 2 is too short"):
        scale_of(wide, "no,maybe,yes")
    for given, says in (("12", "keys for the grades 0 to 9"), ("0", "1 at least"), ("a,,b,c", "needs a name")):
        with pytest.raises(UsageError, match=says):
            scale_of(wide, given)
    with pytest.raises(UsageError, match="a scale up to 2 is too short"):
        scale_of(wide, "2")
    with pytest.raises(UsageError, match="keys for the grades 0 to 9"):
        scale_of(uj.load({"1": {"a": 57}}, {"r": {"1": {"a": 1.0}}}))


def test_labels_beyond_the_scale(tmp_path: Path) -> None:
    """A file that was begun with a longer scale: the session says so rather than count a grade wrongly."""
    collection = micro("pool_seen P@5")
    s = session(tmp_path, PAIR, with_scale(collection, 3))
    pair = s.next_for("w", "Ann")
    assert pair is not None
    s.label("Ann", *pair, 3)
    with pytest.raises(InputError, match="outside the scale 0 to 1"):
        session(tmp_path, PAIR, collection)
