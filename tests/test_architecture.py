"""The house stays in order: imports point one way, one place computes each thing, names say what is inside."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import unjudged

ROOT = Path(unjudged.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
MODULES = {
    ".".join(("unjudged", *f.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): f for f in FILES
}

CORE = {"errors", "text", "options", "kernels", "io", "classical"}
DATA = {*CORE, "collection", "measures", "changes", "scoring", "results", "statistics", "figures", "thresholds"}
DATA |= {"score_tables", "spelling"}
BELOW = {
    "errors": set(),
    "text": set(),
    "processes": set(),
    "options": {"errors", "text"},
    "kernels": {"errors"},
    "io": {"errors", "kernels", "text"},
    "classical": {"errors", "kernels", "io"},
    "statistics": {"kernels"},
    "spelling": set(),
    "latex": {"spelling"},
    "results": {"errors", "io", "text", "spelling", "latex"},
    "thresholds": {"errors", "io", "results", "text"},
    "figures": {"errors", "io", "results", "spelling", "text", "thresholds"},
    "collection": CORE,
    "measures": {*CORE, "collection", "results"},
    "changes": {*CORE, "collection", "measures", "results"},
    "scoring": {*CORE, "collection", "measures", "results", "statistics", "figures"},
    "score_tables": {*CORE, "collection", "measures", "results", "scoring"},
    "simulation": {*CORE, "processes", "collection", "measures", "results"},
    "adapters": {"errors", "collection", "measures", "scoring", "ir_measures"},
    "ir_measures": {"errors", "collection", "measures", "scoring"},
    "pools": DATA,
    "judges": DATA,
    "correction": {*DATA, "pools"},
    "holes": DATA,
    "diagnosis": {*CORE, "collection", "figures", "measures", "results"},
    "studies": {*DATA, "processes", "pools", "judges", "correction", "holes"},
    "reporting": {*CORE, "collection", "measures", "results", "figures", "thresholds", "studies"},
    "papers": {*DATA, "pools", "studies", "reporting"},
    "methods": {"errors", "measures", "results", "text"},
    "glossary": set(),
    "explanations": {*CORE, "collection", "measures", "glossary", "studies"},
    "web": {*CORE, "collection", "measures", "changes", "results", "thresholds", "holes", "studies", "reporting"},
}
"""Which parts of the package a part may use (DESIGN 4). The command line stands on top of all of them."""

MORE = {
    "ir_measures": {"cli"},  # it has a command line of its own
    "results": {"figures"},  # the type of what .plot() gives
    "simulation.summary": {"scoring", "statistics"},
}
"""Single modules that may use more than the rest of their part."""

TOP = {"cli", "__main__", "trec_eval", "tira", ""}


def imports(tree: ast.AST, module: str, package: bool) -> Iterator[tuple[int, str]]:
    """(line, module of this package) for every import, in functions and TYPE_CHECKING blocks, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".") if package else module.split(".")[:-1]
                kept = parents[: len(parents) - node.level + 1]
                base = ".".join([*kept, base]) if base else ".".join(kept)
            for name in node.names:
                inside = f"{base}.{name.name}"
                if (base, name.name) != ("unjudged", "__version__"):
                    yield node.lineno, inside if inside in MODULES or base == "unjudged" else base


def wrong_arrows(source: str, module: str, package: bool = False) -> list[str]:
    part = module.partition(".")[2].partition(".")[0]
    if part in TOP:
        return []
    allowed = BELOW[part] | MORE.get(module.partition(".")[2], set()) | {part}
    found = []
    for line, target in imports(ast.parse(source), module, package):
        head, _, inside = target.partition(".")
        if head == "unjudged" and inside.partition(".")[0] not in allowed:
            found.append(f"{module}:{line} imports {target}")
    return found


def test_every_part_has_its_place() -> None:
    parts = {name.partition(".")[2].partition(".")[0] for name in MODULES}
    assert parts - TOP <= BELOW.keys(), "say in BELOW what the new part may use"
    assert BELOW.keys() <= parts


def test_the_order_has_no_circle() -> None:
    assert len(list(TopologicalSorter(BELOW).static_order())) == len(BELOW)


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_one_way(module: str) -> None:
    file = MODULES[module]
    assert wrong_arrows(file.read_text("utf-8"), module, file.name == "__init__.py") == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("unjudged.errors", "from unjudged import kernels"),
        ("unjudged.kernels._numpy", "import unjudged.io.trec"),
        ("unjudged.io.trec", "def f():\n    from unjudged.collection import Judgments"),
        ("unjudged.collection.hits", "if TYPE_CHECKING:\n    from unjudged.measures import Measure"),
        ("unjudged.measures.gain", "from unjudged.scoring import score"),
        ("unjudged.measures.gain", "from unjudged import score"),
        ("unjudged.measures.gain", "import unjudged"),
        ("unjudged.measures.gain", "from ..scoring import score"),
        ("unjudged.statistics.correlation", "from unjudged.errors import UsageError"),
        ("unjudged.results", "from unjudged.statistics import correlation"),
        ("unjudged.simulation.model", "from unjudged.scoring import score"),
        ("unjudged.scoring", "from unjudged.cli.options import write_output"),
    ],
)
def test_a_wrong_arrow_is_seen(module: str, source: str) -> None:
    assert len(wrong_arrows(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("unjudged.scoring", "def f():\n    from unjudged import __version__"),
        (
            "unjudged.io.trec",
            "from unjudged import kernels\nfrom unjudged.errors import InputError\nfrom . import files",
        ),
        (
            "unjudged.simulation.summary",
            "from unjudged.scoring import score\nfrom unjudged.statistics import correlation",
        ),
        ("unjudged.cli.score", "from unjudged.scoring import score"),
        ("unjudged.measures.gain", "import unjudgedly, numpy as np\nfrom os import path"),
    ],
)
def test_a_right_arrow_is_let_through(module: str, source: str) -> None:
    assert wrong_arrows(source, module) == []


ONCE = {
    "ranks by score": ("statistics.ranks", r"def ranks\(scores|1 \+ \([^\n]*None[^\n]*\)\.sum\(axis"),
    "expected tau": ("statistics.reliability", r"def expected_tau\("),
    "runs passed (SRE*)": ("statistics.estimate_errors", r"def \w*passed\w*\("),
    "what only one group found": ("collection.membership", r"== self\.times|of_peers\[[^\n]*=="),
    "leaving a team out": ("changes.leave_out", r"def leave_out\("),
}
"""A computation, the module that has it, and what a copy of it would look like."""


@pytest.mark.parametrize("what", ONCE)
def test_it_is_computed_in_one_place(what: str) -> None:
    module, pattern = ONCE[what]
    found = {name for name, file in MODULES.items() if re.search(pattern, file.read_text("utf-8"))}
    assert found == {f"unjudged.{module}"}


def test_report_and_page_compute_nothing() -> None:
    """They ask studies; neither scores, statistics nor NumPy's sums are theirs (looking up a grade is)."""
    for name, file in MODULES.items():
        if name.split(".")[1:2] not in (["reporting"], ["web"]):
            continue
        used = {target for _, target in imports(ast.parse(file.read_text("utf-8")), name, file.name == "__init__.py")}
        assert not [t for t in used if t.startswith(("unjudged.statistics", "unjudged.scoring", "scipy"))], name
        assert name == "unjudged.web.topics" or "numpy" not in used, name


def test_no_module_is_named_after_nothing() -> None:
    vague = {"util", "utils", "helper", "helpers", "misc", "common", "anew", "asked", "board", "words", "tally", "told"}
    assert [name for name in MODULES if vague & set(name.replace("_", ".").split("."))] == []


def test_numeric_parts_know_no_files_frames_or_printing() -> None:
    """Kernels and statistics: arrays in, numbers out."""
    for name, file in MODULES.items():
        if name.split(".")[1:2] not in (["kernels"], ["statistics"]):
            continue
        tree = ast.parse(file.read_text("utf-8"))
        used = {target.partition(".")[0] for _, target in imports(tree, name, file.name == "__init__.py")}
        assert not used & {"pandas", "polars", "narwhals", "pathlib", "io", "rich", "logging"}, name
        calls = {
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not calls & {"print", "open"}, name
