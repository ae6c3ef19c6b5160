"""Writing a simulated collection: TREC text built as byte matrices, the same bytes for the same seed."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unjudged.errors import InputError, UsageError
from unjudged.simulation.model import MICRO, Topic
from unjudged.simulation.runs import Runs

Bytes = NDArray[np.uint8]
RUNS, QRELS, TRUTH, ABOUT = "runs", "qrels.txt", "truth.txt", "simulation.json"
TABLES = ("teams.tsv", "pooled.tsv", "families.tsv")


def topic_name(t: int) -> str:
    """The id of topic t: 101, 102, ..."""
    return str(101 + t)


class Ids:
    """Texts of document ids: all of one length, so that byte order is number order."""

    def __init__(self, collection: int) -> None:
        self.digits: int = max(6, len(str(collection - 1)))

    def __call__(self, number: int) -> str:
        return f"D{number:0{self.digits}d}"

    def texts(self, numbers: NDArray[Any]) -> Bytes:
        """One row of characters per document number."""
        out = np.empty((len(numbers), self.digits + 1), dtype=np.uint8)
        out[:, 0] = ord("D")
        _digits(out[:, 1:], np.asarray(numbers, dtype=np.int64))
        return out


def write_runs(folder: Path, runs: Runs, topics: Sequence[Topic], ids: Ids) -> None:
    """One file per run: `topic Q0 document rank score run`."""
    folder.mkdir()
    longest = topics[0].lists.shape[1]
    ranks = _texts(str(rank) for rank in range(1, longest + 1))
    documents = [ids.texts(t.document) for t in topics]
    for r, name in enumerate(runs.names):
        with (folder / name).open("wb") as file:
            for t, topic in enumerate(topics):
                n = int(topic.lengths[r])
                if n:
                    file.write(
                        _lines(
                            n,
                            f"{topic_name(t)} Q0 ",
                            documents[t][topic.lists[r, :n]],
                            " ",
                            ranks[:n],
                            " ",
                            *_decimals(topic.scores[r, :n]),
                            f" {name}\n",
                        )
                    )


def write_qrels(path: Path, topics: Sequence[Topic], ids: Ids) -> None:
    """The judgments: `topic 0 document grade`, by topic and document."""
    with path.open("wb") as file:
        for t, topic in enumerate(topics):
            file.write(_judgments(t, topic.document[topic.judged], topic.judgment, ids))


def write_truth(path: Path, topics: Sequence[Topic], ids: Ids) -> None:
    """The true grade of every relevant and every retrieved document, by topic and document."""
    with path.open("wb") as file:
        for t, topic in enumerate(topics):
            known = np.flatnonzero(topic.retrieved | (topic.grade > 0))
            known = known[np.argsort(topic.document[known])]
            file.write(_judgments(t, topic.document[known], topic.grade[known], ids))


def write_tables(folder: Path, runs: Runs) -> None:
    """`teams.tsv` (run, team), `pooled.tsv` (run, pooled) and `families.tsv` (team, family)."""
    team_of = [runs.team_names[j] for j in runs.team]
    _tsv(folder / "teams.tsv", ("run", "team"), zip(runs.names, team_of, strict=True))
    yes_no = ["yes" if pooled else "no" for pooled in runs.pooled]
    _tsv(folder / "pooled.tsv", ("run", "pooled"), zip(runs.names, yes_no, strict=True))
    family_of = [runs.family_names[h] for h in runs.family]
    _tsv(folder / "families.tsv", ("team", "family"), zip(runs.team_names, family_of, strict=True))


def write_about(folder: Path, about: Mapping[str, Any]) -> None:
    """`simulation.json`: parameters, seed, what was drawn, and the summary."""
    text = json.dumps(about, indent=1, allow_nan=False)
    (folder / ABOUT).write_text(text + "\n", encoding="utf-8", newline="\n")


@contextmanager
def new_folder(out: Path, force: bool) -> Iterator[Path]:
    """A temporary folder beside `out` that becomes `out` when all went well, and vanishes when not.

    Refuses a folder that holds anything but an earlier simulation, unless `force`; then files of the same
    names are replaced and all others stay.
    """
    out = out.absolute()
    check_folder(out, force)
    work = out.parent / f".{out.name}.{os.getpid()}.tmp"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        work.mkdir()
    except OSError as error:
        raise InputError(f"cannot write beside {out}: {error.strerror or error}.") from None
    try:
        yield work
        _install(work, out)
    except OSError as error:
        raise InputError(f"cannot write {error.filename or out}: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def check_folder(out: Path, force: bool) -> None:
    """Refuse, in one sentence, a place where nothing should be written."""
    if not out.exists():
        return
    if not out.is_dir():
        raise UsageError(f"{out} is a file; name a folder to write the collection to.")
    if force:
        return
    known = {RUNS, QRELS, TRUTH, ABOUT, *TABLES}
    present = {path.name for path in out.iterdir()}
    strange = present - known
    if present and ABOUT not in present:
        strange = strange or present
    elif (out / RUNS).is_dir():
        strange |= {f"{RUNS}/{name}" for name in {path.name for path in (out / RUNS).iterdir()} - _earlier_runs(out)}
    if strange:
        raise UsageError(
            f"{out} holds '{min(strange)}', which is not from an earlier simulation; "
            "name another folder, or use --force to replace files of the same names."
        )


def _earlier_runs(out: Path) -> set[str]:
    """Names of the runs an earlier simulation wrote."""
    try:
        about = json.loads((out / ABOUT).read_text(encoding="utf-8"))
        return {str(run["run"]) for run in about["runs"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _install(work: Path, out: Path) -> None:
    """Move finished files into place; `simulation.json`, the sign of a whole collection, last."""
    if not out.exists():
        work.rename(out)
        return
    for name in _earlier_runs(out):
        if Path(name).name == name:
            (out / RUNS / name).unlink(missing_ok=True)
    (out / ABOUT).unlink(missing_ok=True)
    (out / RUNS).mkdir(exist_ok=True)
    for path in sorted((work / RUNS).iterdir()):
        path.replace(out / RUNS / path.name)
    for name in (QRELS, TRUTH, *TABLES, ABOUT):
        (work / name).replace(out / name)


def _judgments(t: int, documents: NDArray[np.int32], grades: NDArray[np.int8], ids: Ids) -> bytes:
    if not len(documents):
        return b""
    low = int(grades.min())
    texts = _texts(str(g) for g in range(low, int(grades.max()) + 1))
    return _lines(
        len(documents), f"{topic_name(t)} 0 ", ids.texts(documents), " ", texts[grades.astype(np.int64) - low], "\n"
    )


def _lines(n: int, *columns: str | Bytes) -> bytes:
    """n lines from columns: a text is repeated, a matrix holds one row per line; zero bytes are left out."""
    parts = [np.frombuffer(c.encode(), dtype=np.uint8) if isinstance(c, str) else c for c in columns]
    out = np.empty((n, sum(part.shape[-1] for part in parts)), dtype=np.uint8)
    at = 0
    for part in parts:
        out[:, at : at + part.shape[-1]] = part
        at += part.shape[-1]
    flat = out.reshape(-1)
    return bytes(flat[flat != 0])


def _decimals(micro: NDArray[np.int64]) -> tuple[Bytes, Bytes]:
    """Millionths as text with six decimals: sign and whole part, then point and decimals."""
    whole, rest = np.divmod(np.abs(micro), MICRO)
    signed = np.where(micro < 0, -whole - 1, whole)  # -1 stands for -0, -2 for -1, ...
    low, high = int(signed.min()), int(signed.max())
    texts = _texts(str(v) if v >= 0 else f"-{-v - 1}" for v in range(low, high + 1))
    decimals = np.empty((len(micro), 7), dtype=np.uint8)
    decimals[:, 0] = ord(".")
    _digits(decimals[:, 1:], rest)
    return texts[signed - low], decimals


def _digits(out: Bytes, numbers: NDArray[np.int64]) -> None:
    """Write numbers into the columns of `out`, with leading zeros."""
    for column in range(out.shape[1] - 1, -1, -1):
        rest = numbers // 10
        out[:, column] = numbers - rest * 10 + ord("0")
        numbers = rest


def _texts(words: Iterable[str]) -> Bytes:
    """Words as rows of bytes, filled up with zero bytes."""
    column = np.array([word.encode() for word in words])
    return column.view(np.uint8).reshape(len(column), -1)


def _tsv(path: Path, header: tuple[str, str], rows: Iterable[tuple[str, str]]) -> None:
    lines = ["\t".join(row) for row in (header, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
