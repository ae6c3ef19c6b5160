"""What code would compute, taken apart for a fingerprint.

A work unit kept from before is only of use while the code that made it is the same. For a function of the user that is
its instructions and constants, its defaults and closure, and the globals it uses, followed through the user's own
modules, all as they stand in memory; no line numbers, docstrings, paths or addresses. Other people's packages count
with name and version, this package with a hash of its files.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import functools
import hashlib
import importlib.metadata
import importlib.util
import platform
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

_HAS_DOCSTRING = 0x4000000
"""A flag of code objects since Python 3.13."""
_NO_BEHAVIOUR = {
    *("__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "_abc_impl"),
    *("__annotations__", "__annotate_func__", "__annotations_cache__", "__dataclass_fields__"),
    *("__static_attributes__", "__firstlineno__"),
}
"""Entries of a class that do not decide what it computes, or that its other entries repeat."""


@functools.cache
def package_hash() -> str:
    """A hash of this package's source files, so that two states of one version never share units."""
    from unjudged import __version__

    folder = Path(sys.modules["unjudged"].__file__ or "").parent
    digest = hashlib.sha256()
    try:
        files = sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".c", ".h", ".toml"))
        for path in files:
            digest.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\0".encode() + path.read_bytes())
    except OSError:
        files = []
    return digest.hexdigest() if files else __version__  # from a zip file, say


def code_parts(thing: Any) -> list[Any]:
    """What a function, class or module would compute."""
    if isinstance(thing, types.ModuleType):
        return module_parts(thing.__name__)
    if isinstance(thing, type):
        where = outside(thing.__module__) if isinstance(thing.__module__, str) else "Cython's own"
        if where:
            return [thing.__qualname__, where]
        inside = [(n, v) for n, v in vars(thing).items() if n not in _NO_BEHAVIOUR and not _is_slot(v)]
        return [thing.__name__, *thing.__bases__, type(thing), inside]
    settings = [thing.__defaults__, thing.__kwdefaults__, *(thing.__closure__ or ()), vars(thing)]
    if where := outside(thing.__globals__.get("__name__")):
        return [thing.__qualname__, where, *(settings if "<locals>" in thing.__qualname__ else ())]
    return [thing.__code__, *settings, *_globals_used(thing.__code__, thing.__globals__)]


def _is_slot(value: Any) -> bool:
    return isinstance(value, (types.MemberDescriptorType, types.GetSetDescriptorType))


def instructions(code: types.CodeType) -> list[Any]:
    """Instructions with their constants and names in place: no line numbers, docstrings, paths or addresses."""
    arguments = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & ~_HAS_DOCSTRING
    steps = [
        (step.opname, step.argval if step.opcode in dis.hasconst else step.argrepr or step.arg)
        for step in dis.get_instructions(code)
    ]
    return [arguments, code.co_varnames, code.co_freevars, code.co_exceptiontable, steps]


def _globals_used(code: types.CodeType, scope: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Globals by name, `module.name` followed into the user's modules. A builtin's name says enough."""
    steps = list(dis.get_instructions(code))
    for place, step in enumerate(steps):
        if isinstance(step.argval, types.CodeType):
            yield from _globals_used(step.argval, scope)
        if step.opname == "IMPORT_NAME":
            level, names = (before.argval for before in steps[place - 2 : place])
            for module in _imported(step.argval, level, names or (), scope.get("__package__")):
                yield module, module_parts(module)
        if step.opname not in ("LOAD_GLOBAL", "LOAD_NAME") or step.argval not in scope:
            continue
        name, value = step.argval, scope[step.argval]
        for after in steps[place + 1 :]:
            inside = isinstance(value, types.ModuleType) and not outside(value.__name__)
            if not inside or after.opname not in ("LOAD_ATTR", "LOAD_METHOD") or not hasattr(value, after.argval):
                break
            name, value = f"{name}.{after.argval}", getattr(value, after.argval)
        yield name, value


def module_parts(name: str) -> list[Any]:
    """A module that is used as a whole, or imported inside a function."""
    return [outside(name) or _sources(name)]


def _sources(name: str) -> dict[str, Any]:
    """A module of the user taken as a whole: its file without comments and docstrings, and so those it imports."""
    found: dict[str, Any] = {}
    left = [name]
    while left:
        module = left.pop()
        if module in found or outside(module) or (path := _file(module)) is None:
            continue
        found[module] = data = path.read_bytes()
        with contextlib.suppress(SyntaxError):  # no Python, or edited since it was loaded: the bytes stand for it
            tree = ast.parse(data if path.suffix == ".py" else "?")
            for node in ast.walk(tree):
                if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                    node.body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
                elif isinstance(node, ast.Import):
                    left += [part for alias in node.names for part in _imported(alias.name, 0, (), None)]
                elif isinstance(node, ast.ImportFrom):
                    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
                    left += _imported(node.module or "", node.level, [alias.name for alias in node.names], package)
            found[module] = ast.dump(tree)
    if name not in found:
        raise TypeError(f"no fingerprint of the module {name}: it has no file")
    return dict(sorted(found.items()))


def _imported(name: str, level: int, names: Iterable[str], package: str | None) -> list[str]:
    """The modules that an import statement reads: packages on the way, and which of the names are modules."""
    if level:
        try:
            name = importlib.util.resolve_name("." * level + name, package)
        except ImportError:  # outside any package: the import will fail
            return []
    parts = name.split(".")
    whole = [".".join(parts[:i]) for i in range(1, len(parts) + 1)]
    inside = [f"{name}.{n}" for n in names if not outside(name)]
    return [module for module in (*whole, *inside) if outside(module) or _file(module) is not None]


def _file(module: str) -> Path | None:
    """Where a module's code is, loaded or not."""
    if (loaded := sys.modules.get(module)) is not None:
        place = getattr(loaded, "__file__", None)
    else:
        try:
            spec = importlib.util.find_spec(module)
        except Exception:  # looking for `a.b` imports `a`, which can fail with anything
            return None
        place = spec.origin if spec is not None else None
    return Path(place) if place is not None and Path(place).is_file() else None


@functools.cache
def outside(module: str | None) -> str:
    """What stands for code that is not the user's: its package and version; empty for the user's own modules."""
    root = (module or "").partition(".")[0]
    if root == "unjudged":
        return f"{module} {package_hash()}"
    if root in sys.stdlib_module_names:
        return f"{module} {platform.python_version()}"
    path = _file(root) if root else None
    if path is None or not {"site-packages", "dist-packages"} & {*path.parts}:
        return ""
    try:
        return f"{module} {importlib.metadata.version(root)}"
    except importlib.metadata.PackageNotFoundError:  # named otherwise than its module
        return f"{module} {hashlib.sha256(path.read_bytes()).hexdigest()}"
