"""Load, on a cluster: a study of many runs on Dask that loses workers, its scheduler, or the process that asked for it.

Part `cluster` of `python benchmarks/load.py`. Scheduler and workers are processes of this machine, without a nanny: a
killed worker does not come back. What is killed when is told by the number of finished units, not by a clock.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

STUDY = ("-m", "AP,Q',nDCG@10", "--levels", "70,50,30,10", "--repeats", "8", "--resamples", "500", "--seed", "1")
OPTIONS: dict[str, Any] = {
    "measures": "AP,Q',nDCG@10",
    "levels": (70, 50, 30, 10),
    "repeats": 8,
    "resamples": 500,
    "seed": 1,
}


class Cluster:
    """A Dask scheduler and workers, each a process that can be killed."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._file = folder / "scheduler.json"
        self._file.unlink(missing_ok=True)
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-show")
        while not self._file.exists():
            time.sleep(0.1)
        self.workers: list[subprocess.Popen[bytes]] = []
        self.grow(workers)

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(self._file)]
        line += ["--no-dashboard", *options]
        return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @property
    def address(self) -> str:
        import json

        return str(json.loads(self._file.read_text("utf-8"))["address"])

    def grow(self, workers: int) -> None:
        """So many workers more; returns when they have arrived."""
        from distributed import Client

        options = (
            "--host",
            "127.0.0.1",
            "--nthreads",
            "1",
            "--no-nanny",
            "--memory-limit",
            "0",
            "--death-timeout",
            "120",
        )
        self.workers += [self._start("worker", *options) for _ in range(workers)]
        with Client(self.address, timeout="120s") as client:  # type: ignore[no-untyped-call]
            client.wait_for_workers(len(self.workers), timeout=300)

    def lose_worker(self) -> None:
        """Kill one, for good."""
        lost = self.workers.pop()
        lost.kill()
        lost.wait()

    def lose_scheduler(self) -> None:
        """Kill it."""
        self.scheduler.kill()
        self.scheduler.wait()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, at: TracebackType | None
    ) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


class Study:
    """One study from the command line, under several names: each has its table and its work folder."""

    def __init__(self, folder: Path, words: list[str]) -> None:
        self._folder, self._words = folder, words

    def path(self, name: str) -> Path:
        """Its table."""
        return self._folder / f"{name}.tsv"

    def table(self, name: str) -> bytes:
        """What was written."""
        return self.path(name).read_bytes()

    def finished(self, name: str) -> int:
        """Units in the work folder."""
        units = self._folder / name / "units"
        return sum(1 for p in units.iterdir() if not p.name.startswith(".")) if units.is_dir() else 0

    def follow(
        self, name: str, *more: str, events: Mapping[int, Callable[[], None] | None] | None = None
    ) -> tuple[int, str, float]:
        """Run it; an event happens when so many units are finished (None: the command is killed).

        Exit code, what stood on stderr, wall seconds.
        """
        line = [sys.executable, "-m", "unjudged", *self._words, "-o", str(self.path(name)), *more]
        began, left = time.perf_counter(), dict(events or {})
        with subprocess.Popen(
            [*line, "--workdir", str(self._folder / name)], stderr=subprocess.PIPE, text=True
        ) as child:
            while child.poll() is None:
                done = self.finished(name)
                for units in [u for u in left if u <= done]:
                    (left.pop(units) or child.kill)()
                time.sleep(0.01)
            assert child.stderr is not None
            told = child.stderr.read()
        assert not left, f"the study ended before {list(left)} units"
        return child.returncode, told, time.perf_counter() - began


def lost_workers(folder: Path, runs: int = 100, topics: int = 50) -> Iterator[str]:
    """All accidents, one sentence each; every table must have the bytes of the one made by a single process."""
    made = folder / "simulated"
    line = [sys.executable, "-m", "unjudged", "simulate", "--preset", "adhoc", "--topics", str(topics)]
    line += ["--teams", str(runs // 4), "--runs", str(runs), "-o", str(made)]
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    inputs = [str(made / "qrels.txt"), str(made / "runs"), "--teams", str(made / "teams.tsv")]
    study = Study(folder, ["study", "reduction", *inputs, *STUDY, "--format", "tsv"])
    code, _, wall = study.follow("alone", "--jobs", "1")
    assert code == 0
    alone, units = study.table("alone"), study.finished("alone")
    rows = alone.count(b"\n") - 1
    yield f"one process: {runs} runs x {topics} topics, {units} units, {rows} rows; {wall:.0f} s"
    quarter = units // 4
    with Cluster(folder, 5) as cluster:
        where = ("--cluster", cluster.address)
        events = {quarter * i: cluster.lose_worker for i in (1, 2, 3)}
        code, told, wall = study.follow("lost", *where, events=events)
        assert code == 0 and study.table("lost") == alone, told
        at = f"after {quarter}, {2 * quarter} and {3 * quarter} units"
        yield f"`--cluster`, five workers, three of them killed {at}: the same bytes; {wall:.0f} s"

        cluster.grow(3)
        began = time.perf_counter()
        assert by_executor(cluster, inputs, (quarter, 2 * quarter)) == alone
        wall = time.perf_counter() - began
        at = f"after {quarter} and {2 * quarter} units"
        yield f"Python `executor=`, five workers, two of them killed {at}: the same bytes; {wall:.0f} s"

        code, told, _ = study.follow("coordinator", *where, events={2 * quarter: None})
        assert code < 0 and not study.path("coordinator").exists(), told
        kept = study.finished("coordinator")
        code, told, wall = study.follow("coordinator", *where)
        assert code == 0 and study.table("coordinator") == alone and f"{kept} kept from before" in told, told
        yield f"the command itself killed after {kept} units, then given again: the same bytes; {wall:.0f} s more"

        code, told, wall = study.follow("scheduler", *where, events={2 * quarter: cluster.lose_scheduler})
        kept, last = study.finished("scheduler"), told.strip().splitlines()[-1]
        assert code == 2 and not study.path("scheduler").exists(), told
        yield f"the scheduler killed after {2 * quarter} units: exit code 2, {kept} units kept (`{last}`); {wall:.0f} s"
    with Cluster(folder, 3) as cluster:
        code, told, wall = study.follow("scheduler", "--cluster", cluster.address)
        assert code == 0 and study.table("scheduler") == alone and f"{kept} kept from before" in told, told
        yield f"the same command with a new scheduler: the same bytes; {wall:.0f} s more"


def by_executor(cluster: Cluster, inputs: list[str], lose_after: tuple[int, ...]) -> bytes:
    """The study from Python; a worker is lost whenever so many units are done."""
    from distributed import Client

    import unjudged as uj

    lost = []

    def progress(stage: str, done: int, total: int, before: int) -> None:
        if done in lose_after:
            cluster.lose_worker()
            lost.append(done)

    collection = uj.load(*inputs[:2], teams=inputs[3])
    with Client(cluster.address) as client:  # type: ignore[no-untyped-call]
        result = uj.study("reduction", collection, executor=client.get_executor(), progress=progress, **OPTIONS)
    assert tuple(lost) == lose_after
    return result.render("tsv").encode()
