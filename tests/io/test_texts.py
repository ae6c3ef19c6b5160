"""Texts of queries and documents: JSON lines, TSV, TREC topics; only those asked for, any bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unjudged.errors import InputError, UsageError
from unjudged.io import texts as module
from unjudged.io.texts import Text, Texts, read_texts, read_titled


def test_beir(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(
        '{"_id": "a", "title": "A title", "text": "one\\ntwo", "metadata": {"narrative": "what counts"}}\n\n'
        '{"id": 7, "contents": "seven"}\n{"_id": "b\\"c", "title": "", "text": "quoted"}\n{"_id": "x", "text": 3.5}\n'
    )
    assert read_titled(str(path), {"a", "7", 'b"c', "x", "none"}) == {
        "a": Text("one\ntwo", "A title", "what counts"),
        "7": Text("seven"),
        'b"c': Text("quoted"),
        "x": Text("3.5"),
    }
    assert read_texts(str(path), {"a"}) == {"a": "A title\none\ntwo"}


def test_trec_topics(tmp_path: Path) -> None:
    path = tmp_path / "topics"
    path.write_bytes(
        b"<top>\n<num> Number: 051\n<title> Topic: air\n bus\n<desc> Description:\nHow it\n is.\n"
        b"<narr> Narrative:\nRelevant is \xff.\n</top>\n<top><num>2<title>x</top>"
    )
    assert read_titled(str(path), {"51", "2"}) == {
        "51": Text("air bus", need="How it is. Relevant is \\xff."),
        "2": Text("x"),
    }
    assert set(read_titled(str(path), {"051"})) == {"051"}


def test_lines_nobody_asked_for_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text("".join(f'{{"_id": "d{i}", "text": "{i}"}}\n' for i in range(100)))
    parsed: list[str] = []
    json: Any = vars(module)["json"]
    loads = json.loads

    def counted(line: str) -> Any:
        parsed.append(line)
        return loads(line)

    monkeypatch.setattr(json, "loads", counted)
    assert read_texts(str(path), {"d5", "d77"}) == {"d5": "5", "d77": "77"} and len(parsed) == 2


def test_texts_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.tsv"
    path.write_text("a\tone\tmore\nb\ttwo\n")
    shelf = Texts(str(path))
    assert shelf.need({"a", "b", "c"}) == 2 and shelf.get("a") == Text("one more") and shelf.get("c") is None
    path.unlink()
    assert shelf.need({"a", "c"}) == 1
    assert Texts(None).need({"a"}) == 0 and Texts(None).get("a") is None


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("c.jsonl", '{"_id": "a", "text": "x"}\nnonsense\n', "c.jsonl:2: this line is not JSON"),
        ("c.jsonl", '{"text": "x"}\n', "c.jsonl:1: a line needs an object like"),
        ("c.tsv", "no tab\n", "c.tsv:1: a line needs id<TAB>text"),
    ],
)
def test_bad_files(name: str, text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=says):
        read_texts(str(tmp_path / name), {"a"})
    with pytest.raises(UsageError, match="ir_datasets knows no 'nothing'"):
        read_texts("irds:nothing", {"a"})
