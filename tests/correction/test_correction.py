"""Merging, counting and the estimators of P@n against the plain version in correction_reference.py, and properties."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from correction_reference import Reference
from correction_worlds import load, world
from hypothesis import given, settings
from hypothesis import strategies as st

import unjudged as uj
from unjudged.collection import Pool
from unjudged.correction.experiment import Experiment, Trial, kept_count
from unjudged.correction.full_lists import Lists
from unjudged.correction.merging import merged_tops
from unjudged.correction.protocols import PROTOCOLS, Protocol
from unjudged.correction.trust import Trust, best_of, errors_of_the_choice
from unjudged.errors import UsageError

METHODS = ("lipani", "webber-park", "lipani-v2", "webber-ratio", "per-topic")


def experiment(
    collection: uj.Collection,
    pool: Pool,
    groups: dict[str, str],
    cutoffs: Any,
    protocol: Protocol,
    methods: Any = METHODS[:2],
    **how: Any,
) -> list[Trial]:
    """The package's experiment, through the arrays in which its work units travel."""
    trials = Experiment.of(collection, pool, groups, protocol, methods=tuple(methods), **how).trials(cutoffs)
    return [Trial.of_arrays({k: np.asarray(v) for k, v in trial.arrays().items()}, pool.runs) for trial in trials]


def tops(pooled: list[str], new: list[str], n: int, alpha: float = 1.0) -> list[str]:
    """The package's r o u of two lists."""
    collection = load({"1": {"?": 0}}, {"r": {"1": pooled}, "u": {"1": new}})
    lists = Lists.of(collection, ("r", "u"))
    topic = next(iter(lists))
    found = merged_tops(topic, np.array([0]), np.array([1]), n, alpha)[0]
    ids = {d: i for i, d in enumerate(collection.rankings.doc)}
    words = [*collection.rankings.ids(collection.judgments, 0), *collection.rankings.ids(collection.judgments, 1)]
    name = {int(c): words[ids[c]] for c in topic.code}
    return [name[int(topic.code[d])] for d in found if d < topic.nothing]


# -- merging


def test_merging_by_hand() -> None:
    """a b c d, and u has c first and a third: c moved up to 1 before a leaves it; at 3 nothing else stands."""
    assert tops(list("abcd"), ["c", "x", "a"], 4) == ["c", "b", "a", "d"]
    # at rank 2: b stays (u lacks it), a moved down to 2 behind it; at rank 3: d moved up before c
    assert tops(list("abcd"), ["y", "a", "d"], 4) == ["b", "a", "d", "c"]
    assert tops(list("abcd"), ["a", "b"], 3) == ["a", "b", "c"]
    assert tops(list("abcd"), list("wxyz"), 4) == list("abcd")
    assert tops(list("ab"), list("ba"), 5) == ["b", "a"]


def test_merging_with_half_the_weight_by_hand() -> None:
    """Places: a (1 + 4) / 2 = 2.5, b 2 (u lacks it), c (3 + 1) / 2 = 2 moved up, d (4 + 2) / 2 = 3."""
    assert tops(list("abcd"), ["c", "d", "x", "a"], 4, 0.5) == ["c", "b", "a", "d"]


def test_two_n_places_of_each_list_are_not_always_enough() -> None:
    """The first 2n of r stand at the end of u, and the first of u are not in r: the rest of r moves up."""
    r = [f"a{i}" for i in range(50)]
    u = [f"b{i}" for i in range(40)] + r[:40]
    reference = Reference({}, {}, {}, 1, sigir=False)
    for n in (1, 2, 5, 10):
        assert tops(r, u, n) == reference.merge(r, u)[:n]
    assert tops(r, u, 2) == ["a40", "a0"]


lists_of_docs = st.lists(st.integers(0, 25).map(lambda i: f"d{i}"), unique=True, min_size=1, max_size=25)


@settings(max_examples=150)
@given(lists_of_docs, lists_of_docs, st.integers(1, 30), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]))
def test_merging_is_what_the_plain_version_says(r: list[str], u: list[str], n: int, alpha: float) -> None:
    reference = Reference({}, {}, {}, 1, sigir=False, alpha=alpha)
    assert tops(r, u, n, alpha) == reference.merge(r, u)[:n]


# -- the experiment


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("leave", ["team", "run"])
@pytest.mark.parametrize("seed", range(6))
def test_the_experiment_is_what_the_plain_version_says(protocol: str, leave: str, seed: int) -> None:
    made = world(seed)
    collection = load(made["qrels"], made["runs"], made["teams"])
    depth, top = (5, 0.75) if seed % 2 else (3, None)
    pooled = collection.runs if seed % 3 else collection.runs[:-1]
    groups = made["teams"] if leave == "team" else {run: run for run in pooled}
    cutoffs = (1, 3, 5, 12)
    trials = experiment(collection, Pool(depth, pooled), groups, cutoffs, PROTOCOLS[protocol], top=top, methods=METHODS)
    reference = Reference(made["runs"], made["qrels"], made["teams"], depth, protocol == "sigir2015")
    for n, trial in zip(cutoffs, trials, strict=True):
        expected = reference.experiment(pooled, n, kept_count(top, len(pooled)), leave)
        assert set(trial.runs) == set(expected)
        for i, run in enumerate(trial.runs):
            one = expected[run]
            effect = trial.effect
            got = {
                "true": trial.true[i],
                "reduced": trial.reduced[i],
                "lipani": trial.estimate("lipani")[i],
                "lipani-v2": trial.estimate("lipani-v2")[i],
                "webber-park": trial.estimate("webber-park")[i],
                "p": effect.p[i],
                "anti": effect.anti_p[i],
                "k": effect.k[i],
                "delta_p": effect.delta_p[i],
                "delta_anti_p": effect.delta_anti_p[i],
                "delta_k": effect.delta_k[i],
                "lambda": effect.lambda_[i],
            }
            assert got == pytest.approx({name: float(one[name]) for name in got}, abs=1e-12), (run, n)


@pytest.mark.parametrize("alpha", [0.3, 0.5])
def test_other_weights_of_the_new_run(alpha: float) -> None:
    made = world(11)
    collection = load(made["qrels"], made["runs"], made["teams"])
    trial = experiment(collection, Pool(5, collection.runs), made["teams"], [4], PROTOCOLS["strict"], alpha=alpha)[0]
    expected = Reference(made["runs"], made["qrels"], made["teams"], 5, False, alpha).experiment(
        collection.runs, 4, len(collection.runs)
    )
    assert trial.estimate("lipani") == pytest.approx([float(expected[r]["lipani"]) for r in trial.runs], abs=1e-12)


def test_a_document_listed_twice_has_one_place() -> None:
    """b stands twice in u: its better place counts, what follows moves up (CORRECTION 2)."""
    twice = {"1": ["a", "b", "b", "c"]}
    once = {"1": ["a", "b", "c"]}
    others = {"r": {"1": ["c", "a", "d"]}, "s": {"1": ["b", "d", "a"]}}
    qrels = {"1": {"a": 1, "c": 0, "b": 1, "d": 0}}
    found = [
        experiment(
            load(qrels, {"u": lists, **others}),
            Pool(2, ("u", "r", "s")),
            {"u": "u", "r": "r", "s": "s"},
            [3],
            PROTOCOLS["sigir2015"],
        )[0]
        for lists in (twice, once)
    ]
    assert found[0].estimate("lipani").tolist() == found[1].estimate("lipani").tolist()
    assert found[0].true.tolist() == found[1].true.tolist()


def test_means_are_rounded_half_up() -> None:
    """1/32 = 0.03125 is printed 0.0313 under sigir2015 and kept as it is under strict."""
    sigir, strict = PROTOCOLS["sigir2015"], PROTOCOLS["strict"]
    found, topics = np.array([1, 31, 0, 32]), np.array([32] * 4)
    assert (sigir.means(found, 1, topics) / sigir.scale(1, 32)).tolist() == [0.0313, 0.9688, 0.0, 1.0]
    assert (strict.means(found, 1, topics) / strict.scale(1, 32)).tolist() == [1 / 32, 31 / 32, 0.0, 1.0]


# -- the later variants by hand


def test_ratio_and_per_topic_variants_by_hand() -> None:
    """Two topics, three runs; every number below was worked out with pencil and paper.

    Pool depth 2, n = 2. Run u is new; r and s are pooled and the judgments are theirs.
    topic 1: r = a b, s = b c; topic 2: r = d e, s = f d. Relevant: a, b, d.
    Leaving r out loses a (topic 1) and e (topic 2): r has P (2 + 1) / 4, left out (1 + 1) / 4, k = 2 / 4, ratio 1/2.
    Leaving s out loses c and f: s has P (1 + 1) / 4 before and after: ratio 0.
    """
    runs = {
        "r": {"1": ["a", "b"], "2": ["d", "e"]},
        "s": {"1": ["b", "c"], "2": ["f", "d"]},
        "u": {"1": ["x", "b"], "2": ["d", "y"]},
    }
    qrels = {"1": {"a": 1, "b": 1, "c": 0}, "2": {"d": 1, "e": 0, "f": 0}}
    collection = load(qrels, runs)
    result = uj.correct(
        collection, "u", "P@2", method=METHODS, depth=2, pooled=["r", "s"], validate=False
    ).frame.set_index("method")
    assert result["score"].tolist() == [0.5] * 5
    assert result["k"].tolist() == [0.5] * 5
    # webber-park: mean loss of r (1/4) and s (0)
    assert result["adjustment"]["webber-park"] == pytest.approx(1 / 8)
    # webber-ratio: k (sqrt(1.5 * 1) - 1)
    assert result["adjustment"]["webber-ratio"] == pytest.approx(0.5 * (1.5**0.5 - 1))
    # nothing unjudged is in r or s, so merging cannot bring any up
    assert result["delta_k"].tolist() == [0.0] * 5
    assert result["adjustment"]["lipani"] == result["adjustment"]["per-topic"] == 0.0


def test_per_topic_is_the_estimator_of_each_topic_alone() -> None:
    something = 0
    for seed in range(5):
        made = world(seed, topics=3)
        judged = {r: {t: d for t, d in lists.items() if t in made["qrels"]} for r, lists in made["runs"].items()}
        runs = {r: lists for r, lists in judged.items() if len(lists) == 3}
        new, *pooled = runs
        made["qrels"] = Reference(runs, made["qrels"], {}, 5, sigir=False).pooled_by(made["qrels"], pooled)
        collection = load(made["qrels"], runs)
        found = uj.correct(collection, new, "P@9", method="per-topic", depth=5, pooled=pooled, validate=False).frame
        alone = []
        for t in made["qrels"]:
            part = Reference({r: {t: lists[t]} for r, lists in runs.items()}, {t: made["qrels"][t]}, {}, 5, sigir=False)
            one = part.lipani(new, pooled, part.qrels, 9)
            alone.append(float(one["lipani"] - one["p"]))
        assert found["adjustment"][0] == pytest.approx(np.mean(alone), abs=1e-12)
        something += found["adjustment"][0] > 0
    assert something


# -- properties (issue 6, must show 3)


def corrected(seed: int, **options: Any) -> Any:
    made = world(seed)
    new, *pooled = made["runs"]
    made["qrels"] = Reference(made["runs"], made["qrels"], {}, 5, sigir=False).pooled_by(made["qrels"], pooled)
    collection = load(made["qrels"], made["runs"], made["teams"])
    given = {"method": METHODS, "depth": 5, "pooled": pooled, "validate": False, **options}
    return uj.correct(collection, new, "P@3, P@8", **given).frame


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(list(PROTOCOLS)))
def test_alpha_zero_changes_nothing(seed: int, protocol: str) -> None:
    frame = corrected(seed, merge_weight=0.0, protocol=protocol, method=("lipani", "lipani-v2"))
    assert (frame[["delta_p", "delta_anti_p", "delta_k", "lambda", "adjustment"]] == 0).all(axis=None)
    assert (frame["corrected"] == frame["score"]).all()


@settings(max_examples=25)
@given(
    st.integers(0, 10_000),
    st.sampled_from(list(PROTOCOLS)),
    st.sampled_from([0.2, 1.0]),
    st.sampled_from(["lambda", "delta-p", "delta-anti-p"]),
)
def test_lipani_stays_between_nothing_and_k(seed: int, protocol: str, alpha: float, indicator: str) -> None:
    frame = corrected(seed, merge_weight=alpha, protocol=protocol, indicator=indicator)
    for method in ("lipani", "lipani-v2", "per-topic"):
        rows = frame[frame.method == method]
        assert ((rows.adjustment >= 0) & (rows.adjustment <= rows.k + 1e-12)).all()
    rows = frame[frame.method == "lipani"].reset_index(drop=True)
    always = frame[frame.method == "lipani-v2"].reset_index(drop=True)
    says = {"lambda": rows["lambda"] > 0, "delta-p": rows.delta_p > 0, "delta-anti-p": rows.delta_anti_p < 0}[indicator]
    assert (rows.adjustment == always.adjustment.where(says, 0.0)).all()
    assert np.allclose(frame.delta_k, -frame.delta_p - frame.delta_anti_p, atol=1e-12)
    assert np.allclose(frame.p + frame.anti + frame.k, 1, atol=1.1e-4)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from(list(PROTOCOLS)))
def test_webber_park_is_one_constant_for_all_new_runs(seed: int, protocol: str) -> None:
    made = world(seed, runs=7)
    collection = load(made["qrels"], made["runs"], made["teams"])
    pooled = list(collection.runs[3:])
    frame = uj.correct(
        collection, list(collection.runs[:3]), "P@3", method="webber-park", depth=5, pooled=pooled,
        protocol=protocol, validate=False,
    ).frame  # fmt: skip
    assert (frame.adjustment <= frame.k + 1e-12).all()  # one constant, but never more than the unjudged places
    assert frame[frame.adjustment < frame.k - 1e-9].adjustment.round(12).nunique() <= 1


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(list(PROTOCOLS)))
def test_a_fully_judged_run_is_left_alone(seed: int, protocol: str) -> None:
    made = world(seed)
    run = next(iter(made["runs"]))
    made["runs"][run] = {t: [f"d{i}" for i in range(9)] for t in made["qrels"]}
    for docs in made["qrels"].values():
        for i in range(9):
            docs[f"d{i}"] = max(docs.get(f"d{i}", i % 2), 0)
    collection = load(made["qrels"], made["runs"])
    frame = uj.correct(
        collection, run, "P@3, P@8", method=("lipani", "lipani-v2", "webber-ratio", "per-topic"), depth=5,
        pooled=list(collection.runs[1:]), protocol=protocol, validate=False,
    ).frame  # fmt: skip
    assert (frame.k == 0).all()
    assert (frame.corrected == frame.score).all()


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from(list(PROTOCOLS)), st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(seed: int, protocol: str, chance: random.Random) -> None:
    made = world(seed)
    order = list(made["runs"])
    chance.shuffle(order)
    found = []
    for names in (list(made["runs"]), order):
        collection = load(made["qrels"], {r: made["runs"][r] for r in names}, made["teams"])
        trial = experiment(
            collection, Pool(5, collection.runs), made["teams"], [4], PROTOCOLS[protocol], top=0.75, methods=METHODS
        )[0]
        scores = {
            run: (trial.true[i], *(trial.estimate(m)[i] for m in METHODS[:3])) for i, run in enumerate(trial.runs)
        }
        found.append(scores)
    assert found[0] == found[1]


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(list(PROTOCOLS)), st.sampled_from([0.4, 1.0]))
def test_a_pooled_run_identical_to_the_new_one_says_nothing(seed: int, protocol: str, alpha: float) -> None:
    made = world(seed)
    made["runs"]["twin"] = made["runs"]["r0"]
    collection = load(made["qrels"], made["runs"])
    frame = uj.correct(
        collection, "r0", "P@3, P@8", depth=5, pooled=["twin"], protocol=protocol, merge_weight=alpha, validate=False
    ).frame
    assert (frame[["delta_p", "delta_anti_p", "delta_k"]] == 0).all(axis=None)


def test_on_a_full_pool_the_constant_is_the_mean_error_of_leaving_runs_out() -> None:
    """CORRECTION 5, a check: with all runs pooled, the constant of a run outside is the MAE of leave-one-run-out."""
    made = world(5, runs=8)
    outsider = {t: [f"z{i}" for i in range(10)] for t in made["qrels"]}
    collection = load(made["qrels"], {**made["runs"], "new": outsider})
    pooled = list(made["runs"])
    constant = uj.correct(
        collection, "new", "P@4", method="webber-park", depth=5, pooled=pooled, validate=False
    ).frame.adjustment[0]
    trial = experiment(
        collection, Pool(5, tuple(pooled)), {r: r for r in pooled}, [4], PROTOCOLS["strict"], methods=["webber-park"]
    )[0]
    assert constant == pytest.approx(np.abs(trial.true - trial.reduced).mean(), abs=1e-12)


# -- top


@pytest.mark.parametrize(("top", "runs", "kept"), [(0.75, 36, 27), (0.75, 4, 3), (None, 5, 5), (3, 5, 3), (9, 5, 5)])
def test_how_many_runs_top_keeps(top: float | None, runs: int, kept: int) -> None:
    assert kept_count(top, runs) == kept


@pytest.mark.parametrize("top", [0, -1, 2.5, float("nan"), float("inf")])
def test_top_of_nothing_is_refused(top: float) -> None:
    with pytest.raises(UsageError, match="share between 0 and 1 or a whole number of runs"):
        kept_count(top, 5)


def test_fractions_of_the_reference_are_exact() -> None:
    """The plain version does not lean on the package's arithmetic."""
    reference = Reference({"r": {"1": ["a", "b", "c"]}}, {"1": {"a": 1, "b": 0}}, {"r": "x"}, 2, sigir=False)
    assert reference.mean(reference.runs["r"], reference.qrels, 3, True) == Fraction(1, 3)


# -- trust


def test_the_interval_by_hand() -> None:
    """Errors after correction .01, .02, ..., .39: of 39 runs the 38th (= ceil(40 * .95)) smallest error; of 4 the
    largest, which holds for 4 of 5 runs.
    """
    true = np.zeros(39)
    corrected = np.arange(39, 0, -1) / 100 * np.where(np.arange(39) % 2, 1, -1)
    trust = Trust.of(true, true + 0.5, corrected, 0.95)
    assert (trust.runs, trust.reach, trust.confidence) == (39, 0.38, 0.95)
    assert (trust.before, trust.after) == (0.5, pytest.approx(0.2))  # type: ignore[comparison-overlap]
    assert trust.helps
    assert trust.sentence() == "correction would have helped on this collection: MAE 0.5000 -> 0.2000"
    few = Trust.of(true[:4], true[:4], np.array([0.1, -0.4, 0.2, 0.3]), 0.95)
    assert (few.reach, few.confidence, few.helps) == (0.4, 0.8, False)


def test_the_interval_gives_every_team_the_same_weight() -> None:
    """One team of ten runs with errors of .1 and three teams of one run with .2, .3, .4; each team weighs 1 / 5.

    At 0.6 the reach is .3 (1/5 + 1/5 + 1/5), though 10 of 13 runs are within .1; at 0.8 it is .4, and no more is known.
    """
    errors = np.array([0.1] * 10 + [0.2, 0.3, 0.4])
    groups = ["a"] * 10 + ["b", "c", "d"]
    zero = np.zeros(13)
    assert Trust.of(zero, zero, errors, 0.6, groups).reach == 0.3
    assert Trust.of(zero, zero, errors, 0.8, groups).reach == 0.4
    most = Trust.of(zero, zero, errors, 0.95, groups)
    assert (most.reach, most.confidence, most.teams) == (0.4, 0.8, 4)


def test_the_errors_of_the_choice_by_hand() -> None:
    """Without team a, y is best (.2 against .4); without b, x (.1 against .3). So a's run errs by y, b's by x."""
    errors = {"x": np.array([0.1, 0.4]), "y": np.array([0.3, 0.2])}
    assert errors_of_the_choice(errors, ["a", "b"]).tolist() == [0.3, 0.4]
    assert best_of(errors) == "x"  # .25 both: the first named


def test_the_interval_holds_for_that_share_of_new_runs() -> None:
    """Conformal: the error of one more run of the same kind stays within the reach in 19 of 20 cases or more."""
    chance = np.random.default_rng(1)
    inside = 0
    for _ in range(2000):
        errors = chance.standard_t(3, 40)
        inside += abs(errors[-1]) <= Trust.of(np.zeros(39), np.zeros(39), errors[:-1], 0.95).reach
    assert 0.935 < inside / 2000 < 0.968  # 0.95 within three standard errors


def test_too_few_left_out_runs_are_told() -> None:
    made = world(2)
    collection = load(made["qrels"], made["runs"], made["teams"])
    result = uj.correct(collection, "r0", "P@3", depth=5, pooled=list(collection.runs[1:]))
    assert "3 teams are too few for 95%: the intervals hold for 75% of such runs" in result.notes
    assert "intervals hold for 75% of such runs" in result.caption


def test_a_measure_of_ones_own_is_adjusted_like_any_other() -> None:
    """Success at 3 under another name: the same numbers as the measure that is there."""

    @uj.measure
    def first_three(h: uj.Hits) -> uj.Cells:
        return (h.relevant(1).top(3).count() > 0).astype(np.float64)

    made = world(4)
    collection = load(made["qrels"], made["runs"], made["teams"])
    pooled = list(collection.runs[1:])
    frame = uj.correct(collection, "r0", [first_three, "Success@3"], depth=5, pooled=pooled, force=True).frame
    frame = frame.drop(columns=["low", "high"])  # exact bounds are known of our measure alone
    own, known = (frame.iloc[i].drop(["measure"]).tolist() for i in range(2))
    assert [v for v in own if v == v] == [v for v in known if v == v]
