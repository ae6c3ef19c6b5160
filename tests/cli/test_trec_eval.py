"""`unjudged trec_eval` prints the bytes of trec_eval (see golden/trec_eval/README.md for where they come from)."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

from unjudged.cli import main

GOLDEN = ROOT / "tests" / "golden" / "trec_eval"

# Where we leave trec_eval on purpose (docs/trec_eval.md). Lines of these measures are not compared ...
OWN_LINES = ("rbp", "rbp_resid")  # trec_eval 10 reads uninitialised memory / loses p^L
# ... and these cases behave otherwise altogether.
OWN_CASES = {
    "missing_topic": "trec_eval 10 exits 4; we average over the topics in both files, as its help says",
    "no_common": "we refuse with one sentence",
    "c_no_common": "we refuse with one sentence",
    "ndcg_small_gains": "trec_eval compares gains as whole numbers",
    "ndcg_gain0": "a gain for grade 0 is not supported: unjudged and nonrelevant documents have none",
    "ndcg_gains": "trec_eval compares gains as whole numbers: 3 and 3.5 are equal to it",
    "float_grade": "grades are whole numbers here",
    "comments": "only a # at the very start of a line begins a comment; the file has an indented one",
    "M0": "an empty list is refused",
    "c_J_nan": "0/0 counts as 0 here",
    "edge_J_q": "0/0 counts as 0 here",
    "edge_q": "the run holds NaN and 1e400 scores, which are refused",
    "edge_J": "the run holds NaN and 1e400 scores, which are refused",
    "err_blank_qrels": "blank lines in judgments are fine here",
    "rbp_resid_c_param": "trec_eval 10 leaks its stand-in document for missing topics into three lines",
    "rbp_p_gains": "rbp takes p alone",
}


def cases() -> list[tuple[str, str, str, str]]:
    with (GOLDEN / "cases.tsv").open(newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    return [(row[0], row[1], row[2], row[3]) for row in rows]


@pytest.mark.parametrize(("name", "version", "arguments", "code"), cases(), ids=[c[0] for c in cases()])
def test_same_bytes(
    name: Any,
    version: Any,
    arguments: Any,
    code: Any,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    if name.split("_", 1)[1] in OWN_CASES:
        pytest.skip(OWN_CASES[name.split("_", 1)[1]])
    monkeypatch.chdir(GOLDEN)
    got = main(["trec_eval", *(["--as", "9"] if version == "9" else []), *arguments.split()])
    captured = capfdbinary.readouterr()
    if code != "0":
        assert got == 2
        assert captured.out == b""
        assert captured.err.count(b"\n") == 1
        return
    assert got == 0

    def compared(text: bytes) -> list[bytes]:
        return [line for line in text.split(b"\n") if line.split(b" ")[0].split(b"_p=")[0].decode() not in OWN_LINES]

    expected = (GOLDEN / "out" / f"{name}.txt").read_bytes()
    assert compared(captured.out) == compared(expected)


def test_means_are_added_in_the_order_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Ten topics with P@10 of 0.1 to 1.0: one after another in byte order, as trec_eval does, in double precision."""
    found = {str(topic): topic for topic in range(1, 11)}
    judged = [f"{topic} 0 d{i} {int(i < many)}\n" for topic, many in found.items() for i in range(10)]
    (tmp_path / "qrels").write_text("".join(judged))
    (tmp_path / "run").write_text("".join(f"{t} Q0 d{i} 0 {-i} x\n" for t in found for i in range(10)))
    (tmp_path / "z").write_text("".join(f"{t} P_10 0.0 1e-15\n{t} num_q 1 1\n" for t in found))
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert main(["trec_eval", "-Z", str(tmp_path / "z"), "-m", "P.10", "-m", "num_q", "-m", "gm_map", *files]) == 0
    total = 0.0
    for topic in sorted(found):
        total += (found[topic] / 10) / 1e-15  # so large that every digit shows
    shown = [line.split("\t")[2] for line in capsys.readouterr().out.splitlines()]
    assert shown == ["10.0000", "0.0000", f"{total / 10:6.4f}"]
