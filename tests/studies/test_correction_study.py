"""The correction study: the paper's table cell for cell where the data is, and the plain version everywhere."""

from __future__ import annotations

import csv
import io
import itertools
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from correction_reference import Reference
from correction_worlds import load, world
from made_scores import rows_of
from places import DATA

import unjudged as uj
from unjudged.cli import main
from unjudged.collection import Pool
from unjudged.collection.membership import membership
from unjudged.errors import UsageError
from unjudged.statistics.correlation import correlation_p_value
from unjudged.statistics.estimate_errors import passed_runs
from unjudged.statistics.spearman_test import spearman_p_value
from unjudged.statistics.tukey import classical_tukey
from unjudged.studies.correction import (
    error_lines,
    errors,
    indicator_points,
    performances,
    significant,
    stability_points,
)
from unjudged.text import printed

TREC2 = DATA / "trec2-adhoc"

PUBLISHED = {
    5: ((0.0063, 19), (0.0069, 18), (0.0065, 19)),
    10: ((0.0082, 32), (0.0084, 27), (0.0085, 32)),
    20: ((0.0132, 50), (0.0119, 48), (0.0138, 52)),
    30: ((0.0149, 51), (0.0129, 42), (0.0164, 56)),
    100: ((0.0216, 88), (0.0169, 61), (0.0293, 122)),
}
"""Lipani, Lupu & Hanbury 2015, table 2, "Ad Hoc 2": MAE and SRE of Ours, Webber, Reduced Pool."""
METHODS = ("lipani", "webber-park", "reduced-pool")
COLUMNS = ["measure", "method", "n", "mae", "sre", "sre_star", "tau", "runs"]
PER_RUN = [
    *("run", "team", "n", "true", "reduced", "webber_park", "lipani"),
    *("anti", "k", "delta_p", "delta_anti_p", "delta_k", "lambda"),
]


def half_up(value: float) -> float:
    return math.floor(value * 10000 + 0.5) / 10000


def tsv(capsys: pytest.CaptureFixture[str], *args: str) -> list[dict[str, str]]:
    assert main(["study", "correction", *args, "--format", "tsv"]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out), delimiter="\t"))


@pytest.mark.skipif(not TREC2.is_dir(), reason="the TREC-2 runs are not here")
def test_the_thirty_published_cells(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(TREC2 / "qrels.txt.gz"), str(TREC2 / "runs"), "--teams", str(TREC2 / "teams.tsv")]
    rows = tsv(capsys, *paths, "--protocol", "sigir2015", "--top", "0.75", "--lenient")
    assert [list(row) for row in rows] == [COLUMNS] * 15
    found = {(row["method"], int(row["n"])): row for row in rows}
    assert set(found) == {(method, n) for method in METHODS for n in PUBLISHED}
    for n, cells in PUBLISHED.items():
        for method, (mae, sre) in zip(METHODS, cells, strict=True):
            row = found[method, n]
            assert (half_up(float(row["mae"])), int(row["sre"])) == (mae, sre), (method, n)
            assert int(row["runs"]) == 27


PUBLISHED_STAR = {5: (0, 0, 0), 10: (0, 0, 0), 20: (0, 0, 0), 30: (0, 0, 0), 100: (2, 2, 4)}
"""SRE* of the same table. Those of P@100 do not come out; no run lacks a topic there, so no rule for that decides."""


@pytest.fixture(scope="module")
def stars() -> dict[tuple[str, int], int]:
    """SRE* of Ad Hoc 2 as we compute it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c = uj.load(TREC2 / "qrels.txt.gz", TREC2 / "runs", teams=TREC2 / "teams.tsv", lenient=True)
    result = uj.study("correction", c, protocol="sigir2015", top=0.75)
    return {(row["method"], row["n"]): row["sre_star"] for row in rows_of(result)}


@pytest.mark.skipif(not TREC2.is_dir(), reason="the TREC-2 runs are not here")
@pytest.mark.parametrize("n", [5, 10, 20, 30])
@pytest.mark.parametrize("method", METHODS)
def test_published_sre_star(method: str, n: int, stars: dict[tuple[str, int], int]) -> None:
    """12 of the 15 cells: a run that lacks topics is tested on its own topics, as it is scored."""
    assert stars[method, n] == PUBLISHED_STAR[n][METHODS.index(method)]


@pytest.mark.skipif(not TREC2.is_dir(), reason="the TREC-2 runs are not here")
def test_the_three_sre_star_that_do_not_come_out(stars: dict[tuple[str, int], int]) -> None:
    """docs/correction.md names these three: should one come out some day, the page must be corrected."""
    assert all(stars[method, 100] != PUBLISHED_STAR[100][m] for m, method in enumerate(METHODS))


def test_the_test_counts_the_topics_the_score_counts() -> None:
    """A run with half of its topics, as good as the others there, is not significantly worse than they are."""
    rng = np.random.default_rng(0)
    per_topic = 0.5 + 0.02 * rng.standard_normal((20, 3))
    per_topic[10:, 2] = np.nan
    for test in ("tukey", "t"):
        found = significant(np.nanmean(per_topic, axis=0), per_topic, test, 0.05)
        as_nothing = np.nan_to_num(per_topic)
        assert found is not None and not found[2].any()
        other = significant(as_nothing.mean(axis=0), as_nothing, test, 0.05)
        assert other is not None and other[2].any()


@pytest.mark.skipif(not TREC2.is_dir(), reason="the TREC-2 runs are not here")
def test_the_pool_of_the_paper_is_inferred() -> None:
    """38 runs of 22 organisations, 36 pooled, depth 100, 50 topics (table 2)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c = uj.load(TREC2 / "qrels.txt.gz", TREC2 / "runs", teams=TREC2 / "teams.tsv", lenient=True)
    result = uj.study("correction", c, cutoffs=10, protocol="sigir2015")
    assert "|R| 38, |O| 22, |Rp| 36, d 100, |T| 50" in result.caption
    assert "pool of depth 100 from 36 runs, 2 not pooled (depth and runs inferred)" in result.notes


def made(tmp_path: Path, seed: int) -> tuple[dict[str, Any], list[str]]:
    """A generated collection as files, in the layout of the paper's."""
    here = world(seed, runs=8, topics=6)
    (tmp_path / "runs").mkdir()
    for run, lists in here["runs"].items():
        lines = [f"{t} Q0 {d} 0 {1000 - i} tag\n" for t, docs in lists.items() for i, d in enumerate(docs)]
        (tmp_path / "runs" / run).write_text("".join(lines))
    lines = [f"{t} 0 {d} {g}\n" for t, docs in here["qrels"].items() for d, g in docs.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    (tmp_path / "teams.tsv").write_text("run\tteam\n" + "".join(f"{r}\t{t}\n" for r, t in here["teams"].items()))
    (tmp_path / "pooled").write_text("".join(f"{r}\n" for r in here["runs"]))
    return here, [str(tmp_path / "qrels.txt"), str(tmp_path / "runs"), "--teams", str(tmp_path / "teams.tsv")]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["sigir2015", "strict"])
@pytest.mark.parametrize(("seed", "top", "leave"), [(1, 0.75, "team"), (2, None, "team"), (3, 0.75, "run")])
def test_any_collection_through_the_command_line(
    protocol: str, seed: int, top: float | None, leave: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here, paths = made(tmp_path, seed)
    arguments = [*paths, "--protocol", protocol, "--leave", leave, "--cutoffs", "2,5", "--depth", "5"]
    arguments += ["--pooled", str(tmp_path / "pooled"), *(["--top", str(top)] if top else [])]
    rows = tsv(capsys, *arguments)
    runs = tsv(capsys, *arguments, "--per-run")
    assert [list(row) for row in runs[:1]] == [PER_RUN]
    reference = Reference(here["runs"], here["qrels"], here["teams"], 5, protocol == "sigir2015")
    keep = math.floor(8 * top) if top else 8
    for n in (2, 5):
        expected = reference.experiment(list(here["runs"]), n, keep, leave)
        shown = {row["run"]: row for row in runs if row["n"] == str(n)}
        assert shown.keys() == expected.keys()
        for run, values in expected.items():
            assert shown[run]["team"] == here["teams"][run]
            for column in ("true", "reduced", "lipani", "anti", "k", "delta_p", "delta_anti_p", "delta_k", "lambda"):
                assert float(shown[run][column]) == pytest.approx(float(values[column]), abs=1e-12), (run, n, column)
            assert float(shown[run]["webber_park"]) == pytest.approx(float(values["webber-park"]), abs=1e-12)
        for method, name in zip(METHODS, ("lipani", "webber-park", "reduced"), strict=True):
            row = next(r for r in rows if (r["method"], r["n"]) == (method, str(n)))
            true = {run: values["true"] for run, values in expected.items()}
            mae = sum(abs(true[run] - values[name]) for run, values in expected.items()) / len(expected)
            assert float(row["mae"]) == pytest.approx(float(mae), abs=1e-12)
            assert int(row["sre"]) == plain_sre(true, {run: values[name] for run, values in expected.items()})
            assert int(row["runs"]) == len(expected)


def plain_sre(true: dict[str, Any], estimate: dict[str, Any]) -> int:
    total = 0
    for run, score in true.items():
        old = 1 + sum(other > score for other in true.values())
        new = 1 + sum(other > estimate[run] for name, other in true.items() if name != run)
        total += abs(old - new)
    return total


def test_the_order_of_files_does_not_matter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, paths = made(tmp_path, 4)
    more = ["--depth", "5", "--pooled", str(tmp_path / "pooled"), "--top", "0.75", "--protocol", "sigir2015"]
    names = sorted((tmp_path / "runs").iterdir())
    forward = tsv(capsys, paths[0], *map(str, names), *paths[2:], *more)
    backward = tsv(capsys, paths[0], *map(str, reversed(names)), *paths[2:], *more)
    for one, other in zip(forward, backward, strict=True):
        assert {k: one[k] for k in ("method", "n", "sre", "sre_star")} == {
            k: other[k] for k in ("method", "n", "sre", "sre_star")
        }
        assert float(one["mae"]) == pytest.approx(float(other["mae"]), abs=1e-14)


# -- errors


def test_errors_by_hand() -> None:
    """SE1 of the worked examples: scores .5 .4 .3 .2, estimates .35 .45 .3 .35 (METHODS C.12) and a tie by name."""
    true = np.array([0.5, 0.4, 0.3, 0.3])
    estimate = np.array([0.35, 0.4, 0.3, 0.45])
    # a falls behind b: place 1 -> 2; d (tied with c at 3) rises past b: 3 -> 2
    found = errors(["a", "b", "c", "d"], true, estimate, np.ones((4, 4), bool))
    assert (found.mae, found.sre) == (pytest.approx(0.3 / 4), 2)  # type: ignore[comparison-overlap]
    # strictly ranked a b d c (at equal scores the later name first)
    passed = passed_runs(true, estimate, ["a", "b", "c", "d"])
    assert [tuple(p) for p in np.argwhere(passed).tolist()] == [(0, 1), (3, 1)]
    assert found.sre_star == 2
    none = errors(["a", "b", "c", "d"], true, estimate, np.zeros((4, 4), bool))
    assert none.sre_star == 0
    same = errors(["a", "b"], true[:2], true[:2], None)
    assert (same.mae, same.sre, same.sre_star, same.tau) == (0.0, 0, None, 1.0)


def test_equal_runs_stand_by_name_where_passing_is_counted() -> None:
    """CORRECTION 6: a and b are tied at .5, strictly ranked b 1, a 2. Both have old = 1, and new = 2 at .45.

    So b, falling to 2, passes a (strict rank 2); a, falling to 2, passes nobody, for rank 2 is its own.
    """
    runs, true = ["a", "b", "c"], np.array([0.5, 0.5, 0.4])
    for estimate, expected in (((0.45, 0.5, 0.4), []), ((0.5, 0.45, 0.4), [(1, 0)]), ((0.45, 0.45, 0.4), [(1, 0)])):
        assert np.argwhere(passed_runs(true, np.array(estimate), runs)).tolist() == [list(p) for p in expected]


def test_significance_is_tukeys_or_ts() -> None:
    from scipy import stats

    chance = np.random.default_rng(5)
    scores = chance.random((12, 5)) + np.linspace(0, 0.6, 5)
    tukey = significant(scores.mean(axis=0), scores, "tukey", 0.05)
    tested = classical_tukey(scores)
    assert tukey is not None
    assert tukey[tested.first, tested.second].tolist() == tested.significant(0.05).tolist()
    assert 0 < tukey.sum() < 20
    t = significant(scores.mean(axis=0), scores, "t", 0.05)
    assert t is not None
    for i in range(5):
        for j in range(5):
            expected = i != j and stats.ttest_rel(scores[:, i], scores[:, j]).pvalue < 0.05
            assert t[i, j] == expected
    assert significant(scores[0], scores[:1], "tukey", 0.05) is None


@pytest.mark.parametrize(
    ("value", "text"), [(0.00845, "0.0085"), (0.00844999, "0.0084"), (0.0, "0.0000"), (1, "1.0000")]
)
def test_numbers_are_printed_half_up(value: float, text: str) -> None:
    assert printed(value) == text


def test_top_and_worst_performers_by_hand() -> None:
    """Three methods, two lines; a tie counts for nobody."""
    cells = [[[0.1, 3, 0], [0.2, 2, 0], [0.3, 2, 1]], [[0.1, 1, 0], [0.1, 2, 2], [0.3, 3, 1]]]
    assert [performances(cells, m, k) for m in range(3) for k in range(3)] == [1, 1, 1, 0, 0, 0, 0, 0, 0]
    assert [performances(cells, m, k, -1) for m in range(3) for k in range(3)] == [0, 1, 0, 0, 0, 1, 2, 1, 1]


# -- the result


@pytest.fixture(scope="module")
def collections() -> dict[str, Any]:
    found = {}
    for seed in range(4):
        here = world(20 + seed, runs=8, topics=6)
        found[f"c{seed}"] = load(here["qrels"], here["runs"], here["teams"])
    return found


def study(collection: Any, **options: Any) -> uj.Result:
    return uj.study("correction", collection, **{"depth": 5, "pooled": None, "cutoffs": (2, 5), **options})


def test_the_papers_table(collections: dict[str, Any]) -> None:
    result = study(collections["c0"])
    text = result.table().splitlines()
    names = [f"{method} {error}" for method in METHODS for error in ("MAE", "SRE", "SRE*")]
    assert text[0].split() == " ".join(["P@n", *names]).split()
    assert [line.split()[0] for line in text[1:5]] == ["2", "5", "top", "worst"]
    assert "SRE*: Tukey HSD, p < 0.05." in result.caption
    frame = result.frame
    first = text[1].split()
    assert first[1] == printed(frame[(frame.method == "lipani") & (frame.n == 2)].mae.iloc[0])
    latex = result.to_latex()
    assert latex is not None
    assert latex.count(r"\tabularnewline") == 6  # with the line of the methods over the errors
    assert "SRE*" in latex


@pytest.mark.slow
def test_several_collections_side_by_side(collections: dict[str, Any]) -> None:
    result = study(collections)
    assert result.columns == ("collection", *COLUMNS)
    assert len(result.frame) == 4 * 3 * 2
    for name, collection in collections.items():
        alone = study(collection).frame
        together = result.frame[result.frame.collection == name].drop(columns="collection").reset_index(drop=True)
        assert together.equals(alone)
    assert result.figures == ("mae", "sre", "indicators", "stability")
    spec = result.plot("stability").spec
    assert "Spearman" in spec["description"]
    assert len(spec["data"]["values"]) == 4 * 2 * 2


@pytest.mark.slow
def test_stability_against_scipy(collections: dict[str, Any]) -> None:
    """Figure 2: the change of MAE in percent, E rho^2 from the mean squares, Spearman's rho and p by scipy."""
    from scipy import stats

    values = study(collections).plot("stability").spec["data"]["values"]
    frame = study(collections).frame.set_index(["collection", "method", "n"])
    for value in values:
        before, after = (frame.mae[value["collection"], m, value["n"]] for m in ("reduced-pool", "lipani"))
        assert value["change"] == pytest.approx(100 * (after - before) / before, abs=1e-3)
    chosen = [v for v in values if v["n"] == 5 and v["coefficient"] == "Phi"]
    x, y = [v["reliability"] for v in chosen], [v["change"] for v in chosen]
    rho, p = stats.spearmanr(x, y)[0], orders_p_value(x, y)
    told = study(collections).plot("stability").spec["description"]
    assert f"P@5 against Phi: {rho:.2f} (p {p:.2f})" in told
    # and in the table, in lines of their own; in the figure, in each panel
    lines = [line for line in study(collections).table().splitlines() if line.startswith("rho with Phi")]
    assert [line.split()[3] for line in lines] == ["2", "5"]
    assert f"{rho:.2f} (p {p:.2f})" in lines[1]
    assert f"rho {rho:.2f} (p {p:.2f})" in study(collections).plot("stability").svg()


def orders_p_value(x: list[float], y: list[float]) -> float:
    """How many of all orders of y correlate with x at least as much, by scipy."""
    from scipy import stats

    found = abs(stats.spearmanr(x, y)[0])
    every = [abs(stats.spearmanr(x, order)[0]) for order in itertools.permutations(y)]
    return sum(r >= found - 1e-9 for r in every) / len(every)


@pytest.mark.parametrize(("points", "rho"), [(15, 0.48), (15, 0.36), (15, 0.17), (15, 0.09)])
def test_published_p_values_of_figure_2(points: int, rho: float) -> None:
    """Spearman's rho of the 15 collections with p > 0.07, 0.18, 0.54, 0.74, as the caption says."""
    p = correlation_p_value(rho, points)
    assert {0.48: 0.07, 0.36: 0.18, 0.17: 0.54, 0.09: 0.74}[rho] == math.floor(p * 100) / 100


def test_many_points_take_the_t_distribution() -> None:
    from scipy import stats

    x = np.random.default_rng(3).random(12)
    y = x + np.random.default_rng(4).random(12)
    assert spearman_p_value(x, y) == pytest.approx(stats.spearmanr(x, y)[1])
    assert spearman_p_value([1, 2, 3], [1, 2, 3]) == pytest.approx(1 / 3)  # 123 and 321 of six orders
    assert math.isnan(spearman_p_value([1, 1, 1], [1, 2, 3]))


def test_figures_show_the_numbers_of_the_tables(collections: dict[str, Any]) -> None:
    result = study(collections["c1"], top=0.75)
    rows = result.plot("mae").spec["data"]["values"]
    assert {row["selection"] for row in rows} == {"all runs", "top 75%"}
    best = [row for row in rows if row["selection"] == "top 75%"]
    assert [row["mae"] for row in best] == result.frame["mae"].tolist()
    everyone = study(collections["c1"]).frame
    assert [row["sre"] for row in rows if row["selection"] == "all runs"] == everyone["sre"].tolist()
    runs = study(collections["c1"], per_run=True, top=0.75).frame
    points = result.plot("indicators").spec["data"]["values"]
    first = runs[runs.n == 2]
    assert len(points) == 3 * len(first)
    shown = {(p["run"], p["indicator"]): p for p in points}
    for row in first.to_dict("records"):
        assert shown[row["run"], "lambda"]["value"] == row["lambda"]
        assert shown[row["run"], "Delta P"]["residual"] == pytest.approx(row["true"] - row["reduced"], abs=1e-6)


@pytest.mark.parametrize("name", ["mae", "sre", "indicators"])
def test_figures_can_be_drawn(collections: dict[str, Any], name: str) -> None:
    assert study(collections["c2"]).plot(name).svg().startswith("<svg")


def test_empty_rows_still_make_charts() -> None:
    for figure in (error_lines([], "mae"), indicator_points([], 10), stability_points([], [])):
        assert figure.description


def test_more_methods_and_indicators(collections: dict[str, Any]) -> None:
    result = study(
        collections["c3"], methods="lipani,lipani-v2,webber-park,webber-ratio,per-topic", indicator="delta-p"
    )
    assert result.frame["method"].nunique() == 6
    columns = study(collections["c3"], methods="per-topic,lipani", per_run=True).columns
    assert columns == ("run", "team", "n", "true", "reduced", "lipani", *PER_RUN[7:], "per_topic")


@pytest.mark.parametrize("method", ["lipani", "webber-park"])
@pytest.mark.parametrize("name", ["c0", "c1", "c2", "c3"])
def test_the_verdict_counts_the_size_of_the_change_and_its_chance(
    collections: dict[str, Any], name: str, method: str
) -> None:
    result = study(collections[name], methods=method)
    mae = result.frame[result.frame.n == 2].set_index("method").mae  # no P@10 here: the first cut-off
    before, after = mae["reduced-pool"], mae[method]
    runs = study(collections[name], methods=method, per_run=True).frame
    runs = runs[runs.n == 2].assign(
        old=lambda f: (f.true - f.reduced).abs(), new=lambda f: (f.true - f[method.replace("-", "_")]).abs()
    )
    told = result.verdict
    assert told is not None and told.value is not None
    # jackknife over the teams by hand, with scipy's t
    sums = runs.groupby("team")[["old", "new"]].sum()
    without = [(sums.new.sum() - team.new) / (sums.old.sum() - team.old) for team in sums.itertuples()]  # type: ignore[operator]
    many = len(without)
    error = math.sqrt((many - 1) / many * sum((w - sum(without) / many) ** 2 for w in without))  # type: ignore[misc, operator]
    assert told.value == pytest.approx(after / before + scipy.stats.t.isf(0.025, many - 1) * error)
    assert told.word == ("solid" if told.value <= 0.5 else "with care" if told.value <= 0.9 else "fragile")
    whose = "the error of left-out runs in P@2"
    change = f"leaves {whose} at {printed(before)}"
    if printed(after) != printed(before):
        change = f"takes {whose} from {printed(before)} to {printed(after)}"
    how = {"lipani": "Lipani's correction", "webber-park": "Webber and Park's correction"}[method]
    assert told.sentence.startswith(f"{how} {change}, give or take ")
    assert ("which may be chance" in told.sentence) == (printed(after) < printed(before) and told.value >= 1)
    runs = runs.assign(error=lambda f: f.new.round(12))
    assert told.decided_by == (runs.sort_values(["error", "run"]).run.iloc[-1],)


def test_too_few_teams_say_nothing(collections: dict[str, Any]) -> None:
    c = collections["c0"]
    three = [run for run in c.runs if c.teams[run] != "team3"]
    told = study(c, pooled=three).verdict
    assert told is not None and told.word == "unknown"
    assert "there are only 3 teams (at least 4 are needed)" in told.sentence


@pytest.mark.slow
@pytest.mark.parametrize("name", ["c0", "c1", "c2", "c3"])
@pytest.mark.parametrize("pooled", ["all", "six"])
def test_one_verdict_about_correction(collections: dict[str, Any], name: str, pooled: str) -> None:
    """`correct`, the experiment and the question of the report: same word, number, sentence and next step."""
    c = collections[name]
    pool: dict[str, Any] = {"depth": 5, "pooled": list(c.runs) if pooled == "all" else list(c.runs[:6])}
    asked = [
        uj.correct(c, None, "P@10", **pool).verdict,
        uj.study("correction", c, cutoffs=(5, 10), **pool).verdict,
        uj.study("after-correction", c, **pool).verdict,
    ]
    assert asked[0] is not None
    assert asked == [asked[0]] * 3
    assert ("outside the pool" in asked[0].sentence) == (pooled == "six")
    other = uj.correct(c, None, "P@5", method="webber-park", **pool).verdict
    assert other == uj.study("correction", c, cutoffs=(5, 20), methods="webber-park,lipani", **pool).verdict


def test_work_is_kept(collections: dict[str, Any], tmp_path: Path) -> None:
    """A second call finds the units of the first one; another cut-off does not."""
    stages: list[tuple[str, int, int]] = []

    def progress(stage: str, done: int, total: int, before: int) -> None:
        if done == before:
            stages.append((stage, total, before))

    first = study(collections["c0"], workdir=tmp_path, progress=progress)
    again = study(collections["c0"], workdir=tmp_path, progress=progress)
    assert first.frame.equals(again.frame) and first.verdict == again.verdict
    study(collections["c0"], workdir=tmp_path, progress=progress, cutoffs=(3,))
    assert stages == [
        (f"correction: 4 {what}", many, many * kept)
        for kept in (0, 1, 0)
        for what, many in (("teams left out", 1), ("groups left out and estimated", 4))
    ]


def test_where_one_collection_has_no_pool(collections: dict[str, Any]) -> None:
    """It says why; the others keep their table and figures, and the worst verdict stands for all."""
    bare = uj.load({"1": {"a": 1}, "2": {"b": 1}}, {f"r{i}": {"1": {"x": 1.0}, "2": {"y": 1.0}} for i in range(3)})
    result = uj.study("correction", {"c0": collections["c0"], "bare": bare}, cutoffs=(2, 5), depth=5)
    assert set(result.frame["collection"]) == {"c0"}
    assert result.plot("mae").spec["data"]["values"][0]["collection"] == "c0"
    assert "top performer" in result.table()
    alone = uj.study("correction", bare)
    assert alone.verdict is not None and alone.verdict.word == "unknown" and alone.columns == tuple(COLUMNS)


def test_provenance_names_every_choice(collections: dict[str, Any]) -> None:
    settings = study(collections["c0"], top=0.75).provenance.settings
    assert settings["protocol"] == "strict"
    assert settings["runs of the left-out team among the pooled runs"] == "leave, too"
    assert settings["means over"] == "all judged topics, missing ones count 0"
    assert settings["left out"] == "one team at a time"
    assert settings["top"] == 0.75
    assert settings["pool"]["pool depth"] == "5 (given)"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"protocol": "loose"}, "unknown protocol 'loose'; there are sigir2015, strict"),
        ({"leave": "topic"}, "left out is a team or a run, not 'topic'"),
        ({"cutoffs": "5,ten"}, "cut-offs are whole numbers from 1 to 32767, as 5,10,100, not 5,ten"),
        ({"cutoffs": (0,)}, "cut-offs are whole numbers"),
        ({"cutoffs": (5, 5)}, "cut-offs are whole numbers"),
        ({"methods": "ours"}, "unknown method 'ours'"),
        ({"methods": []}, "name a method"),
        ({"test": "anova"}, "unknown test 'anova'; there are tukey, t"),
        ({"indicator": "k"}, "unknown indicator 'k'"),
        ({"merge_weight": 2}, "the new run's weight lies between 0 and 1, not 2"),
        ({"alpha": 0}, "alpha lies between 0 and 1, not 0"),
        ({"top": 0}, "--top is a share between 0 and 1 or a whole number of runs, not 0"),
        ({"top": 1}, "fewer than two runs are left to be corrected"),
        ({"pooled": ["nobody"]}, "none of the pooled runs is among the runs given"),
    ],
)
def test_misuse_gets_one_sentence(collections: dict[str, Any], options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as problem:
        study(collections["c0"], **options)
    assert sentence in str(problem.value)


def test_one_pooled_team_cannot_be_left_out(collections: dict[str, Any]) -> None:
    verdict = study(collections["c0"], pooled=["r0", "r1"]).verdict
    assert verdict is not None and verdict.word == "unknown"
    assert verdict.sentence == "all pooled runs are of one team, so none can be left out"


def test_without_teams(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, paths = made(tmp_path, 6)
    more = ["--depth", "5", "--pooled", str(tmp_path / "pooled"), "--cutoffs", "5"]
    assert main(["study", "correction", *paths[:2], *more]) == 2
    said = capsys.readouterr().err
    assert "no teams are known; name a team file (--teams, a TSV run<TAB>team), or leave out single runs" in said
    assert main(["study", "correction", *paths[:2], *more, "--leave", "run"]) == 0


def test_answer_classes_and_expected_ties_are_refused() -> None:
    answers = uj.load({"1": {"a": {"x": 1}}}, {"1": ["x"]}, qa=True)
    with pytest.raises(UsageError, match="answer classes have no pool"):
        study(answers)
    tied = uj.load({"1": {"a": 1}}, {"r": {"1": {"a": 1.0, "b": 1.0}}}, ties="expected")
    with pytest.raises(UsageError, match="one order of equal scores"):
        study(tied)


def test_sigir2015_compares_float32_scores(tmp_path: Path) -> None:
    """1.00000001 and 1.0 are equal there, so the later id comes first; strict keeps them apart."""
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n")
    for name, docs in {"r": "ab", "s": "ba", "t": "ab"}.items():
        text = "".join(f"1 Q0 {d} 0 {score} t\n" for d, score in zip(docs, ("1.00000001", "1.0"), strict=True))
        (tmp_path / name).write_text(text)
    c = uj.load(tmp_path / "qrels", [tmp_path / name for name in "rst"])
    found = {
        protocol: uj.study(
            "correction", c, protocol=protocol, leave="run", cutoffs=1, depth=2, pooled=None, per_run=True
        ).frame["true"].tolist()
        for protocol in ("sigir2015", "strict")
    }  # fmt: skip
    assert found == {"sigir2015": [0.0, 0.0, 0.0], "strict": [1.0, 0.0, 1.0]}


def test_every_collection_has_its_own_axis(collections: dict[str, Any]) -> None:
    """Figures 3 and 4: errors of one collection do not flatten those of another."""
    spec = study(collections).plot("mae").spec
    assert spec["resolve"] == {"scale": {"y": "independent"}} and spec["facet"]["field"] == "collection"
    assert "resolve" not in study(collections["c0"]).plot("mae").spec


def test_a_further_measure_as_webber_and_park(collections: dict[str, Any]) -> None:
    """RBP@10: the errors by hand, from scores with and without what only the left-out team found."""
    c = collections["c0"]
    found = study(c, measures="RBP@10").frame
    rows = found[found.measure == "RBP@10"].set_index("method")
    assert list(rows.index) == ["webber-park", "reduced-pool"] and (rows.n == 10).all()
    assert "RBP@10" in study(c, measures="RBP@10").table()
    # only judgments in the pool count, as for P@n
    pooled = c.keeping(membership(c, Pool(5, c.runs), by="ranks").found(), "pooled")
    true = uj.score(pooled, "RBP@10").means()["RBP@10"]

    def left(runs: list[str], base: uj.Collection, pool: list[str]) -> uj.Collection:
        alone = membership(base, Pool(5, tuple(pool)), by="ranks").unique(runs)
        return base.keeping(~alone, "left out") if alone.any() else base

    before, after = [], []
    for run in c.runs:
        group = [r for r in c.runs if c.teams[r] == c.teams[run]]
        others = [r for r in c.runs if r not in group]
        small = left(group, pooled, list(c.runs))
        score = uj.score(small, "RBP@10").means()["RBP@10"]
        losses = [score[r] - uj.score(left([r], small, others), "RBP@10").means()["RBP@10"][r] for r in others]
        before.append(abs(true[run] - score[run]))
        after.append(abs(true[run] - score[run] - sum(losses) / len(losses)))
    assert rows.mae["reduced-pool"] == pytest.approx(np.mean(before), abs=1e-12)
    assert rows.mae["webber-park"] == pytest.approx(np.mean(after), abs=1e-12)
    with pytest.raises(UsageError, match="give its cut-offs"):
        study(c, measures="P@5")


def test_cut_offs_deeper_than_the_pool_are_marked(collections: dict[str, Any]) -> None:
    """Section 5.2: beyond the pool's depth the score compared with is uncertain itself."""
    result = study(collections["c0"], cutoffs=(5, 12), measures="RBP@10")
    lines = result.table().splitlines()
    assert lines[1].startswith("5  ") and lines[2].startswith("12 †") and lines[3].startswith("RBP@10 †")
    assert "† deeper than the pool" in result.caption and "section 5.2" in result.caption
    assert any(note.startswith("cut-off 12, 10 is deeper than the pool (5)") for note in result.notes)
    assert "†" not in study(collections["c0"]).table()


def test_of_several_collections_the_worst_verdict_is_named(collections: dict[str, Any]) -> None:
    together = study(collections).verdict
    alone = {name: study(c).verdict for name, c in collections.items()}
    order = ("fragile", "unknown", "with care", "solid")
    worst = min(alone, key=lambda name: order.index(alone[name].word))  # type: ignore[union-attr]
    assert together is not None and together.sentence == f"{worst}: {alone[worst].sentence}"  # type: ignore[union-attr]
    assert together.value == alone[worst].value  # type: ignore[union-attr]
