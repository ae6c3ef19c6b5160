"""Who may ask what: this computer only, no other host names, no other sites, nothing loaded from elsewhere."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

NAMES = ("127.0.0.1", "localhost")
TOKEN = "x-unjudged-token"
READING = ("GET", "HEAD")

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
    """Refuses other hosts, other sites, and changes without the page's token; adds the safe headers."""

    def __init__(self, app: App, token: str) -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # no web sockets here
            return
        headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        refused = self._refusal(scope["method"], headers)

        async def safely(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message.get("headers", [])}
                more = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in given]
                message["headers"] = [*message.get("headers", []), *more]
            await send(message)

        if refused is None:
            await self.app(scope, receive, safely)
            return
        status, sentence = refused
        body = sentence.encode()
        kind = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
        await safely({"type": "http.response.start", "status": status, "headers": [*kind, (b"connection", b"close")]})
        await safely({"type": "http.response.body", "body": body})

    def _refusal(self, method: str, headers: Iterable[tuple[str, str]]) -> tuple[int, str] | None:
        held: dict[str, list[str]] = {}
        for name, value in headers:
            held.setdefault(name, []).append(value)
        hosts = held.get("host", [])
        if len(hosts) != 1 or not _own(hosts[0]):
            return 421, "This page answers to 127.0.0.1 and localhost only."
        origin = held.get("origin", [f"http://{hosts[0]}"])
        if method not in READING and (
            origin != [f"http://{hosts[0]}"] or held.get("sec-fetch-site", ["same-origin"]) != ["same-origin"]
        ):
            return 403, "Requests from other sites are refused."
        if method not in READING:
            token = held.get(TOKEN, [""])
            if len(token) != 1 or not hmac.compare_digest(token[0].encode("latin-1"), self.token.encode()):
                return 403, "The page's token is missing; reload the page."
        return None


def _own(host: str) -> bool:
    name, _, port = host.partition(":")
    return name.lower() in NAMES and (not port or (port.isascii() and port.isdigit()))
