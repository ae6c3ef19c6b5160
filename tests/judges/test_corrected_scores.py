"""Corrected scores against plain code, and what is drawn for them: no data of others is needed."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shlex
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import UnjudgedError
from unjudged.holes.assessors import FORMATS as FOR_ASSESSORS
from unjudged.judges.corrected import Corrected, corrected, pooled_slope
from unjudged.judges.sampled import Strata, holds_sample, read_sample, stratified_sum
from unjudged.judges.sampling import _shared_out

RUNS, TOPICS = 6, 30


@pytest.fixture(scope="module")
def world() -> dict[str, Any]:
    """Thirty topics of twelve documents, six runs, a machine that is often right."""
    rng = np.random.default_rng(4)
    human: dict[str, dict[str, int]] = {}
    machine: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {f"r{r}": {} for r in range(RUNS)}
    for t in range(TOPICS):
        topic = f"t{t:02}"
        truth = rng.integers(0, 4, 12)
        told = np.where(rng.random(12) < 0.7, truth, rng.integers(0, 4, 12))
        human[topic] = {f"d{i}": int(g) for i, g in enumerate(truth)}
        machine[topic] = {f"d{i}": int(g) for i, g in enumerate(told)}
        for r in range(RUNS):
            seen = truth + rng.normal(0, 0.5 + 0.5 * r, 12)
            runs[f"r{r}"][topic] = {f"d{i}": float(s) for i, s in enumerate(seen)}
    return {"human": human, "machine": machine, "runs": runs}


def some(world: dict[str, Any], topics: int) -> uj.Collection:
    """The runs under the human judgments of the first topics; the machine's are of all."""
    kept = dict(list(world["human"].items())[:topics])
    with pytest.warns(uj.DataWarning, match="outside the judgments"):
        return uj.load(kept, world["runs"])


def plain(y: list[float], f: list[float], every: list[float], target: str) -> tuple[float, float, float]:
    """Estimate, standard error and slope by loops, as JUDGES.md words it."""
    n, total = len(y), len(every)
    mean_y, mean_f = sum(y) / n, sum(f) / n
    squares = sum((v - mean_f) ** 2 for v in f)
    slope = sum((v - mean_f) * (u - mean_y) for u, v in zip(y, f, strict=True)) / squares if squares else 0.0
    slope = min(max(slope, 0.0), 1.0)
    e = [u - slope * v for u, v in zip(y, f, strict=True)]
    mean_e = sum(e) / n
    if slope == 0:
        s2 = sum((u - mean_y) ** 2 for u in y) / (n - 1)
    else:
        left = [(w - mean_e) / max(1 - (1 / n + (v - mean_f) ** 2 / squares), 1 / n) for w, v in zip(e, f, strict=True)]
        s2 = sum(w * w for w in left) / n * (n - 1) / n
    everywhere = sum(every) / total
    if target == "topics":
        variance = (1 - n / total) * s2 / n
    else:
        spread = sum((v - everywhere) ** 2 for v in every) / (total - 1)
        shared = sum((w - mean_e) * (v - mean_f) for w, v in zip(e, f, strict=True)) / (n - 1)
        variance = max(s2 / n + slope**2 * spread / total + 2 * slope * shared / total, s2 / total)
    return mean_y + slope * (everywhere - mean_f), math.sqrt(variance), slope


scores = st.integers(0, 20).map(lambda v: v / 20)


@settings(max_examples=60)
@given(st.lists(st.tuples(scores, scores), min_size=3, max_size=12), st.lists(scores, min_size=1, max_size=12))
def test_corrected_means_by_loops(labelled: list[tuple[float, float]], rest: list[float]) -> None:
    y, f = ([pair[side] for pair in labelled] for side in (0, 1))
    every = [*f, *rest]
    for target in ("topics", "population"):
        found = corrected(np.array(y)[:, None], np.array(every)[:, None], np.arange(len(y)), target)
        value, error, slope = plain(y, f, every, target)
        numbers = found.estimate[0], math.sqrt(found.variance[0]), found.slope[0]
        assert numbers == pytest.approx((value, error, slope), abs=1e-9)
        assert found.high[0] - found.estimate[0] == pytest.approx(stats.t.ppf(0.975, len(y) - 2) * error, abs=1e-9)


def test_a_machine_that_says_nothing_leaves_the_human_result() -> None:
    y = np.random.default_rng(1).uniform(0, 1, (20, 1))
    found = corrected(y, np.full((50, 1), 0.3), np.arange(20))
    low, high = stats.t.interval(0.95, 19, y.mean(), y.std(ddof=1) / math.sqrt(20))
    assert found.estimate[0] == pytest.approx(y.mean()) and found.slope[0] == 0
    assert found.human_low[0] == pytest.approx(low)
    assert found.human_high[0] == pytest.approx(high)
    assert found.p_value[0] == pytest.approx(2 * stats.t.sf(y.mean() / (y.std(ddof=1) / math.sqrt(20)), 18))


def test_intervals_of_the_human_topics_alone() -> None:
    """Of 20 topics among these 50, sampling theory; where all are human, nothing is open for these, and the ordinary
    interval holds for others."""
    rng = np.random.default_rng(12)
    y, f = rng.uniform(0, 1, (20, 1)), rng.uniform(0, 1, (50, 1))
    found = corrected(y, f, np.arange(20), "topics")
    error = math.sqrt((1 - 20 / 50) * y.var(ddof=1) / 20)
    assert found.human_half[0] == pytest.approx(stats.t.ppf(0.975, 19) * error)
    assert found._half_at(0, 50, 0.05) == 0.0
    found = corrected(y, f, np.arange(20))
    assert found._half_at(0, 50, 0.1) == pytest.approx(stats.t.ppf(0.95, 49) * math.sqrt(y.var(ddof=1) / 50))


def test_a_machine_of_twice_the_scale_has_half_a_slope() -> None:
    rng = np.random.default_rng(14)
    f = rng.uniform(0, 1, (40, 1))
    found = corrected(0.1 + 0.5 * f[:15] + rng.normal(0, 1e-4, (15, 1)), f, np.arange(15), "topics")
    assert found.slope[0] == pytest.approx(0.5, abs=1e-3)
    assert found.estimate[0] == pytest.approx(0.1 + 0.5 * f.mean(), abs=1e-3)


def test_a_slope_of_all_runs_adds_nothing_where_all_topics_are_human() -> None:
    """Whatever the slope, the mean is that of the human scores then, and its variance the ordinary one."""
    rng = np.random.default_rng(13)
    f = rng.uniform(0, 1, (20, 1))
    y = 0.5 * f + rng.normal(0, 0.1, (20, 1))
    found = corrected(y, f, np.arange(20), pooled=0.4)
    assert found.estimate[0] == pytest.approx(y.mean())
    assert found.variance[0] == pytest.approx(y.var(ddof=1) / 20)


def test_a_number_is_shared_out_by_weight_within_limits() -> None:
    assert _shared_out(10, [0, 0], [1000, 1000], [3.0, 2.0]) == [6, 4]
    assert _shared_out(10, [0, 5], [1000, 1000], [9.0, 1.0]) == [5, 5]
    assert _shared_out(10, [0, 0], [3, 1000], [9.0, 1.0]) == [3, 7]


def test_all_topics_of_the_smallest_pool_can_be_drawn() -> None:
    labels = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
    drawn = uj.draw_sample(labels, topics=2)
    assert sorted(drawn.assignments) == [("1", "a"), ("1", "b"), ("2", "c")]
    with pytest.raises(uj.UsageError, match="1 judged topic: at least two are needed"):
        uj.draw_sample({"1": labels["1"]}, topics=1)


def test_a_shifted_machine_is_moved_back() -> None:
    f = np.random.default_rng(2).uniform(0, 1, (40, 1))
    noise = np.random.default_rng(3).normal(0, 1e-3, (15, 1))
    found = corrected(f[:15] - 0.2 + noise, f, np.arange(15), "topics")
    assert found.estimate[0] == pytest.approx(f.mean() - 0.2, abs=1e-3)
    assert found.saved[0] == 25 < found.saved_by_many[0]  # never more topics than there are
    assert found.width_ratio[0] < 0.05


def test_pooled_slope_is_least_squares_on_doubly_centred_scores() -> None:
    rng = np.random.default_rng(6)
    f = rng.uniform(0, 1, (12, 5))
    y = 0.6 * f + rng.normal(0, 0.2, (12, 5)) + rng.normal(0, 1, (12, 1))
    wide = [np.eye(12)[t] for t in range(12) for _ in range(5)], [np.eye(5)[r] for _ in range(12) for r in range(5)]
    design = np.column_stack([f.ravel(), *np.array(wide[0]).T, *np.array(wide[1]).T])
    assert pooled_slope(y, f) == pytest.approx(np.linalg.lstsq(design, y.ravel(), rcond=None)[0][0])


def more(found: Corrected, half: float) -> int | None:
    """The same by trying every number."""
    for labelled in range(found.labelled, 3000):
        if found._half_at(0, labelled, found.alpha) <= half:
            return labelled - found.labelled
    return None


@pytest.mark.parametrize("target", ["topics", "population"])
def test_how_many_more_topics(target: str) -> None:
    rng = np.random.default_rng(8)
    f = rng.uniform(0, 1, (60, 1))
    found = corrected(0.5 * f[:12] + rng.normal(0, 0.2, (12, 1)), f, np.arange(12), target)
    assert found._half_at(0, 12, 0.05) == pytest.approx(found.half[0])  # the present number gives the present interval
    half = float(found.half[0])
    for share in (1.5, 0.5, 0.2):
        assert found.more_topics(0, share * half) == more(found, share * half)
    assert found.more_topics(0, 0.0) is None
    assert found.more_topics(0, half / 2) <= 48 or target == "population"  # type: ignore[operator]


def test_the_study_is_the_function(world: dict[str, Any]) -> None:
    c = some(world, 14)
    found = uj.corrected(c, world["machine"], "nDCG@10,AP", rel=2, baseline="r0", target="both").frame
    human = uj.score(uj.load(world["human"], world["runs"]), "nDCG@10")
    machine = uj.score(uj.load(world["machine"], world["runs"]), "nDCG@10").matrix("nDCG@10")
    y = human.matrix("nDCG@10")[:14]
    one = corrected(y[:, [2]], machine[:, [2]], np.arange(14), "topics")
    row = found[(found.run_a == "r2") & found.run_b.isna() & (found.measure == "nDCG@10") & (found.target == "topics")]
    expected = [one.human, one.machine, one.estimate, one.low, one.high, one.width_ratio, one.saved, one.slope]
    columns = ["human", "machine", "estimate", "low", "high", "width_ratio", "saved", "slope"]
    assert row[columns].to_numpy()[0] == pytest.approx([float(v[0]) for v in expected])
    pair = corrected(y[:, [2]] - y[:, [0]], machine[:, [2]] - machine[:, [0]], np.arange(14))
    row = found[(found.run_a == "r2") & (found.run_b == "r0") & (found.measure == "nDCG@10")]
    row = row[row.target == "population"].iloc[0]  # type: ignore[assignment]
    assert (row.low, row.high) == pytest.approx((float(pair.low[0]), float(pair.high[0])))
    assert row.p_value == pytest.approx(float(pair.p_value[0])) and row.p_adjusted >= row.p_value
    assert row.word == ("worse" if row.p_adjusted < 0.05 and row.estimate < 0 else "cannot tell")
    assert set(found.word) <= {"corrected", "better", "worse", "cannot tell", "refused"}


def only_reason(c: uj.Collection, world: dict[str, Any], **options: Any) -> str:
    found = uj.corrected(c, world["machine"], "nDCG@10", rel=2, **options).frame
    assert (found.word == "refused").all() and found.estimate.isna().all() and found.human_low.notna().all()
    (why,) = set(found.why)
    return str(why)


def test_refusals_give_the_human_result(world: dict[str, Any]) -> None:
    assert "humans judged 9 topics; at least 10 are needed" in only_reason(some(world, 9), world)
    whole = uj.load(world["human"], world["runs"])
    assert "every topic" in only_reason(whole, world)
    assert "not drawn at random" in only_reason(some(world, 12), world, drawn="chosen")
    assert "tuned on" in only_reason(some(world, 12), world, tuned=True)
    few = {t: dict(list(docs.items())[:5]) for t, docs in list(world["human"].items())[:12]}
    with pytest.warns(uj.DataWarning):
        assert "only 42 % of the machine's documents" in only_reason(uj.load(few, world["runs"]), world)
    few = {t: dict(list(docs.items())[:5]) for t, docs in world["human"].items()}  # every topic, but not all of it
    assert "a sample of documents needs its file (--sampled)" in only_reason(uj.load(few, world["runs"]), world)


def test_runs_that_rarely_differ_are_refused(world: dict[str, Any]) -> None:
    runs = {"a": world["runs"]["r0"], "b": {**world["runs"]["r0"], "t00": world["runs"]["r5"]["t00"]}}
    kept = dict(list(world["human"].items())[:12])
    with pytest.warns(uj.DataWarning):
        c = uj.load(kept, runs)
    found = uj.corrected(c, world["machine"], "nDCG@10", pairs=True).frame
    pair = found[found.run_b == "b"].iloc[0]
    assert pair.word == "refused" and "1 human topic with a difference other than 0" in pair.why
    assert pair.human_high > pair.human_low


def test_a_constant_machine_adds_nothing(world: dict[str, Any]) -> None:
    flat = {t: dict.fromkeys(docs, 1) for t, docs in world["machine"].items()}
    found = uj.corrected(some(world, 12), flat, "P@5", rel=2).frame
    assert set(found.why) == {"the machine adds nothing here"} and (found.slope == 0).all()
    assert found.estimate.tolist() == pytest.approx(found.human.tolist())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"slope": "pooled"}, "at least 20 runs, 6 here"),
        ({"target": "all"}, "target"),
        ({"baseline": "bm25"}, "no run is called 'bm25'"),
        ({"machine": {"t20": {"d1": 1}, "t21": {"d1": 0}}}, "at least two topics .* 0 here"),
        ({"measures": "GMAP"}, "take AP"),
    ],
)
def test_misuse(world: dict[str, Any], options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UnjudgedError, match=sentence), pytest.warns(uj.DataWarning):
        c = uj.load(dict(list(world["human"].items())[:12]), world["runs"])
        uj.study("corrected", c, **{"machine": world["machine"], **options})


def test_a_topic_judged_in_part_is_named(world: dict[str, Any]) -> None:
    kept = {topic: dict(docs) for topic, docs in list(world["human"].items())[:15]}
    kept["t03"] = dict(list(kept["t03"].items())[:3])
    with pytest.warns(uj.DataWarning):
        found = uj.corrected(uj.load(kept, world["runs"]), world["machine"], "P@5", rel=2)
    said = [note for note in found.notes if "judged in part" in note]
    assert len(said) == 1 and "1 human topic judged in part (t03: 25 % of the machine's documents)" in said[0]
    assert not any("in part" in note for note in uj.corrected(some(world, 15), world["machine"], "P@5", rel=2).notes)


def test_the_chart_shows_the_runs_by_the_first_measure(world: dict[str, Any]) -> None:
    found = uj.corrected(some(world, 15), world["machine"], "P@5,AP", rel=2, pairs=True, target="both")
    drawn = found.plot().spec["data"]["values"]
    frame = found.frame
    wanted = frame[frame.run_b.isna() & (frame.measure == frame.measure[0]) & (frame.target == "population")]
    shown = {row["run_a"]: [row["human_low"], row["estimate"], row["machine"]] for row in drawn}
    assert len(shown) == len(drawn) == RUNS
    for row in wanted.itertuples():
        assert shown[str(row.run_a)] == pytest.approx([row.human_low, row.estimate, row.machine], abs=1e-4)
    order = [row["run_a"] for row in sorted(drawn, key=lambda row: -row["estimate"])]
    assert found.plot().spec["layer"][0]["encoding"]["y"]["sort"] == order


# -- a sample of documents


def test_a_file_of_a_sample_is_told_from_judgments(tmp_path: Path) -> None:
    for name, text, wanted in (
        ("sample", "\n# drawn by lot\ntopic\tdocument\tInclusion\r\n1\td\t0.5\n", True),
        ("judgments", "# topic\tinclusion\n1 0 d 1\n", False),
        ("nothing", "# nothing\n", False),
    ):
        (tmp_path / name).write_text(text)
        assert holds_sample(tmp_path / name) is wanted


def test_stratified_sum_by_hand() -> None:
    """Two strata: all 2 documents with sum 3; 2 of 4 with values 1 and 3, so 4 * 2 and 16 * 0.5 * 2 / 2."""
    strata = Strata(np.array([0, 0, 1, 1]), np.array([2, 2]), np.array([2, 4]))
    assert stratified_sum([1, 2, 1, 3], strata) == (pytest.approx(3 + 8), pytest.approx(8))


@pytest.mark.parametrize("strata", ["grade", "top", "none"])
def test_everything_sampled_is_the_human_score(world: dict[str, Any], strata: str, tmp_path: Path) -> None:
    c, machine = uj.load(world["human"], world["runs"]), uj.load(world["machine"], world["runs"])
    drawn = uj.draw_sample(world["machine"], documents=12 * TOPICS, strata=strata, runs=machine, depth=3)
    (tmp_path / "drawn.tsv").write_text(drawn.render("tsv"))
    wanted = ["P@5", "DCG@5", "RBP(p=0.8)"] + ([] if strata == "grade" else ["nDCG@5"])
    given: dict[str, Any] = {"rel": 2, "sampled": tmp_path / "drawn.tsv", "target": "topics"}
    found = uj.corrected(c, world["machine"], wanted, **given)
    scores = uj.score(c, wanted, rel=2)
    for row in found.frame.itertuples():
        mean = scores.matrix(row.measure)[:, scores.runs.index(row.run_a)].mean()  # type: ignore[arg-type]
        assert row.estimate == pytest.approx(mean, abs=1e-5)


def test_sampled_scores_are_unbiased_and_covered(world: dict[str, Any], tmp_path: Path) -> None:
    """Over 40 samples the mean is the human score, and most of the intervals hold it."""
    c = uj.load(world["human"], world["runs"])
    truth = uj.score(c, "P@5", rel=2).matrix("P(rel=2)@5")[:, 2].mean()
    estimates, covered = [], []
    for seed in range(40):
        drawn = uj.draw_sample(world["machine"], documents=6 * TOPICS, strata="none", seed=seed)
        kept: dict[str, dict[str, int]] = {}
        for topic, doc in drawn.assignments:
            kept.setdefault(topic, {})[doc] = world["human"][topic][doc]
        (tmp_path / "drawn.tsv").write_text(drawn.render("tsv"))
        human = uj.load(kept, {"r2": world["runs"]["r2"]})
        (row,) = uj.corrected(
            human, world["machine"], "P@5", rel=2, sampled=tmp_path / "drawn.tsv", target="topics"
        ).frame.itertuples()
        estimates.append(row.estimate)
        covered.append(row.low <= truth <= row.high)
    assert np.mean(estimates) == pytest.approx(truth, abs=0.015)  # type: ignore[arg-type]
    assert np.mean(covered) >= 0.85


def test_what_a_sample_of_documents_cannot_tell(world: dict[str, Any], tmp_path: Path) -> None:
    c, file = uj.load(world["human"], world["runs"]), tmp_path / "drawn.tsv"
    file.write_text(uj.draw_sample(world["machine"], documents=8 * TOPICS, seed=1).render("tsv"))
    given: dict[str, Any] = {"sampled": file, "rel": 2, "pairs": True}
    found = uj.corrected(c, world["machine"], "AP,nDCG@5,RR,P,P@5", **given).frame
    whys = {m: set(found[found.measure.str.startswith(m) & found.run_b.isna()].why) for m in ("AP", "nDCG", "RR")}
    assert [next(iter(why)).split(":")[0].split(" ")[0] for why in whys.values()] == ["AP", "strata", "RR(rel=2)"]
    assert "needs a cut-off" in set(found[found.measure == "P(rel=2)"].why).pop()
    pairs = found[(found.measure == "P(rel=2)@5") & found.run_b.notna()]
    assert set(pairs.word) == {"refused"} and "not verified" in pairs.why.iloc[0]
    shown = uj.corrected(c, world["machine"], "P@5", experimental=True, **given).frame
    assert set(shown[shown.run_b.notna()].word) == {"experimental"}


def test_a_draw_is_random_and_by_name(world: dict[str, Any]) -> None:
    one = uj.draw_sample(world["machine"], topics=10, seed=3)
    backwards = {t: dict(reversed(d.items())) for t, d in reversed(world["machine"].items())}
    assert uj.draw_sample(backwards, topics=10, seed=3).rows() == one.rows()
    assert len(one.assignments) == 120 and [row[1] for row in one.rows()] == [10 / TOPICS] * 10
    counts = np.zeros(TOPICS)
    for seed in range(100):
        for topic, _ in uj.draw_sample(world["machine"], topics=10, seed=seed).rows():
            counts[int(topic[1:])] += 1
    assert stats.chisquare(counts).pvalue > 0.001
    for strata in ("grade", "none"):
        drawn = uj.draw_sample(world["machine"], documents=230, strata=strata, seed=1)
        assert uj.draw_sample(backwards, documents=230, strata=strata, seed=1).rows() == drawn.rows()
        assert len(drawn.rows()) == 230 == len(set(drawn.assignments))  # type: ignore[arg-type]
        by: dict[tuple[str, str], list[float]] = {}
        for topic, _, stratum, chance in drawn.rows():
            by.setdefault((topic, stratum), []).append(chance)
        for (topic, stratum), chances in by.items():
            grades = list(world["machine"][topic].values())
            size = sum(f"grade {g}" == stratum for g in grades) if strata == "grade" else len(grades)
            assert chances == [pytest.approx(len(chances) / size)] * len(chances) and len(chances) >= min(2, size)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "this file is empty"),
        ("topic\tinclusion\n", "no sample in this file"),
        ("topic\tdocument\n", r"drawn.tsv:1: .* no inclusion"),
        ("topic\tinclusion\nt1\t2\n", r"drawn.tsv:2: an inclusion probability lies between 0 and 1, found '2'"),
        ("topic\tinclusion\nt1\t0\n", r"drawn.tsv:2: an inclusion probability lies between 0 and 1, found '0'"),
        ("topic\tinclusion\nt1\n", r"drawn.tsv:2: 2 columns are needed, found 1"),
        ("topic\tdocument\tinclusion\nt1\td1\t.5\nt1\td1\t.5\n", r"drawn.tsv:3: d1 appears twice in topic t1"),
    ],
)
def test_bad_samples(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "drawn.tsv").write_text(text)
    with pytest.raises(UnjudgedError, match=sentence):
        read_sample(tmp_path / "drawn.tsv")


def test_samples_that_do_not_fit(world: dict[str, Any], tmp_path: Path) -> None:
    c, file = uj.load(world["human"], world["runs"]), tmp_path / "drawn.tsv"
    drawn = uj.draw_sample(world["machine"], documents=8 * TOPICS, strata="none").render("tsv").splitlines()
    for lines, sentence in (
        (drawn[:9], "topic t01 of the machine has no document in the sample"),
        ([*drawn, "t00\tnone\tall\t0.6667"], "several inclusion probabilities"),
        (
            [line.replace("0.6666666666666666", "1.0") for line in drawn],
            "strata hold 8 documents, but the machine judged",
        ),
    ):
        file.write_text("\n".join(lines) + "\n")
        with pytest.raises(UnjudgedError, match=sentence):
            uj.corrected(c, world["machine"], "P@5", sampled=file)


def answered(format: str, sent: str, grades: dict[str, dict[str, int]]) -> str:
    """What assessors, or their tools, give back of what was sent to them."""
    if format in ("list", "trec"):
        mark, parts = ("\t" if format == "list" else " "), [line.split() for line in sent.splitlines()]
        return "".join(mark.join([*part, str(grades[part[0]][part[-1]])]) + "\n" for part in parts)
    if format == "quepid":
        head, *rows = csv.reader(io.StringIO(sent))
        text = io.StringIO()
        csv.writer(text).writerows([head, *([query, doc, grades[query[-3:]][doc]] for query, doc, _ in rows)])
        return text.getvalue()
    if format == "doccano":
        found = [json.loads(line) for line in sent.splitlines()]
        labelled = ({**one, "id": 7, "label": [str(grades[one["topic"]][one["document"]])]} for one in found)
        return "".join(json.dumps(one) + "\n" for one in labelled)
    tasks = json.loads(sent)
    for task in tasks:
        told = str(grades[task["data"]["topic"]][task["data"]["document"]])
        task["annotations"] = [{"result": [{"type": "choices", "value": {"choices": [told]}}]}]
    return json.dumps(tasks)


@pytest.mark.parametrize("drawn", ["--topics 12", "--documents 120 --strata none"])
@pytest.mark.parametrize("format", FOR_ASSESSORS)
def test_every_format_for_assessors_comes_back(
    format: str,
    drawn: str,
    world: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With texts of the topics, too, which stand for them in Quepid."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{t} 0 {d} {g}" for t, docs in world["machine"].items() for d, g in docs.items()]
    Path("machine.txt").write_text("\n".join(lines) + "\n")
    Path("queries.tsv").write_text("".join(f"{topic}\twhat is {topic}\n" for topic in world["human"]))
    for name, lists in world["runs"].items():
        rows = [f"{t} Q0 {d} 0 {s} {name}" for t, docs in lists.items() for d, s in docs.items()]
        Path(f"{name}.run").write_text("\n".join(rows) + "\n")
    call = f"judges sample machine.txt {drawn} --seed 2 --sampled drawn.tsv --queries queries.tsv"
    assert main(shlex.split(f"{call} --format {format} -o out")) == 0
    sent = Path("out").read_text()
    assert ("what is t" in sent) == (format not in ("list", "trec"))
    Path("back").write_text(answered(format, sent, world["human"]))
    capsys.readouterr()
    call = "judges estimate back machine.txt --runs r0.run r1.run --sampled drawn.tsv --queries queries.tsv --rel 2"
    assert main(shlex.split(f"{call} -m P@5 --format json")) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    kept = {t: {d: world["human"][t][d] for d in docs} for t, docs in _pairs(format, sent).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        some = uj.load(kept, {name: world["runs"][name] for name in ("r0", "r1")})
    told = uj.corrected(some, world["machine"], "P@5", rel=2, sampled="drawn.tsv")
    assert [row["estimate"] for row in rows] == told.frame.estimate.tolist()
    assert {row["word"] for row in rows} == {"corrected"}


def _pairs(format: str, sent: str) -> dict[str, list[str]]:
    """The documents that were sent out, by topic: every id is `t` or `d` and a number."""
    found: dict[str, list[str]] = {}
    for topic, doc in re.findall(r"\b(t\d\d)\b\W(?:.*?\W)??(d\d+)\b", sent, re.DOTALL):
        if doc not in found.setdefault(topic, []):
            found[topic].append(doc)
    return found


def test_two_topics_of_one_text_name_neither(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "queries.tsv").write_text("a\tthe same\nb\tthe same\n")
    for name, text in (("h.txt", "a 0 d 1\n"), ("m.txt", "a 0 d 1\nb 0 d 1\n"), ("r", "a Q0 d 0 1 r\n")):
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in ("h.txt", "m.txt")]
    asked = ["judges", "estimate", *files, "--runs", str(tmp_path / "r"), "--queries", str(tmp_path / "queries.tsv")]
    assert main(asked) == 2
    assert "topics a and b have the same text" in capsys.readouterr().err


def test_draw_judge_estimate_on_the_command_line(
    world: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("human", "machine"):
        lines = [f"{t} 0 {d} {g}" for t, docs in world[name].items() for d, g in docs.items()]
        Path(f"{name}.txt").write_text("\n".join(lines) + "\n")
    Path("runs").mkdir()
    for name, lists in world["runs"].items():
        rows = [f"{t} Q0 {d} 0 {s} {name}" for t, docs in lists.items() for d, s in docs.items()]
        (Path("runs") / name).write_text("\n".join(rows) + "\n")
    call = "judges sample machine.txt --topics 12 --seed 2 --sampled drawn.tsv --format trec -o list.txt"
    assert main(shlex.split(call)) == 0
    wanted = {tuple(line.split()[::2]) for line in Path("list.txt").read_text().splitlines()}
    assert len(wanted) == 144
    judged = [line for line in Path("human.txt").read_text().splitlines() if tuple(line.split()[:3:2]) in wanted]
    Path("some.txt").write_text("\n".join(judged) + "\n")
    call = "judges estimate some.txt machine.txt --runs runs --sampled drawn.tsv --rel 2 -m nDCG@10 --format tsv"
    assert main(shlex.split(call)) == 0
    out, err = capsys.readouterr()
    head, *rows = (line.split("\t") for line in out.splitlines())  # type: ignore[assignment]
    assert len(rows) == RUNS and {row[head.index("word")] for row in rows} == {"corrected"}
    assert "humans judged 12 of the machine's 30 topics" in err
    assert main(["judges", "sample", "machine.txt", "--topics", "12", "--format", "quepid"]) == 2
    assert main(["judges", "sample", "machine.txt", "--format", "tsv"]) == 2
    assert main(["judges", "sample", "machine.txt", "--topics", "31"]) == 2
    assert main(["judges", "sample", "machine.txt", "--documents", "3"]) == 2
    told = capsys.readouterr().err
    assert "name a file for it (--sampled FILE)" in told and "topics or documents" in told
    assert "between 2 and 30 topics" in told and "two of each stratum" in told
