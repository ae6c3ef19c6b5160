"""Reading the lines of TREC files one by one, whatever they hold, and writing repaired copies (`check --fix`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unjudged.io import files
from unjudged.io.check.findings import quoted, shown
from unjudged.io.ids import to_text
from unjudged.io.trec import LARGEST_GRADE


def score_of(text: bytes) -> float | None:
    """A score as the reader takes it: a decimal number or inf; None for anything else, NaN included."""
    try:
        score = float(text)
    except ValueError:
        return None
    return None if score != score or b"_" in text else score


def grade_of(text: bytes) -> int | None:
    """A grade as the reader takes it: a whole number of reasonable size."""
    try:
        grade = int(text)
    except ValueError:
        return None
    return None if b"_" in text or abs(grade) > LARGEST_GRADE else grade


def ranked(docs: Sequence[bytes], scores: Sequence[float]) -> list[int]:
    """Places of the documents in the reader's order: score descending, then id descending; repeats left out."""
    order = list(range(len(docs)))
    if len(set(scores)) < len(scores):
        order.sort(key=docs.__getitem__, reverse=True)
    order.sort(key=scores.__getitem__, reverse=True)
    if len(set(docs)) == len(docs):
        return order
    worse = set(repeated([docs[i] for i in order]))
    return [i for rank, i in enumerate(order) if rank not in worse]


def repeated(docs: Iterable[bytes]) -> list[int]:
    """Places of documents that were there before."""
    seen: set[bytes] = set()
    places = []
    for i, doc in enumerate(docs):
        if doc in seen:
            places.append(i)
        seen.add(doc)
    return places


def unusable(line: bytes, what: str) -> str:
    """Why a line cannot be used."""
    fields = line.split()
    if b"\0" in line:
        return "it holds a NUL byte, the file looks binary"
    if len(fields) < (6 if what == "run" else 4):
        need = "6 fields (topic Q0 doc rank score tag)" if what == "run" else "4 fields (topic iteration doc grade)"
        hint = ", which looks like judgments" if what == "run" and len(fields) == 4 else ""
        return f"a {what} line needs {need}, found {len(fields)}{hint}: {quoted(line)}"
    if what == "run":
        return f"the score '{shown(fields[4], 30)}' is not a decimal number"
    return f"the grade '{shown(fields[3], 30)}' is not a whole number"


def not_utf8(raw: Iterable[bytes]) -> list[bytes]:
    """Those ids that are not UTF-8."""
    return [r for r in raw if not r.isascii() and any("\udc80" <= c <= "\udcff" for c in to_text(r))]


def repair_run(path: str) -> bytes:
    """A run by the book: usable lines, documents once, topics together, in the reader's order, ranks from 1.

    Scores and tags stay as written, comment lines go to the top. The copy scores as the original does when
    unusable lines are skipped.
    """
    comments: list[bytes] = []
    topics: dict[bytes, list[tuple[bytes, bytes, bytes]]] = {}
    for _, line in files.lines(path):
        fields = line.split(None, 6)
        if line[:1] == b"#":
            comments.append(line.rstrip())
        elif len(fields) >= 6 and score_of(fields[4]) is not None:
            topics.setdefault(fields[0], []).append((fields[2], fields[4], fields[5]))
    out = comments
    for topic, rows in topics.items():
        order = ranked([row[0] for row in rows], [float(row[1]) for row in rows])
        for rank, (doc, score, tag) in enumerate((rows[i] for i in order), 1):
            out.append(b"%b Q0 %b %d %b %b" % (topic, doc, rank, score, tag))
    return b"".join(line + b"\n" for line in out)


def repair_qrels(path: str) -> bytes:
    """Judgments by the book: usable lines, each judgment once, topics together; two grades for a document stay."""
    comments: list[bytes] = []
    topics: dict[bytes, dict[tuple[bytes, int], bytes]] = {}
    for _, line in files.lines(path):
        fields = line.split(None, 4)
        if line[:1] == b"#":
            comments.append(line.rstrip())
        elif len(fields) >= 4 and (grade := grade_of(fields[3])) is not None:
            topics.setdefault(fields[0], {}).setdefault((fields[2], grade), b" ".join(fields[:4]))
    return b"".join(line + b"\n" for line in (*comments, *(row for rows in topics.values() for row in rows.values())))
