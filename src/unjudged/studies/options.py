"""Options of studies: what each keyword argument means, and how it is written on the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unjudged.errors import UsageError


@dataclass(frozen=True)
class Option:
    """One option of the command line, made from a study's keyword argument."""

    flags: tuple[str, ...]
    help: str
    metavar: str = "N"
    parse: Callable[[str], Any] = str
    choices: tuple[str, ...] = ()
    repeats: bool = False


def numbers(text: str) -> tuple[float, ...]:
    """`50,10,1` -> (50, 10, 1)"""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"numbers are given as 50,10,1, not {text!r}") from None
    return tuple(int(n) if n.is_integer() else n for n in found)


def names(text: str) -> tuple[str, ...]:
    """`a,b` -> ("a", "b")"""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def number(text: str) -> float:
    """`30` -> 30, `0.75` -> 0.75"""
    return numbers(text)[0] if "," not in text else _refuse(text)


def _refuse(text: str) -> float:
    raise UsageError(f"one number is wanted, not {text!r}")


OPTIONS: dict[str, Option] = {
    "measures": Option(("-m", "--measures"), "measures, comma separated, or a set (sakai2009); repeatable", "M"),
    "rel": Option(("--rel",), "smallest relevant grade (default 1)", parse=int),
    "unjudged": Option(
        ("--unjudged",), "unjudged documents are nonrelevant (default) or condensed (removed)", "POLICY"
    ),
    "topics": Option(
        ("--topics",), "topics that count: judged (default, missing = 0) or common (answered by all runs)", "WHICH"
    ),
    "undefined": Option(
        ("--undefined",), "undefined values: zero (default), or drop the topic (decided with all judgments)", "HOW"
    ),
    "alpha": Option(("--alpha",), "level of significance", "A", float),
    "resamples": Option(("--resamples",), "resamples of the test (default: 1000; randomised-tukey 5000)", parse=int),
    "test": Option(
        ("--test",),
        "test of a pair of runs: bootstrap (default), t, wilcoxon, permutation, tukey, randomised-tukey",
        "NAME",
    ),
    "trials": Option(("--trials",), "random topic sets", parse=int),
    "sampling": Option(
        ("--sampling",), "disjoint, replacement, independent, comma separated (default: all three)", "S", names
    ),
    "c": Option(("--c",), "topics per set (default: half of them)", parse=int),
    "confidence": Option(("--confidence",), "confidence levels in percent", "P,P", numbers),
    "rule": Option(("--rule",), "required difference on an uneven curve", choices=("guarantee", "first")),
    "fuzziness": Option(("--fuzziness",), "fuzziness values", "F,F", numbers),
    "levels": Option(("--levels",), "levels: percent of the judgments that stay", "L,L", numbers),
    "repeats": Option(("--repeats",), "times the random part is drawn anew", parse=int),
    "seed": Option(("--seed",), "seed of everything random", parse=int),
    "top": Option(("--top",), "only the best runs: a share below 1, else a number", "X", number),
    "by": Option(("--by",), "measure that says which runs are best (default: the first)", "M"),
    "one_per_team": Option(("--one-per-team",), "one run of each team, chosen by the seed"),
    "all_runs": Option(("--all-runs",), "every run instead of one per team"),
    "depth": Option(("--depth",), "pool depth (default: inferred)", "D", int),
    "pooled": Option(("--pooled",), "pooled runs: a file of names, or infer (default: every run given)", "FILE"),
    "tolerance": Option(
        ("--tolerance",), "with pooled runs inferred: share of the depth that may be unjudged in one", "X", float
    ),
    "protocol": Option(("--protocol",), "the correction experiment's details", choices=("strict", "sigir2015")),
    "leave": Option(("--leave",), "what is left out of the pool at a time", choices=("team", "run")),
    "cutoffs": Option(("--cutoffs",), "cut-offs n of P@n", "N,N", numbers),
    "methods": Option(
        ("--methods",), "corrections: lipani, webber-park, lipani-v2, webber-ratio, per-topic", "M,M", names
    ),
    "indicator": Option(("--indicator",), "when lipani corrects: lambda, delta-p or delta-anti-p", "I"),
    "merge_alpha": Option(("--merge-alpha",), "weight of the new run in merging, 0 to 1", "A", float),
    "per_run": Option(("--per-run",), "one row per left-out run and cut-off, with all quantities"),
    "teams_taken": Option(("--take",), "teams to take, comma separated", "TEAM,...", names),
    "summary": Option(("--summary",), "one row per condition and measure: tau, power, misses, false alarms"),
    "pairs": Option(("--pairs",), "one row per pair of runs"),
    "curve": Option(("--curve",), "the swap rate of every bin"),
    "power.curves": Option(("--curves",), "the p values of each measure, largest first"),
    "replacement": Option(("--replacement",), "a topic may be drawn twice into the same set"),
    "topics_assumed": Option(
        ("--topics-assumed",), "answer for this number of topics instead of those given", parse=int
    ),
    "drop": Option(("--drop",), "leave out the runs below this quantile of the means", "Q", float),
    "depth.levels": Option(
        ("--levels",), "pool depths (default 50,10,1, as far as the pool is deeper)", "D,D", numbers
    ),
    "correction.test": Option(("--test",), "test behind SRE*: tukey (HSD of all runs, default) or t (paired)", "NAME"),
    "correction.pooled": Option(("--pooled",), "pooled runs: a file of names, or infer (default)", "FILE"),
    "stability": Option(("--stability",), "the reliability wanted", "P", float),
}
"""Keyword argument (or study.argument, where it means something else there) -> how it is written."""


def option_of(name: str, parameter: inspect.Parameter, study: str = "") -> Option:
    """The option of a study's keyword argument; one we have no words for is read by the kind of its default."""
    if known := OPTIONS.get(f"{study}.{name}", OPTIONS.get(name)):
        return known
    default = parameter.default
    parse: Callable[[str], Any] = str
    if isinstance(default, (int, float)) and not isinstance(default, bool):
        parse = type(default)
    elif isinstance(default, (tuple, list)):
        parse = names if any(isinstance(part, str) for part in default) else numbers
    return Option((f"--{name.replace('_', '-')}",), f"{name.replace('_', ' ')} of this study", parse=parse)
