"""The order of the runs under another judge, and under judging errors."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import UsageError
from unjudged.studies.judges import rank_lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("judges") / "sim"
    options: dict[str, Any] = {"topics": 26, "runs": 12, "teams": 4, "depth": 8, "K": 60, "C": 700}
    uj.simulate("tiny", seed=3, out=out, **options)
    lines = [line.split() for line in (out / "qrels.txt").read_text().splitlines()]
    turned = "".join(f"{t} 0 {d} {int(g == '0')}\n" for t, _, d, g in lines)
    (out / "turned.txt").write_text(turned)
    return out


@pytest.fixture(scope="module")
def collection(folder: Path) -> uj.Collection:
    return uj.load(str(folder / "qrels.txt"), str(folder / "runs"), teams=folder / "teams.tsv")


def means(collection: uj.Collection, measure: str) -> Any:
    """Rounded, so that scipy sees ties where there are some."""
    return np.round(uj.score(collection, [measure]).mean_values()[:, 0], 12)


def row(result: Any, measure: str, judge: str | None = None) -> dict[str, Any]:
    """The row of a measure (and judge) as a dict."""
    rows = [dict(zip(result.columns, r, strict=True)) for r in result.rows()]
    (found,) = [r for r in rows if r["measure"] == measure and judge in (None, r["judge"])]
    return found


def test_the_same_judge_changes_nothing(collection: uj.Collection) -> None:
    result = uj.audit(collection, collection, resamples=20)
    assert result.frame.measure.tolist() == ["AP", "nDCG@10", "P@10"]
    assert (result.frame[["tau", "tau_ap", "top_tau", "rbo", "covered", "kappa_binary"]].round(12) == 1).all(axis=None)
    assert (result.frame[["changed", "leniency", "shift", "spread", "times_yardstick"]] == 0).all(axis=None)
    told = result.verdict
    assert told is not None and told.word == "unknown"  # 12 runs are too few for a verdict
    assert "only 12 runs (at least 20 are needed)" in told.sentence


def test_with_limits_of_ones_own_the_word_follows(folder: Path, collection: uj.Collection, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text("[another-judge]\nruns = 5\nsignificant = 1\n")
    options: dict[str, Any] = {"thresholds": tmp_path / "limits.toml", "resamples": 20, "jobs": 1}
    assert uj.audit(collection, collection, **options).verdict.word == "solid"  # type: ignore[union-attr]
    turned = uj.audit(collection, str(folder / "turned.txt"), **options)
    assert turned.verdict.word == "fragile" and turned.verdict.decided_by[0] == "turned"  # type: ignore[union-attr]
    assert uj.study("another-judge", collection, second=str(folder / "turned.txt"), **options).verdict == turned.verdict
    both = uj.audit(collection, {"same": collection, "turned": str(folder / "turned.txt")}, **options)
    assert both.verdict.word == "fragile" and "same is solid" in both.verdict.sentence  # type: ignore[union-attr]
    assert both.frame.judge.tolist() == ["same"] * 3 + ["turned"] * 3


@pytest.mark.parametrize("given", ["file", "collection", "dict"])
def test_against_scores_under_either_judgments(folder: Path, collection: uj.Collection, given: str) -> None:
    file = folder / "turned.txt"
    second = uj.load(str(file), str(folder / "runs"))
    rows: dict[str, dict[str, int]] = {}
    for line in file.read_text().splitlines():
        topic, _, doc, grade = line.split()
        rows.setdefault(topic, {})[doc] = int(grade)
    other = {"file": str(file), "collection": second, "dict": rows}[given]
    result = uj.study("judges", collection, second=other, resamples=20, seed=2)
    for measure in ("AP", "nDCG@10", "P@10"):
        x, y = (means(c, measure) for c in (collection, second))
        found = row(result, measure)
        assert (found["topics"], found["runs"], found["pairs"]) == (26, 12, 66)
        assert found["tau"] == pytest.approx(stats.kendalltau(x, y).statistic)
        assert (found["mean"], found["mean_judge"]) == (pytest.approx(x.mean()), pytest.approx(y.mean()))
        assert found["spread"] == pytest.approx(np.std(y - x, ddof=1))
        p_values = {}
        for side, c in (("human", collection), ("judge", second)):
            matrix = uj.score(c, [measure]).matrix(measure)
            tests = [stats.ttest_rel(matrix[:, i], matrix[:, j]) for i in range(12) for j in range(i + 1, 12)]
            holm = multipletests([t.pvalue for t in tests], 0.05, "holm")[0]
            p_values[side] = [int(np.sign(t.statistic)) if s else 0 for t, s in zip(tests, holm, strict=True)]
        pairs = list(zip(p_values["human"], p_values["judge"], strict=True))
        assert found["false_alarms"] == sum(h == 0 != j for h, j in pairs)
        assert found["misses"] == sum(j == 0 != h for h, j in pairs)
        assert found["reversals"] == sum(h * j == -1 for h, j in pairs)
        assert found["changed"] == pytest.approx(sum(h != j for h, j in pairs) / 66)
    assert result.plot().svg().startswith("<svg")
    x, y = (stats.rankdata(-means(c, "AP"), "min") for c in (collection, second))
    assert f"{int((x != y).sum())} change rank" in result.plot().description
    told = result.verdict
    assert told is not None and told.next is not None and told.next.command[:2] == ("study", "judges")


def test_only_shared_topics_count(folder: Path, collection: uj.Collection, tmp_path: Path) -> None:
    lines = (folder / "turned.txt").read_text().splitlines(keepends=True)
    some = sorted({line.split()[0] for line in lines})[:7]
    (tmp_path / "part.txt").write_text("".join(line for line in lines if line.split()[0] in some))
    result = uj.audit(collection, str(tmp_path / "part.txt"), "AP", resamples=20)
    part = [uj.only(collection, some), uj.load(str(tmp_path / "part.txt"), str(folder / "runs"))]
    x, y = (means(c, "AP") for c in part)
    assert result.frame.tau[0] == pytest.approx(stats.kendalltau(x, y).statistic)
    assert result.frame.topics[0] == 7
    told = result.verdict
    assert told is not None and told.word == "unknown"
    assert "7 topics (at least 25 are needed)" in told.sentence


RUNS = {f"r{r}": {t: {f"d{i}": float((i * (r + 2)) % 7) for i in range(6)} for t in "ab"} for r in range(3)}


def test_documents_only_one_has_judged_are_left_out_and_counted() -> None:
    first = {t: {"d0": 1, "d1": 0, "d2": 1} for t in "ab"}
    second = {"a": {"d0": 1, "d3": 0}, "b": {"d0": 0, "d1": 1, "d5": 1}, "z": {"d0": 1}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c = uj.load(first, RUNS)
        result = uj.audit(c, second, resamples=10)
        labels = uj.audit(c, second, resamples=10, labels=True)
    assert "has judged 3 of 6 documents judged here (by grade here 0 to 1: 50 %)" in result.notes[0]
    assert "2 documents only it has judged left out" in result.notes[0]
    (found,) = labels.to_dict()["rows"]
    assert (found["pairs"], found["human_only"], found["judge_only"]) == (3, 3, 2)
    assert (found["coverage"], found["coverage_0"], found["coverage_1"]) == (0.5, 0.5, 0.5)
    assert found["leniency"] == pytest.approx(2 / 3 - 2 / 3)
    assert found["agreement_binary"] == pytest.approx(1 / 3)
    same = uj.load({"a": {"d0": 1}, "b": {"d0": 1, "d1": 0}}, RUNS)
    assert row(result, "AP")["mean"] == pytest.approx(uj.score(same, ["AP"]).mean_values()[:, 0].mean())


def test_two_scales_are_compared_as_relevant_and_not(collection: uj.Collection) -> None:
    binary = uj.collapse(collection, rel=1)
    (found,) = uj.audit(collection, binary, resamples=10, labels=True).to_dict()["rows"]
    assert found["kappa"] is None and found["kappa_binary"] == pytest.approx(1)
    assert (found["low"], found["high"]) == (found["kappa_binary_low"], found["kappa_binary_high"])
    told = uj.audit(collection, binary, "AP", rel=2, resamples=10)
    assert (row(told, "AP(rel=2)")["rel"], row(told, "AP(rel=2)")["judge_rel"]) == (2, 1)
    assert any("two scales" in note for note in told.notes)


def test_confusion_counts_pairs_of_grades(collection: uj.Collection, folder: Path) -> None:
    found = uj.audit(collection, str(folder / "turned.txt"), resamples=10, confusion=True)
    counts = {(g, h): n for _, g, h, n in found.rows()}
    grade = collection.judgments.grade
    assert counts[0, 1] == (grade == 0).sum() and counts[1, 0] == (grade == 1).sum() and counts[0, 0] == 0


def test_a_selection_by_label_is_noticed(collection: uj.Collection, tmp_path: Path, folder: Path) -> None:
    (tmp_path / "limits.toml").write_text("[another-judge]\nruns = 5\nsignificant = 1\n")
    lines = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    kept = [f for n, f in enumerate(lines) if f[3] != "0" or n % 5 == 0]
    (tmp_path / "chosen.txt").write_text("".join(" ".join(f) + "\n" for f in kept))
    told = uj.audit(collection, str(tmp_path / "chosen.txt"), "AP", thresholds=tmp_path / "limits.toml").verdict
    assert told is not None and told.word == "unknown" and "chosen by their label" in told.sentence
    third = [f for n, f in enumerate(lines) if n % 3 == 0]
    (tmp_path / "third.txt").write_text("".join(" ".join(f) + "\n" for f in third))
    told = uj.audit(collection, str(tmp_path / "third.txt"), "AP", thresholds=tmp_path / "limits.toml").verdict
    assert told is not None and told.word == "unknown" and "% of the documents judged here" in told.sentence


def test_a_planted_favour_for_a_family_shows(collection: uj.Collection) -> None:
    """A judge who likes what two of eight blocks retrieve gives them more; nobody else gains as much."""
    runs = sorted(collection.runs)
    family = {run: "liked" if collection.teams[run] == "team01" else "others" for run in runs}
    partial = uj.favour(collection, 0.9, team="team01", seed=1)
    bias = uj.audit(collection, partial, "P@10", resamples=50, bias=True, families=family)
    gains = {run: gain for _, _, run, _, gain, *_ in bias.rows()}
    liked = [gain for run, gain in gains.items() if family[run] == "liked"]
    assert min(liked) > 0
    found = uj.audit(collection, partial, "P@10", resamples=50, families_table=True, families=family)
    rows = {r[2]: dict(zip(found.columns, r, strict=True)) for r in found.rows()}
    assert rows["liked"]["favour"] > 0.05 and rows["liked"]["favour"] == pytest.approx(-rows["others"]["favour"])
    assert rows["liked"]["finding"] == "unknown"  # one block inside is too few
    assert rows["liked"]["p_value"] is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"second": None}, "give a second judge"),
        ({"second": []}, "give a second judge"),
        ({"second": {"elsewhere": {"d": 1}}}, "no document was judged here and by the first judge"),
        ({"second": {"1": {"nowhere": 1}}}, "no document was judged here and by the first judge"),
        ({"labels": True, "bias": True}, "one table at a time: --labels or --bias"),
        ({"judge_scale": {"nobody": 2}}, "--judge-scale nobody=2: no judge has that name"),
        ({"judge_scale": {"A": 0}}, "the highest grade is a whole number of 1 or more"),
        ({"judge_rel": {"nobody": 2}}, "no judge has that name"),
        ({"judge_rel": {"A": "x"}}, "a whole number of 1 or more"),
        ({"families_table": True}, "families need to be named"),
        ({"families": {"no-run": "x"}}, "the families name none of these runs"),
        ({"alpha": 5}, "alpha lies between 0 and 1"),
        ({"resamples": 0}, "at least 1 resample"),
        ({"measures": "GMAP"}, "a mean over topics"),
    ],
)
def test_what_cannot_be_audited(collection: uj.Collection, options: dict[str, Any], sentence: str) -> None:
    same: dict[str, dict[str, Any]] = {t: {} for t in collection.topics}
    own = collection.judgments
    for topic, doc, grade in zip(own.topic.tolist(), range(len(own)), own.grade.tolist(), strict=True):
        same[collection.topics[topic]][own.docs[doc]] = grade
    with pytest.raises(UsageError, match=sentence):
        uj.study("judges", collection, **{"second": same, **options})


def test_one_topic_is_not_enough() -> None:
    first = {t: {"d0": 1, "d1": 0} for t in "ab"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = uj.audit(uj.load(first, RUNS), {"a": {"d0": 1}})
    assert found.verdict is not None and found.verdict.word == "unknown"
    assert "at least two topics in common" in found.verdict.sentence


def test_constant_labels_have_no_kappa_but_an_answer() -> None:
    first = {t: {"d0": 1, "d1": 0, "d2": 1} for t in "ab"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c = uj.load(first, RUNS)
        nothing = {t: dict.fromkeys(docs, 0) for t, docs in first.items()}
        result = uj.audit(c, nothing, "AP", resamples=10)
    found = row(result, "AP")
    assert found["kappa_binary"] == 0 and found["mean_judge"] == 0 and np.isnan(found["tau"])
    assert result.verdict is not None and result.verdict.word == "unknown"


def test_several_collections(folder: Path, collection: uj.Collection) -> None:
    both = uj.audit({"a": collection, "b": collection}, str(folder / "turned.txt"), resamples=10)
    rows = both.plot().spec["data"]["values"]
    assert {row["collection"] for row in rows} == {"a", "b"} and len(rows) == 2 * 2 * 12


def run_cli(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_verb_the_study_and_python_give_one_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = str(folder / "qrels.txt"), str(folder / "turned.txt")
    more = ("--resamples", "20", "-m", "AP", "--format", "tsv", "--jobs", "1")
    code, verb, _ = run_cli(capsys, "judges", "audit", *files, "--runs", str(folder / "runs"), *more)
    assert code == 0
    words = ("study", "judges", files[0], str(folder / "runs"), "--second-judge", files[1], *more)
    assert run_cli(capsys, *words)[1] == verb
    c = uj.load(files[0], str(folder / "runs"))
    assert uj.audit(c, files[1], "AP", resamples=20).render("tsv") == verb
    words = ("judges", "audit", files[0], files[1], files[0], "--runs", str(folder / "runs"), *more)  # type: ignore[assignment]
    assert len(run_cli(capsys, *words)[1].splitlines()) == 3


def test_bad_files_are_told_in_a_sentence(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("1 0 d relevant\n")
    (tmp_path / "families.tsv").write_text("run\tfamily\nalone\n")
    qrels, runs = str(folder / "qrels.txt"), str(folder / "runs")
    cases = {
        "text.txt:1": ("judges", "audit", qrels, str(tmp_path / "text.txt"), "--runs", runs),
        "--bias needs runs": ("judges", "audit", qrels, qrels, "--bias"),
        "charts need runs": ("judges", "audit", qrels, qrels, "--figure", "x.svg"),
        "families.tsv:2: a family line needs run<TAB>family": (
            *("judges", "audit", qrels, qrels, "--runs", runs, "--families", str(tmp_path / "families.tsv")),
        ),
    }
    for sentence, words in cases.items():
        code, out, said = run_cli(capsys, *words)
        assert (code, out) == (2, "") and sentence in said and "Traceback" not in said


def test_coverage_by_grade_stands_first_and_what_is_relevant_is_printed(
    folder: Path, collection: uj.Collection, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    kept = [f for n, f in enumerate(lines) if f[3] != "0" or n % 5 == 0]
    (tmp_path / "chosen.txt").write_text("".join(f"{t} {i} {d} {2 * int(g)}\n" for t, i, d, g in kept))
    files = (str(folder / "qrels.txt"), str(tmp_path / "chosen.txt"), "--runs", str(folder / "runs"))
    more = ("-m", "AP", "--resamples", "10", "--jobs", "1", "--judge-rel", f"{tmp_path / 'chosen.txt'}=2")
    code, out, _ = run_cli(capsys, "judges", "audit", *files, *more)
    head, row_told, *_ = out.splitlines()
    zeros = [n for n, f in enumerate(lines) if f[3] == "0"]
    share = sum(n % 5 == 0 for n in zeros) / len(zeros)
    assert code == 0 and head.split()[:4] == ["judge", "judged,", "by", "grade"]
    assert row_told.split("  ")[1:2] == [f"0: {100 * share:.0f} %, 1 to {max(f[3] for f in lines)}: 100 %"]
    assert "1, judge 2" in row_told
    _, out, _ = run_cli(capsys, "judges", "audit", *files, *more, "--format", "tsv")
    told = dict(zip(*(line.split("\t") for line in out.splitlines()), strict=True))
    assert (told["rel"], told["judge_rel"], told["word"]) == ("1", "2", "unknown")
    wanted = "judge measure tau tau_ap top_tau overlap rbo significant_human significant_judge false_alarms misses "
    assert set(told) >= set(f"{wanted}reversals changed yardstick shift spread word".split())
    _, out, _ = run_cli(capsys, "judges", "audit", *files, *more, "--labels", "--format", "tsv")
    wanted = "judge pairs coverage kappa kappa_quadratic kappa_binary alpha_nominal alpha_ordinal alpha_binary "
    assert set(out.splitlines()[0].split("\t")) >= set(f"{wanted}leniency low high".split())
    _, out, _ = run_cli(capsys, "judges", "audit", *files, *more, "--bias", "--format", "tsv")
    assert set(out.splitlines()[0].split("\t")) >= {"judge", "measure", "run", "family", "bias", "low", "high"}
    (tmp_path / "families.tsv").write_text("run\tfamily\n" + "".join(f"{run}\tx\n" for run in collection.runs[:5]))
    table = ("--families", str(tmp_path / "families.tsv"), "--families-table")
    _, out, _ = run_cli(capsys, "judges", "audit", *files, *more, *table, "--format", "tsv")
    wanted = "judge measure family runs blocks favour low high p_value p_adjusted finding"
    assert set(out.splitlines()[0].split("\t")) >= set(wanted.split())


def test_without_runs_labels_alone_are_compared(
    folder: Path, collection: uj.Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    files = str(folder / "qrels.txt"), str(folder / "turned.txt")
    code, out, _ = run_cli(capsys, "judges", "audit", *files, "--resamples", "20", "--format", "json")
    told = json.loads(out)
    assert code == 0 and told["verdict"]["word"] == "unknown" and "no runs" in told["verdict"]["sentence"]
    assert told["verdict"]["next"]["command"] == ["judges", "audit", *files, "--runs", "RUN"]
    whole = uj.audit(collection, files[1], "AP", resamples=20, labels=True, jobs=1)
    assert told["rows"] == json.loads(whole.render("json"))["rows"]
    code, out, _ = run_cli(capsys, "judges", "audit", *files, "--confusion", "--format", "tsv")
    assert code == 0 and out.splitlines()[0] == "judge\tgrade\tjudge_grade\tdocuments"


def test_no_family_is_tested_where_teams_are_not_known(folder: Path, collection: uj.Collection, tmp_path: Path) -> None:
    """Runs of one team are alike: permuting single runs would find favour where there is none."""
    family = {f"{run}.txt": "odd" if place % 2 else "even" for place, run in enumerate(sorted(collection.runs))}
    asked: dict[str, Any] = {"measures": "P@10", "resamples": 20, "families_table": True, "jobs": 1}
    partial = uj.favour(collection, 0.9, team="team01", seed=1)
    alone = uj.load(str(folder / "qrels.txt"), str(folder / "runs"))
    without = uj.audit(alone, partial, families=family, **asked)
    known = uj.audit(collection, partial, families={**family, "elsewhere": "odd"}, **asked)
    assert (without.frame.finding == "unknown").all() and without.frame.blocks.isna().all()
    assert without.frame[["p_value", "p_adjusted", "curved_p"]].isna().all(axis=None)
    assert without.frame.favour.tolist() == known.frame.favour.tolist() and (known.frame.blocks > 1).all()
    assert any("cannot be tested: teams are not known" in note for note in without.notes)
    assert "families: 1 named run is not among the runs given (e.g. elsewhere)" in known.notes
    lines = (folder / "teams.tsv").read_text().splitlines()
    left = lines[-1].split("\t")[0]
    (tmp_path / "teams.tsv").write_text("\n".join(lines[:-1]) + "\n")
    most = uj.load(str(folder / "qrels.txt"), str(folder / "runs"), teams=tmp_path / "teams.tsv")
    told = uj.audit(most, partial, families=family, **asked)
    assert f"1 run without a team ({left}): each is a block of its own" in told.notes


def test_the_next_step_knows_what_was_said_of_the_judge(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, other, runs = (str(folder / name) for name in ("qrels.txt", "turned.txt", "runs"))
    families = tmp_path / "families.tsv"
    families.write_text("".join(f"{path.name}\t{path.name[:6]}\n" for path in sorted((folder / "runs").iterdir())))
    said = ["--judge-rel", "turned=9", "--rel", "2", "--judge-scale", "turned=3"]
    more = ["--families", str(families), "--resamples", "10", "-m", "P@10"]
    code, out, err = run_cli(capsys, "judges", "audit", qrels, other, "--runs", runs, *said, *more, "--format", "json")
    assert code == 0 and "nothing is relevant to turned: its grades end at 3, relevant is 9" in err
    step = json.loads(out)["verdict"]["next"]["command"]
    assert run_cli(capsys, *step, "--format", "json")[0] == 0
    assert {"turned=9", "turned=3", str(families)} <= set(step) and step[step.index("--rel") + 1] == "2"
    code, out, err = run_cli(
        capsys, "judges", "audit", qrels, other, *said[:4], "--resamples", "10", "--format", "json"
    )
    step = json.loads(out)["verdict"]["next"]["command"]
    assert step == ["judges", "audit", qrels, other, "--runs", "RUN", "--rel", "2", "--judge-rel", "turned=9"]
    code, _, err = run_cli(capsys, "judges", "audit", qrels, other, "--families", str(families))
    assert code == 2 and "families are of runs" in err
    _, _, err = run_cli(capsys, "judges", "audit", qrels, other, "--rel", "7", "--resamples", "10")
    assert "nothing is relevant here: grades end at" in err


def test_one_grade_for_all_is_told(folder: Path, collection: uj.Collection) -> None:
    same = {t: dict.fromkeys(docs, 1) for t, docs in as_dicts(collection).items()}
    told = uj.audit(collection, {"flat": same}, "AP", resamples=10, jobs=1)
    assert "flat gives every document grade 1: its labels tell nothing apart" in told.notes


def as_dicts(collection: uj.Collection) -> dict[str, dict[str, int]]:
    own = collection.judgments
    found: dict[str, dict[str, int]] = {topic: {} for topic in collection.topics}
    for row, topic in enumerate(own.topic.tolist()):
        found[collection.topics[topic]][own.docs[row]] = int(own.grade[row])
    return found


def test_grades_outside_the_scale_are_named_with_their_lines(
    folder: Path, collection: uj.Collection, tmp_path: Path
) -> None:
    """A machine that says 7 on a scale of 0 to 2, and -1: named; left out, where the scale is told."""
    lines = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    for place, grade in ((4, "7"), (11, "-1"), (20, "9")):
        lines[place][3] = grade
    (tmp_path / "odd.txt").write_text("# labels\n" + "".join(" ".join(f) + "\n" for f in lines))
    found = uj.audit(collection, {"odd": str(tmp_path / "odd.txt")}, "nDCG@10", resamples=10, jobs=1)
    top = int(collection.judgments.grade.max())
    below, above = found.notes[-2:]
    assert below == "1 grade of odd below 0 counts as unjudged: line 13 (grade -1)"
    assert above.startswith(f"2 grades of odd above {top}, outside of its scale? line 6 (grade 7), line 22 (grade 9)")
    told = uj.audit(
        collection, {"odd": str(tmp_path / "odd.txt")}, "nDCG@10", resamples=10, jobs=1, judge_scale={"odd": top}
    )
    assert f"above {top}, the end of its scale, left out: line 6 (grade 7), line 22 (grade 9)" in told.notes[-1]
    without = [f for place, f in enumerate(lines) if place not in (4, 11, 20)]
    (tmp_path / "without.txt").write_text("".join(" ".join(f) + "\n" for f in without))
    plain = uj.audit(collection, {"odd": str(tmp_path / "without.txt")}, "nDCG@10", resamples=10, jobs=1)
    assert told.frame.equals(plain.frame) and not told.frame.equals(found.frame)
    memory = {"101": {"d": 1}, **{t: {} for t in collection.topics}}
    for topic, _, doc, grade in lines:
        memory[topic][doc] = int(grade)
    found = uj.audit(collection, {"odd": memory}, "nDCG@10", resamples=10, jobs=1)
    assert f"document {lines[4][2]} of topic {lines[4][0]} (grade 7)" in found.notes[-1]


def _judged(folder: Path, change: Callable[[int, list[str]], list[str] | None]) -> str:
    """The judgments with some lines changed or left out."""
    lines = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    return "".join(" ".join(made) + "\n" for n, line in enumerate(lines) if (made := change(n, line)) is not None)


BAD: dict[str, tuple[Callable[[int, list[str]], list[str] | None], str, str]] = {
    "few pairs": (
        lambda n, f: f if n % 5 == 0 else None,
        "bad has judged only 20 % of the documents judged here (90 % are needed)",
        "",
    ),
    "one topic": (
        lambda n, f: f if f[0] == "101" else None,
        "unknown: bad: the second judge needs at least two topics in common with the first",
        "",
    ),
    "constant labels": (lambda n, f: [*f[:3], "1"], "fragile: of 66 decisions between two runs by AP, bad changes", ""),
    "text grades": (lambda n, f: [*f[:3], "good"], "", "the grade 'good' is not a whole number"),
    "disjoint topics": (
        lambda n, f: [f"x{f[0]}", *f[1:]],
        "",
        "no document was judged here and by the first judge; do topics and document ids match?",
    ),
    "three topics": (
        lambda n, f: f if f[0] < "104" else None,
        "unknown: there are only 3 topics (at least 25 are needed)",
        "",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_judge_gets_a_sentence_or_a_partial_answer(
    name: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, told, refused = BAD[name]
    (tmp_path / "bad").write_text(_judged(folder, change))
    (tmp_path / "limits.toml").write_text("[another-judge]\nruns = 5\nsignificant = 1\n")
    files = (
        str(folder / "qrels.txt"),
        str(tmp_path / "bad"),
        "--runs",
        str(folder / "runs"),
        "-m",
        "AP",
        "--jobs",
        "1",
    )
    more = ("--resamples", "20", "--thresholds", str(tmp_path / "limits.toml"))
    code, out, said = run_cli(capsys, "judges", "audit", *files, *more)
    assert "Traceback" not in said
    if refused:
        assert (code, out) == (2, "") and refused in said and "bad:" in said
    else:
        assert code == 0 and told in "\n".join(out.splitlines()[-3:])
    code, out, said = run_cli(capsys, "judges", "estimate", *files[:-2])  # every topic is human, or none is common
    assert (code == 2 and not out) or (code == 0 and "refused: " in out)
    assert "Traceback" not in said
    code, out, said = run_cli(capsys, "judges", "sample", str(tmp_path / "bad"), "--topics", "40")
    assert code == 2 and not out and ("good" in said or "at least two are needed" in said or "not 40" in said)
    code, out, said = run_cli(capsys, "judges", "merge", *files[:2], str(folder / "turned.txt"))
    merged = {line.split()[0] for line in out.splitlines()}
    assert "Traceback" not in said and code == (2 if "grade" in refused else 0)
    assert code == 2 or {"qrels", "bad", "turned"} <= merged


def test_a_judge_that_cannot_be_audited_does_not_cost_the_others_their_answer(
    folder: Path, collection: uj.Collection, tmp_path: Path
) -> None:
    (tmp_path / "apart").write_text(_judged(folder, lambda n, f: [f"x{f[0]}", *f[1:]]))
    (tmp_path / "one").write_text(_judged(folder, lambda n, f: f if f[0] == "101" else None))
    turned = str(folder / "turned.txt")
    asked: dict[str, Any] = {"measures": "AP", "resamples": 20}
    for show in ({}, {"labels": True}):
        among = uj.audit(collection, [str(tmp_path / "apart"), turned, str(tmp_path / "one")], **asked, **show)
        alone = uj.audit(collection, [turned], **asked, **show)
        assert repr(list(among.rows())) == repr(list(alone.rows()))
        left_out = [note for note in among.notes if note.endswith("left out")]
        assert len(left_out) == 2 and "no document was judged here" in left_out[0] and "one: " in left_out[1]


def test_what_has_no_value_shows_none(folder: Path, collection: uj.Collection, tmp_path: Path) -> None:
    (tmp_path / "ones").write_text(_judged(folder, lambda n, f: [*f[:3], "1"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for human, other in (
            (collection, "ones"),
            (uj.load(tmp_path / "ones", folder / "runs"), folder / "turned.txt"),
        ):
            found = uj.audit(human, str(tmp_path / other), "AP", resamples=10)
            assert not {"nan", "inf"} & set(found.render("text").split())
            assert any("every document grade 1" in note for note in found.notes)


def test_a_judge_who_left_out_much_is_told_where_scores_stand_side_by_side(
    folder: Path, collection: uj.Collection, tmp_path: Path
) -> None:
    half = sorted({line.split()[2] for line in (folder / "qrels.txt").read_text().splitlines()})[::2]
    (tmp_path / "half").write_text(_judged(folder, lambda n, f: f if f[2] in half else None))
    few = len((tmp_path / "half").read_text().splitlines())
    found = uj.study("over-judges", collection, second=[tmp_path / "half", folder / "turned.txt"], measures="AP")
    (note,) = [note for note in found.notes if "judged only" in note]
    assert note.startswith(f"half judged only {few:,} of {len(collection.judgments):,} documents")


def test_the_sentence_names_the_worst_and_rates_the_others(
    folder: Path, collection: uj.Collection, tmp_path: Path
) -> None:
    (tmp_path / "limits.toml").write_text("[another-judge]\nruns = 5\nsignificant = 1\n")
    options: dict[str, Any] = {"thresholds": tmp_path / "limits.toml", "resamples": 20, "jobs": 1}
    worse, worst = uj.flip(collection, 0.35, seed=3), str(folder / "turned.txt")
    judges = {"worse": worse, "worst": worst, "same": collection}
    told = uj.audit(collection, judges, "AP", **options)
    changed = dict(zip(told.frame.judge, told.frame.changed, strict=True))
    assert changed["worst"] > changed["worse"] > changed["same"] == 0
    assert told.verdict is not None and told.verdict.word == "fragile"
    assert "worst, the worst of 3 judges, changes" in told.verdict.finding
    assert told.verdict.sentence.endswith("; same is solid; worse is fragile, too")
    assert told.verdict.next is not None and told.verdict.next.sentence.endswith("under worst")
    alone = uj.audit(collection, {"worst": worst}, "AP", **options).verdict
    assert alone is not None and "judges" not in alone.sentence
    again = uj.audit(collection, {"a": collection, "b": collection, "c": collection}, "AP", **options).verdict
    assert again is not None and again.sentence.endswith("; the other 2 judges are solid, too")


# -- judging errors


def test_noise_is_that_of_flip_and_favour(collection: uj.Collection) -> None:
    result = uj.study("noise", collection, measures="AP,P@10", seed=4, repeats=2, rates=(0.1, 0.3))
    found = {tuple(row[:4]): row[4:] for row in result.rows()}
    assert result.verdict is None
    assert [found["random errors", 0.0, 1, measure][1] for measure in ("AP", "P@10")] == [1, 1]
    for rate, repeat in ((0.1, 1), (0.1, 2), (0.3, 2)):
        other = uj.flip(collection, relevant=rate, nonrelevant=rate / 10, seed=4000 + repeat - 1)
        for measure in ("AP", "P@10"):
            mean, tau = found["random errors", rate, repeat, measure]
            assert tau == pytest.approx(stats.kendalltau(means(collection, measure), means(other, measure)).statistic)
            assert mean == pytest.approx(means(other, measure).mean())
    teams = [kind.removeprefix("favours ") for kind, rate, *_ in found if rate == 0.3 and "favours" in kind]
    sizes = {team: sum(t == team for t in collection.teams.values()) for team in collection.teams.values()}
    assert list(dict.fromkeys(teams)) == sorted(sizes, key=lambda team: (-sizes[team], team))[:3]
    other = uj.favour(collection, 0.3, team=teams[0], seed=4)
    tau = stats.kendalltau(means(collection, "AP"), means(other, "AP")).statistic
    assert found[f"favours {teams[0]}", 0.3, 1, "AP"][1] == pytest.approx(tau)
    assert any(note.startswith("random errors of 10 % leave tau") and note.endswith("by AP") for note in result.notes)
    assert result.plot().svg().startswith("<svg")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rates": ()}, "rates of errors lie between 0 and 1"),
        ({"rates": (0.1, 2)}, "rates of errors lie between 0 and 1, not 0.1, 2"),
        ({"repeats": 0}, "at least 1 repeat is needed, not 0"),
        ({"seed": -1}, "a seed is a whole number of 0 or more"),
    ],
)
def test_noise_that_means_nothing(collection: uj.Collection, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        uj.study("noise", collection, **options)


def test_charts_tell_what_the_tables_say(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("charts") / "c"
    uj.simulate("tiny", seed=6, out=folder, topics=20, runs=10, teams=5)
    c = uj.load(folder / "qrels.txt", folder / "runs", teams=folder / "teams.tsv")
    other = uj.flip(c, relevant=0.3, nonrelevant=0.1, seed=2)
    families = {run: "even" if int(run[-1]) % 2 == 0 else "odd" for run in c.runs}
    found = uj.audit(c, {"noisy": other}, "nDCG@10", families=families, resamples=20, jobs=1)
    (row,) = found.frame.itertuples()
    fields = found.plot("confusion").spec["data"]["values"]
    assert sum(field["documents"] for field in fields) == row.documents
    pairs = found.plot("decisions").spec["data"]["values"]
    counts = {what: sum(pair["decision"] == what for pair in pairs) for what in ("miss", "false alarm", "reversal")}
    assert counts == {"miss": row.misses, "false alarm": row.false_alarms, "reversal": row.reversals}
    assert len(pairs) == row.pairs and all(pair["better"] != pair["worse"] for pair in pairs)
    bias = found.plot("bias").spec["data"]["values"]
    assert {run["family"] for run in bias} == {"even", "odd"} and bias[0]["shift"] == pytest.approx(row.shift)
    assert np.std([run["gain"] for run in bias], ddof=1) == pytest.approx(row.spread)
    runs = uj.audit(c, {"noisy": other}, "nDCG@10", bias=True, resamples=20, jobs=1).frame.set_index("run")
    for point in found.plot("ranks").spec["data"]["values"]:
        assert (point["first"], point["second"]) == (runs["rank"][point["run"]], runs["rank_judge"][point["run"]])
    assert f"{sum(f['documents'] for f in fields if f['grade'] == f['other']) / row.documents:.0%}".rstrip("%") in (
        found.plot("confusion").description
    )
    coarse = uj.audit(c, {"coarse": uj.collapse(c, {2: 1})}, "nDCG@10", resamples=20, jobs=1)
    assert "on two scales" in coarse.plot("confusion").description
    several = uj.audit({"x": c, "y": c}, {"noisy": other}, "nDCG@10", resamples=20, jobs=1)
    assert {row["collection"] for row in several.plot("decisions").spec["data"]["values"]} == {"x", "y"}


def test_names_of_runs_are_not_written_over_each_other() -> None:
    """Five runs swap ranks at the top: each name has a line of its own beside the line of its run."""
    seconds = [2, 1, 4, 3, 5, *range(6, 61)]
    rows = [
        {"judge": "x", "run": f"r{place}", "first": place, "second": second, "name": f"r{place}" if place <= 5 else ""}
        for place, second in enumerate(seconds, 1)
    ]
    spec = rank_lines(rows, "AP")(None).spec  # type: ignore[arg-type]
    points = [point for point in spec["data"]["values"] if point["judge"] == "x" and point["name"]]
    places = sorted(point["label"] for point in points)
    per_rank = spec["height"] / 60
    assert min(np.diff(places)) * per_rank >= 11.9 and all(p["label"] >= p["second"] for p in points)
    assert max(point["label"] - point["second"] for point in points) * per_rank < 5 * 12
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == ["these judgments", "x", " "]  # room for the names
