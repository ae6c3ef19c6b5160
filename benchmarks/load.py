"""Load: many runs, many topics, memory against hits and file size, streams, a cluster that loses workers.

    python benchmarks/load.py                    # all parts; 4.3 GB of temporary files, less than half an hour
    python benchmarks/load.py --full             # also a file of 17 GB, a stream of 100 GB, 8 million hits
    python benchmarks/load.py --only topics --topics 1000000

Parts: `runs` (1,000 runs x 250 topics x 100 documents), `topics` (10 million topics x 10 documents), `hits` (memory
against hits and judgments), `size` (memory against the size of files: plain, gz, scattered topics), `stream` (memory
against what comes through a pipe), `cluster` (a study on Dask that loses workers, scheduler, command).
The inputs are made here. The tables printed at the end are those of docs/performance.md.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import load_files
from load_files import Row

PARTS = ("runs", "topics", "hits", "size", "stream", "cluster")


def rows_of(part: str, folder: Path, args: argparse.Namespace) -> Iterator[Row]:
    """Measure one part about files or streams."""
    if part == "runs":
        return load_files.many_runs(folder, args.runs)
    if part == "topics":
        return load_files.many_topics(folder, args.topics)
    parts = {"hits": load_files.hits, "size": load_files.size, "stream": load_files.stream}
    return parts[part](folder, args.full)


def table(part: str, rows: list[Row], options: str) -> str:
    """As it stands in the docs: memory and CPU first, wall clock last."""
    more = any(row.more for row in rows)
    lines = [f"`python benchmarks/load.py --only {part}{options}`", ""]
    lines += ["| what | read | peak memory | bound | CPU | wall |" + " |" * more]
    lines += ["|---|---:|---:|---:|---:|---:|" + "---:|" * more]
    for row in rows:
        size = f"{row.read / 1e3:.1f} GB" if row.read >= 1e3 else f"{row.read:.0f} MB"
        cost = f"{row.cost.peak:,.0f} MB | {row.bound:,.0f} MB | {row.cost.cpu:.1f} s | {row.cost.wall:.1f} s"
        lines.append(f"| {row.what} | {size} | {cost} |" + f" {row.more} |" * more)
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--full", action="store_true", help="the largest sizes, too")
    parser.add_argument("--runs", type=int, default=1000, help="number of runs in `runs` (default 1000)")
    parser.add_argument(
        "--topics", type=int, default=10_000_000, help="number of topics in `topics` (default 10000000)"
    )
    parser.add_argument("--folder", help="where temporary files go (default: the system's folder for them)")
    args = parser.parse_args()
    began = time.perf_counter()
    told: list[str] = []
    for part in [args.only] if args.only else PARTS:
        with tempfile.TemporaryDirectory(dir=args.folder) as folder:
            if part == "cluster":
                os.environ.setdefault("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "10s")
                from load_cluster import lost_workers

                said = []
                for line in lost_workers(Path(folder)):
                    said.append(f"* {line}\n")
                    print(" ", line, flush=True)
                told.append("`python benchmarks/load.py --only cluster`\n\n" + "".join(said))
                continue
            rows = []
            for row in rows_of(part, Path(folder), args):
                rows.append(row)
                print(f"  {row.cost.cpu:.1f} s CPU, peak {row.cost.peak:,.0f} MB, {row.cost.wall:.1f} s", flush=True)
                assert row.cost.peak <= row.bound, row
            told.append(table(part, rows, " --full" if args.full else ""))
    print("\n" + "\n".join(told))
    print(f"{time.perf_counter() - began:,.0f} s in all, load average {os.getloadavg()[1]:.1f}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
