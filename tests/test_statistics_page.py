"""The example on docs/statistics.md prints what the page says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"


def test_the_example_prints_what_the_page_says() -> None:
    found = re.search(r"```python\n(.*?)```\n```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(found[1], str(PAGE), "exec"), {})
    assert printed.getvalue() == found[2]
