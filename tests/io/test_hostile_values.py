"""JSON of every tool with one value changed for one that nobody writes: a result, or a sentence of ours."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import files_of_tools as tools
import pytest

import unjudged as uj
from unjudged.errors import UnjudgedError
from unjudged.holes.answers import merged
from unjudged.io.leaderboards import read_leaderboard
from unjudged.io.texts import Texts

ODD = (
    "1" + "0" * 400, "9" * 5000, "NaN", "-Infinity", "1e999", "-0.0", "1.5", "true", "null", "[]", "{}", "[[1]]",
    '{"O": 1' + "0" * 400 + "}", '""', r'"\ud800"', r'"\u0000"', r'"a\tb\n"', '"٣"', '"' + "9" * 5000 + '"', '"1e999"',
    "[" * 60 + "]" * 60, "[" * 30_000 + "]" * 30_000,
)  # fmt: skip
"""Values as they stand in a file."""

Read = Callable[[str], object]
READ: dict[str, Read] = {
    "judgments": lambda path: uj.load(path, {"r": {"1": {"a": 1.0}}}),
    "run": lambda path: uj.load({"1": {"a": 1}}, path).hits,
    "scores": uj.load_scores,
    "answers": lambda path: merged(uj.load({"1": {"a": 1}, "2": {"a": 1}}, {"r": {"1": {"b": 1.0}}}), path),
    "texts": lambda path: Texts(path).need({"1", "a"}),
    "leaderboard": read_leaderboard,
}
NUGGETS = {"qid": "1", "nuggets": [{"text": "n", "importance": "vital", "docs": {"a": 1}}]}
FILES: dict[str, tuple[Any, tuple[str, ...]]] = {
    "run.json": (tools.RUN, ("run", "scores")),
    "qrels.json": (tools.QRELS, ("judgments",)),
    "opensearch.json": (tools.OPENSEARCH, ("judgments",)),
    "book.json": (tools.QUEPID_BOOK_JSON, ("judgments",)),
    "case.json": (tools.QUEPID_CASE, ("judgments",)),
    "tasks.json": (tools.TASKS, ("judgments", "answers")),
    "request.json": (tools.request(), ("judgments",)),
    "run.jsonl": ({"run": "r", "topic": "1", "doc": "a", "score": 1.5}, ("run",)),
    "machine.jsonl": (json.loads(tools.JSONL.splitlines()[0]), ("judgments", "answers")),
    "doccano.jsonl": (json.loads(tools.DOCCANO.splitlines()[1]), ("judgments", "answers")),
    "nuggets.jsonl": (NUGGETS, ("judgments",)),
    "scores.jsonl": ({"run": "r", "topic": "1", "measure": "AP", "value": 0.5}, ("scores",)),
    "board.jsonl": ({"run_id": "r", "topic_id": "1", "measure": "AP", "value": 0.5}, ("leaderboard",)),
    "texts.jsonl": ({"_id": "1", "title": "t", "text": "x", "metadata": {"narrative": "n"}}, ("texts",)),
}


def changed(whole: Any) -> Iterator[str]:
    """The object as text with each of its values, one after the other, changed for every odd one."""

    def places(thing: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        for key in thing if isinstance(thing, dict) else range(len(thing)) if isinstance(thing, list) else ():
            yield (*way, key)
            yield from places(thing[key], (*way, key))

    for *way, last in list(places(whole)):
        made = copy.deepcopy(whole)
        inside = made
        for key in way:
            inside = inside[key]
        inside[last] = "here"
        for value in ODD:
            yield json.dumps(made).replace('"here"', value)


@pytest.mark.filterwarnings("ignore::unjudged.errors.DataWarning")
@pytest.mark.parametrize("name", FILES)
def test_odd_values_give_a_result_or_a_sentence(name: str, tmp_path: Path) -> None:
    whole, readers = FILES[name]
    sentences = 0
    for text in changed(whole):
        (tmp_path / name).write_text(f"{text}\n")
        for reader in readers:
            try:
                READ[reader](str(tmp_path / name))
            except UnjudgedError as problem:
                sentences += 1
                assert str(problem).strip()
    assert sentences >= 5  # of those that are refused wherever a value counts
