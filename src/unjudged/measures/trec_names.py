"""trec_eval's names: what is typed (`P.5,10`, `ndcg_cut_10`) and what is printed (`P_5`, `ndcg_cut_10`).

The table keeps trec_eval's order, which decides the order of its output.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from unjudged.classical import CUTS, RECALLS
from unjudged.collection import LARGEST_GAIN
from unjudged.errors import MeasureError
from unjudged.measures import trec_lists
from unjudged.measures._measure import REGISTRY, Measure

_Number = TypeVar("_Number", int, float)
LONGEST = 2**63 - 1
"""The largest whole number of 64 bits."""
_MULTIPLES = tuple(i / 10 for i in range(2, 21, 2))


@dataclass(frozen=True)
class Printed:
    """One line of trec_eval's output: its printed name and the measure behind it.

    `measure` is None for `runid` and `relstring`, which are texts, and where no registered measure takes the
    parameters, which `refused` then says. `value` says how it is printed.
    """

    name: str
    measure: Measure | None
    value: str = "float"
    per_topic: bool = True
    summary: bool = True
    length: int = 10
    summary_text: str = ""
    """What a line without a registered measure is."""
    own: Callable[[trec_lists.TopicList], float] | None = None
    """How the verb computes it, topic by topic, where the parameters are the user's own."""
    refused: str = ""

    @property
    def geometric(self) -> bool:
        """Is the summary a geometric mean?"""
        return self.measure is not None and self.measure.mean == "geometric"


@dataclass(frozen=True)
class Entry:
    """One measure of trec_eval: how its parameters are read and which lines it prints."""

    name: str
    kind: str
    lines: Callable[[str, str], list[Printed]]
    since: int = 9
    formats: tuple[str, ...] = ("qrels",)
    """Formats of judgments (trec_eval's -R) it is computed from."""


def _parameters(
    typed: str, text: str, own: Callable[[trec_lists.TopicList], float], make: Callable[[], Measure]
) -> Printed:
    """A line with the user's parameters in its name, which the registered measure may not take."""
    try:
        return Printed(f"{typed}_{text}", make(), own=own)
    except MeasureError as problem:
        return Printed(f"{typed}_{text}", None, own=own, refused=str(problem))


_DECIMAL = r"(\d+\.?\d*|\.\d+)(e[-+]?\d+)?"
_HEXADECIMAL = r"0x([\da-f]+\.?[\da-f]*|\.[\da-f]+)(p[-+]?\d+)?"


def _number(text: str) -> float:
    """The number a text begins with, 0 if it begins with none, as C's atof reads it."""
    found = re.match(rf"\s*[-+]?({_HEXADECIMAL}|{_DECIMAL}|inf|nan)", text, re.ASCII | re.IGNORECASE)
    if found is None:
        return 0.0
    try:
        value = float.fromhex(found[0].strip()) if "x" in found[0].lower() else float(found[0])
    except OverflowError:
        value = math.inf
    if not abs(value) <= LARGEST_GAIN:
        raise MeasureError(f"{text!r}: numbers go up to {LARGEST_GAIN:g}")
    return value


def whole(text: str) -> int:
    """The whole number a text begins with (23 of 23.4), 0 if it begins with none, as C's atol reads it; what does not
    fit into 64 bits becomes the largest that does."""
    found = re.match(r"\s*([-+]?)0*(\d*)", text, re.ASCII)
    digits = found[2] if found else ""
    size = min(int(digits or 0), LONGEST) if len(digits) < 20 else LONGEST
    return -size if found and found[1] == "-" else size


def _cutoffs(name: str, text: str) -> list[int]:
    values = [whole(v) for v in text.split(",")]
    if min(values) < 1:
        raise MeasureError(f"{name}: {text!r} is not a comma-separated list of cutoffs")
    return _once(name, text, values)


def _once(name: str, text: str, values: list[_Number]) -> list[_Number]:
    if len(set(values)) < len(values):
        raise MeasureError(f"{name}: a value appears twice in {text!r}")
    return sorted(values)


def _numbers(text: str) -> list[float]:
    return [_number(v) for v in text.split(",")]


def _pairs(name: str, text: str, example: str) -> list[tuple[str, float]]:
    pairs = [part.split("=") for part in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise MeasureError(f"{name}: parameters are given as in {name}.{example}, not {text!r}")
    return [(key, _number(value)) for key, value in pairs]


def _plain(spelling: str, value: str = "float", per_topic: bool = True) -> Callable[[str, str], list[Printed]]:
    name, _, params = spelling.partition("|")
    given = {k: v for k, _, v in (p.partition("=") for p in params.split(",") if p)}

    def lines(typed: str, text: str) -> list[Printed]:
        if text:
            raise MeasureError(f"{typed} takes no parameter, found {text!r}")
        made = REGISTRY[name](**{k: {"True": True}.get(v, v) for k, v in given.items()})
        return [Printed(typed, made, value, per_topic)]

    return lines


def _at(name: str, defaults: Sequence[int] = CUTS) -> Callable[[str, str], list[Printed]]:
    def lines(typed: str, text: str) -> list[Printed]:
        cuts = _cutoffs(typed, text) if text else defaults
        return [Printed(f"{typed}_{k}", REGISTRY[name] @ k) for k in cuts]

    return lines


def _points(typed: str, text: str) -> list[Printed]:
    measure = REGISTRY["IPrec"]
    if not text:
        return [Printed(f"{typed}_{v:.2f}", measure(recall=v)) for v in RECALLS]
    return [
        _parameters(typed, f"{v:.2f}", partial(trec_lists.iprec_at_recall, point=v), partial(measure, recall=v))
        for v in _once(typed, text, _numbers(text))
    ]


def _multiples(name: str) -> Callable[[str, str], list[Printed]]:
    def lines(typed: str, text: str) -> list[Printed]:
        values = _once(typed, text, _numbers(text)) if text else _MULTIPLES
        made = [(f"{v:.2f}", v) for v in values]
        return [
            Printed(f"{typed}_{shown}", REGISTRY[name](mult=v))
            if v > 0
            else _parameters(typed, shown, trec_lists.nothing, partial(REGISTRY[name], mult=v))
            for shown, v in made
        ]

    return lines


def _with_gains(name: str) -> Callable[[str, str], list[Printed]]:
    def lines(typed: str, text: str) -> list[Printed]:
        if not text:
            return [Printed(typed, REGISTRY[name])]
        pairs = _pairs(typed, text, "1=3.5,2=9")
        gains = {whole(grade): gain for grade, gain in pairs}
        own = partial(trec_lists.with_gains, name=typed, pairs=pairs)
        return [_parameters(typed, text, own, partial(REGISTRY[name], gains=gains))]

    return lines


def _persistence(typed: str, text: str) -> tuple[float, dict[int, float]]:
    """p, 0.9 if it is not given, and gains."""
    pairs = _pairs(typed, text, "p=0.5") if text else []
    gains = {whole(grade): gain for grade, gain in pairs if grade != "p"}
    return dict(pairs).get("p", 0.9), gains


def _rbp(typed: str, text: str) -> list[Printed]:
    p, gains = _persistence(typed, text)
    return [Printed(f"{typed}_{text}" if text else typed, REGISTRY["RBP"](p=p, gains=gains or None))]


def _rbp_resid(typed: str, text: str) -> list[Printed]:
    p, _ = _persistence(typed, text)
    own = partial(trec_lists.rbp_resid, p=p)
    if not text:
        return [Printed(typed, REGISTRY["RBP_residual"](p=p), own=own)]
    return [_parameters(typed, text, own, partial(REGISTRY["RBP_residual"], p=p))]


def _set_f(typed: str, text: str) -> list[Printed]:
    if not text:
        return [Printed(typed, REGISTRY["SetF"])]
    beta = _numbers(text)[0]
    return [_parameters(typed, text, partial(trec_lists.set_f, beta=beta), partial(REGISTRY["SetF"], beta=beta))]


def _utility(typed: str, text: str) -> list[Printed]:
    if not text:
        return [Printed(typed, REGISTRY["Utility"])]
    values = _numbers(text)
    if len(values) != 4:
        raise MeasureError(f"{typed} takes four numbers, as in {typed}.1,-1,0,0, not {text!r}")
    a, b, c, d = values
    make = partial(REGISTRY["Utility"], a=a, b=b, c=c, d=d)
    return [_parameters(typed, text, partial(trec_lists.utility, weights=values), make)]


def _11pt(typed: str, text: str) -> list[Printed]:
    if not text:
        return [Printed(typed, REGISTRY["IPrecAvg"])]
    recalls = _numbers(text)

    def make() -> Measure:
        if recalls != sorted(recalls):
            raise MeasureError(f"{typed}: the points of recall must go up, not {text!r}")
        return REGISTRY["IPrecAvg"](recalls=tuple(recalls))

    return [_parameters(typed, text, partial(trec_lists.eleven_points, points=recalls), make)]


def _relstring(typed: str, text: str) -> list[Printed]:
    length = int(min(max(_numbers(text)[0], 0), LONGEST)) if text else 10
    name = f"{typed}_{text}" if text else typed
    told = "grades of the first documents"
    return [Printed(name, None, "relstring", summary=False, length=length, summary_text=told)]


def _runid(typed: str, text: str) -> list[Printed]:
    return [Printed(typed, None, "runid", per_topic=False, summary_text="name of the run")]


_KINDS = {"ret": "retrieved", "imp": "implied"}


def _prefs(typed: str, text: str) -> list[Printed]:
    if typed.startswith("prefs_num"):
        made = REGISTRY["NumPrefs" if typed.endswith("poss") else "NumPrefsHonoured"]
    else:
        made = REGISTRY[re.sub("_(ret|imp)$", "", typed)]
    kind = _KINDS.get(typed.rpartition("_")[2])
    return [Printed(typed, made(pairs=kind) if kind else made, "int" if typed.startswith("prefs_num") else "float")]


_ALL = ("qrels", "qrels_jg", "prefs", "qrels_prefs")
_TABLE = (
    Entry("runid", "text", _runid, formats=_ALL),
    Entry("num_q", "count", _plain("NumQ", "int", per_topic=False), formats=_ALL),
    Entry("num_ret", "count", _plain("NumRet", "int")),
    Entry("num_rel", "count", _plain("NumRel", "int")),
    Entry("num_rel_ret", "count", _plain("NumRelRet", "int")),
    Entry("map", "", _plain("AP")),
    Entry("gm_map", "", _plain("AP|mean=geometric", per_topic=False)),
    Entry("Rprec", "", _plain("Rprec")),
    Entry("bpref", "", _plain("bpref")),
    Entry("recip_rank", "", _plain("RR")),
    Entry("iprec_at_recall", "recall", _points),
    Entry("P", "cut", _at("P")),
    Entry("relstring", "text", _relstring),
    Entry("recall", "cut", _at("R")),
    Entry("infAP", "", _plain("infAP")),
    Entry("gm_bpref", "", _plain("bpref|mean=geometric", per_topic=False)),
    Entry("Rprec_mult", "recall", _multiples("Rprec")),
    Entry("utility", "numbers", _utility),
    Entry("11pt_avg", "numbers", _11pt),
    Entry("binG", "", _plain("binG")),
    Entry("G", "gains", _with_gains("G")),
    Entry("dcg", "gains", _with_gains("DCG"), since=10),
    Entry("ideal_dcg", "gains", _with_gains("iDCG"), since=10),
    Entry("ndcg", "gains", _with_gains("nDCG")),
    Entry("ndcg_rel", "gains", _with_gains("nDCG_rel")),
    Entry("Rndcg", "gains", _with_gains("RnDCG")),
    Entry("ndcg_cut", "cut", _at("nDCG")),
    Entry("map_cut", "cut", _at("AP")),
    Entry("relative_P", "cut", _at("relative_P")),
    Entry("success", "cut", _at("Success", (1, 5, 10))),
    Entry("set_P", "", _plain("SetP")),
    Entry("set_relative_P", "", _plain("SetP|relative=True")),
    Entry("set_recall", "", _plain("SetR")),
    Entry("set_map", "", _plain("SetAP")),
    Entry("set_F", "numbers", _set_f),
    Entry("num_nonrel_judged_ret", "count", _plain("NumNonrelJudgedRet", "int")),
    Entry("yaap", "", _plain("yaap")),
    Entry("rbp", "p", _rbp, since=10),
    Entry("rbp_resid", "p", _rbp_resid, since=10),
    Entry("unj", "cut", _at("unj", (5, 10, 20)), since=10),
)
NAMES: dict[str, Entry] = {entry.name: entry for entry in _TABLE}

_PREFS = tuple(
    f"prefs_{name}{kind}"
    for kind, names in (
        ("", ("num_prefs_poss", "num_prefs_ful", "num_prefs_ful_ret", "simp", "pair", "avgjg", "avgjg_Rnonrel")),
        ("_ret", ("simp", "pair", "avgjg", "avgjg_Rnonrel")),
        ("_imp", ("simp", "pair", "avgjg")),
    )
    for name in names
)
_GROUPED: dict[str, Entry] = {
    **{name: Entry(name, "", _prefs, formats=("prefs", "qrels_prefs")) for name in _PREFS},
    "map_avgjg": Entry("map_avgjg", "", _plain("AP_avgjg"), formats=("qrels_jg",)),
    "P_avgjg": Entry("P_avgjg", "cut", _at("P_avgjg"), formats=("qrels_jg",)),
    "Rprec_mult_avgjg": Entry("Rprec_mult_avgjg", "recall", _multiples("Rprec_avgjg"), formats=("qrels_jg",)),
}
"""Measures of several assessors and of preferences."""


def for_format(format: str | None) -> dict[str, Entry]:
    """The measures computed from judgments in this format (None: all), in trec_eval's order."""
    return {name: e for name, e in (NAMES | _GROUPED).items() if format is None or format in e.formats}


SETS: dict[str, tuple[str, ...]] = {
    "official": tuple(e.name for e in _TABLE[: [e.name for e in _TABLE].index("P") + 1]),
    "set": (
        *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility"),
        *("set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    ),
    "all_trec": tuple(e.name for e in _TABLE if e.name not in ("dcg", "ideal_dcg", "yaap")),
    "prefs": ("runid", "num_q", *_PREFS[:6]),
    "all_prefs": ("runid", "num_q", *_PREFS),
    "qrels_jg": ("runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
}


def lines_of(name: str, parameters: str = "") -> list[Printed]:
    """The output lines of one trec_eval measure."""
    return for_format(None)[name].lines(name, parameters)


def _check(text: str, parameters: str, kind: str) -> None:
    """Outside the `trec_eval` verb a slip of the finger (`P.1O`) is refused, where trec_eval reads 1."""
    if kind not in ("cut", "recall", "numbers", "gains", "text") or not parameters:
        return
    number = r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?"
    pattern = {"cut": r"\d+(\.\d*)?", "gains": rf"\d+={number}"}.get(kind, number)
    if not all(re.fullmatch(pattern, part) for part in parameters.split(",")):
        raise MeasureError(f"{text!r}: {parameters!r} is not a comma-separated list of numbers")


def parse(text: str) -> list[Printed] | None:
    """`P.5,10`, `P_5`, `ndcg_cut_10`, `map`: the lines meant, or None if this is no trec_eval name."""
    name, _, parameters = text.partition(".")
    names = for_format(None)
    if name in names:
        _check(text, parameters, names[name].kind)
        return _registered(lines_of(name, parameters))
    for known in sorted(names, key=len, reverse=True):
        if text.startswith(known + "_"):
            rest = text[len(known) + 1 :]
            if re.fullmatch(r"[-0-9.,=p]+", rest):
                return _registered(lines_of(known, rest))
    return None


def _registered(lines: list[Printed]) -> list[Printed]:
    """The lines, or a MeasureError where the verb alone can compute one."""
    for line in lines:
        if line.refused:
            raise MeasureError(line.refused)
    return lines
