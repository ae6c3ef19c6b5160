"""Do the tests notice a wrong sign? python fuzz/mutants.py [PACKAGE...] [--each N] [--seed K] [--seconds S]

Changes one operator, comparison or number at a time in a copy of the package and runs, of the fast tests of that
package, those that pass through the changed line, until one fails. What no test notices is printed with its line: a
missing test, or a change that changes nothing. What no test passes through is counted apart ("not reached").
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import coverage

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "measures": ["tests/measures", "tests/test_parity.py"],
    "statistics": ["tests/statistics"],
    "holes": ["tests/holes", "tests/studies/test_outcomes.py"],
    "judges": ["tests/judges", "tests/changes/test_noise_and_merge.py"],
}
"""Package -> the tests that are to notice."""
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


def reached(package: str, copy: Path) -> dict[Path, dict[int, set[str]]]:
    """Which tests pass through which line, asked of coverage; the tests must pass."""
    settings, data = copy.parent / "coverage.ini", copy.parent / f"{package}.coverage"
    settings.write_text(f"[run]\ndata_file = {data}\nsource = {copy / 'unjudged' / package}\n", "utf-8")
    told = ["--cov", "--cov-context=test", "--cov-report=", f"--cov-config={settings}"]
    if failing([*TESTS[package], *told], copy):
        raise SystemExit(f"the tests of {package} fail without any change")
    kept = coverage.CoverageData(str(data))
    kept.read()
    found: dict[Path, dict[int, set[str]]] = {}
    for name in kept.measured_files():
        lines = kept.contexts_by_lineno(name)
        found[Path(name)] = {line: {one.rpartition("|")[0] for one in tests if one} for line, tests in lines.items()}
    return found


def noticed(mutant: Mutant, tests: set[str], copy: Path) -> bool:
    """Does any of these tests fail (or not end) with this change?"""
    asked = copy.parent / "asked"
    asked.write_text("".join(f"{test}\n" for test in sorted(tests)), "utf-8")
    target = copy / mutant.file.relative_to(ROOT / "src")
    source = mutant.file.read_bytes()
    target.write_bytes(source[: mutant.start] + mutant.text.encode() + source[mutant.end :])
    try:
        return failing([f"@{asked}"], copy)
    finally:
        target.write_bytes(source)


def failing(tests: list[str], copy: Path) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", *tests]
    env = {**os.environ, "PYTHONPATH": str(copy)}
    try:
        return bool(
            subprocess.run(command, cwd=ROOT, env=env, capture_output=True, timeout=1200, check=False).returncode
        )
    except subprocess.TimeoutExpired:
        return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", help=f"of {', '.join(TESTS)} (all)")
    parser.add_argument("--each", type=int, default=40, help="changes of each package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no change after so long")
    args = parser.parse_args()
    began, survivors = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy)
        for package in args.packages or TESTS:
            through = reached(package, copy)
            files = sorted((ROOT / "src" / "unjudged" / package).rglob("*.py"))
            all_of_them = [mutant for file in files for mutant in mutants(file)]
            chosen = random.Random(args.seed).sample(all_of_them, min(args.each, len(all_of_them)))
            tried = found = unreached = 0
            for mutant in chosen:
                if time.monotonic() - began > args.seconds:
                    break
                tried += 1
                lines = through.get(copy / mutant.file.relative_to(ROOT / "src"), {})
                own = statements(mutant.file).get(mutant.line, range(mutant.line, mutant.line + 1))
                tests = {test for number in own for test in lines.get(number, ())}
                if not tests:
                    unreached += 1
                elif noticed(mutant, tests, copy):
                    found += 1
                    continue
                survivors += 1
                line = mutant.file.read_text("utf-8").splitlines()[mutant.line - 1].strip()
                was = mutant.file.read_bytes()[mutant.start : mutant.end].decode()
                where = f"{mutant.file.relative_to(ROOT)}:{mutant.line}"
                print(
                    f"{'not noticed' if tests else 'not reached'}: {where}: {was} -> {mutant.text} in `{line}`",
                    flush=True,
                )
            print(f"{package}: {found} of {tried} changes noticed, {unreached} not reached", flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
