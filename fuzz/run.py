"""All fuzz targets: python fuzz/run.py [TARGET...] [--runs N] [--seconds S] [--seed K]

Coverage guided where clang (libFuzzer) and atheris are there, else by mutation; the C kernels always with the
sanitizers of the compiler at hand. Prints a table; exit code 1 if anything was found, which is kept in fuzz/findings/
with the command that repeats it. `--replay FILE...` repeats, `--store` adds what was reached to fuzz/corpus/.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from seeds import SCANNED, seeds, store, stored  # noqa: E402

BUILD = HERE.parent / "build" / "fuzz"
FINDINGS = HERE / "findings"
PROGRAMS = ("lines", "scanner", "look", "calls", "numbers")
"""libFuzzer programs in C; the other targets are Python functions."""
SANITIZED = (*PROGRAMS, "twins", "arrays", "misuse")
SMALL = "allocator_may_return_null=1:max_allocation_size_mb=64"
"""What is asked for beyond this is refused: a kernel then says that there is no memory."""
SHARES = {
    "numbers": 0.20,
    "lines": 0.40,
    "look": 0.10,
    "calls": 0.10,
    "scanner": 0.05,
    "twins": 0.03,
    "arrays": 0.04,
    "misuse": 0.04,
    "grammar": 0.03,
    "pytrec_eval": 0.01,
}
"""Targets and their part of all executions: the faster, the more."""
LENGTH = {"numbers": 48, "lines": 96, "look": 160, "calls": 120, "scanner": 800, "twins": 800, "arrays": 400}
LENGTH |= {"misuse": 120, "grammar": 100, "pytrec_eval": 150}
"""The longest input, in bytes."""


@dataclass(frozen=True)
class Row:
    """What the table says of one target."""

    target: str
    engine: str
    executions: int
    seconds: float
    seed: int
    coverage: str
    findings: int


def printed_by(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


@dataclass(frozen=True)
class Engine:
    """How a target is run: libFuzzer, atheris or mutation, and the sanitizers of which build."""

    name: str
    build: str | None

    def __str__(self) -> str:
        return f"{self.name}, {self.build} ASan+UBSan" if self.build else self.name

    def environment(self) -> dict[str, str]:
        """The sanitized package first on the path, its library preloaded."""
        options = "detect_leaks=0:quarantine_size_mb=16"
        if self.name == "libFuzzer":  # an execution leaves nothing to the next
            options = "detect_leaks=0:quarantine_size_mb=1:malloc_context_size=1"
            options += f":{SMALL}"
        env = {**os.environ, "ASAN_OPTIONS": options, "UBSAN_OPTIONS": "print_stacktrace=1"}
        if self.build and self.name != "libFuzzer":
            if self.name == "atheris":
                spec = importlib.util.find_spec("atheris")
                assert spec and spec.origin
                library = str(Path(spec.origin).parent.parent / "asan_with_fuzzer.so")
            elif self.build == "clang":
                library = printed_by("clang", "-print-file-name=libclang_rt.asan-x86_64.so")
            else:
                library = printed_by("gcc", "-print-file-name=libasan.so")
            folder = str(BUILD / (self.name if self.name == "atheris" else self.build))
            env |= {"PYTHONPATH": folder, "LD_PRELOAD": library, "PYTHONMALLOC": "malloc"}
        return env

    def command(self, target: str) -> list[str]:
        if self.name == "libFuzzer":
            return [str(BUILD / "libfuzzer" / target)]
        return [sys.executable, str(HERE / "inside.py"), target]


def built(kind: str) -> bool:
    """Builds the kernels with sanitizers; says why not where it does not work."""
    compiler = "gcc" if kind == "gcc" else "clang"
    if shutil.which(compiler) is None:
        return False
    done = subprocess.run(
        ["bash", str(HERE / "build.sh"), str(BUILD / kind), kind],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"fuzz/build.sh {kind} does not work here: {done.stderr.strip()[-400:]}")
    return not done.returncode


def choose(targets: list[str], plain: bool) -> dict[str, Engine]:
    """The best engine there is for each target; what is missing is said."""
    guided = not plain and importlib.util.find_spec("atheris") is not None
    if not plain and not guided:
        print("atheris is not installed (pip install 'unjudged[fuzz]'): inputs are mutations of the seeds, not guided")
    found: dict[str, Engine] = {}
    programs = [target for target in targets if target in PROGRAMS]
    if programs:
        if not plain and built("libfuzzer"):
            found |= dict.fromkeys(programs, Engine("libFuzzer", "clang"))
        else:
            print(f"{' and '.join(programs)}: these need clang with libFuzzer; the target twins runs the same code")
    sanitized = [target for target in targets if target in SANITIZED and target not in PROGRAMS]
    if sanitized:
        if guided and built("atheris"):
            engine = Engine("atheris", "clang")
        elif built("clang"):
            engine = Engine("mutation", "clang")
        elif built("gcc"):
            engine = Engine("mutation", "gcc")
        else:
            print("no compiler with sanitizers here: the kernels as they are installed")
            engine = Engine("mutation", None)
        found |= dict.fromkeys(sanitized, engine)
    for target in targets:
        if target not in SANITIZED:
            found[target] = Engine("atheris" if guided else "mutation", None)
    return found


def corpus_of(target: str) -> Path:
    """A fresh folder with the seeds and the stored corpus."""
    folder = BUILD / "corpus" / target
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, data in enumerate(seeds(target)):
        (folder / f"seed-{number:04d}").write_bytes(data)
    return folder


def last(pattern: str, text: str) -> str:
    found = re.findall(pattern, text)
    return found[-1] if found else ""


def run(target: str, engine: Engine, runs: int, seconds: int, seed: int) -> Row:
    """One target to the end of its executions, its time or its first finding."""
    FINDINGS.mkdir(exist_ok=True)
    before, started = set(FINDINGS.glob(f"{target}-*")), time.monotonic()
    command, env = engine.command(target), engine.environment()
    if engine.name == "mutation":
        command += ["mutation", str(runs), str(seconds), str(seed)]
    else:
        folder = corpus_of(target)
        options = [f"-runs={runs}", f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={LENGTH[target]}"]
        options += [f"-artifact_prefix={FINDINGS}/{target}-", "-print_final_stats=1", "-timeout=120"]
        options += ["-rss_limit_mb=4096", "-detect_leaks=0", "-verbosity=1"]
        command += ["atheris", str(folder), *options] if engine.name == "atheris" else [*options, str(folder)]
    done = subprocess.run(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
    )
    spent = time.monotonic() - started
    executions = last(r"(?:number_of_executed_units|executions): *(\d+)", done.stdout)
    edges, inputs = last(r" cov: (\d+)", done.stdout), last(r"(?: corp: |corpus: )(\d+)", done.stdout)
    coverage = (f"{edges} edges, " if edges else "") + f"{inputs or 0} inputs"
    new = sorted(kept_findings(target, before))
    leaks = engine.name == "libFuzzer" and not done.returncode and leaking(engine, target)
    broken = done.returncode not in (0, 72)  # 72: interrupted by the user
    if broken or leaks:
        print(told(done.stdout))
        for path in new:
            print(f"repeat it with: {sys.executable} fuzz/run.py {target} --replay {os.path.relpath(path)}")
    found = max(len(new), int(broken) + int(leaks))
    return Row(target, str(engine), int(executions or 0), spent, seed, coverage, found)


def kept_findings(target: str, before: set[Path]) -> set[Path]:
    """New inputs that broke something; libFuzzer also keeps what only took long, which is no finding."""
    found = set(FINDINGS.glob(f"{target}-*")) - before
    slow = {path for path in found if path.name.startswith(f"{target}-slow-unit-")}
    for path in slow:
        path.unlink()
    return found - slow


def told(output: str) -> str:
    """Of a sanitizer's or Python's long report, the lines about this project."""
    wanted = re.compile(
        r"ERROR:|runtime error|SUMMARY|unjudged/kernels|fuzz/|^\s*\w*(Error|Exception)|finding:|numbers: "
    )
    lines = [line[:400] for line in output.splitlines() if wanted.search(line)]
    return "\n".join(lines[:40] or output.splitlines()[-20:])


def leaking(engine: Engine, target: str) -> bool:
    """Does any input of the corpus leave memory behind? (Looked at once, in the end: it is slow.)"""
    command = [*engine.command(target), "-runs=0", "-detect_leaks=1", f"-artifact_prefix={FINDINGS}/{target}-"]
    env = {**engine.environment(), "ASAN_OPTIONS": SMALL, "PYTHONMALLOC": "malloc"}
    done = subprocess.run(
        [*command, str(BUILD / "corpus" / target)],
        env=env,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    leaks = "detected memory leaks" in done.stderr
    if leaks:
        print(done.stderr[-4000:])
    return leaks


def minimise(target: str, engine: Engine) -> int:
    """Writes inputs that reached something new to fuzz/corpus/; how many.

    libFuzzer chooses those that together reach every edge; atheris cannot, so the shortest 400 are taken.
    """
    folder = BUILD / "corpus" / target
    if engine.name == "atheris":
        new = [path.read_bytes() for path in folder.iterdir() if not path.name.startswith("seed-")]
        return store(target, sorted([*stored(target), *new], key=len)[:400])
    small = BUILD / "small" / target
    shutil.rmtree(small, ignore_errors=True)
    small.mkdir(parents=True)
    options = ["-set_cover_merge=1", "-use_counters=0", "-detect_leaks=0", f"-max_len={LENGTH[target]}"]
    command = [*engine.command(target), *options, str(small), str(folder)]
    subprocess.run(command, env=engine.environment(), capture_output=True, check=True)
    return store(target, [path.read_bytes() for path in small.iterdir()])


def table(rows: list[Row]) -> str:
    """Columns wide enough for all rows, and the sum."""
    total = sum(row.executions for row in rows)
    lines = [("target", "engine", "executions", "seconds", "seed", "reached", "findings")]
    for r in rows:
        lines.append(
            (r.target, r.engine, f"{r.executions:,}", f"{r.seconds:.0f}", str(r.seed), r.coverage, str(r.findings))
        )
    seconds, findings = sum(r.seconds for r in rows), sum(r.findings for r in rows)
    lines.append(("all", "", f"{total:,}", f"{seconds:.0f}", "", "", str(findings)))
    wide = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    right = {2, 3, 4, 6}
    return "\n".join(
        "  ".join(
            c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(line, wide, strict=True))
        ).rstrip()
        for line in lines
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(SHARES)} (all)")
    parser.add_argument("--runs", type=int, default=1_000_000, help="executions of all targets together")
    parser.add_argument("--seconds", type=int, default=0, help="at most so long, all targets together (0: no limit)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets that run at the same time")
    parser.add_argument("--plain", action="store_true", help="mutation only, no coverage")
    parser.add_argument("--store", action="store_true", help="keep the inputs that reach every edge in fuzz/corpus/")
    parser.add_argument("--replay", nargs="+", metavar="FILE", help="run the one target on these files")
    args = parser.parse_args()
    targets = args.targets or list(SHARES)
    unknown = [target for target in targets if target not in SHARES]
    if unknown:
        parser.error(f"unknown target {unknown[0]}; there are {', '.join(SHARES)}")
    engines = choose(targets, args.plain)
    if args.replay:
        for target, engine in engines.items():
            command = engine.command(target) + ([] if engine.name == "libFuzzer" else ["replay"])
            env = {**engine.environment(), "ASAN_OPTIONS": f"detect_leaks=0:{SMALL}", "PYTHONMALLOC": "malloc"}
            subprocess.run([*command, *args.replay], env=env, check=True)
        return 0
    shares = sum(SHARES[target] for target in engines)

    def one(target: str) -> Row:
        part = SHARES[target] / shares
        seconds = max(1, round(args.seconds * part * args.jobs)) if args.seconds else 0
        row = run(target, engines[target], max(1, round(args.runs * part)), seconds, args.seed)
        print(table([row]).splitlines()[1], flush=True)
        if args.store and engines[target].name != "mutation" and target not in SCANNED:
            print(f"{minimise(target, engines[target])} inputs of {target} stored", flush=True)
        return row

    with ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(one, engines))
    print(f"\n{table(rows)}")
    return 1 if any(row.findings for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
