"""The local page: the report with controls, on this computer only.

    serve(collection)      # http://127.0.0.1:8765/?token=..., until interrupted; /judge is the judging page

`state` is what the URL says, `jobs` computes in the background, `uploads` takes new runs, `topics` sets two runs side
by side, `judging` is the page for judges, `guard` keeps everybody else out, `connections` are those to the browser,
`app` ties them together.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unjudged.collection import Collection
from unjudged.options import check, default

if TYPE_CHECKING:
    from unjudged.reporting import Settings
    from unjudged.thresholds import Thresholds
    from unjudged.web.judging import Desk

HOST = "127.0.0.1"
PORT: int = default("port")


def listener(port: int = PORT) -> socket.socket:
    """A socket bound to this computer alone; any free port where the given one is taken, port 0 likewise."""
    check("port", port)
    taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((HOST, port))
    except OSError:
        taken.bind((HOST, 0))
    return taken


def serve(
    collection: Collection,
    *,
    settings: Settings | None = None,
    thresholds: Thresholds | None = None,
    port: int = PORT,
    open_browser: bool = False,
    max_upload: int = 100,
    desk: Desk | None = None,
    first: str = "",
    **work: Any,
) -> None:
    """Serve the page for a collection until interrupted.

    `max_upload` is in megabytes, `desk` is the judging page's, `first` is the page to begin with, `work` as in
    `Page`. The address that is printed holds a secret: whoever knows it sees the page. An interrupt ends the program at
    once, a computation under way too.
    """
    import uvicorn

    from unjudged.web.app import Page
    from unjudged.web.connections import ended_by_signals, settings_of

    code, before = None, threading.enumerate()
    with listener(port) as bound, ended_by_signals():
        page = Page(collection, settings, thresholds, max_upload=max_upload * 1_000_000, desk=desk, **work)
        try:
            with page as app:
                url = f"http://{HOST}:{bound.getsockname()[1]}/{first}?{app.secret}"
                print(f"The page is at {url} (Ctrl+C ends it). Nothing leaves this computer.", file=sys.stderr)
                if open_browser:
                    _open(url, app.uploads.folder)
                uvicorn.Server(settings_of(app)).run(sockets=[bound])
        except (KeyboardInterrupt, SystemExit) as end:
            if not page.jobs.busy and not _at_work(before):
                raise
            code = end.code if isinstance(end, SystemExit) and isinstance(end.code, int) else 130
    if code is not None:  # everything is put away, but a computation is between two of its steps, or a file being read
        print("unjudged: interrupted", file=sys.stderr, flush=True)
        os._exit(code)


def _at_work(before: Sequence[threading.Thread]) -> bool:
    """Is a request still worked on, in a thread that Python would wait for, after a last moment?"""
    from unjudged.web.connections import LEAVING

    ends = time.monotonic() + LEAVING
    ours = [thread for thread in threading.enumerate() if thread not in before and not thread.daemon]
    for thread in ours:
        thread.join(max(0.0, ends - time.monotonic()))
    return any(thread.is_alive() for thread in ours)


def _open(url: str, folder: Path) -> None:
    """Show the page in the browser, by a file that only this user can read: words of commands are seen by everybody."""
    import html
    import webbrowser

    way = folder / "open.html"
    way.write_text(f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={html.escape(url)}">', "utf-8")
    webbrowser.open(way.as_uri())
