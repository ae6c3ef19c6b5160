"""How many files a reader passes through: python benchmarks/hops.py [SOURCE]

For five calls: the modules of the package that run, and the longest way through them (modules on the stack one above
the other; a module that calls itself counts once). SOURCE is the `src` folder of another version, to compare.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def measured(call: Callable[[], Any], package: str) -> tuple[int, int, list[str]]:
    """Modules entered, hops of the longest way, and that way."""
    entered: set[str] = set()
    way: list[str] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal way
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(package):
            return
        if frame.f_code.co_name == "<module>":  # an import is no hop
            return
        entered.add(name)
        chain: list[str] = []
        above: FrameType | None = frame
        while above is not None:
            file = above.f_code.co_filename
            if file.startswith(package) and above.f_code.co_name != "<module>" and (not chain or chain[-1] != file):
                chain.append(file)
            above = above.f_back
        if len(chain) > len(way):
            way = chain

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(entered), len(way), [name[len(package) + 1 :].removesuffix(".py") for name in reversed(way)]


def main() -> None:
    source = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "src"
    sys.path.insert(0, str(source))
    import unjudged as uj

    package = str(source / "unjudged")
    with tempfile.TemporaryDirectory() as folder:
        made: Any = uj.simulate("tiny", seed=1, out=Path(folder) / "sim")
        c = uj.load(made.qrels, made.run_folder, teams=made.teams)
        first = c.runs[0]
        calls: dict[str, Callable[[], Any]] = {
            "score": lambda: uj.score(c, "AP"),
            "compare": lambda: uj.compare(c, ["AP"], baseline=first),
            "leave-team-out": lambda: uj.study("leave-team-out", c, measures="AP", seed=1),
            "report": lambda: uj.report(c),
            "correct": lambda: uj.correct(c, first, "P@10"),
        }
        for name, call in calls.items():
            try:
                modules, hops, way = measured(call, package)
            except (TypeError, ValueError) as problem:
                print(f"{name}: {problem}")
                continue
            print(f"{name}: {modules} modules, {hops} hops: {' > '.join(way)}")


if __name__ == "__main__":
    main()
