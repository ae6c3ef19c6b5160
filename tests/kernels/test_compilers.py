"""What the C kernels ask of a compiler, and compilers of the kernels."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from places import ROOT

KERNELS = ROOT / "src" / "unjudged" / "kernels"
INCLUDE = f"-I{sysconfig.get_paths()['include']}"
HEADERS = pytest.mark.skipif(
    not Path(sysconfig.get_paths()["include"], "Python.h").exists(), reason="no headers of this Python here"
)


def compiled(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, INCLUDE, "-fsyntax-only"], capture_output=True, text=True, check=False)


@HEADERS
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_standard_c_without_a_warning(compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    sources = [str(path) for path in sorted(KERNELS.glob("*.c"))]
    said = compiled(compiler, "-std=c11", "-Wall", "-Wextra", *sources)
    assert (said.returncode, said.stderr) == (0, "")


@HEADERS
@pytest.mark.skipif(shutil.which("gcc") is None or platform.machine() != "x86_64", reason="no gcc for x86-64 here")
def test_no_kernels_where_doubles_are_kept_wider() -> None:
    """The x87 keeps 64 bits between two roundings: sums would differ from NumPy's in their last bits."""
    header = ("gcc", "-x", "c", str(KERNELS / "kernels.h"))
    assert compiled(*header, "-mfpmath=sse").returncode == 0
    wider = compiled(*header, "-mfpmath=387")
    assert wider.returncode and "NumPy does the work" in wider.stderr
