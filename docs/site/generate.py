"""Pages of the documentation that are made from the program itself, so that they cannot differ from it.

mkdocs calls `on_files`; the pages are: every measure by family, every command from its parser, every study, question
and word, every finding of `check`, the Python names.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import unjudged
from unjudged import adapters
from unjudged.cli import VERBS, commands
from unjudged.explanations import explain
from unjudged.glossary import entries
from unjudged.io.check.findings import CODES
from unjudged.measures import NAMED, REGISTRY, parse
from unjudged.studies.engine.study import NAMES
from unjudged.studies.questions import QUESTIONS

WIDTH = 84  # characters that fit into a page's column


def _code(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```\n"


LABELS = {"unjudged documents": "Unjudged documents", "summary": "Summary", "example": "Worked example"}
LABELS |= {"also accepted": "Also accepted", "see": "Source"}


def _escaped(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;")


def _page_of(text: str) -> Iterator[str]:
    """What `unjudged explain` prints about a measure, dressed as a page: formula apart, the rest as lists."""
    _, *paragraphs = text.rstrip().split("\n\n")
    for paragraph in paragraphs:
        lines = [line.strip() for line in paragraph.split("\n")]
        if lines[0].startswith("Formula: "):
            yield from ("**Formula**", "", _code(" ".join(lines).removeprefix("Formula: ")))
        elif lines[0] == "parameters:":
            yield from ("**Parameters**", "")
            yield from (
                f"* `{name}`: {_escaped(rest)}" for name, _, rest in (line.partition(": ") for line in lines[1:])
            )
        elif any(lines[0].startswith(f"{label}: ") for label in LABELS):
            yield from ("**In use**", "")
            for line in lines:
                label, _, rest = line.partition(": ")
                yield f"* **{LABELS[label]}**: {_escaped(rest)}" if label in LABELS else f"  → `{line}`"
        else:
            yield _escaped(" ".join(lines))
        yield ""


def _anchor(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")


def measures() -> dict[str, str]:
    """One page per family, and the sets."""
    families: dict[str, list[str]] = {}
    for name, measure in REGISTRY.items():
        families.setdefault(measure.definition.family, []).append(name)
    pages = {}
    for family, names in families.items():
        parts = [f"# {family[0].upper()}{family[1:]}", "", "Values are computed when this page is made.", ""]
        for name in names:
            parts += [f"## {name}", "", *_page_of(explain(name))]
        pages[f"reference/measures/{_anchor(family)}.md"] = "\n".join(parts)
    sets = ["# Named sets", "", "With the parameters of the papers; a set may stand wherever a measure may.", ""]
    for name in NAMED:
        sets += [f"## {name}", "", ", ".join(f"`{measure}`" for measure in parse(name)), ""]
    pages["reference/measures/sets.md"] = "\n".join(sets)
    return pages


def command_line() -> dict[str, str]:
    """One page per verb, from the parsers."""
    pages: dict[str, list[str]] = {}
    for name, line, parser in commands():
        verb = name.split()[0]
        page = pages.setdefault(f"reference/cli/{verb}.md", [f"# unjudged {verb}", ""])
        if " " in name:
            page += [f"## {name}", ""]
        help_text = f"unjudged {name} --help tells its flags." if parser is None else parser.format_help()
        page += [f"{line[0].upper()}{line[1:]}.", "", _code(help_text), ""]
    assert set(pages) == {f"reference/cli/{verb}.md" for verb in VERBS}
    return {path: "\n".join(lines) for path, lines in pages.items()}


def findings() -> str:
    lines = ["# Findings of `check`", ""]
    for code in CODES:
        lines += [f"## {code}", "", _code(explain(code)), ""]
    return "\n".join(lines)


def studies() -> str:
    """Every study in its own words."""
    lines = [
        "# Every study",
        "",
        "As `unjudged explain NAME` tells it; `unjudged study NAME --help` lists the options.",
        "",
    ]
    for name in NAMES:
        told = [text for text in explain(name).split("\n\n" + name) if ": a study." in text][-1]
        heading, *paragraphs = told[told.index(": a study.") :].rstrip().split("\n\n")
        lines += [f"## {name}", "", f"**{_escaped(' '.join(heading.removeprefix(': a study.').split()))}**", ""]
        for paragraph in paragraphs:
            text = " ".join(paragraph.split())
            command = text.removeprefix("Do it: ")
            lines += [_code(command) if command != text else _escaped(text), ""]
    return "\n".join(lines)


def questions() -> str:
    """Every question of the report, the study that answers it, and how its chart is read."""
    lines = [
        "# Every question",
        "",
        "The sections of the [trust report](../report.md), in its order. A key works wherever the name of a",
    ]
    lines += ["[study](studies.md) does: `unjudged study enough-topics QRELS RUN...` gives the report's answer.", ""]
    for key, question in QUESTIONS.items():
        answered = [question.study, *filter(None, (question.otherwise[0],))]
        links = " or ".join(f"[{study}](studies.md#{study})" for study in dict.fromkeys(answered))
        lines += [f"## {question.text}", "", f"Key `{key}`, answered by {links}.", "", _escaped(question.how), ""]
    return "\n".join(lines)


def words() -> str:
    """Every word and column of an output."""
    lines = [
        "# Every word",
        "",
        "What outputs, reports and tables call things; `unjudged explain WORD` says the same.",
        "",
    ]
    for names, text in entries():
        first, *others = names
        lines += [f"## {_escaped(first)}", "", _escaped(text), ""]
        if others:
            lines += [f"Also: {', '.join(f'`{name}`' for name in others)}.", ""]
    return "\n".join(lines)


def _signature(thing: Any) -> str:
    """As it would be written; a long one has a line for each parameter."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    text = re.sub(r"'([^']*)'(?=[,)=\s]|$)", r"\1", str(found).replace(" -> 'None'", ""))
    if len(text) <= WIDTH:
        return text
    inside = [re.sub(r": '([^']*)'", r": \1", str(p)) for p in found.parameters.values()]
    if any(p.kind is p.KEYWORD_ONLY for p in found.parameters.values()) and not any(t.startswith("*") for t in inside):
        first = next(i for i, p in enumerate(found.parameters.values()) if p.kind is p.KEYWORD_ONLY)
        inside.insert(first, "*")
    return "(\n" + "".join(f"    {line},\n" for line in inside) + ")" + text[text.rindex(")") + 1 :]


def _members(thing: type) -> Iterator[str]:
    for name, member in vars(thing).items():
        target = member.fget if isinstance(member, property) else getattr(member, "func", member)
        target = getattr(target, "__func__", target)
        if name.startswith("_") or not callable(target) or not inspect.getdoc(target):
            continue
        shown = name if isinstance(member, property) or hasattr(member, "func") else f"{name}{_signature(target)}"
        yield from ("", "```python", f".{shown.replace('(self, ', '(').replace('(self)', '()')}", "```", "")
        yield from (inspect.getdoc(target) or "", "")


def python() -> str:
    """Every public name with its signature and docstring."""
    lines = ["# Python", "", "`import unjudged as uj`. Every measure is an attribute, too: `uj.nDCG @ 10`.", ""]
    for name in unjudged.__all__:
        thing = getattr(unjudged, name)
        if name == "__version__":
            continue
        lines += [f"## uj.{name}", ""]
        if not getattr(thing, "__module__", "").startswith("unjudged"):  # another name of a type
            lines += [f"`{str(thing).replace('typing.', '')}`: one value for each (run, topic) cell, runs first.", ""]
            continue
        lines += ["```python", f"{name}{_signature(thing)}", "```", "", inspect.getdoc(thing) or "", ""]
        if inspect.isclass(thing) and not issubclass(thing, BaseException):
            lines += list(_members(thing))
    lines += [
        "## unjudged.adapters",
        "",
        "Doors to ir_measures, PyTerrier, ranx ([examples](../coming-from.md)).",
        "",
    ]
    for name in adapters.__all__:
        thing = getattr(adapters, name)
        lines += ["```python", f"{name}{_signature(thing)}", "```", "", inspect.getdoc(thing) or "", ""]
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """Path -> text of every generated page."""
    return {
        **measures(),
        **command_line(),
        "reference/findings.md": findings(),
        "reference/studies.md": studies(),
        "reference/questions.md": questions(),
        "reference/words.md": words(),
        "reference/python.md": python(),
        "changelog.md": (Path(__file__).parent.parent.parent / "CHANGELOG.md").read_text("utf-8"),
        "contributing.md": (Path(__file__).parent.parent.parent / "CONTRIBUTING.md").read_text("utf-8"),
    }


def _filled(entry: Any, made: list[str]) -> Any:
    """A navigation entry in which a folder of generated pages stands for its pages."""
    if isinstance(entry, list):
        return [_filled(part, made) for part in entry]
    if isinstance(entry, dict):
        return {title: _filled(part, made) for title, part in entry.items()}
    inside = [path for path in made if path.startswith(f"{entry}/")]
    return inside or entry


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """mkdocs' hook: the navigation with the generated pages."""
    config.nav = _filled(config.nav, list(pages()))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """mkdocs' hook: add the generated pages."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files
