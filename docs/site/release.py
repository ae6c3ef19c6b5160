"""Do version, changelog, citation and tag agree? `make release-check TAG=v0.2.0` asks before anything is published."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import unjudged

ROOT = Path(__file__).resolve().parents[2]


def disagreements(tag: str | None = None, root: Path = ROOT) -> list[str]:
    """A sentence for everything that names another version than `unjudged.__version__`; with a tag, also what only a
    release needs: the tag itself and the day in the changelog."""
    version = unjudged.__version__
    heading = re.search(r"^## (\S+)(?: \((.+)\))?$", (root / "CHANGELOG.md").read_text(), re.M)
    cited = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text(), re.M)
    said = []
    if heading is None or heading[1] != version:
        said.append(f"CHANGELOG.md begins with {heading and heading[1]}, the version is {version}")
    if cited is None or cited[1] != version:
        said.append(f"CITATION.cff names {cited and cited[1]}, the version is {version}")
    if tag and tag != f"v{version}":
        said.append(f"the tag is {tag}, the version is {version}: it should be v{version}")
    if tag and heading is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", heading[2] or ""):
        said.append(f"CHANGELOG.md has no day for {version}: write the date of the release instead of {heading[2]!r}")
    return said


if __name__ == "__main__":
    found = disagreements(sys.argv[1] if len(sys.argv) > 1 else None)
    print("\n".join(found) or f"{unjudged.__version__}: version, changelog and citation agree")
    sys.exit(1 if found else 0)
