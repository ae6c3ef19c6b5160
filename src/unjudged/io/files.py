"""Finding and opening input: files, folders, globs, stdin; gz recognised by its content."""

from __future__ import annotations

import itertools
import os
import stat
import sys

from unjudged.errors import InputError, nearest
from unjudged.kernels import LONGEST_LINE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path
    from typing import Any, TypeVar

    T = TypeVar("T")
    Begun = Iterator[bytes | memoryview | "PlainRest"]

STDIN = "-"
ENDINGS = frozenset((".json", ".jsonl", ".parquet"))
"""Endings of file names that are no part of a run's name."""
TEXT_ENDINGS = frozenset((".txt", ".tsv", ".csv", ".qrels", ".ndjson", ".parq"))
"""Further endings that are no part of a judge's name."""
GZIP = b"\x1f\x8b"
"""How gz begins."""
_CHUNK = 1 << 18
_COMPRESSED_CHUNK = 1 << 18
_STEP = 1 << 24
"""So many bytes are scanned before the program looks whether it is interrupted."""
ORDER = "judgments come first, then the runs"
SWAPPED = f"this looks like a run, not judgments (topic iteration doc grade); {ORDER}"
_buffers: list[bytearray] = []
"""Room for pieces that has been used, for the next file: fresh memory takes the system as long as reading it full."""
MOST_TIMES, ALWAYS = 200, 256_000_000
"""What is held as a whole may take so many times the size of its file, or so many bytes: text rarely shrinks to a
twentieth, and a few bytes can be made that unpack to gigabytes."""
HELD = 1 << 26
"""So many bytes of a stream are held, to be read again should its topics turn out to be scattered."""


def file_name(path: str | Path) -> str:
    """The last part of a path, without one trailing `.gz`."""
    return os.path.basename(path).removesuffix(".gz")  # noqa: PTH119 - pathlib takes long to import


def run_name(path: str | Path) -> str:
    """A run's name: its file's, without `.gz`, then without `.json`, `.jsonl` or `.parquet`.

    `bm25.json.gz` is called `bm25`; `bm25.v2`, `input.ok8` and `bm25.txt` keep their names.
    """
    return _without(ENDINGS, file_name(path))


def judge_name(path: str | Path) -> str:
    """A judge's (or leaderboard's) name: its file's, without `.gz` and without an ending that only tells the format; of
    `FILE#JUDGE` the judge."""
    file, judge = chosen_judge(path)
    return judge or _without(ENDINGS | TEXT_ENDINGS, file_name(file))


def chosen_judge(path: str | Path) -> tuple[str, str]:
    """The file and the judge that is meant, where a file holds several: `labels.jsonl#gpt-4o/v3`. The judge is empty
    where none is named, or where a file is called so."""
    text = os.fspath(path)
    if "#" in text and not kind(text):
        for place, sign in enumerate(text):
            if sign == "#" and kind(text[:place]) == "file":
                return text[:place], text[place + 1 :]
    return text, ""


def is_input(path: str | Path) -> bool:
    """Is this a file, or a judge in one, that can be named in a command and read again?"""
    return kind(chosen_judge(path)[0]) == "file"


def _without(endings: frozenset[str], name: str) -> str:
    short, dot, ending = name.rpartition(".")
    return short if short and dot + ending.lower() in endings else name


def called(given: str, names: Collection[str]) -> str:
    """Which of the names is meant by a name or a file: with or without its ending; as given where none is."""
    return next(
        (name for name in (given, file_name(given), run_name(given), judge_name(given)) if name in names), given
    )


def source_name(path: str) -> str:
    """What messages call the file."""
    return "standard input" if path == STDIN else path


def kind(path: str) -> str:
    """What a name leads to: `file`, `folder`, `other` (a pipe, a device), or `` for nothing that can be seen."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - hundreds of runs are looked at
    except (OSError, ValueError):
        return ""
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"


def expand(spec: str | Path) -> list[str]:
    """The files a RUN argument stands for: a file, a folder's files by name, a glob, or `-`."""
    text = str(spec)
    if text == STDIN:
        return [text]
    there = kind(text)
    if there == "folder":
        return _inside(text)
    from glob import glob, has_magic
    from pathlib import Path

    if there or not has_magic(text):
        return [text]
    found = sorted(p for p in glob(text) if Path(p).is_file())  # noqa: PTH207 - absolute patterns
    if not found:
        raise InputError("no file matches this pattern", text)
    return found


def _inside(folder: str) -> list[str]:
    """The files of a folder that may be runs, by name. Without pathlib: its import takes longer than scoring a run."""
    if folder.startswith(".") or folder.endswith("/.") or any(odd in folder for odd in ("//", "/./", "\\")):
        from pathlib import Path

        folder = str(Path(folder))
    try:
        names = {name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name))}  # noqa: PTH113, PTH118, PTH208
    except OSError as problem:
        raise InputError(f"cannot be read ({problem.strerror})", folder) from None
    found = sorted(name for name in names if not not_data(name) and not _repaired(name, names))
    if not found:
        raise InputError("this folder holds no runs", folder)
    beside = "" if folder == "." else folder if folder.endswith("/") else f"{folder}{os.sep}"
    return [beside + name for name in found]


METADATA = ("ir_metadata.yml", "ir_metadata.yaml", "ir-metadata.yml", "ir-metadata.yaml")
"""Files that describe the runs they stand beside."""


def not_data(name: str) -> bool:
    """Is a file of this name in a folder neither run nor judgments: hidden, or a description of runs?"""
    return name.startswith(".") or name in METADATA


def _repaired(name: str, beside: Collection[str]) -> bool:
    """Is it a copy that `check --fix` repaired, beside the file it was made from?"""
    whole = name.removesuffix(".fixed")
    return whole != name and (whole in beside or f"{whole}.gz" in beside)


class Unchanged:
    """Files that are read in several passes, or again later: a mixture of two states is refused."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, int, int] | None] = {}

    def reading(self, source: Any, read: Callable[[], T]) -> T:
        """What `read` finds, if the file is from first to last the one seen under this name before."""
        if not isinstance(source, (str, os.PathLike)):
            return read()  # an object in memory
        path = str(source)
        before = self._seen.setdefault(path, _state(path))
        try:
            found = read()
        except InputError:
            if _state(path) != before:
                raise _changed(path) from None
            raise
        if _state(path) != before:
            raise _changed(path)
        return found


def _changed(path: str) -> InputError:
    return InputError("this file changed while it was read; try again when it is complete", path)


def _state(path: str) -> tuple[int, int, int] | None:
    """What differs once a file is written to or replaced; None for what is no file."""
    try:
        found = os.stat(path)  # noqa: PTH116 - hundreds of runs are looked at
    except (OSError, ValueError):
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def read_once(path: str) -> bool:
    """Can this be read only once (stdin, a pipe, a device)?"""
    return path == STDIN or kind(path) in ("folder", "other")


class Passes:
    """The pieces of one input, for a first pass and for a second one where it is needed.

    A file is opened again. Of what can be read only once, the beginning is held: a short stream has a second pass,
    a long one goes by and leaves nothing behind.
    """

    def __init__(self, path: str) -> None:
        self._path, self._stream = path, read_once(path)
        self._pieces = chunks(path)
        self._held: list[bytes] = []
        self._passed = 0

    def first(self) -> Iterator[bytes | memoryview]:
        """From the beginning."""
        for piece in self._pieces:
            self._passed += len(piece)
            if self._stream and self._passed <= HELD:
                self._held.append(bytes(piece))
            elif self._held:
                self._held = []
            yield piece

    def second(self) -> Iterator[bytes | memoryview]:
        """From the beginning again, to be asked for once."""
        if not self._stream:
            return chunks(self._path)
        if self._passed > HELD:
            raise InputError(
                f"a topic stands in two places of this stream, whose first {HELD >> 20} MB have gone by: "
                "group it by topic, or give a file",
                source_name(self._path),
            )
        return itertools.chain(self._held, self._pieces)


def standard_input() -> Any:
    """The bytes of standard input; a sentence where the caller has closed it."""
    if sys.stdin is None:
        raise InputError("standard input is closed; name a file", source_name(STDIN))
    return sys.stdin.buffer


class PlainRest:
    """What follows in a plain file: read in pieces (iterate), or by a scanner that takes it from the file itself."""

    __slots__ = ("_buffer", "_file", "_left")

    def __init__(self, file: Any, buffer: bytearray, left: int = sys.maxsize) -> None:
        self._file, self._buffer, self._left = file, buffer, left

    def __iter__(self) -> Iterator[memoryview]:
        room = memoryview(self._buffer)
        while n := self._file.readinto(room[: self._left]):
            self._left -= n
            yield room[:n]

    def into(self, scanner: Any) -> None:
        """Feeds a scanner until it has had enough."""
        most = min(self._left, _STEP)
        while most and scanner.feed_from(self._file.fileno(), self._buffer, most) == most:
            self._left -= most
            most = min(self._left, _STEP)


def chunks(path: str, whole: bool = False) -> Iterator[bytes | memoryview]:
    """The content in pieces of a quarter megabyte, decompressed; memory does not grow with the file.

    A piece is only valid until the next one is asked for. `whole`: plain text in as few pieces as possible.
    """
    for piece in begun(path, whole):
        if isinstance(piece, PlainRest):
            yield from piece
        else:
            yield piece


def begun(path: str, whole: bool = False) -> Begun:
    """As `chunks`, but of a plain file the first piece, and then what follows it as one."""
    try:
        if path == STDIN:
            yield from _pieces(standard_input(), source_name(path), whole)
        else:
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - unbuffered
                yield from _pieces(file, path, whole)
    except FileNotFoundError:
        raise missing(path) from None
    except IsADirectoryError:
        raise InputError("this is a folder, a file is needed", path) from None
    except OSError as problem:
        raise InputError(f"cannot be read ({problem.strerror or problem})", path) from None


def beside(pieces: Iterator[bytes | memoryview]) -> Iterator[bytes]:
    """The same pieces, made by another thread while the ones before are used."""
    from queue import Queue
    from threading import Event, Thread

    made: Queue[bytes | BaseException | None] = Queue(8)
    stopped = Event()

    def make() -> None:
        try:
            for piece in pieces:
                made.put(bytes(piece))
                if stopped.is_set():
                    return
            made.put(None)
        except BaseException as problem:  # is raised where the pieces are used
            made.put(problem)

    maker = Thread(target=make, daemon=True)
    maker.start()
    try:
        while (piece := made.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        stopped.set()
        while maker.is_alive():  # it may wait for room
            while not made.empty():
                made.get()
            maker.join(0.01)


def halves(path: str, least: int) -> tuple[Begun, Begun] | None:
    """Both halves of a run, each as `begun`, cut where a topic begins; None for gz and for less than `least` bytes."""
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - unbuffered
        size = os.fstat(file.fileno()).st_size
        if size < least or file.read(2) == GZIP:
            return None
        file.seek(size // 2)
        cut = size // 2 + _next_topic(file)
    return (_part(path, 0, cut), _part(path, cut, size)) if size // 2 < cut < size else None


def _next_topic(file: Any) -> int:
    """After how many bytes a run's next topic begins; 0 where none does within four megabytes."""
    text, line, topic = b"", 0, b""
    while len(text) < 1 << 22 and (more := file.read(1 << 16)):
        text += more
        line = line or text.find(b"\n") + 1  # the first line may have begun before
        while line and (end := text.find(b"\n", line) + 1):
            fields = text[line:end].split(None, 1)
            topic = topic or b"".join(fields[:1])
            if fields and fields[0] != topic:
                return line
            line = end
    return 0


def _part(path: str, start: int, stop: int) -> Begun:
    """A plain file from one place to another, as `begun` gives it."""
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - unbuffered
        buffer = bytearray(_CHUNK)
        if start:
            file.seek(start)
        else:
            start = file.readinto(memoryview(buffer)[:stop])
            yield _checked(memoryview(buffer)[:start], path)
        yield PlainRest(file, buffer, stop - start)


def missing(path: str) -> InputError:
    """No such file; with the name in the same folder that may have been meant."""
    if "://" in path:
        return InputError("addresses are not read; download the file and name it", path)
    from pathlib import Path

    folder = Path(path).parent
    try:
        beside = [p.name for p in folder.iterdir() if not p.name.startswith(".")]
    except (OSError, ValueError):
        return InputError("no such file", path)
    whole = [name for name in beside if name.startswith(f"{Path(path).name}.")]  # an ending was forgotten
    return InputError(f"no such file{nearest(Path(path).name, whole or beside)}", path)


def lines(path: str, held: bytes | None = None) -> Iterator[tuple[int, bytes]]:
    """Every line with its number; `held` is the text where it was read before (standard input)."""
    rest, number = b"", 0
    for piece in chunks(path) if held is None else (held,):
        whole = (rest + piece).split(b"\n")
        rest = whole.pop()
        if len(rest) > LONGEST_LINE:
            raise endless(source_name(path), number + 1)
        yield from enumerate(whole, number + 1)
        number += len(whole)
    if rest:
        yield number + 1, rest


def endless(source: str, line: int) -> InputError:
    """A line that goes on and on: a binary file, or a few bytes that decompress to gigabytes."""
    return InputError(f"this is not text in lines: a line does not end (after {LONGEST_LINE >> 20} MB)", source, line)


def read_all(path: str, lines: bool = False) -> bytes:
    """The whole content, decompressed. `lines`: it must be text in lines."""
    pieces: list[bytes] = []
    length = size = 0
    for piece in map(bytes, chunks(path, whole=True)):
        pieces.append(piece)
        size += len(piece)
        if size > ALWAYS:
            refuse_too_much(path, size)
        if lines:
            last = piece.rfind(b"\n")
            length = len(piece) - last - 1 if last >= 0 else length + len(piece)
            if length > LONGEST_LINE:
                raise endless(source_name(path), sum(one.count(b"\n") for one in pieces) + 1)
    return b"".join(pieces)


def refuse_too_much(path: str, size: int) -> None:
    """A sentence where so many bytes are more than a file of this size should hold; a stream may hold any number."""
    state = _state(path)
    if state is not None and size > (most := max(MOST_TIMES * state[1], ALWAYS)):
        raise InputError(f"this file unpacks to over {most // 1_000_000:,} MB", path)


def is_gz(path: str) -> bool:
    """Does this file begin as gz does?"""
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - unbuffered
        return file.read(2) == GZIP


def larger_than(path: str, most: int) -> bool:
    """Is the content of a file, decompressed, larger than so many bytes? No more than these are decompressed."""
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - unbuffered
        head = file.read(_COMPRESSED_CHUNK)
        if head[:2] != GZIP:
            return os.fstat(file.fileno()).st_size > most
        size = 0
        return any((size := size + len(piece)) > most for piece in inflate(head, file, path))


def _pieces(file: Any, source: str, whole: bool) -> Begun:
    head: bytes | memoryview
    room = None
    if whole:  # in one piece, which nobody copies
        start = file.read(2)
        back = start != GZIP and file.seekable()
        if back:
            file.seek(-len(start), os.SEEK_CUR)
        head = file.read() if back else start + (file.read(_COMPRESSED_CHUNK) or b"")
    else:
        room = _room()
        head = memoryview(room)[: file.readinto(room) or 0]
    if not head:
        raise InputError("this file is empty", source)
    if head[:2] == GZIP:
        unpacked = inflate(bytes(head), file, source)
        head = next(unpacked, b"")
        if not head:
            raise InputError("this file is empty", source)
        yield _checked(head, source)
        yield from unpacked
    else:
        yield _checked(head, source)
        yield PlainRest(file, room or bytearray(_CHUNK))
    if room:  # nobody looks at it any more
        _buffers.append(room)


def _room() -> bytearray:
    try:
        buffer = _buffers.pop()
    except IndexError:  # every one of them is in use
        return bytearray(_CHUNK)
    return buffer if len(buffer) == _CHUNK else bytearray(_CHUNK)


def _decompressor() -> Any:
    try:
        from isal import isal_zlib
    except ImportError:
        import zlib

        return zlib.decompressobj(31)
    return isal_zlib.decompressobj(31)


def inflate(head: bytes, file: Any, source: str, size: int = _CHUNK) -> Iterator[bytes]:
    """Decompress one or several concatenated gz members, in pieces of at most `size` bytes."""
    data, member = head, _decompressor()
    while True:
        try:
            text = member.decompress(data, size)
        except MemoryError:
            raise
        except Exception as problem:  # zlib.error, isal's own
            if "Error -4 " in str(problem):  # zlib's name for it
                raise MemoryError from None
            raise InputError(f"this gz file is damaged ({problem})", source) from None
        if text:
            yield text
        if member.eof:
            data = member.unused_data
            while len(data) < 2 or not data.strip(b"\0"):  # zeros may pad a member
                more = file.read(_COMPRESSED_CHUNK)
                if not more:
                    break
                data = data.lstrip(b"\0") + more
            data = data.lstrip(b"\0")
            if not data:
                return
            if data[:2] != GZIP:
                raise InputError("this gz file is followed by bytes that are not gz", source)
            member = _decompressor()
        else:
            data = member.unconsumed_tail or file.read(_COMPRESSED_CHUNK) or b""
            if not data and not text:
                raise InputError("this gz file is cut off: its end is missing", source)


def _checked(head: bytes | memoryview, source: str) -> bytes | memoryview:
    """The first piece without a byte-order mark; refuses what cannot be TREC text."""
    sample = bytes(head[:65536])
    if sample[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError("this file is UTF-16 text; save it as UTF-8", source, 1)
    if b"\0" in sample[:4096]:
        raise InputError("this looks like a binary file, not text", source)
    if b"\r" in sample and b"\n" not in sample:
        raise InputError("lines end with a bare carriage return (old Mac text); convert them to newlines", source, 1)
    return head[3:] if sample[:3] == b"\xef\xbb\xbf" else head
