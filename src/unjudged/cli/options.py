"""Options shared by verbs, and the way results leave: stdout or a file, whole or not at all."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from unjudged.errors import UsageError, nearest, one_line
from unjudged.results import FORMATS

if TYPE_CHECKING:
    from unjudged.collection import Collection
    from unjudged.results import Result


def add_collection(parser: argparse.ArgumentParser, need_runs: bool = True) -> None:
    """QRELS, RUN... and how to read them."""
    parser.add_argument(
        "qrels", metavar="QRELS", help="judgments: TREC text or another format (docs/formats.md), plain or gz"
    )
    parser.add_argument(
        "runs", metavar="RUN", nargs="+" if need_runs else "*", help="runs: files, folders, globs, or - for stdin"
    )
    reading = parser.add_argument_group("reading")
    reading.add_argument("--teams", metavar="FILE", help="TSV run<TAB>team with header, or PoolBiasEstimators XML")
    reading.add_argument(
        "--ties",
        default="trec10",
        metavar="RULE",
        help="order of equal scores: trec10 (ids descending, default), trec9 (the same on float32 scores), "
        "file, ascending, expected (mean over all orders)",
    )
    reading.add_argument("--truncate", type=int, metavar="N", help="keep the top N of each list (default: all)")
    reading.add_argument("--lenient", action="store_true", help="skip unusable lines and say how many")
    reading.add_argument("--strict", action="store_true", help="refuse duplicate documents")
    reading.add_argument("--gains", metavar="G", help="gain of each grade, as 1:1,2:3 (default: the grade itself)")
    reading.add_argument(
        "--negative",
        default="unjudged",
        choices=("unjudged", "nonrelevant"),
        help="what a negative grade means (default: unjudged)",
    )
    reading.add_argument(
        "--qrels-format", metavar="FORMAT", help="the judgments' format where it cannot be seen: sampleval (5 columns)"
    )
    reading.add_argument(
        "--qa", action="store_true", help="question answering: QRELS holds answer classes (docs/formats.md)"
    )
    reading.add_argument("--only", metavar="TOPICS", help="these topics alone, as 601-650,700")
    reading.add_argument(
        "--jobs", type=int, metavar="N", help="threads for reading, and processes of a study (default: one per core)"
    )


def add_pool(parser: argparse.ArgumentParser, depth: bool = True, pooled: str = "every run given") -> None:
    """--depth, --pooled and --tolerance: how deep the pool was and from which runs."""
    pool = parser.add_argument_group("pool")
    if depth:
        pool.add_argument("--depth", type=int, metavar="D", help="pool depth (default: inferred from the judgments)")
    pool.add_argument(
        "--pooled",
        metavar="FILE|infer",
        help="the pooled runs: a file with one name a line or a TSV run<TAB>pooled with yes/no, or infer "
        f"(default: {pooled})",
    )
    pool.add_argument(
        "--tolerance",
        type=float,
        default=0.2,
        metavar="X",
        help="with --pooled infer: share of the depth that may be unjudged in a pooled run (default 0.2)",
    )


def pool_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """What `add_pool` read, as the keyword arguments of reductions and descriptions."""
    from unjudged.collection.pool import read_pooled

    pooled = args.pooled if args.pooled in (None, "infer") else read_pooled(args.pooled)
    given = {"depth": args.depth} if hasattr(args, "depth") else {}
    return {**given, "pooled": pooled, "tolerance": args.tolerance}


def add_measures(parser: argparse.ArgumentParser, default: str, more: str = "") -> None:
    """-m: which measures, and those computed when none are asked for."""
    parser.add_argument(
        "-m",
        "--measures",
        action="append",
        metavar="M",
        help=f"measures, comma separated, or a set (official, all_trec); repeatable; {more}default {default}",
    )


def add_rel(parser: argparse._ActionsContainer, default: int | None = None) -> None:
    """--rel: what is relevant."""
    parser.add_argument("--rel", type=int, default=default, metavar="N", help="smallest relevant grade (default 1)")


def add_seed(parser: argparse._ActionsContainer) -> None:
    """--seed: the same seed, the same answer."""
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of everything random (default 0)")


def add_testing(group: argparse._ArgumentGroup, test: str, resamples: str) -> None:
    """--test, --alpha, --resamples and --seed: how significance is tested."""
    group.add_argument("--test", default="bootstrap", metavar="NAME", help=test)
    group.add_argument("--alpha", type=float, default=0.05, metavar="A", help="level of significance (default 0.05)")
    group.add_argument("--resamples", type=int, metavar="N", help=f"random resamples (default {resamples})")
    add_seed(group)


def testing_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """What `add_testing` read, as keyword arguments."""
    return {"test": args.test, "alpha": args.alpha, "resamples": args.resamples, "seed": args.seed}


def add_growth(parser: argparse.ArgumentParser) -> None:
    """--growth: which documents bounds reckon with."""
    parser.add_argument(
        "--growth",
        default="retrieved",
        metavar="HOW",
        help="with --unjudged bounds: relevant documents may be any retrieved by some run (retrieved, default), "
        "or any number more (free)",
    )


def add_scoring(parser: argparse.ArgumentParser) -> None:
    """Which grades, topics and unjudged documents count how."""
    scoring = parser.add_argument_group("scoring")
    add_rel(scoring)
    scoring.add_argument(
        "--unjudged",
        default="nonrelevant",
        metavar="POLICY",
        help="unjudged documents are nonrelevant (default) or condensed (removed); "
        "bounds: lowest and highest score they allow",
    )
    scoring.add_argument(
        "--topics",
        default="judged",
        metavar="WHICH",
        help="topics that count: judged (default, missing = 0), run (the run's own), common (answered by all)",
    )
    scoring.add_argument(
        "--undefined", default="zero", metavar="HOW", help="undefined values: zero (default), nan, drop (the topic)"
    )


def scoring_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """What `add_scoring` read, as keyword arguments."""
    return {"rel": args.rel, "unjudged": args.unjudged, "topics": args.topics, "undefined": args.undefined}


def add_output(parser: argparse.ArgumentParser, charts: Sequence[str] | None = None) -> None:
    """--format and -o; and --figure, where the result has charts (of these names, where they are known)."""
    output = parser.add_argument_group("output")
    output.add_argument("--format", default="text", choices=FORMATS, help="default: text")
    output.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of stdout")

    if charts is not None:
        names = f"; NAME is {', '.join(charts[:-1])} or {charts[-1]}" if len(charts) > 1 else ""
        output.add_argument(
            "--figure",
            metavar="[NAME=]FILE",
            action="append",
            default=[],
            help=f"write a chart, too: .svg, .png, .pdf, .html or .json{names}; repeatable",
        )


def add_qrels_output(parser: argparse.ArgumentParser) -> None:
    """-o for judgments."""
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE (.gz: compressed) instead of stdout")


def parse_gains(text: str | None) -> dict[int, float] | None:
    """`1:1,2:3` -> {1: 1.0, 2: 3.0}"""
    if text is None:
        return None
    try:
        pairs = [part.split(":") for part in text.split(",")]
        gains = {int(grade): float(gain) for grade, gain in pairs}
    except ValueError:
        raise UsageError(f"gains are given as 1:1,2:3, not {text!r}") from None
    if len(gains) < len(pairs):
        raise UsageError(f"a grade has two gains in {text!r}")
    return gains


def open_collection(args: argparse.Namespace, need_runs: bool = True, lists: bool = True) -> Collection:
    """The collection the arguments name; notes go to stderr. Without `lists`, streams are not kept."""
    from unjudged.collection.load import read_collection
    from unjudged.io.trec import Reading

    if args.jobs is not None and args.jobs < 1:
        raise UsageError("--jobs needs a positive number")
    if [args.qrels, *args.runs].count("-") > 1:
        raise UsageError("standard input can be used once")
    collection = read_collection(
        args.qrels,
        args.runs,
        Reading(args.ties, args.truncate, args.lenient, args.strict),
        teams=args.teams,
        gains=parse_gains(args.gains),
        only=args.only,
        negative=args.negative,
        qrels_format=args.qrels_format,
        qa=args.qa,
        jobs=args.jobs,
        need_runs=need_runs,
        lists=lists,
    )
    print_notes(collection.notes)
    return collection


def add_judgment_reading(parser: argparse.ArgumentParser) -> None:
    """How to read several files of judgments."""
    reading = parser.add_argument_group("reading")
    reading.add_argument("--lenient", action="store_true", help="skip unusable lines and say how many")
    reading.add_argument("--strict", action="store_true", help="refuse judgments given twice")
    reading.add_argument(
        "--qrels-format", metavar="FORMAT", help="the files' format where it cannot be seen: sampleval"
    )
    reading.add_argument("--only", metavar="TOPICS", help="these topics alone, as 601-650,700")


def open_judgments(args: argparse.Namespace) -> list[Collection]:
    """Each file of judgments as a collection without runs; notes go to stderr."""
    from unjudged.collection.load import read_collection
    from unjudged.io.trec import Reading

    if args.qrels.count("-") > 1:
        raise UsageError("standard input can be used once")
    reading = Reading(lenient=args.lenient, strict=args.strict)
    sets = [
        read_collection(path, [], reading, only=args.only, qrels_format=args.qrels_format, need_runs=False)
        for path in args.qrels
    ]
    print_notes(note for one in sets for note in one.notes)
    return sets


def print_notes(notes: Iterable[str]) -> None:
    """What was passed over, one line each, on stderr."""
    for note in notes:
        print("note:", one_line(note), file=sys.stderr)


def charts_asked(args: argparse.Namespace, names: Sequence[str]) -> list[tuple[str | None, str]]:
    """(name, file) of every --figure, checked, and -o with them: nobody computes for an hour to hear of a misspelling.

    `names` are the charts the result will have; none where nobody knows yet.
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


def write_result(
    result: Result, args: argparse.Namespace, charts: Iterable[tuple[str | None, str]] = (), *, verdict: bool = False
) -> None:
    """Notes to stderr, the table (with the verdict under it, in text) to stdout or -o, charts to their files."""
    print_notes(result.notes)
    text = result.render(args.format)
    write_output(f"{text}\n{result.verdict()}\n" if verdict and args.format == "text" else text, args.output)
    for name, path in charts:
        result.plot(name).save(path)


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


def write_bytes(data: bytes | Iterable[bytes], path: str | None) -> None:
    """Bytes, whole or in pieces, to stdout, or to a file that appears whole or not at all."""
    if path is None or path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.writelines([data] if isinstance(data, bytes) else data)
        sys.stdout.buffer.flush()
        return
    from unjudged.io.write import write_whole

    write_whole(path, data)
