"""The command line: one module per verb, loaded only when that verb is called.

A verb module has HELP (one line), `add_arguments(parser)` and `run(args) -> exit code`; USUAL are the options its
usage line names. A verb with parts
(`pool describe`) has HELP and PARTS instead: a mapping of names to objects of the same shape.
Exit codes: 0 done; 1 done, with findings; 2 misuse or unusable input (one message); 3 cannot tell (`ci`);
130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys

from unjudged.errors import UnjudgedError, nearest, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from unjudged.cli.parser import Parser

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # our products are small; starting threads costs more than it gives

GROUPS = {
    "Start here": ("report", "score", "compare", "check", "demo"),
    "Decide": ("next", "ci", "estimate", "correct", "judge", "judges", "serve"),
    "Study": ("study", "paper", "simulate"),
    "Tools": ("pool", "qrels", "doctor", "trec_eval", "explain", "completion", "manual"),
}
"""The verbs by what they are for, the most needed first."""
VERBS = tuple(verb for verbs in GROUPS.values() for verb in verbs)
QUICK = ("trec_eval", "explain", "completion", "manual")
"""Verbs without a line of progress: they print at once, or only what trec_eval prints."""


def _module(verb: str) -> Any:
    import importlib

    return importlib.import_module(f"unjudged.cli.{verb}")


def _overview() -> str:
    lines = [
        "usage: unjudged VERB ...",
        "",
        "How far can you trust your scores when judgments are missing or biased?",
        "",
    ]
    lines += [
        "  unjudged report qrels.txt runs/ -o trust.html --open    the whole answer as one page",
        "  unjudged compare qrels.txt new.run old.run              which run is better",
    ]
    for group, verbs in GROUPS.items():
        lines += ["", group, *(f"  {verb:<10} {_module(verb).HELP}" for verb in verbs)]
    lines += ["", "'unjudged VERB --help' shows options and examples, 'unjudged explain WORD' any word you see;"]
    lines += ["'unjudged --version' names the kernels in use."]
    return "\n".join(lines)


def _version() -> str:
    from unjudged import __version__
    from unjudged.kernels import IN_USE

    return f"unjudged {__version__} ({IN_USE} kernels)"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; returns the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    ended: list[int] = []
    if argv is None:
        import atexit

        gc.disable()  # a short task with many small objects and few cycles
        if sys.stdout is not None:
            sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr] # a locale without these letters
        atexit.register(_leave, ended)  # first here, so last in the end: after processes and semaphores are put away

    def task() -> int:
        with _progress(given):
            code = _one_run(given)
            if code is None:
                return _dispatch(given)
        if argv is None:
            os._exit(code)  # all is written; taking the interpreter apart would take a tenth of the time
        return code

    code = refusing(task, "--workdir" in given)
    if argv is None:
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said; there is nothing left to interrupt
        if code == 130:
            ended.append(code)
            _hush()
    return code


def _say(sentence: str) -> None:
    """The last sentence, on standard error; where that is full, too, nobody hears it."""
    try:
        print(sentence, file=sys.stderr, flush=True)
    except OSError:
        _hush()


def _hush() -> None:
    """All is said: a pool that was broken off while it was put away would add Python's complaints."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except OSError:
        pass
    sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - until the end


def _leave(ended: list[int]) -> None:
    """The last act of an interrupted program: Python would end by the signal where it came within an exec()."""
    if ended:
        if sys.stderr is not None:
            sys.stderr.flush()
        os._exit(ended[0])


def refusing(task: Callable[[], int], kept_work: bool = False) -> int:
    """Its exit code; what is wrong with the input becomes one sentence and exit code 2."""
    if sys.stderr is None:  # closed by the caller: nobody wants to hear
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - pathlib takes long to import
    if sys.stdout is None:
        print("unjudged: standard output is closed", file=sys.stderr)
        return 2
    try:
        code = task()
        sys.stdout.flush()
        return code
    except UnjudgedError as problem:
        _say(f"unjudged: {one_line(str(problem))}")
        return 2
    except KeyboardInterrupt:
        return _interrupted(kept_work)
    except BrokenPipeError:
        _nowhere()
        return 0
    except OSError as problem:  # the system refuses a file, wherever that happens
        where = f"{problem.filename}: " if problem.filename else ""
        _say(f"unjudged: {one_line(f'{where}{problem.strerror or problem}')}")
        try:
            sys.stdout.flush()
        except OSError:  # it was standard output itself, a full disk
            _nowhere()
        return 2
    except MemoryError:
        _say("unjudged: not enough memory")
        return 2
    except Exception as problem:
        inner: BaseException | None = problem
        while inner is not None:  # Python wraps an interrupt that comes while a class is made
            if isinstance(inner, KeyboardInterrupt):
                return _interrupted(kept_work)
            inner = inner.__cause__ or inner.__context__
        raise


def _nowhere() -> None:
    """Standard output leads nowhere from here on: Python would try again, when it ends, to write what is left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted(kept_work: bool) -> int:
    kept = "; the same command continues with what is kept in the --workdir" if kept_work else ""
    _say(f"unjudged: interrupted{kept}")
    return 130


class _NoLine:
    """No line of progress; contextlib has the same, but takes longer to load than a small run to score."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *problem: object) -> None:
        return None


def _progress(given: list[str]) -> AbstractContextManager[object]:
    """The line of progress, on a terminal and for verbs that may take a moment."""
    if given[:1] == [] or given[0] not in VERBS or given[0] in QUICK or not (sys.stderr and sys.stderr.isatty()):
        return _NoLine()
    from unjudged.cli import progress

    return progress.begun(given[0])


def _one_run(given: list[str]) -> int | None:
    """The exit code where a run and classical measures are all that is asked for; None where more is."""
    if given[:1] not in (["trec_eval"], ["score"]):
        return None
    from unjudged.cli import one_run

    return one_run.trec_eval(given[1:]) if given[0] == "trec_eval" else one_run.score(given[1:])


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
        if os.path.exists(verb):  # noqa: PTH110 - pathlib takes long to import
            import shlex

            meant = f" (a verb comes before the files: unjudged score {shlex.join(given)})"
        print(f"unjudged: unknown verb {verb!r}{meant}; there are {', '.join(VERBS)}", file=sys.stderr)
        return 2
    module = _module(verb)
    if hasattr(module, "main"):  # verbs with a flag language of their own
        return int(module.main(given[1:]))
    name, rest = f"unjudged {verb}", given[1:]
    if hasattr(module, "PARTS"):
        if not rest or rest[0] in ("-h", "--help"):
            from unjudged.cli.width import refilled

            print(refilled(_parts(verb, module)))
            return 0 if rest else 2
        part = rest[0]
        if part not in module.PARTS:
            there = ", ".join(module.PARTS)
            kind = verb if verb in ("study", "paper") else "part"
            print(f"{name}: unknown {kind} {part!r}{nearest(part, module.PARTS)}; there are {there}", file=sys.stderr)
            return 2
        module = module.PARTS[part]
        name, rest = f"{name} {part}", rest[1:]
    import shlex

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
    import argparse

    from unjudged.cli.parser import Parser, with_examples_apart

    said, examples = with_examples_apart(module.__doc__ or "")
    parser = Parser(name, description=said, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    module.add_arguments(parser)
    parser.most_needed_first(getattr(module, "USUAL", ()))
    parser.epilog = "\n\n".join(filter(None, [parser.epilog, examples])) or None
    return parser


def commands() -> Iterator[tuple[str, str, Parser | None]]:
    """Every command there is: its words (`pool describe`), its line of help, its parser (if argparse reads it)."""
    for verb in VERBS:
        module = _module(verb)
        if not hasattr(module, "PARTS"):
            yield verb, module.HELP, None if hasattr(module, "main") else _parser(f"unjudged {verb}", module)
            continue
        for part, inside in module.PARTS.items():
            yield f"{verb} {part}", inside.HELP, _parser(f"unjudged {verb} {part}", inside)


def _parts(verb: str, module: Any) -> str:
    lines = [f"usage: unjudged {verb} PART ...", "", (module.__doc__ or "").strip(), ""]
    lines += [f"  {name:<15} {part.HELP}" for name, part in module.PARTS.items()]
    return "\n".join([*lines, "", f"'unjudged {verb} PART --help' explains a part."])
