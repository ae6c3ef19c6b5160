"""JSON lines of machine labels: topic, document, grade, and who gave it how.

    {"topic": "301", "document": "FT921-1", "grade": 2, "judge": "gpt-4o", "prompt_version": "v3", "confidence": 0.8}

Keys may have the other names of JSON lines (`jsonl`); the grade may be a decimal, text, or an object ({"O": 2}). A file
may hold several judges, or one judge with several prompts: each is called by what its lines say, `gpt-4o/v3`, and
`FILE#gpt-4o/v3` names one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.columns import GRADES, Rows
from unjudged.io.jsonl import rows_of
from unjudged.io.machine_grades import MachineJudged
from unjudged.io.several_judges import one_of
from unjudged.io.trec import QrelsTable, Reading

JUDGE = ("judge", "model", "judge_id", "annotator")
PROMPT = ("prompt_version", "prompt_id", "prompt")
CONFIDENCE = ("confidence", "probability")
MARKS = (*JUDGE, *PROMPT, *CONFIDENCE)
"""Keys that tell such a file from ordinary JSON lines."""
LONGEST_NAME = 40
"""A prompt of more characters is the prompt itself, no name for it; such prompts are numbered as they come."""


@dataclass
class Judges:
    """The judges of one file, by name, in the order in which they come."""

    prompts: dict[str, str] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    """The line on which a judge is first met."""

    def named(self, found: Mapping[str, Any], line: int) -> str:
        """Who gave the label on this line: judge and version of the prompt, as far as the line tells them."""
        told = [str(found[key]) for key in JUDGE if found.get(key) is not None]
        told += [self._prompt(str(found[key])) for key in PROMPT if found.get(key) is not None][:1]
        name = "/".join(" ".join(part.split()) for part in told)
        self.names.setdefault(name, line)
        return name

    def _prompt(self, text: str) -> str:
        if len(text) <= LONGEST_NAME:
            return text
        return self.prompts.setdefault(text, f"prompt{len(self.prompts) + 1}")


def judges_in(path: str) -> list[str]:
    """The judges of a file, in the order in which they come; one that is not named is ``.

    Lines that cannot be read are passed over: who reads the labels will name them.
    """
    return list(dict.fromkeys(name for _, name in _named(path)))


def lines_by(path: str, judge: str) -> Iterator[int]:
    """The numbers of the lines of one judge."""
    return (number for number, name in _named(path) if name == judge)


def _named(path: str) -> Iterator[tuple[int, str]]:
    judges = Judges()
    for number, found, _ in rows_of(path, GRADES, Rows(path, Reading(lenient=True))):
        yield number, judges.named(found, number)


def read_qrels(path: str, reading: Reading, judge: str = "") -> QrelsTable:
    """Judgments as columns, of the judge that is named, or of the only one."""
    rows = MachineJudged(files.source_name(path), reading)
    judges = Judges()
    for number, found, at in rows_of(path, GRADES, rows):
        name = judges.named(found, number)
        if "" in judges.names and len(judges.names) > 1:
            said = "some lines say who judged (judge, model, prompt_version), others do not"
            raise InputError(said, rows.source, number)
        if name == judge or (not judge and len(judges.names) == 1):
            iteration = found.get(at["iteration"]) if "iteration" in at else None
            sure = next((found[key] for key in CONFIDENCE if key in found), None)
            rows.add(found[at["topic"]], found[at["document"]], found[at["grade"]], iteration, number, sure)
    one_of(judges.names, judge, path)
    return rows.table()
