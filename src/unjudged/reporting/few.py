"""The page of 2 to 5 runs: the outcome of each pair, what to judge next, holes and estimates, topic by topic."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unjudged.reporting.drawings import shapes
from unjudged.reporting.drawings.shapes import Axis, Drawing
from unjudged.reporting.sections import Asking, Section
from unjudged.results import Result, Step
from unjudged.studies.engine.case import words_of
from unjudged.studies.engine.outcome import seen_from
from unjudged.studies.few_runs import FEW, FewRuns, few_runs, standing
from unjudged.text import begun, counted, signed

if TYPE_CHECKING:
    from markupsafe import Markup

FIRST, LAST = 5, 3
"""Topics listed on which the first run loses most, and wins most."""
ROOMY = 6
"""Up to so many pairs a cell has room for what stands behind its number."""
EXACT = 0.0005
"""An interval narrower than this is not told: three decimals would be the same."""
IDEAL = (
    " Exact: no unjudged document stands in these top lists. Lower scores are possible all the same: nDCG divides by "
    "the best list there could be, which any relevant document still to be found would make better."
)
RANK = re.compile(r"(\S+):(\d+)")
MOVES = re.compile(r"[+-]\d\.\d+")
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}


@dataclass(frozen=True)
class Pair:
    """The outcome of two runs: the word is about the first."""

    word: str
    names: str
    sentence: str
    drawing: Markup
    why: str
    runs: tuple[str, str]


@dataclass(frozen=True)
class Block:
    """A folded part of the page with its own table or chart."""

    key: str
    question: str
    short: str
    sentence: str
    drawing: Drawing | None = None
    csv: str = ""
    table: Markup | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class Few:
    """What the page of few runs shows."""

    many: str
    lead: str
    pairs: tuple[Pair, ...]
    steps: tuple[Step, ...]
    blocks: tuple[Block, ...]
    legend: str


def few_of(asking: Asking, answers: Sequence[Section]) -> Few | None:
    """The reading of 2 to 5 runs; None where there are more, or where no pair was compared."""
    from unjudged.reporting.page import csv_of

    if asking.judged is None or len(asking.judged.runs) > FEW:
        return None
    found = {s.key: s for s in answers}
    rows = _rows(found["safe-comparisons"].result)
    winners = _rows(found["winners"].result)
    if not rows or not winners:
        return None
    means = {row["run"]: row["value"] for row in winners}
    measure, topics = rows[0]["measure"], len(asking.collection.topics)
    pairs = _pairs([row for row in rows if row["measure"] == measure], means, topics)
    open_ = next((p for p in pairs if p.why == "holes"), next((p for p in pairs if p.word == "cannot tell"), pairs[-1]))
    chosen = asking.settings.rel, asking.settings.seed
    asked = few_runs(asking.judged, asking.settings.measures, open_.runs, *chosen, open_.why == "holes")
    blocks = [
        _judge_next(asking, asked, open_),
        _holes(asking, asked, found["never-judged"]),
        _differ(asking, asked, open_, csv_of),
    ]
    lead = f"{begun(standing(rows, means, measure))}."
    legend = ""
    if any(row.get("estimate") not in (None, row["difference"]) for row in rows):
        legend = "Diamond: unjudged documents count as nonrelevant. Dot and bar: estimate with its 95 % interval."
    return Few(
        NUMBERS[len(means)],
        lead,
        tuple(pairs),
        tuple(_steps(asking, asked, pairs, open_, found, measure)),
        tuple(block for block in blocks if block is not None),
        legend,
    )


def _rows(result: Result) -> list[dict[str, Any]]:
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows()]


def _pairs(rows: Sequence[Mapping[str, Any]], means: Mapping[str, float], topics: int) -> list[Pair]:
    """Open pairs first, then the largest differences; the run with the higher mean is named first."""
    ends = [v for row in rows for v in (row["low"], row["high"], -row["low"], -row["high"]) if v == v]
    axis = Axis.over([*ends, 0.0], 4)
    found = []
    for row in rows:
        turn = -1 if row["difference"] < 0 else 1
        a, b = (row["run_a"], row["run_b"]) if turn > 0 else (row["run_b"], row["run_a"])
        word, likely, margin = seen_from(row, a)
        known = margin == margin
        sentence = _said(row, word, likely, margin if known else None, topics, a, len(rows) > ROOMY)
        low, high = sorted((turn * row["low"], turn * row["high"]))
        drawing = shapes.span(axis, turn * row["difference"], likely, low, high) if known else shapes.markup("")
        found.append(
            (word != "cannot tell", -abs(likely), Pair(word, f"{a} against {b}", sentence, drawing, row["why"], (a, b)))
        )
    return [pair for _, _, pair in sorted(found, key=lambda one: one[:2])]


def _said(
    row: Mapping[str, Any], word: str, likely: float, margin: float | None, topics: int, first: str, brief: bool
) -> str:
    """Why the word; `brief`: nothing beyond the difference."""
    measure = row["measure"]
    take = f", give or take {margin:.2f}" if margin is not None else ""
    if word == "same":
        return f"The difference in {measure} is {signed(likely, 2)}{take}: too small to matter."
    if word == "cannot tell":
        shares = [row[side] for side in ("unjudged_a", "unjudged_b") if row[side] is not None]
        if brief:
            return f"{'Holes' if row['why'] == 'holes' else 'Too few topics'}: {signed(likely, 2)} in {measure}{take}."
        if row["why"] == "holes":
            part = f"{100 * max(shares, default=0.0):.0f}"
            where = f"{part} % of a top list was" if part != "0" else "documents further down the lists were"
            return f"Holes decide: {where} never judged. {signed(likely, 2)} in {measure}{take}."
        return f"{signed(likely, 2)} in {measure}{take}: {counted(topics, 'topic')} are too few to tell."
    if brief:
        return f"By {abs(likely):.2f} in {measure}{take}."
    wins, losses = (row["wins"], row["losses"]) if first == row["run_a"] else (row["losses"], row["wins"])
    return f"By {abs(likely):.2f} in {measure}{take}; it wins {wins} topics and loses {losses}."


def _steps(
    asking: Asking, asked: FewRuns, pairs: Sequence[Pair], open_: Pair, found: Mapping[str, Section], measure: str
) -> list[Step]:
    """Decide what is open, first by what costs nothing, then keep it decided."""
    steps = []
    a, b = open_.runs
    words = words_of(asking.collection)
    if open_.why == "holes" and asked.judged_by != asked.measure and asked.judged_at_the_top:
        said = f"compare by {asked.measure}, for which no judgment is missing"
        effect = f"every document it looks at in {a} and {b} was judged"
        steps.append(Step(said, ("compare", *words, "-m", asked.measure), effect))
    to_judge = asked.to_judge
    if to_judge is not None and not to_judge.settled and to_judge.labels:
        said = f"{'or ' if steps else ''}judge about {counted(to_judge.labels, 'document')} to decide {a} against {b}"
        effect = f"these labels are expected to settle it by {asked.judged_by}"
        steps.append(Step(said, ("next", *words, "--new", a, "--baseline", b, "-m", asked.judged_by), effect))
    many = sum(pair.why == "topics" for pair in pairs)
    if many:
        next_ = Step(
            f"add topics before you choose between {a} and {b}" if open_.why == "topics" else "add topics",
            ("study", "reliability", *words, "-m", measure),
            f"{counted(many, 'pair')} of {len(pairs)} {'is' if many == 1 else 'are'} open for want of topics",
        )
        steps.append(next_)
    qrels, new, base = words[0], *_files(asking, (a, b))
    steps.append(
        Step(
            f"let your tests ask whether {a} stays as good as {b}",
            ("ci", qrels, new, "--baseline", base, "-m", measure),
            "exit code 0 pass, 1 fail, 3 cannot tell",
        )
    )
    contents = found["contents"].verdict
    if contents is not None and contents.next is not None:
        steps.append(contents.next)
    return steps


def _files(asking: Asking, runs: tuple[str, str]) -> tuple[str, str]:
    """The files of two runs, as a command names them."""
    from unjudged.io.files import run_name

    sources = () if asking.judged is None else asking.judged.full.sources[1:]
    named = {run_name(source): source for source in sources}
    a, b = (named.get(run, run) for run in runs)
    return a, b


# -- the blocks


def _judge_next(asking: Asking, asked: FewRuns, open_: Pair) -> Block | None:
    found = asked.to_judge
    if found is None or found.settled:
        return None
    rows = _rows(found)
    a, b = open_.runs
    cells = [
        (i, _topic(asking, row["topic"]), row["doc"], _returned(row["runs"]), *_moves(row["why"]))
        for i, row in enumerate(rows, 1)
    ]
    table = _table(
        ("#", "topic", "document", "returned by", "if relevant", "if not"), cells, (0, 4, 5), "Documents to judge next"
    )
    many = f" of about {found.labels:,}" if found.labels else ""
    return Block(
        "judge-next",
        "Judge these next",
        f"{len(rows)}{many} documents, most useful first",
        f"{len(rows)}{many} documents that decide {a} against {b} by {asked.judged_by}, most useful first, and what a "
        "label does to the difference.",
        table=table,
        command=("next", *words_of(asking.collection), "--new", a, "--baseline", b, "-m", asked.judged_by),
    )


def _returned(runs: str) -> str:
    """`new:3 old:14` as a reader says it."""
    return "; ".join(RANK.sub(r"\1, rank \2", one) for one in runs.split(" "))


def _moves(why: str) -> tuple[str, str]:
    """What a label does to the difference, if the document is relevant and if it is not."""
    up, down = MOVES.findall(why)
    return up, down


def _holes(asking: Asking, asked: FewRuns, holes: Section) -> Block | None:
    if asked.estimates is None:
        return None
    counts: dict[str, tuple[int, int]] = {}
    for row in _rows(holes.result):
        if int(str(row["ranks"]).split("-")[-1]) <= 10:
            documents, unjudged = counts.get(row["run"], (0, 0))
            counts[row["run"]] = documents + row["documents"], unjudged + row["unjudged"]
    cells, beyond = [], False
    for row in sorted(_rows(asked.estimates), key=lambda row: (-row["judged"], row["run"])):
        documents, unjudged = counts.get(row["run"], (0, 0))
        likely = "cannot tell" if row["estimate"] is None else f"{row['estimate']:.3f}"
        between = "" if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}"
        exact = row["low"] is not None and row["high"] - row["low"] < EXACT
        beyond |= exact and row["highest"] - row["lowest"] >= EXACT
        possible = f"{row['lowest']:.3f} to {row['highest']:.3f}"
        numbers = (f"{row['judged']:.3f}", likely, "exact" if exact else between, possible)
        cells.append((row["run"], f"{unjudged} of {documents}", *numbers))
    head = ("run", "unjudged in the top 10", asked.measure, "estimated", "90 % interval", "possible")
    worst = max(counts, key=lambda run: counts[run][1]) if counts else ""
    none = not counts or not counts[worst][1]
    said = (
        "Every document in the top 10 was judged."
        if none
        else f"{worst} has most: {counts[worst][1]} of {counts[worst][0]} documents in the top 10."
    )
    return Block(
        "holes",
        "How much was never judged?",
        said.rstrip("."),
        f"{said} Counting unjudged documents as nonrelevant lowers a score; the estimate does not.{IDEAL * beyond}",
        table=_table(head, cells, (1, 2, 3, 4, 5), "Unjudged documents and estimates"),
    )


def _differ(asking: Asking, asked: FewRuns, open_: Pair, csv_of: Any) -> Block:
    rows = sorted(_rows(asked.topics), key=lambda row: -row["difference"])
    a, b = open_.runs
    measure = rows[0]["measure"]
    wins = sum(row["difference"] > 0 for row in rows)
    losses = sum(row["difference"] < 0 for row in rows)
    ties = len(rows) - wins - losses
    chosen = [*rows[: -FIRST - 1 : -1], *rows[:LAST][::-1]] if len(rows) > FIRST + LAST else rows[::-1]
    cells = [
        (_topic(asking, row["topic"]), f"{row['a']:.3f}", f"{row['b']:.3f}", signed(row["difference"], 3))
        for row in chosen
    ]
    about = f"{a} minus {b} in {measure}, one column per topic, largest first."
    words = (counted(wins, "win"), counted(ties, "tie"), f"{losses} losses" if losses != 1 else "1 loss")
    section = Section("differ", "", "", asked.topics)
    drawing = Drawing(
        f"{a} wins {wins} topics, ties {ties} and loses {losses}",
        about,
        shapes.signed_columns([r["difference"] for r in rows], words),
    )
    return Block(
        "differ",
        f"Where do {a} and {b} differ?",
        f"{a} wins {wins} topics, ties {ties} and loses {losses}",
        f"Below are the {FIRST} topics on which {a} loses most, and the {LAST} on which it wins most."
        if len(rows) > FIRST + LAST
        else "All topics, the largest loss first.",
        drawing=drawing,
        csv=csv_of(section),
        table=_table(("topic", a, b, "difference"), cells, (1, 2, 3), "Topics on which the runs differ most"),
    )


def _topic(asking: Asking, topic: str) -> Markup | str:
    text = asking.queries.get(topic)
    return topic if text is None else shapes.markup(f"{shapes.escaped(text)} <small>{shapes.escaped(topic)}</small>")


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]], numbers: Sequence[int], label: str) -> Markup:
    """A plain table."""

    def cell(tag: str, i: int, value: Any, scope: str = "") -> str:
        kind = ' class="number"' if i in numbers else ""
        return f"<{tag}{scope}{kind}>{shapes.escaped(value)}</{tag}>"

    top = "".join(cell("th", i, name, ' scope="col"') for i, name in enumerate(head))
    body = "".join(f"<tr>{''.join(cell('td', i, v) for i, v in enumerate(row))}</tr>" for row in rows)
    table = f'<table class="topics"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'
    return shapes.markup(
        f'<div class="wider" tabindex="0" role="region" aria-label="{shapes.escaped(label)}">{table}</div>'
    )
