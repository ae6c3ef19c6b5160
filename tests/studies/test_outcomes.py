"""One outcome of two runs, whoever asks: the rule case by case, and compare, winners and gate beside each other."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
from made_scores import rows_of, scores_of

import unjudged as uj
from unjudged.errors import UsageError
from unjudged.holes.judging import Question
from unjudged.holes.labels import LabelFile
from unjudged.holes.pairs import difference
from unjudged.holes.session import Session
from unjudged.measures import parse
from unjudged.statistics.multiple import holm
from unjudged.studies.engine.outcome import Rule, needing_bounds, outcomes, seen_from
from unjudged.studies.engine.significance import PairStatistics

NAN = float("nan")


def pair(estimate: float, v_topic: float, v_hole: float = 0.0, tied: bool = False) -> PairStatistics:
    """One pair on 30 topics; it ties on every topic, or wins and loses some."""
    won = np.array([0 if tied else 3])
    sd = np.sqrt([v_topic, v_topic + v_hole])
    with np.errstate(divide="ignore", invalid="ignore"):
        p_topics, p = 2 * scipy.stats.t.sf(np.where(estimate == 0, 0.0, np.abs(estimate) / sd), 29)
    half = scipy.stats.t.isf(0.025, 29) * sd[1]
    same = dict.fromkeys(("difference", "estimate", "estimate_low", "estimate_high"), estimate)
    ends = {"low": estimate - half, "high": estimate + half}
    tests = {"p_value": p, "p_adjusted": p, "p_topics": p_topics, "effect_size": 0.0}
    numbers = same | ends | tests | {"v_topic": v_topic, "v_hole": v_hole}
    arrays = {name: np.array([value]) for name, value in numbers.items()}
    flags = {"constant": np.zeros(1, bool), "holed": np.array([v_hole > 0])}
    return PairStatistics(**arrays, **flags, wins=won, ties=np.array([4]), losses=won)


BETTER, WORSE, OPEN = pair(0.2, 0.05**2), pair(-0.2, 0.05**2), pair(0.005, 0.02**2)
TIED, ONE_TOPIC = pair(0.0, 0.0, tied=True), pair(0.2, NAN)
TURNED = pair(0.2, 0.05**2, 0.09**2)  # 4 sd of the topics, 1.9 of both
WIDE = pair(0.05, 0.05**2, 0.09**2)  # the topics would not decide, but the holes are the larger part
NARROW = pair(0.05, 0.05**2, 0.04**2)
HOLED_TIE = pair(0.0, 0.0, 0.01**2, tied=True)


@pytest.mark.parametrize(
    ("found", "margin", "open_", "bounds", "word", "why"),
    [
        (BETTER, 0, False, None, "better", ""),
        (WORSE, 0, False, None, "worse", ""),
        (OPEN, 0, False, None, "cannot tell", "topics"),
        (OPEN, 0.05, False, None, "same", ""),
        (OPEN, 0.04, False, None, "cannot tell", "topics"),  # the end of the interval reaches the margin
        (TIED, 0, False, None, "same", ""),
        (ONE_TOPIC, 0, False, None, "cannot tell", "topics"),
        (TURNED, 0, False, None, "cannot tell", "holes"),
        (WIDE, 0, False, None, "cannot tell", "holes"),
        (NARROW, 0, False, None, "cannot tell", "topics"),
        (HOLED_TIE, 0, False, None, "cannot tell", "holes"),  # equal scores, but of unjudged documents
        (HOLED_TIE, 0.03, False, None, "same", ""),
        (BETTER, 0, True, None, "cannot tell", "holes"),  # holes that could not be estimated, no bounds of the measure
        (BETTER, 0, True, (NAN, NAN), "cannot tell", "holes"),
        (BETTER, 0, True, (0.01, 0.5), "better", ""),
        (BETTER, 0, True, (0.0, 0.5), "cannot tell", "holes"),
        (BETTER, 0, True, (-0.3, 0.5), "cannot tell", "holes"),
        (WORSE, 0, True, (-0.5, -0.01), "worse", ""),
        (WORSE, 0, True, (-0.5, 0.0), "cannot tell", "holes"),
        (OPEN, 0, True, None, "cannot tell", "topics"),  # topics are missing first
        (TIED, 0, True, (0.0, 0.0), "same", ""),
        (TIED, 0, True, (-0.1, 0.1), "cannot tell", "holes"),  # both score 0 on unjudged documents
        (OPEN, 0.05, True, (-0.04, 0.04), "same", ""),
        (OPEN, 0.05, True, (-0.04, 0.06), "cannot tell", "holes"),
    ],
)
def test_the_rule(found: PairStatistics, margin: float, open_: bool, bounds: Any, word: str, why: str) -> None:
    """Level .05 on 30 topics: t is 2.045."""
    rule = Rule(0.05, "none", margin, 10)
    ends = None if bounds is None else (np.array(bounds[:1]), np.array(bounds[1:]))
    (outcome,) = outcomes(rule, found, np.array([open_]), ends)
    assert (outcome.word, outcome.why) == (word, why)
    needed = open_ and (word, why) != ("cannot tell", "topics")
    assert needing_bounds(rule, found, np.array([open_])).tolist() == [needed]


TOPICS = 30
JUDGED = {"rel": range(8), "non": range(20)}


def made(topics: int = TOPICS, /, **runs: list[str]) -> uj.Collection:
    """The same list of ten kinds of documents on every topic, except that every third topic lacks the first."""
    qrels: dict[str, Any] = {}
    lists: dict[str, dict[str, Any]] = {name: {} for name in runs}
    for t in range(topics):
        qrels[f"t{t}"] = {f"rel{i}": 1 for i in JUDGED["rel"]} | {f"non{i}": 0 for i in JUDGED["non"]}
        for name, docs in runs.items():
            shown = docs[t % 3 == 0 :]
            lists[name][f"t{t}"] = {doc: 20.0 - i for i, doc in enumerate(shown)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        return uj.load(qrels, lists)


def kinds(relevant: int, unjudged: int, name: str) -> list[str]:
    """Ten documents: judged relevant ones, the run's own unjudged ones, judged nonrelevant ones."""
    rest = 10 - relevant - unjudged
    return (
        [f"rel{i}" for i in range(relevant)]
        + [f"{name}{i}" for i in range(unjudged)]
        + [f"non{i}" for i in range(rest)]
    )


@pytest.fixture(scope="module")
def outsider(tmp_path_factory: pytest.TempPathFactory) -> uj.Collection:
    """Judgments pooled from all teams but team04, whose runs have 29 % of their top 10 unjudged."""
    folder = tmp_path_factory.mktemp("outsider") / "c"
    made = uj.simulate("tiny", seed=0, topics=30, runs=16, teams=8, leave_out="team04", out=folder)
    return uj.load(made.qrels, made.run_folder, teams=made.teams)


def said(result: uj.Result, **where: str) -> tuple[str, str]:
    (row,) = [r for r in rows_of(result) if all(r[k] == v for k, v in where.items())]
    return row["outcome"], row["why"]


def test_whoever_asks_about_a_run_with_holes_hears_the_same(outsider: uj.Collection) -> None:
    """`compare` called a run with half of its top 10 unjudged significantly better where `ci` could not tell."""
    every = uj.compare(outsider, "P@10")
    (row,) = [r for r in rows_of(every) if (r["run_a"], r["run_b"]) == ("team03-2", "team04-1")]
    assert row["difference"] > row["estimate"] > 0.1 and row["unjudged_a"] == 0
    assert row["unjudged_b"] == pytest.approx(0.88 / 3)
    assert (row["outcome"], row["why"]) == ("cannot tell", "holes")
    assert said(uj.study("winners", outsider, measures="P@10"), run="team04-1") == ("cannot tell", "holes")
    plain = uj.compare(outsider, "P@10", unjudged="nonrelevant")  # the old reading, for those who ask
    assert said(plain, run_a="team03-2", run_b="team04-1") == ("better", "")
    assert said(uj.compare(outsider, "P@10", unjudged="bounds"), run_a="team03-2", run_b="team04-1")[0] == "cannot tell"


def test_one_statistic_decides(outsider: uj.Collection) -> None:
    """p values, interval and outcome of every row are those of D / sqrt(V_topic + V_hole), by the rule of `holes`."""
    for name in ("P@10", "nDCG@10", "RBP(p=0.8)@10"):
        rows = rows_of(uj.compare(outsider, name))
        pairs = tuple(np.array([outsider.runs.index(r[side]) for r in rows]) for side in ("run_a", "run_b"))
        found = difference(outsider, parse(name)[0], (pairs[0], pairs[1]))
        assert found is not None and (found.holes > 0).any() and (found.holes == 0).any()
        matrix = uj.score(outsider, name).values[:, :, 0]
        p_values = []
        for i, row in enumerate(rows):
            if found.holes[i]:
                mean, variance = found.difference[i], found.v_topic[i] + found.v_hole[i]
            else:  # the ordinary test
                apart = matrix[pairs[0][i]] - matrix[pairs[1][i]]
                mean, variance = apart.mean(), apart.var(ddof=1) / len(apart)
            p_values.append(2 * scipy.stats.t.sf(abs(mean) / np.sqrt(variance), 29))
            half = scipy.stats.t.isf(0.025, 29) * np.sqrt(variance)
            assert (row["estimate"], row["p_value"]) == pytest.approx((mean, p_values[-1]), abs=1e-12)
            assert (row["low"], row["high"]) == pytest.approx((mean - half, mean + half), abs=1e-12)
            reach = 1.6449 * np.sqrt(found.v_hole[i]) if found.holes[i] else 0.0
            assert mean - reach - 1e-12 <= row["estimate_low"] <= mean + 1e-12
            assert mean - 1e-12 <= row["estimate_high"] <= mean + reach + 1e-12
        assert [r["p_adjusted"] for r in rows] == pytest.approx(list(holm(p_values)), abs=1e-12)
        for row in rows:
            decided = "better" if row["estimate"] > 0 else "worse"
            assert row["outcome"] == (decided if row["p_adjusted"] < 0.05 else "cannot tell")


def test_other_tests_are_shrunk_by_the_holes(outsider: uj.Collection) -> None:
    """With --test, pairs without holes have its p value; with holes it is larger than that of the expected scores."""
    for test in ("wilcoxon", "bootstrap", "tukey"):
        rows, plain = (
            rows_of(uj.compare(outsider, "P@10", test=test, unjudged=how)) for how in ("estimate", "nonrelevant")
        )
        judged = [r["unjudged_a"] == r["unjudged_b"] == 0 for r in rows]
        assert any(judged) and not all(judged)
        for row, other, whole in zip(rows, plain, judged, strict=True):
            if whole:
                assert row["p_value"] == other["p_value"] and row["low"] == other["low"]
            assert row["estimate"] == pytest.approx((row["low"] + row["high"]) / 2, abs=1e-12)


def test_measures_without_weights_are_drawn(outsider: uj.Collection) -> None:
    """AP@10, RR, Q@10, bpref under completions of the judgments: the same for the same seed, in any order of runs."""
    names = "AP@10,RR,Q@10,bpref,P@10"
    once, again = uj.compare(outsider, names), uj.compare(outsider, names)
    assert once.to_csv() == again.to_csv()
    turned = uj.compare(outsider.with_runs(tuple(reversed(outsider.runs))), names)
    opposite = {"better": "worse", "worse": "better"}
    told = {(r["run_a"], r["run_b"], r["measure"]): r for r in rows_of(turned)}
    for row in rows_of(once):
        other = told[row["run_b"], row["run_a"], row["measure"]]
        assert other["outcome"] == opposite.get(row["outcome"], row["outcome"]) and other["why"] == row["why"]
        assert other["estimate"] == pytest.approx(-row["estimate"], abs=1e-12)
        assert row["estimate_low"] <= row["estimate"] <= row["estimate_high"]
    shares = {r["measure"]: 0 for r in rows_of(once)}
    for row in rows_of(once):
        shares[row["measure"]] += row["outcome"] != "cannot tell"
    assert shares["AP@10"] > 0 and shares["P@10"] > 0


def test_verdicts_name_the_holes_and_what_to_do(outsider: uj.Collection) -> None:
    compared, winners = uj.compare(outsider, "P@10"), uj.study("winners", outsider, measures="P@10")
    assert compared.verdict is not None and compared.verdict.next is not None
    assert compared.verdict.next.sentence.startswith("judge the unjudged documents of team04-")
    assert compared.verdict.next.command[0] == "next" and compared.verdict.next.command[-1] == "--all"
    assert winners.verdict is not None and winners.verdict.next is not None
    whys = [row["why"] for row in rows_of(winners)]
    by_holes = 2 * whys.count("holes") >= whys.count("holes") + whys.count("topics")
    assert winners.verdict.next.command[0] == ("next" if by_holes else "study") and "holes" in whys
    assert "hang on unjudged documents" in compared.verdict.sentence
    one = uj.compare(outsider.with_runs(["team03-2", "team04-1", "team08-1"]), "AP", baseline="team03-2").verdict
    assert one is not None
    if one.next is not None and one.next.command[0] == "next":
        assert "nDCG@100" in one.next.command  # AP gives documents no weight
    assert any(note.startswith("more than 20 % of the top 10 was never judged: ") for note in compared.notes)
    arrows = uj.compare(outsider, "P@10", baseline="team03-2").table()
    assert "unjudged top 10" in arrows and "P@10 estimated" in arrows and "29 %" in arrows


def test_too_little_to_estimate_leaves_bounds() -> None:
    """Seven topics are too few for the hole model: an outcome must hold whatever the unjudged documents are."""
    few = made(7, new=kinds(5, 5, "a"), old=kinds(3, 5, "b"), low=kinds(1, 0, "c"))
    found = uj.compare(few, "P@10")
    assert any("holes cannot be estimated (only 7 judged topics" in note for note in found.notes)
    assert said(found, run_a="new", run_b="old") == ("cannot tell", "holes")
    # new has .5 for certain, low .1: no judgment can turn that
    assert said(found, run_a="new", run_b="low") == ("better", "")
    (row,) = [r for r in rows_of(found) if (r["run_a"], r["run_b"]) == ("new", "old")]
    assert row["estimate"] is None
    assert said(uj.compare(few, "infAP"), run_a="new", run_b="low") == ("cannot tell", "holes")
    with pytest.raises(UsageError, match="infAP has no exact bounds"):
        uj.compare(few, "infAP", unjudged="bounds")


def test_nothing_to_estimate_is_the_ordinary_test(outsider: uj.Collection) -> None:
    """No holes, all holes, one topic, two runs."""
    pooled = outsider.with_runs([run for run in outsider.runs if run[:6] in ("team01", "team02")])
    both = [rows_of(uj.compare(pooled, "P@10", unjudged=how)) for how in ("estimate", "nonrelevant")]
    for row, plain in zip(*both, strict=True):
        assert row["unjudged_a"] == row["unjudged_b"] == 0
        assert (row["difference"], row["difference"], row["difference"]) == (
            row["estimate"],
            row["estimate_low"],
            row["estimate_high"],
        )
        assert {k: v for k, v in row.items() if "estimate" not in k} == {
            k: v for k, v in plain.items() if "estimate" not in k
        }
    nobody = {f"t{t}": {"other": 1} for t in range(TOPICS)}
    runs = {n: {f"t{t}": {f"{n}{i}": 9.0 - i for i in range(5)} for t in range(TOPICS)} for n in ("a", "b")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uj.DataWarning)
        dark = uj.load(nobody, runs)
    assert said(uj.compare(dark, "P@5"), run_a="a") == ("cannot tell", "holes")
    one = uj.compare(made(1, a=kinds(3, 0, "a"), b=kinds(1, 0, "b")), "P@10")
    assert said(one, run_a="a") == ("cannot tell", "topics")


def test_long_lists_of_q_are_not_searched() -> None:
    """The exact bounds of Q may take minutes there; every difference counts as possible."""
    runs = {name: kinds(many, 5, name) + [f"{name}more{i}" for i in range(20)] for name, many in (("a", 5), ("b", 0))}
    (row,) = rows_of(uj.gate(made(**runs), "a", "b", "Q"))
    assert (row["open_low"], row["open_high"]) == (-1.0, 1.0)
    short = {name: docs[:15] for name, docs in runs.items()}
    (row,) = rows_of(uj.gate(made(**short), "a", "b", "Q"))
    assert -1.0 < row["open_low"] < row["open_high"] < 1.0


@pytest.mark.slow
def test_winners_and_all_pairs_agree_run_by_run(tmp_path: Path) -> None:
    """Also with holes: judgments from one team's pool alone."""
    made = uj.simulate("tiny", seed=3, topics=26, runs=18, teams=6, depth=10, out=tmp_path / "c")
    whole = uj.load(made.qrels, made.run_folder, teams=made.teams)
    seen = set()
    shrunk = (whole, uj.take(whole, teams=["team01"]), uj.take(whole, teams=["team03"]))
    for c, name in ((c, name) for c in shrunk for name in ("AP", "nDCG@10")):
        compared, winners = uj.compare(c), uj.study("winners", c, measures=[name])
        best, *others = rows_of(winners)
        assert (best["outcome"], best["rank"], best["p_adjusted"]) == ("best", 1, None)
        rows = [r for r in rows_of(compared) if r["measure"] == name and best["run"] in (r["run_a"], r["run_b"])]
        turned = {"better": "worse", "worse": "better"}
        for row in rows:
            first = row["run_a"] == best["run"]
            (same,) = [o for o in others if o["run"] == row["run_b" if first else "run_a"]]
            word = turned.get(row["outcome"], row["outcome"]) if first else row["outcome"]
            assert (same["outcome"], same["why"], same["p_adjusted"]) == (word, row["why"], row["p_adjusted"])
            seen.add((word, row["why"]))
        assert winners.verdict is not None
        assert winners.verdict.value == sum(o["outcome"] != "worse" for o in others) / len(others)
    assert {("worse", ""), ("cannot tell", "topics"), ("cannot tell", "holes")} <= seen


def test_winners_by_definition() -> None:
    """Means, ranks with ties and t intervals, against scipy; two best runs are the same run."""
    rng = np.random.default_rng(2)
    x = rng.random((30, 1)) * 0.4 + rng.normal(0, 0.05, (30, 4)) + np.array([0.3, 0.0, 0.25, 0.1])
    x = np.column_stack([x, x[:, 0]])
    found = uj.study("winners", scores_of(x, x[:, ::-1]), measures="AP,nDCG@10")
    rows = rows_of(found)
    assert [r["rank"] for r in rows] == [1, 1, 3, 4, 5]
    assert [r["run"] for r in rows][:2] == ["run00", "run04"]
    assert [r["outcome"] for r in rows] == ["best", "same", "worse", "worse", "worse"]
    for row in rows:
        column = x[:, int(row["run"][-1])]
        ends = scipy.stats.ttest_1samp(column, 0).confidence_interval(0.95)
        assert row["value"] == pytest.approx(column.mean(), abs=1e-12)
        assert (row["low"], row["high"]) == pytest.approx((ends.low, ends.high), abs=1e-12)
    assert found.verdict is not None and found.verdict.decided_by == ("run04",)
    assert found.verdict.word == "with care" and found.verdict.value == 0.25
    one = uj.study("winners", scores_of(x[:1]), measures="AP")
    assert one.verdict is not None and one.verdict.sentence == "one topic cannot show which run is best"
    drawn = found.plot()
    assert drawn.spec["layer"][1]["encoding"]["shape"]["field"] == "outcome" and "run04" in drawn.svg()


def test_alone_at_the_top_is_solid() -> None:
    rng = np.random.default_rng(2)
    x = rng.random((30, 1)) * 0.4 + rng.normal(0, 0.05, (30, 3)) + np.array([0.3, 0.0, 0.1])
    verdict = uj.study("winners", scores_of(x), measures="AP").verdict
    assert verdict is not None and verdict.word == "solid" and verdict.value == 0.0 and verdict.next is None
    assert verdict.sentence.endswith("and is better than every other run")


def test_a_work_folder_knows_which_unjudged_documents_two_runs_share(tmp_path: Path) -> None:
    """Judged hits and places of the holes are equal; whether the holes are the same documents decides."""
    apart = made(7, new=kinds(5, 5, "a"), old=kinds(3, 5, "b"))
    shared = made(7, new=kinds(5, 5, "a"), old=kinds(3, 5, "a"))
    for c, outcome in ((apart, ("cannot tell", "holes")), (shared, ("better", "")), (apart, ("cannot tell", "holes"))):
        assert said(uj.compare(c, "P@10", workdir=tmp_path), run_a="new") == outcome
    estimates = []
    for name in ("b", "a", "b"):
        c = made(new=kinds(5, 5, "a"), old=kinds(3, 5, name))
        estimates.append(rows_of(uj.compare(c, "P@10", workdir=tmp_path / name))[0]["estimate"])
    assert estimates[0] == estimates[2] != estimates[1]


def test_units_are_kept(outsider: uj.Collection, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    for _ in range(2):
        uj.compare(
            outsider, "P@10,AP", workdir=tmp_path, progress=lambda s, done, all, kept: told.append((s, done, kept))
        )
    assert told[0][1:] == (0, 0) and told[-1][1:] == (2, 2)
    assert {s for s, _, _ in told} == {
        "compare: what the unjudged documents are worth",
        "compare: 120 pairs of 16 runs",
    }


@pytest.mark.parametrize("pair", [("team04-1", "team08-2"), ("team06-1", "team01-1")])
def test_two_runs_with_holes_hear_the_same_everywhere(pair: tuple[str, str], tmp_path: Path) -> None:
    """compare, ci, next, the judging session and the report of few runs: one word, one difference, one share."""
    uj.simulate("tiny", seed=4, topics=30, runs=16, teams=8, leave_out="team04", out=tmp_path / "c")
    whole = uj.load(tmp_path / "c" / "qrels.txt", tmp_path / "c" / "runs", teams=tmp_path / "c" / "teams.tsv")
    c = uj.shallow(whole, 2).with_runs(pair)
    (row,) = uj.compare(c, "nDCG@10").frame.to_dict("records")
    turn = 1 if row["run_a"] == pair[0] else -1
    (gate,) = uj.gate(c, *pair, "nDCG@10").frame.to_dict("records")
    assert gate["estimate"] == pytest.approx(turn * row["estimate"], abs=1e-12)
    shares = (row["unjudged_a"], row["unjudged_b"])[::turn]
    assert (gate["unjudged_run"], gate["unjudged_baseline"]) == shares and max(shares) > 0.2
    asked = uj.next_to_judge(c, "nDCG@10", new=pair[0], baseline=pair[1])
    session = Session(c, LabelFile(tmp_path / "x.sqlite", c.judgments), Question("nDCG@10", *pair))
    told, standing = session.outcome(), session.progress()
    word = {"better": "worse", "worse": "better"}.get(row["outcome"], row["outcome"]) if turn < 0 else row["outcome"]
    assert told.word == word and f": {turn * row['estimate']:+.3f}, give or take" in told.sentence
    assert word in asked.notes[-1] and asked.settled == (standing.phase == "done")
    assert asked.labels is None or standing.left == asked.labels
    few = uj.report(c, measures="nDCG@10", jobs=1).few
    assert few is not None and len(few.pairs) == 1
    (shown,) = few.pairs
    assert shown.why == row["why"] and f"{abs(row['estimate']):.2f} in nDCG@10" in shown.sentence
    assert shown.word == (word if shown.runs == pair else {"better": "worse", "worse": "better"}.get(word, word))


def test_a_pair_is_seen_from_either_of_its_runs() -> None:
    ends = {"difference": 0.1, "estimate": 0.2, "low": 0.05, "high": 0.35}
    row = {"run_a": "a", "run_b": "b", "outcome": "better", **ends}
    assert seen_from(row, "a")[:2] == ("better", 0.2) and seen_from(row, "b")[:2] == ("worse", -0.2)
    assert seen_from(row, "a")[2] == seen_from(row, "b")[2] == pytest.approx(0.15)
    assert seen_from({**row, "estimate": None, "outcome": "cannot tell"}, "b")[:2] == ("cannot tell", -0.1)
