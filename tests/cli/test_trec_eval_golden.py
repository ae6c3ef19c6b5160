"""`unjudged trec_eval` prints the bytes of the real trec_eval 10.0 on shared data and on generated inputs."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import pytest
from places import DATA

from unjudged.cli import main

GOLDEN = DATA.parent / "golden" / "trec_eval10"
UNDEFINED = ("rbp", "rbp_resid")  # trec_eval 10 computes these from uninitialised memory: not in the golden files


def cases() -> list[dict[str, str]]:
    if not (GOLDEN / "index.tsv").is_file():
        return []
    with (GOLDEN / "index.tsv").open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def files_of(case: dict[str, str]) -> list[str]:
    """Judgments and run of a case: a collection and the name of one of its runs, or two generated files."""
    if case["judgments"].startswith("inputs/"):
        return [case["judgments"], case["run"]]
    folder = DATA / case["judgments"]
    run = next(path for path in sorted((folder / "runs").iterdir()) if path.name.removesuffix(".gz") == case["run"])
    qrels = next(path for path in sorted(folder.iterdir()) if path.name.startswith("qrels"))
    return [str(qrels), str(run)]


def defined(text: bytes) -> list[bytes]:
    names = [[(mark + name).encode()] for name in UNDEFINED for mark in ("", "Z")]
    return [line for line in text.split(b"\n") if line.split()[:1] not in names]


@pytest.mark.parametrize("case", cases(), ids=[f"{c['file'][:3]} {c['run']} {c['options']}" for c in cases()])
def test_same_bytes_as_trec_eval_10(
    case: dict[str, str], monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(GOLDEN)
    assert main(["trec_eval", *case["options"].split(), *files_of(case)]) == int(case["exit"])
    expected = gzip.decompress((GOLDEN / Path(case["file"])).read_bytes())
    assert defined(expected) == expected.split(b"\n")
    assert defined(capfdbinary.readouterr().out) == defined(expected)
