"""What the README shows is what happens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from unjudged.cli import main

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def test_demo_score_and_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    printed = capfd.readouterr().out
    assert (
        "".join(f"    {line}\n" if line else "\n" for line in printed.split("\nTry:")[0].rstrip().split("\n")) in README
    )
    assert main(["score", "demo/qrels.txt", "demo/runs", "-m", "AP, AP', nDCG@10, Judged@10"]) == 0
    for line in capfd.readouterr().out.split("\n")[:5]:
        assert f"    {line}\n" in README
    code = re.search(r"```python\n(.*?)```", README, re.S)
    assert code is not None
    names: dict[str, object] = {}
    exec(code[1], names)
    assert "nDCG@10" in list(names["s"].means().columns)  # type: ignore[attr-defined]
