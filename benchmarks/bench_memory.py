"""Memory and CPU of the heaviest commands on 129 runs and 41 teams, and how CPU grows with the size.

    python benchmarks/bench_memory.py                 # the full size; exit code 1 where a limit is passed
    python benchmarks/bench_memory.py --quick         # a fifth of it; only memory and ratios are binding
    python benchmarks/bench_memory.py --growth        # ... and growth with runs, topics, depth and measures

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

import unjudged as uj

MOST_MB = 800
MOST_EXPONENT = 1.2
MOST_CPU = {"leave-team-out": 27.5, "report": 8.0}
"""Seconds, at full size: half of what leave-team-out took when this was promised, and less than half of report's."""
MOST_CHECK = 4.0
"""`check` against `score` on the same files."""


def verdict(text: str, measured: str, met: bool) -> bool:
    """Print a target and what was measured."""
    print(f"- {'PASS' if met else 'FAIL'}: {text}: {measured}", flush=True)
    return met


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


def limits(folder: Path, runs: int, teams: int, topics: int, full: bool) -> bool:
    """Print CPU and memory of the commands; are they within the limits?"""
    where = simulated(folder, runs, teams, topics)
    print(f"\n### commands ({runs} runs of {teams} teams, {topics} topics, one process)\n")
    fine = []
    for name, arguments in (("leave-team-out", LEAVE_OUT), ("report", REPORT)):
        cpu, megabytes = used(arguments, where)
        fine.append(verdict(f"`{name}` in at most {MOST_MB} MB", f"{megabytes:.0f} MB", megabytes <= MOST_MB))
        if full:
            most = MOST_CPU[name]
            fine.append(verdict(f"`{name}` in at most {most:g} CPU seconds", f"{cpu:.1f} s", cpu <= most))
    score = min(used(["score", "qrels.txt", "runs", "--jobs", "1"], where).cpu for _ in range(3))
    check = min(used(["check", "qrels.txt", "runs"], where).cpu for _ in range(3))
    text, measured = f"`check` in at most {MOST_CHECK:g} times the CPU of `score`", f"{check / score:.2f}x"
    fine.append(verdict(text, f"{measured} ({check:.2f} and {score:.2f} s)", check <= MOST_CHECK * score))
    return all(fine)


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


def growth(folder: Path) -> bool:
    """CPU against runs, topics, depth and measures, one after another, of all four commands."""
    base, tiny = simulated(folder, 128, 40, 48), simulated(folder, 6, 3, 5)
    smaller = {
        "runs": simulated(folder, 32, 10, 48),
        "topics": simulated(folder, 128, 40, 12),
        "depth": shallow(base, 250),
        "measures": base,
    }
    fine = True
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
                fine &= verdict(f"`{command}` with {name}", measured, exponent <= MOST_EXPONENT)
    return fine


def main() -> int:
    """Print the tables; 1 where a limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a fifth of the runs and topics")
    parser.add_argument("--growth", action="store_true", help="growth with runs, topics, depth and measures, too")
    parser.add_argument("--folder", type=Path, help="keep the simulated collections there")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (args.folder or Path(temporary)).resolve()
        fine = limits(folder, *((26, 8, 10) if args.quick else (129, 41, 50)), full=not args.quick)
        if args.growth:
            fine &= growth(folder)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
