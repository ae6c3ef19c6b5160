"""Which format a file is in, and which module reads it: one table, by content first, by extension where that fails.

What nothing here recognises is TREC text, with its ordinary messages. A reader's module is imported when its
format is met, so TREC text costs one look at the beginning of the file and imports nothing.
"""

from __future__ import annotations

import importlib
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unjudged.errors import InputError, UsageError, nearest
from unjudged.io import files, several_judges, trec
from unjudged.io.columns import GRADES, RANKED, has_columns, whole_number
from unjudged.io.ids import Ids, to_text
from unjudged.io.trec import QrelsTable, Reading, RunTable

_HEAD = 1 << 14
_LEVEL = re.compile(rb"L\d+")
_DECIMAL = re.compile(rb"[+-]?\d*\.\d+|[+-]?\d+\.")
_OBJECT = re.compile(rb'\s*\{\s*["}]')
DATASET = "irds:"
WITH_QA = "read both with --qa (qa=True in load)"
SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet", ".parq")
"""Endings of file names that say which format is meant, where looking is not enough."""


class Head(NamedTuple):
    """The beginning of a file, decompressed, and its first line with something on it."""

    suffix: str
    start: bytes
    line: bytes
    whole_line: bool

    @property
    def fields(self) -> list[bytes]:
        """The first line between blanks and tabs."""
        return self.line.split()

    @property
    def columns(self) -> list[str]:
        """The first line between tabs."""
        return to_text(self.line.rstrip(b"\r")).split("\t")


def _first_object(head: Head) -> dict[str, Any] | None:
    """The object that the first line holds, where it is one."""
    if not (_OBJECT.match(head.start) and head.whole_line):
        return None
    import json

    try:
        first = json.loads(to_text(head.line))
    except (ValueError, RecursionError):
        return None
    return first if isinstance(first, dict) else None


def _json_lines(head: Head) -> bool:
    if head.suffix in (".jsonl", ".ndjson"):
        return len(head.fields) < 4 or bool(_OBJECT.match(head.start))
    first = _first_object(head)
    if first is None or has_columns(first, {"topic": GRADES["topic"]}):
        return first is not None
    return any(not isinstance(value, (dict, list)) for value in first.values())  # {topic: hits} is one object


def _json(head: Head) -> bool:
    return bool(_OBJECT.match(head.start)) or (head.suffix == ".json" and len(head.fields) < 4)


_RANK_EVAL = re.compile(
    rb'\s*\{\s*"(rank_eval|max_concurrent_searches|requests|templates|metric|metric_score|details|quality_level|failures)"'
)


def _rank_eval_request(head: Head) -> bool:
    return bool(_RANK_EVAL.match(head.start)) and b'"requests"' in head.start and b'"ratings"' in head.start


def _rank_eval_response(head: Head) -> bool:
    return bool(_RANK_EVAL.match(head.start)) and b'"details"' in head.start and b'"hits"' in head.start


_TASKS = re.compile(rb"\s*\[\s*\{")
_LABELS = re.compile(rb'"labels?"\s*:\s*\[')


def _annotations(head: Head) -> bool:
    """Exports of doccano (objects with a list of labels) and Label Studio (a list of tasks)."""
    if _TASKS.match(head.start):
        return b'"data"' in head.start
    return bool(_OBJECT.match(head.start)) and b'"document"' in head.line and bool(_LABELS.search(head.line))


def _machine_json_lines(head: Head) -> bool:
    """JSON lines that say who gave the grade, or hold it in an object."""
    first = _first_object(head)
    if first is None or not has_columns(first, GRADES):
        return False
    from unjudged.io.machine_jsonl import MARKS

    return any(key in first for key in MARKS) or any(
        isinstance(value, dict) for key, value in first.items() if key.casefold() in GRADES["grade"]
    )


def _machine_trec(head: Head) -> bool:
    """TREC judgments whose first grade is a decimal or an object."""
    fields = head.line.split(None, 3)
    if len(fields) < 4 or (len(fields[3].split()) > 1 and not fields[3].startswith(b"{")):
        return False
    return fields[3].startswith(b"{") or bool(_DECIMAL.fullmatch(fields[3].strip()))


_QUEPID = re.compile(rb'"query_doc_pairs"\s*:\s*\[|"queries"\s*:\s*\[\s*\{.*"ratings"\s*:', re.DOTALL)


def _quepid(head: Head) -> bool:
    if _OBJECT.match(head.start):
        return bool(_QUEPID.search(head.start))
    if b"docid" not in head.line.lower().replace(b"_", b"") or b"," not in head.line:
        return False
    from unjudged.io.quepid import is_header

    return is_header(to_text(head.line).rstrip("\r").split(","))


def _opensearch(head: Head) -> bool:
    return bool(_OBJECT.match(head.start)) and b'"judgmentRatings"' in head.start


def _nuggets(head: Head) -> bool:
    return bool(_OBJECT.match(head.start)) and re.search(rb'"nuggets"\s*:\s*\[', head.line) is not None


def _parquet(head: Head) -> bool:
    return head.start.startswith(b"PAR1") or head.suffix in (".parquet", ".parq")


def _beir_judgments(head: Head) -> bool:
    """Columns with names, or `topic<TAB>document<TAB>grade` without: a list that came back from assessors.

    Ranks stand in the third column of some runs; grades repeat within a topic, ranks do not.
    """
    if has_columns(head.columns, GRADES):
        return True
    if not _three_columns(head.line):
        return False
    lines = [line for line in head.start.splitlines()[:-1] if line.strip() and not line.startswith(b"#")]
    if not all(map(_three_columns, lines)):
        return False
    first = [line.rstrip().split(b"\t") for line in lines if line.startswith(head.line.split(b"\t")[0] + b"\t")]
    return len({line[2] for line in first}) < len(first)


def _three_columns(line: bytes) -> bool:
    columns = line.rstrip().split(b"\t")
    return len(columns) == len(line.split()) == 3 and columns[2].isdigit()


def _msmarco_run(head: Head) -> bool:
    return _three_columns(head.line)


def _ntcireval_qrels(head: Head) -> bool:
    return len(head.fields) in (2, 3) and bool(_LEVEL.fullmatch(head.fields[-1]))


def looks_like_classes(columns: Sequence[str]) -> bool:
    """Are these the tab-separated fields of a line of answer classes (question, class, level, answer), not TREC's?"""
    if columns[0].casefold() == "question":
        return True
    level, answer = (whole_number(c.strip()) for c in columns[2:]) if len(columns) == 4 else ("", 0)
    return not isinstance(answer, int) and (isinstance(level, int) or level.upper() in ("S", "A", "B"))


def looks_like_answers(columns: Sequence[str]) -> bool:
    """Are these the tab-separated fields of a line of a run of answers (question, rank, answer)?"""
    if columns[0].casefold() == "question":
        return True
    return len(columns) == 3 and isinstance(whole_number(columns[1].strip()), int)


class Format(NamedTuple):
    """A format's module in `unjudged.io`, and how judgments and runs in it are recognised (None: not by looking)."""

    module: str
    qrels: Callable[[Head], bool] | None = None
    run: Callable[[Head], bool] | None = None


FORMATS: dict[str, Format] = {
    "parquet": Format("parquet", _parquet, _parquet),
    "rank_eval": Format("rank_eval", _rank_eval_request, _rank_eval_response),
    "opensearch": Format("opensearch", _opensearch),
    "quepid": Format("quepid", _quepid),
    "nuggets": Format("nuggets", _nuggets),
    "annotations": Format("annotations", _annotations),
    "machine_jsonl": Format("machine_jsonl", _machine_json_lines),
    "jsonl": Format("jsonl", _json_lines, _json_lines),
    "json": Format("json_", _json, _json),
    "beir": Format("beir", _beir_judgments, lambda h: has_columns(h.columns, RANKED)),
    "ntcireval": Format("ntcireval", _ntcireval_qrels),
    "machine_trec": Format("machine_trec", _machine_trec),
    "msmarco": Format("msmarco", None, _msmarco_run),
    "sampleval": Format("sampleval"),
    "qrels_jg": Format("judgment_groups"),
    "diversity": Format("diversity"),
    "intents": Format("intents"),
    "ir_datasets": Format("datasets"),
    "trec": Format("trec"),
}
"""Looked up in this order; the first that recognises the file reads it."""

QRELS_FORMATS = tuple(name for name in FORMATS if name not in ("msmarco", "ir_datasets"))
"""What may be asked for by name, where looking is not enough (`--qrels-format`)."""


def peek(path: str) -> Head:
    """The beginning of a regular file or of standard input, without using it up; empty for anything else."""
    try:
        if path == files.STDIN:
            look = getattr(files.standard_input(), "peek", None)
            start = _unpacked(bytes(look(_HEAD)) if look else b"", io.BytesIO(), path)
        elif files.kind(path) == "file":
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - unbuffered
                start = _unpacked(file.read(_HEAD), file, path)
        else:
            start = b""  # a pipe can be read only once
    except (OSError, ValueError, InputError):
        start = b""  # the reader will say what is wrong
    start = start.removeprefix(b"\xef\xbb\xbf")
    pieces = start.split(b"\n")
    place = next((i for i, p in enumerate(pieces) if p.strip() and not p.startswith(b"#")), len(pieces) - 1)
    whole = place < len(pieces) - 1 or len(start) < _HEAD
    return Head(Path(path.removesuffix(".gz")).suffix.lower(), start, pieces[place], whole)


def _unpacked(start: bytes, file: Any, path: str) -> bytes:
    return next(files.inflate(start, file, path, _HEAD), b"") if start[:2] == files.GZIP else start


def qrels_format(path: str) -> str:
    """The name of the format of these judgments; `trec` where no other is recognised."""
    path, _ = files.chosen_judge(path)
    if path.startswith(DATASET):
        return "ir_datasets"
    if path != files.STDIN:
        if Path(path).is_dir():
            from unjudged.io.beir import judgments_in
            from unjudged.io.ntcireval import is_qrels

            if judgments_in(path) is not None:
                return "beir"
            return "ntcireval" if is_qrels(path) else "trec"
        if not Path(path).exists():
            from unjudged.io.datasets import is_known

            return "ir_datasets" if is_known(path) else "trec"
    head = peek(path)
    return next((name for name, f in FORMATS.items() if f.qrels and head.line and f.qrels(head)), "trec")


def run_format(path: str) -> str:
    """The name of the format of this run; `trec` where no other is recognised."""
    if path.startswith(DATASET):
        return "ir_datasets"
    if path != files.STDIN and files.kind(path) != "file":
        from unjudged.io.ntcireval import is_run

        return "ntcireval" if is_run(path) else "trec"
    head = peek(path)
    return next((name for name, f in FORMATS.items() if f.run and head.line and f.run(head)), "trec")


def _module(name: str) -> Any:
    return trec if name == "trec" else importlib.import_module(f"unjudged.io.{FORMATS[name].module}")


def read_qrels(path: str, reading: Reading, format: str | None = None) -> QrelsTable:
    """Judgments in any format: a file, a folder of NTCIREVAL rel files, `-`, or an ir_datasets id.

    `format` names one of QRELS_FORMATS instead of looking at the content; only so can NIST's sampled
    judgments (`sampleval`) be told from TREC text with a field too many.
    """
    if format is not None and format not in QRELS_FORMATS:
        known = ", ".join(QRELS_FORMATS)
        raise UsageError(f"unknown format {format!r} for judgments{nearest(format, QRELS_FORMATS)}; there are {known}")
    file, judge = files.chosen_judge(path)
    kind = format or qrels_format(path)
    if judge and kind not in several_judges.FORMATS:
        said = "which only JSON lines with a judge and Quepid's books hold"
        raise InputError(f"#{judge} names one judge of several, {said}", file)
    try:
        if judge:
            held: QrelsTable = several_judges.module(kind).read_qrels(file, reading, judge)
            return held._replace(source=path)
        table: QrelsTable = _module(kind).read_qrels(path, reading)
    except InputError as problem:
        if kind == "trec" and looks_like_classes(peek(path).columns):
            said = f"these look like answer classes of question answering; {WITH_QA}"
            raise InputError(said, problem.source, problem.line) from None
        if kind == "trec" and _three_columns(peek(path).line):
            said = "a judgment line needs 4 fields (topic iteration doc grade), found 3; is this a run, or topic, "
            said += "document and grade (--qrels-format beir)?"
            raise InputError(said, problem.source, problem.line) from None
        raise
    return table


def every_judge(path: str, format: str | None = None) -> list[str]:
    """`FILE#JUDGE` for each judge of a file that holds several; of any other file (a judge in one, a stream) itself."""
    if path == files.STDIN or files.kind(path) != "file":
        return [path]
    kind = format or qrels_format(path)
    names = several_judges.module(kind).judges_in(path) if kind in several_judges.FORMATS else []
    return [f"{path}#{name}" for name in names] if len(names) > 1 and all(names) else [path]


def read_run(
    path: str, index: Any, topics: Ids, reading: Reading, name: str | None = None, keep_docs: bool = False
) -> RunTable:
    """A run in any format, as `trec.read_run` reads TREC text."""
    kind = run_format(path)
    try:
        table: RunTable = _module(kind).read_run(path, index, topics, reading, name, keep_docs)
    except InputError as problem:
        if kind == "trec" and looks_like_answers(peek(path).columns):
            said = f"this looks like a run of answers (question, rank, answer); {WITH_QA}"
            raise InputError(said, problem.source, problem.line) from None
        raise
    return table


def runs(spec: str) -> list[tuple[str, str]]:
    """(name, path) of each run a RUN argument stands for: a file, folder or glob, `-`, or `irds:ID`."""
    if spec.startswith(DATASET):
        return [(spec.removeprefix(DATASET), spec)]
    if files.kind(spec) == "folder":
        from unjudged.io.ntcireval import runs_in

        if found := runs_in(Path(spec)):
            return found
    elif "*" in spec:
        from unjudged.io.ntcireval import run_in_topics

        if run := run_in_topics(spec):
            return [(run, spec)]
    return [(files.run_name(path), path) for path in files.expand(spec)]
