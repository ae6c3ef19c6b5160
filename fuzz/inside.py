"""One target in this process: python fuzz/inside.py TARGET atheris|mutation|replay ... (fuzz/run.py starts it).

atheris  CORPUS_FOLDER LIBFUZZER_OPTIONS...   coverage guided; it ends the process itself
mutation RUNS SECONDS SEED                    mutations of the seeds and of what they became
replay   FILE...                              each file once
"""

from __future__ import annotations

import hashlib
import random
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

INSTRUMENTED = {"grammar": ["unjudged.measures"], "pytrec_eval": ["unjudged.measures"]}
"""Python modules whose coverage counts; the other targets are led by the coverage of the C kernels."""


def keep(target: str, data: bytes) -> Path:
    """Write down an input that broke something."""
    folder = HERE / "findings"
    folder.mkdir(exist_ok=True)
    path = folder / f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


def mutation(target: str, runs: int, seconds: float, seed: int) -> int:
    """Mutations of the seeds (and of mutations); the number of findings."""
    from seeds import mutated, seeds
    from targets import TARGETS, _c

    draw, pool, found, done = random.Random(seed), seeds(target), 0, 0
    started = time.monotonic()
    while done < runs and not (seconds and time.monotonic() - started > seconds):
        data = pool[done] if done < len(pool) else mutated(draw.choice(pool), draw)
        try:
            TARGETS[target](data)
        except Exception:
            found += 1
            print(f"finding: {keep(target, data)}\n{traceback.format_exc(limit=-2)}", flush=True)
        if done % 50 == 0 and len(pool) < 5000:
            pool.append(data)
        done += 1
    print(f"kernels: {_c.__file__ if _c else 'NumPy only'}")
    print(f"executions: {done}, corpus: {len(pool)}, findings: {found}")
    return found


def atheris(target: str, corpus: str, *options: str) -> None:
    import atheris as engine

    with engine.instrument_imports(include=INSTRUMENTED.get(target, ["no such module"])):
        from targets import TARGETS
    engine.Setup([sys.argv[0], *options, corpus], TARGETS[target])
    engine.Fuzz()


def main() -> int:
    target, how, *rest = sys.argv[1:]
    if how == "atheris":
        atheris(target, *rest)
    elif how == "mutation":
        return 1 if mutation(target, int(rest[0]), float(rest[1]), int(rest[2])) else 0
    else:
        from targets import TARGETS

        for path in map(Path, rest):
            TARGETS[target](path.read_bytes())
            print(f"{path}: passes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
