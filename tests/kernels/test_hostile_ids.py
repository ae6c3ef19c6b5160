"""Ids and lines written to make the scanner slow, large or wrong. Steps are counted, nothing is timed."""

from __future__ import annotations

import gzip
import itertools
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unjudged as uj
from unjudged import kernels
from unjudged.errors import InputError, UnjudgedError
from unjudged.io import files
from unjudged.io.ids import Ids
from unjudged.io.slices import read_slices
from unjudged.kernels import LONGEST_LINE, _numpy

JUDGED = {"1": ["a", "b"], "2": ["a"]}


def make_index(kernel: Any, judged: dict[str, list[str]]) -> Any:
    topics, docs = Ids.of(judged), Ids.of([doc for listed in judged.values() for doc in listed])
    starts = np.cumsum([0, *map(len, judged.values())], dtype=np.int64)
    return kernel.Index(topics.blob, topics.ends, docs.blob, docs.ends, starts)


@pytest.fixture
def c() -> Any:
    return pytest.importorskip("unjudged.kernels._c")


def scanned(kernel: Any, text: bytes, **how: Any) -> tuple[dict[str, Any], Any]:
    scanner = kernel.RunScanner(make_index(kernel, JUDGED), **how)
    scanner.feed(text)
    return scanner.finish(), scanner


def crafted(pairs: int) -> list[bytes]:
    """2 ** pairs ids that an unseeded hash (and the same one seeded) gave one value: differences that cancel out.

    The step was x ^= x >> 32; x *= odd; x ^= x >> 29 on hash ^ word. Bits 63 and 31 of a word leave it as bits 63 and
    34, whatever the hash and the odd number, and the next word takes them away.
    """
    plain = b"ABCDEFGHABCDEFGH"
    other = bytearray(plain)
    for byte, bit in ((7, 0x80), (3, 0x80), (15, 0x80), (12, 0x04)):
        other[byte] ^= bit
    return [b"".join(parts) for parts in itertools.product((plain, bytes(other)), repeat=pairs)]


def test_crafted_ids_did_collide() -> None:
    def old_hash(text: bytes, start: int, odd: int) -> int:
        h = start
        for i in range(0, len(text), 8):
            h ^= int.from_bytes(text[i : i + 8], "little")
            h ^= h >> 32
            h = h * odd % 2**64
            h ^= h >> 29
        return h

    for start, odd in ((0x243F6A8885A308D3, 0x9E3779B97F4A7C15), (12345, 987654321)):
        assert len({old_hash(text, start, odd) for text in crafted(6)}) == 1


@pytest.mark.parametrize("text", [b"1 Q0 a 1 1 t\n", b"1 Q0 unjudged-document 1 1 t\n"])
def test_a_repeated_document_costs_the_same_every_time(c: Any, text: bytes) -> None:
    many = [scanned(c, text * n)[1].steps() for n in (10_000, 20_000, 40_000)]
    assert many[2] <= 40_000 * 8  # each is met when it is read, when the table grows, when it is ranked
    found, _ = scanned(c, text * 10_000)
    assert found == scanned(_numpy, text * 10_000)[0]
    assert found["duplicates"] == 9_999


@pytest.mark.parametrize("order", ["falling", "equal"])
def test_crafted_documents_share_no_place(c: Any, order: str) -> None:
    ids = crafted(12)
    scores = range(len(ids), 0, -1) if order == "falling" else [1] * len(ids)
    text = b"".join(b"1 Q0 %b 0 %d t\n" % pair for pair in zip(ids, scores, strict=True))
    found, scanner = scanned(c, text, keep_docs=True)
    assert scanner.steps() < len(ids) * 4
    assert found == scanned(_numpy, text, keep_docs=True)[0]
    assert found["duplicates"] == 0 and np.frombuffer(found["length"], np.int32)[0] == len(ids)


def test_crafted_topics_are_told_apart(c: Any) -> None:
    text = b"".join(b"%b Q0 a 0 1 t\n" % topic for topic in crafted(9) * 2)
    found, scanner = scanned(c, text)
    assert found["outside_topics"] == 512
    assert found == scanned(_numpy, text)[0]
    assert scanner.steps() < 4 * 2 * 512


def test_crafted_judgments_are_found(c: Any) -> None:
    ids = crafted(10)
    qrels = {"1": {doc.decode("utf-8", "surrogateescape"): i % 3 for i, doc in enumerate(ids)}}
    run = {"1": {doc: -float(i) for i, doc in enumerate(qrels["1"])}}
    collection = uj.load(qrels, run)
    assert collection.hits.grade.tolist() == [i % 3 for i in range(len(ids))]


@pytest.mark.slow
def test_the_secret_shows_nowhere(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("".join(f"{t} 0 doc{d} {d % 3}\n" for t in range(9) for d in range(40)))
    (tmp_path / "run").write_text("".join(f"{t} Q0 doc{d} 0 {d % 7} x\n" for t in range(12) for d in range(60)))
    said = set()
    for seed in ("1", "2", None):
        how = {**os.environ} | ({"UNJUDGED_HASH_SEED": seed} if seed else {})
        call = [sys.executable, "-m", "unjudged", "score", "qrels", "run", "-q", "--format", "tsv", "-m", "AP,Q"]
        done = subprocess.run(call, capture_output=True, cwd=tmp_path, env=how, timeout=600)
        assert done.returncode == 0
        said.add((done.stdout, done.stderr))
    assert len(said) == 1


def twins() -> list[Any]:
    return [_numpy] if kernels.IN_USE != "C" else [_numpy, sys.modules["unjudged.kernels._c"]]


def test_a_line_without_an_end() -> None:
    found = [scanned(kernel, b"1 Q0 a 0 1 t\n" + b"x" * (LONGEST_LINE + 1), lenient=True)[0] for kernel in twins()]
    assert [one["endless"] for one in found] == [2] * len(found)
    assert all(one == found[0] for one in found)
    fits = [scanned(kernel, b"1 Q0 a 0 1 " + b"t" * 100_000)[0] for kernel in twins()]
    assert [one["endless"] for one in fits] == [0] * len(fits)


@pytest.mark.parametrize("what", ["judgments", "run"])
def test_a_small_file_does_not_become_a_large_memory(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 0 1 t\n")
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b"1 0 a 1\n" + b"x" * (3 * LONGEST_LINE), 1))
    inflated = 0
    whole = files.inflate

    def watched(*given: Any) -> Iterator[bytes]:
        nonlocal inflated
        for piece in whole(*given):
            inflated += len(piece)
            yield piece

    monkeypatch.setattr(files, "inflate", watched)
    paths = [tmp_path / "qrels", tmp_path / "run"]
    paths[what == "run"] = bomb
    with pytest.raises(InputError, match=r"bomb\.gz:2: .* a line does not end"):
        uj.load(str(paths[0]), str(paths[1]), lenient=True)
    assert inflated < 2 * LONGEST_LINE


@pytest.mark.parametrize("name", ["run.json.gz", "qrels.gz", "slices.tsv.gz", "teams.tsv.gz"])
def test_a_small_file_that_is_read_whole_is_refused_before_it_is_large(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "ALWAYS", 1_000_000)
    begins = {"run.json.gz": b'{"1": {"a": 1', "qrels.gz": b"1 0 a 1\n"}.get(name, b"")
    (tmp_path / name).write_bytes(gzip.compress(begins + b"\n" * 30_000_000, 9))
    judged, run = {"1": {"a": 1}}, {"r": {"1": {"a": 1.0}}}
    with pytest.raises(InputError, match=rf"{name}: this file unpacks to over \d MB"):
        if name.startswith("qrels"):
            uj.load(tmp_path / name, run)
        elif name.startswith("run"):
            uj.load(judged, tmp_path / name)
        elif name.startswith("teams"):
            uj.load(judged, run, teams=tmp_path / name)
        else:
            read_slices(str(tmp_path / name))
    (tmp_path / name).write_bytes(gzip.compress(os.urandom(700_000).hex().encode() + b"\n", 1))
    assert len(files.read_all(str(tmp_path / name))) == 1_400_001  # larger than that, but not for its size


@pytest.mark.parametrize("problem", [MemoryError(), zlib.error("Error -4 while decompressing data")])
def test_no_memory_is_not_called_damage(problem: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def decompress(self, *given: Any) -> bytes:
            raise problem

    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"1 Q0 a 0 1 t\n"))
    monkeypatch.setattr(files, "_decompressor", Full)
    with pytest.raises(MemoryError):
        files.read_all(str(path))


# -- numbers beyond what sums can hold


def test_gains_whose_sums_overflow_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from unjudged.cli import main

    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 2\n")
    (tmp_path / "run").write_text("1 Q0 a 0 1 t\n")
    call = ["score", str(tmp_path / "qrels"), str(tmp_path / "run"), "--gains", "1:1e308,2:1e308", "-m", "nDCG"]
    assert main(call) == 2
    assert "gains go up to 1e+100, found 1e+308" in capsys.readouterr().err
    with pytest.raises(UnjudgedError, match=r"0 or more \(at most 1e\+100\) for each grade"):
        uj.nDCG(gains={1: 1e308, 2: 1e308})
    assert main([*call[:4], "1:1e99,2:1e100", "-m", "nDCG"]) == 0
    assert " 0.0000" not in capsys.readouterr().out


@pytest.mark.parametrize("grade", [1_000_000_001, -1_000_000_001, 2**31 - 1, 2**40])
def test_grades_have_one_limit(grade: int, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(f"1 0 a {grade}\n")
    said = rf"the grade {grade} is too large: grades go from -1,000,000,000 to 1,000,000,000"
    for qrels in ({"1": {"a": grade}}, {"1": {"a": np.int64(grade)}}, str(tmp_path / "qrels")):
        with pytest.raises(InputError, match=said):
            uj.load(qrels, {"1": {"a": 1.0}})
    assert uj.load({"1": {"a": 1_000_000_000}}, {"1": {"a": 1.0}}).judgments.grade.tolist() == [1_000_000_000]
