"""What docs/compared.md says of other packages is so in the versions that are installed."""

from __future__ import annotations

import inspect
import re

import pytest
from places import ROOT

PAGE = (ROOT / "docs" / "compared.md").read_text("utf-8")


def row(name: str) -> dict[str, str]:
    """Program -> what a row of the table says of it."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines() if line[:1] == "|"]
    (found,) = [line for line in lines if line[0] == name]
    return dict(zip(lines[0][1:], found[1:], strict=True))


def test_pytrec_eval() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    names = pytrec_eval.supported_measures
    assert row("measures of trec_eval")["pytrec_eval"] == f"{len(names)} names"
    assert not {"rbp", "prefs_simp", "unj"} & set(names)
    assert "infAP" in names and row("estimates for unjudged documents")["pytrec_eval"] == "infAP"


def test_ir_measures() -> None:
    pytest.importorskip("ir_measures")
    from ir_measures.measures import registry

    assert {"alpha_nDCG", "ERR_IA", "StRecall", "infAP", "Compat", "INST", "INSQ", "BPM"} <= set(registry)
    judged_only = {name for name, found in registry.items() if "judged_only" in found.SUPPORTED_PARAMS}
    assert {"AP", "nDCG", "P", "RR"} <= judged_only and not {"RBP", "Bpref", "ERR"} & judged_only
    assert row("condensed lists")["ir_measures"] == "many measures"
    theirs = [name for name in registry if name[:3] != "uj_" and f"uj_{name}" not in registry]  # ours may be registered
    assert not [name for name in theirs if re.search("bound|resid", name, re.I)]


def test_ranx() -> None:
    pytest.importorskip("ranx")
    from importlib.metadata import entry_points
    from inspect import getsource

    from ranx import compare, fuse
    from ranx.data_structures import Run
    from ranx.statistical_tests import compute_statistical_significance

    tests = getsource(compute_statistical_significance)
    assert all(test in tests for test in ("student", "fisher", "tukey"))
    assert "stat_test" in inspect.signature(compare).parameters
    assert not [entry for entry in entry_points(group="console_scripts") if entry.value.startswith("ranx")]
    methods = set(re.findall(r'"(\w+)"', getsource(inspect.getmodule(fuse).fusion_switch)))  # type: ignore[union-attr]
    assert row("fusion of runs")["ranx"] == f"{len(methods)} methods", sorted(methods)
    assert hasattr(Run, "from_parquet") and row("reads polars, arrow, Parquet")["ranx"] == "Parquet"


def test_pyterrier() -> None:
    pyterrier = pytest.importorskip("pyterrier")
    parameters = inspect.signature(pyterrier.Experiment).parameters
    assert {"test", "correction", "baseline"} <= set(parameters)
    assert row("correction for many comparisons")["PyTerrier"] == "yes"


def test_versions_are_those_installed() -> None:
    from importlib.metadata import PackageNotFoundError, version

    for name, called in (
        ("pytrec_eval-terrier", "pytrec_eval-terrier"),
        ("ir_measures", "ir_measures"),
        ("ranx", "ranx"),
    ):
        try:
            major = version(name).rpartition(".")[0]
        except PackageNotFoundError:
            continue
        assert f"{called} {major}" in PAGE


def test_speed_is_that_of_the_performance_page() -> None:
    measured = (ROOT / "docs" / "performance.md").read_text("utf-8")
    first = measured[measured.index("### 100 runs") : measured.index("### 7 million lines")]
    for name in ("pytrec_eval", "ir_measures", "ranx"):
        times = float(re.search(rf"^\| {name} \| [\d.]+ \| ([\d.]+) ", first, re.M)[1])  # type: ignore[index]
        assert re.search(rf"{name}[^.;]*? {int(times)} times", PAGE), (name, times)
