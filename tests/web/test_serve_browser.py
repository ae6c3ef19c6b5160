"""The local page in a real browser: controls, drag and drop, cancel, topics, the URL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from local_page import Served

import unjudged as uj
from unjudged.studies import QUESTIONS
from unjudged.web.judging import Desk, Judging

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]
WAIT = 120_000
DONE = "html[data-state=done]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "sim"
    uj.simulate("tiny", seed=7, out=out, topics=6, runs=9, teams=4, depth=6, K=30, C=300)
    return out


@pytest.fixture(scope="module")
def served(folder: Path, browser: Any) -> Iterator[Served]:  # no browser, no server
    collection = uj.load(str(folder / "qrels.txt"), str(folder / "runs"), teams=folder / "teams.tsv")
    queries, corpus = folder / "queries.jsonl", folder / "corpus.jsonl"
    lines = [json.dumps({"_id": t, "text": "the life of a flea"}) + "\n" for t in collection.topics]
    queries.write_text("".join(lines))
    docs = sorted({line.split()[2] for path in (folder / "runs").iterdir() for line in path.read_text().splitlines()})
    corpus.write_text("".join(json.dumps({"_id": d, "title": d, "text": f"About {d}"}) + "\n" for d in docs))
    judging = Judging(str(folder / "labels.sqlite"), queries=str(queries), corpus=str(corpus))
    with Served(collection, max_upload=100_000, desk=Desk(collection, judging)) as running:
        yield running


class Opened:
    """A page, what it said, and where it went."""

    def __init__(self, browser: Any, served: Served, query: str = "", **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1100, "height": 900}, **options)
        self.context.set_default_timeout(WAIT)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda problem: self.said.append(f"error: {problem}"))
        self.page.on(
            "request",
            lambda request: (
                self.elsewhere.append(request.url)
                if not request.url.startswith((served.url, "data:", "blob:"))
                else None
            ),
        )
        self.page.goto(served.address("/" + query))

    def done(self) -> None:
        self.page.wait_for_selector(DONE, state="attached")

    def again(self, action: Any) -> None:
        """Do something that starts a computation, and wait for its end."""
        self.page.evaluate("document.documentElement.dataset.state = 'asked'")
        action()
        self.done()

    def state(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.page.url).query)


@pytest.fixture
def opened(browser: Any, served: Served) -> Iterator[Opened]:
    found = Opened(browser, served)
    found.done()
    found.page.click("#more > summary")
    found.page.click("#unfold")
    yield found
    assert found.said == [] and found.elsewhere == []
    found.context.close()


def runs_shown(page: Any) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        "#table-winners tbody tr", "rows => rows.map(row => row.cells[1].textContent)"
    )
    return found


def test_the_page_has_every_section_and_chart(opened: Opened) -> None:
    page = opened.page
    ids = page.eval_on_selector_all("#sections > section", "all => all.map(node => node.id)")
    assert ids == ["in-short", *QUESTIONS, "how-made"] and page.locator("#topic-view").is_hidden()
    assert page.locator("figure.chart .drawing").count() == len(QUESTIONS)
    assert page.inner_text("#status") == "Done." and page.locator("#save").is_enabled()


def test_axe_finds_nothing(opened: Opened) -> None:
    from axe_playwright_python.sync_playwright import Axe

    opened.page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true; })")
    answer = Axe().run(opened.page)
    assert [(v["id"], v["nodes"][0]["html"]) for v in answer.response["violations"]] == []
    opened.page.click("#tab-runs")
    opened.page.click("#compare")
    opened.page.wait_for_selector("#topics table")
    answer = Axe().run(opened.page)
    assert [(v["id"], v["nodes"][0]["html"]) for v in answer.response["violations"]] == []


def test_controls_change_the_report_and_the_url(opened: Opened, served: Served) -> None:
    page, collection = opened.page, served.app.uploads.collection
    page.fill("#measures", "P@5, RBP(p=0.8)")
    page.select_option("#unjudged", "condensed")
    page.fill("#rel", "2")
    page.fill("#seed", "5")
    opened.again(lambda: page.click("button[type=submit]"))
    assert opened.state() == {"measures": ["P@5", "RBP(p=0.8)"], "unjudged": ["condensed"], "rel": ["2"], "seed": ["5"]}
    scores = uj.score(collection, ["P@5"], rel=2, unjudged="condensed")
    best = scores.means().iloc[:, 0].max()
    assert f"{best:.4f}" in page.text_content("#table-winners")
    assert str(scores.measures[0]) in page.inner_text("#winners .verdict")
    words = page.eval_on_selector_all(
        "#sections summary .w", "all => all.map(node => [node.textContent, node.nextElementSibling.textContent])"
    )
    first = {s.key: s.verdict.word for s in uj.report(collection, jobs=1).sections if s.verdict is not None}
    assert [before for _, before in words] == [f"before: {word}" for word in first.values()]
    for cell in page.locator(".strip li:has(.was)").all():  # the old word has a line of its own: nothing is narrower
        assert cell.locator(".q").bounding_box()["height"] < 30
    turned = page.locator("#sections summary .was.changed").count()
    assert turned == sum(f"before: {word}" != before for word, before in words)
    assert turned == page.locator("#in-short .was.changed").count()
    opened.again(lambda: page.go_back())
    assert opened.state() == {} and page.input_value("#seed") == "0"
    opened.again(lambda: page.go_forward())
    assert page.input_value("#measures") == "P@5, RBP(p=0.8)" and page.input_value("#unjudged") == "condensed"
    opened.again(lambda: page.click("#reset"))
    assert opened.state() == {} and "an AP of" in page.inner_text("#winners .verdict")


def test_runs_and_teams_are_chosen(opened: Opened, served: Served) -> None:
    page, collection = opened.page, served.app.uploads.collection
    page.select_option("#team", ["team01", "team02"])
    opened.again(lambda: page.press("#seed", "Enter"))
    assert opened.state() == {"team": ["team01", "team02"]}
    assert {collection.teams[run] for run in runs_shown(page)} == {"team01", "team02"}
    assert "2 chosen" in page.inner_text("#chosen")


def test_a_link_opens_the_same_view(browser: Any, served: Served) -> None:
    team = served.app.uploads.collection.teams[served.app.uploads.collection.runs[0]]
    found = Opened(browser, served, f"?drop={team}&depth=4&measures=P%4010")
    found.done()
    assert found.page.locator("#depth").is_visible() and found.page.locator("#changes figure").is_hidden()
    found.page.click("#unfold")
    assert found.page.input_value("#drop") == team and found.page.input_value("#depth") == "4"
    assert "change rank" in found.page.inner_text("#changes") and found.page.locator("#changes .chart").count() == 1
    assert found.said == []
    found.context.close()


def test_a_misspelt_measure_changes_nothing(opened: Opened) -> None:
    page = opened.page
    before = page.inner_html("#sections")
    page.fill("#measures", "nDGC@10")
    page.click("button[type=submit]")
    page.wait_for_selector("html[data-state=failed]", state="attached")
    assert "did you mean" in page.inner_text("#status.problem") and "Nothing was changed" in page.inner_text("#status")
    assert page.inner_html("#sections") == before and opened.state() == {} and page.locator("#save").is_enabled()
    page.fill("#measures", "AP")
    page.fill("#find-measure", "bpref")
    page.press("#find-measure", "Tab")
    assert page.input_value("#measures") == "AP, bpref" and page.input_value("#find-measure") == ""
    opened.said = [line for line in opened.said if "status of 400" not in line]  # the browser notes the refusal itself


def test_cancel(opened: Opened, served: Served) -> None:
    page = opened.page
    served.hold.clear()
    served.held.clear()
    try:
        page.fill("#seed", "41")
        asked: list[Any] = []
        page.route("**/api/jobs", lambda route: asked.append(route))
        with page.expect_request("**/api/jobs"):
            page.click("button[type=submit]")
        assert page.locator("#cancel").is_disabled()  # there is nothing to cancel before the server answers
        asked.pop().continue_()
        page.unroute("**/api/jobs")
        assert served.held.wait(WAIT / 1000)
        page.wait_for_selector("html[data-state=running]", state="attached")
        page.wait_for_selector("#cancel:enabled")
        page.fill("#seed", "42")  # the page answers while it computes
        page.click("#cancel")
        job = max(served.app.jobs._jobs.values(), key=lambda job: job.number)
        assert job.stop.wait(WAIT / 1000)
    finally:
        served.hold.set()
    page.wait_for_selector("html[data-state=cancelled]", state="attached")
    assert page.inner_text("#status").startswith("Cancelled. Grey answers are those from before")
    assert page.locator("#cancel").is_disabled()
    assert page.locator("#sections > section.old").count() == len(QUESTIONS) + 2  # nothing was taken away
    opened.again(lambda: page.click("button[type=submit]"))
    assert page.locator("#sections > section.old").count() == 0


def test_a_run_is_added_by_drag_and_drop(opened: Opened, served: Served, folder: Path) -> None:
    page = opened.page
    lines = [line.split() for line in (folder / "runs" / "team02-1").read_text().splitlines()]
    text = "".join(f"{t} Q0 {d if i % 3 else f'new{i}'} {r} {s} x\n" for i, (t, _, d, r, s, _) in enumerate(lines))
    drop = """([name, text]) => {
        const data = new DataTransfer();
        data.items.add(new File([text], name));
        const zone = document.getElementById('drop-zone');
        for (const kind of ['dragenter', 'dragover', 'drop'])
            zone.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
    }"""
    name = "<b>mine.run"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("/api/")[2].partition("?")[0]))
    opened.again(lambda: page.evaluate(drop, [name, text]))
    first = [what for what in asked if not what.startswith("jobs/")]
    assert first == ["runs", "score", "run", "jobs"]  # the report of all runs waits for the answer about this one
    assert name in page.inner_text("#added") and name in runs_shown(page)
    assert name in page.text_content("#table-changes") and "corrected" in page.text_content("#table-changes")
    page.wait_for_selector("#mine-facts p a:has-text('Judge these')")
    assert page.inner_text("#mine-head").startswith(f"{name}: rank ") and "never judged" in page.inner_text("#mine")
    assert "new=%3Cb%3Emine.run" in str(page.get_attribute("#mine-facts p a", "href"))
    about = served.client.get("/api/run", params={"name": name}).json()
    settling = page.locator("#mine-facts li a:has-text('Judge what would settle it')").count()
    assert settling == sum(pair["open"] for pair in about["pairs"])  # only where holes leave it open
    opened.again(lambda: page.click("#added button"))
    assert page.locator("#mine").is_hidden() and page.inner_text("#added") == "" and name not in runs_shown(page)
    page.set_input_files("#file", files=[{"name": "bad.run", "mimeType": "text/plain", "buffer": b"not a run\n"}])
    page.wait_for_selector("#status.problem")
    assert "bad.run" in page.inner_text("#status")
    big = b"1 Q0 d 1 1 x\n" * 9000
    page.set_input_files("#file", files=[{"name": "big.run", "mimeType": "text/plain", "buffer": big}])
    page.wait_for_selector("#status.problem:has-text('larger')")
    opened.said = [line for line in opened.said if "status of 400" not in line]


def test_two_runs_topic_by_topic(opened: Opened, served: Served, browser: Any) -> None:
    page, collection = opened.page, served.app.uploads.collection
    a, b = collection.runs[0], collection.runs[4]
    page.click("#tab-runs")
    assert opened.state() == {"tab": ["runs"]} and page.locator("#sections").is_hidden()
    page.select_option("#run-a", a)
    page.select_option("#run-b", b)
    page.fill("#by", "P@10")
    page.click("#compare")
    page.wait_for_selector("#topics table")
    x = uj.score(collection, ["P@10"]).matrix("P@10")
    shown = page.eval_on_selector_all(
        "#topics tbody tr", "rows => rows.map(row => Array.from(row.cells).map(cell => cell.textContent))"
    )
    sizes = [abs(float(row[3])) for row in shown]
    assert sizes == sorted(sizes, reverse=True) and len(shown) == len(collection.topics)
    for cell, first, second, _ in shown:
        topic = cell.removesuffix("the life of a flea")
        assert topic != cell
        t = collection.topics.index(topic)
        assert (first, second) == (f"{x[t, 0]:.4f}", f"{x[t, 4]:.4f}")
    page.click("#topics tbody tr:first-child button")
    page.wait_for_selector("#side-by-side table")
    assert page.locator("#side-by-side table").count() == 2
    states = page.eval_on_selector_all(
        "#side-by-side tbody tr", "rows => rows.map(row => [row.className, row.textContent])"
    )
    assert {kind for kind, _ in states} <= {"relevant", "nonrelevant", "unjudged"}
    assert all(kind in text for kind, text in states)
    assert opened.state() == {
        "a": [a],
        "b": [b],
        "by": ["P@10"],
        "topic": [shown[0][0].removesuffix("the life of a flea")],
    }
    assert page.inner_text("#topic-text") == "the life of a flea"
    assert page.locator("#side-by-side details").count() and "About" in page.text_content("#side-by-side details")
    same = Opened(browser, served, "?" + urlsplit(page.url).query)
    same.page.wait_for_selector("#side-by-side table")
    assert same.page.inner_text("#side-by-side caption >> nth=0") == page.inner_text("#side-by-side caption >> nth=0")
    same.done()
    same.context.close()


def test_saved_as_a_report(opened: Opened, browser: Any, tmp_path: Path) -> None:
    with opened.page.expect_download() as got:
        opened.page.click("#save")
    path = tmp_path / got.value.suggested_filename
    got.value.save_as(path)
    assert path.name == "trust.html"
    page = browser.new_page()
    page.set_default_timeout(WAIT)
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]", state="attached")
    assert page.locator("figure.chart").count() == len(QUESTIONS)
    page.close()
