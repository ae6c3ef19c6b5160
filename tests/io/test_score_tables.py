"""Score tables in every form give the same scores; what is wrong with one is said in a sentence."""

from __future__ import annotations

import json
import math
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unjudged as uj
from unjudged.cli import main
from unjudged.io.score_tables import Cells, read_file
from unjudged.measures.elsewhere import known_as

TOPICS = ["301", "302", "303", "304"]
VALUES = {
    "bm25": {"AP": [0.1, 0.25, 0.5, 1.0], "nDCG@10": [0.2, 0.3, 0.4, 0.5]},
    "dense": {"AP": [0.3, 0.0, 0.75, 0.5], "nDCG@10": [0.6, 0.1, 0.9, 0.25]},
}
LONG = [(r, t, m, VALUES[r][m][i]) for r in VALUES for i, t in enumerate(TOPICS) for m in VALUES[r]]


def frame(**names: str) -> pd.DataFrame:
    return pd.DataFrame(LONG, columns=["run", "topic", "measure", "value"]).rename(columns=names)


def check(scores: uj.Scores, measures: tuple[str, ...] = ("AP", "nDCG@10")) -> None:
    assert scores.runs == ("bm25", "dense") and scores.topics == tuple(TOPICS)
    for name in measures:
        assert scores.matrix(name).T.tolist() == [VALUES[run][name] for run in scores.runs]


def written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


def test_long_tables(tmp_path: Path) -> None:
    for mark, ending in ((",", "csv"), ("\t", "tsv"), (";", "txt")):
        path = tmp_path / f"scores.{ending}"
        frame().to_csv(path, index=False, sep=mark)
        check(uj.load_scores(path))
    frame(run="model", topic="task", measure="metric", value="score").to_csv(tmp_path / "a.csv", index=False)
    check(uj.load_scores(tmp_path / "a.csv"))
    frame().to_json(tmp_path / "s.jsonl", orient="records", lines=True)
    check(uj.load_scores(tmp_path / "s.jsonl"))
    frame().to_json(tmp_path / "s.json", orient="records")
    check(uj.load_scores(tmp_path / "s.json"))
    frame().to_parquet(tmp_path / "s.parquet")
    check(uj.load_scores(tmp_path / "s.parquet"))
    frame().assign(run=lambda f: f.run.astype("category")).to_parquet(tmp_path / "c.parquet")
    check(uj.load_scores(tmp_path / "c.parquet"))


def test_wide_tables(tmp_path: Path) -> None:
    by_measure = frame().pivot_table(index=["run", "topic"], columns="measure", values="value").reset_index()
    by_run = frame()[frame().measure == "AP"].pivot_table(index="topic", columns="run", values="value").reset_index()
    board = frame()[frame().measure == "AP"].pivot_table(index="run", columns="topic", values="value").reset_index()
    board["Average"] = board[TOPICS].mean(axis=1)
    for name, table in {"measure": by_measure, "run": by_run, "board": board}.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        table.to_parquet(tmp_path / f"{name}.parquet")
        for source in (tmp_path / f"{name}.csv", tmp_path / f"{name}.parquet", table):
            found = uj.load_scores(source)
            if name == "measure":
                check(found)
            else:
                assert found.matrix("score").T.tolist() == [VALUES[run]["AP"] for run in ("bm25", "dense")]
    assert uj.load_scores(tmp_path / "board.csv").notes == ("passed over, as no topic: Average",)


def test_frames_of_other_packages() -> None:
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    check(uj.load_scores(frame()))
    check(uj.load_scores(polars.from_pandas(frame())))
    check(uj.load_scores(arrow.Table.from_pandas(frame())))


def test_frames_that_were_turned_or_are_lazy() -> None:
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    check(uj.load_scores(frame().set_index(["run", "topic"])))
    check(uj.load_scores(polars.from_pandas(frame()).lazy()))
    check(uj.load_scores(arrow.Table.from_pandas(frame()).to_batches()[0]))
    one = frame()[frame().measure == "AP"]
    for turned in (
        one.pivot(index="topic", columns="run", values="value"),
        one.pivot(index="run", columns="topic", values="value"),
    ):
        found = uj.load_scores(turned)
        assert {
            t: dict(zip(found.runs, row, strict=True))
            for t, row in zip(found.topics, found.matrix("score"), strict=True)
        } == {t: {run: VALUES[run]["AP"][i] for run in VALUES} for i, t in enumerate(TOPICS)}


FACTS = "Rank (Borda),Model,Zero-shot,Memory Usage (MB),Number of Parameters (B),Embedding Dimensions,Max Tokens"
BOARD = f"""{FACTS},Mean (Task),NQ,FiQA
1,large,99%,,,3072,2048,61.5,64,59
2,small,98%,2167,0.56,1024,512,50.5,56,45
"""


def test_a_leaderboard_as_it_is_downloaded(tmp_path: Path) -> None:
    """Facts about the models and means over tasks are no tasks; nothing is said without a note."""
    board = written(tmp_path / "board.csv", BOARD)
    found = uj.load_scores(board)
    assert found.topics == ("NQ", "FiQA") and found.matrix("score").tolist() == [[64, 56], [59, 45]]
    assert found.notes[0].startswith("passed over, as no topic: Embedding Dimensions, Max Tokens, Mean (Task), Memory")
    table = uj.load_scores(pd.read_csv(board).drop(columns="Zero-shot"))
    assert table.topics == found.topics
    assert uj.load_scores(board, only=["FiQA"]).topics == ("FiQA",)


def test_a_table_of_markdown(tmp_path: Path) -> None:
    text = "| Model | NQ | Touche |\n|:---|--:|--:|\n| bm25 | 30.5 | 36.7 |\n| dense | 53.2 |  |\n"
    path = written(tmp_path / "README.md", text)
    with pytest.raises(uj.InputError, match=r"1 score of 4 is missing .runs dense; topics Touche."):
        uj.load_scores(path)
    read = uj.load_scores(path, missing="zero")
    assert (read.runs, read.topics, read.values.ravel().tolist()) == (
        ("bm25", "dense"),
        ("NQ", "Touche"),
        [30.5, 36.7, 53.2, 0.0],
    )


def test_exact_decimals(tmp_path: Path) -> None:
    """Numbers of databases: columns of DECIMAL type, in frames and Parquet."""
    exact = frame()
    exact["value"] = pd.Series([Decimal(str(v)) for v in exact.value], dtype=object)
    exact.to_parquet(tmp_path / "s.parquet")
    for source in (exact, pytest.importorskip("polars").from_pandas(exact), tmp_path / "s.parquet"):
        assert (uj.load_scores(source).values == uj.load_scores(frame()).values).all()


def test_only_these_topics(tmp_path: Path, capsys: Any) -> None:
    """Text in other columns, or scores missing there, do not matter then."""
    odd = written(tmp_path / "odd.csv", "model,1,2,12,note\na,0.5,0.25,,good\nb,0.5,1,0.25,bad\n")
    assert main(["compare", "--scores", str(odd)]) == 2
    assert "odd.csv:2: the score of topic note 'good' is not a number" in capsys.readouterr().err
    found = uj.load_scores(odd, only="1-5")
    assert found.topics == ("1", "2") and found.provenance.settings["only"] == "1-5"
    assert main(["compare", "--scores", str(odd), "--only", "1-5", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["difference"] == pytest.approx(-0.375)
    frame().to_parquet(tmp_path / "s.parquet")
    assert uj.load_scores(tmp_path / "s.parquet", only=TOPICS[1:3]).topics == tuple(TOPICS[1:3])
    for only, sentence in {"7": "no score of the topics asked for", "1,7": "no score of topic 7 in this table"}.items():
        assert main(["compare", "--scores", str(odd), "--only", only, "-o", str(tmp_path / "out")]) == 2
        assert sentence in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_options_that_need_judgments_are_refused(tmp_path: Path, capsys: Any) -> None:
    path = str(written(tmp_path / "s.csv", "topic,a,b\n1,0.5,0.25\n2,0.5,0.75\n"))
    for words in (["--ties", "file"], ["--truncate", "10"], ["--gains", "1:2"], ["--residual", path], ["--lenient"]):
        for verb in (["compare"], ["study", "ranks"], ["report", "-o", str(tmp_path / "out.html")]):
            assert main([*verb, "--scores", path, *words]) == 2
            assert f"{words[0]} needs judgments and runs, not a table of scores" in capsys.readouterr().err
    assert not (tmp_path / "out.html").exists()


def test_four_columns_of_autojudge(tmp_path: Path, capsys: Any) -> None:
    """What `score --format tot` writes can be read back; judgments in its place are told apart."""
    qrels = written(
        tmp_path / "qrels", "".join(f"{t} 0 {d} {g}\n" for t, docs in QRELS.items() for d, g in docs.items())
    )
    for name, lists in LISTS.items():
        written(tmp_path / name, "".join(f"{t} Q0 {d} 1 {s} x\n" for t, docs in lists.items() for d, s in docs.items()))
    tot = tmp_path / "runs.eval"
    assert (
        main(["score", str(qrels), str(tmp_path / "x"), str(tmp_path / "y"), "-q", "--format", "tot", "-o", str(tot)])
        == 0
    )
    found = uj.load_scores(tot)
    assert found.runs == ("x", "y") and np.allclose(found.matrix("AP").T, ours("AP"), atol=1e-12)
    assert main(["compare", "--scores", str(qrels)]) == 2
    assert "judgments or a run, not scores: without --scores" in capsys.readouterr().err


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["1", "x y"]), st.sampled_from(["AP", "P@5", "own"])),
        st.floats(-5, 5),
        min_size=1,
    ),
    st.randoms(use_true_random=False),
)
def test_any_table_comes_back_as_it_was_written(cells: dict[tuple[str, str, str], float], shuffled: Any) -> None:
    """Long, wide and as JSON, rows in any order: the same number in the same cell, NaN where there was none."""
    rows = [{"run": r, "topic": t, "measure": m, "value": v} for (r, t, m), v in cells.items()]
    shuffled.shuffle(rows)
    long = pd.DataFrame(rows)
    wide = long.pivot(index=["run", "topic"], columns="measure", values="value").reset_index()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("l.csv", "l.jsonl", "w.csv", "w.tsv")]
        paths[0].write_text(long.to_csv(index=False))
        paths[1].write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths[2].write_text(wide.to_csv(index=False))
        paths[3].write_text(wide.to_csv(index=False, sep="\t"))
        for path in paths:
            read = Cells(lambda name: known_as(name) is not None)
            read_file(str(path), read)
            table = read.table()
            found = {
                (r, t, m): table.values[i, j, k]
                for i, r in enumerate(table.runs)
                for j, t in enumerate(table.topics)
                for k, m in enumerate(table.measures)
            }
            assert {key: value for key, value in found.items() if value == value} == cells


def test_dicts_and_lists() -> None:
    by_run = {r: {m: dict(zip(TOPICS, v, strict=True)) for m, v in VALUES[r].items()} for r in VALUES}
    check(uj.load_scores(by_run))
    turned = {r: {t: {m: by_run[r][m][t] for m in by_run[r]} for t in TOPICS} for r in by_run}
    check(uj.load_scores(turned))
    one = uj.load_scores({r: by_run[r]["AP"] for r in by_run})
    assert one.matrix("score").T.tolist() == [VALUES[r]["AP"] for r in by_run]
    check(uj.load_scores({r: frame()[frame().run == r].drop(columns="run") for r in VALUES}))


QRELS = {"1": {"a": 1, "b": 2}, "2": {"c": 1}, "3": {"d": 1, "e": 1}}
LISTS = {
    "x": {"1": {"a": 9.0, "z": 8.0, "b": 7.0}, "2": {"d": 5.0, "c": 4.0}, "3": {"q": 3.0, "d": 2.0}},
    "y": {"1": {"b": 9.0, "a": 8.0}, "2": {"c": 5.0, "d": 4.0}, "3": {"d": 3.0, "q": 2.0, "e": 1.0}},
}


def ours(measure: str) -> list[list[float]]:
    return list(uj.score(uj.load(QRELS, LISTS), measure).matrix(measure).T.tolist())


def test_real_ir_measures(tmp_path: Path) -> None:
    """Their objects, their command line as TSV and JSON lines."""
    ir_measures = pytest.importorskip("ir_measures")
    from ir_measures import AP, nDCG

    metrics = {name: list(ir_measures.iter_calc([AP, nDCG @ 10], QRELS, run)) for name, run in LISTS.items()}
    found = uj.load_scores(metrics)
    assert found.runs == ("x", "y")
    for measure in ("AP", "nDCG@10"):
        assert np.allclose(found.matrix(measure).T, ours(measure), atol=1e-12)
    for name in LISTS:
        rows = [f"{m.query_id}\t{m.measure}\t{m.value:.4f}" for m in metrics[name]]
        (tmp_path / name).write_text("\n".join([*rows, "all\tAP\t0.5"]) + "\n")
        lines = [
            json.dumps({"query_id": m.query_id, "measure": str(m.measure), "value": m.value}) for m in metrics[name]
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    rounded = uj.load_scores([tmp_path / "x", tmp_path / "y"])
    assert np.allclose(rounded.matrix("nDCG@10"), found.matrix("nDCG@10"), atol=5e-5)
    assert (uj.load_scores([tmp_path / "x.jsonl", tmp_path / "y.jsonl"]).matrix("AP") == found.matrix("AP")).all()


@pytest.mark.filterwarnings("ignore")  # of numba, while it compiles
def test_real_ranx(tmp_path: Path) -> None:
    """Runs that ranx has evaluated, and their scores saved as JSON; names of measures we do not know stay theirs."""
    ranx = pytest.importorskip("ranx")
    runs = [ranx.Run(lists, name=name) for name, lists in LISTS.items()]
    for run in runs:
        ranx.evaluate(ranx.Qrels(QRELS), run, ["ndcg@10", "mrr"])
    found = uj.load_scores(runs)
    assert found.runs == ("x", "y") and [str(m) for m in found.measures] == ["nDCG@10", "mrr"]
    assert np.allclose(found.matrix("ndcg@10").T, ours("nDCG@10"), atol=1e-9)
    assert np.allclose(found.matrix("mrr").T, ours("RR"), atol=1e-9)
    saved = {run.name: {m: {q: float(v) for q, v in s.items()} for m, s in run.scores.items()} for run in runs}
    path = written(tmp_path / "ranx.json", json.dumps(saved, indent=1))
    assert (uj.load_scores(path).matrix("mrr") == found.matrix("mrr")).all()
    assert uj.compare(found).frame.measure.tolist() == ["nDCG@10", "mrr"]


def test_trec_eval_output(tmp_path: Path, capfdbinary: Any) -> None:
    """One file per run, and several runs in one file, told apart by their runid."""
    written(tmp_path / "qrels", "".join(f"{t} 0 {d} {g}\n" for t, docs in QRELS.items() for d, g in docs.items()))
    outputs = {}
    for name, lists in LISTS.items():
        lines = [f"{t} Q0 {d} 1 {s} {name}\n" for t, docs in lists.items() for d, s in docs.items()]
        written(tmp_path / f"{name}.run", "".join(lines))
        assert main(["trec_eval", "-q", str(tmp_path / "qrels"), str(tmp_path / f"{name}.run")]) == 0
        outputs[name] = capfdbinary.readouterr().out.decode()
        written(tmp_path / f"{name}.txt", outputs[name])
    together = written(tmp_path / "both.eval", "".join(outputs.values()))
    apart = uj.load_scores([tmp_path / "x.txt", tmp_path / "y.txt"])
    one = uj.load_scores(together)
    assert (apart.runs, one.runs) == (("x.txt", "y.txt"), ("x", "y"))
    for measure in ("AP", "nDCG", "P@5", "Rprec"):
        if measure in map(str, one.measures):
            assert np.allclose(one.matrix(measure).T, ours(measure), atol=5e-5)
            assert (one.matrix(measure) == apart.matrix(measure)).all()
    assert "AP" in map(str, one.measures)
    assert {row[2] for row in uj.compare(one).rows()} >= {"AP", "Rprec"}  # counts and geometric means are left out
    assert "GMAP" not in {row[2] for row in uj.compare(one).rows()}


BAD = {
    "text": ("run,topic,measure,value\na,1,AP,0.5\na,2,AP,good\n", "scores.csv:3: the AP 'good' is not a number"),
    "wide text": ("run,topic,AP\na,1,0.5\nb,1,x\n", "scores.csv:3: the AP 'x' is not a number"),
    "infinite": ("run,topic,measure,value\na,1,AP,inf\n", "scores.csv:2: the AP inf is not a finite number"),
    "twice": (
        "run,topic,measure,value\na,1,AP,0.5\nb,1,AP,0.5\na,1,AP,0.25\n",
        "scores.csv:4: a second AP of run a on topic 1 (the first: line 2)",
    ),
    "mismatched topics": (
        "run,topic,measure,value\na,1,AP,0.5\na,2,AP,0.5\nb,2,AP,0.5\nb,3,AP,0.5\n",
        "scores.csv: 2 scores of 6 are missing (runs a and b; topics 1 and 3): take --missing zero, drop-topics (1 "
        "stay) or drop-runs (0 stay)",
    ),
    "no topic": ("run,measure,value\na,AP,0.5\n", "scores.csv:1: columns run, topic, measure and value are needed"),
    "means": ("run,AP,P@10\na,0.5,0.4\n", "scores.csv:1: these are means of runs; scores of single topics are needed"),
    "means and facts": ("model,rank,AP,P@10\na,1,0.5,0.4\n", "scores.csv:1: these are means of runs; scores of single"),
    "a report of ranx": (
        '{"metrics": ["map"], "model_names": ["a"], "a": {"scores": {"map": 0.2}}}\n',
        "scores.csv: these are means of runs; scores of single topics are needed",
    ),
    "after a table of Markdown": ("|model|NQ|\n|---|---|\n|a|0.5|\nsome words\n", "scores.csv:4: a row of a Markdown"),
    "judgments": ("1 0 d1 1\n1 0 d2 0\n", "scores.csv:1: judgments or a run, not scores: without --scores"),
    "a run": (
        "1 Q0 d1 1 0.5 x\n",
        "scores.csv:1: judgments or a run, not scores: without --scores, give the judgments",
    ),
    "only all": ("run,topic,measure,value\na,all,AP,0.5\n", "scores.csv: only scores over all topics"),
    "fields": ("run,topic,measure,value\na,1,AP\n", "scores.csv:2: 3 fields, but 4 columns"),
    "empty id": ("run,topic,measure,value\na,,AP,0.5\n", "scores.csv:2: the topic is empty"),
    "nothing": ("\n", "scores.csv: no scores in this file"),
    "prose": ("these are no scores at all\n", "scores.csv:1: a line of trec_eval -q or ir_measures -q has 3 fields"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_tables(kind: str, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    """One sentence with file and line, exit code 2, nothing written."""
    monkeypatch.chdir(tmp_path)
    text, sentence = BAD[kind]
    written(tmp_path / "scores.csv", text)
    assert main(["compare", "--scores", "scores.csv", "-o", "out.txt"]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith(f"unjudged: {sentence}") and told.err.count("\n") == 1
    assert not Path("out.txt").exists()


def test_bad_parquet_names_the_row(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    frame().astype({"value": str}).assign(value=lambda f: f.value.replace("0.75", "x")).to_parquet(path)
    row = 1 + next(i for i, one in enumerate(LONG) if one[3] == 0.75)
    with pytest.raises(uj.InputError, match=f"row {row}: the value 'x' is not a number"):
        uj.load_scores(path)
    pd.concat([frame(), frame().iloc[[3]]]).to_parquet(path)
    with pytest.raises(uj.InputError, match=r"row 17: a second nDCG@10 of run bm25 on topic 302 .the first: row 4."):
        uj.load_scores(path)


def test_missing_rules() -> None:
    table = frame().drop(index=[2, 3])  # bm25 has no score on 302
    with pytest.raises(uj.InputError, match="2 scores of 16 are missing"):
        uj.load_scores(table)
    zero = uj.load_scores(table, missing="zero")
    assert zero.matrix("AP")[:, 0].tolist() == [0.1, 0.5, 1.0, 0.0] or 0.0 in zero.matrix("AP")[:, 0]
    topics = uj.load_scores(table, missing="drop-topics")
    assert set(topics.topics) == {"301", "303", "304"} and topics.runs == ("bm25", "dense")
    assert topics.notes == ("2 scores of 16 are missing; 1 topic left out for them",)
    runs = uj.load_scores(table, missing="drop-runs")
    assert runs.runs == ("dense",) and len(runs.topics) == 4
    blank = frame().assign(value=lambda f: f.value.where(f.index != 2, math.nan))
    assert len(uj.load_scores(blank, "nDCG@10").topics) == 4  # only the measure asked for counts
    with pytest.raises(uj.UsageError, match="unknown rule for missing scores 'drop'"):
        uj.load_scores(table, missing="drop")


def test_measures_by_any_name() -> None:
    scores = uj.load_scores(frame().replace({"AP": "map", "nDCG@10": "accuracy"}))
    assert [str(m) for m in scores.measures] == ["AP", "accuracy"]
    assert uj.compare(scores, "accuracy").frame.measure.tolist() == ["accuracy"]
    assert uj.compare(scores, "map, accuracy").frame.measure.tolist() == ["AP", "accuracy"]
    with pytest.raises(uj.UsageError, match=r"acuracy was not scored here .did you mean accuracy"):
        uj.compare(scores, "acuracy")
    with pytest.raises(uj.UsageError, match="P@10 was not scored here; there are AP, accuracy"):
        uj.compare(scores, "P@10")
    both = uj.load_scores(frame().replace({"nDCG@10": "map"}))  # two names of one measure: both stay as they are
    assert sorted(str(m) for m in both.measures) == ["AP", "map"]
    with pytest.raises(uj.MeasureError, match="known by the scores of a table alone"):
        uj.score(uj.load(QRELS, LISTS), scores.measures[1])


def test_table_and_collection_give_one_answer(tmp_path: Path) -> None:
    collection = uj.load(QRELS, LISTS)
    scores = uj.score(collection, "AP, nDCG@10")
    scores.to_csv(tmp_path / "s.csv")
    read = uj.load_scores(tmp_path / "s.csv")
    for study in ("compare", "power", "reliability", "agreement", "ranks", "winners", "stability"):
        here, there = (uj.study(study, source, measures="AP, nDCG@10", jobs=1) for source in (scores, read))
        assert list(here.rows()) == list(there.rows()) or here.frame.equals(there.frame)
    with pytest.raises(uj.UsageError, match=r"study depth needs judgments .uj.load.; scores are not enough"):
        uj.study("depth", read)
    beside = uj.study("depth", {"here": collection, "there": read}, measures="AP")
    assert any("this question needs judgments, and scores alone have none" in note for note in beside.notes)
    step = uj.compare(read, "AP").verdict.next  # type: ignore[union-attr]
    assert step is None or step.command[:4] == ("study", "reliability", "--scores", str(tmp_path / "s.csv"))


def test_which_source_is_meant(tmp_path: Path, capsys: Any) -> None:
    path = str(written(tmp_path / "s.csv", "topic,a,b\n1,0.5,0.25\n2,0.5,0.75\n"))
    for words, sentence in {
        ("compare", path): "RUN missing: give the judgments and the runs, or a score table (--scores",
        ("compare",): "QRELS and RUN missing: give the judgments and the runs, or a score table (--scores FILE)",
        ("compare", "q", "r", "--scores", path): "give QRELS RUN... or --scores FILE, not both",
        ("study", "power", "--scores", path, "--beside", "m"): "--scores stands instead of QRELS RUN...",
        ("study", "leave-team-out", "--scores", path): "study leave-team-out needs judgments (uj.load); scores are not",
        ("study", "noise", "--scores", path): "study noise needs judgments (uj.load); scores are not enough",
        ("compare", "--scores", path, "--baseline", "aa"): "no run is called 'aa'",
        ("compare", "--scores", path, "--unjudged", "condensed"): "unjudged='condensed' needs the collection",
    }.items():
        assert main(list(words)) == 2
        assert sentence in capsys.readouterr().err
