"""Pools: what is in a collection, how deep and from which runs it was judged, who contributed what."""

from __future__ import annotations

import argparse
from typing import Any

from unjudged.cli import options
from unjudged.cli.options import COLLECTION, COLLECTIONS, IN_POOL, Part
from unjudged.errors import UsageError
from unjudged.results import FORMATS

HELP = "what a pool is made of: depth, pooled runs, contributions; build new ones"
BUILDING = ("building", ("strategy", "budget", "depth", "first", "set", "seed", "rel", "no_judgments"))


def _strategies() -> str:
    from unjudged.pools.strategies import overview

    return f"strategies (options in brackets):\n{overview()}"


def _describe(args: argparse.Namespace) -> None:
    """Describe a collection: topics, judgments, N and R, pool depth, pooled runs, coverage, judged@k.

    unjudged pool describe qrels.txt runs/ --teams teams.tsv
    unjudged pool describe qrels.txt runs/ --only 601-650 --pooled infer --format tsv
    unjudged pool describe --collections collections.toml
    unjudged pool describe qrels.txt runs/ --runs
    """
    from unjudged.pools.describe import describe, judged_curves, pooled_runs

    pool = options.pool_keywords(args)
    if pool["pooled"] is None:
        pool["pooled"] = "infer" if args.by_run else "all"
    if args.collections is not None:
        if args.curves or args.by_run:
            raise UsageError(f"{'--curves' if args.curves else '--runs'} is for one collection at a time")
        result = describe(options.open_manifest(args), **pool, rel=args.rel, call=args.call)
        options.write_result(result, args)
        return
    options.needs_collection(args)
    collection = options.open_collection(args)
    if args.curves:
        result = judged_curves(collection, call=args.call)
    elif args.by_run:
        result = pooled_runs(collection, depth=args.depth, pooled=pool["pooled"], call=args.call)
    else:
        result = describe(collection, **pool, rel=args.rel, call=args.call)
    options.write_result(result, args)


def _contributions(args: argparse.Namespace) -> None:
    """Contributions to the pool: documents per topic each team (or run) found, found alone, and relevant ones of these.

    unjudged pool contributions qrels.txt runs/ --teams teams.tsv
    unjudged pool contributions qrels.txt runs/ --per run --depth 100
    """
    from unjudged.studies import study

    pool = options.pool_keywords(args)
    collection = options.open_collection(args)
    result = study("contributions", collection, per=args.per, **pool, rel=args.rel, call=args.call, jobs=args.jobs)
    options.write_result(result, args, verdict=True)


def _build(args: argparse.Namespace) -> None:
    """Build a pool: the documents to judge for a given budget, as a list for the assessors or as judgments.

    unjudged pool build qrels.txt runs/ --strategy rrf --budget 5000 --format list -o to-judge.tsv
    unjudged pool build --no-judgments runs/ --strategy depth --depth 20 --format list
    unjudged pool build qrels.txt runs/ --strategy stratified --set strata=10:1,100:0.2 --format qrels -o sampled.txt

    Formats: list has lines topic<TAB>doc, sorted by document id so that judges do not see the ranks; qrels has the
    known grades, -1 for pooled documents without one, and the stratum of a sample in the second column (infAP and
    xinfAP read it); the others give topic, doc, best_rank, runs, stratum, probability, grade and order, in the order of
    judging.
    """
    from unjudged.pools.build import build_pool
    from unjudged.pools.strategies import strategy

    given: dict[str, Any] = dict(args.set)
    strategy(args.strategy).checked(given)  # a misspelt name is refused before anything is read
    if args.no_judgments:
        args.runs, args.qrels = [args.qrels, *args.runs], None
    pool = build_pool(
        options.open_collection(args),
        args.strategy,
        **options.keywords(args, "budget", "depth", "first", "seed", "rel"),
        call=args.call,
        **given,
    )
    if args.format == "qrels" and args.output not in (None, "-"):
        pool.to_qrels(args.output)
    else:
        text = {"list": pool.to_list, "qrels": pool.to_qrels}.get(args.format, lambda: pool.render(args.format))()
        options.write_output(str(text), args.output)
    options.print_notes(pool.notes)


PARTS = {
    "describe": Part(
        "pool describe",
        _describe,
        "topics, judgments, depth, pooled runs, coverage, judged@k",
        (*COLLECTIONS, "rel", "curves", "by_run", IN_POOL),
        FORMATS,
    ),
    "contributions": Part(
        "pool contributions",
        _contributions,
        "who contributed what, and what nobody else found",
        (*COLLECTION, "per", "rel", IN_POOL),
        FORMATS,
    ),
    "build": Part(
        "pool build",
        _build,
        "documents to judge for a budget: a list, or judgments",
        (*COLLECTION, BUILDING),
        (*FORMATS, "list", "qrels"),
        _strategies,
    ),
}
