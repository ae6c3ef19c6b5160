"""trec_eval's flags and output, without a compiler.

  unjudged trec_eval [-q] [-n] [-c] [-J] [-l N] [-M N] [-N N] [-Z FILE] [-m MEASURE[.PARAMS]]... QRELS RUN

  -q  scores of each topic, too              -n  no summary
  -m  a measure, e.g. P.5,10, or official (default), set, all_trec; repeatable
  -c  average over all judged topics, missing ones count 0 (else: topics in both files)
  -l  smallest relevant grade (default 1)    -M  keep the top N of each topic
  -J  remove unjudged documents first        -N  documents in the collection (utility)
  -Z  print z-scores by a file of `topic measure mean sd`
  -D  L.TOPIC: only this topic               -h  help, with -m on these measures
  --as 9   numbers, ties and topics of trec_eval 9 (default: 10)

Differences from trec_eval are listed in docs/trec_eval.md.
"""

from __future__ import annotations

import getopt
import math
import sys
from dataclasses import replace
from typing import Any

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
    for flag, only in (("-R", "qrels"), ("-T", "trec_results")):
        if flags.get(flag, [only])[-1] != only:
            raise UsageError(f"trec_eval: {flag} {flags[flag][-1]} is not supported, only {only}")
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


def _lines(wanted: list[str], version: int) -> list[Any]:
    """The output lines asked for, in trec_eval's own order; the first parameters given to a measure win."""
    from unjudged.measures import trec_names

    known = {name: e for name, e in trec_names.NAMES.items() if e.since <= version}
    chosen: dict[str, str] = {}
    for text in wanted or ["official"]:
        name, dot, parameters = text.partition(".")
        if dot and not parameters:
            raise MeasureError(f"trec_eval: {text!r} lacks its parameters")
        for each in trec_names.SETS.get(name, (name,)):
            if each in known:
                plain = name in trec_names.SETS or known[each].kind in ("", "count")  # parameters have no effect
                given = "" if plain else parameters
                if not chosen.get(each):
                    chosen[each] = given
            elif name not in trec_names.SETS:
                raise MeasureError(f"trec_eval: no measure {text!r}{nearest(name, [*known, *trec_names.SETS])}")
    return [line for name in known if name in chosen for line in trec_names.lines_of(name, chosen[name])]


def _help(wanted: list[str], version: int) -> str:
    from unjudged.measures import trec_names

    text = [(__doc__ or "").strip(), ""]
    if not wanted:
        shown = ", ".join(n for n, e in trec_names.NAMES.items() if e.since <= version)
        return "\n".join([*text, f"measures: {shown}", "sets: official, set, all_trec"])
    told = set()
    for line in _lines(wanted, version):
        if line.measure is None:
            text += [f"{line.name}: {'name of the run' if line.value == 'runid' else 'grades of the first documents'}"]
        elif line.measure.name not in told:
            told.add(line.measure.name)
            summary = line.measure.definition.summary
            text += [f"{line.name} = {line.measure}", f"    {summary}"]
    return "\n".join(text)


def _evaluate(qrels: str, run: str, flags: dict[str, list[str]], version: int) -> str:
    from unjudged.collection.load import read_collection
    from unjudged.io.trec import Reading

    lines = _lines(flags.get("-m", []), version)
    rel = _number(flags, "-l", 1, 0)
    documents = _number(flags, "-N", 0, 0)
    reading = Reading("trec9" if version == 9 else "trec10", _number(flags, "-M", None, 1), strict=True)
    assert rel is not None and documents is not None
    prepared = []
    for line in lines:
        if line.measure is not None:
            measure = line.measure.default_rel(rel)
            if measure.name == "Utility" and documents:
                measure = measure(documents=float(documents))
            if version == 10 and "rounding" in measure.definition.parameters:
                measure = measure(rounding="nearest")
            if measure.name == "NumRet" or not measure.definition.parameters:
                measure = line.measure
            line = replace(line, measure=measure)
        prepared.append(line)
    collection = read_collection(qrels, run, reading, topic_notes=False, lists=False)
    options.print_notes(collection.notes)
    only = flags.get("-D", [""])[-1].partition(".")[2]
    zscores = _read_zscores(flags["-Z"][-1]) if "-Z" in flags else None
    how: dict[str, Any] = {"complete": "-c" in flags, "condensed": "-J" in flags, "version": version, "only": only}
    return Table(collection, prepared, zscores, **how).text(per_topic="-q" in flags, summary="-n" not in flags)


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
        self,
        collection: Any,
        lines: list[Any],
        zscores: ZScores | None,
        *,
        complete: bool,
        condensed: bool,
        version: int,
        only: str,
    ) -> None:
        import numpy as np

        self.zscores = zscores
        self.hits = collection.hits.condensed() if condensed else collection.hits
        self.name, self.topics = collection.tags[0], collection.topics
        answered = self.hits.answered
        counted = np.ones(len(answered), bool) if complete else answered.copy()
        printed = counted if version == 10 else answered.copy()
        if only:
            counted = counted & np.array([t == only for t in self.topics])
            printed = printed & counted
        self.complete, self.counted, self.topics_counted = complete, counted, int(counted.sum())
        order = sorted(range(len(self.topics)), key=lambda t: self.topics[t].encode("utf-8", "surrogateescape"))
        self.order = [t for t in order if printed[t]]
        self.lines = lines
        self.values: list[Any] = []
        for line in lines:
            cells = None
            if line.measure is not None:
                cells = np.nan_to_num(line.measure.cells(self.hits), nan=0.0, posinf=0.0, neginf=0.0)
                if version == 9 and line.measure.name == "yaap":
                    cells = np.where(answered, cells, 0.0)
            self.values.append(cells)

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
        if cells is None:
            return self._relstring(topic, line.length)
        return self._zscore(self.topics[topic], line.name, float(cells[topic]))

    def _summary(self, line: Any, cells: Any) -> Any:
        """The topics added one after another in the order printed, then divided: the last digit hangs on it."""
        from unjudged.measures._measure import GEOMETRIC_FLOOR

        if cells is None:
            return self.name
        if line.measure.name == "NumQ":
            return float(self.topics_counted)
        if line.measure.name == "NumRel" and self.complete:  # of all judged topics, missing ones too; no z score
            return float(cells[self.counted].sum())
        geometric, total = line.measure.mean == "geometric", 0.0
        for topic in self.order:
            value = float(cells[topic])
            if geometric:
                value = math.log(max(value, GEOMETRIC_FLOOR))
            total += self._zscore(self.topics[topic], line.name, value)
        if line.measure.mean == "sum" or not self.topics_counted:
            return total
        if geometric:
            total += (self.topics_counted - len(self.order)) * math.log(GEOMETRIC_FLOOR)
            return math.exp(total / self.topics_counted)
        return total / self.topics_counted

    def _relstring(self, topic: int, length: int) -> str:
        """Grades of the first documents: digit, > above 9, - not in the judgments, . negative."""
        start, stop = self.hits.offsets[topic], self.hits.offsets[topic + 1]
        shown = ["-"] * min(length, int(self.hits.length[topic]))
        for rank, grade in zip(self.hits.rank[start:stop].tolist(), self.hits.grade[start:stop].tolist(), strict=True):
            if rank <= len(shown):
                shown[rank - 1] = "." if grade < 0 else str(grade) if grade <= 9 else ">"
        return f"'{''.join(shown)}'"

    def _zscore(self, topic: str, name: str, value: float) -> float:
        if self.zscores is None:
            return value
        if (topic, name) not in self.zscores:
            return -1000000.0
        mean, deviation = self.zscores[topic, name]
        if deviation == 0:
            return 0.0 if value == mean else -1000000.0
        return (value - mean) / deviation
