"""Other judges beside the human ones: may a machine, a crowd or another assessor stand in for them?"""

from __future__ import annotations

import argparse

from unjudged.cli import options
from unjudged.cli.options import READING, SCORING, WORK, Part
from unjudged.results import FORMATS

HELP = "audit other judges (machines, a crowd, another assessor) against the human ones"

CHARTS = ("ranks",)
AUDIT = ("judge_rel", "families", "show", "alpha", "resamples", "seed")


def _audit(args: argparse.Namespace) -> None:
    """Audit: what changes if others judge? Labels, order of the runs, decisions between runs, favour for some runs.

    unjudged judges audit human.txt machine.txt --runs runs/ --rel 2 -m nDCG@10
    unjudged judges audit human.txt gpt.txt llama.txt --runs runs/ --teams teams.tsv --families families.tsv
    unjudged judges audit human.txt machine.txt --runs runs/ --show labels --format tsv

    One row per judge and measure, a verdict each: solid, with care, fragile or unknown. It rests on the decisions
    between two runs that change (beside a yardstick: what changes when only the topics are drawn again), on reversals,
    and on tau among the best runs, never on tau over all runs. --show labels, confusion, runs and families give the
    other tables. Only documents both have judged count. docs/judges.md explains every column.
    """
    from unjudged.studies import find, study

    given = options.keywords(args, *AUDIT, *SCORING) | {"measures": options.measures_asked(args, "judges audit")}
    find("judges").ready(given)  # what means nothing is refused before anything is read
    charts = options.charts_asked(args, CHARTS)
    collection = options.open_collection(args)
    with options.on_cluster(args.cluster) as executor:
        found = study(
            "judges",
            collection,
            second=options.open_other_judges(args, args.second),
            **given,
            **options.keywords(args, "thresholds", "jobs", "workdir"),
            executor=executor,
            call=args.call,
        )
    options.write_result(found, args, charts, verdict=True)


PARTS = {
    "audit": Part(
        "judges audit",
        _audit,
        "labels, order of the runs, decisions and favour under other judges, with a verdict",
        (
            *("qrels", "second", "runs", "measures", *AUDIT, "thresholds"),
            ("scoring", SCORING),
            ("reading", READING),
            ("work", WORK),
        ),
        FORMATS,
        charts=CHARTS,
    ),
}
