"""What verbs share: options on a parser, collections opened, results written; whole or not at all.

Options are declared in `unjudged.options`; here they become arguments of argparse.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from unjudged.cli import progress
from unjudged.errors import UsageError, nearest, one_line
from unjudged.options import OPTIONS, Option, default, option
from unjudged.results import FORMATS, SAFE_CSV
from unjudged.text import folded

if TYPE_CHECKING:
    from unjudged.collection import Collection
    from unjudged.collection.manifest import Collections
    from unjudged.results import Result
    from unjudged.scoring import Scores

READING = (
    *("teams", "ties", "truncate", "lenient", "strict", "gains", "negative", "qrels_format", "qa", "same_answer"),
    *("units", "tokens", "lengths", "only", "residual", "jobs"),
)
POOL = ("depth", "pooled", "tolerance")
SCORING = ("rel", "unjudged", "topics", "undefined")
OF_JUDGES = ("judge_rel", "judge_scale", "families")
TESTING = ("test", "alpha", "resamples", "seed")
WORK = ("workdir", "cluster")
ARRANGING = ("sort", "rows", "digits")
LAID_OUT = ("text", "markdown", "latex")
"""Formats that are read, not processed."""

Argument = str | tuple[str, tuple[str, ...]]
"""The name of an option, or a heading and the options under it."""

COLLECTION: tuple[Argument, ...] = ("qrels", "runs", ("reading", READING))
"""QRELS, RUN... and how to read them."""
COLLECTIONS: tuple[Argument, ...] = ("qrels", "runs", "collections", "collection", ("reading", READING))
"""The same, or a manifest of several collections."""
IN_POOL: Argument = ("pool", POOL)

ANSWER_WITHIN = "10s"
"""How long a Dask scheduler may take to answer."""


# -- options on a parser


class Once(argparse.Action):
    """Stores a value; another one for the same option is a contradiction."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, flag: str | None = None
    ) -> None:
        """Keep the value, unless another one was given before."""
        if flag is not None and flag in (said := namespace.__dict__.setdefault("said", {})) and said[flag] != values:
            raise argparse.ArgumentError(self, f"given twice, with different values: {said[flag]} and {values}")
        if flag is not None:
            said.update(dict.fromkeys(self.option_strings, values))
        setattr(namespace, self.dest, values)


def put(into: argparse._ActionsContainer, declared: Option, *, studied: bool = False) -> None:
    """One option on a parser or a group of it. `studied`: a study fills in the default, here it is None."""
    wanted: dict[str, Any] = {"help": declared.explained.replace("%", "%%")}
    if declared.spellings:
        wanted |= {"dest": declared.argument, "required": declared.required}
    if declared.flag:
        action = into.add_argument(*declared.spellings, action="store_true", **wanted)
    else:
        kind: Any = ("extend" if declared.nargs else "append") if declared.repeats else Once
        stored = None if studied else declared.default
        if declared.repeats:  # argparse would add to the default
            stored = [] if stored == () else None
        wanted |= {"action": kind, "type": _typed(declared), "nargs": declared.nargs}
        if declared.spellings or declared.nargs == "*":  # argparse calls `*` required where it has no default
            wanted["default"] = stored if declared.spellings else []
        wanted |= {"choices": declared.choices} if declared.choices else {"metavar": declared.metavar}
        action = into.add_argument(*(declared.spellings or [declared.argument]), **wanted)
    action.declared = declared  # type: ignore[attr-defined]


def add(into: argparse._ActionsContainer, *names: str, command: str = "", **changes: Any) -> None:
    """These options on a parser or a group, as they are meant in the command."""
    for name in names:
        put(into, dataclasses.replace(option(name, command), **changes))


def group(parser: argparse.ArgumentParser, title: str, *names: str, command: str = "") -> None:
    """The same under a heading of their own."""
    add(parser.add_argument_group(title), *names, command=command)


def _typed(declared: Option) -> Any:
    """The option's parser; argparse shows its complaint with the option's name."""

    def read(text: str) -> Any:
        try:
            return declared.parse(text)
        except UsageError as problem:
            raise argparse.ArgumentTypeError(str(problem)) from None

    return read


def check_values(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """A UsageError for values that mean nothing, before anything is read."""
    if getattr(args, "safe_csv", False):
        if args.format != "csv":
            raise UsageError("--safe-csv belongs to --format csv")
        args.format = SAFE_CSV
    _take_budget_of_measures(args)
    for action in parser._actions:
        declared: Option | None = getattr(action, "declared", None)
        value = getattr(args, action.dest, None)
        if declared is not None and declared.check is not None and value is not None:
            declared.check(value)
        if declared is not None and action.option_strings and value == "" and declared.metavar[:3] in ("FIL", "DIR"):
            raise UsageError(f"{action.option_strings[0]} needs the name of a file")


def _take_budget_of_measures(args: argparse.Namespace) -> None:
    """`-m recall@2000tokens` is `-m R --tokens 2000`, wherever lists can be cut at tokens."""
    if not hasattr(args, "tokens") or not any("tok" in text.lower() for text in getattr(args, "measures", None) or ()):
        return
    from unjudged.measures import split_list
    from unjudged.measures.token_budgets import budget_of

    asked = [part for text in args.measures for part in split_list(text)]
    args.measures, args.tokens = budget_of(asked, args.tokens)
    if args.tokens is not None and args.lengths is None:
        raise UsageError(
            f"a cut-off of {args.tokens} tokens needs the lengths of the chunks: --lengths FILE, a TSV id<TAB>tokens"
        )


def keywords(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """These options as keyword arguments."""
    return {name: getattr(args, name) for name in names}


def add_all(parser: argparse.ArgumentParser, command: str, *arguments: Argument) -> None:
    """These options, in this order, some of them under headings."""
    for argument in arguments:
        if isinstance(argument, str):
            add(parser, argument, command=command)
        else:
            group(parser, argument[0], *argument[1], command=command)


def pool_keywords(args: argparse.Namespace) -> dict[str, Any]:
    """The options of the group `pool` as keyword arguments, with the names of the pooled runs read from their file."""
    from unjudged.collection.pool import read_pooled

    return {**keywords(args, *POOL), "pooled": None if args.pooled is None else read_pooled(args.pooled)}


def measures_asked(args: argparse.Namespace, command: str) -> Sequence[str]:
    """The measures, or those of the command where none are given; a misspelt one is refused before anything is read."""
    from unjudged.measures import measures

    wanted: Sequence[str] = args.measures or default("measures", command)
    measures(wanted)
    return wanted


def add_output(
    parser: argparse.ArgumentParser,
    command: str,
    charts: Sequence[str] | None = None,
    formats: tuple[str, ...] = FORMATS,
    arranging: Sequence[str] = (),
) -> None:
    """--format and -o; and --figure, where the result has charts (of these names, where they are known).

    `arranging`: which of --sort, --top and --digits there are.
    """
    output = parser.add_argument_group("output")
    add(output, *arranging, command=command)
    add(output, "format", command=command, choices=formats)
    add(output, "output", command=command)
    if "csv" in formats:
        add(output, "safe_csv", command=command)
    if charts is not None:
        named = f"; NAME is {', '.join(charts[:-1])} or {charts[-1]}" if len(charts) > 1 else ""
        add(output, "figure", help=OPTIONS["figure"].help + named)


class Part:
    """A part of a verb (`qrels reduce`): like the module of a verb, it has HELP, `add_arguments` and `run`.

    The docstring of its function is the help. With `formats` it has --format and -o, with `charts` --figure.
    """

    def __init__(
        self,
        command: str,
        run: Callable[[argparse.Namespace], None],
        help: str,
        arguments: tuple[Argument, ...],
        formats: tuple[str, ...] = (),
        epilog: Callable[[], str] = str,
        charts: tuple[str, ...] = (),
    ) -> None:
        self.HELP, self.__doc__ = help, inspect.getdoc(run)
        self._command, self._run, self._epilog = command, run, epilog
        self._arguments, self._formats, self._charts = arguments, formats, charts

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """The part's arguments."""
        parser.epilog = self._epilog() or None
        add_all(parser, self._command, *self._arguments)
        if self._formats:
            add_output(parser, self._command, list(self._charts) or None, formats=self._formats)

    def run(self, args: argparse.Namespace) -> int:
        """Do it; exit code 0, since it came to its end."""
        self._run(args)
        return 0


# -- collections


def open_collection(
    args: argparse.Namespace, need_runs: bool = True, lists: bool = True, texts: Mapping[str, str] | None = None
) -> Collection:
    """The collection the arguments name; notes go to stderr. Without `lists`, streams are not kept. `texts` of topics
    are wanted where the judgments may name topics so."""
    from unjudged.collection.load import chunk_lengths, read_collection
    from unjudged.io.trec import Reading

    if [args.qrels, *args.runs].count("-") > 1:
        raise UsageError("standard input can be used once")
    refuse_unwritable_output(args)
    _refuse_measures(args.runs)
    progress.tell("reading the judgments and the runs" if args.runs else "reading the judgments")
    collection = read_collection(
        args.qrels,
        args.runs,
        Reading(
            **keywords(args, "ties", "truncate", "lenient", "strict", "same_answer", "units", "tokens"),
            lengths=chunk_lengths(args.lengths),
        ),
        **keywords(args, "teams", "gains", "only", "negative", "qrels_format", "qa", "jobs", "lengths"),
        need_runs=need_runs,
        lists=lists or args.residual is not None,
        texts=texts,
    )
    if args.residual is not None:
        from unjudged.changes.residual import residual

        collection = residual(collection, args.residual)
    print_notes(collection.notes)
    progress.tell()
    return collection


def _refuse_measures(runs: Sequence[str]) -> None:
    """A measure given where runs stand: the -m before it was forgotten."""
    for run in runs:
        if run == "-" or not _absent(run):
            continue
        from unjudged.measures import measures

        try:
            measures(run)
        except UsageError:
            continue
        raise UsageError(f"{run} is a measure, not a run: write -m {run}")


def _absent(path: str) -> bool:
    """There is nothing of this name; what may only not be looked at is there."""
    try:
        os.stat(path)  # noqa: PTH116 - pathlib takes long to import
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


def refuse_unwritable_output(args: argparse.Namespace) -> None:
    """A file that cannot be written is told before the work, not after it."""
    from pathlib import Path

    from unjudged.io.write import refuse_unwritable

    output, junit = getattr(args, "output", None), getattr(args, "junit", None)
    if output not in (None, "-") and not Path(output).is_dir():
        refuse_unwritable(output)
    if junit not in (None, "-"):
        refuse_unwritable(junit)


SCORE_TABLE: Argument = ("scores at hand", ("scores", "missing"))
"""Instead of a collection: a table of scores."""


def open_source(args: argparse.Namespace, measures: Any = None) -> Collection | Scores:
    """The score table of --scores, else the collection of QRELS RUN...; notes go to stderr."""
    if not args.scores:
        if args.qrels is None or not args.runs:
            missing = "QRELS and RUN" if args.qrels is None else "RUN"
            table = "FILE" if args.qrels is None else args.qrels
            raise UsageError(f"{missing} missing: give the judgments and the runs, or a score table (--scores {table})")
        return open_collection(args)
    from unjudged.score_tables import load_scores

    if args.qrels is not None:
        raise UsageError("give QRELS RUN... or --scores FILE, not both")
    for name in READING:
        if name not in ("only", "jobs") and getattr(args, name, None) not in (None, False, [], option(name).default):
            raise UsageError(f"{option(name).spellings[0]} needs judgments and runs, not a table of scores")
    found = load_scores(list(args.scores), measures, missing=args.missing, only=args.only, call=args.call)
    print_notes(found.notes)
    return found


def needs_collection(args: argparse.Namespace) -> None:
    """A UsageError where neither files nor a manifest are given, or --collection without one."""
    if args.collection:
        raise UsageError("--collection chooses from a manifest: give --collections FILE, too")
    if args.qrels is None or not args.runs:
        missing = "QRELS and RUN" if args.qrels is None else "RUN"
        raise UsageError(
            f"{missing} missing: give the judgments and the runs, a manifest (--collections FILE) or a score table "
            "(--scores FILE)"
        )


def described_by(args: argparse.Namespace) -> int:
    """How many collections a manifest describes (0 without one); its mistakes are told before anything is read."""
    from unjudged.collection.manifest import described

    return 0 if args.collections is None else len(described(args.collections, args.collection or None))


def open_manifest(args: argparse.Namespace) -> Collections:
    """The collections of a manifest; options of reading hold for those that do not say otherwise."""
    from unjudged.collection.manifest import READING as KEYS
    from unjudged.collection.manifest import read_manifest

    if args.qrels is not None:
        raise UsageError("give QRELS RUN... or --collections FILE, not both")
    if args.teams is not None:
        raise UsageError("--teams: with a manifest each collection names its own teams (teams = FILE)")
    if args.tokens is not None or args.lengths is not None:
        raise UsageError("--tokens and --lengths hold for one collection: give QRELS RUN... instead of a manifest")
    given = {key: value for key in KEYS if (value := getattr(args, key)) not in (None, False, default(key))}
    progress.tell("reading the collections")
    found, notes = read_manifest(args.collections, args.collection or None, jobs=args.jobs, **given)
    print_notes(notes)
    return found


def open_again(args: argparse.Namespace, qrels: str) -> Collection:
    """The same runs with other judgments, read in the same way."""
    return open_collection(argparse.Namespace(**{**vars(args), "qrels": qrels, "teams": None}))


def open_judgments_of(args: argparse.Namespace, qrels: str) -> Collection:
    """Judgments alone, read as the arguments say."""
    return open_collection(
        argparse.Namespace(**{**vars(args), "qrels": qrels, "runs": [], "teams": None}), need_runs=False
    )


def each_judge(args: argparse.Namespace, paths: Sequence[str], besides: str | None = None) -> list[str]:
    """Files of judgments; of one that holds several judges `FILE#JUDGE` for each, but for the one held against them."""
    from unjudged.changes.rejudge import each_judge

    return each_judge(paths, args.qrels_format, besides)


def open_other_judges(args: argparse.Namespace, paths: Sequence[str]) -> dict[str, Collection]:
    """Judgments of the same topics by others, by name, read as the first ones; notes go to stderr with the file."""
    if [args.qrels, *args.runs, *paths].count("-") > 1:
        raise UsageError("standard input can be used once")
    return _opened(args, each_judge(args, paths, besides=args.qrels))


def open_machine(args: argparse.Namespace) -> Collection:
    """Judgments of the one machine the arguments name, read as the human ones."""
    if [args.qrels, *args.runs, args.machine].count("-") > 1:
        raise UsageError("standard input can be used once")
    (machine,) = _opened(args, [args.machine]).values()
    return machine


def _opened(args: argparse.Namespace, paths: Sequence[str]) -> dict[str, Collection]:
    from unjudged.collection.load import read_collection
    from unjudged.io.trec import Reading
    from unjudged.judges.agreement import names_of

    names = names_of(paths)
    reading = Reading(lenient=args.lenient, strict=args.strict)
    asked = keywords(args, "only", "negative", "qrels_format")
    sets = [read_collection(path, [], reading, **asked, need_runs=False) for path in paths]
    told = [(path, note) for path, one in zip(paths, sets, strict=True) for note in one.notes]
    print_notes(note if note.startswith(f"{path}:") else f"{path}: {note}" for path, note in told)
    return dict(zip(names, sets, strict=True))


def open_judgments(args: argparse.Namespace) -> list[Collection]:
    """Each file of judgments as a collection without runs; notes go to stderr."""
    from unjudged.collection.load import read_collection
    from unjudged.io.trec import Reading

    if args.qrels.count("-") > 1:
        raise UsageError("standard input can be used once")
    refuse_unwritable_output(args)
    reading = Reading(lenient=args.lenient, strict=args.strict)
    sets = [
        read_collection(path, [], reading, only=args.only, qrels_format=args.qrels_format, need_runs=False)
        for path in args.qrels
    ]
    print_notes(note for one in sets for note in one.notes)
    return sets


@contextlib.contextmanager
def on_cluster(address: str | None) -> Iterator[Any]:
    """An executor on a Dask cluster; None without an address."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        raise UsageError("--cluster needs Dask: pip install 'unjudged[cluster]'") from None
    try:
        client: Any = Client(address, timeout=ANSWER_WITHIN)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as problem:
        raise UsageError(f"no Dask scheduler answers at {address} ({type(problem).__name__})") from None
    with client:
        yield client.get_executor()


# -- results


def print_notes(notes: Iterable[str]) -> None:
    """What the reader should know, one line each, on stderr."""
    from unjudged.cli import colour

    dim, width = colour.wanted(sys.stderr), _width_of_notes()
    for note in notes:
        said = f"note: {one_line(note)}"
        if width is not None:
            said = "\n".join(folded(said, width, later="      "))
        print(f"\033[2m{said}\033[0m" if dim else said, file=sys.stderr)


def _width_of_notes() -> int | None:
    """The width of the terminal notes go to; None where it is none."""
    if not sys.stderr.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def charts_asked(args: argparse.Namespace, names: Sequence[str]) -> list[tuple[str | None, str]]:
    """(name, file) of every --figure. They and -o are checked before the work: a misspelling is refused at once.

    `names` are the charts the result will have; empty where that is not known yet.
    """
    from pathlib import Path

    from unjudged.figures import ENDINGS
    from unjudged.io.write import refuse_unwritable

    found: list[tuple[str | None, str]] = []
    for text in args.figure:
        name, equals, path = text.partition("=")
        if not equals:
            name, path = "", text
        ending = Path(path).suffix.lower()
        if ending not in ENDINGS:
            raise UsageError(f"--figure {text}: a chart ends in {', '.join(ENDINGS)}{nearest(ending, ENDINGS)}")
        if name and names and name not in names:
            raise UsageError(f"--figure {text}: no chart {name!r}{nearest(name, names)}; there are {', '.join(names)}")
        found.append((name or None, path))
    for path in [*filter(None, [args.output]), *(path for _, path in found)]:
        if path != "-":
            refuse_unwritable(path)
    return found


def refuse_charts_of_slices(charts: Sequence[tuple[str | None, str]]) -> None:
    """Tables within slices have no chart."""
    if charts:
        raise UsageError("--slice has no chart")


def write_result(
    result: Result,
    args: argparse.Namespace,
    charts: Iterable[tuple[str | None, str]] = (),
    *,
    verdict: bool = False,
    first: Sequence[str] = (),
) -> None:
    """Notes to stderr, the table (with the verdict under it, in text) to stdout or -o, charts to their files.

    `first`: lines that stand over the table in text, with the verdict.
    """
    print_notes(result.notes)
    text = arranged(result, args).render(args.format)
    if verdict and args.format == "text" and result.verdict is not None:
        over = "".join(f"{line}\n" for line in first)
        text = f"{result.verdict}\n\n{over}\n{text}" if first else f"{text}\n{result.verdict}\n"
    write_text(text, args)
    for name, path in charts:
        result.plot(name).save(path)
        tell_written(path)


def arranged(result: Result, args: argparse.Namespace) -> Result:
    """The result as --sort, --top and --digits lay it out."""
    asked = {name: getattr(args, name, None) for name in ARRANGING}
    given = [option(name).spellings[0] for name, value in asked.items() if value is not None]
    if given and args.format not in LAID_OUT:
        raise UsageError(f"{' and '.join(given)} belong to --format {', '.join(LAID_OUT)}; other formats are complete")
    return result.arranged(**asked)


def write_text(text: str, args: argparse.Namespace) -> None:
    """A table with what is said about it: on a terminal in its colours and width; a file that was written is named."""
    from unjudged.cli import colour
    from unjudged.cli.width import fitted, terminal_width

    if args.output in (None, "-") and args.format == "text":
        wide = terminal_width()
        text = text if wide is None else fitted(text, wide)
        if colour.wanted():
            write_bytes(colour.painted(text).encode("utf-8", "surrogateescape"), None, painted=True)
            return
    write_output(text, args.output)
    tell_written(args.output)


def tell_written(path: str | None) -> None:
    """Name the file that was written, on stderr."""
    if path not in (None, "-"):
        print(f"wrote {one_line(path)}", file=sys.stderr)


def write_judgments(before: Collection, after: Collection, path: str | None) -> None:
    """The judgments of `after` as TREC text in the order they were read; what was done goes to stderr."""
    from unjudged.io.write import qrels_text, write_qrels

    if path is None or path == "-":
        write_bytes(qrels_text(after.judgments), None)
    else:
        write_qrels(after.judgments, path)
    steps = [line for step in after.history[len(before.history) :] for line in step.lines]
    print_notes(steps)
    print_notes(n for n in after.notes[len(before.notes) :] if not any(n.partition(": ")[2] in s for s in steps))


def write_output(text: str | Iterable[str], path: str | None) -> None:
    """Text, whole or in pieces, to stdout, or to a file that appears whole or not at all."""
    pieces = [text] if isinstance(text, str) else text
    write_bytes((piece.encode("utf-8", "surrogateescape") for piece in pieces), path)


def write_bytes(data: bytes | Iterable[bytes], path: str | None, *, painted: bool = False) -> None:
    """Bytes, whole or in pieces, to stdout, or to a file that appears whole or not at all.

    `painted`: the colours in it are ours; names that would hide other lines in the colour of the ground are none.
    """
    if path is None or path == "-":
        pieces = [data] if isinstance(data, bytes) else data
        if sys.stdout.isatty():
            pieces = (shown_safely(piece, painted) for piece in pieces)
        sys.stdout.flush()
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
        return
    from unjudged.io.write import write_whole

    write_whole(path, data)


_CONTROL = re.compile(rb"(\x1b\[[0-9;]*m)|[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")


def shown_safely(text: bytes, painted: bool = True) -> bytes:
    """Text for a terminal: control characters, which a name may hold, become `?`; where we painted, colours stay."""
    return _CONTROL.sub(lambda found: (found[1] if painted else None) or b"?", text)
