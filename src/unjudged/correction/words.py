"""Corrections in words: what each quantity means, what the trial on the pool showed, what to be careful about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unjudged.collection import Pool
from unjudged.correction.errors import printed
from unjudged.measures import Measure
from unjudged.results import Row, Verdict

if TYPE_CHECKING:
    from unjudged.correction.correcting import Corrected

_RECALL_BASED = ("AP", "Q", "R", "Rprec", "R_measure", "GAP")


def table(found: Sequence[Corrected], pool: Pool) -> tuple[Sequence[str], list[Row]]:
    """One line per quantity: its value and what it says."""
    several = len({c.run for c in found}) > 1
    rows: list[Row] = []
    for c in found:
        lines = _lines(c)
        rows += [((c.run, *line) if several else line) for line in lines]
    names = ("quantity", "value", "in words")
    return (("run", *names) if several else names), rows


def _lines(c: Corrected) -> list[tuple[str, str, str]]:
    """The quantities of one corrected score."""
    q, n = c.quantities, c.measure
    lines = []
    if q:
        lines = [
            (n, printed(q["p"]), "share of judged relevant documents among the first places"),
            (f"anti-{n}", printed(q["anti"]), "share of judged nonrelevant documents there"),
            ("k", printed(q["k"]), "share of places nobody judged: the most the score could rise"),
        ]
        if c.method in ("lipani", "lipani-v2", "per-topic"):
            lines += [
                ("Delta P", f"{q['delta_p']:+.4f}", _delta_p(q["delta_p"], c.peers)),
                ("Delta anti-P", f"{q['delta_anti_p']:+.4f}", _delta_anti(q["delta_anti_p"])),
                ("Delta k", f"{q['delta_k']:+.4f}", _delta_k(q["delta_k"])),
            ]
        if c.method == "lipani":
            lines.append(("lambda", f"{q['lambda']:+.6f}", _lambda(q["lambda"])))
    else:
        lines = [(n, printed(c.score), "score with the judgments as they are")]
    if c.refused:
        assert c.trust is not None
        return [*lines, (f"corrected {n}", "refused", c.trust.sentence())]
    lines.append((f"{c.method} adds", f"{c.adjustment:+.4f}", _added(c)))
    low, high = c.interval()
    where = "" if low is None or high is None else f"; {printed(low)} to {printed(high)} judged by left-out runs"
    lines.append(
        (f"corrected {n}", printed(c.score + c.adjustment), f"what the run might have scored in the pool{where}")
    )
    if c.trust:
        lines.append(("trial", printed(c.trust.after), c.trust.sentence()))
    return lines


def _delta_p(value: float, peers: int) -> str:
    change = "raises" if value > 0 else "lowers" if value < 0 else "does not change"
    return f"the run's order {change} the P of the {peers} pooled runs on average"


def _delta_anti(value: float) -> str:
    if value < 0:
        return "it pushes judged nonrelevant documents down in them"
    return "it pulls judged nonrelevant documents up in them" if value > 0 else "judged nonrelevant documents stay"


def _delta_k(value: float) -> str:
    if value > 0:
        return "it brings unjudged documents to their top: the share of k that is added"
    return "it brings no unjudged documents to their top: nothing can be added"


def _lambda(value: float) -> str:
    if value > 0:
        return "positive: better than the pool can tell, so the score is corrected"
    return "not positive: no sign that the pool treats this run unfairly, so the score stays"


def _added(c: Corrected) -> str:
    if c.method == "webber-park":
        return f"mean loss of the {c.peers} pooled runs when each is left out of the pool"
    if c.method == "webber-recall":
        return f"the same loss of the {c.peers} pooled runs, each topic scaled by the relevant documents left"
    if c.method == "webber-ratio":
        return "k times the pooled runs' typical loss per unjudged place when left out"
    if c.method == "per-topic":
        return "k times Delta k in each topic where the indicator says so, averaged"
    return "k times Delta k" if c.adjustment else "nothing"


def verdict(found: Sequence[Corrected]) -> Verdict:
    """The first correction in one sentence."""
    first = found[0]
    if first.trust is None:
        return Verdict("unknown", f"{first.measure} of {first.run} was corrected without a trial on the pool")
    word = "with care" if first.trust.helps else "fragile"
    return Verdict(word, first.trust.sentence(), first.trust.after, f"below {first.trust.before:.4f} without it")


def explained(pool: Pool, left: str | None, confidence: float) -> str:
    """The words under the table."""
    tried = (
        f" Tried by leaving each {left} out of the pool; intervals hold for {confidence:.0%} of such runs."
        if left
        else ""
    )
    return f"Pool: top {pool.depth} of {len(pool.runs)} runs.{tried}"


def away_from_truth(measure: Measure) -> list[str]:
    """A caution for measures that divide by the number of relevant documents."""
    uncut = measure.name == "nDCG" and not measure.params.get("k")
    if measure.name not in _RECALL_BASED and not uncut:
        return []
    return [
        f"{measure} divides by the known relevant documents: correction brings it nearer to the full pool's score, "
        "not to the true one, which is lower because the pool misses relevant documents (docs/correction.md)"
    ]
