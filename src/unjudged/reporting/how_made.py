"""How was this made? Command, versions, seed, hashes, settings and limits: what it takes to make it again."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from unjudged.reporting.sections import Asking, Section

HOW = (
    "The same inputs, settings, seed and versions give the same file. The data below tell them all, with the limits of "
    "every verdict and its source."
)
_PACKAGES = ("numpy", "scipy", "vl-convert-python")


def how_made(asking: Asking) -> Section:
    """One row per fact."""
    from unjudged import __version__
    from unjudged.kernels import IN_USE

    provenance = asking.provenance
    rows: list[tuple[Any, ...]] = [("command", "call", asking.call or "uj.report(...) in Python")]
    rows += [
        ("version", "unjudged", f"{__version__} ({IN_USE} kernels)"),
        ("version", "python", platform.python_version()),
    ]
    rows += [("version", name, _version(name)) for name in _PACKAGES]
    rows += [("setting", name, _text(value)) for name, value in provenance.settings.items()]
    rows += [("input (SHA-256)", path, digest or "in memory") for path, digest in provenance.hashes().items()]
    for t in asking.limits.limits.values():
        needed = ", ".join(f"{number} {what}" for what, number in t.needed.items())
        least = f"; at least {needed}, else unknown" if needed else ""
        rows.append(("limit", t.key, f"{t.what}: {t.sentence}{least} ({t.source})"))
    return Section("how-made", "How was this made?", HOW, asking.result(("kind", "name", "value"), rows))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _text(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, default=str)
