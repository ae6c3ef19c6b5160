"""The local page at 130 runs: how soon it answers, and whether its memory stays bounded.

    python benchmarks/bench_page.py                # latency (a minute or two); exit code 1 where a limit is passed
    python benchmarks/bench_page.py --applies 50 --requests 2000   # and the soak: about 25 minutes

The page runs in a process of its own (Linux: memory is read from /proc); the times are those of a browser's requests.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

import unjudged as uj

LIMITS = {"cached view": 1.0, "first verdict of a new view": 5.0, "upload to your run": 5.0}
"""Seconds."""
MOST_GROWTH = 400
"""Megabytes that all applies after the first ten may add; only the last few views are kept."""


class Page:
    """A served page."""

    def __init__(self, folder: Path) -> None:
        words = [sys.executable, "-m", "unjudged", "serve", "qrels.txt", "runs", "--teams", "teams.tsv", "--port", "0"]
        said = folder.parent / "said.txt"
        with said.open("w") as file:
            self.program = subprocess.Popen([*words, "--jobs", "1"], cwd=folder, stderr=file)
        while (found := re.search(r"(http://\S+/)\?token=(\S+)\s", said.read_text())) is None:
            assert self.program.poll() is None, said.read_text()
            time.sleep(0.05)
        self.client = httpx.Client(base_url=found[1], headers={"X-Unjudged-Token": found[2]}, timeout=600)

    def view(self, **state: Any) -> tuple[float, float]:
        """Seconds to the first verdict, and to the last."""
        began, first, seen = time.perf_counter(), 0.0, 0
        number = self.client.post("/api/jobs", json=state).json()["job"]
        while True:
            found = self.client.get(f"/api/jobs/{number}", params={"after": seen}).json()
            seen += len(found["sections"])
            if found["sections"] and not first:
                first = time.perf_counter() - began
            if found["state"] in ("done", "failed", "cancelled"):
                assert found["state"] == "done", found["message"]
                return first, time.perf_counter() - began
            time.sleep(0.1)

    def megabytes(self) -> float:
        """Resident memory."""
        text = Path(f"/proc/{self.program.pid}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0]) / 1024


def latency(page: Page, run: bytes) -> dict[str, float]:
    """Seconds of each kind of answer."""
    whole = page.view()[1]
    cached = page.view()[1]
    first = page.view(measures=["nDCG@10"])[0]
    dropped = page.view(drop="team02")[0]
    began = time.perf_counter()
    assert page.client.post("/api/runs", params={"name": "mine"}, content=run).status_code == 200
    assert page.client.get("/api/run", params={"name": "mine"}).status_code == 200
    mine = time.perf_counter() - began
    page.client.request("DELETE", "/api/runs", params={"name": "mine"})
    return {
        "whole report": whole,
        "cached view": cached,
        "first verdict of a new view": max(first, dropped),
        "upload to your run": mine,
    }


def soak(page: Page, applies: int, requests: int) -> float:
    """Megabytes added by the applies behind the tenth, with the requests between them."""
    early = 0.0
    for number in range(applies):
        page.view(seed=number + 1, measures=["P@10", "nDCG@10"])
        for _ in range(requests // applies):
            assert page.client.get("/api/collection").status_code == 200
        if number == min(9, applies - 1):
            early = page.megabytes()
        if number % 5 == 4:
            print(f"after {number + 1} applies: {page.megabytes():.0f} MB", flush=True)
    return page.megabytes() - early


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=130)
    parser.add_argument("--applies", type=int, default=0)
    parser.add_argument("--requests", type=int, default=0)
    args = parser.parse_args()
    passed = False
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "sim"
        size = {"topics": 50, "runs": args.runs, "teams": 32, "depth": 50, "K": 1000, "C": 20000}
        uj.simulate("tiny", seed=3, out=folder, **size)
        page = Page(folder)
        try:
            for name, seconds in latency(page, (folder / "runs" / "team01-1").read_bytes()).items():
                over = seconds > LIMITS.get(name, float("inf"))
                passed |= over
                limit = f"{LIMITS[name]:g}" if name in LIMITS else "-"
                print(name, f"{seconds:.2f} s", f"limit {limit}", "TOO SLOW" if over else "", sep="\t", flush=True)
            if args.applies:
                grown = soak(page, args.applies, args.requests)
                passed |= grown > MOST_GROWTH
                print(f"{args.applies} applies, {args.requests} requests\t+{grown:.0f} MB\tlimit {MOST_GROWTH}")
        finally:
            page.program.terminate()
            page.program.wait()
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
