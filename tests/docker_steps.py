"""The steps of the Dockerfile in a clean virtual environment, for machines without Docker.

    python tests/docker_steps.py [DOCKERFILE]

Every stage has a folder as its root and a new virtual environment as its Python; COPY copies, RUN runs with absolute
paths moved below the root. What the base images hold is not imitated: the Python is the one this runs with.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Step(NamedTuple):
    """One instruction of a Dockerfile."""

    word: str
    text: str


def steps(dockerfile: Path) -> list[Step]:
    """The instructions, comments left out and continued lines joined."""
    text = re.sub(r"\\\n\s*", "", dockerfile.read_text("utf-8"))
    lines = [line.strip() for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    return [Step(*line.split(None, 1)) for line in lines]


class Stage:
    """A stage of the build: its root folder, its Python, and where it works."""

    def __init__(self, folder: Path) -> None:
        self.root, self.inside = folder / "root", Path("/")
        self.root.mkdir(parents=True)
        self.python = folder / "python"
        venv.create(self.python, with_pip=True)

    def place(self, path: str) -> Path:
        """A path of the image, here."""
        return self.root / str(self.inside / path).lstrip("/")

    def run(self, command: str) -> None:
        """A shell command; its absolute paths are below the root."""
        moved = re.sub(r"(?<=\s)/(?=\w)", f"{shlex.quote(str(self.root))}/", command)
        where = self.place(".")
        where.mkdir(parents=True, exist_ok=True)
        path = f"{self.python / 'bin'}{os.pathsep}{os.environ['PATH']}"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
        subprocess.run(["sh", "-ec", moved], cwd=where, env={**kept, "PATH": path}, check=True)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        ignored = shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info")
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=ignored)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def build(dockerfile: Path, folder: Path) -> Stage:
    """Run all steps; the last stage."""
    stages: dict[str, Stage] = {}
    stage: Stage | None = None
    for number, step in enumerate(steps(dockerfile)):
        print(f"{step.word} {step.text}", file=sys.stderr, flush=True)
        if step.word == "FROM":
            name = step.text.rpartition(" AS ")[2] if " AS " in step.text else str(number)
            stage = stages[name] = Stage(folder / name)
            continue
        assert stage is not None, "a Dockerfile begins with FROM"
        if step.word == "WORKDIR":
            stage.inside = Path("/") / step.text
        elif step.word == "COPY":
            *sources, target = step.text.split()
            origin = next((stages[s.partition("=")[2]].root for s in sources if s.startswith("--from=")), ROOT)
            for source in (s for s in sources if not s.startswith("--")):
                found = origin / source.lstrip("/")
                into = stage.place(target) if found.is_dir() else stage.place(target) / found.name
                _copy(found, into)
        elif step.word == "RUN":
            stage.run(step.text)
    assert stage is not None
    return stage


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "Dockerfile", Path(temporary))
    print("all steps done")
