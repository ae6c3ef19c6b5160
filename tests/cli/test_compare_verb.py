"""The verb `compare`: what is printed where, formats, exit codes, sentences."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
import scipy.stats

import unjudged as uj
from unjudged import cli

COLUMNS = (
    *("run_a", "run_b", "measure", "difference", "low", "high"),
    *("p_value", "p_adjusted", "effect_size", "wins", "ties", "losses", "unjudged_a", "unjudged_b"),
    *("estimate", "estimate_low", "estimate_high", "outcome", "why"),
)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve runs over ten topics, written once."""
    out = tmp_path_factory.mktemp("compare") / "tiny"
    uj.simulate("tiny", seed=3, out=out)
    return out


class Folder:
    """Runs the command inside the simulated collection's folder."""

    def __init__(self, path: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.path, self.capture = path, capture

    def run(self, *arguments: str, code: int = 0) -> tuple[str, str]:
        self.capture.readouterr()
        assert cli.main(["compare", "qrels.txt", *arguments]) == code
        out, err = self.capture.readouterr()
        return out, err

    def rows(self, *arguments: str) -> list[dict[str, str]]:
        out, _ = self.run(*arguments, "--format", "tsv")
        return list(csv.DictReader(io.StringIO(out), delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture
def folder(simulated: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Folder:
    monkeypatch.chdir(simulated)
    return Folder(simulated, capfd)


def test_columns_and_numbers(folder: Folder) -> None:
    found = folder.rows("runs", "-m", "AP,P@5", "--test", "t", "--correction", "none", "--unjudged", "nonrelevant")
    assert tuple(found[0]) == COLUMNS
    assert len(found) == 66 * 2
    collection = uj.load("qrels.txt", "runs")
    scores = uj.score(collection, "AP, P@5")
    for row in found[:10]:
        matrix = scores.matrix(row["measure"])
        x, y = (matrix[:, scores.runs.index(row[side])] for side in ("run_a", "run_b"))
        assert float(row["difference"]) == pytest.approx(x.mean() - y.mean(), abs=1e-12)
        assert float(row["p_value"]) == pytest.approx(scipy.stats.ttest_rel(x, y).pvalue, rel=1e-9)
        assert row["p_adjusted"] == row["p_value"]
        assert int(row["wins"]) == (x > y).sum()


def test_python_says_the_same(folder: Folder) -> None:
    out, _ = folder.run(
        "runs", "-m", "AP", "--seed", "5", "--test", "bootstrap", "--resamples", "200", "--format", "csv"
    )
    assert out == uj.compare(uj.load("qrels.txt", "runs"), "AP", seed=5, test="bootstrap", resamples=200).to_csv()


def test_baseline_by_name_and_by_file(folder: Folder) -> None:
    by_name = folder.rows("runs", "--baseline", "team02-1")
    assert len(by_name) == 11 * 3
    assert {r["run_b"] for r in by_name} == {"team02-1"}
    assert {r["measure"] for r in by_name} == {"AP", "nDCG@10", "P@10"}
    assert folder.rows("runs", "--baseline", "runs/team02-1") == by_name


def test_a_baseline_need_not_stand_among_the_runs(folder: Folder) -> None:
    beside, _ = folder.run("runs/team02-1", "runs/team01-1", "--baseline", "team01-1", "--format", "tsv")
    alone, _ = folder.run("runs/team02-1", "--baseline", "runs/team01-1", "--format", "tsv")
    assert alone == beside and len(alone.splitlines()) == 1 + 3  # a line for each measure


def test_text_ends_with_the_caption_and_the_verdict(folder: Folder) -> None:
    out, err = folder.run("runs", "-m", "AP", "--test", "randomised-tukey", "--resamples", "500")
    lines = out.splitlines()
    assert lines[0].split() == ["run", "AP", "AP", "estimated", "unjudged", "top", "10"]
    assert len(lines) == 1 + 12 + 1 + 1 + 1 + 3
    assert lines[17].startswith("next: ") and lines[18].startswith("      unjudged ")
    assert "randomised Tukey HSD test, 500 resamples, alpha = 0.05" in lines[14]
    assert lines[16].startswith("unknown: ") and " by AP" in lines[16] and "but there are only 10 topics" in lines[16]
    assert err == ""


def test_pairs_in_text(folder: Folder) -> None:
    out, _ = folder.run("runs", "-m", "AP", "--baseline", "team02-1", "--pairs", "--test", "t")
    assert out.splitlines()[0].split()[:4] == ["run_a", "run_b", "measure", "difference"]
    assert len(out.splitlines()[1:-6]) == 11


@pytest.mark.parametrize("format", ["json", "jsonl"])
def test_json(folder: Folder, format: str) -> None:
    out, _ = folder.run("runs", "-m", "AP", "--format", format, "--seed", "9")
    if format == "json":
        whole = json.loads(out)
        assert whole["provenance"]["seed"] == 9
        assert whole["provenance"]["settings"]["test"] == "t"
        assert len(whole["provenance"]["inputs"]["qrels.txt"]) == 64
        rows = whole["rows"]
    else:
        rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 66
    assert tuple(rows[0]) == COLUMNS


def test_latex_stands_alone_and_goes_to_a_file(folder: Folder, tmp_path: Path) -> None:
    out, _ = folder.run("runs", "-m", "AP,P@10", "--format", "latex", "-o", str(tmp_path / "table.tex"))
    text = (tmp_path / "table.tex").read_text()
    assert out == ""
    assert text.startswith("\\begin{table}\n\\centering\n\\caption{Means over 10 topics.")
    assert text.endswith("\\end{tabular}\n\\end{table}\n")
    assert text.count("\\textbf{") >= 2
    assert text.count("\\textsuperscript{") == 24


def test_bounds(folder: Folder) -> None:
    found = folder.rows("runs", "-m", "P@10,RBP,AP", "--unjudged", "bounds", "--baseline", "team02-1")
    assert tuple(found[0]) == (*COLUMNS, "ends")
    assert {(r["measure"], r["ends"]) for r in found} == {("P@10", "exact"), ("RBP", "exact"), ("AP", "outer")}
    for row in found:
        low, difference, high = (float(row[c]) for c in ("low", "difference", "high"))
        assert low - 1e-12 <= difference <= high + 1e-12
        whatever = "better" if low > 1e-12 else "worse" if high < -1e-12 else "cannot tell"
        why = "topics" if float(row["p_adjusted"]) >= 0.05 else "" if whatever != "cannot tell" else "holes"
        assert (row["outcome"], row["why"]) == ("cannot tell" if why else whatever, why)
    assert {row["why"] for row in found} == {"", "topics", "holes"}


def test_the_truth_lies_inside_what_unjudged_documents_allow(folder: Folder) -> None:
    """The simulated truth judges every document; differences under it stay inside the interval of the pool's."""
    found = folder.rows("runs", "-m", "P@10,RBP,DCG@20", "--unjudged", "bounds", "--gains", "1:1,2:2,3:3")
    truth = uj.score(uj.load("truth.txt", "runs", gains={1: 1, 2: 2, 3: 3}), "P@10, RBP, DCG@20")
    means = dict(zip(truth.runs, truth.mean_values(), strict=True))
    names = [str(m) for m in truth.measures]
    for row in found:
        m = names.index(row["measure"])
        true = means[row["run_a"]][m] - means[row["run_b"]][m]
        assert float(row["low"]) - 1e-9 <= true <= float(row["high"]) + 1e-9


@pytest.mark.parametrize("jobs", ["2", "4"])
def test_the_same_bytes_with_any_number_of_jobs(folder: Folder, jobs: str) -> None:
    asked = ("runs", "-m", "AP", "--format", "tsv")
    assert folder.run(*asked, "--jobs", jobs) == folder.run(*asked, "--jobs", "1")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["runs", "--baseline", "tem02-1"], "no run is called 'tem02-1' (did you mean team02-1?)"),
        (["runs/team01-1"], "this study needs at least 2 runs, 1 given"),
        (["runs", "-m", "AQ"], "unknown measure 'AQ'"),
        (["runs", "-m", "GMAP"], "GMAP is a mean over topics"),
        (["runs", "--test", "tt"], "unknown test 'tt'"),
        (["runs", "--correction", "holms"], "unknown correction 'holms' (did you mean holm?)"),
        (["runs", "--test", "tukey", "--correction", "bh"], "the Tukey HSD test already holds for all pairs at once"),
        (["runs", "--alpha", "5"], "alpha lies between 0 and 1"),
        (["runs", "--resamples", "0"], "at least 1 resample"),
        (["runs", "--seed", "-3"], "a seed is a whole number"),
        (["runs", "--jobs", "0"], "jobs must be at least 1, not 0"),
        (["runs", "--unjudged", "maybe"], "unjudged documents can be"),
        (["runs", "-m", "infAP", "--unjudged", "bounds"], "infAP has no exact bounds"),
        (["runs", "-m", "P@10", "--unjudged", "bounds", "--growth", "slow"], "growth can be"),
    ],
)
def test_one_sentence_and_exit_code_2(folder: Folder, asked: list[str], said: str) -> None:
    out, err = folder.run(*asked, code=2)
    assert out == ""
    assert err.startswith(f"unjudged: {said}")
    assert len(err.splitlines()) == 1


def test_misspelt_options_are_told_before_anything_is_read(folder: Folder) -> None:
    """The run does not exist, and still the test's name is what is wrong first."""
    _, err = folder.run("nowhere.run", "--test", "x", code=2)
    assert err.startswith("unjudged: unknown test 'x'")


def test_notes_go_to_stderr(folder: Folder) -> None:
    out, err = folder.run("runs", "-m", "AP", "--test", "permutation", "--resamples", "100", "--format", "tsv")
    assert err == (
        "note: nothing can be significant: the smallest p value of this paired randomisation test is 0.0099, the level "
        "corrected for 66 pairs is 0.00076; it takes more topics\n"
    )
    assert "note" not in out
