"""NTCIREVAL's files: `doc L2` judgments and plain ranked lists, a file per topic.

Judgments are a folder with a file per topic (`0001.rel`, `0001`), one such file, NTCIREVAL's own layout
(`0001/0001.rel`), or NTCIR's single file `topic doc L2`. L0 is judged nonrelevant; what is not listed is unjudged.
A run is a folder, named after the run, with a file per topic (`0001.res`, `0001`), best document first;
a label behind the document, as `label` writes it, is passed over. NTCIREVAL's own layout (`0001/0001.RUN.res`)
holds several runs, all of which are read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.columns import Judged, Retrieved, lines
from unjudged.io.formats import peek
from unjudged.io.ids import Ids
from unjudged.io.trec import QrelsTable, Reading, RunTable

_LEVEL = re.compile(r"L(\d{1,9})", re.ASCII)
_ALL_TOPICS = "/*/*."


def _inside(folder: Path) -> tuple[list[Path], list[Path]]:
    """Files and folders in a folder, by name; hidden ones and descriptions of runs left out."""
    try:
        found = sorted(p for p in folder.iterdir() if not files.not_data(p.name))
    except OSError as problem:
        raise InputError(f"cannot be read ({problem.strerror})", str(folder)) from None
    return [p for p in found if p.is_file()], [p for p in found if p.is_dir()]


def _topic_of(path: Path, *suffixes: str) -> str:
    name = files.file_name(path)
    return next((name.removesuffix(s) for s in suffixes if name.endswith(s) and name != s), name)


def _is_list(path: Path) -> bool:
    """A ranked list has one field a line, or a document and its label."""
    fields = peek(str(path)).fields
    return len(fields) == 1 or (len(fields) == 2 and bool(_LEVEL.fullmatch(fields[1].decode("latin-1"))))


def _is_run_folder(folder: Path) -> bool:
    inside, _ = _inside(folder)
    first = next((p for p in inside if p.stat().st_size), None)
    return first is not None and not files.file_name(first).endswith((".rel", ".json", ".jsonl")) and _is_list(first)


def is_run(path: str) -> bool:
    """Does this path, which is no file, stand for a run of NTCIREVAL?"""
    return bool(run_in_topics(path)) or (Path(path).is_dir() and _is_run_folder(Path(path)))


def run_in_topics(path: str) -> str:
    """The run that `FOLDER/*/*.RUN.res` stands for, or nothing."""
    folder, _, name = path.rpartition(_ALL_TOPICS)
    found = folder and name.endswith(".res") and "*" not in name and "/" not in name and Path(folder).is_dir()
    return name.removesuffix(".res") if found else ""


def runs_in(folder: Path) -> list[tuple[str, str]]:
    """(name, path) of the runs in a folder: itself, its folders, or the runs in its topic folders."""
    inside, folders = _inside(folder)
    if inside:
        return [(folder.resolve().name, str(folder))] if _is_run_folder(folder) else []
    named: dict[str, None] = {}
    for topic in folders:
        for path in _inside(topic)[0]:
            name = files.file_name(path)
            if name.startswith(f"{topic.name}.") and name.endswith(".res"):
                named.setdefault(name.removeprefix(f"{topic.name}.").removesuffix(".res"))
    if named:
        return [(run, f"{folder}{_ALL_TOPICS}{run}.res") for run in sorted(named) if run]
    return [(p.name, str(p)) for p in folders if _is_run_folder(p)]


def is_qrels(path: str) -> bool:
    """Does this folder hold judgments of NTCIREVAL?"""
    rels = _rel_files(path)
    fields = peek(str(rels[0][1])).fields if rels else []
    return len(fields) in (2, 3) and bool(_LEVEL.fullmatch(fields[-1].decode("latin-1")))


def _rel_files(path: str) -> list[tuple[str, Path]]:
    """(topic, rel file) in the order of the names."""
    inside, folders = _inside(Path(path))
    if inside:
        return [(_topic_of(p, ".rel"), p) for p in inside]
    return [(topic.name, p) for topic in folders for p in _inside(topic)[0] if files.file_name(p).endswith(".rel")]


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns: a folder of rel files, one rel file, or one file of `topic doc L2`."""
    if path != files.STDIN and Path(path).is_dir():
        rels = _rel_files(path)
    else:
        rels = [(_topic_of(Path(path), ".rel"), Path(path))]
    together = Judged(files.source_name(path), reading)
    for topic, file in rels:
        together.source = files.source_name(path if len(rels) == 1 and not Path(path).is_dir() else str(file))
        for number, line in lines(str(file)):
            if line.startswith("#"):
                continue
            fields = line.split()
            level = _LEVEL.fullmatch(fields[-1])
            if len(fields) not in (2, 3) or level is None:
                together.refuse(
                    f"a judgment of NTCIREVAL is `doc L2` or `topic doc L2`, found {line.strip()[:60]!r}", number
                )
                continue
            together.add(topic if len(fields) == 2 else fields[0], fields[-2], int(level[1]), "0", number)
    together.source = files.source_name(path)
    if len(rels) > 1:
        together.unit = "judgment"  # line numbers of several files mean nothing
    return together.table()


def _res_files(path: str) -> list[tuple[str, Path]]:
    if run := run_in_topics(path):
        found = []
        for topic in _inside(Path(path.rpartition(_ALL_TOPICS)[0]))[1]:
            names = (f"{topic.name}.{run}.res", f"{topic.name}.{run}.res.gz")
            found += [(topic.name, topic / name) for name in names if (topic / name).is_file()]
        return found
    run = Path(path).resolve().name
    return [(_topic_of(p, f".{run}.res", ".res", ".lab"), p) for p in _inside(Path(path))[0]]


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """A run's judged hits, in the order of the files; an empty file is a topic without documents."""
    rows = Retrieved(path, reading, ranks=True)
    for topic, file in _res_files(path):
        if not file.stat().st_size:
            continue
        rows.source, rank = str(file), 0
        for number, line in lines(str(file)):
            fields = line.split()
            if len(fields) == 1 or (len(fields) == 2 and _LEVEL.fullmatch(fields[1])):
                rank += 1
                rows.add(topic, fields[0], rank, number)
            else:
                rows.refuse(f"a ranked list of NTCIREVAL has one document a line, found {line.strip()[:60]!r}", number)
    rows.source = path
    return rows.table(name, index, topics, keep_docs)
