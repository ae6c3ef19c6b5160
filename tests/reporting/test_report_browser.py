"""The trust report in a real browser: from a file, without a network."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import unjudged as uj
from unjudged.reporting import Report
from unjudged.reporting.page import chart_of

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]
WAIT = 120_000
READY = "html[data-ready=yes]"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    out = tmp_path_factory.mktemp("browser") / "sim"
    made = uj.simulate("tiny", seed=4, out=out, topics=26, runs=22, teams=6, depth=8, K=50, C=600, leave_out="team06")
    collection = uj.load(str(made.qrels), str(made.run_folder), teams=made.teams)
    return uj.report(collection, out / "trust.html")


@pytest.fixture(scope="module")
def path(report: Report) -> Path:
    return Path(report.asking.collection.sources[0]).parent / "trust.html"


class Opened:
    """A page and everything it said or asked for."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(offline=True, accept_downloads=True, **options)
        self.context.set_default_timeout(WAIT)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda problem: self.said.append(f"error: {problem}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            self.page.wait_for_selector(READY, state="attached")


@pytest.fixture(scope="module")
def opened(browser: Any, path: Path) -> Iterator[Opened]:
    found = Opened(browser, path, viewport={"width": 1100, "height": 900})
    yield found
    found.context.close()


def test_opens_offline_in_silence_with_every_chart(opened: Opened, report: Report, path: Path) -> None:
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith(("data:", "blob:"))] == [path.as_uri()]
    for section in report.sections:
        charts = opened.page.locator(f"#{section.key} .chart svg")
        chart = chart_of(section)
        assert charts.count() == (1 if chart else 0), section.key
        if chart:
            box = charts.bounding_box()
            assert box is not None and box["width"] > 300 and box["height"] > 100
            named = opened.page.locator(f"#{section.key} .chart [role=graphics-document]")
            named = named if named.count() else opened.page.locator(f"#{section.key} .chart[role=graphics-document]")
            assert named.get_attribute("aria-label") == chart["description"]
            assert opened.page.locator(f"#{section.key} .chart svg path, #{section.key} .chart svg line").count() > 2


def test_numbers_are_those_of_the_json(opened: Opened, report: Report) -> None:
    whole = json.loads(report.render("json"))
    for section in whole["sections"]:
        shown = opened.page.eval_on_selector_all(
            f"#table-{section['key']} tbody tr",
            "rows => rows.map(row => Array.from(row.cells).map(cell => cell.textContent))",
        )
        assert len(shown) == min(200, len(section["rows"]))
        for cells, row in zip(shown, section["rows"], strict=False):
            for cell, value in zip(cells, row, strict=True):
                expected = "-" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
                assert cell == expected
        if section["verdict"]:
            text = opened.page.inner_text(f"#{section['key']} .verdict")
            assert section["verdict"]["word"] in text and section["verdict"]["sentence"] in text
            if section["verdict"]["value"] is not None:
                value = opened.page.text_content(f"#{section['key']} .verdict .value")
                assert value == f"{section['verdict']['value']:.4f}"
    for card in ("winners", "fair-to-outsiders", "fewer-judgments", "enough-topics", "safe-comparisons"):
        (found,) = [s for s in whole["sections"] if s["key"] == card]
        assert found["verdict"]["sentence"] in opened.page.inner_text("#in-short .cards")


def test_tables_sort_by_mouse_and_keyboard(opened: Opened, report: Report) -> None:
    page = opened.page
    page.click("#winners details.data summary")
    header = page.locator("#table-winners thead th").nth(1)
    header.locator("button").click()

    def column(place: int) -> list[str]:
        found: list[str] = page.eval_on_selector_all(
            "#table-winners tbody tr", f"rows => rows.map(row => row.cells[{place}].textContent)"
        )
        return found

    runs = report["winners"].columns()["run"]
    assert column(1) == sorted(runs) and header.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert column(1) == sorted(runs, reverse=True) and header.get_attribute("aria-sort") == "descending"
    page.locator("#table-winners thead th").nth(3).locator("button").focus()
    page.keyboard.press("Space")
    values = [float(v) for v in column(3)]
    assert values == sorted(values) and header.get_attribute("aria-sort") is None


def test_csv_has_every_row_in_full_precision(opened: Opened, report: Report) -> None:
    for key in ("winners", "safe-comparisons"):
        page = opened.page
        if not page.locator(f"#{key} details.data").evaluate("node => node.open"):
            page.click(f"#{key} details.data summary")
        with page.expect_download() as got:
            page.click(f"#{key} button.csv")
        rows = list(csv.reader(io.StringIO(Path(got.value.path()).read_text("utf-8"))))
        table = report[key].result
        assert rows[0] == list(table.columns) and len(rows) - 1 == len(list(table.rows()))
        for written, row in zip(rows[1:], table.rows(), strict=True):
            assert [float(w) if isinstance(v, float) else w for w, v in zip(written, row, strict=True)] == [
                v if isinstance(v, float) else "" if v is None else str(v) for v in row
            ]


def test_tooltip_tells_the_value(opened: Opened, report: Report) -> None:
    from playwright.sync_api import TimeoutError as TooSlow

    page = opened.page
    point = page.locator("#winners .chart svg g.mark-symbol.role-mark path").first
    tip = page.locator("#vg-tooltip-element.visible")
    for _ in range(20):  # a chart that is drawn again under the pointer waits for its next move
        page.mouse.move(0, 0)
        point.scroll_into_view_if_needed()
        point.hover(force=True)
        with contextlib.suppress(TooSlow):
            tip.wait_for(timeout=WAIT / 20)
            break
    text = tip.inner_text()
    got = report["winners"].columns()
    run = next(run for run in got["run"] if run in text)
    assert f"{got['value'][got['run'].index(run)]:.4f}" in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, path: Path, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = Opened(browser, path, color_scheme=scheme, viewport={"width": 1100, "height": 900})
    found.page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true; })")
    answer = Axe().run(found.page)
    assert [(v["id"], v["nodes"][0]["html"]) for v in answer.response["violations"]] == []
    found.context.close()


def test_readable_with_scripts_off(browser: Any, path: Path, report: Report) -> None:
    found = Opened(browser, path, java_script_enabled=False)
    text = found.page.inner_text("body")
    for section in report.sections:
        assert section.question in text
        assert section.verdict is None or section.verdict.sentence in text
    assert "Charts, sorting and CSV need scripts" in text
    found.page.click("#winners details.data summary")
    assert found.page.locator("#table-winners tbody tr").first.is_visible()
    assert found.page.locator("#winners button.csv").is_hidden()
    found.context.close()


def test_prints_verdicts_and_charts(opened: Opened) -> None:
    opened.page.emulate_media(media="print")
    assert opened.page.locator("nav").is_hidden()
    assert opened.page.locator("#winners .verdict").is_visible() and opened.page.locator("#winners svg").is_visible()
    assert opened.page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    opened.page.emulate_media(media="screen")


def test_fits_a_phone(browser: Any, path: Path) -> None:
    found = Opened(browser, path, viewport={"width": 360, "height": 740})
    assert found.page.evaluate("document.documentElement.scrollWidth") <= 360
    _charts_stay_inside(found)
    found.context.close()


def _charts_stay_inside(found: Opened) -> None:
    """No chart is cut off by its box, and names down the side neither overlap nor leave it."""
    boxes = found.page.evaluate(
        """() => Array.from(document.querySelectorAll('.chart')).map(box => {
            const outer = box.getBoundingClientRect(), svg = box.querySelector('svg').getBoundingClientRect();
            const texts = Array.from(box.querySelectorAll('svg text')).map(t => t.getBoundingClientRect());
            return {over: Math.max(svg.right - outer.right, outer.left - svg.left),
                    cut: Math.max(0, ...texts.map(t => Math.max(svg.left - t.left, t.right - svg.right)))};
        })"""
    )
    assert boxes and all(box["over"] <= 1 for box in boxes), boxes
    assert all(box["cut"] <= 3 for box in boxes), boxes


def test_hostile_and_long_names_in_a_crowd(browser: Any, tmp_path: Path) -> None:
    """130 runs whose names are long, or would be scripts: nothing runs, nothing overflows, nothing overlaps."""
    evil = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
    qrels = {f"</script><b>{t}": {f"d{i}": int((i + t) % 3 == 0) for i in range(12)} for t in range(6)}
    runs = {
        f"{evil if r % 2 else 'a-very-long-run-name-that-never-ends-' * 3}{r}": {
            topic: {f"d{i}": float((i * (r + 3) + 7 * r) % 17) for i in range(14)} for topic in qrels
        }
        for r in range(130)
    }
    path = tmp_path / "crowd.html"
    uj.report(uj.load(qrels, runs), path)
    assert path.stat().st_size < 2_000_000 + 1_500_000  # the names alone are 100 characters each
    for width in (1100, 360):
        found = Opened(browser, path, viewport={"width": width, "height": 800})
        assert found.said == [] and found.page.evaluate("window.hacked") is None
        assert found.page.evaluate("document.documentElement.scrollWidth") <= width
        _charts_stay_inside(found)
        labels = found.page.eval_on_selector_all(
            "#winners svg .role-axis-label text",
            "all => all.map(t => t.getBoundingClientRect()).filter(b => b.width > 30).map(b => [b.top, b.bottom])",
        )
        rows = sorted(labels)
        assert len(rows) >= 130 and all(a[1] <= b[0] + 2 for a, b in itertools.pairwise(rows))
        found.context.close()


def test_a_hundred_runs_and_fifty_topics_stay_below_two_megabytes(tmp_path: Path) -> None:
    out = tmp_path / "big"
    made = uj.simulate("tiny", seed=5, out=out, topics=50, runs=100, teams=25, depth=10, K=40, C=400)
    uj.report(uj.load(str(made.qrels), str(made.run_folder), teams=made.teams), tmp_path / "big.html")
    assert (tmp_path / "big.html").stat().st_size < 2_000_000
