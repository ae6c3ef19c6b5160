"""What the guides show is what happens: every command of their console blocks is run, every output compared."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import unjudged as uj
import unjudged.studies
from unjudged.cli import main

DOCS = Path(__file__).parent.parent / "docs"
GUIDES = sorted((DOCS / "guides").glob("*.md"))
SIMULATE = "unjudged simulate --preset tiny --seed 3 --topics 30 --teams 8 --runs 24 --depth 20 -o sim"


def commands(text: str) -> Iterator[tuple[str, str]]:
    """(command, output shown) of each `$` line in a console block."""
    for block in re.findall(r"```console\n(.*?)```", text, re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collection all guides begin with."""
    where = tmp_path_factory.mktemp("guides")
    assert main([*shlex.split(SIMULATE)[1:-1], str(where / "sim")]) == 0
    return where


def test_there_are_four_guides() -> None:
    titles = [guide.read_text("utf-8").split("\n")[0] for guide in GUIDES]
    assert titles == [
        "# How many topics?",
        "# Is the difference real?",
        "# Is my collection reusable?",
        "# Which measure?",
    ]
    for guide in GUIDES:
        first, *rest = [command for command, _ in commands(guide.read_text("utf-8"))]
        assert first == SIMULATE and len(rest) >= 3


CASES = [
    pytest.param(command, output, id=f"{guide.stem}-{number}")
    for guide in GUIDES
    for number, (command, output) in enumerate(commands(guide.read_text("utf-8")))
    if command != SIMULATE
]


@pytest.mark.parametrize(("command", "output"), CASES)
def test_a_guide_shows_what_happens(
    command: str,
    output: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    verb, *arguments = shlex.split(command)
    assert verb == "unjudged"
    assert main(arguments) == 0
    assert capfd.readouterr().out == output


def test_links_lead_somewhere() -> None:
    for page in (*GUIDES, DOCS / "studies.md"):
        for target in re.findall(r"\]\(([^)#:]+\.md)\)", page.read_text("utf-8").replace("\n", " ")):
            assert (page.parent / target).exists() or target == "correction.md", (page.name, target)


def test_the_page_of_studies_names_them_all_with_their_columns(folder: Path) -> None:
    page = (DOCS / "studies.md").read_text("utf-8")
    for name in uj.studies.NAMES:
        assert f"| `{name}` |" in page


def test_the_example_of_ones_own_study_runs(folder: Path) -> None:
    from unjudged.studies._study import REGISTRY

    page = (DOCS / "studies.md").read_text("utf-8")
    code = re.findall(r"```python\n(.*?)```", page, re.S)[-1]
    names: dict[str, object] = {"uj": uj, "c": uj.load(folder / "sim" / "qrels.txt", folder / "sim" / "runs")}
    try:
        exec(code, names)
        assert list(uj.study("doubling", names["c"], factor=5).rows()) == [(5,), (10,), (15,)]  # type: ignore[arg-type]
    finally:
        del REGISTRY["doubling"]
