"""TREC judgments with the grades of machines: `topic 0 doc 1.5` or `topic 0 doc {"O": 2}`.

LLMJudge's submissions have this form. Decimals are rounded, halves up, and counted in a note.
"""

from __future__ import annotations

from unjudged.io import files
from unjudged.io.columns import lines
from unjudged.io.machine_grades import MachineJudged
from unjudged.io.trec import QrelsTable, Reading


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns."""
    rows = MachineJudged(files.source_name(path), reading)
    for number, line in lines(path):
        if line.startswith("#"):
            continue
        fields = line.split(maxsplit=3)
        if len(fields) < 4:
            rows.refuse(f"a judgment needs 4 fields (topic 0 doc grade), found {len(fields)}", number)
            continue
        rows.add(fields[0], fields[2], fields[3].strip(), fields[1], number)
    return rows.table()
