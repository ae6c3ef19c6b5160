"""Papers: every table and figure by number, the paper's names and order, findings by their rule, files and pages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from places import ROOT
from qa_world import write_questions

import unjudged as uj
from unjudged.cli import main
from unjudged.measures import measures
from unjudged.measures.sets import NAMED
from unjudged.papers import PAPERS

PRINTED = {
    "sakai2005": ([1, 2, 3, 4, 5], [2, 3, 4, 5, 6, 7, 8]),
    "sakai2007": ([1, 2, 3], [1, 2, 3]),
    "sakai2009": (list(range(1, 11)), []),
    "lipani2015": ([1, 2], [1, 2, 3, 4]),
}
"""The tables and figures of each paper that show results (figure 1 of 2005 is an algorithm)."""
QUICK: dict[str, Any] = {"trials": 20, "resamples": 20, "jobs": 1}


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two simulated collections of documents and one of questions."""
    where = tmp_path_factory.mktemp("paper")
    text = ""
    for seed, name in enumerate(("first", "second"), 1):
        uj.simulate("tiny", seed=seed, out=where / name, topics=12)
        text += f'[{name}]\njudgments = "{name}/qrels.txt"\nruns = "{name}/runs"\nteams = "{name}/teams.tsv"\n'
        text += 'pooled = "all"\ndepth = 10\n'
    write_questions(where / "asked")
    text += '[asked]\njudgments = "asked/qrels.tsv"\nruns = "asked/runs"\nqa = true\n'
    path = where / "collections.toml"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def collections(manifest: Path) -> Any:
    return uj.load_manifest(manifest)


@pytest.fixture(scope="module")
def made(collections: Any) -> Any:
    """Each paper, made once."""
    kept: dict[str, Any] = {}

    def make(name: str) -> Any:
        if name not in kept:
            kept[name] = uj.paper(name, collections, **QUICK)
        return kept[name]

    return make


pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", PRINTED)
def test_every_table_and_figure_is_there_by_number(name: str, made: Any) -> None:
    tables, figures = PRINTED[name]
    declared: dict[str, list[int]] = {"Table": [], "Figure": []}
    for item in PAPERS[name].items:
        declared[item.kind] += item.numbers
    assert declared == {"Table": tables, "Figure": figures}
    result = made(name)
    for kind, numbers in (("Table", tables), ("Figure", figures)):
        for number in numbers:
            one = result[f"{kind} {number}"]
            assert one.panels and not one.why_not, (kind, number, one.why_not)
            if kind == "Figure":
                assert one.plot().description
            else:
                assert list(one.result.rows())


@pytest.mark.parametrize("name", PRINTED)
def test_the_page_has_them_all_and_loads_nothing(name: str, made: Any) -> None:
    result = made(name)
    html, markdown = result.render("html"), result.render("markdown")
    for item in PAPERS[name].items:
        assert f'id="{item.key}"' in html and f"## {item.title}\n" in markdown
    body = html[: html.index("<script")]
    assert not re.findall(r'(?:src|href)="(?!#)', body) and "default-src 'none'" in body
    for finding in PAPERS[name].findings:
        assert finding.key in markdown and "Rule:" in markdown


@pytest.mark.parametrize("name", ["sakai2005", "sakai2007", "sakai2009"])
def test_names_of_the_paper_stand_for_its_measures(name: str) -> None:
    paper = PAPERS[name]
    sets = [key for key in NAMED if key == name or key.startswith(f"{name}-")]
    wanted = {spelling for key in sets for spelling in NAMED[key]}
    assert wanted == set(paper.named)
    assert len(set(paper.named.values())) == len(paper.named)


def test_a_name_does_not_depend_on_gains_and_grades() -> None:
    of = PAPERS["sakai2009"].measure
    assert of("nDCG'(dcg='jk', gains={1: 1, 2: 3})@1000") == of("nDCG'(dcg='jk')@1000") == "nDCG'"
    assert of("AP(rel=2)") == "AP" and of("something else") == "something else"
    of = PAPERS["sakai2005"].measure
    assert of("AP(rel=2)") == "Rigid-AveP" and of("Q(gains={1: 1, 2: 1.5, 3: 2})") == "Q2:1.5:1"
    assert of("Q(gains={1: 1, 2: 3})") == "Q-measure"


def test_spellings_of_the_papers_are_measures() -> None:
    """Every name of 2005 and 2007 but the cut-offs without a sign (nDCG10 could be another nDCG)."""
    for name in ("sakai2005", "sakai2007"):
        for ours, theirs in PAPERS[name].named.items():
            if re.fullmatch(r"A?nD?CG('|\d+)?", theirs):
                continue
            assert measures(theirs) == measures(ours), theirs
    with pytest.raises(uj.MeasureError, match=r"sakai2005 has 4 sets of measures.*sakai2005-qa \(6 measures\)"):
        measures("sakai2005")


def test_every_named_set_is_documented_with_its_measures() -> None:
    page = (ROOT / "docs" / "papers" / "index.md").read_text("utf-8")
    for name, inside in NAMED.items():
        assert f"| `{name}` | {', '.join(f'`{m}`' for m in inside)} |\n" in page


def test_every_paper_has_its_page() -> None:
    for name, paper in PAPERS.items():
        page = (ROOT / "docs" / "papers" / f"{name}.md").read_text("utf-8")
        assert paper.title in page and f"$ unjudged paper {name} --collections collections.toml -o {name}\n" in page


def test_table_3_is_the_study_alone(made: Any, collections: Any) -> None:
    """One answer: the numbers of a table are those of its study, asked with the options the page shows."""
    alone = uj.study("leave-team-out", collections.where(lambda c: c.judgments.group is None), measures="sakai2009")
    _, rows = alone.laid_out()
    (first, second) = made("sakai2009")["Table 3"].panels
    assert [first.title, second.title] == ["(a) first", "(b) second"]
    shown = [tuple(map(str, row)) for panel in (first, second) for row in panel.result.laid_out()[1]]
    assert shown == [tuple(map(str, row[1:])) for row in rows]
    assert first.result.columns == ("team", "run", "AP'", "Q'", "nDCG'", "RBP'", "bpref", "AP", "Q", "nDCG", "RBP")


def test_table_5_of_2005_by_its_formula(made: Any) -> None:
    """METHODS C.7 with n topics and half of them in a set, written out."""
    columns, rows = made("sakai2005")["Table 5"].result.laid_out()
    assert list(columns) == ["", "first (IR)", "second (IR)", "asked (QA)"]
    for column, n in ((1, 12), (3, 20)):
        c = n // 2
        u = 1 - (1 - 1 / n) ** c
        expected = [f"0.0/{c:.1f}", f"{n * u * u:.1f}/{n * u:.1f}", f"{c * c / n:.1f}/{c:.1f}"]
        assert [row[column] for row in rows] == expected


def test_the_tables_of_2005_are_sorted_and_split(made: Any) -> None:
    table = made("sakai2005")["Table 1"]
    titles = [panel.title for panel in table.panels]
    assert titles[:3] == ["first (a) Disjoint", "first (b) Replacement", "first (c) Independent"]
    for panel in table.panels:
        shares = [str(row[-1]).split("%")[0] for row in panel.result.laid_out()[1]]
        known = [float(share) for share in shares if re.fullmatch(r"[\d.]+", share)]
        assert known == sorted(known, reverse=True) and len(shares) == 10
    levels = [row[0] for row in made("sakai2005")["Table 3"].panels[0].result.laid_out()[1]]
    assert list(dict.fromkeys(levels)) == ["95%", "90%", "80%"]
    assert {panel.title.split()[0] for panel in made("sakai2005")["Table 4"].panels} == {"asked"}


def test_findings_by_hand(made: Any) -> None:
    """Finding (1) of 2009, counted again from the study's rows."""
    result = made("sakai2009")
    assert [row[0] for row in result.rows()] == [f"({n})" for n in (1, 1, 2, 2, 3, 3, 4, 4)]
    leave = result["Table 3"].result
    change: dict[str, list[float]] = {}
    for row in leave.laid_out()[1]:
        for measure, cell in zip(leave.columns[2:], row[2:], strict=True):
            text = str(cell).split("%")[0]
            if text != "n/a":
                change.setdefault(measure, []).append(float(text))
    mean = {m: sum(v) / len(v) for m, v in change.items()}
    agree = int(mean["bpref"] > 0)
    for m in ("AP", "Q", "nDCG", "RBP"):
        up, down = mean[f"{m}'"], mean[m]
        agree += (up > 0) + (down < 0) + (up > -down)
    told = {(row[0], row[1]): row for row in result.rows()}
    assert told["(1)", "first"][3:5] == (agree, 13)


def test_the_word_of_a_finding_follows_the_limits(made: Any) -> None:
    limits = {"(1)": (0.75, 0.5), "(2)": (0.25, 0.05), "(3)": (0.25, 0.05), "(4)": (0.75, 0.5)}
    for finding, _, word, agree, many, *_ in made("sakai2009").rows():
        holds, part = limits[finding]
        share = agree / many
        assert word == ("holds" if share >= holds else "holds in part" if share >= part else "does not hold")


def test_some_tables_alone(collections: Any) -> None:
    some = uj.paper("sakai2009", collections, table=[1, 7], **QUICK)
    assert [one.title for one in some.made] == ["Table 1", "Tables 6 and 7"]
    assert [d.finding.key for d in some.findings] == ["(2)", "(4)"]
    with pytest.raises(uj.UsageError, match="sakai2009 has no Figure 1; there are no figures"):
        uj.paper("sakai2009", collections, figure=1)
    with pytest.raises(KeyError, match="no 'Table 2'"):
        some["Table 2"]


def test_what_cannot_be_had_is_told_and_the_rest_is_there(collections: Any) -> None:
    first = collections["first"]
    alone = uj.paper("sakai2005", first, table=[3, 4], **QUICK)
    assert alone["Table 4"].why_not == "this needs a collection of questions and answers (qa = true in the manifest)"
    assert alone["Table 3"].panels[0].title == "collection (a) Disjoint"
    assert "Not here: this needs a collection of questions" in alone.render("markdown")
    without = uj.load(first.sources[0], list(first.sources[1:]))
    both = uj.paper("sakai2009", {"with": first, "without": without}, table=3, **QUICK)
    assert [p.title for p in both["Table 3"].panels] == ["with"]
    assert both["Table 3"].left == (
        "without: this needs the teams of the runs (teams = FILE in the manifest, or --teams)",
    )


def test_one_collection_that_fails_is_named_and_left_aside(collections: Any) -> None:
    """One topic says nothing about power; the other collection is answered."""
    small = uj.only(collections["second"], "101")
    told: list[str] = []
    both = uj.paper(
        "sakai2007",
        {"first": collections["first"], "small": small},
        table=3,
        progress=lambda stage, *_: told.append(stage),
        **QUICK,
    )
    assert [p.title for p in both["Table 3"].panels] == ["first"]
    assert both["Table 3"].left == ("small: one topic cannot show which runs a measure tells apart",)
    assert any(stage.startswith("power, small: no answer here: one topic") for stage in told)


def test_a_collection_with_too_few_topics_for_a_study_is_named_and_left_aside(collections: Any) -> None:
    """What one collection cannot answer is answered by the others."""
    small = uj.only(collections["second"], "101")
    told: list[str] = []
    asked: dict[str, Any] = {"first": collections["first"], "small": small}
    both = uj.paper("sakai2005", asked, table=3, progress=lambda stage, *_: told.append(stage), **QUICK)
    assert {p.title.split()[0] for p in both["Table 3"].panels} == {"first"}
    (why,) = both["Table 3"].left
    assert why.startswith("small: this needs at least 2 topics")
    assert any(stage.startswith("swap, small: no answer here: this needs at least 2 topics") for stage in told)


def test_a_work_folder_continues(collections: Any, tmp_path: Path) -> None:
    kept: list[tuple[int, int]] = []
    asked: dict[str, Any] = {"table": 8, "workdir": tmp_path / "work", **QUICK}
    first = uj.paper("sakai2009", collections, **asked)
    again = uj.paper(
        "sakai2009", collections, progress=lambda stage, done, total, before: kept.append((total, before)), **asked
    )
    assert again.render("markdown") == first.render("markdown")
    units = [(total, before) for total, before in kept if total and before]
    assert units and all(total == before for total, before in units)


def test_the_command_writes_a_folder(manifest: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made"
    line = ["paper", "lipani2015", "--collections", str(manifest), "-o", str(out), "--jobs", "1"]
    assert main(line) == 0
    told = capfd.readouterr()
    assert told.err.startswith("paper lipani2015: reading: 1 unit\n")
    assert told.out.startswith("Ours is better: ") and "wrote " in told.err
    there = {path.name for path in out.iterdir()}
    assert {"index.html", "paper.md", "table-1.csv", "table-2.tex", "figure-3.svg"} <= there
    assert "![" in (out / "paper.md").read_text() and "(figure-3.svg)" in (out / "paper.md").read_text()


def test_json_has_everything(manifest: Path, capfd: pytest.CaptureFixture[str]) -> None:
    line = ["paper", "sakai2007", "--collections", str(manifest), "--collection", "first", "--table", "2"]
    assert main([*line, "--format", "json", "--jobs", "1"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["paper"] == "sakai2007" and told["made"][0]["title"] == "Table 2"
    assert told["made"][0]["commands"] == ["unjudged study agreement --collections FILE -m sakai2007 --top 30 --by AP"]
    assert told["provenance"]["settings"]["paper"] == "sakai2007"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["paper", "sakai205"], "unknown paper 'sakai205' (did you mean sakai2005?)"),
        (["paper", "sakai2005", "--table", "6", "--collections", "nowhere"], "sakai2005 has no Table 6"),
        (["paper", "sakai2005"], "QRELS and RUN missing"),
        (["paper", "sakai2005", "q", "r", "-o", "FILE"], "-o names a folder for the page, and this is a file"),
        (["paper", "sakai2009", "--collections", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_misuse(line: list[str], sentence: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main([str(tmp_path / "file") if word == "FILE" else word for word in line]) == 2
    err = capfd.readouterr().err
    assert sentence in err and err.count("\n") <= 2
