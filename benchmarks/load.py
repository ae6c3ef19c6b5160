"""Load: many runs, many topics, memory against file size, a cluster that loses a worker. Makes its own inputs.

    python benchmarks/load.py                         # all parts; about 1.5 GB of temporary files
    python benchmarks/load.py --only memory
    python benchmarks/load.py --only topics --topics 10000000     # ten million topics: 3 GB of temporary files

Parts: `runs` (1,000 runs x 250 topics x 100 documents), `topics` (one million topics x 10 documents unless --topics
says otherwise), `memory` (peak memory at 1, 2, 4 and 8 times the file size with the same judged hits), `cluster` (a
study on a local Dask cluster of three workers, one of which is killed; the table must be that of one process).
Every figure is that of a child process: CPU and wall seconds, peak resident memory. Results: docs/load.md.
"""

from __future__ import annotations

import argparse
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

MEASURES = "AP,nDCG@10,P@10,RR,bpref"
STEPS = (1, 2, 4, 8)


class Cost(NamedTuple):
    """What a child process took."""

    wall: float
    cpu: float
    peak_mb: float
    out: str


def command(*words: str) -> Cost:
    """Run `unjudged` with these words; its peak memory comes from the kernel's account of the child."""
    line = [sys.executable, "-m", "unjudged", *words]
    print("$ unjudged", shlex.join(words), flush=True)
    start = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(line, stdout=out)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        out.seek(0)
        text = out.read().decode()
    if child.returncode:
        raise SystemExit(f"exit code {child.returncode}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, text)


def size_mb(*paths: Path) -> float:
    return sum(p.stat().st_size for p in paths) / 1e6


def say(what: str, cost: Cost, megabytes: float) -> None:
    print(
        f"{what}: {megabytes:,.0f} MB read, {cost.cpu:.1f} s CPU, {cost.wall:.1f} s wall, "
        f"peak {cost.peak_mb:,.0f} MB\n",
        flush=True,
    )


def many_runs(folder: Path, args: argparse.Namespace) -> None:
    """Runs x 250 topics x 100 documents; each topic has 1000 documents, 100 of them judged."""
    rng = random.Random(1)
    topics, found = 250, 100
    (folder / "runs").mkdir()
    (folder / "qrels.txt").write_text(
        "".join(f"{t} 0 D{t}-{d} {d % 4 == 0:d}\n" for t in range(topics) for d in range(0, 1000, 10))
    )
    tails = [f" {rank} {1000 - rank} r\n" for rank in range(1, found + 1)]
    for r in range(args.runs):
        parts = []
        for t in range(topics):
            step, at = rng.choice((1, 3, 7, 9, 11, 13)), rng.randrange(1000)
            head = f"{t} Q0 D{t}-"
            parts += [f"{head}{(at + i * step) % 1000}{tail}" for i, tail in enumerate(tails)]
        (folder / f"runs/run{r:04}").write_text("".join(parts))
    megabytes = size_mb(*(folder / "runs").iterdir())
    cost = command("score", str(folder / "qrels.txt"), str(folder / "runs"), "-m", MEASURES, "--format", "tsv")
    rows = len(cost.out.splitlines()) - 1
    assert rows == args.runs * len(MEASURES.split(",")), rows
    say(f"{args.runs} runs x {topics} topics x {found} documents", cost, megabytes)


def many_topics(folder: Path, args: argparse.Namespace) -> None:
    """Topics x 10 documents, one judged document a topic, which stands at rank topic % 10 + 1: the mean RR is known."""
    tails = [f" {rank} {10 - rank} r\n" for rank in range(1, 11)]
    with (folder / "many.qrels").open("w") as qrels, (folder / "many.run").open("w") as run:
        for t in range(args.topics):
            qrels.write(f"{t} 0 d{t % 10} 1\n")
            run.write("".join([f"{t} Q0 d{i}{tail}" for i, tail in enumerate(tails)]))
    paths = folder / "many.qrels", folder / "many.run"
    cost = command("score", *map(str, paths), "-m", "RR,P@10", "--format", "tsv")
    value = float(next(line for line in cost.out.splitlines() if "\tRR\t" in line).split("\t")[3])
    expected = sum(1 / r for r in range(1, 11)) / 10
    assert args.topics % 10 or abs(value - expected) < 1e-12, value
    say(f"{args.topics:,} topics x 10 documents (mean RR {value:.6f}, by hand {expected:.6f})", cost, size_mb(*paths))


def memory(folder: Path, args: argparse.Namespace) -> None:
    """The same 100 judged topics; the file grows by topics outside the judgments."""
    (folder / "few.qrels").write_text("".join(f"{t} 0 d{d} {d % 2}\n" for t in range(100) for d in range(0, 1000, 10)))
    tails = [f" {rank} {1000 - rank} r\n" for rank in range(1, 1001)]

    def topic(t: int) -> list[str]:
        return [f"{t} Q0 d{i}{tail}" for i, tail in enumerate(tails)]

    print("file MB   peak MB   CPU s")
    for times in STEPS:
        path = folder / f"grown{times}"
        with path.open("w") as run:
            for t in range(1000 * times):
                run.write("".join(topic(t)))
        cost = command("score", str(folder / "few.qrels"), str(path), "-m", MEASURES, "--format", "tsv")
        print(f"{size_mb(path):7.0f}   {cost.peak_mb:7.0f}   {cost.cpu:5.2f}", flush=True)
        path.unlink()
    print("the 100 judged topics scattered over the file's beginning, rank by rank: read twice, their lists held")
    for times in STEPS[:2]:
        path = folder / f"scattered{times}"
        lists = [topic(t) for t in range(100)]
        with path.open("w") as run:
            for rank in range(1000):
                run.write("".join([one[rank] for one in lists]))
            for t in range(100, 1000 * times):
                run.write("".join(topic(t)))
        cost = command("score", str(folder / "few.qrels"), str(path), "-m", MEASURES, "--format", "tsv")
        print(f"{size_mb(path):7.0f}   {cost.peak_mb:7.0f}   {cost.cpu:5.2f}", flush=True)
        path.unlink()


def lost_worker(folder: Path, args: argparse.Namespace) -> None:
    """A study on three workers, one killed when a quarter of the units is handed out."""
    from distributed import Client, LocalCluster
    from distributed.cfexecutor import ClientExecutor

    import unjudged as uj

    class Killing(ClientExecutor):  # type: ignore[misc]
        handed_out = 0

        def submit(self, *given: object, **named: object) -> object:
            Killing.handed_out += 1
            if Killing.handed_out == 8:
                os.kill(next(iter(self._client.run(os.getpid).values())), signal.SIGKILL)
            return super().submit(*given, **named)

    made = folder / "simulated"
    command("simulate", "--preset", "adhoc", "--topics", "20", "--teams", "20", "--runs", "40", "-o", str(made))
    collection = uj.load(str(made / "qrels.txt"), str(made / "runs"), teams=str(made / "teams.tsv"))
    options = {"measures": "AP,Q',nDCG@10", "levels": (70, 50, 30, 10), "repeats": 8, "resamples": 500, "seed": 1}
    start = time.perf_counter()
    alone = uj.study("reduction", collection, jobs=1, **options).render("tsv")
    one = time.perf_counter() - start
    with (
        LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):
        start = time.perf_counter()
        together = uj.study("reduction", collection, executor=Killing(client), **options).render("tsv")
        many = time.perf_counter() - start
    assert together == alone
    print(
        f"reduction, 40 runs x 20 topics, {Killing.handed_out} units, one of three workers killed at the 8th: "
        f"the same {len(alone.splitlines()) - 1} rows as one process; {one:.1f} s alone, {many:.1f} s on the cluster\n"
    )


PARTS: dict[str, Callable[[Path, argparse.Namespace], None]] = {
    "runs": many_runs,
    "topics": many_topics,
    "memory": memory,
    "cluster": lost_worker,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--runs", type=int, default=1000, help="number of runs in `runs` (default 1000)")
    parser.add_argument("--topics", type=int, default=1_000_000, help="number of topics in `topics` (default 1000000)")
    args = parser.parse_args()
    for name in [args.only] if args.only else PARTS:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](Path(folder), args)


if __name__ == "__main__":
    main()
