"""`doctor`: which settings explain that two tools give different scores for the same run."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from unjudged.collection.load import read_judgments
from unjudged.diagnosis.evaluation import Evaluation
from unjudged.diagnosis.lines import read_lines
from unjudged.diagnosis.search import ALL, Explanation, Reported, explanations
from unjudged.diagnosis.tables import read_scores, side_by_side
from unjudged.errors import UsageError
from unjudged.measures import Measure, parse
from unjudged.results import Provenance, Result

COLUMNS = ("rank", "settings", "value", "difference", "fit", "known_habit")
SHOWN = 10
"""Explanations that are shown."""


def doctor(qrels: Any, run: Any, reported: Any, *, most: int = SHOWN, call: str = "") -> Result:
    """Which settings reproduce a score that somebody reported for this run?

    `qrels` and `run` are files (a TREC run) or dicts. `reported` is `"nDCG@10=0.413"`, a list of such texts, a dict
    {measure: value}, or a file of scores per topic (`topic` `all` is the mean): the more numbers, the surer the
    answer. Up to three settings are changed at a time (gains, ties, topics counted, denominators, ids, ...); those
    that reproduce every number come first, simple and common ones before odd ones. The columns are rank, settings
    (`gains=exp; rel=2`), value (what they give for the first number), difference (from what was reported), fit (share
    of the numbers reproduced) and known_habit (which tool does so).
    """
    judgments, lines = read_judgments(qrels), read_lines(run)
    numbers = reported_numbers(reported)
    evaluation = Evaluation(judgments, lines)
    known = set(judgments.topics)
    if unknown := next((one.topic for one in numbers if one.topic != ALL and one.topic not in known), None):
        raise UsageError(f"topic {unknown} of the reported scores is not judged")
    found = explanations(evaluation, numbers)
    if not found:
        raise UsageError(f"{lines.source}: no topic in common with the judgments, whatever the settings")
    rows = [
        (place, one.text, one.value, one.difference, one.fit, one.habit) for place, one in enumerate(found[:most], 1)
    ]
    sources = tuple(str(source) for source in (judgments.source, lines.source))
    settings = {"reported": [f"{one.measure}={one.value}" for one in numbers[:20]], "combinations tried": len(found)}
    return Result(COLUMNS, lambda: rows, Provenance.of(call, sources, settings), notes=(said(found, numbers),))


def said(found: Sequence[Explanation], reported: Sequence[Reported]) -> str:
    """The answer in a sentence."""
    best, first = found[0], reported[0]
    many = f"all {len(reported)} numbers" if len(reported) > 1 else f"{first.measure} {first.value:g}"
    if best.fit < 1:
        share = f" ({best.fit:.0%} of the numbers)" if len(reported) > 1 and best.fit else ""
        return (
            f"no combination of up to three settings gives {many}; nearest is {best.text} with {best.value:.4f}{share}"
        )
    if not best.settings:
        return f"our own settings give {many}: there is nothing to explain"
    others = sum(one.fit == 1 and len(one.settings) == len(best.settings) for one in found) - 1
    means = "; ".join(setting.means for setting in best.settings)
    doubt = (
        f"; {others} other combination{'s' * (others > 1)} as simple would, too: report more numbers" if others else ""
    )
    return f"{best.text} gives {many} ({means}){doubt}"


def reported_numbers(reported: Any) -> list[Reported]:
    """What was reported, in any of the forms of `doctor`."""
    if isinstance(reported, Mapping):
        return [_number(str(measure), value) for measure, value in reported.items()]
    if isinstance(reported, (str, os.PathLike)):
        reported = [reported]
    found: list[Reported] = []
    for one in reported:
        measure, equals, value = str(one).rpartition("=")
        if equals and _is_decimal(value):
            found.append(_number(measure, value))
        elif Path(one).is_file():
            found += read_scores(str(one)).numbers()
        else:
            raise UsageError(
                f"what was reported is a measure and a value, as ndcg@10=0.413, or a file, not {str(one)!r}"
            )
    if not found:
        raise UsageError("nothing was reported: give a measure and its value, as ndcg@10=0.413")
    return found


def _is_decimal(text: str) -> bool:
    try:
        return Decimal(text.strip()).is_finite()
    except InvalidOperation:
        return False


def _number(measure: str, value: Any) -> Reported:
    text = str(value).strip()
    if not _is_decimal(text):
        raise UsageError(f"the value of {measure} is a number such as 0.413, not {text!r}")
    return Reported(one_measure(measure), ALL, float(text), unit_of(text))


def one_measure(text: str) -> Measure:
    """One measure from its spelling."""
    found = parse(text.strip())
    if len(found) != 1:
        raise UsageError(f"one measure for one value, not {text!r}")
    return found[0]


def unit_of(text: str) -> float:
    """The unit of a number's last digit: 0.001 for 0.413; full precision counts as 1e-9."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return max(10.0 ** -max(digits, 0), 1e-9) if not re.fullmatch(r"[+-]?[01]", text.strip()) else 1e-9


def doctor_of_scores(ours: str, theirs: str, *, call: str = "") -> Result:
    """What two files of scores per topic tell about their difference: one row per measure that both hold."""
    first, second = read_scores(ours), read_scores(theirs)
    rows = [
        (str(measure), first.mean(measure), second.mean(measure), second.mean(measure) - first.mean(measure), text)
        for measure, text in side_by_side(first, second)
    ]
    note = "to find the settings, give judgments and run: unjudged doctor QRELS RUN --reported " + second.source
    columns = ("measure", "ours", "theirs", "difference", "what_differs")
    return Result(columns, lambda: rows, Provenance.of(call, (first.source, second.source)), notes=(note,))
