"""trec_eval's flags and output, without a compiler.

  unjudged trec_eval [-q] [-n] [-c] [-J] [-l N] [-M N] [-N N] [-Z FILE] [-m MEASURE[.PARAMS]]... QRELS RUN

  -q  scores of each topic, too              -n  no summary
  -m  a measure, e.g. P.5,10, or official (default), set, all_trec, prefs, all_prefs, qrels_jg; repeatable
  -c  average over all judged topics, missing ones count 0 (else: topics in both files)
  -l  smallest relevant grade (default 1)    -M  keep the top N of each topic
  -J  remove unjudged documents first        -N  documents in the collection (utility)
  -Z  print z-scores by a file of `topic measure mean sd`
  -R  format of the judgments: qrels (default), qrels_jg (several assessors), prefs, qrels_prefs (preferences)
  -D  L.TOPIC: only this topic               -h  help, with -m on these measures
  --as 9   numbers, ties and topics of trec_eval 9 (default: 10)

Differences from trec_eval are listed in docs/trec_eval.md.
"""

from __future__ import annotations

import functools
import getopt
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from unjudged.cli import options
from unjudged.errors import InputError, MeasureError, UsageError, nearest

HELP = "drop-in for trec_eval 10 (and 9 with --as 9)"

_SHORT = "hvqnm:cl:D:JN:M:R:T:Z:o"
_LONG = {
    "help": "-h",
    "version": "-v",
    "query_eval_wanted": "-q",
    "nosummary": "-n",
    "measure=": "-m",
    "complete_rel_info_wanted": "-c",
    "level_for_rel=": "-l",
    "Debug_level=": "-D",
    "Judged_docs_only": "-J",
    "Number_docs_in_coll=": "-N",
    "Max_retrieved_per_topic=": "-M",
    "Rel_info_format=": "-R",
    "Results_format=": "-T",
    "ZScore=": "-Z",
    "output_old_results_format": "-o",
}


_FORMATS = ("qrels_jg", "prefs", "qrels_prefs", "qrels")


def main(argv: list[str]) -> int:
    """Parse trec_eval's flags, score, print."""
    try:
        pairs, files = getopt.gnu_getopt(argv, _SHORT, [*_LONG, "as="])
    except getopt.GetoptError as problem:
        raise UsageError(f"trec_eval: {problem.msg} ('unjudged trec_eval -h' explains)") from None
    flags: dict[str, list[str]] = {}
    for flag, value in pairs:
        short = _LONG.get(flag[2:], _LONG.get(f"{flag[2:]}=", flag)) if flag.startswith("--") else flag
        flags.setdefault(short, []).append(value)
    version = flags.get("--as", ["10"])[-1]
    if version not in ("9", "10"):
        raise UsageError(f"trec_eval: --as takes 9 or 10, not {version!r}")
    if "-h" in flags:
        print(_help(flags.get("-m", []), int(version)))
        return 0
    if "-v" in flags:
        from unjudged import __version__

        print(f"unjudged {__version__}, as trec_eval {version}", file=sys.stderr)
        return 0
    if len(files) != 2:
        raise UsageError(f"trec_eval: QRELS and RUN are needed, {len(files)} files were given")
    for flag, known in (("-R", _FORMATS), ("-T", ("trec_results",))):
        if flags.get(flag, known)[-1] not in known:
            raise UsageError(f"trec_eval: {flag} {flags[flag][-1]} is not supported, only {', '.join(known)}")
    options.write_output(_evaluate(files[0], files[1], flags, int(version)), None)
    return 0


def _number(flags: dict[str, list[str]], flag: str, default: int | None, least: int) -> int | None:
    if flag not in flags:
        return default
    try:
        value = int(flags[flag][-1])
        if value < least:
            raise ValueError
    except ValueError:
        raise UsageError(f"trec_eval: {flag} takes a whole number from {least}, not {flags[flag][-1]!r}") from None
    return value


def _lines(wanted: list[str], version: int, format: str | None = None) -> list[Any]:
    """The output lines asked for, in trec_eval's own order; the first parameters given to a measure win.

    `format` is that of the judgments; None for all measures there are (help).
    """
    from unjudged.measures import trec_names

    known = {name: e for name, e in trec_names.for_format(format).items() if e.since <= version}
    others = trec_names.for_format(None)
    chosen: dict[str, str] = {}
    for text in wanted or ["official"]:
        name, dot, parameters = text.partition(".")
        if dot and not parameters:
            raise MeasureError(f"trec_eval: {text!r} lacks its parameters")
        members = trec_names.SETS.get(name, (name,))
        if foreign := [
            each for each in members if each in others and each not in known and others[each].since <= version
        ]:
            needed = " or ".join(sorted({f"-R {f}" for f in others[foreign[0]].formats}))
            raise UsageError(f"trec_eval: {name} is computed with {needed}, not with -R {format}")
        for each in members:
            if each in known:
                plain = name in trec_names.SETS or known[each].kind in ("", "count")  # parameters have no effect
                given = "" if plain else parameters
                if not chosen.get(each):
                    chosen[each] = given
            elif name not in trec_names.SETS:
                raise MeasureError(f"trec_eval: no measure {text!r}{nearest(name, [*known, *trec_names.SETS])}")
    return [line for name in known if name in chosen for line in known[name].lines(name, chosen[name])]


def _help(wanted: list[str], version: int) -> str:
    from unjudged.measures import trec_names

    text = [(__doc__ or "").strip(), ""]
    if not wanted:
        shown = ", ".join(n for n, e in trec_names.for_format(None).items() if e.since <= version)
        return "\n".join([*text, f"measures: {shown}", f"sets: {', '.join(trec_names.SETS)}"])
    told = set()
    for line in _lines(wanted, version):
        if line.measure is None:
            text += [f"{line.name}: {line.summary_text}"]
        elif line.measure.name not in told:
            told.add(line.measure.name)
            summary = line.measure.definition.summary
            text += [f"{line.name} = {line.measure}", f"    {summary}"]
    return "\n".join(text)


def _evaluate(qrels: str, run: str, flags: dict[str, list[str]], version: int) -> str:
    format = flags.get("-R", ["qrels"])[-1]
    lines = _lines(flags.get("-m", []), version, format)
    only = flags.get("-D", [""])[-1].partition(".")[2]
    zscores = _read_zscores(flags["-Z"][-1]) if "-Z" in flags else None
    evaluate = {"qrels": _judged, "qrels_jg": _by_group}.get(format, _preferred)
    found = evaluate(qrels, run, flags, lines, version)
    table = Table(found, lines, zscores, complete="-c" in flags, version=version, only=only)
    return table.text(per_topic="-q" in flags, summary="-n" not in flags)


class Values(NamedTuple):
    """What was computed: for each topic whether the run answers it, and a value (or text) for each line."""

    name: str
    topics: Sequence[str]
    answered: Sequence[bool]
    values: list[Any]
    """One column per line; None for `runid`."""


def _reading(flags: dict[str, list[str]], ties: str) -> Any:
    from unjudged.io.trec import Reading

    return Reading(ties, _number(flags, "-M", None, 1), strict=True)


def _cells(line: Any, hits: Any, flags: dict[str, list[str]], version: int) -> Any:
    """The values of a measure by trec_eval's options; what is undefined counts 0."""
    import numpy as np

    rel, documents = _number(flags, "-l", 1, 0), _number(flags, "-N", 0, 0)
    assert rel is not None and documents is not None
    measure = line.measure
    if measure.definition.parameters and measure.name != "NumRet":
        measure = measure.default_rel(rel)
        if measure.name == "Utility" and documents:
            measure = measure(documents=float(documents))
        if version == 10 and "rounding" in measure.definition.parameters:
            measure = measure(rounding="nearest")
    return np.nan_to_num(measure.cells(hits), nan=0.0, posinf=0.0, neginf=0.0)


def _judged(qrels: str, run: str, flags: dict[str, list[str]], lines: list[Any], version: int) -> Values:
    """Ordinary judgments."""
    import numpy as np

    from unjudged.collection.load import read_collection

    reading = _reading(flags, "trec9" if version == 9 else "trec10")
    collection = read_collection(qrels, run, reading, topic_notes=False, lists=False)
    options.print_notes(collection.notes)
    hits = collection.hits.condensed() if "-J" in flags else collection.hits
    values: list[Any] = []
    for line in lines:
        if line.measure is None:
            values.append(None if line.value == "runid" else _relstrings(hits, line.length))
            continue
        cells = _cells(line, hits, flags, version)
        values.append(np.where(hits.answered, cells, 0.0) if version == 9 and line.name == "yaap" else cells)
    return Values(collection.tags[0], collection.topics, hits.answered.tolist(), values)


def _relstrings(hits: Any, length: int) -> list[str]:
    """Grades of the first documents: digit, > above 9, - not in the judgments, . negative."""
    found = []
    for topic in range(hits.cells):
        start, stop = hits.offsets[topic], hits.offsets[topic + 1]
        shown = ["-"] * min(length, int(hits.length[topic]))
        for rank, grade in zip(hits.rank[start:stop].tolist(), hits.grade[start:stop].tolist(), strict=True):
            if rank <= len(shown):
                shown[rank - 1] = "." if grade < 0 else str(grade) if grade <= 9 else ">"
        found.append(f"'{''.join(shown)}'")
    return found


def _ranked(run: str, topics: Iterable[str], reading: Any) -> tuple[str, list[list[str] | None]]:
    """The run's name and, for each topic, its documents in order; None where the topic is missing."""
    from unjudged.collection.load import read_collection

    # the reader takes judgments: one document a topic is enough to name the topics
    collection = read_collection({topic: {"": 0} for topic in topics}, run, reading, topic_notes=False)
    options.print_notes(collection.notes)
    lists, answered = collection.rankings, collection.hits.answered
    found = {t: lists.ids(collection.judgments, i) for i, t in enumerate(collection.topics) if answered[i]}
    return collection.tags[0], [found.get(topic) for topic in topics]


def _by_group(qrels: str, run: str, flags: dict[str, list[str]], lines: list[Any], version: int) -> Values:
    """Judgment groups: each measure by the judgments of each group, averaged over the groups of the topic."""
    from unjudged.collection.load import read_collection
    from unjudged.io.judgment_groups import read_groups

    levels = read_groups(qrels, "qrels_jg")
    name, ranked = _ranked(run, levels, _reading(flags, "trec9" if version == 9 else "trec10"))
    judged: dict[str, dict[str, int]] = {}
    listed: dict[str, dict[str, float]] = {}
    groups: list[list[str]] = []  # of each topic
    for number, (said, docs) in enumerate(zip(levels.values(), ranked, strict=True)):
        groups.append(list(dict.fromkeys(f"{number} {each.group}" for each in said)))
        for each in said:
            judged.setdefault(f"{number} {each.group}", {})[each.doc] = int(each.level)
        if docs:
            listed |= {group: {doc: -float(rank) for rank, doc in enumerate(docs)} for group in groups[-1]}
    collection = read_collection(judged, {"run": listed}, _reading({}, "file"), topic_notes=False)
    hits = collection.hits.condensed() if "-J" in flags else collection.hits
    place = {group: i for i, group in enumerate(collection.topics)}
    values: list[Any] = []
    for line in lines:
        if line.measure is None:
            values.append(None)
            continue
        cells = _cells(line, hits, flags, version)
        # one group after another: the last digit hangs on it
        values.append(
            [functools.reduce(float.__add__, [float(cells[place[g]]) for g in of]) / len(of) for of in groups]
        )
    return Values(name, list(levels), [docs is not None for docs in ranked], values)


def _preferred(qrels: str, run: str, flags: dict[str, list[str]], lines: list[Any], version: int) -> Values:
    """Preferences. Equal scores are ordered by document, smallest first (the other way round than elsewhere)."""
    from unjudged.io.judgment_groups import read_groups
    from unjudged.measures.preference_pairs import MEASURES, pairs_of

    levels = read_groups(qrels, flags["-R"][-1])
    name, ranked = _ranked(run, levels, _reading(flags, "ascending"))
    pairs = [pairs_of(docs or (), said) for docs, said in zip(ranked, levels.values(), strict=True)]
    values: list[Any] = []
    for line in lines:
        if line.name in MEASURES:
            values.append([MEASURES[line.name][0](each) for each in pairs])
        else:
            values.append(None if line.value == "runid" else [1.0] * len(pairs))
    return Values(name, list(levels), [docs is not None for docs in ranked], values)


ZScores = dict[tuple[str, str], tuple[float, float]]
"""Mean and deviation of a measure in a topic."""


def _read_zscores(path: str) -> ZScores:
    from unjudged.io import files
    from unjudged.io.ids import to_text

    found: ZScores = {}
    for number, line in enumerate(to_text(files.read_all(path)).split("\n"), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            topic, measure, mean, deviation = fields
            found[topic, measure] = float(mean), float(deviation)
        except ValueError:
            raise InputError("a z-score line needs topic, measure, mean and deviation", path, number) from None
    return found


class Table:
    """What trec_eval prints: a line per measure for each topic in byte order, then the summary."""

    def __init__(
        self, found: Values, lines: list[Any], zscores: ZScores | None, *, complete: bool, version: int, only: str
    ) -> None:
        self.zscores, self.complete, self.lines = zscores, complete, lines
        self.name, self.topics, self.values = found.name, found.topics, found.values
        wanted = [t for t, topic in enumerate(self.topics) if only in ("", topic)]
        self.counted = [t for t in wanted if complete or found.answered[t]]
        printed = self.counted if version == 10 else [t for t in wanted if found.answered[t]]
        self.order = sorted(printed, key=lambda t: self.topics[t].encode("utf-8", "surrogateescape"))

    def text(self, *, per_topic: bool, summary: bool) -> str:
        """The whole output."""
        out: list[str] = []
        lines = list(zip(self.lines, self.values, strict=True))
        if per_topic:
            for topic in self.order:
                name = self.topics[topic]
                out += [
                    self._line(line, name, self._cell(line, cells, topic)) for line, cells in lines if line.per_topic
                ]
        if summary:
            out += [self._line(line, "all", self._summary(line, cells)) for line, cells in lines if line.summary]
        return "".join(out)

    def _line(self, line: Any, topic: str, value: Any) -> str:
        if isinstance(value, str):
            shown = value
        else:
            shown = f"{value:.0f}" if line.value == "int" and self.zscores is None else f"{value:6.4f}"
        mark = "Z" if self.zscores is not None and not isinstance(value, str) else ""
        return f"{mark}{line.name:<22}\t{topic}\t{shown}\n"

    def _cell(self, line: Any, cells: Any, topic: int) -> Any:
        value = cells[topic]
        return value if isinstance(value, str) else self._zscore(self.topics[topic], line.name, float(value))

    def _summary(self, line: Any, cells: Any) -> Any:
        """The topics added one after another in the order printed, then divided: the last digit hangs on it."""
        from unjudged.measures._measure import GEOMETRIC_FLOOR

        many = len(self.counted)
        if cells is None:
            return self.name
        if line.name == "num_q":
            return float(many)
        if line.name == "num_rel" and self.complete:  # of all judged topics, missing ones too; no z score
            return float(sum(cells[t] for t in self.counted))
        geometric, total = line.measure is not None and line.measure.mean == "geometric", 0.0
        for topic in self.order:
            value = float(cells[topic])
            if geometric:
                value = math.log(max(value, GEOMETRIC_FLOOR))
            total += self._zscore(self.topics[topic], line.name, value)
        if line.value == "int" or not many:
            return total
        if geometric:
            total += (many - len(self.order)) * math.log(GEOMETRIC_FLOOR)
            return math.exp(total / many)
        return total / many

    def _zscore(self, topic: str, name: str, value: float) -> float:
        if self.zscores is None:
            return value
        if (topic, name) not in self.zscores:
            return -1000000.0
        mean, deviation = self.zscores[topic, name]
        if deviation == 0:
            return 0.0 if value == mean else -1000000.0
        return (value - mean) / deviation
