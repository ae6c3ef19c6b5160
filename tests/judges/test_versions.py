"""Versions of judgments: what changed, which label moved which run; residual collections; documents that are gone."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unjudged as uj
from unjudged.changes.rejudge import judgments_of
from unjudged.collection.aligned import UNJUDGED, align
from unjudged.errors import UsageError
from unjudged.judges.versions import KINDS, Versions, changed_outcomes

Qrels = dict[str, dict[str, int]]


def world(seed: int) -> tuple[Qrels, Qrels, dict[str, Any]]:
    """Two versions of judgments (added, removed, changed labels) and three runs."""
    draw = random.Random(seed)
    docs = [f"d{n}" for n in range(15)]
    old: Qrels = {t: {d: draw.randint(0, 3) for d in draw.sample(docs, 9)} for t in ("1", "2", "3")}
    new = {t: dict(grades) for t, grades in old.items()}
    for t, grades in new.items():
        for doc in draw.sample(docs, 4):
            if doc in grades and draw.random() < 0.3:
                del grades[doc]
            else:
                grades[doc] = draw.randint(0, 3)
        grades.setdefault("d0", 1 if t == "1" else 0)
    runs = {name: {t: {d: float(draw.random()) for d in draw.sample(docs, 8)} for t in old} for name in ("a", "b", "c")}
    return old, new, runs


def mean(qrels: Qrels, run: Any, measure: str, topics: Qrels) -> float:
    """The score of one run alone, over the topics of the new version."""
    full = {t: qrels.get(t, {}) or {"nothing": 0} for t in topics}
    return float(uj.score(uj.load(full, {"r": run}), [measure]).mean_values()[0, 0])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("measure", ["nDCG@5", "AP", "P@5", "DCG@5"])
def test_an_effect_is_what_taking_the_change_back_does(seed: int, measure: str) -> None:
    old, new, runs = world(seed)
    found = uj.qrels_diff(old, uj.load(new, runs), [measure])
    for topic, doc, before, after, many, effect, run in found.rows():
        assert (before, after) == (old[topic].get(doc), new[topic].get(doc))
        assert many == sum(doc in one[topic] for one in runs.values())
        back = {t: dict(grades) for t, grades in new.items()}
        if before is None:
            del back[topic][doc]
        else:
            back[topic][doc] = before
        plain = {name: mean(new, one, measure, new) - mean(back, one, measure, new) for name, one in runs.items()}
        assert effect == pytest.approx(max(plain.values(), key=abs), abs=1e-12)
        if effect:
            assert plain[run] == pytest.approx(effect, abs=1e-12)


def test_changes_are_counted_by_kind() -> None:
    sets = {"1": {"a": 0, "b": 1, "c": 2, "d": 0}}, {"1": {"b": 2, "c": 2, "d": 1, "e": 1, "f": 0, "g": 1}}
    counts = Versions(align([judgments_of(one) for one in sets])).counts()
    assert list(counts.values()) == [3, 1, 2] and list(counts) == list(KINDS)


def test_outcomes_are_compared_for_the_same_pairs() -> None:
    qrels = {str(t): {"a": 1, "b": 0} for t in range(3)}
    runs = {name: {t: {"a": float(i == n), "b": 0.5} for i, t in enumerate(qrels)} for n, name in enumerate("xyz")}
    both = [uj.load(qrels, dict(list(runs.items())[:n])) for n in (3, 2)]
    three, two = (uj.compare(collection, ["P@1"]) for collection in both)
    assert changed_outcomes(two, two, both[1], qrels) == []
    with pytest.raises(UsageError, match="the same pairs of runs"):
        changed_outcomes(three, two, both[1], qrels)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_effects_of_a_measure_that_adds_up_add_up_to_the_change(seed: int) -> None:
    old, new, runs = world(seed)
    one = {"a": runs["a"]}
    found = uj.qrels_diff(old, uj.load(new, one), ["DCG@5"])
    whole = mean(new, runs["a"], "DCG@5", new) - mean(old, runs["a"], "DCG@5", new)
    assert sum(row[5] for row in found.rows()) == pytest.approx(whole, abs=1e-9)


@pytest.mark.parametrize("measure", ["nDCG@5", "AP", "DCG@5"])
def test_what_all_labels_of_a_topic_did(measure: str) -> None:
    old, new, runs = world(2)
    found = uj.qrels_diff(old, uj.load(new, runs), [measure], per_topic=True)
    assert found.columns == ("topic", "added", "removed", "changed", "effect", "run")
    for topic, added, removed, changed, effect, run in found.rows():
        a, b = old[topic], new[topic]
        assert (added, removed) == (len(b.keys() - a.keys()), len(a.keys() - b.keys()))
        assert changed == sum(a[doc] != b[doc] for doc in a.keys() & b.keys())
        back = {**new, topic: a}
        plain = {name: mean(new, one, measure, new) - mean(back, one, measure, new) for name, one in runs.items()}
        assert effect == pytest.approx(max(plain.values(), key=abs), abs=1e-12)
        assert plain[run] == pytest.approx(effect, abs=1e-12)
    assert [row[:4] for row in uj.qrels_diff(old, new, per_topic=True).rows()] == sorted(
        tuple(row[:4]) for row in found.rows()
    )


@pytest.mark.parametrize("rel", [None, 2])
def test_the_label_that_moved_an_outcome(rel: int | None) -> None:
    """Of the labels that move a difference the way all together do, the one that moves it most; by scoring anew."""
    draw = random.Random(4)
    topics = [str(t) for t in range(12)]
    docs = [f"d{n}" for n in range(12)]
    old: Qrels = {t: {d: draw.choice((0, 0, 1, 2)) for d in docs} for t in topics}
    new = {t: {d: draw.randint(0, 2) if draw.random() < 0.2 else g for d, g in old[t].items()} for t in topics}
    runs = {name: {t: {d: draw.random() + skill * old[t][d] for d in docs} for t in topics}
            for name, skill in (("a", 0.2), ("b", 0.0), ("c", 0.1), ("d", 0.15))}  # fmt: skip
    sides = [uj.load(qrels, runs) for qrels in (old, new)]
    before, after = (uj.compare(side, "AP, P@3", rel=rel) for side in sides)
    rows = changed_outcomes(before, after, sides[1], old)
    assert rows
    first, then = ({row[:3]: row[-2:] for row in found.rows()} for found in (before, after))
    assert {row[:3] for row in rows} == {pair for pair in first if first[pair] != then[pair]}

    def gap(qrels: Qrels, row: Any) -> float:
        return mean(qrels, runs[row[0]], row[2], new) - mean(qrels, runs[row[1]], row[2], new)

    for row in rows:
        whole = gap(new, row)
        up = whole > gap(old, row)
        effects = {
            (t, d): whole - gap({**new, t: {**new[t], d: old[t][d]}}, row)
            for t in topics
            for d in docs
            if old[t][d] != new[t][d]
        }
        best = max(effects.values()) if up else min(effects.values())
        assert row[7] == pytest.approx(best, abs=1e-12) and effects[row[5], row[6]] == pytest.approx(best, abs=1e-12)


def test_every_difference_is_listed_once_and_nothing_else() -> None:
    old, new, _ = world(3)
    found = uj.qrels_diff(old, new)
    keys = {(t, d) for q in (old, new) for t, grades in q.items() for d in grades}
    differ = {(t, d) for t, d in keys if old[t].get(d) != new[t].get(d)}
    rows = list(found.rows())
    assert {(row[0], row[1]) for row in rows} == differ
    assert len(rows) == len(differ)
    assert all(row[4] is None and row[5] is None for row in rows)
    assert UNJUDGED not in {row[2] for row in rows} | {row[3] for row in rows}


@pytest.mark.parametrize("name", ["P@5", "RBP(p=0.8)"])
def test_effects_of_other_measures_that_add_up(name: str) -> None:
    for seed in range(10):
        old, new, runs = world(seed)
        found = uj.qrels_diff(old, uj.load(new, {"a": runs["a"]}), [name])
        if name.startswith("RBP") and max(g for q in old.values() for g in q.values()) != max(
            g for q in new.values() for g in q.values()
        ):
            continue  # RBP divides by the highest gain, which is another one then
        whole = mean(new, runs["a"], name, new) - mean(old, runs["a"], name, new)
        assert sum(row[5] for row in found.rows()) == pytest.approx(whole, abs=1e-9)


def test_topics_that_come_and_go_are_told() -> None:
    found = uj.qrels_diff({"1": {"d": 1}, "2": {"d": 1}}, {"1": {"d": 1}, "3": {"d": 1}})
    assert any("topic 3" in note or "e.g. 3" in note for note in found.notes)
    assert any("gone" in note for note in found.notes)


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_a_residual_collection_is_one_made_by_hand(seed: int) -> None:
    old, new, runs = world(seed)
    left = {t: {d: g for d, g in grades.items() if d not in old[t]} for t, grades in new.items()}
    if not any(g > 0 for grades in left.values() for g in grades.values()):
        return
    by_hand = {
        n: {t: {d: s for d, s in docs.items() if d not in old[t]} for t, docs in one.items()} for n, one in runs.items()
    }
    found = uj.residual(uj.load(new, runs), old)
    for name, one in by_hand.items():
        got = uj.score(found.with_runs([name]), ["AP", "nDCG@5", "P@3", "Judged@3"], per_topic=True)
        for t in new:
            place = list(found.topics).index(t)
            if left[t] and one[t]:
                alone = uj.score(uj.load({t: left[t]}, {name: {t: one[t]}}), ["AP", "P@3", "Judged@3"])
                # nDCG's highest gain plays no part here; gains are the grades
                assert got.values[0, place, [0, 2, 3]] == pytest.approx(alone.values[0, 0], abs=1e-12)


def test_a_residual_collection_can_be_read_with_other_ties_and_pooled() -> None:
    old, new, runs = world(1)
    found = uj.residual(uj.load(new, runs), old)
    again = found.with_ties("ascending")
    assert len(again.judgments) == len(found.judgments)
    assert found.rankings.offsets[-1] == sum(
        d not in old[t] for one in runs.values() for t, docs in one.items() for d in docs
    )


def test_nothing_left_is_refused() -> None:
    old, _, runs = world(1)
    with pytest.raises(UsageError, match="every judged document was judged before"):
        uj.residual(uj.load(old, runs), old)


def unjudged(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "unjudged", *words], capture_output=True, text=True)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    old, new, runs = world(2)
    for name, qrels in (("old", old), ("new", new)):
        text = "".join(f"{t} 0 {d} {g}\n" for t, grades in qrels.items() for d, g in grades.items())
        (tmp_path / f"{name}.txt").write_text(text)
    for name, run in runs.items():
        rows = [(t, d, s) for t, docs in run.items() for d, s in sorted(docs.items(), key=lambda pair: -pair[1])]
        (tmp_path / f"{name}.run").write_text("".join(f"{t} Q0 {d} 1 {s} x\n" for t, d, s in rows))
    return tmp_path


def test_the_verb_in_its_four_forms(files: Path) -> None:
    old, new = str(files / "old.txt"), str(files / "new.txt")
    runs = [str(files / f"{name}.run") for name in "abc"]
    labels = unjudged("qrels", "diff", old, new, *runs, "--format", "tsv")
    assert labels.returncode == 0, labels.stderr
    assert labels.stdout.startswith("topic\tdoc\told\tnew\truns\teffect\trun\n")
    assert "added" in labels.stderr
    scores = unjudged("qrels", "diff", old, new, *runs, "--per-run", "--format", "tsv")
    lines = [line.split("\t") for line in scores.stdout.splitlines()]
    assert lines[0][:5] == ["run", "measure", "before", "after", "change"]
    for name, path in zip("abc", runs, strict=True):
        row = next(line for line in lines if line[0] == f"{name}.run")
        for column, qrels in ((2, old), (3, new)):
            mean = uj.score(uj.load(qrels, path), ["nDCG@10"]).mean_values()[0, 0]
            assert float(row[column]) == pytest.approx(mean, abs=1e-12)
    outcomes = unjudged("qrels", "diff", old, new, *runs, "--outcomes", "--format", "tsv")
    assert outcomes.returncode == 0, outcomes.stderr
    assert outcomes.stdout.startswith("run_a\trun_b\tmeasure\tbefore\tafter\ttopic\tdoc\teffect\n")
    topics = unjudged("qrels", "diff", old, new, *runs, "--per-topic", "--format", "tsv")
    assert topics.stdout.startswith("topic\tadded\tremoved\tchanged\teffect\trun\n"), topics.stderr
    two = unjudged("qrels", "diff", old, new, *runs, "--per-topic", "--outcomes")
    assert (two.returncode, two.stdout) == (2, "") and "three tables; ask for one" in two.stderr
    bare = unjudged("qrels", "diff", old, new, "--outcomes")
    assert (bare.returncode, bare.stdout) == (2, "")


def test_residual_scores_of_the_command_line_are_those_of_python(files: Path) -> None:
    old, new, run = (str(files / name) for name in ("old.txt", "new.txt", "a.run"))
    said = unjudged("score", new, run, "--residual", old, "-m", "AP", "--format", "tsv")
    mine = uj.score(uj.residual(uj.load(new, run), old), ["AP"]).mean_values()[0, 0]
    assert float(said.stdout.splitlines()[1].split("\t")[3]) == pytest.approx(mine, abs=1e-12)


def test_documents_outside_the_corpus_are_found_and_the_gate_tells_old_judgments(files: Path) -> None:
    old, run = str(files / "old.txt"), str(files / "a.run")
    docs = {line.split()[2] for path in (old, run) for line in Path(path).read_text().splitlines()}
    gone = Path(old).read_text().split()[2]
    (files / "ids.txt").write_text("\n".join(sorted(docs - {gone})))
    said = unjudged("check", old, run, "--corpus", str(files / "ids.txt"), "--format", "tsv")
    rows = [line.split("\t") for line in said.stdout.splitlines() if line.startswith("UJ137")]
    named = {Path(row[2]).name for row in rows}
    assert named == {Path(p).name for p in (old, run) if gone in Path(p).read_text().split()}
    assert all(gone in row[5] and row[4] == "1" for row in rows)
    gate = unjudged("ci", old, run, "--baseline", str(files / "b.run"), "--corpus", str(files / "ids.txt"))
    assert "the judgments are older than the corpus: 1 of" in gate.stderr
    (files / "corpus.jsonl").write_text("".join(f'{{"_id": "{doc}", "text": "x"}}\n' for doc in sorted(docs)))
    clean = unjudged("check", old, run, "--corpus", str(files / "corpus.jsonl"))
    assert "UJ137" not in clean.stdout
    empty = files / "empty.txt"
    empty.write_text("\n")
    assert unjudged("check", old, run, "--corpus", str(empty)).returncode == 2
