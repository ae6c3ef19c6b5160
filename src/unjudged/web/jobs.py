"""Work in the background: one thread, progress, and an end when asked."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from unjudged.errors import UnjudgedError, UsageError
from unjudged.reporting import Cancelled, Report, Section
from unjudged.web.memory import give_back

WAITING, KEPT = 8, 8
"""Unfinished jobs that may wait, finished ones that are remembered."""
AT_THE_END = 1.0
"""Seconds that a computation has to stop when the page is closed."""

Work = Callable[["Job"], Iterator[Section]]
"""Yields sections as they are ready; sets `job.report` at the end."""
Show = Callable[[Section], dict[str, Any]]
"""Makes of a section what the page is sent: once, in the thread that works, however often somebody looks."""


@dataclass
class Job:
    """One computation: its sections so far, how far it is, and how it ended."""

    number: int
    key: Any
    total: int
    sections: list[dict[str, Any]] = field(default_factory=list)
    """As the page shows them."""
    state: str = "waiting"
    now: str = ""
    share: float = 0.0
    message: str = ""
    report: Report | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def tell(self, now: str, share: float) -> None:
        """Where the work is; raises Cancelled when it should end."""
        if self.stop.is_set():
            raise Cancelled
        self.now, self.share = now, share

    @property
    def over(self) -> bool:
        """Done, failed or cancelled?"""
        return self.ended.is_set()


class Jobs:
    """All jobs of a page, worked on one after the other."""

    def __init__(self, show: Show) -> None:
        self._show = show
        self._queue: SimpleQueue[tuple[Job, Work] | None] = SimpleQueue()
        self._worker = threading.Thread(target=self._work, name="unjudged-page", daemon=True)
        self._worker.start()
        self._jobs: dict[int, Job] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def start(self, key: Any, total: int, work: Work) -> Job:
        """A job for this key: the one under way or done, else a new one."""
        with self._lock:
            for job in self._jobs.values():
                if job.key == key and not job.stop.is_set() and job.state != "failed":
                    return job
            if sum(not job.over for job in self._jobs.values()) >= WAITING:
                raise UsageError("too many computations are waiting; cancel one")
            job = Job(next(self._numbers), key, total)
            self._jobs[job.number] = job
            finished = [number for number, old in self._jobs.items() if old.over]
            for number in finished[: max(0, len(finished) - KEPT)]:
                del self._jobs[number]
            self._queue.put((job, work))
            return job

    def get(self, number: int) -> Job | None:
        """A job by its number."""
        with self._lock:
            return self._jobs.get(number)

    def cancel(self, job: Job) -> None:
        """End a job at its next step; one that waits ends at once."""
        job.stop.set()

    def close(self) -> None:
        """End everything; a computation that does not stop soon is left behind (`busy`)."""
        with self._lock:
            for job in self._jobs.values():
                job.stop.set()
        self._queue.put(None)
        self._worker.join(AT_THE_END)

    @property
    def busy(self) -> bool:
        """After `close`: is a computation still under way?"""
        return self._worker.is_alive()

    def _work(self) -> None:
        while (asked := self._queue.get()) is not None:
            self._run(*asked)
            del asked  # the next one may take long to come

    def _run(self, job: Job, work: Work) -> None:
        try:
            job.tell("", 0.0)
            job.state = "running"
            for section in _watched(work(job), job):
                job.sections.append(self._show(section))
            job.share, job.state = 1.0, "done"
        except Cancelled:
            job.state = "cancelled"
        except UnjudgedError as problem:
            job.state, job.message = "failed", str(problem)
        except Exception:
            logging.getLogger("unjudged").exception("a computation failed")
            job.state, job.message = "failed", "this computation failed; the terminal says more"
        finally:
            job.ended.set()
            give_back()


def _watched(sections: Iterable[Section], job: Job) -> Iterator[Section]:
    for section in sections:
        yield section
        job.tell(job.now, job.share)
