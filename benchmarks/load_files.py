"""Load, in files and streams: many runs, many topics, memory against hits, judgments, file size and stream length.

Parts `runs`, `topics`, `hits`, `size` and `stream` of `python benchmarks/load.py`. Every figure is the operating
system's account of a child process: CPU seconds, peak resident memory.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FIVE = "AP,nDCG@10,P@10,RR,bpref"
SIX = "AP,nDCG@10,P@10,RR,bpref,Judged@10"
LENGTH = 1000
"""Documents of a topic, where nothing else is said."""


class Cost(NamedTuple):
    """What a child process took."""

    wall: float
    cpu: float
    peak: float
    """MB (10^6 bytes)"""
    lines: int
    last: str


class Row(NamedTuple):
    """A line of the table."""

    what: str
    read: float
    """MB"""
    cost: Cost
    bound: float
    """MB"""
    more: str = ""


def bound(judgments: int, hits: int, cells: int, measures: int, *, stream: bool = False, gathered: int = 0) -> float:
    """The memory the docs promise to stay below, in MB, for ids of up to eight bytes.

    `cells` are pairs of run and judged topic, `gathered` the lines of judged topics of a run that holds a topic in two
    places. The first term is the program, its windows (256 KiB a thread), the list being read (up to 110 bytes a
    document) and the count of topics outside the judgments (at most a million).
    """
    fixed = 75e6 + stream * 2**26
    return (fixed + 150 * judgments + 60 * hits + (50 + 40 * measures) * cells + 110 * gathered) / 1e6


LAUNCHER = """
import json, os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
report = [os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024]
open(sys.argv[1], "w").write(json.dumps(report))
"""
"""A small process between us and the one that is measured: Linux counts the memory of the parent at first."""


def command(*words: str, stdin: int | None = None) -> Cost:
    """Run `unjudged` with these words; its output is counted, not kept."""
    print("$ unjudged", shlex.join(words), flush=True)
    with tempfile.NamedTemporaryFile() as report:
        line = [sys.executable, "-I", "-S", "-c", LAUNCHER, report.name, sys.executable, "-m", "unjudged", *words]
        began = time.perf_counter()
        with subprocess.Popen(line, stdout=subprocess.PIPE, stdin=stdin) as child:
            assert child.stdout is not None
            lines, last = 0, b""
            for one in child.stdout:
                lines, last = lines + 1, one
        wall = time.perf_counter() - began
        code, cpu, peak = json.load(report)
    if code:
        raise SystemExit(f"exit code {code}")
    return Cost(wall, cpu, peak / 1e6, lines, last.decode().rstrip())


def megabytes(*paths: Path) -> float:
    """Of these files together."""
    return sum(p.stat().st_size for p in paths) / 1e6


def lists(first: int, last: int, judged: int = 0) -> Iterator[bytes]:
    """A list for each topic of this range; the first documents of it are called as judged ones are."""
    names = [f"{'d' if i < judged else 'u'}{i:03}" for i in range(LENGTH)]
    template = "".join(f"@ Q0 {doc} {i + 1} {LENGTH - i} r\n" for i, doc in enumerate(names)).encode()
    for topic in range(first, last):
        yield template.replace(b"@", b"t%07d" % topic)


def write_judgments(path: Path, topics: int, each: int) -> None:
    """So many judgments of each topic, every fourth document relevant."""
    template = "".join(f"@ 0 d{d:03} {d % 4 == 0:d}\n" for d in range(each)).encode()
    with path.open("wb") as file:
        file.writelines(template.replace(b"@", b"t%07d" % topic) for topic in range(topics))


def many_runs(folder: Path, runs: int) -> Iterator[Row]:
    """Runs x 250 topics x 100 documents; each topic has 1000 documents, 100 of them judged."""
    rng, topics, found = random.Random(1), 250, 100
    (folder / "runs").mkdir()
    (folder / "qrels.txt").write_text(
        "".join(f"{t} 0 D{t}-{d} {d % 4 == 0:d}\n" for t in range(topics) for d in range(0, 1000, 10))
    )
    tails = [f" {rank} {1000 - rank} r\n" for rank in range(1, found + 1)]
    held = 0
    for r in range(runs):
        parts = []
        for t in range(topics):
            step, at, head = rng.choice((1, 3, 7, 9, 11, 13)), rng.randrange(1000), f"{t} Q0 D{t}-"
            places = [(at + i * step) % 1000 for i in range(found)]
            held += sum(place % 10 == 0 for place in places)
            parts += [f"{head}{place}{tail}" for place, tail in zip(places, tails, strict=True)]
        (folder / f"runs/run{r:04}").write_text("".join(parts))
    read = megabytes(*(folder / "runs").iterdir())
    for name, more in (("means", ()), ("every topic printed", ("-q",))):
        cost = command("score", str(folder / "qrels.txt"), str(folder / "runs"), "-m", FIVE, "--format", "tsv", *more)
        assert cost.lines == 1 + 5 * runs * (topics + 1 if more else 1), cost
        limit = bound(topics * 100, held, runs * topics, 5)
        yield Row(f"{runs:,} runs x {topics} topics x {found} documents, five measures, {name}", read, cost, limit)


def many_topics(folder: Path, topics: int) -> Iterator[Row]:
    """Topics x 10 documents, one judged document a topic, at rank topic % 10 + 1: the mean RR is known by hand."""
    template = "".join(f"@ Q0 d{i} {i + 1} {9 - i} r\n" for i in range(10)).encode()
    with (folder / "many.qrels").open("wb") as qrels, (folder / "many.run").open("wb") as run:
        for t in range(topics):
            topic = b"%d" % t
            qrels.write(b"%b 0 d%d 1\n" % (topic, t % 10))
            run.write(template.replace(b"@", topic))
    paths = folder / "many.qrels", folder / "many.run"
    expected = sum(1 / rank for rank in range(1, 11)) / 10
    for name, measures, more in (
        ("two measures", "P@10,RR", ()),
        ("six measures", "AP,nDCG@10,P@10,bpref,Judged@10,RR", ()),
        ("two measures, every topic printed", "P@10,RR", ("-q",)),
    ):
        cost = command("score", *map(str, paths), "-m", measures, "--format", "tsv", *more)
        value = float(cost.last.split("\t")[3])
        assert topics % 10 or abs(value - expected) < 1e-12, cost
        each = f"{cost.peak * 1e6 / topics:.0f} bytes a topic"
        limit = bound(topics, topics, topics, 1 + measures.count(","))
        yield Row(f"{topics:,} topics x 10 documents, {name}", megabytes(*paths), cost, limit, each)


def hits(folder: Path, full: bool) -> Iterator[Row]:
    """Memory against hits (same size of the file, same judgments), and against judgments (same file, same hits)."""
    topics, path, qrels = 20_000, folder / "a.run", folder / "a.qrels"
    growing_hits = [(100, 0), (100, 25), (100, 50), (100, 100)]  # judged, and found, of the 1000 documents of a topic
    growing_judgments = [(50, 25), (25, 25)]
    growing_both = [(200, 200), (400, 400)] if full else []
    written = -1
    for judged, found in growing_hits + growing_judgments + growing_both:
        write_judgments(qrels, topics, judged)
        if found != written:
            with path.open("wb") as run:
                run.writelines(lists(0, topics, judged=found))
            written = found
        cost = command("score", str(qrels), str(path), "-m", SIX, "--format", "tsv")
        limit = bound(topics * judged, topics * found, topics, 6)
        yield Row(f"{topics * judged:,} judgments, {topics * found:,} hits", megabytes(path), cost, limit)


FEW = bound(10_000, 10_000, 100, 6)
"""For 100 judged topics with 100 judgments each, all of which are found."""


def size(folder: Path, full: bool) -> Iterator[Row]:
    """The same 100 judged topics and 10,000 hits; the file grows by topics outside the judgments."""
    qrels, path = folder / "few.qrels", folder / "grown"
    write_judgments(qrels, 100, 100)
    for topics in (1_000, 10_000, 40_000, 160_000, *([640_000] if full else [])):
        with path.open("wb") as run:
            run.writelines(lists(0, topics, judged=100))
        yield Row("file, topics together", megabytes(path), _few(qrels, path), FEW)
    path.unlink()
    path = folder / "grown.gz"
    for topics in (10_000, 40_000):
        with gzip.open(path, "wb", compresslevel=1) as packed:
            packed.writelines(lists(0, topics, judged=100))
        text = topics * len(next(lists(0, 1))) / 1e6
        yield Row(f"gz of {megabytes(path):,.0f} MB, topics together", text, _few(qrels, path), FEW)
    path.unlink()
    path, scattered = folder / "scattered", bound(10_000, 10_000, 100, 6, gathered=100 * LENGTH)
    for topics in (1_000, 10_000):
        first = [one.split(b"\n") for one in lists(0, 100, judged=100)]
        with path.open("wb") as run:
            for rank in range(LENGTH):
                run.writelines(one[rank] + b"\n" for one in first)
            run.writelines(lists(100, topics))
        yield Row("file, the judged topics mixed rank by rank", megabytes(path), _few(qrels, path), scattered)
    path.unlink()


def _few(qrels: Path, path: Path) -> Cost:
    cost = command("score", str(qrels), str(path), "-m", SIX, "--format", "tsv")
    assert cost.lines == 1 + 6, cost
    return cost


def stream(folder: Path, full: bool) -> Iterator[Row]:
    """The same judgments; the run comes through a pipe and is stored nowhere."""
    qrels = folder / "few.qrels"
    write_judgments(qrels, 100, 100)
    answers = set()
    for gigabytes in (1, 4, 16, *([100] if full else [])):
        cost = _piped(qrels, gigabytes)
        answers.add(cost.last)
        speed = f"{gigabytes * 1e3 / cost.cpu:,.0f} MB a CPU second"
        yield Row("standard input", gigabytes * 1e3, cost, bound(10_000, 10_000, 100, 6, stream=True), speed)
    assert len(answers) == 1, answers  # whatever follows the judged topics changes nothing


def _piped(qrels: Path, gigabytes: int) -> Cost:
    writer = subprocess.Popen(
        [sys.executable, __file__, str(gigabytes)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": ""}
    )
    assert writer.stdout is not None
    cost = command("score", str(qrels), "-", "-m", SIX, "--format", "tsv", stdin=writer.stdout.fileno())
    writer.stdout.close()
    assert writer.wait() == 0
    return cost


def write_stream(gigabytes: int) -> None:
    """A run of this length to standard output: topics 0, 1, 2 ..., each once."""
    left = gigabytes * 10**9
    for one in lists(0, 10_000_000, judged=100):
        if left < len(one):
            return
        sys.stdout.buffer.write(one)
        left -= len(one)


if __name__ == "__main__":
    write_stream(int(sys.argv[1]))
