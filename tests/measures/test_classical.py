"""The way without NumPy: the values of the registered measures bit for bit, the bytes of the ordinary way."""

from __future__ import annotations

import gzip
import math
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

from unjudged import classical, cli, kernels
from unjudged.cli import main, one_run
from unjudged.cli import trec_eval as ordinary
from unjudged.collection.load import read_collection
from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.trec import Reading
from unjudged.kernels import _numpy
from unjudged.measures import REGISTRY, measures, parse, trec_names
from unjudged.measures.sets import OFFICIAL
from unjudged.options import default

pytestmark = pytest.mark.skipif(kernels.IN_USE != "C", reason="there are no C kernels")

NAMES = [
    *(f"{name}.1,3,7" for name in ("P", "recall", "ndcg_cut")),
    *(name for name in trec_names.NAMES if name in classical._TREC),
]


def lines() -> list[classical.Line]:
    """Every line there is."""
    ours = [name for name in classical._PLAIN if name not in classical.COUNTS]
    cut = [f"{name}@{k}" for name in classical._CUT for k in (1, 2, 3, 5, 100)]
    return [*(classical.trec_lines(NAMES) or []), *(classical.lines_of(["official", "GMAP", *ours, *cut]) or [])]


def registered(line: classical.Line, rel: int) -> Any:
    """The measure of the registry behind a line."""
    name, _, nearest = line.measure.partition(" ")
    made = REGISTRY[name]
    if name == "IPrec":
        made = made(recall=line.parameter, rounding="nearest" if nearest else "up")
    elif line.parameter:
        made = made @ int(line.parameter)
    return made if name == "NumRet" else made.default_rel(rel)


def compare(qrels: Path, run: Path, rel: int, truncate: int = 0) -> None:
    """Every line of one run, in every topic, and over all topics as the registry puts them together."""
    wanted = lines()
    evaluated = classical.evaluate(str(qrels), [str(run)], wanted, rel=rel, truncate=truncate)
    assert evaluated is not None
    (found,) = evaluated
    collection = read_collection(str(qrels), str(run), Reading(truncate=truncate or None), topic_notes=False)
    assert found.topics == list(collection.topics)
    assert found.answered == collection.hits.answered.tolist()
    for line, column in zip(wanted, found.columns(), strict=True):
        if line.measure == "runid":
            continue
        measure = registered(line, rel)
        cells = np.nan_to_num(measure.cells(collection.hits), nan=0.0, posinf=0.0, neginf=0.0)
        assert column == cells.tolist(), (line.name, rel)
        together = measure(mean="geometric") if line.geometric else measure
        assert classical.over_topics(line, column) == together.over_topics(cells), line.name


@st.composite
def collections(draw: st.DrawFn) -> tuple[str, str]:
    """Judgments (negative grades, topics without relevant documents) and a run (ties, missing and other topics)."""
    docs = [f"d{i}" for i in range(draw(st.integers(1, 25)))]
    qrels, run = [], []
    many = draw(st.integers(1, 12))
    for topic in range(many):
        judged = draw(st.lists(st.sampled_from(docs), unique=True, min_size=1))
        qrels += [f"{topic} 0 {doc} {draw(st.integers(-2, 4))}" for doc in judged]
    for topic in draw(st.lists(st.integers(0, many + 2), unique=True, min_size=1)):
        listed = draw(st.lists(st.sampled_from(docs), unique=True, min_size=1))
        run += [f"{topic} Q0 {doc} 1 {draw(st.sampled_from([1, 2, 2.5, -1e3]))} tag" for doc in listed]
    run.append("0 Q0 x 1 0 tag" if not any(line.startswith("0 ") for line in run) else "")
    return "\n".join(qrels), "\n".join(run)


@settings(max_examples=60, deadline=None)
@given(collections(), st.integers(1, 3), st.sampled_from([0, 3]))
def test_generated_values_are_those_of_the_registry(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[str, str], rel: int, truncate: int
) -> None:
    folder = tmp_path_factory.mktemp("classical")
    qrels, run = folder / "qrels", folder / "run"
    qrels.write_text(made[0])
    run.write_text(made[1])
    compare(qrels, run, rel, truncate)


def long_run(folder: Path, topics: int = 300, depth: int = 60) -> tuple[Path, Path]:
    """A run long enough for NumPy's sums in blocks, and deep enough for its fast logarithms."""
    random = np.random.default_rng(7)
    qrels, run = folder / "qrels", folder / "a.run"
    with qrels.open("w") as judged, run.open("w") as listed:
        for topic in range(topics):
            for doc in range(depth):
                if random.random() < 0.5:
                    judged.write(f"{topic} 0 doc-{doc} {int(random.integers(-1, 4))}\n")
                listed.write(f"{topic} Q0 doc-{doc} 0 {random.random():.6f} made\n")
    return qrels, run


def test_sums_of_many_topics_and_long_lists(tmp_path: Path) -> None:
    compare(*long_run(tmp_path), rel=1)
    compare(*long_run(tmp_path, topics=2, depth=5000), rel=2)


@given(st.lists(st.floats(-1e6, 1e6), max_size=1200))
@settings(max_examples=200, deadline=None)
def test_sums_are_numpys(values: list[float]) -> None:
    assert classical.sum_of(values) == float(np.sum(np.array(values)))
    strided = np.array([values, values]).T.copy()[:, 0][np.newaxis]  # as a column of scores, one run
    assert [classical.sum_of(values)] == strided.sum(axis=1).tolist()


@pytest.mark.parametrize("collection", ["trec2-adhoc", "robust03", "dl19-passage"])
def test_real_runs(collection: str) -> None:
    if not (DATA / collection).is_dir():
        pytest.skip("the real collections are not here")
    compared = 0
    for run in sorted((DATA / collection / "runs").iterdir())[:4]:
        qrels = next((DATA / collection).glob("qrels*"))
        if classical.evaluate(str(qrels), [str(run)], lines()) is not None:
            compare(qrels, run, rel=1)
            compared += 1
    assert compared


def test_names_and_order_are_trec_evals() -> None:
    for wanted in (["official"], NAMES, ["official", "P.3"], ["P.3", "official"], ["recall.9,1", "map"]):
        mine = classical.trec_lines(wanted)
        theirs = ordinary._lines(wanted, 10, "qrels")
        assert mine is not None
        assert [(x.name, x.value, x.per_topic, x.summary, x.geometric) for x in mine] == [
            (x.name, x.value, x.per_topic, x.summary, x.geometric) for x in theirs
        ]
        for a, b in zip(mine, theirs, strict=True):
            if b.measure is not None:
                assert str(registered(a, 1)(rounding="up") if "IPrec" in a.measure else registered(a, 1)) == (
                    str(b.measure).replace("GMAP", "AP").replace("bpref(mean='geometric')", "bpref")
                )


def test_names_of_score_are_the_registrys() -> None:
    wanted = [*OFFICIAL, *classical.USUAL, *(f"{name}@7" for name in classical._CUT)]
    mine = classical.lines_of(["official", *classical.USUAL, *(f"{name}@7" for name in classical._CUT)])
    assert mine is not None
    assert [line.name for line in mine] == [str(m) for m in measures(wanted)]
    assert default("measures", "score") == classical.USUAL
    for name in classical._PLAIN:
        assert [str(m) for m in parse(name)] == [line.name for line in classical.lines_of([name]) or []]
    assert set(classical.COUNTS) <= {n for n, m in REGISTRY.items() if m.mean == "sum"}


@pytest.mark.parametrize("wanted", ["AP'", "P", "P@0", "P@1e1", "AP@", "nDCG(dcg='jk')@5", "Q", "", "GMAP@5", "P@٣"])
def test_other_measures_take_the_ordinary_way(wanted: str) -> None:
    mine = classical.lines_of([wanted])
    assert mine is None or [line.name for line in mine] == [str(m) for m in measures(wanted)]


@pytest.mark.parametrize("wanted", ["P.0", "P.5,5", "P.", "map.5", "infAP", "all_trec", "P.5.5", "ndcg.1=2"])
def test_other_trec_eval_measures_take_the_ordinary_way(wanted: str) -> None:
    assert classical.trec_lines([wanted]) is None


def both_ways(
    call: list[str], monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> tuple[Any, Any]:
    first = main(call), capfdbinary.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(cli, "_one_run", lambda given: None)
        second = main(call), capfdbinary.readouterr()
    return first, second


CALLS = [
    *(["trec_eval", *options] for options in ([], ["-q"], ["-qc"], ["-c", "-l", "2"], ["-M5", "-mmap"], ["-n", "-q"])),
    ["trec_eval", "-m", "P.3,1", "-m", "ndcg_cut", "-m", "map_cut", "-m", "set_P", "-q"],
    *(["score", *options] for options in ([], ["-q"], ["--format", "tsv"], ["-q", "--format", "tsv"])),
    ["score", "-m", "official", "-q"],
    ["score", "-m", "AP, nDCG@5,RR@3", "--measures", "GMAP"],
]


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_same_bytes_as_the_ordinary_way(
    call: list[str],
    zipped: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    paths = list(long_run(tmp_path, topics=20, depth=12))
    if zipped:
        for i, path in enumerate(paths):
            paths[i] = path.with_name(f"{path.name}.gz")
            paths[i].write_bytes(gzip.compress(path.read_bytes()))
    taken = [call[0], *call[1:], *map(str, paths)]
    assert (one_run.trec_eval if call[0] == "trec_eval" else one_run.score)(taken[1:]) == 0
    capfdbinary.readouterr()
    mine, ordinary = both_ways(taken, monkeypatch, capfdbinary)
    assert mine == ordinary
    assert mine[0] == 0 and mine[1].out


def several(folder: Path, zipped: bool = False) -> list[str]:
    """Judgments and a folder of four runs: whole, without two topics, with topics outside, without judged documents."""
    qrels, run = long_run(folder, topics=20, depth=12)
    whole = run.read_text().splitlines(keepends=True)
    topics = list(dict.fromkeys(line.split()[0] for line in whole))
    runs = folder / "runs"
    runs.mkdir()
    made = {
        "whole.txt": whole,
        "short": [line for line in whole if line.split()[0] not in topics[3:5]],
        "more": [*whole, "x Q0 d 1 2 t\n", "y Q0 d 1 2 t\n"],
        "none": [f"{topics[0]} Q0 unknown 1 2 t\n"],
    }
    for name, lines in made.items():
        data = "".join(lines).encode()
        (runs / f"{name}{'.gz' * zipped}").write_bytes(gzip.compress(data) if zipped else data)
    return [str(qrels), str(runs)]


@pytest.mark.parametrize(
    "options", [[], ["-q"], ["--format", "tsv"], ["-q", "--format", "tsv"], ["-m", "official,GMAP"]]
)
@pytest.mark.parametrize("jobs", [[], ["--jobs", "1"], ["--jobs", "3"]], ids=" ".join)
@pytest.mark.parametrize("zipped", [False, True])
def test_several_runs_have_the_bytes_and_notes_of_the_ordinary_way(
    options: list[str],
    jobs: list[str],
    zipped: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    call = [*several(tmp_path, zipped), *options, *jobs]
    assert one_run.score(call) == 0
    capfdbinary.readouterr()
    mine, ordinary = both_ways(["score", *call], monkeypatch, capfdbinary)
    assert mine == ordinary
    assert mine[0] == 0 and mine[1].err.count(b"note:") == 4 - (b"x" not in mine[1].err)


@pytest.mark.parametrize("outside", [[], ["first"], ["last"], ["first", "last"]])
@pytest.mark.parametrize("scattered", [False, True])
def test_one_file_read_by_two_threads(
    outside: list[str],
    scattered: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    qrels, run = long_run(tmp_path, topics=40, depth=12)
    lines = run.read_text().splitlines(keepends=True)
    if scattered:
        lines.append(lines.pop(0))
    lines[:0] = ["x Q0 d 1 2 t\n"] * ("first" in outside)
    lines += ["y Q0 d 1 2 t\n"] * ("last" in outside)
    run.write_text("".join(lines))
    parts: list[Any] = []
    halves = files.halves
    monkeypatch.setattr(files, "halves", lambda path, least: parts.append(halves(path, least)) or parts[-1])  # type: ignore[func-returns-value]
    monkeypatch.setattr(classical, "HALVED", 1000)
    call = ["score", str(qrels), str(run), "-q", "--format", "tsv", "--jobs", "2"]
    mine, ordinary = both_ways(call, monkeypatch, capfdbinary)
    assert mine == ordinary and mine[0] == 0
    assert parts and parts[0] is not None


def pieces_of(begun: Any) -> Iterator[bytes | memoryview]:
    for piece in begun:
        yield from piece if isinstance(piece, files.PlainRest) else (piece,)


def test_halves_are_the_file_and_begin_with_a_topic(tmp_path: Path) -> None:
    _, run = long_run(tmp_path, topics=40, depth=12)
    parts = files.halves(str(run), 1000)
    assert parts is not None
    first, second = (b"".join(map(bytes, pieces_of(part))) for part in parts)
    assert first + second == run.read_bytes() and min(len(first), len(second)) > len(first + second) / 3
    topics = [{line.split()[0] for line in half.splitlines()} for half in (first, second)]
    assert not topics[0] & topics[1]
    assert files.halves(str(run), 1 << 30) is None
    for text in ("1 Q0 d 1 1 r\n" * 100, "x" * 5000, "\n" * 5000):  # one topic, no line, no field
        run.write_text(text)
        assert files.halves(str(run), 1000) is None


def test_pieces_made_beside_are_the_same_and_their_errors_are_raised(tmp_path: Path) -> None:
    pieces = [b"%d" % i * 100 for i in range(50)]
    assert list(files.beside(iter(pieces))) == pieces
    left = files.beside(iter(pieces))
    assert next(left) == pieces[0]
    left.close()  # type: ignore[attr-defined]  # the thread that makes them ends
    damaged = tmp_path / "run.gz"
    damaged.write_bytes(gzip.compress(random.Random(1).randbytes(1 << 20).hex().encode())[:-9])
    with pytest.raises(InputError, match="cut off"):
        list(files.beside(files.chunks(str(damaged))))


ODD = {
    "a repeated document": ("1 0 a 1\n", "1 Q0 a 1 2 t\n1 Q0 a 2 1 t\n"),
    "a judgment given twice": ("1 0 a 1\n1 0 a 1\n", "1 Q0 a 1 2 t\n"),
    "two grades": ("1 0 a 1\n1 0 a 2\n", "1 Q0 a 1 2 t\n"),
    "scattered judgments": ("1 0 a 1\n2 0 a 1\n1 0 b 1\n", "1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n"),
    "a scattered run": ("1 0 a 1\n2 0 a 1\n", "1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n1 Q0 b 2 1 t\n"),
    "a topic not answered": ("1 0 a 1\n2 0 a 1\n", "1 Q0 a 1 2 t\n"),
    "a topic outside": ("1 0 a 1\n", "1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n"),
    "no topic in common": ("1 0 a 1\n", "2 Q0 a 1 2 t\n"),
    "files swapped": ("1 Q0 a 1 2 t\n", "1 0 a 1\n"),
    "an unusable line": ("1 0 a 1\n", "1 Q0 a 1 2 t\n1 Q0\n"),
    "an unusable judgment": ("1 0 a x\n", "1 Q0 a 1 2 t\n"),
    "NaN": ("1 0 a 1\n", "1 Q0 a 1 nan t\n"),
    "nothing": ("", ""),
    "JSON": ('{"1": {"a": 1}}', '{"1": {"a": 0.5}}'),
    "BEIR": ("query-id\tcorpus-id\tscore\n1\ta\t1\n", "1 Q0 a 1 2 t\n"),
    "MS MARCO": ("1 0 a 1\n", "1\ta\t1\n"),
    "a byte-order mark": ("\ufeff1 0 a 1\n", "\ufeff1 Q0 a 1 2 t\n"),
    "UTF-8": ("ä 0 ö 1\n", "ä Q0 ö 1 2 ü\n"),
    "comments and blanks": ("# x\n\n 1\t0  a 1 \r\n", "#\n1 Q0\ta 1 2 t\r\n\n"),
    "no newline at the end": ("1 0 a 1", "1 Q0 a 1 2 t"),
}


@pytest.mark.parametrize("verb", ["trec_eval", "score"])
@pytest.mark.parametrize("odd", ODD)
def test_whatever_the_input_both_ways_say_the_same(
    odd: str, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in zip(("qrels", "run"), ODD[odd], strict=True):
        Path(name).write_text(text, newline="")
    mine, ordinary = both_ways([verb, "qrels", "run", "-q"], monkeypatch, capfdbinary)
    assert mine == ordinary


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["trec_eval", "score"])
def test_a_small_run_is_scored_without_numpy(verb: str, tmp_path: Path) -> None:
    qrels, run = long_run(tmp_path, topics=3, depth=5)
    program = (
        "import sys, os\n"
        "def ended(code):\n"
        "    print(sorted({name.split('.')[0] for name in set(sys.modules) - before}), file=sys.stderr)\n"
        "    sys.stderr.flush(), leave(code)\n"
        "leave, os._exit = os._exit, ended\n"
        f"sys.argv = ['unjudged', {verb!r}, {str(qrels)!r}, {str(run)!r}]\n"
        "before = set(sys.modules)\n"
        "from unjudged.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=600)
    assert done.stdout
    assert set(eval(done.stderr)) <= {
        "unjudged",
        "__future__",
        "gc",
        "itertools",
        "math",
        "array",
        "isal",
        "zlib",
        "atexit",
    }


def test_logarithms_are_those_of_the_c_library() -> None:
    values = np.concatenate([np.arange(5000.0), np.random.default_rng(3).random(5000), [-1.0, np.inf]])
    for binary in (False, True):
        mine, twin = np.empty_like(values), np.empty_like(values)
        kernels.logarithms(values, binary, mine)
        _numpy.logarithms(values, binary, twin)
        assert np.array_equal(mine, twin, equal_nan=True)
        log = math.log2 if binary else math.log
        assert mine[1:5000].tolist() == [log(v) for v in range(1, 5000)]


def test_the_kernel_refuses_what_does_not_fit() -> None:
    from unjudged.kernels import _c  # type: ignore[attr-defined, unused-ignore]

    grade, starts = np.array([1, 0], np.int32), np.array([0, 2], np.int64)
    offsets, row, rank = np.array([0, 1], np.int64), np.array([1], np.int32), np.array([1], np.int32)
    length, ideal = np.array([3], np.int32), _c.ideal_sums(grade, starts)
    assert np.frombuffer(ideal).tolist() == [1.0, 0.0]
    assert np.frombuffer(_c.evaluate([("NumRet", 0.0)], 1, grade, starts, ideal, offsets, row, rank, length))[0] == 3
    for wrong in (
        (grade[:1], starts, ideal, offsets, row, rank, length),
        (grade, starts, ideal[:8], offsets, row, rank, length),
        (grade, starts, ideal, offsets, row + 1, rank, length),
        (grade, starts, ideal, offsets, row, rank - 1, length),
        (grade, starts, ideal, offsets, row, rank, length[:0]),
        (grade, starts, ideal, starts, row, rank, length),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            _c.evaluate([("AP", 0.0)], 1, *wrong)
    with pytest.raises(KeyError):
        _c.evaluate([("no such measure", 0.0)], 1, grade, starts, ideal, offsets, row, rank, length)
    with pytest.raises(TypeError):
        _c.evaluate(["AP"], 1, grade, starts, ideal, offsets, row, rank, length)
    for grades, ends in ((grade[:1], starts), (grade, starts[1:]), (grade, starts[:0])):
        with pytest.raises(ValueError, match="do not fit"):
            _c.ideal_sums(grades, ends)


# -- threads


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_work_is_shared_by_threads_and_comes_back_in_order(workers: int) -> None:
    here, seen, all_there = threading.get_ident(), set(), threading.Barrier(workers)

    def work(number: int) -> Any:
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            all_there.wait(60)  # every thread comes to work, however late
        return number + 1

    assert classical._each(work, range(40), workers) == [n + 1 for n in range(40)]  # type: ignore[comparison-overlap]
    assert here in seen and len(seen) == workers


@pytest.mark.parametrize("workers", [1, 4])
def test_what_cannot_be_taken_ends_the_work_of_all_threads(workers: int) -> None:
    taken: list[int] = []

    def work(number: int) -> Any:
        taken.append(number)
        time.sleep(0.001)
        return None if number == 7 else number + 1

    assert classical._each(work, range(1000), workers) is None
    assert len(taken) < 100


@pytest.mark.parametrize("mine", [True, False], ids=["here", "beside"])
def test_a_problem_of_any_thread_is_raised(mine: bool) -> None:
    here = threading.get_ident()

    def work(number: int) -> Any:
        if (threading.get_ident() == here) is mine:
            raise InputError("unusable")
        time.sleep(0.001)
        return number + 1

    with pytest.raises(InputError, match="unusable"):
        classical._each(work, range(1000), 2)


def test_an_interrupt_does_not_wait_for_other_threads() -> None:
    here, go_on = threading.get_ident(), threading.Event()

    def work(number: int) -> Any:
        if threading.get_ident() == here:
            raise KeyboardInterrupt
        go_on.wait(60)
        return number + 1

    try:
        with pytest.raises(KeyboardInterrupt):
            classical._each(work, range(1000), 2)
        assert not go_on.is_set()
    finally:
        go_on.set()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only where a thread can choose its processors")
def test_threads_may_run_wherever_they_might_before() -> None:
    before = os.sched_getaffinity(0)
    places: list[set[int]] = []

    def work(number: int) -> Any:
        places.append(os.sched_getaffinity(0))
        time.sleep(0.002)
        return number + 1

    assert classical._each(work, range(20), 3)
    assert all(place == before for place in places) and os.sched_getaffinity(0) == before


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only where a thread can choose its processors")
def test_each_thread_begins_on_processors_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[int, list[set[int]]] = {}
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 3, 5, 7, 9})
    monkeypatch.setattr(
        os, "sched_setaffinity", lambda _, places: asked.setdefault(threading.get_ident(), []).append(set(places))
    )

    def work(number: int) -> Any:
        time.sleep(0.002)
        return number + 1

    assert classical._each(work, range(20), 2)
    here = asked.pop(threading.get_ident())
    assert here == [{1, 5, 9}, {1, 3, 5, 7, 9}]
    assert list(asked.values()) == [[{3, 7}, {1, 3, 5, 7, 9}]]
