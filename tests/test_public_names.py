"""The names of `uj.__all__`: all there, all documented, all known to type checkers."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import unjudged as uj

NAMES = [name for name in uj.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_there_and_says_what_it_does(name: str) -> None:
    assert len(getattr(uj, name).__doc__ or "") > 40


def test_they_stand_in_order_and_once() -> None:
    assert uj.__all__ == sorted(set(uj.__all__))


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(uj.__file__).read_text("utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = [
        name.asname or name.name for node in ast.walk(block) if isinstance(node, ast.ImportFrom) for name in node.names
    ]
    assert sorted(seen) == NAMES


@pytest.mark.parametrize("page", ["README.md", "docs"])
def test_names_in_the_documentation_exist(page: str) -> None:
    place = Path(__file__).parent.parent / page
    text = "".join(p.read_text("utf-8") for p in ([place] if place.is_file() else sorted(place.rglob("*.md"))))
    named = set(re.findall(r"\buj\.([A-Za-z_]\w*)", text))
    assert {"load", "score"} <= named
    assert [name for name in sorted(named) if not hasattr(uj, name)] == []
