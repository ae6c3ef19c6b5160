"""Where work units run: in this process, in local processes, or on any `concurrent.futures.Executor`.

A unit's value depends on the shared inputs and the unit alone, never on where, when or in which order it ran.
The shared inputs travel to each worker once. Units of a lost worker are run again.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, as_completed
from typing import Any

from unjudged.errors import UsageError
from unjudged.processes import context, end_with_parent, without_main
from unjudged.studies.engine.workdir import Arrays

Unit = Any
Work = Callable[[Any, Unit], Arrays]
"""Shared inputs and one unit in, arrays by name out. Defined at the top of a module, so that workers find it."""

_LOST_ROUNDS = 3
"""So often in a row may all workers be lost without one finished unit."""
_WORTH_PROCESSES = 1.0
"""Seconds of remaining work from which local processes pay, where their number was not given."""

_held: dict[str, tuple[Work, Any]] = {}
"""In a worker: the work and its shared inputs by key; only the latest stay."""


def cores() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_units(
    work: Work, shared: Any, units: Sequence[Unit], key: str, *, executor: Executor | None, jobs: int | None
) -> Generator[tuple[int, Arrays], None, None]:
    """(place, value) of every unit, in the order they finish."""
    if executor is not None:
        yield from _Given(executor).run(work, shared, units, key)
        return
    done = 0
    if jobs is None:
        began = 0.0
        for done, unit in enumerate(units, 1):
            yield done - 1, work(shared, unit)
            if done == 1:
                began = time.perf_counter()  # the first unit also loads what it needs; it says little
            elif (time.perf_counter() - began) / (done - 1) * (len(units) - done) > _WORTH_PROCESSES:
                break
    workers = min(jobs if jobs is not None else cores(), len(units) - done)
    if workers <= 1:
        for place in range(done, len(units)):
            yield place, work(shared, units[place])
        return
    for place, value in _Local(workers).run(work, shared, units[done:], key):
        yield done + place, value


class _Rounds:
    """Hands out the units, and hands out again what was lost with its worker."""

    def run(self, work: Work, shared: Any, units: Sequence[Unit], key: str) -> Iterator[tuple[int, Arrays]]:
        left = dict(enumerate(units))
        failures = 0
        while left:
            before = len(left)
            lost: BaseException | None = None
            try:
                futures = self._submit(work, shared, left, key)
                for future in as_completed(futures):
                    try:
                        value = future.result()
                    except BaseException as problem:
                        if not _is_loss(problem):
                            raise
                        lost = problem
                        continue
                    if value is not None:
                        place = futures[future]
                        del left[place]
                        yield place, value
            except BrokenExecutor as problem:
                lost = problem
            except BaseException:
                self._close(now=True)
                raise
            self._close(now=lost is not None)
            failures = failures + 1 if lost is not None and len(left) == before else 0
            if failures >= _LOST_ROUNDS:
                yield from self._at_last(work, shared, left, lost)
                return

    def _submit(self, work: Work, shared: Any, left: dict[int, Unit], key: str) -> dict[Future[Any], int]:
        raise NotImplementedError

    def _close(self, *, now: bool) -> None:
        """After a round."""

    def _at_last(
        self, work: Work, shared: Any, left: dict[int, Unit], lost: BaseException | None
    ) -> Iterator[tuple[int, Arrays]]:
        raise UsageError(
            f"the workers were lost {_LOST_ROUNDS} times in a row ({str(lost).rstrip('.')}); they may need more "
            "memory: give fewer jobs, or 1 to stay in this process"
        )


class _Local(_Rounds):
    """Processes of our own; the inputs travel when a process starts."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def _submit(self, work: Work, shared: Any, left: dict[int, Unit], key: str) -> dict[Future[Any], int]:
        blob = _packed((work, shared))
        begun = context("unjudged.studies.engine.execution")
        self._pool = ProcessPoolExecutor(min(self._workers, len(left)), begun, _receive, (key, blob))
        with without_main(), _deaf():
            return {self._pool.submit(_do, key, unit): place for place, unit in left.items()}

    def _close(self, *, now: bool) -> None:
        if self._pool is None:
            return
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        self._pool.shutdown(wait=not now, cancel_futures=True)
        if now:
            for process in processes:
                process.terminate()
        self._pool = None


class _Given(_Rounds):
    """Somebody's executor: Dask gets the inputs scattered; others with the first units, and where they are missing."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._futures: dict[Future[Any], int] = {}
        self._sent = False
        self._blob = b""

    def _submit(self, work: Work, shared: Any, left: dict[int, Unit], key: str) -> dict[Future[Any], int]:
        submit: Callable[..., Future[Any]] = self._executor.submit
        client = getattr(self._executor, "_client", None)
        if client is not None and type(client).__module__.startswith("distributed"):
            there = _scattered(client, shared)
            self._futures = {submit(work, there, unit, pure=False): place for place, unit in left.items()}
            return self._futures
        if not self._sent:
            _held[key] = work, shared  # threads of this process find it here
            self._blob = _packed((work, shared))
        first = getattr(self._executor, "_max_workers", 1) if not self._sent else len(left)
        self._sent = True
        self._futures = {
            submit(_do, key, unit, self._blob if number < first else None): place
            for number, (place, unit) in enumerate(left.items())
        }
        return self._futures

    def _close(self, *, now: bool) -> None:
        for future in self._futures:
            future.cancel()

    def _at_last(
        self, work: Work, shared: Any, left: dict[int, Unit], lost: BaseException | None
    ) -> Iterator[tuple[int, Arrays]]:
        """A broken executor cannot be mended from here; the rest is done in this process."""
        for place, unit in left.items():
            yield place, work(shared, unit)


def _scattered(client: Any, shared: Any) -> Any:
    """The inputs on every worker of a Dask cluster."""
    try:
        return client.scatter(shared, broadcast=True, hash=False)
    except (TimeoutError, OSError) as problem:
        raise UsageError(f"the Dask cluster has no workers to send the inputs to ({problem})") from None


def _is_loss(problem: BaseException) -> bool:
    """Was the worker lost (and not the unit at fault)?"""
    known = isinstance(problem, (BrokenExecutor, CancelledError, ConnectionError))
    return known or type(problem).__module__.partition(".")[0] == "distributed"


def _packed(things: Any) -> bytes:
    """Pickled; with cloudpickle where it is there, so that measures and studies of a notebook travel, too."""
    packer: Any = pickle
    with contextlib.suppress(ImportError):
        import cloudpickle  # type: ignore[import-untyped, import-not-found, unused-ignore]

        packer = cloudpickle
    try:
        return bytes(packer.dumps(things, protocol=pickle.HIGHEST_PROTOCOL))
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise UsageError(
            f"the inputs cannot be sent to other processes ({problem}); install cloudpickle, or give jobs=1"
        ) from None


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Ctrl-C waits until processes have begun: one in the middle of its beginning would complain at length. They never
    hear it; it is this process's business."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # it sets signals as it likes, so it comes first
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _receive(key: str, blob: bytes) -> None:
    """In a new local process: take the inputs; Ctrl-C is the parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    _held[key] = pickle.loads(blob)


def _do(key: str, unit: Unit, blob: bytes | None = None) -> Arrays | None:
    """In a worker: one unit, or None where work and inputs have not arrived yet."""
    if key not in _held:
        if blob is None:
            return None
        if len(_held) > 1:
            _held.clear()
        _held[key] = pickle.loads(blob)
    work, shared = _held[key]
    value: Arrays = work(shared, unit)
    return value
