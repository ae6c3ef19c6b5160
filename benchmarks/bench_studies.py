"""How long studies take, and how that grows with runs, topics, measures and repeats.

    python benchmarks/bench_studies.py            # the full set on 100 runs x 50 topics, then growth
    python benchmarks/bench_studies.py --quick    # a tenth of it

Times are CPU seconds of one process (other work on the machine does not count); with two processes the full set
also reports seconds on the clock. Collections are simulated with fixed seeds in a temporary folder.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import unjudged as uj

STUDIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("agreement", {}),
    ("power", {}),
    ("swap", {}),
    ("stability", {}),
    ("reduction", {}),
    ("leave-team-out", {}),
    ("leave-team-out", {"summary": True}),
    ("leave-run-out", {}),
    ("take-team", {}),
    ("take-team", {"summary": True}),
    ("depth", {}),
    ("reliability", {}),
    ("contributions", {}),
)
"""Every study of the package that needs no new runs (`correction` has its own benchmark)."""


def collection(folder: Path, runs: int, topics: int) -> uj.Collection:
    """A deep pool of this size, simulated once."""
    where = folder / f"{runs}x{topics}"
    if not where.exists():
        uj.simulate("adhoc", seed=1, runs=runs, teams=max(5, runs // 3), topics=topics, out=where, jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return uj.load(where / "qrels.txt", where / "runs", teams=where / "teams.tsv")


def spent(name: str, c: uj.Collection, jobs: int = 1, **options: Any) -> tuple[float, float]:
    """CPU seconds of this process, and seconds on the clock."""
    cpu, clock = time.process_time(), time.perf_counter()
    uj.study(name, c, jobs=jobs, **options).render("tsv")
    return time.process_time() - cpu, time.perf_counter() - clock


def full_set(c: uj.Collection) -> None:
    """All studies with the nine measures of Sakai 2009."""
    print(f"\nfull set, sakai2009, {len(c.runs)} runs x {len(c.topics)} topics, {len(c.judgments)} judgments")
    print(f"{'study':<26}{'CPU s, 1 process':>18}{'clock s, 2 processes':>22}")
    total_cpu = total_clock = 0.0
    for name, options in STUDIES:
        given = dict(options) if name == "contributions" else {"measures": "sakai2009", **options}
        cpu, _ = spent(name, c, 1, **given)
        _, clock = spent(name, c, 2, **given)
        total_cpu, total_clock = total_cpu + cpu, total_clock + clock
        print(f"{name + ' --summary' * bool(options):<26}{cpu:>18.2f}{clock:>22.2f}", flush=True)
    print(f"{'all':<26}{total_cpu:>18.2f}{total_clock:>22.2f}")


def growth(folder: Path, largest: int, most_topics: int) -> None:
    """One thing at a time, the others fixed; the ratio to the line above says how the cost grows."""
    middle = collection(folder, largest // 2, most_topics)
    print("\ngrowth of depth, leave-run-out and swap (CPU seconds, one process; ratio to the line above)")
    print(f"{'':<24}{'depth':>16}{'leave-run-out':>20}{'swap':>16}")
    lines: list[tuple[str, list[tuple[str, uj.Collection, dict[str, Any]]]]] = [
        ("runs", [(str(n), collection(folder, n, most_topics), {}) for n in (largest // 4, largest // 2, largest)]),
        ("topics", [(str(n), collection(folder, largest // 2, n), {}) for n in (most_topics // 2, most_topics)]),
        ("measures", [(str(n), middle, {"measures": _measures(n)}) for n in (1, 3, 9)]),
    ]
    for what, steps in lines:
        before: dict[str, float] = {}
        for label, c, options in steps:
            cells = []
            for name in ("depth", "leave-run-out", "swap"):
                given = {"measures": "AP,Q',RBP", **options}
                cpu, _ = spent(name, c, 1, **given)
                ratio = f" x{cpu / before[name]:.1f}" if name in before else ""
                before[name] = cpu
                cells.append(f"{cpu:.2f}{ratio}")
            print(f"{what + ' ' + label:<24}{cells[0]:>16}{cells[1]:>20}{cells[2]:>16}", flush=True)
    print("\nrepeats of reduction (levels 70,50,30,10)")
    last = 0.0
    for repeats in (1, 2, 4):
        options = {"measures": "AP,Q',RBP", "levels": (70, 50, 30, 10), "repeats": repeats}
        cpu, _ = spent("reduction", middle, 1, **options)
        print(f"{'repeats ' + str(repeats):<24}{cpu:>10.2f}{f' x{cpu / last:.1f}' if last else '':>6}", flush=True)
        last = cpu


def _measures(number: int) -> list[str]:
    from unjudged.measures import measures

    return [str(m) for m in measures("sakai2009")][-number:]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    parser.add_argument("--folder", type=Path, help="keep the simulated collections there")
    args = parser.parse_args()
    runs, topics = (20, 10) if args.quick else (100, 50)
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.folder or Path(temporary)
        uj.study("reliability", collection(folder, 5, 5), measures="AP")  # loads what is loaded once
        full_set(collection(folder, runs, topics))
        growth(folder, runs, topics)


if __name__ == "__main__":
    main()
