"""The local page in a thread of the test, with a hold on its computations."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Self

import httpx
import uvicorn

import unjudged as uj
from unjudged.web import listener
from unjudged.web.app import Page
from unjudged.web.connections import Connection, settings_of
from unjudged.web.guard import TOKEN

WAIT = 300.0


class Served:
    """A running page. While `hold` is cleared, the working thread waits before each section."""

    def __init__(self, collection: uj.Collection, *, connection: type[Connection] = Connection, **options: Any) -> None:
        self.hold = threading.Event()
        self.hold.set()
        self.held = threading.Event()
        self.app = Page(collection, before_section=self._before, **options)
        self.socket = listener(0)
        self.port = self.socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.server = uvicorn.Server(settings_of(self.app, connection))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)

    def _before(self, key: str) -> None:
        if not self.hold.is_set():
            self.held.set()
            assert self.hold.wait(WAIT)

    def __enter__(self) -> Self:
        self.thread.start()
        transport = httpx.HTTPTransport(retries=10)  # until the server listens
        self.client = httpx.Client(base_url=self.url, timeout=WAIT, transport=transport)
        assert self.client.get(f"/?{self.app.secret}").status_code == 303  # whoever knows the secret gets a cookie
        assert self.client.get("/api/collection").status_code == 200
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hold.set()
        self.client.close()
        self.server.should_exit = True
        self.thread.join(WAIT)
        self.app.__exit__(None, None, None)
        self.socket.close()

    def address(self, path: str = "/") -> str:
        """Where a browser is let in: this path (with its query) and the secret."""
        return f"{self.url}{path}{'&' if '?' in path else '?'}{self.app.secret}"

    @property
    def token(self) -> dict[str, str]:
        """The header that changes need."""
        return {TOKEN: self.app.token}

    def start(self, **state: Any) -> int:
        """Start a job; its number."""
        answer = self.client.post("/api/jobs", json=state, headers=self.token)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["job"])

    def finished(self, number: int) -> dict[str, Any]:
        """A job once it is over."""
        job = self.app.jobs.get(number)
        assert job is not None and job.ended.wait(WAIT)
        found: dict[str, Any] = self.client.get(f"/api/jobs/{number}").json()
        return found
