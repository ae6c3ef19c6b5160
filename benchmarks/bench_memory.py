"""Memory and CPU of the two heaviest commands on 129 runs and 41 teams, and how CPU grows with the size.

    python benchmarks/bench_memory.py                 # the full size; exit code 1 where a limit is passed
    python benchmarks/bench_memory.py --quick         # a fifth of it
    python benchmarks/bench_memory.py --growth        # ... and growth with runs, topics, depth and measures

Each command runs in a process of its own; CPU is user plus system time, memory the largest resident size. Growth is the
exponent of CPU against size (1 is linear), of the work without what every command does once.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import unjudged as uj

MOST_MB = 800
MOST_EXPONENT = 1.2


class Used(NamedTuple):
    """What a command took."""

    cpu: float
    megabytes: float


def used(arguments: list[str], folder: Path) -> Used:
    """CPU seconds and megabytes of `unjudged ...` in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "unjudged", *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
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


def limits(folder: Path, runs: int, teams: int, topics: int) -> bool:
    """Print both commands; are they within the limit?"""
    where, fine = simulated(folder, runs, teams, topics), True
    print(f"{runs} runs of {teams} teams, {topics} topics (limit {MOST_MB} MB)")
    for name, arguments in (("leave-team-out, nine measures, 1,000 resamples", LEAVE_OUT), ("report", REPORT)):
        cpu, megabytes = used(arguments, where)
        fine &= megabytes <= MOST_MB
        print(f"  {name:<48}{cpu:>8.1f} CPU s{megabytes:>8.0f} MB", flush=True)
    return fine


def growth(folder: Path) -> bool:
    """Scoring, whose work is linear, against runs, topics, depth and measures."""
    base, fine = simulated(folder, 128, 40, 50), True
    small_runs, small_topics = simulated(folder, 32, 10, 50), simulated(folder, 128, 40, 12)
    few, many = "AP,nDCG", "AP,nDCG,Q,RBP,bpref,ERR,infAP,R_measure"
    start = used(["--version"], base).cpu
    score = ["score", "qrels.txt", "runs", "--jobs", "1", "--format", "tsv", "-m"]
    lines = {
        "runs": (4.0, (small_runs, [*score, many]), (base, [*score, many])),
        "topics": (50 / 12, (small_topics, [*score, many]), (base, [*score, many])),
        "depth": (4.0, (base, [*score, many, "--truncate", "250"]), (base, [*score, many, "--truncate", "1000"])),
        "measures": (4.0, (base, [*score, few]), (base, [*score, many])),
    }
    print("growth of score: exponent of CPU against size")
    for name, (factor, small, large) in lines.items():
        times = [min(used(arguments, where).cpu for _ in range(3)) - start for where, arguments in (small, large)]
        exponent = math.log(times[1] / times[0]) / math.log(factor)
        fine &= exponent <= MOST_EXPONENT
        print(f"  {name:<10}{times[0]:>8.2f} s{times[1]:>8.2f} s{exponent:>8.2f}", flush=True)
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
        fine = limits(folder, *((26, 8, 10) if args.quick else (129, 41, 50)))
        if args.growth:
            fine &= growth(folder)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
