"""Who may ask what: this computer only, those who know the secret, no other host names, no other sites, nothing loaded
from elsewhere.

The secret stands in the address that the program prints (`?token=...`), as notebooks do it. Whoever opens it gets a
cookie and the same address without the secret; everybody else on this computer gets a sentence.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

NAMES = ("127.0.0.1", "localhost")
TOKEN = "x-unjudged-token"
IN_ADDRESS = "token"
READ_AWAY = 65_536
"""Bytes of a refused request that are read before the answer."""
READING = ("GET", "HEAD")
PATIENCE = 30.0
"""Seconds to wait for the next piece of a request."""
STRANGER = (
    "This page is for the user who started it. "
    "Open the address that the terminal shows; it ends in a secret (?token=...).\n"
)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Refuses other hosts, other sites, those without the secret, and changes without it in a header; adds the safe
    headers."""

    def __init__(self, app: App, token: str) -> None:
        self.app, self.token, self.patience = app, token, PATIENCE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # no web sockets here
            return
        held: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            held.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

        async def safely(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message.get("headers", [])}
                more = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in given]
                message["headers"] = [*message.get("headers", []), *more]
            await send(message)

        refused = self._refusal(scope["method"], held)
        if refused is not None:
            if scope["method"] not in READING:
                await self._read_away(receive)
            await _answer(safely, refused[0], refused[1], {"connection": "close"})
            return
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        shown = [value for name, value in query if name == IN_ADDRESS]
        if shown and scope["method"] in READING and self._right(shown):
            rest = urlencode([pair for pair in query if pair[0] != IN_ADDRESS])
            path = scope.get("raw_path", b"/").decode("latin-1")
            place = "/" + path.lstrip("/\\") + (f"?{rest}" if rest else "")
            cookie = f"{cookie_name(held['host'][0])}={self.token}; Path=/; HttpOnly; SameSite=Lax"
            await _answer(safely, 303, "", {"location": place, "set-cookie": cookie})
            return
        if not (self._right(held.get(TOKEN, [])) or self._right(_cookies(held))):
            await _answer(safely, 403, STRANGER, {"connection": "close"})
            return
        await self.app(scope, self._in_time(receive), safely)

    async def _read_away(self, receive: Receive) -> None:
        """A short body of a refused request: who closes on unread bytes resets the connection before the answer."""
        left, more = READ_AWAY, True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.patience):  # for all of it: nobody is let in who sends byte after byte
                while more and left > 0:
                    piece = await receive()
                    left -= len(piece.get("body", b""))
                    more = piece.get("more_body", False)

    def _in_time(self, receive: Receive) -> Receive:
        async def next_piece() -> MutableMapping[str, Any]:
            try:
                return await asyncio.wait_for(receive(), self.patience)
            except TimeoutError:
                return {"type": "http.disconnect"}

        return next_piece

    def _right(self, given: list[str]) -> bool:
        return len(given) == 1 and hmac.compare_digest(given[0].encode("utf-8", "replace"), self.token.encode())

    def _refusal(self, method: str, held: dict[str, list[str]]) -> tuple[int, str] | None:
        hosts = held.get("host", [])
        if len(hosts) != 1 or not _own(hosts[0]):
            return 421, "This page answers to 127.0.0.1 and localhost only.\n"
        if method in READING:
            return None
        own = [f"http://{hosts[0]}"]
        if held.get("origin", own) != own or held.get("sec-fetch-site", ["same-origin"]) != ["same-origin"]:
            return 403, "Requests from other sites are refused.\n"
        if not self._right(held.get(TOKEN, [])):
            return 403, "The page's token is missing; reload the page.\n"
        return None


def cookie_name(host: str) -> str:
    """The cookie of the page at this host and port; cookies know no ports, so that each page has its own name."""
    return f"unjudged-{host.partition(':')[2] or 80}"


def _cookies(held: dict[str, list[str]]) -> list[str]:
    wanted = cookie_name(held["host"][0])
    pairs = (pair.strip().partition("=") for line in held.get("cookie", []) for pair in line.split(";"))
    return [value for name, _, value in pairs if name == wanted]


async def _answer(send: Send, status: int, sentence: str, more: dict[str, str]) -> None:
    body = sentence.encode()
    headers = {"content-type": "text/plain; charset=utf-8", "content-length": str(len(body)), **more}
    said = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": said})
    await send({"type": "http.response.body", "body": body})


def _own(host: str) -> bool:
    name, _, port = host.partition(":")
    return name.lower() in NAMES and (not port or (port.isascii() and port.isdigit()))
