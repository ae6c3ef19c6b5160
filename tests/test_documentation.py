"""The quick start does what it shows, examples run, and the site builds without a warning."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from unjudged.cli import main

ROOT = Path(__file__).parent.parent
QUICK_START = (ROOT / "docs" / "quickstart.md").read_text("utf-8")
COMMANDS = re.findall(r"^    (unjudged .*)$", QUICK_START, re.M)
PYTHON = r"```python\n(.*?)```"


def test_quick_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(COMMANDS) >= 9
    for command in COMMANDS:
        code = main(shlex.split(command)[1:])
        printed = capfd.readouterr()
        assert code in ((0, 1) if " check " in command else (0,)), printed.err
        if " score " in command:
            for line in printed.out.splitlines()[:4]:
                assert f"    {line}\n" in QUICK_START
    assert (tmp_path / "without.txt").read_text().count("\n") < (tmp_path / "tiny/qrels.txt").read_text().count("\n")
    assert (tmp_path / "trust.html").read_text("utf-8").count("<h2") >= 12
    for page in ("quickstart.md", "extending.md"):
        for code_block in re.findall(PYTHON, (ROOT / "docs" / page).read_text("utf-8"), re.S):
            exec(code_block, {})


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr[-3000:]
    assert "WARNING" not in built.stderr
    for page in ("quickstart", "reference/python", "reference/cli/study", "reference/measures/sets", "guides/reusable"):
        assert (tmp_path / "site" / page / "index.html").is_file()
