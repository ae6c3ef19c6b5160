"""Run a fuzz target: python fuzz/run.py TARGET [--executions N] [--seed S] [--plain] [FILE...]

Coverage guided with atheris, or (without it, or with --plain) by mutation of the seeds. FILEs are run once each.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import random
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def keep(target: str, data: bytes) -> Path:
    """Write down an input that broke something."""
    folder = HERE / "findings"
    folder.mkdir(exist_ok=True)
    path = folder / f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


def plain(target: str, executions: int, seed: int) -> int:
    """Mutations of the seeds (and of mutations); the number of findings."""
    from seeds import mutated, seeds
    from targets import TARGETS

    draw, pool, found = random.Random(seed), seeds(target), 0
    started = time.monotonic()
    for done in range(executions):
        data = pool[done] if done < len(pool) else mutated(draw.choice(pool), draw)
        try:
            TARGETS[target](data)
        except Exception as problem:
            found += 1
            print(f"{keep(target, data)}: {type(problem).__name__}: {str(problem)[:300]}", flush=True)
        if done % 50 == 0 and len(pool) < 5000:
            pool.append(data)
    seconds = time.monotonic() - started
    print(f"{target}: {executions} executions with seed {seed} in {seconds:.0f} s, {found} findings")
    return found


def guided(target: str, executions: int, seed: int) -> None:
    """Coverage guided by atheris; it ends the process itself."""
    import atheris

    with atheris.instrument_imports(include=["unjudged"]):
        from targets import TARGETS
    from seeds import seeds

    corpus = HERE / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    for data in seeds(target):
        (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    (HERE / "findings").mkdir(exist_ok=True)
    options = [f"-runs={executions}", f"-seed={seed}", "-max_len=600", f"-artifact_prefix={HERE}/findings/{target}-"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], TARGETS[target])
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=("kernels", "grammar", "pytrec_eval"))
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--executions", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="mutation only, without atheris")
    args = parser.parse_args()
    if args.files:
        from targets import TARGETS

        for path in args.files:
            TARGETS[args.target](path.read_bytes())
            print(f"{path}: passes")
        return 0
    if not args.plain and importlib.util.find_spec("atheris"):
        guided(args.target, args.executions, args.seed)
    return 1 if plain(args.target, args.executions, args.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
