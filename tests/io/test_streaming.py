"""Runs go by: memory does not grow with a file or a stream, and what cannot be read twice is told so.

The measured curve is in docs/performance.md; `make load` makes it. Here a child process tells the largest amount of
memory it ever held, once for a short run and once for a long one.
"""

from __future__ import annotations

import io
import itertools
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import unjudged as uj
from unjudged import kernels, results, scoring
from unjudged.cli import main
from unjudged.collection.load import read_collection
from unjudged.errors import InputError, UsageError
from unjudged.io import files
from unjudged.io.ids import Ids, to_bytes
from unjudged.io.trec import Reading
from unjudged.io.write import write_whole
from unjudged.kernels import _numpy
from unjudged.results import Result

MB = 10**6
PEAK = """
import re, sys
from unjudged.cli import main
code = main(sys.argv[1:])
with open("/proc/self/status") as status:
    print(re.search(r"VmHWM:\\s+(\\d+) kB", status.read())[1], file=sys.stderr)
sys.exit(code)
"""
JUDGED = "".join(f"t{t:07} 0 d{d:03} {d % 2}\n" for t in range(10) for d in range(0, 1000, 10))


def topics(size: int) -> Iterator[bytes]:
    """Lists of a thousand documents, until they are so many bytes; the first ten topics are judged."""
    text = "".join(f"@ Q0 d{i:03} {i + 1} {1000 - i} r\n" for i in range(1000)).encode()
    for t in itertools.count():
        yield text.replace(b"@", b"t%07d" % t)
        size -= len(text) + 7000
        if size < 0:
            return


def peak(folder: Path, size: int, how: str) -> tuple[float, str]:
    """Megabytes the command held at most while it scored a run of this many bytes, and what it printed."""
    (folder / "qrels").write_text(JUDGED)
    command = [sys.executable, "-c", PEAK, "score", "qrels", "-" if how == "stdin" else "r", "--format", "tsv"]
    source = None
    if how == "file":
        with (folder / "r").open("wb") as file:
            file.writelines(topics(size))
    else:
        source = subprocess.PIPE
    child = subprocess.Popen(command, cwd=folder, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if child.stdin is not None:
        with child.stdin:
            child.stdin.writelines(topics(size))
        child.stdin = None
    out, told = child.communicate(timeout=300)
    assert child.returncode == 0, told
    return int(told.split()[-1]) * 1024 / MB, out.decode()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is told in another way here")
@pytest.mark.skipif(kernels.IN_USE != "C", reason="the twin of the kernels holds a run's lists")
@pytest.mark.parametrize(("how", "size", "allowed"), [("file", 120, 30), ("stdin", 240, 110)])
def test_memory_does_not_grow_with_the_run(how: str, size: int, allowed: int, tmp_path: Path) -> None:
    """A stream may hold its beginning (64 MiB, to be read again), a file nothing; holding all would be `size`."""
    short, few = peak(tmp_path, 1 * MB, how)
    long, many = peak(tmp_path, size * MB, how)
    assert few == many and len(few.splitlines()) == 7
    assert long - short < allowed < size / 2


SCATTERED = b"1 Q0 a 1 3 t\n2 Q0 x 1 3 t\n1 Q0 b 2 2 t\n"
TWO = {"1": {"b": 1}, "2": {"x": 1}}


def standard_input(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))


@pytest.mark.parametrize("held", [len(SCATTERED), len(SCATTERED) - 1])
@pytest.mark.parametrize("lists", [True, False])
def test_a_short_scattered_stream_is_read_again_and_a_long_one_refused(
    held: int, lists: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "HELD", held)
    standard_input(monkeypatch, SCATTERED)
    if held < len(SCATTERED):
        with pytest.raises(InputError, match="standard input: a topic stands in two places of this stream"):
            read_collection(TWO, "-", Reading(), lists=lists)
        return
    collection = read_collection(TWO, "-", Reading(), lists=lists)
    assert collection.hits.rank.tolist() == [2, 1] and collection.hits.length.tolist() == [2, 1]


@pytest.mark.parametrize("text", [SCATTERED, SCATTERED.replace(b"2 Q0 x 1 3 t\n", b"")])
def test_streams_of_several_pieces(text: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scattered topics are noticed in an early piece; the second pass takes what was held and what is still to come."""
    monkeypatch.setattr(files, "_COMPRESSED_CHUNK", 8)
    monkeypatch.setattr(files, "_CHUNK", 8)
    more = b"".join(b"%d Q0 c%d 3 -%d t\n" % (1 + i % 2, i, i) for i in range(50))
    standard_input(monkeypatch, text + more)
    collection = uj.load(TWO, "-")
    assert collection.hits.length.tolist() == [27, 25 + text.count(b"2 Q0 x")]
    assert collection.rankings.offsets.tolist()[-1] == text.count(b"\n") + 50


def test_what_went_by_cannot_give_full_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    standard_input(monkeypatch, SCATTERED)
    collection = read_collection(TWO, "-", Reading(), lists=False)
    with pytest.raises(UsageError, match="standard input can be read once, this needs the full lists: give files"):
        collection.rankings  # noqa: B018


def test_bounds_of_a_stream_have_their_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels").write_text("1 0 b 1\n2 0 x 1\n")
    (tmp_path / "t").write_bytes(SCATTERED)
    printed = []
    for run in ("-", str(tmp_path / "t")):
        standard_input(monkeypatch, SCATTERED)
        assert main(["score", str(tmp_path / "qrels"), run, "--unjudged", "bounds", "--format", "tsv"]) == 0
        printed.append(capfd.readouterr().out)
    assert printed[0] == printed[1] and len(printed[0].splitlines()) > 1


@pytest.mark.slow
def test_topics_outside_the_judgments_are_counted_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (b"o%d Q0 d 1 1 t\n" % i for i in range(kernels.OUTSIDE_COUNTED + 5))
    if kernels.IN_USE != "C":
        monkeypatch.setattr(_numpy, "OUTSIDE_COUNTED", 3)
        monkeypatch.setattr(kernels, "OUTSIDE_COUNTED", 3)
        lines = (b"o%d Q0 d 1 1 t\n" % i for i in range(8))
    with (tmp_path / "r").open("wb") as run:
        run.writelines(lines)
        run.write(b"1 Q0 a 1 1 t\n")
    collection = read_collection({"1": {"a": 1}}, str(tmp_path / "r"), Reading())
    limit = kernels.OUTSIDE_COUNTED
    assert collection.outside == (limit,) and collection.hits.rank.tolist() == [1]
    assert collection.notes == (f"{tmp_path / 'r'}: at least {limit} topics outside the judgments ignored (e.g. o0)",)
    assert len(collection.rankings.outside[0]) == limit + 5  # full lists name them all


def test_the_twin_counts_topics_up_to_the_same_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_numpy, "OUTSIDE_COUNTED", 3)
    index = _numpy.Index(b"1", np.array([1]), b"a", np.array([1]), np.array([0, 1]))
    for keep, counted in ((False, 3), (True, 8)):
        scanner = _numpy.RunScanner(index, keep_docs=keep)
        scanner.feed(b"".join(b"o%d Q0 d 1 1 t\n" % (i % 8) for i in range(20)))
        assert scanner.finish()["outside_topics"] == counted


# -- and results go out in pieces


@pytest.mark.parametrize("at_once", [(1, 1), (2, 3), (7, 10_000)])
@pytest.mark.parametrize("undefined", ["zero", "nan"])
def test_pieces_make_the_whole(at_once: tuple[int, int], undefined: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written in blocks of topics and lines, a table has the text of any result's."""
    qrels = {str(t): {"a": int(t != 3), "b": 0} for t in range(7)}
    runs = {
        name: {str(t): {"a": 1.0 + (t + shift) % 2, "b": 1.5, "c": 9.0 * (t % 3)} for t in range(shift, 7)}
        for shift, name in enumerate(("x", "y", "z\té"))
    }
    scores = uj.score(uj.load(qrels, runs), "AP,RR,NumRet", undefined=undefined, topics="run")
    assert np.isnan(scores.values).any() == (undefined == "nan")
    monkeypatch.setattr(scoring, "TOPICS_AT_ONCE", at_once[0])
    monkeypatch.setattr(results, "_LINES_AT_ONCE", at_once[1])
    plain = Result(scores.columns, scores.rows, scores.provenance)
    for format in ("tsv", "csv", "jsonl"):
        pieces = list(scores.pieces(format))
        assert "".join(pieces) == scores.render(format) == plain.render(format)
        rows = 3 * (7 + 6 + 5 + 3)
        assert len(list(plain.pieces(format))) == -(-rows // at_once[1]) + (format != "jsonl")
    assert list(scores.pieces("text")) == [scores.render("text")]


def test_a_file_written_in_pieces_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"before")

    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise ValueError

    with pytest.raises(ValueError):
        write_whole(tmp_path / "out", pieces())
    assert (tmp_path / "out").read_bytes() == b"before" and len(list(tmp_path.iterdir())) == 1
    write_whole(tmp_path / "out", iter([b"one", b"", b"two"]))
    assert (tmp_path / "out").read_bytes() == b"onetwo" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("names", [[], ["a"], ["a", "", "bcd", "e"], ["é", "x", "", "\udcff", "zz"]])
def test_ids_cut_out_of_one_text(names: list[str]) -> None:
    raw = [to_bytes(name) for name in names]
    ids = Ids(b"".join(raw), np.cumsum([len(r) for r in raw], dtype=np.int64))
    assert list(ids) == names
    for first, stop, step in itertools.product((None, 0, 1, 3, -2), (None, 0, 2, 9, -1), (None, 1, 2, -1)):
        assert ids[first:stop:step] == names[first:stop:step]
    order = np.arange(len(names))[::-1]
    assert list(ids.view(order)) == names[::-1] and ids.view(order)[1:3] == names[::-1][1:3]


def test_room_for_pieces_is_used_again_and_never_by_two_readers(tmp_path: Path) -> None:
    """Files read one after the other, side by side, and left in the middle: each gives its own bytes."""
    texts = [b"%d" % i * (3 << 17) for i in range(4)]
    paths = []
    for i, text in enumerate(texts):
        paths.append(str(tmp_path / str(i)))
        Path(paths[-1]).write_bytes(text)

    def whole(path: str) -> bytes:
        return b"".join(map(bytes, files.chunks(path)))

    assert [whole(path) for path in paths] == texts
    left = files.chunks(paths[0])
    begun = next(left)
    assert [whole(path) for path in paths] == texts and bytes(begun) == texts[0][: len(begun)]
    side_by_side = [b"".join(map(bytes, pieces)) for pieces in zip(*map(files.chunks, paths), strict=True)]
    assert b"".join(side_by_side).count(b"1") == len(texts[1])
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(whole, paths * 5)) == texts * 5
    assert whole(paths[1]) == texts[1] and bytes(begun) == texts[0][: len(begun)]
