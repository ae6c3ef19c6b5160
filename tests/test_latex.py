"""LaTeX tables: every study's table compiles and fits the text of an article; characters and numbers come out right.

Compiled with pdflatex where TeX is installed (Debian: texlive-latex-base, texlive-latex-recommended).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

import unjudged as uj
from unjudged.latex import Cell, escaped, latex_table
from unjudged.results import Provenance, Shown
from unjudged.studies import known

TEX = shutil.which("pdflatex")
needs_tex = pytest.mark.skipif(TEX is None, reason="pdflatex is not installed")
OVERFULL = re.compile(r"Overfull \\hbox \((\d+\.\d+)pt too wide\)")

QUICK: dict[str, dict[str, Any]] = {
    "compare": {"resamples": 50},
    "winners": {"resamples": 50},
    "power": {"resamples": 50},
    "swap": {"trials": 20, "c": 4},
    "stability": {"trials": 20, "c": 4},
    "reduction": {"levels": (50, 20), "resamples": 50},
    "leave-team-out": {"resamples": 50},
    "leave-run-out": {"resamples": 50},
    "take-team": {"resamples": 50},
    "depth": {"levels": (3, 1), "resamples": 50},
    "correction": {"cutoffs": (5, 10), "measures": "RBP@10"},
    "noise": {"repeats": 1},
}
"""Options that make a study short, where its own are long."""


def compiled(tmp_path: Path, *tables: str, font: str = "10pt") -> str:
    """The log of an article with these tables."""
    assert TEX is not None
    head = rf"\documentclass[{font}]{{article}}\usepackage{{booktabs}}\begin{{document}}"
    text = "\n\\clearpage\n".join([head, *tables, r"\end{document}"])
    (tmp_path / "t.tex").write_text(text, "utf-8", "surrogateescape")
    done = subprocess.run(
        [TEX, "-interaction=nonstopmode", "-halt-on-error", "t.tex"], cwd=tmp_path, capture_output=True, timeout=120
    )
    log = (tmp_path / "t.log").read_text("latin-1")
    assert done.returncode == 0, log[-2000:]
    return log.replace("\n", " ") if "Overfull" in log else log


def too_wide(log: str) -> list[float]:
    return [float(points) for points in OVERFULL.findall(log) if float(points) > 5]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> uj.Collection:
    """Thirty runs of eight teams; team and run names with characters LaTeX would read as commands."""
    folder = tmp_path_factory.mktemp("latex") / "c"
    uj.simulate("tiny", seed=3, teams=8, runs=30, topics=12, depth=8, leave_out="team02", out=folder)
    return uj.load(folder / "qrels.txt", folder / "runs", teams=folder / "teams.tsv")


def asked(name: str, c: uj.Collection) -> list[tuple[str, dict[str, Any]]]:
    """A study with the options it needs, and its other tables."""
    need: dict[str, dict[str, Any]] = {
        "topics": {"a": c.runs[0], "b": c.runs[1]},
        "gate": {"run": c.runs[0], "baseline": c.runs[1]},
        "change": {"before": c},
        "judges": {"second": c},
        "corrected": {"machine": c},
        "over-judges": {"second": c},
    }
    options = {**QUICK.get(name, {}), **need.get(name, {})}
    found = [(name, options)]
    if name in ("leave-team-out", "take-team"):
        found.append((name, {**options, "summary": True}))
    return found


@needs_tex
@pytest.mark.slow
@pytest.mark.parametrize("font", ["10pt", "12pt"])
def test_every_study_compiles_and_fits(made: uj.Collection, tmp_path: Path, font: str) -> None:
    tables, refused = [], []
    for name in known():
        for study, options in asked(name, made):
            try:
                tables.append(uj.study(study, made, **options).render("latex"))
            except uj.UsageError as problem:
                refused.append(f"{study}: {problem}")
    tables += [uj.score(made, "sakai2009").render("latex"), uj.score(made, "official").render("latex")]
    assert not refused
    assert too_wide(compiled(tmp_path, *tables, font=font)) == []


@needs_tex
@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "robust03").is_dir(), reason="the real collections are not here")
def test_tables_of_several_real_collections_compile_and_fit(tmp_path: Path) -> None:
    """The papers' tables with the papers' measures: grades with gains, long names, three collections in panels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = {
            name: uj.load(
                DATA / name / "qrels.txt.gz", DATA / name / "runs", teams=DATA / name / "teams.tsv", lenient=True
            )
            for name in ("robust03", "trec2-adhoc", "dl19-passage")
        }
    tables = [
        uj.study("power", here, resamples=20).render("latex"),
        uj.study("leave-team-out", here, resamples=20).render("latex"),
        uj.study("take-team", here, resamples=20, summary=True).render("latex"),
        uj.study("depth", here, resamples=20).render("latex"),
        uj.study("correction", here, top=0.75, measures="RBP@10").render("latex"),
        uj.correct(here["dl19-passage"], None, "P@10,nDCG@10").render("latex"),
    ]
    assert all(r"(a) robust03" in table for table in tables[:5])
    assert too_wide(compiled(tmp_path, *tables)) == []


def table_of(columns: list[str], rows: list[tuple[Any, ...]], caption: str = "A caption.") -> str:
    return uj.Result(columns, lambda: rows, Provenance.of("score x", ()), caption=caption).render("latex")


def test_the_frame_of_a_table() -> None:
    text = table_of(["run", "AP"], [("a_b", 0.5), ("c", float("nan"))])
    lines = text.splitlines()
    assert lines[:4] == [r"\begin{table}", r"\centering", r"\caption{A caption.}", r"\label{tab:score}"]
    assert lines[-1] == r"\end{table}"
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert lines.count(rule) == 1
    assert r"\begin{tabular}{lr}" in lines
    assert r"a\_b & 0.5000 \tabularnewline" in lines and r"c & -- \tabularnewline" in lines
    assert "resizebox" not in text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("|R| 38", r"\textbar{}R\textbar{} 38"),
        ("p < 0.05 > 0", r"p \textless{} 0.05 \textgreater{} 0"),
        ("50% & #1 $x_2$ {a}", r"50\% \& \#1 \$x\_2\$ \{a\}"),
        (r"a\b~c^d", r"a\textbackslash{}b\textasciitilde{}c\textasciicircum{}d"),
        ("6↑5, 4→4 ± 1 †", r"6$\uparrow$5, 4$\rightarrow$4 $\pm$ 1 \dag{}"),
        ("--no-trial", "-{}-no-trial"),
        ("Martín", "Martín"),
        ("名", "{}[U+540D]"),
        ("* [a]", "{}* [a]"),
    ],
)
def test_characters(text: str, written: str) -> None:
    assert escaped(text) == written


def test_minus_signs_and_bold_and_marks() -> None:
    text = table_of(
        ["a"], [(-0.25,), (Shown("-0.27%", bold=True),), (Shown("+1.93% 4→4"),), (Shown("3", raised="ab"),)]
    )
    assert r"$-$0.2500" in text and r"\textbf{$-$0.27\%}" in text
    assert r"3\textsuperscript{ab}" in text and r"+1.93\%" in text
    assert r"\begin{tabular}{r}" in text
    assert "run-1" in table_of(["run"], [("run-1",)])


def test_short_names_have_a_legend() -> None:
    names = ["AP", "Q(gains={1: 1, 2: 3})", "nDCG(dcg='jk', gains={1: 1, 2: 3})@1000"]
    text = table_of(["run", *names], [("a", 0.1, 0.2, 0.3)])
    assert "run & AP & Q & nDCG " in text
    assert r"Q: Q(gains=\{1: 1, 2: 3\}); nDCG: nDCG(dcg='jk', gains=\{1: 1, 2: 3\})@1000." in text
    # where a short name would stand for two measures, nothing is shortened
    both = table_of(["run", "Q", names[1]], [("a", 0.1, 0.2)])
    assert r"Q(gains=\{1: 1, 2: 3\})" in both.split(r"\midrule")[0].split(r"\toprule")[1].replace(r"\\", " ")


def test_collections_become_panels() -> None:
    rows = [("robust", "AP", 0.1), ("robust", "Q", 0.2), ("trec", "AP", 0.3)]
    text = table_of(["collection", "measure", "value"], rows)
    assert text.index("(a) robust") < text.index("0.1000") < text.index("(b) trec") < text.index("0.3000")
    assert text.count(r"\begin{tabular}{lr}") == 2 and "collection &" not in text


def test_columns_with_a_common_heading() -> None:
    text = table_of(["P@n", "ours MAE", "ours SRE", "theirs MAE", "theirs SRE"], [("5", 0.1, 3, 0.2, 4)])
    assert r" & \multicolumn{2}{c}{ours} & \multicolumn{2}{c}{theirs}" in text or text.count(r"\multicolumn{2}{c}") == 2
    assert r"\cmidrule" in text


def test_long_tables_go_on() -> None:
    rows = [(f"run{i}", float(i)) for i in range(150)]
    text = table_of(["run", "value"], rows)
    assert text.count(r"\begin{table}") == 4
    assert text.count("(continued)") == 3
    assert all(f"run{i} &" in text for i in range(150))
    assert r"\label{tab:score}" in text and r"\label{tab:score-2}" in text


@needs_tex
def test_wide_tables_become_panels(tmp_path: Path) -> None:
    columns = ["run", *(f"measure{i}@1000" for i in range(24))]
    rows = [(f"a-rather-long-name-of-a-run-{r}", *(0.1234 * i for i in range(24))) for r in range(5)]
    text = table_of(columns, rows)
    assert "(a)" in text and "(b)" in text
    assert too_wide(compiled(tmp_path, text)) == []


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=40)
cells = st.one_of(
    words, st.floats(-2, 2), st.integers(-99999, 99999), st.none(), words.map(lambda t: Shown(t, True, "a"))
)


@needs_tex
@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(*[st.lists(words, min_size=n, max_size=n)], st.lists(st.tuples(*[cells] * n), max_size=4))
    )
)
def test_any_table_compiles(tmp_path_factory: pytest.TempPathFactory, table: tuple[list[str], list[Any]]) -> None:
    columns, rows = table
    log = compiled(tmp_path_factory.mktemp("any"), table_of(columns, rows, "".join(columns)[:60]))
    assert "Undefined control sequence" not in log


def test_cells_are_kept(tmp_path: Path) -> None:
    """Every cell appears once, whatever the panels."""
    columns = [f"c{i}" for i in range(30)]
    rows = [[Cell(f"{100 * r + i}.5") for i in range(30)] for r in range(3)]
    text = latex_table(columns, rows)
    for row in rows:
        for cell in row[1:]:
            assert len(re.findall(rf"(?<!\d){re.escape(cell.text)}", text)) == 1
