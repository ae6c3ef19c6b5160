"""What README and documentation show is what happens, and the site builds without a warning.

Every command of a console block is run, page by page, and its standard output compared with what the page shows (a line
`...` stands for output left out). Every piece of Python is run; the text block that follows it is what it prints.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from places import DATA, ROOT

import unjudged
from unjudged.cli import VERBS, main
from unjudged.measures import REGISTRY as MEASURES
from unjudged.studies import NAMES, find
from unjudged.studies.engine.study import REGISTRY as STUDIES

REAL = ("dl19-passage", "robust03", "trec2-adhoc", "judges")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"```(console|python)\n(.*?)```(?:\n+```text\n(.*?)```)?", re.S)
FINDINGS = {"check": (1,), "ci": (1, 3)}
"""Verbs with exit codes that are an answer."""


def pieces(text: str) -> Iterator[tuple[str, str, str]]:
    """(kind, command or code, output shown) in the order of the page."""
    for kind, body, printed in BLOCK.findall(text):
        if kind == "python":
            yield kind, body, printed
            continue
        for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield kind, command, output


def ran(command: str, capfd: pytest.CaptureFixture[str]) -> str:
    """Standard output of a command; plain ones are run in this process."""
    if command == "make demo":
        assert "\t@$(BIN)/unjudged demo -o demo\n" in (ROOT / "Makefile").read_text("utf-8")
        command = "unjudged demo -o demo"
    command = command.removeprefix(".venv/bin/")  # README: what `make demo` installed
    if re.match(r"unjudged [^|>]*$", command):
        words = shlex.split(command)[1:]
        capfd.readouterr()
        code = main(words)
        out, err = capfd.readouterr()
    else:
        there = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=there)
        words, code, out, err = [], done.returncode, done.stdout, done.stderr
    assert code == 0 or code in FINDINGS.get(words[0] if words else "", ()), f"{command}: {err}"
    return out


def agrees(shown: str, printed: str) -> bool:
    """Equal, where a line `...` stands for any lines."""
    parts = re.split(r"^\.\.\.\n", shown, flags=re.M)
    return re.fullmatch(".*".join(map(re.escape, parts)), printed, re.S) is not None


SHOWN = {str(page.relative_to(ROOT)): list(pieces(page.read_text("utf-8"))) for page in PAGES}


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page, shown in SHOWN.items() if shown])
@pytest.mark.filterwarnings("ignore")  # remarks of the packages in coming-from.md
def test_a_page_shows_what_happens(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if page == "docs/coming-from.md":
        for package in ("ir_measures", "pyterrier", "ranx"):
            pytest.importorskip(package, reason=f"{package} is not installed")
        from their_parser import READS_NUMBERS, WHY_NOT

        if not READS_NUMBERS:
            pytest.skip(WHY_NOT)
    monkeypatch.chdir(tmp_path)
    for name in REAL:
        (tmp_path / name).symlink_to(DATA / name)
    known = set(MEASURES)
    names: dict[str, Any] = {}
    try:
        for kind, source, output in SHOWN[page]:
            if not DATA.is_dir() and re.search(rf"[ \"'](?:{'|'.join(REAL)})/", source):
                continue
            if kind == "console":
                printed = ran(source, capfd)
            else:
                text = io.StringIO()
                with contextlib.redirect_stdout(text):
                    exec(compile(source, page, "exec", dont_inherit=True), names)
                printed = text.getvalue().rstrip("\n") + "\n" if text.getvalue() else ""
            assert agrees(output, printed), f"{source}\n--- printed\n{printed}--- shown\n{output}"
    finally:
        for study in set(STUDIES) - set(NAMES):  # made by the pages on measures and studies of one's own
            del STUDIES[study]
        for measure in set(MEASURES) - known:
            del MEASURES[measure]


def test_pages_that_should_show_something_do() -> None:
    commands = {page: sum(kind == "console" for kind, _, _ in shown) for page, shown in SHOWN.items()}
    assert commands["README.md"] >= 2 and commands["docs/quickstart.md"] >= 9
    assert all(count >= 4 for page, count in commands.items() if "guides" in page)
    assert sum(commands.values()) >= 55


WALKS = ("organiser", "researcher", "engineer")


@pytest.mark.parametrize("walk", WALKS)
def test_a_walk_is_short_and_needs_no_data_of_others(walk: str) -> None:
    page = f"docs/guides/{walk}.md"
    commands = [source for kind, source, _ in SHOWN[page] if kind == "console"]
    assert 5 <= len(commands) < 12
    assert not any(f"{name}/" in source for _, source, _ in SHOWN[page] for name in REAL)
    verbs = {command.split()[1] for command in commands if command.startswith("unjudged ")}
    assert len(verbs) >= 5 and all(output for kind, _, output in SHOWN[page] if kind == "python" and "print(" in _)
    assert page.removeprefix("docs/") in (ROOT / "mkdocs.yml").read_text("utf-8")
    assert f"({page})" in (ROOT / "README.md").read_text("utf-8")


def test_commands_begin_with_a_dollar_only_where_they_are_run() -> None:
    for page in PAGES:
        loose = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
        assert re.findall(r"^ *\$ (?:unjudged|python) .*", loose, re.M) == [], page.name


def test_the_page_of_studies_names_them_all() -> None:
    page = (ROOT / "docs" / "studies.md").read_text("utf-8")
    rows = {name: row for name in NAMES for row in re.findall(rf"^\| `{name}` \|.*\| (.*) \|$", page, re.M)}
    assert set(rows) == set(NAMES)
    for name, row in rows.items():
        told = re.match(r"[a-z_0-9]+( [a-z_0-9]+)+(?=$|;)", row)  # others refer to a page, or say only some
        if told is not None and find(name).columns and not row.startswith(("as ", "slice topics and")):
            assert tuple(told[0].split()) == find(name).columns, name


def test_the_workflow_runs_and_stands_on_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate's step of examples/github-actions.yml, as it is, on files of those names."""
    import yaml

    text = (ROOT / "examples" / "github-actions.yml").read_text("utf-8")
    assert text in (ROOT / "docs" / "ci.md").read_text("utf-8")
    steps = [step["run"] for step in yaml.safe_load(text)["jobs"]["gate"]["steps"] if "run" in step]
    monkeypatch.chdir(tmp_path)
    topics = range(1, 11)  # the gate says nothing on fewer
    Path("qrels.txt").write_text("".join(f"{t} 0 d{t} 1\n" for t in topics))
    run = "".join(f"{t} Q0 d{t} 1 1 x\n" for t in topics)
    for name in ("new.run", "baseline.run"):
        Path(name).write_text(run)
    Path("topics.tsv").write_text("".join(f"{t}\tquestion {t}\n" for t in topics))
    (gate,) = [step for step in steps if step.startswith("unjudged ci ")]
    assert main(shlex.split(gate)[1:]) == 0
    assert "| nDCG@10 | pass |" in Path("gate.md").read_text()
    assert any(step.startswith("gh pr comment ") and "--body-file gate.md" in step for step in steps)
    assert '<testsuite name="unjudged ci" tests="2" failures="0"' in Path("junit.xml").read_text()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation site in a folder, built without a warning."""
    where = tmp_path_factory.mktemp("built") / "site"
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(where)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr[-3000:]
    assert "WARNING" not in built.stderr
    return where


@pytest.mark.slow
@pytest.mark.xdist_group("browser")
def test_the_site_has_every_page_and_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in ("quickstart", "extending", "coming-from", "formats", "performance", "guides/reusable"):
        assert (site / f"{page}.html").is_file()
    html = {str(p.relative_to(site).with_suffix("")): p.read_text("utf-8") for p in site.rglob("*.html")}
    python = html["reference/python"]
    assert [name for name in unjudged.__all__ if f">uj.{name}<a" not in python] == ["__version__"]
    measures = "".join(text for page, text in html.items() if page.startswith("reference/measures/"))
    assert [name for name in MEASURES if f">{name}<a" not in measures] == []
    for part in ("Formula", "Worked example", "Source"):
        assert measures.count(f"<strong>{part}</strong>") == len(MEASURES)
    assert [name for name in NAMES if f">study {name}<a" not in html["reference/cli/study"]] == []
    assert [verb for verb in VERBS if f"reference/cli/{verb}" not in html] == []
    loaded = re.findall(r"<(?:script|link|img)[^>]* (?:src|href)=\"?(?:https?:)?//[^ >]*", "".join(html.values()))
    assert loaded == []  # works without a network


@pytest.mark.slow
@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("page", ["index.html", "reference/studies.html"])
def test_search_works_from_a_folder_without_a_server(page: str, site: Path, browser: Any) -> None:
    tab = browser.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto((site / page).as_uri())
    tab.keyboard.press("/")
    tab.keyboard.type("judged hits", delay=20)
    first = tab.locator(".md-search-result__link").first
    first.wait_for(timeout=60_000)
    found = tab.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.href)")
    assert any(link.startswith((site / "design.html").as_uri()) for link in found), found
    first.click()
    tab.wait_for_load_state()
    assert tab.url.startswith(site.as_uri()) and tab.url != (site / page).as_uri()
    assert "judged hits" in tab.locator("article").inner_text().lower()
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:", "blob:"))] == []
    tab.close()
