"""Judgments of machines and rating tools, and leaderboards, in the forms people have them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from files_of_tools import (
    DOCCANO,
    JSONL,
    OPENSEARCH,
    QUEPID,
    QUEPID_BOOK,
    QUEPID_BOOK_JSON,
    QUEPID_CASE,
    QUEPID_NOT_YET,
    TASKS,
    TOT,
)

import unjudged as uj
from unjudged.changes.rejudge import judgments_of
from unjudged.cli import main
from unjudged.collection.load import read_collection
from unjudged.errors import InputError
from unjudged.io.formats import every_judge, qrels_format
from unjudged.io.leaderboards import read_leaderboard
from unjudged.io.line_numbers import line_numbers
from unjudged.io.machine_grades import number_of
from unjudged.io.trec import Reading

GOOD = {
    "annotations, doccano": (DOCCANO, {("1", "a"): 2, ("1", "b"): 0}),
    "annotations, Label Studio": (json.dumps(TASKS, indent=1), {("1", "a"): 2, ("1", "b"): 0}),
    "machine_trec": ("1 0 a 2.0\n1 0 b 1.5\n2 Q0 c 0.2\n", {("1", "a"): 2, ("1", "b"): 2, ("2", "c"): 0}),
    "machine_trec, objects": ('1 0 a {"M": 1, "T": 2, "O": 3}\n1 0 b {"grade": "0"}\n', {("1", "a"): 3, ("1", "b"): 0}),
    "machine_jsonl": (JSONL, {("1", "a"): 2, ("1", "b"): 1}),
    "machine_jsonl, objects": ('{"qid": "1", "docno": "a", "relevance": {"O": 1}}\n', {("1", "a"): 1}),
    "quepid": (QUEPID, {("red, dress", "a"): 3, ("q2", "c"): 0}),
    "quepid, a query without ratings": (QUEPID_NOT_YET, {("red, dress", "a"): 3, ("q2", "c"): 0}),
    "quepid, a book of one judge": ("query,docid,Unknown\nred dress,a,3\nq2,c,\n", {("red dress", "a"): 3}),
    "quepid, a case": (json.dumps(QUEPID_CASE, indent=2), {("Willis", "1634"): 0, ("Willis", "7"): 3}),
    "quepid, a case on one line": (json.dumps(QUEPID_CASE), {("Willis", "1634"): 0, ("Willis", "7"): 3}),
    "quepid, ratings as JSON": (
        json.dumps({"queries": [{"query": "q", "ratings": {"a": 1, "b": 0}}, {"query": "r", "ratings": None}]}),
        {("q", "a"): 1, ("q", "b"): 0},
    ),
    "opensearch": (json.dumps(OPENSEARCH), {("red dress", "a"): 3, ("red dress", "b"): 0, ("q2", "a"): 1}),
    "opensearch, found": (
        json.dumps({"hits": {"hits": [{"_source": OPENSEARCH}]}}, indent=1),
        {("red dress", "a"): 3, ("red dress", "b"): 0, ("q2", "a"): 1},
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_recognised_and_read(name: str, tmp_path: Path) -> None:
    text, wanted = GOOD[name]
    file = tmp_path / "labels"
    file.write_text(text)
    assert qrels_format(str(file)) == name.partition(",")[0]
    assert grades_of(str(file)) == wanted


def grades_of(source: str) -> dict[tuple[str, str], int]:
    found = judgments_of(source)
    return {(found.topics[int(t)], found.docs[row]): int(found.grade[row]) for row, t in enumerate(found.topic)}


@pytest.mark.parametrize("text", [QUEPID_BOOK, json.dumps(QUEPID_BOOK_JSON, indent=2), json.dumps(QUEPID_BOOK_JSON)])
def test_a_quepid_book_holds_its_judges(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By hand: the first judge gave a a 3, the second a 2; somebody without an account gave b a 1 in the JSON."""
    path = str(tmp_path / "book")
    (tmp_path / "book").write_text(text)
    first, second, *unknown = every_judge(path)
    assert qrels_format(path) == "quepid" and first.startswith(f"{path}#")
    assert grades_of(first).items() >= {("red dress", "a"): 3}.items() and ("red dress", "b") not in grades_of(first)
    rest = {pair: grade for name in (second, *unknown) for pair, grade in grades_of(name).items()}
    assert rest == {("red dress", "a"): 2, ("red dress", "b"): 1}
    assert [name.rpartition("#")[2] for name in unknown] == ["Unknown"] * len(unknown)
    assert main(["judges", "audit", first, path, "--format", "tsv"]) == 0
    assert capsys.readouterr().out
    assert main(["score", f"{path}#nobody", path]) == 2
    assert "no judge 'nobody' here" in capsys.readouterr().err


def test_lines_of_a_judge_in_a_book(tmp_path: Path) -> None:
    (tmp_path / "book.csv").write_text("query,docid,Ann,Bob\nq,a,,1\nq,b,2,1\n")
    assert line_numbers(f"{tmp_path / 'book.csv'}#Ann", [("q", "a"), ("q", "b")]) == [None, 3]
    assert line_numbers(f"{tmp_path / 'book.csv'}#Bob", [("q", "a"), ("q", "b")]) == [2, 3]


def test_rounded_grades_are_told(tmp_path: Path) -> None:
    (tmp_path / "labels").write_text(GOOD["machine_trec"][0])
    notes = read_collection(str(tmp_path / "labels"), [], Reading(), need_runs=False).notes
    assert (
        len(notes) == 1
        and "2 grades were no whole numbers and are rounded, halves up (line 2: 1.5 becomes 2)" in notes[0]
    )


@pytest.mark.parametrize(
    ("grade", "number"),
    [
        (2, 2.0),
        ("2.5", 2.5),
        ('{"O": "1"}', 1.0),
        ({"score": {"grade": 1}}, 1.0),
        ("relevant", None),
        (True, None),
        ("inf", None),
        ("{", None),
        (None, None),
        ({"reason": "x"}, None),
        ({"o": {"o": {"o": {"o": {"o": 1}}}}}, None),
    ],
)
def test_what_counts_as_a_grade(grade: Any, number: float | None) -> None:
    assert number_of(grade) == number


@pytest.mark.parametrize(
    ("text", "format", "sentence"),
    [
        ("1 0 a 2.0\n1 0 b relevant\n", None, r":2: the grade 'relevant' of b is not a number"),
        ("1 0 a 2.0\n1 0\n", None, r":2: a judgment needs 4 fields"),
        (
            JSONL + JSONL.replace('"gpt"', '"llama"'),
            None,
            r":3: this file holds 2 judges \(gpt/v1 and llama/v1\), and one is needed",
        ),
        (JSONL.replace('"1", "judge"', '"yes", "judge"'), None, r":2: the grade 'yes' of b is not a number"),
        ("query,docid,rating\nq,a\n", None, r":2: 3 columns are needed, found 2"),
        ("query,docid,rating\nq,a,good\n", None, r":2: the grade 'good' of a is not a number"),
        ("query,doc,stars\nq,a,1\n", "quepid", r":1: Quepid's ratings need the columns query, docid and rating"),
        ("query,docid,rating\nq,a,\n", None, "no judgments in this file"),
        ("query,docid,Ann,Ann\nq,a,1,2\n", None, "two columns of this book have one name"),
        ("query,docid,Ann,Bob\nq,a,1\n", None, r":2: 4 columns are needed, found 3"),
        ('query,docid,rating\nq,"a\n', None, r"columns are needed|no judgments|cannot be read"),
        (QUEPID_BOOK, None, r"this file holds 2 judges \(Ann Lee and b@example.org\), and one is needed: name one"),
        ('{"query_doc_pairs": [{"query_text": "q", "judgements": []}]}', None, "an entry needs a query, a doc_id"),
        (
            '{"query_doc_pairs": [{"query_text": "q", "doc_id": "a", "judgements": [3]}]}',
            None,
            "needs doc_id and rating",
        ),
        ('{"query_doc_pairs": [], "x": 1}', None, "no judgments in this file"),
        ('{"queries": [{"query": "q", "ratings": [{"doc_id": "a", "rating": "x"}]}]}', None, "rating 1: the grade 'x'"),
        ('{"queries": [{"ratings": []}]}', None, "an entry needs a query and its ratings"),
        ('{"queries": 3}', "quepid", "needs a list query_doc_pairs or queries"),
        ('{"judgmentRatings": [{"query": "q", "ratings": [{"docId": "a"}]}]}', None, "needs docId and rating"),
        ('{"judgmentRatings": [{"query": "q"}]}', None, "needs a query and a list of ratings"),
        ('{"judgmentRatings": 3}', None, "one judgment list is needed"),
        (DOCCANO.replace('"2"', '"good"'), None, r":1: the grade 'good' of a is not a number"),
        (DOCCANO.replace('["2"]', '["2", "1"]'), None, r":1: a document has one label, found \['2', '1'\]"),
        (json.dumps([{"data": {"text": "x"}, **TASKS[0]}, {"data": 3}]), None, "task 2 needs data with topic"),  # type: ignore[dict-item]
        (DOCCANO.splitlines()[2] + "\n", None, "no judgments in this file"),
        (
            '{"judgmentRatings": [{"query": "q", "ratings": [{"docId": "a", "rating": "x"}]}]}',
            None,
            "rating 1: the grade",
        ),
    ],
)
def test_bad_files_get_a_sentence(text: str, format: str | None, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "labels"
    file.write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_collection(str(file), [], Reading(), need_runs=False, qrels_format=format)


def test_leaderboards(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TOT)
    found = read_leaderboard(str(tmp_path / "a.txt"))
    assert (found.runs, found.measures, found.topics) == (("r1", "r2"), ("F1",), ("t1", "t2"))
    assert found.values["r2", "F1", "t2"] == 0.5 and found.overall == {("r1", "F1"): 0.9, ("r2", "F1"): 0.1}
    lines = [
        json.dumps({"run_id": r, "topic_id": t, "measure": m, "value": v, "more": 1})
        for r, m, t, v in (line.split() for line in TOT.splitlines())
    ]
    (tmp_path / "b.jsonl").write_text("\n".join(lines))
    assert read_leaderboard(str(tmp_path / "b.jsonl")).values == found.values
    for order in (
        (0, 2, 1),
        (2, 0, 1),
    ):  # AutoJudge's ir_measures (run topic measure) and rag4reports (topic run measure)
        rows = [line.split() for line in TOT.splitlines()]
        text = "".join("\t".join([row[i] for i in order] + row[3:]) + "\n" for row in rows)
        (tmp_path / "c.txt").write_text(text)
        again = read_leaderboard(str(tmp_path / "c.txt"))
        assert (again.values, again.overall) == (found.values, found.overall)
    for text, sentence in (
        ("r1 F1 all 0.4\nr1 all F1 0.5\n", "'all' appears in several columns"),
        ("r1 F1 t1\n", ":1: a leaderboard line has run, measure, topic and value, found 3 fields"),
        ("r1 F1 t1 0.4\nr1 F1 t1 0.5\n", ":2: F1 of run r1 in topic t1 is given twice"),
        ("r1 F1 t1 high\n", ":1: a value is a number, found 'high'"),
        ('{"run_id": "r"}\n', ":1: a leaderboard line needs run_id"),
        ("{]\n", ":1: this line is not JSON"),
        ("# nothing\n", "no scores in this leaderboard"),
    ):
        (tmp_path / "bad").write_text(text)
        with pytest.raises(InputError, match=sentence):
            read_leaderboard(str(tmp_path / "bad"))


def test_leaderboards_of_means_alone_and_of_other_measures(tmp_path: Path) -> None:
    """Every pair of measures where no name is shared; a, b, c against a, c, b agree on two of three pairs."""
    (tmp_path / "truth").write_text("a F1 all 0.9\nb F1 all 0.5\nc F1 all 0.1\n")
    (tmp_path / "judge").write_text(
        "a Best all 0.8\nb Best all 0.2\nc Best all 0.6\na Worst all 1\nb Worst all 2\nc Worst all 3\n"
    )
    (tmp_path / "topics").write_text("a F1 t1 1\nb F1 t1 2\nc F1 t1 3\n")  # nothing in common with the means
    found = uj.compare_leaderboards(tmp_path / "truth", [tmp_path / "judge", tmp_path / "topics"], resamples=5)
    best, worst, topics = (dict(zip(found.columns, row, strict=True)) for row in found.rows())
    assert {value for name, value in topics.items() if name not in found.columns[:5]} == {None}
    assert (best["judge_measure"], worst["judge_measure"]) == ("Best", "Worst")
    assert (best["tau"], worst["tau"]) == (pytest.approx(1 / 3), pytest.approx(-1))
    assert {(row["topics"], row["tau_low"], row["misses"], row["changed"]) for row in (best, worst)} == {
        (0, None, None, None)
    }
    shown = str(found).splitlines()[1].split()
    assert shown[:6] == ["judge", "F1", "Best", "3", "0", "0.3333"]


def test_leaderboards_out_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `score` writes as a leaderboard is read back; a leaderboard agrees with itself, and with the audit."""
    folder = tmp_path / "c"
    uj.simulate("tiny", seed=5, out=folder, topics=12, runs=8, teams=4)
    files = {"qrels.txt": "tot", "truth.txt": "autojudge"}
    for name, format in files.items():
        call = ["score", str(folder / name), str(folder / "runs"), "-q", "-m", "AP", "--format", format]
        assert main([*call, "-o", str(tmp_path / f"{name}.board")]) == 0
    board = read_leaderboard(str(tmp_path / "qrels.txt.board"))
    c = uj.load(folder / "qrels.txt", folder / "runs")
    scores = uj.score(c, "AP")
    for r, run in enumerate(scores.runs):
        assert [board.values[run, "AP", t] for t in scores.topics] == scores.matrix("AP")[:, r].tolist()
        assert board.overall[run, "AP"] == pytest.approx(scores.matrix("AP")[:, r].mean())
    boards = [str(tmp_path / f"{name}.board") for name in files]
    assert (
        main(["judges", "leaderboards", boards[0], boards[0], boards[1], "--resamples", "20", "--format", "tsv"]) == 0
    )
    head, same, other = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    told = dict(zip(head, same, strict=True))
    assert (float(told["tau"]), float(told["changed"])) == (1.0, 0.0)
    told = dict(zip(head, other, strict=True))
    human, machine = (uj.load(folder / name, folder / "runs") for name in files)
    sides = [uj.score(side, "AP").matrix("AP") for side in (human, machine)]
    from scipy.stats import kendalltau

    assert float(told["tau"]) == pytest.approx(kendalltau(*(s.mean(axis=0).round(12) for s in sides)).statistic)
    assert main(["judges", "leaderboards", boards[0], boards[1], "--resamples", "20"]) == 0
    first, second = (re.split(r"  +", line) for line in capsys.readouterr().out.splitlines()[:2])
    shown = dict(zip(first, second, strict=True))
    assert (shown["judge"], shown["runs"], shown["topics"]) == ("truth.txt.board", "8", "12")
    assert float(shown["tau"]) == pytest.approx(float(told["tau"]), abs=1e-4) and shown["changed"].endswith(" %")
    (tmp_path / "few").write_text("x AP all 1\n")
    assert main(["judges", "leaderboards", boards[0], str(tmp_path / "few")]) == 2
    assert main(["judges", "leaderboards", boards[0]]) == 2
    told_err = capsys.readouterr().err
    assert "at least two runs in common" in told_err and "at least one other judge" in told_err
