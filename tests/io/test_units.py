"""Chunks put together to documents, and lists cut at a number of tokens, wherever runs come from."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import unjudged as uj
from unjudged.cli import main

MEASURES = "AP, nDCG@5, P@3, R@5, RR"
PEER = {"map": "AP", "ndcg_cut_5": "nDCG@5", "P_3": "P@3", "recall_5": "R@5", "recip_rank": "RR"}

Run = dict[str, dict[str, float]]


def chunked(seed: int, most: int = 4) -> tuple[dict[str, dict[str, int]], Run]:
    """Judged documents, and a run of their chunks with different scores."""
    chance = random.Random(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: Run = {}
    for topic in map(str, range(1, 9)):
        docs = [f"d{chance.randrange(100)}" for _ in range(12)]
        qrels[topic] = {doc: chance.choice([0, 0, 1, 2]) for doc in docs[:8]} | {"never": 1}
        parts = [f"{doc}#{part}" for doc in dict.fromkeys(docs) for part in range(chance.randint(1, most))]
        scores = chance.sample(range(10_000), len(parts))
        run[topic] = dict(zip(parts, map(float, scores), strict=True))
    return qrels, run


def by_hand(run: Run) -> Run:
    """Each document with the score of its best chunk."""
    best: Run = {}
    for topic, chunks in run.items():
        best[topic] = {}
        for chunk, score in chunks.items():
            doc = chunk.split("#")[0]
            best[topic][doc] = max(score, best[topic].get(doc, score))
    return best


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_those_of_documents_with_their_best_chunk(seed: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = chunked(seed)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, set(PEER)).evaluate(by_hand(run))
    ours = uj.score(uj.load(qrels, {"run": run}, units="doc:#"), MEASURES)
    for name, measure in PEER.items():
        expected = [theirs[topic][name] for topic in ours.topics]
        assert ours.matrix(measure)[:, 0] == pytest.approx(expected, abs=1e-9), measure


def test_one_chunk_per_document_gives_the_classic_scores() -> None:
    """With ties, too: they are decided between documents."""
    qrels, run = chunked(1, most=1)
    tied = {topic: {chunk: round(score, -3) for chunk, score in chunks.items()} for topic, chunks in run.items()}
    plain = {topic: {chunk.split("#")[0]: score for chunk, score in chunks.items()} for topic, chunks in tied.items()}
    for ties in ("trec10", "trec9", "ascending", "file", "expected"):
        rolled = uj.score(uj.load(qrels, {"run": tied}, units="doc:#", ties=ties), MEASURES)
        assert (rolled.values == uj.score(uj.load(qrels, {"run": plain}, ties=ties), MEASURES).values).all()


def write(folder: Path, qrels: dict[str, dict[str, int]], run: Run) -> list[Path]:
    """The same run as TREC text (scattered), gz-less JSON, hits in order, and JSON lines."""
    lines = [f"{topic} Q0 {chunk} 1 {score} x\n" for topic, chunks in run.items() for chunk, score in chunks.items()]
    random.Random(0).shuffle(lines)
    (folder / "text.run").write_text("".join(lines))
    (folder / "object.json").write_text(json.dumps(run))
    hits = {topic: sorted(chunks, key=chunks.__getitem__, reverse=True) for topic, chunks in run.items()}
    (folder / "hits.json").write_text(json.dumps(hits))
    rows = [{"qid": t, "docno": d, "score": s} for t, chunks in run.items() for d, s in chunks.items()]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "qrels.txt").write_text("".join(f"{t} 0 {d} {g}\n" for t, docs in qrels.items() for d, g in docs.items()))
    return [folder / name for name in ("text.run", "object.json", "hits.json", "rows.jsonl")]


def test_every_format_is_put_together_alike(tmp_path: Path) -> None:
    qrels, run = chunked(7)
    files = write(tmp_path, qrels, run)
    scores = uj.score(uj.load(tmp_path / "qrels.txt", files, units="doc:#"), MEASURES)
    expected = uj.score(uj.load(qrels, {"run": by_hand(run)}), MEASURES)
    for place in range(len(files)):
        assert (scores.values[place] == expected.values[0]).all(), files[place].name
    lists = uj.load(tmp_path / "qrels.txt", files, units="doc:#").rankings
    documents = [sorted(docs, key=docs.__getitem__, reverse=True) for docs in by_hand(run).values()]
    judgments = uj.load(tmp_path / "qrels.txt", files, units="doc:#").judgments
    assert [lists.ids(judgments, cell) for cell in range(len(documents))] == documents


def test_a_stream_is_put_together_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    qrels, run = chunked(3)
    write(tmp_path, qrels, run)
    monkeypatch.chdir(tmp_path)
    command = ["score", "qrels.txt", "text.run", "-m", "AP,P@3", "--units", "doc:#", "--format", "tsv"]
    assert main(command) == 0
    from_file = capfd.readouterr().out
    with open("text.run") as text:  # noqa: PTH123 - becomes standard input
        monkeypatch.setattr("sys.stdin", text)
        assert main(["-" if word == "text.run" else word for word in command]) == 0
    assert capfd.readouterr().out == from_file.replace("text.run", "x")


QRELS = {"1": {"a": 1, "b": 0, "c": 2}}
RUN = {"1": ["b#1", "a#2", "b#3", "a#1", "c#9"]}
LENGTHS = {"b#1": 100, "a#2": 100, "b#3": 300, "a#1": 0, "c#9": 10}


@pytest.mark.parametrize(
    ("tokens", "documents"),
    [(99, None), (100, ["b"]), (199, ["b"]), (200, ["b", "a"]), (499, ["b", "a"]), (510, ["b", "a", "c"])],
)
def test_a_list_ends_before_the_first_chunk_that_does_not_fit(tokens: int, documents: list[str] | None) -> None:
    """`c#9` is short, but stands behind a chunk for which 499 tokens are too few."""
    if documents is None:
        with pytest.raises(uj.InputError, match="no list has a first chunk that fits into 99 tokens"):
            uj.load(QRELS, {"run": RUN}, units="doc:#", tokens=tokens, lengths=LENGTHS)
        return
    c = uj.load(QRELS, {"run": RUN}, units="doc:#", tokens=tokens, lengths=LENGTHS)
    assert c.rankings.ids(c.judgments, 0) == documents
    found = uj.score(c, "SetR").matrix("SetR")[0, 0]
    assert found == len({"a", "c"} & set(documents)) / 2


def test_a_topic_whose_first_chunk_does_not_fit_is_answered_with_an_empty_list() -> None:
    two = {"1": RUN["1"], "2": ["a#5"]}
    c = uj.load({"1": QRELS["1"], "2": {"a": 1}}, {"run": two}, tokens=200, lengths={**LENGTHS, "a#5": 999})
    assert c.hits.answered.tolist() == [True, True] and c.hits.length.tolist() == [2, 0]
    assert c.notes == (
        "run: no retrieved document is judged; 'unjudged check' tells whether the ids are those of the judgments",
    )


def test_judgments_of_chunks_become_those_of_documents_with_the_highest_grade() -> None:
    with pytest.warns(uj.DataWarning, match="4 judgments of chunks became 2 of documents"):
        c = uj.load({"1": {"a#1": 0, "a#2": 2, "b#1": -1, "b#2": 0}}, {"run": RUN}, units="doc:#")
    assert dict(zip(c.judgments.docs, c.judgments.grade.tolist(), strict=True)) == {"a": 2, "b": 0}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"units": "#"}, "units are given as doc:SEPARATOR"),
        ({"units": "doc:"}, "units are given as doc:SEPARATOR"),
        ({"units": "page:#"}, "units are given as doc:SEPARATOR"),
        ({"tokens": 5}, "needs the lengths"),
        ({"lengths": LENGTHS}, "needs the lengths"),
        ({"tokens": 0, "lengths": LENGTHS}, "positive number of tokens"),
        ({"tokens": 5, "lengths": {"b#1": 1}}, "no length is given for a#2"),
        ({"tokens": 5, "lengths": {"b#1": -1}}, "the length of b#1 is a number of tokens"),
        ({"tokens": 5, "lengths": LENGTHS, "ties": "expected"}, "exclude each other"),
        ({"units": "doc:#", "qa": True}, "answers have no chunks"),
    ],
)
def test_what_means_nothing_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises((uj.UsageError, uj.InputError), match=said):
        uj.load(QRELS, {"run": RUN}, **options)


def test_lengths_come_from_a_file_too(tmp_path: Path) -> None:
    table = "".join(f"{chunk}\t{length}\n" for chunk, length in LENGTHS.items())
    for name, text in (("plain.tsv", table), ("headed.tsv", f"id\ttokens\n{table}")):
        (tmp_path / name).write_text(text)
        c = uj.load(QRELS, {"run": RUN}, units="doc:#", tokens=200, lengths=tmp_path / name)
        assert c.rankings.ids(c.judgments, 0) == ["b", "a"]
        assert c.settings["units"] == "doc:#" and c.settings["tokens"] == 200
    (tmp_path / "wrong.tsv").write_text("a#1\t5\na#2\tlong\n")
    with pytest.raises(uj.InputError, match=r"wrong.tsv:2: the length of a#2 is a number of tokens, 0 or more"):
        uj.load(QRELS, {"run": RUN}, tokens=5, lengths=tmp_path / "wrong.tsv")


def test_a_separator_that_no_id_holds_is_told() -> None:
    with pytest.warns(uj.DataWarning, match="no id holds '/': every chunk counts as a document"):
        uj.load(QRELS, {"run": {"1": ["a", "b"]}}, units="doc:/")


def test_repeated_chunks_of_documents_are_no_fault(tmp_path: Path) -> None:
    """`--strict` refuses a chunk given twice, not two chunks of one document."""
    uj.load(QRELS, {"run": RUN}, units="doc:#", strict=True)
    (tmp_path / "twice.run").write_text("1 Q0 a#1 1 2 x\n1 Q0 a#1 2 1 x\n")
    with pytest.raises(uj.InputError, match="listed again"):
        uj.load(QRELS, str(tmp_path / "twice.run"), units="doc:#", strict=True)


CUT = ("R@60tokens", "recall@60tokens", "Recall@60tok", "RECALL@60_tokens")


@pytest.mark.parametrize("spelling", CUT)
def test_a_cut_off_in_tokens_is_a_measure(spelling: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By hand: chunks of 20 tokens, so three of them fit, the relevant one among four of two among them."""
    (tmp_path / "labels.json").write_text(json.dumps({"q": {"a": 1, "d": 1}}))
    (tmp_path / "run.json").write_text(json.dumps({"q": ["x", "a", "y", "d"]}))
    (tmp_path / "lengths.tsv").write_text("".join(f"{chunk}\t20\n" for chunk in "xayd"))
    files = [str(tmp_path / name) for name in ("labels.json", "run.json")]
    lengths = ["--lengths", str(tmp_path / "lengths.tsv")]
    assert main(["score", *files, *lengths, "-m", spelling]) == 0
    assert capsys.readouterr().out.split() == ["run", "R", "run", "0.5000"]
    assert main(["score", *files, *lengths, "-m", f"{spelling},RR@10@60tokens"]) == 0
    assert capsys.readouterr().out.split() == ["run", "R", "RR@10", "run", "0.5000", "0.5000"]
    for more, said in (
        ([spelling], "needs the lengths of the chunks: --lengths FILE"),
        ([f"{spelling},map", *lengths], "map is asked of whole lists"),
        ([f"{spelling},R@2ktokens", *lengths], "not at 60 and 2000"),
        ([spelling, "--tokens", "80", *lengths], "not at 60 and 80"),
    ):
        assert main(["score", *files, "-m", *more]) == 2
        assert said in capsys.readouterr().err
    with pytest.raises(uj.MeasureError, match="load them with tokens=60 and the lengths of the chunks, then ask for R"):
        uj.score(uj.load({"q": {"a": 1}}, {"run": {"q": ["a"]}}), [spelling])
