"""The doctor's search: CPU seconds and memory for a run that no combination of three settings explains.

    python benchmarks/bench_doctor.py

50 topics of 1,000 lines, four reported numbers, so that every combination is tried. Exit code 1 above 10 CPU seconds.
"""

from __future__ import annotations

import random
import resource
import sys
import time

import unjudged as uj

LIMIT = 10.0
REPORTED = ["nDCG@10=0.98765", "AP=0.98765", "P@10=0.2", "R@100=0.3"]


def main() -> int:
    draw = random.Random(1)
    docs = [f"d{n}" for n in range(3000)]
    qrels = {str(t): {d: draw.choice((0, 0, 1, 2, 3)) for d in draw.sample(docs, 100)} for t in range(50)}
    run = {str(t): {d: draw.random() for d in draw.sample(docs, 1000)} for t in range(50)}
    start = time.process_time()
    found = uj.doctor(qrels, run, REPORTED)
    seconds = time.process_time() - start
    assert found.frame["fit"].max() < 1
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(
        f"doctor, every combination of up to three settings: {seconds:.1f} CPU s, {memory:.0f} MB (limit {LIMIT:g} s)"
    )
    return int(seconds > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
