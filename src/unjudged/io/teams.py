"""Which team a run belongs to: a TSV `run<TAB>team` with header, PoolBiasEstimators' XML, or ir_metadata (YAML)."""

from __future__ import annotations

from pathlib import Path

from unjudged.errors import InputError
from unjudged.io import files
from unjudged.io.ids import to_text

HEADS = (("run", "team"), ("run", "block"))
"""First lines that name the columns, whatever group of runs is asked for."""


def is_metadata(path: str) -> bool:
    """Is this ir_metadata: YAML, a run that begins with it, or a folder with such files?"""
    if Path(path).suffix.lower() in (".yml", ".yaml") or Path(path).is_dir():
        return True
    from unjudged.io import ir_metadata

    return ir_metadata.in_run(path)


def read_teams(path: str, what: str = "team") -> dict[str, str]:
    """Run name -> team name, in the order of the file; or another group of runs (`what`) that stands there."""
    if is_metadata(path):
        from unjudged.io import ir_metadata

        return ir_metadata.teams(path)
    raw = files.read_all(path)
    if raw.lstrip()[:1] == b"<":
        return _from_xml(raw, path)
    teams: dict[str, str] = {}
    for number, line in enumerate(to_text(raw).split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip() or (number == 1 and tuple(line.casefold().split("\t")[:2]) in (("run", what), *HEADS)):
            continue
        fields = line.split("\t")
        if len(fields) < 2 or not fields[0].strip() or not fields[1].strip():
            raise InputError(f"a {what} line needs run<TAB>{what}, found {line[:60]!r}", path, number)
        _add(teams, fields[0].strip(), fields[1].strip(), path, number, what)
    if not teams:
        raise InputError(f"no {'families' if what == 'family' else f'{what}s'} in this file", path)
    return teams


def _add(teams: dict[str, str], run: str, team: str, path: str, line: int | None, what: str = "team") -> None:
    if teams.setdefault(run, team) != team:
        groups = "families" if what == "family" else f"{what}s"
        raise InputError(f"run {run} belongs to two {groups}, {teams[run]} and {team}", path, line)


def _from_xml(raw: bytes, path: str) -> dict[str, str]:
    from xml.etree import ElementTree

    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
        raise InputError("XML with a document type is not accepted", path)
    try:
        root = ElementTree.fromstring(raw)
    except ElementTree.ParseError as problem:
        raise InputError(f"this XML cannot be read ({problem})", path, problem.position[0]) from None
    teams: dict[str, str] = {}
    for element in root.iter():
        found = {child.tag.casefold(): (child.text or "").strip() for child in element}
        if found.get("tag") and found.get("organization"):
            _add(teams, found["tag"], found["organization"], path, None)
    if not teams:
        raise InputError("no <tag> with an <organization> in this XML", path)
    return teams
