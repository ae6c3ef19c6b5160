"""The notebooks in examples/ run from the first cell to the last, and results show themselves as HTML."""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

EXAMPLES = ROOT / "examples"
USERS = ("trust_report", "new_run", "compare_runs")
PAPERS = ("paper_sakai2005", "paper_sakai2007", "paper_sakai2009", "paper_lipani2015")
NOTEBOOKS = (*USERS, *PAPERS)


def texts(book: Any) -> list[str]:
    """What the cells print and show as text; addresses in memory differ from time to time."""
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    shown = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
    return [re.sub(r"0x[0-9a-f]+", "", text) for text in shown]


def test_no_notebook_is_forgotten() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == set(NOTEBOOKS)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # those of the machinery that runs notebooks are not ours
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbclient
    import nbformat
    from traitlets.config import Config

    book = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    stored = texts(book)
    resources = {"metadata": {"path": str(tmp_path)}}
    with tempfile.TemporaryDirectory() as short:  # a socket's path has at most 107 bytes
        monkeypatch.setenv("IPYTHONDIR", f"{short}/ipython")  # the user's history is one file for all
        own = Config({"KernelManager": {"transport": "ipc", "ip": f"{short}/kernel"}})  # ports could be taken by others
        options: dict[str, Any] = {"timeout": 600, "startup_timeout": 600, "kernel_name": "python3", "config": own}
        client = nbclient.NotebookClient(book, resources=resources, **options)
        asyncio.run(client.async_execute())
    shown = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert all(output.output_type != "error" for output in shown)
    assert texts(book) == stored  # the notebook as it is kept shows what it gives
    if name in PAPERS:
        return
    tables = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert sum("<table" in table for table in tables) >= 3
    if name == "trust_report":
        assert (tmp_path / "trust.html").stat().st_size > 150_000
        assert any("Is the pool fair to outsiders?" in table for table in tables)
