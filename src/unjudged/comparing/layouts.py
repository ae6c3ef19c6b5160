"""How a comparison reads in a paper: means with letters or arrows, pairs with intervals, the caption, the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unjudged.comparing.significance import CORRECTED, FAMILY_WISE
from unjudged.results import Row, Shown, Verdict

if TYPE_CHECKING:
    from unjudged.comparing.compare import Comparison

_EQUAL = 1e-12


def of_means(c: Comparison) -> tuple[Sequence[str], list[Row]]:
    """One row per run: the mean of each measure, the best bold (all of them, if several), with letters or arrows."""
    marks = [_arrows(c, m) if c.baseline is not None else c.letters(measure) for m, measure in enumerate(c.measures)]
    best = c.means.max(axis=1)
    rows: list[Row] = [
        (
            f"{run} (baseline)" if run == c.baseline else run,
            *(
                Shown(f"{c.means[m, r]:.4f}", bool(c.means[m, r] >= best[m] - _EQUAL), marks[m].get(run, ""))
                for m in range(len(c.measures))
            ),
        )
        for r, run in enumerate(c.runs)
    ]
    return ["run", *map(str, c.measures)], rows


def _arrows(c: Comparison, m: int) -> dict[str, str]:
    found = zip(c.pairs[0].tolist(), c.significant(m).tolist(), c.statistics[m].difference.tolist(), strict=True)
    return {c.runs[run]: "↑" if difference > 0 else "↓" for run, significant, difference in found if significant}


def of_pairs(c: Comparison) -> tuple[Sequence[str], list[Row]]:
    """One row per pair and measure: difference with its interval, p values, effect size, topics won, tied, lost."""
    rows: list[Row] = []
    for row in c.rows():
        a, b, measure, difference, low, high, p, adjusted, effect, wins, ties, losses, *outcome = row
        interval = "-" if low != low else f"[{_signed(low)}, {_signed(high)}]"
        counts = f"{wins}/{ties}/{losses}"
        shown = (
            Shown(_signed(difference), adjusted < c.test.alpha),
            interval,
            p,
            adjusted,
            "-" if effect != effect else _signed(effect, 2),
            counts,
        )
        rows.append((a, b, measure, *shown, *outcome))
    columns = ["run_a", "run_b", "measure", "difference", "interval", "p", "adjusted", "effect", "won/tied/lost"]
    return [*columns, *(["outcome", "ends"] if c.open_to is not None else [])], rows


def _signed(value: float, digits: int = 4) -> str:
    """+0.1234, -0.0500; no sign before nothing."""
    text = f"{value:+.{digits}f}"
    return text if float(text) else text[1:]


def caption(c: Comparison) -> str:
    """What the reader must know: topics, what letters, arrows and intervals mean, test, correction, alpha."""
    number = len(c.topics)
    over = f"over {number} topic{'s' * (number != 1)}"
    corrected = "" if c.test.name in FAMILY_WISE else f", {_corrected(c)}"
    how = f"two-sided {c.test.caption}{corrected}, alpha = {c.test.alpha:g}"
    if c.shown == "pairs":
        return f"Differences of means {over}, run_a - run_b ({how}). {_interval_words(c)}"
    if c.baseline is not None:
        return f"Means {over}. ↑ ↓: significantly better, worse than {c.baseline} ({how})."
    return f"Means {over}. Runs that share a letter do not differ significantly ({how})."


def _corrected(c: Comparison) -> str:
    return f"{CORRECTED[c.correction]} within each measure" if c.correction != "none" else "not corrected"


def _interval_words(c: Comparison) -> str:
    if c.open_to is None:
        at_once = " for all pairs at once" if c.test.name in FAMILY_WISE else ""
        return f"Intervals: {100 * (1 - c.test.alpha):g}% confidence{at_once}."
    text = "Intervals: the smallest and largest difference that any judgments of the unjudged documents allow"
    outer = [str(m) for m, interval in zip(c.measures, c.open_to, strict=True) if not interval.exact]
    text += f" (an outer interval for {', '.join(outer)})" if outer else ""
    return f"{text}; all else with unjudged documents nonrelevant."


def verdict(c: Comparison) -> Verdict:
    """What the first measure says, in one sentence."""
    measure, how = c.measures[0], f"{c.test.caption}, alpha {c.test.alpha:g}"
    if len(c.topics) == 1:
        return Verdict("unknown", "one topic cannot show that runs differ", 1.0, "at least 2 topics")
    if c.open_to is not None:
        return _open_verdict(c)
    significant = c.significant(0)
    number, total = int(significant.sum()), len(significant)
    word = "solid" if number == total else "with care" if number else "fragile"
    share = number / total
    if c.baseline is not None:
        better = int((significant & (c.statistics[0].difference > 0)).sum())
        return Verdict(
            word,
            f"in {measure}, {_runs(better)} significantly better than {c.baseline}, {number - better} worse, "
            f"{total - number} cannot be told from it",
            share,
            how,
        )
    best = int(np.argmax(c.means[0]))
    rivals = int((((c.pairs[0] == best) | (c.pairs[1] == best)) & ~significant).sum())
    leader = (
        f"{c.runs[best]} is significantly better than every other run"
        if not rivals
        else f"{c.runs[best]} leads, but {_runs(rivals, 'cannot', 'cannot')} be told from it"
    )
    return Verdict(word, f"in {measure}, {leader}; {number} of {total} pairs differ significantly", share, how)


def _open_verdict(c: Comparison) -> Verdict:
    assert c.open_to is not None
    outcomes = c.open_to[0].outcomes()
    decided = len(outcomes) - outcomes.count("cannot tell")
    word = "solid" if decided == len(outcomes) else "with care" if decided else "fragile"
    return Verdict(
        word,
        f"in {c.measures[0]}, {decided} of {len(outcomes)} pairs keep their order whatever the unjudged documents are",
        decided / len(outcomes),
        f"{'exact' if c.open_to[0].exact else 'outer'} intervals",
    )


def _runs(number: int, one: str = "is", many: str = "are") -> str:
    return f"1 run {one}" if number == 1 else f"{number} runs {many}"
