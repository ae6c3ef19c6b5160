"""The trust report in a real browser: from a file, without a network, within the limits of its design."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import unjudged as uj
from unjudged.reporting import Report
from unjudged.reporting.drawings import drawing_of

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]
WAIT = 120_000
READY = "html[data-ready=yes]"
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
UNFOLD = "document.querySelectorAll('details.fold').forEach(node => { node.open = true; })"
WORDS = """selector => {
    const gone = 'table, svg, code, script, button, .data, .drawing, .tools, .hidden';
    const hidden = Array.from(document.querySelectorAll(gone));
    hidden.forEach(node => { node.dataset.was = node.style.display; node.style.display = 'none'; });
    const all = Array.from(document.querySelectorAll(selector)).map(node => node.innerText).join(' ');
    hidden.forEach(node => { node.style.display = node.dataset.was; });
    return all.split(/\\s+/).filter(Boolean).length;
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """More runs than a chart shows at first."""
    out = tmp_path_factory.mktemp("browser") / "sim"
    made = uj.simulate("tiny", seed=4, out=out, topics=26, runs=32, teams=8, depth=8, K=50, C=600, leave_out="team06")
    collection = uj.load(str(made.qrels), str(made.run_folder), teams=made.teams)
    return uj.report(collection, out / "trust.html")


@pytest.fixture(scope="module")
def few(report: Report) -> Path:
    """Three of the runs, with texts of the topics."""
    assert isinstance(report.asking.collection, uj.Collection)
    path = Path(report.asking.collection.sources[0]).parent
    c = uj.load(str(path / "qrels.txt"), [str(path / "runs" / run) for run in report.asking.collection.runs[:3]])
    uj.report(c, path / "few.html", measures="P@10", queries={t: f"what is {t} about" for t in c.topics}, jobs=1)
    return path / "few.html"


@pytest.fixture(scope="module")
def path(report: Report) -> Path:
    assert isinstance(report.asking.collection, uj.Collection)
    return Path(report.asking.collection.sources[0]).parent / "trust.html"


class Opened:
    """A page and everything it said or asked for."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.context = browser.new_context(offline=True, accept_downloads=True, reduced_motion="reduce", **options)
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


def many(page: Any, selector: str, number: int) -> None:
    """Wait until so many elements are there."""
    from playwright.sync_api import expect

    expect(page.locator(selector)).to_have_count(number, timeout=WAIT)


@pytest.fixture(scope="module")
def opened(browser: Any, path: Path) -> Iterator[Opened]:
    found = Opened(browser, path, viewport=DESK)
    yield found
    found.context.close()


def test_opens_offline_in_silence_with_every_chart(opened: Opened, report: Report, path: Path) -> None:
    opened.page.evaluate(UNFOLD)
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith(("data:", "blob:"))] == [path.as_uri()]
    for section in report.answered:
        drawing = drawing_of(section)
        assert drawing is not None
        box = opened.page.locator(f"#{section.key} figure.chart .drawing").bounding_box()
        assert box is not None and box["width"] > 300 and 60 < box["height"] <= 640, section.key
        assert drawing.finding in opened.page.inner_text(f"#{section.key} figcaption").replace("\u00a0", " ") or (
            "\u00a0" in drawing.finding
        )


@pytest.mark.parametrize("which", ["many", "few"])
@pytest.mark.parametrize(("size", "bottom"), [(DESK, 800), (PHONE, 844)])
def test_the_first_screen_is_complete(
    which: str, size: dict[str, int], bottom: int, browser: Any, path: Path, few: Path
) -> None:
    """Title, judgment, verdicts and what to do now fit; nothing is wider than the window, no text too small."""
    found = Opened(browser, path if which == "many" else few, viewport=size)
    page = found.page
    assert page.evaluate("document.querySelector('#next').getBoundingClientRect().bottom + scrollY") <= bottom
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert page.evaluate(WORDS, "header, .strip, .pairs, #next") <= 300
    assert len(page.inner_text("header .lead").split()) <= 35
    steps = page.locator("#next .steps > li")
    assert 1 <= steps.count() <= 3
    for step in steps.all():  # what to do, its effect, and its command
        assert step.locator(".gain").inner_text() and step.locator("code").inner_text().startswith("unjudged ")
    words = page.evaluate("""() => Array.from(document.querySelectorAll('.drawing svg')).flatMap(svg => {
        const box = svg.getBoundingClientRect();
        return Array.from(svg.querySelectorAll('text')).filter(one => one.getBoundingClientRect().width)
            .filter(one => one.getBoundingClientRect().right > box.right + 1 && svg.getAttribute('viewBox'))
            .map(one => one.textContent);
    })""")
    assert words == []  # no word of a curve is cut off
    page.evaluate(UNFOLD)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert page.evaluate(WORDS, "body") < 1500
    small = page.evaluate(
        """() => Array.from(document.querySelectorAll('.drawing text, .drawing td, .drawing th, .pairs text'))
            .filter(node => node.getBoundingClientRect().width).map(node => {
                const svg = node.closest('svg[viewBox]');
                const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
                return [parseFloat(getComputedStyle(node).fontSize) * scale, node.textContent];
            }).filter(([size]) => size < 9.99)"""
    )
    assert small == [] and found.said == []
    found.context.close()


@pytest.mark.parametrize(  # every size and scheme with few runs; with many it takes long
    ("which", "scheme", "size"),
    [
        *(("many", "light", DESK), ("many", "dark", PHONE)),
        *(("few", "light", DESK), ("few", "dark", DESK), ("few", "light", PHONE), ("few", "dark", PHONE)),
    ],
)
def test_axe_finds_nothing(which: str, scheme: str, size: Any, browser: Any, path: Path, few: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = Opened(browser, path if which == "many" else few, color_scheme=scheme, viewport=size)
    found.page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true; })")
    answer = Axe().run(found.page)
    assert [(v["id"], v["nodes"][0]["html"]) for v in answer.response["violations"]] == []
    found.context.close()


@pytest.mark.parametrize("which", ["many", "few"])
def test_prints_on_six_pages_with_everything_unfolded(
    which: str, browser: Any, path: Path, few: Path, tmp_path: Path
) -> None:
    found = Opened(browser, path if which == "many" else few, viewport=DESK)
    found.page.pdf(path=tmp_path / "p.pdf", prefer_css_page_size=True)
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", (tmp_path / "p.pdf").read_bytes()))
    assert 1 < pages <= 6
    found.context.close()


BROKEN = """() => Array.from(document.querySelectorAll('.topics th, .topics td, .rows th, .rows td')).flatMap(cell => {
    const words = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), found = [];
    while (words.nextNode()) {
        const node = words.currentNode;
        if (node.parentElement.closest('svg')) continue;
        for (const word of node.textContent.matchAll(/[^\\s-]+/g)) {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            if (range.getClientRects().length > 1) found.push(word[0]);
        }
    }
    if (cell.matches('.rows .v') && cell.textContent.trim()) {
        const range = document.createRange();
        range.selectNodeContents(cell);
        if (range.getBoundingClientRect().left < cell.getBoundingClientRect().left - 1) found.push(cell.textContent);
        if (range.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1) found.push(cell.textContent);
    }
    return found;
})"""
"""Words of tables that do not fit their cell."""
COLLIDING = """() => Array.from(document.querySelectorAll('.drawing svg.axis')).flatMap(svg => {
    const boxes = Array.from(svg.querySelectorAll('text'), one => [one.getBoundingClientRect(), one.textContent])
        .filter(([box]) => box.width).sort((a, b) => a[0].left - b[0].left);
    return boxes.slice(1).filter(([box], i) => box.left < boxes[i][0].right).map(([, text]) => text);
})"""
"""Numbers of axes that run into the one before."""


@pytest.mark.parametrize("which", ["many", "few"])
@pytest.mark.parametrize("size", [DESK, PHONE])
def test_nothing_collides_and_no_word_is_broken(
    which: str, size: dict[str, int], browser: Any, path: Path, few: Path
) -> None:
    found = Opened(browser, path if which == "many" else few, viewport=size)
    found.page.evaluate(UNFOLD)
    assert found.page.locator(".topics td, .rows td").count() > 20
    assert found.page.evaluate(BROKEN) == []
    assert found.page.evaluate(COLLIDING) == []
    found.context.close()


def test_numbers_are_those_of_the_json(opened: Opened, report: Report) -> None:
    whole = json.loads(report.render("json"))
    opened.page.evaluate(UNFOLD)
    for section in whole["sections"]:
        verdict = section["verdict"]
        if verdict is None:
            continue
        text = opened.page.inner_text(f"#{section['key']}").replace("\u00a0", " ")
        assert verdict["word"] in text and verdict["sentence"][1:] in text and verdict["limit"][1:] in text
        strip = opened.page.inner_text(f".strip a[href='#{section['key']}-answer']").replace("\u00a0", " ")
        assert verdict["word"] in strip and verdict["finding"][1:] in strip
        if verdict["word"] == "unknown":
            assert "Number" not in text
    shown = opened.page.eval_on_selector_all(
        "#table-winners tbody tr", "rows => rows.map(row => Array.from(row.cells).map(cell => cell.textContent))"
    )
    rows = next(s["rows"] for s in whole["sections"] if s["key"] == "winners")
    assert shown[: len(rows)] == [
        ["-" if v is None else f"{v:.4f}" if isinstance(v, float) else str(v) for v in row]
        for row in rows[: len(shown)]
    ]


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_chart_of_another_judge_is_whole(
    size: dict[str, int], browser: Any, report: Report, tmp_path: Path
) -> None:
    """A chart that a study draws itself: as wide as the window allows, no name cut off or over another."""
    c = report.asking.collection
    assert isinstance(c, uj.Collection)
    other = uj.flip(c, 0.2, seed=3)
    uj.report(c, tmp_path / "two.html", measures="AP", second={"machine": other}, jobs=1)
    found = Opened(browser, tmp_path / "two.html", viewport=size)
    found.page.evaluate(UNFOLD)
    box = found.page.locator("#another-judge figure.chart .drawing").bounding_box()
    assert box is not None and 300 < box["width"] <= size["width"] and 60 < box["height"] <= 640
    shown = "#another-judge .drawing svg.marks:visible"
    many(found.page, shown, 1)
    boxes = [text.bounding_box() for text in found.page.locator(f"{shown} .mark-text.role-mark text").all()]
    assert boxes and all(b["x"] + b["width"] <= size["width"] for b in boxes)
    tops = sorted(b["y"] for b in boxes)
    assert all(below - above >= 10 for above, below in pairwise(tops))
    assert found.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert found.said == []
    found.context.close()


def test_a_link_of_the_strip_unfolds_its_section(browser: Any, path: Path) -> None:
    found = Opened(browser, path, viewport=DESK)
    for key in ("winners", "safe-comparisons"):
        assert found.page.locator(f"#{key} figure").is_hidden()
        found.page.click(f".strip a[href='#{key}-answer']")
        assert found.page.locator(f"#{key} figure").is_visible()
    found.page.click("#unfold")
    assert found.page.locator("details.fold:not([open])").count() == 0
    found.context.close()


def test_rows_are_found_and_all_are_shown(opened: Opened, report: Report) -> None:
    page, runs = opened.page, report["winners"].columns()["run"]
    page.evaluate(UNFOLD)
    names = "#winners table.rows tbody tr:not(.more) th"
    assert page.locator(names).count() < len(runs) and f"of {len(runs)} shown" in page.inner_text("#winners .tools")
    page.fill("#winners input.find", runs[-2])
    many(page, names, 1)
    assert page.inner_text(names) == runs[-2]
    page.fill("#winners input.find", "")
    page.click("#winners button.all")
    many(page, names, len(runs))
    assert page.eval_on_selector_all(names, "all => all.map(node => node.textContent)") == runs


def test_tables_have_all_rows_and_sort_by_mouse_and_keyboard(opened: Opened, report: Report) -> None:
    page = opened.page
    page.evaluate(UNFOLD)
    page.click("#winners details.data > summary")
    runs = report["winners"].columns()["run"]
    many(page, "#table-winners tbody tr", len(runs))
    header = page.locator("#table-winners thead th").nth(1)
    header.locator("button").click()

    def column(place: int) -> list[str]:
        found: list[str] = page.eval_on_selector_all(
            "#table-winners tbody tr", f"rows => rows.map(row => row.cells[{place}].textContent)"
        )
        return found

    assert column(1) == sorted(runs) and header.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert column(1) == sorted(runs, reverse=True) and header.get_attribute("aria-sort") == "descending"
    page.locator("#table-winners thead th").nth(3).locator("button").focus()
    page.keyboard.press("Space")
    values = [float(v) for v in column(3)]
    assert values == sorted(values) and header.get_attribute("aria-sort") is None


def test_every_chart_is_saved_as_svg_png_and_csv(browser: Any, path: Path, report: Report) -> None:
    """A browser asks before the eleventh file of a page, so the page is opened again for every chart."""
    found = None

    def saved(key: str, kind: str) -> bytes:
        assert found is not None
        with found.page.expect_download() as got:
            found.page.click(f"#{key} button.save[data-as={kind}]")
        assert got.value.suggested_filename == f"{key}.{kind}"
        return Path(got.value.path()).read_bytes()

    for section in report.answered:
        found = Opened(browser, path, viewport=DESK)
        found.page.evaluate(UNFOLD)
        rows = list(csv.reader(io.StringIO(saved(section.key, "csv").decode())))
        table = section.result
        assert rows[0] == list(table.columns) and len(rows) - 1 == len(list(table.rows()))
        for written, row in zip(rows[1:], table.rows(), strict=True):
            assert [float(w) if isinstance(v, float) and v == v else w for w, v in zip(written, row, strict=True)] == [
                "" if v is None or v != v else v if isinstance(v, float) else str(v) for v in row
            ]
        svg = saved(section.key, "svg").decode()
        assert svg.startswith("<svg") and "<use" not in svg and svg.count("<text") > 5, section.key
        assert saved(section.key, "png").startswith(b"\x89PNG") and found.said == []
        if section.key == "winners":
            assert section.columns()["run"][0] in svg
        found.context.close()


@pytest.mark.parametrize("which", ["many", "few"])
def test_readable_with_scripts_off(which: str, browser: Any, path: Path, few: Path, report: Report) -> None:
    found = Opened(browser, path if which == "many" else few, java_script_enabled=False, viewport=DESK)
    text = found.page.inner_text("body")
    assert "What to do now" in text and "unjudged " in found.page.inner_text("#next code >> nth=0")
    assert found.page.locator("button:visible").count() == 0
    if which == "many":
        for section in report.answered:
            assert section.short in text and section.verdict is not None and section.verdict.word in text
        found.page.click("#winners summary")
        assert found.page.locator("#winners table.rows tbody tr").first.is_visible()
        found.page.click("#fewer-judgments summary")
        assert found.page.locator("#fewer-judgments .wide svg path").first.is_visible()
    else:
        assert " against " in text and "give or take" in text
    found.context.close()


def test_few_runs_are_read_pair_by_pair(browser: Any, few: Path) -> None:
    found = Opened(browser, few, viewport=DESK)
    page = found.page
    assert page.locator(".pairs li").count() == 3 and page.locator(".strip").count() == 0
    page.evaluate(UNFOLD)
    assert "what is" in page.inner_text("#differ table.topics") and page.locator("#differ .wide rect").count() >= 26
    assert "cannot show" in page.inner_text("#beyond") and page.locator("#beyond li").count() >= 5
    assert "need 5 to 20 runs" in page.inner_text("#beyond")
    assert "What is in it?" not in page.inner_text("#beyond")
    assert page.inner_text("body").count("unknown") == 0
    found.context.close()


@pytest.mark.parametrize("many", [2, 4, 5])
def test_every_number_of_pairs_has_its_place(many: int, report: Report, browser: Any, tmp_path: Path) -> None:
    """1, 6 and 10 pairs: rows that are full, the first screen complete, nothing grey where no pair is."""
    assert isinstance(report.asking.collection, uj.Collection)
    folder = Path(report.asking.collection.sources[0]).parent
    runs = report.asking.collection.runs[:: 32 // many][:many]
    c = uj.load(str(folder / "qrels.txt"), [str(folder / "runs" / run) for run in runs])
    few = uj.report(c, tmp_path / "few.html", jobs=1).few
    assert few is not None and len(few.pairs) == many * (many - 1) // 2
    for size in (DESK, PHONE):
        found = Opened(browser, tmp_path / "few.html", viewport=size)
        page = found.page
        assert (
            page.evaluate("document.querySelector('#next').getBoundingClientRect().bottom + scrollY") <= size["height"]
        )
        assert page.evaluate(WORDS, "header, .pairs, #next") <= 300
        rows = page.eval_on_selector_all(
            ".pairs li", "all => all.map(node => Math.round(node.getBoundingClientRect().y))"
        )
        wide = {2: 1, 4: 3, 5: 5}[many] if size is DESK else 1
        assert {rows.count(y) for y in rows} == {wide}
        drawn = page.locator(".pairs svg.span").first.is_visible()
        assert page.locator(".pairs .legend").is_visible() == (drawn and bool(few.legend))
        found.context.close()


def test_hostile_and_long_names_in_a_crowd(browser: Any, tmp_path: Path) -> None:
    """130 runs whose names are long, or would be scripts: nothing runs, nothing overflows."""
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
    for size in (DESK, PHONE):
        found = Opened(browser, path, viewport=size)
        found.page.evaluate(UNFOLD)
        found.page.click("#winners button.all")
        many(found.page, "#winners table.rows tbody tr:not(.more)", 130)
        assert found.said == [] and found.page.evaluate("window.hacked") is None
        assert found.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        found.context.close()


def test_a_hundred_runs_and_fifty_topics_are_a_small_file(tmp_path: Path) -> None:
    out = tmp_path / "big"
    made = uj.simulate("tiny", seed=5, out=out, topics=50, runs=100, teams=25, depth=10, K=40, C=400)
    uj.report(uj.load(str(made.qrels), str(made.run_folder), teams=made.teams), tmp_path / "big.html")
    assert (tmp_path / "big.html").stat().st_size < 350_000
