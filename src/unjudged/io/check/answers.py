"""Look through answer classes and runs of answers for trouble (`unjudged check --qa`): codes are in findings.py.

As for documents, nothing stops here: a line that `score --qa` would refuse is a finding, and the others are still
looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.check.findings import Tally, shown, why
from unjudged.io.check.inspection import check_teams, look_at, note_same_names
from unjudged.io.columns import whole_number
from unjudged.io.ids import to_text
from unjudged.io.qa import ANSWERS, LEVELS, not_answers
from unjudged.io.same_answer import normalised


@dataclass
class Classes:
    """What is right: question -> answer, as it is written -> (class, level); and the same for loosely equal answers."""

    exact: dict[str, dict[str, tuple[str, int]]] = field(default_factory=dict)
    loose: dict[str, set[str]] = field(default_factory=dict)


@dataclass
class AnswerRun:
    """A run of answers that was looked through."""

    path: str
    tally: Tally

    @property
    def name(self) -> str:
        """The run's name."""
        return files.run_name(self.path)


def check_answers(classes: str, runs: Sequence[str], teams: str | None = None) -> tuple[list[Tally], list[AnswerRun]]:
    """Findings of every file in the order given (classes, runs, teams), and the runs themselves."""
    tally, right = _check_classes(classes)
    tallies, looks = look_at(runs, lambda path: AnswerRun(path, _check_run(path, right)))
    note_same_names(looks)
    if teams is not None:
        tallies.append(check_teams(teams, [look.name for look in looks]))
    return [tally, *tallies], looks


def _lines(path: str, fields: int, tally: Tally) -> Iterator[tuple[int, list[str]]]:
    """Lines with enough fields; others are noted. An unreadable file is one finding."""
    try:
        text = to_text(files.read_all(path))
    except InputError as problem:
        tally.note("UJ100", problem.line, detail=why(problem))
        return
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip() or (number == 1 and line.casefold().startswith("question\t")):
            continue
        found = line.split("\t", fields - 1)
        if len(found) < fields:
            tally.note("UJ141", number, detail=not_answers(line, fields, len(found)))
        else:
            yield number, [part.strip() for part in found]


def _check_classes(path: str) -> tuple[Tally, Classes]:
    tally, right = Tally(files.source_name(path)), Classes()
    began: dict[str, int] = {}
    for number, (question, name, level, answer) in _lines(path, 4, tally):
        grade = LEVELS.get(level.upper(), whole_number(level))
        if not isinstance(grade, int):
            tally.note("UJ141", number, detail=f"the level {level!r} is not S, A, B or a whole number")
            continue
        began.setdefault(question, number)
        known = right.exact.setdefault(question, {})
        before = known.setdefault(answer, (name, grade))
        if before[0] != name:
            where = f"{shown(answer)} of {shown(question)}, classes {shown(before[0])} and {shown(name)}"
            tally.note("UJ142", number, detail=where)
        right.loose.setdefault(question, set()).add(normalised(answer, "words"))
    if not right.exact and not tally.found:
        tally.note("UJ100", detail="no answers in this file")
    for question, known in right.exact.items():
        if max(grade for _, grade in known.values()) < 1:
            tally.note("UJ124", began[question], detail=f"e.g. {shown(question, 30)}")
    return tally, right


def _check_run(path: str, right: Classes) -> Tally:
    tally = Tally(files.source_name(path))
    lists: dict[str, list[tuple[int, int, str]]] = {}
    for number, (question, rank, answer) in _lines(path, 3, tally):
        place = whole_number(rank)
        if isinstance(place, int):
            lists.setdefault(question, []).append((place, number, answer))
        else:
            tally.note("UJ141", number, detail=f"the rank {rank!r} is not a whole number")
    if not lists:
        if not tally.found:
            tally.note("UJ100", detail="no answers in this file")
        return tally
    if right.exact and not right.exact.keys() & lists.keys():
        ours, theirs = next(iter(lists)), next(iter(right.exact))
        tally.note("UJ135", detail=f"{shown(ours, 30)} here, {shown(theirs, 30)} there")
        return tally
    for question in right.exact:
        if question not in lists:
            tally.note("UJ103", detail=f"e.g. {shown(question, 30)}")
    for question, said in lists.items():
        if right.exact and question not in right.exact:
            tally.note("UJ104", min(line for _, line, _ in said), detail=f"e.g. {shown(question, 30)}")
        else:
            _check_list(question, sorted(said), right, tally)
    return tally


def _check_list(question: str, said: list[tuple[int, int, str]], right: Classes, tally: Tally) -> None:
    """One question: repeated answers, repeated ranks, answers too many, answers that miss by their spelling."""
    of = f" of {shown(question, 30)}"
    ranks = Counter(rank for rank, _, _ in said)
    seen: set[str] = set()
    for place, (rank, line, answer) in enumerate(said, 1):
        if ranks[rank] > 1:
            tally.note("UJ144", line, detail=f"rank {rank}{of}")
            ranks[rank] = 1
        if place > ANSWERS:
            tally.note("UJ145", line, detail=f"e.g. {shown(question, 30)}")
            break
        if answer in seen:
            tally.note("UJ143", line, detail=shown(answer) + of)
        seen.add(answer)
        if answer not in right.exact.get(question, {}) and normalised(answer, "words") in right.loose.get(question, ()):
            tally.note("UJ146", line, detail=shown(answer) + of)
