"""The page as a program: its address holds the secret, and signals end it soon, with nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

import unjudged as uj

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
SOON = 10.0
"""Seconds on a busy computer; a computation of this size takes longer than the program may."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("stopping") / "sim"
    uj.simulate("tiny", seed=6, out=out, topics=6, runs=8, teams=4, depth=6, K=30, C=300)
    return out


SLOW = """
import signal, sys, time
from unjudged.web import app
from unjudged.cli import main

def stuck(*given):
    print("computing", file=sys.stderr, flush=True)
    time.sleep(60)  # a step that looks at nothing else

kind = sys.argv.pop(1)
if kind == "stuck":
    app.Page._hold = stuck
elif kind == "reading":  # the second file; the first is to be there when the program ends
    add = app.Uploads.add
    app.Uploads.add = lambda *given: (stuck if given[1] == "slow" else add)(*given)
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell put us behind
sys.exit(main(sys.argv[1:]))
"""


def started(folder: Path, temporary: Path, verb: str, kind: str) -> tuple[subprocess.Popen[str], str]:
    words = [sys.executable, "-c", SLOW, kind, verb, str(folder / "qrels.txt"), str(folder / "runs"), "--port", "0"]
    if verb == "judge":
        words += ["-m", "P@5", "--top", "2", "--labels", str(temporary / "labels.sqlite")]
    made = {**os.environ, "TMPDIR": str(temporary)}
    program = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=made)
    assert program.stderr is not None
    for line in program.stderr:
        if found := re.search(r"The page is at (http://127\.0\.0\.1:\d+/\S*)", line):
            return program, found[1]
    raise AssertionError("the page did not begin")


@pytest.mark.parametrize(
    ("verb", "kind", "number", "code"),
    [
        ("serve", "stuck", signal.SIGTERM, 143),
        ("serve", "stuck", signal.SIGINT, 130),
        ("serve", "reading", signal.SIGTERM, 143),
        ("serve", "reading", signal.SIGINT, 130),
        ("judge", "", signal.SIGTERM, 143),
    ],
)
def test_signals_end_the_page(
    folder: Path, tmp_path: Path, verb: str, kind: str, number: signal.Signals, code: int
) -> None:
    program, address = started(folder, tmp_path, verb, kind)
    assert program.stderr is not None
    with program, httpx.Client() as client:
        page, _, secret = address.partition("?token=")
        assert len(secret) >= 40 and page.endswith("/judge" if verb == "judge" else "/")
        assert client.get(page).status_code == 403
        assert client.get(address, follow_redirects=True).status_code == 200
        root, token = page.removesuffix("judge"), {"X-Unjudged-Token": secret}
        text = (folder / "runs" / "team01-1").read_bytes()
        assert client.post(f"{root}api/runs?name=new", content=text, headers=token).status_code == 200
        (place,) = [p for p in tmp_path.iterdir() if p.name.startswith("unjudged-")]
        assert len(list(place.iterdir())) == 1 and place.stat().st_mode & 0o077 == 0
        if kind == "stuck":
            assert client.post(f"{root}api/jobs", content=b"{}", headers=token).status_code == 200
        if kind == "reading":
            with pytest.raises(httpx.ReadTimeout):
                client.post(f"{root}api/runs?name=slow", content=text, headers=token, timeout=1)
        if kind:
            assert any("computing" in line for line in iter(program.stderr.readline, ""))
        began = time.perf_counter()
        program.send_signal(number)
        assert program.wait(60) == code and time.perf_counter() - began < SOON
        assert not place.exists() and "Traceback" not in program.stderr.read()
