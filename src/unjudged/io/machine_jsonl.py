"""JSON lines of machine labels: topic, document, grade, and who gave it how.

    {"topic": "301", "document": "FT921-1", "grade": 2, "judge": "gpt-4o", "prompt_version": "v3", "confidence": 0.8}

Keys may have the other names of JSON lines (`jsonl`). A file holds one judge with one prompt; the grade may be a
decimal, text, or an object ({"O": 2}).
"""

from __future__ import annotations

from unjudged.io import files
from unjudged.io.columns import GRADES
from unjudged.io.jsonl import rows_of
from unjudged.io.machine_grades import MachineJudged
from unjudged.io.trec import QrelsTable, Reading

JUDGE = ("judge", "model", "judge_id", "annotator")
PROMPT = ("prompt_version", "prompt", "prompt_id")
CONFIDENCE = ("confidence", "probability")
MARKS = (*JUDGE, *PROMPT, *CONFIDENCE)
"""Keys that tell such a file from ordinary JSON lines."""


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns."""
    rows = MachineJudged(files.source_name(path), reading)
    for number, found, at in rows_of(path, GRADES, rows):
        told = [str(found[key]) for keys in (JUDGE, PROMPT) for key in keys if key in found]
        rows.one_judge(", prompt ".join(told), number)
        iteration = found.get(at["iteration"]) if "iteration" in at else None
        rows.add(found[at["topic"]], found[at["document"]], found[at["grade"]], iteration, number)
    return rows.table()
