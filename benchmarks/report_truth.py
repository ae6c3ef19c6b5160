"""Verdicts of the trust report against known answers from three sources; prints the tables of docs/report.md.

python benchmarks/report_truth.py --out results.jsonl [--source ours,latent,real] [--data DIR] [--processes 2]
python benchmarks/report_truth.py --table results.jsonl       the words said and the true classes, by source
python benchmarks/report_truth.py --rotate results.jsonl      limits chosen on two sources, reported on the third

Sources (truth_cases.py): `ours`, the scenarios of our simulator; `latent`, a simulator with another mechanism; `real`,
collections under DIR (trec2-adhoc, robust03, dl19-passage, judges/dl21-passage) whose judgments were taken away: pools
of 1 to 10 teams, shallow pools, one judgment per topic. What is asked and what is true: truth_questions.py. Classes:
tau 0.9 and 0.8, loss 2 % and 10 %. Near a limit (tau within 0.02, loss within 1 %) either class counts as right, and
the tables give both counts. Unknown is never wrong; it is counted where 20 runs, 25 topics and 4 teams are given.

Every case is one unit of work; its lines are appended to the file when it is done, and a second call leaves finished
cases out. Other sources, seeds and settings can be added to a file at any time.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from truth_cases import SOURCES, Spec, make, specs
from truth_questions import answers

from unjudged.results import WORDS
from unjudged.thresholds import default_thresholds

Record = Mapping[str, Any]
CLASSES = WORDS[:3]
LIMITS = {"order": ((0.9, 0.8), 0.02), "outsiders": ((0.02, 0.10), 0.01), "topics": ((0.9, 0.8), 0.02)}
"""Per question: the true classes begin at, and how near a limit either word is right."""
HIGHER = {"order": True, "outsiders": False, "topics": True}
SEEDS = {"ours": (41, 42), "latent": (41,), "real": (41,)}
WRONG = 0.02
"""Share of solid words that may be wrong when limits are chosen."""


# -- classes


def class_of(question: str, value: float, limits: tuple[float, float] | None = None) -> str:
    """solid, with care or fragile: the class of a truth, or the word for a value under these limits."""
    solid, care = LIMITS[question][0] if limits is None else limits
    if HIGHER[question]:
        return "solid" if value >= solid else "with care" if value >= care else "fragile"
    return "solid" if value <= solid else "with care" if value <= care else "fragile"


def right_words(question: str, truth: float, tolerant: bool = True) -> set[str]:
    """The words that count as right."""
    if question == "winners":  # 0: truly first, 1: in the top group, 2: truly worse; a word must not promise more
        return set(CLASSES[int(truth) :])
    near = LIMITS[question][1] if tolerant else 0.0
    return {class_of(question, v) for v in (truth - near, truth, truth + near)}


def true_class(question: str, truth: float) -> str:
    """The class of the truth."""
    return CLASSES[int(truth)] if question == "winners" else class_of(question, truth)


def steps_wrong(question: str, truth: float, word: str) -> int:
    """By how many classes a word is wrong, near a limit counted kindly; 0 where it is right."""
    right = [CLASSES.index(w) for w in right_words(question, truth)]
    return min(abs(CLASSES.index(word) - r) for r in right)


def enough(record: Record) -> bool:
    """Is there enough for an answer: 20 runs, 25 topics, 4 teams?"""
    return bool(record["runs"] >= 20 and record["topics"] >= 25 and record["teams"] >= 4)


# -- running


def one(data: Path | None, questions: Sequence[str] | None, spec: Spec) -> tuple[Spec, list[dict[str, Any]], float]:
    """The records of one case, and its CPU seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        records = list(answers(make(spec, data), questions))
    seconds = time.process_time() - start
    return spec, [record | {"seconds": round(seconds, 2)} for record in records], seconds


def read(path: Path) -> list[dict[str, Any]]:
    """The records of a file; a line cut short by an interruption is left out, with the rest of its case."""
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1] if line]


def run(
    out: Path, wanted: Sequence[Spec], processes: int, data: Path | None, questions: Sequence[str] | None = None
) -> None:
    """Do the cases that are not in the file; each one's lines are written at once."""
    done = {(r["source"], r["setting"], r["seed"]) for r in read(out)}
    todo = [spec for spec in wanted if spec.key not in done]
    print(f"{len(wanted)} cases, {len(wanted) - len(todo)} of them done before", file=sys.stderr)
    if out.exists() and not out.read_text(encoding="utf-8").endswith("\n"):
        kept = out.read_text(encoding="utf-8").rpartition("\n")[0]
        out.write_text(kept + "\n" if kept else "", encoding="utf-8")
    total = 0.0
    with out.open("a", encoding="utf-8") as file:
        for n, (spec, records, seconds) in enumerate(_mapped(processes, partial(one, data, questions), todo), 1):
            file.write("".join(json.dumps(record) + "\n" for record in records))
            file.flush()
            total += seconds
            print(f"{n}/{len(todo)} {seconds:5.1f} s  {spec.source}: {spec.setting} ({spec.seed})", file=sys.stderr)
    print(f"{total:.0f} CPU seconds", file=sys.stderr)


def _mapped(processes: int, work: Callable[[Spec], Any], todo: Sequence[Spec]) -> Iterable[Any]:
    if processes == 1:
        yield from map(work, todo)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(work, todo, chunksize=4)  # neighbours share a collection


# -- tables


def table(records: Sequence[Record]) -> list[str]:
    """Markdown: per source, question and way of asking, words against true classes, and the shares that count."""
    lines = [
        "| source | question | pool | cases | agree | agree, no tolerance | solid wrong | by two steps | "
        "unknown, enough given |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    groups = _groups(records)
    for (source, question, asked), chosen in groups.items():
        if question in ("pairs", "range"):
            continue
        lines.append("| " + " | ".join((source, question, asked, str(len(chosen)), *_shares(question, chosen))) + " |")
    for (source, question, asked), chosen in groups.items():
        if question not in ("pairs", "range"):
            lines += ["", *_cross(source, question, asked, chosen)]
    return [*lines, "", *_first_places(records), "", *_pairs(records)]


def _groups(records: Iterable[Record]) -> dict[tuple[str, str, str], list[Record]]:
    """By source, question and way of asking; an answer that took no pool counts for both ways."""
    records = list(records)
    out: dict[tuple[str, str, str], list[Record]] = {}
    both = {(r["source"], r["question"]) for r in records if r["asked"] != "any"}
    for question in ("order", "outsiders", "topics", "winners", "range", "pairs"):
        for source in SOURCES:
            for record in records:
                if (record["source"], record["question"]) == (source, question):
                    ways = ("given", "infer") if record["asked"] == "any" and (source, question) in both else ()
                    for asked in ways or (record["asked"],):
                        out.setdefault((source, question, asked), []).append(record)
    return out


def _answered(records: Iterable[Record]) -> list[Record]:
    return [r for r in records if r["word"] != "unknown" and r["truth"] is not None]


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "-"


def _shares(question: str, records: Sequence[Record]) -> list[str]:
    """The cells of a line of the first table."""
    said = _answered(records)
    agree = [sum(r["word"] in right_words(question, r["truth"], kind) for r in said) for kind in (True, False)]
    solid = [r for r in said if r["word"] == "solid"]
    wrong = [steps_wrong(question, r["truth"], "solid") for r in solid]
    given = [r for r in records if enough(r)]
    return [
        *(_share(n, len(said)) for n in agree),
        _share(sum(w > 0 for w in wrong), len(solid)),
        str(sum(w > 1 for w in wrong)),
        _share(sum(r["word"] == "unknown" for r in given), len(given)),
    ]


def _cross(source: str, question: str, asked: str, records: Sequence[Record]) -> list[str]:
    """Said word by true class."""
    truth = {"winners": ("truly first", "in the top group", "truly worse")}.get(question, CLASSES)
    lines = [f"| {source}, {question}, pool {asked}: says | {' | '.join(truth)} | no truth |", "|---|" + "---:|" * 4]
    none = "none"
    counts = Counter((r["word"], none if r["truth"] is None else true_class(question, r["truth"])) for r in records)
    for word in WORDS:
        lines.append(f"| {word} | " + " | ".join(str(counts[word, c]) for c in (*CLASSES, none)) + " |")
    return lines


def _first_places(records: Iterable[Record]) -> list[str]:
    """Is the truly first run among those that could be first, and how many are named, by source and word?"""
    lines = [
        "| source | score-range says | cases | truly first run named | runs named | possible by the bounds |",
        "|---|---|" + "---:|" * 4,
    ]
    for (source, question, _), chosen in _groups(records).items():
        for word in WORDS if question == "range" else ():
            part = [r for r in chosen if r["word"] == word and r.get("named")]
            if part:
                holds = _share(sum(r["truth"] == 0 for r in part), len(part))
                of = sum(r["runs"] for r in part)
                many = [_share(sum(r[key] for r in part), of) for key in ("named", "possible")]
                lines.append(f"| {source} | {word} | {len(part)} | {holds} | {' | '.join(many)} |")
    return lines


def _pairs(records: Iterable[Record]) -> list[str]:
    """Pairs called better or worse that are truly the other way round, by source and word."""
    lines = [
        "| source | pool | safe-comparisons says | cases | pairs decided | reversed | reversed significantly | "
        "pooled over outsider | reversed |",
        "|---|---|---|" + "---:|" * 6,
    ]
    for (source, question, asked), chosen in _groups(records).items():
        for word in WORDS if question == "pairs" else ():
            part = [r for r in chosen if r["word"] == word and r.get("decided") is not None]
            if part:
                n = {key: sum(r.get(key, 0) for r in part) for key in _COUNTED}
                cells = [_share(n["reversed"], n["decided"]), _share(n["significant"], n["decided"])]
                mixed = [str(n["over_outsiders"]), _share(n["over_outsiders_reversed"], n["over_outsiders"])]
                lines.append(
                    f"| {source} | {asked} | {word} | {len(part)} | {n['decided']} | {' | '.join(cells + mixed)} |"
                )
    return lines


_COUNTED = ("decided", "reversed", "significant", "over_outsiders", "over_outsiders_reversed")


# -- limits chosen on two sources


def chosen_limits(question: str, records: Sequence[Record]) -> tuple[float, float]:
    """The limits of solid and with care on the value that agree best, with less than 2 % of solid words wrong.

    Among equal ones the strictest. Where no limits keep that, those with the smallest share of wrong ones.
    """
    sign = 1 if HIGHER[question] else -1
    values = np.array([sign * r["value"] for r in records])
    right = np.array([[word in right_words(question, r["truth"]) for word in CLASSES] for r in records])
    grid = sorted({*np.round(values, 3).tolist(), *(sign * v for v in LIMITS[question][0])})
    top = grid[-1] + 0.001  # nothing is solid
    best: tuple[Any, ...] | None = None
    for solid in (*grid, top):
        called = values >= solid
        wrong = float(np.mean(~right[called, 0])) if called.any() else 0.0
        for care in grid:
            if care > solid:
                break
            middle = (values >= care) & ~called
            agree = int(right[called, 0].sum() + right[middle, 1].sum() + right[values < care, 2].sum())
            rank = (wrong < WRONG, agree if wrong < WRONG else -wrong, solid, care)
            if best is None or rank > best[0]:
                best = rank, sign * solid, sign * care
    assert best is not None
    return best[1], best[2]


def rotation(records: Sequence[Record]) -> list[str]:
    """Markdown: limits chosen on two sources and what they are worth on the third, beside the words as said."""
    lines = [
        "| question | pool | reported on | limits chosen on the others | agree | solid wrong | by two steps | "
        "as shipped: agree | solid wrong | by two steps |",
        "|---|---|---|---|" + "---:|" * 6,
    ]
    keys = {"order": "fewer-judgments", "outsiders": "fair-to-outsiders", "topics": "enough-topics"}
    groups = _groups(records)
    for question in LIMITS:
        for asked in dict.fromkeys(a for _, q, a in groups if q == question):
            parts = {
                s: [r for r in _answered(groups.get((s, question, asked), ())) if r["value"] is not None]
                for s in SOURCES
            }
            for source in SOURCES:
                others = [r for s in SOURCES if s != source for r in parts[s]]
                if not parts[source] or not others:
                    continue
                limits = chosen_limits(question, others)
                again = [r | {"word": class_of(question, r["value"], limits)} for r in map(dict, parts[source])]
                cells = [*_worth(question, again), *_worth(question, parts[source])]
                shown = f"{limits[0]:.3f}, {limits[1]:.3f}"
                lines.append(f"| {question} | {asked} | {source} | {shown} | {' | '.join(cells)} |")
        shipped = default_thresholds()[keys[question]]
        lines.append(f"| {question} | | | shipped: {shipped.solid:g}, {shipped.care:g} |" + " |" * 6)
    return lines


def _worth(question: str, records: Sequence[Record]) -> list[str]:
    agree, _, wrong, two, _ = _shares(question, records)
    return [agree, wrong, two]


# -- the command


def main(words: Sequence[str] | None = None) -> None:
    """Run cases, or print tables of results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="file of results; cases it has are not done again")
    parser.add_argument("--source", default=",".join(SOURCES), help="sources, comma separated (default: all)")
    parser.add_argument("--only", default="", help="only settings whose name has this text")
    parser.add_argument("--questions", help="of order, outsiders, topics, winners, range, pairs (default: all)")
    parser.add_argument("--seeds", help="seeds, comma separated (default: 41,42 for ours, else 41)")
    parser.add_argument("--data", type=Path, help="folder of the real collections")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--table", type=Path, nargs="+", help="print the table of these results")
    parser.add_argument("--rotate", type=Path, nargs="+", help="print limits chosen on two sources, in rotation")
    args = parser.parse_args(words)
    if args.out:
        wanted: list[Spec] = []
        for source in args.source.split(","):
            seeds = [int(s) for s in args.seeds.split(",")] if args.seeds else SEEDS[source]
            wanted += [spec for spec in specs(source, seeds) if args.only in spec.setting]
        run(args.out, wanted, args.processes, args.data, args.questions.split(",") if args.questions else None)
    for paths, show in ((args.table, table), (args.rotate, rotation)):
        if paths:
            print("\n".join(show([record for path in paths for record in read(path)])))
    if not (args.out or args.table or args.rotate):
        parser.error("say --out, --table or --rotate")


if __name__ == "__main__":
    main()
