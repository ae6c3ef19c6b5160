"""Every format gives the same judgments, lists and scores as the same data in TREC text; bad input gets a sentence."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from places import ROOT

import unjudged as uj
from unjudged.collection import Collection, Judgments
from unjudged.errors import InputError, UsageError
from unjudged.io import formats, msmarco
from unjudged.io.trec import Reading
from unjudged.io.write import write_qrels, write_run

MEASURES = ["AP", "nDCG@5", "P@5", "RR", "bpref"]
Grades = dict[str, dict[str, int]]
Lists = dict[str, list[str]]


def _data() -> tuple[Grades, Lists]:
    draw = random.Random(5)
    grades: Grades = {}
    lists: Lists = {}
    for topic in ("301", "302", "303", "a-4"):
        pool = [f"D{draw.randrange(1000):03d}" for _ in range(30)]
        grades[topic] = {doc: draw.choice((0, 0, 0, 1, 2, 3)) for doc in pool[:20]}
        lists[topic] = list(dict.fromkeys(draw.sample(pool, 25)))
    return grades, lists


GRADES, LISTS = _data()


def trec_qrels(grades: Grades = GRADES) -> str:
    return "".join(f"{t} 0 {d} {g}\n" for t, docs in grades.items() for d, g in docs.items())


def trec_run(lists: Lists = LISTS) -> str:
    return "".join(f"{t} Q0 {d} {i} {100 - i} tag\n" for t, docs in lists.items() for i, d in enumerate(docs, 1))


def each_grade(form: str) -> str:
    return "".join(form.format(t=t, d=d, g=g) for t, docs in GRADES.items() for d, g in docs.items())


def each_hit(form: str) -> str:
    return "".join(form.format(t=t, d=d, r=i, s=100 - i) for t, docs in LISTS.items() for i, d in enumerate(docs, 1))


def nested_scores() -> dict[str, dict[str, float]]:
    return {t: {d: 100.5 - i for i, d in enumerate(docs)} for t, docs in LISTS.items()}


def columns(what: str, names: tuple[str, str, str]) -> dict[str, list[Any]]:
    rows: list[tuple[Any, ...]]
    if what == "qrels":
        rows = [(t, d, g) for t, docs in GRADES.items() for d, g in docs.items()]
    else:
        rows = [(t, d, 100.0 - i) for t, docs in LISTS.items() for i, d in enumerate(docs)]
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def put(folder: Path, name: str, content: str | bytes, zipped: bool = False) -> str:
    raw = content.encode() if isinstance(content, str) else content
    path = folder / (name + ".gz" * zipped)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(raw) if zipped else raw)
    return str(path)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    folder = tmp_path_factory.mktemp("plain")
    return uj.load(put(folder, "qrels", trec_qrels()), put(folder, "run", trec_run()))


def same(found: Collection, expected: Collection) -> None:
    """Equal judgments, lists and scores."""
    assert held(found.judgments) == held(expected.judgments)
    assert lists_of(found) == lists_of(expected)
    for measure in MEASURES:
        a, b = (uj.score(c, [measure]).matrix(measure) for c in (found, expected))
        np.testing.assert_array_equal(a, b)


def held(judgments: Judgments) -> dict[tuple[str, str], tuple[int, str]]:
    topics, iterations = list(judgments.topics), list(judgments.iterations)
    rows = zip(
        judgments.topic.tolist(), judgments.docs, judgments.grade.tolist(), judgments.stratum.tolist(), strict=True
    )
    return {(topics[t], d): (g, iterations[i]) for t, d, g, i in rows}


def lists_of(collection: Collection) -> list[list[str]]:
    cells = len(collection.rankings.offsets) - 1
    return [collection.rankings.ids(collection.judgments, cell) for cell in range(cells)]


QRELS_TEXT: dict[str, tuple[str, Callable[[], str]]] = {
    "msmarco": ("qrels.dev.tsv", lambda: each_grade("{t}\t0\t{d}\t{g}\n")),
    "beir": ("test.tsv", lambda: "query-id\tcorpus-id\tscore\n" + each_grade("{t}\t{d}\t{g}\n")),
    "beir-crlf": ("test.tsv", lambda: "query-id\tcorpus-id\tscore\r\n" + each_grade("{t}\t{d}\t{g}\r\n")),
    "tsv": ("q.tsv", lambda: "label\tdocno\titer\tqid\n" + each_grade("{g}\t{d}\t0\t{t}\n")),
    "jsonl": ("q.jsonl", lambda: each_grade('{{"topic": "{t}", "doc": "{d}", "grade": {g}}}\n')),
    "jsonl-beir": ("q", lambda: each_grade('{{"query-id": "{t}", "corpus-id": "{d}", "score": {g}.0}}\n')),
    "jsonl-irm": ("q.txt", lambda: "\n" + each_grade('{{"relevance":{g},"doc_id":"{d}","query_id":"{t}"}}\n\n')),
    "json": ("q.json", lambda: json.dumps(GRADES)),
    "json-pretty": ("q", lambda: "\ufeff" + json.dumps(GRADES, indent=2)),
    "ntcir": ("formal.qrels", lambda: each_grade("{t} {d} L{g}\n")),
}
RUN_TEXT: dict[str, tuple[str, Callable[[], str]]] = {
    "msmarco": ("run.tsv", lambda: each_hit("{t}\t{d}\t{r}\n")),
    "msmarco-crlf": ("run.tsv", lambda: each_hit("{t}\t{d}\t{r}\r\n")),
    "msmarco-odd": ("run.tsv", lambda: "# made by hand\n\n" + each_hit("{t}\t{d}\t{r}\n").rstrip()),
    "msmarco-zero": ("run.tsv", lambda: each_hit("{t}\t{d}\t{r}\n").replace("\t1\n", "\t0\n")),
    "jsonl": ("run.jsonl", lambda: each_hit('{{"topic": "{t}", "doc": "{d}", "score": {s}}}\n')),
    "jsonl-rank": ("run", lambda: each_hit('{{"qid": "{t}", "docno": "{d}", "rank": {r}, "run": "x"}}\n')),
    "json": ("run.json", lambda: json.dumps(nested_scores())),
    "json-pretty": ("run", lambda: json.dumps(nested_scores(), indent=1)),
    "tsv": ("run.tsv", lambda: "qid\tdocno\tscore\n" + each_hit("{t}\t{d}\t{s}e-1\n")),
    "tsv-rank": ("run.tsv", lambda: "rank\tqid\tdocno\n" + each_hit("{r}\t{t}\t{d}\n")),
}


class TestText:
    @pytest.mark.parametrize("zipped", [False, True], ids=["text", "gz"])
    @pytest.mark.parametrize("kind", QRELS_TEXT)
    def test_judgments(self, tmp_path: Path, plain: Collection, kind: str, zipped: bool) -> None:
        name, text = QRELS_TEXT[kind]
        same(uj.load(put(tmp_path, name, text(), zipped), put(tmp_path, "run", trec_run())), plain)

    @pytest.mark.parametrize("zipped", [False, True], ids=["text", "gz"])
    @pytest.mark.parametrize("kind", RUN_TEXT)
    def test_runs(self, tmp_path: Path, plain: Collection, kind: str, zipped: bool) -> None:
        name, text = RUN_TEXT[kind]
        found = uj.load(put(tmp_path, "qrels", trec_qrels()), put(tmp_path, name, text(), zipped))
        assert found.runs == (name.removesuffix(".jsonl").removesuffix(".json"),)
        assert not found.notes
        same(found, plain)

    @pytest.mark.parametrize("kind", [kind for kind in RUN_TEXT if not kind.startswith("json") or "l" in kind])
    def test_scattered_topics(self, tmp_path: Path, plain: Collection, kind: str) -> None:
        name, text = RUN_TEXT[kind]
        head, *lines = text().splitlines(keepends=True)
        if not kind.startswith("tsv"):
            lines, head = [head, *lines], ""
        lines = [line if line.endswith("\n") else line + "\n" for line in lines]
        random.Random(1).shuffle(lines)
        if kind.startswith("msmarco"):  # a rise somewhere near the beginning is what tells ranks from scores
            lines.sort(key=lambda line: not line.rstrip().endswith(("\t0", "\t1")))
        same(uj.load(put(tmp_path, "q", trec_qrels()), put(tmp_path, name, head + "".join(lines))), plain)

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["jsonl", "json", "msmarco"])
    def test_standard_input(self, tmp_path: Path, kind: str) -> None:
        qrels, (_, text) = put(tmp_path, "q", trec_qrels()), RUN_TEXT[kind]
        expected, found = (
            subprocess.run(
                [sys.executable, "-m", "unjudged", "score", qrels, "-", "-m", "AP", "-q", "--format", "tsv"],
                input=content.encode(),
                capture_output=True,
                check=True,
            ).stdout.decode()
            for content in (trec_run(), text())
        )
        assert found.replace("run\t", "tag\t") == expected.replace("run\t", "tag\t")

    @pytest.mark.slow
    def test_judgments_on_standard_input(self, tmp_path: Path) -> None:
        command = [sys.executable, "-m", "unjudged", "score", "-", put(tmp_path, "r", trec_run()), "--format", "tsv"]
        told = [
            subprocess.run(command, input=content.encode(), capture_output=True, check=True).stdout
            for content in (trec_qrels(), *(QRELS_TEXT[k][1]() for k in ("beir", "jsonl", "json", "ntcir")))
        ]
        assert len(set(told)) == 1

    def test_a_pipe_is_not_used_up_by_looking(self, tmp_path: Path) -> None:
        if not hasattr(os, "mkfifo"):
            pytest.skip("no named pipes on this system")
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        writer = subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'w').write({trec_qrels()!r})"])
        table = formats.read_qrels(str(pipe), Reading())
        writer.wait()
        assert len(table.docs) == sum(map(len, GRADES.values()))

    def test_ids_may_be_whole_numbers(self, tmp_path: Path) -> None:
        qrels = put(tmp_path, "q.jsonl", '{"topic": 1, "doc": 7, "grade": 1}\n')
        found = uj.load(qrels, put(tmp_path, "r.jsonl", '{"topic": "1", "doc": 7, "score": 0}\n'))
        assert held(found.judgments) == {("1", "7"): (1, "0")}
        assert lists_of(found) == [["7"]]

    def test_ids_may_hold_anything_in_json(self, tmp_path: Path) -> None:
        odd = {"a b\t\n": {"d e": 1, "new\nline": 2, "\udcff": 0, "日本": 1}}
        qrels, run = put(tmp_path, "q", json.dumps(odd)), put(tmp_path, "r", json.dumps(odd))
        found = uj.load(qrels, run)
        assert {d for _, d in held(found.judgments)} == set(odd["a b\t\n"])
        assert lists_of(found)[0][0] == "new\nline"
        lines = "".join(
            json.dumps({"topic": t, "doc": d, "score": s}) + "\n" for t, docs in odd.items() for d, s in docs.items()
        )
        assert lists_of(uj.load(put(tmp_path, "q.jsonl", lines), put(tmp_path, "r.jsonl", lines))) == lists_of(found)

    def test_bytes_that_are_not_utf8(self, tmp_path: Path) -> None:
        qrels = put(tmp_path, "q.tsv", b"query-id\tcorpus-id\tscore\n1\t\xff\xfe\t1\n")
        raw = {"run.tsv": b"1\t\xff\xfe\t1\n", "r.jsonl": b'{"topic": "1", "doc": "\xff\xfe", "score": 1}\n'}
        for name, content in raw.items():
            assert lists_of(uj.load(qrels, put(tmp_path, name, content))) == [["\udcff\udcfe"]]

    def test_iterations_are_kept(self, tmp_path: Path) -> None:
        lines = '{"topic": "1", "iteration": "s2", "doc": "a", "grade": -1}\n{"topic": "1", "doc": "b", "grade": 1}\n'
        table = formats.read_qrels(put(tmp_path, "q", lines), Reading())
        assert [list(table.iterations)[i] for i in table.iteration] == ["s2", "0"]
        assert table.line is not None and table.line.tolist() == [1, 2]

    def test_ties_truncation_and_duplicates_follow_the_one_rule(self, tmp_path: Path) -> None:
        qrels = put(tmp_path, "q", "1 0 a 1\n1 0 b 1\n")
        six = "".join(f"1 Q0 {d} 1 {s} t\n" for d, s in (("a", 2), ("b", 2), ("c", 1), ("a", 0)))
        jsonl = "".join(
            f'{{"qid":"1","docno":"{d}","score":{s}}}\n' for d, s in (("a", 2), ("b", 2), ("c", 1), ("a", 0))
        )
        three = "".join(f"1\t{d}\t{r}\n" for d, r in (("a", 1), ("b", 1), ("c", 2), ("a", 3)))
        for options in ({}, {"ties": "file"}, {"ties": "ascending"}, {"truncate": 2}):
            read = [
                uj.load(qrels, put(tmp_path, n, text), **options)
                for n, text in (("r", six), ("r.jsonl", jsonl), ("r.tsv", three))
            ]
            assert len({str(lists_of(c)) for c in read}) == 1
            assert len({tuple(n.partition(": ")[2] for n in c.notes) for c in read}) == 1
        for name, text in (("r.jsonl", jsonl), ("r.tsv", three)):
            with pytest.raises(InputError, match="listed again"):
                uj.load(qrels, put(tmp_path, name, text), strict=True)


class TestMsMarco:
    def test_pieces_are_cut_anywhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain: Collection) -> None:
        from unjudged.io import files

        path = put(tmp_path, "r.tsv", RUN_TEXT["msmarco"][1]())
        whole = files.read_all(path)
        for size in (1, 7, 64, 1000):
            cut = [whole[i : i + size] for i in range(0, len(whole), size)]
            monkeypatch.setattr(files, "chunks", lambda _, cut=cut: iter(cut))
            table = msmarco.read_run(path, plain.judgments.index, plain.judgments.topics, Reading(), "r")
            assert table.row.tolist() == plain.hits.row.tolist()
            assert table.rank.tolist() == plain.hits.rank.tolist()

    def test_array_and_line_readers_agree(self) -> None:
        draw = random.Random(3)
        for _ in range(300):
            text = b"".join(
                b"%d\tD%d\t%d\n" % (draw.randrange(3), draw.randrange(10**9), draw.randrange(2000))
                for _ in range(draw.randrange(1, 6))
            )
            rows = msmarco.Rows("r", Reading())  # type: ignore[attr-defined]
            assert msmarco._fast(text) == msmarco._slow(text, 0, rows)
            place = draw.randrange(len(text))
            spoilt = (
                text[:place] + draw.choice([b" ", b"\t", b"\n", b"x", b"\0", b"#", b"\r", b"-", b"\x0b"]) + text[place:]
            )
            fast = msmarco._fast(spoilt)
            lenient = msmarco.Rows("r", Reading(lenient=True))  # type: ignore[attr-defined]
            assert fast is None or (fast == msmarco._slow(spoilt, 0, lenient) and not lenient.skipped)

    def test_scores_in_the_third_column_are_refused(self, tmp_path: Path) -> None:
        qrels = put(tmp_path, "q", trec_qrels())
        with pytest.raises(InputError, match="falls like a score"):
            uj.load(qrels, put(tmp_path, "r.tsv", each_hit("{t}\t{d}\t{s}\n")))


class TestNtcireval:
    @pytest.mark.parametrize("zipped", [False, True], ids=["text", "gz"])
    @pytest.mark.parametrize("ends", [("", ""), (".rel", ".res")], ids=["bare", "suffixes"])
    @pytest.mark.parametrize("labelled", [False, True], ids=["list", "labelled"])
    def test_folders(
        self, tmp_path: Path, plain: Collection, zipped: bool, ends: tuple[str, str], labelled: bool
    ) -> None:
        for topic, docs in GRADES.items():
            put(tmp_path / "rel", topic + ends[0], "".join(f"{d} L{g}\n" for d, g in docs.items()), zipped)
        for topic, found in LISTS.items():
            labels = {d: f" L{g}" for d, g in GRADES[topic].items()} if labelled else {}
            put(tmp_path / "bm25", topic + ends[1], "".join(f"{d}{labels.get(d, '')}\n" for d in found), zipped)
        collection = uj.load(tmp_path / "rel", tmp_path / "bm25")
        assert collection.runs == ("bm25",)
        same(collection, plain)

    def test_a_folder_of_run_folders(self, tmp_path: Path, plain: Collection) -> None:
        for run in ("b", "a"):
            for topic, docs in LISTS.items():
                put(tmp_path / "runs" / run, f"{topic}.{run}.res", "\n".join(docs))
        qrels = put(tmp_path, "q", trec_qrels())
        assert uj.load(qrels, tmp_path / "runs").runs == ("a", "b")
        same(uj.load(qrels, {"mine": tmp_path / "runs" / "b"}), plain)

    @pytest.mark.parametrize("zipped", [False, True], ids=["text", "gz"])
    def test_its_own_layout(self, tmp_path: Path, plain: Collection, zipped: bool) -> None:
        for topic, docs in GRADES.items():
            put(tmp_path / topic, f"{topic}.rel", "".join(f"{d} L{g}\n" for d, g in docs.items()), zipped)
            for run in ("one", "t.wo"):
                put(tmp_path / topic, f"{topic}.{run}.res", "\n".join(LISTS[topic]), zipped)
        put(tmp_path / "303", "303.short.res", "D1\n", zipped)
        put(tmp_path / "302", "302.short.res", b"", False)
        collection = uj.load(tmp_path, tmp_path)
        assert collection.runs == ("one", "short", "t.wo")
        assert lists_of(collection)[4:8] == [[], [], ["D1"], []]
        same(uj.load(tmp_path, f"{tmp_path}/*/*.t.wo.res"), plain)

    def test_one_rel_file_is_one_topic(self, tmp_path: Path) -> None:
        table = formats.read_qrels(put(tmp_path, "0001.rel", "a L2\nb L0\n"), Reading())
        assert (list(table.topics), table.grade.tolist()) == (["0001"], [2, 0])

    def test_troubles(self, tmp_path: Path) -> None:
        put(tmp_path / "rel", "1.rel", "a L2\n")
        put(tmp_path / "rel", "2.rel", "a L2\nb 2\n")
        with pytest.raises(InputError, match=r"2\.rel:2: a judgment of NTCIREVAL is `doc L2`"):
            formats.read_qrels(str(tmp_path / "rel"), Reading())
        assert formats.read_qrels(str(tmp_path / "rel"), Reading(lenient=True)).notes
        put(tmp_path / "rel", "2.rel", "a L1\na L2\n")
        with pytest.raises(InputError, match="two grades in topic 2"):
            Judgments.of(formats.read_qrels(str(tmp_path / "rel"), Reading()))
        put(tmp_path / "run", "1.res", "a\nb c\n")
        with pytest.raises(InputError, match=r"1\.res:2: a ranked list"):
            uj.load(tmp_path / "rel" / "1.rel", tmp_path / "run")
        put(tmp_path / "trec", "qrels", trec_qrels())
        (tmp_path / "none").mkdir()
        for folder in ("trec", "none"):
            with pytest.raises(InputError, match="folder, a file is needed"):
                uj.load(tmp_path / folder, tmp_path / "run")


class TestSampleval:
    TEXT = "1 0 a 1 1\n1 0 b 1 0\n1 0 c 2 -1\n1 0 d 2 1\n"

    def test_the_stratum_is_the_iteration(self, tmp_path: Path) -> None:
        path = put(tmp_path, "q", self.TEXT, zipped=True)
        judgments = Judgments.of(formats.read_qrels(path, Reading(), "sampleval"))
        assert held(judgments) == {
            ("1", d): g for d, g in zip("abcd", [(1, "1"), (0, "1"), (-1, "2"), (1, "2")], strict=True)
        }

    def test_it_is_never_guessed(self, tmp_path: Path) -> None:
        table = formats.read_qrels(put(tmp_path, "q", self.TEXT), Reading())
        assert table.grade.tolist() == [1, 1, 2, 2]

    def test_troubles(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"q:2: a sampled judgment needs 5 fields"):
            formats.read_qrels(put(tmp_path, "q", "1 0 a 1 1\n1 0 a 1\n"), Reading(), "sampleval")
        with pytest.raises(InputError, match=r"q:1: the grade 'x' is not a whole number"):
            formats.read_qrels(put(tmp_path, "q", "1 0 a 1 x\n"), Reading(), "sampleval")
        with pytest.raises(UsageError, match=r"unknown format 'samplval' for judgments \(did you mean sampleval\?\)"):
            formats.read_qrels(put(tmp_path, "q", self.TEXT), Reading(), "samplval")


class TestFrames:
    NAMES = (
        ("topic", "doc", "grade"),
        ("q_id", "doc_id", "score"),
        ("query_id", "doc_id", "relevance"),
        ("qid", "docno", "label"),
    )

    @pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
    @pytest.mark.parametrize("names", NAMES, ids=lambda names: names[0])
    def test_in_memory(self, plain: Collection, kind: str, names: tuple[str, str, str]) -> None:
        module = pytest.importorskip(kind)
        make = module.table if kind == "pyarrow" else module.DataFrame
        same(uj.load(make(columns("qrels", names)), make(columns("run", (*names[:2], "score")))), plain)

    @pytest.mark.parametrize("names", (*NAMES, ("query-id", "corpus-id", "score")), ids=lambda names: names[0])
    def test_parquet(self, tmp_path: Path, plain: Collection, names: tuple[str, str, str]) -> None:
        pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
        qrels, run = tmp_path / "q.parquet", tmp_path / "noname"
        pandas.DataFrame(columns("qrels", names)).to_parquet(qrels)
        pandas.DataFrame(columns("run", (*names[:2], "score")) | {"other": 1}).to_parquet(run, index=False)
        found = uj.load(qrels, run)
        assert found.runs == ("noname",)
        same(found, plain)

    def test_parquet_kinds_of_columns(self, tmp_path: Path) -> None:
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        table = pa.table(
            {
                "topic": pa.array(["1", "1"]).dictionary_encode(),
                "doc": pa.array([5, 6], pa.int64()),
                "grade": pa.array([1.0, 0.0], pa.float32()),
            }
        )
        pq.write_table(table, tmp_path / "q.parq")
        assert held(uj.load(tmp_path / "q.parq", {"1": {"5": 1.0}}).judgments) == {
            ("1", "5"): (1, "0"),
            ("1", "6"): (0, "0"),
        }
        pq.write_table(pa.table({"topic": ["1"] * 2, "doc": ["5", "7"], "rank": [2, 1]}), tmp_path / "r.parq")
        assert lists_of(uj.load(tmp_path / "q.parq", tmp_path / "r.parq")) == [["7", "5"]]

    def test_parquet_that_expands(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """One long id a hundred thousand times is a small file and would be much memory."""
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        monkeypatch.setattr("unjudged.io.files.ALWAYS", 1_000_000)
        path, many = tmp_path / "x.parquet", 100_000
        doc = pa.DictionaryArray.from_arrays(pa.array([0] * many, pa.int32()), ["d" * 5000]).cast(pa.string())
        pq.write_table(pa.table({"topic": ["1"] * many, "doc": doc, "score": [1.0] * many}), path)
        size = path.stat().st_size
        assert size < 100_000
        with pytest.raises(InputError, match=r"unpacks to over \d+ MB"):
            uj.load({"1": {"a": 1}}, path)

    @pytest.mark.parametrize("reader", ["run", "scores"])
    def test_parquet_bombs_are_refused_before_they_are_unpacked(self, tmp_path: Path, reader: str) -> None:
        """One text of 300 MB in 10 kB; one of a megabyte 70,000 times in 2 kB; and many rows of one text."""
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        value = "score" if reader == "run" else "value"

        def table(doc: Any, many: int) -> Any:
            names = {"topic": pa.array(["1"] * many).dictionary_encode(), "doc" if reader == "run" else "run": doc}
            return pa.table({**names, value: [1.0] * many} | ({} if reader == "run" else {"measure": ["AP"] * many}))

        def repeated(text: str, many: int) -> Any:
            return pa.DictionaryArray.from_arrays(pa.array([0] * many, pa.int32()), pa.array([text]))

        bombs = {
            "long": table(pa.array(["x" * 300_000_000]), 1),
            "often": table(repeated("y" * 1_000_000, 70_000), 70_000),
        }
        if reader == "run":  # tables of scores are read piece by piece: many rows are no bomb there
            bombs["rows"] = table(repeated("z" * 100, 3_000_000), 3_000_000)
        for name, bomb in bombs.items():
            path = tmp_path / f"{name}.parquet"
            pq.write_table(bomb, path, compression="zstd")
            del bomb
            assert path.stat().st_size < 100_000
            with pytest.raises(InputError, match=r"unpacks to over \d+ MB"):
                uj.load({"1": {"a": 1}}, path) if reader == "run" else uj.load_scores(path)

    @pytest.mark.parametrize("wrong", ["twice", "lists", "objects"])
    def test_parquet_columns_that_are_no_columns(self, tmp_path: Path, wrong: str) -> None:
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        path = tmp_path / "x.parquet"
        topic = {"twice": ["1"], "lists": [["1"]], "objects": [{"id": "1"}]}[wrong]
        says = (
            "2 columns are called 'topic'"
            if wrong == "twice"
            else "column 'topic' holds (list|struct)<.*, not one value"
        )
        for names in (["doc", "grade"], ["doc", "score"], ["run", "measure", "value"]):
            columns = [
                pa.array(topic),
                *(
                    pa.array([1.0 if n == "score" else 1]) if n in ("grade", "score", "value") else pa.array(["AP"])
                    for n in names
                ),
            ]
            names = ["topic", *names]
            if wrong == "twice":
                columns, names = [*columns, columns[0]], [*names, "topic"]
            pq.write_table(pa.Table.from_arrays(columns, names=names), path)
            with pytest.raises(InputError, match=says):
                if "grade" in names:
                    uj.load(path, {"r": {"1": {"a": 1.0}}})
                elif "score" in names:
                    uj.load({"1": {"a": 1}}, path)
                else:
                    uj.load_scores(path)

    def test_parquet_troubles(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        path = tmp_path / "x.parquet"

        def refused(table: dict[str, list[Any]], match: str, what: str = "qrels") -> None:
            pq.write_table(pa.table(table), path)
            with pytest.raises(InputError, match=match) as told:
                uj.load(path, {"1": {"a": 1}}) if what == "qrels" else uj.load({"1": {"a": 1}}, path)
            assert str(path) in str(told.value)

        refused({"topic": ["1"], "dc": ["a"], "grade": [1]}, "no column for the document .*did you mean doc")
        refused({"topic": ["1", None], "doc": ["a", "b"], "grade": [1, 1]}, "row 2: topic ids are text, found None")
        refused({"topic": ["1"], "doc": ["a"], "grade": [0.5]}, "row 1: the grade 0.5 is not a whole number")
        refused({"topic": ["1"], "doc": ["a"], "grade": [None]}, "row 1: the grade None is not")
        refused({"topic": ["1"], "doc": ["a"], "score": [float("nan")]}, "row 1: the score nan is not a number", "run")
        refused({"topic": ["1"] * 2, "doc": ["a", "b"], "score": [1, 2], "run": ["x", "y"]}, "several runs", "run")
        pq.write_table(pa.Table.from_arrays([pa.array(["1"])] * 4, names=["topic", "doc", "score", "score"]), path)
        with pytest.raises(InputError, match="2 columns are called 'score'; keep one of them"):
            uj.load({"1": {"a": 1}}, path)
        path.write_bytes(b"PAR1 and then nothing")
        with pytest.raises(InputError, match="this Parquet file cannot be read"):
            uj.load(path, {"1": {"a": 1}})
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        with pytest.raises(UsageError, match=r"pip install 'unjudged\[parquet\]'"):
            uj.load(path, {"1": {"a": 1}})


@pytest.fixture
def registered() -> Iterator[str]:
    """A dataset that lives in memory; nothing is downloaded."""
    ir_datasets = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")
    from ir_datasets.formats import BaseQrels, BaseScoredDocs, GenericQrel, GenericScoredDoc

    class Qrels(BaseQrels):  # type: ignore[misc, unused-ignore]
        def qrels_iter(self) -> Iterator[Any]:
            return (GenericQrel(t, d, g) for t, docs in GRADES.items() for d, g in docs.items())

    class Scored(BaseScoredDocs):  # type: ignore[misc, unused-ignore]
        def scoreddocs_iter(self) -> Iterator[Any]:
            return (GenericScoredDoc(t, d, -float(i)) for t, docs in LISTS.items() for i, d in enumerate(docs))

    class Broken(BaseQrels):  # type: ignore[misc, unused-ignore]
        def qrels_iter(self) -> Iterator[Any]:
            raise OSError("no network here")

    parts: dict[str, list[Any]] = {
        "unjudged-test": [],
        "unjudged-test/all": [Qrels(), Scored()],
        "unjudged-test/broken": [Broken()],
    }
    for name, inside in parts.items():
        dataset = ir_datasets.Dataset(SimpleNamespace(metadata=dict), *inside)
        ir_datasets.registry._registered[name] = dataset
    yield "unjudged-test/all"
    for name in parts:
        del ir_datasets.registry._registered[name]


class TestDatasets:
    def test_by_id(self, registered: str, plain: Collection, tmp_path: Path) -> None:
        run = put(tmp_path, "run", trec_run())
        same(uj.load(f"irds:{registered}", run), plain)
        same(uj.load(registered, run), plain)
        found = uj.load(registered, f"irds:{registered}")
        assert found.runs == (registered,)
        assert found.sources == (f"irds:{registered}",) * 2
        same(found, plain)
        assert uj.load(registered, {"first": f"irds:{registered}"}).runs == ("first",)

    def test_a_file_comes_first(self, registered: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        put(tmp_path, registered, "1 0 a 1\n")
        monkeypatch.chdir(tmp_path)
        assert held(uj.load(registered, {"1": {"a": 1}}).judgments) == {("1", "a"): (1, "0")}

    def test_troubles(self, registered: str) -> None:
        run = {"1": {"a": 1.0}}
        with pytest.raises(InputError, match=r"knows no dataset 'unjudged-test/al' \(did you mean unjudged-test/all"):
            uj.load("irds:unjudged-test/al", run)
        with pytest.raises(InputError, match="has no judgments; unjudged-test/all, unjudged-test/broken have them"):
            uj.load("irds:unjudged-test", run)
        with pytest.raises(InputError, match=r"has no scored documents$"):
            uj.load(GRADES, "irds:unjudged-test/broken")
        with pytest.raises(InputError, match=r"cannot provide this \(no network here\)"):
            uj.load("irds:unjudged-test/broken", run)
        with pytest.raises(InputError, match="no such file"):
            uj.load("unjudged-test/nothing", run)

    def test_without_ir_datasets(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "ir_datasets", None)
        with pytest.raises(UsageError, match=r"pip install 'unjudged\[datasets\]'"):
            uj.load("irds:msmarco-passage/trec-dl-2019", {"1": {"a": 1.0}})
        with pytest.raises(InputError, match="no such file"):
            uj.load("msmarco-passage/trec-dl-2019", {"1": {"a": 1.0}})


BAD_QRELS = {
    "beir, few columns": (
        "q.tsv",
        "query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\n",
        3,
        "needs 3 columns between tabs, found 2",
    ),
    "beir, grade": ("q.tsv", "query-id\tcorpus-id\tscore\n1\ta\t0.5\n", 2, "the grade '0.5' is not a whole number"),
    "beir, empty id": ("q.tsv", "query-id\tcorpus-id\tscore\n1\t\t1\n", 2, "the document id is empty"),
    "beir, nothing": ("q.tsv", "query-id\tcorpus-id\tscore\n", None, "no judgments in this file"),
    "jsonl, not JSON": ("q", '{"topic": "1", "doc": "a", "grade": 1}\n{"topic": \n', 2, "this line is not JSON"),
    "jsonl, by name": ("q.jsonl", "nothing\n", 1, "this line is not JSON"),
    "jsonl, no object": ("q.jsonl", '{"topic": "1", "doc": "a", "grade": 1}\n[1]\n', 2, "needs an object like"),
    "jsonl, column": ("q.jsonl", '{"topic": "1", "doc": "a", "grde": 1}\n', 1, "no column for the grade .*mean grade"),
    "jsonl, later": (
        "q.jsonl",
        '{"topic": "1", "doc": "a", "grade": 1}\n{"topic": "1", "doc": "b", "rel": 1}\n',
        2,
        "no 'grade' here",
    ),
    "jsonl, id": ("q.jsonl", '{"topic": 1.5, "doc": "a", "grade": 1}\n', 1, "topic ids are text, found 1.5"),
    "jsonl, true": ("q.jsonl", '{"topic": true, "doc": "a", "grade": 1}\n', 1, "topic ids are text, found True"),
    "jsonl, grade": ("q.jsonl", '{"topic": "1", "doc": "a", "grade": "1"}\n', 1, "the grade '1' is not a whole"),
    "jsonl, grade true": ("q.jsonl", '{"topic": "1", "doc": "a", "grade": true}\n', 1, "the grade True is not a whole"),
    "jsonl, large": ("q.jsonl", '{"topic": "1", "doc": "a", "grade": 1e99}\n', 1, "is not a whole number"),
    "jsonl, surrogate": (
        "q.jsonl",
        '{"topic": "1", "doc": "\\ud800", "grade": 1}\n',
        1,
        r"the document id .*\\ud[8b].*cannot be written as text",
    ),
    "jsonl, deep": ("q.jsonl", '{"topic":' + "[" * 100000 + "\n", 1, "this line is not JSON"),
    "jsonl, two grades": (
        "q.jsonl",
        '{"topic": "1", "doc": "a", "grade": 1}\n\n{"topic": "1", "doc": "a", "grade": 2}\n',
        3,
        "document a has two grades",
    ),
    "json, damaged": ("q.json", '{"1": {"a": 1},\n"2": {"b": }}', 2, "this JSON cannot be read"),
    "json, list": ("q.json", "[1, 2]", 1, r"one object \{topic"),
    "json, grade": ("q.json", '{"1": {"a": 0.5}}', None, "topic '1', document 'a': the grade 0.5 is not"),
    "json, flat": ("q.json", '{"1":\n 2}', None, "topic '1' needs a dict of documents"),
    "json, twice": ("q.json", '{"1": {"a": 1, "a": 2}}', None, "the key 'a' appears twice"),
    "json, surrogate": (
        "q.json",
        '{"1": {"\\udbff": 1}}',
        None,
        r"the document id .*\\ud[8b].*cannot be written as text",
    ),
    "json, nothing": ("q.json", "{}", None, "no judgments"),
    "ntcir, level": ("q", "1 a L1\n1 b 2\n", 2, "a judgment of NTCIREVAL is"),
    "three columns": ("q", "1\ta\t1\n", 1, "needs 4 fields"),
}
BAD_RUNS = {
    "msmarco, rank": ("r.tsv", "1\ta\t1\n1\tb\t2.5\n", 2, "needs topic, doc and rank between tabs, found '1"),
    "msmarco, column": ("r.tsv", "1\ta\t1\n# comment\n1\tb\t2\t0.5\n", 3, "needs topic, doc and rank between tabs"),
    "msmarco, minus": ("r.tsv", "1\ta\t1\n1\tb\t-2\n", 2, "needs topic, doc and rank between tabs"),
    "jsonl, score": ("r", '{"topic": "1", "doc": "a", "score": "x"}\n', 1, "the score 'x' is not a number"),
    "jsonl, nan": ("r", '{"topic": "1", "doc": "a", "score": NaN}\n', 1, "the score nan is not a number"),
    "jsonl, null": ("r", '{"topic": "1", "doc": "a", "score": null}\n', 1, "the score None is not a number"),
    "jsonl, column": ("r", '{"topic": "1", "doc": "a", "grade": 1}\n', 1, "no column for the score"),
    "jsonl, two runs": (
        "r",
        '{"topic":"1","doc":"a","score":1,"run":"x"}\n{"topic":"1","doc":"b","score":1,"run":"y"}\n',
        2,
        r"several runs \(x, y\)",
    ),
    "jsonl, topics": ("r", '{"topic": "9", "doc": "a", "score": 1}\n', None, "no topic in common"),
    "json, score": ("r.json", '{"1": {"a": "x"}}', None, "topic '1', document 'a': the score 'x' is not a number"),
    "json, nan": ("r.json", '{"1": {"a": NaN}}', None, "document 'a': the score is NaN"),
    "tsv, score": ("r", "qid\tdocno\tscore\n1\ta\tnan\n", 2, "the score 'nan' is not a number"),
    "tsv, nothing": ("r", "qid\tdocno\tscore\n", None, "no run lines in this file"),
}


class TestTroubles:
    @pytest.mark.parametrize("zipped", [False, True], ids=["text", "gz"])
    @pytest.mark.parametrize("case", BAD_QRELS)
    def test_judgments(self, tmp_path: Path, case: str, zipped: bool) -> None:
        name, text, line, match = BAD_QRELS[case]
        self.refused(put(tmp_path, name, text, zipped), line, match, lambda path: uj.load(path, {"1": {"a": 1.0}}))

    @pytest.mark.parametrize("case", BAD_RUNS)
    def test_runs(self, tmp_path: Path, case: str) -> None:
        name, text, line, match = BAD_RUNS[case]
        self.refused(put(tmp_path, name, text), line, match, lambda path: uj.load({"1": {"a": 1}}, path))

    def refused(self, path: str, line: int | None, match: str, load: Callable[[str], Any]) -> None:
        with pytest.raises(InputError, match=match) as told:
            load(path)
        assert (told.value.source, told.value.line) == (path, line)
        assert "\n" not in str(told.value)

    @pytest.mark.parametrize("case", ["beir, few columns", "jsonl, not JSON", "jsonl, no object", "ntcir, level"])
    def test_lenient_judgments(self, tmp_path: Path, case: str) -> None:
        name, text, line, _ = BAD_QRELS[case]
        table = formats.read_qrels(put(tmp_path, name, text), Reading(lenient=True))
        assert len(table.docs) == 1
        assert table.notes[0].startswith(f"1 unusable line skipped, the first at line {line}: ")

    @pytest.mark.parametrize("case", ["msmarco, rank", "msmarco, column"])
    def test_lenient_runs(self, tmp_path: Path, case: str) -> None:
        name, text, line, _ = BAD_RUNS[case]
        found = uj.load({"1": {"a": 1}}, put(tmp_path, name, text), lenient=True)
        assert f"1 unusable line skipped, the first at line {line}: a run line" in found.notes[0]
        assert lists_of(found) == [["a"]]

    def test_lenient_columns(self, tmp_path: Path) -> None:
        text = '{"topic": "1", "doc": "a", "score": 1}\n{"topic": "1", "dc": "b", "score": 1}\n'
        found = uj.load({"1": {"a": 1}}, put(tmp_path, "r", text), lenient=True)
        assert "line 2: no 'doc' here, which the first line has for the document" in found.notes[0]

    def test_what_is_not_recognised_is_trec(self, tmp_path: Path) -> None:
        for name, run in (("bm25.json", "bm25"), ("bm25.jsonl", "bm25"), ("bm25.tsv", "bm25.tsv")):
            assert uj.load(GRADES, put(tmp_path, name, trec_run())).runs == (run,)
        with pytest.raises(InputError, match="needs 6 fields"):
            uj.load(GRADES, put(tmp_path, "r", "301 D1 1\n"))
        with pytest.raises(InputError, match="this file is empty"):
            uj.load(GRADES, put(tmp_path, "r.jsonl", ""))

    @pytest.mark.slow
    def test_random_bytes_get_a_sentence(self, tmp_path: Path) -> None:
        draw = random.Random(11)
        texts = [text().encode() for _, text in (*QRELS_TEXT.values(), *RUN_TEXT.values())]
        for i in range(400):
            raw = bytearray(draw.choice(texts)[: draw.randrange(1, 400)])
            for _ in range(draw.randrange(4)):
                raw[draw.randrange(len(raw))] = draw.randrange(256)
            path = put(tmp_path, draw.choice(["x", "x.json", "x.jsonl", "x.tsv"]), bytes(raw), zipped=i % 3 == 0)
            for load in (lambda p: uj.load(p, {"301": {"a": 1.0}}), lambda p: uj.load(GRADES, p)):
                try:
                    load(path)  # type: ignore[no-untyped-call]
                except (InputError, UsageError) as told:
                    assert str(told)


class TestWriting:
    SUFFIX = (("trec", ""), ("trec", ".gz"), ("jsonl", ""), ("jsonl", ".jsonl.gz"), ("parquet", ".parquet"))

    @pytest.fixture
    def odd(self, tmp_path: Path) -> Collection:
        """Scattered topics, negative grades, iterations, duplicates, ties, ids that are not UTF-8."""
        qrels = put(tmp_path, "q", b"2 s1 b 1\n1 0 \xff\xe9 2\n2 s2 c -1\n1 0 a 0\n1 0 a 0\n\xe9 0 x 1\n")
        run = b"1 Q0 z 1 1 T\n1 Q0 \xff\xe9 2 1 T\n1 Q0 \xfe 3 5 T\n2 Q0 c 1 1 T\n2 Q0 c 1 1 T\n"
        run += b"\xe9 Q0 q 1 1 T\n9 Q0 q 1 1 T\n"
        return uj.load(qrels, [put(tmp_path, "first", trec_run({"1": ["a"]})), put(tmp_path, "run", run)])

    @pytest.mark.parametrize(("format", "suffix"), SUFFIX)
    def test_there_and_back(self, tmp_path: Path, odd: Collection, format: str, suffix: str) -> None:
        if format == "parquet":
            pytest.importorskip("pyarrow")
        qrels, first, run = (tmp_path / f"{name}{suffix}" for name in ("back", "one", "two"))
        write_qrels(odd.judgments, qrels, format)
        write_run(odd, "first", first, format)
        write_run(odd, "run", str(run), format)
        same(uj.load(qrels, [first, run]), odd)
        assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
            ["q", "first", "run", qrels.name, first.name, run.name]
        )
        if suffix.endswith(".gz"):
            assert qrels.read_bytes()[:2] == b"\x1f\x8b"
        again = tmp_path / f"again{suffix}"
        write_qrels(uj.load(qrels, first).judgments, again, format)
        assert again.read_bytes() == qrels.read_bytes()

    @pytest.mark.parametrize(("format", "suffix"), SUFFIX)
    def test_plain(self, tmp_path: Path, plain: Collection, format: str, suffix: str) -> None:
        if format == "parquet":
            pytest.importorskip("pyarrow")
        write_qrels(plain.judgments, tmp_path / f"q{suffix}", format)
        write_run(plain, "run", tmp_path / f"r{suffix}", format)
        for ties in ("trec10", "ascending", "file"):
            same(uj.load(tmp_path / f"q{suffix}", tmp_path / f"r{suffix}", ties=ties), plain)

    def test_trec_lines(self, tmp_path: Path, odd: Collection) -> None:
        write_qrels(odd.judgments, tmp_path / "w")
        assert (tmp_path / "w").read_bytes() == b"2 s1 b 1\n1 0 \xff\xe9 2\n2 s2 c -1\n1 0 a 0\n\xe9 0 x 1\n"
        write_run(odd, "run", tmp_path / "w")
        lines = b"2 Q0 c 1 1 T\n1 Q0 \xfe 1 3 T\n1 Q0 \xff\xe9 2 2 T\n1 Q0 z 3 1 T\n\xe9 Q0 q 1 1 T\n"
        assert (tmp_path / "w").read_bytes() == lines

    def test_the_input_comes_back_byte_by_byte(self, tmp_path: Path, plain: Collection) -> None:
        write_qrels(plain.judgments, tmp_path / "w")
        assert (tmp_path / "w").read_text() == trec_qrels()

    def test_some_topics_alone(self, tmp_path: Path, odd: Collection) -> None:
        write_qrels(odd.judgments.only([1]), tmp_path / "w")
        assert (tmp_path / "w").read_bytes() == b"1 0 \xff\xe9 2\n1 0 a 0\n"

    def test_from_frames_and_dicts(self, tmp_path: Path, plain: Collection) -> None:
        found = uj.load(GRADES, {"my run": nested_scores()})
        write_qrels(found.judgments, tmp_path / "q")
        write_run(found, "my run", tmp_path / "r")
        assert (tmp_path / "r").read_text().splitlines()[0].endswith(" my_run")
        same(uj.load(tmp_path / "q", tmp_path / "r"), plain)

    def test_troubles(self, tmp_path: Path, odd: Collection) -> None:
        target = tmp_path / "w"
        target.write_text("what was there")
        for ids, match in (("a b", "holds white space"), ("", "is empty"), ("x\0", "holds white space")):
            spaced = uj.load({"1": {"a": 1, ids: 1}}, {"1": {"a": 1.0, ids: 2.0}})
            with pytest.raises(InputError, match=f"w: the document id .* {match}, which TREC text cannot hold"):
                write_qrels(spaced.judgments, target)
            with pytest.raises(InputError, match="cannot hold"):
                write_run(spaced, "run", target)
        with pytest.raises(InputError, match="begins with #"):
            write_qrels(uj.load({"#1": {"a": 1}}, {"#1": {"a": 1.0}}).judgments, target)
        with pytest.raises(UsageError, match=r"unknown format 'json' \(did you mean jsonl\?\)"):
            write_qrels(odd.judgments, target, "json")
        with pytest.raises(UsageError, match=r"no run 'frst' in this collection \(did you mean first\?\)"):
            write_run(odd, "frst", target)
        with pytest.raises(UsageError, match="holds no documents"):
            write_run(uj.load({"1": {"a": 1}}, {"1": {}}), "run", target)
        with pytest.raises(InputError, match="cannot be written"):
            write_qrels(odd.judgments, tmp_path / "missing" / "w")
        assert target.read_text() == "what was there"
        assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]

    def test_the_usual_permissions(self, tmp_path: Path, plain: Collection) -> None:
        (tmp_path / "usual").write_text("")
        write_qrels(plain.judgments, tmp_path / "w")
        assert (tmp_path / "w").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_trec_text_imports_nothing_heavy(tmp_path: Path) -> None:
    qrels, runs = put(tmp_path, "q", trec_qrels()), Path(put(tmp_path / "runs", "r", trec_run())).parent
    heavy = ("pandas", "pyarrow", "narwhals", "polars", "ir_datasets", "json", "scipy", "xml")
    code = (
        f"import sys, unjudged as uj; c = uj.load({qrels!r}, {str(runs)!r}); c.rankings; "
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.slow
def test_ranx_files(tmp_path: Path, plain: Collection) -> None:
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    qrels, run = ranx.Qrels(GRADES), ranx.Run(nested_scores(), name="ranx")
    for kind in ("json", "trec", "parquet"):
        qrels.save(str(tmp_path / f"q.{kind}"))
        run.save(str(tmp_path / f"r.{kind}"))
        found = uj.load(tmp_path / f"q.{kind}", tmp_path / f"r.{kind}")
        assert held(found.judgments) == held(plain.judgments)
        assert sorted(lists_of(found)) == sorted(lists_of(plain))


def test_recognised_formats_are_the_documented_ones() -> None:
    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    for name in formats.QRELS_FORMATS:
        assert f"`{name}`" in page


def test_a_list_with_grades_is_read_and_a_run_is_not(tmp_path: Path) -> None:
    """Grades repeat within a topic, ranks do not; where that cannot be seen the sentence names the way out."""
    listed = "# judged by hand\n1\td1\t2\n1\td2\t0\n1\td3\t0\n2\td1\t1\n"
    found = formats.read_qrels(put(tmp_path, "list.tsv", listed), Reading())
    assert (list(found.topics), list(found.docs), found.grade.tolist()) == (
        ["1", "2"],
        ["d1", "d2", "d3", "d1"],
        [2, 0, 0, 1],
    )
    ranked = "".join(f"1\td{rank}\t{rank}\n" for rank in range(1, 9))
    for text in (ranked, "1\td1\t1\n2\td1\t1\n"):
        with pytest.raises(InputError, match="topic, document and grade"):
            formats.read_qrels(put(tmp_path, "run.tsv", text), Reading())
        assert len(formats.read_qrels(put(tmp_path, "run.tsv", text), Reading(), "beir").docs) == text.count("\n")
    with pytest.raises(InputError, match=r"list\.tsv:5"):
        formats.read_qrels(put(tmp_path, "list.tsv", listed[:-3] + "\n"), Reading())


def test_a_folder_of_beir_serves_as_judgments(tmp_path: Path) -> None:
    """The test split, else the only one; several splits without a test are refused."""
    splits = tmp_path / "data" / "qrels"
    splits.mkdir(parents=True)
    (tmp_path / "data" / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n')
    (splits / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq9\td9\t1\n")
    run = {topic: {"d1": 2.0, "d2": 1.0} for topic in ("q1", "q8", "q9")}

    def topics() -> list[str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(uj.load(str(tmp_path / "data"), {"run": run}).topics)

    assert topics() == ["q9"]
    (splits / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq8\td8\t1\n")
    with pytest.raises(uj.InputError, match="2 splits and no test"):
        topics()
    (splits / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\n")
    assert topics() == ["q1"]
    assert uj.score(uj.load(str(tmp_path / "data"), {"run": {"q1": run["q1"]}}), "mrr@10").values.tolist() == [[[0.5]]]
