"""Who wins, and how sure is that? The means of all runs, and the outcome of each against the best.

The outcomes are those of `compare` for all pairs, so that the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Sequence

from unjudged.collection import Collection, Floats
from unjudged.figures import Figure, distinct, marks, records, theme
from unjudged.results import Result, Row, Verdict
from unjudged.statistics.intervals import mean_interval
from unjudged.statistics.pairs import all_pairs
from unjudged.statistics.ranks import ranks
from unjudged.studies.compare import check_margin
from unjudged.studies.engine import Answer, Case, Runs, leading, register
from unjudged.studies.engine.compared import Compared, compare_pairs, next_step, note_holes, scored
from unjudged.studies.engine.groups import PairScoring, PairTesting
from unjudged.studies.engine.outcome import WORSE, Outcome, rule_of
from unjudged.text import counted, listed

COLUMNS = ("rank", "run", "team", "value", "low", "high", "estimate", "unjudged", "p_adjusted", "outcome", "why")
BEST = "best"
"""The outcome of the best run, which has none against itself."""


@register(
    "winners",
    help="means with intervals, and which runs cannot be told apart from the best",
    figures={"": ("winners",)},
    scores=True,
    columns=COLUMNS,
    limit="winners",
)
def winners(case: Case, scoring: PairScoring, runs: Runs, testing: PairTesting, *, margin: float = 0.0) -> Answer:
    """Who wins, and how sure is that?

    The mean of every run by the first measure asked, with its interval over topics (Student's t for the log odds of the
    mean: it stays between 0 and 1), its estimate where it has unjudged documents (they count as nonrelevant in the
    mean), their share of the top list, and the outcome of the run against the best one: worse, same or cannot tell, and
    why (topics or holes). Best is the run with the highest estimate. All pairs are tested as in compare, with the same
    adjustment.
    """
    check_margin(margin)
    test = testing.of(runs.seed)
    every = scored(case, scoring.single_values(), runs)
    lead = leading(every.matrices.measures)
    rule = rule_of(case.limits, test.alpha, testing.adjustment(runs.seed), margin)
    pairs = all_pairs(len(every.matrices.runs))
    found = compare_pairs(case, every.only(lead), pairs, test, rule, scoring.holes, seed=runs.seed)
    note_holes(case, found)
    if len(found.scores.topics) > 1 and (reach := found.out_of_reach):
        case.note(reach)
    names, means, likely = found.scores.runs, found.scores.means()[0], found.expected_means()[0]
    order = _best_first(likely, names)
    best = order[0]
    against = found.against(0, best)
    teams = case.source.teams if isinstance(case.source, Collection) else {}
    low, high = mean_interval(found.scores.values[0], test.alpha, found.scores.measures[0].bounded)
    place = ranks(likely)
    rows: list[Row] = []
    for r in order:
        pair, outcome = against.get(r, (None, Outcome(BEST)))
        p = None if pair is None else float(found.statistics[0].p_adjusted[pair])
        shares = None if found.unjudged is None else float(found.unjudged[0, r])
        guess = float(likely[r]) if scoring.holes == "estimate" and shares is not None else None
        numbers = (float(means[r]), float(low[r]), float(high[r]), guess, shares)
        rows.append((int(place[r]), names[r], teams.get(names[r], names[r]), *numbers, p, outcome.word, outcome.why))
    measure = found.scores.names[0]
    for other, values in zip(every.matrices.names, every.matrices.means(), strict=True):
        top = _best_first(values, names)[0]
        if other != measure and top != best:
            case.note(f"by {other} another run leads: {names[top]} ({values[top]:.4f})")
    return Answer(
        COLUMNS,
        rows,
        _verdict(case, found, [names[r] for r in order], {names[r]: pair for r, pair in against.items()}),
        figures={"winners": lambda result: winning_order(result, measure, test.alpha)},
        caption=f"Mean {measure} over {counted(len(found.scores.topics), 'topic')} with {100 * (1 - test.alpha):g}% "
        f"intervals; outcome of each run against the best ({found.how}, over all pairs).",
        settings={**every.settings, **found.settings, "measures": [measure], "unjudged": scoring.unjudged},
        seed=runs.seed,
    )


def _best_first(means: Floats, names: Sequence[str]) -> list[int]:
    """Runs by mean, equal ones by name."""
    return sorted(range(len(names)), key=lambda r: (-means[r], names[r]))


def _verdict(case: Case, found: Compared, order: list[str], against: dict[str, tuple[int, Outcome]]) -> Verdict:
    """How many of the other runs cannot be told apart from the best?"""
    limit, name = case.limits["winners"], found.scores.names[0]
    if len(found.scores.topics) == 1:
        return limit.unknown("one topic cannot show which run is best")
    if not found.scores.varying[0]:
        return limit.unknown(f"by {name} every run has the same score on every topic")
    best, *others = order
    rivals = [run for run in others if against[run][1].word != WORSE]
    top = found.scores.runs.index(best)
    leads = f"{best} leads with {_article(name)} {name} of {found.scores.means()[0][top]:.3f}"
    if found.holed:
        leads += f" (estimated {found.expected_means()[0][top]:.3f} with all documents judged)"
    if not rivals:
        sentence = f"{leads} and is better than every other run"
    elif len(rivals) == len(others):
        sentence = f"{leads}, but no other run can be told apart from it"
    else:
        sentence = f"{leads}, but {counted(len(rivals), 'more run')} cannot be told apart from it: {listed(rivals)}"
    shared = f"{len(rivals) + 1} of {len(order)} runs share first place, led by {best}"
    return limit.verdict(
        sentence,
        len(rivals) / len(others),
        finding=shared if rivals else f"{best} is better than every other run",
        whole=len(others),
        things="other runs",
        too_few=limit.too_few(topics=len(found.scores.topics)),
        decided_by=tuple(rivals) or (best,),
        next=next_step(case, found, 0, [against[run][0] for run in rivals], top=1),
    )


def _article(name: str) -> str:
    """`an` before a name that is spoken with a vowel at its beginning (an AP, an nDCG, an RR), else `a`."""
    return "an" if name[:1] in "AEFHILMNORSXaeiou" or (name[:1].islower() and name[:1] in "nrfm") else "a"


def winning_order(result: Result, measure: str, alpha: float) -> Figure:
    """Means with their intervals, best first; colour and shape say the outcome against the best."""
    rows = records(result)
    against = marks.field("outcome", "nominal", "against the best")
    domain = [BEST, "same", "cannot tell", "worse"]
    colours = {"domain": domain, "range": [theme.VERMILION, theme.SKY, theme.ORANGE, theme.BLUE]}
    shapes = {"domain": domain, "range": ["diamond", "triangle-up", "circle", "square"]}
    numbers = ((column, ".4f") for column in ("value", "low", "high", "estimate", "p_adjusted"))
    tooltip = marks.tips("run", "team", *numbers, "outcome", "why")
    common = {
        "y": marks.names("run", distinct(rows, "run")),
        "color": {**against, "scale": colours},
        "tooltip": tooltip,
    }
    low = marks.field("low", title=measure, scale={"zero": False})
    mean = {"x": marks.field("value", title=measure), "shape": {**against, "scale": shapes}}
    return marks.chart(
        rows,
        f"Mean {measure} of {len(rows)} runs with {100 * (1 - alpha):g} % intervals, best first",
        marks.layer("rule", {"strokeWidth": 2, "opacity": 0.6}, x=low, x2={"field": "high"}, **common),
        marks.layer("point", {"filled": True, "size": 60, "opacity": 1}, **mean, **common),
        width=480,
        height=max(120, 15 * len(rows)),
    )
