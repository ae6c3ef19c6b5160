"""Redraw what humans judged where all of it is known: do corrected intervals hold, and is planted favour found?

    python benchmarks/judges_truth.py coverage OUT.jsonl --data ../shared/data    # five minutes; can be stopped
    python benchmarks/judges_truth.py coverage OUT.jsonl --seed 18 ...            # other draws, added to those in OUT
    python benchmarks/judges_truth.py documents OUT.jsonl --data ../shared/data   # samples of documents
    python benchmarks/judges_truth.py favour OUT.jsonl --data ../shared/data      # planted favour for families of teams
    python benchmarks/judges_truth.py show OUT.jsonl                              # the tables of docs/judges.md

`coverage`: n of N topics are drawn 500 times, each time with 12 random runs or pairs of runs; a cell is a collection, a
judge, a measure, n, a target, and runs or differences. For the target `population` the N topics are drawn with
replacement first. `documents`: a fifth of the pool is drawn 60 times. `favour`: the human judgments with random errors
are a judge without favour; then nonrelevant documents in the top 10 of the teams of a made-up family become relevant
with some probability, as `qrels noise --favour-team` does.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

import unjudged as uj
from unjudged.changes.noise import favour as favoured
from unjudged.changes.noise import flip
from unjudged.changes.rejudge import judgments_of
from unjudged.judges.corrected import corrected, pooled_slope
from unjudged.judges.families import blocks_of, favour
from unjudged.judges.scores import judged_from, judged_share, score_matrices
from unjudged.measures import measures
from unjudged.thresholds import default_thresholds

Floats = npt.NDArray[np.float64]
Ends = tuple[Floats, Floats]

SETS = ("dl19-passage", "dl21-passage")
JUDGES = ("umbrela-gpt4", "binary-llama3.2")
MEASURES = ("nDCG@10", "P@10", "AP", "RBP(p=0.8)")
LABELLED = (10, 15, 20, 30)
DRAWS, AT_ONCE = 500, 12
RATES = (0.0, 0.1, 0.2, 0.3, 0.5)
FAMILIES = 60
REL = 2
FAIR = 0.93, 0.97
"""Coverage that counts as right."""


def data(folder: str, name: str) -> tuple[str, str]:
    """The folder of judgments, and that of the runs."""
    judged = f"{folder}/judges/{name}"
    return judged, f"{judged}/runs" if Path(f"{judged}/runs").is_dir() else f"{folder}/{name}/runs"


@cache
def collection(folder: str, name: str) -> uj.Collection:
    judged, runs = data(folder, name)
    teams = f"{judged}/teams.tsv" if Path(f"{judged}/teams.tsv").is_file() else f"{folder}/{name}/teams.tsv"
    return uj.load(f"{judged}/human.txt.gz", runs, teams=teams)


@cache
def matrices(folder: str, name: str, judge: str) -> Floats:
    """Measures x topics x runs under the human or a machine."""
    human = collection(folder, name)
    c, rel = human, REL
    if judge != "human":
        c = human.judged_by(judgments_of(f"{data(folder, name)[0]}/{judge}.txt.gz"))
        rel = min(REL, int(c.judgments.grade.max()))
    wanted = judged_from(measures(",".join(MEASURES), REL), rel, rel)
    return score_matrices(c, wanted, sorted(human.topics), sorted(human.runs))


# -- intervals by name; arguments: labelled human scores, machine scores of all topics, labelled rows, pooled slope


def _recommended(y: Floats, f: Floats, at: Any, target: str, pooled: float) -> Ends:
    found = corrected(y, f, at, target)
    return found.low, found.high


def _pooled(y: Floats, f: Floats, at: Any, target: str, pooled: float) -> Ends:
    found = corrected(y, f, at, target, pooled=pooled)
    return found.low, found.high


def _difference(y: Floats, f: Floats, at: Any, target: str, pooled: float) -> Ends:
    found = corrected(y, f, at, target, pooled=1.0)
    return found.low, found.high


def _human(y: Floats, f: Floats, at: Any, target: str, pooled: float) -> Ends:
    found = corrected(y, f, at, target)
    return found.human_low, found.human_high


def _machine(y: Floats, f: Floats, at: Any, target: str, pooled: float) -> Ends:
    half = stats.t.isf(0.025, len(f) - 1) * f.std(axis=0, ddof=1) / np.sqrt(len(f))
    return f.mean(axis=0) - half, f.mean(axis=0) + half


def _usual(y: Floats, f: Floats, at: Any, target: str, pooled: float) -> Ends:
    """PPI++ as it is usually printed: a slope without limits, plain residuals, the normal quantile."""
    n, total, own = len(y), len(f), f[at]
    centred = own - own.mean(axis=0)
    squares = (centred**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(squares > 0, (centred * (y - y.mean(axis=0))).sum(axis=0) / squares, 0.0)
    rest = (y - slope * own) - (y - slope * own).mean(axis=0)
    s2 = (rest**2).sum(axis=0) / (n - 1)
    if target == "topics":
        variance = (1 - n / total) * s2 / n
    else:
        shared = (rest * centred).sum(axis=0) / (n - 1)
        variance = np.maximum(s2 / n + (slope**2 * f.var(axis=0, ddof=1) + 2 * slope * shared) / total, s2 / total)
    middle = y.mean(axis=0) + slope * (f.mean(axis=0) - own.mean(axis=0))
    return middle - 1.959964 * np.sqrt(variance), middle + 1.959964 * np.sqrt(variance)


VARIANTS: dict[str, Callable[..., Ends]] = {
    "recommended": _recommended,
    "pooled slope": _pooled,
    "slope 1, t(n-1)": _difference,
    "PPI++ as usually printed": _usual,
    "human alone": _human,
    "machine alone": _machine,
}


def coverage(human: Floats, machine: Floats, n: int, target: str, what: str, draws: int, seed: int) -> dict[str, Any]:
    """One cell: coverage of every variant, and its width beside human alone; `human`, `machine` are topics x runs."""
    rng = np.random.default_rng([seed, n])
    topics, runs = human.shape
    covered: dict[str, list[float]] = defaultdict(list)
    width: dict[str, list[float]] = defaultdict(list)
    for _ in range(draws):
        drawn = rng.integers(0, topics, topics) if target == "population" else np.arange(topics)
        at = rng.permutation(topics)[:n]
        a = rng.integers(0, runs, AT_ONCE)
        b = (a + rng.integers(1, runs, AT_ONCE)) % runs
        whole, y, f = human[:, a], human[drawn][:, a], machine[drawn][:, a]
        if what == "differences":
            whole, y, f = whole - human[:, b], y - human[drawn][:, b], f - machine[drawn][:, b]
        truth = whole.mean(axis=0)
        slope = pooled_slope(human[drawn][at], machine[drawn][at])
        lengths = {}
        for name, variant in VARIANTS.items():
            low, high = variant(y[at], f, at, target, slope)
            covered[name].append(float(((low - 1e-12 <= truth) & (truth <= high + 1e-12)).mean()))
            lengths[name] = high - low
        for name, length in lengths.items():
            there = lengths["human alone"] > 0
            width[name].append(float(length[there].sum() / lengths["human alone"][there].sum()))
    return {
        "coverage": {name: float(np.mean(values)) for name, values in covered.items()},
        "error": {name: float(np.std(values, ddof=1) / np.sqrt(draws)) for name, values in covered.items()},
        "width": {name: float(np.mean(values)) for name, values in width.items()},
    }


def cells(folder: str, seed: int) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]:
    for name in SETS:
        for judge in JUDGES:
            for m, measure in enumerate(MEASURES):
                for n in LABELLED:
                    for target in ("topics", "population"):
                        for what in ("differences", "runs"):
                            key = {
                                "set": name,
                                "judge": judge,
                                "measure": measure,
                                "n": n,
                                "target": target,
                                "seed": seed,
                            }

                            def work(name: str = name, judge: str = judge, m: int = m, n: int = n,
                                     target: str = target, what: str = what) -> dict[str, Any]:  # fmt: skip
                                sides = matrices(folder, name, "human")[m], matrices(folder, name, judge)[m]
                                return coverage(*sides, n, target, what, DRAWS, seed)

                            yield {"kind": "coverage", **key, "what": what}, work


# -- samples of documents


def documents(folder: str) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]:
    for name in SETS:
        for strata in ("none", "top", "grade"):
            key = {"kind": "documents", "set": name, "strata": strata}
            yield key, partial(sampled, folder, name, strata)


def sampled(folder: str, name: str, strata: str, draws: int = 60) -> dict[str, Any]:
    """Bias, error and coverage over all runs when a fifth of the pool is drawn; target `topics`."""
    from unjudged.judges.sampled import Sample
    from unjudged.judges.sampling import draw_sample

    human = collection(folder, name)
    machine = human.judged_by(judgments_of(f"{data(folder, name)[0]}/umbrela-gpt4.txt.gz"))
    wanted = [str(m) for m in measures("P@10,DCG@10,RBP(p=0.8),nDCG@10", REL)]
    truth = {m: uj.score(human, m).matrix(m).mean(axis=0) for m in wanted}
    found: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for seed in range(draws):
        drawn = draw_sample(machine, documents=len(machine.judgments) // 5, strata=strata, runs=machine, seed=seed)
        by_topic: dict[str, dict[str, tuple[str, float]]] = {}
        for topic, doc, stratum, chance in drawn.rows():
            by_topic.setdefault(str(topic), {})[str(doc)] = str(stratum), float(chance)
        sample = Sample("drawn", tuple(by_topic), by_topic)
        rows = uj.corrected(human, machine, wanted, sampled=sample, target="topics").frame
        for m, own in rows[rows.word == "corrected"].groupby("measure"):
            error = own.estimate.to_numpy() - truth[str(m)]
            held = (
                ((own.low <= truth[str(m)]) & (truth[str(m)] <= own.high)).mean() if own.low.notna().all() else np.nan
            )
            found[str(m)].append((float(error.mean()), float((error**2).mean()), float(held)))
    means = {m: np.mean(values, axis=0) for m, values in found.items()}
    return {m: {"bias": v[0], "rmse": float(np.sqrt(v[1])), "coverage": v[2]} for m, v in means.items()}


# -- planted favour


def planted(folder: str) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]:
    for name in SETS:
        for rate in RATES:
            key = {"kind": "favour", "set": name, "rate": rate}
            yield key, partial(favours, folder, name, rate)


def favours(folder: str, name: str, rate: float) -> dict[str, Any]:
    """How often favour for a family of four whole teams is found, with its mean size; the judge errs at random, too."""
    human, limit = collection(folder, name), default_thresholds()["another-judge"]
    wanted = measures("nDCG@10", REL)
    topics, runs = sorted(human.topics), sorted(human.runs)
    truth, judged = score_matrices(human, wanted, topics, runs)[0], judged_share(human, topics, runs)
    teams = [human.teams.get(run, run) for run in runs]
    rng = np.random.default_rng(5)
    found = []
    for number in range(FAMILIES):
        chosen = set(rng.choice(sorted(set(teams)), 4, replace=False).tolist())
        judge = flip(human, relevant=0.2, nonrelevant=0.05, rel=REL, seed=number)
        for place, team in enumerate(sorted(chosen)):
            if rate:
                judge = favoured(judge, rate, team=team, depth=10, rel=REL, seed=100 * number + place)
        inside = np.array([team in chosen for team in teams])
        within = blocks_of(teams, inside)[1]
        if sum(within) < limit["blocks_inside"] or len(within) - sum(within) < limit["blocks_outside"]:
            continue
        told = favour(truth, score_matrices(judge, wanted, topics, runs)[0], judged, inside, teams, resamples=400)
        found.append((told.effect, told.p_value < limit["family_p"] and told.apart))
    effects, hits = zip(*found, strict=True)
    return {"families": len(found), "found": sum(hits) / len(hits), "effect": float(np.mean(effects))}


# -- running and showing


def run(units: Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]], out: Path) -> None:
    """Units that OUT does not hold yet, one line each."""
    done = {_key(json.loads(line)) for line in out.read_text().splitlines()} if out.exists() else set()
    with out.open("a") as file:
        for key, work in units:
            if _key(key) not in done:
                file.write(json.dumps({**key, "found": work()}) + "\n")
                file.flush()


def _key(unit: dict[str, Any]) -> str:
    return json.dumps({k: v for k, v in unit.items() if k != "found"}, sort_keys=True)


def show(out: Path) -> None:
    """The tables of docs/judges.md."""
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    _show_coverage([line for line in lines if line["kind"] == "coverage"])
    for line in (line for line in lines if line["kind"] == "documents"):
        for measure, v in line["found"].items():
            held = "-" if v["coverage"] != v["coverage"] else f"{v['coverage']:.3f}"
            print(f"| {line['set']} | {line['strata']} | {measure} | {v['bias']:+.3f} | {v['rmse']:.3f} | {held} |")
    for line in (line for line in lines if line["kind"] == "favour"):
        v = line["found"]
        print(f"| {line['set']} | {line['rate']:g} | {v['effect']:+.3f} | {v['found']:.2f} | {v['families']} |")


def pooled(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line per cell: all seeds together (each has as many draws)."""
    by_cell: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        by_cell[_key({k: v for k, v in line.items() if k != "seed"})].append(line)
    return [{**own[0], "found": _mean([line["found"] for line in own])} for own in by_cell.values()]


def _mean(found: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    def over(what: str, power: int = 1) -> dict[str, float]:
        return {v: float(np.mean([one[what][v] ** power for one in found])) for v in VARIANTS}

    error = {v: float(np.sqrt(square / len(found))) for v, square in over("error", 2).items()}
    return {"coverage": over("coverage"), "width": over("width"), "error": error}


def held(cells: list[dict[str, Any]], variant: str = "recommended") -> int:
    """Cells that are right."""
    return sum(FAIR[0] <= c["found"]["coverage"][variant] <= FAIR[1] for c in cells)


def by_chance(cells: list[dict[str, Any]], truth: dict[str, float] | None = None) -> float:
    """Cells that the draws alone would move out of 0.93 to 0.97, were the coverage 0.95 in all of them, or the `truth`.

    The error of a cell is that of its draws: the 12 runs or pairs of a draw share their topics.
    """
    out = 0.0
    for cell in cells:
        there = 0.95 if truth is None else truth[_key({k: v for k, v in cell.items() if k != "seed"})]
        error = cell["found"]["error"]["recommended"]
        out += float(stats.norm.cdf((FAIR[0] - there) / error) + stats.norm.sf((FAIR[1] - there) / error))
    return out


def _show_coverage(lines: list[dict[str, Any]]) -> None:
    if not lines:
        return
    cells = pooled(lines)
    seeds = sorted({line["seed"] for line in lines})
    print(
        "| draws | cells | right | out by chance, were all 0.95 | were they what all draws say |\n|---|---|---|---|---|"
    )
    truth = {_key({k: v for k, v in c.items() if k != "seed"}): c["found"]["coverage"]["recommended"] for c in cells}
    for seed in seeds:
        own = [line for line in lines if line["seed"] == seed]
        right, chance = (
            f"{held(own)} ({held(own) / len(own):.1%})",
            f"{by_chance(own):.1f} | {by_chance(own, truth):.1f}",
        )
        print(f"| {DRAWS}, seed {seed} | {len(own)} | {right} | {chance} |")
    print(f"| all | {len(cells)} | {held(cells)} ({held(cells) / len(cells):.1%}) | {by_chance(cells):.1f} | |\n")
    print(
        "| interval | what | cells | in 0.93 to 0.97 | lowest | highest | mean width |\n|---|---|---|---|---|---|---|"
    )
    for variant in VARIANTS:
        for what in ("differences", "runs"):
            own = [c for c in cells if c["what"] == what]
            values = [c["found"]["coverage"][variant] for c in own]
            width = np.mean([c["found"]["width"][variant] for c in own])
            ends = f"{min(values):.3f} | {max(values):.3f}"
            right = f"{held(own, variant)} ({held(own, variant) / len(own):.0%})"
            print(f"| {variant} | {what} | {len(own)} | {right} | {ends} | {width:.2f} |")
    names = " | ".join(f"seed {seed}" for seed in seeds)
    print(
        f"\n| set | judge | what | target | measure | n | human alone | all | {names} |\n{'|---' * (8 + len(seeds))}|"
    )
    for c in cells:
        value, alone = (c["found"]["coverage"][v] for v in ("recommended", "human alone"))
        keys = ("set", "judge", "what", "target", "measure", "n")
        own = [line for line in lines if all(line[key] == c[key] for key in keys)]
        each = [line["found"]["coverage"]["recommended"] for line in sorted(own, key=lambda line: line["seed"])]
        if not all(FAIR[0] <= v <= FAIR[1] for v in (value, *each)):
            where = " | ".join(str(c[key]) for key in keys)
            print(f"| {where} | {alone:.3f} | {value:.3f} | {' | '.join(f'{v:.3f}' for v in each)} |")


def main() -> int:
    """Exit code 1 where the recommended interval, by all draws, is right in fewer than 97 % of the cells."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("coverage", "documents", "favour", "show"))
    parser.add_argument("out", type=Path, help="finished cells, one a line")
    parser.add_argument("--seed", type=int, default=1, help="seed of `coverage`; several may stand in one OUT")
    parser.add_argument("--data", default="../shared/data", help="folder with judges/ and dl19-passage/")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.what != "show":
        units = {
            "coverage": lambda: cells(args.data, args.seed),
            "documents": lambda: documents(args.data),
            "favour": lambda: planted(args.data),
        }
        run(units[args.what](), args.out)
        return 0
    show(args.out)
    lines = [json.loads(line) for line in args.out.read_text().splitlines()]
    drawn = pooled([line for line in lines if line["kind"] == "coverage"])
    return int(bool(drawn) and held(drawn) < 0.97 * len(drawn))


if __name__ == "__main__":
    sys.exit(main())
