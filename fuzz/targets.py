"""What must hold for any bytes: one function per target, an AssertionError where something differs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from cases import Case, Draw, case, exactly

import unjudged as uj
from unjudged.errors import MeasureError
from unjudged.kernels import _numpy
from unjudged.measures import measures

try:
    from unjudged.kernels import _c as _c  # type: ignore[attr-defined, unused-ignore]
except ImportError:
    _c = None  # type: ignore[assignment, unused-ignore]


# -- the scanner


def _index(kernels: ModuleType, judged: dict[str, Any]) -> Any:
    """The judged documents, topic after topic."""
    topic = np.frombuffer(judged["topic"], np.int32)
    ends = np.frombuffer(judged["doc_ends"], np.int64).tolist()
    docs = [judged["docs"][a:b] for a, b in zip([0, *ends], ends, strict=False)]
    grouped = [docs[i] for i in np.argsort(topic, kind="stable")]
    topics = len(judged["topic_ends"]) // 8
    starts = np.append(0, np.cumsum(np.bincount(topic, minlength=topics))).astype(np.int64)
    lengths = np.cumsum([len(doc) for doc in grouped], dtype=np.int64)
    return kernels.Index(judged["topics"], judged["topic_ends"], b"".join(grouped), lengths, starts)


def _scan(kernels: ModuleType, given: Case, narrow: bool = False) -> dict[str, Any]:
    """What the reader would learn of the judgments and the run; `narrow`: on a processor without AVX2."""
    found = dict(kernels.scan_qrels(exactly(given.judgments), given.lenient))
    index = _index(kernels, found)
    found["twice"] = bytes(index.duplicates())
    scanner = kernels.RunScanner(
        index, given.ties, given.truncate, given.lenient, given.gather, given.keep_docs, given.tie_groups
    )
    if narrow:
        scanner.narrow()
    told = []
    for piece in given.pieces:
        if isinstance(piece, bytes):
            if not scanner.feed(exactly(piece)):
                break
        else:
            topic, docs, scores = piece
            told.append(scanner.add(exactly(topic), exactly(docs), None, scores))
    scanned = scanner.finish()
    if scanned["split"]:  # scattered topics: the reader starts again and holds the whole text
        assert not given.gather
        return _scan(kernels, Case(given.option | 128, given.judgments, given.pieces), narrow)
    if scanned["bad"] and not given.lenient:  # refused: only the place and the reason count
        return found | {"refused": scanned["bad"][0], "told": told}
    repeats = np.frombuffer(scanned.pop("repeats"), np.int32).reshape(-1, 2).tolist()
    return found | {f"run {key}": value for key, value in scanned.items()} | {"repeats": sorted(repeats), "told": told}


def twins(data: bytes) -> None:
    """The C scanner, its NumPy twin, and the text in one piece: the same arrays, the same refusals."""
    given = case(data)
    expected = _scan(_numpy, given)
    if _c is not None:
        assert _scan(_c, given) == expected
        assert _scan(_c, given, narrow=True) == expected
    if given.text_only and len(given.pieces) > 1:
        assert _scan(_c or _numpy, given.in_one_piece()) == expected


# -- the other kernels


def _code_documents(kernels: ModuleType, draw: Draw) -> Any:
    n = draw.below(24)
    ids, topic, row = draw.ids(n), draw.integers(n, 0, 3), draw.integers(n, -2, 5)
    ends = np.cumsum([len(i) for i in ids], dtype=np.int64)
    return kernels.code_documents(exactly(b"".join(ids)), ends, topic, row, 6 + draw.byte())


def _choose_hits(kernels: ModuleType, draw: Draw) -> Any:
    offsets = draw.offsets(draw.below(6))
    value, n = draw.integers(1 + draw.below(9), -3, 5), int(offsets[-1])
    row, rank = draw.integers(n, 0, len(value) - 1), draw.integers(n, 1, 40)
    out, new = [np.zeros(n, np.int32) for _ in range(3)], np.zeros_like(offsets)
    low, high, renumber = draw.below(9) - 4, draw.below(9) - 4, bool(draw.below(2))
    many = kernels.choose_hits(value, low, high, renumber, row, rank, offsets, *out, new)
    return many, new, *(column[:many] for column in out)


def _segments(name: str) -> Callable[[ModuleType, Draw], Any]:
    def call(kernels: ModuleType, draw: Draw) -> Any:
        offsets = draw.offsets(draw.below(6), 12)
        values = draw.numbers(int(offsets[-1]))
        out = np.zeros(len(offsets) - 1 if name == "segment_sum" else len(values))
        getattr(kernels, name)(values, offsets, out)
        return out

    return call


def _segment_read(kernels: ModuleType, draw: Draw) -> Any:
    starts, offsets = draw.offsets(1 + draw.below(4)), draw.offsets(draw.below(6))
    segment = draw.integers(len(offsets) - 1, 0, len(starts) - 2, np.int64)
    rank, values = draw.integers(int(offsets[-1]), 1, 12), draw.numbers(int(starts[-1]))
    out = np.zeros(len(rank))
    kernels.segment_read(values, starts, segment, offsets, rank, out)
    return out


def _weighted_sums(kernels: ModuleType, draw: Draw) -> Any:
    samples, topics, runs = draw.below(6), draw.below(9), draw.below(9)
    weights, values = (draw.numbers(a * b).reshape(a, b) for a, b in ((samples, topics), (topics, runs)))
    out = np.ones((samples, runs))
    kernels.weighted_sums(weights, values, out)
    return out


def _bootstrap_count(kernels: ModuleType, draw: Draw) -> Any:
    pairs, topics, resamples = draw.below(20), 1 + draw.below(9), 1 + draw.below(80)
    counts = np.array([draw.byte() % 4 for _ in range(topics * resamples)], np.uint16).reshape(topics, resamples)
    scores = draw.scores(pairs, topics)
    centred = np.ascontiguousarray(scores - scores.mean(axis=1, keepdims=True)) if draw.below(2) else scores
    reach, position = np.abs(draw.scores(pairs)) * topics, 1 + draw.below(resamples)
    exceeding, required = np.zeros(pairs, np.int64), np.zeros(pairs)
    kernels.bootstrap_count(centred, reach, counts, position, exceeding, required)
    return exceeding, required


def _swap_count(kernels: ModuleType, draw: Draw) -> Any:
    trials, runs = draw.below(6), draw.below(12)
    compared, swapped = np.zeros(21, np.int64), np.ones(21, np.int64)
    kernels.swap_count(draw.scores(trials, runs), draw.scores(trials, runs), compared, swapped)
    return compared, swapped


def _write_rows(kernels: ModuleType, draw: Draw) -> Any:
    rows, columns = draw.below(6), draw.below(4)
    heads, names, end = draw.ids(rows), draw.ids(columns), bytes(draw.ids(1)[0])
    return kernels.write_rows(heads, names, draw.numbers(rows * columns), end)


def _entries(draw: Draw) -> tuple[Any, Any, Any, int]:
    """Entries of lists: documents, lists and ranks; and how many documents there are."""
    n, docs = draw.below(30), 1 + draw.below(9)
    doc, which, rank = (draw.integers(n, low, most, np.int64) for low, most in ((0, docs - 1), (0, 3), (1, 12)))
    return doc, which, rank, docs


def _count_teams(kernels: ModuleType, draw: Draw) -> Any:
    doc, run, rank, docs = _entries(draw)
    runs = (4, 64, 65, 130)[draw.below(4)]
    depth, team = draw.integers(runs, -1, 12, np.int64), draw.integers(runs, 0, runs - 1, np.int64)
    out = np.full(docs, -1)
    kernels.count_teams(doc, run * (runs // 4), rank, depth, team, out)
    return out


def _richness(kernels: ModuleType, draw: Draw) -> Any:
    doc, cell, rank, docs = _entries(draw)
    judged = draw.integers(docs, 0, 1, np.uint8).astype(bool)
    known, share, out = draw.scores(docs), draw.scores(docs), np.full(docs, np.nan)
    kernels.richness(doc, rank, cell, judged, known, share, out, 4 + draw.below(3), draw.below(14), draw.below(7))
    return out


def _newton_sums(kernels: ModuleType, draw: Draw) -> Any:
    n, times = draw.below(9), (1, 1, 1, 29, 32, 37)[draw.below(6)]  # up to more than one block of rows
    rows, slope, rest = (np.tile(one, (times, 1)) for one in (draw.scores(n, 8), draw.scores(n, 1), draw.scores(n, 1)))
    gradient, curve = np.full(8, np.nan), np.full((8, 8), np.nan)
    kernels.newton_sums(rows, slope[:, 0].copy(), rest[:, 0].copy(), gradient, curve)
    return gradient, curve


def _by_document(draw: Draw) -> tuple[Any, Any, Any]:
    """Hits that stand document after document, some without any: offsets, runs and lines."""
    first = draw.offsets(draw.below(9), 5)
    n = int(first[-1])
    return first, draw.integers(n, 0, 3, np.int64), draw.integers(n, -1, 12, np.int64)


def _count_levels(kernels: ModuleType, draw: Draw) -> Any:
    first, run, line = _by_document(draw)
    none, groups = draw.below(5), 1 + draw.below(5)
    group, level = draw.integers(len(run), 0, groups - 1, np.int64), draw.integers(4, 0, none, np.int64)
    out = np.full((none + 1, groups), -1)
    kernels.count_levels(first, run, line, group, level, draw.below(14), none, groups, out)
    return out


def _first_lines(kernels: ModuleType, draw: Draw) -> Any:
    first, run, line = _by_document(draw)
    chosen, out = draw.integers(4, 0, 1, np.uint8).astype(bool), np.full(len(first) - 1, -7)
    kernels.first_lines(first, run, line, chosen, draw.below(20) - 2, out)
    return out


def _order_of(kernels: ModuleType, draw: Draw) -> Any:
    most = 1 + draw.below(9)
    numbers = draw.integers(draw.below(60), 0, most - 1)
    out = np.full(len(numbers), -1)
    kernels.order_of(numbers, most, out)
    return out


CALLS: tuple[Callable[[ModuleType, Draw], Any], ...] = (
    _code_documents,
    _choose_hits,
    *map(_segments, ("segment_sum", "segment_cumsum", "segment_cumprod", "segment_max_from")),
    _segment_read,
    _weighted_sums,
    _bootstrap_count,
    _swap_count,
    _write_rows,
    _count_teams,
    _richness,
    _newton_sums,
    _count_levels,
    _first_lines,
    _order_of,
)


def _bits(found: Any) -> Any:
    """For comparison to the last bit; one NaN is like another."""
    if isinstance(found, tuple):
        return tuple(_bits(one) for one in found)
    if isinstance(found, np.ndarray):
        return np.where(np.isnan(found), np.nan, found).tobytes() if found.dtype.kind == "f" else found.tobytes()
    return found


def arrays(data: bytes) -> None:
    """Every kernel that takes arrays gives what its NumPy twin gives, to the last bit."""
    call, rest = CALLS[data[0] % len(CALLS)] if data else CALLS[0], data[1:]
    with np.errstate(all="ignore"):
        expected = call(_numpy, Draw(rest))
        if _c is not None:
            assert _bits(call(_c, Draw(rest))) == _bits(expected), call
        elif call is _write_rows:
            assert isinstance(expected, bytes)


def _sizes(draw: Draw, n: int) -> Any:
    """Offsets that may run backwards, beyond the end or out of 64 bits."""
    far = (-1, 0, 1, 2, 3, 5, 8, 2**31, 2**60, 2**61 + 1, 2**63 - 1, -(2**63))
    return np.array([far[draw.below(len(far))] if draw.below(3) == 0 else k for k in range(n)], np.int64)


def _bytes_of(draw: Draw) -> Any:
    return np.frombuffer(exactly(bytes(draw.byte() for _ in range(draw.below(40)))), np.uint8).copy()


def _about(draw: Draw, n: int) -> int:
    """A length that fits, or one in sixteen times one that does not."""
    return max(n - 1 + 2 * draw.below(2), 0) if draw.below(16) == 15 else n


def _entries_of(draw: Draw, n: int) -> Any:
    """A column of entries of lists; it may name what is not there."""
    return draw.integers(_about(draw, n), -1 if draw.below(8) == 7 else 0, 3, np.int64)


def _ends(draw: Draw, n: int) -> Any:
    """Offsets that divide so many hits, or any."""
    return np.array([0, n // 2, n], np.int64) if draw.below(3) else _sizes(draw, draw.below(6))


def _amount(draw: Draw) -> int:
    """How many there are said to be: few, too few, or so many that they cannot be."""
    return (0, 1, 2, 3, 4, -1, -(2**63), 2**62, 2**63 - 1)[draw.below(9)]


def misuse(data: bytes) -> None:
    """Arrays that do not fit together are refused with a ValueError or a TypeError, and nothing is read beyond them."""
    if _c is None:
        return
    draw = Draw(data[1:])
    name = MISUSED[data[0] % len(MISUSED)] if data else MISUSED[0]
    n = draw.below(6)
    integers, floats = draw.integers(n, -2, 5), draw.numbers(n)
    try:
        if name == "Index":
            _c.Index(
                _bytes_of(draw), _sizes(draw, n), _bytes_of(draw), _sizes(draw, draw.below(6)), _sizes(draw, n + 1)
            )
        elif name == "code_documents":
            _c.code_documents(_bytes_of(draw), _sizes(draw, n), integers, draw.integers(n, -1, 0), draw.byte())
        elif name == "choose_hits":
            out = [np.zeros(n, np.int32) for _ in range(3)]
            offsets = _sizes(draw, draw.below(6))
            rank = draw.integers(n, -1, 3)
            _c.choose_hits(draw.integers(3, 0, 3), 0, 2, True, integers, rank, offsets, *out, np.zeros_like(offsets))
        elif name == "segment_read":
            starts, cells = _sizes(draw, draw.below(4)), draw.below(4)
            segment = draw.integers(cells, -1, 3, np.int64)
            _c.segment_read(floats, starts, segment, _sizes(draw, cells + 1), integers, np.zeros(n))
        elif name == "add":
            index = _c.Index(b"1", np.array([1]), b"ab", np.array([1, 2]), np.array([0, 2]))
            scanner = _c.RunScanner(index, draw.below(4), draw.below(3), gather=bool(draw.below(2)), keep_docs=True)
            for _ in range(1 + draw.below(3)):
                ends = _sizes(draw, n) if draw.below(2) else None
                scanner.add(b"1" if draw.below(2) else b"2", _bytes_of(draw), ends, floats)
                scanner.feed(exactly(bytes(_bytes_of(draw))))
                if draw.below(3) == 0:
                    scanner.finish()
            scanner.finish()
        elif name == "count_teams":
            runs = draw.below(4)
            depth, team = (_entries_of(draw, runs) for _ in range(2))
            _c.count_teams(*(_entries_of(draw, n) for _ in range(3)), depth, team, np.zeros(draw.below(4), np.int64))
        elif name == "richness":
            docs, cells = draw.below(4), _amount(draw)
            judged, known = np.ones(_about(draw, docs), bool), draw.numbers(docs)
            share = draw.numbers(_about(draw, docs))
            entries = (_entries_of(draw, n) for _ in range(3))
            _c.richness(*entries, judged, known, share, np.zeros(docs), cells, draw.below(9), 1.0)
        elif name == "newton_sums":
            rows, many = draw.numbers(_about(draw, 8 * n)), _about(draw, 8)
            _c.newton_sums(rows, floats, draw.numbers(_about(draw, n)), np.zeros(many), np.zeros(_about(draw, 64)))
        elif name == "count_levels":
            first, level = _ends(draw, n), _entries_of(draw, draw.below(4))
            none, groups = _amount(draw), _amount(draw)
            levels = np.zeros(_about(draw, (none + 1) * groups if 0 <= none < 9 and 0 <= groups < 9 else 4), np.int64)
            _c.count_levels(first, *(_entries_of(draw, n) for _ in range(3)), level, 3, none, groups, levels)
        elif name == "first_lines":
            first, chosen = _ends(draw, n), np.ones(draw.below(4), bool)
            lines = np.zeros(_about(draw, len(first) - 1), np.int64)
            _c.first_lines(first, *(_entries_of(draw, n) for _ in range(2)), chosen, _amount(draw), lines)
        elif name == "order_of":
            _c.order_of(integers, _amount(draw), np.zeros(_about(draw, n), np.int64))
        elif name == "offcuts":
            _c.segment_sum(_bytes_of(draw), _bytes_of(draw), _bytes_of(draw))
        else:
            getattr(_c, name)(floats, _sizes(draw, draw.below(6)), np.zeros(draw.below(6)))
    except (ValueError, TypeError) as refusal:
        assert str(refusal).strip()


MISUSED = (
    *("Index", "code_documents", "choose_hits", "segment_read", "add", "offcuts"),
    *("segment_sum", "segment_cumsum", "segment_cumprod", "segment_max_from"),
    *("count_teams", "richness", "newton_sums", "count_levels", "first_lines", "order_of"),
)


# -- the measure grammar


def grammar(data: bytes) -> None:
    """A spelling is read or refused with a sentence; what is read is printed and read back as itself."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        found = measures(text)
    except MeasureError as refusal:
        assert str(refusal).strip()
        return
    for measure in found:
        (again,) = uj.parse(str(measure))
        assert again == measure and str(again) == str(measure)


# -- scores

PEER = {"map": "AP", "ndcg": "nDCG", "ndcg_cut_5": "nDCG@5", "P_5": "P@5", "recip_rank": "RR", "bpref": "bpref"}
PEER |= {"Rprec": "Rprec", "infAP": "infAP", "recall_5": "R@5", "success_1": "Success@1", "map_cut_5": "AP@5"}


def pytrec_eval(data: bytes) -> None:
    """Judgments and a run decoded from the bytes score as pytrec_eval scores them."""
    import pytrec_eval as peer

    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for i in range(0, len(data) - 2, 3):
        where, what, value = data[i : i + 3]
        topic, doc = f"t{where % 3}", f"d{what % 12}"
        if where & 128:
            qrels.setdefault(topic, {})[doc] = value % 6 - 1
        else:
            run.setdefault(topic, {})[doc] = float(np.float32(value / 8))
    run = {topic: docs for topic, docs in run.items() if topic in qrels}
    if not qrels or not run or any(max(judged.values()) < 0 for judged in qrels.values()):
        return  # pytrec_eval never returns from a topic whose grades are all negative
    expected = peer.RelevanceEvaluator(qrels, set(PEER)).evaluate(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = uj.score(uj.load(qrels, {"run": run}), list(PEER.values()))
    for m, name in enumerate(PEER):
        for t, topic in enumerate(scores.topics):
            if topic in expected:
                ours = float(scores.values[0, t, m])
                assert abs(ours - expected[topic][name]) < 1e-9, (name, topic, ours, expected[topic][name], qrels, run)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "twins": twins,
    "arrays": arrays,
    "misuse": misuse,
    "grammar": grammar,
    "pytrec_eval": pytrec_eval,
}
