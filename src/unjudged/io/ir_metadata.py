"""ir_metadata (Breuer et al. 2022): who made a run, and how, as YAML beside the run or in its first lines.

    # ir_metadata.start                      ir_metadata.yml:
    # tag: bm25                              tag: bm25
    # actor: {team: CMU}                     actor: {team: CMU}
    # ir_metadata.end

LongEval and AutoJudge ask for `ir_metadata.yml` beside the runs. Read here: the tag (the name of the run), the team,
and everything else as it stands, for the provenance. A file may describe several runs, one document (`---`) for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unjudged.errors import InputError, UsageError
from unjudged.io import files
from unjudged.io.ids import to_text
from unjudged.io.write import write_whole

START, END = "ir_metadata.start", "ir_metadata.end"
MOST = 10_000
"""Values of all descriptions together that a provenance holds: YAML's references can make a short file very long."""


def _yaml() -> Any:
    try:
        import yaml
    except ImportError:
        raise UsageError("ir_metadata is YAML, which needs PyYAML; pip install pyyaml") from None
    return yaml


def read(path: str | Path) -> list[dict[str, Any]]:
    """The descriptions in a YAML file, in the first lines of a run, or of all such files below a folder."""
    where = Path(path)
    if where.is_dir():
        inside = [f for f in sorted(where.rglob("*")) if f.is_file()]
        found = [f for f in inside if f.name in files.METADATA or in_run(str(f))]
        if not found:
            raise InputError(
                f"no {files.METADATA[0]} in this folder or below, and no run that begins with it", str(path)
            )
        return [one for file in found for one in read(file)]
    text, source = to_text(files.read_all(str(path))), files.source_name(str(path))
    if text.startswith("#"):
        text = _from_header(text, source)
    yaml = _yaml()
    try:
        documents = [one for one in yaml.safe_load_all(text) if one is not None]
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        raise InputError("this YAML cannot be read", source, line) from None
    for one in documents:
        if not isinstance(one, dict):
            raise InputError("ir_metadata is an object with keys such as tag and actor", source)
    if not documents:
        raise InputError("no ir_metadata in this file", source)
    return documents


def in_run(path: str) -> bool:
    """Does this file begin with its metadata?"""
    if files.kind(path) != "file":
        return False
    first = next((line for _, line in files.lines(path)), b"")
    return first.lstrip(b"#").strip() == START.encode()


def _from_header(text: str, source: str) -> str:
    lines = text.split("\n")
    bare = [line.lstrip("#").strip() for line in lines]
    if START not in bare:
        raise InputError(f"no line '# {START}' in this run", source)
    first = bare.index(START)
    if END not in bare[first:]:
        raise InputError(f"'# {START}' without '# {END}'", source, first + 1)
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[first + 1 : bare.index(END, first)])


def teams(path: str | Path) -> dict[str, str]:
    """Run (its tag) -> team; what has no team is left out."""
    found: dict[str, str] = {}
    for one in read(path):
        actor = one.get("actor")
        team = actor.get("team") if isinstance(actor, Mapping) else None
        if one.get("tag") is not None and team is not None:
            run = str(one["tag"])
            if found.setdefault(run, str(team)) != str(team):
                raise InputError(f"run {run} belongs to two teams, {found[run]} and {team}", str(path))
    if not found:
        raise InputError("no tag with an actor's team in this ir_metadata", str(path))
    return found


def plain(path: str | Path) -> list[dict[str, Any]]:
    """The descriptions as a provenance holds them: text, numbers, lists and objects; dates as text."""
    left = MOST

    def told(value: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise InputError(f"this ir_metadata holds more than {MOST:,} values", str(path))
        if isinstance(value, Mapping):
            return {str(key): told(inside) for key, inside in value.items()}
        if isinstance(value, (list, tuple, set)):
            return [told(inside) for inside in value]
        return value if value is None or isinstance(value, (str, int, float)) else str(value)

    return [{str(key): told(value) for key, value in one.items()} for one in read(path)]


def write(path: str | Path, described: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
    """One description or several as YAML, keys in the order given."""
    several = [described] if isinstance(described, Mapping) else list(described)
    text = _yaml().safe_dump_all(several, sort_keys=False, allow_unicode=True, explicit_start=len(several) > 1)
    write_whole(path, text.encode())
