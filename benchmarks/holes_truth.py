"""Hide judgments, estimate and decide without them, and compare with what they say: how good is the hole model?

    python benchmarks/holes_truth.py run OUT.jsonl --data ../shared/data --jobs 2     # continues where it stopped
    python benchmarks/holes_truth.py run OUT.jsonl --simulated 1,2 --only adhoc        # simulated collections
    python benchmarks/holes_truth.py show OUT.jsonl                                    # the tables of docs/holes.md

Four kinds of work, one line of OUT.jsonl each: `scores` (a setting hides judgments: estimates of runs and outcomes of
pairs, against those with all judgments), `others` (outcomes of pairs by measures without weights, under completions of
the judgments), `labels` (a pair is settled by judging in different orders; with the order of the model also once more
with a batch that confirms it, and beside the labels expected) and `lists` (the best one of eight runs, the best three,
or all pairs are settled by judging in different orders). Documents in
the first ten ranks that nobody judged count as nonrelevant throughout. Settings: `lto` what one team alone brought in
is hidden; `family` a quarter of the teams; `shallow5`, `shallow3` a pool of that depth; `few` three pooled runs and
three new ones, nothing else; `engineer` a third of the teams hidden, and only one to three runs of one of them and one
or two others given. Starts of `labels`, with six runs of six teams: `few`, `shallow2` (top 2 of the six), `nothing`
(top 1). Orders: by best rank of the two, at random, rrf over the six, the run with the better yield first, largest
weight (mtc: Carterette, Allan and Sitaraman 2006), weight times chance, and the model; on request (`--orders`) also
strategies of `pool build` as programs. `lists` begin with the top 2 of
the eight runs; depth and rrf look at all eight, mtc adds up the weights in all open pairs.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import unjudged as uj
from unjudged.holes.effects import by_completions
from unjudged.holes.estimates import Estimate, Limits, estimates
from unjudged.holes.judging import Question, standing
from unjudged.holes.order import values
from unjudged.holes.pairs import CANNOT_TELL, decide, differences
from unjudged.holes.reading import read
from unjudged.holes.weights import Weights, weigh
from unjudged.measures import Measure, measures
from unjudged.statistics.pairs import all_pairs
from unjudged.thresholds import default_thresholds

MEASURES = measures("P@10, nDCG@10, RBP(p=0.8)@10")
OTHERS = measures("AP, Q, RR, bpref")
KINDS = ("scores", "others", "labels", "lists")
SETTINGS = ("lto", "family", "shallow5", "shallow3", "few", "engineer")
STARTS = ("few", "shallow2", "nothing")
ORDERS = ("depth", "random", "rrf", "maxmean", "mtc", "mtc-p", "model")
PROGRAMS = ("borda", "combmnz", "rbp-c", "hedge", "move-to-front", "max-mean", "ucb1-tuned", "thompson")
"""Strategies of `pool build`, over the two runs; those that learn are told every grade."""
AIMS: dict[str, dict[str, Any]] = {"top 1": {"top": 1}, "top 3": {"top": 3}, "all pairs": {"all_pairs": True}}
"""Questions about several runs."""
LIST_ORDERS = ("depth", "random", "rrf", "mtc", "model")
REAL = {"dl19": ("dl19-passage", 10), "trec2": ("trec2-adhoc", 100), "robust03": ("robust03", 100)}
"""Name -> folder and depth of the pool."""
TOP = 10
BATCH = 10
PAIRS = 30
"""Pairs of runs looked at in one setting."""
LIMITS = Limits.of(default_thresholds()["score-range"])

Unit = dict[str, Any]


# -- collections with all their judgments


@cache
def collection(name: str, data: str) -> tuple[uj.Collection, int]:
    """A collection whose first ten ranks are judged throughout, and the depth of its pool."""
    warnings.simplefilter("ignore")
    if name in REAL:
        folder, depth = Path(data) / REAL[name][0], REAL[name][1]
        found = uj.load(
            folder / "qrels.txt.gz", folder / "runs", teams=folder / "teams.tsv", lenient=True, truncate=100
        )
    else:
        kind, seed = name.split("-")
        made, depth = Path(tempfile.mkdtemp()) / name, 100
        how: Any = {"mechanism": "latent"} if kind == "latent" else {"preset": kind}
        uj.simulate(**how, seed=int(seed), runs=36, teams=12, topics=50, out=made)
        found = uj.load(made / "truth.txt", made / "runs", teams=made / "teams.tsv", truncate=100)
    unknown: dict[str, dict[str, int]] = {}
    rankings, judgments = found.rankings, found.judgments
    for cell, rank, code in zip(rankings.cell.tolist(), rankings.rank.tolist(), rankings.doc.tolist(), strict=True):
        if rank <= TOP and code >= len(judgments):
            topic = judgments.topics[cell % len(judgments.topics)]
            unknown.setdefault(topic, {})[rankings.unjudged[code - len(judgments)]] = 0
    return uj.replace_judgments(found, unknown, keep=True) if unknown else found, depth


def drawn(*key: Any) -> np.random.Generator:
    """Random numbers that depend on names alone."""
    return np.random.default_rng(zlib.crc32("/".join(map(str, key)).encode()))


def found_by(c: uj.Collection, runs: Sequence[str], depth: int) -> Any:
    """Per judgment: is it in the top `depth` of one of these runs?"""
    chosen = np.isin(c.runs, list(runs))
    inside = (c.hits.rank <= depth) & chosen[c.hits.run]
    mask = np.zeros(len(c.judgments), bool)
    mask[c.hits.row[inside]] = True
    return mask


def reduced(c: uj.Collection, depth: int, setting: str, number: int, name: str) -> tuple[uj.Collection, list[str]]:
    """The collection with judgments hidden, and the runs to look at."""
    rng = drawn(name, setting, number)
    teams = sorted({c.teams.get(run, run) for run in c.runs})
    of_team = {team: [run for run in c.runs if c.teams.get(run, run) == team] for team in teams}
    if setting.startswith("shallow"):
        return c.keeping(found_by(c, c.runs, int(setting[7:])), setting), list(c.runs)
    if setting == "few":
        six = [of_team[t][int(rng.integers(len(of_team[t])))] for t in rng.permutation(teams)[:6].tolist()]
        part = c.with_runs(six)
        return part.keeping(found_by(c, six[:3], depth), setting), six[3:]
    share = {"lto": 1, "family": max(len(teams) // 4, 2), "engineer": max(len(teams) // 3, 2)}[setting]
    gone = [teams[number % len(teams)]] if setting == "lto" else rng.permutation(teams)[:share].tolist()
    out = [run for team in gone for run in of_team[team]]
    others = [run for run in c.runs if run not in out]
    hidden = c.keeping(~found_by(c, out, depth) | found_by(c, others, depth), setting)
    if setting != "engineer":
        return hidden, out
    mine = of_team[gone[0]][:3]
    given = [*mine, *rng.permutation(others)[: int(rng.integers(1, 3))].tolist()]
    return hidden.with_runs(given), mine


# -- scores and pairs


def weights_of(c: uj.Collection, measure: Measure) -> Weights:
    return weigh(c, read(measure, c.judgments, 100))


def scores_unit(unit: Unit, data: str) -> Unit:
    """Estimates of runs and outcomes of pairs with hidden judgments, beside those with all of them."""
    full, depth = collection(unit["collection"], data)
    c, looked_at = reduced(full, depth, unit["setting"], unit["number"], unit["collection"])
    names = [str(m) for m in MEASURES]
    truth = uj.score(full.with_runs(c.runs), names).values
    plain = uj.score(c, names).values
    condensed = uj.score(c, [m(judged_only=True) for m in MEASURES]).mean_values()
    corrected = papers(c, looked_at, depth) if unit["setting"] in ("lto", "family") else {}
    scores: list[Any] = []
    pairs: list[Any] = []
    limits = replace(LIMITS, outside=unit.get("outside", LIMITS.outside))
    for m, one in enumerate(estimates(c, MEASURES, limits)):
        for run in looked_at:
            r = c.runs.index(run)
            row = {
                "run": run,
                "measure": names[m],
                "truth": float(truth[r, :, m].mean()),
                "zero": float(plain[r, :, m].mean()),
                "condensed": float(condensed[r, m]),
                "middle": float((one.lowest[r] + one.highest[r]) / 2),
                "model": float(one.estimate[r]),
                "low": float(one.low[r]),
                "high": float(one.high[r]),
                "lowest": float(one.lowest[r]),
                "highest": float(one.highest[r]),
                "share": float(one.share[r]),
                "told": not one.cannot[r],
                "seen": one.seen.seen,
                **(corrected.get(run, {}) if names[m] == "P@10" else {}),
            }
            scores.append(row)
        pairs += pair_rows(c, one, truth[:, :, m], plain[:, :, m], looked_at, unit)
    return {**unit, "scores": scores, "pairs": pairs}


def papers(c: uj.Collection, new: Sequence[str], depth: int) -> dict[str, dict[str, float]]:
    """P@10 corrected as in the papers (Webber & Park 2009, Lipani and others 2015)."""
    old = [run for run in c.runs if run not in new]
    try:
        table = uj.correct(
            c, list(new), "P@10", validate=False, method="lipani,webber-park", pooled=old, depth=depth, jobs=1
        ).frame
    except uj.UnjudgedError:
        return {}
    return {str(run): dict(zip(part.method, part.corrected, strict=True)) for run, part in table.groupby("run")}


def t_words(apart: Any) -> list[str]:
    """Paired t-tests at 0.05, pair by pair."""
    topics = apart.shape[1]
    nothing = np.zeros(len(apart))
    return list(decide(apart.mean(axis=1), apart.var(axis=1, ddof=1) / topics, nothing, topics, correction="none").word)


def pair_rows(
    c: uj.Collection, one: Estimate, truth: Any, plain: Any, looked_at: Sequence[str], unit: Unit
) -> Iterator[Unit]:
    """Pairs with a run that has holes: what each rule says."""
    weights = weights_of(c, one.measure)
    rng = drawn("pairs", unit["collection"], unit["setting"], unit["number"])
    a, b = all_pairs(len(c.runs))
    inside = np.isin(c.runs, list(looked_at))
    at = rng.permutation(np.flatnonzero(inside[a] | inside[b]))[:PAIRS]
    a, b = a[at], b[at]
    place = np.argsort(np.argsort(c.runs))
    found = differences(weights, (place[a], place[b]), correction="none")
    together = differences(weights, (place[a], place[b]))
    apart = truth[a] - truth[b]
    topics = apart.shape[1]
    tested = decide(apart.mean(axis=1), apart.var(axis=1, ddof=1) / topics, np.zeros(len(a)), topics)
    expected = weights.by_cell()[place]
    t = stats.t.ppf(0.975, truth.shape[1] - 1)
    real, zero, likely = (t_words(x[a] - x[b]) for x in (truth, plain, expected))
    room = t * np.sqrt(found.v_topic)
    for i in range(len(a)):
        bounds = "better" if found.low[i] > room[i] else "worse" if found.high[i] < -room[i] else "cannot tell"
        yield {
            "measure": str(one.measure),
            "difference": float((truth[a[i]] - truth[b[i]]).mean()),
            "full": real[i],
            "zero": zero[i],
            "expected": likely[i],
            "bounds": bounds,
            "rule": found.word[i],
            "why": found.why[i],
            "holm": together.word[i],
            "full_holm": tested.word[i],
        }


def others_unit(unit: Unit, data: str) -> Unit:
    """Outcomes of pairs by measures without weights, with hidden judgments and with all of them."""
    full, depth = collection(unit["collection"], data)
    c, looked_at = reduced(full, depth, unit["setting"], unit["number"], unit["collection"])
    a, b = all_pairs(len(c.runs))
    inside = np.isin(c.runs, list(looked_at))
    rng = drawn("pairs", unit["collection"], unit["setting"], unit["number"])
    at = rng.permutation(np.flatnonzero(inside[a] | inside[b]))[:PAIRS]
    a, b = a[at], b[at]
    truth = uj.score(full.with_runs(c.runs), list(OTHERS)).values
    plain = uj.score(c, list(OTHERS)).values
    topics = truth.shape[1]
    pairs = []
    for m, found in enumerate(by_completions(c, OTHERS, (a, b))):
        likely = np.where(
            found.holed[:, None], (found.expected[:, a] - found.expected[:, b]).T, plain[a, :, m] - plain[b, :, m]
        )
        v_topic = likely.var(axis=1, ddof=1) / topics
        rule = decide(
            likely.mean(axis=1), v_topic, np.where(found.holed, found.variance, 0.0), topics, correction="none"
        )
        apart = truth[a, :, m] - truth[b, :, m]
        words = {"full": t_words(apart), "zero": t_words(plain[a, :, m] - plain[b, :, m]), "expected": t_words(likely)}
        for i in np.flatnonzero(found.holed).tolist():
            said = {rule: word[i] for rule, word in words.items()}
            pairs.append(
                {"measure": str(OTHERS[m]), "difference": float(apart[i].mean()), **said, "rule": rule.word[i]}
            )
    return {**unit, "pairs": pairs}


# -- labels until settled


def one_of_each(teams: int, full: uj.Collection, rng: np.random.Generator) -> list[str]:
    """A run of each of so many teams, all drawn."""
    drawn_runs = []
    for team in rng.permutation(sorted({full.teams.get(run, run) for run in full.runs}))[:teams].tolist():
        runs = [run for run in full.runs if full.teams.get(run, run) == team]
        drawn_runs.append(runs[int(rng.integers(len(runs)))])
    return drawn_runs


def labels_unit(unit: Unit, data: str) -> Unit:
    """One pair of six runs, settled by judging in every order; the same stopping rule for all."""
    full, depth = collection(unit["collection"], data)
    (measure,) = measures(unit["measure"])
    rng = drawn("labels", unit["collection"], unit["start"], unit["number"])
    six = one_of_each(6, full, rng)
    c = full.with_runs(six)
    new, old = (six[0], six[1]) if unit["start"] != "few" else (six[3], six[0])
    begun = {
        "few": lambda: found_by(c, six[:3], depth),
        "shallow2": lambda: found_by(c, six, 2),
        "nothing": lambda: found_by(c, six, 1),
    }[unit["start"]]()
    truth = uj.score(c, [str(measure)]).values[:, :, 0]
    a, b = six.index(new), six.index(old)
    word = t_words((truth[a] - truth[b])[None])[0]
    difference = float((truth[a] - truth[b]).mean())
    taken = {}
    for order in unit.get("wanted", ORDERS):
        taken[order] = settle(c, begun, new, old, measure, order, drawn("order", unit["number"]))
    if "model" in taken:
        taken["model"] |= confirmed(c, begun, Question(str(measure), new, old, correction="none"))
    holes = int((found_by(c, (new, old), TOP) & ~begun).sum())
    return {**unit, "full": word, "difference": difference, "holes": holes, "orders": taken}


def settle(
    c: uj.Collection, begun: Any, new: str, old: str, measure: Measure, order: str, rng: np.random.Generator
) -> Unit:
    """Labels until the pair is settled, and what is said then."""
    kept, labels = begun.copy(), 0
    docs = np.flatnonzero(found_by(c, (new, old), TOP))
    place = np.full(len(begun), -1)
    place[docs] = np.arange(len(docs))
    rank = np.full((len(c.runs), len(docs)), 1001)
    at = np.flatnonzero(place[c.hits.row] >= 0)
    rank[c.hits.run[at], place[c.hits.row[at]]] = c.hits.rank[at]
    pair, shuffled = [c.runs.index(new), c.runs.index(old)], rng.permutation(len(docs)).astype(float)
    places = by_program(c, new, old, order)[docs] if order in PROGRAMS else None
    while True:
        now = c.keeping(kept, "so far")
        weights = weights_of(now, measure)
        numbers = (np.array([weights.lists.runs.index(new)]), np.array([weights.lists.runs.index(old)]))
        found = differences(weights, numbers, correction="none")
        left = np.flatnonzero(~kept[docs])
        if found.settled[0] or not len(left):
            return {"labels": labels, "word": found.word[0]}
        wanted = (
            places if places is not None else _wanted(c, now, weights, found, docs, rank, pair, order, shuffled, kept)
        )
        chosen = docs[left[np.argsort(-wanted[left], kind="stable")][:BATCH]]
        kept[chosen] = True
        labels += len(chosen)


def by_program(c: uj.Collection, new: str, old: str, name: str) -> Any:
    """Per judgment, how early a strategy of `pool build` judges it: topics take turns."""
    two = c.with_runs([new, old])
    judgments = two.judgments
    row = {
        (judgments.topics[int(t)], doc): i
        for i, (t, doc) in enumerate(zip(judgments.topic, judgments.docs, strict=True))
    }
    wanted = np.full(len(judgments), -1001.0)
    pool: Any = uj.build_pool(two, name, depth=TOP, budget=len(judgments)).frame
    for built in pool.itertuples():
        wanted[row[built.topic, built.doc]] = -built.order
    return wanted


def confirmed(c: uj.Collection, begun: Any, question: Question) -> Unit:
    """The order of the model, stopped only where one more batch leaves it settled; and what was expected at first."""
    kept, labels, before = begun.copy(), 0, False
    expected = None
    while True:
        now = c.keeping(kept, "so far")
        stands = standing(now, question)
        if labels == 0 and not stands.settled:
            needed = float(stands.needed[0])
            expected = needed if np.isfinite(needed) else None
        worth = stands.confirming() if stands.settled else stands.worth
        if (stands.settled and (before or labels == 0)) or not len(worth.doc):
            return {"confirmed": labels, "confirmed_word": stands.found.word[0], "expected": expected}
        before = stands.settled
        chosen = _rows_of(kept, stands.weights, worth)[:BATCH]
        kept[chosen] = True
        labels += len(chosen)


def _rows_of(kept: Any, weights: Weights, worth: Any) -> Any:
    """Rows of the full judgments that documents of value stand in, best first."""
    hidden = np.flatnonzero(~kept)  # a hidden judgment is an unjudged document: its code follows those that are kept
    return hidden[weights.lists.code[worth.doc[np.argsort(-worth.value, kind="stable")]] - int(kept.sum())]


# -- lists for several pairs


def lists_unit(unit: Unit, data: str) -> Unit:
    """Eight runs of eight teams: a question about several pairs, settled by judging in every order."""
    full, _ = collection(unit["collection"], data)
    rng = drawn("lists", unit["collection"], unit["number"])
    eight = one_of_each(8, full, rng)
    c = full.with_runs(eight)
    begun = found_by(c, eight, 2)
    question = Question(unit["measure"], **AIMS[unit["aim"]])
    taken = {order: settle_all(c, begun, question, order, drawn("order", unit["number"])) for order in LIST_ORDERS}
    return {**unit, "holes": int((found_by(c, eight, TOP) & ~begun).sum()), "orders": taken}


def settle_all(c: uj.Collection, begun: Any, question: Question, order: str, rng: np.random.Generator) -> Unit:
    """Labels until the question is settled; pairs decided then, in the wrong direction, and as all judgments say."""
    kept, labels = begun.copy(), 0
    docs = np.flatnonzero(found_by(c, c.runs, TOP))
    rank = np.full((len(c.runs), len(begun)), 1001)
    rank[c.hits.run, c.hits.row] = c.hits.rank
    shuffled = rng.permutation(len(begun)).astype(float)
    fixed = {"random": shuffled, "depth": -rank.min(axis=0).astype(float), "rrf": (1.0 / (60 + rank)).sum(axis=0)}
    while True:
        stands = standing(c.keeping(kept, "so far"), question)
        left = docs[~kept[docs]]
        if stands.settled or not len(left):
            return {"labels": labels, **_against_all(c, stands, question)}
        if order == "model":
            chosen = _rows_of(kept, stands.weights, stands.worth)[: 2 * BATCH]
        else:
            wanted = fixed[order] if order in fixed else _weight_in_pairs(kept, stands)
            chosen = left[np.argsort(-wanted[left], kind="stable")][: 2 * BATCH]
        kept[chosen] = True
        labels += len(chosen)


def _weight_in_pairs(kept: Any, stands: Any) -> Any:
    """Per row of the full judgments, the weight of its document in all open pairs together."""
    weights, found, votes = stands.weights, stands.found, stands.votes
    at = weights.holes
    table = np.zeros((len(weights.lists.runs), weights.lists.docs))
    table[weights.run[at], weights.doc[at]] = weights.weight[at]
    apart = np.abs(table[found.first[votes]] - table[found.second[votes]]).sum(axis=0)
    wanted = np.zeros(len(kept))
    holes = np.unique(weights.doc[at])
    wanted[np.flatnonzero(~kept)[weights.lists.code[holes] - int(kept.sum())]] = apart[holes]
    return wanted


def _against_all(c: uj.Collection, stands: Any, question: Question) -> Unit:
    """What is said of the pairs asked about, against all judgments."""
    place = [c.runs.index(run) for run in stands.weights.lists.runs]
    means = uj.score(c, [question.measure]).values[:, :, 0].mean(axis=1)[place]
    apart = means[stands.found.first] - means[stands.found.second]
    said = list(zip(stands.found.word, apart.tolist(), strict=True))
    return {
        "pairs": len(said),
        "decided": sum(word != CANNOT_TELL for word, _ in said),
        "wrong": sum(_against(word, difference) for word, difference in said),
    }


def _wanted(
    c: uj.Collection,
    now: uj.Collection,
    weights: Weights,
    found: Any,
    docs: Any,
    rank: Any,
    pair: Sequence[int],
    order: str,
    shuffled: Any,
    kept: Any,
) -> Any:
    """How much an order wants each of the documents (rows of the full judgments)."""
    if order == "random":
        return shuffled
    if order == "depth":
        return -rank[pair].min(axis=0).astype(float)
    if order == "rrf":
        return (1.0 / (60 + rank)).sum(axis=0)
    if order == "maxmean":
        gained = uj.score(now, ["P'@10"]).mean_values()[:, 0]
        best = max(pair, key=lambda r: gained[now.runs.index(c.runs[r])])
        return -rank[best] - 2000.0 * (rank[best] > TOP) - 0.001 * rank[pair].min(axis=0)
    # a hidden judgment is an unjudged document now: its code follows those that are kept
    code = np.where(kept, 0, int(kept.sum()) + np.cumsum(~kept) - 1)[docs]
    number = np.full(int(max(weights.lists.code.max(), code.max())) + 1, -1)
    number[weights.lists.code] = np.arange(weights.lists.docs)
    if order == "model":
        worth = values(weights, found)
        value = np.zeros(weights.lists.docs + 1)
        value[worth.doc] = worth.value
        return value[number[code]]
    reading = np.append(weights.reading.weight, np.zeros(1001))
    apart = np.abs(reading[rank[pair[0]] - 1] - reading[rank[pair[1]] - 1])
    if weights.reading.kind == "ideal":
        ideal = weights.ideal[c.judgments.topic[docs]]
        apart = np.divide(apart, ideal, out=np.zeros(len(docs)), where=ideal > 0)
    return apart if order == "mtc" else apart * np.append(weights.chances.p, 0.0)[number[code]]


# -- running and showing


def units(asked: argparse.Namespace) -> list[Unit]:
    """All the work there is."""
    names = [
        *(REAL if asked.data else ()),
        *(f"{p}-{s}" for p in ("adhoc", "passage", "latent") for s in asked.simulated),
    ]
    names = [name for name in names if not asked.only or name.split("-")[0] in asked.only]
    found: list[Unit] = []
    for name in names:
        for setting in SETTINGS:
            repeats = 1 if setting.startswith("shallow") else asked.repeats
            for kind in ("scores", "others"):
                found += [
                    {"kind": kind, "collection": name, "setting": setting, "number": n}
                    | ({"outside": asked.outside} if asked.outside is not None else {})
                    for n in range(repeats)
                ]
        for measure in ("P@10", "nDCG@10"):
            for start in STARTS:
                found += [
                    {"kind": "labels", "collection": name, "measure": measure, "start": start, "number": n}
                    | ({"wanted": asked.orders} if asked.orders else {})
                    for n in range(asked.pairs)
                ]
            for aim in AIMS:
                found += [
                    {"kind": "lists", "collection": name, "measure": measure, "aim": aim, "number": n}
                    for n in range(asked.lists)
                ]
    return [unit for unit in found if unit["kind"] in asked.kinds]


def key_of(unit: Unit) -> tuple[Any, ...]:
    return tuple(
        unit.get(name) for name in ("kind", "collection", "setting", "measure", "start", "aim", "number", "outside")
    )


def work(unit: Unit, data: str) -> Unit:
    return {"scores": scores_unit, "others": others_unit, "labels": labels_unit, "lists": lists_unit}[unit["kind"]](
        unit, data
    )


def run(asked: argparse.Namespace) -> None:
    """Do what is not done yet; every finished unit is a line."""
    out = Path(asked.out)
    done = {key_of(json.loads(line)) for line in out.read_text().splitlines()} if out.exists() else set()
    left = [unit for unit in units(asked) if key_of(unit) not in done]
    drawn("order of work").shuffle(left)  # whenever it is stopped, all kinds have been looked at
    print(f"{len(left)} units left, {len(done)} done", file=sys.stderr)
    with ProcessPoolExecutor(asked.jobs) as pool, out.open("a", encoding="utf-8") as file:
        waiting = {pool.submit(work, unit, asked.data or ""): unit for unit in left}
        for finished in as_completed(waiting):
            try:
                line = json.dumps(finished.result())
            except Exception as problem:
                print(f"{waiting[finished]}: {type(problem).__name__}: {problem}", file=sys.stderr)
                continue
            file.write(line + "\n")
            file.flush()


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in row) + " |")
    print()


def show(asked: argparse.Namespace) -> None:
    """The tables."""
    lines = [json.loads(line) for line in Path(asked.out).read_text().splitlines()]
    scores = [{**u, **s} for u in lines if u["kind"] == "scores" for s in u["scores"]]
    scores = [s for s in scores if s["highest"] - s["lowest"] > 1e-9]  # others have nothing to estimate
    for by in (("setting",), ("measure",), ("collection",), ()) if scores else ():
        groups: dict[Any, list[Unit]] = defaultdict(list)
        for s in scores:
            groups[tuple(s[k] for k in by)].append(s)
        rows = []
        for key, part in sorted(groups.items()):
            truth = np.array([s["truth"] for s in part])
            model, low, high = (np.array([s[k] for s in part]) for k in ("model", "low", "high"))
            covered = (low - 1e-9 <= truth) & (truth <= high + 1e-9)
            told = np.array([s["told"] for s in part])
            errors = [
                float(np.abs(np.array([s[k] for s in part]) - truth).mean()) for k in ("zero", "condensed", "middle")
            ]
            lost = [
                float(np.mean([abs(s[k] - s["truth"]) for s in part if k in s])) if any(k in s for s in part) else "-"
                for k in ("webber-park", "lipani")
            ]
            share = float(covered[told].mean()) if told.any() else "-"
            error = float(np.abs(model - truth).mean()), float((model - truth).mean()), float(covered.mean())
            width = float((high - low).mean()), float(told.mean())
            rows.append((*key, len(part), *errors, *lost, *error, share, *width))
        head = (*by, "n", "zero", "condensed", "middle", "W-P (P@10)", "Lipani (P@10)", "model", "bias", "cover 90")
        table((*head, "cover, told", "width", "told"), rows)
    if scores:
        _show_pairs([{**u, **p} for u in lines if u["kind"] == "scores" for p in u["pairs"]])
    _show_others([{**u, **p} for u in lines if u["kind"] == "others" for p in u["pairs"]])
    _show_labels([u for u in lines if u["kind"] == "labels"])
    _show_confirmed([u for u in lines if u["kind"] == "labels" and "confirmed" in u["orders"].get("model", {})])
    _show_lists([u for u in lines if u["kind"] == "lists"])


def _against(word: str, difference: float) -> bool:
    """Was it decided against the sign of the difference with all judgments?"""
    return (word == "better" and difference < 0) or (word == "worse" and difference > 0)


def _show_pairs(pairs: Sequence[Unit]) -> None:
    rules = ("zero", "expected", "bounds", "rule", "holm")
    rows = []
    for setting in (*SETTINGS, "all"):
        part = [p for p in pairs if setting in (p["setting"], "all")]
        if not part:
            continue
        wrong = [100 * float(np.mean([_against(p[r], p["difference"]) for p in part])) for r in rules]
        needless = []
        for rule in rules:
            known = "full_holm" if rule == "holm" else "full"
            dark = [p[rule] == "cannot tell" and p[known] != "cannot tell" for p in part if known in p]
            needless.append(100 * float(np.mean(dark)) if dark else float("nan"))
        rows.append((setting, len(part), *(f"{w:.2f}" for w in wrong), *(f"{n:.0f}" for n in needless)))
    table(("setting", "pairs", *(f"wrong %, {r}" for r in rules), *(f"needless %, {r}" for r in rules)), rows)


def _show_others(pairs: Sequence[Unit]) -> None:
    """Measures without weights: wrong directions and needless cannot-tells, by measure and by setting."""
    if not pairs:
        return
    rules = ("zero", "expected", "rule")
    for by in ("measure", "setting"):
        rows = []
        for value in [*dict.fromkeys(p[by] for p in pairs), "all"]:
            part = [p for p in pairs if value in (p[by], "all")]
            wrong = [f"{100 * np.mean([_against(p[r], p['difference']) for p in part]):.2f}" for r in rules]
            dark = [
                f"{100 * np.mean([p[r] == 'cannot tell' and p['full'] != 'cannot tell' for p in part]):.0f}"
                for r in rules
            ]
            rows.append((value, len(part), *wrong, *dark))
        table((by, "pairs", *(f"wrong %, {r}" for r in rules), *(f"needless %, {r}" for r in rules)), rows)


def _show_labels(units: Sequence[Unit]) -> None:
    if not units:
        return
    rows, orders = [], [order for order in (*ORDERS, *PROGRAMS) if all(order in u["orders"] for u in units)]
    for key in [*sorted({(u["collection"], u["start"]) for u in units}), ("all", "all")]:
        part = [u for u in units if key in ((u["collection"], u["start"]), ("all", "all"))]
        taken = {o: np.array([u["orders"][o]["labels"] for u in part]) for o in orders}
        shown = [f"{np.median(taken[o]):.0f} ({taken[o].mean():.1f})" for o in orders]
        rows.append((*key, len(part), f"{np.mean([u['holes'] for u in part]):.0f}", *shown))
    table(("collection", "start", "pairs", "holes", *orders), rows)
    wrong = []
    for o in orders:
        said = [(u["orders"][o]["word"], u["difference"], u["full"]) for u in units]
        turned = sum(_against(w, d) for w, d, _ in said)
        wrong.append(f"{turned} / {sum(w != f for w, _, f in said)}")
    table(("wrong direction / other word", *orders), [("", *wrong)])


def _show_confirmed(units: Sequence[Unit]) -> None:
    """The model's order with a batch that confirms, and the labels expected against those taken."""
    if not units:
        return
    rows = []
    for name, labels, word in (("settled", "labels", "word"), ("confirmed", "confirmed", "confirmed_word")):
        said = [(u["orders"]["model"][labels], u["orders"]["model"][word], u["difference"], u["full"]) for u in units]
        turned = sum(_against(w, d) for _, w, d, _ in said)
        other = sum(w != f for _, w, _, f in said)
        rows.append((name, len(said), float(np.mean([n for n, *_ in said])), turned, other))
    table(("stopped when", "pairs", "labels", "wrong direction", "other word"), rows)
    began = [u["orders"]["model"] for u in units if u["orders"]["model"]["labels"] > 0]
    told = [(one["expected"], one["labels"]) for one in began if one["expected"] is not None]
    if told:
        ratio = np.array([expected / labels for expected, labels in told])
        half = float(np.mean((ratio >= 0.5) & (ratio <= 2)))
        head = ("pairs that needed labels", "told a number", "median expected / taken", "between half and twice")
        table(head, [(len(began), len(told), float(np.median(ratio)), half)])


def _show_lists(units: Sequence[Unit]) -> None:
    rows = []
    for aim in AIMS:
        part = [u for u in units if u["aim"] == aim]
        if not part:
            continue
        taken = [f"{np.mean([u['orders'][o]['labels'] for u in part]):.0f}" for o in LIST_ORDERS]
        ends = [u["orders"]["model"] for u in part]
        counts = [sum(end[name] for end in ends) for name in ("pairs", "decided", "wrong")]
        others = sum(u["orders"][o]["wrong"] for u in part for o in LIST_ORDERS if o != "model")
        rows.append((aim, len(part), f"{np.mean([u['holes'] for u in part]):.0f}", *taken, *counts, others))
    if rows:
        head = ("question", "lists", "holes", *LIST_ORDERS, "pairs", "decided", "wrong", "wrong, other orders")
        table(head, rows)


def main() -> None:
    """Run or show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "show"))
    parser.add_argument("out")
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--simulated", type=lambda s: [int(x) for x in s.split(",")], default=[], metavar="SEED,SEED")
    parser.add_argument("--only", type=lambda s: s.split(","), default=[], metavar="NAME,NAME")
    parser.add_argument("--kinds", type=lambda s: s.split(","), default=list(KINDS), metavar="KIND,KIND")
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--lists", type=int, default=4)
    parser.add_argument("--outside", type=float, help="for scores: least spread of teams outside the pool")
    parser.add_argument("--orders", type=lambda s: s.split(","), default=[], metavar="NAME,NAME", help="for labels")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    (run if asked.what == "run" else show)(asked)


if __name__ == "__main__":
    main()
