"""What a notebook shows: means sorted, never every topic; verdicts in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import unjudged as uj

QRELS = {t: {f"d{i}": int(i % 3 == 0) for i in range(9)} for t in "1234"}
RUNS = {
    name: {t: {f"d{i}": float(-((i + shift) % 9)) for i in range(9)} for t in QRELS}
    for name, shift in (("worst", 8), ("best", 0))
}


def test_scores_show_sorted_means() -> None:
    scores = uj.score(uj.load(QRELS, RUNS), ["AP", "P@3"])
    html = scores._repr_html_()
    means = scores.means()["AP"].sort_values(ascending=False)
    assert re.findall(r"<tr><td>(\w+)</td>", html) == list(means.index)
    assert f"{means.iloc[0]:.4f}" in html
    assert uj.score_bounds(uj.load(QRELS, RUNS), ["AP"])._repr_html_().count("<tr>") == 3


def test_verdicts_are_not_lost() -> None:
    found = uj.compare(uj.load(QRELS, RUNS), ["AP"])
    assert found.verdict is not None
    assert found._repr_html_().startswith(f"<p><strong>{found.verdict.word}</strong>")
    assert found.verdict.sentence in repr(found)
    report = uj.report(uj.load(QRELS, RUNS))
    for thing in (found, found.verdict, report.sections[1], report, uj.score(uj.load(QRELS, RUNS), ["AP", "RR"])):
        assert len(repr(thing).splitlines()) == 1 and len(repr(thing)) < 400, repr(thing)
    assert "winners" not in repr(report.sections[1]) and report.sections[1].question in repr(report.sections[1])
    assert repr(uj.score(uj.load(QRELS, RUNS), ["AP", "RR"])) == "<Scores: 2 runs, 4 topics, AP, RR>"


def test_scores_are_drawn_per_topic_as_boxes_and_against_a_baseline() -> None:
    topics = {str(t): {"a": 1, "b": 0} for t in range(1, 7)}
    runs = {"old": {t: {"b": 2.0, "a": 1.0} for t in topics}, "new": {t: {"a": 2.0, "b": 1.0} for t in topics}}
    scores = uj.score(uj.load(topics, runs), "RR, P@1")
    for chart in (scores.plot(), scores.plot("topics")):
        assert "of 2 runs, best first by RR" in chart.description and chart.svg().startswith("<svg")
    against = scores.plot(baseline="old")
    assert "by RR 6 of 6 points lie above the line" in against.description and against.svg().startswith("<svg")
    for wrong, said in (({"name": "pie"}, "no chart 'pie'"), ({"baseline": "odl"}, "did you mean old")):
        with pytest.raises(uj.UsageError, match=said):
            scores.plot(**wrong)


def test_a_collection_tells_what_is_in_it_and_no_name_becomes_markup() -> None:
    shown = uj.load({"1": {"a": 1, "b": 0, "c": 0}}, {"<b>bold</b>": {"1": {"a": 1.0}}})._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in shown and "<b>" not in shown
    assert "3: 2 of grade 0, 1 of grade 1" in shown


def test_bounds_and_the_gate_are_drawn() -> None:
    judged = {t: {f"d{i}": int(i % 3 == 0) for i in range(6)} for t in map(str, range(12))}
    runs = {
        name: {t: {f"d{i}": float(-((i + shift) % 9)) for i in range(9)} for t in judged}
        for name, shift in (("old", 0), ("new", 4))
    }
    c = uj.load(judged, runs)
    possible = uj.score_bounds(c, ["P@3", "RR"])
    chart = possible.plot()
    low, high = (float(possible.means()["P@3"][end]["new"]) for end in ("low", "high"))
    (bar,) = [r for r in chart.spec["data"]["values"] if r["run"] == "new" and r["measure"] == "P@3"]
    assert (bar["low"], bar["high"]) == (low, high) and low < high
    assert chart.svg().startswith("<svg")
    found = uj.gate(c, "new", "old", ["P@3"], margin=0.05)
    drawn = found.plot("gate")
    assert "new against old: " in drawn.description and "a loss of 0.05" in drawn.description
    assert drawn.svg().startswith("<svg")
    with pytest.raises(uj.UsageError, match="there is range"):
        possible.plot("box")


def test_every_result_is_drawn(tmp_path: Path) -> None:
    """`.plot()` works on what every public function returns, and the chart can be written."""
    made = uj.simulate("tiny", seed=2, out=tmp_path / "sim", topics=8, runs=8, teams=4, depth=5, K=30, C=300)
    c = uj.load(str(made.qrels), str(made.run_folder), teams=made.teams)
    truth = uj.load(str(tmp_path / "sim" / "truth.txt"), str(made.run_folder))
    few = uj.reduce(c, rate=0.5, seed=1)
    other = uj.replace_judgments(c, {t: dict.fromkeys(docs, 1) for t, docs in judgments_of(c).items()})
    a, b = c.runs[0], c.runs[-1]
    paired = [uj.power(s, ["AP", "P@5"], pairs=True) for s in (c, few)]
    merged = uj.merge_judges(c, other, c, names=["one", "two", "three"])
    results = [
        *(uj.describe(c), uj.describe({"x": c, "y": few}), uj.pooled_runs(c), uj.judged_curves(c)),
        *(uj.next_to_judge(few, new=a, baseline=b, budget=5), uj.report(c, jobs=1), uj.power_changes(*paired)),
        *(uj.doctor(str(made.qrels), str(made.run_folder / a), "P@5=0.1"), uj.correct_against_truth(c, truth, "P@5")),
        *(uj.qrels_diff(few, c), merged, merged.documents, merged.confusion, uj.gate(c, a, b), uj.contributions(c)),
        *(uj.estimate(few, "P@5"), uj.ranks(c), uj.audit(c, {"two": other}), uj.agreement(c), uj.swap(c)),
        *(uj.paper("sakai2007", c, trials=2, resamples=20), uj.compare(c, ["P@5"]), uj.score(c, ["P@5"])),
        *(uj.score_bounds(c, ["P@5"]), uj.correct(c, a, "P@5"), uj.stability(c), uj.reliability(c)),
    ]
    for found in results:
        assert found.plot().svg().startswith("<svg"), found
    report = uj.report(c, jobs=1)
    assert report.plot("winners").spec == report["winners"].plot().spec
    assert {row["verdict"] for row in report.plot().spec["data"]["values"]} == set(report.words.values())
    with pytest.raises(uj.UsageError, match="nothing to draw"):
        uj.qrels_diff(c, c).plot()


def judgments_of(c: uj.Collection) -> dict[str, dict[str, int]]:
    j = c.judgments
    out: dict[str, dict[str, int]] = {t: {} for t in j.topics}
    for row, doc in enumerate(j.docs):
        out[j.topics[int(j.topic[row])]][doc] = int(j.grade[row])
    return out


def test_scores_topic_by_topic() -> None:
    scores = uj.score(uj.load(QRELS, RUNS), ["AP", "P@3"])
    frame = scores.per_topic()
    assert list(frame.columns) == ["AP", "P@3"] and len(frame) == len(RUNS) * len(QRELS)
    tidy = scores.frame.set_index(["run", "topic", "measure"])["value"]
    for run in RUNS:
        assert frame.loc[(run, "2"), "AP"] == tidy[run, "2", "AP"]
        assert frame.loc[run]["P@3"].mean() == pytest.approx(scores.means().loc[run, "P@3"])
