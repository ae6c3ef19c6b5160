"""Reading what people really have: one small hand-made input per quirk, and what it must give.

Everything runs on both kernels.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import random
import struct
import sys
import threading
import warnings
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from kernel_twins import _c, needs_c

import unjudged as uj
from unjudged import kernels
from unjudged.errors import DataWarning, InputError, UnjudgedError, UsageError
from unjudged.kernels import _numpy

PATCHED = (
    "Index",
    "RunScanner",
    "scan_qrels",
    "code_documents",
    "segment_sum",
    "segment_cumsum",
    "segment_cumprod",
)
QRELS = "1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 d 1\n2 0 e 0\n"
TWO = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"d": 1, "e": 0}}
RUN = "1 Q0 c 1 3 t\n1 Q0 x 2 2 t\n1 Q0 a 3 1 t\n2 Q0 e 1 2 t\n2 Q0 d 2 1 t\n"
LISTS = {"1": ["c", "x", "a"], "2": ["e", "d"]}
RESULT = {"1": {"c": 3.0, "x": 2.0, "a": 1.0}, "2": {"e": 2.0, "d": 1.0}}


@pytest.fixture(
    autouse=True,
    params=[
        "numpy",
        pytest.param("c", marks=needs_c),
    ],
)
def both_kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    module = _c if request.param == "c" else _numpy
    for name in PATCHED:
        monkeypatch.setattr(kernels, name, getattr(module, name))


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


class Bench:
    """Writes small files, reads them, and tells what came out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, text: str | bytes, name: str = "some.run") -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_bytes(text))
        return str(path)

    def load(self, run: Any, qrels: Any = QRELS, **how: Any) -> uj.Collection:
        """Text (or bytes) becomes a file; other things are handed over as they are."""
        qrels = self.file(qrels, "qrels.txt") if isinstance(qrels, (str, bytes)) else qrels
        return uj.load(qrels, self.file(run) if isinstance(run, (str, bytes)) else run, **how)

    def lists(self, run: Any, qrels: Any = QRELS, **how: Any) -> dict[str, list[str]]:
        return lists_of(self.load(run, qrels, **how))

    def refused(self, run: Any, qrels: Any = QRELS, **how: Any) -> InputError:
        with pytest.raises(InputError) as caught:
            self.load(run, qrels, **how)
        assert "\n" not in str(caught.value)
        return caught.value


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def lists_of(collection: uj.Collection, run: int = 0) -> dict[str, list[str]]:
    """Full ranked lists of the topics a run answers, checked against the hits."""
    topics, judgments = collection.topics, collection.judgments
    found = {}
    for t, topic in enumerate(topics):
        cell = run * len(topics) + t
        if not collection.hits.answered[cell]:
            continue
        found[topic] = collection.rankings.ids(judgments, cell)
        start, stop = collection.hits.offsets[cell : cell + 2]
        judged = judgments.docs[int(judgments.starts[t]) : int(judgments.starts[t + 1])]
        hits = [(i, doc) for i, doc in enumerate(found[topic], 1) if doc in judged]
        rows, ranks = collection.hits.row[start:stop].tolist(), collection.hits.rank[start:stop].tolist()
        assert list(zip(ranks, (judgments.docs[r] for r in rows), strict=True)) == hits
        assert collection.hits.length[cell] == len(found[topic])
    return found


def one_note(collection: uj.Collection) -> str:
    assert len(collection.notes) == 1, collection.notes
    return collection.notes[0]


# -- quirks of the shared collections: blanks


def test_plain(bench: Bench) -> None:
    collection = bench.load(RUN)
    assert lists_of(collection) == LISTS
    assert (collection.runs, collection.topics, collection.notes) == (("some.run",), ("1", "2"), ())


def swap(*pairs: str) -> Any:
    """A change of the text: replace each first by its second, one after the other."""

    def change(text: str) -> str:
        for old, new in zip(pairs[::2], pairs[1::2], strict=True):
            assert old in text
            text = text.replace(old, new)
        return text

    return change


METADATA = "# ir_metadata.start\n# platform:\n#   hardware: {cpu: x}\n# ir_metadata.end\n"
LAYOUTS = {
    "tabs": swap(" ", "\t"),
    "tabs and blanks mixed": swap(" Q0 ", "\tQ0 \t ", " t\n", "\t\tt\n"),
    "runs of spaces": swap(" ", "     "),
    "leading blanks": lambda t: "   " + t.replace("\n", "\n  "),
    "leading tabs": lambda t: "\t" + t.replace("\n", "\n\t"),
    "trailing blanks": swap("\n", "  \n"),
    "trailing tabs": swap("\n", "\t\n"),
    "blank lines": lambda t: "\n" + t.replace("\n2 Q0 e", "\n\n   \n2 Q0 e") + "\n\n",
    "CRLF": swap("\n", "\r\n"),
    "some CRLF": lambda t: t.replace("\n", "\r\n", 2),
    "no newline at the end": lambda t: t.removesuffix("\n"),
    "byte-order mark": lambda t: "\ufeff" + t,
    "seventh field": lambda t: t.replace(" t\n", " t rel\n", 2),
    "more fields": swap(" t\n", " t nonrel and more\n"),
    "Q1": swap("Q0", "Q1"),
    "Q0 to Q4": lambda t: t.replace("Q0", "0", 1).replace("Q0", "Q4", 1),
    "lines from last to first": lambda t: "".join(f"{line}\n" for line in t.splitlines()[::-1]),
    "ranks from 0": swap(" c 1 ", " c 0 ", " x 2 ", " x 1 ", " a 3 ", " a 2 ", " e 1 ", " e 0 ", " d 2 ", " d 1 "),
    "repeated ranks": swap(" x 2 ", " x 1 ", " a 3 ", " a 1 ", " d 2 ", " d 1 "),
    "gaps in ranks": swap(" x 2 ", " x 7 ", " a 3 ", " a 9 "),
    "zero-padded ranks": swap(" c 1 ", " c 001 ", " x 2 ", " x 002 ", " a 3 ", " a 005 "),
    "ranks contradict scores": swap(" c 1 ", " c 9 ", " a 3 ", " a 1 "),
    "ranks that are no numbers": swap(" c 1 ", " c x ", " a 3 ", " a - "),
    "negative scores": swap(" 3 t", " -1 t", " 2 t", " -2 t", " 1 t", " -3 t"),
    "scientific notation": swap(" 3 t", " 3e-05 t", " 2 t", " 2.0E-05 t", " 1 t", " 1e-5 t"),
    "infinite scores": swap(" 3 t", " inf t", " 1 t", " -inf t"),
    "odd decimals": swap(" 3 t", " +.4e1 t", " 1 t", " 1. t"),
    "comments": lambda t: "# comment\n" + t.replace("\n2 Q0 e", "\n# more\n#\n2 Q0 e"),
    "ir_metadata": lambda t: METADATA + t,
}


@pytest.mark.parametrize("change", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_layouts_that_change_nothing(bench: Bench, change: Any) -> None:
    changed = change(RUN)
    assert changed != RUN
    collection = bench.load(changed)
    assert lists_of(collection) == LISTS
    assert collection.notes == ()


def test_five_fields_and_no_document(bench: Bench) -> None:
    """UREKA3, line 13134."""
    text = RUN.replace("1 Q0 x 2 2 t\n", "1 Q0  0625 0156 UREKA3\n")
    problem = bench.refused(text)
    assert (problem.source, problem.line) == (bench.file(text), 2)
    assert "6 fields" in str(problem)
    assert "found 5" in str(problem)
    collection = bench.load(text, lenient=True)
    assert lists_of(collection) == {"1": ["c", "a"], "2": ["e", "d"]}
    assert "1 unusable line skipped, the first at line 2" in one_note(collection)


def test_the_tag_is_not_the_name(bench: Bench) -> None:
    """prc1 and prc2 both carry `prceo1`."""
    runs = [bench.file(RUN.replace(" t\n", " prceo1\n"), name) for name in ("prc1.gz", "prc2", "prc.3.gz.gz")]
    assert uj.load(TWO, runs).runs == ("prc1", "prc2", "prc.3.gz")


def test_duplicate_documents_keep_the_better_rank(bench: Bench) -> None:
    text = "1 Q0 a 1 1 t\n1 Q0 b 2 2 t\n1 Q0 a 3 3 t\n1 Q0 c 4 0.5 t\n2 Q0 d 1 1 t\n2 Q0 d 2 1 t\n"
    collection = bench.load(text)
    assert lists_of(collection) == {"1": ["a", "b", "c"], "2": ["d"]}
    assert "2 documents listed again" in one_note(collection)
    assert "a in topic 1" in one_note(collection)
    assert one_note(collection).startswith(bench.file(text))
    problem = bench.refused(text, strict=True)
    assert problem.source == bench.file(text)
    assert "listed again" in str(problem)
    with pytest.warns(DataWarning, match="listed again"):
        bench.load(text)


def test_more_than_1000_documents_are_kept(bench: Bench) -> None:
    lines = [f"1 Q0 d{i} {i} {2000 - i} t\n" for i in range(1001)]
    collection = bench.load("".join(lines), {"1": {"d1000": 1, "d999": 1}})
    assert collection.hits.length.tolist() == [1001]
    assert collection.hits.rank.tolist() == [1000, 1001]
    cut = bench.load("".join(lines), {"1": {"d1000": 1, "d999": 1}}, truncate=1000)
    assert cut.hits.length.tolist() == [1000]
    assert cut.hits.rank.tolist() == [1000]


def test_truncation_follows_the_ranking_not_the_file(bench: Bench) -> None:
    text = "1 Q0 a 1 1 t\n1 Q0 b 2 5 t\n1 Q0 b 3 4 t\n1 Q0 c 4 3 t\n"
    assert bench.lists(text, truncate=2) == {"1": ["b", "c"]}


def test_short_lists_and_missing_topics(bench: Bench) -> None:
    collection = bench.load("2 Q0 d 1 1 t\n", TWO | {"3": {"f": 1}})
    assert lists_of(collection) == {"2": ["d"]}
    assert "2 judged topics not answered (e.g. 1)" in one_note(collection)
    scores = uj.score(collection, "RR")
    assert scores.values.ravel().tolist() == [0.0, 1.0, 0.0]
    assert scores.mean_values().tolist() == [[1 / 3]]


def test_topics_in_descending_order(bench: Bench) -> None:
    """TMC8 lists 150 down to 101; the judgments' order stays."""
    text = "".join(f"{t} Q0 d{t} 0 1 t\n" for t in range(150, 100, -1))
    collection = bench.load(text, "".join(f"{t} 0 d{t} 1\n" for t in range(101, 151)))
    assert collection.topics == tuple(str(t) for t in range(101, 151))
    assert lists_of(collection) == {str(t): [f"d{t}"] for t in range(101, 151)}


def test_file_order_is_not_score_order(bench: Bench) -> None:
    """crnlL2 is sorted by document."""
    assert bench.lists("1 Q0 a 1 0.1 t\n1 Q0 b 2 0.9 t\n1 Q0 c 3 0.5 t\n") == {"1": ["b", "c", "a"]}


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        ("trec10", "c b a9 a10 a z"),
        ("file", "b a10 c a a9 z"),
        ("ascending", "a a10 a9 b c z"),
        ("trec9", "c b a9 a10 a z"),
    ],
)
def test_one_whole_topic_tied(bench: Bench, ties: str, order: str) -> None:
    text = "".join(f"1 Q0 {d} {i} 0.50 t\n" for i, d in enumerate(["b", "a10", "c", "a", "a9"])) + "1 Q0 z 9 0.4 t\n"
    assert bench.lists(text, ties=ties) == {"1": order.split()}


def test_heavy_ties_by_groups(bench: Bench) -> None:
    """Two-decimal scores, as TOPIC2 has them."""
    text = "".join(f"1 Q0 d{i:02d} {i} {0.99 - (i // 4) / 100:.2f} t\n" for i in range(12))
    expected = [f"d{4 * g + i:02d}" for g in range(3) for i in (3, 2, 1, 0)]
    assert bench.lists(text) == {"1": expected}
    assert bench.lists(text, ties="ascending") == {"1": sorted(expected)}


def test_scores_that_differ_beyond_float32(bench: Bench) -> None:
    text = "1 Q0 a 1 0.12345678901 t\n1 Q0 b 2 0.12345678900 t\n"
    assert bench.lists(text) == {"1": ["a", "b"]}
    assert bench.lists(text, ties="trec9") == {"1": ["b", "a"]}


def test_equal_numbers_spelled_differently_are_ties(bench: Bench) -> None:
    scores = {"a": "0.5", "b": ".5", "c": "5e-1", "d": "0.50000000000000000000000", "e": "-0.0", "f": "0"}
    text = "".join(f"1 Q0 {doc} 1 {score} t\n" for doc, score in scores.items())
    assert bench.lists(text) == {"1": ["d", "c", "b", "a", "f", "e"]}


def test_topics_outside_the_judgments(bench: Bench) -> None:
    """dl19-passage runs answer 200 topics, 43 are judged."""
    text = RUN + "9 Q0 c 1 1 t\n8 Q0 c 1 1 t\n9 Q0 d 1 1 t\n"
    collection = bench.load(text)
    assert lists_of(collection) == LISTS
    assert collection.outside == (2,)
    assert "2 topics outside the judgments ignored (e.g. 9)" in one_note(collection)


def test_a_run_of_one_document_per_topic(bench: Bench) -> None:
    assert bench.lists("1 Q0 a 1 0 t\n2 Q0 zz 1 0 t\n") == {"1": ["a"], "2": ["zz"]}


def test_scattered_topics_equal_grouped_topics(bench: Bench) -> None:
    chance = random.Random(3)
    lines = [f"{chance.randint(1, 3)} Q0 {d} 1 {chance.randint(0, 3)} t\n" for d in "abcdefghij" * 3]
    grouped = sorted(lines, key=lambda line: line.split()[0])
    for ties in ("trec10", "file", "ascending"):
        found = []
        for text in (lines, grouped):
            collection = bench.load("".join(text), ties=ties)
            found.append((lists_of(collection), collection.hits.row.tolist(), collection.outside))
        assert found[0] == found[1]
        assert found[0][2] == (1,)


# -- ids


def test_ids_stay_text(bench: Bench) -> None:
    qrels = "051 0 1e5 1\n051 0 100000 0\n51 0 007 1\nNA 0 NA 1\nNA 0 nan 0\n1_0 0 TRUE 1\n"
    text = "051 Q0 100000 1 2 t\n051 Q0 1e5 2 1 t\n51 Q0 7 1 2 t\n51 Q0 007 2 1 t\n"
    text += "NA Q0 NA 1 1 t\n1_0 Q0 TRUE 1 1 t\n"
    collection = bench.load(text, qrels)
    assert collection.topics == ("051", "51", "NA", "1_0")
    assert lists_of(collection) == {
        "051": ["100000", "1e5"],
        "51": ["7", "007"],
        "NA": ["NA"],
        "1_0": ["TRUE"],
    }


def test_a_number_sign_inside_ids_and_after_blanks(bench: Bench) -> None:
    qrels = "#0 0 z 1\nq#1 0 a#b 1\nq#1 0 #c 1\n"
    text = "#q#1 Q0 skipped 1 9 t\nq#1 Q0 a#b 1 2 t\n # Q0 x 1 1 t\nq#1 Q0 #c 2 1 #t\n"
    collection = bench.load(text, qrels)
    assert collection.topics == ("q#1",)
    assert lists_of(collection) == {"q#1": ["a#b", "#c"]}
    assert "1 topic outside the judgments ignored (e.g. #)" in one_note(collection)


def test_bytes_that_are_not_utf8_survive(bench: Bench) -> None:
    qrels = b"t\xe9 0 d\xff\xfe 1\nt\xe9 0 d\xc3\xa9 0\n"
    collection = bench.load(b"t\xe9 Q0 d\xff\xfe 1 2 t\nt\xe9 Q0 d\xc3\xa9 1 1 t\nt\xe9 Q0 \x80 1 0 t\n", qrels)
    (topic,) = collection.topics
    docs = lists_of(collection)[topic]
    assert topic.encode("utf-8", "surrogateescape") == b"t\xe9"
    assert [d.encode("utf-8", "surrogateescape") for d in docs] == [b"d\xff\xfe", b"d\xc3\xa9", b"\x80"]
    again = uj.load({topic: {docs[0]: 1, docs[1]: 0}}, {topic: dict(zip(docs, (2.0, 1.0, 0.0), strict=True))})
    assert lists_of(again) == {topic: docs}
    assert again.judgments.docs.raw(0) == b"d\xff\xfe"


# -- numbers that are none


@pytest.mark.parametrize("score", ["nan", "NaN", "-nan", "0x10", "2,5", "1_0", "abc", "1e", "--1", "1.2.3", "infi"])
def test_scores_that_are_no_decimal_numbers(bench: Bench, score: str) -> None:
    text = RUN.replace(" 2 2 t\n1 Q0 a", f" 2 {score} t\n1 Q0 a")
    problem = bench.refused(text)
    assert (problem.source, problem.line) == (bench.file(text), 2)
    assert repr(score) in str(problem)
    assert "--lenient" in str(problem)
    collection = bench.load(text, lenient=True)
    assert lists_of(collection) == {"1": ["c", "a"], "2": ["e", "d"]}
    assert "1 unusable line skipped, the first at line 2" in one_note(collection)


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("size", [100, 119, 300, 2000])
def test_long_ids_do_not_spoil_the_sentence(bench: Bench, size: int, lenient: bool) -> None:
    """URLs as ids: the score and grade stand far to the right."""
    doc = "https://example.org/" + "x" * size
    run, qrels = f"{RUN}2 Q0 {doc} 3 oops t\n", f"{QRELS}2 0 {doc} oops\n"
    if lenient:
        assert "line 6" in one_note(bench.load(run, lenient=True))
        assert "'oops'" in one_note(bench.load(run, lenient=True))
        assert "'oops'" in one_note(bench.load(RUN, qrels, lenient=True))
    else:
        for problem in (bench.refused(run), bench.refused(RUN, qrels)):
            assert problem.line == 6
            assert "'oops'" in str(problem)


def test_long_ids_do_not_spoil_the_count_of_fields(bench: Bench) -> None:
    problem = bench.refused(f"{RUN}2 Q0 {'x' * 200} 3 0.5\n")
    assert problem.line == 6
    assert "found 5" in str(problem)


def test_lenient_counts_every_line(bench: Bench) -> None:
    collection = bench.load("bad\n" * 50 + RUN + "1 Q0 b 9 NaN t\n", lenient=True)
    assert "51 unusable lines skipped, the first at line 1" in one_note(collection)
    assert lists_of(collection) == LISTS
    assert "no run lines" in str(bench.refused("bad\n" * 3, lenient=True))


# -- gz, and files that are not what they seem


def test_gz_is_recognised_by_content(bench: Bench) -> None:
    squeezed = gzip.compress(RUN.encode())
    assert lists_of(uj.load(bench.file(gzip.compress(QRELS.encode()), "q"), bench.file(squeezed, "a.txt"))) == LISTS
    assert lists_of(uj.load(TWO, bench.file(RUN, "plain.gz"))) == LISTS


def test_concatenated_gz(bench: Bench) -> None:
    parts = [gzip.compress(line.encode() + b"\n") for line in RUN.splitlines()]
    assert bench.lists(b"".join(parts)) == LISTS
    assert bench.lists(gzip.compress(b"") + b"".join(parts) + gzip.compress(b"")) == LISTS
    assert bench.lists(b"".join(parts) + b"\0" * 512) == LISTS  # padding, as tapes and tar leave it


def gz_member(text: bytes, size: int) -> bytes:
    """A gz member of exactly `size` bytes: the header's extra field is the stuffing."""
    squeezed = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = squeezed.compress(text) + squeezed.flush() + struct.pack("<II", zlib.crc32(text), len(text))
    header = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff"  # with a file name
    name = b"n" * (size - len(header) - len(body) - 1)
    return header + name + b"\0" + body


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [1 << 18, 1 << 20])
@pytest.mark.parametrize("offset", [-2, -1, 0, 1])
def test_gz_members_that_meet_at_the_edge_of_a_piece(bench: Bench, chunk: int, offset: int) -> None:
    """bgzip and pigz files have thousands of members; some begin with the last byte that was read at once."""
    first, second = RUN[:26].encode(), RUN[26:].encode()
    member = gz_member(first, chunk + offset)
    assert len(member) == chunk + offset
    assert gzip.decompress(member) == first
    assert bench.lists(member + gzip.compress(second)) == LISTS


@pytest.mark.slow
def test_damaged_gz(bench: Bench) -> None:
    chance = random.Random(5)
    long = "".join(f"1 Q0 d{i} {i} {chance.random()} t\n" for i in range(30000))
    squeezed = gzip.compress(long.encode())
    for cut in (len(squeezed) // 2, len(squeezed) - 1, len(squeezed) - 8, 12):
        problem = bench.refused(squeezed[:cut])
        assert "cut off" in str(problem)
        assert problem.source == bench.file(squeezed[:cut])
    wrong = squeezed[:-8] + b"\1\2\3\4" + squeezed[-4:]
    assert "damaged" in str(bench.refused(wrong))
    assert "not gz" in str(bench.refused(squeezed + b"garbage"))
    assert "cut off" in str(bench.refused(RUN, gzip.compress(QRELS.encode())[:-3]))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(gzip.compress(b""), "empty", id="empty gz"),
        pytest.param(b"\n \n\t\n", "no ", id="blank lines alone"),
        pytest.param(b"# nothing\n# here\n", "no ", id="comments alone"),
        pytest.param(b"\xef\xbb\xbf", "no ", id="byte-order mark alone"),
        pytest.param(b"\x7fELF\x02\x01\0\0\0\0\x01 bin \n", "binary", id="binary"),
        pytest.param(bytes(range(256)) * 20, "binary", id="all bytes"),
        pytest.param(RUN.encode("utf-16"), "UTF-16", id="UTF-16"),
        pytest.param("\ufeff".encode("utf-16-be") + RUN.encode("utf-16-be"), "UTF-16", id="UTF-16 BE"),
        pytest.param(RUN.encode("utf-16-le"), "binary", id="UTF-16 without mark"),
        pytest.param(RUN.replace("\n", "\r").encode(), "carriage return", id="CR"),
    ],
)
def test_files_that_cannot_be_used(bench: Bench, content: bytes, words: str) -> None:
    for problem in (bench.refused(content), bench.refused(RUN, content)):
        assert words in str(problem)
        assert problem.source is not None
        assert str(problem).startswith(problem.source)


def test_missing_files_and_folders(bench: Bench) -> None:
    assert "no such file" in str(bench.refused(Path("nowhere.run")))
    assert "no such file" in str(bench.refused(RUN, Path("nowhere.txt")))
    (bench.folder / "folder").mkdir()
    (bench.folder / "folder" / ".hidden").write_text("x")
    (bench.folder / "folder" / "sub").mkdir()
    problem = bench.refused(bench.folder / "folder")
    assert "no runs" in str(problem)
    assert problem.source == str(bench.folder / "folder")
    assert "folder" in str(bench.refused(RUN, bench.folder / "folder"))
    assert "no file matches" in str(bench.refused(bench.folder / "folder" / "*.gz"))


def test_folders_and_globs_by_name(bench: Bench) -> None:
    for name in ("b.run", "a.run.gz", "c.txt", "B.run"):
        bench.file(RUN, f"runs/{name}")
    bench.file("junk", "runs/.DS_Store")
    bench.file(RUN, "odd[1].run")
    runs = bench.folder / "runs"
    assert uj.load(TWO, runs).runs == ("B.run", "a.run", "b.run", "c.txt")
    assert uj.load(TWO, str(runs / "*.run*")).runs == ("B.run", "a.run", "b.run")
    given = [runs / "c.txt", str(runs / "[ab].run"), bench.folder / "odd[1].run"]
    assert uj.load(TWO, given).runs == ("c.txt", "b.run", "odd[1].run")


def test_two_files_of_one_name(bench: Bench) -> None:
    paths = [bench.file(RUN, "x/some.run"), bench.file(RUN, "y/some.run.gz")]
    with pytest.raises(UsageError, match=r"two runs are called some\.run"):
        uj.load(TWO, paths)


def test_standard_input(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    scattered = RUN + "1 Q0 b 9 2.5 other\n"
    for content in (scattered.encode(), gzip.compress(scattered.encode())):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
        collection = uj.load(TWO, "-")
        assert collection.runs == ("other",)
        assert lists_of(collection) == {"1": ["c", "b", "x", "a"], "2": ["e", "d"]}
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(QRELS.encode())))
    assert lists_of(uj.load("-", bench.file(RUN))) == LISTS
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(RUN.encode() + b"1 Q0 b 1 x t\n")))
    with pytest.raises(InputError) as caught:
        uj.load(TWO, "-")
    assert (caught.value.source, caught.value.line) == ("standard input", 6)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    with pytest.raises(InputError, match="empty"):
        uj.load(TWO, "-")


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="no /dev/fd here")
@pytest.mark.parametrize("lines", [4, 40000])
def test_a_pipe_as_a_file(bench: Bench, lines: int) -> None:
    """`unjudged score qrels <(sort ...)`: what a pipe gives cannot be read twice, scattered topics or not."""
    text = "".join(f"{1 + i % 2} Q0 d{i} 1 {i} t\n" for i in range(lines)) + "1 Q0 a 1 1e9 t\n"
    reading, writing = os.pipe()

    def write() -> None:
        with contextlib.suppress(OSError), os.fdopen(writing, "wb") as pipe:
            pipe.write(text.encode())

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        collection = uj.load(TWO, f"/dev/fd/{reading}")
    finally:
        os.close(reading)
    writer.join(10)
    assert collection.hits.length.tolist() == [lines // 2 + 1, lines // 2]


@pytest.mark.slow
def test_pieces_cut_anywhere(bench: Bench) -> None:
    """Several megabytes: lines lie across the pieces a file is read in; plain, gz and dict agree."""
    chance = random.Random(17)
    run = {str(t): {f"doc-{t}-{chance.randrange(10**9)}": chance.random() for _ in range(4000)} for t in range(12)}
    qrels = {t: {d: i % 3 for i, d in enumerate(list(docs)[::7])} for t, docs in run.items()}
    text = "".join(f"{t} Q0 {d} 0 {s!r} tag\n" for t, docs in run.items() for d, s in docs.items()).encode()
    assert len(text) > 2_000_000
    plain, squeezed, memory = (
        uj.load(qrels, r) for r in (bench.file(text), bench.file(gzip.compress(text, 1), "z"), run)
    )
    for other in (squeezed, memory):
        for column in ("offsets", "row", "rank", "length", "answered"):
            assert np.array_equal(getattr(plain.hits, column), getattr(other.hits, column)), column
    assert lists_of(plain) == {t: sorted(d, key=lambda x: -d[x]) for t, d in run.items()}


# -- judgments


def judged(collection: uj.Collection) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {topic: {} for topic in collection.topics}
    judgments = collection.judgments
    for topic, doc, grade in zip(judgments.topic, judgments.docs, judgments.grade, strict=True):
        found[collection.topics[topic]][doc] = int(grade)
    return found


@pytest.mark.parametrize(
    "text",
    [
        QRELS.replace(" ", "\t"),
        QRELS.replace("\n", "\r\n"),
        "\n  \n# x\n" + QRELS.replace(" ", "   ").replace("\n", " extra fields\n\n"),
        "\ufeff" + QRELS.rstrip(),
        QRELS.replace(" 0 ", " Q0 "),
        QRELS.replace("a 1", "a +1").replace("c 2", "c 02"),
    ],
    ids=["tabs", "CRLF", "blank lines, extra fields", "byte-order mark", "iteration Q0", "signs and zeros"],
)
def test_judgments_in_many_layouts(bench: Bench, text: str) -> None:
    collection = bench.load(RUN, text)
    assert judged(collection) == TWO
    assert collection.notes == ()


def test_interleaved_topics_in_judgments(bench: Bench) -> None:
    collection = bench.load(RUN, "2 0 e 0\n1 0 c 2\n2 0 d 1\n1 0 a 1\n1 0 b 0\n")
    assert collection.topics == ("2", "1")
    assert judged(collection) == TWO
    assert lists_of(collection) == LISTS


def test_negative_grades(bench: Bench) -> None:
    text = QRELS.replace("c 2", "c -2")
    collection = bench.load(RUN, text)
    assert judged(collection)["1"] == {"a": 1, "b": 0, "c": -2}
    scores = uj.score(collection, "AP, P@1, Judged@3, bpref")
    assert scores.values[0, 0].tolist() == [1 / 3, 0.0, 2 / 3, 1.0]  # c is unjudged: no penalty in bpref
    counted = uj.score(bench.load(RUN, text, negative="nonrelevant"), "AP, bpref")
    assert counted.values[0, 0].tolist() == [1 / 3, 0.0]
    with pytest.raises(UsageError, match="negative"):
        bench.load(RUN, text, negative="spam")


def test_a_judgment_given_twice(bench: Bench) -> None:
    text = QRELS + "1 0 a 1\n2 0 d 1\n1 0 a 1\n"
    collection = bench.load(RUN, text)
    assert judged(collection) == TWO
    assert "3 judgments given twice (first: a in topic 1)" in one_note(collection)
    problem = bench.refused(RUN, text, strict=True)
    assert (problem.source, problem.line) == (str(bench.folder / "qrels.txt"), 6)


@pytest.mark.parametrize("how", [{}, {"lenient": True}, {"strict": True}])
def test_two_grades_for_one_document(bench: Bench, how: dict[str, bool]) -> None:
    problem = bench.refused(RUN, "# note\n" + QRELS + "2 0 d 1\n1 0 a 2\n", **how)
    assert (problem.source, problem.line) == (str(bench.folder / "qrels.txt"), 8)
    assert "two grades" in str(problem)
    assert "1 and 2" in str(problem)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1 0 z x", "'x' is not a whole number"),
        ("1 0 z 1.0", "'1.0' is not a whole number"),
        ("1 0 z 99999999999", "grade"),
        ("1 0 z", "found 3"),
        ("1 0", "found 2"),
    ],
)
def test_unusable_judgments(bench: Bench, line: str, words: str) -> None:
    text = QRELS.replace("2 0 d", f"\n{line}\n2 0 d")
    problem = bench.refused(RUN, text)
    assert (problem.source, problem.line) == (str(bench.folder / "qrels.txt"), 5)
    assert words in str(problem)
    collection = bench.load(RUN, text, lenient=True)
    assert judged(collection) == TWO
    assert "1 unusable line skipped, the first at line 5" in one_note(collection)


def test_a_run_given_as_judgments(bench: Bench) -> None:
    problem = bench.refused(RUN, RUN)
    assert "looks like a run" in str(problem)
    assert (problem.source, problem.line) == (str(bench.folder / "qrels.txt"), 1)
    assert bench.refused(RUN, "# header\n\n" + RUN).line == 3


def test_judgments_given_as_a_run(bench: Bench) -> None:
    problem = bench.refused("\n" + QRELS)
    assert (problem.source, problem.line) == (bench.file("\n" + QRELS), 2)
    assert "looks like judgments" in str(problem)


def test_no_topic_in_common(bench: Bench) -> None:
    problem = bench.refused("77 Q0 a 1 1 t\n")
    assert "no topic in common" in str(problem)
    assert "77" in str(problem)


# -- things in memory


def test_dicts(bench: Bench) -> None:
    assert lists_of(uj.load(TWO, RESULT)) == LISTS
    assert uj.load(TWO, RESULT).runs == ("run",)
    named = uj.load(TWO, {"mine": RESULT, "file": bench.file(RUN), "other": {"2": {"d": 1}}})
    assert named.runs == ("mine", "file", "other")
    assert [lists_of(named, i) for i in range(3)] == [LISTS, LISTS, {"2": ["d"]}]


def test_dicts_with_numbers_as_ids() -> None:
    qrels: Any = {1: {10: 1, np.int64(9): 0}}
    assert lists_of(uj.load(qrels, {1: {9: 1.0, 10: 1.0, "100": 1}})) == {"1": ["9", "100", "10"]}
    assert uj.load(qrels, {"1": {"9": 1.0}}).hits.rank.tolist() == [1]


@pytest.mark.parametrize("score", [1, 1.0, np.float32(1), np.float64(1), np.int64(1), True])
def test_kinds_of_numbers(score: Any) -> None:
    assert lists_of(uj.load(TWO, {"1": {"a": score, "b": 0.5, "c": float("-inf")}})) == {"1": ["a", "b", "c"]}
    assert judged(uj.load({"1": {"a": score}}, {"1": {"a": 1}})) == {"1": {"a": 1}}


def test_an_empty_topic_in_a_run_is_an_answer_of_no_documents() -> None:
    collection = uj.load(TWO, {"1": {}, "2": {"d": 1.0}})
    assert lists_of(collection) == {"1": [], "2": ["d"]}
    assert uj.score(collection, "RR").values.ravel().tolist() == [0.0, 1.0]


def test_an_id_with_a_newline() -> None:
    qrels = {"1": {"a": 1}, "2": {"new\nline": 1, "d": 0}, "3": {"f": 1}}
    run = {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 1.0, "new\nline": 2.0}, "3": {"f": 1.0}}
    assert lists_of(uj.load(qrels, run)) == {"1": ["a", "b"], "2": ["new\nline", "d"], "3": ["f"]}


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"1": {"a": float("nan")}}, "NaN"),
        ({"9": {"a": 1.0, "zz": float("nan")}, "1": {"a": 1.0}}, "'zz'"),
        ({"1": {"a": "high"}}, "'high'"),
        ({"1": {"a": None}}, "None"),
        ({"1": {"a": 10**400}}, "'a'"),
        ({"1": {"a": 1.0, "b": [1]}}, "'b'"),
        ({"1": {"a": 1.0}, "2": 5}, "'2'"),
        ({"1": {1.5: 1.0}}, "1.5"),
        ({"1": {("a",): 1.0}}, "text"),
        ({None: {"a": 1.0}}, "None"),
        ({"1": {"\ud800": 1.0}}, "id"),
        ({"\ud800": {"a": 1.0}}, "id"),
        ({"7": {"a": 1.0}}, "no topic in common"),
        ({}, "no "),
    ],
    ids=lambda thing: ascii(thing)[:40],
)
def test_dict_runs_that_cannot_be_used(run: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        uj.load(TWO, {"mine": run} if run else run)
    assert words in str(caught.value)
    assert "e.g. ," not in str(caught.value)


@pytest.mark.parametrize(
    ("qrels", "words"),
    [
        ({"1": {"a": 0.5}}, "0.5"),
        ({"1": {"a": float("nan")}}, "nan"),
        ({"1": {"a": float("inf")}}, "inf"),
        ({"1": {"a": "1"}}, "'1'"),
        ({"1": {"a": None}}, "None"),
        ({"1": {"a": 10**12}}, "grade"),
        ({"1": ["a"]}, "list"),
        ({"1": {2.0: 1}}, "2.0"),
        ({"1": {"\ud800": 1}}, "id"),
        ({"1": {}}, "no judgments"),
        ({}, "no judgments"),
        ({"1": {1: 1, "1": 0}}, "two grades"),
    ],
    ids=lambda thing: ascii(thing)[:40],
)
def test_dict_judgments_that_cannot_be_used(qrels: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        uj.load(qrels, RESULT)
    assert words in str(caught.value)


def test_a_topic_spelled_as_number_and_as_text() -> None:
    """1 and "1" are one topic: put together or refused, never kept as two of one name."""
    try:
        collection = uj.load({1: {"a": 1}, "1": {"b": 1}}, {1: {"a": 1.0}, "1": {"b": 2.0}})
    except UnjudgedError:
        return
    assert lists_of(collection) == {"1": ["b", "a"]}
    assert collection.topics == ("1",)


def test_other_things_are_refused() -> None:
    wrong: list[tuple[Any, Any]] = [
        (5, RESULT),
        ([], RESULT),
        (TWO, 5),
        (TWO, {"mine": 5}),
        (TWO, []),
        (TWO, [RESULT, RESULT]),
    ]
    for qrels, runs in wrong:
        with pytest.raises(UsageError):
            uj.load(qrels, runs)


FRAMES = {
    "ir_measures": (("query_id", "doc_id", "relevance"), ("query_id", "doc_id", "score")),
    "pyterrier": (("qid", "docno", "label"), ("qid", "docno", "score")),
    "ranx": (("q_id", "doc_id", "score"), ("q_id", "doc_id", "score")),
    "trectools": (("query", "docid", "rel"), ("query", "docid", "score")),
    "ours": (("topic", "doc", "grade"), ("topic", "doc", "score")),
}


def table(kind: str, columns: dict[str, list[Any]]) -> Any:
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(columns)
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(columns)
    return pytest.importorskip("pyarrow").table(columns)


def columns_of(names: tuple[str, ...], nested: dict[str, dict[str, Any]]) -> dict[str, list[Any]]:
    rows = [(topic, doc, value) for topic, docs in nested.items() for doc, value in docs.items()]
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("style", list(FRAMES))
def test_frames(kind: str, style: str) -> None:
    qrels, run = (columns_of(*pair) for pair in zip(FRAMES[style], (TWO, RESULT), strict=True))  # type: ignore[arg-type]
    if style == "pyterrier":  # these carry more: internal numbers, ranks from 0, the query's text
        run |= {"docid": [5, 6, 7, 8, 9], "rank": [0, 1, 2, 0, 1], "query": ["text"] * 5}
    if style == "trectools":
        run |= {"q0": ["Q0"] * 5, "rank": [1, 2, 3, 1, 2], "system": ["their-name"] * 5}
        qrels |= {"q0": ["0", "0", "1", "0", "0"]}
    collection = uj.load(table(kind, qrels), table(kind, run))
    assert lists_of(collection) == LISTS
    assert judged(collection) == TWO
    assert collection.runs == ("their-name" if style == "trectools" else "run",)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_with_numbers_as_ids_and_scattered_topics(kind: str) -> None:
    qrels = table(kind, {"qid": [2, 1, 2], "docno": [10, 11, 12], "label": [1.0, 2.0, 0.0]})
    run = table(kind, {"qid": [1, 2, 1, 2], "docno": [9, 10, 11, 12], "score": [1, 2, 3, 4]})
    collection = uj.load(qrels, run)
    assert collection.topics == ("2", "1")
    assert lists_of(collection) == {"2": ["12", "10"], "1": ["11", "9"]}


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("name", ["run", "run_id", "system", "name"])
def test_several_runs_in_one_frame(kind: str, name: str) -> None:
    columns = {
        name: ["b", "a", "b", "a"],
        "qid": ["1", "1", "2", "1"],
        "docno": ["a", "c", "d", "a"],
        "score": [1, 2, 3, 4],
    }
    collection = uj.load(TWO, table(kind, columns))  # type: ignore[arg-type]
    assert collection.runs == ("b", "a")
    assert [lists_of(collection, i) for i in range(2)] == [{"1": ["a"], "2": ["d"]}, {"1": ["a", "c"]}]


def test_a_frame_with_categories() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(columns_of(("qid", "docno", "score"), RESULT)).astype(
        {"qid": "category", "docno": "category"}
    )
    assert lists_of(uj.load(TWO, frame)) == LISTS


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"qid": ["1"], "docno": ["a"]}, "score"),
        ({"qid": ["1"], "score": [1.0]}, "document"),
        ({"docno": ["a"], "score": [1.0]}, "topic"),
        ({"quid": ["1"], "docno": ["a"], "score": [1.0]}, "did you mean qid"),
        ({"qid": ["1"], "docno": ["a"], "score": [float("nan")]}, "NaN"),
        ({"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, None]}, "NaN"),
        ({"qid": ["1"], "docno": ["a"], "score": ["high"]}, "'high'"),
        ({"qid": ["1"], "docno": [1.5], "score": [1.0]}, "1.5"),
        ({"qid": ["1", None], "docno": ["a", "b"], "score": [1.0, 1.0]}, "topic"),
        ({"qid": ["1", "1"], "docno": ["a", None], "score": [1.0, 1.0]}, "document"),
        ({"qid": ["7"], "docno": ["a"], "score": [1.0]}, "no topic in common"),
    ],
)
def test_frames_that_cannot_be_used(kind: str, columns: dict[str, list[Any]], words: str) -> None:
    with pytest.raises(InputError) as caught:
        uj.load(TWO, table(kind, columns))
    assert words in str(caught.value)


def test_frames_with_a_number_no_float_holds() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError):
        uj.load(TWO, pandas.DataFrame({"qid": ["1"], "docno": ["a"], "score": [10**400]}, dtype=object))


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames_of_judgments_that_cannot_be_used(kind: str) -> None:
    good = {"qid": ["1"], "docno": ["a"], "label": [1]}
    for change, words in (
        ({"label": [0.5]}, "0.5"),
        ({"label": ["x"]}, "'x'"),
        ({"docno": [2.5]}, "2.5"),
        ({"label": [None]}, "grade"),
    ):
        with pytest.raises(InputError) as caught:
            uj.load(table(kind, good | change), RESULT)  # type: ignore[arg-type]
        assert words in str(caught.value)
    with pytest.raises(InputError, match="grade"):
        uj.load(table(kind, {"qid": ["1"], "docno": ["a"]}), RESULT)
    with pytest.raises(InputError, match="two grades"):
        uj.load(table(kind, {"qid": ["1", "1"], "docno": ["a", "a"], "label": [1, 2]}), RESULT)


def test_tie_rules_hold_in_memory() -> None:
    run = {"1": {"b": 1.0, "c": 1.0, "a": 1.0}}
    expected = {"trec10": "cba", "trec9": "cba", "file": "bca", "ascending": "abc"}
    assert {ties: "".join(lists_of(uj.load(TWO, run, ties=ties))["1"]) for ties in expected} == expected
    assert lists_of(uj.load(TWO, run, truncate=1)) == {"1": ["c"]}


# -- teams


def test_teams(bench: Bench) -> None:
    runs = [bench.file(RUN, name) for name in ("r1", "r2", "r3")]
    expected = {"r1": "One", "r2": "Team Two", "r3": "One"}
    texts = {
        "header.tsv": "run\tteam\nr1\tOne\nr2\tTeam Two\nr3\tOne\n",
        "plain.tsv": "r1\tOne\r\n\r\nr2\tTeam Two\tmore\r\nr3\tOne",
        "twice.tsv": "\ufeffRun\tTeam\nr1\tOne\nr2\t Team Two \nr3\tOne\nr1\tOne\n",
        "desc.xml": "<all>" + "".join(
            f"<runs><tag>{r}</tag><organization> {t} </organization></runs>" for r, t in expected.items()
        ) + "</all>",
        "run.xml": "<?xml version='1.0'?>\n<x><y>"
        "<run><year>1993</year><organization>One</organization><tag>r1</tag></run>"
        "<run><tag>r2</tag><organization>Team Two</organization></run></y>"
        "<run><tag>r3</tag><organization>One</organization></run></x>",
    }  # fmt: skip
    for name, text in texts.items():
        assert uj.load(TWO, runs, teams=bench.file(text, name)).teams == expected, name
    squeezed = bench.file(gzip.compress(texts["header.tsv"].encode()), "teams")
    assert uj.load(TWO, runs, teams=Path(squeezed)).teams == expected
    assert uj.load(TWO, runs, teams=expected).teams == expected
    assert uj.load(TWO, runs).teams == {}


def test_teams_of_runs_that_are_not_there(bench: Bench) -> None:
    collection = bench.load(RUN, teams={"some.run": "A", "absent1": "B", "absent2": "B"})
    assert "2 named runs are not among the runs given (e.g. absent1)" in one_note(collection)
    collection = bench.load(RUN, teams={"some.run": "A", "absent1": "B"})
    assert "1 named run is not among the runs given (e.g. absent1)" in one_note(collection)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("run\tteam\nr1\tA\nr1\tB\n", 3, "two teams"),
        ("run\tteam\nr1 A\n", 2, "run<TAB>team"),
        ("r1\tA\n\nr2\t\n", 3, "run<TAB>team"),
        ("\tA\n", 1, "run<TAB>team"),
        ("run\tteam\n", None, "no teams"),
        ("", None, "empty"),
        ("<runs><tag>r1</tag>\n<organization>A</runs>", 2, "XML"),
        ("<runs><run>r1</run></runs>", None, "organization"),
        (
            "<!DOCTYPE x [<!ENTITY e 'A'>]><r><tag>r1</tag><organization>&e;</organization></r>",
            None,
            "document type",
        ),
        (
            "<a><r><tag>r1</tag><organization>A</organization></r><r><tag>r1</tag><organization>B</organization></r></a>",
            None,
            "two teams",
        ),
    ],
)
def test_team_files_that_cannot_be_used(bench: Bench, text: str, line: int | None, words: str) -> None:
    path = bench.file(text, "teams.txt")
    problem = bench.refused(RUN, teams=path)
    assert (problem.source, problem.line) == (path, line)
    assert words in str(problem)
    assert "no such file" in str(bench.refused(RUN, teams="nowhere.tsv"))


# -- choosing topics


MANY = {t: {"a": 1} for t in ("601", "051", "700", "602", "Q-1", "603")}


@pytest.mark.parametrize(
    ("only", "topics"),
    [
        ("601-602", ("601", "602")),
        ("700,601-603", ("601", "700", "602", "603")),
        (" 602 , 601,,602", ("601", "602")),
        ("50-52", ("051",)),
        ("Q-1", ("Q-1",)),
        ("051", ("051",)),
    ],
)
def test_only(only: str, topics: tuple[str, ...]) -> None:
    collection = uj.load(MANY, {t: {"a": 1.0} for t in MANY}, only=only)
    assert collection.topics == topics
    assert lists_of(collection) == {t: ["a"] for t in topics}
    assert len(collection.judgments) == len(topics)
    assert collection.outside == (len(MANY) - len(topics),)


@pytest.mark.parametrize("only", ["51", "604", "1-50", "601,zz", "603-601", "Q", "-", "601-", "", ",", "1-²"])
def test_only_without_such_topics(only: str) -> None:
    with pytest.raises(UnjudgedError) as caught:
        uj.load(MANY, {"601": {"a": 1.0}}, only=only)
    assert isinstance(caught.value, (InputError, UsageError))


def test_only_keeps_gains_of_the_full_collection() -> None:
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 3}}
    part = uj.load(qrels, {"1": {"a": 1.0}, "2": {"a": 1.0}}, only="1")
    assert part.judgments.gains.highest() == 3.0
    assert uj.score(part, "P@1").values.tolist() == [[[1.0]]]


def test_which_topics_count() -> None:
    qrels = {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}}
    runs = {"x": {"1": {"a": 1.0}, "2": {"a": 1.0}}, "y": {"2": {"z": 1.0, "a": 0.5}, "3": {"a": 1.0}}}
    collection = uj.load(qrels, runs)
    means = {
        t: uj.score(collection, "RR", topics=t).mean_values().ravel().tolist() for t in ("judged", "run", "common")
    }
    assert means == {"judged": [2 / 3, 0.5], "run": [1.0, 0.75], "common": [1.0, 0.5]}
    rows = [row[:2] for row in uj.score(collection, "RR", topics="run").rows()]
    assert rows == [("x", "1"), ("x", "2"), ("x", "all"), ("y", "2"), ("y", "3"), ("y", "all")]
    apart = uj.load(qrels, {"x": {"1": {"a": 1.0}}, "y": {"2": {"a": 1.0}}})
    with pytest.raises(UsageError, match="answered by all"):
        uj.score(apart, "RR", topics="common")
    with pytest.raises(UsageError, match="topics"):
        uj.score(collection, "RR", topics="all")


def test_undefined_values() -> None:
    """Topic 2 has no relevant document: average precision is undefined there, precision is not."""
    collection = uj.load({"1": {"a": 1}, "2": {"b": 0}}, {"1": {"a": 1.0}, "2": {"b": 1.0}})
    zero = uj.score(collection, "AP, P@1")
    assert zero.values[0].tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert zero.mean_values().tolist() == [[0.5, 0.5]]
    kept = uj.score(collection, "AP, P@1", undefined="nan")
    assert np.isnan(kept.values[0]).tolist() == [[False, False], [True, False]]
    dropped = uj.score(collection, "AP, P@1", undefined="drop")
    assert dropped.mean_values().tolist() == [[1.0, 1.0]]
    assert [row[1] for row in dropped.rows()] == ["1", "1", "all", "all"]
    with pytest.raises(UsageError, match="undefined"):
        uj.score(collection, "AP", undefined="ignore")


# -- options


@pytest.mark.parametrize(
    "how",
    [
        {"ties": "random"},
        {"truncate": 0},
        {"truncate": -5},
        {"truncate": 10**20},
        {"lenient": True, "strict": True},
        {"gains": {1: 2, 2: 1}},
        {"gains": {1: -1}},
    ],
    ids=str,
)
def test_options_that_make_no_sense(how: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        uj.load(TWO, RESULT, **how)


def test_gains_may_not_fall_from_one_grade_at_hand_to_the_next() -> None:
    """A grade without a gain of its own has itself: 1 -> 5 puts grade 1 above grade 2, but not above a grade 8."""
    run = {"t": {"a": 2.0, "b": 1.0}}
    sentence = r"grade 1 has 5, grade 2 2 \(a grade without"
    low, high = {"t": {"a": 1, "b": 2}}, {"t": {"a": 1, "b": 8, "c": -1}}
    with pytest.raises(UsageError, match=sentence):
        uj.load(low, run, gains={1: 5})
    with pytest.raises(UsageError, match=sentence):
        uj.load(low, run).with_gains({1: 5})
    with pytest.raises(UsageError, match=r"grade 1 has 1, grade 2 0.5 "):
        uj.load(low, run, gains={2: 0.5})
    with pytest.raises(UsageError, match="only grades above 0 have a gain"):
        uj.load(low, run, gains={0: 1, 1: 1})
    kept = uj.load(high, run, gains={0: 0, 1: 5})
    assert kept.judgments.gains.highest() == 8 and kept.judgments.gain().tolist() == [5, 8, 0]
    for measure in ("RBP(gains={1: 5})", "ERR(stop='ntcir', gains={1: 5})", "rpref_N(gains={1: 5})"):  # divide by H
        with pytest.raises(uj.MeasureError, match="gains must not fall with the grade here"):
            uj.score(uj.load(low, run), measure)
        assert 0 < uj.score(kept, measure).values[0, 0, 0] < 1
    with pytest.raises(uj.MeasureError, match="max_rel must lie above min_rel"):
        uj.score(kept, "SDCG(min_rel=1, max_rel=1)@5")


def test_notes_are_warnings(bench: Bench) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        collection = bench.load("1 Q0 a 1 1 t\n1 Q0 a 2 0 t\n9 Q0 a 1 1 t\nbad\n", QRELS + "1 0 a 1\n", lenient=True)
    assert [str(w.message) for w in caught if issubclass(w.category, DataWarning)] == list(collection.notes)
    assert len(collection.notes) == 5


# -- threads


@pytest.mark.slow
def test_several_threads_read_what_one_reads(bench: Bench) -> None:
    chance = random.Random(23)
    qrels = {str(t): {f"d{chance.randrange(300)}": chance.randrange(3) for _ in range(60)} for t in range(20)}
    for r in range(12):
        lines = [
            f"{t} Q0 d{chance.randrange(400)} 0 {chance.randrange(40)} tag\n"
            for t in range(chance.randrange(5), 24)
            for _ in range(80)
        ]
        if r % 3 == 0:
            chance.shuffle(lines)
        text = "".join(lines).encode()
        bench.file(gzip.compress(text) if r % 2 else text, f"runs/r{r:02d}")
    one, four = (uj.load(qrels, bench.folder / "runs", jobs=jobs) for jobs in (1, 4))
    assert one.runs == four.runs == tuple(f"r{r:02d}" for r in range(12))
    for column in ("offsets", "row", "rank", "length", "answered"):
        assert np.array_equal(getattr(one.hits, column), getattr(four.hits, column)), column
    assert (one.notes, one.outside) == (four.notes, four.outside)
    assert np.array_equal(one.rankings.doc, four.rankings.doc)
    bench.file("bad\n", "runs/r05")
    bench.file("worse\n", "runs/r08")
    messages = set()
    for jobs in (1, 4):
        with pytest.raises(InputError) as caught:
            uj.load(qrels, bench.folder / "runs", jobs=jobs)
        messages.add(str(caught.value))
    assert len(messages) == 1
    assert "r05:1:" in messages.pop()


# -- reading again


def test_other_ties_and_more_runs_are_read_again(tmp_path: Path) -> None:
    """float32 takes 1.00000001 and 1.0 for equal; a run added later joins the ones that are there."""
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 c 1\n")
    (tmp_path / "one").write_text("1 Q0 a 1 1.00000001 t\n1 Q0 b 1 1.0 t\n9 Q0 x 1 1 t\n8 Q0 x 1 1 t\n")
    (tmp_path / "two").write_text("2 Q0 c 1 1 t\n")
    collection = uj.load(tmp_path / "qrels", tmp_path / "one")
    single = collection.with_ties("trec9")
    assert (lists_of(collection), lists_of(single)) == ({"1": ["a", "b"]}, {"1": ["b", "a"]})
    assert (collection.settings["ties"], single.settings["ties"]) == ("trec10", "trec9")
    assert collection.with_ties("trec10") is collection
    assert collection.adding() is collection
    assert single.rankings.outside == (("9", "8"),)
    both = single.adding(tmp_path / "two", {"three": {"1": {"b": 2.0, "z": 1.0}}})
    assert both.runs == ("one", "two", "three")
    assert both.settings["ties"] == "trec9"
    assert both.rankings.ids(both.judgments, 0) == ["b", "a"]
    assert both.rankings.ids(both.judgments, 4) == ["b", "z"]
    with pytest.raises(UsageError, match="two runs are called one"):
        both.adding(tmp_path / "one")


def test_what_can_be_read_once_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"1 Q0 a 1 1 t\n")))
    monkeypatch.setattr(sys, "stdin", text)
    collection = uj.load({"1": {"a": 1}}, ["-"])
    assert collection.rankings.ids(collection.judgments, 0) == ["a"]
    with pytest.raises(UsageError, match="standard input can be read once"):
        collection.with_ties("trec9")
