"""The mutation corpus: one clean collection, and one defect per kind with the sentence it must get.

`REFUSED` kinds stop the program with exit code 2, one line, no output file. `BORNE` kinds look hostile but are
legal: they score exactly as the clean files do, with the note named (or none).
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

QRELS = b"1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 a 0\n2 0 d 1\n2 0 e 1\n"
RUN = b"1 Q0 c 1 9.5 t\n1 Q0 x 2 8 t\n1 Q0 b 3 7.25 t\n2 Q0 e 1 3 t\n2 Q0 a 2 2 t\n2 Q0 y 3 1 t\n"
TEAMS = b"run\tteam\nrun.txt\tA\n"


@dataclass(frozen=True)
class Kind:
    """One defect: what it does to the folder of clean files, and what the program must say."""

    name: str
    make: Callable[[Path], object]
    says: str
    options: tuple[str, ...] = ()
    qrels: str = "qrels.txt"
    run: str = "run.txt"


def lay(folder: Path) -> None:
    """The clean collection."""
    (folder / "qrels.txt").write_bytes(QRELS)
    (folder / "run.txt").write_bytes(RUN)
    (folder / "teams.tsv").write_bytes(TEAMS)


def written(file: str, data: bytes) -> Callable[[Path], object]:
    """The file with other content."""

    def make(folder: Path) -> None:
        (folder / file).write_bytes(data)

    return make


def changed(file: str, old: bytes, new: bytes) -> Callable[[Path], object]:
    """The file with one place changed."""

    def make(folder: Path) -> None:
        clean = (folder / file).read_bytes()
        assert clean.count(old) >= 1, (file, old)
        (folder / file).write_bytes(clean.replace(old, new, 1))

    return make


def run_line(line: bytes) -> Callable[[Path], object]:
    """The run's third line replaced."""
    return changed("run.txt", b"1 Q0 b 3 7.25 t", line)


def qrels_line(line: bytes) -> Callable[[Path], object]:
    """The judgments' third line replaced."""
    return changed("qrels.txt", b"1 0 c 2", line)


def linked(target: str, name: str) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return make


def both(*steps: Callable[[Path], object]) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        for step in steps:
            step(folder)

    return make


def _swapped(folder: Path) -> None:
    (folder / "qrels.txt").write_bytes(RUN)
    (folder / "run.txt").write_bytes(QRELS)


def _folder_of(*names: str) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        (folder / "runs").mkdir()
        for name in names:
            path = folder / "runs" / name
            path.write_bytes(gzip.compress(RUN, mtime=0) if name.endswith(".gz") else RUN)

    return make


def _damaged(folder: Path) -> None:
    packed = bytearray(gzip.compress(RUN * 50, mtime=0))
    packed[len(packed) // 2] ^= 0xFF
    (folder / "run.txt").write_bytes(packed)


SCORE = r"run\.txt:3: .*score"
GZ = gzip.compress(RUN, mtime=0)

REFUSED = (
    # encodings and bytes
    Kind("UTF-16 with mark, run", written("run.txt", RUN.decode().encode("utf-16")), r"run\.txt:1: .*UTF-16"),
    Kind(
        "UTF-16 with mark, judgments", written("qrels.txt", QRELS.decode().encode("utf-16")), r"qrels\.txt:1: .*UTF-16"
    ),
    Kind("UTF-16 without mark", written("run.txt", RUN.decode().encode("utf-16-le")), r"run\.txt: .*binary"),
    Kind("UTF-32", written("run.txt", RUN.decode().encode("utf-32")), r"run\.txt.*(UTF-16|binary)"),
    Kind("NUL in the first line", changed("run.txt", b"c 1 9.5", b"c\0 1 9.5"), r"run\.txt: .*binary"),
    Kind("NUL bytes only", written("run.txt", b"\0" * 100), r"run\.txt: .*binary"),
    Kind("an executable", written("run.txt", b"\x7fELF\x02\x01\x01\0" + bytes(200)), r"run\.txt: .*binary"),
    Kind("carriage returns only, run", written("run.txt", RUN.replace(b"\n", b"\r")), r"run\.txt:1: .*carriage return"),
    Kind("carriage returns only, judgments", written("qrels.txt", QRELS.replace(b"\n", b"\r")), r"carriage return"),
    Kind("a zip archive", written("run.txt", b"PK\x03\x04" + bytes(60)), r"run\.txt: .*binary"),
    Kind("an HTML page", written("run.txt", b"<html><body>404 Not Found</body></html>\n"), r"run\.txt:1: "),
    Kind("a JSON error", written("run.txt", b'{"error": "no such run"}\n'), r"run\.txt"),
    # gz
    Kind("gz cut off", written("run.txt", GZ[:-12]), r"run\.txt: .*cut off"),
    Kind("gz cut in its header", written("run.txt", GZ[:5]), r"run\.txt: .*cut off"),
    Kind("gz with a flipped byte", _damaged, r"run\.txt: .*damaged"),
    Kind("gz followed by text", written("run.txt", GZ + b"more"), r"run\.txt: .*not gz"),
    Kind("gz of nothing", written("run.txt", gzip.compress(b"", mtime=0)), r"run\.txt: .*empty"),
    Kind("second gz member cut off", written("run.txt", GZ + GZ[:-9]), r"run\.txt: .*cut off"),
    # emptiness
    Kind("empty run", written("run.txt", b""), r"run\.txt: .*empty"),
    Kind("empty judgments", written("qrels.txt", b""), r"qrels\.txt: .*empty"),
    Kind("blank lines only", written("run.txt", b"\n \n\t\n"), r"run\.txt: no run lines"),
    Kind("comments only, run", written("run.txt", b"# nothing\n# here\n"), r"run\.txt: no run lines"),
    Kind("comments only, judgments", written("qrels.txt", b"# nothing\n"), r"qrels\.txt: no judgments"),
    # fields of a run line
    Kind("five fields", run_line(b"1 Q0 b 3 t"), r"run\.txt:3: .*field"),
    Kind("one field", run_line(b"1"), r"run\.txt:3: .*field"),
    Kind("commas between fields", run_line(b"1,Q0,b,3,7.25,t"), r"run\.txt:3: .*field"),
    Kind("last line cut off", written("run.txt", RUN[:-6]), r"run\.txt:6: .*field"),
    Kind("line cut inside its score", written("run.txt", RUN[:-10]), r"run\.txt:6: .*field"),
    # scores
    Kind("score NaN", run_line(b"1 Q0 b 3 NaN t"), SCORE),
    Kind("score -nan", run_line(b"1 Q0 b 3 -nan t"), SCORE),
    Kind("score hexadecimal", run_line(b"1 Q0 b 3 0x1p3 t"), SCORE),
    Kind("score with a decimal comma", run_line(b"1 Q0 b 3 7,25 t"), SCORE),
    Kind("score with a thousands mark", run_line(b"1 Q0 b 3 1_000 t"), SCORE),
    Kind("score with points and a comma", run_line(b"1 Q0 b 3 1.234,5 t"), SCORE),
    Kind("score with an apostrophe", run_line(b"1 Q0 b 3 1'000 t"), SCORE),
    Kind("score nan with a payload", run_line(b"1 Q0 b 3 nan(1) t"), SCORE),
    Kind("score infinity misspelt", run_line(b"1 Q0 b 3 infinite t"), SCORE),
    Kind("score a word", run_line(b"1 Q0 b 3 high t"), SCORE),
    Kind("score with a unit", run_line(b"1 Q0 b 3 7.25% t"), SCORE),
    Kind("score with two points", run_line(b"1 Q0 b 3 7.2.5 t"), SCORE),
    Kind("score an exponent alone", run_line(b"1 Q0 b 3 e5 t"), SCORE),
    Kind("score with an open exponent", run_line(b"1 Q0 b 3 7e t"), SCORE),
    Kind("score in Arabic digits", run_line("1 Q0 b 3 ٧ t".encode()), SCORE),
    Kind("score with a Unicode minus", run_line("1 Q0 b 3 −7 t".encode()), SCORE),
    Kind("score two signs", run_line(b"1 Q0 b 3 --7 t"), SCORE),
    # judgments
    Kind("judgment of three fields", qrels_line(b"1 c 2"), r"qrels\.txt:3: .*field"),
    Kind("grade a fraction", qrels_line(b"1 0 c 1.5"), r"qrels\.txt:3: .*grade"),
    Kind("grade a word", qrels_line(b"1 0 c relevant"), r"qrels\.txt:3: .*grade"),
    Kind("grade NaN", qrels_line(b"1 0 c nan"), r"qrels\.txt:3: .*grade"),
    Kind("grade too large for any integer", qrels_line(b"1 0 c 99999999999999999999"), r"qrels\.txt:3: .*grade"),
    Kind("grade beyond 32 bits", qrels_line(b"1 0 c 4294967297"), r"qrels\.txt:3: .*grade"),
    Kind("grade too far below zero", qrels_line(b"1 0 c -99999999999"), r"qrels\.txt:3: .*grade"),
    Kind("grade just too large", qrels_line(b"1 0 c 1000000001"), r"qrels\.txt:3: .*grade"),
    Kind("grade with a decimal comma", qrels_line(b"1 0 c 2,0"), r"qrels\.txt:3: .*grade"),
    Kind("grade without end", qrels_line(b"1 0 c inf"), r"qrels\.txt:3: .*grade"),
    Kind("grade in Arabic digits", qrels_line("1 0 c ٢".encode()), r"qrels\.txt:3: .*grade"),
    Kind("grade hexadecimal", qrels_line(b"1 0 c 0x2"), r"qrels\.txt:3: .*grade"),
    Kind("two grades for one document", qrels_line(b"1 0 a 2"), r"qrels\.txt:3: .*two grades"),
    Kind(
        "two grades, topic split across the file",
        changed("qrels.txt", b"2 0 e 1\n", b"2 0 e 1\n1 0 c 0\n"),
        r"two grades",
    ),
    Kind(
        "judgment twice, --strict", changed("qrels.txt", b"2 0 e 1\n", b"2 0 e 1\n2 0 e 1\n"), r"twice", ("--strict",)
    ),
    # the wrong file
    Kind("judgments and run swapped", _swapped, r"qrels\.txt:1: .*looks like a run"),
    Kind("the run given twice", lambda f: None, r"run\.txt:1: .*looks like a run", qrels="run.txt"),
    Kind("the judgments given twice", lambda f: None, r"qrels\.txt:1: .*(looks like judgments|field)", run="qrels.txt"),
    Kind(
        "no topic in common",
        written("run.txt", RUN.replace(b"1 Q0", b"91 Q0").replace(b"2 Q0", b"92 Q0")),
        r"no topic in common",
    ),
    # files and folders
    Kind("no such run", lambda f: None, r"absent\.txt: no such file", run="absent.txt"),
    Kind("no such judgments", lambda f: None, r"absent\.txt: no such file", qrels="absent.txt"),
    Kind("a folder as judgments", lambda f: (f / "folder").mkdir(), r"folder", qrels="folder"),
    Kind("a folder without runs", lambda f: (f / "folder").mkdir(), r"folder: .*no runs", run="folder"),
    Kind(
        "a folder of hidden files",
        both(_folder_of(), lambda f: (f / "runs/.run").write_bytes(RUN)),
        r"runs: .*no runs",
        run="runs",
    ),
    Kind("a pattern that matches nothing", lambda f: None, r"\*\.gz: no file matches", run="*.gz"),
    Kind("two runs of one name", _folder_of("r", "r.gz"), r"two runs are called r", run="runs"),
    Kind("a link to nowhere", linked("nowhere", "run.txt"), r"run\.txt: no such file"),
    Kind("a link to itself", linked("run.txt", "run.txt"), r"run\.txt: "),
    Kind("a name with a newline", lambda f: None, r"absent\\nrun: no such file", run="absent\nrun"),
    Kind("a name with an escape sequence", lambda f: None, r"\\x1b\[2J: no file matches", run="\x1b[2J"),
    Kind("an endless name", lambda f: None, r"[Ff]ile name too long", run="n" * 5000),
    # teams, topics, options
    Kind(
        "team line without a tab",
        written("teams.tsv", b"run\tteam\nrun.txt A\n"),
        r"teams\.tsv:2: .*TAB",
        ("--teams", "teams.tsv"),
    ),
    Kind(
        "run in two teams",
        written("teams.tsv", TEAMS + b"run.txt\tB\n"),
        r"teams\.tsv:3: .*two teams",
        ("--teams", "teams.tsv"),
    ),
    Kind("empty team file", written("teams.tsv", b""), r"teams\.tsv: .*empty", ("--teams", "teams.tsv")),
    Kind(
        "team XML with an entity",
        written("teams.tsv", b'<!DOCTYPE x [<!ENTITY a "b">]><x/>'),
        r"document type",
        ("--teams", "teams.tsv"),
    ),
    Kind(
        "team XML cut off",
        written("teams.tsv", b"<runs><run><tag>x</tag>"),
        r"teams\.tsv:1: .*XML",
        ("--teams", "teams.tsv"),
    ),
    Kind("topics that are not judged", lambda f: None, r"no judged topic matches '9'", ("--only", "9")),
    Kind("topics backwards", lambda f: None, r"no judged topic matches '2-1'", ("--only", "2-1")),
    Kind("gains that fall", lambda f: None, r"gains", ("--gains", "1:3,2:1")),
    Kind("gains that are no numbers", lambda f: None, r"gains", ("--gains", "1:x")),
    Kind("gains without end", lambda f: None, r"gains", ("--gains", "1:inf")),
    Kind("truncation to nothing", lambda f: None, r"truncat", ("--truncate", "0")),
    Kind("unknown tie rule", lambda f: None, r"trec10", ("--ties", "trec11")),
    Kind("misspelt measure", lambda f: None, r"nDCG", ("-m", "nDGC@10")),
    Kind("measure with an open bracket", lambda f: None, r"", ("-m", "P(rel=2")),
    Kind("measure with code inside", lambda f: None, r"", ("-m", "__import__('os').system('true')")),
    Kind("no threads", lambda f: None, r"jobs", ("--jobs", "0")),
)


def _padded(folder: Path) -> None:
    (folder / "run.txt").write_bytes(GZ + bytes(512))


def _twice_linked(folder: Path) -> None:
    (folder / "qrels.txt").rename(folder / "real")
    (folder / "near").symlink_to("real")
    (folder / "qrels.txt").symlink_to("near")


HALVES = (QRELS[:20], QRELS[20:])

BORNE = (
    Kind("byte-order mark, run", written("run.txt", b"\xef\xbb\xbf" + RUN), ""),
    Kind("byte-order mark, judgments", written("qrels.txt", b"\xef\xbb\xbf" + QRELS), ""),
    Kind(
        "CRLF",
        both(written("run.txt", RUN.replace(b"\n", b"\r\n")), written("qrels.txt", QRELS.replace(b"\n", b"\r\n"))),
        "",
    ),
    Kind("no newline at the end", both(written("run.txt", RUN[:-1]), written("qrels.txt", QRELS[:-1])), ""),
    Kind("tabs and runs of blanks", written("run.txt", RUN.replace(b" ", b"\t  ")), ""),
    Kind("leading and trailing blanks", written("run.txt", b"  " + RUN.replace(b"\n", b" \n ")), ""),
    Kind("blank lines between", written("run.txt", RUN.replace(b"\n", b"\n\n")), ""),
    Kind("a seventh field", changed("run.txt", b"9.5 t", b"9.5 t extra words"), ""),
    Kind("comments", written("run.txt", b"# ir_metadata.start\n" + RUN + b"# end\n"), ""),
    Kind("gz under a plain name", written("run.txt", GZ), ""),
    Kind("two gz members", written("run.txt", gzip.compress(RUN[:30], mtime=0) + gzip.compress(RUN[30:], mtime=0)), ""),
    Kind("gz padded with zeros", _padded, ""),
    Kind("judgments in two gz members", written("qrels.txt", b"".join(gzip.compress(half) for half in HALVES)), ""),
    Kind("negative grade", written("qrels.txt", QRELS + b"1 0 never-found -1\n"), ""),
    Kind("grade far below zero", written("qrels.txt", QRELS + b"2 0 never-found -1000000000\n"), ""),
    Kind(
        "topics split across the judgments",
        written("qrels.txt", b"".join(QRELS.splitlines(True)[i] for i in (0, 3, 1, 4, 2, 5))),
        "",
    ),
    Kind("minus infinity", changed("run.txt", b"y 3 1 t", b"y 3 -inf t"), ""),
    Kind("a link to a link to the judgments", _twice_linked, ""),
    Kind("infinite score", changed("run.txt", b"9.5", b"inf"), ""),
    Kind("huge exponent", changed("run.txt", b"9.5", b"1e308"), ""),
    Kind("vanishing score", changed("run.txt", b"y 3 1 t", b"y 3 1e-400 t"), ""),
    Kind("score of a thousand digits", changed("run.txt", b"9.5", b"9" * 1000), ""),
    Kind("plus signs and bare points", changed("run.txt", b"y 3 1 t", b"y 3 +.5 t"), ""),
    Kind("ranks that are no numbers", changed("run.txt", b"c 1 9.5", b"c first 9.5"), ""),
    Kind("a link to the run", both(lambda f: (f / "run.txt").rename(f / "real"), linked("real", "run.txt")), ""),
    Kind("unjudged id of a megabyte", changed("run.txt", b"x 2 8", b"x" * (1 << 20) + b" 2 8"), ""),
    Kind("ids that are HTML and shell", changed("run.txt", b"x 2 8", b"<script>$(rm)`;' 2 8"), ""),
    Kind("bytes that are not UTF-8", changed("run.txt", b"x 2 8", b"\xff\xfe\xfa 2 8"), ""),
    Kind(
        "topic split across the run",
        written("run.txt", b"".join(RUN.splitlines(True)[i] for i in (0, 3, 1, 4, 2, 5))),
        "",
    ),
    Kind("judgment given twice", changed("qrels.txt", b"2 0 e 1\n", b"2 0 e 1\n2 0 e 1\n"), r"given twice"),
    Kind(
        "document twice in a run",
        changed("run.txt", b"2 Q0 y 3 1 t\n", b"2 Q0 y 3 1 t\n2 Q0 y 4 0 t\n"),
        r"1 document listed again",
    ),
    Kind("topic outside the judgments", written("run.txt", RUN + b"9 Q0 a 1 1 t\n"), r"outside the judgments"),
    Kind("NaN, --lenient", written("run.txt", RUN + b"2 Q0 z 9 nan t\n"), r"1 unusable line skipped", ("--lenient",)),
    Kind(
        "five fields, --lenient", written("run.txt", RUN + b"2 Q0 z 9 t\n"), r"1 unusable line skipped", ("--lenient",)
    ),
)
