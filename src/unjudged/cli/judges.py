"""Other judges beside the human ones: may a machine, a crowd or another assessor stand in for them?"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.cli.options import READING, SCORING, WORK, Part
from unjudged.holes.assessors import FORMATS as FOR_ASSESSORS
from unjudged.results import FORMATS

HELP = "other judges (machines, a crowd): audit them, correct their scores, merge them"

CHARTS = ("ranks", "confusion", "decisions", "bias")
ESTIMATE = (
    *("rel", "judge_rel", "sampled", "target", "slope", "baseline", "pairs", "drawn", "tuned", "experimental"),
    "alpha",
)
ESTIMATE_CHARTS = ("estimates",)
MERGE_CHARTS = ("spread",)
SAMPLE = ("topics", "documents", "strata", "depth", "seed")
AUDIT = (
    *(*options.OF_JUDGES, "labels", "confusion", "bias", "families_table"),
    *("alpha", "resamples", "seed"),
)


def _audit(args: argparse.Namespace) -> None:
    """Audit: what changes if others judge? Labels, order of the runs, decisions between runs, favour for some runs.

    unjudged judges audit human.txt machine.txt --runs runs/ --rel 2 -m nDCG@10
    unjudged judges audit human.txt gpt.txt llama.txt --runs runs/ --teams teams.tsv --families families.tsv
    unjudged judges audit human.txt machine.txt --runs runs/ --labels --format tsv

    One row per judge and measure, a verdict each: solid, with care, fragile or unknown. It rests on the decisions
    between two runs that change (beside a yardstick: what changes when only the topics are drawn again), on reversals,
    and on tau among the best runs, never on tau over all runs. --labels, --confusion, --bias and --families-table give
    the other tables. Only documents both have judged count; without --runs, labels alone are compared. docs/judges.md
    explains every column.
    """
    from unjudged.errors import UsageError
    from unjudged.studies import find, study

    given = options.keywords(args, *AUDIT, *SCORING) | {"measures": options.measures_asked(args, "judges audit")}
    find("judges").ready(given)  # what means nothing is refused before anything is read
    charts = options.charts_asked(args, CHARTS)
    if args.slice:
        options.refuse_charts_of_slices(charts)
    if charts and not args.runs:
        raise UsageError("charts need runs (--runs RUN...)")
    collection = options.open_collection(args, need_runs=bool(args.runs))
    with options.on_cluster(args.cluster) as executor:
        found = study(
            "judges",
            collection,
            second=options.open_other_judges(args, args.second),
            **given,
            **options.keywords(args, "slice", "thresholds", "jobs", "workdir"),
            executor=executor,
            call=args.call,
        )
    options.write_result(found, args, charts, verdict=True)


def _estimate(args: argparse.Namespace) -> None:
    """Estimate: scores from few human judgments and many of a machine, with intervals that hold.

    unjudged judges sample machine.txt --topics 15 --sampled drawn.tsv --format list -o to-judge.txt
    unjudged judges estimate human.txt machine.txt --runs runs/ --sampled drawn.tsv --rel 2 -m nDCG@10
    unjudged judges estimate human.txt machine.txt --runs runs/ --baseline bm25 --target both

    Humans judged some topics, the machine all; or humans judged a random sample of the documents (--sampled, from
    judges sample --documents). One row per run, and per pair with --baseline or --pairs: human alone with its interval,
    machine alone, the corrected estimate with its interval, how long that is beside human alone, how many human topics
    the machine saves, and how many more would halve the interval or settle the pair. Where a correction cannot be
    trusted (fewer than 10 human topics, topics chosen instead of drawn, AP from a sample of documents, ...) it is
    refused with the reason, and the human result stands alone. docs/judges.md explains every column.
    """
    from unjudged.io.texts import read_texts
    from unjudged.studies import find, study

    given = options.keywords(args, *ESTIMATE) | {"measures": options.measures_asked(args, "judges estimate")}
    find("corrected").ready(given)
    charts = options.charts_asked(args, ESTIMATE_CHARTS)
    machine = options.open_machine(args)
    texts = read_texts(args.queries, machine.topics) if args.queries else None
    collection = options.open_collection(args, texts=texts)
    found = study(
        "corrected",
        collection,
        machine=machine,
        **given,
        **options.keywords(args, "thresholds", "jobs"),
        call=args.call,
    )
    options.write_result(found, args, charts)


def _sample(args: argparse.Namespace) -> None:
    """Sample: draw at random what humans should judge, before anybody looks at scores.

    unjudged judges sample machine.txt --topics 15 --seed 1 --sampled drawn.tsv --format list -o to-judge.txt
    unjudged judges sample machine.txt --documents 800 --seed 1 --sampled drawn.tsv --format label-studio -o tasks.json
    unjudged judges sample machine.txt --documents 800 --strata top --runs runs/ --sampled drawn.tsv --format csv

    Whole topics, or documents of every topic within strata. --sampled FILE keeps what judges estimate needs back:
    topics, or documents with their stratum and inclusion probability. The formats for assessors (list, trec, quepid,
    doccano, label-studio) hold topic and document (and texts) alone, shuffled: strata would tell what the machine
    thinks. The other formats show the draw itself.
    """
    from unjudged.errors import UsageError
    from unjudged.io.texts import read_texts
    from unjudged.io.write import refuse_unwritable
    from unjudged.judges.sampling import draw_sample

    if args.format in FOR_ASSESSORS and args.sampled is None:
        raise UsageError("judges estimate needs the draw back: name a file for it (--sampled FILE)")
    for path in filter(None, (args.sampled, args.output)):
        if path != "-":
            refuse_unwritable(path)
    if args.runs and args.strata != "top":
        raise UsageError("runs are needed for --strata top alone")
    machine = options.open_collection(args, need_runs=False)
    found = draw_sample(machine, runs=machine if args.runs else None, **options.keywords(args, *SAMPLE), call=args.call)
    pairs = found.assignments
    if args.format in FOR_ASSESSORS:
        queries = read_texts(args.queries, machine.topics) if args.queries else {}
        documents = read_texts(args.corpus, {doc for _, doc in pairs}) if args.corpus else {}
        text = FOR_ASSESSORS[args.format](pairs, queries, documents)
    else:
        text = found.render(args.format)
    options.print_notes(found.notes)
    if args.sampled is not None:
        options.write_output(found.render("tsv"), args.sampled)
    options.write_text(text, args)


def _merge(args: argparse.Namespace) -> None:
    """Merge: several judges into one, how reliable each is, and how far scores depend on the judge.

    unjudged judges merge a.txt b.txt c.txt --merged merged.txt
    unjudged judges merge a.txt b.txt c.txt --rule majority --show documents --format tsv
    unjudged judges merge a.txt b.txt c.txt --runs runs/ -m nDCG@10
    unjudged judges merge a.txt b.txt c.txt --runs runs/ --show pairs --format tsv

    Without runs one row per judge: agreement and kappa with the merged grades, and the reliability by the model of
    Dawid and Skene (1979) with its interval from redrawn topics. With runs, every score under every judge: mean with
    its interval over judges, lowest and highest, ranks; --show pairs tells which pairs of runs flip. The merged
    judgments go to --merged FILE.
    """
    from unjudged.errors import UsageError
    from unjudged.io.write import refuse_unwritable, write_qrels
    from unjudged.judges.agreement import names_of
    from unjudged.judges.merging import merge_judges
    from unjudged.studies import study

    given = options.each_judge(args, args.qrels)
    if len(given) < 2:
        raise UsageError("merging needs at least two judges: two files of judgments, or one that holds several")
    show = args.show or ("scores" if args.runs else "judges")
    if show in ("scores", "pairs") and not args.runs:
        raise UsageError(f"--show {show} needs runs (--runs RUN...)")
    wanted = options.measures_asked(args, "judges merge")
    charts = options.charts_asked(args, MERGE_CHARTS if show == "scores" else ())
    if charts and show != "scores":
        raise UsageError("only the scores of runs have a chart (--runs RUN...)")
    if args.merged is not None:
        refuse_unwritable(args.merged)
    first, *paths = given
    names, namespace = names_of(given), argparse.Namespace(**{**vars(args), "qrels": first})
    collection = options.open_collection(namespace, need_runs=False)
    others = options.open_other_judges(namespace, paths)
    found = None
    if show not in ("scores", "pairs") or args.merged is not None:
        sets = dict(zip(names, (collection.judgments, *(one.judgments for one in others.values())), strict=True))
        found = merge_judges(sets, **options.keywords(args, "rule", "resamples", "seed"), call=args.call)
    if show in ("scores", "pairs"):
        told = study(
            "over-judges",
            collection,
            second=dict(zip(names[1:], others.values(), strict=True)),
            measures=wanted,
            show=show,
            **options.keywords(args, "rel", "judge_rel", "jobs"),
            call=args.call,
        )
        options.write_result(told, args, charts)
    elif found is not None:
        options.print_notes(found.notes)
        table = {"judges": found, "confusion": found.confusion, "documents": found.documents}[show]
        options.write_output(table.render(args.format), args.output)
    if found is not None and args.merged is not None:
        write_qrels(found.judged.judgments, args.merged)


def _leaderboards(args: argparse.Namespace) -> None:
    """Leaderboards: how other judges order the runs of a leaderboard that is taken as the truth (TREC AutoJudge).

    unjudged judges leaderboards truth.eval.jsonl judge-a.eval.txt judge-b.eval.txt
    unjudged score human.txt runs/ -q --format tot -o truth.eval.txt

    Files hold run, measure, topic and value (tot), or JSON lines with run_id, measure, topic_id and value (jsonl). One
    row per judge and measure: tau, tau_AP, overlap and tau of the best runs, rank-biased overlap, and, where topics are
    there, the decisions between runs that change. Without judged documents labels cannot be compared.
    """
    from unjudged.judges.leaderboards import compare_leaderboards

    first, *others = args.leaderboards
    found = compare_leaderboards(first, others, **options.keywords(args, "alpha", "resamples", "seed"), call=args.call)
    options.write_result(found, args)


PARTS = {
    "audit": Part(
        "judges audit",
        _audit,
        "labels, order of the runs, decisions and favour under other judges, with a verdict",
        (
            *("qrels", "second", "runs", "measures", "slice", *AUDIT, "thresholds"),
            ("scoring", SCORING),
            ("reading", READING),
            ("work", WORK),
        ),
        FORMATS,
        charts=CHARTS,
    ),
    "estimate": Part(
        "judges estimate",
        _estimate,
        "scores from few human judgments and many of a machine, with intervals",
        (
            *("qrels", "machine", "runs", "measures", *ESTIMATE, "queries", "thresholds"),
            ("reading", READING),
        ),
        FORMATS,
        charts=ESTIMATE_CHARTS,
    ),
    "sample": Part(
        "judges sample",
        _sample,
        "draw at random what humans should judge",
        (
            *("qrels", *SAMPLE, "runs", "sampled", "queries", "corpus"),
            ("reading", READING),
        ),
        (*FORMATS, *FOR_ASSESSORS),
    ),
    "merge": Part(
        "judges merge",
        _merge,
        "several judges into one, with reliabilities; scores over judges",
        (
            *("qrels", "rule", "merged", "runs", "measures", "rel", "judge_rel", "show", "resamples", "seed"),
            ("reading", READING),
        ),
        FORMATS,
        charts=MERGE_CHARTS,
    ),
    "leaderboards": Part(
        "judges leaderboards",
        _leaderboards,
        "leaderboards of other judges against one that is taken as the truth",
        ("leaderboards", "alpha", "resamples", "seed"),
        FORMATS,
    ),
}
