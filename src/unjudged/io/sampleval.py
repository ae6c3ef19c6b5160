"""Sampled judgments as NIST's sample_eval reads them, for xinfAP: `topic 0 doc stratum grade`.

The stratum becomes the iteration of a judgment. Grade -1 marks a document that was pooled but not sampled. The
form is never guessed, since judgments in TREC text may carry a fifth field too: it has to be asked for by name.
"""

from __future__ import annotations

from unjudged.io import files
from unjudged.io.columns import Judged, lines, whole_number
from unjudged.io.trec import QrelsTable, Reading


def read_qrels(path: str, reading: Reading) -> QrelsTable:
    """Judgments as columns, the stratum as iteration."""
    rows = Judged(files.source_name(path), reading)
    for number, line in lines(path):
        if line.startswith("#"):
            continue
        fields = line.split(maxsplit=5)
        if len(fields) < 5:
            rows.refuse(
                f"a sampled judgment needs 5 fields (topic 0 doc stratum grade), found {len(fields)}: "
                f"{line.strip()[:60]!r}",
                number,
            )
            continue
        rows.add(fields[0], fields[2], whole_number(fields[4]), fields[3], number)
    return rows.table()
