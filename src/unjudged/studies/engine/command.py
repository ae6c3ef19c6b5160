"""The words of a command that reads a collection as it was read: QRELS RUN... and the reading options."""

from __future__ import annotations

from pathlib import Path

from unjudged.collection import Collection


def words_of(collection: Collection) -> tuple[str, ...]:
    """Judgments, runs (their folder where it holds just these) and options; `QRELS`, `RUN` for objects in memory."""
    qrels, *runs = collection.full.sources
    read = collection.settings
    words = [qrels if Path(qrels).is_file() else "QRELS", *_runs(runs)]
    if read.get("teams"):
        words += ["--teams", str(read["teams"])]
    if read["ties"] != "trec10":
        words += ["--ties", read["ties"]]
    if read["truncate"] is not None:
        words += ["--truncate", str(read["truncate"])]
    if read["only"]:
        words += ["--only", read["only"]]
    if read["negative grades"] != "unjudged":
        words += ["--negative", read["negative grades"]]
    if isinstance(read["gains"], dict):
        words += ["--gains", ",".join(f"{grade}:{gain:g}" for grade, gain in read["gains"].items())]
    words += [f"--{flag}" for flag in ("lenient", "strict", "qa") if read.get(flag)]
    return tuple(words)


def _runs(files: list[str]) -> list[str]:
    if not all(Path(file).is_file() for file in files):
        return ["RUN"]
    folders = {Path(file).parent for file in files}
    if len(folders) == 1 and len(files) > 1:
        (folder,) = folders
        if {path.name for path in folder.iterdir() if not path.name.startswith(".")} == {Path(f).name for f in files}:
            return [str(folder)]
    return files
