"""Writing judgments and runs: TREC text, JSON lines, Parquet. A file appears whole or not at all.

A name that ends in `.gz` gives compressed text. The same data gives the same bytes.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import json
import math
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unjudged.errors import InputError, UsageError, nearest
from unjudged.io.aspects import Aspects
from unjudged.io.ids import Ids, to_bytes, to_text

FORMATS = ("trec", "jsonl", "parquet")
_SEPARATOR = re.compile(rb"[\s\0]")


class _Judgments(Protocol):
    @property
    def topics(self) -> Ids: ...
    @property
    def topic(self) -> npt.NDArray[np.int64]: ...
    @property
    def docs(self) -> Ids: ...
    @property
    def grade(self) -> npt.NDArray[np.int32]: ...
    @property
    def order(self) -> npt.NDArray[np.int64] | None: ...
    @property
    def iterations(self) -> Ids: ...
    @property
    def iteration(self) -> npt.NDArray[np.int32] | None: ...
    @property
    def group(self) -> npt.NDArray[np.int32] | None: ...
    @property
    def confidence(self) -> npt.NDArray[np.float64] | None: ...
    @property
    def aspects(self) -> Aspects | None: ...


class _Rankings(Protocol):
    @property
    def offsets(self) -> npt.NDArray[np.int64]: ...
    @property
    def doc(self) -> npt.NDArray[np.int32]: ...
    @property
    def unjudged(self) -> Ids: ...


class _Collection(Protocol):
    @property
    def judgments(self) -> Any: ...
    @property
    def runs(self) -> tuple[str, ...]: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def rankings(self) -> _Rankings: ...


Table = dict[str, "Sequence[str] | Sequence[bytes] | Sequence[int] | Sequence[float | None]"]


def write_qrels(judgments: _Judgments, path: str | Path, format: str = "trec") -> None:
    """Write judgments in the order of their source, documents of negative grade and iterations included.

    `format` is `trec` (`topic iteration doc grade`), `jsonl` or `parquet`; the two latter have the columns topic,
    iteration, doc, grade, and confidence where a machine told it. Judgments given twice are written once. Grades are
    those held: where they were read with `negative="nonrelevant"`, -1 has become 0. Subtopics are written as ndeval's
    four columns, `topic subtopic doc grade`, with a line for every subtopic of the topic; intents and nuggets, of which
    more is known than fits there, are refused.
    """
    if judgments.aspects is not None and format != "trec":
        raise InputError("judgments of subtopics are written as TREC text alone", str(path))
    columns = _columns(judgments, str(path))
    held = columns if judgments.confidence is None else columns | {"confidence": _confidence(judgments)}
    _write(held, lambda: _qrels_lines(columns, judgments, str(path)), path, format)


def qrels_text(judgments: _Judgments) -> bytes:
    """The judgments as TREC text, in the order of their source."""
    return b"".join(_qrels_lines(_columns(judgments, "standard output"), judgments, "standard output"))


def _in_order(judgments: _Judgments) -> npt.NDArray[np.int64]:
    """Rows in the order of the source."""
    return np.arange(len(judgments.grade)) if judgments.order is None else np.argsort(judgments.order, kind="stable")


def _confidence(judgments: _Judgments) -> list[float | None]:
    assert judgments.confidence is not None
    return [None if math.isnan(sure) else sure for sure in judgments.confidence[_in_order(judgments)].tolist()]


def _columns(judgments: _Judgments, path: str) -> Table:
    if judgments.group is not None:
        raise InputError("answer classes cannot be written as judgments of documents", path)
    order = _in_order(judgments)
    if judgments.aspects is not None:
        return _of_subtopics(judgments, judgments.aspects, order, path)
    topics, docs, iterations = _raw(judgments.topics), _raw(judgments.docs), _raw(judgments.iterations)
    rounds = [0] * len(order) if judgments.iteration is None else judgments.iteration[order].tolist()
    return {
        "topic": [topics[t] for t in judgments.topic[order].tolist()],
        "iteration": [iterations[i] for i in rounds],
        "doc": [docs[d] for d in order.tolist()],
        "grade": judgments.grade[order].tolist(),
    }


def _of_subtopics(judgments: _Judgments, aspects: Aspects, order: npt.NDArray[np.int64], path: str) -> Table:
    """A row for every document and subtopic of its topic; a document of negative grade has it in all of them."""
    if aspects.declared.any() or not aspects.vital.all():
        raise InputError("intents and nuggets cannot be written: their weights would be lost", path)
    names = [[to_bytes(name) for name in of_topic] for of_topic in aspects.names]
    _refuse_separators({"subtopic": [name for of_topic in names for name in of_topic]}, path)
    topics, docs = _raw(judgments.topics), _raw(judgments.docs)
    rows: list[tuple[bytes, bytes, bytes, int]] = []
    for row, t, own in zip(
        order.tolist(), judgments.topic[order].tolist(), judgments.grade[order].tolist(), strict=True
    ):
        for name, grade in zip(names[t], aspects.grade[row].tolist(), strict=False):  # other topics may have more
            rows.append((topics[t], name, docs[row], own if own < 0 else grade))
    return dict(zip(("topic", "iteration", "doc", "grade"), map(list, zip(*rows, strict=True)), strict=True))


def _qrels_lines(columns: Table, judgments: _Judgments, path: str) -> Iterable[bytes]:
    ids = {"topic": judgments.topics, "document": judgments.docs, "iteration": judgments.iterations}
    _refuse_separators({what: _raw(some) for what, some in ids.items()}, path)
    return (b"%b %b %b %d\n" % row for row in zip(*columns.values(), strict=True))


def write_run(collection: _Collection, run: str, path: str | Path, format: str = "trec") -> None:
    """Write one run of a collection, each list best document first, topics in the order of the judgments.

    A collection keeps the order of the documents, not their scores. So the score written is the length of the list
    minus the rank plus one (the last document has 1): any rule for ties reads the same order from it. Only judged
    topics are there, without repeated documents and cut off where reading was truncated.

    `format` is `trec` (`topic Q0 doc rank score tag`; the tag is that of the run as read, else its name), `jsonl` or
    `parquet`, both with the columns run, topic, doc, rank, score.
    """
    if run not in collection.runs:
        raise UsageError(f"no run {run!r} in this collection{nearest(run, collection.runs)}")
    number = collection.runs.index(run)
    names, rankings = _raw(collection.judgments.topics), collection.rankings
    sizes = np.diff(rankings.offsets)[number * len(names) : (number + 1) * len(names)]
    start = int(rankings.offsets[number * len(names)])
    codes = rankings.doc[start : start + int(sizes.sum())]
    if not len(codes):
        raise UsageError(f"run {run} holds no documents for the judged topics")
    judged, first = collection.judgments.docs, len(collection.judgments.docs)
    docs = [judged.raw(c) if c < first else rankings.unjudged.raw(c - first) for c in codes.tolist()]
    ends = np.cumsum(sizes)
    rank = np.arange(1, len(codes) + 1) - np.repeat(ends - sizes, sizes)
    topic = [names[t] for t in np.repeat(np.arange(len(names)), sizes).tolist()]
    score = (np.repeat(sizes, sizes) - rank + 1).tolist()
    columns: Table = {"topic": topic, "doc": docs, "rank": rank.tolist(), "score": score}

    def lines() -> Iterable[bytes]:
        _refuse_separators({"topic": names, "document": docs}, path)
        tag = _SEPARATOR.sub(b"_", to_bytes(collection.tags[number] or run))
        return (b"%b Q0 %b %d %d %b\n" % (*row, tag) for row in zip(*columns.values(), strict=True))

    _write({"run": [to_bytes(run)] * len(docs), **columns}, lines, path, format)


def _raw(ids: Ids) -> list[bytes]:
    return [ids.raw(i) for i in range(len(ids))]


def _refuse_separators(groups: dict[str, list[bytes]], path: str | Path) -> None:
    """TREC text cannot hold every id; say which one."""
    for what, ids in groups.items():
        for one in ids:
            if not one or _SEPARATOR.search(one) or (what == "topic" and one.startswith(b"#")):
                why = "is empty" if not one else "begins with #" if one.startswith(b"#") else "holds white space"
                raise InputError(
                    f"the {what} id {to_text(one)!r} {why}, which TREC text cannot hold; write jsonl or parquet",
                    str(path),
                )


def _write(columns: Table, lines: Callable[[], Iterable[bytes]], path: str | Path, format: str) -> None:
    if format not in FORMATS:
        raise UsageError(f"unknown format {format!r}{nearest(format, FORMATS)}; there are {', '.join(FORMATS)}")
    if format == "parquet":
        write_whole(path, _parquet(columns, path))
        return
    data = b"".join(lines() if format == "trec" else _json_lines(columns))
    write_whole(path, gzip.compress(data, mtime=0) if str(path).endswith(".gz") else data)


def _json_lines(columns: Table) -> Iterable[bytes]:
    for row in zip(*columns.values(), strict=True):
        shown = {n: to_text(v) if isinstance(v, bytes) else v for n, v in zip(columns, row, strict=True)}
        yield json.dumps(shown).encode("ascii") + b"\n"


def _parquet(columns: Table, path: str | Path) -> bytes:
    """Ids are text columns, or bytes where some id is not UTF-8."""
    from unjudged.io.parquet import load_pyarrow

    pyarrow = load_pyarrow(str(path))
    arrays = {}
    for name, values in columns.items():
        if name in ("grade", "rank", "score", "confidence"):
            whole = name in ("grade", "rank")
            arrays[name] = pyarrow.array(values, pyarrow.int32() if whole else pyarrow.float64())
            continue
        arrays[name] = pyarrow.array(values, pyarrow.binary())
        with contextlib.suppress(pyarrow.ArrowInvalid):
            arrays[name] = arrays[name].cast(pyarrow.string())
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(arrays), buffer)
    return buffer.getvalue()


def write_whole(path: str | Path, data: bytes | Iterable[bytes]) -> None:
    """Write beside the target, then move into place; what was there before stays until then.

    The data may come in pieces, which are asked for one by one.

    A link stays a link: the file it leads to is written. What is no file (a pipe, a terminal, a device such as
    /dev/null) and what is open already (/dev/stdout) is written into.
    """
    if not str(path):
        raise UsageError("a file to write to needs a name")
    target, pieces = Path(path), [data] if isinstance(data, bytes) else data
    try:
        if _written_into(target):
            with open(os.open(target, os.O_WRONLY | os.O_APPEND), "wb") as file:  # noqa: PTH123
                file.writelines(pieces)
            return
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if target.is_symlink():
            target = target.resolve()
        temporary = target.with_name(f".unjudged-{secrets.token_hex(8)}")  # a valid name may be as long as names get
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        try:
            first = 0o666 if mode is None else 0o600  # nobody reads meanwhile what will not be for them
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, first), "wb") as file:  # noqa: PTH123
                file.writelines(pieces)
            if mode is not None:
                temporary.chmod(mode)  # who may read the file does not change
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as problem:
        raise _unwritable(path, problem.errno, problem.strerror) from None


def refuse_unwritable(path: str | Path) -> None:
    """Say before the work what `write_whole` would say after it: no such folder, itself a folder, no permission."""
    target = Path(path)
    if not str(path):
        raise UsageError("a file to write to needs a name")
    try:
        if _written_into(target):
            return
        folder = target.resolve().parent
        number = errno.EISDIR if target.is_dir() else 0
        number = number or (0 if stat.S_ISDIR(folder.stat().st_mode) else errno.ENOTDIR)
        number = number or (0 if os.access(folder, os.W_OK | os.X_OK) else errno.EACCES)
    except OSError as problem:
        number = problem.errno or errno.EIO
    if number:
        raise _unwritable(path, number, os.strerror(number))


def refuse_unwritable_folder(path: str | Path) -> None:
    """The same of a folder for files, which is made where it is missing, with those above it."""
    place = Path(path).absolute()
    while not place.exists() and not place.is_symlink():
        place = place.parent
    number = 0 if place.is_dir() else errno.ENOTDIR
    number = number or (0 if os.access(place, os.W_OK | os.X_OK) else errno.EACCES)
    if number:
        raise _unwritable(path, number, os.strerror(number))


def _unwritable(path: str | Path, number: int | None, why: str | None) -> InputError:
    step = ""
    if number == errno.EISDIR:
        step = "; name a file in it"
    elif number == errno.ENOENT:
        step = f"; make the folder {Path(path).parent} first"
    return InputError(f"cannot be written ({why}){step}", str(path))


def _written_into(target: Path) -> bool:
    """Is this anything but a file or folder, or another name of an open file (/dev/stdout, /dev/fd/3)?"""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(mode):
        return not stat.S_ISDIR(mode)
    while target.is_symlink():
        folder = target.parent.resolve()
        if folder.name == "fd" and folder.parts[1] in ("proc", "dev"):
            return True
        target = folder / target.readlink()
    return False
