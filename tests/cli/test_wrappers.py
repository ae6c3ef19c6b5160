"""`python -m unjudged.trec_eval` (Pyserini's order of arguments), `python -m unjudged.tira`, and the Dockerfile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from docker_steps import ROOT, build, steps

import unjudged as uj
from unjudged import tira, trec_eval
from unjudged.cli import main

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 1\n"
RUN = "1 Q0 x 1 3.0 r\n1 Q0 a 2 2.0 r\n1 Q0 b 3 1.0 r\n2 Q0 y 1 1.0 r\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, text in (("qrels.txt", QRELS), ("run.txt", RUN)):
        (tmp_path / name).write_text(text)
    return [str(tmp_path / "qrels.txt"), str(tmp_path / "run.txt")]


def test_as_pyserini_calls_it(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert trec_eval.main(["-c", "-M", "100", "-m", "map", "-m", "P.1", *files]) == 0
    wrapped = capsys.readouterr().out
    assert main(["trec_eval", "-c", "-M100", "-mmap", "-mP.1", *files]) == 0
    assert wrapped == capsys.readouterr().out
    assert trec_eval.main(["-c", "-m", "judged.1,2", "-remove-unjudged", "-m", "map", *files]) == 0
    condensed = capsys.readouterr().out.splitlines()
    assert condensed == ["map                   \tall\t0.5000", *(f"judged_{k:<15}\tall\t1.0000" for k in (1, 2))]
    assert trec_eval.main(["-m", "judged.1,2", *files]) == 0  # by hand: 0 of 2, 1 of 3
    shown = [line.split("\t")[2] for line in capsys.readouterr().out.splitlines()]
    assert shown == ["0.0000", "0.3333"]
    with Path(files[1]).open("a") as run:
        run.write("9 Q0 x 1 3.0 r\n9 Q0 y 2 2.0 r\n")  # a topic without judgments: 0 of 3, 1 of 5
    assert trec_eval.main(["-m", "judged.1,2", *files]) == 0
    captured = capsys.readouterr()
    assert [line.split("\t")[2] for line in captured.out.splitlines()] == ["0.0000", "0.2000"] and captured.err == ""
    assert trec_eval.main(["-m", "judged.1,2", "-remove-unjudged", *files]) == 0
    assert [line.split("\t")[2] for line in capsys.readouterr().out.splitlines()] == ["1.0000", "1.0000"]
    assert trec_eval.main(["-m", "judged.x", *files]) == 2
    assert "judged takes cut-offs" in capsys.readouterr().err


def test_an_msmarco_run(tmp_path: Path, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "marco.tsv").write_text("1\tx\t1\n1\ta\t2\n1\tb\t3\n2\ty\t1\n")
    assert trec_eval.main(["-m", "map", files[0], str(tmp_path / "marco.tsv")]) == 0
    assert capsys.readouterr().out == "map                   \tall\t0.2500\n"


def test_tira(tmp_path: Path, files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert tira.main(["--run", str(tmp_path), "--truth", str(tmp_path), "--output", str(out), "-m", "AP, P@1"]) == 0
    means = uj.score(uj.load(*files), "AP, P@1").mean_values()[0]
    assert (out / "evaluation.prototext").read_text() == "".join(
        f'measure{{\n  key: "{name}"\n  value: "{value:.6f}"\n}}\n'
        for name, value in zip(("AP", "P@1"), means, strict=True)
    )
    assert (out / "per-topic.jsonl").read_text() == (
        '{"query_id": "1", "AP": 0.5, "P@1": 0.0}\n{"query_id": "2", "AP": 0.0, "P@1": 0.0}\n'
    )
    assert (out / "ir_metadata.yml").is_file()
    capsys.readouterr()
    (tmp_path / "empty").mkdir()
    assert (
        tira.main(["--run", str(tmp_path / "empty"), "--truth", str(tmp_path), "--output", str(tmp_path / "no")]) == 2
    )
    assert "one run (run.txt) is needed" in capsys.readouterr().err and not (tmp_path / "no").exists()


def test_the_dockerfile_copies_what_there_is() -> None:
    words = [step.word for step in steps(ROOT / "Dockerfile")]
    assert words[0] == "FROM" and "RUN" in words
    for step in steps(ROOT / "Dockerfile"):
        if step.word == "COPY" and "--from" not in step.text:
            assert all((ROOT / source).exists() for source in step.text.split()[:-1]), step


@pytest.mark.skipif(not os.environ.get("UNJUDGED_DOCKER_STEPS"), reason="takes a minute and a package index")
def test_the_steps_of_the_dockerfile_in_a_clean_environment(tmp_path: Path) -> None:
    stage = build(ROOT / "Dockerfile", tmp_path)
    stage.run("unjudged --version")
