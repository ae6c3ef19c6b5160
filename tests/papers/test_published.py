"""Cells that the papers print and that come out of `unjudged paper` on the same data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from places import DATA

import unjudged as uj

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not DATA.is_dir(), reason="real collections are not at hand"),
]

AD_HOC_2 = {
    5: ((0.0063, 19, 0), (0.0069, 18, 0), (0.0065, 19, 0)),
    10: ((0.0082, 32, 0), (0.0084, 27, 0), (0.0085, 32, 0)),
    20: ((0.0132, 50, 0), (0.0119, 48, 0), (0.0138, 52, 0)),
    30: ((0.0149, 51, 0), (0.0129, 42, 0), (0.0164, 56, 0)),
    100: ((0.0216, 88, 2), (0.0169, 61, 2), (0.0293, 122, 4)),
}
"""Lipani, Lupu and Hanbury 2015, table 2: n -> MAE, SRE and SRE* of Ours, Webber, Reduced Pool."""

TREC03 = {
    "#topics": "50",
    "pool depth": "125",
    "average N": "925.5",
    "range N": "[292, 2050]",
    "average R": "33.2",
    "range R": "[4, 115]",
    "S-relevant": "8.1",
    "A-relevant": "-",
    "B-relevant": "25.0",
}
"""Sakai 2009, table 1 (its numbers of documents, runs and teams are not those of the files at hand)."""


def of(name: str, **more: Any) -> uj.Collection:
    where = DATA / name
    return uj.load(where / "qrels.txt.gz", where / "runs", teams=where / "teams.tsv", **more)


def test_table_1_of_2009_for_trec03() -> None:
    made = uj.paper("sakai2009", {"TREC03": of("robust03", only="601-650")}, table=1)
    columns, rows = made["Table 1"].result.laid_out()
    assert list(columns) == ["", "TREC03"]
    shown = {row[0]: str(row[1]) for row in rows}
    assert {key: shown[key] for key in TREC03} == TREC03


def test_table_2_of_2015_for_ad_hoc_2() -> None:
    """30 of 30 cells of MAE and SRE, 12 of 15 of SRE*: those at n = 100 hang on p values that were not published."""
    made = uj.paper("lipani2015", {"Ad Hoc 2": of("trec2-adhoc", lenient=True)}, table=2, jobs=1)
    columns, rows = made["Table 2"].result.laid_out()
    place = {name: i for i, name in enumerate(columns)}
    cells = {str(row[place["P@n"]]): row for row in rows}
    alike = 0
    for n, published in AD_HOC_2.items():
        for method, (mae, sre, sre_star) in zip(("Ours", "Webber", "Reduced Pool"), published, strict=True):
            row = cells[str(n)]
            assert (float(str(row[place[f"{method} MAE"]])), int(str(row[place[f"{method} SRE"]]))) == (mae, sre)
            alike += int(str(row[place[f"{method} SRE*"]])) == sre_star
    assert alike == 12


def test_all_four_papers_from_one_manifest_of_real_collections(tmp_path: Path) -> None:
    """Every table and figure is there for robust03, trec2-adhoc and dl19-passage together (answers: simulated)."""
    from qa_world import write_questions

    text = ""
    for name, more in (
        ("robust03", 'only = "601-650"\npooled = "all"'),
        ("trec2-adhoc", "lenient = true"),
        ("dl19-passage", ""),
    ):
        files = {"judgments": "qrels.txt.gz", "runs": "runs", "teams": "teams.tsv"}
        text += (
            f"[{name}]\n" + "".join(f'{key} = "{DATA / name / file}"\n' for key, file in files.items()) + more + "\n"
        )
    write_questions(tmp_path / "questions")
    text += '[questions]\njudgments = "questions/qrels.tsv"\nruns = "questions/runs"\nqa = true\n'
    (tmp_path / "collections.toml").write_text(text)
    found = uj.load_manifest(tmp_path / "collections.toml")
    for name in ("sakai2005", "sakai2007", "sakai2009", "lipani2015"):
        made = uj.paper(name, found, out=tmp_path / name, trials=100, resamples=100)
        assert [one.title for one in made.made if one.why_not] == []
        documents = {"robust03", "trec2-adhoc", "dl19-passage"}
        assert {row[1] for row in made.rows()} - {"questions"} == documents
        assert (tmp_path / name / "index.html").stat().st_size > 100_000
