"""The findings of `unjudged check`: one table of codes, and what a finding is.

error: `score` refuses the file, or its numbers mean nothing. warning: `score` goes on, but the numbers may not
be what was meant. info: worth knowing; nothing has to be done.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from unjudged.errors import InputError, UsageError, nearest
from unjudged.io.ids import to_bytes

ERROR, WARNING, INFO = "error", "warning", "info"
SEVERITIES = (ERROR, WARNING, INFO)


@dataclass(frozen=True)
class Code:
    """One kind of finding. `sentence` has places for {many} (count, unit), {first} (`: `) and {detail}."""

    code: str
    severity: str
    title: str
    unit: str
    sentence: str
    text: str
    fixable: bool = False


@dataclass(frozen=True)
class Finding:
    """One finding in one file; `line` is the first occurrence (None where no line is to blame)."""

    code: str
    file: str
    line: int | None
    count: int
    sentence: str

    @classmethod
    def of(cls, code: str, file: str, line: int | None = None, count: int = 1, detail: str = "") -> Finding:
        """A finding in the words of the table."""
        known = CODES[code]
        first = ": " if count == 1 else ", the first: "
        text = known.sentence.format(many=many(count, known.unit), first=first, detail=detail)
        return cls(code, file, line, count, text)

    @property
    def severity(self) -> str:
        """error, warning or info."""
        return CODES[self.code].severity


class Tally:
    """What was found in one file: per code the first line, the count, and what to say of the first occurrence."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.found: dict[str, tuple[int | None, int, str]] = {}

    def note(self, code: str, line: int | None = None, count: int = 1, detail: str | Callable[[], str] = "") -> None:
        """One more occurrence (or several); the earliest line is the one that is shown."""
        first, so_far, said = self.found.get(code, (None, 0, ""))
        if not so_far or (line is not None and first is not None and line < first):
            first, said = line, detail if isinstance(detail, str) else detail()
        self.found[code] = (first, so_far + count, said)

    def findings(self) -> list[Finding]:
        """The findings by code."""
        return [Finding.of(code, self.file, *self.found[code]) for code in sorted(self.found)]


def many(count: int, unit: str) -> str:
    """`1 line`, `3 lines`."""
    return f"{count} {unit}{'s' * (count != 1)}"


def shown(text: str | bytes, width: int = 60) -> str:
    """Text of a file for a sentence: bytes that are no text are escaped, long text is cut."""
    raw = to_bytes(text) if isinstance(text, str) else text
    visible = raw.decode("utf-8", "backslashreplace")
    visible = visible if visible.isprintable() else visible.encode("unicode_escape").decode("ascii")
    return visible if len(visible) <= width else visible[: width - 3] + "..."


def why(problem: InputError) -> str:
    """The sentence of an error without its file and line."""
    text = str(problem)
    for where in (f"{problem.source}:{problem.line}: ", f"{problem.source}: "):
        text = text.removeprefix(where)
    return text


def quoted(line: bytes) -> str:
    """The beginning of a line."""
    return f"'{shown(line.strip())}'"


def where(doc: bytes, topic: bytes) -> str:
    """A document and its topic."""
    return f"{shown(doc)} in topic {shown(topic)}"


def example(topics: Iterable[bytes]) -> str:
    """The first of several ids."""
    return f"e.g. {shown(next(iter(topics)), 30)}"


def explain(code: str) -> str:
    """What a code means, what `score` does about it and how to mend it."""
    known = CODES.get(code.upper())
    if known is None:
        raise UsageError(f"unknown finding {code!r}{nearest(code, CODES)}; there are {', '.join(CODES)}")
    mends = "; check --fix repairs it" if known.fixable else ""
    head = f"{known.code}  {known.title}  ({known.severity}; the count is of {known.unit}s{mends})"
    return head + "\n\n" + textwrap.fill(known.text, 100) + "\n"


# fmt: off
_RUNS = (
    Code(
        "UJ100", ERROR, "unreadable file", "file",
        "cannot be checked: {detail}",
        "The file is missing, empty, binary, a damaged or cut-off gz, UTF-16, a folder, or holds no line to use; "
        "nothing else could be checked in it. The other files were. score refuses such a file. Fetch or export it "
        "again; 'gzip -t FILE' tests a gz.",
    ),
    Code(
        "UJ101", ERROR, "unusable run line", "line",
        "{many} unusable{first}{detail}; mend or remove (--fix drops such lines)",
        "A run line needs six fields, 'topic Q0 doc rank score tag', and a decimal score: NaN, hexadecimal numbers, "
        "decimal commas and words are not scores. score refuses the file (--lenient skips these lines and says how "
        "many). Other tools are less careful: trec_eval reads 'xx' as 0 without a word. A missing document id shifts "
        "every field behind it. Mend the program that wrote the run, or let --fix drop the lines.",
        True,
    ),
    Code(
        "UJ102", WARNING, "document twice in a topic", "line",
        "{many} with a document listed before in its topic{first}{detail}; remove (--fix keeps the better-ranked)",
        "A document can be retrieved once per topic. score keeps the better-ranked line (higher score) and says so; "
        "with --strict it refuses. trec_eval stops with exit code 4, ir_measures keeps the last line. The usual "
        "causes: passages rolled up to documents without removing repeats, or two result lists glued together. Remove "
        "repeats before ranks are given, or use --fix.",
        True,
    ),
    Code(
        "UJ103", WARNING, "judged topic not answered", "topic",
        "{many} of the judgments not answered ({detail}); counted as 0: add results, or score --topics run",
        "The judgments have topics this run has no line for. score counts them as 0 and says so, which is right "
        "when the run found nothing, and wrong when the run was made for part of the topics or is not complete. "
        "'--topics run' averages over the run's own topics, '--topics common' over those all runs answer. Other "
        "tools differ: plain trec_eval leaves such topics out of the mean, so its mean can be higher.",
    ),
    Code(
        "UJ104", INFO, "topic outside the judgments", "topic",
        "{many} outside the judgments ({detail}); not scored, fine unless judgments should be there",
        "The run answers topics nobody judged. score ignores and reports them. That is normal when only part of the "
        "topics was judged. If all topics should be there, look for ids written in two ways (051 and 51).",
    ),
    Code(
        "UJ105", INFO, "tied scores", "line",
        "{detail}; write scores with more digits",
        "Documents of a topic share a score, so their order is not the run's but the tool's. score puts equal scores "
        "in descending order of document id, as trec_eval does, whatever the rank column says; other tools keep the "
        "file's order and get other numbers. A tie across ranks 10 and 11 touches every measure cut at 10. Write "
        "scores with more digits, or make them differ; '--ties' tries other orders. Wholly tied topics are UJ115.",
    ),
    Code(
        "UJ106", WARNING, "rank column contradicts the scores", "topic",
        "ranks contradict scores in {many}, {detail}; scores count, correct them if ranks were meant",
        "In some topic a better rank has a lower score, a rank occurs twice, or a rank is not a whole number. score, "
        "like trec_eval, sorts by score and never reads the rank column. If the ranks are what was meant (scores of "
        "distances, or of a stage before reranking), the run is being scored in the wrong order: write scores that "
        "fall with the rank. --fix writes ranks that follow the scores.",
        True,
    ),
    Code(
        "UJ107", INFO, "tag differs from the file name, or changes", "tag",
        "{detail}; results go by the file name, rename the file if it is wrong",
        "The last column names the run. Results use the file name, so nothing depends on the tag, but a tag that "
        "does not occur in the file name can mean a file was renamed or mixed up, and a tag that changes inside the "
        "file can mean that two runs were glued together.",
    ),
    Code(
        "UJ108", INFO, "second column is not Q0", "line",
        "{many} with something else than Q0 in column 2 ({detail}); ignored, --fix writes Q0",
        "The second column of a run is the constant Q0. score ignores it. Other values are harmless, or a sign that "
        "the columns stand in another order, or that several iterations were put into one file.",
        True,
    ),
    Code(
        "UJ109", WARNING, "more than 1000 documents in a topic", "topic",
        "{many} with more than 1000 documents ({detail}); score --truncate 1000 cuts all runs alike",
        "TREC takes at most 1000 documents per topic. score uses all there are unless '--truncate N' is given, so a "
        "longer list can gain a little over runs that were cut at 1000. Use --truncate 1000 for all runs.",
    ),
    Code(
        "UJ110", WARNING, "short lists", "topic",
        "{many} with a short list, {detail}; complete, or compare with measures cut at that depth",
        "Either single topics have less than a tenth of the documents the run usually lists, or all lists of the run "
        "are at most half as long as those of the other runs (a run cut to its top). score takes the lists as they "
        "are: AP, recall, nDCG and bpref over the whole list are lower than the system deserves. Complete the run, or "
        "compare with measures cut at the shortest depth (nDCG@10, or --truncate for all runs).",
    ),
    Code(
        "UJ111", WARNING, "more than six fields", "line",
        "{many} with more than six fields{first}{detail}; remove blanks inside ids (--fix drops the rest)",
        "Fields behind the sixth are ignored. Harmless when they are remarks or a tag of two words; wrong when a "
        "document id holds a blank, because then the rank is read as the score (UJ120 where that shows). Look at the "
        "first such line. --fix keeps the first six fields.",
        True,
    ),
    Code(
        "UJ112", INFO, "lines of a topic not together", "topic",
        "{many} with lines in several places of the file ({detail}); read as one list, --fix puts them together",
        "The lines of a topic do not stand together. score reads them as one list (and needs more memory for it). It "
        "can mean that several runs were glued together; then UJ102 is there as well.",
        True,
    ),
    Code(
        "UJ113", WARNING, "ids that are not UTF-8", "id",
        "{many} not UTF-8{first}{detail}; they match only the same bytes, convert both files alike",
        "Ids are compared byte by byte and survive as they are, but an id in Latin-1 does not match the same id in "
        "UTF-8, and other tools stop at it or change it. Convert run and judgments alike (iconv).",
    ),
    Code(
        "UJ114", ERROR, "documents are not those of the judgments", "document",
        "{detail}; write the ids as in the judgments",
        "None of the run's documents is judged in its topics, so every score is 0; or ids seem cut to a length, so "
        "that judged documents are missed. score does not notice. The usual causes: ids cut by an index field (20 "
        "characters is a known one), internal numbers instead of ids, passage ids instead of document ids, another "
        "version of the collection, other upper and lower case.",
    ),
    Code(
        "UJ115", WARNING, "all scores of a topic equal", "topic",
        "{many} with one score for all documents ({detail}); ordered by document id: write real scores",
        "All documents (three or more) of a topic have the same score, so the whole ranking is decided by document "
        "ids: a constant scorer, a score column that was rounded or filled with zeros. score orders by descending "
        "id; tools that keep the file's order report something else. If the rank column holds the order, write "
        "scores that fall with the rank.",
    ),
    Code(
        "UJ116", WARNING, "infinite scores", "line",
        "{many} with an infinite score{first}{detail}; write finite scores",
        "inf (or a number too large, such as 1e400) is read as infinite: such documents come first (last with -inf) "
        "and are tied with each other. Other tools refuse it or read 0. Write finite scores.",
    ),
    Code(
        "UJ117", INFO, "rank column does not start at 1", "topic",
        "ranks do not start at 1 in {many} ({detail}); ignored, --fix writes them anew",
        "Ranks that start at 0, or somewhere else. score does not read the rank column. A list that starts at a "
        "later rank may have lost its top.",
        True,
    ),
    Code(
        "UJ118", INFO, "file not in score order", "topic",
        "{many} not in score order ({detail}); score sorts, not all tools do: --fix sorts the file",
        "The lines of a topic do not go down by score. score sorts. Tools that keep the file's order (ranx, some "
        "scripts) report other numbers.",
        True,
    ),
    Code(
        "UJ119", INFO, "ties decide a score", "measure",
        "tied documents can move {detail}; --ties expected averages over their orders",
        "Documents of equal score may stand in any order, and the mean over topics of AP or P@10 differs by more than "
        "0.001 between the best and the worst of them. Tools break ties in different ways, so published numbers of "
        "such a run are not comparable to the last digits. score orders them by document id; --ties expected gives "
        "the mean over all orders. Write scores with more digits, or break ties on purpose.",
    ),
    Code(
        "UJ120", WARNING, "fields shifted by a blank inside an id", "line",
        "{many} with fields shifted by a blank inside an id{first}{detail}; remove the blank",
        "The line has more fields than most lines of the file, and its rank is no number or its tag is one, unlike "
        "theirs: a document id (or topic) with a blank inside is read as two fields, so the id is cut and the rank is "
        "read as the score. score does not notice. Write ids without blanks, as they stand in the judgments. Where "
        "most lines of a file are shifted, their ranks are no numbers: UJ106.",
    ),
)

_JUDGMENTS = (
    Code(
        "UJ121", ERROR, "unusable judgment line", "line",
        "{many} unusable{first}{detail}; mend or remove (--fix drops such lines)",
        "A judgment line needs four fields, 'topic iteration doc grade', and a whole number as grade. score refuses "
        "the file (--lenient skips these lines and says how many). Multiply fractional grades, or map them to levels.",
        True,
    ),
    Code(
        "UJ122", WARNING, "judgment given twice with one grade", "line",
        "{many} with a judgment given before{first}{detail}; remove (--fix does)",
        "The same document of a topic is listed again with the same grade. score keeps one and says so (--strict "
        "refuses); trec_eval stops with exit code 4.",
        True,
    ),
    Code(
        "UJ123", ERROR, "two grades for one document", "document",
        "{many} with two grades{first}{detail}; decide which one holds (--fix cannot)",
        "Two judgments of one document in one topic disagree. score refuses the judgments. This cannot be repaired "
        "automatically: decide (first assessor, majority, the higher grade) and leave one line. Where the second "
        "column names subtopics or assessors nothing is wrong: give '--qrels-format diversity' (or 'qrels_jg').",
    ),
    Code(
        "UJ124", WARNING, "topic without a relevant document", "topic",
        "{many} without a relevant document ({detail}); every run scores 0 there: leave out, or judge more",
        "No judgment of the topic has a grade of 1 or more, so no run can score and the topic only lowers every "
        "mean. score counts it as 0, as trec_eval does; '--undefined drop' leaves it out of the mean where a measure "
        "is undefined, '--only' chooses topics.",
    ),
    Code(
        "UJ125", INFO, "negative grades", "line",
        "{many} with a negative grade{first}{detail}; unjudged, or score --negative nonrelevant",
        "Negative grades mark spam, or documents in the pool that nobody judged. score treats them as unjudged (infAP "
        "uses them as pooled but unjudged); '--negative nonrelevant' treats them as judged and not relevant.",
    ),
    Code(
        "UJ126", INFO, "topic without a judged nonrelevant document", "topic",
        "{many} without a judged nonrelevant document ({detail}); do not use bpref or condensed lists there",
        "Only relevant documents are listed (as in MS MARCO's sparse judgments), so 'nonrelevant' and 'unjudged' "
        "cannot be told apart: bpref and all condensed-list measures are 1 for every run that finds something. Use "
        "measures over the full list, or add the nonrelevant judgments if they were lost.",
    ),
    Code(
        "UJ127", WARNING, "more than four fields", "line",
        "{many} with more than four fields{first}{detail}; remove blanks inside ids (--fix drops the rest)",
        "Fields behind the fourth are ignored. Harmless when they are remarks; wrong when a document id holds a "
        "blank, because then part of the id is read as the grade.",
        True,
    ),
    Code(
        "UJ128", INFO, "lines of a topic not together", "topic",
        "{many} with lines in several places of the file ({detail}); read as one, --fix puts them together",
        "The lines of a topic do not stand together. score reads them as one topic. It can mean that several "
        "judgment files were glued together; then UJ122 or UJ123 may be there as well.",
        True,
    ),
)

_COLLECTION = (
    Code(
        "UJ131", WARNING, "two runs carry the same tag", "run",
        "{many} carry {detail}; make sure they are different runs, give each its tag",
        "Tags name runs in tools that read them from the file. Results here use file names, so the numbers stand, but "
        "two files with one tag are often one run in two versions, or mixed up.",
    ),
    Code(
        "UJ132", WARNING, "identical runs", "run",
        "{many} are one and the same ranking: {detail}; leave out all but one",
        "The runs have the same documents in the same order in all topics. Scores stand, but a copy distorts pools, "
        "correlations between rankings of runs, and counts of contributions. Leave one out.",
    ),
    Code(
        "UJ133", WARNING, "the team file misses a run", "run",
        "{many} without a team ({detail}); add a line run<TAB>team for each",
        "Studies that leave teams out need to know the team of every run; a run that is not listed belongs to "
        "none. The name is the file name without one trailing .gz.",
    ),
    Code(
        "UJ134", INFO, "the team file names runs that are not given", "run",
        "{many} with a team but no file ({detail}); nothing to do unless they should be here",
        "Harmless when only part of the runs is used. If unique contributions are of interest, missing runs matter: "
        "documents only they found count as nobody's.",
    ),
    Code(
        "UJ135", ERROR, "no topic in common", "topic",
        "no topic in common with the judgments ({detail}); write topic ids alike, or take the right judgments",
        "Run and judgments belong to different topics, or write their ids differently (051 and 51, a prefix, a "
        "suffix). score refuses the run.",
    ),
    Code(
        "UJ136", ERROR, "two files of one run name", "file",
        "the run name {detail}; rename or leave out one",
        "A run's name is its file name without one trailing .gz, in whatever folder it lies. score refuses two files "
        "of one name, because results could not be told apart.",
    ),
    Code(
        "UJ137", WARNING, "document that is not in the corpus", "document",
        "{many} not in the corpus{first}{detail}; take the corpus the file was made for, or score without them",
        "With --corpus, every document that judgments and runs name should be in the corpus. Judgments made for an "
        "older corpus keep documents that no run can find any more, which lowers recall; a run with such documents was "
        "made from another index, or its ids were changed on the way.",
    ),
)

_ANSWERS = (
    Code(
        "UJ141", ERROR, "unusable line of answers", "line",
        "{many} unusable{first}{detail}",
        "With --qa, answer classes have four fields separated by tabs (question, class, level, answer; the level is S, "
        "A, B or a whole number), runs have three (question, rank, answer). score --qa refuses the file.",
    ),
    Code(
        "UJ142", WARNING, "answer in two classes", "line",
        "{many} with an answer that stands in another class of the question{first}{detail}; decide for one",
        "Classes of a question hold answers that mean the same, so an answer belongs to one class. score --qa takes "
        "the first class that holds it.",
    ),
    Code(
        "UJ143", WARNING, "answer given again", "answer",
        "{many} given before for the question{first}{detail}; remove",
        "An answer counts once. When it comes again it keeps its place in the list and counts as wrong, and so does "
        "another answer of the same class.",
    ),
    Code(
        "UJ144", WARNING, "rank given twice", "rank",
        "{many} given twice for a question{first}{detail}; number the answers 1, 2, 3, ...",
        "Answers are ordered by their rank; of two with the same rank the one that comes first in the file is first.",
    ),
    Code(
        "UJ145", INFO, "more than five answers", "question",
        "{many} with more than five answers ({detail}); only the first five count",
        "Sakai (2005) and NTCIR look at five answers per question, and so does score --qa; later ones are not read. "
        "--truncate N takes another number of answers.",
    ),
    Code(
        "UJ146", WARNING, "answer that misses by its spelling", "answer",
        "{many} wrong only for case, width, blanks, punctuation or articles{first}{detail}; --same-answer words would "
        "take such answers as right",
        "Answers are compared letter by letter unless --same-answer says otherwise: folded ignores case, the width of "
        "characters and repeated blanks, words also punctuation and the English articles.",
    ),
)
# fmt: on

CODES: dict[str, Code] = {code.code: code for code in (*_RUNS, *_JUDGMENTS, *_COLLECTION, *_ANSWERS)}
"""Every kind of finding, by its code."""

FIXABLE = frozenset(code.code for code in CODES.values() if code.fixable)
"""What `check --fix` repairs."""
