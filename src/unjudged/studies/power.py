"""Discriminative power: how many pairs of runs a measure tells apart (Sakai 2006; 2007, table 3; 2009, tables 6, 7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unjudged.collection import Floats
from unjudged.errors import as_usage_errors
from unjudged.figures import power as charts
from unjudged.results import Row, Verdict
from unjudged.statistics.pairs import all_pairs
from unjudged.studies import layouts
from unjudged.studies.engine.answer import Answer, Answers, Table
from unjudged.studies.engine.case import Case
from unjudged.studies.engine.groups import Runs, Scoring, Testing
from unjudged.studies.engine.setup import Matrices, matrices
from unjudged.studies.engine.significance import Test
from unjudged.studies.engine.study import register
from unjudged.studies.engine.workdir import Arrays

COLUMNS = ("measure", "runs", "pairs", "significant", "power", "required_difference")
PAIRS = ("measure", "run_a", "run_b", "difference", "p_value", "significant")


@dataclass(frozen=True, eq=False)
class _Shared:
    """What every worker needs."""

    scores: Matrices
    test: Test


def tested(shared: _Shared, m: int) -> Arrays:
    """One work unit: every pair of runs tested in one measure."""
    matrix = np.ascontiguousarray(shared.scores.values[m])
    with as_usage_errors():
        found = shared.test.run(matrix)
        required = shared.test.required_difference(matrix, found)
    return {"p_value": found.p_value, "difference": found.difference, "required": np.array(required)}


@dataclass(frozen=True, eq=False)
class Powers:
    """p values and differences, measures x pairs, and what follows from them."""

    scores: Matrices
    p_value: Floats
    difference: Floats
    required: list[float]
    alpha: float

    @property
    def significant(self) -> list[int]:
        """Per measure, the number of significant pairs."""
        return [int(n) for n in (self.p_value < self.alpha).sum(axis=1)]

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return int(self.p_value.shape[1])


def _together(answers: Answers) -> Table:
    """Table 3 of Sakai 2007: the collections side by side."""
    head: list[str] = []
    for case, _ in answers:
        head += [case.name, "disc. power", "diff. required"]
    blocks = [answer.laid_out()[1] for _, answer in answers]
    return head, [tuple(cell for part in line for cell in part) for line in zip(*blocks, strict=True)]


@register(
    "power",
    help="which measure tells most pairs of runs apart",
    cite="sakai2006",
    figures={"pairs": ("significance",), "": ("power",)},
    scores=True,
    together=_together,
)
def power(case: Case, scoring: Scoring, runs: Runs, testing: Testing, *, pairs: bool = False) -> Answer:
    """Which measure tells most pairs of runs apart?

    Every pair of runs is tested (paired bootstrap of Sakai 2006 unless --test says t, wilcoxon or permutation), without
    a correction for the number of pairs, as in the papers. The table ranks the measures by the share of significant
    pairs and tells the difference in score that is needed for significance with this number of topics. --pairs lists
    the pairs.
    """
    how = testing.of(runs.seed)
    scores, settings = matrices(case, scoring, runs)
    units = list(range(len(scores.measures)))
    values = case.run(tested, _Shared(scores, how), units, f"{len(scores.runs)} runs")
    found = Powers(
        scores,
        np.stack([v["p_value"] for v in values]),
        np.stack([v["difference"] for v in values]),
        [float(v["required"]) for v in values],
        how.alpha,
    )
    return Answer(
        PAIRS if pairs else COLUMNS,
        _pair_rows(found) if pairs else _rows(found),
        _verdict(case, found),
        None if pairs else lambda: _table(found),
        {"significance": charts.significance} if pairs else {"power": charts.power},
        "" if pairs else f"Discriminative power at alpha {how.alpha:g}, and the difference required for significance.",
        settings={**settings, **how.settings()},
        seed=runs.seed,
    )


def _rows(found: Powers) -> list[Row]:
    return [
        (name, len(found.scores.runs), found.pairs, many, many / found.pairs, required)
        for name, many, required in zip(found.scores.names, found.significant, found.required, strict=True)
    ]


def _pair_rows(found: Powers) -> list[Row]:
    rows: list[Row] = []
    runs = found.scores.runs
    first, second = all_pairs(len(runs))
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    for m, name in enumerate(found.scores.names):
        p, difference = found.p_value[m].tolist(), found.difference[m].tolist()
        for k, (a, b) in enumerate(pairs):
            rows.append((name, runs[a], runs[b], difference[k], p[k], "yes" if p[k] < found.alpha else "no"))
    return rows


def _table(found: Powers) -> Table:
    """Measures by power."""
    many = found.significant
    order = sorted(range(len(many)), key=lambda m: -many[m])
    shares = [f"{n}/{found.pairs} = {layouts.percent(n / found.pairs)}" for n in many]
    bold = layouts.best([float(n) for n in many], shares)
    needed = [layouts.plain(required, 3) for required in found.required]
    rows: list[Row] = [(found.scores.names[m], bold[m], layouts.Shown(needed[m])) for m in order]
    return ["measure", "disc. power", "diff. required"], rows


def _verdict(case: Case, found: Powers) -> Verdict:
    """Which measure tells most pairs apart, and is that many?"""
    limit = case.limits["which-measure"]
    names, many = found.scores.names, found.significant
    most, least = (pick(range(len(many)), key=many.__getitem__) for pick in (max, min))
    sentence = f"{names[most]} tells most pairs of runs apart, {many[most]} of {found.pairs}"
    if len(many) == 1:
        sentence = f"{names[0]} tells {many[0]} of {found.pairs} pairs of runs apart"
    if many[least] < many[most]:
        sentence += f"; {names[least]} fewest, {many[least]}"
    few = limit.too_few(runs=len(found.scores.runs), topics=len(found.scores.topics))
    step = case.step("see which measures order the runs alike", "study", "agreement", flags=["-m", ",".join(names)])
    share = many[most] / found.pairs
    return limit.verdict(sentence, share, too_few=few, decided_by=(names[most],), next=step)
