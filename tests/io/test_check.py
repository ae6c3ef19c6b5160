"""`unjudged check`: each code on a small hand-made file, repairs that keep the scores, exit codes, refusals."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

from unjudged.cli import main
from unjudged.collection.load import read_collection
from unjudged.errors import UsageError
from unjudged.io.check.findings import CODES, FIXABLE, explain, many
from unjudged.io.check.inspection import RunCheck, check_qrels
from unjudged.io.check.repair import repair_qrels, repair_run
from unjudged.io.trec import Reading
from unjudged.results import FORMATS
from unjudged.scoring import score

MEASURES = ["AP", "nDCG@10", "P@10", "RR", "bpref", "Judged@10", "num_ret"]

QRELS = b"1 0 d01 1\n1 0 d02 0\n2 0 d01 2\n2 0 d03 0\n"


def listed(topic: str = "1", n: int = 12, tag: str = "r", first: int = 1) -> bytes:
    """A clean list of n documents."""
    return b"".join(
        f"{topic} Q0 d{i:02} {i - first + 1} {float(2000 - i)} {tag}\n".encode() for i in range(first, first + n)
    )


def run(tag: str = "r") -> bytes:
    return listed("1", tag=tag) + listed("2", tag=tag)


def other(tag: str) -> bytes:
    """A clean run that differs from `run`."""
    return listed("1", 11, tag) + listed("2", 11, tag)


def swap(text: bytes, old: bytes, new: bytes, times: int = 1) -> bytes:
    assert old in text
    return text.replace(old, new, times)


def call(
    folder: Path, files: dict[str, bytes], *options: str, missing: tuple[str, ...] = ()
) -> tuple[int, list[dict[str, str]]]:
    """Write the files and check them: exit code and findings."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    runs = [str(folder / name) for name in (*files, *missing) if name not in ("qrels", "teams")]
    teams = ["--teams", str(folder / "teams")] if "teams" in files else []
    out = folder / "findings.tsv"
    code = main(["check", str(folder / "qrels"), *runs, *teams, "--format", "tsv", "-o", str(out), *options])
    if code == 2:
        return code, []
    with out.open(newline="") as file:
        return code, list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


CUT = b"".join(b"1 0 LONG-NAME-%d%s 1\n1 0 no%d 0\n" % (i, b"x" * 9, i) for i in range(6))
CUT_RUN = b"".join(
    b"1 Q0 %b %d %d.5 r\n" % (d, i + 1, 50 - i)
    for i, d in enumerate([b"no1", *(b"LONG-NAME-%d" % i for i in range(6))])
)

# code, files (those not named are clean), line, count
CASES = [
    ("UJ100", {"r": b""}, "", 1),
    ("UJ100", {"r": b"# only a comment\n\n"}, "", 1),
    ("UJ100", {"r": gzip.compress(run() * 50)[:-20]}, "", 1),
    ("UJ100", {"r": b"\x7fELF\0\0\0\0\0"}, "", 1),
    ("UJ100", {"r": run().decode().encode("utf-16")}, "1", 1),
    ("UJ100", {"qrels": run()}, "1", 1),
    ("UJ101", {"r": run() + b"2 Q0 13 1 r\n2 Q0  0625 0156 r\n"}, "25", 2),
    ("UJ101", {"r": run() + b"2 Q0 d13 13 nan r\n"}, "25", 1),
    ("UJ101", {"r": b"1 Q0 d00 1 0x1F r\n1 Q0 d00 1 2,5 r\n1 Q0 d00 1 1_0 r\n" + run()}, "1", 3),
    ("UJ101", {"r": QRELS}, "1", 4),
    ("UJ102", {"r": run() + b"2 Q0 d03 13 1.5 r\n"}, "25", 1),
    ("UJ103", {"r": listed("1")}, "", 1),
    ("UJ104", {"r": run() + listed("3") + listed("4")}, "25", 2),
    ("UJ105", {"r": swap(run(), b"1995.0", b"1994.0")}, "5", 2),
    ("UJ106", {"r": swap(run(), b"d03 3 ", b"d03 2 ")}, "3", 1),
    ("UJ106", {"r": swap(swap(run(), b"d02 2 ", b"d02 x "), b"d01 1 ", b"d01 2 ")}, "2", 1),
    ("UJ106", {"r": swap(swap(swap(run(), b"d02 2", b"d02 0"), b"d03 3", b"d03 2"), b"d02 0", b"d02 3")}, "3", 1),
    ("UJ107", {"r": run("something")}, "1", 1),
    ("UJ107", {"r": listed("1") + listed("2", tag="r2")}, "13", 2),
    ("UJ108", {"r": swap(run(), b" Q0 ", b" Q1 ", 3)}, "1", 3),
    ("UJ109", {"r": listed("1", 1001) + listed("2", 1000)}, "1", 1),
    ("UJ110", {"r": listed("1", 30) + listed("2", 1)}, "31", 1),
    ("UJ110", {"r": other("r"), "s": listed("1", 5, "s") + listed("2", 5, "s")}, "", 2),
    ("UJ111", {"r": swap(run(), b" r\n", b" r rel\n", 2)}, "1", 2),
    ("UJ112", {"r": listed("1")[:120] + listed("2") + listed("1")[120:]}, "19", 1),
    ("UJ113", {"r": swap(run(), b"d05", b"d\xe9", 2)}, "5", 2),
    ("UJ114", {"r": run().replace(b" d", b" x")}, "", 24),
    ("UJ114", {"qrels": CUT, "r": CUT_RUN}, "", 6),
    ("UJ115", {"r": listed("1") + b"2 Q0 c 1 5 r\n2 Q0 b 2 5.0 r\n2 Q0 a 3 5 r\n"}, "13", 1),
    ("UJ116", {"r": swap(swap(run(), b"1999.0", b"inf"), b"1988.0", b"-1e999")}, "1", 2),
    ("UJ117", {"r": swap(run(), b"d01 1 ", b"d01 0 ")}, "1", 1),
    ("UJ118", {"r": listed("1") + b"2 Q0 b 2 4 r\n2 Q0 a 1 5 r\n"}, "14", 1),
    ("UJ121", {"qrels": QRELS + b"2 0 d04\n2 0 d05 0.5\n2 0 d06 9999999999\n"}, "5", 3),
    ("UJ122", {"qrels": QRELS + b"2 0 d03 0\n"}, "5", 1),
    ("UJ123", {"qrels": QRELS + b"2 0 d03 1\n2 0 d03 2\n"}, "5", 1),
    ("UJ124", {"qrels": swap(QRELS, b"2 0 d01 2", b"2 0 d01 0")}, "3", 1),
    ("UJ125", {"qrels": QRELS + b"2 0 d04 -2\n2 0 d05 -1\n"}, "5", 2),
    ("UJ126", {"qrels": swap(QRELS, b"2 0 d03 0", b"2 0 d03 1")}, "3", 1),
    ("UJ127", {"qrels": swap(QRELS, b"d02 0", b"d02 0 sure")}, "2", 1),
    ("UJ128", {"qrels": QRELS + b"1 0 d04 0\n1 0 d05 0\n"}, "5", 1),
    ("UJ131", {"r": run(), "r2": other("r")}, "1", 2),
    ("UJ132", {"r": run(), "s": run("s")}, "", 2),
    ("UJ133", {"teams": b"run\tteam\nq\tA\n", "q": other("q")}, "", 1),
    ("UJ134", {"teams": b"run\tteam\nr\tA\ns\tA\nt\tB\n"}, "", 2),
    ("UJ135", {"r": listed("01") + listed("02")}, "1", 2),
    ("UJ136", {"r": run(), "again/r.gz": gzip.compress(other("R"))}, "", 1),
]


@pytest.mark.parametrize(("code", "files", "line", "count"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)])
def test_each_code_alone(tmp_path: Path, code: Any, files: Any, line: Any, count: int) -> None:
    exit_code, found = call(tmp_path, {"qrels": QRELS, "r": run(), **files})
    assert [f["code"] for f in found] == [code]
    assert found[0]["severity"] == CODES[code].severity
    assert found[0]["count"] == str(count)
    assert found[0]["line"] == line
    assert Path(found[0]["file"]).exists()
    assert "{" not in found[0]["finding"] and "b'" not in found[0]["finding"]
    assert exit_code == (0 if CODES[code].severity == "info" else 1)


def test_ties_that_decide_a_score(tmp_path: Path) -> None:
    """d01 (relevant) and d02 (not) tied at the top of topic 1: AP of the topic is 1 or 1/2, the mean moves by 1/4."""
    exit_code, found = call(tmp_path, {"qrels": QRELS, "r": swap(run(), b"1998.0", b"1999.0")})
    assert [f["code"] for f in found] == ["UJ105", "UJ119"]
    assert "AP from 0.7500 to 1.0000" in found[1]["finding"]
    assert "P@10" not in found[1]["finding"]
    assert exit_code == 0


def test_every_code_has_a_case_and_an_explanation() -> None:
    answers = {f"UJ14{i}" for i in range(1, 7)}  # in test_check_answers.py
    assert {case[0] for case in CASES} | {"UJ119", "UJ120", "UJ137"} | answers == set(
        CODES
    )  # these have tests of their own
    for code in CODES:
        text = explain(code)
        assert text.startswith(f"{code}  {CODES[code].title}")
        assert len(text.split()) > 30
        assert all(len(line) <= 110 for line in text.splitlines())
    with pytest.raises(UsageError, match="UJ101"):
        explain("UJ199")


def test_clean_files_give_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"qrels": QRELS, "r": b"# ir_metadata.start\n" + run().replace(b" ", b"\t").replace(b"\n", b"\r\n")}
    files |= {"s": b"\xef\xbb\xbf\n" + other("s"), "teams": b"run\tteam\nr\tA\ns\tB\n"}
    assert call(tmp_path, files) == (0, [])
    assert capsys.readouterr().err.splitlines()[-1] == "0 errors, 0 warnings, 0 notes in 2 runs"
    assert main(["check", str(tmp_path / "qrels"), str(tmp_path / "r")]) == 0
    assert capsys.readouterr().out == ""


def test_a_bad_file_does_not_stop_the_others(tmp_path: Path) -> None:
    files = {"qrels": QRELS, "bad": b"\x1f\x8bjunk", "r": run() + b"2 Q0 d03 13 1.5 r\n"}
    code, found = call(tmp_path, files, missing=("missing", "no*match"))
    assert code == 1
    assert [(f["code"], Path(f["file"]).name) for f in found] == [
        ("UJ100", "bad"),
        ("UJ100", "missing"),
        ("UJ100", "no*match"),
        ("UJ102", "r"),
    ]
    code, found = call(tmp_path, {"qrels": b"", "r": run() + b"broken\n", "teams": b"nonsense"})
    assert [f["code"] for f in found] == ["UJ100", "UJ100", "UJ101"]


@pytest.mark.parametrize(
    ("qrels", "doc", "hint"),
    [
        (b"1 0 clueweb12-0001wb 1\n1 0 x 0\n", b"clueweb12-00", "ids look cut"),
        (b"1 0 msmarco_doc_7 1\n1 0 x 0\n", b"msmarco_doc_7#3", "ids are longer"),
        (b"1 0 FT911-1 1\n1 0 x 0\n", b"ft911-1", "upper and lower case"),
        (b"1 0 FT911-1 1\n1 0 x 0\n", b"123", "another collection"),
        (b"1 0 FT911-1 1\n1 0 x 0\n2 0 FT911-2 1\n2 0 x 0\n", b"FT911-2", "other topics"),
    ],
)
def test_foreign_ids_are_told_apart(tmp_path: Path, qrels: Any, doc: Any, hint: Any) -> None:
    _, found = call(tmp_path, {"qrels": qrels, "r": b"1 Q0 %b 1 2.5 r\n" % doc})
    (finding,) = [f for f in found if f["code"] == "UJ114"]
    assert hint in finding["finding"]


def test_long_fields(tmp_path: Path) -> None:
    long = b"9" * 5000  # more digits than int() takes
    text = swap(run(), b"d02 2 ", b"d02 %b " % long) + b"2 Q0 %b 13 oops r\n" % long
    _, found = call(tmp_path, {"qrels": QRELS + b"2 0 d04 %b\n" % long, "r": text})
    assert [f["code"] for f in found] == ["UJ101", "UJ121", "UJ106"]
    assert all(len(f["finding"]) < 200 for f in found)


def test_tie_across_rank_ten(tmp_path: Path) -> None:
    text = swap(run(), b"1989.0", b"1990.0")
    _, found = call(tmp_path, {"qrels": QRELS, "r": text})
    assert found[0]["finding"].startswith(
        "8.3% of the lines are tied within their topic, across ranks 10 and 11 in 1 topic"
    )


@pytest.mark.parametrize("format", FORMATS)
def test_formats(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], format: Any) -> None:
    (tmp_path / "qrels").write_bytes(QRELS)
    (tmp_path / "r").write_bytes(swap(run(), b"d05", b"d\xe9|&") + b"2 \xff 3\n")
    assert main(["check", str(tmp_path / "qrels"), str(tmp_path / "r"), "--format", format]) == 1
    captured = capsysbinary.readouterr()
    text = captured.out.decode("utf-8")
    assert "UJ101" in text and "UJ113" in text
    assert "xe9" in text and "d\\xe9" in text.replace("\\textbackslash{}", "\\").replace("\\\\", "\\")
    assert captured.err == b"1 error, 1 warning, 0 notes in 1 run\n"
    if format == "jsonl":
        rows = [json.loads(line) for line in text.splitlines()]
        assert list(rows[0]) == ["code", "severity", "file", "line", "count", "finding"]
        assert (rows[0]["line"], rows[0]["count"]) == (25, 1)


def test_absolute_and_relative_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_bytes(QRELS + b"bad\n")
    (tmp_path / "r").write_bytes(run() + b"bad\n")
    assert main(["check", str(tmp_path / "qrels"), "r"]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[2] for line in shown] == ["file", "r", str(tmp_path / "qrels")]


def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_bytes(QRELS)
    text = listed("1", 6) + listed("2") + listed("1", 6, first=7)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["check", str(tmp_path / "qrels"), "-"]) == 1
    out = capsys.readouterr().out
    assert "standard input" in out and "UJ112" in out and "UJ106" in out


def test_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_bytes(QRELS)
    for wrong in (["-", "-"], ["-", "--fix"], ["r", "--nonsense"], []):
        assert main(["check", str(tmp_path / "qrels"), *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


# -- repairs

MESSY = (
    b"# by hand\n\n"
    b"2\tQ0  d01   7   -1.50 r\r\n"
    b"1 Q1 b 1 10 r more\n"
    b"1 Q0 a 1 1e1 r\n"
    b"2 Q0 d02 0 nan r\n"
    b"1 Q0 c 5 11.0 r\n"
    b"1 Q0 a 9 12 r\n"
    b"1 Q0 short\n"
    b"2 Q0 d01 1 -1.5 r\n"
    b"7 Q0 z 3 inf r\n"
)
MENDED = (
    b"# by hand\n"
    b"2 Q0 d01 1 -1.50 r\n"
    b"1 Q0 a 1 12 r\n"
    b"1 Q0 c 2 11.0 r\n"
    b"1 Q0 b 3 10 r\n"
    b"7 Q0 z 1 inf r\n"
)  # fmt: skip


def test_fix_writes_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels = b"1 0 a 1\n2 0 d01 0\n1\t0  b  0 x\n1 0 a 1\nbad\n2 0 d02 1\n"
    code, found = call(tmp_path, {"qrels": qrels, "r.gz": gzip.compress(MESSY)}, "--fix")
    assert code == 1
    assert {f["code"] for f in found} & FIXABLE == FIXABLE
    assert (tmp_path / "r.fixed").read_bytes() == MENDED
    assert (tmp_path / "qrels.fixed").read_bytes() == b"1 0 a 1\n1 0 b 0\n2 0 d01 0\n2 0 d02 1\n"
    assert gzip.decompress((tmp_path / "r.gz").read_bytes()) == MESSY
    assert f"wrote {tmp_path / 'r.fixed'}" in capsys.readouterr().err
    assert same_scores(tmp_path / "qrels", tmp_path / "r.gz", tmp_path / "qrels.fixed", tmp_path / "r.fixed")
    shutil.copy(tmp_path / "qrels.fixed", tmp_path / "qrels")
    _, found = call(tmp_path, {"qrels": (tmp_path / "qrels.fixed").read_bytes(), "r.fixed": MENDED})
    assert not {f["code"] for f in found} & FIXABLE


def test_fix_leaves_alone_what_needs_no_repair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(tmp_path, {"qrels": QRELS, "r": run()}, "--fix") == (0, [])
    assert "nothing to repair" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.fixed"))


def test_fix_cannot_settle_two_grades(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = call(tmp_path, {"qrels": QRELS + b"2 0 d03 1\n2 0 d03 1\n", "r": run()}, "--fix")
    assert code == 1
    assert "not repaired: 1 document with two grades" in capsys.readouterr().err
    assert not (tmp_path / "qrels.fixed").exists()
    call(tmp_path, {"qrels": QRELS + b"2 0 d03 1\n2 0 d03 0\n", "r": run()}, "--fix")
    assert (tmp_path / "qrels.fixed").read_bytes() == QRELS + b"2 0 d03 1\n"


def test_fix_never_writes_over_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.fixed").write_bytes(b"mine")
    code, _ = call(tmp_path, {"qrels": QRELS, "r": MESSY, "s": MESSY}, "--fix")
    assert code == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert (tmp_path / "s.fixed").read_bytes() == b"mine"
    assert not (tmp_path / "r.fixed").exists() and not (tmp_path / "findings.tsv").exists()
    (tmp_path / "s.fixed").unlink()
    code, _ = call(tmp_path, {"qrels": QRELS, "r": MESSY, "r.gz": gzip.compress(MESSY)}, "--fix")
    assert code == 2
    assert "two files would be repaired as" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.fixed"))


def same_scores(qrels: Path, original: Path, fixed_qrels: Path, fixed: Path) -> bool:
    """Does the copy, read strictly, score as the original read leniently, to the bit?"""
    lenient = score(read_collection(str(qrels), [str(original)], Reading(lenient=True)), MEASURES)
    strict = score(read_collection(str(fixed_qrels), [str(fixed)], Reading(strict=True)), MEASURES)
    return all((lenient.matrix(m) == strict.matrix(m)).all() for m in MEASURES)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["1", "2", "3"]),
            st.sampled_from(["a", "b", "c", "d", "e", "\udce9"]),
            st.sampled_from(["1", "1.0", "10e-1", "-0", "0.0", "2", "inf", "nan", "x", "1_0", "0x2", "1e400"]),
        ),
        max_size=30,
    )
)
def test_fixed_copies_score_the_same(tmp_path_factory: Any, rows: Any) -> None:
    folder = tmp_path_factory.mktemp("fix")
    text = "".join(f"{topic} Q0 {doc} 1 {value} r\n" for topic, doc, value in [("1", "a", "0.5"), *rows])
    (folder / "r").write_bytes(text.encode("utf-8", "surrogateescape"))
    (folder / "q").write_bytes(b"1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 \xe9 1\n2 0 d 0\n2 0 e 1\n")
    (folder / "fixed").write_bytes(repair_run(str(folder / "r")))
    assert same_scores(folder / "q", folder / "r", folder / "q", folder / "fixed")
    assert repair_run(str(folder / "fixed")) == (folder / "fixed").read_bytes()
    assert repair_qrels(str(folder / "q")) == (folder / "q").read_bytes()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.lists(
            st.one_of(
                st.sampled_from(
                    [b"1", b"2", b"Q0", b"a", b"b", b"1.5", b"-inf", b"nan", b"r", b"#", b"1e", b"+-1", b"9" * 30]
                ),
                st.binary(max_size=4),
            ),
            max_size=8,
        ),
        max_size=12,
    )
)
def test_survives_anything_and_counts_as_the_reader(tmp_path_factory: Any, rows: Any) -> None:
    folder = tmp_path_factory.mktemp("any")
    text = b"1 Q0 a 1 0.5 r\n" + b"\n".join(b" ".join(row) for row in rows)
    (folder / "q").write_bytes(b"1 0 a 1\n1 0 b 0\n2 0 b 1\n2 0 c 0\n")
    (folder / "r").write_bytes(text)
    look = RunCheck(str(folder / "r"), check_qrels(str(folder / "q"))[1]).read()
    check_qrels(str(folder / "r"))
    if "UJ100" in look.tally.found:
        assert b"\0" in text
        return
    table = read_collection(str(folder / "q"), [str(folder / "r")], Reading(lenient=True))
    bad = look.tally.found.get("UJ101", (None, 0, ""))
    notes = [note.split(": ", 1)[1] for note in table.notes]
    assert [f"{many(bad[1], 'unusable line')} skipped"] * bool(bad[1]) == [
        n.split(",")[0] for n in notes if "unusable" in n
    ]
    assert ("UJ103" in look.tally.found) == any("not answered" in n for n in notes)
    assert ("UJ104" in look.tally.found) == any("outside the judgments" in n for n in notes)


TREC2 = {
    "UREKA3": {"UJ101", "UJ102", "UJ105", "UJ110", "UJ119"},
    "citymf": {"UJ102", "UJ105", "UJ106", "UJ108", "UJ109", "UJ111", "UJ115", "UJ117", "UJ118", "UJ119"},
    "uicah": {"UJ102", "UJ105", "UJ106", "UJ117", "UJ118", "UJ119"},
    "VTcms2": {"UJ105", "UJ106"},
    "prc2": {"UJ105", "UJ106", "UJ107", "UJ117"},
    "rutcomb1": {"UJ103", "UJ105"},
    "HNCad2": {"UJ108"},
}


@pytest.mark.skipif(not (DATA / "trec2-adhoc").is_dir(), reason="needs ../shared/data/trec2-adhoc")
@pytest.mark.parametrize("name", list(TREC2))
def test_real_runs(tmp_path: Path, name: Any) -> None:
    qrels = DATA / "trec2-adhoc" / "qrels.txt.gz"
    shutil.copy(DATA / "trec2-adhoc" / "runs" / f"{name}.gz", tmp_path)
    arguments = ["check", str(qrels), "--format", "jsonl", "-o", str(tmp_path / "out")]
    main([*arguments, str(tmp_path / f"{name}.gz"), "--fix"])
    found = {json.loads(line)["code"] for line in (tmp_path / "out").read_text().splitlines()}
    assert found == TREC2[name]
    fixed = tmp_path / f"{name}.fixed"
    assert fixed.exists() == bool(found & FIXABLE)
    if fixed.exists():
        main([*arguments, str(fixed)])
        again = {json.loads(line)["code"] for line in (tmp_path / "out").read_text().splitlines()}
        assert again == found - FIXABLE
        assert same_scores(qrels, tmp_path / f"{name}.gz", qrels, fixed)


SHIFTED = [
    (b" d03 3 ", b" d03 7 3 ", "7 fields, the tag is a number"),
    (b" d03 3 ", b" d 03 3 ", "the id's second half stands in the rank column"),
    (b" d03 3 ", b" d x 3 ", "and is no number there"),
    (b"1 Q0 d03", b"topic 1 Q0 d03", "a topic with a blank: its rank column holds the document"),
]


@pytest.mark.parametrize(("old", "new"), [case[:2] for case in SHIFTED], ids=[case[2] for case in SHIFTED])
@pytest.mark.parametrize("trailing", [b"", b" remark"], ids=["six fields", "seven fields"])
def test_a_blank_inside_an_id_is_told(tmp_path: Path, old: bytes, new: bytes, trailing: bytes) -> None:
    text = swap(run(), old, new).replace(b"\n", trailing + b"\n")
    _, found = call(tmp_path, {"qrels": QRELS, "r": text})
    told = [f for f in found if f["code"] == "UJ120"]
    assert [(f["line"], f["count"], f["severity"]) for f in told] == [("3", "1", "warning")]
    assert new.decode().strip() in told[0]["finding"]


@pytest.mark.parametrize("remark", [b" rel", b" 1", b" two words"])
def test_a_remark_behind_the_tag_is_no_shift(tmp_path: Path, remark: bytes) -> None:
    _, found = call(tmp_path, {"qrels": QRELS, "r": swap(run(), b" r\n", b" r" + remark + b"\n", 2)})
    assert [f["code"] for f in found] == ["UJ111"]


def test_a_number_for_a_tag_is_no_shift(tmp_path: Path) -> None:
    text = swap(run("7"), b" 7\n", b" 7 remark\n", 2)
    _, found = call(tmp_path, {"qrels": QRELS, "r7": text})
    assert "UJ120" not in [f["code"] for f in found]


def as_json(folder: Path, judged: dict[str, dict[str, int]], found: dict[str, Any]) -> dict[str, bytes]:
    """Judgments and a run as JSON."""
    return {"qrels": json.dumps(judged).encode(), "new.json": json.dumps(found).encode()}


def of(rows: list[dict[str, str]]) -> dict[str, str]:
    return {row["code"]: row["finding"] for row in rows}


OTHER_FORMATS = {
    "UJ103": ({"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}}, {"1": {"a": 2, "b": 1}}),
    "UJ104": ({"1": {"a": 1, "b": 0}}, {"1": {"a": 2, "b": 1}, "9": {"a": 1}}),
    "UJ105": ({"1": {"a": 1, "b": 0}}, {"1": {"a": 2, "b": 1, "c": 1}}),
    "UJ114": ({"1": {"a": 1, "b": 0}}, {"1": {"A": 2, "B": 1}}),
    "UJ115": ({"1": {"a": 1, "b": 0}}, {"1": {"a": 1, "b": 1, "c": 1}}),
    "UJ124": ({"1": {"a": 0}}, {"1": {"a": 2}}),
    "UJ125": ({"1": {"a": 1, "b": 0, "c": -1}}, {"1": {"a": 2}}),
    "UJ126": ({"1": {"a": 1}}, {"1": {"a": 2}}),
    "UJ135": ({"1": {"a": 1, "b": 0}}, {"x1": {"a": 2}}),
}


@pytest.mark.parametrize("code", OTHER_FORMATS)
def test_other_formats_are_looked_at_by_what_they_hold(code: str, tmp_path: Path) -> None:
    judged, found = OTHER_FORMATS[code]
    files = as_json(tmp_path, judged, found)
    _, rows = call(tmp_path, files)
    assert code in of(rows)
    lines = "".join(f"{t} 0 {d} {g}\n" for t, docs in judged.items() for d, g in docs.items())
    (tmp_path / "trec").mkdir()
    text = "".join(f"{t} Q0 {d} 1 {s} new\n" for t, docs in found.items() for d, s in docs.items())
    _, as_trec = call(tmp_path / "trec", {"qrels": lines.encode(), "new": text.encode()})
    only_lines = {"UJ106", "UJ117", "UJ118"}
    same = {code: said for code, said in of(as_trec).items() if code not in only_lines}
    assert of(rows).keys() == same.keys()


def test_a_clean_json_run_has_no_finding_and_hits_without_scores_are_read(tmp_path: Path) -> None:
    judged = {"1": {"a": 1, "b": 0}, "2": {"a": 1, "b": 0}}
    assert call(tmp_path, as_json(tmp_path, judged, {"1": ["a", "b"], "2": ["b", "a"]})) == (0, [])


def test_chunk_ids_are_told_with_the_option_that_puts_them_together(tmp_path: Path) -> None:
    code, rows = call(tmp_path, as_json(tmp_path, {"1": {"a": 1, "b": 0}}, {"1": ["a#1", "b#2"]}))
    assert code == 1 and "score takes --units doc:'#'" in of(rows)["UJ114"]


def test_an_unreadable_json_file_is_a_finding_and_the_others_are_looked_at(tmp_path: Path) -> None:
    files = as_json(tmp_path, {"1": {"a": 1, "b": 0}}, {"1": {"a": 2}}) | {"bad.json": b'{"1": {"a": '}
    code, rows = call(tmp_path, files)
    assert code == 1 and [(row["code"], Path(row["file"]).name) for row in rows] == [("UJ100", "bad.json")]


def test_a_beir_folder_is_checked(tmp_path: Path) -> None:
    (tmp_path / "data" / "qrels").mkdir(parents=True)
    (tmp_path / "data" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t0\n1\ta\t2\n")
    (tmp_path / "new.json").write_text('{"1": {"a": 1}}')
    assert main(["check", str(tmp_path / "data"), str(tmp_path / "new.json")]) == 1


def test_repairs_are_for_trec_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content in as_json(tmp_path, {"1": {"a": 1}}, {"1": {"a": 2}}).items():
        (tmp_path / name).write_bytes(content)
    assert main(["check", str(tmp_path / "qrels"), str(tmp_path / "new.json"), "--fix"]) == 2
    assert "--fix repairs TREC text; " in capsys.readouterr().err


def test_a_finding_of_many_files_takes_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text is for reading; tsv lists every file."""
    (tmp_path / "qrels").write_bytes(QRELS)
    for n in range(9):
        (tmp_path / f"run{n}").write_bytes(listed("1", tag=f"run{n}", n=12 - n))
    command = ["check", str(tmp_path / "qrels"), *(str(tmp_path / f"run{n}") for n in range(9))]
    assert main(command) == 1
    told = [line for line in capsys.readouterr().out.split("\n") if " UJ103 " in line]
    assert len(told) == 1 and "9 files, e.g. run0" in told[0]
    assert main([*command, "--format", "tsv"]) == 1
    assert capsys.readouterr().out.count("UJ103\t") == 9
