"""What must hold for any bytes: one function per target, an AssertionError where something differs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

import unjudged as uj
from unjudged.errors import MeasureError
from unjudged.kernels import TIES, _numpy
from unjudged.measures import measures

try:
    from unjudged.kernels import _c
except ImportError:
    _c = None  # type: ignore[assignment]

RULES = sorted(set(TIES.values()))


def _parts(data: bytes) -> tuple[int, bytes, bytes]:
    """Options, judgments and run: the first byte, then two texts with a record separator between."""
    option, text = (data[0], data[1:]) if data else (0, b"")
    judgments, _, run = text.partition(b"\x1e")
    return option, judgments, run


def _scan(kernels: ModuleType, option: int, judgments: bytes, run: bytes, cut: int | None) -> dict[str, Any]:
    found = dict(kernels.scan_qrels(judgments, bool(option & 1)))
    topic = np.frombuffer(found["topic"], np.int32)
    order = np.argsort(topic, kind="stable")
    ends = np.frombuffer(found["doc_ends"], np.int64)
    begins = np.append(0, ends)[:-1]
    docs = [found["docs"][begins[i] : ends[i]] for i in order]
    topics = np.frombuffer(found["topic_ends"], np.int64)
    starts = np.append(0, np.cumsum(np.bincount(topic, minlength=len(topics)))).astype(np.int64)
    lengths = np.cumsum([len(d) for d in docs], dtype=np.int64)
    index = kernels.Index(found["topics"], topics, b"".join(docs), lengths, starts)
    found["twice"] = bytes(index.duplicates())
    scanner = kernels.RunScanner(
        index,
        RULES[(option >> 1) % len(RULES)],
        (option >> 3) % 4,
        bool(option & 1),
        tie_groups=bool(option & 32) and not (option >> 3) % 4,
        keep_docs=bool(option & 64),
        gather=bool(option & 128),
    )
    for piece in (run,) if cut is None else (run[:cut], run[cut:]):
        if not scanner.feed(piece):
            break
    scanned = scanner.finish()
    if scanned["split"]:  # scattered topics: the reader starts again and holds the whole text
        assert not option & 128
        return _scan(kernels, option | 128, judgments, run, cut)
    if scanned["bad"] and not option & 1:  # refused: only the place and the reason count
        return found | {"refused": scanned["bad"][0]}
    return found | {f"run {key}": value for key, value in scanned.items()}


def kernels(data: bytes) -> None:
    """The C scanner, its NumPy twin, and the text cut into two pieces: the same arrays, the same refusals."""
    option, judgments, run = _parts(data)
    whole = _scan(_numpy, option, judgments, run, None)
    if _c is None:
        assert _scan(_numpy, option, judgments, run, len(run) // 2) == whole
        return
    assert _scan(_c, option, judgments, run, None) == whole
    assert _scan(_c, option, judgments, run, len(run) // 2) == whole


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
    names = {"map": "AP", "ndcg": "nDCG", "ndcg_cut_5": "nDCG@5", "P_5": "P@5", "recip_rank": "RR", "bpref": "bpref"}
    names |= {"Rprec": "Rprec", "infAP": "infAP", "recall_5": "R@5", "success_1": "Success@1", "map_cut_5": "AP@5"}
    expected = peer.RelevanceEvaluator(qrels, set(names)).evaluate(run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = uj.score(uj.load(qrels, {"run": run}), list(names.values()))
    for m, name in enumerate(names):
        for t, topic in enumerate(scores.topics):
            if topic in expected:
                ours = float(scores.values[0, t, m])
                assert abs(ours - expected[topic][name]) < 1e-9, (name, topic, ours, expected[topic][name], qrels, run)


TARGETS: dict[str, Callable[[bytes], None]] = {"kernels": kernels, "grammar": grammar, "pytrec_eval": pytrec_eval}
