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
from unjudged.errors import UsageError, nearest

HELP = "what a measure or finding means; --list shows all"

WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The verb's arguments."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="a measure, a set, or a code such as UJ102")
    parser.add_argument("--list", action="store_true", help="all measures by family, sets and codes")


def run(args: argparse.Namespace) -> int:
    """Print the explanations asked for."""
    if not args.names and not args.list:
        raise UsageError("name a measure or a finding, or use --list")
    texts = [_overview()] if args.list else []
    texts += [explain(name) for name in args.names]
    options.write_output("\n".join(texts), None)
    return 0


def _overview() -> str:
    from unjudged.io.findings import CODES
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
    from unjudged.io import findings
    from unjudged.measures import NAMED, parse

    if name in NAMED:
        inside = ", ".join(str(m) for m in parse(name))
        return f"{name}: a set of measures\n\n{textwrap.fill(inside, WIDTH, initial_indent='  ', subsequent_indent='  ')}\n"
    if re.fullmatch(r"[Uu][Jj]\d+", name):
        code = name.upper()
        if code not in findings.CODES:
            raise UsageError(f"no finding is called {code}{nearest(code, findings.CODES)}")
        return findings.explain(code)
    return _measure(name)


def _measure(name: str) -> str:
    from unjudged.measures import CITATIONS, parse, registered

    measure = registered(name) or parse(name)[0]
    definition = measure.definition
    body = (inspect.getdoc(definition.function) or "").split("\n\n")
    lines = [f"{measure}  ({definition.family})", ""]
    for paragraph in body:
        lines += [textwrap.fill(" ".join(paragraph.split()), WIDTH, break_on_hyphens=False, initial_indent="  ", subsequent_indent="  "), ""]
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
    if definition.aliases:
        lines.append(f"  also accepted: {', '.join(definition.aliases)}")
    if definition.cite:
        lines.append(f"  see: {CITATIONS.get(definition.cite, definition.cite)}")
    return "\n".join(lines) + "\n"
