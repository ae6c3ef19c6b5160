"""Files of neighbouring tools: rank_eval, MTEB's and sentence-transformers' predictions, ir_metadata."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from files_of_tools import QRELS, RUN, request, response

import unjudged as uj
from unjudged.adapters import to_ir_metadata
from unjudged.errors import InputError
from unjudged.io import ir_metadata

MEASURES = "AP, nDCG@2, Judged@2"
EXPECTED = uj.score(uj.load(QRELS, {"run": RUN}), MEASURES).values.tolist()


def written(folder: Path, name: str, thing: object) -> Path:
    (folder / name).write_text(thing if isinstance(thing, str) else json.dumps(thing))
    return folder / name


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("scored", [True, False])
def test_rank_eval_request_and_response(tmp_path: Path, indent: int | None, scored: bool) -> None:
    qrels = written(tmp_path, "request.json", json.dumps(request(), indent=indent))
    run = written(tmp_path, "response.json", json.dumps(response(scored), indent=indent))
    assert uj.score(uj.load(qrels, run), MEASURES).values.tolist() == EXPECTED


def test_a_response_below_a_key_of_its_own(tmp_path: Path) -> None:
    """As OpenSearch's documentation shows it, with documents nobody rated and the details of the metric."""
    told = response()
    told["details"]["1"] |= {"unrated_docs": [{"_index": "books", "_id": "x"}], "metric_details": {"precision": {}}}
    run = written(tmp_path, "response.json", {"rank_eval": told})
    assert uj.score(uj.load(written(tmp_path, "q.json", request()), run), MEASURES).values.tolist() == EXPECTED
    with pytest.raises(InputError, match="needs an object 'details'"):
        uj.load(QRELS, written(tmp_path, "bad.json", '{"rank_eval": {"x": [{"details": 3, "hits": 4}]}}'))


def test_rank_eval_over_several_indices_keeps_them_apart(tmp_path: Path) -> None:
    asked, told = request(), response(index="books")
    asked["requests"][0]["ratings"].append({"_index": "films", "_id": "a", "rating": 0})
    c = uj.load(written(tmp_path, "q.json", asked), written(tmp_path, "r.json", told))
    assert "books/a" in list(c.judgments.docs) and "films/a" in list(c.judgments.docs)
    hit = told["details"]["1"]["hits"]
    hit.append({"hit": {"_index": "films", "_id": "zz", "_score": 0.1}})
    c = uj.load(written(tmp_path, "q.json", asked), written(tmp_path, "r.json", told))
    assert uj.score(c, "AP").values[0, 0, 0] == EXPECTED[0][0][0]


@pytest.mark.parametrize(
    ("thing", "told"),
    [
        ({"requests": [{"ratings": []}]}, "needs an id of its own"),
        ({"requests": [{"id": "1", "ratings": [{"rating": 1}]}]}, "needs an _id"),
        ({"requests": [{"id": "1", "ratings": [{"_id": "a", "rating": 1}, {"_id": "a", "rating": 2}]}]}, "two ratings"),
        ({"requests": [{"id": "1", "ratings": [{"_id": "a", "rating": "good"}]}]}, "not a whole number"),
    ],
)
def test_bad_requests_are_refused(tmp_path: Path, thing: object, told: str) -> None:
    with pytest.raises(InputError, match=told):
        uj.load(written(tmp_path, "q.json", thing), {"run": RUN})


def test_mteb_predictions(tmp_path: Path) -> None:
    meta = {"mteb_model_meta": {"model_name": "m", "revision": "1"}}
    run = written(tmp_path, "Task_predictions.json", {**meta, "default": {"test": RUN}})
    assert uj.score(uj.load(QRELS, run), MEASURES).values.tolist() == EXPECTED
    several = written(tmp_path, "two.json", {**meta, "default": {"test": RUN, "dev": RUN}})
    with pytest.raises(InputError, match="one split of one subset, found default/test, default/dev"):
        uj.load(QRELS, several)
    classes = written(tmp_path, "classes.json", {**meta, "default": {"test": [0, 1, 1]}})
    with pytest.raises(InputError, match="predictions of a retrieval task"):
        uj.load(QRELS, classes)
    means = written(tmp_path, "means.json", '{"task_name": "T", "scores": {"test": [{"ndcg_at_10": 0.5}]}}\n{}')
    with pytest.raises(InputError):
        uj.load(QRELS, means)


def test_sentence_transformers_predictions(tmp_path: Path) -> None:
    lines = [
        {"query_id": t, "query": "x", "results": [{"corpus_id": d, "score": s} for d, s in docs.items()]}
        for t, docs in RUN.items()
    ]
    run = written(tmp_path, "predictions.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    assert uj.score(uj.load(QRELS, run), MEASURES).values.tolist() == EXPECTED


def test_teams_from_ir_metadata(tmp_path: Path) -> None:
    text = "tag: one\nactor:\n  team: CMU\n---\ntag: two\nactor: {team: UMass}\nmethod: {retrieval: []}\n"
    path = written(tmp_path, "ir_metadata.yml", text)
    c = uj.load(QRELS, {"one": RUN, "two": RUN}, teams=path)
    assert c.teams == {"one": "CMU", "two": "UMass"}
    assert uj.load(QRELS, {"one": RUN, "two": RUN}, teams=tmp_path).teams == c.teams
    header = "# ir_metadata.start\n# tag: one\n# actor:\n#   team: CMU\n# ir_metadata.end\n1 Q0 a 1 2.0 one\n"
    run = written(tmp_path, "run.txt", header)
    assert ir_metadata.teams(run) == {"one": "CMU"}
    assert uj.load(QRELS, run, teams=run).teams == {"run.txt": "CMU"}
    path.unlink()
    written(tmp_path, "plain.txt", "1 Q0 a 1 2.0 one\n")
    assert uj.load(QRELS, {"one": RUN}, teams=tmp_path).teams == {"one": "CMU"}


def test_metadata_beside_the_runs_are_no_run(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for file in ("first.txt", "second.txt"):
        lines = [f"{t} Q0 {d} 0 {s} {file[0]}\n" for t, docs in RUN.items() for d, s in docs.items()]
        (runs / file).write_text("".join(lines))
    meta = "tag: f\nactor: {team: CMU, name: A}\ndate: 2026-01-02\n---\ntag: second.txt\nactor: {team: UMass}\n"
    written(runs, "ir_metadata.yml", meta)
    for given in (runs, str(runs / "*.txt")):
        c = uj.load(QRELS, given, teams=runs)
        assert c.runs == ("first.txt", "second.txt")
        assert c.teams == {"first.txt": "CMU", "second.txt": "UMass"}  # the first by the tag in its last column
    scores = uj.score(c, "AP")
    told = scores.provenance.to_dict()["settings"]["ir_metadata"]
    assert told[0] == {"tag": "f", "actor": {"team": "CMU", "name": "A"}, "date": "2026-01-02"}
    assert json.loads(scores.render("json"))["provenance"]["settings"]["ir_metadata"] == told
    only = uj.load(QRELS, str(runs / "second.txt"))
    assert "ir_metadata" not in uj.score(only, "AP").provenance.to_dict()["settings"]


def test_a_short_metadata_file_that_becomes_long_is_refused(tmp_path: Path) -> None:
    nested = "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(8))
    path = written(tmp_path, "ir_metadata.yml", f"tag: one\nactor: {{team: CMU}}\na: &a [x, x, x]\n{nested}")
    with pytest.raises(InputError, match="more than 10,000 values"):
        uj.load(QRELS, {"one": RUN}, teams=path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tag: [", "cannot be read"),
        ("- a\n", "an object"),
        ("\n", "no ir_metadata"),
        ("tag: one\n", "no tag with an actor"),
    ],
)
def test_bad_metadata_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        ir_metadata.teams(written(tmp_path, "ir_metadata.yml", text))


def test_metadata_are_written_and_read_back(tmp_path: Path) -> None:
    c = uj.load(QRELS, {"one": RUN, "zwei": RUN}, teams={"one": "CMU", "zwei": "Köln"})
    told = to_ir_metadata(uj.score(c, "AP, nDCG@10"), dict(c.teams))
    ir_metadata.write(tmp_path / "ir_metadata.yml", told)
    assert ir_metadata.read(tmp_path) == told and ir_metadata.teams(tmp_path) == c.teams
    goal = told[0]["research goal"]["evaluation"]
    assert (
        goal["reported measures"] == ["AP", "nDCG@10"] and goal["values"]["AP"] == uj.score(c, "AP").mean_values()[0, 0]
    )
