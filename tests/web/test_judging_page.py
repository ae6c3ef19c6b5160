"""The judging page without a browser: what it answers, what it keeps to itself, what it says when it cannot save."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from local_page import Served

import unjudged as uj
from unjudged.holes import labels as label_module
from unjudged.holes.judging import Question
from unjudged.holes.labels import LabelFile
from unjudged.reporting.page import asset
from unjudged.web import judging
from unjudged.web.judging import LONGEST, Desk, Judging

PAIR = Question("nDCG@10", "team06-2", "team08-3")
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("judging") / "sim"
    uj.simulate("tiny", seed=1, topics=30, runs=16, teams=8, leave_out=["team04"], out=out)
    return out


@pytest.fixture(scope="module")
def collection(folder: Path) -> uj.Collection:
    return uj.shallow(uj.load(folder / "qrels.txt", folder / "runs", teams=folder / "teams.tsv"), 2)


@pytest.fixture(scope="module")
def texts(folder: Path, collection: uj.Collection) -> dict[str, str]:
    (folder / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": t, "text": f"query {t} {HOSTILE}"}) + "\n" for t in collection.topics)
    )
    docs = sorted({doc for path in (folder / "runs").iterdir() for doc in _documents(path)})
    with (folder / "corpus.jsonl").open("wb") as file:
        for place, doc in enumerate(docs):
            if place % 3 == 0:  # bytes that are not UTF-8
                file.write(b'{"_id": "%b", "title": "T", "text": "caf\xe9 ' % doc.encode() + b'<b>bold</b>"}\n')
            elif place % 3 == 1:
                file.write(json.dumps({"_id": doc, "text": HOSTILE + "x" * LONGEST}).encode() + b"\n")
    return {"queries": str(folder / "queries.jsonl"), "corpus": str(folder / "corpus.jsonl")}


def _documents(path: Path) -> set[str]:
    return {line.split()[2] for line in path.read_text().splitlines()}


class Table:
    """A served page and a judge at it."""

    def __init__(self, served: Served, labels: Path) -> None:
        self.served, self.labels = served, labels

    def ask(self, do: str = "look", judge: str = "Ann", client: str = "w", **words: Any) -> Any:
        body = {"do": do, "judge": judge, "client": client, **words}
        return self.served.client.post("/api/judging", content=json.dumps(body), headers=self.served.token)

    def look(self, **words: Any) -> dict[str, Any]:
        answer = self.ask(**words)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def label(self, shown: dict[str, Any], grade: Any, **words: Any) -> Any:
        document = shown["document"]
        return self.ask("label", topic=document["topic"], document=document["document"], grade=grade, **words)


@pytest.fixture
def table(collection: uj.Collection, tmp_path: Path, texts: dict[str, Any]) -> Iterator[Table]:
    path = tmp_path / "labels.sqlite"
    desk = Desk(collection, Judging(str(path), "Ann", question=PAIR, batch=3, **texts))
    with Served(collection, desk=desk) as served:
        yield Table(served, path)


def test_a_label_is_on_disk_before_the_answer(table: Table, collection: uj.Collection) -> None:
    shown = table.look()
    for grade in (0, 2, 1, 1):
        document = shown["document"]
        answer = table.label(shown, grade)
        row = LabelFile(table.labels, collection.judgments).rows()[-1]
        assert (row.judge, row.topic, row.doc, row.grade) == ("Ann", document["topic"], document["document"], grade)
        shown = answer.json()
        assert shown["last"] == {"number": row.number, "kind": "label", "grade": grade, "document": row.doc}
        assert shown["document"] != document
    assert shown["judged"] == 4 and [point["labels"] for point in shown["points"]] == [0, 3]
    back = table.ask("undo", number=shown["last"]["number"]).json()
    assert back["judged"] == 3 and back["document"]["document"] == shown["last"]["document"]
    skipped = table.ask("skip", topic=back["document"]["topic"], document=back["document"]["document"]).json()
    assert skipped["document"] != back["document"] and skipped["last"]["kind"] == "skip"


def test_notes_are_kept_beside_the_labels(table: Table, collection: uj.Collection) -> None:
    shown = table.look()["document"]
    asked = {"topic": shown["topic"], "document": shown["document"]}
    assert shown["note"] == "" and table.served.client.get("/api/judging/notes").status_code == 400
    table.ask("note", text="first thought", **asked)
    after = table.ask("note", text=" half of it is\n about ticks ", **asked).json()
    assert (
        after["document"]["note"] == "half of it is about ticks" and after["document"]["document"] == shown["document"]
    )
    table.ask("note", judge="Ben", text="=1+1", **asked)
    file = LabelFile(table.labels, collection.judgments)
    assert [(n.judge, n.topic, n.doc, n.text) for n in file.notes()] == [
        ("Ann", shown["topic"], shown["document"], "half of it is about ticks"),
        ("Ben", shown["topic"], shown["document"], "=1+1"),
    ]
    assert file.rows() == [] and after["judged"] == 0, "a note is no label"
    told = table.served.client.get("/api/judging/notes").text.splitlines()
    assert told[0].split("\t") == ["topic", "document", "judge", "time", "note"] and len(told) == 3
    assert told[1].split("\t")[:3] == [shown["topic"], shown["document"], "Ann"] and told[1].endswith("about ticks")
    table.ask("note", text="", **asked)
    assert [note.judge for note in file.notes()] == ["Ben"]
    for text in ("x" * 2001, "bell \x07", None):
        assert table.ask("note", text=text, **asked).status_code == 400
    assert table.ask("note", text="of nothing", topic="no", document="no").status_code == 400
    assert len(file.notes()) == 1


def test_what_judges_are_not_shown(table: Table, collection: uj.Collection) -> None:
    answer = table.ask()
    names = [run for run in collection.runs if run in answer.text]
    assert sorted(names) == ["team06-2", "team08-3"], "the runs asked about, nothing of who brought the document"
    shown = answer.json()
    assert set(shown["document"]) == {"topic", "document", "query", "need", "title", "text", "known", "more", "note"}
    assert shown["outcome"] is None and all(set(point) == {"labels", "near"} for point in shown["points"])
    for word in ("better", "worse", "chance", "rank"):
        assert word not in answer.text
    asked = table.look(outcome=True)
    assert asked["outcome"]["word"] == "cannot tell" and "give or take" in asked["outcome"]["sentence"]
    assert all(set(point) == {"labels", "near", "difference", "margin"} for point in asked["points"])


def test_texts_are_data(table: Table) -> None:
    """HTML stays text, bytes that are no text are written out, a long text is cut, a missing one is said to be."""
    kinds = set()
    for _ in range(12):
        answer = table.ask()
        assert "<" not in answer.text, "JSON that could be put into a page"
        document = answer.json()["document"]
        assert HOSTILE in document["query"]
        if not document["known"]:
            kinds.add("missing")
            assert document["text"] == document["title"] == ""
        elif document["title"]:
            kinds.add("bytes")
            assert (document["title"], document["text"]) == ("T", "caf\\xe9 <b>bold</b>")
        else:
            kinds.add("long")
            assert document["text"].startswith(HOSTILE) and len(document["text"]) == LONGEST
            assert document["more"] == len(HOSTILE)
        table.ask("skip", topic=document["topic"], document=document["document"])
    assert kinds == {"missing", "bytes", "long"}


def test_the_question_comes_with_the_address(table: Table) -> None:
    assert table.look()["question"] == "team06-2 against team08-3, by nDCG@10"
    other = table.look(question={"new": "team01-1", "baseline": "team02-1", "measure": "P@5"})
    assert other["question"] == "team01-1 against team02-1, by P@5"
    assert table.look(question={"top": "2"})["question"] == "the best 2 runs against the other 14, by nDCG@10"
    assert table.look(question={"all": "yes"})["question"] == "all pairs of 16 runs, by nDCG@10"
    for question, says in (
        ({"new": "team01-1"}, "name both"),
        ({"new": "x", "baseline": "team01-1"}, "no run 'x'"),
        ({"top": "x"}, "k is a whole number"),
        ({"depth": "3"}, "a question knows no 'depth'"),
        ({"measure": "AP"}, "cannot lead the judging"),
        ({"measure": "nonsense"}, "nonsense"),
        ([], "a question is an object"),
    ):
        answer = table.ask(question=question)
        assert answer.status_code == 400 and says in answer.text


ODD: list[tuple[dict[str, Any], str]] = [
    ({"do": "delete"}, "the page cannot 'delete'"),
    ({"do": "label"}, "topic is a text"),
    ({"do": "label", "topic": "101", "document": "nowhere", "grade": 1}, "not among those to judge"),
    ({"do": "undo", "number": 7}, "nothing to take back"),
    ({"do": "undo", "number": "x"}, "nothing to take back"),
    ({"judge": ""}, "judge is a text"),
    ({"do": "skip", "judge": "x" * 99}, "topic is a text"),
    ({"client": None}, "client is a text"),
]


def test_odd_requests(table: Table) -> None:
    for words, says in ODD:
        answer = table.ask(**words)
        assert answer.status_code == 400 and says in answer.text
    shown = table.look()
    for grade in (9, -1, "1", None, [1], 1.0):
        refused = table.label(shown, grade)
        assert refused.status_code == 400 and "a grade is a whole number from 0 to 2" in refused.text
    assert table.label(shown, 1, judge="x" * 99).status_code == 400
    assert not table.labels.exists()


def test_labels_need_the_token(table: Table) -> None:
    for headers in ({}, {"X-Unjudged-Token": "x"}, {**table.served.token, "Origin": "http://evil.example"}):
        answer = table.served.client.post("/api/judging", content="{}", headers=headers)
        assert answer.status_code == 403
    assert table.served.client.post("/api/judging", content="[", headers=table.served.token).status_code == 400
    assert table.served.client.get("/judge/../web/app.py").status_code == 404
    assert table.served.client.get("/judge/app.py").status_code == 404


def test_the_page_holds_no_script_of_others(table: Table) -> None:
    assert 'href="/judge"' in table.served.client.get("/").text
    page = table.served.client.get("/judge")
    assert page.status_code == 200 and "script-src 'self'" in page.headers["content-security-policy"]
    assert "labels.sqlite" in page.text and "style=" not in page.text and "http://" not in page.text
    for name in ("tokens.css", "judge.css", "judge.js"):
        assert table.served.client.get(f"/judge/{name}").status_code == 200


def test_downloads(table: Table, collection: uj.Collection, tmp_path: Path) -> None:
    nothing = table.served.client.get("/api/judging/judgments")
    assert nothing.status_code == 400 and nothing.text == "there are no labels yet"
    shown, given = table.look(), {}
    for grade in (2, 0, 1):
        given[shown["document"]["topic"], shown["document"]["document"]] = grade
        shown = table.label(shown, grade).json()
    table.label(shown, 1, judge="Ben")
    given[shown["document"]["topic"], shown["document"]["document"]] = 1
    alone = table.served.client.get("/api/judging/judgments")
    assert "attachment" in alone.headers["content-disposition"]
    assert {(line.split()[0], line.split()[2]): int(line.split()[3]) for line in alone.text.splitlines()} == given
    (tmp_path / "all.txt").write_text(table.served.client.get("/api/judging/judgments?which=all").text)
    judgments = uj.load(tmp_path / "all.txt", {"r": {"101": {"x": 1.0}}}).judgments
    assert len(judgments) == len(collection.judgments) + 4


def test_trouble_is_one_sentence_and_nothing_is_lost(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = table.look()
    shown = table.label(shown, 1).json()
    connect = label_module.connect

    def broken(path: str, mode: str) -> sqlite3.Connection:
        connection = connect(path, mode)
        connection.execute("PRAGMA query_only = ON")
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(label_module, "connect", broken)
        answer = table.label(shown, 1)
        assert answer.status_code == 400
        assert answer.text.endswith("labels.sqlite: the label file is read-only; nothing was saved")
    answer = table.label(shown, 1)
    assert answer.status_code == 200 and answer.json()["judged"] == 2


def test_a_file_of_another_collection_is_said_on_the_page(collection: uj.Collection, tmp_path: Path) -> None:
    other = uj.load({"1": {"a": 1}}, {"r": {"1": {"a": 1.0}}})
    LabelFile(tmp_path / "l.sqlite", other.judgments).add("Ann", "1", "a", 1)
    with Served(collection, desk=Desk(collection, Judging(str(tmp_path / "l.sqlite")))) as served:
        assert served.client.get("/").status_code == 200, "the report does not need it"
        answer = served.client.get("/judge")
        assert answer.status_code == 400 and "these are labels of other judgments" in answer.text


def test_a_longer_scale(collection: uj.Collection, tmp_path: Path) -> None:
    path = str(tmp_path / "l.sqlite")
    with Served(collection, desk=Desk(collection, Judging(path, question=PAIR, scale="no,weak,good,best"))) as served:
        table = Table(served, Path(path))
        assert "best" in served.client.get("/judge").text
        assert table.label(table.look(), 3).status_code == 200
    again = Desk(collection, Judging(path, question=PAIR))
    assert [grade.number for grade in again.scale] == [0, 1, 2, 3], "labels that are there set the scale"
    assert again.session(PAIR).progress().judged == 1


def test_a_run_that_is_added_can_be_judged(collection: uj.Collection, folder: Path, tmp_path: Path) -> None:
    full = uj.load(folder / "qrels.txt", folder / "runs")
    path = tmp_path / "l.sqlite"
    with Served(full, desk=Desk(full, Judging(str(path), question=Question("P@5", "mine", "team01-1")))) as served:
        table = Table(served, path)
        assert table.ask().status_code == 400
        lines = "".join(f"{t} Q0 NEW{t}-{i} {i} {9 - i} x\n" for t in full.topics for i in range(1, 6))
        added = served.client.post("/api/runs?name=mine", content=lines, headers=served.token)
        assert added.status_code == 200
        shown = table.look()
        assert shown["document"]["document"].startswith("NEW")
        assert table.label(shown, 1).status_code == 200


def test_colours_are_those_of_the_report() -> None:
    """Every style sheet takes its colours from one list, which has all that they name, in the light and in the dark."""
    tokens = asset("tokens.css")
    light, dark = (set(re.findall(r"(--[\w-]+):", part)) for part in tokens.split("prefers-color-scheme"))
    assert light == dark
    judge = Path(judging.__file__).with_name("judge.css").read_text()
    assert not re.search(r"#[0-9a-f]{3,8}\b\s*[;,)]", judge) and ":root" not in judge
    for sheet in (judge, *map(asset, ("report.css", "live.css", "paper.css"))):
        own = set(re.findall(r"(--[\w-]+):", sheet))
        assert set(re.findall(r"var\((--[\w-]+)", sheet)) <= light | own
