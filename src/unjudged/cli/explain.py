"""Explain a measure, a set of measures, or a finding of `check`.

unjudged explain nDCG@10
unjudged explain UJ102
unjudged explain --list
"""

from __future__ import annotations

import argparse
import inspect
import re
import textwrap

from unjudged.cli import options
from unjudged.collection import Judgments
from unjudged.errors import UsageError, nearest
from unjudged.io.dicts import qrels_from_dict
from unjudged.measures import Measure

HELP = "what a measure or finding means; --list shows all"

WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    options.add(parser, "names", "list", command="explain")


def run(args: argparse.Namespace) -> int:
    """Print the explanations asked for."""
    if not args.names and not args.list:
        raise UsageError("name a measure or a finding, or use --list")
    texts = [_overview()] if args.list else []
    texts += [explain(name) for name in args.names]
    options.write_output("\n".join(texts), None)
    return 0


def _overview() -> str:
    from unjudged.io.check.findings import CODES
    from unjudged.measures import NAMED, REGISTRY

    families: dict[str, list[str]] = {}
    for name, measure in REGISTRY.items():
        families.setdefault(measure.definition.family, []).append(f"  {name:<20} {measure.definition.summary}")
    lines = [line for family, rows in families.items() for line in [family, *rows, ""]]
    lines += ["sets", *(f"  {name:<20} {len(inside)} measures" for name, inside in NAMED.items()), ""]
    lines += ["findings of check", *(f"  {code:<20} {finding.title}" for code, finding in CODES.items())]
    return "\n".join(lines) + "\n"


def explain(name: str) -> str:
    """A paragraph or two about one name."""
    from unjudged.io.check import findings
    from unjudged.measures import NAMED, parse
    from unjudged.studies import known as studies

    if name in NAMED:
        inside = ", ".join(str(m) for m in parse(name))
        return f"{name}: a set of measures\n\n{_filled(inside)}\n"
    if parts := [known for known in NAMED if known.startswith(f"{name}-")]:
        return "\n".join(explain(part) for part in parts)
    if re.fullmatch(r"[Uu][Jj]\d+", name):
        code = name.upper()
        if code not in findings.CODES:
            raise UsageError(f"no finding is called {code}{nearest(code, findings.CODES)}")
        return findings.explain(code)
    if name in studies():
        raise UsageError(f"{name} is a study; 'unjudged study {name} --help' explains it")
    return _measure(name)


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
