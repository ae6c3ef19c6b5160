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

import getopt
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from unjudged.cli import options
from unjudged.cli.trec_table import Table
from unjudged.errors import InputError, MeasureError, UsageError, nearest

if TYPE_CHECKING:
    from unjudged.cli.trec_table import ZScores
    from unjudged.measures.trec_lists import TopicList

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
_MOST = 2**31 - 1
"""No list is longer, and no grade higher."""


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
    from unjudged.measures.trec_names import whole

    value = whole(flags[flag][-1])
    if value < least:
        raise UsageError(f"trec_eval: {flag} takes a whole number from {least}, not {flags[flag][-1]!r}")
    return value if flag == "-N" else min(value, _MOST)


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
            text += [f"{line.name}: {line.summary_text or f'in this verb alone ({line.refused})'}"]
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
    evaluate = _judged if format in ("qrels", "qrels_jg") else _preferred
    found = evaluate(qrels, run, flags, lines, version)
    table = Table(*found, lines, zscores=zscores, complete="-c" in flags, version=version, only=only)
    return table.text(per_topic="-q" in flags, summary="-n" not in flags)


class Values(NamedTuple):
    """What was computed: for each topic whether the run answers it, and a value (or text) for each line."""

    name: str
    topics: Sequence[str]
    answered: Sequence[bool]
    values: list[Any]
    """One column per line; None for `runid`."""
    relevant: float = 0.0
    """Judgments with a grade above 0, whatever the smallest relevant grade."""


def _reading(flags: dict[str, list[str]], ties: str) -> Any:
    from unjudged.io.trec import Reading

    depth = _number(flags, "-M", None, 0)
    return Reading(ties, None if depth is None else max(depth, 1), strict=True)


def _emptied(flags: dict[str, list[str]]) -> bool:
    """-M 0: every list is empty."""
    return _number(flags, "-M", None, 0) == 0


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
    found = measure.cells(hits)
    cells = np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0)
    if measure.name in ("IPrec", "IPrecAvg") and not _stand_in(flags):  # its 0/0: an empty list, and none is needed
        lowest = min(measure.params.get("recalls", [measure.params.get("recall")]))
        needed = np.floor(lowest * hits.relevant(measure.params["rel"]).R + (0.9 if version == 9 else 0.5))
        cells = np.where((hits.length == 0) & (needed == 0), np.nan, cells)
    if measure.name == "RnDCG":  # its 0/0: relevant documents (-l 0), none of which has a gain
        cells = np.where(np.isnan(found) & (hits.relevant(rel).R > 0), np.nan, cells)
    return cells


def _judged(qrels: str, run: str, flags: dict[str, list[str]], lines: list[Any], version: int) -> Values:
    """Ordinary judgments, or those of several assessors."""
    import numpy as np

    from unjudged.collection import Hits
    from unjudged.collection.load import read_collection
    from unjudged.io import formats

    reading = _reading(flags, "trec9" if version == 9 else "trec10")
    format = "qrels_jg" if flags.get("-R", [""])[-1] == "qrels_jg" else None
    if format is None and formats.qrels_format(qrels) == "machine_trec":
        format = "trec"  # trec_eval reads 1 where 1.9 stands, judges' labels round it: refused instead
    collection = read_collection(qrels, run, reading, topic_notes=False, lists=False, qrels_format=format)
    options.print_notes(collection.notes)
    hits = collection.hits.condensed() if "-J" in flags else collection.hits
    if _emptied(flags):
        none = np.zeros(0, np.int32)
        ends, length = np.zeros_like(hits.offsets), np.zeros_like(hits.length)
        hits = Hits(hits.judgments, ends, none, none, length, hits.answered)
    values: list[Any] = []
    for line in lines:
        if line.own is not None or line.value == "relstring":
            values.append(_own(line, hits, flags, version))
        elif line.measure is None:
            values.append(None)
        else:
            cells = _cells(line, hits, flags, version)
            values.append(np.where(hits.answered, cells, 0.0) if version == 9 and line.name == "yaap" else cells)
    relevant = float(collection.judgments.count(1).sum())
    return Values(collection.tags[0], collection.topics, hits.answered.tolist(), values, relevant)


def _own(line: Any, hits: Any, flags: dict[str, list[str]], version: int) -> list[Any]:
    """The values of a line that is computed from the lists themselves."""
    lists = hits.once("lists", lambda: _lists(hits, flags, version))
    relstring = line.value == "relstring"
    values: list[Any] = [_relstring(topic.grades[: line.length]) if relstring else line.own(topic) for topic in lists]
    if line.name in _WITHOUT_STAND_IN:
        nothing = _relstring([]) if relstring else 0.0
        values = [value if there else nothing for value, there in zip(values, hits.answered, strict=True)]
    return values


_WITHOUT_STAND_IN = ("relstring", "rbp_resid")
"""Where trec_eval 10 lets the document that stands in for a missing topic's list count for nothing, under these very
names (and those of measures that are 0 for an empty list): with parameters, the name is another one."""


def _stand_in(flags: dict[str, list[str]]) -> bool:
    """Would a document that stands in for a missing topic's list still be there?"""
    return "-J" not in flags and not _emptied(flags)


def _lists(hits: Any, flags: dict[str, list[str]], version: int) -> list[TopicList]:
    """What was retrieved for each topic, as trec_eval sees it.

    trec_eval 10 puts a document that nobody judged in place of the list of a missing topic.
    """
    from collections import Counter

    from unjudged.measures.trec_lists import NEGATIVE, NOT_JUDGED, TopicList

    rel, documents = _number(flags, "-l", 1, 0), _number(flags, "-N", 0, 0)
    assert rel is not None and documents is not None
    missing = [NOT_JUDGED] if version == 10 and _stand_in(flags) else []
    judgments, found = hits.judgments, []
    for topic in range(hits.cells):
        hit = slice(int(hits.offsets[topic]), int(hits.offsets[topic + 1]))
        grades = [NOT_JUDGED] * int(hits.length[topic]) if hits.answered[topic] else missing
        for rank, grade in zip(hits.rank[hit].tolist(), hits.grade[hit].tolist(), strict=True):
            grades[rank - 1] = grade if grade >= 0 else NEGATIVE
        judged = judgments.grade[judgments.starts[topic] : judgments.starts[topic + 1]]
        found.append(TopicList(grades, Counter(judged[judged >= 0].tolist()), rel, documents, version))
    return found


def _relstring(grades: Sequence[int]) -> str:
    """Grades of the first documents: digit, > above 9, - not in the judgments, . negative."""
    from unjudged.measures.trec_lists import NEGATIVE, NOT_JUDGED

    marks = {NOT_JUDGED: "-", NEGATIVE: "."}
    shown = (marks.get(grade) or (str(grade) if grade <= 9 else ">") for grade in grades)
    return f"'{''.join(shown)}'"


def _ranked(run: str, topics: Iterable[str], reading: Any) -> tuple[str, list[list[str] | None]]:
    """The run's name and, for each topic, its documents in order; None where the topic is missing."""
    from unjudged.collection.load import read_collection

    # the reader takes judgments: one document a topic is enough to name the topics
    collection = read_collection({topic: {"": 0} for topic in topics}, run, reading, topic_notes=False)
    options.print_notes(collection.notes)
    lists, answered = collection.rankings, collection.hits.answered
    found = {t: lists.ids(collection.judgments, i) for i, t in enumerate(collection.topics) if answered[i]}
    return collection.tags[0], [found.get(topic) for topic in topics]


def _preferred(qrels: str, run: str, flags: dict[str, list[str]], lines: list[Any], version: int) -> Values:
    """Preferences. Equal scores are ordered by document, smallest first (the other way round than elsewhere)."""
    from unjudged.io.judgment_groups import in_bytes, read_groups
    from unjudged.measures.preference_pairs import MEASURES, Memory, pairs_of

    levels = read_groups(qrels, flags["-R"][-1])
    name, ranked = _ranked(run, levels, _reading(flags, "ascending"))
    ranked = [docs and [] for docs in ranked] if _emptied(flags) else ranked
    memory, order = Memory(), sorted(range(len(ranked)), key=lambda t: in_bytes(list(levels)[t]))
    made = {t: pairs_of(ranked[t] or (), list(levels.values())[t], memory) for t in order}
    pairs = [made[t] for t in range(len(ranked))]
    values: list[Any] = []
    for line in lines:
        if line.name in MEASURES:
            values.append([MEASURES[line.name](each) for each in pairs])
        else:
            values.append(None if line.value == "runid" else [1.0] * len(pairs))
    return Values(name, list(levels), [docs is not None for docs in ranked], values)


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
