"""What people type at first: the sentence they get names what to type instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unjudged.cli import main


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("doctor q a-1", 'say what was reported: --reported "ndcg@10=0.413"'),
        ("ci q b-1 --baseline a-1 --margin 5", "a margin of 5 is all that scores of 0 to 1 can lose"),
        ("compare q a-1 b-1 --baseline b", "(did you mean b-1?)"),
        ("explain ndgc", "(did you mean nDCG?)"),
        ("qrels diff q", "the following arguments are required: NEW ("),
    ],
)
def test_usual_mistakes(words: str, said: str, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q").write_text("1 0 d1 1\n1 0 d2 0\n")
    for name in ("a-1", "b-1"):
        Path(name).write_text(f"1 Q0 d1 1 0.5 {name}\n1 Q0 d2 2 0.25 {name}\n")
    code = main(words.split())
    told = capsys.readouterr()
    assert (code, told.out) == (2, "") and said in told.err
