"""unjudged: information-retrieval evaluation when relevance judgments are missing or biased.

    import unjudged as uj
    c = uj.load("qrels.txt", "runs/*.gz")
    s = uj.score(c, ["AP", "nDCG@10", uj.RBP(p=0.8)])

Every measure is an attribute (`uj.nDCG @ 10`). The public names are listed once, in the imports for type checkers
below; each is imported when it is first used, so that nothing heavy loads before it is needed.
"""

from __future__ import annotations

from os.path import exists as _there

__version__ = "0.2.0"

TYPE_CHECKING = False  # not typing's, whose import takes as long as scoring a run
if TYPE_CHECKING:  # "X as X" tells type checkers that X is exported
    from unjudged.changes.collapse import collapse as collapse
    from unjudged.changes.leave_out import leave_out as leave_out
    from unjudged.changes.merge import merge as merge
    from unjudged.changes.noise import favour as favour
    from unjudged.changes.noise import flip as flip
    from unjudged.changes.only import only as only
    from unjudged.changes.reduce import reduce as reduce
    from unjudged.changes.rejudge import replace_judgments as replace_judgments
    from unjudged.changes.residual import residual as residual
    from unjudged.changes.shallow import shallow as shallow
    from unjudged.changes.take import take as take
    from unjudged.collection import Cells as Cells
    from unjudged.collection import Collection as Collection
    from unjudged.collection import Hits as Hits
    from unjudged.collection import Judgments as Judgments
    from unjudged.collection import Pool as Pool
    from unjudged.collection import Rankings as Rankings
    from unjudged.collection.load import load as load
    from unjudged.collection.manifest import load_manifest as load_manifest
    from unjudged.collection.pool import pool_of as pool_of
    from unjudged.correction import correct_against_truth as correct_against_truth
    from unjudged.diagnosis.doctor import doctor as doctor
    from unjudged.errors import DataWarning as DataWarning
    from unjudged.errors import InputError as InputError
    from unjudged.errors import MeasureError as MeasureError
    from unjudged.errors import UnjudgedError as UnjudgedError
    from unjudged.errors import UsageError as UsageError
    from unjudged.explanations import explain as explain
    from unjudged.figures import Figure as Figure
    from unjudged.holes.judging import next_to_judge as next_to_judge
    from unjudged.io.retrieved import as_run as as_run
    from unjudged.judges.agreement import judge_agreement as judge_agreement
    from unjudged.judges.leaderboards import compare_leaderboards as compare_leaderboards
    from unjudged.judges.merging import merge_judges as merge_judges
    from unjudged.judges.sampling import draw_sample as draw_sample
    from unjudged.judges.versions import qrels_diff as qrels_diff
    from unjudged.measures import Measure as Measure
    from unjudged.measures import measure as measure
    from unjudged.measures import parse as parse
    from unjudged.papers.run import paper as paper
    from unjudged.pools.build import build_pool as build_pool
    from unjudged.pools.describe import describe as describe
    from unjudged.pools.describe import judged_curves as judged_curves
    from unjudged.pools.describe import pooled_runs as pooled_runs
    from unjudged.reporting.report import report as report
    from unjudged.results import Result as Result
    from unjudged.score_tables import load_scores as load_scores
    from unjudged.scoring import Bounds as Bounds
    from unjudged.scoring import Scores as Scores
    from unjudged.scoring import score as score
    from unjudged.scoring import score_bounds as score_bounds
    from unjudged.simulation import simulate as simulate
    from unjudged.studies import study as study
    from unjudged.studies.by_name import agreement as agreement
    from unjudged.studies.by_name import audit as audit
    from unjudged.studies.by_name import compare as compare
    from unjudged.studies.by_name import contributions as contributions
    from unjudged.studies.by_name import correct as correct
    from unjudged.studies.by_name import corrected as corrected
    from unjudged.studies.by_name import estimate as estimate
    from unjudged.studies.by_name import gate as gate
    from unjudged.studies.by_name import power as power
    from unjudged.studies.by_name import ranks as ranks
    from unjudged.studies.by_name import reliability as reliability
    from unjudged.studies.by_name import stability as stability
    from unjudged.studies.by_name import swap as swap
    from unjudged.studies.power import power_changes as power_changes

    __all__: list[str]  # made when asked for, like everything here


_names: dict[str, str] = {}


def _public() -> dict[str, str]:
    """Public name -> the module it is in, read from the imports above."""
    if _names:
        return _names
    import ast

    source = __spec__.loader.get_source(__name__)  # type: ignore[union-attr]
    (block,) = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    public = {alias.name: str(node.module) for node in imports for alias in node.names}
    _names.update(public)
    return _names


def _attribute(name: str) -> object:
    if any(map(_there, (f"{__path__[0]}/{name}.py", f"{__path__[0]}/{name}"))):  # a submodule, about to be imported
        raise AttributeError(name)
    import importlib

    if name == "__all__":
        return sorted([*_public(), "__version__"])
    if not name.startswith("_"):
        if module := _public().get(name):
            return getattr(importlib.import_module(module), name)
        from unjudged.measures import ALIASES, REGISTRY
        from unjudged.measures import parse as parse_measure

        if name in REGISTRY:
            return REGISTRY[name]
        if name in ALIASES:
            return REGISTRY.get(ALIASES[name]) or parse_measure(ALIASES[name])[0]
    raise AttributeError(f"module 'unjudged' has no attribute {name!r}")


def __getattr__(name: str) -> Measure:  # type checkers see the imports above; what is left for them are measures
    return _attribute(name)  # type: ignore[return-value]


def __dir__() -> list[str]:
    from unjudged.measures import REGISTRY

    return sorted({*_public(), "__version__", *REGISTRY})
