"""The fuzz targets on their seeds, the stored corpus and a short mutation run; the C kernels under sanitizers.

`make fuzz` runs them long and coverage guided (fuzz/README.md).
"""

from __future__ import annotations

import os
import platform
import random
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from places import ROOT

FUZZ = ROOT / "fuzz"
sys.path.insert(0, str(FUZZ))

import inside  # noqa: E402
import targets  # noqa: E402
from cases import Case, case  # noqa: E402
from seeds import mutated, seeds, store, stored  # noqa: E402

FOUND = {
    "grammar": [b"P(rel=1if 2)@5", b"RBP(p=0.5in 2)", b"nDCG(gains={1:1e400})@5"],
    "arrays": [b"\x0a\x05\x00", b"\x0a\x01\x01\x00"],
    "misuse": [bytes([k]) + bytes([3, 0, 7, 0, 9, 3, 1, 0, 8, 3, 0, 11]) * 3 for k in range(16)],
}
"""Inputs that broke something once."""


@pytest.mark.slow
@pytest.mark.parametrize("target", targets.TARGETS)
def test_seeds_and_mutations(target: str) -> None:
    draw, pool = random.Random(20261116), seeds(target)
    for data in [*pool, *FOUND.get(target, []), *(mutated(draw.choice(pool), draw) for _ in range(800))]:
        targets.TARGETS[target](data)


def test_bytes_are_read_as_told() -> None:
    given = case(b"\x5bq\x1ea\x1d\x1c1\x1fx\ny\x1f\x02\x03\x1d\x1b\x00\x00r%\n\x1d\x1cnothing")
    assert (given.option, given.judgments, given.text_only) == (0x5B, b"q", False)
    assert [p if isinstance(p, bytes) else (*p[:2], list(p[2])) for p in given.pieces] == [
        b"a",
        (b"1", b"x\ny", [1.0, 2.0]),
        b"r0\nr1\n",
    ]
    assert (given.lenient, given.ties, given.truncate, given.keep_docs, given.gather) == (True, 1, 3, True, False)
    assert Case(0, b"", (b"a", b"b")).in_one_piece().pieces == (b"ab",)


def test_a_finding_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def picky(data: bytes) -> None:
        assert data != b"P.5,10", "not this one"

    monkeypatch.setitem(targets.TARGETS, "grammar", picky)
    monkeypatch.setattr(inside, "HERE", tmp_path)
    assert inside.mutation("grammar", 20, 0, 1) == 1
    (kept,) = (tmp_path / "findings").iterdir()
    assert kept.read_bytes() == b"P.5,10"
    assert "not this one" in capsys.readouterr().out


def test_what_only_takes_long_is_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import run

    monkeypatch.setattr(run, "FINDINGS", tmp_path)
    for name in ("scanner-old", "scanner-slow-unit-1", "scanner-crash-2", "scanner-timeout-3", "twins-slow-unit-4"):
        (tmp_path / name).write_bytes(b"x")
    found = run.kept_findings("scanner", {tmp_path / "scanner-old"})
    assert {path.name for path in found} == {"scanner-crash-2", "scanner-timeout-3"}
    assert not (tmp_path / "scanner-slow-unit-1").exists() and (tmp_path / "twins-slow-unit-4").exists()


def test_a_corpus_is_stored_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seeds.CORPUS", tmp_path / "corpus")
    assert stored("arrays") == []
    assert store("arrays", [b"\0\xff", b"", b"\0\xff"]) == 2
    assert stored("arrays") == [b"", b"\0\xff"]


def sanitizer(compiler: str = "gcc") -> str | None:
    """The compiler's address sanitizer library, where there is one."""
    if shutil.which(compiler) is None or not sys.platform.startswith("linux"):
        return None
    name = {"gcc": "libasan.so", "clang": f"libclang_rt.asan-{platform.machine()}.so"}[compiler]
    found = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False)
    path = found.stdout.strip()
    return path if Path(path).is_absolute() and Path(path).exists() else None


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_kernels_under_sanitizers(compiler: str, tmp_path: Path) -> None:
    library = sanitizer(compiler)
    if library is None:
        pytest.skip(f"no {compiler} with an address sanitizer here")
    built = subprocess.run(
        ["bash", str(FUZZ / "build.sh"), str(tmp_path), compiler],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "LD_PRELOAD": library,
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONMALLOC": "malloc",
    }
    for target in ("twins", "arrays", "misuse"):
        runs = str(len(seeds(target)) + 400)
        command = [sys.executable, str(FUZZ / "inside.py"), target, "mutation", runs, "0", "7"]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert f"kernels: {tmp_path}" in ran.stdout
        assert f"executions: {runs}, " in ran.stdout and "findings: 0" in ran.stdout
        assert "runtime error" not in ran.stderr and "AddressSanitizer" not in ran.stderr


@pytest.mark.slow
@pytest.mark.skipif(sanitizer() is None, reason="no gcc with an address sanitizer here")
def test_the_kernels_without_vectors_of_the_processor(tmp_path: Path) -> None:
    """The way of machines without SSE2, which other processors and compilers take."""
    sources = [str(path) for path in (ROOT / "src" / "unjudged" / "kernels").glob("*.c")]
    include = sysconfig.get_paths()["include"]
    asked = ["gcc", "-U__SSE2__", f"-I{include}", "-dM", "-E", "-x", "c", "-include"]
    header = str(ROOT / "src" / "unjudged" / "kernels" / "plain_line.h")
    marks = subprocess.run([*asked, header, os.devnull], capture_output=True, text=True, check=True).stdout
    assert "#define PLAIN_LINES 0" in marks
    shutil.copytree(ROOT / "src" / "unjudged", tmp_path / "unjudged")
    for built in (tmp_path / "unjudged" / "kernels").glob("_c*.so"):
        built.unlink()
    into = tmp_path / "unjudged" / "kernels" / "_c.abi3.so"
    flags = ["-U__SSE2__", "-O1", "-ffp-contract=off", "-fPIC", "-shared", f"-I{include}"]
    subprocess.run(["gcc", *flags, *sources, "-o", str(into)], check=True, capture_output=True)
    runs = str(len(seeds("twins")) + 400)
    command = [sys.executable, str(FUZZ / "inside.py"), "twins", "mutation", runs, "0", "7"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"kernels: {tmp_path}" in ran.stdout and "findings: 0" in ran.stdout


@pytest.mark.slow
@pytest.mark.skipif(sanitizer() is None, reason="no gcc with an address sanitizer here")
def test_the_programs_of_libfuzzer_on_their_seeds(tmp_path: Path) -> None:
    built = subprocess.run(
        ["bash", str(FUZZ / "build.sh"), str(tmp_path), "replay"],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    draw = random.Random(22)
    for target in ("scanner", "numbers"):
        inputs = seeds(target)
        inputs += [mutated(draw.choice(inputs), draw)[:400] for _ in range(600)]
        for number, data in enumerate(inputs):
            (tmp_path / f"{target}-{number}").write_bytes(data)
        files = [str(tmp_path / f"{target}-{number}") for number in range(len(inputs))]
        command = [str(tmp_path / target), *files]
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout) == (0, f"{len(files)} files pass\n"), ran.stderr[-3000:]
