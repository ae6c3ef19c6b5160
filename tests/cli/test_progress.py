"""The line of progress: there before heavy modules are, on terminals only, and never mixed with output."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from unjudged.cli import QUICK, VERBS, main, progress
from unjudged.cli.progress import Line


class Terminal(io.StringIO):
    """What a terminal is sent."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard error is it from the first statement of the test on: until then pytest's own takes its place."""
    monkeypatch.setattr(progress, "FIRST_AFTER", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    return Terminal()


def until(what: Callable[[], bool]) -> None:
    for _ in range(1000):
        if what():
            return
        time.sleep(0.01)
    raise AssertionError("never")


def screen(sent: str) -> list[str]:
    """The lines that are left: what is written over is gone."""
    return [line.rpartition("\r")[2].replace("\x1b[K", "") for line in sent.split("\n")]


def test_the_line_tells_stage_and_share_and_makes_room_for_output(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.begun("compare") as line:
        assert isinstance(line, Line)
        until(lambda: "starting" in terminal.getvalue())
        progress.tell()
        until(lambda: "comparing" in terminal.getvalue())
        progress.tell("Who wins?", 0.5)
        until(lambda: "Who wins?  ━━━━━━━━━━━━────────────   50 %" in terminal.getvalue())
        print("note: one", end="", file=sys.stderr)
        progress.tell("not within a line", 1.0)
        time.sleep(3 * progress.EVERY)
        print(" and two", file=sys.stderr)
        assert screen(terminal.getvalue()) == ["note: one and two", ""]
        until(lambda: "not within a line" in terminal.getvalue())
    assert screen(terminal.getvalue()) == ["note: one and two", ""]
    assert sys.stderr is terminal
    progress.tell("over")
    assert "over" not in terminal.getvalue()


def test_the_line_is_no_wider_than_the_terminal(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    line = Line("study", terminal)
    line.tell("university of somewhere: leave-team-out of very many teams and runs", 0.25)
    assert len(line.text(12)) < 60 and line.text(12).endswith("   25 %  12 s") and "..." in line.text(12)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in QUICK])
def test_every_verb_has_its_line(verb: str, terminal: Terminal) -> None:
    """Whatever it is asked, here for help, the line is put up and taken away again."""
    seen = []
    ours = progress.begun

    def begun(named: str) -> object:
        seen.append(named)
        return ours(named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "begun", begun)
        patch.setattr(sys, "stderr", terminal)
        main([verb, "--help"])
        assert sys.stderr is terminal
    assert seen == [verb] and progress._line is None


def test_nothing_heavy_is_loaded_before_the_line() -> None:
    code = "import sys, unjudged.cli, unjudged.cli.progress, threading; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {"numpy", "pandas", "scipy", "rich", "argparse", "unjudged.collection", "unjudged.studies"}


def test_on_a_terminal_only(tmp_path: Path) -> None:
    made = [sys.executable, "-m", "unjudged", "simulate", "--preset", "tiny", "-o", str(tmp_path / "c")]
    piped = subprocess.run(made, capture_output=True, text=True, check=True)
    assert "\r" not in piped.stderr and "simulating" not in piped.stderr
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    environment.pop("NO_COLOR", None)
    done = subprocess.Popen([*made, "--force"], stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    sent = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:
            break
        if not part:
            break
        sent += part
    os.close(ours)
    out = done.communicate()[0].decode()
    assert done.returncode == 0 and "\x1b" not in out
    text = sent.decode().replace("\r\n", "\n")
    left = [re.sub(r"\x1b\[\d*m", "", line) for line in screen(text)]
    assert left[0].startswith("wrote ") and left[1:] == [""]
