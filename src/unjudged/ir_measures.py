"""A provider for the ir_measures package, and with it for PyTerrier's Experiment: importing this module registers it.

    import ir_measures, unjudged.ir_measures
    ir_measures.calc_aggregate([ir_measures.parse_measure("Q@10")], qrels, run)
    pt.Experiment(systems, topics, qrels, [ir_measures.AP, ir_measures.parse_measure("RBP_residual(p=0.8)")])

    python -m unjudged.ir_measures qrels.txt run.txt AP 'uj_AP(judged_only=True)' 'uj_bound(measure="AP")'

The last line is ir_measures' command line with our measures. Versions of ir_measures that look for providers find this
one by its entry point (`ir_measures.provider`); nothing needs to be imported then. 0.4.3 does not look for any.

Names: every measure of ours is `uj_NAME` there, with all our parameters (`judged_only=True` is the prime). What
ir_measures does not know has its bare name, too (`Q`, `bpref_R`, `RBP_residual`). `uj_bound(measure="AP",
side="upper")` is what the score could become if the unjudged documents were judged (`lower`, `width`: likewise).
ir_measures' own names keep their own answers.

Ties: equal scores are ordered as pytrec_eval orders them (document ids descending, scores as float32), which answers
most of ir_measures' own names, so that one call has one ranking. Some of its providers order ties in other ways
(msmarco for `RR@10`, cwl_eval for `RBP`): `uj_RR@10` is the same measure in the one ranking. Where equal scores decide
one of our values, a DataWarning says so.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from unjudged.collection.load import load
from unjudged.errors import DataWarning, InputError, MeasureError, UsageError
from unjudged.measures import REGISTRY, Measure, measures
from unjudged.measures.aspects import FAMILY as ASPECTS
from unjudged.scoring import score, score_bounds

try:
    ir_measures: Any = importlib.import_module("ir_measures")
except ImportError:
    raise UsageError("this needs ir_measures; pip install ir_measures") from None

TIES = "trec9"
"""The order of equal scores: pytrec_eval's, which answers most of ir_measures' own names."""
OTHER_TIES = "ascending"
SIDES = ("lower", "upper", "width")
PREFIX = "uj_"
BOUND = f"{PREFIX}bound"

Lists = Mapping[str, Mapping[str, float]]


def _ours(theirs: Any) -> Measure:
    """The measure of ours behind an ir_measures object: one of the classes below, or one of that package's own."""
    name = theirs.params["measure"] if theirs.NAME == BOUND else getattr(theirs, "OURS", None)
    if theirs.NAME == BOUND:
        (found,) = measures(name)
        return found
    return REGISTRY[name](**theirs.params).complete() if name else measures(theirs)[0]


def values(chosen: list[Any], qrels: Any, run: Lists, ties: str = TIES) -> dict[tuple[int, str], float]:
    """(number of the measure, topic) -> value, for every judged topic; an unanswered one scores as an empty list."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the caller's package has its own word on missing topics
        collection = load(qrels, {"run": run}, ties=ties)
        plain = [i for i, m in enumerate(chosen) if m.NAME != BOUND]
        found: dict[tuple[int, str], float] = {}
        for number, m in enumerate(chosen):
            if m.NAME == BOUND:
                bounds = score_bounds(collection, [_ours(m)])
                sides = {"lower": bounds.low[0, :, 0], "upper": bounds.high[0, :, 0]}
                sides["width"] = sides["upper"] - sides["lower"]
                cells = sides[m.params.get("side", "upper")]
                found |= {(number, t): float(v) for t, v in zip(bounds.topics, cells, strict=True)}
        if plain:
            wanted = [_ours(chosen[i]) for i in plain]
            scores = score(collection, wanted)
            place = {m: i for i, m in enumerate(scores.measures)}
            for i, m in zip(plain, wanted, strict=True):
                found |= {(i, t): float(v) for t, v in zip(scores.topics, scores.values[0, :, place[m]], strict=True)}
    return found


def _tell_ties(chosen: list[Any], qrels: Any, run: Lists, found: Mapping[tuple[int, str], float]) -> None:
    """Say so where equal scores decide a value."""
    if all(len({*docs.values()}) == len(docs) for docs in run.values()):
        return
    other = values(chosen, qrels, run, OTHER_TIES)
    moved = [key for key, value in found.items() if abs(other[key] - value) > 1e-12]
    if moved:
        topics = len({topic for _, topic in moved})
        what = f"{topics} topic{'s' * (topics > 1)} (first: {chosen[moved[0][0]]} in topic {moved[0][1]})"
        warnings.warn(
            f"equal scores decide in {what}; ordered by document id, descending, as pytrec_eval does; other providers "
            "of ir_measures order them in other ways",
            DataWarning,
            stacklevel=2,
        )


class Evaluation(ir_measures.providers.Evaluator):  # type: ignore[misc]
    """Judgments and measures, for one run after another."""

    def __init__(self, chosen: list[Any], qrels: Any) -> None:
        self.qrels = ir_measures.util.QrelsConverter(qrels).as_dict_of_dict()
        super().__init__(chosen, set(self.qrels))

    def _iter_calc(self, run: Any) -> Iterator[Any]:
        lists = ir_measures.util.RunConverter(run).as_dict_of_dict()
        chosen = list(self.measures)
        found = values(chosen, self.qrels, lists)
        _tell_ties(chosen, self.qrels, lists, found)
        for (number, topic), value in found.items():
            yield ir_measures.Metric(query_id=topic, measure=chosen[number], value=value)


class UnjudgedProvider(ir_measures.providers.Provider):  # type: ignore[misc]
    """All measures of unjudged, and those of ir_measures that have a counterpart here: one ranking for all of them."""

    NAME = "unjudged"

    def __call__(self) -> UnjudgedProvider:
        """Itself: whoever loads the entry point may take it for a class."""
        return self

    def supports(self, measure: Any) -> bool:
        """Is it one of ours, or one of ir_measures' that can be computed here?"""
        try:
            measure.validate_params()
            return _ours(measure).definition.family != ASPECTS  # the package hands on no subtopics
        except (MeasureError, AssertionError):
            return False

    def _evaluator(self, chosen: Iterable[Any], qrels: Any) -> Evaluation:
        listed = list(chosen)
        if lacking := [m for m in listed if not self.supports(m)]:
            raise MeasureError(f"unjudged has no counterpart of ir_measures' {lacking[0]}")
        return Evaluation(listed, qrels)


def _class_of(name: str, ours: Measure) -> type:
    """A measure of ours as a class of ir_measures measures."""
    definition = ours.definition
    info = ir_measures.measures.ParamInfo
    params = {
        "cutoff" if key == "k" else key: info(required=p.required, default=p.default)
        for key, p in definition.parameters.items()
    }
    if not definition.condensed:
        params["judged_only"] = info(dtype=bool, default=False, desc="on the condensed list (a prime)")
    aggregator = ir_measures.measures.SumAgg if definition.aggregate == "sum" else ir_measures.measures.MeanAgg
    body = {
        "__doc__": definition.function.__doc__,
        "__name__": name,
        "NAME": name,
        "OURS": definition.name,
        "AT_PARAM": "cutoff" if definition.cutoff == "k" else definition.cutoff,
        "SUPPORTED_PARAMS": params,
        "SHORT_DESC": definition.summary,
        "aggregator": lambda self: aggregator(),
    }
    return type(f"_{name}", (ir_measures.measures.Measure,), body)


def _register() -> UnjudgedProvider:
    """Our measures and the provider, where ir_measures looks for them; a second time changes nothing."""
    known = ir_measures.measures.registry
    if BOUND not in known:
        info = ir_measures.measures.ParamInfo
        sides = {"measure": info(dtype=str, required=True), "side": info(choices=SIDES, default="upper")}
        bound = {"__name__": BOUND, "NAME": BOUND, "SUPPORTED_PARAMS": sides}
        bound["__doc__"] = "What a score could become if the unjudged documents were judged."
        known[BOUND] = type("_bound", (ir_measures.measures.Measure,), bound)()
        for name, ours in REGISTRY.items():
            if ours.definition.family == ASPECTS:
                continue
            for theirs in [PREFIX + name] + [name] * (name not in known):
                known[theirs] = _class_of(theirs, ours)()
    held = ir_measures.providers.registry.get(UnjudgedProvider.NAME)
    made = held if isinstance(held, UnjudgedProvider) else UnjudgedProvider()
    ir_measures.providers.register(made)
    if made not in ir_measures.DefaultPipeline.providers:
        ir_measures.DefaultPipeline.providers.append(made)  # last: ir_measures' own names keep their own answers
    return made


provider = _register()


def main() -> int:
    """ir_measures' command line with our measures; returns the exit code."""
    from unjudged.cli import refusing

    def theirs() -> int:
        try:
            importlib.import_module("ir_measures.__main__").main_cli()
        except (ValueError, AssertionError) as problem:  # a line that cannot be read, options that exclude each other
            raise InputError(f"ir_measures gave up: {problem}") from None
        except AttributeError as problem:
            if "'ast'" not in str(problem):
                raise
            here = ".".join(map(str, sys.version_info[:2]))
            raise UsageError(
                f"this version of ir_measures cannot read numbers in names on Python {here} ({problem}); "
                "`unjudged score -m` reads the same names"
            ) from None
        return 0

    warnings.showwarning = lambda said, *_: print(f"note: {said}", file=sys.stderr)
    try:
        return refusing(theirs)
    except SystemExit as end:  # it has said why, and leaves with 255
        return 2 if end.code else 0


if __name__ == "__main__":
    sys.exit(main())
