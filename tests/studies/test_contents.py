"""Contents: judged documents by topic and grade, what is odd, and the verdict about topics without relevant ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from brute_force import judged

import unjudged as uj


def test_documents_by_topic_and_grade(tiny: uj.Collection) -> None:
    result, qrels = uj.study("contents", tiny), judged(tiny)
    assert result.columns == ("topic", "grade", "documents")
    assert {(t, g): n for t, g, n in result.rows()} == {
        (t, grade): sum(g == grade for g in qrels[t].values()) for t in tiny.topics for grade in (0, 1, 2)
    }
    relevant = [sum(g > 0 for g in qrels[t].values()) for t in dict.fromkeys(r[0] for r in result.rows())]
    assert relevant == sorted(relevant, reverse=True)
    total = sum(map(len, qrels.values()))
    share = sum(relevant) / total
    assert result.verdict is not None and result.verdict.value == 0
    assert result.verdict.sentence.startswith(
        f"10 topics, 12 runs of 5 teams, {total} judgments, {100 * share:.0f} % relevant; every topic has relevant"
    )
    assert f"(fewest {min(relevant)}, " in result.caption and f"most {max(relevant)})" in result.caption


@pytest.mark.parametrize(("barren", "word"), [(0, "solid"), (1, "with care"), (4, "fragile")])
def test_topics_without_relevant_documents_decide(barren: int, word: str) -> None:
    topics = [f"t{i:02}" for i in range(30)]
    qrels = {t: {f"d{j}": int(i >= barren) for j in range(3 if i == 29 else 6)} for i, t in enumerate(topics)}
    runs = {f"r{k}": {t: {f"d{j}": float(j) for j in range(6)} for t in topics} for k in range(10)}
    result = uj.study("contents", uj.load(qrels, runs))
    verdict = result.verdict
    assert verdict is not None and verdict.word == word and verdict.value == pytest.approx(barren / 30)
    assert verdict.decided_by == tuple(topics[:barren])
    assert (verdict.next is None) == (barren == 0)
    assert "1 topic with fewer than 5 relevant documents: t29" in result.notes


def test_grades_asked_for(tiny: uj.Collection) -> None:
    high = uj.study("contents", tiny, rel=2)
    strict = sum(g > 1 for docs in judged(tiny).values() for g in docs.values()) / len(tiny.judgments)
    assert high.verdict is not None and f"{100 * strict:.0f} % relevant" in high.verdict.sentence


def test_what_the_check_finds_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    (tmp_path / "one").write_text("1 Q0 a 1 2 one\n1 Q0 b 2 2 one\n2 Q0 a 1 1 one\n")
    (tmp_path / "two").write_text("1 Q0 a 1 2 two\n1 Q0 b 2 1 two\n")
    result = uj.study("contents", uj.load(tmp_path / "qrels", [tmp_path / "one", tmp_path / "two"]))
    found = {note.split()[0]: note for note in result.notes if note.startswith("UJ")}
    assert found["UJ103"].startswith("UJ103 (warning): judged topic not answered, 1 topic in 1 file; in two: 1 topic")
    kinds = [note.split("(")[1].split(")")[0] for note in found.values()]
    assert kinds == sorted(kinds, key=["error", "warning", "info"].index) and set(kinds) == {"warning", "info"}


def test_nothing_found_is_told(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("".join(f"{t} 0 {d} {int(d == 'a')}\n" for t in "12" for d in "abc"))
    for name, docs in {"one": "abc", "two": "bac"}.items():
        lines = [f"{t} Q0 {d} {i} {9 - i} {name}\n" for t in "12" for i, d in enumerate(docs, 1)]
        (tmp_path / name).write_text("".join(lines))
    result = uj.study("contents", uj.load(tmp_path / "qrels", [tmp_path / "one", tmp_path / "two"]))
    assert any(note.startswith("the check of the files found nothing") for note in result.notes)
