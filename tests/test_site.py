"""The pages that the site makes from the program: every study, question, word, verb and measure has its place."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from places import ROOT

pytest.importorskip("mkdocs")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "site" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: dict[str, str] = module.pages()
    return made


def headings(page: str) -> list[str]:
    return re.findall(r"^## (.+)$", page, re.M)


def test_every_study_tells_what_it_does(pages: dict[str, str]) -> None:
    from unjudged.studies.engine.study import NAMES

    page = pages["reference/studies.md"]
    assert headings(page) == list(NAMES)
    for part in page.split("\n## ")[1:]:
        assert re.search(r"\*\*.+\?\*\*|\*\*.{20,}\*\*", part) and len(part) > 150, part
        assert f"unjudged study {part.splitlines()[0]}" in part


def test_every_question_leads_to_its_study(pages: dict[str, str]) -> None:
    from unjudged.studies.questions import QUESTIONS

    page = pages["reference/questions.md"]
    assert headings(page) == [question.text for question in QUESTIONS.values()]
    studies = set(headings(pages["reference/studies.md"]))
    assert set(re.findall(r"studies\.md#([\w-]+)", page)) <= studies


def test_every_word_is_there(pages: dict[str, str]) -> None:
    from unjudged.glossary import GLOSSARY

    page = pages["reference/words.md"].replace("\\*", "*")
    told = {*headings(page), *re.findall(r"`([^`]+)`", "".join(re.findall(r"^Also: .*$", page, re.M)))}
    assert set(GLOSSARY) <= {name.lower() for name in told}


def test_every_page_stands_in_the_navigation(pages: dict[str, str]) -> None:
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    written = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    for page in [*written, *pages]:
        assert page in navigation or str(Path(page).parent) in ("reference/measures", "reference/cli"), page
