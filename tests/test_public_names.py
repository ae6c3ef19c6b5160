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
    listed = [
        (str(node.module), name) for node in block.body if isinstance(node, ast.ImportFrom) for name in node.names
    ]
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
    names: dict[str, Any] = {}
    exec("from unjudged import *", names)
    assert set(NAMES) <= names.keys() and names["__version__"] == uj.__version__


@pytest.mark.parametrize("page", ["README.md", "docs"])
def test_names_in_the_documentation_exist(page: str) -> None:
    place = ROOT / page
    text = "".join(p.read_text("utf-8") for p in ([place] if place.is_file() else sorted(place.rglob("*.md"))))
    named = set(re.findall(r"\buj\.([A-Za-z_]\w*)", text))
    assert {"load", "score"} <= named
    assert [name for name in sorted(named) if not hasattr(uj, name)] == []


def public_modules() -> dict[str, set[str]]:
    """Module -> its public names, as the table of the stability page lists them."""
    page = (ROOT / "docs" / "stability.md").read_text("utf-8")
    rows = re.findall(r"^\| ((?:`unjudged\.[\w.]+`(?:, )?)+) \| (.*?) \|", page, re.M)
    listed: dict[str, set[str]] = {}
    for modules, names in rows:
        for module in re.findall(r"`([\w.]+)`", modules):
            listed[module] = set(re.findall(r"`(\w+)`", names))
    return listed


def test_the_public_modules_hold_what_the_stability_page_says() -> None:
    listed = public_modules()
    assert {"unjudged.adapters", "unjudged.statistics.swap", "unjudged.studies"} <= listed.keys()
    for module, names in listed.items():
        found = importlib.import_module(module)
        for name in names - {"__all__"}:
            assert hasattr(found, name) or importlib.import_module(f"{module}.{name}"), f"{module}.{name}"


def test_the_documentation_imports_only_public_names() -> None:
    """Of pages and notebooks; a module to be written by the reader may import more (docs/extending.md says so)."""
    listed = public_modules()
    adapters = importlib.import_module("unjudged.adapters")
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.ipynb")]
    seen = 0
    for page in pages:
        text = page.read_text("utf-8")
        assert not re.search(r"^\s*\"?import unjudged\.(?!ir_measures\b)", text, re.M), page
        for module, names in re.findall(r"^[\s\"]*from (unjudged[\w.]*) import ([\w, ]+)", text, re.M):
            public = set(adapters.__all__) if module == "unjudged.adapters" else listed.get(module, set())
            public = set(uj.__all__) if module == "unjudged" else public
            assert {name.strip() for name in names.split(",")} <= public, f"{page.name}: from {module} import {names}"
            seen += 1
    assert seen > 10


def test_the_stability_page_names_the_keys_of_json() -> None:
    import json

    page = (ROOT / "docs" / "stability.md").read_text("utf-8")
    c = uj.load({"1": {"a": 1}, "2": {"b": 1}}, {"x": {"1": ["a"], "2": ["c"]}, "y": {"1": ["b"], "2": ["b"]}})
    found = json.loads(uj.compare(c, ["AP"]).to_json() or "")
    assert {"provenance", "verdict", "rows"} <= found.keys() and {"word", "next"} <= found["verdict"].keys()
    assert [key for key in (*found, *found["verdict"]) if f"`{key}`" not in page] == []
