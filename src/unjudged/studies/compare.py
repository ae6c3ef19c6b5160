"""Which runs differ, by how much, how surely, and could unjudged documents change that? (verb `compare`)"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unjudged.collection import Floats
from unjudged.errors import UsageError, nearest, some
from unjudged.figures import Figure, Records, distinct, marks, records, theme
from unjudged.measures.bounds import GROWTH
from unjudged.results import Result, Row, Shown, Verdict
from unjudged.scoring import Scores
from unjudged.statistics.letters import letters
from unjudged.statistics.pairs import Pairs, all_pairs, pairs_with
from unjudged.studies import layouts
from unjudged.studies.engine import Answer, Case, Chart, Runs, Table, leading, register
from unjudged.studies.engine.compared import Compared, compare_pairs, next_step, note_holes, scored
from unjudged.studies.engine.groups import Holes, PairScoring, PairTesting
from unjudged.studies.engine.outcome import BETTER, CANNOT_TELL, HOLES, SAME, WORSE, Flags, Outcome, rule_of
from unjudged.studies.engine.significance import FAMILY_WISE
from unjudged.text import counted, percent, signed

COLUMNS = (
    *("run_a", "run_b", "measure", "difference", "low", "high", "p_value", "p_adjusted", "effect_size"),
    *("wins", "ties", "losses", "unjudged_a", "unjudged_b", "estimate", "estimate_low", "estimate_high"),
    *("outcome", "why"),
)
CHARTS = ("pairs", "differences")
"""Names of the charts; with a baseline the second one is the main one."""
MOST_PAIRS = 60
"""Pairs shown with their intervals; of more, those with the largest differences."""
MOST_LETTERS = 12
"""Runs whose groups letters can show; of more, the letters would fill the table."""
MOST_RUNS = 60
"""Runs shown in the map of pairs; of more, the best."""
TOLD = {
    "better": ("+ better", "+", theme.BLUE, "have a direction"),
    "same": ("= same", "=", theme.SKY, "are the same"),
    "topics": ("cannot tell: topics", "", theme.PALE, "need more topics"),
    "holes": ("? cannot tell: holes", "?", theme.ORANGE, "hang on unjudged documents"),
}
"""What a field of the map says: the words of the legend, the sign in the field, its colour; and such pairs in words."""


@dataclass(frozen=True)
class ComparedScoring(PairScoring):
    """The same, and `bounds`: how far the unjudged documents could move each difference."""

    policies: ClassVar[tuple[str, ...]] = (*PairScoring.policies, "bounds")

    growth: str = "retrieved"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.growth not in GROWTH:
            raise UsageError(f"growth can be {' or '.join(GROWTH)}, not {self.growth!r}")


@register(
    "compare",
    help="which runs differ, by how much, and could unjudged documents turn that round",
    figures={"baseline": (CHARTS[1], CHARTS[0]), "": CHARTS},
    scores=True,
    columns=COLUMNS,
    limit="safe-comparisons",
)
def compare(
    case: Case,
    scoring: ComparedScoring,
    runs: Runs,
    testing: PairTesting,
    *,
    baseline: str | None = None,
    margin: float = 0.0,
    pairs: bool = False,
) -> Answer:
    """Which comparisons of runs are safe?

    Every run is compared with the baseline, or all pairs with each other, topic by topic: paired t test unless --test
    says bootstrap (Sakai 2006), wilcoxon, permutation, tukey or randomised-tukey (Carterette 2012). p values are
    adjusted within each measure for the number of pairs (--correction holm, bonferroni, bh or none; Tukey's tests need
    none). The outcome for run_a is better, worse, same or cannot tell; why says what is missing: topics, or judgments
    of unjudged documents (holes). `same`: every topic ties, or the whole interval is smaller than --margin.

    `difference` is that of the scores, in which unjudged documents are nonrelevant. Where a run has holes they are
    estimated (docs/holes.md): `estimate` is the difference expected with all of them judged, `estimate_low` to
    `estimate_high` its 90 % interval on these topics. p values, low and high (the interval over topics) and the outcome
    belong to the estimate, and the uncertainty of topics and holes counts together. Without holes it is the ordinary
    test. Where too little is judged for estimates, an outcome must hold whatever the unjudged documents are.

    With --unjudged nonrelevant, or condensed, nothing is estimated and holes are not looked at. With --unjudged bounds,
    low and high are the smallest and largest difference that any judgments of the unjudged documents allow, an outcome
    must hold for all of them, and `ends` says whether low and high are exact or outer (never left, but perhaps not
    reached). All else is computed with unjudged documents nonrelevant.
    """
    check_margin(margin)
    bounded = scoring.unjudged == "bounds"
    if bounded and isinstance(case.source, Scores):
        raise UsageError("unjudged='bounds' needs the collection, not scores at hand")
    test = testing.of(runs.seed)
    scores = scored(case, scoring.single_values(), runs)
    rule = rule_of(case.limits, test.alpha, testing.adjustment(runs.seed), margin)
    pairs_asked = chosen_pairs(scores.matrices.runs, baseline)
    found = compare_pairs(case, scores, pairs_asked, test, rule, scoring.holes, growth=scoring.growth, seed=runs.seed)
    note_holes(case, found)
    _note_tests(case, found)
    _note_gate(case, found, baseline)
    by_pairs = pairs or bounded
    lead = found.scores.names[leading(found.scores.measures)]
    drawn: dict[str, Chart] = {CHARTS[0]: lambda result: map_of_pairs(result, lead), CHARTS[1]: differences}
    return Answer(
        (*COLUMNS, "ends") if bounded else COLUMNS,
        list(_rows(found, scoring.holes)),
        _verdict(case, found, baseline),
        (lambda: _pairs_table(found, scoring.holes)) if by_pairs else (lambda: _means_table(found, baseline)),
        drawn if baseline is None else dict(reversed(drawn.items())),
        _pairs_caption(found, bounded) if by_pairs else _means_caption(found, baseline),
        settings={
            **scores.settings,
            **found.settings,
            "baseline": baseline,
            "unjudged": scoring.unjudged,
            **({"growth": scoring.growth} if bounded else {}),
        },
        seed=runs.seed,
    )


def check_margin(margin: float) -> None:
    """A UsageError for a margin that means nothing."""
    if not 0 <= margin < math.inf:
        raise UsageError(f"the smallest difference that matters is 0 or more, not {margin}")


def chosen_pairs(runs: Sequence[str], baseline: str | None) -> Pairs:
    """All pairs, or every run against the baseline."""
    if baseline is None:
        return all_pairs(len(runs))
    if baseline not in runs:
        raise UsageError(f"no run is called {baseline!r}{nearest(baseline, runs)}; there are {some(runs)}")
    return pairs_with(list(runs).index(baseline), len(runs))


def _rows(found: Compared, holes: Holes) -> Iterator[Row]:
    columns = []
    bounded = holes == "bounds"
    for m, s in enumerate(found.statistics):
        ends, shares = found.bounds[m] if bounded else s, found.shares(m)
        assert ends is not None
        unknown = [None] * len(s.difference)
        numbers = [s.difference, ends.low, ends.high, s.p_value, s.p_adjusted, s.effect_size, s.wins, s.ties, s.losses]
        known = holes == "estimate" and shares is not None
        likely = [s.estimate, s.estimate_low, s.estimate_high] if known else []
        columns.append(
            [
                *(column.tolist() for column in numbers),
                *((unknown, unknown) if shares is None else (share.tolist() for share in shares)),
                *(_where(~found.open[m], column) for column in likely),
                *([unknown] * 3 if not known else []),
                [outcome.word for outcome in found.outcomes[m]],
                [outcome.why for outcome in found.outcomes[m]],
                *([_kind_of_ends(found, m)] if bounded else []),
            ]
        )
    runs = found.scores.runs
    for i, (a, b) in enumerate(zip(*(side.tolist() for side in found.pairs), strict=True)):
        for name, values in zip(found.scores.names, columns, strict=True):
            yield runs[a], runs[b], name, *(column[i] for column in values)


def _where(known: Flags, column: Floats) -> list[float | None]:
    return [value if there else None for there, value in zip(known.tolist(), column.tolist(), strict=True)]


def _kind_of_ends(found: Compared, m: int) -> list[str]:
    ends = found.bounds[m]
    return ["exact" if ends is not None and ends.exact else "outer"] * len(found.pairs[0])


# -- how it reads in a paper


def letters_of(found: Compared, m: int) -> dict[str, str]:
    """The letters of each run in a measure, best run first; runs that share one were not told apart (Piepho 2004)."""
    runs, means = found.scores.runs, found.scores.means()[m]
    order = sorted(range(len(runs)), key=lambda r: (-means[r], runs[r]))
    different = np.zeros((len(runs), len(runs)), np.bool_)
    different[found.pairs] = [outcome.word in (BETTER, WORSE) for outcome in found.outcomes[m]]
    different |= different.T
    return {runs[r]: text for r, text in zip(order, letters(different[np.ix_(order, order)]), strict=True)}


def lettered(found: Compared) -> bool:
    """Are the runs few enough for letters?"""
    return len(found.scores.runs) <= MOST_LETTERS


def _arrows(found: Compared, m: int) -> dict[str, str]:
    marks = {BETTER: "↑", WORSE: "↓"}
    said = zip(found.pairs[0].tolist(), found.outcomes[m], strict=True)
    return {found.scores.runs[run]: marks[outcome.word] for run, outcome in said if outcome.word in marks}


def _means_table(found: Compared, baseline: str | None) -> Table:
    """One row per run: the mean of each measure, the best bold (all of them, if several), with letters or arrows.

    Then what tells of holes: the estimate in the measure that leads, where some run has any, and the unjudged share.
    """
    names, runs, means = found.scores.names, found.scores.runs, found.scores.means()
    columns: list[Sequence[Any]] = []
    for m in range(len(names)):
        marks = _arrows(found, m) if baseline is not None else letters_of(found, m) if lettered(found) else {}
        cells = layouts.best(means[m].tolist(), [f"{mean:.4f}" for mean in means[m]])
        columns.append([Shown(cell.text, cell.bold, marks.get(run, "")) for run, cell in zip(runs, cells, strict=True)])
    shown = [f"{run} (baseline)" if run == baseline else run for run in runs]
    lead, more = leading(found.scores.measures), []
    if found.statistics[lead].holed.any():
        more.append(f"{names[lead]} estimated")
        columns.append(found.expected_means()[lead].tolist())
    if found.unjudged is not None:
        more.append(f"unjudged top {found.rule.top_of(found.scores.measures[lead])}")
        columns.append([percent(share) for share in found.unjudged[lead].tolist()])
    return ["run", *names, *more], list(zip(shown, *columns, strict=True))


def _pairs_table(found: Compared, holes: Holes) -> Table:
    """One row per pair and measure: difference, estimate, interval, p values, effect size, topics, holes, outcome."""
    bounded, estimated = holes == "bounds", found.holed
    columns = [*COLUMNS, "ends"] if bounded else list(COLUMNS)
    shares = {
        (found.scores.runs[a], found.scores.runs[b], name): found.statistics[m].from_holes[i]
        for i, (a, b) in enumerate(zip(*(side.tolist() for side in found.pairs), strict=True))
        for m, name in enumerate(found.scores.names)
    }
    rows: list[Row] = []
    for values in _rows(found, holes):
        row = dict(zip(columns, values, strict=True))
        key = row["run_a"], row["run_b"], row["measure"]
        decided, why = row["outcome"] in (BETTER, WORSE), row["why"]
        likely = [_signed(row["estimate"])] if estimated else []
        interval = "-" if row["low"] != row["low"] else f"[{signed(row['low'])}, {signed(row['high'])}]"
        unjudged = "-" if row["unjudged_a"] is None else f"{percent(row['unjudged_a'])} / {percent(row['unjudged_b'])}"
        effect = "-" if row["effect_size"] != row["effect_size"] else signed(row["effect_size"], 2)
        rows.append(
            (
                *key,
                Shown(signed(row["difference"]), decided),
                *likely,
                *(interval, row["p_value"], row["p_adjusted"], effect),
                f"{row['wins']}/{row['ties']}/{row['losses']}",
                unjudged,
                *([percent(shares[key])] if estimated else []),
                f"{row['outcome']}: {why}" if why else row["outcome"],
                *([row["ends"]] if bounded else []),
            )
        )
    head = ["run_a", "run_b", "measure", "difference", *(["estimate"] if estimated else []), "interval", "p"]
    head += ["adjusted", "effect", "won/tied/lost", "unjudged", *(["from holes"] if estimated else []), "outcome"]
    return [*head, *(["ends"] if bounded else [])], rows


def _signed(value: float | None) -> str:
    return "-" if value is None else signed(value)


def _over(found: Compared) -> str:
    return f"over {counted(len(found.scores.topics), 'topic')}"


def _means_caption(found: Compared, baseline: str | None) -> str:
    holes = "; unjudged documents estimated, with their uncertainty" if found.holed else ""
    if baseline is None and not lettered(found):
        return f"Means {_over(found)} ({found.how}{holes}). --pairs shows the outcome of every pair."
    if baseline is None:
        return f"Means {_over(found)}. Runs that share a letter are not told apart ({found.how}{holes})."
    return f"Means {_over(found)}. ↑ ↓: better, worse than {baseline} ({found.how}{holes})."


def _pairs_caption(found: Compared, bounded: bool) -> str:
    text = f"Differences of means {_over(found)}, run_a - run_b ({found.how})."
    if not bounded:
        at_once = " for all pairs at once" if found.test.name in FAMILY_WISE else ""
        text += f" Intervals: {100 * (1 - found.test.alpha):g}% confidence{at_once}"
        if not found.holed:
            return f"{text}."
        return (
            f"{text}, of the estimate: what the difference would be with all documents judged; topics and holes count "
            "together, `from holes` is the share of the variance that judging would take away."
        )
    outer = [name for m, name in enumerate(found.scores.names) if "outer" in _kind_of_ends(found, m)]
    text += " Intervals: the smallest and largest difference that any judgments of the unjudged documents allow"
    text += f" (an outer interval for {', '.join(outer)})" if outer else ""
    return f"{text}; all else with unjudged documents nonrelevant."


def _note_tests(case: Case, found: Compared) -> None:
    """What is odd about the tests."""
    if len(found.scores.topics) == 1:
        case.note("one topic: differences are shown, but nothing can be tested")
    constant = sum(int(s.constant.sum()) for s in found.statistics)
    if constant and found.test.name in ("t", "bootstrap"):
        what = "1 pair differs" if constant == 1 else f"{constant} pairs differ"
        case.note(f"{what} by the same amount on every topic: such a p value says nothing about other topics")
    if len(found.scores.topics) > 1 and (reach := found.out_of_reach):
        case.note(reach)


def _note_gate(case: Case, found: Compared, baseline: str | None) -> None:
    """Of runs against a baseline, or of two runs: why `ci` may say something else about a pair that is not better."""
    said = {outcome.word for outcomes in found.outcomes for outcome in outcomes}
    if (baseline is None and len(found.pairs[0]) > 1) or not said & {CANNOT_TELL, WORSE}:
        return
    case.note(
        "compare asks whether runs differ at all (two-sided), ci whether a loss of its margin is ruled out or sure "
        "(one-sided), so that their answers about a pair may differ without contradiction"
    )


def _verdict(case: Case, found: Compared, baseline: str | None) -> Verdict:
    """How many of the pairs have a decided outcome in the leading measure?"""
    limit, lead = case.limits["safe-comparisons"], leading(found.scores.measures)
    if len(found.scores.topics) == 1:
        return limit.unknown("one topic cannot show that runs differ")
    if not found.scores.varying[lead]:
        return limit.unknown(f"by {found.scores.names[lead]} every run has the same score on every topic")
    said = found.outcomes[lead]
    total, decided = len(said), sum(outcome.decided for outcome in said)
    holes = sum(outcome.why == HOLES for outcome in said)
    hang = [f"{'it hangs' if total == 1 else counted(holes, 'hangs', 'hang')} on unjudged documents"] if holes else []
    name = found.scores.names[lead]
    if baseline is None:
        are = f"{counted(total, 'pair')} {'is' if total == 1 else 'are'}"
        sentence = f"{decided:,} of {are} safe by {name}"
        topics = total - decided - holes
        need = [f"{topics:,} {'needs' if topics == 1 else 'need'} more topics"] if topics else []
        sentence = "; ".join(filter(None, [sentence, ", ".join(need + hang)]))
    else:
        sentence = f"by {name} {_against(baseline, found.scores.runs, said)}"
        sentence = "; ".join([sentence, *hang])
    return limit.verdict(
        sentence,
        decided / total,
        finding=f"{decided:,} of {counted(total, 'pair')} {'is' if total == 1 else 'are'} safe",
        whole=total,
        things="pairs",
        too_few=limit.too_few(topics=len(found.scores.topics)),
        decided_by=found.hanging_on_holes(lead),
        next=next_step(case, found, lead),
    )


def _against(baseline: str, runs: Sequence[str], said: Sequence[Outcome]) -> str:
    """How the runs stand to the baseline: one by its name, several by how many."""
    if len(said) == 1:
        other = next(run for run in runs if run != baseline)
        told = {BETTER: "is better than", WORSE: "is worse than", SAME: "is the same as"}
        return f"{other} {told.get(said[0].word, 'cannot be told apart from')} {baseline}"
    better, worse, same = (sum(outcome.word == word for outcome in said) for word in (BETTER, WORSE, SAME))
    parts = [
        f"{counted(better, 'run') if better else 'no run'} {'are' if better > 1 else 'is'} better than {baseline}",
        f"{worse or 'none'} worse",
    ]
    parts += [f"{same} the same"] if same else []
    if open_ := len(said) - better - worse - same:
        parts += [f"{open_} cannot be told apart from it"]
    return ", ".join(parts)


# -- charts


def _decided(row: dict[str, Any]) -> bool:
    return row["outcome"] in (BETTER, WORSE)


def differences(result: Result) -> Figure:
    """A dot per pair, a line for its interval, a panel per measure; decided ones in full colour; 0 has a line."""
    rows = records(result)
    measures = distinct(rows, "measure")
    size: dict[tuple[str, str], float] = {}
    for row in rows:
        pair = row["run_a"], row["run_b"]
        size[pair] = max(size.get(pair, 0.0), abs(row["difference"]))
    kept = set(sorted(size, key=lambda pair: -size[pair])[:MOST_PAIRS])
    points = [
        {**row, "pair": f"{row['run_a']} - {row['run_b']}", "decided": _decided(row)}
        for row in rows
        if (row["run_a"], row["run_b"]) in kept
    ]
    cut = f" The {MOST_PAIRS} pairs with the largest differences are shown." if len(size) > MOST_PAIRS else ""
    x = {"type": "quantitative", "title": "difference of means"}
    y = marks.names("pair", distinct(points, "pair"))
    filled = {"condition": {"test": "datum.decided", "value": 1}, "value": 0.25}
    shown = ("pair", "difference", "low", "high", "p_adjusted", "wins", "ties", "losses", "outcome", "why")
    ends = {"x": {**x, "field": "low"}, "x2": {"field": "high"}}
    dot = {"x": {**x, "field": "difference"}, "tooltip": marks.as_it_is(*shown)}
    return marks.panels(
        points,
        f"Differences of {len(size)} pairs of runs with their intervals, {len(measures)} measures; "
        f"{sum(map(_decided, rows))} of {len(rows)} differences have a direction (full colour).{cut}",
        marks.names("measure", measures),
        marks.rule_at("x", 0),
        marks.layer("rule", {"color": theme.BLUE}, **ends, y=y, opacity=filled),
        marks.layer("point", {"color": theme.BLUE, "tooltip": True}, **dot, y=y, opacity=filled),
        width=260,
        height={"step": 18},
    )


def map_of_pairs(result: Result, measure: str) -> Figure:
    """Runs against runs in one measure, the best 60: the one with the higher mean in the row, and the outcome."""
    rows = records(result)
    here = [row for row in rows if row["measure"] == measure]
    order = by_mean(here)
    runs = order[:MOST_RUNS]
    many = Counter(str(row["why"] or ("better" if _decided(row) else row["outcome"])) for row in here)
    told = ", ".join(f"{many[key]} {said}" for key, (_, _, _, said) in TOLD.items() if many[key])
    cut = f" The best {MOST_RUNS} runs are shown." if len(order) > MOST_RUNS else ""
    x = {**marks.names("other", runs, "other run"), "axis": {**marks.SPARSE, "labelAngle": -90, "labelLimit": 80}}
    y = {**marks.names("higher", runs, "run with the higher mean"), "axis": marks.SPARSE}
    words, _, colours, _ = map(list, zip(*TOLD.values(), strict=True))
    colour = marks.field("told", "nominal", "the run in the row is", scale={"domain": words, "range": colours})
    tooltip = marks.tips("higher", "other", ("difference", ".4f"), ("p_adjusted", ".4f"), "outcome", "why")
    sign = {"fontSize": 10, "color": "#000000", "aria": False}
    return marks.chart(
        rows,
        f"Pairs of {len(runs)} runs by {measure}: {told}.{cut}",
        marks.layer("rect", {"stroke": theme.GREY, "strokeWidth": 0.3}, x=x, y=y, color=colour, tooltip=tooltip),
        marks.layer("text", sign, x=x, y=y, text={"field": "sign"}),
        transform=_fields(measure, runs),
        width=560,
        height=max(200, 14 * len(runs)),
    )


def by_mean(rows: Records) -> list[str]:
    """The runs of one measure, best first: as every run has a pair with one of them, differences tell the order."""
    pairs = [(row["run_a"], row["run_b"], row["difference"]) for row in rows]
    runs = list(dict.fromkeys(run for a, b, _ in pairs for run in (a, b)))
    times = Counter(run for a, b, _ in pairs for run in (a, b))
    with_all = max(runs, key=times.__getitem__, default="")
    above = {with_all: 0.0}
    for a, b, difference in pairs:
        if b == with_all:
            above[a] = difference
        elif a == with_all:
            above[b] = -difference
    return sorted(runs, key=lambda run: (-above.get(run, 0.0), run))


def _fields(measure: str, runs: list[str]) -> list[dict[str, Any]]:
    """What the map computes from the rows of the table: the fields of this measure and of these runs."""
    known = {
        key: "{" + ", ".join(f"'{k}': '{v[i]}'" for k, v in TOLD.items()) + "}"
        for i, key in enumerate(("told", "sign"))
    }
    key = "[datum.why || (datum.outcome == 'worse' ? 'better' : datum.outcome)]"
    return [
        {"filter": {"field": "measure", "equal": measure}},
        {"filter": {"and": [{"field": "run_a", "oneOf": runs}, {"field": "run_b", "oneOf": runs}]}},
        {"calculate": "datum.difference < 0 ? datum.run_b : datum.run_a", "as": "higher"},
        {"calculate": "datum.difference < 0 ? datum.run_a : datum.run_b", "as": "other"},
        *({"calculate": known[name] + key, "as": name} for name in known),
    ]
