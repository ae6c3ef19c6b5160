"""The command line: one module per verb, loaded only when that verb is called.

A verb module has HELP (one line), `add_arguments(parser)` and `run(args) -> exit code`. A verb with parts
(`pool describe`) has HELP and PARTS instead: a mapping of names to objects of the same shape.
Exit codes: 0 done; 1 done, with findings; 2 misuse or unusable input (one message); 3 cannot tell (`ci`);
130 interrupted.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from unjudged.errors import UnjudgedError, nearest, one_line

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # our products are small; starting threads costs more than it gives

VERBS = (
    "score",
    "estimate",
    "next",
    "trec_eval",
    "compare",
    "check",
    "pool",
    "qrels",
    "judges",
    "correct",
    "explain",
    "report",
    "serve",
    "study",
    "paper",
    "simulate",
    "demo",
    "ci",
    "completion",
    "manual",
)


class Parser(argparse.ArgumentParser):
    """argparse that answers a mistake with one sentence, a suggestion and exit code 2."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}{self._meant(message)} ('{self.prog} --help' explains)", file=sys.stderr)
        raise SystemExit(2)

    def _meant(self, message: str) -> str:
        """What may have been meant by unknown arguments."""
        unknown = message.removeprefix("unrecognized arguments: ").split()
        if len(unknown) == len(message.split()):
            return ""
        if unknown[0].startswith("-"):
            return nearest(unknown[0], [flag for flag in self._option_string_actions if flag.startswith("--")])
        return " (measures are separated by commas: -m AP,nDCG@10)" if "-m" in self._option_string_actions else ""


def _overview() -> str:
    lines = ["usage: unjudged VERB ...", "", "Evaluation of retrieval runs when judgments are missing or biased.", ""]
    for verb in VERBS:
        lines.append(f"  {verb:<10} {importlib.import_module(f'unjudged.cli.{verb}').HELP}")
    lines += ["", "'unjudged VERB --help' explains a verb; 'unjudged --version' names the kernels in use."]
    return "\n".join(lines)


def _version() -> str:
    from unjudged import __version__
    from unjudged.kernels import IN_USE

    return f"unjudged {__version__} ({IN_USE} kernels)"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; returns the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    if argv is None:
        gc.disable()  # a short task with many small objects and few cycles
    try:
        code = _dispatch(given)
        sys.stdout.flush()
        return code
    except UnjudgedError as problem:
        print(f"unjudged: {one_line(str(problem))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        kept = "; the same command continues with what is kept in the --workdir" if "--workdir" in given else ""
        print(f"unjudged: interrupted{kept}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as problem:  # the system refuses a file, wherever that happens
        where = f"{problem.filename}: " if problem.filename else ""
        print(f"unjudged: {one_line(f'{where}{problem.strerror or problem}')}", file=sys.stderr)
        return 2
    except MemoryError:
        print("unjudged: not enough memory", file=sys.stderr)
        return 2


def _dispatch(given: list[str]) -> int:
    if not given or given[0] in ("-h", "--help", "help"):
        print(_overview())
        return 0 if given else 2
    if given[0] in ("-V", "--version"):
        print(_version())
        return 0
    verb = given[0]
    if verb not in VERBS:
        meant = nearest(verb, VERBS)
        if Path(verb).exists():
            meant = f" (a verb comes before the files: unjudged score {shlex.join(given)})"
        print(f"unjudged: unknown verb {verb!r}{meant}; there are {', '.join(VERBS)}", file=sys.stderr)
        return 2
    module = importlib.import_module(f"unjudged.cli.{verb}")
    if hasattr(module, "main"):  # verbs with a flag language of their own
        return int(module.main(given[1:]))
    name, rest = f"unjudged {verb}", given[1:]
    if hasattr(module, "PARTS"):
        if not rest or rest[0] in ("-h", "--help"):
            print(_parts(verb, module))
            return 0 if rest else 2
        part = rest[0]
        if part not in module.PARTS:
            there = ", ".join(module.PARTS)
            kind = verb if verb in ("study", "paper") else "part"
            print(f"{name}: unknown {kind} {part!r}{nearest(part, module.PARTS)}; there are {there}", file=sys.stderr)
            return 2
        module = module.PARTS[part]
        name, rest = f"{name} {part}", rest[1:]
    from unjudged.cli import options

    parser = _parser(name, module)
    try:
        args = parser.parse_args(rest)
    except SystemExit as stop:
        return int(stop.code or 0)
    options.check_values(parser, args)
    args.call = "unjudged " + shlex.join(given)
    return int(module.run(args))


def _parser(name: str, module: Any) -> Parser:
    parser = Parser(
        name, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    module.add_arguments(parser)
    return parser


def commands() -> Iterator[tuple[str, str, Parser | None]]:
    """Every command there is: its words (`pool describe`), its line of help, its parser (if argparse reads it)."""
    for verb in VERBS:
        module = importlib.import_module(f"unjudged.cli.{verb}")
        if not hasattr(module, "PARTS"):
            yield verb, module.HELP, None if hasattr(module, "main") else _parser(f"unjudged {verb}", module)
            continue
        for part, inside in module.PARTS.items():
            yield f"{verb} {part}", inside.HELP, _parser(f"unjudged {verb} {part}", inside)


def _parts(verb: str, module: Any) -> str:
    lines = [f"usage: unjudged {verb} PART ...", "", (module.__doc__ or "").strip(), ""]
    lines += [f"  {name:<15} {part.HELP}" for name, part in module.PARTS.items()]
    return "\n".join([*lines, "", f"'unjudged {verb} PART --help' explains a part."])
