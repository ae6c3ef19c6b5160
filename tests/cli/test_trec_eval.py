"""`unjudged trec_eval` prints the bytes of trec_eval (see golden/trec_eval/README.md for where they come from)."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

from unjudged.cli import main

GOLDEN = ROOT / "tests" / "golden" / "trec_eval"

# Where we leave trec_eval on purpose (docs/trec_eval.md). Lines of this measure are not compared ...
OWN_LINES = ("rbp",)  # trec_eval 10 reads uninitialised memory
# ... and these cases (of both versions where no version is named) get one sentence instead of numbers ...
REFUSED = {
    "no_common": "the run holds NaN and 1e400 scores",
    "c_no_common": "the run holds NaN and 1e400 scores",
    "edge_q": "the run holds NaN and 1e400 scores",
    "edge_J_q": "the run holds NaN and 1e400 scores",
    "v9_float_grade": "grades are whole numbers here",
    "v10_rbp_p_gains": "the gain falls from grade 2 to grade 3, and rbp is not trec_eval's anyway",
    "v10_comments": "only a # at the very start of a line begins a comment; the file has an indented one",
}
# ... or numbers where trec_eval gives up.
ANSWERED = {
    "v10_missing_topic": "we average over the topics in both files, as its help says",
    "err_blank_qrels": "blank lines in judgments are fine here",
}


def among(name: str, listed: dict[str, str]) -> bool:
    return name in listed or name.split("_", 1)[1] in listed


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
    monkeypatch.chdir(GOLDEN)
    got = main(["trec_eval", *(["--as", "9"] if version == "9" else []), *arguments.split()])
    captured = capfdbinary.readouterr()
    if among(name, ANSWERED):
        assert code != "0" and got == 0 and captured.out.count(b"\tall\t")
        return
    if code != "0" or among(name, REFUSED):
        assert got == 2
        assert captured.out == b""
        assert captured.err.count(b"\n") == 1
        return
    assert got == 0

    def compared(text: bytes) -> list[bytes]:
        return [line for line in text.split(b"\n") if line.split(b" ")[0].split(b"_p=")[0].decode() not in OWN_LINES]

    expected = (GOLDEN / "out" / f"{name}.txt").read_bytes()
    assert compared(captured.out) == compared(expected)


@pytest.mark.parametrize(
    ("arguments", "same"),
    [
        (["-M", "3x", "-m", "num_ret"], ["-M3", "-m", "num_ret"]),  # as atol reads them
        (["-l", " 2.9", "-m", "map"], ["-l2", "-m", "map"]),
        (["-N1e3", "-m", "utility.0,0,0,1"], ["-N1", "-m", "utility.0,0,0,1"]),
        (["-M", "9" * 5000, "-l", "9" * 5000, "-m", "num_ret"], ["-l99", "-m", "num_ret"]),
    ],
)
def test_numbers_of_flags_are_read_as_far_as_they_go(
    arguments: list[str], same: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(GOLDEN)
    shown = []
    for flags in (arguments, same):
        assert main(["trec_eval", "-q", *flags, "qrels_common.txt", "run.txt"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] and shown[0]


def test_what_is_refused_names_no_option_the_verb_lacks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(GOLDEN)
    for files in (["qrels_float.txt", "run.txt"], ["qrels_common.txt", "run_edge.txt"]):
        assert main(["trec_eval", *files]) == 2
        told = capsys.readouterr().err
        assert told.startswith("unjudged: ") and told.count("\n") == 1 and "lenient" not in told


def test_what_surrounds_a_judgment_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Differences of docs/trec_eval.md: a fifth field, blank lines, comments, a byte-order mark."""
    plain = "1 0 a 1\n1 0 b 0\n"
    (tmp_path / "run").write_text("1 Q0 a 1 2.0 x\n1 Q0 b 2 1.0 x\n")
    shown = set()
    for text in (plain, plain.replace("\n", " more\n"), f"\ufeff{plain}", f"# a\n# b\n\n{plain}\n"):
        (tmp_path / "qrels").write_text(text, encoding="utf-8")
        assert main(["trec_eval", "-q", "-m", "all_trec", str(tmp_path / "qrels"), str(tmp_path / "run")]) == 0
        shown.add(capsys.readouterr().out)
    assert len(shown) == 1
    for score in ("0x10", "4,5", "4.0x", "nan"):
        (tmp_path / "run").write_text(f"1 Q0 a 1 {score} x\n")
        assert main(["trec_eval", str(tmp_path / "qrels"), str(tmp_path / "run")]) == 2
        assert f"run:1: the score '{score}' is not a" in capsys.readouterr().err


def printed(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """Name, topic and value of each line."""
    assert main(["trec_eval", *arguments, str(folder / "qrels"), str(folder / "run")]) == 0
    return [[field.strip(" ") for field in line.split("\t")] for line in capsys.readouterr().out.splitlines()]


def test_points_of_11pt_avg(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By hand: precision is 1 up to recall 0.5 and 0 above; a point that stands twice counts twice."""
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2.0 x\n")
    assert printed(["-m", "11pt_avg.0.5,.50,1"], tmp_path, capsys) == [["11pt_avg_0.5,.50,1", "all", "0.6667"]]
    # points are tried from the last to the first: 0.5 is reached, so that 1 before it has the best precision of all
    assert printed(["-m", "11pt_avg.1,0.5"], tmp_path, capsys) == [["11pt_avg_1,0.5", "all", "1.0000"]]


@pytest.mark.parametrize(("version", "expected"), [("10", "1.0000"), ("9", "0.0000")])
def test_points_of_recall_are_rounded_as_the_version_does(
    version: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By hand: 0.3 of 4 relevant documents is 1.2; version 10 asks for 1 of them, version 9 for 2. One is found."""
    (tmp_path / "qrels").write_text("".join(f"1 0 {doc} 1\n" for doc in "abcd"))
    (tmp_path / "run").write_text("1 Q0 a 1 2.0 x\n")
    asked = ["--as", version, "-m", "iprec_at_recall.0.3", "-m", "11pt_avg.0.3"]
    assert [line[2] for line in printed(asked, tmp_path, capsys)] == [expected, expected]


def test_names_of_gains_are_read_as_the_version_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By hand: version 10 passes over what is no whole number; to version 9, `1x` is grade 1 and `x` is grade 0."""
    (tmp_path / "qrels").write_text("1 0 a 0\n1 0 b 1\n1 0 c 2\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2.0 x\n")
    asked = ["-m", "ndcg.x=8,1x=9,+2=3"]
    assert printed(asked, tmp_path, capsys)[0][2] == "0.0000"  # gains 0, 1, 3
    ideal = 9 + 8 / math.log2(3) + 3 / 2
    assert printed(["--as", "9", *asked], tmp_path, capsys)[0][2] == f"{8 / ideal:.4f}"


def test_what_stands_in_for_a_missing_topic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By hand: trec_eval 10 looks at one document nobody judged; under measures' bare names it counts for nothing."""
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n2 0 b 0\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2.0 x\n")
    asked = ["dcg.-1=2", "relstring.2", "utility.2,-1,0,0.5", "rbp_resid.p=0.5"]
    bare = ["relstring", "utility", "rbp_resid"]

    def of_topic_2(measures: list[str], *flags: str) -> list[str]:
        lines = printed(["-q", "-c", *flags, *(f"-m{name}" for name in measures)], tmp_path, capsys)
        return [value for _, topic, value in lines if topic == "2"]

    assert of_topic_2(asked, "-N10") == ["'-'", "3.0000", "2.0000", "1.0000"]  # -1 + 0.5 * (10 - 1 - 1), 2 / log2(2)
    assert of_topic_2(bare) == ["''", "0.0000", "0.0000"]
    for flag in ("-J", "-M0"):  # which take it away
        assert of_topic_2(asked, flag, "-N10") == ["''", "4.5000", "0.0000", "0.0000"]


def test_rbp_resid_is_0_where_all_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By hand, p = 0.5: 0 for a judged list; else 0.5 for the unjudged first document and 0.25 for what follows two."""
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    (tmp_path / "run").write_text("".join(f"{t} Q0 {d} 1 {s} x\n" for t in (1, 2) for d, s in (("b", 2), ("a", 1))))
    assert [v for *_, v in printed(["-q", "-m", "rbp_resid.p=0.5"], tmp_path, capsys)] == ["0.0000", "0.7500", "0.3750"]


def test_numbers_beyond_all_measure_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2.0 x\n")
    for measure in ("iprec_at_recall.inf", "utility.1,nan,0,0", "ndcg.1=1e400", "Rprec_mult.-1e200", "set_F.0x1p9999"):
        assert main(["trec_eval", "-m", measure, str(tmp_path / "qrels"), str(tmp_path / "run")]) == 2
        assert "numbers go up to 1e+100" in capsys.readouterr().err


def test_nothing_over_nothing_in_rndcg(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With -l 0 a topic can have relevant documents without a gain; trec_eval prints its 0/0."""
    (tmp_path / "qrels").write_text("1 0 a 0\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2.0 x\n")
    assert main(["trec_eval", "-l0", "-m", "Rndcg", str(tmp_path / "qrels"), str(tmp_path / "run")]) == 0
    assert capsys.readouterr().out == "Rndcg                 \tall\t  -nan\n"


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
