"""The fuzz targets on their seeds and a short mutation run; the scanner once more under gcc's sanitizers.

`make fuzz` runs them long and coverage guided (fuzz/README.md).
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))

from seeds import mutated, seeds  # noqa: E402
from targets import TARGETS  # noqa: E402

FOUND = {
    "grammar": [b"P(rel=1if 2)@5", b"RBP(p=0.5in 2)", b"nDCG(gains={1:1e400})@5"],
}
"""Inputs that broke something once."""


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_and_mutations(target: str) -> None:
    draw, pool = random.Random(20261116), seeds(target)
    for data in [*pool, *FOUND.get(target, []), *(mutated(draw.choice(pool), draw) for _ in range(1500))]:
        TARGETS[target](data)


def sanitizer() -> str | None:
    """gcc's address sanitizer library, where there is one."""
    if shutil.which("gcc") is None or not sys.platform.startswith("linux"):
        return None
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
    path = found.stdout.strip()
    return path if Path(path).is_absolute() and Path(path).exists() else None


@pytest.mark.skipif(sanitizer() is None, reason="no gcc with an address sanitizer here")
def test_the_scanner_under_sanitizers(tmp_path: Path) -> None:
    built = subprocess.run(
        ["bash", str(FUZZ / "build.sh"), str(tmp_path), "gcc"],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "LD_PRELOAD": str(sanitizer()),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
    }
    program = (
        f"import unjudged.kernels as k; assert k.IN_USE == 'C' and k.__file__.startswith({str(tmp_path)!r})\n"
        "import runpy, sys; sys.argv = ['run.py', 'kernels', '--plain', '--executions', '1500', '--seed', '7']\n"
        f"runpy.run_path({str(FUZZ / 'run.py')!r}, run_name='__main__')"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1500 executions with seed 7" in ran.stdout and " 0 findings" in ran.stdout
    assert "runtime error" not in ran.stderr and "AddressSanitizer" not in ran.stderr
