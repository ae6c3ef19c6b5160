"""One file with the labels of several judges, or of several versions of a prompt: each is a judge of its own."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

import unjudged as uj
from unjudged.changes.rejudge import judgments_of
from unjudged.cli import main
from unjudged.errors import InputError
from unjudged.io.formats import every_judge
from unjudged.io.line_numbers import line_numbers
from unjudged.io.machine_jsonl import judges_in
from unjudged.io.write import write_qrels

JUDGES = ("gpt/v1", "gpt/v2", "llama/v1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A collection, one judgment file per judge, and `labels.jsonl` with the labels of all of them, mixed."""
    monkeypatch.chdir(tmp_path)
    uj.simulate("tiny", seed=5, out=tmp_path, topics=12, runs=8, teams=4)
    human = uj.load("qrels.txt", "runs")
    lines = []
    for number, name in enumerate(JUDGES):
        judge, version = name.split("/")
        labels = uj.flip(human, 0.1 + 0.1 * number, seed=number).judgments
        rows = [(labels.topics[int(t)], labels.docs[i], int(labels.grade[i])) for i, t in enumerate(labels.topic)]
        (tmp_path / f"{number}.txt").write_text("".join(f"{t} 0 {d} {g}\n" for t, d, g in rows))
        lines += [
            {"topic": t, "document": d, "grade": g, "judge": judge, "prompt_version": version, "confidence": 0.5}
            for t, d, g in rows
        ]
    lines.sort(key=lambda line: (line["topic"], line["document"]))  # judges change from line to line
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def called(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[list[str]], str]:
    """Exit code, cells of the output, messages."""
    try:
        code = main(shlex.split(words))
    except SystemExit as stop:
        code = int(str(stop.code))
    out, err = capsys.readouterr()
    return code, [line.split("\t") for line in out.splitlines()], err


def test_each_judge_is_what_a_file_of_his_own_would_be(folder: Path) -> None:
    assert sorted(judges_in("labels.jsonl")) == sorted(JUDGES)
    assert every_judge("0.txt") == ["0.txt"] and every_judge("-") == ["-"] and every_judge("none") == ["none"]
    for number, name in enumerate(JUDGES):
        held, alone = judgments_of(f"labels.jsonl#{name}"), judgments_of(f"{number}.txt")
        both = [
            {(one.topics[int(t)], one.docs[i]): int(one.grade[i]) for i, t in enumerate(one.topic)}
            for one in (held, alone)
        ]
        assert both[0] == both[1] and held.source == f"labels.jsonl#{name}"


def audit_of(found: Any) -> dict[str, Any]:
    """The rows of an audit by judge, without the name."""
    return {row[0]: row[1:] for row in found.rows()}


def test_one_file_gives_the_same_audit_as_one_for_each(folder: Path) -> None:
    human = uj.load("qrels.txt", "runs")
    asked: dict[str, Any] = {"measures": "AP,nDCG@10", "resamples": 20}
    together = uj.audit(human, "labels.jsonl", **asked)
    apart = uj.audit(human, {name: f"{number}.txt" for number, name in enumerate(JUDGES)}, **asked)
    assert sorted(map(repr, together.rows())) == sorted(map(repr, apart.rows()))
    assert {row[0] for row in together.rows()} == set(JUDGES)
    hashes = together.provenance.hashes()
    assert hashes["labels.jsonl#gpt/v1"] == hashes["labels.jsonl#llama/v1"] is not None


def test_wherever_others_are_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line, verb by verb; names may come with a grade, and one of them may be the first judge."""
    asked = "-m AP --resamples 20 --format tsv"
    code, rows, err = called(f"judges audit qrels.txt labels.jsonl --runs runs {asked} --judge-rel gpt/v2=1", capsys)
    assert code == 0 and {row[0] for row in rows[1:]} == set(JUDGES), err
    code, rows, _ = called(f"judges audit labels.jsonl#gpt/v1 labels.jsonl --runs runs {asked}", capsys)
    assert code == 0 and {row[0] for row in rows[1:]} == {"gpt/v2", "llama/v1"}
    code, rows, _ = called(f"study judges qrels.txt runs --second-judge labels.jsonl {asked}", capsys)
    assert code == 0 and {row[0] for row in rows[1:]} == set(JUDGES)
    code, rows, _ = called("judges merge labels.jsonl --merged merged.txt --format tsv", capsys)
    assert code == 0 and {row[0] for row in rows[1:]} == set(JUDGES) and Path("merged.txt").is_file()
    code, rows, _ = called("judges merge labels.jsonl qrels.txt --runs runs -m AP --format tsv", capsys)
    assert code == 0 and rows[1][2] == "4"
    code, rows, err = called("qrels agree qrels.txt labels.jsonl --format tsv", capsys)
    assert code == 0 and {row[2] for row in rows[1:] if row[1] == "qrels"} == set(JUDGES)
    assert "judges audit qrels.txt" in err and "'labels.jsonl#gpt/v1'" in err  # what is named next can be called
    code, rows, _ = called("qrels agree labels.jsonl#gpt/v1 labels.jsonl --format tsv", capsys)
    assert code == 0 and {row[2] for row in rows[1:]} == {"gpt/v2", "llama/v1", "all"}
    code, _, _ = called("qrels merge labels.jsonl --rule majority -o majority.txt", capsys)
    assert code == 0 and Path("majority.txt").is_file()


def test_several_judges_merged_in_python(folder: Path) -> None:
    human = uj.load("qrels.txt", "runs")
    files = [f"{JUDGES.index(name)}.txt" for name in judges_in("labels.jsonl")]
    for rule in ("majority", "median", "random"):
        sides = uj.merge(human, "labels.jsonl", rule=rule, seed=3), uj.merge(human, *files, rule=rule, seed=3)
        assert sides[0].judgments.grade.tolist() == sides[1].judgments.grade.tolist()
        assert f"4 sets of judgments merged by {rule}" in str(sides[0].history)
    agreed = uj.judge_agreement("labels.jsonl", per_topic=False)
    assert sorted(agreed.judges) == sorted(JUDGES)
    assert [row[0] for row in uj.merge_judges("labels.jsonl").rows()] == judges_in("labels.jsonl")


def test_where_one_judge_is_needed_a_sentence_names_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = judges_in("labels.jsonl")
    for words in (
        "judges estimate qrels.txt labels.jsonl --runs runs",
        "judges estimate labels.jsonl qrels.txt --runs runs",
        "judges sample labels.jsonl --topics 5",
        "score labels.jsonl runs",
        "report labels.jsonl runs",
    ):
        code, rows, err = called(words, capsys)
        assert code == 2 and not rows and "this file holds 3 judges" in err and f"labels.jsonl#{names[0]}" in err, words
        assert all(name in err for name in names) and len(err.splitlines()) == 1
    code, rows, _ = called("score labels.jsonl#llama/v1 runs -m AP --format tsv", capsys)
    assert code == 0 and rows == called("score 2.txt runs -m AP --format tsv", capsys)[1]
    code, rows, _ = called("judges sample labels.jsonl#llama/v1 --topics 10 --sampled drawn --format list", capsys)
    assert code == 0 and len(Path("drawn").read_text().splitlines()) == 11
    code, rows, err = called(
        "judges estimate qrels.txt labels.jsonl#llama/v1 --runs runs -m AP --sampled drawn --format tsv", capsys
    )
    assert code == 0 and len(rows) == 9, err
    assert called("check labels.jsonl#llama/v1 runs --format tsv", capsys)[1] == [
        [cell.replace("2.txt", "labels.jsonl#llama/v1") for cell in row]
        for row in called("check 2.txt runs --format tsv", capsys)[1]
    ]


def test_mistakes_get_a_sentence(folder: Path) -> None:
    line = {"topic": "1", "document": "a", "grade": 1}
    for lines, judge, sentence in (
        ([line | {"judge": "x"}, line | {"document": "b"}], "", r"mixed:2: some lines say who judged .*others do not"),
        ([line | {"judge": "x"}], "#y", r"no judge 'y' here.*there are x"),
        ([line | {"judge": "x"}, line | {"judge": "x", "grade": 2}], "#x", r"two grades in topic 1"),
        ([line], "#x", r"#x names one judge of several"),
    ):
        (folder / "mixed").write_text("".join(json.dumps(one) + "\n" for one in lines))
        with pytest.raises(InputError, match=sentence):
            judgments_of(f"mixed{judge}")
    (folder / "a#b").write_text("1 0 a 1\n")
    assert len(judgments_of("a#b")) == 1  # a file may be called so


def test_prompts_and_names(folder: Path) -> None:
    """A whole prompt is no name: such prompts are numbered; judge and model both count; two files may hold one name."""
    line = {"topic": "1", "document": "a", "grade": 1, "judge": "u", "model": "gpt"}
    prompts = ["How relevant is the passage to the query? " * 3, "Answer yes or no. " * 3]
    (folder / "p.jsonl").write_text("".join(json.dumps(line | {"prompt": p}) + "\n" for p in prompts))
    assert judges_in("p.jsonl") == ["u/gpt/prompt1", "u/gpt/prompt2"]
    (folder / "again.jsonl").write_bytes((folder / "labels.jsonl").read_bytes())
    found = uj.audit(uj.load("qrels.txt", "runs"), ["labels.jsonl", "again.jsonl"], "AP", resamples=10)
    assert {row[0] for row in found.rows()} == {f"{file}#{name}" for file in ("labels", "again") for name in JUDGES}


def test_lines_are_those_of_the_judge(folder: Path) -> None:
    topic, doc = next(line.split()[0::2][:2] for line in (folder / "2.txt").read_text().splitlines())
    lines = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    for name in JUDGES:
        wanted = [
            number
            for number, line in enumerate(lines, 1)
            if (line["topic"], line["document"], f"{line['judge']}/{line['prompt_version']}") == (topic, doc, name)
        ]
        assert line_numbers(f"labels.jsonl#{name}", [(topic, doc)]) == wanted


def test_confidence_is_kept_and_told(folder: Path) -> None:
    """How sure a judge was is kept when judgments are narrowed and written, and stands beside its labels."""
    human = uj.load("qrels.txt", "runs").judgments
    truth = {(human.topics[int(t)], human.docs[i]): int(human.grade[i]) for i, t in enumerate(human.topic)}
    lines = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    lines = [line for line in lines if (line["judge"], line["prompt_version"]) == ("gpt", "v2")]
    for number, line in enumerate(lines):
        right = (line["grade"] >= 1) == (truth[line["topic"], line["document"]] >= 1)
        line["confidence"] = {0: None, 1: "0.9"}.get(number, 0.75 if right else 0.25)
    lines.reverse()  # topics in another order
    (folder / "sure.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    labels = uj.audit(uj.load("qrels.txt", "runs"), "sure.jsonl", "AP", labels=True, resamples=10).frame.iloc[0]
    told = [
        (line["grade"] >= 1) == (truth[line["topic"], line["document"]] >= 1) for line in lines if line["confidence"]
    ]
    others = told.count(True) - (told[-1] is True)
    first = 0.9 if told[-1] else 0.75
    assert labels["confidence_same"] == pytest.approx((0.75 * others + first * bool(told[-1])) / told.count(True))
    assert labels["confidence_differs"] == pytest.approx(0.25 if told[-1] else labels["confidence_differs"])
    held = uj.load("sure.jsonl", "runs")
    half = uj.reduce(held, 0.5, seed=1).judgments
    for name, judgments in (("all", held.judgments), ("half", half)):
        write_qrels(judgments, f"{name}.jsonl", format="jsonl")
        again = judgments_of(f"{name}.jsonl")
        kept = [
            {(one.topics[int(t)], one.docs[i]): one.confidence[i] for i, t in enumerate(one.topic)}
            for one in (judgments, again)
            if one.confidence is not None
        ]
        assert len(kept) == 2 and kept[0].keys() == kept[1].keys() and len(kept[0]) == len(judgments)
        assert all(kept[1][key] == sure or sure != sure for key, sure in kept[0].items())
    wanted = {(line["topic"], line["document"]): line["confidence"] for line in lines}
    assert all(float(wanted[key]) == sure for key, sure in kept[0].items() if wanted[key] is not None)
    assert uj.flip(held, 0.2, seed=1).judgments.confidence is None  # it belongs to the grades that were given
    bare = uj.audit(uj.load("qrels.txt", "runs"), "0.txt", "AP", labels=True, resamples=10)
    assert bare.frame.confidence_same.isna().all() and "confidence" not in bare.render("text")
