"""The kernels in Python and NumPy: same names, arguments and results as the C module `_c`.

Used where no compiler was there at installation, and as the reference the C module is tested against.
"""

from __future__ import annotations

import bisect
import itertools
import math
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unjudged.kernels import LONGEST_LINE, OUTSIDE_COUNTED

BAD_FIELDS, BAD_SCORE, BAD_NAN, BAD_NUL, BAD_GRADE = 1, 2, 3, 4, 5
_TREC9, _FILE, _ASCENDING = 1, 2, 3
_KEEP_BAD_LINES, _KEEP_BAD_FIELD = 20, 60
_LARGEST_GRADE = 1_000_000_000
_NUMBER = re.compile(rb"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)", re.ASCII)
_NAN = re.compile(rb"[+-]?[nN][aA][nN]")
_GRADE = re.compile(rb"[+-]?\d+", re.ASCII)


def _ids(blob: Any, ends: Any) -> list[bytes]:
    data = bytes(blob)
    stops = np.frombuffer(ends, np.int64).tolist()
    return [data[a:b] for a, b in zip([0, *stops[:-1]], stops, strict=True)] if stops else []


def _pack(ids: Iterable[bytes]) -> tuple[bytes, bytes]:
    ids = list(ids)
    return b"".join(ids), np.cumsum([len(i) for i in ids], dtype=np.int64).tobytes()


class Index:
    """Judged documents of each topic, for look-up by id."""

    def __init__(self, topics: Any, topic_ends: Any, docs: Any, doc_ends: Any, row_starts: Any) -> None:
        self.topics = {t: i for i, t in enumerate(_ids(topics, topic_ends))}
        starts = np.frombuffer(row_starts, np.int64).tolist()
        names = _ids(docs, doc_ends)
        if len(starts) != len(self.topics) + 1 or starts[-1] != len(names):
            raise ValueError("inconsistent index arrays")
        self.rows: list[dict[bytes, int]] = []
        pairs: list[tuple[int, int]] = []
        for start, stop in itertools.pairwise(starts):
            table: dict[bytes, int] = {}
            for row in range(start, stop):
                earlier = table.setdefault(names[row], row)
                if earlier != row:
                    pairs.append((row, earlier))
            self.rows.append(table)
        self._duplicates = np.array(pairs, np.int64).tobytes()

    def duplicates(self) -> bytes:
        """int64 pairs (row, earlier row of the same topic with the same document), as bytes."""
        return self._duplicates


def _bad(found: list[tuple[int, int, bytes]], line: int, kind: int, text: bytes, fields: list[bytes]) -> None:
    """Notes an unusable line: its fields, each cut to a readable length."""
    if len(found) < _KEEP_BAD_LINES:
        shown = b" ".join(field[:_KEEP_BAD_FIELD] for field in fields)
        found.append((line, BAD_NUL if b"\0" in text else kind, shown))


def look_at_topics(
    text: bytes, start: int, before: int, final: bool, index: Index
) -> tuple[list[tuple[Any, ...]], int, int, bool]:
    """Tells nothing of any topic: without C, `check` reads all lines one by one."""
    return [], start, before, start < len(text)


class RunScanner:
    """Reads one run and keeps its judged hits."""

    def __init__(
        self,
        index: Index,
        ties: int = 0,
        truncate: int = 0,
        lenient: bool = False,
        gather: bool = False,
        keep_docs: bool = False,
        tie_groups: bool = False,
    ) -> None:
        if not isinstance(index, Index) or not 0 <= ties <= _ASCENDING or truncate < 0:
            raise TypeError("RunScanner(index, ties, truncate, lenient, gather, keep_docs, tie_groups)")
        self.index, self.ties, self.truncate = index, ties, truncate
        self.lenient, self.gather, self.keep_docs, self.tie_groups = lenient, gather, keep_docs, tie_groups
        self._rest, self._tag = b"", b""
        self._line = self._lines = self._bad_count = self._duplicates = 0
        self._topic: bytes | None = None
        self._lists: dict[int, tuple[list[bytes], list[float]]] = {}
        self._outside: dict[bytes, None] = {}
        self._bad: list[tuple[int, int, bytes]] = []
        self._stopped = self._split = False
        self._current: tuple[list[bytes], list[float]] | None = None
        self._first_duplicate = (-1, b"")
        self._endless = 0
        self._repeats: list[tuple[int, int]] = []

    def feed(self, text: Any) -> bool:
        """Scan a piece of text, cut anywhere. False: no need to go on."""
        if not self._stopped:
            lines = (self._rest + bytes(text)).split(b"\n")
            self._rest = lines.pop()
            for line in lines:
                if not self._scan_line(line):
                    self._stopped = True
                    break
            if not self._stopped and len(self._rest) > LONGEST_LINE:
                self._endless, self._rest, self._stopped = self._line + 1, b"", True
        return not self._stopped and not self._split

    def feed_from(self, descriptor: int, buffer: bytearray, most: int) -> int:
        """Scan up to so many bytes of a file. How many they were; 0: it has no more, or there is no need to go on."""
        done = 0
        while done < most and not self._stopped and (piece := os.read(descriptor, min(len(buffer), most - done))):
            done += len(piece)
            if not self.feed(piece):
                return 0
        return done

    def _open(self, topic: bytes) -> None:
        self._topic = topic
        code = self.index.topics.get(topic)
        if code is None:
            if self.keep_docs or len(self._outside) < OUTSIDE_COUNTED:
                self._outside[topic] = None
            self._current = None
            return
        if code in self._lists and not self.gather:
            self._split = True
        self._current = self._lists.setdefault(code, ([], []))

    def _scan_line(self, line: bytes) -> bool:
        self._line += 1
        if line.startswith(b"#"):
            return True
        fields = line.split(None, 6)
        if not fields:
            return True
        kind, score = 0, 0.0
        if len(fields) < 6:
            kind = BAD_FIELDS
        elif _NUMBER.fullmatch(fields[4]):
            score = float(fields[4])
        else:
            kind = BAD_NAN if _NAN.fullmatch(fields[4]) else BAD_SCORE
        if kind:
            self._bad_count += 1
            _bad(self._bad, self._line, kind, line, fields[:6])
            return self.lenient
        if fields[0] != self._topic:
            self._open(fields[0])
        self._lines += 1
        self._tag = fields[5]
        if self._current is not None:
            self._current[0].append(fields[2])
            self._current[1].append(score)
        return True

    def add(self, topic: Any, docs: Any, ends: Any, scores: Any) -> int:
        """One topic: newline-joined documents (or with ends) and float64 scores."""
        values = np.frombuffer(scores, np.float64)
        names = _ids(docs, ends) if ends is not None else bytes(docs).split(b"\n") if len(docs) or len(values) else []
        if len(names) != len(values):
            return -2
        self._open(bytes(topic))
        self._lines += len(values)
        nan = np.flatnonzero(np.isnan(values))
        if len(nan):
            return int(nan[0]) + 1
        if self._current is None:
            return 0
        self._current[0].extend(names)
        self._current[1].extend(values.tolist())
        return 0

    def add_run(self, topics: Any, topic_ends: Any, starts: Any, docs: Any, doc_ends: Any, scores: Any) -> bool:
        """A run as pack_run packs it. False: a topic is there twice."""
        places, names = np.frombuffer(starts, np.int64).tolist(), _ids(docs, doc_ends)
        values, known = np.frombuffer(scores, np.float64), _ids(topics, topic_ends)
        if len(places) != len(known) + 1 or places[-1] != len(names) or len(values) != len(names):
            raise ValueError("inconsistent arrays")
        for topic, (start, stop) in zip(known, itertools.pairwise(places), strict=True):
            self.add(topic, *_pack(names[start:stop]), values[start:stop])
            self._topic = None
        return not self._split

    def _compared(self, scores: list[float]) -> Any:
        """The scores as the tie rule compares them."""
        values = np.array(scores, np.float64)
        if self.ties == _TREC9:
            with np.errstate(over="ignore"):
                values = values.astype(np.float32).astype(np.float64)
        return values

    def _order(self, docs: list[bytes], values: Any) -> list[int]:
        order = list(range(len(docs)))
        if self.ties != _FILE:
            order.sort(key=docs.__getitem__, reverse=self.ties != _ASCENDING)
        by_id = np.array(order, np.int64)
        ranked: list[int] = by_id[np.argsort(-values[by_id], kind="stable")].tolist() if order else []
        return ranked

    def finish(self) -> dict[str, Any]:
        """The hits of each topic and what was noticed."""
        if self._rest and not self._stopped:
            self._stopped = not self._scan_line(self._rest)
            self._rest = b""
        topics = len(self.index.topics)
        offsets, doc_offsets = np.zeros(topics + 1, np.int64), np.zeros(topics + 1, np.int64)
        length, answered = np.zeros(topics, np.int32), np.zeros(topics, np.uint8)
        rows: list[int] = []
        ranks: list[int] = []
        doc_rows: list[int] = []
        doc_scores: list[float] = []
        kept: list[bytes] = []
        tie_first: list[int] = []
        tie_size: list[int] = []
        for topic in range(topics):
            if topic in self._lists and not self._stopped:
                docs, scores = self._lists[topic]
                table, found, rank = self.index.rows[topic], set(), 0
                answered[topic] = 1
                values = self._compared(scores)
                kept_scores: list[float] = []
                hits = len(rows)
                for i in self._order(docs, values):
                    if self.truncate and rank >= self.truncate:
                        break
                    doc = docs[i]
                    if doc in found:
                        if not self._duplicates:
                            self._first_duplicate = (topic, doc)
                        self._duplicates += 1
                        self._repeats.append((topic, rank))
                        continue
                    found.add(doc)
                    rank += 1
                    kept_scores.append(values[i])
                    row = table.get(doc, -1)
                    if row >= 0:
                        rows.append(row)
                        ranks.append(rank)
                    if self.keep_docs:
                        kept.append(doc)
                        doc_rows.append(row)
                        doc_scores.append(values[i])
                length[topic] = rank
                if self.tie_groups:
                    starts = [j for j in range(rank) if j == 0 or kept_scores[j] != kept_scores[j - 1]]
                    for at in ranks[hits:]:
                        group = bisect.bisect_right(starts, at - 1) - 1
                        tie_first.append(starts[group] + 1)
                        tie_size.append(([*starts, rank])[group + 1] - starts[group])
            offsets[topic + 1], doc_offsets[topic + 1] = len(rows), len(doc_rows)
        out: dict[str, Any] = {
            "offsets": offsets.tobytes(),
            "row": np.array(rows, np.int32).tobytes(),
            "rank": np.array(ranks, np.int32).tobytes(),
            "length": length.tobytes(),
            "answered": answered.tobytes(),
            "tag": self._tag,
            "lines": self._lines,
            "split": self._split,
            "bad": self._bad,
            "bad_count": self._bad_count,
            "duplicates": self._duplicates,
            "duplicate_topic": self._first_duplicate[0],
            "duplicate_doc": self._first_duplicate[1],
            "repeats": np.array(self._repeats, np.int32).tobytes(),
            "endless": self._endless,
            "outside_topics": len(self._outside),
            "outside_names": b"\n".join(list(self._outside)[: None if self.keep_docs else 5]),
        }
        if self.keep_docs:
            blob, ends = _pack(kept)
            out |= {"doc_offsets": doc_offsets.tobytes(), "doc_rows": np.array(doc_rows, np.int32).tobytes()}
            out |= {"doc_ends": ends, "docs": blob, "doc_scores": np.array(doc_scores, np.float64).tobytes()}
        if self.tie_groups:
            out |= {
                "tie_first": np.array(tie_first, np.int32).tobytes(),
                "tie_size": np.array(tie_size, np.int32).tobytes(),
            }
        return out


def _small(grade: bytes) -> bool:
    digits = grade.lstrip(b"+-").lstrip(b"0")
    return len(digits) <= 10 and int(digits or b"0") <= 1_000_000_000


def scan_qrels(text: Any, lenient: bool) -> dict[str, Any]:
    """The columns of a judgment file."""
    topics: dict[bytes, int] = {}
    iterations: dict[bytes, int] = {}
    topic: list[int] = []
    iteration: list[int] = []
    docs: list[bytes] = []
    grade: list[int] = []
    lines: list[int] = []
    bad: list[tuple[int, int, bytes]] = []
    bad_count = 0
    for number, line in enumerate(bytes(text).split(b"\n"), 1):
        fields = line.split(None, 4)
        if not fields or line.startswith(b"#"):
            continue
        kind = 0
        if len(fields) < 4:
            kind = BAD_FIELDS
        elif not _GRADE.fullmatch(fields[3]) or not _small(fields[3]):
            kind = BAD_GRADE
        if kind:
            bad_count += 1
            _bad(bad, number, kind, line, fields[:4])
            if not lenient:
                break
            continue
        topic.append(topics.setdefault(fields[0], len(topics)))
        iteration.append(iterations.setdefault(fields[1], len(iterations)))
        docs.append(fields[2])
        grade.append(int(fields[3].lstrip(b"+-").lstrip(b"0") or b"0") * (-1 if fields[3][:1] == b"-" else 1))
        lines.append(number)
    topic_blob, topic_ends = _pack(topics)
    doc_blob, doc_ends = _pack(docs)
    iteration_blob, iteration_ends = _pack(iterations)
    return {
        "topics": topic_blob,
        "topic_ends": topic_ends,
        "topic": np.array(topic, np.int32).tobytes(),
        "docs": doc_blob,
        "doc_ends": doc_ends,
        "grade": np.array(grade, np.int32).tobytes(),
        "line": np.array(lines, np.int64).tobytes(),
        "iterations": iteration_blob,
        "iteration_ends": iteration_ends,
        "iteration": np.array(iteration, np.int32).tobytes(),
        "starts": b"" if np.any(np.diff(topic) < 0) else np.searchsorted(topic, np.arange(len(topics) + 1)).tobytes(),
        "bad": bad,
        "bad_count": bad_count,
    }


def code_documents(docs: Any, ends: Any, topic: Any, row: Any, first: int) -> bytes:
    """int32 code per document, as bytes; judged ones keep their row, equal (topic, document) pairs share a code."""
    known: dict[tuple[int, bytes], int] = {}
    codes = np.frombuffer(row, np.int32).tolist()
    topics = np.frombuffer(topic, np.int32).tolist()
    for i, doc in enumerate(_ids(docs, ends)):
        if codes[i] < 0:
            codes[i] = known.setdefault((topics[i], doc), first + len(known))
    if known and not 0 <= first <= first + len(known) - 1 <= np.iinfo(np.int32).max:
        raise OverflowError("more documents than there are codes")
    return np.array(codes, np.int32).tobytes()


def segment_sum(values: Any, offsets: Any, out: Any) -> None:
    """Sums of consecutive segments, each added first to last, as the C loop does."""
    cells = np.repeat(np.arange(len(out)), np.diff(offsets))
    out[:] = np.bincount(cells, weights=values[: len(cells)], minlength=len(out))


def _running(values: Any, offsets: Any, out: Any, ufunc: np.ufunc) -> None:
    for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        ufunc.accumulate(values[start:stop], out=out[start:stop])


def segment_cumsum(values: Any, offsets: Any, out: Any) -> None:
    """Running sums inside each segment."""
    _running(values, offsets, out, np.add)
    out += 0.0  # the C loop starts at 0.0, which swallows a negative zero


def segment_cumprod(values: Any, offsets: Any, out: Any) -> None:
    """Running products inside each segment."""
    _running(values, offsets, out, np.multiply)


def segment_max_from(values: Any, offsets: Any, out: Any) -> None:
    """The largest value from each place to its segment's end."""
    for start, stop in itertools.pairwise(offsets.tolist()):
        out[start:stop] = np.maximum.accumulate(values[start:stop][::-1])[::-1] + 0.0  # which zero is not told


def choose_hits(
    value: Any,
    low: int,
    high: int,
    renumber: bool,
    row: Any,
    rank: Any,
    offsets: Any,
    out_row: Any,
    out_rank: Any,
    out_place: Any,
    out_offsets: Any,
) -> int:
    """Hits whose row has low <= value <= high: row (or the value itself), rank, place in the old cell; how many.

    Without room for places there are none.
    """
    if not len(row) == len(rank) == len(out_row) == len(out_rank) == (len(out_place) or len(row)) == offsets[-1]:
        raise ValueError("hits and arrays of different lengths")
    if len(row) and not 0 <= row.min() <= row.max() < len(value):
        raise ValueError("hits and arrays of different lengths")
    found = value[row]
    chosen = np.flatnonzero((found >= low) & (found <= high))
    out_offsets[:] = np.searchsorted(chosen, offsets)
    cells = np.repeat(offsets[:-1], np.diff(out_offsets))
    out_row[: len(chosen)] = (found if renumber else row)[chosen]
    out_rank[: len(chosen)] = rank[chosen]
    if len(out_place):
        out_place[: len(chosen)] = chosen - cells + 1
    return len(chosen)


def segment_read(values: Any, starts: Any, segment: Any, offsets: Any, rank: Any, out: Any) -> None:
    """For each hit, the value of its cell's segment at its rank; constant behind the last, 0 where there is none."""
    if len(offsets) != len(segment) + 1 or not len(rank) == len(out) == offsets[-1] or starts[-1] != len(values):
        raise ValueError("segments and arrays of different lengths")
    if (len(rank) and rank.min() < 1) or (len(segment) and not 0 <= segment.min() <= segment.max() < len(starts) - 1):
        raise ValueError("segments and arrays of different lengths")
    which = np.repeat(segment, np.diff(offsets))
    size = np.diff(starts)[which]
    place = np.maximum(starts[which] + np.minimum(rank, size) - 1, 0)
    out[:] = np.where(size > 0, np.append(values, 0.0)[place], 0.0)


# -- resampling.c: sums over drawn topics, bootstrap and swap counting
#
# Sums run over the topics in order, one addition after the other, so that both kernels give the same bits. The loops go
# over topics (bootstrap, sums) or trials (swap); everything inside them is done for many samples at once.

_ZERO = 1e-12  # smaller differences are none
_BINS = 21  # of the swap method, 0.01 wide; the last one is open
Floats = NDArray[np.float64]


def weighted_sums(weights: Floats, values: Floats, out: Floats) -> None:
    """out[s, v] = sum over topics t of weights[s, t] * values[t, v]."""
    out[...] = 0.0
    for topic in range(values.shape[0]):
        out += weights[:, topic, None] * values[topic]


def _fit(lengths: Iterable[int], below: Iterable[tuple[Any, int]]) -> None:
    """Refuses arrays of different lengths, and numbers that lie outside another array."""
    if len(set(lengths)) > 1 or any(
        len(numbers) and not 0 <= numbers.min() <= numbers.max() < most for numbers, most in below
    ):
        raise ValueError("entries, documents and lists of different lengths")


def count_teams(doc: Any, run: Any, rank: Any, depth: Any, team: Any, out: Any) -> None:
    """Per document, how many different teams stand beside it, in entries down to the depth of their run."""
    _fit((len(doc), len(run), len(rank)), ((doc, len(out)), (run, len(depth)), (team, len(team))))
    _fit((len(depth), len(team)), ())
    brought = rank <= depth[run]
    beside = np.zeros((len(out), len(team)), bool)
    beside[doc[brought], team[run[brought]]] = True
    out[:] = beside.sum(axis=1)


def richness(
    doc: Any,
    rank: Any,
    cell: Any,
    judged: Any,
    known: Floats,
    share: Floats,
    out: Floats,
    cells: int,
    near: int,
    prior: float,
) -> None:
    """Per document, the share of relevant documents at the top of its lists, added up over 1 / rank.

    Judged documents down to rank `near` count, the document itself left out; `prior` of them are as its topic's
    `share`.
    """
    _fit((len(doc), len(rank), len(cell)), ((doc, len(out)), (cell, cells)))
    _fit((len(judged), len(known), len(share), len(out)), ())
    inside = judged[doc] & (rank <= near)
    gained = np.where(inside, known[doc], 0.0)
    of_cell = np.bincount(cell, gained, cells)
    in_cell = np.bincount(cell[inside], minlength=cells)
    of_entry = (of_cell[cell] - gained + prior * share[doc]) / (in_cell[cell] - inside + prior)
    out[:] = np.bincount(doc, of_entry / rank, len(out))


def newton_sums(rows: Floats, slope: Floats, rest: Floats, out_gradient: Floats, out_curve: Floats) -> None:
    """Of rows of eight numbers: column times rest, and column times slope times column, added up over the rows."""
    _fit((len(rows), len(slope), len(rest)), ())

    def added(products: Floats) -> Any:  # one after another: not in pairs, as `sum` does
        return np.cumsum(products, axis=0)[-1] + 0.0 if len(products) else 0.0

    out_gradient[:] = added(rows * rest[:, None])
    for k, column in enumerate(rows.T):
        out_curve[k] = added((column * slope)[:, None] * rows)


def count_levels(
    first: Any, run: Any, line: Any, group: Any, level: Any, depth: int, none: int, groups: int, out: Any
) -> None:
    """Of hits that stand document after document, how many there are by level of their document and group of lines.

    A document's level is the least of the runs that have it down to line `depth`, `none` where no run has.
    """
    _fit((len(run), len(line), len(group), int(first[-1])), ((run, len(level)), (group, groups), (level, none + 1)))
    _fit((out.size, (none + 1) * groups), ())
    here, sizes = np.where(line <= depth, level[run], none), np.diff(first)
    least = np.full(len(sizes), none)
    least[sizes > 0] = np.minimum.reduceat(here, first[:-1][sizes > 0]) if len(here) else none
    out[:] = np.bincount(np.repeat(least, sizes) * groups + group, minlength=out.size).reshape(out.shape)


def first_lines(first: Any, run: Any, line: Any, chosen: Any, none: int, out: Any) -> None:
    """Of hits that stand document after document, the first line each has in chosen runs; `none` where it has none."""
    _fit((len(run), len(line), int(first[-1])), ((run, len(chosen)),))
    _fit((len(out), len(first) - 1), ())
    here, filled = np.where(chosen[run], line, none), np.diff(first) > 0
    out[:] = none
    if filled.any():
        out[filled] = np.minimum(np.minimum.reduceat(here, first[:-1][filled]), none)


def order_of(numbers: Any, most: int, out: Any) -> None:
    """The places of numbers below `most` in rising order, equal ones as they stand."""
    _fit((len(numbers), len(out)), ((numbers, most),))
    out[:] = np.argsort(numbers, kind="stable")


def largest_gaps(shifts: Floats, rows: NDArray[np.int64], up: Floats, down: Floats, out: Floats) -> None:
    """The largest standardised gap of some runs to all others.

    shifts[resample, run]: how far the resampled mean lies from the mean. out[resample, i] is, for the run rows[i], the
    largest of (its shift - another's) * up[i, other] and (another's - its shift) * down[i, other]; at least 0.
    """
    for i, row in enumerate(rows.tolist()):
        gap = shifts[:, row, None] - shifts
        out[:, i] = np.maximum(np.maximum(gap * up[i], -gap * down[i]).max(axis=1), 0.0)


def bootstrap_count(
    centred: Floats,
    reach: Floats,
    counts: NDArray[np.uint16],
    position: int,
    exceeding: NDArray[np.int64],
    required: Floats,
    *near: Any,
) -> None:
    """The studentised bootstrap of run pairs (`near` helps the kernel in C to the same results).

    centred[pair, topic]: differences minus their mean; counts[topic, resample]: how often a topic was drawn. The
    ratio (sum of w)^2 / (sum of w^2) orders resamples as |t| does: 0 where the mean is zero, the number of topics
    where all differences are equal. exceeding[pair] = resamples whose ratio is at least reach[pair];
    required[pair] = |mean| of the resample that stands at `position` (from 1) by descending ratio, ties in drawn order.
    """
    topics, resamples = counts.shape
    tied = _ZERO * topics
    weights = counts.astype(np.float64)
    step = max(1, 500_000 // max(resamples, 1))
    for start in range(0, len(centred), step):
        part = slice(start, start + step)
        w = centred[part]
        total = np.zeros((len(w), resamples))
        squares = np.zeros((len(w), resamples))
        for topic in range(topics):
            total += w[:, topic, None] * weights[topic]
            squares += (w[:, topic] * w[:, topic])[:, None] * weights[topic]
        ratio = np.zeros_like(total)
        some = (np.abs(total) >= tied) & (squares > 0)
        np.divide(total * total, squares, out=ratio, where=some)
        exceeding[part] = (ratio >= reach[part, None]).sum(axis=1)
        at = np.partition(ratio, resamples - position, axis=1)[:, resamples - position, None]
        above = (ratio > at + tied).sum(axis=1)
        level = np.abs(ratio - at) <= tied
        chosen = (np.cumsum(level, axis=1) == (position - above)[:, None]).argmax(axis=1)
        required[part] = np.abs(total[np.arange(len(w)), chosen]) / topics


def swap_count(first: Floats, second: Floats, compared: NDArray[np.int64], swapped: NDArray[np.int64]) -> None:
    """Add to the bins the comparisons and the swaps of all run pairs in all trials.

    first[trial, run] and second[trial, run] are mean scores over the two topic sets; the first set decides the bin.
    """
    i, j = np.triu_indices(first.shape[1], 1)
    for here, there in zip(first, second, strict=True):
        d, e = here[i] - here[j], there[i] - there[j]
        size = np.abs(d)
        bins = np.minimum(size / 0.01 + 1e-9, _BINS - 1).astype(np.int64)
        d_zero, e_zero = size < _ZERO, np.abs(e) < _ZERO
        swap = (d_zero != e_zero) | (~d_zero & ~e_zero & ((d < 0) != (e < 0)))
        compared += np.bincount(bins, minlength=_BINS)
        swapped += np.bincount(bins[swap], minlength=_BINS)


# -- rows.c


def write_rows(heads: list[bytes], names: list[bytes], values: Any, end: bytes) -> bytes:
    """For every row and column its line: head of the row, name of the column, the number as `repr` writes it, end."""
    numbers = np.frombuffer(values).tolist()
    if len(numbers) != len(heads) * len(names):
        raise ValueError("a value for every row and column is needed")
    known: dict[float, bytes] = {}  # equal numbers, of which there are many, are written once
    written = [
        known.get(v) or known.setdefault(v, repr(v).encode() + end) if v else repr(v).encode() + end for v in numbers
    ]
    return b"".join(
        part
        for row, head in enumerate(heads)
        for pair in zip(names, written[row * len(names) : (row + 1) * len(names)], strict=True)
        for part in (head, *pair)
    )


def logarithms(values: Any, binary: bool, out: Any) -> None:
    """Natural or binary logarithms by the C library, whose last bit does not hang on the processor."""
    found = np.frombuffer(out, np.float64)
    if len(np.frombuffer(values, np.float64)) != len(found):
        raise ValueError("arrays of different lengths")
    found[:] = list(map(_log2 if binary else _log, np.frombuffer(values, np.float64).tolist()))


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf if value == 0 else math.nan


def _log2(value: float) -> float:
    return math.log2(value) if value > 0 else -math.inf if value == 0 else math.nan


def _packed(given: Any, plain: Callable[[Any], bool], kind: type) -> dict[str, bytes] | None:
    """Ids, ends and numbers of a plain dict of dicts; None for any other."""
    if type(given) is not dict or not all(type(inside) is dict for inside in given.values()):
        return None
    ids = [*given, *(doc for inside in given.values() for doc in inside)]
    numbers = [number for inside in given.values() for number in inside.values()]
    if not all(type(name) is str for name in ids) or not all(map(plain, numbers)):
        return None
    try:
        raw = [name.encode() for name in ids]
    except UnicodeEncodeError:
        return None
    topics, topic_ends = _pack(raw[: len(given)])
    docs, doc_ends = _pack(raw[len(given) :])
    starts = np.cumsum([0, *map(len, given.values())], dtype=np.int64)
    packed = {"topics": topics, "topic_ends": topic_ends, "starts": starts.tobytes()}
    return packed | {"docs": docs, "doc_ends": doc_ends, "values": np.array(numbers, kind).tobytes()}


def pack_run(run: Any) -> dict[str, bytes] | None:
    """Ids, ends and float64 scores of a plain dict of dicts; None for any other."""
    return _packed(run, lambda s: (type(s) is float and s == s) or (type(s) is int and abs(s) <= 1 << 53), np.float64)


def pack_judgments(qrels: Any) -> dict[str, bytes] | None:
    """Ids, ends and int32 grades of a plain dict of dicts; None for any other."""
    return _packed(qrels, lambda g: type(g) is int and abs(g) <= _LARGEST_GRADE, np.int32)
