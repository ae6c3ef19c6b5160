"""The classical measures of runs, read and evaluated without NumPy, whose import takes as long as reading 50 runs.

`trec_eval` and `score` come here first. What is out of the ordinary - another format, lines that cannot be used,
repeated documents, other measures or options, no C kernels - gives None, and the verb takes its ordinary way, which
also finds the words for what is wrong. Values are those of the registered measures, bit for bit.

With several threads (`jobs`), runs are read side by side; of a single one, both halves, or gz beside the rest.
"""

from __future__ import annotations

import os

from unjudged.errors import UnjudgedError
from unjudged.io import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    T = TypeVar("T")

GEOMETRIC_FLOOR = 1e-5
"""What counts instead of less in a geometric mean, as in trec_eval."""

CUTS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
"""trec_eval's cut-offs."""

RECALLS = tuple(i / 10 for i in range(11))
"""trec_eval's points of recall."""

COUNTS = ("NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonrelJudgedRet")
"""Measures that are added up over topics."""

USUAL = ("AP", "nDCG@10", "P@10", "RR", "bpref", "Judged@10")
"""The measures of `score` where none are asked for."""

_TREC: dict[str, tuple[str, Sequence[float]]] = {
    "num_q": ("NumQ", ()),
    "num_ret": ("NumRet", ()),
    "num_rel": ("NumRel", ()),
    "num_rel_ret": ("NumRelRet", ()),
    "map": ("AP", ()),
    "gm_map": ("AP", ()),
    "Rprec": ("Rprec", ()),
    "bpref": ("bpref", ()),
    "recip_rank": ("RR", ()),
    "iprec_at_recall": ("IPrec", RECALLS),
    "P": ("P", CUTS),
    "recall": ("R", CUTS),
    "gm_bpref": ("bpref", ()),
    "ndcg": ("nDCG", ()),
    "ndcg_cut": ("nDCG", CUTS),
    "map_cut": ("AP", CUTS),
    "success": ("Success", (1, 5, 10)),
    "set_P": ("SetP", ()),
    "set_recall": ("SetR", ()),
    "num_nonrel_judged_ret": ("NumNonrelJudgedRet", ()),
}
"""trec_eval's name -> the registered measure and its cut-offs, in the order of trec_eval's output."""

_OFFICIAL = tuple(list(_TREC)[: list(_TREC).index("P") + 1])
_CUT = ("P", "R", "nDCG", "AP", "Success", "RR", "Judged")
"""Measures with a cut-off at a rank."""
_PLAIN = (*COUNTS, "AP", "Rprec", "bpref", "RR", "nDCG", "R", "P", "SetP", "SetR", "Judged")
"""Measures that need no cut-off."""


class Line:
    """One line of the output: its name, the measure behind it and how it is printed."""

    __slots__ = ("geometric", "measure", "name", "parameter", "per_topic", "summary", "value")

    def __init__(self, name: str, measure: str, parameter: float = 0.0, geometric: bool = False) -> None:
        self.name, self.measure, self.parameter, self.geometric = name, measure, float(parameter), geometric
        self.value = "int" if measure in COUNTS else "runid" if measure == "runid" else "float"
        self.per_topic = not geometric and measure not in ("NumQ", "runid")
        self.summary = True


def trec_lines(wanted: Sequence[str]) -> list[Line] | None:
    """The lines of trec_eval's measures asked for, in its order; None where one is not among the classical ones."""
    chosen: dict[str, str] = {}
    for text in wanted or ["official"]:
        name, _, given = text.partition(".")
        if name == "official" and not given:
            for each in ("runid", *_OFFICIAL):
                chosen.setdefault(each, "")
        elif name in _TREC and bool(given) == ("." in text) and (not given or name in ("P", "recall", "ndcg_cut")):
            chosen[name] = chosen.get(name) or given
        else:
            return None
    lines = [Line("runid", "runid")] if "runid" in chosen else []
    for name, (measure, defaults) in _TREC.items():
        if name not in chosen:
            continue
        cuts: Sequence[float] = defaults
        if chosen[name]:
            parts = chosen[name].split(",")
            if not all(part.isdecimal() and part.isascii() and 0 < len(part) < 9 for part in parts):
                return None
            cuts = sorted({int(part) for part in parts})
            if len(cuts) < len(parts) or cuts[0] < 1:
                return None
        if name == "iprec_at_recall":
            lines += [Line(f"{name}_{recall:.2f}", "IPrec nearest", recall) for recall in cuts]
        elif cuts:
            lines += [Line(f"{name}_{cut}", measure, cut) for cut in cuts]
        else:
            lines.append(Line(name, measure, geometric=name.startswith("gm_")))
    return lines


def lines_of(wanted: Sequence[str]) -> list[Line] | None:
    """The measures of `score`, by the names of the registry; None where one is not among the classical ones."""
    found: dict[str, Line] = {}
    for text in (part.strip() for each in wanted for part in each.split(",")):
        name, at, cut = text.partition("@")
        if text == "official":
            official = trec_lines(["official"]) or []
            made = [_registered(line) for line in official if line.measure != "runid"]
        elif text == "GMAP":
            made = [Line("GMAP", "AP", geometric=True)]
        elif not at and name in _PLAIN:
            made = [Line(name, name)]
        elif at and name in _CUT and cut.isascii() and cut.isdecimal() and 0 < len(cut) < 9 and int(cut):
            made = [Line(f"{name}@{int(cut)}", name, int(cut))]
        else:
            return None
        for line in made:
            found.setdefault(line.name, line)
    return list(found.values())


def _registered(line: Line) -> Line:
    """A line of trec_eval's under the registry's name, interpolated as there."""
    measure = line.measure.partition(" ")[0]
    if line.geometric:
        return Line("GMAP", measure, geometric=True)
    at = f"@{line.parameter if measure == 'IPrec' else int(line.parameter)}" if line.parameter else ""
    return Line(f"{measure}{'@0.0' if line.name.endswith('recall_0.00') else at}", measure, line.parameter)


HALVED = 1 << 24
"""A single file of so many bytes is read by two threads."""


class Evaluated:
    """A run's values: for each topic of the judgments whether the run answers it, and a value for each line."""

    __slots__ = ("answered", "cells", "hits", "lines", "outside", "outside_name", "relevant", "tag", "topics")

    def __init__(
        self, topics: list[str], found: dict[str, Any], lines: Sequence[Line], cells: bytes, relevant: float
    ) -> None:
        self.topics, self.lines, self.cells, self.relevant = topics, lines, cells, relevant
        self.answered = [bool(b) for b in found["answered"]]
        self.tag = found["tag"].decode("utf-8", "surrogateescape")
        self.outside = int(found["outside_topics"])
        self.outside_name = found["outside_names"].split(b"\n", 1)[0].decode("utf-8", "surrogateescape")
        self.hits = len(found["row"]) // 4

    def columns(self) -> list[list[float]]:
        """For each line its values, a topic an entry; nothing for the run's name."""
        cells: Any = memoryview(self.cells).cast("d")
        many = len(cells) // (len(self.topics) or 1)
        numbers = iter(range(many))
        return [[] if line.measure == "runid" else cells[next(numbers) :: many].tolist() for line in self.lines]

    def joined(self, second: Evaluated) -> Evaluated | None:
        """This half of a run and the other; None where they share a topic or may share one outside the judgments."""
        if (self.outside and second.outside) or any(
            a and b for a, b in zip(self.answered, second.answered, strict=True)
        ):
            return None
        cells, size, there = bytearray(self.cells), len(self.cells) // len(self.topics), bytes(second.answered)
        stop = 0
        while (start := there.find(1, stop)) >= 0:  # topics that follow one another are copied at once
            stop = there.find(0, start) if 0 in there[start:] else len(there)
            cells[start * size : stop * size] = second.cells[start * size : stop * size]
        self.cells = bytes(cells)
        self.answered = [a or b for a, b in zip(self.answered, second.answered, strict=True)]
        self.outside, self.outside_name = max((self.outside, self.outside_name), (second.outside, second.outside_name))
        self.hits += second.hits
        self.tag = second.tag
        return self


class _Judged:
    """The judgments, ready for the kernel."""

    def __init__(self, kernel: Any, indexed: Any) -> None:
        topics, topic_ends, self.grade, self.starts, self.index = indexed
        self.kernel, self.topics = kernel, _ids(topics, topic_ends)
        self.ideal: bytes = kernel.ideal_sums(self.grade, self.starts)
        nothing = bytes(len(self.starts)), b"", b"", bytes(4 * len(self.topics))
        judged = self.grade, self.starts, self.ideal
        counts: Any = memoryview(kernel.evaluate([("NumRel", 0.0)], 1, *judged, *nothing)).cast("d")
        self.relevant = sum_of(counts.tolist())

    def values(self, found: dict[str, Any], lines: Sequence[Line], rel: int) -> Evaluated:
        """What a scanner found, evaluated."""
        wanted = [(line.measure, line.parameter) for line in lines if line.measure != "runid"]
        arrays = [found[name] for name in ("offsets", "row", "rank", "length")]
        judged = self.grade, self.starts, self.ideal
        cells: bytes = self.kernel.evaluate(wanted, rel, *judged, *arrays)
        return Evaluated(self.topics, found, lines, cells, self.relevant)


def evaluate(
    qrels: str,
    runs: Sequence[str],
    lines: Sequence[Line],
    *,
    rel: int = 1,
    truncate: int = 0,
    jobs: int | None = 1,
    then: Callable[[str, Evaluated], object] | None = None,
) -> list[Evaluated] | None:
    """The values of each run; None for anything that needs the ordinary way. `jobs`: threads, None: one per core.

    `then` is called with each run and its values as soon as they are there, while other threads still read.
    """
    kernel = c_kernels()
    if kernel is None or not _ordinary(qrels):
        return None
    seen = files.Unchanged()
    try:
        indexed = seen.reading(qrels, lambda: _judgments(qrels, kernel))
        if not indexed:
            return None
        judged = _Judged(kernel, indexed)

        def values(pieces: Iterable[Any]) -> Evaluated | None:
            found = _hits(pieces, kernel, judged.index, truncate)
            return judged.values(found, lines, rel) if found is not None else None

        workers = jobs or os.cpu_count() or 1
        alone = len(runs) == 1 and workers > 1

        def read(path: str) -> Evaluated | None:
            if not _ordinary(path):
                return None
            found = seen.reading(path, lambda: _by_two(path, values) if alone else values(files.begun(path)))
            if found is None or not any(found.answered):
                return None
            if then:
                then(path, found)
            return found

        return _each(read, runs, min(workers, len(runs)))
    except (UnjudgedError, OSError):
        return None  # the ordinary way says what it is


def _by_two(path: str, values: Callable[[Iterable[Any]], Evaluated | None]) -> Evaluated | None:
    """One run by two threads: its halves, or decompressing and the rest; by one where it is small."""
    parts = files.halves(path, HALVED)
    if parts is None:
        large = os.stat(path).st_size > HALVED // 8  # noqa: PTH116 - pathlib takes long to import
        return values(files.beside(files.chunks(path)) if large and files.is_gz(path) else files.begun(path))
    found = _each(values, parts, 2)
    joined = found and found[0].joined(found[1])
    return joined or values(files.begun(path))


def _each(work: Callable[[T], Evaluated | None], given: Sequence[T], workers: int) -> list[Evaluated] | None:
    """Work on each in threads; None as soon as it gives None for one of them."""
    if workers <= 1:
        found = []
        for one in given:
            if (value := work(one)) is None:
                return None
            found.append(value)
        return found
    from _thread import allocate_lock, start_new_thread  # threading takes as long to import as reading two runs

    results: list[Evaluated | None] = [None] * len(given)
    problems: list[BaseException] = []
    places, lock, going = iter(range(len(given))), allocate_lock(), [True]

    def take() -> None:
        while going[0]:
            with lock:
                place = next(places, None)
            if place is None:
                return
            results[place] = work(given[place])
            if results[place] is None:
                going[0] = False

    def take_beside(number: int, begun: Any, ended: Any) -> None:
        try:
            try:
                _apart(number, workers)
            finally:
                begun.release()
            take()
        except BaseException as problem:
            problems.append(problem)
            going[0] = False
        finally:
            ended.release()

    others = []
    for number in range(1, workers):
        begun, ended = allocate_lock(), allocate_lock()
        begun.acquire()
        ended.acquire()
        start_new_thread(take_beside, (number, begun, ended))
        begun.acquire()
        others.append(ended)
    try:
        _apart(0, workers)
        take()
    except Exception as problem:
        problems.append(problem)
    finally:  # an interrupt does not wait for what the others are reading
        going[0] = False
    for ended in others:
        ended.acquire()
    if problems:
        raise problems[0]
    whole = [value for value in results if value is not None]
    return whole if len(whole) == len(given) else None


def _apart(number: int, workers: int) -> None:
    """Moves this thread to a processor where no other of the workers begins; from then on it may go anywhere.

    Threads that wait for Python's lock are often woken where the other one runs, on virtual machines above all, and
    share that processor until the system looks again, four milliseconds or three runs later.
    """
    try:
        allowed = sorted(os.sched_getaffinity(0))
        if mine := allowed[number::workers]:
            os.sched_setaffinity(0, mine)
            os.sched_setaffinity(0, allowed)
    except (AttributeError, OSError):  # not on this system, or not allowed
        return


def c_kernels() -> Any:
    """The C kernels, if they are there and wanted."""
    from unjudged.kernels import IN_USE

    if IN_USE != "C":
        return None
    from unjudged.kernels import _c  # type: ignore[attr-defined, unused-ignore]

    return _c


def _ordinary(path: str) -> bool:
    """Is this a regular file that may be TREC text?"""
    return files.kind(path) == "file" and not path.lower().removesuffix(".gz").endswith((".parquet", ".parq"))


def _first_fields(start: bytes) -> list[bytes]:
    """The fields of the first line with something on it; none where it may be another format than TREC's."""
    place = 0
    while place < len(start):
        stop = start.find(b"\n", place) + 1 or len(start)
        line, place = start[place:stop], stop
        if line.strip() and not line.startswith(b"#"):
            return [] if line.lstrip().startswith((b"{", b"PAR1")) else line.split(None, 6)
    return []


def _judgments(path: str, kernel: Any) -> Any:
    """Topics, where each ends, grades, where each topic starts, the look-up; None for what is not ordinary."""
    text = files.read_all(path, lines=True)
    first = _first_fields(text[:65536])
    if not first or (len(first) > 5 and first[1][:1] in b"Qq" and first[1][1:].isdigit()):
        return None  # or a run in the place of judgments
    return kernel.index_qrels(text)


def _hits(pieces: Iterable[Any], kernel: Any, index: Any, truncate: int) -> dict[str, Any] | None:
    """What a scanner finds in the pieces; None for what is not ordinary."""
    scanner, first = kernel.RunScanner(index, 0, truncate), True
    for piece in pieces:
        if isinstance(piece, files.PlainRest):
            piece.into(scanner)
        elif (first and not _first_fields(bytes(piece[:65536]))) or not scanner.feed(piece):
            return None
        first = False
    found: dict[str, Any] = scanner.finish()
    return None if found["bad"] or found["endless"] or found["split"] or found["duplicates"] else found


def _ids(blob: bytes, ends: bytes) -> list[str]:
    stops = memoryview(ends).cast("q").tolist()
    return [blob[a:b].decode("utf-8", "surrogateescape") for a, b in zip([0, *stops], stops, strict=False)]


def sum_of(values: list[float]) -> float:
    """The sum as NumPy forms it: in pairs of blocks of at most 128, each in eight strands."""
    total: float = c_kernels().sum_of(values)
    return total


def over_topics(line: Line, values: list[float]) -> float:
    """A measure's value over all topics, as `Measure.over_topics` gives it."""
    if line.measure in COUNTS:
        return sum_of(values)
    if line.geometric:
        from math import exp, log

        return exp(sum_of([log(max(value, GEOMETRIC_FLOOR)) for value in values]) / len(values))
    return sum_of(values) / len(values)
