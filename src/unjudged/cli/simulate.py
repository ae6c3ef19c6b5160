"""`unjudged simulate`: write a collection with known complete truth."""

from __future__ import annotations

import argparse
import sys
import textwrap

from unjudged.errors import UsageError
from unjudged.simulation import simulate
from unjudged.simulation.presets import PRESETS, QUIRKS, SCENARIOS, Parameters, parameter_help, parameter_names
from unjudged.simulation.summary import as_text

HELP = "write a collection with known complete truth: qrels, truth, runs, teams"

_SHORT = ("topics", "teams", "runs", "depth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Simulate topics, graded documents, teams with correlated runs and a pool, so that every estimate\n"
        "can be compared with the true value. The same seed gives the same runs and truth whatever pool and\n"
        "judge do. Writes qrels.txt (the pool's judgments), truth.txt (all), runs/, teams.tsv, pooled.tsv,\n"
        "families.tsv and simulation.json (parameters, what was drawn, true against observed)."
    )
    parser.epilog = _epilog()
    parser.add_argument("-o", "--output", metavar="DIR", required=True, help="folder to write to")
    parser.add_argument("--preset", choices=list(PRESETS), help="kind of collection (default adhoc)")
    parser.add_argument("--scenario", metavar="N", help="a numbered situation, 1 to 28 (23b, 26b: variants)")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="every number gives another collection (default 1)"
    )
    for name in _SHORT:
        parser.add_argument(f"--{name}", metavar="N", help=parameter_help(name))
    parser.add_argument("--leave-out", metavar="NAME", nargs="+", action="extend", help=parameter_help("leave_out"))
    parser.add_argument(
        "--quirk", metavar="NAME[,NAME...]", action="append", help=f"quirks of real data: {', '.join(QUIRKS)}"
    )
    parser.add_argument("--set", metavar="NAME=VALUE", nargs="+", action="extend", help="any parameter below, by name")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (files stay the same)")
    parser.add_argument("--force", action="store_true", help="write into a folder that holds other things")


def run(args: argparse.Namespace) -> int:
    """Simulate, write, and print true against observed."""
    changes: dict[str, object] = {}
    for setting in args.set or []:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--set needs NAME=VALUE, for example --set noise=0.1, not '{setting}'.")
        changes[name] = value
    for name in _SHORT:
        if getattr(args, name) is not None:
            changes[name] = getattr(args, name)
    if args.leave_out:
        changes["leave_out"] = ",".join(args.leave_out)
    if args.quirk:
        changes["quirk"] = ",".join(args.quirk)
    result = simulate(
        args.preset,
        scenario=args.scenario,
        seed=args.seed,
        out=args.output,
        jobs=args.jobs,
        force=args.force,
        **changes,
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
            f"{parameter_help(name)} ({values})",
            108,
            initial_indent=f"  {name:<14}",
            subsequent_indent=" " * 16,
        )
    lines += ["", "scenarios (adhoc with 60 runs of 20 teams, 3 pooled per team, unless a preset is named):"]
    lines += [f"  {number:<5}{scenario.title}" for number, scenario in SCENARIOS.items()]
    return "\n".join(lines)


def _shown(p: Parameters, name: str) -> str:
    value = getattr(p, name)
    if isinstance(value, tuple):
        return " ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in value) or "-"
    return "all" if value is None else f"{value:g}"
