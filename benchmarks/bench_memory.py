"""Memory and CPU of the heaviest commands on 129 runs and 41 teams, and how CPU grows with the size.

    python benchmarks/bench_memory.py                 # the full size; exit code 1 where a limit is passed
    python benchmarks/bench_memory.py --quick         # a fifth of it; only memory and ratios are binding
    python benchmarks/bench_memory.py --growth        # growth with runs, topics, depth and measures

Each command runs in a process of its own; CPU is user plus system time, memory the largest resident size. Growth is the
exponent of CPU against size (1 is linear), of the work without what the command takes on a tiny collection.
"""

from __future__ import annotations

import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from promises import Target, write

import unjudged as uj

MOST_MB = 800
MOST_EXPONENT = 1.2
MOST_CPU = {"leave-team-out": 27.5, "report": 8.0}
"""Seconds, at full size: half of what leave-team-out took when this was promised, and less than half of report's."""
MOST_CHECK = 4.0
"""`check` against `score` on the same files."""


def verdict(text: str, measured: str, met: bool | None) -> Target:
    """A target and what was measured, printed."""
    found = Target(text, measured, met)
    print(f"- {found}", flush=True)
    return found


class Used(NamedTuple):
    """What a command took."""

    cpu: float
    megabytes: float


def used(arguments: list[str], folder: Path) -> Used:
    """CPU seconds and megabytes of `unjudged ...` in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "unjudged", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"unjudged {' '.join(arguments)} ended with {process.returncode}")
    return Used(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def simulated(folder: Path, runs: int, teams: int, topics: int) -> Path:
    """A deep pool of this size, simulated once."""
    where = folder / f"{runs}x{teams}x{topics}"
    if not where.exists():
        uj.simulate("adhoc", seed=1, runs=runs, teams=teams, topics=topics, out=where, jobs=2)
    return where


FILES = ["qrels.txt", "runs", "--teams", "teams.tsv", "--jobs", "1"]
LEAVE_OUT = ["study", "leave-team-out", *FILES, "-m", "sakai2009", "--all-runs", "--summary"]
REPORT = ["report", *FILES, "-o", "report.html"]


def limits(folder: Path, runs: int, teams: int, topics: int, full: bool) -> list[Target]:
    """CPU and memory of the commands, held against their limits."""
    where = simulated(folder, runs, teams, topics)
    print(f"\n### commands ({runs} runs of {teams} teams, {topics} topics, one process)\n")
    fine = []
    for name, arguments in (("leave-team-out", LEAVE_OUT), ("report", REPORT)):
        try:
            cpu, megabytes = used(arguments, where)
        except SystemExit as problem:
            fine.append(verdict(f"`{name}`", str(problem), False))
            continue
        fine.append(verdict(f"`{name}` in at most {MOST_MB} MB", f"{megabytes:.0f} MB", megabytes <= MOST_MB))
        if full:
            most = MOST_CPU[name]
            fine.append(verdict(f"`{name}` in at most {most:g} CPU seconds", f"{cpu:.1f} s", cpu <= most))
    score = min(used(["score", "qrels.txt", "runs", "--jobs", "1"], where).cpu for _ in range(3))
    check = min(used(["check", "qrels.txt", "runs"], where).cpu for _ in range(3))
    text, measured = f"`check` in at most {MOST_CHECK:g} times the CPU of `score`", f"{check / score:.2f}x"
    fine.append(verdict(text, f"{measured} ({check:.2f} and {score:.2f} s)", check <= MOST_CHECK * score))
    return fine


def shallow(where: Path, depth: int) -> Path:
    """The same collection with lists cut at a depth."""
    cut = where.with_name(f"{where.name}to{depth}")
    if not cut.exists():
        (cut / "runs").mkdir(parents=True)
        for name in ("qrels.txt", "teams.tsv"):
            shutil.copy(where / name, cut / name)
        for run in (where / "runs").iterdir():
            kept = [line for line in run.read_text().splitlines(keepends=True) if int(line.split()[3]) <= depth]
            (cut / "runs" / run.name).write_text("".join(kept))
    return cut


FEW, MANY = "AP,nDCG", "AP,nDCG,Q,RBP,bpref,ERR,infAP,R_measure"
FEW_BOUNDED, MANY_BOUNDED = "P@10,nDCG@10", "P@10,nDCG@10,P@5,nDCG@5,P@20,nDCG@20,P@30,nDCG@30"
SCORE = ["score", "qrels.txt", "runs", "--jobs", "1", "--format", "tsv"]
GROWING = {
    "score": (SCORE, FEW, MANY, 3, ()),
    "check": (["check", "qrels.txt", "runs"], "", "", 3, ()),
    "leave-team-out": (["study", "leave-team-out", *FILES, "--all-runs", "--summary"], FEW, MANY, 1, ("runs",)),
    "report": (REPORT, FEW_BOUNDED, MANY_BOUNDED, 1, ("runs",)),
}
"""Command, two measures, eight, how often it is run, and the directions in which its work is not linear: with runs grow
the teams that are left out, each of which has all runs scored again, and the pairs that are compared."""


def growth(folder: Path, runs: int) -> list[Target]:
    """CPU against runs, topics, depth and measures, one after another, of all four commands."""
    base, tiny = simulated(folder, runs, runs * 5 // 16, 48), simulated(folder, 6, 3, 5)
    smaller = {
        "runs": simulated(folder, runs // 4, runs * 5 // 64, 48),
        "topics": simulated(folder, runs, runs * 5 // 16, 12),
        "depth": shallow(base, 250),
        "measures": base,
    }
    fine: list[Target] = []
    print(
        f"\n### growth, four times as much (exponent of CPU; 1 is linear, at most {MOST_EXPONENT} wanted)\n", flush=True
    )
    for command, (words, few, many, times, beyond) in GROWING.items():
        asked = {True: [*words, "-m", many] if many else words, False: [*words, "-m", few] if few else words}

        def took(where: Path, measures: bool, asked: dict[bool, list[str]] = asked, times: int = times) -> float:
            return min(used(asked[measures], where).cpu for _ in range(times))

        start, large = took(tiny, True), took(base, True)
        for name, where in smaller.items():
            if name == "measures" and not many:
                continue
            small = took(where, name != "measures")
            exponent = math.log(max(large - start, 1e-3) / max(small - start, 1e-3)) / math.log(4)
            measured = f"{exponent:.2f} ({small:.2f} to {large:.2f} s, {start:.2f} of it start)"
            if name in beyond:
                print(f"- `{command}` with {name} (not linear: teams x runs, pairs of runs): {measured}", flush=True)
            else:
                text = f"`{command}` with four times the {name}: exponent of CPU at most {MOST_EXPONENT}"
                fine.append(verdict(text, measured, exponent <= MOST_EXPONENT))
    return fine


def main() -> int:
    """Print the tables; 1 where a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a fifth of the runs and topics")
    parser.add_argument("--growth", action="store_true", help="growth with runs, topics, depth and measures instead")
    parser.add_argument("--data", type=Path, help="keep the simulated collections there")
    parser.add_argument("--targets", type=Path, metavar="FILE", help="targets and what was measured, for bench.py")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (args.data or Path(temporary)).resolve()
        if args.growth:
            found = growth(folder, 48 if args.quick else 128)
        else:
            found = limits(folder, *((26, 8, 10) if args.quick else (129, 41, 50)), full=not args.quick)
    if args.targets:
        write(found, args.targets)
    return 0 if all(one.met is not False for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
