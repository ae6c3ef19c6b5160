"""What runs and judges are called: their files' names without what only tells the format."""

from __future__ import annotations

from pathlib import Path

import pytest

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.io import files

QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 0, "b": 1}}
JSON = '{"1": {"a": 2.0, "b": 1.0}, "2": {"a": 2.0, "b": 1.0}}'
TREC = "1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n2 Q0 b 1 2 x\n2 Q0 a 2 1 x\n"


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/bm25.json", "bm25"), ("bm25.JSON", "bm25"), ("bm25.json.gz", "bm25"), ("bm25.txt.gz", "bm25.txt"),
        ("bm25.jsonl", "bm25"), ("bm25.csv", "bm25.csv"), ("bm25.tsv", "bm25.tsv"), ("bm25.parquet", "bm25"),
        ("bm25.v2", "bm25.v2"), ("bm25.v2.json", "bm25.v2"), ("bm25.run", "bm25.run"), ("input.ok8", "input.ok8"),
        (".json", ".json"), ("json", "json"), ("a.json.json", "a.json"), ("bm25.gz", "bm25"), ("bm25", "bm25"),
    ],
)  # fmt: skip
def test_a_name_keeps_everything_but_the_format(path: str, name: str) -> None:
    assert files.run_name(path) == name


@pytest.mark.parametrize("path", ["gpt.txt", "gpt.qrels", "d/gpt.tsv.gz", "gpt.jsonl", "gpt"])
def test_a_judge_is_called_without_any_ending(path: str) -> None:
    assert files.judge_name(path) == "gpt"


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bm25.json").write_text(JSON)
    (tmp_path / "bm25.txt").write_text(TREC)
    assert uj.load(QRELS, tmp_path).runs == ("bm25", "bm25.txt")
    (tmp_path / "bm25").write_text(TREC)
    with pytest.raises(UsageError, match="two runs are called bm25;"):
        uj.load(QRELS, tmp_path)
    with pytest.raises(UsageError, match="two runs are called"):
        uj.load(QRELS, [tmp_path / "bm25.json", tmp_path / "bm25.json"])


@pytest.mark.parametrize("ending", ["", ".json", ".json.gz"])
def test_runs_are_known_with_and_without_their_endings(ending: str, tmp_path: Path) -> None:
    (tmp_path / "bm25.json").write_text(JSON)
    (tmp_path / "dense").write_text(TREC)
    collection = uj.load(QRELS, tmp_path, teams={f"bm25{ending}": "one", "dense": "two"})
    assert collection.teams == {"bm25": "one", "dense": "two"} and not collection.notes
    assert uj.pool_of(collection, depth=1, pooled=[f"bm25{ending}"]).runs == ("bm25",)
    assert uj.leave_out(collection, runs=[f"bm25{ending}"], depth=1, pooled="all").judgments is not None
