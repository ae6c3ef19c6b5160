"""Files that hold several judges, of which `FILE#JUDGE` names one: JSON lines that say who judged, Quepid's books."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from unjudged.errors import InputError, nearest
from unjudged.io import files
from unjudged.text import listed

FORMATS = ("machine_jsonl", "quepid")


def module(format: str) -> Any:
    """The reader of such a format: `judges_in(path)`, `lines_by(path, judge)`, `read_qrels(path, reading, judge)`."""
    return importlib.import_module(f"unjudged.io.{format}")


def one_of(judges: Mapping[str, int | None] | Iterable[str], judge: str, path: str) -> None:
    """Refuse a judge who is not there, and a file of several where none is named.

    `judges` may say on which line each is met first.
    """
    names, source = list(judges), files.source_name(path)
    if judge and judge not in names:
        raise InputError(f"no judge {judge!r} here{nearest(judge, names)}; there are {listed(names, 6)}", source)
    if judge or len(names) < 2:
        return
    held = f"this file holds {len(names)} judges ({listed(names, 6)}), and one is needed"
    way = f"write it to a file and name one, FILE#{names[0]}" if path == files.STDIN else f"name one, {path}#{names[0]}"
    raise InputError(f"{held}: {way}", source, judges[names[1]] if isinstance(judges, Mapping) else None)
