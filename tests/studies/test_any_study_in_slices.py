"""--slice in every study: the study on the topics of a slice alone, at a level for all slices at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_scores import rows_of
from scipy import stats

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import UsageError
from unjudged.studies import known


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slices")
    assert main(["simulate", "--preset", "tiny", "--topics", "30", "--seed", "4", "-o", str(folder / "sim")]) == 0
    topics = sorted({line.split()[0] for line in (folder / "sim" / "qrels.txt").read_text().splitlines()})
    labels = ["short"] * 14 + ["long"] * 12 + ["odd"] * 4
    (folder / "kinds.tsv").write_text("".join(f"{t}\t{k}\n" for t, k in zip(topics, labels, strict=True)))
    return folder


@pytest.fixture(scope="module")
def collection(world: Path) -> Any:
    sim = world / "sim"
    return uj.load(str(sim / "qrels.txt"), str(sim / "runs"), teams=str(sim / "teams.tsv"))


def alone(collection: Any, world: Path, label: str) -> Any:
    lines = (line.split("\t") for line in (world / "kinds.tsv").read_text().splitlines())
    return uj.only(collection, [topic for topic, kind in lines if kind == label])


@pytest.mark.parametrize(
    ("name", "options", "level"),
    [
        ("power", {"measures": "AP,nDCG@10"}, {"alpha": 0.025}),
        ("power", {"measures": "AP,nDCG@10", "alpha": 0.1}, {"alpha": 0.05}),
        ("reliability", {"measures": "AP"}, {"alpha": 0.025}),
        ("agreement", {"measures": "AP,P@10,RR"}, {}),
        ("stability", {"measures": "AP", "trials": 50}, {}),
        ("swap", {"measures": "AP", "trials": 50, "repeats": 2}, {}),
        ("gate", {"measures": "nDCG@10,AP", "run": "team01-1", "baseline": "team02-1"}, {"alpha": 0.025}),
        ("holes", {"measures": "P@10"}, {}),
        ("score-range", {"measures": "P@10"}, {}),
        ("correct", {"measures": "P@10"}, {"confidence": 0.975}),
    ],
)
def test_a_slice_is_the_study_on_its_topics(
    collection: Any, world: Path, name: str, options: dict[str, Any], level: dict[str, float]
) -> None:
    found = uj.study(name, collection, slice=str(world / "kinds.tsv"), jobs=1, **options)
    rows = rows_of(found)
    for label, topics in (("short", 14), ("long", 12)):
        here = [row for row in rows if row["slice"] == label]
        there = rows_of(uj.study(name, alone(collection, world, label), jobs=1, **(options | level)))
        assert here and {row["topics"] for row in here} == {topics}
        alike = [key for key in there[0] if key not in ("estimate_low", "estimate_high")]  # of an estimate: below
        assert [[repr(row[key]) for key in alike] for row in here] == [[repr(row[k]) for k in alike] for row in there]
    (odd,) = [row for row in rows if row["slice"] == "odd"]
    assert (odd["topics"], odd["why"]) == (4, "too small to say")
    assert all(value is None for key, value in odd.items() if key not in ("slice", "topics", "why"))
    columns, table = found.laid_out()
    assert list(columns[:2]) == ["slice", "topics"] and {len(row) for row in table} == {len(columns)}
    assert any("4 topics" in note or "fewer than 10 topics: odd" in note for note in found.notes)
    assert found.provenance.settings["slices"] == {"short": 14, "long": 12, "odd": 4}
    said = "Nothing is tested here" if not level else "in all 2 slices at once (Bonferroni"
    assert said in found.caption


def test_estimates_reach_as_far_as_two_slices_need(collection: Any, world: Path) -> None:
    """90 % for two at once: each at 95 %. Wider than alone by the ratio of normal quantiles, inside the same bounds."""
    rows = rows_of(uj.estimate(collection, "P@10,RBP", slice=str(world / "kinds.tsv"), jobs=1))
    compared = 0
    for label in ("short", "long"):
        there = {
            (row["run"], row["measure"]): row
            for row in rows_of(uj.estimate(alone(collection, world, label), "P@10,RBP"))
        }
        for row in (row for row in rows if row["slice"] == label):
            one = there[row["run"], row["measure"]]
            assert (row["judged"], row["lowest"], row["highest"]) == (one["judged"], one["lowest"], one["highest"])
            if row["low"] is None or one["low"] is None:
                continue
            assert row["estimate"] == one["estimate"]
            for end, bound in (("low", "lowest"), ("high", "highest")):
                if min(abs(one[end] - one[bound]), abs(row[end] - row[bound])) > 1e-9:
                    ratio = (row["estimate"] - row[end]) / (one["estimate"] - one[end])
                    assert ratio == pytest.approx(stats.norm.isf(0.025) / stats.norm.isf(0.05), rel=1e-4)
                    compared += 1
    assert compared > 5


def test_winners_agree_with_compare_within_slices(collection: Any, world: Path) -> None:
    """One answer: the outcome and p value of a run against the best are those of compare --slice."""
    given: dict[str, Any] = {"slice": str(world / "kinds.tsv"), "measures": "nDCG@10", "jobs": 1}
    pairs = {
        (row["slice"], frozenset((row["run_a"], row["run_b"]))): row
        for row in rows_of(uj.study("slices", collection, **given))
    }
    assert rows_of(uj.study("compare", collection, **given)) == list(pairs.values())
    compared = 0
    for label in ("short", "long"):
        best, *others = [row for row in rows_of(uj.study("winners", collection, **given)) if row["slice"] == label]
        for row in others:
            pair = pairs[label, frozenset((best["run"], row["run"]))]
            assert row["p_adjusted"] == pytest.approx(pair["p_adjusted"])
            assert (row["outcome"] == "worse") == (pair["outcome"] in ("better", "worse"))
            compared += 1
    assert compared == 22


def test_every_study_takes_slices(collection: Any, world: Path) -> None:
    """Every study of a collection has an answer within slices, or says in a sentence why it has none."""
    asked: dict[str, dict[str, Any]] = {
        "gate": {"run": "team01-1", "baseline": "team02-1"},
        "judges": {"second": str(world / "sim" / "truth.txt")},
        "over-judges": {"second": str(world / "sim" / "truth.txt")},
        "corrected": {"machine": str(world / "sim" / "truth.txt")},
        "change": {"before": alone(collection, world, "short")},
        "swap": {"trials": 20, "repeats": 1},
        "stability": {"trials": 20},
        "noise": {"repeats": 1},
        "topics": {"a": "team01-1", "b": "team02-1"},
        "take-team": {"teams_taken": ("team01",)},
    }
    answered = []
    for name in known():
        try:
            found = uj.study(name, collection, slice=str(world / "kinds.tsv"), jobs=1, **asked.get(name, {}))
        except UsageError as problem:
            assert name in ("corrected", "change", "over-judges"), (name, problem)
            continue
        answered.append(name)
        assert found.columns[0] == "slice"
        assert {row[0] for row in found.rows()} >= {"short", "long"}, name
        found.render("text")
    assert len(answered) >= len(known()) - 3


def test_the_gate_within_slices(world: Path, capsys: Any) -> None:
    """A slice that fails makes the gate fail, one that cannot tell changes nothing."""
    sim, kinds = world / "sim", world / "kinds.tsv"
    scores = uj.score(uj.load(str(sim / "qrels.txt"), str(sim / "runs")), "nDCG@10").means()
    order = list(scores["nDCG@10"].sort_values().index)
    files = {path.name.partition(".")[0]: str(path) for path in (sim / "runs").iterdir()}
    words = ["ci", str(sim / "qrels.txt"), files[order[0]], "--baseline", files[order[-1]]]
    junit = world / "junit.xml"
    assert main([*words, "-m", "nDCG@10", "--slice", str(kinds), "--junit", str(junit)]) == 1
    out = capsys.readouterr().out
    assert "fails in short and long" in out and "all topics" in out and "too small to say" in out
    assert junit.read_text().count("<testcase") == 3
    lenient = ["-m", "nDCG@10", "--margin", "0.9", "--slice", str(kinds)]
    assert main([*words, *lenient]) == 0
    assert "no slice fails" in capsys.readouterr().out


def test_a_slice_alone_can_fail_the_gate() -> None:
    """Over all topics nothing is lost; one slice loses .2 on every topic, another wins as much."""
    docs = [f"d{i}" for i in range(10)]
    lost = {f"s{t}": {doc: int(i < 2 + t % 3) for i, doc in enumerate(docs)} for t in range(12)}
    won = {f"l{t}": {doc: int(i < 2 + t % 3) for i, doc in enumerate(docs)} for t in range(12)}
    best, worst = docs, docs[::-1]
    runs = {
        name: {topic: {doc: -float(i) for i, doc in enumerate(orders[topic[0]])} for topic in (*lost, *won)}
        for name, orders in {"new": {"s": worst, "l": best}, "old": {"s": best, "l": worst}}.items()
    }
    from unjudged.studies.gate import answer, with_slices

    collection = uj.load({**lost, **won}, runs)
    whole = uj.gate(collection, "new", "old", "nDCG@10")
    inside = uj.gate(collection, "new", "old", "nDCG@10", slice={t: t[0] for t in collection.topics})
    assert answer(whole) != "fail"
    assert {row["slice"]: row["verdict"] for row in rows_of(inside)} == {"s": "fail", "l": "pass"}
    both = with_slices(whole, inside, 24)
    assert answer(both) == "fail" and both.verdict is not None and both.verdict.decided_by == ("s",)


@pytest.mark.parametrize("verb", ["estimate", "correct", "ci", "study power", "study ranks", "study winners"])
def test_slices_that_cannot_be_used(world: Path, verb: str, tmp_path: Path, capsys: Any) -> None:
    sim = world / "sim"
    runs = sorted(map(str, (sim / "runs").iterdir()))
    given = [runs[0], "--baseline", runs[1]] if verb == "ci" else [str(sim / "runs")]
    bad = tmp_path / "bad.tsv"
    bad.write_text("101\tshort\n102\n")
    out = tmp_path / "out.txt"
    assert main([*verb.split(), str(sim / "qrels.txt"), *given, "--slice", str(bad), "-o", str(out)]) == 2
    assert "bad.tsv:2:" in capsys.readouterr().err and not out.exists()
    bad.write_text("nowhere\tshort\n")
    assert main([*verb.split(), str(sim / "qrels.txt"), *given, "--slice", str(bad), "-o", str(out)]) == 2
    assert "none of its topics is scored here" in capsys.readouterr().err and not out.exists()
