"""Where things are, for tests in any folder: this repository, and the real collections where they are at hand."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
"""Real collections, not part of the repository: tests that need them are skipped where they are absent."""
