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
from unjudged.diagnosis.search import ALL, Explanation, Reported, explanations, unit_of
from unjudged.diagnosis.tables import explanations_of_scores, read_scores, scores_given
from unjudged.errors import InputError, UsageError
from unjudged.figures.bars import bars
from unjudged.io.score_tables import NO_SCORES
from unjudged.measures import Measure, parse
from unjudged.results import Provenance, Result, Row

COLUMNS = ("rank", "settings", "value", "difference", "fit", "known_habit")
CHARTS = {"fit": bars("fit", "rank", "settings", said="Share of the reported numbers that each explanation gives")}
SHOWN = 10
"""Explanations that are shown."""


def doctor(qrels: Any, run: Any, reported: Any = None, *, most: int = SHOWN, call: str = "") -> Result:
    """Which settings reproduce a score that somebody reported for this run?

    `qrels` and `run` are files (a TREC run) or dicts. `reported` is `"nDCG@10=0.413"`, a list of such texts, a dict
    {measure: value}, or a file of scores per topic (`topic` `all` is the mean): the more numbers, the surer the
    answer. Up to three settings are changed at a time (gains, ties, topics counted, denominators, ids, ...); those
    that reproduce every number come first, simple and common ones before odd ones. The columns are rank, settings
    (`gains=exp; rel=2`), value (what they give for the first number), difference (from what was reported), fit (share
    of the numbers reproduced) and known_habit (which tool does so).

    Without `reported`, the first two are scores that differ: files of scores per topic, or texts as `"map=0.221"`.
    """
    if reported is None:
        try:
            return doctor_of_scores(os.fspath(qrels), os.fspath(run), most=most, call=call)
        except InputError as problem:
            if NO_SCORES not in str(problem):
                raise
            sentence = 'for judgments and a run say what was reported: --reported "ndcg@10=0.413" (reported=)'
            raise UsageError(sentence) from None
    judgments, lines = read_judgments(qrels), read_lines(run)
    numbers = reported_numbers(reported)
    evaluation = Evaluation(judgments, lines)
    known = set(judgments.topics)
    if unknown := next((one.topic for one in numbers if one.topic != ALL and one.topic not in known), None):
        raise UsageError(f"topic {unknown} of the reported scores is not judged")
    found = explanations(evaluation, numbers)
    if not found:
        raise UsageError(f"{lines.source}: no topic in common with the judgments, whatever the settings")
    rows = _rows(found, most)
    sources = tuple(str(source) for source in (judgments.source, lines.source))
    settings = {"reported": [f"{one.measure}={one.value}" for one in numbers[:20]], "combinations tried": len(found)}
    provenance = Provenance.of(call, sources, settings)
    return Result(COLUMNS, lambda: rows, provenance, figures=CHARTS, notes=(said(found, numbers),))


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


_ITEM = r"\s*((?:[^()=,]|\([^()]*\))+)=\s*([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*"
_ONE = re.compile(_ITEM)
_SEVERAL = re.compile(rf"{_ITEM}(?:,{_ITEM})+")
"""Several measures with their values: `map=0.25, RBP(p=0.8,rel=1)=0.4`."""


def reported_numbers(reported: Any) -> list[Reported]:
    """What was reported, in any of the forms of `doctor`."""
    if isinstance(reported, Mapping):
        return [_number(str(measure), value) for measure, value in reported.items()]
    if isinstance(reported, (str, os.PathLike)):
        reported = [reported]
    found: list[Reported] = []
    for one in reported:
        measure, equals, value = str(one).rpartition("=")
        if _SEVERAL.fullmatch(str(one)):
            found += [_number(each, number) for each, number in _ONE.findall(str(one))]
        elif equals and _is_decimal(value):
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


def doctor_of_scores(ours: str, theirs: str, *, most: int = SHOWN, call: str = "") -> Result:
    """Which settings explain the difference of two files of scores per topic, or of values typed in?"""
    first, second = scores_given(ours), scores_given(theirs)
    found, numbers, differing = explanations_of_scores(first, second)
    notes = [said(found, numbers), *differing[:SHOWN]]
    if found[0].fit < 1:
        what = second.source if any(second.of(m) for m in second.measures) else f'"{second.source}"'
        notes.append(f"to look for other settings, give judgments and run: unjudged doctor QRELS RUN --reported {what}")
    sources = tuple(one.source for one in (first, second) if Path(one.source).is_file())
    settings = {"ours": first.source, "theirs": second.source, "combinations tried": len(found)}
    rows = _rows(found, most)
    return Result(COLUMNS, lambda: rows, Provenance.of(call, sources, settings), figures=CHARTS, notes=tuple(notes))


def _rows(found: Sequence[Explanation], most: int) -> list[Row]:
    return [
        (place, one.text, one.value, one.difference, one.fit, one.habit) for place, one in enumerate(found[:most], 1)
    ]
