"""Speed and memory of scoring: unjudged against pytrec_eval, ir_measures, ranx and trec_eval.

    python benchmarks/bench_scoring.py [--quick] [--data DIR] [--repeats N] [--only CASE] [--json FILE]

`make bench` (bench.py) runs it case by case, then bench_memory.py: every target of docs/performance.md.

Every contender goes from the same generated files to the scores of every topic on the seven usual measures, each
time in a fresh process, all contenders in turn within each round; medians over the rounds are printed. CPU is
user + system time of the process, memory its largest resident size. Before anything is timed, the values are
compared (these first processes also leave compiled bytecode behind, for every contender alike). unjudged's command
prints its scores to a file; the Python packages stop with the scores in memory.
Contenders that are not installed are named. Exit code: 0 all targets met (or --quick), 1 not, 2 values differ.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from peers import OURS, SEVEN, Scores, largest_difference, registered
from promises import Target, write

PEERS = Path(__file__).with_name("peers.py")
PACKAGES = {
    "unjudged": "unjudged",
    "pytrec_eval": "pytrec_eval-terrier",
    "ir_measures": "ir_measures",
    "ranx": "ranx",
    "numpy": "numpy",
}
TOLERANCE = {"trec_eval": 5.1e-5}  # it prints four digits
EXACT = 1e-9
KNOWN = {("ranx", "bpref")}  # NaN where a topic has no judged nonrelevant document
SLOW = {"ranx", "ir_measures"}  # no target needs more than two rounds of them
SHORT = {"command", "python", "verb"}  # a fraction of a second: several times a round, as wall times of threads vary
TREC_EVAL = os.environ.get("TREC_EVAL") or shutil.which("trec_eval")
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "NUMBA")}

# this module imports nothing large and works in child processes, because a child's peak memory, as the system
# counts it, is never below that of the process that started it

# ---------------------------------------------------------------------------------------------- data


@dataclass(frozen=True)
class Case:
    """One set of files."""

    name: str
    title: str
    runs: int
    topics: int
    length: int
    judged: int
    repeats: int
    kind: str

    def qrels(self, data: Path) -> Path:
        """The judgments."""
        return data / self.name / "qrels.txt"

    def paths(self, data: Path) -> list[Path]:
        """The runs."""
        return [data / self.name / "runs" / f"run{i:03}" for i in range(self.runs)]


FULL = (
    Case("one", "one run", 1, 50, 1000, 1200, 11, "adhoc"),
    Case("collection", "100 runs", 100, 50, 1000, 200, 3, "passage"),
    Case("large", "7 million lines", 1, 6980, 1000, 1, 3, "sparse"),
)
QUICK = (
    Case("one", "one run", 1, 10, 1000, 1200, 2, "adhoc"),
    Case("collection", "10 runs", 10, 10, 1000, 200, 1, "passage"),
    Case("large", "100,000 lines", 1, 100, 1000, 1, 1, "sparse"),
)


def generate(case: Case, data: Path) -> None:
    """Writes judgments and runs. No two scores of a topic are equal, also as float32, so that all tie rules agree."""
    import numpy as np

    rng = np.random.default_rng(2007)
    (data / case.name / "runs").mkdir(parents=True, exist_ok=True)
    sparse = case.kind == "sparse"
    pool = case.length if sparse else 3 * case.length

    def names(n: int) -> list[str]:
        if case.kind == "adhoc":
            papers = rng.choice(["WSJ", "AP", "ZF", "FR"], n)
            days, numbers = rng.integers(870101, 921231, n), rng.permutation(n)
            return [f"{p}{d}-{i:04}" for p, d, i in zip(papers, days, numbers, strict=True)]
        return [str(i) for i in rng.choice(8_841_823, n, replace=False)]

    topics = (
        np.sort(rng.choice(1_100_000, case.topics, replace=False))
        if case.kind != "adhoc"
        else range(101, 101 + case.topics)
    )
    judged_names, docs, interest = [], [], []
    with case.qrels(data).open("w") as file:
        for topic in topics:
            found = names(pool)
            if sparse:  # one or two relevant documents, found at a low rank or not at all
                grades = np.zeros(pool)
                places = np.minimum(rng.geometric(0.02, size=1 + (rng.random() < 0.06)), pool) - 1
                for place in np.unique(places):
                    retrieved = rng.random() < 0.87
                    grades[place] = retrieved
                    name = found[place] if retrieved else f"{9_000_000 + place}"
                    file.write(f"{topic} 0 {name} 1\n")
            else:  # documents of high interest are judged, and more often relevant
                latent = rng.normal(size=pool)
                chosen = np.argsort(-(latent + rng.normal(size=pool)))[: case.judged]
                top = 3 if case.kind == "passage" else 1
                grades = np.zeros(pool)
                grades[chosen] = np.clip(np.floor(latent[chosen] + 0.4 * rng.normal(size=case.judged) - 0.4), 0, top)
                for place in np.sort(chosen):
                    file.write(f"{topic} 0 {found[place]} {int(grades[place])}\n")
                interest.append(latent + grades)
            judged_names.append(str(topic))
            docs.append(found)
    for number, path in enumerate(case.paths(data)):
        quality = rng.uniform(0.3, 1.5)
        with path.open("w") as file:
            for t, topic in enumerate(judged_names):
                if sparse:
                    order = np.arange(case.length)
                else:
                    order = np.argsort(-(quality * interest[t] + rng.normal(size=pool)))[: case.length]
                scores = 40_000_000 - np.cumsum(rng.integers(50, 30_000, case.length))
                lines = [
                    f"{topic} Q0 {docs[t][d]} {rank} {s / 1e6:.6f} run{number:03}\n"
                    for rank, (d, s) in enumerate(zip(order.tolist(), scores.tolist(), strict=True), 1)
                ]
                if number % 10 == 9:  # some people do not sort
                    rng.shuffle(lines)
                file.writelines(lines)
    (data / case.name / "done").write_text(json.dumps(asdict(case)))


def prepare(case: Case, data: Path) -> None:
    """Generates what is not there yet."""
    done = data / case.name / "done"
    if not done.is_file() or json.loads(done.read_text()) != asdict(case):
        note(f"generating {case.title}")
        shutil.rmtree(data / case.name, ignore_errors=True)
        in_child(generate, case, data)
    for path in [case.qrels(data), *case.paths(data)]:  # into the page cache
        with path.open("rb") as file:
            while file.read(1 << 20):
                pass


# ---------------------------------------------------------------------------------------------- measuring


def note(text: str) -> None:
    """Progress."""
    print(f"# {text}", file=sys.stderr, flush=True)


def in_child(function: Callable[..., Any], *args: Any) -> Any:
    """Calls it in another process, so that this one stays small."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(function, args)


@dataclass
class Cost:
    """What some processes took."""

    cpu: float = 0.0
    wall: float = 0.0
    memory: float = 0.0  # MB


def environment(data: Path, threads: bool = False) -> dict[str, str]:
    """The same for every contender: compiled bytecode is kept (outside the packages), as after an ordinary install."""
    found = dict(os.environ) if threads else os.environ | ONE_THREAD
    found.pop("PYTHONDONTWRITEBYTECODE", None)
    return found | {"PYTHONPYCACHEPREFIX": str(data / "bytecode")}


def run(command: list[str], output: Path, threads: bool = False, append: bool = False) -> Cost:
    """One fresh process; its output goes to a file."""
    settings = environment(output.parent, threads)
    with output.open("ab" if append else "wb") as file:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=file, stderr=subprocess.PIPE, env=settings)
        assert child.stderr is not None
        errors = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stderr.close()
    if child.returncode:
        sys.exit(f"{' '.join(command[:8])} ... failed ({child.returncode}): {errors.decode(errors='replace')[-2000:]}")
    scale = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / scale)


@dataclass
class Contender:
    """A way from files to scores."""

    name: str
    peer: str
    which: str = "seven"
    costs: list[Cost] = field(default_factory=list)

    def measure(self, case: Case, data: Path, output: Path, scores: Path | None = None) -> Cost:
        """Once, in fresh processes."""
        qrels, runs = str(case.qrels(data)), [str(p) for p in case.paths(data)]
        if self.peer == "python":
            return run([sys.executable, "-c", "pass"], output)
        if self.peer == "verb":
            return run([sys.executable, "-m", "unjudged", "trec_eval", qrels, *runs], output)
        if self.peer == "command":
            sets = {"seven": list(OURS.values()), "all": ["all_trec"]}
            measures = ",".join(sets.get(self.which) or registered())
            command = [sys.executable, "-m", "unjudged", "score", qrels, *runs, "-q", "-m", measures, "--format", "tsv"]
            threads = self.name.endswith("two threads")
            return run([*command, "--jobs", "2" if threads else "1"], scores or output, threads)
        if self.peer == "trec_eval":
            asked = (
                [m.replace("_cut_", "_cut.").replace("P_", "P.") for m in SEVEN]
                if self.which == "seven"
                else ["all_trec"]
            )
            flags = [part for m in asked for part in ("-m", m)]
            total = Cost()
            for i, path in enumerate(runs):
                cost = run([TREC_EVAL or "", "-q", *flags, qrels, path], scores or output, append=i > 0)
                total = Cost(total.cpu + cost.cpu, total.wall + cost.wall, max(total.memory, cost.memory))
            return total
        command = [sys.executable, str(PEERS), "files", self.peer, self.which, qrels, *runs]
        return run([*command, "--scores", str(scores)] if scores else command, output)

    def second_time(self, case: Case, data: Path, output: Path) -> Cost:
        """The same job done again in a process that has done it once."""
        times = output.with_name("again")
        paths = [str(case.qrels(data)), *map(str, case.paths(data))]
        run([sys.executable, str(PEERS), "files", self.peer, self.which, *paths, "--again", str(times)], output)
        return Cost(*json.loads(times.read_text())[1])


def contenders(there: dict[str, str | None], one: bool) -> list[Contender]:
    """All that can be measured here; ours first. `one`: for a single small run also what Python itself takes."""
    bare = [Contender("python -c pass", "python", "none"), Contender("unjudged trec_eval", "verb", "official")]
    found = [
        Contender("unjudged, command, one thread", "command"),
        Contender("unjudged, command, two threads", "command"),
        Contender("unjudged, Python, one thread", "unjudged"),
    ]
    found += [Contender(name, name) for name in ("pytrec_eval", "ir_measures", "ranx", "trec_eval") if there[name]]
    found += [
        Contender("unjudged, command, one thread", "command", "all"),
        Contender("unjudged, Python, one thread", "unjudged", "all"),
        Contender("unjudged, command, one thread", "command", "registry"),
        Contender("unjudged, Python, one thread", "unjudged", "registry"),
    ]
    found += [Contender(name, name, "all") for name in ("pytrec_eval", "trec_eval") if there[name]]
    return found + bare if one else found


def installed() -> dict[str, str | None]:
    """Contender -> version, or None."""
    found: dict[str, str | None] = {}
    for name, package in PACKAGES.items():
        try:
            found[name] = version(package) if find_spec(name) else None
        except PackageNotFoundError:
            found[name] = None
    found["trec_eval"] = TREC_EVAL and (
        subprocess.run([TREC_EVAL, "--version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        .stdout.split("version")[-1]
        .strip()
        or "of unknown version"
    )
    return found


# ---------------------------------------------------------------------------------------------- values


def read_scores(path: Path, peer: str, case: Case) -> Scores:
    """The per-topic scores a contender wrote."""
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    if peer == "command":
        names = {ours: name for name, ours in OURS.items()}
        return {(r, t, names[m]): float(v) for r, t, m, v in rows[1:] if t != "all"}
    if peer == "trec_eval":  # one run after the other, each ending with its means
        found: Scores = {}
        number, ended = 0, False
        for name, topic, value in rows:
            if ended and topic != "all":
                number += 1
            ended = topic == "all"
            if not ended:
                found[f"run{number:03}", topic, name.strip()] = float(value)
        return found
    return {(r, t, m): float(v) for r, t, m, v in rows}


def differences(case: Case, files: dict[str, tuple[str, Path]]) -> dict[str, dict[str, float]]:
    """Largest difference of each contender from our command, per measure."""
    scores = {name: read_scores(path, peer, case) for name, (peer, path) in files.items()}
    ours = next(iter(scores.values()))
    assert len(ours) == case.runs * case.topics * len(SEVEN), "our own scores are not complete"
    return {name: largest_difference(ours, theirs) for name, theirs in scores.items()}


def verdict(name: str, worst: dict[str, float]) -> tuple[bool, str]:
    """Do the values agree, and a sentence about it."""
    limit = TOLERANCE.get(name, EXACT)
    off = {m: d for m, d in worst.items() if not d <= limit}
    if not off:
        return True, f"{name}: equal (largest difference {max(worst.values()):.1e})"
    listed = ", ".join(
        f"{m} (NaN or no value)" if d == float("inf") else f"{m} by up to {d:.2g}" for m, d in off.items()
    )
    return all((name, m) in KNOWN for m in off), f"{name}: DIFFERS in {listed}"


# ---------------------------------------------------------------------------------------------- report


def median(costs: list[Cost], what: str) -> float:
    """Median of one column."""
    return float(statistics.median(getattr(c, what) for c in costs))


def seconds(value: float) -> str:
    """Three digits."""
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Markdown, numbers to the right."""
    ruler = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ruler, *rows])


def print_case(case: Case, entries: list[Contender], again: dict[str, list[Cost]]) -> None:
    """The table of one case."""
    ours = median(entries[0].costs, "cpu")
    rows = []
    for c in entries:
        cpu = median(c.costs, "cpu")
        warm = f"{seconds(median(again[c.peer], 'cpu'))}" if c.which == "seven" and c.peer in again else ""
        kinds = {"all": ", all_trec", "registry": ", every registered measure", "official": ", official measures"}
        label = c.name + kinds.get(c.which, "")
        cells = [
            seconds(cpu),
            f"{cpu / ours:.1f}",
            seconds(median(c.costs, "wall")),
            f"{median(c.costs, 'memory'):.0f}",
        ]
        rows.append([label, *cells, warm])
    lines = case.runs * case.topics * case.length
    size = f"{case.runs} x {case.topics:,} topics x {case.length:,} documents, {lines:,} lines"
    rounds = min(len(c.costs) for c in entries if c.peer not in SLOW)
    print(f"\n### {case.title} ({size}; {rounds} rounds or more)\n")
    head = ["contender", "CPU s", "x ours", "wall s", "peak MB", "CPU s, second time in one process"]
    print(table(head, rows), flush=True)


def print_dicts(found: dict[str, Any], titles: dict[str, str]) -> None:
    """The table of dict input."""
    print("\n### dicts already in memory (one process, load and score; medians of warm rounds)\n")
    rows = []
    for case, values in found.items():
        times = values["times"]
        ours = statistics.median(cpu for cpu, _ in times["unjudged"][1:])
        for name, rounds in times.items():
            cpu = statistics.median(c for c, _ in rounds[1:])
            wall = statistics.median(w for _, w in rounds[1:])
            rows.append(
                [f"{titles[case]}: {name}", seconds(cpu), f"{cpu / ours:.1f}", seconds(wall), seconds(rounds[0][0])]
            )
    print(table(["contender", "CPU s", "x ours", "wall s", "CPU s, first call"], rows), flush=True)


def targets(found: dict[str, list[Contender]]) -> list[Target]:
    """The promises about speed and memory, each with what was measured."""

    def value(case: str, peer: str, what: str = "cpu", which: str = "seven") -> float | None:
        same = [c for c in found.get(case, ()) if c.peer == peer and c.which == which]
        return median(same[0].costs, what) if same else None

    def ratio(text: str, theirs: float | None, ours: float | None, wanted: float) -> Target:
        if theirs is None or ours is None:
            return Target(text, "not installed or left out", None)
        return Target(text, f"{theirs / ours:.2f}x", theirs / ours >= wanted)

    def threads(text: str, case: str, wanted: float) -> Target:
        walls = [median(c.costs, "wall") for c in found.get(case, ()) if c.peer == "command" and c.which == "seven"]
        return ratio(text, walls[0], walls[1], wanted) if walls else ratio(text, None, None, wanted)

    def at_most(text: str, ours: float | None, theirs: float | None, most: float) -> Target:
        if ours is None or theirs is None:
            return Target(text, "not installed or left out", None)
        return Target(text, f"{ours / theirs:.2f}x", ours / theirs <= most)

    out = []
    bare, official = value("one", "python", which="none"), value("one", "verb", which="official")
    text = "one small run: `trec_eval` in at most 2.3 times the CPU of `python -c pass`"
    out.append(at_most(text, official, bare, 2.3))
    text = "one small run: `score` in at most 2.3 times the CPU of `python -c pass`"
    out.append(at_most(text, value("one", "command"), bare, 2.3))
    text = "one small run: `score` in at most the CPU of the trec_eval that TREC_EVAL names"
    out.append(at_most(text, value("one", "command"), value("one", "trec_eval"), 1.0))
    for peer, wanted in (("pytrec_eval", 15), ("ranx", 30)):
        text = f"100 runs at least {wanted}x faster than {peer}"
        out.append(ratio(text, value("collection", peer), value("collection", "command"), wanted))
    out.append(threads("100 runs: two threads at least 1.7x faster (wall)", "collection", 1.7))
    text = "7 million lines at least 20x faster than pytrec_eval"
    out.append(ratio(text, value("large", "pytrec_eval"), value("large", "command"), 20))
    out.append(threads("7 million lines: one file by two threads at least 1.6x faster (wall)", "large", 1.6))
    text = "7 million lines in at most a third of pytrec_eval's memory (theirs over ours, 3 wanted)"
    out.append(ratio(text, value("large", "pytrec_eval", "memory"), value("large", "command", "memory"), 3))
    for case in ("one", "collection", "large"):
        text = f"all measures of trec_eval cost at most twice seven, {case}, scores in memory"
        out.append(at_most(text, value(case, "unjudged", which="all"), value(case, "unjudged"), 2))
    text = "every registered measure costs at most three times seven, collection, scores in memory"
    out.append(at_most(text, value("collection", "unjudged", which="registry"), value("collection", "unjudged"), 3))
    return out


def dict_targets(found: dict[str, Any]) -> list[Target]:
    """The promises about dicts, judgments included."""
    out = []
    for case, wanted, what in (("one", 1.5, "50 topics"), ("large", 3.0, "6,980 topics")):
        text = f"dicts of {what} at least {wanted:g}x faster than pytrec_eval"
        times = found.get(case, {}).get("times", {})
        if "pytrec_eval" not in times:
            out.append(Target(text, "not installed or left out", None))
            continue
        theirs, ours = (statistics.median(cpu for cpu, _ in times[n][1:]) for n in ("pytrec_eval", "unjudged"))
        out.append(Target(text, f"{theirs / ours:.2f}x", theirs / ours >= wanted))
    return out


# ---------------------------------------------------------------------------------------------- main


def bench_files(case: Case, data: Path, there: dict[str, str | None], repeats: int | None) -> dict[str, Any]:
    """One case: compare the values, then time all contenders in turn."""
    prepare(case, data)
    entries = contenders(there, case.name == "one")
    output = data / "output"
    files: dict[str, Any] = {}
    for c in entries:
        if c.which == "seven":
            note(f"{case.title}: values of {c.name}")
            files[c.name] = c.peer, data / f"scores-{len(files)}"
            c.measure(case, data, output, files[c.name][1])
    gaps = in_child(differences, case, files)
    rounds = repeats or case.repeats
    for turn in range(rounds):
        note(f"{case.title}: round {turn + 1} of {rounds}")
        for c in entries:
            if turn < (2 if c.peer in SLOW else 3 if c.which in ("all", "registry") else rounds):
                times = 3 if c.peer in SHORT and c.which not in ("all", "registry") else 1
                c.costs += [c.measure(case, data, output) for _ in range(times)]
    again: dict[str, list[Cost]] = {c.peer: [] for c in entries if c.which == "seven" and c.peer in PACKAGES}
    note(f"{case.title}: second time in one process")
    for c in entries:
        if c.which == "seven" and c.peer in again:
            again[c.peer].append(c.second_time(case, data, output))
    return {"case": case, "entries": entries, "again": again, "differences": gaps}


def bench_dicts(
    cases: dict[str, Case], data: Path, quick: bool, repeats: int | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Dict input, all contenders in one process."""
    for case in cases.values():
        prepare(case, data)
    runs, topics = (2, 20) if quick else (20, 6980)
    wanted = []
    for case in cases.values():
        paths = [str(p) for p in case.paths(data)[-runs:]]
        asked = {
            "name": case.name,
            "qrels": str(case.qrels(data)),
            "runs": paths,
            "repeats": repeats or (3 if quick else 7),
        }
        wanted.append(asked | ({"topics": topics, "length": 100} if case.kind == "sparse" else {}))
    titles = {
        "one": f"one run, {cases['one'].topics} topics",
        "collection": f"{min(runs, cases['collection'].runs)} runs, {cases['collection'].topics} topics",
        "large": f"one run, {topics:,} topics x 100 documents, sparse judgments",
    }
    note("dicts in memory")
    asked_file, found_file = data / "dicts.json", data / "dicts-found.json"
    asked_file.write_text(json.dumps(wanted))
    run([sys.executable, str(PEERS), "dicts", str(asked_file), "seven", str(found_file)], data / "output")
    return json.loads(found_file.read_text()), titles


def describe(there: dict[str, str | None]) -> None:
    """Versions and machine."""
    kernels = subprocess.run(
        [sys.executable, "-m", "unjudged", "--version"], capture_output=True, text=True
    ).stdout.strip()
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    print(
        f"{kernels}; Python {platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, {memory:.0f} GiB"
    )
    print(
        "; ".join(f"{name} {number or 'not installed'}" for name, number in there.items() if name != "unjudged"),
        flush=True,
    )


def main() -> int:
    """Everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, to try it; targets are not binding")
    parser.add_argument("--data", type=Path, help="keeps the generated files here (about 450 MB; default: temporary)")
    parser.add_argument(
        "--repeats", type=int, metavar="N", help="rounds (default: 11, 3, 3, dicts 7; ranx and ir_measures at most 2)"
    )
    parser.add_argument("--only", choices=("one", "collection", "large", "dicts"), help="this case alone")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every single measurement")
    parser.add_argument("--targets", type=Path, metavar="FILE", help="targets and what was measured, for bench.py")
    args = parser.parse_args()
    temporary = None if args.data else tempfile.TemporaryDirectory(prefix="unjudged-bench-")
    data: Path = args.data.resolve() if args.data else Path(temporary.name)  # type: ignore[union-attr]
    data.mkdir(parents=True, exist_ok=True)
    there = installed()
    describe(there)
    cases = {case.name: case for case in (QUICK if args.quick else FULL)}
    found: dict[str, dict[str, Any]] = {}
    agree = True
    for name, case in cases.items():
        if args.only in (None, name):
            found[name] = bench_files(case, data, there, args.repeats)
            print_case(case, found[name]["entries"], found[name]["again"])
            agree &= print_agreement(found[name]["differences"])
    in_memory: dict[str, Any] = {}
    if args.only in (None, "dicts"):
        in_memory, titles = bench_dicts(cases, data, args.quick, args.repeats)
        print_dicts(in_memory, titles)
        for values in in_memory.values():
            agree &= print_agreement(values["differences"])
    promised = targets({name: values["entries"] for name, values in found.items()}) + dict_targets(in_memory)
    sizes = ", small sizes: not binding" if args.quick else ""
    print(f"\n### targets (CPU, one thread, unless it says otherwise){sizes}\n")
    print("\n".join(f"- {target}" for target in promised), flush=True)
    if args.targets:
        write(promised, args.targets)
    if args.json:
        args.json.write_text(json.dumps(as_json(there, found, in_memory, promised), indent=1))
    if temporary:
        temporary.cleanup()
    if not agree:
        return 2
    return 0 if args.quick or all(target.met is not False for target in promised) else 1


def print_agreement(gaps: dict[str, dict[str, float]]) -> bool:
    """One sentence per contender; False if values differ in a way that is not known."""
    checked = [verdict(name, worst) for name, worst in gaps.items()]
    print("\nValues, all topics: " + "; ".join(text for _, text in checked) + ".", flush=True)
    return all(accepted for accepted, _ in checked)


def as_json(
    there: dict[str, str | None], found: dict[str, Any], in_memory: dict[str, Any], promised: list[Target]
) -> dict[str, Any]:
    """Every measurement."""
    return {
        "versions": there,
        "python": platform.python_version(),
        "files": {
            name: {
                "case": asdict(values["case"]),
                "contenders": [asdict(c) for c in values["entries"]],
                "again": {peer: [asdict(c) for c in costs] for peer, costs in values["again"].items()},
                "differences": values["differences"],
            }
            for name, values in found.items()
        },
        "dicts": in_memory,
        "targets": [asdict(target) for target in promised],
    }


if __name__ == "__main__":
    sys.exit(main())
