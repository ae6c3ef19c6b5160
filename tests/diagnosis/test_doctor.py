"""The doctor names planted errors first; the planted numbers come from plain code that knows nothing of ours."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import unjudged as uj
from unjudged.diagnosis import evaluation
from unjudged.diagnosis.doctor import reported_numbers
from unjudged.diagnosis.search import unit_of
from unjudged.errors import InputError, UsageError

Line = tuple[str, str, int, float]
Lists = dict[str, list[str]]


def world(seed: int = 5) -> tuple[dict[str, dict[str, int]], list[Line]]:
    """Judgments and lines with everything tools differ in: ties, a document listed twice, ranks that contradict scores,
    unjudged documents, topics without an answer, a relevant document or judgments, ids with zeros in front."""
    draw = random.Random(seed)
    qrels: dict[str, dict[str, int]] = {}
    lines: list[Line] = []
    for t in range(12):
        topic = str(t + 1)
        docs = [f"{n:03d}" if n < 40 else f"d{n}" for n in range(60)]
        judged = draw.sample(docs, 40)
        qrels[topic] = {doc: draw.choices((0, 1, 2, 3), (5, 3, 2, 1))[0] if t not in (7, 8) else 0 for doc in judged}
        if t == 3:
            continue  # not answered
        found = draw.sample(docs, 30)
        score = sorted((round(draw.uniform(0, 4), 1) for _ in found), reverse=True)
        place = list(range(1, 31))
        draw.shuffle(place)
        rows = [(topic, doc, place[i], score[i]) for i, doc in enumerate(found)]
        rows[14] = (topic, rows[0][1], rows[14][2], rows[14][3])  # the first document once more
        draw.shuffle(rows)
        lines += rows
    lines += [("98", "001", 1, 3.0), ("99", "001", 1, 3.0), ("99", "002", 2, 2.0)]
    return qrels, lines


def ranked(lines: list[Line], key: Callable[[Line], Any] | None = None, *, reverse: bool = False) -> Lists:
    """Documents of each topic, best first: score descending, equal scores by id descending; each once."""
    lists: Lists = {}
    for topic in dict.fromkeys(line[0] for line in lines):
        own = [line for line in lines if line[0] == topic]
        own.sort(key=lambda line: line[1], reverse=True)
        own.sort(key=lambda line: -line[3])
        if key is not None:
            own = sorted([line for line in lines if line[0] == topic], key=key, reverse=reverse)
        lists[topic] = list(dict.fromkeys(line[1] for line in own))
    return lists


def plain_ndcg(docs: list[str], grades: dict[str, int], k: int | None = 10, gain: Any = float, discount: Any = None,
               ideal: list[int] | None = None) -> float:  # fmt: skip
    discount = discount or (lambda r: math.log2(r + 1))
    best = sorted((gain(g) for g in (grades.values() if ideal is None else ideal) if g > 0), reverse=True)[:k]
    norm = sum(g / discount(r) for r, g in enumerate(best, 1))
    got = sum(gain(max(grades.get(d, 0), 0)) / discount(r) for r, d in enumerate(docs[:k], 1))
    return got / norm if norm else 0.0


def plain_ap(docs: list[str], grades: dict[str, int], rel: int = 1, k: int | None = None, below: str = "R") -> float:
    hits, total = 0, 0.0
    for r, doc in enumerate(docs[:k], 1):
        if grades.get(doc, 0) >= rel:
            hits += 1
            total += hits / r
    relevant = sum(g >= rel for g in grades.values())
    norm = {"R": relevant, "min": min(relevant, k or relevant), "found": hits, "k": k or 0}[below]
    return total / norm if norm else 0.0


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def ndcg(qrels: Any, lists: Lists, topics: list[str] | None = None, **how: Any) -> float:
    return mean([plain_ndcg(lists.get(t, []), qrels[t], **how) for t in topics or list(qrels)])


def ap(qrels: Any, lists: Lists, topics: list[str] | None = None, **how: Any) -> float:
    return mean([plain_ap(lists.get(t, []), qrels[t], **how) for t in topics or list(qrels)])


def planted(name: str) -> tuple[str, float]:
    """The measure and the number that a tool with this habit would report."""
    qrels, lines = world()
    lists = ranked(lines)
    match name:
        case "gains=exp":
            return "nDCG@10", ndcg(qrels, lists, gain=lambda g: 2.0**g - 1)
        case "discount=jk":
            return "nDCG@10", ndcg(qrels, lists, discount=lambda r: max(1.0, math.log2(r)))
        case "discount=log2(r+2)":
            return "nDCG@10", ndcg(qrels, lists, discount=lambda r: math.log2(r + 2))
        case "ideal=retrieved":
            own = [(lists.get(t, []), qrels[t]) for t in qrels]
            return "nDCG@10", mean([plain_ndcg(d, g, ideal=[g.get(x, 0) for x in d]) for d, g in own])
        case "ideal=top":
            own = [(lists.get(t, []), qrels[t]) for t in qrels]
            return "nDCG@10", mean([plain_ndcg(d, g, ideal=[g.get(x, 0) for x in d[:10]]) for d, g in own])
        case "unjudged=condensed":
            left = {t: [d for d in docs if d in qrels.get(t, {})] for t, docs in lists.items()}
            return "nDCG@10", ndcg(qrels, left)
        case "unjudged=cut-first":
            left = {t: [d for d in docs[:10] if d in qrels.get(t, {})] for t, docs in lists.items()}
            return "nDCG@10", ndcg(qrels, left)
        case "rel=2":
            return "AP", ap(qrels, lists, rel=2)
        case "ties=file":
            return "AP", ap(qrels, ranked(lines, lambda line: -line[3]))
        case "ties=ascending":
            return "AP", ap(qrels, ranked(lines, lambda line: (-line[3], line[1])))
        case "duplicates=counted":
            # a list of lines, not of documents
            listed = {t: sorted([x for x in lines if x[0] == t], key=lambda x: x[1], reverse=True) for t in lists}
            twice = {t: [x[1] for x in sorted(rows, key=lambda x: -x[3])] for t, rows in listed.items()}
            return "AP", ap(qrels, twice)
        case "duplicates=last":
            held: dict[str, dict[str, float]] = {}
            for topic, doc, _, score in lines:
                held.setdefault(topic, {})[doc] = score
            again = [(t, d, 0, s) for t, docs in held.items() for d, s in docs.items()]
            return "AP", ap(qrels, ranked(again))
        case "topics=run":
            return "AP", ap(qrels, lists, [t for t in qrels if t in lists])
        case "topics=all":
            return "AP", ap(qrels, lists) * len(qrels) / (len(qrels) + 2)
        case "undefined=drop":
            return "AP", ap(qrels, lists, [t for t in qrels if any(qrels[t].values())])
        case "denominator=min(k,R)":
            return "AP@10", ap(qrels, lists, k=10, below="min")
        case "denominator=found":
            return "AP@10", ap(qrels, lists, k=10, below="found")
        case "truncate=20":
            return "AP", ap(qrels, {t: docs[:20] for t, docs in lists.items()})
        case "order=rank":
            return "AP", ap(qrels, ranked(lines, lambda line: line[2]))
        case "order=file":
            return "AP", ap(qrels, ranked(lines, lambda line: 0))
        case "order=distance":
            listed = {t: sorted([x for x in lines if x[0] == t], key=lambda x: x[1], reverse=True) for t in lists}
            return "AP", ap(
                qrels, {t: list(dict.fromkeys(x[1] for x in sorted(r, key=lambda x: x[3]))) for t, r in listed.items()}
            )
        case "average=micro":
            found = sum(sum(qrels[t].get(d, 0) > 0 for d in lists.get(t, [])[:10]) for t in qrels)
            return "R@10", found / sum(sum(g > 0 for g in grades.values()) for grades in qrels.values())
        case "average=geometric":
            values = [plain_ap(lists.get(t, []), qrels[t]) for t in qrels]
            return "AP", math.exp(mean([math.log(max(v, 1e-5)) for v in values]))
        case "gains=binary":
            return "nDCG@10", ndcg(qrels, lists, gain=lambda g: float(g > 0))
        case "gains=binary; rel=2":
            return "nDCG@10", ndcg({t: {d: int(g > 1) for d, g in docs.items()} for t, docs in qrels.items()}, lists)
        case "denominator=k":
            return "AP@20", ap(qrels, lists, k=20, below="k")
        case "topics=own":
            answered = [t for t in qrels if t in lists]
            return "AP", ap(qrels, lists, answered) * len(answered) / len(lists)
        case "scale=percent":
            return "nDCG@10", 100 * ndcg(qrels, lists)
        case "cutoff=9":
            return "nDCG@10", ndcg(qrels, lists, k=9)
    raise AssertionError(name)


PLANTED = (
    "gains=exp", "discount=jk", "discount=log2(r+2)", "ideal=retrieved", "ideal=top", "unjudged=condensed",
    "unjudged=cut-first", "rel=2", "ties=file", "ties=ascending", "duplicates=counted", "duplicates=last", "topics=run",
    "topics=all", "undefined=drop", "denominator=min(k,R)", "denominator=found", "truncate=20", "order=rank",
    "order=file", "order=distance", "average=micro", "average=geometric", "cutoff=9", "gains=binary",
    "gains=binary; rel=2", "denominator=k", "topics=own", "scale=percent",
)  # fmt: skip


def files(folder: Path, qrels: Any, lines: list[Line]) -> tuple[str, str]:
    judged = folder / "qrels.txt"
    judged.write_text("".join(f"{t} 0 {d} {g}\n" for t, docs in qrels.items() for d, g in docs.items()))
    run = folder / "some.run"
    run.write_text("".join(f"{t} Q0 {d} {r} {s} tag\n" for t, d, r, s in lines))
    return str(judged), str(run)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_error_is_named_first(name: str, tmp_path: Path) -> None:
    measure, value = planted(name)
    found = uj.doctor(*files(tmp_path, *world()), f"{measure}={value:.5f}")
    first = found.frame.iloc[0]
    assert (first["settings"], first["fit"]) == (name, 1.0)
    assert first["value"] == pytest.approx(value, abs=1e-12)


def test_ids_that_were_read_as_numbers(tmp_path: Path) -> None:
    qrels, lines = world()
    short = [(t, d.lstrip("0") or "0", r, s) for t, d, r, s in lines]  # what pandas makes of 007
    value = ap(qrels, {t: [f"{int(d):03d}" if d.isdigit() else d for d in docs] for t, docs in ranked(short).items()})
    found = uj.doctor(*files(tmp_path, qrels, short), f"AP={value:.5f}")
    assert found.frame.iloc[0]["settings"] == "ids=number"


def test_single_precision_ties(tmp_path: Path) -> None:
    qrels = {"1": {"a": 1, "b": 0}}
    lines = [("1", "a", 1, 1.000000001), ("1", "b", 2, 1.0)]
    found = uj.doctor(*files(tmp_path, qrels, lines), "AP=0.5")
    assert found.frame.iloc[0]["settings"] == "ties=float32"
    assert "trec_eval 9" in found.frame.iloc[0]["known_habit"]


@pytest.mark.parametrize(("one", "other"), [("gains=exp", "topics=run"), ("gains=exp", "ideal=retrieved")])
def test_two_errors_at_once(one: str, other: str, tmp_path: Path) -> None:
    qrels, lines = world()
    lists = ranked(lines)
    topics = [t for t in qrels if t in lists] if other == "topics=run" else list(qrels)
    ideal = {t: [qrels[t].get(d, 0) for d in lists.get(t, [])] if other == "ideal=retrieved" else None for t in topics}
    value = mean([plain_ndcg(lists.get(t, []), qrels[t], gain=lambda g: 2.0**g - 1, ideal=ideal[t]) for t in topics])
    found = uj.doctor(*files(tmp_path, qrels, lines), f"nDCG@10={value:.6f}")
    assert found.frame.iloc[0]["settings"] == f"{one}; {other}"


def test_numbers_of_two_measures_must_both_come_out(tmp_path: Path) -> None:
    qrels, lines = world()
    lists = ranked(lines)
    both = {"nDCG@10": f"{ndcg(qrels, lists):.5f}", "AP": f"{ap(qrels, lists, rel=2):.5f}"}
    found = uj.doctor(*files(tmp_path, qrels, lines), both)
    assert tuple(found.frame.iloc[0][["settings", "fit"]]) == ("rel=2", 1.0)


def test_our_own_number_needs_no_explanation(tmp_path: Path) -> None:
    qrels, lines = world()
    found = uj.doctor(*files(tmp_path, qrels, lines), f"nDCG@10={ndcg(qrels, ranked(lines)):.4f}")
    assert found.frame.iloc[0]["settings"] == "none"
    assert "nothing to explain" in found.notes[0]


def test_a_number_that_nothing_explains_gets_the_nearest(tmp_path: Path) -> None:
    found = uj.doctor(*files(tmp_path, *world()), "nDCG@10=0.98765")
    assert found.frame["fit"].max() == 0
    assert found.notes[0].startswith("no combination")
    assert found.frame["difference"].abs().is_monotonic_increasing


@pytest.mark.parametrize(
    "measure", ["nDCG@10", "nDCG", "DCG@5", "AP", "AP@10", "P@5", "R@10", "RR", "bpref", "nDCG'@10", "AP'"]
)
def test_without_settings_it_is_our_score(measure: str, tmp_path: Path) -> None:
    """The doctor's evaluation and `score` are one number."""
    qrels, run = files(tmp_path, *world())
    mine = uj.score(uj.load(qrels, run), measure).mean_values()[0, 0]
    found = uj.doctor(qrels, run, {measure: repr(float(mine))})
    first = found.frame.iloc[0]
    assert (first["settings"], first["value"]) == ("none", pytest.approx(mine, abs=1e-12))


def test_a_file_of_scores_per_topic_makes_it_sure(tmp_path: Path) -> None:
    qrels, lines = world()
    judged, run = files(tmp_path, qrels, lines)
    lists = ranked(lines)
    theirs = tmp_path / "theirs.txt"
    rows = [f"ndcg_cut_10 {t} {plain_ndcg(lists.get(t, []), qrels[t], gain=lambda g: 2.0**g - 1):.4f}\n" for t in qrels]
    theirs.write_text("".join(rows))
    found = uj.doctor(judged, run, str(theirs))
    assert found.frame.iloc[0]["settings"] == "gains=exp"
    assert found.frame.iloc[0]["fit"] == 1
    assert (found.frame["fit"] == 1).sum() == 1


@pytest.mark.slow
@pytest.mark.parametrize("kept", [1, 3])
def test_what_is_kept_of_the_lists_changes_no_explanation(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    docs = [f"d{n}" for n in range(300)]
    qrels = {str(t): {d: draw.choice((0, 0, 1, 2, 3)) for d in draw.sample(docs, 40)} for t in range(5)}
    run = {str(t): {d: draw.random() for d in draw.sample(docs, 100)} for t in range(5)}
    reported = ["nDCG@10=0.98765", "AP=0.98765", "P@10=0.2", "R@100=0.3"]
    found = uj.doctor(qrels, run, reported)
    assert found.frame["fit"].max() < 1
    monkeypatch.setattr(evaluation, "KEPT", kept)
    assert uj.doctor(qrels, run, reported).frame.equals(found.frame)


def run_doctor(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "unjudged", "doctor", *words], capture_output=True, text=True)


def test_the_verb_prints_the_sentence_and_the_table(tmp_path: Path) -> None:
    measure, value = planted("gains=exp")
    said = run_doctor(*files(tmp_path, *world()), "--reported", f"{measure}={value:.4f}", "--format", "tsv")
    assert said.returncode == 0
    assert "gains=exp gives" in said.stderr
    head, first, *_ = said.stdout.splitlines()
    assert head.split("\t") == ["rank", "settings", "value", "difference", "fit", "known_habit"]
    assert first.split("\t")[1] == "gains=exp"


COLUMNS = ["rank", "settings", "value", "difference", "fit", "known_habit"]
OURS = {"1": 0.5, "2": 0.0, "3": 0.25}


def theirs_of(kind: str) -> str:
    """What another tool would have written about the scores of `OURS`."""
    answered = {t: v for t, v in OURS.items() if v}
    match kind:
        case "none":
            return (
                "".join(f"map\t{t}\t{v:.4f}\n" for t, v in OURS.items()) + f"map\tall\t{mean([*OURS.values()]):.4f}\n"
            )
        case "topics=run":
            rows = [f"{t}\tAP\t{v:.4f}\n" for t, v in answered.items()]  # the order of ir_measures
            return "".join(rows) + f"all\tAP\t{mean([*answered.values()]):.4f}\n"
        case "average=geometric":
            logs = [math.log(max(v, 1e-5)) for v in OURS.values()]
            return (
                "topic,measure,value\n"
                + "".join(f"{t},AP,{v}\n" for t, v in OURS.items())
                + (f"all,AP,{math.exp(mean(logs)):.5f}\n")
            )
        case "topics=judged":  # two more topics, on which nothing was found
            values = {**OURS, "4": 0.0, "5": 0.0}
            return "".join(f'{{"query_id": "{t}", "measure": "AP", "value": {v}}}\n' for t, v in values.items())
        case "scale=percent":
            return "topic,AP\n" + "".join(f"{t},{100 * v:.1f}\n" for t, v in OURS.items())
        case "scale=percent; topics=run":
            return f"runid all x\nmap all {100 * mean([*answered.values()]):.1f}\n"
    raise AssertionError(kind)


@pytest.mark.parametrize(
    "kind", ["none", "topics=run", "average=geometric", "topics=judged", "scale=percent", "scale=percent; topics=run"]
)
def test_two_files_of_scores(kind: str, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.tsv", tmp_path / "theirs"
    whole = mean([*OURS.values()])
    rows = "".join(f"r\t{t}\tAP\t{v}\n" for t, v in OURS.items())
    ours.write_text(f"run\ttopic\tmeasure\tvalue\n{rows}r\tall\tAP\t{whole}\n")
    theirs.write_text(theirs_of(kind))
    said = run_doctor(str(ours), str(theirs), "--format", "tsv")
    assert said.returncode == 0, said.stderr
    head, first, *_ = (line.split("\t") for line in said.stdout.splitlines())
    assert head == COLUMNS
    assert (first[1], float(first[4])) == (kind, 1.0)
    if kind == "topics=run":
        assert "AP: every shared topic is equal; 1 topic only in" in said.stderr


def test_scores_that_differ_themselves_need_judgments_and_run(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.csv", tmp_path / "theirs.csv"
    ours.write_text("topic,AP\n1,0.5\n2,0.25\n")
    theirs.write_text("topic,AP\n1,0.5\n2,0.75\n")
    found = uj.doctor(ours, theirs)
    assert found.frame["fit"].max() < 1
    assert "AP: 1 of 2 topics differ, most topic 2 (0.2500, 0.7500)" in found.notes
    assert found.notes[-1].endswith(f"unjudged doctor QRELS RUN --reported {theirs}")


def test_values_typed_in(tmp_path: Path) -> None:
    ours = tmp_path / "ours.csv"
    ours.write_text("topic,AP\n1,0.5\n2,0\n3,0.25\n")
    assert uj.doctor(str(ours), "map=0.375").frame.iloc[0]["settings"] == "topics=run"
    assert uj.doctor("map=0.221", "MAP=22.1").frame.iloc[0]["settings"] == "scale=percent"
    assert uj.doctor("map=0.221", "MAP=0.22").frame.iloc[0]["settings"] == "none"
    assert uj.doctor("map=0.221", "MAP=0.23").frame["fit"].max() == 0
    for bad, sentence in {
        ("map=x", "map=0.2"): "a measure and its value, as ndcg@10=0.413, not 'map=x'",
        ("map=0.2", "P@10=0.2"): "have no measure in common",
        ("none.tsv", "map=0.2"): "none.tsv: no such file",
    }.items():
        said = run_doctor(*bad)
        assert (said.returncode, said.stdout, len(said.stderr.splitlines())) == (2, "", 1)
        assert sentence in said.stderr
    both = tmp_path / "both.csv"
    both.write_text("run,topic,AP\na,1,0.5\nb,1,0.5\n")
    with pytest.raises(InputError, match=r"both.csv:3: scores of more than one run \(a and b\)"):
        uj.doctor(both, "map=0.2")


def test_several_numbers_may_stand_in_one_list() -> None:
    one_by_one = reported_numbers(["map=0.25", "RBP(p=0.8,rel=1)=0.4"])
    assert reported_numbers("map=0.25, RBP(p=0.8,rel=1)=0.4") == one_by_one
    assert reported_numbers("P(rel=2)@5=0.3,map=1e-2") == reported_numbers(["P(rel=2)@5=0.3", "map=1e-2"])


@pytest.mark.parametrize(
    ("reported", "sentence"),
    [
        ("ndcg@10", "not 'ndcg@10'"),
        ("ndgc@10=0.4", "ndgc"),
        ("official=0.4", "one measure for one value"),
    ],
)
def test_what_was_reported_must_be_readable(reported: str, sentence: str, tmp_path: Path) -> None:
    said = run_doctor(*files(tmp_path, *world()), "--reported", reported)
    assert said.returncode == 2
    assert sentence in said.stderr
    assert len(said.stderr.splitlines()) == 1


def test_bad_lines_are_named(tmp_path: Path) -> None:
    judged, run = files(tmp_path, *world())
    (tmp_path / "bad.run").write_text("1 Q0 d1 1 high tag\n")
    with pytest.raises(InputError, match="'high' is not a number") as problem:
        uj.doctor(judged, str(tmp_path / "bad.run"), "AP=0.1")
    assert ":1: " in str(problem.value)
    (tmp_path / "scores.tsv").write_text("topic\tmeasure\tvalue\n1\tAP\tgood\n")
    with pytest.raises(InputError, match="'good'"):
        uj.doctor(judged, run, str(tmp_path / "scores.tsv"))
    with pytest.raises(UsageError, match="not judged"):
        (tmp_path / "scores.tsv").write_text("topic\tmeasure\tvalue\n77\tAP\t0.5\n")
        uj.doctor(judged, run, str(tmp_path / "scores.tsv"))


@given(st.integers(0, 6), st.floats(0, 1))
def test_a_number_is_known_to_half_a_unit_of_its_last_digit(digits: int, value: float) -> None:
    text = f"{value:.{digits}f}"
    if text not in ("0", "1"):
        assert abs(float(text) - value) <= unit_of(text) / 2 + 1e-12
