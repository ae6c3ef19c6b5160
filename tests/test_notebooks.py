"""The notebooks in examples/ run from the first cell to the last, and results show themselves as HTML."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from places import ROOT

EXAMPLES = ROOT / "examples"
NOTEBOOKS = ("trust_report", "new_run")


def test_no_notebook_is_forgotten() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.ipynb")} == set(NOTEBOOKS)


@pytest.mark.xdist_group("notebooks")
@pytest.mark.filterwarnings("default")  # those of the machinery that runs notebooks are not ours
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook(name: str, tmp_path: Path) -> None:
    import nbclient
    import nbformat

    book = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells)  # kept clean; made here
    resources = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(book, timeout=300, startup_timeout=300, kernel_name="python3", resources=resources)
    asyncio.run(client.async_execute())
    shown = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert all(output.output_type != "error" for output in shown)
    tables = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    assert len(tables) >= 3 and all("<table" in table for table in tables)
    if name == "trust_report":
        assert (tmp_path / "trust.html").stat().st_size > 500_000
        assert any("Is the pool fair to outsiders?" in table for table in tables)
