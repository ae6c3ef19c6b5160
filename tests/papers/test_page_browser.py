"""The page of a paper in a real browser: charts are drawn, nothing is complained about, tables stay inside the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unjudged as uj

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("width", [1100, 400])
def test_the_page_draws_its_charts(width: int, browser: Any, tmp_path: Path) -> None:
    uj.simulate("tiny", seed=1, out=tmp_path / "c", topics=12)
    c = uj.load(tmp_path / "c" / "qrels.txt", tmp_path / "c" / "runs", teams=tmp_path / "c" / "teams.tsv")
    made = uj.paper("sakai2007", {"one": c, "two": c}, resamples=20, jobs=1)
    made.to_html(tmp_path / "page.html")
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda problem: said.append(str(problem)))
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=120_000)
    assert said == []
    assert page.locator(".chart[data-drawn=yes] svg").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#table-3 th button").first.click()
    assert page.locator("#table-3 th[aria-sort=ascending]").count() == 1
    context.close()
