"""`explain`: what a measure, a set of measures, a finding of `check`, a study, or any word of an output means."""

from __future__ import annotations

import inspect
import re
import textwrap
from html import escape

from unjudged.collection import Judgments
from unjudged.errors import MeasureError, UsageError, nearest
from unjudged.glossary import GLOSSARY, headings, meaning
from unjudged.io.dicts import qrels_from_dict
from unjudged.measures import REGISTRY, Measure

WIDTH = 100


class Explanation(str):
    """A text that a notebook and a prompt show as it is."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre style='white-space: pre-wrap'>{escape(self)}</pre>"


def overview() -> str:
    """Everything that can be explained, a line each."""
    from unjudged.io.check.findings import CODES
    from unjudged.measures import NAMED, REGISTRY

    families: dict[str, list[str]] = {}
    for name, measure in REGISTRY.items():
        families.setdefault(measure.definition.family, []).append(f"  {name:<20} {measure.definition.summary}")
    lines = [line for family, rows in families.items() for line in [family, *rows, ""]]
    lines += ["sets", *(f"  {name:<20} {len(inside)} measures" for name, inside in NAMED.items()), ""]
    lines += ["findings of check", *(f"  {code:<20} {finding.title}" for code, finding in CODES.items()), ""]
    lines += ["words", *(f"  {word:<20} {said}" for word, said in headings())]
    return "\n".join(lines) + "\n"


def explain(name: str) -> Explanation:
    """What a name means: a measure (`nDCG@10`), a set, a finding (`UJ102`), a study, an option (`--margin`), or any
    word or column of an output (`tau`, `p_adjusted`)."""
    from unjudged.io.check import findings
    from unjudged.measures import NAMED, parse, registered

    name = name.strip()
    if name in NAMED:
        inside = ", ".join(str(m) for m in parse(name))
        return Explanation(f"{name}: a set of measures\n\n{_filled(inside)}\n")
    if parts := [known for known in NAMED if known.startswith(f"{name}-")]:
        return Explanation("\n".join(explain(part) for part in parts))
    if re.fullmatch(r"[Uu][Jj]\d+", name):
        code = name.upper()
        if code not in findings.CODES:
            raise UsageError(f"no finding is called {code}{nearest(code, findings.CODES)}")
        return Explanation(findings.explain(code))
    if name.startswith("-"):
        return Explanation(_option(name))
    found = [_measure(name)] if registered(name) else []
    if (said := meaning(name)) and not (found and name not in GLOSSARY):
        found.append(f"{name}\n\n{_filled(said)}\n")
    found += _study(name)
    if not found:
        try:
            found.append(_measure(name))
        except MeasureError as problem:
            if near := nearest(name, (*GLOSSARY, *REGISTRY)):
                raise UsageError(f"{name!r} is not known{near}; 'unjudged explain --list' shows all") from None
            raise UsageError(str(problem)) from None
    return Explanation("\n".join(found))


def _study(name: str) -> list[str]:
    """A study, or a question of the report, in the words of its help."""
    from unjudged.studies import QUESTIONS, find, known

    if name not in known() and name not in QUESTIONS:
        return []
    asked = name if name in known() else QUESTIONS[name].study
    if asked not in known():  # what to do next is made of all the others
        return [f"{name}: {QUESTIONS[name].text}\n\n  Asked by: unjudged report\n"]
    question, *more = (inspect.getdoc(find(asked).function) or "").split("\n\n")
    lines = [f"{name}: a study. {QUESTIONS[name].text if name in QUESTIONS else question}", ""]
    lines += [line for paragraph in more[:1] for line in (_filled(" ".join(paragraph.split())), "")]
    return ["\n".join([*lines, f"  Do it: unjudged study {name} QRELS RUN...", ""])]


def _option(name: str) -> str:
    """An option by its spelling, and what it means in single commands where that differs."""
    from unjudged.options import OPTIONS

    found = {key: option for key, option in OPTIONS.items() if name in option.spellings and option.help}
    if not found:
        known = dict.fromkeys(spelling for option in OPTIONS.values() for spelling in option.spellings)
        raise UsageError(f"no option is called {name}{nearest(name, known)}")
    lines = [name, ""]
    for text in dict.fromkeys(option.explained for option in found.values()):
        inside = [key.rpartition(".")[0] for key, option in found.items() if option.explained == text]
        where = f" ({', '.join(inside)})" if "" not in inside else ""
        lines.append(_filled(f"{text}{where}"))
    return "\n".join([*lines, ""])


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False, initial_indent="  ", subsequent_indent="  ")


EXAMPLE = (2, None, 0, 3, None, 1, 0, 0, 2, None)
"""Grades of a ranked list, None where a document was not judged ..."""
MISSED = {0: 9, 1: 3, 2: 1, 3: 1}
"""... and how many documents of each grade were judged but not retrieved."""


def _example(measure: Measure) -> list[str]:
    """Its value on a small list, computed now."""
    from unjudged.collection import join_hits
    from unjudged.io.dicts import run_from_dict
    from unjudged.io.trec import Reading

    run = {f"d{rank:02}": 10.0 - rank for rank in range(len(EXAMPLE))}
    judged = {f"d{rank:02}": grade for rank, grade in enumerate(EXAMPLE) if grade is not None}
    judged |= {f"m{grade}{i}": grade for grade, many in MISSED.items() for i in range(many)}
    judgments = Judgments.of(qrels_from_dict({"1": judged}))
    hits = join_hits(judgments, [run_from_dict({"1": run}, "run", judgments.index, judgments.topics, Reading())])
    cutoff = {"k": 5, "recall": 0.2}.get(measure.definition.cutoff)
    needs = any(p.required and measure.params[p.name] is None for p in measure.definition.parameters.values())
    complete = measure @ cutoff if needs and cutoff is not None else measure
    value = float(complete.cells(hits)[0])
    shown = " ".join("-" if grade is None else str(grade) for grade in EXAMPLE)
    return [
        f"  example: grades {shown} (- unjudged), judged but not retrieved: "
        + ", ".join(f"{many} of grade {grade}" for grade, many in MISSED.items()),
        f"           {complete} = {value:.4f}",
    ]


def _measure(name: str) -> str:
    from unjudged.measures import CITATIONS, parse, registered

    measure = registered(name) or parse(name)[0]
    definition = measure.definition
    body = (inspect.getdoc(definition.function) or "").split("\n\n")
    lines = [f"{measure}  ({definition.family})", ""]
    for paragraph in body:
        lines += [_filled(" ".join(paragraph.split())), ""]
    if definition.parameters:
        lines.append("  parameters:")
        for p in definition.parameters.values():
            default = "needed" if p.required else f"default {p.default!r}"
            choices = f", one of {', '.join(map(repr, p.choices))}" if p.choices else ""
            mark = " (written @)" if p.name == definition.cutoff else ""
            lines.append(f"    {p.name}{mark}: {default}{choices}")
        lines.append("")
    if definition.condensed:
        unjudged = "removed before scoring (condensed list)"
    else:
        unjudged = f"count as nonrelevant; {measure.name}' removes them first"
    summary = {"sum": "summed over topics", "geometric": "geometric mean over topics"}.get(
        measure.mean, "mean over topics"
    )
    lines += [
        f"  unjudged documents: {unjudged}",
        f"  summary: {summary}; range: {'0 to 1' if definition.bounded else 'not limited to 0..1'}",
    ]
    lines += _example(measure)
    if definition.aliases:
        lines.append(f"  also accepted: {', '.join(definition.aliases)}")
    if definition.cite:
        lines.append(f"  see: {CITATIONS.get(definition.cite, definition.cite)}")
    return "\n".join(lines) + "\n"
