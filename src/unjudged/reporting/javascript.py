"""Vega's JavaScript from the installed vl-convert, made once per version and kept in the user's cache folder."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

from unjudged.errors import InputError


def cache_folder() -> Path:
    """Where things that can be made again are kept: UNJUDGED_CACHE, or the system's place."""
    if own := os.environ.get("UNJUDGED_CACHE"):
        return Path(own)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "unjudged"
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "unjudged"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "unjudged" / "Cache"
    return home / ".cache" / "unjudged"


@cache
def vega() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script; bundling takes seconds, so the result is kept on disk."""
    from unjudged.io.write import write_whole

    kept = cache_folder() / f"vega-embed-{version('vl-convert-python')}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        text = kept.read_text("utf-8")
        if text.endswith(_END):
            return text
    import vl_convert

    text = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")) + _END
    with contextlib.suppress(OSError, InputError):  # a folder that cannot be written costs seconds, nothing else
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_whole(str(kept), text.encode("utf-8"))
    return text


_END = "\n/* the end */\n"
