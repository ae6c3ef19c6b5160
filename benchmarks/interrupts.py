"""Commands interrupted (as by Ctrl-C on a terminal: every process of theirs at once) at random times.

    python benchmarks/interrupts.py               # 120 interrupts, about four minutes
    python benchmarks/interrupts.py --times 5 --seed 7

Each must end with 130 and a sentence, or with 0 where it was done before; exit code 1 where one does not. Interrupts in
the first moments, before the program has begun, are Python's own and are counted apart.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import unjudged as uj

COMMANDS = {
    "score": (["score"], 0.5),
    "compare": (["compare"], 1.5),
    "study leave-team-out --jobs 2": (["study", "leave-team-out", "--jobs", "2"], 3.0),
    "study correction --jobs 2": (["study", "correction", "--jobs", "2"], 3.0),
    "report": (["report", "-o", "trust.html"], 3.0),
}
"""What is interrupted, and within how many seconds."""


def ending(words: list[str], folder: Path, after: float) -> str:
    """How a command ends that is interrupted after so many seconds."""
    files = ["mine/qrels.txt", "mine/runs"]
    command = [sys.executable, "-m", "unjudged", *words, *files]
    if words[0] in ("study", "report"):
        command += ["--teams", "mine/teams.tsv"]
    began = time.perf_counter()
    program = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where a shell put us behind
    )
    time.sleep(after)
    if program.poll() is None:
        os.killpg(program.pid, signal.SIGINT)
    _, said = program.communicate()
    if time.perf_counter() - began - after > 5:
        return "slow"
    if program.returncode == 0:
        return "done before"
    if program.returncode == 130 and said.splitlines()[-1].startswith("unjudged: interrupted") and "Trace" not in said:
        return "130 and a sentence"
    if "unjudged/cli" not in said and after < 0.2:
        return "before it began"
    print(f"{' '.join(words)} after {after:.3f} s: {program.returncode}\n{said[-2000:]}", file=sys.stderr)
    return "otherwise"


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=24, help="interrupts of each command")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    draw, bad = random.Random(args.seed), 0
    kinds = ("130 and a sentence", "done before", "before it began", "slow", "otherwise")
    print("command", *kinds, sep="\t")
    with tempfile.TemporaryDirectory() as made:
        uj.simulate("tiny", seed=1, out=Path(made) / "mine", runs=30, teams=8, topics=30)
        for name, (words, longest) in COMMANDS.items():
            found = Counter(ending(words, Path(made), draw.uniform(0, longest)) for _ in range(args.times))
            bad += found["slow"] + found["otherwise"]
            print(name, *(found[kind] for kind in kinds), sep="\t", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
