"""Memory and CPU of the ranks of 5,000 runs on 1,000 topics, read from Parquet: 12.5 million pairs of runs.

    python benchmarks/bench_score_tables.py                        # exit code 1 where 2 GB are passed
    python benchmarks/bench_score_tables.py --runs 500 --topics 200

The table is made here, a hundred runs at a time. `compare --scores FILE --ranks` runs in a process of its own.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench_memory import used

MOST_MB = 2048
AT_ONCE = 100


def write(path: Path, runs: int, topics: int) -> None:
    """A long table: run, topic, measure, value."""
    rng = np.random.default_rng(1)
    easy = rng.normal(0, 0.15, topics)
    names = [("run", pa.string()), ("topic", pa.string()), ("measure", pa.string()), ("value", pa.float64())]
    with pq.ParquetWriter(path, pa.schema(names)) as file:
        for first in range(0, runs, AT_ONCE):
            many = min(AT_ONCE, runs - first)
            value = 0.4 + easy + rng.normal(0, 0.05, (many, 1)) + rng.normal(0, 0.1, (many, topics))
            columns = {
                "run": np.repeat([f"r{first + i:04d}" for i in range(many)], topics),
                "topic": np.tile([f"q{t}" for t in range(topics)], many),
                "measure": np.repeat(["nDCG@10"], many * topics),
                "value": np.clip(value, 0, 1).ravel(),
            }
            file.write_table(pa.table(columns, schema=pa.schema(names)))


def main() -> int:
    """Make the table, rank the runs, say what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--topics", type=int, default=1000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "scores.parquet"
        write(table, args.runs, args.topics)
        took = used(["compare", "--scores", str(table), "--ranks", "-m", "nDCG@10"], Path(folder))
    pairs = args.runs * (args.runs - 1) // 2
    print(f"{args.runs} runs x {args.topics} topics, {pairs} pairs: {took.cpu:.0f} CPU s, {took.megabytes:.0f} MB")
    return int(took.megabytes > MOST_MB)


if __name__ == "__main__":
    raise SystemExit(main())
