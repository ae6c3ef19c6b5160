"""Every target of docs/performance.md, measured one after another, and one table of all of them: `make bench`.

    python benchmarks/bench.py [--quick] [--data DIR]

Each part is a process of its own; where one fails, its targets are told as not measured and the next one runs. A
quarter of an hour on an idle machine. Exit code 1 where a target was missed or a part failed (with --quick, for small
sizes, only where a part failed).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from promises import Target, read, table

HERE = Path(__file__).parent
PARTS = {
    "one small run": ("bench_scoring.py", "--only", "one"),
    "100 runs": ("bench_scoring.py", "--only", "collection"),
    "7 million lines": ("bench_scoring.py", "--only", "large"),
    "dicts": ("bench_scoring.py", "--only", "dicts"),
    "report, leave-team-out and check": ("bench_memory.py",),
    "growth": ("bench_memory.py", "--growth"),
}


def load() -> str:
    """How busy the machine is."""
    return ", ".join(f"{one:.1f}" for one in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"


def main() -> int:
    """Run all parts; 1 where something was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, to try it; targets are not binding")
    parser.add_argument("--data", type=Path, help="keeps the generated files here (about 900 MB; default: temporary)")
    args = parser.parse_args()
    before, start = load(), time.monotonic()
    found: dict[str, Target] = {}
    failed = []
    with tempfile.TemporaryDirectory(prefix="unjudged-bench-") as temporary:
        data = (args.data or Path(temporary)).resolve()
        data.mkdir(parents=True, exist_ok=True)
        for part, (script, *words) in PARTS.items():
            print(f"\n## {part}\n", flush=True)
            told = data / "targets.json"
            told.unlink(missing_ok=True)
            command = [sys.executable, str(HERE / script), *words, *(["--quick"] if args.quick else [])]
            code = subprocess.run([*command, "--data", str(data), "--targets", str(told)], check=False).returncode
            if code not in (0, 1) or not told.exists():
                failed.append(part)
                found[part] = Target(part, f"failed with exit code {code}", None)
            for one in read(told) if told.exists() else []:
                if one.text not in found or found[one.text].met is None:
                    found[one.text] = one
    minutes = (time.monotonic() - start) / 60
    print(f"\n## All targets{' (small sizes: not binding)' if args.quick else ''}\n")
    print(table(list(found.values())))
    print(f"\nLoad average before and after (1, 5, 15 minutes): {before}; {load()}. {minutes:.0f} minutes in all.")
    missed = [one for one in found.values() if one.met is False]
    return 1 if failed or (missed and not args.quick) else 0


if __name__ == "__main__":
    sys.exit(main())
