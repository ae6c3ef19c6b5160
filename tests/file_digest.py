"""One hash over the files of a folder, to compare folders."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digest(folder: Path, *names: str) -> str:
    """One hash over the files whose names begin so (all of them when none is named)."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and (not names or name.startswith(names)):
            whole.update(name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()
