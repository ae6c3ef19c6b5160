"""What docs/compared.md says of other packages is so in the versions that are installed."""

from __future__ import annotations

import inspect
import re
from importlib.util import find_spec

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
    assert "judged_docs_only_flag" in inspect.signature(pytrec_eval.RelevanceEvaluator).parameters
    assert row("condensed lists")["pytrec_eval"] == "`judged_docs_only_flag`"
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # numba's remarks when ranx is compiled for the first time
def test_ranx_orders_long_lists_of_ties_by_nothing() -> None:
    ranx = pytest.importorskip("ranx")
    docs = [f"d{(i * 37) % 200}" for i in range(200)]
    place = docs.index("d3") + 1
    value = ranx.evaluate(ranx.Qrels({"1": {"d3": 1}}), ranx.Run({"1": dict.fromkeys(docs, 1.0)}), "mrr")
    by_id = {order: sorted(docs, reverse=order).index("d3") + 1 for order in (False, True)}
    assert round(1 / value) not in {place, *by_id.values()}
    assert row("ties")["ranx"] == "unstable sort"


def test_trectools() -> None:
    trectools = pytest.importorskip("trectools")
    assert "removeUnjudged" in inspect.signature(trectools.TrecEval.get_ndcg).parameters
    assert "ttest_rel" in inspect.getsource(trectools.TrecRes.compare_with)
    assert row("significance tests")["trectools"] == "t"
    assert hasattr(trectools.TrecQrel, "check_kappa") and row("agreement of judges")["trectools"] == "yes"
    assert (
        hasattr(trectools, "TrecPoolMaker") and row("pools: depth, contributions, building")["trectools"] == "building"
    )
    assert "residuals" in inspect.getsource(trectools.TrecEval.get_rbp)
    assert (
        "ascending=[True,False,False]" in inspect.getsource(trectools.TrecEval) and row("ties")["trectools"] == "by id"
    )


@pytest.mark.skipif(find_spec("autojudge_evaluate") is None, reason="autojudge-evaluate is not installed")
def test_autojudge_evaluate() -> None:
    """Read, not imported: it fetches data when it is."""
    from importlib.metadata import entry_points, files

    text = "".join(f.read_text() for f in files("autojudge-evaluate") or () if f.suffix == ".py")
    assert "cohen_kappa_score" in text and "krippendorff" in text and "kendall" in text.lower()
    assert "wilcoxon" in text and not re.search("bootstrap|multipletests|holm|bonferroni", text, re.I)
    assert [entry for entry in entry_points(group="console_scripts") if entry.value.startswith("autojudge_evaluate")]


def test_pyterrier() -> None:
    pyterrier = pytest.importorskip("pyterrier")
    parameters = inspect.signature(pyterrier.Experiment).parameters
    assert {"test", "correction", "baseline"} <= set(parameters)
    assert row("correction for many comparisons")["PyTerrier"] == "yes"


def test_who_has_a_command_line() -> None:
    from importlib.metadata import entry_points

    programs = {entry.value.partition(":")[0].partition(".")[0] for entry in entry_points(group="console_scripts")}
    for module in ("pytrec_eval", "ir_measures", "ranx", "pyterrier", "trectools"):
        if find_spec(module) is not None:
            called = {"pyterrier": "PyTerrier"}.get(module, module)
            assert row("command line")[called] == ("yes" if module in programs else "no"), module


def test_versions_are_those_installed() -> None:
    from importlib.metadata import PackageNotFoundError, version

    for name, called in (
        ("pytrec_eval-terrier", "pytrec_eval-terrier"),
        ("ir_measures", "ir_measures"),
        ("ranx", "ranx"),
        ("python-terrier", "PyTerrier"),
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
    found = re.search(r"^\|[^|]*at most the CPU of the trec_eval[^|]*\| ([\d.]+)x", measured, re.M)
    assert found is not None and f" {found[1]} times" in PAGE
