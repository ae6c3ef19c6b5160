"""The report as PDF, printed by a browser that is installed: Chromium, Chrome or Edge."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from unjudged.errors import UsageError

BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
PATIENCE = 120
"""Seconds a browser may take."""


def browser() -> str:
    """The browser that prints: the one named by UNJUDGED_BROWSER, else the first that is installed."""
    wanted = [os.environ["UNJUDGED_BROWSER"]] if os.environ.get("UNJUDGED_BROWSER") else BROWSERS
    for name in wanted:
        if found := shutil.which(name):
            return found
    raise UsageError("--pdf needs Chromium or Chrome; install one, or name it in UNJUDGED_BROWSER")


def print_to(html: str, path: Path) -> None:
    """Print a page to a PDF file; it appears whole or not at all."""
    from unjudged.io.write import write_whole

    program = browser()
    with tempfile.TemporaryDirectory(prefix="unjudged-") as folder:
        page, made = Path(folder) / "report.html", Path(folder) / "report.pdf"
        page.write_text(html, "utf-8")
        words = [program, "--headless", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder}/profile"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            words.append("--no-sandbox")  # Chromium refuses to run as root with one
        words += ["--no-pdf-header-footer", f"--print-to-pdf={made}", page.as_uri()]
        try:
            done = subprocess.run(words, capture_output=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            raise UsageError(f"{program} did not print the report within {PATIENCE} seconds") from None
        if not made.is_file():
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no reason given"]
            raise UsageError(f"{program} did not print the report: {last[0]}")
        write_whole(str(path), made.read_bytes())
