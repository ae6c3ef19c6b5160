"""Connections of the local page: who begins a request must end it, and whoever stops the program is obeyed at once."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 15.0
"""Seconds that the head of a request may take, and that a connection may lie idle."""
GRACE = 1.0
"""Seconds between the end of patience and hanging up: a computation may have kept us from reading what had come, and
whoever closes on unread bytes resets the connection."""
LEAVING = 1
"""Seconds that open answers have when the program ends."""


class Connection(H11Protocol):
    """One connection; closed where the head of a request does not arrive whole in time."""

    patience, grace = PATIENCE, GRACE
    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """From now on a request is expected."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """A piece of a request; the clock runs from its first one."""
        super().data_received(data)
        self._expect()

    def on_response_complete(self) -> None:
        """The next request may follow."""
        super().on_response_complete()
        self._expect()

    def timeout_keep_alive_handler(self) -> None:
        """No other request came; what has come meanwhile is read before the connection ends."""
        self.timeout_keep_alive_task = self.loop.call_later(self.grace, super().timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is expected any more."""
        self._forget()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._forget()
        elif self._waiting is None:
            self._waiting = self.loop.call_later(self.patience, self._hang_up)

    def _forget(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _hang_up(self) -> None:
        self._waiting = self.loop.call_later(self.grace, self._cut)

    def _cut(self) -> None:
        self._waiting = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


def settings_of(app: Any, connection: type[H11Protocol] = Connection) -> uvicorn.Config:
    """How the page is served."""
    return uvicorn.Config(
        app,
        http=connection,
        ws="none",
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_keep_alive=int(PATIENCE),
        timeout_graceful_shutdown=LEAVING,
    )


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """SIGTERM and a closed terminal end the program by an exception, so that what must be removed is removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {}
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            number = getattr(signal, name)
            before[number] = signal.signal(number, _end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
