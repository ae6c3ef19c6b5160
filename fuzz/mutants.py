"""Do the tests notice a wrong sign? python fuzz/mutants.py [PACKAGE...] [--each N] [--seed K] [--seconds S]

Changes one operator, comparison or number at a time and runs, of the tests, those that pass through the changed line
until one fails. The tests are collected once; each change is made in a fork of that process (and in a copy of the
package on the disk, for tests that start Python anew). What no test notices is printed with its line: a missing test,
or a change that changes nothing. What no test passes through is counted apart ("not reached").
"""

from __future__ import annotations

import argparse
import ast
import functools
import gc
import os
import pickle
import random
import resource
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "measures": ["tests/measures"],
    "statistics": [
        *("tests/statistics", "tests/judges/test_agreement_of_judges.py", "tests/judges/test_merged_judges.py"),
        *("tests/studies/test_reliability.py", "tests/studies/test_swap.py"),
    ],
    "holes": ["tests/holes", "tests/studies/test_outcomes.py", "tests/studies/test_estimate.py"],
    "judges": ["tests/judges", "tests/changes/test_noise_and_merge.py", "tests/statistics/test_worked_statistics.py"],
}
"""Package -> the tests that are to notice."""
ENOUGH = 15.0
"""Seconds of tests that are run for one change at the most: those through its line first, quick files first, then
the others of the same files (a fixture may have passed there for all of them)."""
SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.And: "or",
    ast.Or: "and",
}
SIGNS |= {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
WRITTEN: dict[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.And: "and"}
WRITTEN |= {ast.Or: "or", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


@dataclass(frozen=True)
class Mutant:
    """One change: bytes from `start` to `end` of a file become `text`."""

    file: Path
    line: int
    start: int
    end: int
    text: str

    def was(self) -> str:
        return self.file.read_bytes()[self.start : self.end].decode()

    def target(self, copy: Path) -> Path:
        """Its file in a copy of the sources."""
        return copy / self.file.relative_to(ROOT / "src")

    def changed(self, source: bytes) -> bytes:
        return source[: self.start] + self.text.encode() + source[self.end :]


def mutants(file: Path) -> Iterator[Mutant]:
    """Every change that can be made inside the functions of a file."""
    source = file.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    def between(left: ast.expr, right: ast.expr, sign: ast.AST) -> Iterator[Mutant]:
        if type(sign) not in SIGNS:
            return
        start = place(left.end_lineno or 0, left.end_col_offset or 0)
        written = WRITTEN[type(sign)].encode()
        found = source.find(written, start, place(right.lineno, right.col_offset))
        if found >= 0:
            yield Mutant(file, left.end_lineno or 0, found, found + len(written), SIGNS[type(sign)])

    functions = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]
    inside = {id(node): node for function in functions for part in function.body for node in ast.walk(part)}
    for node in inside.values():
        if isinstance(node, ast.BinOp):
            yield from between(node.left, node.right, node.op)
        elif isinstance(node, ast.BoolOp):
            yield from between(node.values[0], node.values[1], node.op)
        elif isinstance(node, ast.Compare):
            yield from between(node.left, node.comparators[0], node.ops[0])
        elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value not in (True, False):
            start, end = place(node.lineno, node.col_offset), place(node.end_lineno or 0, node.end_col_offset or 0)
            yield Mutant(file, node.lineno, start, end, repr(node.value + 1))


def statements(file: Path) -> dict[int, range]:
    """Line -> the lines of its statement (of a compound one: its head), as coverage may name any of them."""
    found: dict[int, range] = {}
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.stmt):
            inner = getattr(node, "body", None)
            last = inner[0].lineno - 1 if inner else node.end_lineno or node.lineno
            found |= dict.fromkeys(range(node.lineno, last + 1), range(node.lineno, last + 1))
    return found


class Asked:
    """A plugin of pytest that runs the collected tests with one change after the other."""

    def __init__(self, copy: Path, package: str, args: argparse.Namespace) -> None:
        self.copy, self.package, self.slow, self.each, self.seed = copy, package, args.slow, args.each, args.seed
        self.until = time.monotonic() + args.seconds
        self.survivors = 0

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if self.slow or item.get_closest_marker("slow") is None]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        began = time.monotonic()
        known: Known | None = forked(lambda: passed_through(session, self.copy / "unjudged" / self.package), None)
        if known is None:
            raise SystemExit("the tests could not be run without a change")
        took = time.monotonic() - began
        print(f"{len(session.items)} tests, {took:.0f} seconds", flush=True)
        for name in known.failing:
            print(f"fails without a change, left out: {name}", flush=True)
        self.survivors = self.ask(session, known)
        return True

    def ask(self, session: pytest.Session, known: Known) -> int:
        files = sorted((ROOT / "src" / "unjudged" / self.package).rglob("*.py"))
        every = [mutant for file in files for mutant in mutants(file)]
        tried = found = unreached = 0
        for mutant in random.Random(self.seed).sample(every, min(self.each, len(every))):
            if time.monotonic() > self.until:
                break
            tried += 1
            print(f"{self.package}: change {tried}", end="\r", file=sys.stderr, flush=True)
            own = statements(mutant.file).get(mutant.line, range(mutant.line, mutant.line + 1))
            through = {test for line in own for test in known.tests[str(mutant.target(self.copy)), line]}
            if not through:
                unreached += 1
            elif self.is_noticed(mutant, chosen(session.items, through, known), session, known):
                found += 1
                continue
            line = mutant.file.read_text("utf-8").splitlines()[mutant.line - 1].strip()
            where = f"{mutant.file.relative_to(ROOT)}:{mutant.line}"
            what = "not noticed" if through else "not reached"
            print(f"{what}: {where}: {mutant.was()} -> {mutant.text} in `{line}`", flush=True)
        print(
            f"{self.package}: {len(every)} changes, {tried} tried, {found} noticed, {unreached} not reached", flush=True
        )
        return tried - found

    def is_noticed(self, mutant: Mutant, tests: list[pytest.Item], session: pytest.Session, known: Known) -> bool:
        """Does any of these tests fail, or not end, with this change?"""
        target, source = mutant.target(self.copy), mutant.file.read_bytes()
        target.write_bytes(mutant.changed(source))

        def fails() -> bool:
            most = int(10 + 2 * sum(known.seconds[test.nodeid] for test in tests))
            resource.setrlimit(resource.RLIMIT_CPU, (most, most))  # whoever turns in a circle
            put(mutant.changed(source), target)
            return any(run(test, following, session) for test, following in in_turn(tests))

        try:
            return bool(forked(fails, True))
        finally:
            target.write_bytes(source)


@dataclass
class Known:
    """What a run without a change tells."""

    tests: dict[tuple[str, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    """(file, line) -> the tests that pass through it."""
    seconds: dict[str, float] = field(default_factory=dict)
    failing: list[str] = field(default_factory=list)


def passed_through(session: pytest.Session, source: Path) -> Known:
    """Runs everything once, without a change."""
    watched = coverage.Coverage(data_file=None, config_file=False, source=[str(source)])
    known = Known()
    watched.start()
    for test, following in in_turn(session.items):
        watched.switch_context(test.nodeid)
        began = time.process_time()
        if run(test, following, session):
            known.failing.append(test.nodeid)
        known.seconds[test.nodeid] = time.process_time() - began
    watched.stop()
    data = watched.get_data()
    for name in data.measured_files():
        for line, tests in data.contexts_by_lineno(name).items():
            known.tests[name, line] = set(tests) - {""} - set(known.failing)
    return known


def chosen(items: list[pytest.Item], through: set[str], known: Known) -> list[pytest.Item]:
    """The tests to run for a change, quick files first."""
    files: dict[Path, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.nodeid not in known.failing:
            files[item.path].append(item)
    passing = {path: [item for item in of if item.nodeid in through] for path, of in files.items()}
    others = {path: [item for item in of if item.nodeid not in through] for path, of in files.items() if passing[path]}

    def length(of: list[pytest.Item]) -> float:
        return sum(known.seconds[item.nodeid] for item in of)

    left, found = ENOUGH, []
    for of in [*sorted(passing.values(), key=length), *sorted(others.values(), key=length)]:
        for item in of:
            if known.seconds[item.nodeid] <= left:
                left -= known.seconds[item.nodeid]
                found.append(item)
    return found


def in_turn(tests: list[pytest.Item]) -> Iterator[tuple[pytest.Item, pytest.Item | None]]:
    return zip(tests, [*tests[1:], None], strict=True)


def run(test: pytest.Item, following: pytest.Item | None, session: pytest.Session) -> bool:
    """Did it fail?"""
    before = session.testsfailed
    test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
    session.shouldfail = session.shouldstop = False
    return session.testsfailed > before


def put(source: bytes, file: Path) -> None:
    """Gives every function of a file that is imported already the code of this source; what was kept is forgotten."""
    new: dict[tuple[str, int], CodeType] = {}
    left = [compile(source, str(file), "exec")]
    while left:
        code = left.pop()
        new[code.co_qualname, code.co_firstlineno] = code
        left += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == str(file):
            thing.__code__ = new[thing.__code__.co_qualname, thing.__code__.co_firstlineno]
        elif isinstance(thing, functools._lru_cache_wrapper) and thing.__module__.startswith("unjudged"):
            thing.cache_clear()


def forked(ask: Callable[[], Any], otherwise: Any, loud: bool = False) -> Any:
    """What a function returns in a fork of this process, or something else where the fork ends without an answer."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            silent = os.open(os.devnull, os.O_RDWR)
            for stream in () if loud else (1, 2):
                os.dup2(silent, stream)
            with os.fdopen(writing, "wb") as answer:
                pickle.dump(ask(), answer)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        told = answer.read()
    os.waitpid(child, 0)
    return pickle.loads(told) if told else otherwise


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(TESTS)} (all)")
    parser.add_argument("--each", type=int, default=60, help="changes of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slow", action="store_true", help="ask the slow tests, too")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="begin no change of a package after so long"
    )
    args = parser.parse_args()
    # one process for each package: pytest collects once in a process
    codes = [forked(functools.partial(asked, package, args), 1, loud=True) for package in args.packages or TESTS]
    return int(max(codes))


def asked(package: str, args: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        sys.dont_write_bytecode = True  # two changes within a second would look alike
        os.environ |= {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.path.insert(0, str(copy))
        os.chdir(ROOT)
        plugin = Asked(copy, package, args)
        pytest.main(["-s", "-p", "no:cacheprovider", *TESTS[package]], plugins=[plugin])
    return 1 if plugin.survivors else 0


if __name__ == "__main__":
    sys.exit(main())
