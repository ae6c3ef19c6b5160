"""unjudged: information-retrieval evaluation when relevance judgments are missing or biased.

    import unjudged as uj
    c = uj.load("qrels.txt", "runs/*.gz")
    s = uj.score(c, ["AP", "nDCG@10", uj.RBP(p=0.8)])

Every measure is an attribute (`uj.nDCG @ 10`). Everything heavy loads on first use.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

__version__ = "0.1.0"

_LAZY = {
    "Bounds": "unjudged.measures.bounds",
    "Cells": "unjudged.collection",
    "Collection": "unjudged.collection",
    "Comparison": "unjudged.comparing.compare",
    "DataWarning": "unjudged.errors",
    "Figure": "unjudged.figures",
    "Hits": "unjudged.collection",
    "InputError": "unjudged.errors",
    "Judgments": "unjudged.collection",
    "Measure": "unjudged.measures",
    "MeasureError": "unjudged.errors",
    "Pool": "unjudged.collection",
    "Rankings": "unjudged.collection",
    "Result": "unjudged.results",
    "Scores": "unjudged.scoring",
    "UnjudgedError": "unjudged.errors",
    "UsageError": "unjudged.errors",
    "agreement": "unjudged.studies.by_name",
    "build_pool": "unjudged.pools.build",
    "collapse": "unjudged.changes.collapse",
    "compare": "unjudged.comparing.compare",
    "contributions": "unjudged.pools.contributions",
    "correct": "unjudged.correction",
    "correct_against_truth": "unjudged.correction:against_truth",
    "describe": "unjudged.pools.describe",
    "favour": "unjudged.changes.noise",
    "flip": "unjudged.changes.noise",
    "judge_agreement": "unjudged.judges.agreement",
    "judged_curves": "unjudged.pools.describe",
    "leave_out": "unjudged.changes.leave_out",
    "load": "unjudged.collection.load",
    "measure": "unjudged.measures._measure",
    "merge": "unjudged.changes.merge",
    "only": "unjudged.changes.only",
    "parse": "unjudged.measures",
    "pool_of": "unjudged.collection.pool",
    "power": "unjudged.studies.by_name",
    "power_changes": "unjudged.studies.power",
    "reduce": "unjudged.changes.reduce",
    "reliability": "unjudged.studies.by_name",
    "replace_judgments": "unjudged.changes.rejudge",
    "report": "unjudged.reporting",
    "score": "unjudged.scoring",
    "score_bounds": "unjudged.measures.bounds:bounds",
    "shallow": "unjudged.changes.shallow",
    "simulate": "unjudged.simulation",
    "stability": "unjudged.studies.by_name",
    "study": "unjudged.studies",
    "swap": "unjudged.studies.by_name",
    "take": "unjudged.changes.take",
}

if TYPE_CHECKING:
    from unjudged.changes.collapse import collapse
    from unjudged.changes.leave_out import leave_out
    from unjudged.changes.merge import merge
    from unjudged.changes.noise import favour, flip
    from unjudged.changes.only import only
    from unjudged.changes.reduce import reduce
    from unjudged.changes.rejudge import replace_judgments
    from unjudged.changes.shallow import shallow
    from unjudged.changes.take import take
    from unjudged.collection import Cells, Collection, Hits, Judgments, Pool, Rankings
    from unjudged.collection.load import load
    from unjudged.collection.pool import pool_of
    from unjudged.comparing.compare import Comparison, compare
    from unjudged.correction import against_truth as correct_against_truth
    from unjudged.correction import correct
    from unjudged.errors import DataWarning, InputError, MeasureError, UnjudgedError, UsageError
    from unjudged.figures import Figure
    from unjudged.judges.agreement import judge_agreement
    from unjudged.measures import Measure, measure, parse
    from unjudged.measures.bounds import Bounds
    from unjudged.measures.bounds import bounds as score_bounds
    from unjudged.pools.build import build_pool
    from unjudged.pools.contributions import contributions
    from unjudged.pools.describe import describe, judged_curves
    from unjudged.reporting import report
    from unjudged.results import Result
    from unjudged.scoring import Scores, score
    from unjudged.simulation import simulate
    from unjudged.studies import study
    from unjudged.studies.by_name import agreement, power, reliability, stability, swap
    from unjudged.studies.power import power_changes

__all__ = [
    "Bounds",
    "Cells",
    "Collection",
    "Comparison",
    "DataWarning",
    "Figure",
    "Hits",
    "InputError",
    "Judgments",
    "Measure",
    "MeasureError",
    "Pool",
    "Rankings",
    "Result",
    "Scores",
    "UnjudgedError",
    "UsageError",
    "__version__",
    "agreement",
    "build_pool",
    "collapse",
    "compare",
    "contributions",
    "correct",
    "correct_against_truth",
    "describe",
    "favour",
    "flip",
    "judge_agreement",
    "judged_curves",
    "leave_out",
    "load",
    "measure",
    "merge",
    "only",
    "parse",
    "pool_of",
    "power",
    "power_changes",
    "reduce",
    "reliability",
    "replace_judgments",
    "report",
    "score",
    "score_bounds",
    "shallow",
    "simulate",
    "stability",
    "study",
    "swap",
    "take",
]


def __getattr__(name: str) -> Measure:
    if name in _LAZY:
        module, _, other_name = _LAZY[name].partition(":")
        found = getattr(importlib.import_module(module), other_name or name)
        return cast("Measure", found)  # type checkers see the imports above; what is left for them are measures
    if not name.startswith("_") and find_spec(f"unjudged.{name}") is None:  # a submodule is imported, not looked up
        from unjudged.measures import ALIASES, REGISTRY
        from unjudged.measures import parse as parse_measure

        if name in REGISTRY:
            return REGISTRY[name]
        if name in ALIASES:
            return REGISTRY.get(ALIASES[name]) or parse_measure(ALIASES[name])[0]
    raise AttributeError(f"module 'unjudged' has no attribute {name!r}")


def __dir__() -> list[str]:
    from unjudged.measures import REGISTRY

    return sorted({*__all__, *REGISTRY})
