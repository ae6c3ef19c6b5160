"""The judging page in a real browser: by keyboard alone, on a phone, by two judges, and with the disk in the way."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from local_page import Served

import unjudged as uj
from unjudged.holes import labels as label_module
from unjudged.holes.judging import Question
from unjudged.holes.labels import LabelFile, Row
from unjudged.web.judging import Desk, Judging

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]
WAIT = 120_000
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
HOSTILE = "<script>document.title = 'run'</script> <b>bold</b> & fleas, flea, caf\\xe9"
LONG = "\n\n".join("A long paragraph about other things that goes on for a while. " * 6 for _ in range(30))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[uj.Collection, dict[str, str]]:
    out = tmp_path_factory.mktemp("judging") / "sim"
    uj.simulate("tiny", seed=1, topics=30, runs=16, teams=8, leave_out=["team04"], out=out)
    collection = uj.shallow(uj.load(out / "qrels.txt", out / "runs", teams=out / "teams.tsv"), 2)
    queries, corpus = out / "topics.txt", out / "corpus.jsonl"
    queries.write_text(
        "".join(
            f"<top>\n<num> Number: {t}\n<title> the life of a flea\n<desc> Description:\nHow long fleas live.\n</top>\n"
            for t in collection.topics
        )
    )
    docs = sorted({line.split()[2] for path in (out / "runs").iterdir() for line in path.read_text().splitlines()})
    with corpus.open("w") as file:
        for place, doc in enumerate(docs):
            file.write(json.dumps({"_id": doc, "title": "Fleas", "text": LONG if place % 2 else HOSTILE}) + "\n")
    return collection, {"queries": str(queries), "corpus": str(corpus)}


class Walk:
    """One browser window at the judging page."""

    def __init__(self, browser: Any, served: Served, size: dict[str, int], **options: Any) -> None:
        self.context = browser.new_context(viewport=size, **options)
        self.context.set_default_timeout(WAIT)
        self.page, self.said, self.elsewhere = self.context.new_page(), [], []  # type: ignore[var-annotated]
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda problem: self.said.append(str(problem)))
        self.page.on(
            "request", lambda r: None if r.url.startswith((served.url, "data:")) else self.elsewhere.append(r.url)
        )
        self.page.goto(served.address("/judge"))
        self.ready()

    def ready(self) -> None:
        self.page.wait_for_selector("html[data-state=ready]", state="attached")

    def press(self, key: str) -> None:
        """A key, once the page takes it."""
        self.page.wait_for_timeout(170)
        self.page.keyboard.press(key)
        self.ready()

    def document(self) -> str:
        return str(self.page.inner_text("#doc"))

    def close(self) -> None:
        assert self.elsewhere == []
        self.context.close()


@pytest.fixture
def served(made: Any, tmp_path: Path, browser: Any) -> Iterator[Served]:
    collection, texts = made
    question = Question("nDCG@10", "team06-2", "team08-3")
    desk = Desk(collection, Judging(str(tmp_path / "labels.sqlite"), "Ann", question=question, batch=4, **texts))
    with Served(collection, desk=desk) as running:
        yield running


def rows(served: Served) -> list[Row]:
    desk = served.app.desk
    return LabelFile(desk.setup.labels, desk.current().judgments).rows()


def violations(page: Any) -> list[tuple[str, str]]:
    from axe_playwright_python.sync_playwright import Axe

    return [(v["id"], v["nodes"][0]["html"]) for v in Axe().run(page).response["violations"]]


def test_by_keyboard_alone(browser: Any, served: Served) -> None:
    walk = Walk(browser, served, DESK)
    page = walk.page
    assert page.inner_text("#query") == "the life of a flea" and page.inner_text("#need") == "How long fleas live."
    assert page.inner_text("#word") == "Not decided yet" and page.inner_text("#sentence") == "About 14 more labels."
    assert page.title() == "Judge: the life of a flea", "no script of a document runs"
    seen = []
    for key in "2101":
        seen.append(walk.document())
        walk.press(key)
    assert [row.grade for row in rows(served)] == [2, 1, 0, 1] and len(set(seen)) == 4
    assert all(row.doc in text for row, text in zip(rows(served), seen, strict=True))
    assert page.inner_text("#count").startswith("4")
    before = walk.document()
    walk.press("s")
    skipped = rows(served)[-1]
    assert skipped.kind == "skip" and skipped.doc in before and walk.document() != before
    walk.press("u")
    assert rows(served)[-1].kind == "undo" and walk.document() == before
    assert page.inner_text("#last") == "Taken back. Judge it again."
    held = walk.document()
    page.keyboard.press("n")
    page.keyboard.type("2 of 3 parts fit")  # digits in a note are no grades
    assert violations(page) == []
    page.keyboard.press("Control+Enter")
    walk.page.wait_for_selector("#last:has-text('Note saved')")
    walk.ready()
    desk = served.app.desk
    assert [note.text for note in desk.labels.notes()] == ["2 of 3 parts fit"] and walk.document() == held
    page.keyboard.press("n")
    assert page.input_value("#noted") == "2 of 3 parts fit"
    page.keyboard.press("Escape")
    walk.press("3")  # no such grade
    walk.press("Control+1")
    assert len(rows(served)) == 6
    assert "team" not in page.inner_text("aside")
    walk.press("o")
    assert page.inner_text("#near-head") == "Outcome so far" and "team06-2 against team08-3" in page.inner_text("aside")
    assert "give or take" in page.get_attribute("#trend", "aria-label")
    walk.press("o")
    assert "team" not in page.inner_text("aside") and "labels" in page.get_attribute("#trend", "aria-label")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible() and "skip" in page.inner_text("#keys")
    page.keyboard.press("1")  # the keys do not reach the document behind
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible() and len(rows(served)) == 6
    for _ in range(40):  # Tab reaches the grades, Enter presses them
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.grade") == "2":
            break
    walk.press("Enter")
    assert (rows(served)[-1].kind, rows(served)[-1].grade) == ("label", 2)
    page.focus("#judge")
    page.keyboard.press("Control+a")
    page.keyboard.type("Ben 2")  # digits in the name are no grades
    assert len(rows(served)) == 7
    page.keyboard.press("Tab")
    walk.ready()
    walk.press("0")
    assert (rows(served)[-1].judge, rows(served)[-1].grade) == ("Ben 2", 0)
    assert walk.said == []
    walk.close()


def test_until_it_stops(browser: Any, served: Served) -> None:
    walk = Walk(browser, served, DESK)
    for _ in range(60):
        if walk.page.locator("#stop").is_visible():
            break
        walk.press("0")
    assert walk.page.inner_text("#stop-head") == walk.page.inner_text("#word")
    assert "you can stop here" in walk.page.inner_text("#stop-why")
    assert violations(walk.page) == []
    with walk.page.expect_download() as found:
        walk.page.click("#stop a.button")
    many = len(served.app.desk.current().judgments)
    assert len(Path(found.value.path()).read_text().splitlines()) == many + len(rows(served))
    walk.page.click("#more")
    walk.ready()
    before = len(rows(served))
    walk.press("1")
    assert len(rows(served)) == before + 1 and walk.said == []
    walk.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(browser: Any, served: Served, scheme: str) -> None:
    walk = Walk(browser, served, PHONE, color_scheme=scheme, has_touch=True)
    page = walk.page
    long = False
    for _ in range(4):
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        button = page.locator("#grades button").first
        box = button.bounding_box()
        assert box is not None and box["height"] >= 44 and box["y"] + box["height"] <= 844, "grades are in reach"
        long = long or "A long paragraph" in walk.document()
        page.wait_for_timeout(170)
        button.tap()
        walk.ready()
    assert long and [row.grade for row in rows(served)] == [2] * 4
    assert page.inner_text("#word") != "" and page.locator("#sentence").is_visible()
    smallest = page.evaluate(
        "Math.min(...[...document.querySelectorAll('body *')].filter(n => n.checkVisibility() && n.textContent.trim())"
        ".map(n => parseFloat(getComputedStyle(n).fontSize)))"
    )
    assert smallest >= 10 and violations(page) == [] and walk.said == []
    walk.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, served: Served, scheme: str) -> None:
    walk = Walk(browser, served, DESK, color_scheme=scheme)
    walk.press("1")
    walk.press("o")
    walk.page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true; })")
    assert violations(walk.page) == []
    walk.page.keyboard.press("?")
    assert violations(walk.page) == [] and walk.said == []
    walk.close()


def test_two_judges_at_once(browser: Any, served: Served) -> None:
    ann, ben = Walk(browser, served, DESK), Walk(browser, served, DESK)
    ben.page.fill("#judge", "Ben")
    ben.page.press("#judge", "Tab")
    ben.ready()
    assert ann.document() != ben.document()
    for key in "120":
        ann.press(key)
        ben.press(key)
    kept = rows(served)
    assert [row.judge for row in kept] == ["Ann", "Ben"] * 3
    assert len({(row.topic, row.doc) for row in kept}) == 6
    for walk in (ann, ben):
        assert walk.said == []
        walk.close()


def test_the_page_waits_until_a_label_is_saved(browser: Any, served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    walk = Walk(browser, served, DESK)
    page, before = walk.page, walk.document()
    connect = label_module.connect

    def full(path: str, mode: str) -> sqlite3.Connection:
        connection = connect(path, mode)
        connection.execute("PRAGMA query_only = ON")
        return connection

    page.evaluate("document.getElementById('doc').style.minHeight = '3000px'")
    with monkeypatch.context() as patch:
        patch.setattr(label_module, "connect", full)
        walk.press("1")
        problem = page.inner_text("#problem")
        assert problem.startswith("Not saved. ") and problem.endswith("read-only; nothing was saved.")
        for part in ("#problem", "#grades", "#less"):  # in view beside a long document, too
            box = page.locator(part).bounding_box()
            assert box is not None and box["y"] >= 0 and box["y"] + box["height"] <= DESK["height"]
        assert walk.document() == before
    page.route("**/api/judging", lambda route: route.abort())
    walk.press("1")
    assert page.inner_text("#problem").startswith("Not saved. The program behind this page does not answer")
    assert walk.document() == before
    page.unroute("**/api/judging")
    walk.press("1")
    assert walk.document() != before and page.inner_text("#problem") == "" and len(rows(served)) == 1
    walk.close()
