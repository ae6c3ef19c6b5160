"""The local page: the report with controls, on this computer only.

    serve(collection)      # http://127.0.0.1:8765, until interrupted

`state` is what the URL says, `jobs` computes in the background, `uploads` takes new runs, `topics` sets two runs side
by side, `guard` keeps everybody else out, `app` ties them together.
"""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING, Any

from unjudged.collection import Collection
from unjudged.options import check, default

if TYPE_CHECKING:
    from unjudged.reporting import Settings
    from unjudged.thresholds import Thresholds

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
    **work: Any,
) -> None:
    """Serve the page for a collection until interrupted. `max_upload` is in megabytes, `work` as in `Page`."""
    import uvicorn

    from unjudged.web.app import Page

    with listener(port) as bound:
        url = f"http://{HOST}:{bound.getsockname()[1]}/"
        with Page(collection, settings, thresholds, max_upload=max_upload * 1_000_000, **work) as app:
            print(f"The page is at {url} (Ctrl+C ends it). Nothing leaves this computer.", file=sys.stderr)
            if open_browser:
                import webbrowser

                webbrowser.open(url)
            config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off", server_header=False)
            uvicorn.Server(config).run(sockets=[bound])
