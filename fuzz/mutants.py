"""Do the tests notice a wrong sign? python fuzz/mutants.py [PACKAGE...] [--each N] [--seed K] [--seconds S]

Changes one operator, comparison or number at a time in a copy of the package and runs the fast tests of that package
until one fails. What no test notices is printed with its line: a missing test, or a change that changes nothing.
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
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            start, end = place(node.lineno, node.col_offset), place(node.end_lineno or 0, node.end_col_offset or 0)
            yield Mutant(file, node.lineno, start, end, repr(node.value + 1))


def noticed(mutant: Mutant, package: str, copy: Path) -> bool:
    """Does any test fail (or not end) with this change?"""
    target = copy / mutant.file.relative_to(ROOT / "src")
    source = mutant.file.read_bytes()
    target.write_bytes(source[: mutant.start] + mutant.text.encode() + source[mutant.end :])
    try:
        return failing(package, copy)
    finally:
        target.write_bytes(source)


def failing(package: str, copy: Path) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", *TESTS[package]]
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
            if failing(package, copy):
                parser.error(f"the tests of {package} fail without any change")
            files = sorted((ROOT / "src" / "unjudged" / package).rglob("*.py"))
            all_of_them = [mutant for file in files for mutant in mutants(file)]
            chosen = random.Random(args.seed).sample(all_of_them, min(args.each, len(all_of_them)))
            tried = found = 0
            for mutant in chosen:
                if time.monotonic() - began > args.seconds:
                    break
                tried += 1
                if noticed(mutant, package, copy):
                    found += 1
                    continue
                survivors += 1
                line = mutant.file.read_text("utf-8").splitlines()[mutant.line - 1].strip()
                was = mutant.file.read_bytes()[mutant.start : mutant.end].decode()
                where = f"{mutant.file.relative_to(ROOT)}:{mutant.line}"
                print(f"not noticed: {where}: {was} -> {mutant.text} in `{line}`", flush=True)
            print(f"{package}: {found} of {tried} changes noticed ({len(all_of_them)} possible)", flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
