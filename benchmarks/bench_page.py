"""The local page at 130 runs: how soon it answers, and whether its memory stays bounded.

    python benchmarks/bench_page.py                # latency (a minute or two); exit code 1 where a limit is passed
    python benchmarks/bench_page.py --applies 50 --requests 2000   # and the soak: about 25 minutes

The page runs in a process of its own (Linux: memory and processor time are read from /proc); the times are those of a
browser's requests, in its order: a run is added while a view is computed, which the page ends, and the report of all
runs comes after the answer about the added one. The limits are for two processors that have nothing else to do; where
others share them, look at the processor seconds.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

import unjudged as uj

LIMITS = {"cached view": 1.0, "first verdict, other measure": 5.0, "first verdict, team left out": 5.0}
LIMITS |= {"upload to your run's score": 5.0, "upload to your run": 5.0}
"""Seconds."""
MOST_GROWTH = 100
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

    def until_first(self, **state: Any) -> int:
        """Start a view and wait for its first verdict; its number."""
        number: int = self.client.post("/api/jobs", json=state).json()["job"]
        while not self.client.get(f"/api/jobs/{number}").json()["sections"]:
            time.sleep(0.1)
        return number

    def processor(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.program.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """Resident memory."""
        text = Path(f"/proc/{self.program.pid}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0]) / 1024


def latency(page: Page, run: bytes) -> Iterator[tuple[str, float, float]]:
    """Name, seconds and processor seconds of each kind of answer."""

    def taken(name: str, act: Callable[[], float | None]) -> tuple[str, float, float]:
        began, before = time.perf_counter(), page.processor()
        seconds = act()
        return name, time.perf_counter() - began if seconds is None else seconds, page.processor() - before

    early: list[float] = []

    def mine() -> None:
        began = time.perf_counter()
        assert page.client.post("/api/runs", params={"name": "mine"}, content=run).status_code == 200
        page.client.delete(f"/api/jobs/{under_way}")
        assert page.client.get("/api/score", params={"name": "mine"}).status_code == 200
        early.append(time.perf_counter() - began)
        assert page.client.get("/api/run", params={"name": "mine"}).status_code == 200

    yield taken("whole report", lambda: page.view()[1])
    yield taken("cached view", lambda: page.view()[1])
    for name, state in (("other measure", {"measures": ["nDCG@10"]}), ("team left out", {"drop": "team02"})):
        yield taken(f"first verdict, {name}", lambda state=state: page.view(**state)[0])  # type: ignore[misc]
    under_way = page.until_first(seed=77)
    answered = taken("upload to your run", mine)
    yield "upload to your run's score", early[0], answered[2]
    yield answered
    page.client.delete("/api/runs", params={"name": "mine"})


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
            for name, seconds, processor in latency(page, (folder / "runs" / "team01-1").read_bytes()):
                over = seconds > LIMITS.get(name, float("inf"))
                passed |= over
                limit = f"{LIMITS[name]:g}" if name in LIMITS else "-"
                times = f"{seconds:.2f} s", f"{processor:.2f} s of the processor"
                print(name, *times, f"limit {limit}", "TOO SLOW" if over else "", sep="\t", flush=True)
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
