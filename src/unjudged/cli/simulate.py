"""Simulate topics, graded documents, teams with correlated runs and a pool, so that every estimate
can be compared with the true value. The same seed gives the same runs and truth whatever pool and
judge do. Writes qrels.txt (the pool's judgments), truth.txt (all), runs/, teams.tsv, pooled.tsv,
families.tsv and simulation.json (parameters, what was drawn, true against observed).
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from typing import Any

from unjudged.cli import options
from unjudged.simulation import simulate
from unjudged.simulation.presets import (
    LATENT_PRESETS,
    PRESETS,
    SCENARIOS,
    LatentParameters,
    Sizes,
    parameter_help,
    parameter_names,
)
from unjudged.simulation.summary import as_text

HELP = "write a collection with known complete truth: qrels, truth, runs, teams"
USUAL = ("-o", "--preset", "--seed")

_SHORT = ("topics", "teams", "runs", "depth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.epilog = _epilog()
    options.add(parser, "output", "scenario", "mechanism", "seed", "jobs", "force", "set", command="simulate")
    options.add(parser, "preset", choices=tuple(PRESETS))
    for name in (*_SHORT, "leave_out", "quirk"):
        options.add(parser, name, command="simulate", help=parameter_help(name))


def run(args: argparse.Namespace) -> int:
    """Simulate, write, and print true against observed."""
    changes: dict[str, Any] = dict(args.set)
    changes |= {name: value for name, value in options.keywords(args, *_SHORT).items() if value is not None}
    if args.leave_out:
        changes["leave_out"] = ",".join(args.leave_out)
    if args.quirk:
        changes["quirk"] = ",".join(args.quirk)
    result = simulate(
        **options.keywords(args, "preset", "scenario", "mechanism", "seed", "jobs", "force"), out=args.output, **changes
    )
    p = result.parameters
    print(
        f"wrote {args.output}: {len(result.runs.names)} runs of {p.teams} teams, {p.topics} topics, "
        f"{sum(len(topic.judged) for topic in result.results)} judgments",
        file=sys.stderr,
    )
    print(as_text(result.summary))
    return 0


def _epilog() -> str:
    """All parameters with their values in the presets, and all scenarios."""
    lines = ["parameters, with their values in " + ", ".join(PRESETS) + ":"]
    for name in parameter_names():
        values = ", ".join(_shown(p, name) for p in PRESETS.values())
        lines += textwrap.wrap(
            f"{parameter_help(name)} ({values})", 108, initial_indent=f"  {name:<14}", subsequent_indent=" " * 16
        )
    lines += ["", "parameters of the mechanism latent, with their values in " + ", ".join(LATENT_PRESETS) + ":"]
    for name in parameter_names(LatentParameters):
        values = ", ".join(_shown(p, name) for p in LATENT_PRESETS.values())
        told = f"{parameter_help(name, LatentParameters)} ({values})"
        lines += textwrap.wrap(told, 108, initial_indent=f"  {name:<14}", subsequent_indent=" " * 16)
    lines += ["", "scenarios (adhoc with 60 runs of 20 teams, 3 pooled per team, unless a preset is named):"]
    lines += [f"  {number:<5}{scenario.title}" for number, scenario in SCENARIOS.items()]
    return "\n".join(lines)


def _shown(p: Sizes, name: str) -> str:
    value = getattr(p, name)
    if isinstance(value, tuple):
        return " ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in value) or "-"
    return "all" if value is None else f"{value:g}"
