"""The C kernels against their NumPy twin, and both against a naive model written down here."""

from __future__ import annotations

import itertools
import os
import random
import struct
import subprocess
import sys
import sysconfig
import tempfile
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import inf, isinf, nextafter
from time import sleep
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from kernel_twins import _c, both, needs_c

from unjudged.kernels import TIES, _numpy

generated = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))

TREC10, TREC9, FILE, ASCENDING = (TIES[name] for name in ("trec10", "trec9", "file", "ascending"))
HITS = ("offsets", "row", "rank", "length", "answered")
REPEATS = ("duplicates", "duplicate_topic", "duplicate_doc", "repeats")
DOCS = ("docs", "doc_ends", "doc_offsets", "doc_rows", "doc_scores", "tie_first", "tie_size")

# -- helpers


def pack(ids: list[bytes]) -> tuple[bytes, np.ndarray]:
    return b"".join(ids), np.cumsum([len(i) for i in ids], dtype=np.int64)


def make_index(kernels: Any, judged: dict[bytes, list[bytes]]) -> Any:
    starts = np.cumsum([0] + [len(docs) for docs in judged.values()], dtype=np.int64)
    return kernels.Index(*pack(list(judged)), *pack([d for docs in judged.values() for d in docs]), starts)


def pieces_of(text: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({min(cut, len(text)) for cut in cuts})
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def scan(kernels: Any, judged: dict[bytes, list[bytes]], pieces: list[bytes], **options: Any) -> dict[str, Any]:
    """What io.trec does with a file: feed until the scanner has had enough, then finish."""
    scanner = kernels.RunScanner(make_index(kernels, judged), **options)
    going_on = True
    for piece in pieces:
        going_on = scanner.feed(piece)
        if not going_on:
            break
    found: dict[str, Any] = scanner.finish() | {"going_on": going_on}
    return found


def ints(raw: bytes, kind: Any = np.int32) -> list[int]:
    return list(np.frombuffer(raw, kind).tolist())


def lists_of(found: dict[str, Any], topics: int) -> list[list[bytes]]:
    """The ranked ids per topic of a scan with keep_docs."""
    ends, offsets = ints(found["doc_ends"], np.int64), ints(found["doc_offsets"], np.int64)
    docs = [found["docs"][a:b] for a, b in zip([0, *ends], ends, strict=False)]
    return [docs[offsets[t] : offsets[t + 1]] for t in range(topics)]


def ranked(listed: list[tuple[bytes, float]], ties: int) -> list[bytes]:
    """The naive model: the order of one list, later duplicates dropped."""
    value = (lambda s: float(np.float32(s))) if ties == TREC9 else float
    order = list(listed)
    if ties == ASCENDING:
        order.sort(key=lambda e: e[0])
    elif ties != FILE:
        order.sort(key=lambda e: e[0], reverse=True)
    with np.errstate(over="ignore"):
        order.sort(key=lambda e: value(e[1]), reverse=True)
    return list(dict.fromkeys(doc for doc, _ in order))


def best_scores(listed: list[tuple[bytes, float]], ties: int) -> dict[bytes, float]:
    """The score that decides, as the rule compares it."""
    with np.errstate(over="ignore"):
        seen = [(doc, float(np.float32(score)) if ties == TREC9 else score) for doc, score in listed]
    return {doc: max(score for other, score in seen if other == doc) for doc, _ in seen}


# -- text

BLANKS = [b" ", b"\t", b"  ", b" \t ", b"\v", b"\f", b"\r"]
TOPICS = [b"1", b"2", b"051", b"NA", b"a#b", b"q\xff", b"elsewhere", b"outside"]
IDS = [
    b"d1",
    b"d2",
    b"d10",
    b"D1",
    b"d",
    b"d\0",
    b"d1#",
    b"\xff\xfe",
    b"1e5",
    b"a-much-longer-id-" + b"x" * 20,
]
ODD_NUMBERS = [
    *(
        b"1",
        b"2",
        b"1.0",
        b"-1",
        b"0",
        b"-0.0",
        b"0.0",
        b".5",
        b"5.",
        b"+1",
        b"0.50",
        b"1e0",
        b"1E1",
        b"1e+1",
    ),
    *(b"1e-400", b"1e400", b"-1e400", b"inf", b"-inf", b"+Infinity", b"INF", b"0.1", b"0.10000000000000001"),
    *(b"0.1000000000000000055511151231257827", b"123456789012345678", b"1234567890123456789012"),
    *(b"9007199254740993", b"9007199254740992", b"16777217", b"16777216", b"3.4028236e38", b"1e39", b"1e-46"),
    *(b"000000000000000000000000001", b"2.2250738585072011e-308", b"4.9e-324", b"18446744073709551616"),
]
NOT_NUMBERS = [
    *(
        b"nan",
        b"NaN",
        b"-nan",
        b"+NAN",
        b"nan(1)",
        b"0x10",
        b"1_0",
        b"2,5",
        b".",
        b"e5",
        b"1e",
        b"1e+",
        b"+",
        b"-",
    ),
    *(
        b"--1",
        b"+-1",
        b"1.2.3",
        b"1e5.5",
        b"infin",
        b"infinit",
        b"info",
        b"1f",
        b"1L",
        b"\xd9\xa1",
        b"1\0",
        b"e",
        b"-.e1",
    ),
]
JUDGED = {
    b"2": [b"d1", b"d10", b"\xff\xfe"],
    b"1": [b"d1", b"d2", b"d", b"d1#"],
    b"051": [],
    b"NA": [b"1e5", b"d\0"],
    b"a#b": [b"a-much-longer-id-" + b"x" * 20, b"d2"],
    b"q\xff": [b"D1"],
}

blank = st.sampled_from(BLANKS)
a_score = st.one_of(
    st.sampled_from(ODD_NUMBERS),
    st.sampled_from(ODD_NUMBERS),
    st.floats(allow_nan=False).map(lambda x: repr(x).encode()),
    st.builds(lambda m, e: b"%d.%de%d" % (m, abs(m), e), st.integers(-(10**20), 10**20), st.integers(-40, 40)),
)
anything = st.lists(st.sampled_from(list(b" \t\r\v\f\0#0123456789.eE+-naifQd_x,\xff")), max_size=40).map(bytes)


def as_line(fields: tuple[bytes, ...], blanks: tuple[bytes, bytes], ends: tuple[bytes, bytes], extra: int) -> bytes:
    """Six fields, some taken away (extra < 0) or added, with the two kinds of blanks in turn."""
    listed = [*fields[:extra]] if extra < 0 else [*fields, *[b"rel", b"nonrel"][:extra]]
    between = b"".join(f + blanks[i % 2] for i, f in enumerate(listed[:-1]))
    return ends[0] + between + listed[-1] + ends[1]


def run_line(topics: list[bytes] = TOPICS, clean: bool = False) -> Any:
    score = a_score if clean else st.one_of(a_score, a_score, a_score, st.sampled_from(NOT_NUMBERS))
    fields = st.tuples(
        st.sampled_from(topics),
        st.sampled_from([b"Q0", b"Q1", b"#"]),
        st.sampled_from(IDS),
        st.sampled_from([b"0", b"001", b"x"]),
        score,
        st.sampled_from([b"tag", b"t#", b"\xe9"]),
    )
    margin = st.sampled_from([b"", b"", b" ", b"\t", b"\r"])
    extra = st.just(0) if clean else st.sampled_from([0] * 12 + [1, 2, -1, -2])
    return st.builds(as_line, fields, st.tuples(blank, blank), st.tuples(margin, margin), extra)


noise = st.one_of(anything, st.sampled_from([b"", b"   ", b"\r", b"# comment", b" # not a comment", b"#", b"\0"]))
run_text = st.tuples(
    st.lists(st.one_of(run_line(), run_line(), run_line(), noise), max_size=30),
    st.sampled_from([b"", b"\n", b"\n\n"]),
).map(lambda parts: b"\n".join(parts[0]) + parts[1])
clean_text = st.lists(run_line(clean=True), max_size=40).map(lambda lines: b"".join(line + b"\n" for line in lines))
cuts = st.lists(st.integers(0, 400), max_size=6)
options = st.fixed_dictionaries(
    {
        "ties": st.sampled_from(list(TIES.values())),
        "truncate": st.sampled_from([0, 0, 1, 2, 5]),
        "lenient": st.booleans(),
        "gather": st.booleans(),
        "keep_docs": st.booleans(),
        "tie_groups": st.booleans(),
    }
)


def same_scan(text: bytes, cut: list[int], how: dict[str, Any]) -> None:
    pieces = pieces_of(text, cut)
    mine, twin = scan(_c, JUDGED, pieces, **how), scan(_numpy, JUDGED, pieces, **how)
    assert mine.keys() == twin.keys()
    stopped = bool(twin["bad"]) and not how["lenient"]
    # After an unusable line, or with a topic in two places, the caller refuses or reads again.
    ignored = {*HITS, *REPEATS, *DOCS} if stopped or (twin["split"] and not how["gather"]) else set()
    if twin["duplicates"]:  # which of several is named first: test_the_first_document_listed_again...
        ignored |= {"duplicate_topic", "duplicate_doc"}
    for key in mine.keys() - ignored - {"repeats"}:
        assert mine[key] == twin[key], key
    if "repeats" not in ignored:  # topic after topic in one, in the order of the file in the other
        pairs = [np.frombuffer(found["repeats"], np.int32).reshape(-1, 2).tolist() for found in (mine, twin)]
        assert sorted(pairs[0]) == sorted(pairs[1])


@needs_c
@generated
@given(run_text, cuts, options)
def test_run_text_gives_equal_results(text: bytes, cut: list[int], how: dict[str, Any]) -> None:
    same_scan(text, cut, how)


def scan_from(kernels: Any, text: bytes, room: int, most: int, start: int, **options: Any) -> dict[str, Any]:
    """The text from a place on, taken from a file through a buffer, some bytes a call."""
    scanner = kernels.RunScanner(make_index(kernels, JUDGED), **options)
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(text)
        file.seek(start)
        buffer = bytearray(room)
        while scanner.feed_from(file.fileno(), buffer, most):
            pass
    found: dict[str, Any] = scanner.finish()
    return found


@both
@generated
@given(run_text, st.integers(1, 90), st.integers(1, 200), st.integers(0, 60), options)
def test_a_file_is_read_as_its_text(
    kernels: Any, text: bytes, room: int, most: int, start: int, how: dict[str, Any]
) -> None:
    found, whole = scan_from(kernels, text, room, most, start, **how), scan(kernels, JUDGED, [text[start:]], **how)
    if found["split"] and not how["gather"]:  # both stop, each at the end of its piece
        assert whole["split"]
        return
    assert found | {"going_on": whole["going_on"]} == whole


@both
def test_what_is_read_from_a_file_is_counted_and_refused_where_it_cannot_be_read(kernels: Any) -> None:
    lines = b"".join(b"1 Q0 d%d 1 %d t\n" % (i, -i) for i in range(100))
    scanner = kernels.RunScanner(make_index(kernels, JUDGED))
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(lines)
        file.seek(0)
        read = [scanner.feed_from(file.fileno(), bytearray(64), 1000) for _ in range(4)]
        assert sum(read) == len(lines) and read[0] == 1000 and read[-1] == 0
        closed = os.dup(file.fileno())
        os.close(closed)
        with pytest.raises(OSError, match="Bad file descriptor"):
            scanner.feed_from(closed, bytearray(64), 1000)
    assert scanner.finish()["lines"] == 100


@needs_c
@pytest.mark.parametrize("spelling", [b"+-nan", b"-+nan", b"++nan", b"--NaN"])
def test_a_nan_with_two_signs_is_of_one_kind(spelling: bytes) -> None:
    text = b"1 Q0 d1 1 %s t\n" % spelling
    assert scan(_c, JUDGED, [text])["bad"] == scan(_numpy, JUDGED, [text])["bad"]


@needs_c
@pytest.mark.parametrize("gather", [False, True])
def test_the_first_document_listed_again_is_the_same_one(gather: bool) -> None:
    """The run lists its topics in another order than the judgments, and two of them hold a duplicate."""
    text = b"1 Q0 d1 1 1 t\n1 Q0 d1 1 1 t\n2 Q0 d10 1 1 t\n2 Q0 d10 1 1 t\n"
    mine, twin = (scan(kernels, JUDGED, [text], gather=gather) for kernels in (_c, _numpy))
    assert (mine["duplicate_topic"], mine["duplicate_doc"]) == (
        twin["duplicate_topic"],
        twin["duplicate_doc"],
    )


@needs_c
def test_a_thousand_random_texts_give_equal_results() -> None:
    chance = random.Random(11)
    for _ in range(1000):
        lines = []
        for topic in chance.sample(TOPICS, chance.randint(1, 4)):
            for _ in range(chance.randint(0, 12)):
                score = chance.choice(ODD_NUMBERS) if chance.random() < 0.97 else chance.choice(NOT_NUMBERS)
                fields = [topic, b"Q0", chance.choice(IDS), b"0", score, b"tag", b"rel"]
                if chance.random() < 0.05:
                    topic = chance.choice(TOPICS)
                size = chance.choice([6, 6, 6, 6, 6, 6, 6, 7, 7, 5])
                lines.append(chance.choice(BLANKS).join(fields[:size]) + chance.choice([b"", b"\r", b" "]))
        text = chance.choice([b"\n", b"\n", b"\n", b"\n\n"]).join(lines)
        how = {
            "ties": chance.randrange(4),
            "truncate": chance.choice([0, 0, 1, 3]),
            "lenient": chance.random() < 0.5,
            "gather": chance.random() < 0.5,
            "keep_docs": chance.random() < 0.5,
            "tie_groups": chance.random() < 0.5,
        }
        same_scan(text, [chance.randrange(600) for _ in range(chance.randrange(5))], how)


@needs_c
@generated
@given(clean_text, cuts, options)
def test_clean_run_text_gives_equal_results(text: bytes, cut: list[int], how: dict[str, Any]) -> None:
    same_scan(text, cut, how)


@needs_c
@generated
@given(st.binary(max_size=300), cuts, options)
def test_arbitrary_bytes_give_equal_results(text: bytes, cut: list[int], how: dict[str, Any]) -> None:
    same_scan(text, cut, how)


@needs_c
@generated
@given(st.one_of(run_text, clean_text), options)
def test_lines_read_together_are_those_read_one_by_one(text: bytes, how: dict[str, Any]) -> None:
    """Many lines at once take another way through the C code than a line that ends its piece of text."""
    far_end = b"\n#" + b"x" * 200 + b"\n"
    together = scan(_c, JUDGED, [text + far_end], **how)
    single = scan(_c, JUDGED, [line + b"\n" for line in (text + far_end).split(b"\n")[:-1]], **how)
    if together["split"] and not how["gather"]:  # told at the end of a piece; the caller reads again
        assert single["split"]
        return
    assert together == single


@both
def test_scores_of_many_lines_are_exactly_pythons_floats(kernels: Any) -> None:
    chance = random.Random(5)
    texts = [
        b"%d.%0*d" % (chance.randrange(10**i), d, chance.randrange(10**d)) for i in range(1, 10) for d in range(1, 11)
    ]
    texts += [b"-" + text for text in texts] + [b"%d" % chance.randrange(10**i) for i in range(1, 20)] + ODD_NUMBERS
    lines = [b"1 Q0 doc%d 1 %s t\n" % (i, text) for i, text in enumerate(texts)]
    found = scan(kernels, JUDGED, [b"".join(lines) + b"#" * 300 + b"\n"], keep_docs=True)
    docs, scores = lists_of(found, 2)[1], np.frombuffer(found["doc_scores"], np.float64).tolist()
    read = dict(zip(docs, scores, strict=True))
    assert [read[b"doc%d" % i] for i in range(len(texts))] == [float(text) for text in texts]


@both
@pytest.mark.parametrize("bad", [b"1.2.3", b"1/2.5", b"1.5:", b"-.-5", b"1.", b"12345678x.5", b"1.1234567x"])
def test_what_looks_nearly_like_a_score_is_read_as_any_other(kernels: Any, bad: bytes) -> None:
    line = b"1 Q0 d1 1 %s t\n" % bad
    found = scan(kernels, JUDGED, [line + b"#" * 300 + b"\n"])
    assert found["bad_count"] == (bad != b"1.")


@both
@pytest.mark.parametrize("shape", [lambda i: i * 7919 % 5003, lambda i: i % 3, lambda i: (i * 7919 % 5003) ** 4])
@pytest.mark.parametrize("far", [b"", b"1 Q0 far 1 inf t\n", b"1 Q0 far 1 -1e300 t\n"])
def test_long_lists_in_any_order(kernels: Any, shape: Callable[[int], int], far: bytes) -> None:
    """Scores spread evenly, over few values, unevenly, and with one far away."""
    listed = [(b"doc%d" % i, float(shape(i))) for i in range(2000)]
    text = b"".join(b"1 Q0 %s 1 %r t\n" % (doc, score) for doc, score in listed)
    found = scan(kernels, JUDGED, [text.replace(b"'", b"") + far], keep_docs=True)
    first = [b"far"] if b"inf" in far else []
    last = [b"far"] if far and not first else []
    assert lists_of(found, 2)[1] == [*first, *ranked(listed, TREC10), *last]


@both
@generated
@given(st.lists(run_line(clean=True, topics=[b"1", b"NA", b"2"]), max_size=40), cuts, options)
def test_rankings_are_those_of_the_naive_model(kernels: Any, lines: list[bytes], cut: list[int], how: Any) -> None:
    """Scattered topics and all, read in gather mode."""
    how = how | {"gather": True, "keep_docs": True, "tie_groups": True}
    found = scan(kernels, JUDGED, pieces_of(b"\n".join(lines), cut), **how)
    entries: dict[bytes, list[tuple[bytes, float]]] = {}
    for line in lines:
        fields = line.split()
        entries.setdefault(fields[0], []).append((fields[2], float(fields[4])))
    expected, row = [], 0
    rows: dict[tuple[bytes, bytes], int] = {}
    for topic, docs in JUDGED.items():
        listed = ranked(entries.get(topic, []), how["ties"])
        expected.append(listed[: how["truncate"] or None])
        for doc in docs:
            rows[topic, doc], row = row, row + 1
    assert lists_of(found, len(JUDGED)) == expected
    assert ints(found["length"]) == [len(docs) for docs in expected]
    assert ints(found["answered"], np.uint8) == [int(topic in entries) for topic in JUDGED]
    hits = [
        (rows[t, d], r)
        for t, docs in zip(JUDGED, expected, strict=True)
        for r, d in enumerate(docs, 1)
        if (t, d) in rows
    ]
    assert list(zip(ints(found["row"]), ints(found["rank"]), strict=True)) == hits
    groups = []
    for topic, docs in zip(JUDGED, expected, strict=True):
        score = best_scores(entries.get(topic, []), how["ties"])
        for doc in docs:
            if (topic, doc) in rows:
                tied = [i for i, other in enumerate(docs, 1) if score[other] == score[doc]]
                groups.append((tied[0], len(tied)))
    assert list(zip(ints(found["tie_first"]), ints(found["tie_size"]), strict=True)) == groups
    if not how["truncate"]:
        assert found["duplicates"] == len(lines) - sum(len(ranked(e, FILE)) for e in entries.values())
    assert found["lines"] == len(lines)


@both
@pytest.mark.parametrize("ties", list(TIES.values()), ids=list(TIES))
def test_long_lists_with_heavy_ties(kernels: Any, ties: int) -> None:
    """Long enough for every branch of the merge sort; few distinct scores, ids that share prefixes."""
    chance = random.Random(ties)
    for size in (11, 12, 13, 24, 25, 200, 3000):
        listed = [(b"d%d" % chance.randrange(size), chance.choice([0.5, 1.0, -1.0, 1.0000000001])) for _ in range(size)]
        text = b"".join(b"1 Q0 %s 1 %r t\n" % (d, s) for d, s in listed)
        found = scan(kernels, {b"1": []}, [text], ties=ties, keep_docs=True)
        assert lists_of(found, 1) == [ranked(listed, ties)]


@both
def test_each_tie_rule_by_hand(kernels: Any) -> None:
    listed = b"1 Q0 a 1 16777216 t\n1 Q0 c 2 16777217 t\n1 Q0 b 3 16777217 t\n1 Q0 ab 4 16777216 t\n"
    expected = {TREC10: b"c b ab a", TREC9: b"c b ab a", FILE: b"c b a ab", ASCENDING: b"b c a ab"}
    for ties, order in expected.items():
        found = scan(kernels, {b"1": []}, [listed], ties=ties, keep_docs=True)
        assert lists_of(found, 1) == [order.split()]
    # 16777217 is no float32: trec_eval 9 sees four equal scores, trec_eval 10 does not
    listed = listed.replace(b" c ", b" 0 ")
    assert lists_of(scan(kernels, {b"1": []}, [listed], ties=TREC9, keep_docs=True), 1) == [b"b ab a 0".split()]
    assert lists_of(scan(kernels, {b"1": []}, [listed], ties=TREC10, keep_docs=True), 1) == [b"b 0 ab a".split()]


@both
def test_groups_of_equal_scores_by_hand(kernels: Any) -> None:
    """Ranks 1 | 2 3 4 | 5 6: the hits are a (alone), c and b (of three), e (of two, a third is cut)."""
    scores = [
        (b"a", 9),
        (b"b", 5),
        (b"x", 5),
        (b"c", 5),
        (b"c", 5),
        (b"a", 5),
        (b"y", 1),
        (b"e", 1),
        (b"d", 1),
    ]
    text = b"".join(b"1 Q0 %s 0 %d t\n" % pair for pair in scores)
    found = scan(kernels, {b"0": [], b"1": [b"a", b"b", b"c", b"e"]}, [text], tie_groups=True, truncate=6)
    assert (ints(found["row"]), ints(found["rank"])) == ([0, 2, 1, 3], [1, 3, 4, 6])
    assert (ints(found["tie_first"]), ints(found["tie_size"])) == ([1, 2, 2, 5], [1, 3, 3, 2])


@both
def test_ids_are_compared_as_unsigned_bytes(kernels: Any) -> None:
    text = b"".join(b"1 Q0 %s 1 7 t\n" % d for d in (b"a", b"\xff", b"aa", b"\x80", b"Z", b"a\x01"))
    found = scan(kernels, {b"1": []}, [text], ties=TREC10, keep_docs=True)
    assert lists_of(found, 1) == [[b"\xff", b"\x80", b"aa", b"a\x01", b"a", b"Z"]]


@both
@pytest.mark.parametrize("gather", [False, True])
def test_the_better_ranked_of_two_equal_documents_stays(kernels: Any, gather: bool) -> None:
    text = b"1 Q0 a 1 1 t\n1 Q0 b 2 2 t\n1 Q0 a 3 3 t\n1 Q0 c 4 0 t\n1 Q0 c 5 -1 t\n"
    found = scan(kernels, {b"1": [b"a", b"b", b"c"]}, [text], gather=gather, keep_docs=True)
    assert lists_of(found, 1) == [[b"a", b"b", b"c"]]
    assert (ints(found["row"]), ints(found["rank"])) == ([0, 1, 2], [1, 2, 3])
    assert (found["duplicates"], found["duplicate_topic"], found["duplicate_doc"]) == (2, 0, b"a")
    assert ints(found["repeats"]) == [0, 2, 0, 3]  # a again below the two best, c again below all three


@both
def test_a_topic_in_two_places_is_noticed_and_gathering_repairs_it(kernels: Any) -> None:
    judged = {b"1": [b"a", b"c"], b"2": [b"b"]}
    scattered = [b"1 Q0 a 1 1 t\n", b"2 Q0 b 1 5 t\n9 Q0 z 1 1 t\n", b"1 Q0 c 2 9 t\n9 Q0 y 1 1 t\n"]
    grouped = [scattered[0] + b"1 Q0 c 2 9 t\n", scattered[1] + b"9 Q0 y 1 1 t\n"]
    first = scan(kernels, judged, scattered)
    assert first["split"] is True
    assert first["going_on"] is False
    for options in ({}, {"keep_docs": True}, {"truncate": 1}):
        again = scan(kernels, judged, scattered, gather=True, **options)
        plain = scan(kernels, judged, grouped, **options)
        assert not plain["split"]
        for key in plain:
            assert again[key] == plain[key], key


@both
@pytest.mark.parametrize("lenient", [False, True])
def test_unusable_lines_are_kept_with_number_kind_and_text(kernels: Any, lenient: bool) -> None:
    good = b"1 Q0 d%d 1 %d t\n"
    text = b"".join([good % (1, 1), b"# comment\n\n", b"1 Q0 0625 0156 t\n", good % (2, 2), b"1 Q0 d3 1 nan t\n"])
    text += b"1 Q0 d4 1 2,5 t\n1 Q0 d5 1 0x10 t\n1 Q0 d\0 1 t\n" + b"1 " + b"x" * 300 + b"\n" + good % (6, 6)
    found = scan(kernels, {b"1": []}, [text], lenient=lenient, keep_docs=True)
    bad = [
        (4, 1, b"1 Q0 0625 0156 t"),
        (6, 3, b"1 Q0 d3 1 nan t"),
        (7, 2, b"1 Q0 d4 1 2,5 t"),
        (8, 2, b"1 Q0 d5 1 0x10 t"),
        (9, 4, b"1 Q0 d\0 1 t"),
    ]
    if not lenient:
        assert (found["bad"], found["bad_count"], found["going_on"]) == (bad[:1], 1, False)
        return
    assert found["bad"][:5] == bad
    assert found["bad"][5][:2] == (10, 1)
    assert found["bad"][5][2].startswith(b"1 xxx")
    assert (found["bad_count"], found["lines"], found["going_on"]) == (6, 3, True)
    assert lists_of(found, 1) == [[b"d6", b"d2", b"d1"]]


@both
def test_many_unusable_lines_are_counted_but_not_all_kept(kernels: Any) -> None:
    found = scan(kernels, {b"1": []}, [b"bad\n" * 1000 + b"1 Q0 d 1 1 t"], lenient=True)
    assert found["bad_count"] == 1000
    assert [line for line, _, _ in found["bad"]] == list(range(1, 1 + len(found["bad"])))
    assert 0 < len(found["bad"]) < 100


@both
def test_topics_outside_the_judgments_are_counted_once_each(kernels: Any) -> None:
    text = b"".join(b"o%d Q0 d 1 1 t\n" % (i % 300) for i in range(900)) + b"1 Q0 d 1 1 last"
    found = scan(kernels, {b"1": [b"d"]}, [text])
    assert found["outside_topics"] == 300
    assert found["outside_names"].split(b"\n") == [b"o0", b"o1", b"o2", b"o3", b"o4"]
    full = scan(kernels, {b"1": [b"d"]}, [text], keep_docs=True)
    assert full["outside_names"].split(b"\n") == [b"o%d" % i for i in range(300)]
    assert (found["tag"], found["lines"], ints(found["rank"])) == (b"last", 901, [1])


@both
def test_nothing_fed_is_nothing_found(kernels: Any) -> None:
    for pieces in ([], [b""], [b"\n"], [b"#x"], [b" \t\r\n"]):
        found = scan(kernels, {b"1": [b"d"], b"2": []}, pieces, keep_docs=True)
        assert (found["lines"], found["row"], found["tag"], ints(found["answered"], np.uint8)) == (
            0,
            b"",
            b"",
            [0, 0],
        )
        assert ints(found["offsets"], np.int64) == [0, 0, 0]


@needs_c
def test_lines_are_split_alike_by_every_processor() -> None:
    """Blanks of every kind at every place of a line's first 64 bytes, and fields that end before, at and behind it."""
    draw = random.Random(64)
    separators = [b" ", b"\t", b"  ", b" \t", b"\r", b"\v", b"\f "]
    separators += [bytes([k]) for k in (0x00, 0x08, 0x0E, 0x1C, 0x89, 0xA0, 0xAD)]  # no blanks, though they look alike
    lines: list[bytes] = []
    for length in range(1, 70):
        for fields in ([b"q", b"Q0", b"d" * length], [b"q", b"Q0", b"d", b"1" * length], [b"q" * length, b"Q0", b"d"]):
            number = len(lines)
            fields = [*fields, b"1"][:4]
            lines.append(b" ".join([*fields, b"%d.5" % (10_000 - number), b"t" * draw.randint(1, 70)]))
    for _ in range(4000):
        document, score = b"d%d" % draw.randrange(3000), b"%.3f" % draw.random()
        fields = [draw.choice((b"q", b"r")), b"Q0", document, b"1", score, b"tag"]
        parts = [draw.choice((b"", b"", b"", b" "))]
        for field in fields[: draw.choice((6, 6, 6, 5))]:
            parts += [field, b" " if draw.random() < 0.8 else draw.choice(separators)]
        lines.append(b"".join(parts) + draw.choice((b"", b"", b"more words", b"\r")))
    text, judged = b"\n".join(lines), {b"q": [b"d%d" % i for i in range(0, 3000, 7)], b"q" * 9: [b"d"]}
    found: list[dict[str, Any]] = []
    for kernels, narrow in ((_numpy, False), (_c, False), (_c, True)):
        scanner = kernels.RunScanner(make_index(kernels, judged), lenient=True, gather=True, keep_docs=True)
        if narrow:
            scanner.narrow()
        scanner.feed(text)
        found.append({name: bytes(v) if isinstance(v, np.ndarray) else v for name, v in scanner.finish().items()})
    assert found[0]["lines"] > 2000 and found[0]["bad_count"] > 300
    for name, value in found[0].items():
        assert found[1][name] == found[2][name], name
        if name != "repeats":
            assert found[1][name] == value, name


# -- numbers


def pinned(kernels: Any, spellings: list[bytes]) -> list[bytes]:
    """Spellings whose score is not exactly Python's float: compared with float64 values given by `add`."""
    judged: dict[bytes, list[Any]] = {b"%d" % i: [] for i in range(len(spellings))}
    wrong = set()
    for text_first in (True, False):
        scanner = kernels.RunScanner(make_index(kernels, judged), ties=FILE, gather=True, keep_docs=True)
        for i, spelling in enumerate(spellings):
            x = float(spelling)
            around = array("d", [nextafter(x, -inf), x, nextafter(x, inf)])
            line = b"%d Q0 text 1 %s t\n" % (i, spelling)
            if text_first:
                assert scanner.feed(line)
            assert scanner.add(b"%d" % i, b"below\nsame\nabove", None, around) == 0
            if not text_first:
                assert scanner.feed(line)
        order = [b"above", b"text", b"same", b"below"] if text_first else [b"above", b"same", b"text", b"below"]
        for spelling, got in zip(spellings, lists_of(scanner.finish(), len(spellings)), strict=True):
            if isinf(float(spelling)):
                got = [d for d in got if d in (b"text", b"same")]
                if got != [d for d in order if d in (b"text", b"same")]:
                    wrong.add(spelling)
            elif got != order:
                wrong.add(spelling)
    return sorted(wrong)


def decimal_strings(chance: random.Random) -> list[bytes]:
    found = [*ODD_NUMBERS]
    for _ in range(3000):
        digits = "".join(chance.choices("0123456789", k=chance.randint(1, chance.choice([4, 17, 19, 20, 22, 40]))))
        point = chance.randint(0, len(digits))
        exponent = chance.choice(["", "", f"e{chance.randint(-30, 30)}", f"E{chance.randint(-345, 310):+d}"])
        found.append((chance.choice(["", "-", "+"]) + digits[:point] + "." + digits[point:] + exponent).encode())
    for _ in range(1500):
        x = struct.unpack("<d", chance.randbytes(8))[0]
        if x == x:
            found += [repr(x).encode(), f"{x:.16e}".encode(), f"{x:.17e}".encode(), f"{x:.24e}".encode()]
    for _ in range(500):  # exactly half-way between two doubles, and one digit beside
        x = chance.uniform(0.001, 1e6) * 10 ** chance.randint(-3, 9)
        half = (Fraction(x) + Fraction(nextafter(x, inf))) / 2
        shift = 60
        whole = half.numerator * 10**shift // half.denominator
        found += [f"{whole + step}e-{shift}".encode() for step in (-1, 0, 1)]
        found.append(f"{round(half * 10**6)}e-6".encode())
    for _ in range(500):  # 19 and 20 digits around the powers the fast paths know
        m = chance.randrange(10**18, 2**64) + chance.randrange(3) * 10**18
        found.append(f"{m}e{chance.randint(-30, 30)}".encode())
    return found


@pytest.mark.slow
@both
def test_scores_are_exactly_pythons_floats(kernels: Any) -> None:
    assert pinned(kernels, decimal_strings(random.Random(20240607))) == []


@both
@generated
@given(st.from_regex(rb"\A[+-]?([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][+-]?[0-9]{1,4})?\Z"))
@example(b"0." + b"0" * 400 + b"1e401")
@example(b"1" + b"0" * 400 + b"e-400")
@example(b"0e99999")
@example(b"1e-99999999999999999999")
@example(b"1e99999999999999999999")
def test_any_spelling_is_exactly_pythons_float(kernels: Any, spelling: bytes) -> None:
    assert pinned(kernels, [spelling]) == []


@both
def test_a_huge_exponent_is_not_cut_short(kernels: Any) -> None:
    """1e900000, written with a long fraction and an exponent of seven digits, is infinite."""
    assert not pinned(kernels, [b"0." + b"0" * 100000 + b"1e1000001"])


@both
@pytest.mark.parametrize("spelling", ODD_NUMBERS, ids=repr)
def test_decimal_spellings_are_accepted(kernels: Any, spelling: bytes) -> None:
    found = scan(kernels, {b"1": [b"d"]}, [b"1 Q0 d 1 %s t\n" % spelling])
    assert (found["bad_count"], found["lines"]) == (0, 1)


@both
@pytest.mark.parametrize("spelling", NOT_NUMBERS, ids=repr)
def test_other_spellings_are_refused(kernels: Any, spelling: bytes) -> None:
    found = scan(kernels, {b"1": [b"d"]}, [b"1 Q0 d 1 %s t\n" % spelling])
    kind = 4 if b"\0" in spelling else 3 if spelling.lower().strip(b"+-") == b"nan" else 2
    assert found["bad"] == [(1, kind, b"1 Q0 d 1 %s t" % spelling)]


@both
@generated
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_one_ulp_decides_the_order(kernels: Any, low: float) -> None:
    high = nextafter(low, inf)
    text = b"1 Q0 zz 1 %a t\n1 Q0 a 1 %a t\n" % (low, high)
    found = scan(kernels, {b"1": []}, [text], keep_docs=True)
    assert lists_of(found, 1) == [[b"a", b"zz"] if high > low else [b"zz", b"a"]]


# -- topics given in memory

topic_lists = st.lists(  # each topic once, as a dict gives them
    st.tuples(
        st.sampled_from(TOPICS),
        st.lists(
            st.tuples(
                st.sampled_from([*IDS, b"", b"new\nline", b"\n"]),
                st.one_of(st.floats(), st.floats(allow_nan=False), st.sampled_from([1.0, -0.0, 0.0, 2.0])),
            ),
            max_size=8,
        ),
    ),
    max_size=6,
    unique_by=lambda given: given[0],
)


def add_all(
    kernels: Any, given: list[tuple[bytes, list[tuple[bytes, float]]]], **how: Any
) -> tuple[list[int], dict[str, Any]]:
    scanner = kernels.RunScanner(make_index(kernels, JUDGED), gather=True, keep_docs=True, **how)
    statuses = []
    for topic, listed in given:
        scores = array("d", [s for _, s in listed])
        statuses.append(scanner.add(topic, b"\n".join(d for d, _ in listed), None, scores))
        if statuses[-1] == -2:
            statuses.append(scanner.add(topic, *pack([d for d, _ in listed]), scores))
    return statuses, scanner.finish()


@needs_c
@generated
@given(topic_lists, st.sampled_from(list(TIES.values())), st.sampled_from([0, 0, 1, 3]))
def test_added_topics_give_equal_results(given: Any, ties: int, truncate: int) -> None:
    mine, twin = (add_all(kernels, given, ties=ties, truncate=truncate) for kernels in (_c, _numpy))
    assert mine[0] == twin[0]
    if not any(status > 0 for status in mine[0]):
        assert mine[1] == twin[1]


@both
@generated
@given(topic_lists, st.sampled_from(list(TIES.values())))
def test_added_topics_are_ranked_as_the_naive_model_says(kernels: Any, given: Any, ties: int) -> None:
    given = [(t, [(d, s) for d, s in listed if s == s]) for t, listed in given]
    entries: dict[bytes, list[tuple[bytes, float]]] = {}
    for topic, listed in given:
        entries.setdefault(topic, []).extend(listed)
    _, found = add_all(kernels, given, ties=ties)
    assert lists_of(found, len(JUDGED)) == [ranked(entries.get(t, []), ties) for t in JUDGED]
    assert ints(found["answered"], np.uint8) == [int(t in entries) for t in JUDGED]
    with np.errstate(over="ignore"):
        value = (lambda s: float(np.float32(s))) if ties == TREC9 else float
        best = [  # a document listed again keeps its better score
            max(value(s) for d, s in entries[t] if d == doc) for t in JUDGED for doc in ranked(entries.get(t, []), ties)
        ]
    assert ints(found["doc_scores"], np.float64) == best


@both
def test_an_id_with_a_newline_does_not_disturb_other_topics(kernels: Any) -> None:
    given = [(b"1", [(b"d1", 2.0), (b"d2", 1.0)]), (b"2", [(b"new\nline", 1.0), (b"d10", 3.0)])]
    statuses, found = add_all(kernels, given)
    assert statuses == [0, -2, 0]
    lists = dict(zip(JUDGED, lists_of(found, len(JUDGED)), strict=True))
    assert lists[b"1"] == [b"d1", b"d2"]
    assert lists[b"2"] == [b"d10", b"new\nline"]


@both
def test_a_nan_is_named_by_its_place(kernels: Any) -> None:
    scanner = kernels.RunScanner(make_index(kernels, JUDGED), gather=True)
    assert scanner.add(b"1", b"a\nb\nc", None, array("d", [1.0, float("nan"), float("nan")])) == 2
    assert scanner.add(b"outside", b"a", None, array("d", [float("nan")])) == 1


# -- judgments

qrels_line = st.builds(
    lambda fields, blanks, tail: b"".join(f + b for f, b in zip(fields, blanks, strict=False)) + tail,
    st.tuples(
        st.sampled_from(TOPICS),
        st.sampled_from([b"0", b"Q0", b"1", b"x"]),
        st.sampled_from(IDS),
        st.sampled_from(
            [
                b"0",
                b"1",
                b"2",
                b"-1",
                b"+1",
                b"01",
                b"-0",
                b"x",
                b"1.0",
                b"1e0",
                b"",
                b"-",
                b"1000000000",
                b"1000000001",
            ]
        ),
    ),
    st.tuples(blank, blank, blank, st.sampled_from([b"", b" ", b" extra", b"\r"])),
    st.sampled_from([b"", b" ", b" 5"]),
)
qrels_text = st.lists(st.one_of(qrels_line, qrels_line, qrels_line, noise), max_size=30).map(b"\n".join)


@needs_c
@generated
@given(st.one_of(qrels_text, st.binary(max_size=200)), st.booleans())
def test_judgment_text_gives_equal_results(text: bytes, lenient: bool) -> None:
    assert _c.scan_qrels(text, lenient) == _numpy.scan_qrels(text, lenient)


@both
def test_judgments_by_hand(kernels: Any) -> None:
    text = b"2 0 b 1\r\n\n# c\n1\tx\ta\t-2 extra\n 2 0  c  +3\n#1 0 a 1\n 1 0 # 007"
    found = kernels.scan_qrels(text, False)
    assert (found["topics"], ints(found["topic_ends"], np.int64)) == (b"21", [1, 2])
    assert (ints(found["topic"]), ints(found["grade"])) == ([0, 1, 0, 1], [1, -2, 3, 7])
    assert (found["docs"], ints(found["doc_ends"], np.int64)) == (b"bac#", [1, 2, 3, 4])
    assert ints(found["line"], np.int64) == [1, 4, 5, 7]
    assert (found["iterations"], ints(found["iteration"])) == (b"0x", [0, 1, 0, 0])
    assert (found["bad"], found["bad_count"]) == ([], 0)


@both
def test_unusable_judgments(kernels: Any) -> None:
    text = b"1 0 a 1\n1 0 a\n1 0 b x\n1 0 c 1000000001\n1 0 \0 1.5\n1 0 d 0\n"
    assert kernels.scan_qrels(text, False)["bad"] == [(2, 1, b"1 0 a")]
    found = kernels.scan_qrels(text, True)
    assert [(line, kind) for line, kind, _ in found["bad"]] == [(2, 1), (3, 5), (4, 5), (5, 4)]
    assert (found["docs"], ints(found["grade"])) == (b"ad", [1, 0])


@both
def test_an_absurdly_long_grade_is_an_unusable_line(kernels: Any) -> None:
    found = kernels.scan_qrels(b"1 0 a " + b"9" * 5000 + b"\n1 0 b " + b"0" * 5000 + b"1\n", True)
    assert [(line, kind) for line, kind, _ in found["bad"]] == [(1, 5)]
    assert (found["docs"], ints(found["grade"])) == (b"b", [1])


@both
def test_many_iterations_stay_apart_and_each_appears_once(kernels: Any) -> None:
    """The strata of sampled pools: more of them than any small cache holds."""
    text = b"".join(b"1 s%d d%d 1\n" % (i % 100, i) for i in range(300))
    found = kernels.scan_qrels(text, False)
    assert ints(found["iteration"]) == [i % 100 for i in range(300)]
    assert len(ints(found["iteration_ends"], np.int64)) == 100


@both
def test_many_topics_interleaved(kernels: Any) -> None:
    text = b"".join(b"t%d 0 d%d 1\n" % (i * 7 % 1000, i) for i in range(4000))
    found = kernels.scan_qrels(text, False)
    ends = ints(found["topic_ends"], np.int64)
    names = [found["topics"][a:b] for a, b in zip([0, *ends], ends, strict=False)]
    assert names == [b"t%d" % (i * 7 % 1000) for i in range(1000)]
    assert ints(found["topic"]) == [i % 1000 for i in range(4000)]


# -- look-up, codes


@needs_c
@generated
@given(st.dictionaries(st.binary(max_size=10), st.lists(st.binary(max_size=3), max_size=30), max_size=6))
def test_duplicate_judgments_are_equal(judged: dict[bytes, list[bytes]]) -> None:
    assert make_index(_c, judged).duplicates() == make_index(_numpy, judged).duplicates()


@both
def test_duplicates_are_pairs_of_a_row_and_the_first_of_its_topic(kernels: Any) -> None:
    index = make_index(kernels, {b"1": [b"a", b"b", b"a", b"", b"a"], b"2": [b"a", b"b"], b"3": [b"", b""]})
    assert ints(index.duplicates(), np.int64) == [2, 0, 4, 0, 8, 7]


@both
def test_every_judged_document_is_found_in_its_topic_alone(kernels: Any) -> None:
    """Thousands of ids that share prefixes and lengths around the hash's eight-byte steps."""
    docs = [b"x" * (i % 20) + b"%d" % i for i in range(3000)]
    judged = {b"even": docs[::2], b"odd": docs[1::2]}
    text = b"".join(b"%s Q0 %s 0 %d t\n" % (t, d, -i) for t in (b"odd", b"even") for i, d in enumerate(docs))
    found = scan(kernels, judged, [text])
    assert ints(found["row"]) == list(range(3000))
    assert ints(found["rank"]) == [*range(1, 3000, 2), *range(2, 3001, 2)]


@both
def test_inconsistent_arrays_are_refused(kernels: Any) -> None:
    one, starts = pack([b"a"]), np.array([0, 1], np.int64)
    with pytest.raises(ValueError, match="inconsistent"):
        kernels.Index(*one, *one, starts[:1])
    with pytest.raises(ValueError, match="inconsistent"):
        kernels.Index(*one, *one, np.array([0, 2], np.int64))
    index = kernels.Index(*one, *one, starts)
    for wrong in ({"ties": 4}, {"ties": -1}, {"truncate": -1}):
        with pytest.raises(TypeError):
            kernels.RunScanner(index, **wrong)
    with pytest.raises(TypeError):
        kernels.RunScanner("index")


coded = st.lists(st.tuples(st.sampled_from([*IDS, b""]), st.integers(0, 3), st.integers(-1, 5)), max_size=40)


def code(kernels: Any, entries: list[tuple[bytes, int, int]], first: int) -> list[int]:
    blob, ends = pack([d for d, _, _ in entries])
    topic, row = (np.array([e[i] for e in entries], np.int32) for i in (1, 2))
    return ints(kernels.code_documents(blob, ends, topic, row, first))


@both
@generated
@given(coded, st.integers(6, 1000))
def test_document_codes(kernels: Any, entries: list[tuple[bytes, int, int]], first: int) -> None:
    known: dict[tuple[bytes, int], int] = {}
    expected = [row if row >= 0 else known.setdefault((d, t), first + len(known)) for d, t, row in entries]
    assert code(kernels, entries, first) == expected


@both
def test_more_documents_than_codes(kernels: Any) -> None:
    most = 2**31 - 1
    two = [(b"a", 0, -1), (b"b", 0, -1), (b"a", 0, -1)]
    assert code(kernels, two, most - 1) == [most - 1, most, most - 1]
    for first in (most, most + 1, 2**40, -1):
        with pytest.raises(OverflowError, match="more documents than there are codes"):
            code(kernels, two, first)


# -- segments

number = st.floats(-1e100, 1e100, allow_subnormal=False).map(lambda x: x + 0.0)  # -0.0 has a test of its own
segments = st.lists(st.lists(number, max_size=12), max_size=12)


@both
@generated
@given(segments)
def test_segments(kernels: Any, parts: list[list[float]]) -> None:
    values = np.array([v for part in parts for v in part], np.float64)
    offsets = np.cumsum([0] + [len(part) for part in parts], dtype=np.int64)
    total, running = np.empty(len(parts)), np.empty(len(values))
    sums, steps = [], []
    for part in parts:
        at = 0.0
        for v in part:
            at += v
            steps.append(at)
        sums.append(at)
    kernels.segment_sum(values, offsets, total)
    kernels.segment_cumsum(values, offsets, running)
    assert total.tolist() == sums
    assert running.tolist() == steps


@both
@generated
@given(st.lists(st.lists(st.floats(-1e10, 1e10, allow_subnormal=False), max_size=12), max_size=12))
def test_segment_products(kernels: Any, parts: list[list[float]]) -> None:
    values = np.array([v for part in parts for v in part], np.float64)
    offsets = np.cumsum([0] + [len(part) for part in parts], dtype=np.int64)
    running, steps = np.empty(len(values)), []
    for part in parts:
        at = 1.0
        for v in part:
            at *= v
            steps.append(at)
    kernels.segment_cumprod(values, offsets, running)
    assert running.tolist() == steps


@needs_c
@generated
@given(segments)
def test_segments_are_equal_to_the_last_bit(parts: list[list[float]]) -> None:
    values = np.array([v for part in parts for v in part], np.float64)
    offsets = np.cumsum([0] + [len(part) for part in parts], dtype=np.int64)
    for name, size in (
        ("segment_sum", len(parts)),
        ("segment_cumsum", len(values)),
        ("segment_cumprod", len(values)),
    ):
        small = np.clip(values, -1e20, 1e20) if name == "segment_cumprod" else values
        mine, twin = np.empty(size), np.empty(size)
        getattr(_c, name)(small, offsets, mine)
        getattr(_numpy, name)(small, offsets, twin)
        assert mine.tobytes() == twin.tobytes(), name


@needs_c
def test_a_running_sum_of_negative_zero_has_one_sign() -> None:
    values, offsets = np.array([-0.0, -0.0, 1.0]), np.array([0, 2, 3], np.int64)
    mine, twin = np.empty(3), np.empty(3)
    _c.segment_cumsum(values, offsets, mine)
    _numpy.segment_cumsum(values, offsets, twin)
    assert mine.tobytes() == twin.tobytes()


@both
def test_the_largest_of_two_zeros_has_one_sign(kernels: Any) -> None:
    """Found by fuzzing: which of 0.0 and -0.0 is the larger was left to the machine."""
    values, offsets, out = np.array([-0.0, 0.0, 0.0, -0.0, -0.0]), np.array([0, 2, 4, 5], np.int64), np.empty(5)
    kernels.segment_max_from(values, offsets, out)
    assert out.tobytes() == np.zeros(5).tobytes()


# -- threads


@both
def test_scanners_share_an_index_across_threads(kernels: Any) -> None:
    chance = random.Random(7)
    judged = {b"%d" % t: [b"d%d" % chance.randrange(500) for _ in range(100)] for t in range(20)}
    index = make_index(kernels, judged)

    def one(seed: int) -> dict[str, Any]:
        own = random.Random(seed)
        scanner = kernels.RunScanner(index, lenient=True)
        for topic in judged:
            for _ in range(10):
                lines = [b"%s Q0 d%d 1 %d t\n" % (topic, own.randrange(600), own.randrange(50)) for _ in range(20)]
                scanner.feed(b"".join(lines))
        found: dict[str, Any] = scanner.finish()
        return found

    alone = [one(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(8))) == alone
    assert len({found["rank"] for found in alone}) == 8


@needs_c
def test_a_scanner_takes_one_thread_at_a_time() -> None:
    """Whoever comes while another thread is inside is refused; what was taken is there, once."""
    topics, lines = 8, 20_000
    scanner = _c.RunScanner(make_index(_c, {b"%d" % t: [b"d"] for t in range(topics)}), gather=True)

    def feed(topic: int) -> None:
        text = b"".join(b"%d Q0 d%d 1 %d t\n" % (topic, i, -i) for i in range(lines))
        while True:
            try:
                scanner.feed(text)
                return
            except RuntimeError as busy:
                assert "busy" in str(busy)
                sleep(0.001)

    with ThreadPoolExecutor(topics) as pool:
        list(pool.map(feed, range(topics)))
    assert scanner.finish()["lines"] == topics * lines


@needs_c
@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a lock for all")
def test_a_free_threaded_python_stays_free() -> None:
    asked = "import sys, unjudged.kernels as k; print(k.IN_USE, sys._is_gil_enabled())"
    said = subprocess.run([sys.executable, "-W", "error", "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["C", "False"]


# -- hits chosen by row, values read at ranks


@st.composite
def cells_of_hits(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Values per row, then rows, ranks and offsets of the hits of a few cells."""
    rows = draw(st.integers(1, 9))
    value = draw(st.lists(st.integers(-2, 4), min_size=rows, max_size=rows))
    cells = draw(st.lists(st.lists(st.integers(0, rows - 1), max_size=6), max_size=5))
    ranks = [sorted(draw(st.lists(st.integers(1, 40), min_size=len(c), max_size=len(c)))) for c in cells]
    offsets = np.cumsum([0, *map(len, cells)])
    flat = [np.array(list(itertools.chain(*x)), np.int32) for x in (cells, ranks)]
    return np.array(value, np.int32), flat[0], flat[1], offsets.astype(np.int64)


@both
@generated
@given(cells_of_hits(), st.integers(-2, 3), st.integers(0, 4), st.booleans())
def test_hits_are_chosen_by_the_value_of_their_row(
    kernels: Any, hits: tuple[np.ndarray, ...], low: int, high: int, renumber: bool
) -> None:
    value, row, rank, offsets = hits
    out = [np.empty(len(row), np.int32) for _ in range(3)]
    new = np.empty(len(offsets), np.int64)
    many = kernels.choose_hits(value, low, high, renumber, row, rank, offsets, *out, new)
    expected, starts = [], [0]
    for start, stop in itertools.pairwise(offsets.tolist()):
        for i in range(start, stop):
            v = int(value[row[i]])
            if low <= v <= high:
                expected.append((v if renumber else int(row[i]), int(rank[i]), i - start + 1))
        starts.append(len(expected))
    assert new.tolist() == starts
    assert [tuple(one) for one in zip(*(o[:many].tolist() for o in out), strict=True)] == expected


@both
@pytest.mark.parametrize("share", (0.0, 0.05, 0.5, 0.99, 1.0))
@pytest.mark.parametrize("renumber", (False, True))
def test_hits_of_long_lists_are_chosen(kernels: Any, share: float, renumber: bool) -> None:
    rng = np.random.default_rng(5)
    sizes = [0, 1, 63, 64, 65, 128, 700, 0, 200]
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    value = np.where(rng.random(300) < share, rng.integers(1, 9, 300), -1).astype(np.int32)
    row = rng.integers(0, 300, offsets[-1]).astype(np.int32)
    rank = np.concatenate([np.arange(1, size + 1) * 3 for size in sizes]).astype(np.int32)
    out, new = [np.empty(len(row), np.int32) for _ in range(3)], np.empty_like(offsets)
    many = kernels.choose_hits(value, 1, 9, renumber, row, rank, offsets, *out, new)
    chosen = np.flatnonzero(value[row] >= 1)
    assert many == len(chosen)
    assert new.tolist() == [int((chosen < start).sum()) for start in offsets]
    assert out[0][:many].tolist() == (value[row] if renumber else row)[chosen].tolist()
    assert out[1][:many].tolist() == rank[chosen].tolist()
    place = chosen - np.repeat(offsets[:-1], np.diff(new)) + 1
    assert out[2][:many].tolist() == place.tolist()
    again = [np.empty(len(row), np.int32), np.empty(len(row), np.int32), np.empty(0, np.int32)]
    assert kernels.choose_hits(value, 1, 9, renumber, row, rank, offsets, *again, new) == many
    assert all(a[:many].tolist() == b[:many].tolist() for a, b in zip(again[:2], out[:2], strict=True))


@both
@generated
@given(cells_of_hits(), st.lists(st.lists(st.floats(0, 9), max_size=5), min_size=1, max_size=3), st.randoms())
def test_values_are_read_at_ranks(
    kernels: Any, hits: tuple[np.ndarray, ...], segments: list[list[float]], random: Any
) -> None:
    _, _, rank, offsets = hits
    segment = [random.randrange(len(segments)) for _ in offsets[1:]]
    values = np.array(list(itertools.chain(*segments)), np.float64)
    starts = np.cumsum([0, *map(len, segments)]).astype(np.int64)
    out = np.empty(len(rank))
    kernels.segment_read(values, starts, np.array(segment, np.int64), offsets, rank, out)
    expected = []
    for cell, (start, stop) in enumerate(itertools.pairwise(offsets.tolist())):
        mine = segments[segment[cell]]
        expected += [mine[min(int(r), len(mine)) - 1] if mine else 0.0 for r in rank[start:stop]]
    assert out.tolist() == expected


@both
def test_hits_that_do_not_fit_are_refused(kernels: Any) -> None:
    value, one = np.zeros(2, np.int32), np.ones(1, np.int32)
    offsets, out = np.array([0, 1], np.int64), [np.empty(1, np.int32) for _ in range(3)]
    for row in (2, -1):
        with pytest.raises(ValueError, match="different lengths"):
            kernels.choose_hits(value, 0, 1, False, np.array([row], np.int32), one, offsets, *out, offsets.copy())
    with pytest.raises(ValueError, match="different lengths"):
        kernels.choose_hits(value, 0, 1, False, one, np.ones(2, np.int32), offsets, *out, offsets.copy())
    good = (np.ones(3), np.array([0, 3], np.int64), np.zeros(1, np.int64), offsets, one, np.empty(1))
    kernels.segment_read(*good)
    for place, bad in ((2, np.ones(1, np.int64)), (4, np.zeros(1, np.int32)), (0, np.ones(2)), (5, np.empty(2))):
        with pytest.raises(ValueError, match="different lengths"):
            kernels.segment_read(*good[:place], bad, *good[place + 1 :])


@needs_c
def test_offsets_that_lie_are_refused() -> None:
    """Found by fuzzing: each of these was once read beyond its end."""
    floats, ints32 = np.ones(2), np.zeros(2, np.int32)
    for ends in ([2, 1], [-1, 2], [3, 3]):
        with pytest.raises(ValueError, match="inconsistent"):
            _c.code_documents(b"ab", np.array(ends, np.int64), ints32, ints32 - 1, 0)
    for offsets in ([0, 2**61], [0, 3], [0, 2, 1], [1, 2], [0, 2**63 - 1, 2], []):
        array_ = np.array(offsets, np.int64)
        for name in ("segment_sum", "segment_cumsum", "segment_cumprod", "segment_max_from"):
            out = np.zeros(max(len(offsets) - 1, 0) if name == "segment_sum" else 2)
            with pytest.raises(ValueError, match="different lengths"):
                getattr(_c, name)(floats, array_, out)
        with pytest.raises(ValueError, match="different lengths"):
            _c.choose_hits(ints32, 0, 1, False, ints32, ints32, array_, *(ints32.copy() for _ in "123"), array_.copy())
        with pytest.raises(ValueError, match="different lengths"):
            _c.segment_read(floats, array_, np.zeros(1, np.int64), np.array([0, 2]), ints32 + 1, floats.copy())
        with pytest.raises(ValueError, match="different lengths"):
            _c.segment_read(floats, np.array([0, 2]), np.zeros(1, np.int64), array_, ints32 + 1, floats.copy())
    with pytest.raises(ValueError, match="different lengths"):
        _c.segment_sum(b"", b"1234", bytearray())


@both
def test_an_empty_document_id(kernels: Any) -> None:
    scanner = kernels.RunScanner(make_index(kernels, {b"1": [b""]}), keep_docs=True)
    assert scanner.add(b"1", b"", np.zeros(1, np.int64), np.ones(1)) == 0
    found = scanner.finish()
    assert (ints(found["row"]), ints(found["rank"]), found["docs"]) == ([0], [1], b"")


@both
def test_more_documents_than_codes_are_refused(kernels: Any) -> None:
    largest = int(np.iinfo(np.int32).max)
    two = [(b"a", 0, -1), (b"b", 0, -1)]
    assert code(kernels, two, largest - 1) == [largest - 1, largest]
    with pytest.raises(OverflowError, match="more documents than there are codes"):
        code(kernels, two, largest)
