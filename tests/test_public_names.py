"""The names of `uj.__all__`: all there, all documented, all known to type checkers."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

import unjudged as uj

NAMES = [name for name in uj.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_there_and_says_what_it_does(name: str) -> None:
    assert len(getattr(uj, name).__doc__ or "") > 40


def functions_of(thing: Any) -> Iterator[tuple[str, Any]]:
    """A function itself, or the public methods and properties of a class and its constructor."""
    if not inspect.isclass(thing):
        if callable(thing):
            yield "", thing
        return
    for base in thing.__mro__:
        if not base.__module__.startswith("unjudged"):
            continue
        for name, member in vars(base).items():
            found = member.fget if isinstance(member, property) else member
            found = found.func if isinstance(found, functools.cached_property) else getattr(found, "__func__", found)
            if inspect.isfunction(found) and (not name.startswith("_") or name in ("__init__", "__call__")):
                yield name, found


@pytest.mark.parametrize("name", NAMES)
def test_methods_are_documented_and_typed(name: str) -> None:
    """What `pyright --verifytypes unjudged` asks for, of functions; it also knows attributes."""
    for method, function in functions_of(getattr(uj, name)):
        if not function.__module__.startswith("unjudged"):
            continue  # __init__ of a dataclass is made from its fields
        where = f"{name}.{method} ({function.__qualname__})"
        if not method.startswith("__"):
            assert inspect.getdoc(function), f"{where} has no docstring"
        signature = inspect.signature(function)
        if method != "__init__":
            assert signature.return_annotation is not inspect.Signature.empty, f"{where} does not say what it returns"
        for i, parameter in enumerate(signature.parameters.values()):
            if not (method and i == 0):
                assert parameter.annotation is not inspect.Parameter.empty, f"{where}: {parameter.name} has no type"


def test_type_checkers_are_told_that_there_are_types() -> None:
    assert (Path(uj.__file__).parent / "py.typed").is_file()


def test_they_stand_in_order_and_once() -> None:
    assert uj.__all__ == sorted(set(uj.__all__))


def test_they_are_listed_once_and_exported_to_type_checkers() -> None:
    """The imports for type checkers are the only list; `X as X` is how an import says that it is public (PEP 484)."""
    source = Path(uj.__file__).read_text("utf-8")
    (block,) = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    listed = [(node.module, name) for node in block.body for name in node.names]  # type: ignore[attr-defined]
    assert sorted(name.name for _, name in listed) == NAMES
    for module, name in listed:
        assert name.asname == name.name, f"{name.name} is not exported to type checkers"
        assert getattr(uj, name.name) is getattr(importlib.import_module(module), name.name)
    rest = source.replace(ast.get_source_segment(source, block) or "", "")
    strings = {node.value for node in ast.walk(ast.parse(rest)) if isinstance(node, ast.Constant)}
    assert not strings & (set(NAMES) - {"Measure"}), "a second list"  # Measure is the type of what else is there


def test_importing_loads_nothing_heavy_and_reads_no_source() -> None:
    program = "import sys, unjudged; print(sorted({'numpy', 'ast', 'unjudged.errors', 'argparse'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_all_names_by_a_star() -> None:
    names: dict[str, object] = {}
    exec("from unjudged import *", names)
    assert set(NAMES) <= names.keys() and names["__version__"] == uj.__version__


@pytest.mark.parametrize("page", ["README.md", "docs"])
def test_names_in_the_documentation_exist(page: str) -> None:
    place = ROOT / page
    text = "".join(p.read_text("utf-8") for p in ([place] if place.is_file() else sorted(place.rglob("*.md"))))
    named = set(re.findall(r"\buj\.([A-Za-z_]\w*)", text))
    assert {"load", "score"} <= named
    assert [name for name in sorted(named) if not hasattr(uj, name)] == []
