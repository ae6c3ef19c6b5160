"""Change judgments and write them as TREC text, in the order of the input."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from unjudged.cli import options
from unjudged.cli.options import COLLECTION, IN_POOL, Part
from unjudged.errors import UsageError, nearest
from unjudged.results import FORMATS

if TYPE_CHECKING:
    from unjudged.collection import Collection

HELP = "write reduced, changed or merged judgments; agreement of judges"

REDUCING = ("rate", "seed", "method", "rel", "min_relevant", "min_nonrelevant")
FLIPS = ("flip", "flip_relevant", "flip_nonrelevant")
NOISE = ("noise", ("collapse", "binary", *FLIPS, "favour_team", "favour_run", "rate", "depth", "rel", "seed"))
READING_JUDGMENTS = ("reading", ("lenient", "strict", "qrels_format", "only"))


def _reduce(args: argparse.Namespace) -> None:
    """Random reduction: write a random share of each topic's judgments; smaller rates give subsets of larger ones.

    unjudged qrels reduce qrels.txt --rate 0.3 --seed 1 -o thirty-percent.txt
    unjudged qrels reduce qrels.txt --rate 0.3 --method uniform
    """
    from unjudged.changes.reduce import reduce

    collection = options.open_collection(args, need_runs=False)
    options.write_judgments(collection, reduce(collection, **options.keywords(args, *REDUCING)), args.output)


def _leave_out(args: argparse.Namespace) -> None:
    """Leave out teams or runs: write the judgments without those only they brought into the pool.

    unjudged qrels leave-out qrels.txt runs/ --teams teams.tsv --team CMU -o without-cmu.txt
    unjudged qrels leave-out qrels.txt runs/ --run bm25 --depth 100 --pooled pooled.tsv
    """
    from unjudged.changes.leave_out import leave_out

    if (args.team is None) == (args.run is None):
        raise UsageError("name what to leave out: --team NAME or --run NAME")
    _change_pool(args, leave_out, teams=args.team, runs=args.run)


def _take(args: argparse.Namespace) -> None:
    """Take teams or runs: write only the judgments that they would have brought into a pool of their own.

    unjudged qrels take qrels.txt runs/ --teams teams.tsv --team CMU -o cmu-only.txt
    unjudged qrels take qrels.txt runs/ --teams teams.tsv --fewest 3 -o three-teams.txt
    """
    from unjudged.changes.take import take

    if sum(x is not None for x in (args.team, args.run, args.fewest)) != 1:
        raise UsageError("name what to take: --team NAME, --run NAME or --fewest K")
    _change_pool(args, take, teams=args.team if args.fewest is None else args.fewest, runs=args.run)


def _shallow(args: argparse.Namespace) -> None:
    """Shallow pool: write only the judgments that lie in the first D documents of the pooled runs.

    unjudged qrels shallow qrels.txt runs/ --depth 10 -o depth10.txt
    """
    from unjudged.changes.shallow import shallow

    _change_pool(args, shallow)


def _change_pool(args: argparse.Namespace, change: Callable[..., Collection], **given: Any) -> None:
    """Write the judgments that a change of the pool leaves."""
    pool = options.pool_keywords(args)
    collection = options.open_collection(args)
    options.write_judgments(collection, change(collection, **given, **pool), args.output)


def _noise(args: argparse.Namespace) -> None:
    """Noise: write judgments as a careless, biased or coarse assessor would have given them.

    unjudged qrels noise qrels.txt --flip 0.1 --seed 1 -o careless.txt
    unjudged qrels noise qrels.txt --flip-relevant 0.2 --flip-nonrelevant 0.02
    unjudged qrels noise qrels.txt runs/ --teams teams.tsv --favour-team X --rate 0.5 --depth 10
    unjudged qrels noise qrels.txt --collapse 2:1,3:1        unjudged qrels noise qrels.txt --binary 2

    Several kinds can be combined: grades are collapsed first, then flipped, then a team is favoured.
    """
    from unjudged.changes.collapse import collapse
    from unjudged.changes.noise import favour, flip

    rates = {"rate": args.flip, "relevant": args.flip_relevant, "nonrelevant": args.flip_nonrelevant}
    flips, favours = any(rate is not None for rate in rates.values()), args.favour_team or args.favour_run
    if not (args.collapse or args.binary is not None or flips or favours):
        raise UsageError("name the noise: --flip, --favour-team, --favour-run, --collapse or --binary")
    if favours and not args.runs:
        raise UsageError("to favour a team or a run, give the runs as well")
    collection = options.open_collection(args, need_runs=False)
    changed, random = collection, options.keywords(args, "rel", "seed")
    if args.collapse or args.binary is not None:
        changed = collapse(changed, args.collapse, rel=args.binary)
    if flips:
        changed = flip(changed, **rates, **random)
    if favours:
        changed = favour(changed, args.rate, team=args.favour_team, run=args.favour_run, depth=args.depth, **random)
    options.write_judgments(collection, changed, args.output)


def _merge(args: argparse.Namespace) -> None:
    """Merge: one set of judgments from several, or another assessor's judgments in place of the first.

    unjudged qrels merge first.txt second.txt third.txt --rule majority -o merged.txt
    unjudged qrels merge human.txt machine.txt --rule replace -o machine-in-place.txt

    Rules: majority (a tie goes to the earlier file), max, min, mean and median (halves rounded up), first (the first
    file that judges the document), agreed (only where all files give the same grade), random (each topic from one file,
    by seed), replace (the last file's judgments; documents it lacks become unjudged), fill (the last file's where it
    has one).
    """
    from unjudged.changes.merge import RULES, merge
    from unjudged.changes.rejudge import replace_judgments

    rules = (*RULES, "replace", "fill")
    if args.rule not in rules:
        raise UsageError(f"unknown rule {args.rule!r}{nearest(args.rule, rules)}; there are {', '.join(rules)}")
    args.qrels = options.each_judge(args, args.qrels)
    if len(args.qrels) < 2:
        raise UsageError("merging needs at least two judges: two files of judgments, or one that holds several")
    first, *others = options.open_judgments(args)
    if args.rule in RULES:
        merged = merge(first, *others, rule=args.rule, seed=args.seed)
    else:
        merged = first
        for other in others:
            merged = replace_judgments(merged, other, keep=args.rule == "fill")
    options.write_judgments(first, merged, args.output)


def _agree(args: argparse.Namespace) -> None:
    """Agreement of judges: kappa, alpha and overlap of two or more sets of judgments.

    unjudged qrels agree human.txt machine.txt
    unjudged qrels agree first.txt second.txt third.txt -q --binary --format tsv
    unjudged qrels agree human.txt machine.txt --confusion --format tsv

    Columns: documents (judged by all judges that are compared), agreement (share of them with the same grade), kappa
    (Cohen's, plain and weighted by the distance of the grades), fleiss_kappa (over all judges), alpha (Krippendorff's,
    nominal, ordinal, interval; it also uses documents that only some judges judged), overlap (documents relevant to all
    judges, as a share of those relevant to any). With --format text, a table of the pairs of grades follows. What other
    judgments do to the order of runs and to decisions between them: unjudged judges audit.
    """
    from unjudged.io.files import judge_name
    from unjudged.judges.agreement import judge_agreement

    args.qrels = options.each_judge(args, args.qrels)
    if len(args.qrels) < 2:
        raise UsageError("agreement needs at least two judges: two files of judgments, or one that holds several")
    names = [judge_name(path) for path in args.qrels]
    if len(set(names)) < len(names):
        names = list(args.qrels)
    sets = options.open_judgments(args)
    found = judge_agreement(*sets, names=names, **options.keywords(args, "rel", "binary", "per_topic"), call=args.call)
    options.print_notes(found.notes)
    text = found.confusion.render(args.format) if args.confusion else found.render(args.format)
    if args.format == "text" and not args.confusion:
        text += f"\n{found.confusion.render('text')}"
    options.write_text(text, args)


def _diff(args: argparse.Namespace) -> None:
    """Versions: what changed from one set of judgments to the next, and what that did to runs.

    unjudged qrels diff old.txt new.txt
    unjudged qrels diff old.txt new.txt runs/ -m nDCG@10
    unjudged qrels diff old.txt new.txt my.run                what each label did to this run
    unjudged qrels diff old.txt new.txt runs/ --per-topic     what all labels of a topic did together
    unjudged qrels diff old.txt new.txt runs/ --per-run       scores and ranks before and after
    unjudged qrels diff old.txt new.txt runs/ --outcomes      pairs of runs whose outcome is another one

    Labels: topic, doc, old and new grade (empty: not judged), the number of runs that retrieved the document, and what
    the change of this one label does to the mean of the run it moves most. Labels that moved most stand first.
    """
    from unjudged.judges.versions import OUTCOME_COLUMNS, changed_outcomes, qrels_diff
    from unjudged.results import Provenance, Result
    from unjudged.studies import study

    if (args.per_run or args.outcomes) and not args.runs:
        raise UsageError("to see what the change did to runs, give the runs as well")
    if sum((args.per_topic, args.per_run, args.outcomes)) > 1:
        raise UsageError("--per-topic, --per-run and --outcomes are three tables; ask for one")
    measures = options.measures_asked(args, "qrels diff")
    new = options.open_again(args, args.new) if args.runs else options.open_judgments_of(args, args.new)
    if not args.per_run and not args.outcomes:
        old = options.open_judgments_of(args, args.old)
        found = qrels_diff(old, new, measures, rel=args.rel, per_topic=args.per_topic, call=args.call)
    else:
        old = options.open_again(args, args.old)
        sides = [(side, {"measures": measures, "rel": args.rel}) for side in (old, new)]
        if args.outcomes:
            before, after = (study("compare", side, **asked) for side, asked in sides)
            rows = changed_outcomes(before, after, new, old)
            found = Result(OUTCOME_COLUMNS, lambda: rows, Provenance.of(args.call, (args.old, args.new)))
            options.print_notes([f"{len(rows)} of {len(list(after.rows()))} outcomes are other ones"])
        else:
            parts = [study("change", new, before=old, measures=[m], rel=args.rel) for m in measures]
            table = [(row[0], str(m), *row[2:]) for m, part in zip(measures, parts, strict=True) for row in part.rows()]
            columns = ("run", "measure", "before", "after", "change", "rank_before", "rank_after")
            found = Result(columns, lambda: table, parts[0].provenance, notes=[n for part in parts for n in part.notes])
    options.print_notes(found.notes)
    options.write_text(found.render(args.format), args)


PARTS = {
    "reduce": Part(
        "qrels reduce", _reduce, "a random share of each topic's judgments", (*COLLECTION, *REDUCING, "output")
    ),
    "leave-out": Part(
        "qrels leave-out",
        _leave_out,
        "without what only one team (or run) brought into the pool",
        (*COLLECTION, "team", "run", "output", IN_POOL),
    ),
    "take": Part(
        "qrels take",
        _take,
        "only what one team, or a few, would have brought",
        (*COLLECTION, "team", "run", "fewest", "output", IN_POOL),
    ),
    "shallow": Part(
        "qrels shallow", _shallow, "only what a shallower pool would have held", (*COLLECTION, "output", IN_POOL)
    ),
    "noise": Part(
        "qrels noise", _noise, "random errors, favour for a team, coarser grades", (*COLLECTION, NOISE, "output")
    ),
    "merge": Part(
        "qrels merge",
        _merge,
        "one set of judgments from several: majority, max, mean, agreed, replace, ...",
        ("qrels", "rule", "seed", "output", READING_JUDGMENTS),
    ),
    "agree": Part(
        "qrels agree",
        _agree,
        "how far judges agree: confusion table, kappa, alpha, overlap",
        ("qrels", "per_topic", "rel", "binary", "confusion", READING_JUDGMENTS),
        FORMATS,
    ),
    "diff": Part(
        "qrels diff",
        _diff,
        "what changed between two versions, and what that did to runs",
        ("old", "new", "runs", "measures", "rel", "per_topic", "per_run", "outcomes", ("reading", options.READING)),
        FORMATS,
    ),
}
