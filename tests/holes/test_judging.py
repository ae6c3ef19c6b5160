"""What to judge next: unjudged documents only, in the order specified, settled by the rule; answers come back."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hole_cases import MICRO, drawn, lists_of, micro, weights_of
from hypothesis import given
from hypothesis import strategies as st

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import InputError, UsageError
from unjudged.holes import judging
from unjudged.holes.order import values
from unjudged.holes.pairs import differences
from unjudged.holes.promise import _Group, labels_needed
from unjudged.statistics.pairs import all_pairs

WORLDS = st.tuples(
    st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 6), st.integers(2, 12), st.sampled_from((0.0, 0.3, 0.8))
)


@pytest.mark.parametrize("case", MICRO["cases"])
def test_micro_collection(case: str) -> None:
    found = uj.next_to_judge(micro(case), case.split(" ")[1], new="d", baseline="a", batch=5)
    want = MICRO["cases"][case]["judge_next"]
    rows = list(found.rows())
    assert [f"{row[1]}/{row[2]}" for row in rows] == [name for name, _, _ in want]
    assert [row[9] for row in rows] == pytest.approx([value for _, value, _ in want], abs=1e-6)
    assert [row[5] for row in rows] == pytest.approx([p for _, _, p in want], abs=1e-6)
    assert not found.settled


@given(WORLDS, st.sampled_from(("P@5", "nDCG@5", "RBP(p=0.8)")))
def test_only_unjudged_documents_each_once(world: Any, measure: str) -> None:
    qrels, runs = drawn(*world)
    found = uj.next_to_judge(uj.load(qrels, lists_of(runs)), measure, all_pairs=True, budget=1000, correction="none")
    listed = [(row[1], row[2]) for row in found.rows()]
    assert len(set(listed)) == len(listed)
    for topic, doc in listed:
        assert doc not in qrels[topic] and any(doc in lists[topic] for lists in runs.values())
    assert found.settled == (not listed)
    worth = [row[9] for row in found.rows()]
    assert worth == sorted(worth, reverse=True) or np.diff(worth).max() < 1e-11
    assert sorted(found.for_assessors()) == sorted(listed)


@given(WORLDS)
def test_labels_needed_by_taking_holes_away(world: Any) -> None:
    """The promise against the variance computed anew without the documents judged so far."""
    qrels, runs = drawn(*world)
    weights = weights_of(uj.load(qrels, lists_of(runs)), "P@5")
    pairs = all_pairs(len(runs))
    found = differences(weights, pairs)
    worth = values(weights, found)
    order = worth.doc[np.argsort(-worth.value, kind="stable")]
    needed = labels_needed(weights, found, ~found.settled, order)
    c, lists = weights.chances, weights.lists
    table = np.zeros((len(runs), lists.docs))
    table[weights.run, weights.doc] = weights.weight
    for i, many in zip(np.flatnonzero(~found.settled).tolist(), needed.tolist(), strict=True):
        room = (abs(found.difference[i]) / found.t[i]) ** 2 - found.v_topic[i]
        apart = table[pairs[0][i]] - table[pairs[1][i]]
        enough = np.inf
        for n in range(1, len(order) + 1):
            left = lists.hole.copy()
            left[order[:n]] = False
            moved = apart * c.slope * left
            parts = [moved[lists.best_team == g].sum() for g in range(len(lists.teams))]
            topics = [moved[lists.topic == t].sum() for t in range(lists.topics)]
            variance = (apart**2 * weights.variance * left).sum() + c.s_common**2 * moved.sum() ** 2
            variance += c.s_team**2 * np.square(parts).sum() + c.s_topic**2 * np.square(topics).sum()
            if variance < room - 1e-15:
                enough = n
                break
        assert room <= 0 or many == enough or abs(variance - room) < 1e-12


def test_what_is_left_in_groups_of_which_some_are_empty() -> None:
    group, moved = np.array([3, 0, 3, 0, 1]), np.array([0.5, 0.25, -1.0, 2.0, 0.125])
    left = [sum(moved[i:][group[i:] == g].sum() ** 2 for g in range(4)) for i in range(1, 6)]
    assert _Group(group).squares_left(moved) == pytest.approx(left)


def test_what_is_asked() -> None:
    collection = micro("pool_seen P@5")
    pair = uj.next_to_judge(collection, "P@5", new="d", baseline="a")
    assert len(list(pair.rows())) == 10 and {row[8] for row in pair.rows()} == {1}
    assert "d against a by P@5: cannot tell" in pair.notes[-1]
    assert all(row[7].startswith("relevant: difference ") for row in pair.rows())
    more = uj.next_to_judge(collection, "P@5", all_pairs=True, budget=15, batch=4, correction="none")
    assert [row[8] for row in more.rows()] == [1] * 4 + [2] * 4 + [3] * 4 + [4] * 3
    usual = uj.next_to_judge(collection, "P@5", correction="none")
    assert [row[:8] for row in usual.rows()] == [row[:8] for row in more.rows()][:10]
    assert all(re.fullmatch(r"weighs in [1-6] of [1-6] open pairs?", row[7]) for row in usual.rows())
    top = uj.next_to_judge(collection, "P@5", top=1)
    assert top.notes[0].startswith("the best 1 run against the other 3 by P@5")
    wanted = "rank topic doc runs best_rank chance effect why"
    assert list(pair.columns)[:8] == wanted.split()
    for rank, row in enumerate(pair.rows(), 1):
        found_in = {run: int(place) for run, _, place in (one.rpartition(":") for one in row[3].split())}
        assert row[0] == rank and row[4] == min(found_in.values())
        here = [found_in.get(run, 99) <= 5 for run in ("d", "a")]
        assert row[6] == pytest.approx((here[0] - here[1]) / 5 / 6, abs=1e-12)  # five places, six topics
    two = collection.with_runs(["d", "a"])
    assert uj.next_to_judge(two, "P@5").notes[-1].startswith("a against d by P@5")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"new": "d"}, "name both the new run and its baseline"),
        ({"new": "d", "baseline": "x"}, "no run 'x'"),
        ({"new": "d", "baseline": "d"}, "are the same run"),
        ({"new": "d", "baseline": "a", "top": 2}, "ask about one thing"),
        ({"top": 4}, "k is 1 to 3, not 4"),
        ({"measure": "AP@5"}, "AP@5 cannot lead the judging: no weights are known for it"),
        ({"measure": "RR"}, "RR cannot lead the judging"),
        ({"measure": "P@5, P@3"}, "one measure at a time"),
        ({"budget": 0}, "the budget is at least 1 document"),
        ({"batch": 0}, "a batch has at least 1 document"),
    ],
)
def test_what_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        uj.next_to_judge(micro("pool_seen P@5"), **{"measure": "P@5", **options})
    with pytest.raises(UsageError, match="two runs are needed"):
        uj.next_to_judge(micro("pool_seen P@5").with_runs(["a"]), "P@5")


@pytest.mark.parametrize("seed", [0, 2])
def test_of_all_pairs_those_that_are_clear_have_no_vote(seed: int) -> None:
    """Clear: three standard errors apart, of topics and holes together."""
    qrels, runs = drawn(seed, 9, 4, 12, 0.8)
    found = judging.standing(uj.load(qrels, lists_of(runs)), judging.Question("P@5"))
    pairs = found.found
    apart = np.abs(pairs.difference) / np.sqrt(pairs.v_topic + pairs.v_hole)
    assert (found.votes == (~pairs.settled & (apart < 3))).all()
    assert (~pairs.settled & (apart >= 3)).any()


def test_what_is_settled_is_confirmed_where_it_is_nearest_to_turning(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.5 / sqrt(0.06) = 2.04 is nearer to t = 2 than 0.4 / sqrt(0.05) = 1.79; the third pair has no holes."""
    found = SimpleNamespace(
        difference=np.array([0.5, 0.4, 0.3]),
        v_topic=np.array([0.03, 0.04, 0.0225]),
        v_hole=np.array([0.03, 0.01, 0.0]),
        t=np.full(3, 2.0),
        holes=np.array([4, 4, 0]),
    )
    stands: Any = SimpleNamespace(votes=np.zeros(3, bool), found=found, weights=None)
    monkeypatch.setattr(judging, "NEAREST", 1)
    monkeypatch.setattr(judging, "values", lambda weights, found, votes: votes)
    assert np.asarray(judging.Standing.confirming(stands)).tolist() == [True, False, False]


def test_few_open_pairs_are_told() -> None:
    stands: Any = SimpleNamespace(
        measure="P@5",
        aim=SimpleNamespace(one=None, name="all pairs of 9 runs"),
        found=SimpleNamespace(word=("better",) * 35 + ("cannot tell",), settled=np.arange(36) < 35),
        votes=np.arange(36) == 35,
        needed=np.array([7.0]),
        settled=True,
        for_want_of_judgments=1 / 36,
        weights=SimpleNamespace(chances=SimpleNamespace(seen=SimpleNamespace(seen=True))),
    )
    assert judging._notes(stands) == [
        "all pairs of 9 runs by P@5: 35 of 36 pairs decided, 1 open (2.8 % of all for want of judgments)",
        "fewer than 5 % of the pairs are open for want of judgments: nothing need be judged",
    ]


def test_no_holes_and_one_topic_are_settled() -> None:
    qrels, runs = drawn(3, 3, 5, 8, 1.0)
    docs = sorted({doc for lists in runs.values() for docs in lists.values() for doc in docs})
    full = {topic: dict.fromkeys(docs, 0) | grades for topic, grades in qrels.items()}
    found = uj.next_to_judge(uj.load(full, lists_of(runs)), "P@5", new="r0", baseline="r1")
    assert found.settled and not list(found.rows()) and found.notes[-1].startswith("settled: ")
    assert found.table() == "Nothing to judge: more labels would settle next to nothing.\n"
    assert found.render("tsv") == "\t".join(found.columns) + "\n"  # machines get their header
    qrels, runs = drawn(3, 3, 1, 8, 0.3)
    assert uj.next_to_judge(uj.load(qrels, lists_of(runs)), "P@5").settled


def test_nothing_judged_at_all() -> None:
    """Every document is a hole: the order is that of the prior."""
    qrels, runs = drawn(5, 3, 9, 10, 0.0)
    collection = uj.load(qrels, lists_of(runs))
    found = uj.next_to_judge(collection, "P@5", budget=3)
    assert len(list(found.rows())) == 3
    pair = uj.next_to_judge(collection, "P@5", new="r0", baseline="r1")
    assert "100 % of the uncertainty comes from holes; how many labels it takes cannot be told" in pair.notes[-1]


# -- answers


def files_of(folder: Path) -> list[str]:
    lines = [f"{t} 0 {d} {g}\n" for t, docs in MICRO["qrels"].items() for d, g in docs.items()]
    (folder / "qrels.txt").write_text("".join(lines))
    (folder / "runs").mkdir()
    for run, lists in MICRO["runs"].items():
        (folder / "runs" / run).write_text(
            "".join(f"{t} Q0 {d} {i} {9 - i} x\n" for t, docs in lists.items() for i, d in enumerate(docs, 1))
        )
    return [str(folder / "qrels.txt"), str(folder / "runs"), "-m", "P@5", "--new", "d", "--baseline", "a"]


def answered(format: str, text: str, grade: int) -> str:
    """What comes back from a tool: every document with this grade."""
    if format == "list":
        return "".join(f"{line}\t{grade}\n" for line in text.splitlines())
    if format == "trec":
        return "".join(f"{line} {grade}\n" for line in text.splitlines())
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        out = io.StringIO()
        writer = csv.DictWriter(out, [*rows[0], "grade"])
        writer.writeheader()
        writer.writerows({**row, "grade": str(grade)} for row in rows)
        return out.getvalue()
    if format == "jsonl":
        return "".join(json.dumps({**json.loads(line), "grade": grade}) + "\n" for line in text.splitlines())
    if format == "quepid":
        rows = list(csv.DictReader(io.StringIO(text)))
        assert set(rows[0]) == {"query", "docid", "rating"}
        return "query,docid,rating\n" + "".join(f'"{r["query"]}",{r["docid"]},{grade}.0\n' for r in rows)
    if format == "doccano":
        rows = [json.loads(line) for line in text.splitlines()]
        assert all(set(r) == {"text", "label", "topic", "document"} for r in rows)
        return "".join(json.dumps({**r, "id": i, "label": [str(grade)]}) + "\n" for i, r in enumerate(rows))
    tasks = json.loads(text)
    assert all(set(task["data"]) == {"topic", "document", "query", "text"} for task in tasks)
    mark = {"type": "choices", "value": {"choices": [f"{grade}"]}}
    return json.dumps([{**task, "annotations": [{"result": [mark]}]} for task in tasks])


FOR_ASSESSORS = ("list", "trec", "quepid", "doccano", "label-studio")


@pytest.mark.parametrize("format", [*FOR_ASSESSORS, "csv", "jsonl"])
def test_out_and_back(format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = files_of(tmp_path)
    (tmp_path / "queries.jsonl").write_text(
        "".join(f'{{"_id": "{t}", "text": "query, {t}"}}\n' for t in MICRO["qrels"])
    )
    (tmp_path / "corpus.tsv").write_text("d4\tthe <b>fourth</b> document\n")
    texts = ["--queries", str(tmp_path / "queries.jsonl"), "--corpus", str(tmp_path / "corpus.tsv")]
    assert main(["next", *words, *texts, "--format", format, "-o", str(tmp_path / "out")]) == 0
    sent = (tmp_path / "out").read_text()
    assert main(["next", *words, "--format", "jsonl"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for secret in ("0.1", "team", "rank", "chance", "value", "effect"):
        assert secret not in sent.replace("value,", "") or format not in FOR_ASSESSORS
    if format in ("doccano", "label-studio"):
        assert "query, " in sent and "the <b>fourth</b> document" in sent
    (tmp_path / "back").write_text(answered(format, sent, 1))
    merged = ["--answers", str(tmp_path / "back"), "--merged", str(tmp_path / "new.txt")]
    assert main(["next", *words, *texts, *merged, "--format", "jsonl"]) == 0
    said = capsys.readouterr()
    assert f"{tmp_path / 'back'}: 10 new labels merged" in said.err
    after = {(row["topic"], row["doc"]) for row in map(json.loads, said.out.splitlines())}
    before = {(row["topic"], row["doc"]) for row in listed}
    assert not before & after
    judged = {tuple(line.split()[::2]): line.split()[3] for line in (tmp_path / "new.txt").read_text().splitlines()}
    assert {judged[pair] for pair in before} == {"1"}
    assert len(judged) == 30 + 10


@pytest.mark.parametrize(
    "text",
    [
        "1\td4\t1\n2\td4\n3\td4\t0\n3\td5\t\n",
        "1 0 d4 1\n2 0 d4\n3 0 d4 0\n",
        "topic,doc,grade\n1,d4,1\n2,d4,\n3,d4,0\n",
    ],
)
def test_a_list_that_is_half_answered(text: str, tmp_path: Path) -> None:
    (tmp_path / "back").write_text(text)
    found = uj.next_to_judge(micro("pool_seen P@5"), "P@5", answers=tmp_path / "back", new="d", baseline="a")
    assert f"{tmp_path / 'back'}: 2 new labels merged" in found.notes
    judgments = found.judged.judgments
    topics = [judgments.topics[int(t)] for t, doc in zip(judgments.topic, judgments.docs, strict=True) if doc == "d4"]
    assert topics == ["1", "3"]


def test_assessors_see_no_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = files_of(tmp_path)
    assert main(["next", *words, "--budget", "21", "--format", "tsv"]) == 0
    by_value = [tuple(line.split("\t")[1:3]) for line in capsys.readouterr().out.splitlines()[1:]]
    shown = []
    for seed in ("0", "1", "2", "3"):
        assert main(["next", *words, "--budget", "21", "--format", "list", "--seed", seed]) == 0
        shown.append([tuple(line.split("\t")) for line in capsys.readouterr().out.splitlines()])
        assert sorted(shown[-1]) == sorted(by_value)
        topics = [topic for topic, _ in shown[-1]]
        assert topics == sorted(topics)
    assert len({tuple(one) for one in shown}) > 1


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.txt", "99 0 d4 1\n", "topic '99' is not judged here"),
        ("a.txt", "1 0 d4 5\n", "grade 5 of d4 in topic 1 is outside the scale 0 to 1"),
        ("a.txt", "1 d4 1\n", "a.txt:1: "),
        ("a.tsv", "1\td4\t1\n1\td5\t7\n", "a.tsv:2: grade 7 of d5 in topic 1 is outside the scale 0 to 1"),
        ("a.csv", "topic,document,grade\n1,d4,x\n", "a.csv:2: a grade is a whole number of 0 or more, found 'x'"),
        ("a.csv", "topic,document,grade\n1,d4,1\n1,d4,0\n", "a.csv:3: d4 in topic 1 has two labels, 1 and 0"),
        ("a.csv", "topic,document\n1,d4\n", "a.csv:1: answers need the columns topic, document and grade"),
        ("a.jsonl", '{"topic": "1", "document": "d4", "grade": 1}\nnonsense\n', "a.jsonl:2: this line is not JSON"),
        ("a.jsonl", '{"topic": "1", "grade": 1}\n', "a.jsonl:1: an answer needs a topic and a document"),
        ("a.jsonl", '{"topic": "1", "document": "d4", "label": ["0", "1"]}\n', "a document has one label"),
        ("a.json", "[1]", "task 1 needs data with topic and document"),
        ("a.json", "[{", "this is not JSON"),
    ],
)
def test_bad_answers(name: str, text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = files_of(tmp_path)
    (tmp_path / name).write_text(text)
    out = ["--merged", str(tmp_path / "new.txt"), "-o", str(tmp_path / "out")]
    assert main(["next", *words, "--answers", str(tmp_path / name), *out]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "new.txt").exists() and not (tmp_path / "out").exists()


def test_changed_labels_are_told(tmp_path: Path) -> None:
    collection = micro("pool_seen P@5")
    found = uj.next_to_judge(collection, "P@5", answers={"1": {"d1": 0, "d2": 1, "d4": 1}}, new="d", baseline="a")
    assert "answers: 1 new label merged" in found.notes
    assert "answers: 2 documents had been judged before" in found.notes
    assert "answers: 1 label changed (first: d1 in topic 1, 1 to 0)" in found.notes
    assert not any((row[1], row[2]) == ("1", "d4") for row in found.rows())
    (tmp_path / "none.jsonl").write_text('{"topic": "1", "document": "d4", "grade": null}\n')
    none = uj.next_to_judge(collection, "P@5", answers=tmp_path / "none.jsonl")
    assert f"{tmp_path / 'none.jsonl'}: no labels there" in none.notes
    assert "answers: no labels there" in uj.next_to_judge(collection, "P@5", answers={}).notes
    with pytest.raises(InputError, match="not judged here"):
        uj.next_to_judge(collection, "P@5", answers={"7": {"d1": 0}})


def test_texts_that_are_hostile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = files_of(tmp_path)
    (tmp_path / "corpus.tsv").write_bytes(b"d4\t\xff\xfe <script>alert(1)</script>\n")
    (tmp_path / "topics.txt").write_text(
        "<top>\n<num> Number: 1\n<title> one\n two\n</top>\n<top><num>2<title>x</top>\n"
    )
    texts = ["--queries", str(tmp_path / "topics.txt"), "--corpus", str(tmp_path / "corpus.tsv")]
    assert main(["next", *words, *texts, "--budget", "30", "--format", "label-studio"]) == 0
    tasks = [task["data"] for task in json.loads(capsys.readouterr().out)]
    assert {task["text"] for task in tasks if task["document"] == "d4"} == {"\\xff\\xfe <script>alert(1)</script>"}
    assert {task["query"] for task in tasks if task["topic"] == "1"} == {"one two"}
    (tmp_path / "bad.tsv").write_text("no tab here\n")
    assert main(["next", *words, "--corpus", str(tmp_path / "bad.tsv"), "--format", "list"]) == 2
    assert "bad.tsv:1: a line needs id<TAB>text" in capsys.readouterr().err
    assert main(["next", *words, "--merged", "x"]) == 2


def test_the_new_run_may_be_a_file_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels, runs = files_of(tmp_path)[:2]
    some = [f"{runs}/a", f"{runs}/b", f"{runs}/c"]
    question = ["-m", "P@5", "--new", f"{runs}/d", "--baseline", "a", "--format", "tsv"]
    assert main(["next", qrels, *some, *question]) == 0
    out = capsys.readouterr().out
    assert main(["next", qrels, runs, *question]) == 0
    assert capsys.readouterr().out == out and len(out.splitlines()) == 11


def test_why_says_what_a_label_does_to_the_difference() -> None:
    """A hole that weighs 0.1 in the first run and 0.3 in the second, with a chance of 0.25: -0.2 of it, up or down."""
    aim = judging.Aim((np.array([0]), np.array([1])), "a - b", one=("a", "b"))
    hole: Any = SimpleNamespace(p=0.25)
    nothing: Any = None
    effect, said = judging._effect(hole, aim, nothing, nothing, np.array([0.1, 0.3]))
    assert said == "relevant: difference -0.1500, nonrelevant: +0.0500" and effect is not None
