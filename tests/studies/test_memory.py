"""Memory of the two heaviest commands on a small case; `benchmarks/bench_memory.py` holds the large one to 800 MB."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import unjudged as uj

pytestmark = pytest.mark.slow


def peak(arguments: list[str], folder: Path) -> float:
    """Megabytes of `unjudged ...` in a process of its own, as it is called from the command line."""
    call = [sys.executable, "-m", "unjudged", *arguments]
    process = subprocess.Popen(call, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1)
    return usage.ru_maxrss / 1024


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux")
def test_memory_of_leave_team_out_and_report(tmp_path: Path) -> None:
    where = tmp_path / "made"
    uj.simulate("adhoc", seed=1, runs=40, teams=20, topics=15, out=where, jobs=1)
    files = ["qrels.txt", "runs", "--teams", "teams.tsv", "--jobs", "1"]
    plain = peak(["score", "qrels.txt", "runs", "--jobs", "1"], where)
    study = peak(
        ["study", "leave-team-out", *files, "--all-runs", "--summary", "-m", "AP,Q,nDCG", "--test", "t"], where
    )
    report = peak(["report", *files, "-o", "report.html"], where)
    # measured: scoring 65 MB, the study 61 and the report 97 MB above it
    assert study - plain < 120 and report - plain < 190
