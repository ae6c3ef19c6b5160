"""Every option once: its name, help, kind, default and check, for the command line, studies, report and page.

    OPTIONS["alpha"].default                  # 0.05
    option("depth", "qrels shallow")          # what --depth means in that command
    check("alpha", 5)                         # UsageError: alpha lies between 0 and 1, not 5

The name is the keyword argument in Python and, with dashes, the option on the command line. Where an option means
something else in one verb, part or study, that meaning stands here too, under `command.name`: `qrels shallow.depth`
belongs to one part, `qrels.pooled` to all parts of a verb, `study depth.levels` to one study.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from unjudged.errors import UsageError, check_seed

Check = Callable[[Any], None]


@dataclass(frozen=True)
class Option:
    """One option.

    `parse` turns the text of the command line into the value; `check` raises a UsageError for a value that means
    nothing, wherever it comes from. `flag`: present or not, without a value. `repeats`: may be given several times.
    `flags` are its spellings where they are not `--name`; a positional argument has none.
    """

    name: str
    help: str
    metavar: str = "N"
    parse: Callable[[str], Any] = str
    default: Any = None
    check: Check | None = None
    choices: tuple[str, ...] = ()
    flags: tuple[str, ...] | None = None
    flag: bool = False
    repeats: bool = False
    required: bool = False
    nargs: str | None = None

    @property
    def argument(self) -> str:
        """The keyword argument in Python."""
        return self.name.rpartition(".")[2]

    @property
    def spellings(self) -> tuple[str, ...]:
        """As it is written on the command line."""
        return (f"--{self.argument.replace('_', '-')}",) if self.flags is None else self.flags

    @property
    def explained(self) -> str:
        """The help, with the default where it does not name one itself."""
        default = self.default
        if self.flag or default in (None, (), "") or "default" in self.help:
            return self.help
        shown = ",".join(map(str, default)) if isinstance(default, (tuple, list)) else str(default)
        return f"{self.help} (default {shown})"


# -- how values are written on the command line


def whole(text: str) -> int:
    """`30` -> 30"""
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"a whole number is needed, not {text!r}") from None


def decimal(text: str) -> float:
    """`0.05` -> 0.05"""
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"a number is needed, not {text!r}") from None


def number(text: str) -> float:
    """`30` -> 30, `0.75` -> 0.75"""
    found = decimal(text)
    return int(found) if found.is_integer() else found


def numbers(text: str) -> tuple[float, ...]:
    """`50,10,1` -> (50, 10, 1)"""
    try:
        return tuple(number(part) for part in text.split(","))
    except UsageError:
        raise UsageError(f"numbers are given as 50,10,1, not {text!r}") from None


def names(text: str) -> tuple[str, ...]:
    """`a,b` -> ("a", "b")"""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def gains(text: str) -> dict[int, float]:
    """`1:1,2:3` -> {1: 1.0, 2: 3.0}"""
    try:
        pairs = [part.split(":") for part in text.split(",")]
        found = {int(grade): float(gain) for grade, gain in pairs}
    except ValueError:
        raise UsageError(f"gains are given as 1:1,2:3, not {text!r}") from None
    if len(found) < len(pairs):
        raise UsageError(f"a grade has two gains in {text!r}")
    return found


def grades(text: str) -> dict[int, int]:
    """`2:1,3:1` -> {2: 1, 3: 1}"""
    try:
        return {int(old): int(new) for old, new in (part.split(":") for part in text.split(","))}
    except ValueError:
        raise UsageError(f"grades are given as 2:1,3:1, not {text!r}") from None


def setting(text: str) -> tuple[str, str]:
    """`noise=0.1` -> ("noise", "0.1")"""
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"NAME=VALUE is needed, not {text!r}")
    return name.strip(), value.strip()


# -- what values mean something


def _holds(condition: Callable[[Any], bool], sentence: str) -> Check:
    def refuse(value: Any) -> None:
        if not condition(value):
            raise UsageError(sentence.format(value))

    return refuse


# -- the options


def _variant(command: str, name: str, **changes: Any) -> Option:
    """What an option declared above means in one command."""
    return replace(_BASE[name], name=f"{command}.{name}", **changes)


# fmt: off
_INPUT = (
    Option("qrels", "the judgments: TREC text or another format (docs/formats.md), plain or gz", "QRELS", flags=()),
    Option("runs", "the runs: files, folders, globs, or - for standard input", "RUN", flags=(), nargs="+"),
    Option("teams", "which team each run is from: a TSV run<TAB>team with header, PoolBiasEstimators XML, or "
        "ir_metadata.yml (such a file, a run that begins with it, or a folder of them)", "FILE"),
    Option("ties", "order of documents with equal scores: trec10 (ids descending, the default), trec9 (the same, "
        "with scores rounded to float32), file (as in the file), ascending (by id), expected (the mean over all "
        "orders)", "RULE", default="trec10"),
    Option("truncate", "keep only the top N documents of each list (default: all)", parse=whole),
    Option("lenient", "skip unusable lines and say how many", flag=True),
    Option("strict", "refuse documents and judgments that are given twice", flag=True),
    Option("gains", "gain of each grade, as 1:1,2:3 (default: the grade itself)", "G", gains),
    Option("negative", "what a negative grade means", default="unjudged", choices=("unjudged", "nonrelevant")),
    Option("qrels_format", "format of the judgments, where it cannot be recognised: sampleval (five columns), "
        "qrels_jg (several assessors: topic assessor doc grade), diversity (topic subtopic doc grade), intents "
        "(NTCIR's D file beside its .Iprob file), nuggets (JSON lines)",
        "FORMAT"),
    Option("qa", "question answering: QRELS holds classes of equal answers (docs/formats.md)", flag=True),
    Option("same_answer", "with --qa: answers that count as the same. exact: letter by letter (the default); folded: "
        "whatever the case, width and blanks; words: also whatever the punctuation and articles", default="exact",
        choices=("exact", "folded", "words")),
    Option("units", "what counts as one result: doc:SEPARATOR puts chunks together to documents, as doc:'#' for ids "
        "such as paper7#3; a document stands where its best chunk stood", "doc:SEP"),
    Option("tokens", "end each list before the first chunk that does not fit into N tokens; needs --lengths",
        parse=whole, check=_holds(lambda n: 1 <= n < 2**31, "the budget is a positive number of tokens, not {}")),
    Option("lengths", "with --tokens: the length of each chunk, a TSV id<TAB>tokens", "FILE"),
    Option("residual", "take what these earlier judgments cover out of judgments and runs", "QRELS"),
    Option("only", "use these topics alone, as 601-650,700", "TOPICS"),
    Option("collections", "instead of QRELS RUN...: a manifest, a TOML file that describes one collection or several "
        "(docs/formats.md)", "FILE"),
    Option("collection", "a collection of the manifest (default: all of them); repeatable", "NAME", repeats=True),
    Option("scores", "instead of QRELS RUN...: per-topic scores without judgments, as CSV, TSV, JSON lines, Parquet, "
        "or what trec_eval -q and ir_measures -q print (docs/score-tables.md)", "FILE", nargs="+", repeats=True),
    Option("missing", "with --scores: what becomes of missing scores. refuse (the default), zero, drop-topics (topics "
        "that some run lacks), drop-runs (runs that lack some topic)", default="refuse",
        choices=("refuse", "zero", "drop-topics", "drop-runs")),
    Option("jobs", "number of threads for reading and of processes for a study (default: one per core)", parse=whole,
        check=_holds(lambda n: n >= 1, "jobs must be at least 1, not {}")),
)
_POOL = (
    Option("depth", "depth of the pool (default: inferred from the judgments)", "D", whole,
        check=_holds(lambda d: 1 <= d < 2**31, "the pool depth is a positive number of documents, not {}")),
    Option("pooled", "the runs the pool was made from: a file with one name a line, or a TSV with the columns run "
        "and pooled (yes or no); infer: those that look pooled; all: every run given", "FILE|infer|all",
        default="infer"),
    Option("tolerance", "infer depth and pooled runs by the rule of Lipani et al. (2015): this share of the depth may "
        "be unjudged in a pooled run (0.2 gives their numbers)", "X", decimal, None,
        _holds(lambda x: math.isfinite(x) and x >= 0, "the tolerance is a share of the depth, 0.2 or so, not {}")),
)
_SCORING = (
    Option("measures", "measures, separated by commas, or the name of a set (official, sakai2009); repeatable", "M",
        default=("AP", "nDCG@10", "P@10"), flags=("-m", "--measures"), repeats=True),
    Option("per_topic", "show the scores of each topic, too", flags=("-q", "--per-topic"), flag=True),
    Option("rel", "smallest relevant grade, where a measure does not state its own (default 1)", parse=whole),
    Option("unjudged", "what unjudged documents are: nonrelevant (the default), or condensed (removed before "
        "scoring); bounds gives the lowest and the highest score they allow", "POLICY", default="nonrelevant"),
    Option("topics", "topics that count: judged (the default; a topic the run lacks counts 0), run (those of each "
        "run), common (those answered by all runs)", "WHICH", default="judged"),
    Option("undefined", "what becomes of undefined values: zero (the default), nan (no value), drop (the topic does "
        "not count)", "HOW", default="zero"),
    Option("ranks", "show the rank of every run and the ranks it could have instead (docs/ranks.md)", flag=True),
    Option("slice", "the same within slices of the topics: a TSV topic<TAB>label (docs/ranks.md)", "FILE"),
    Option("means", "show the mean of every run in every slice instead", flag=True),
    Option("growth", "with --unjudged bounds: which documents may turn out relevant. retrieved (the default): those "
        "some run retrieved; free: any number of others, too", "HOW", default="retrieved"),
)
_TESTING = (
    Option("test", "test of two runs: bootstrap (paired, the default), t, wilcoxon, permutation, tukey, "
        "randomised-tukey", "NAME", default="bootstrap"),
    Option("alpha", "level of significance", "A", decimal, 0.05,
        _holds(lambda a: 0 < a < 1, "alpha lies between 0 and 1, not {}")),
    Option("resamples", "number of random resamples of the test (default 1000; 5000 for randomised-tukey)",
        parse=whole, check=_holds(lambda n: n >= 1, "at least 1 resample is needed, not {}")),
    Option("seed", "seed of everything random", parse=whole, default=0, check=check_seed),
    Option("correction", "correction for the number of pairs: holm (the default), bonferroni, bh "
        "(Benjamini-Hochberg), none; Tukey's tests need none", "NAME"),
)
_STUDIES = (
    Option("trials", "number of random topic sets", parse=whole, default=1000),
    Option("sampling", "how topic sets are drawn, separated by commas", "S,S", names,
        ("disjoint", "replacement", "independent")),
    Option("c", "topics in each set (default: half of them)", parse=whole),
    Option("confidence", "confidence levels in percent", "P,P", numbers, (95, 90, 80)),
    Option("rule", "which difference is required where the swap rate goes up and down: one from which on rates are low "
        "enough with 95% certainty (sure), from which on all bins are low enough (guarantee, as in the papers), or the "
        "first bin that is (first)", default="sure", choices=("sure", "guarantee", "first")),
    Option("fuzziness", "differences that count as ties, as shares", "F,F", numbers,
        (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1)),
    Option("levels", "percentages of the judgments to keep", "L,L", numbers, (100, 90, 70, 50, 30, 10)),
    Option("repeats", "how often the random part is drawn again", parse=whole, default=1,
        check=_holds(lambda n: n >= 1, "at least 1 repeat is needed, not {}")),
    Option("top", "take only the best runs: a share if below 1, else a number", "X", number),
    Option("by", "the measure that decides which runs are best (default: AP with a set of the papers or where it is "
        "among the measures, else the first measure)", "M"),
    Option("analyse", "look only at these teams or runs, separated by commas; the pool is still that of all runs",
        "TEAM,...", names),
    Option("one_per_team", "take one run of each team, chosen by the seed", flag=True),
    Option("all_runs", "take every run instead of one per team", flag=True),
    Option("usual_one_per_team", "take one run of each team, chosen by the seed; this study does so anyway",
        flags=("--one-per-team",), flag=True),
    Option("usual_all_runs", "take every run; this study does so anyway", flags=("--all-runs",), flag=True),
    Option("leave", "what leaves the pool at a time", default="team", choices=("team", "run")),
    Option("cutoffs", "cut-offs n of P@n", "N,N", numbers, (5, 10, 20, 30, 100)),
    Option("methods", "corrections to show: lipani, webber-park, lipani-v2, webber-ratio, per-topic (default: the "
        "first two; the verdict is of the best of all)", "M,M", names),
    Option("merge_weight", "weight of the new run when lipani merges runs, 0 to 1", "W", decimal, 1.0,
        _holds(lambda w: 0 <= w <= 1, "the new run's weight lies between 0 and 1, not {}")),
    Option("teams_taken", "the teams to take, separated by commas", "TEAM,...", names, flags=("--take",)),
    Option("summary", "one row per condition and measure: tau, power, misses, false alarms", flag=True),
    Option("pairs", "one row per pair of runs", flag=True),
    Option("curve", "the swap rate of every bin", flag=True),
    Option("shared_topics", "how many topics two sets share, expected and drawn", flag=True),
    Option("per_run", "one row per left-out run and cut-off, with all quantities", flag=True),
    Option("by_run", "of every run: was it pooled, with which probability, and how deep", flag=True, flags=("--runs",)),
    Option("curves", "the p values of each measure, largest first", flag=True),
    Option("replacement", "a topic may be drawn twice into the same set", flag=True),
    Option("topics_assumed", "answer for this number of topics instead of those given", parse=whole),
    Option("drop", "leave out the runs whose mean is below this quantile of the means", "Q", decimal, 0.0),
    Option("rates", "shares of the relevant documents that are overlooked", "P,P", numbers,
        (0.05, 0.1, 0.2, 0.3)),
    Option("before", "the judgments as they were before the change", "QRELS"),
    Option("a", "name of the first run", "NAME"),
    Option("b", "name of the second run", "NAME"),
    Option("stability", "the reliability that is wanted", "P", decimal, 0.95,
        _holds(lambda p: 0 < p < 1, "the wanted reliability lies between 0 and 1, not {:g}")),
)
_WORK = (
    Option("table", "only the table of this number in the paper; repeatable", "N", whole, repeats=True),
    Option("cluster", "do the work on this Dask cluster instead of in local processes", "ADDRESS"),
    Option("workdir", "keep finished work in this folder; the same command continues where it stopped", "DIR",
        check=_holds(lambda path: str(path) != "", "--workdir needs the name of a folder")),
    Option("beside", "another collection in the same table: a folder with qrels.txt(.gz), runs/ and teams.tsv; "
        "repeatable", "DIR", default=(), repeats=True),
)
_OUTPUT = (
    Option("format", "how the result is written", default="text"),
    Option("output", "write to FILE instead of to standard output", "FILE", flags=("-o", "--output"),
        check=_holds(lambda path: str(path) != "", "-o needs the name of a file")),
    Option("safe_csv", "with --format csv: mark names that a spreadsheet would take for formulas", flag=True),
    Option("sort", "order of the rows of text, Markdown and LaTeX: a column, numbers from the largest down, names from "
        "A to Z", "COLUMN"),
    Option("rows", "show only the first N rows of text, Markdown and LaTeX (after --sort)", flags=("--top",),
        parse=whole, check=_holds(lambda n: n >= 1, "at least 1 row is shown, not {}")),
    Option("digits", "decimals of the scores in text, Markdown and LaTeX (default 4)", parse=whole,
        check=_holds(lambda n: 0 <= n <= 17, "scores have 0 to 17 decimals, not {}")),
    Option("severity", "show findings of this severity and worse", default="info",
        choices=("error", "warning", "info")),
    Option("figure", "write a chart, too; FILE ends in .svg, .png, .pdf, .html or .json; repeatable", "[NAME=]FILE",
        default=(), repeats=True),
)
_CORRECTING = (
    Option("new", "a run to be corrected (default: every run that was not pooled); repeatable", "RUN", repeats=True),
    Option("indicator", "what decides whether lipani corrects a run: lambda, delta-p or delta-anti-p", "I",
        default="lambda"),
    Option("protocol", "details of the correction: strict, or sigir2015 as in Lipani et al. 2015", default="strict",
        choices=("strict", "sigir2015")),
    Option("no_trial", "do not try the correction on left-out teams", flag=True),
    Option("truth", "complete judgments of a simulation: show the errors against the truth instead", "QRELS"),
)
_REPORT = (
    Option("second", "judgments of the same topics by somebody else, a person or a machine; a file of JSON lines may "
        "hold several judges, of whom FILE#JUDGE names one; repeatable", "FILE",
        flags=("--second-judge",), repeats=True),
    Option("judge_rel", "smallest relevant grade of one of the other judges, as NAME=4 (default: that of the first "
        "judgments, or the judge's highest grade where that is lower); repeatable", "NAME=N", setting, repeats=True),
    Option("families", "which family each run is of (say, language-model rerankers): a TSV run<TAB>family with header; "
        "is one of them favoured?", "FILE"),
    Option("judge_scale", "highest grade of one of the other judges, as NAME=3: what it gave above counts as unjudged "
        "and is named with its lines; repeatable", "NAME=N", setting, repeats=True),
    Option("bias", "what each run gains under every judge instead", flag=True),
    Option("families_table", "the favour of every family of --families instead", flag=True),
    Option("leaderboards", "leaderboards in the formats tot or jsonl of TREC AutoJudge; the first is the truth",
        "LEADERBOARD", flags=(), nargs="+"),
    Option("machine", "the judgments of a machine, on more topics or more documents than the human ones; of a file "
        "with several judges name one, FILE#JUDGE", "FILE"),
    Option("sampled", "what humans judge: the file that `judges sample` writes (topics, or documents with stratum and "
        "inclusion probability)", "FILE"),
    Option("target", "what the mean is about: population (topics of this kind), topics (exactly these), or both",
        default="population", choices=("population", "topics", "both")),
    Option("slope", "weight of the machine: own (of every run or pair), or pooled (one for all differences; 20 runs or "
        "more)", default="own", choices=("own", "pooled")),
    Option("drawn", "how topics or documents were chosen for humans: at-random, or chosen (then nothing is corrected)",
        default="at-random", choices=("at-random", "chosen")),
    Option("tuned", "the machine was tuned on, prompted with or chosen by what humans judged (then nothing is "
        "corrected)", flag=True),
    Option("experimental", "show differences of runs from a sample of documents, too, which were not verified",
        flag=True),
    Option("documents", "documents to draw, shared evenly by the topics", parse=whole,
        check=_holds(lambda n: n >= 1, "at least 1 document is drawn, not {}")),
    Option("strata", "documents are drawn within strata: grade (of the machine), top (in the top of a run, or not; "
        "--runs, --depth), none", default="grade", choices=("grade", "top", "none")),
    Option("thresholds", "a TOML file with other limits for the verdicts", "FILE"),
    Option("fail_on", "verdicts that are too low, as 'fair-to-outsiders<with care'; then exit code 1", "WHAT",
        default=""),
    Option("port", "where the page is found; another one if it is taken", parse=whole, default=8765,
        check=_holds(lambda p: 0 <= p <= 65535, "a port is a number from 0 to 65535, not {}")),
    Option("open", "open the page in the browser", flag=True),
    Option("title", "what stands on top of the report (default: the name of the collection)", "TEXT", default=""),
    Option("pdf", "print the report to this file, too, with an installed Chromium or Chrome", "FILE"),
    Option("max_upload", "size of the largest run that can be added, in megabytes", "MB", whole, 100,
        _holds(lambda m: m >= 1, "the largest upload is a positive number of megabytes, not {}")),
)
_GATE = (
    Option("baseline", "compare every run with this one (default: all pairs)", "NAME"),
    Option("margin", "smallest difference that matters", "D", decimal, 0.01,
        _holds(lambda d: 0 <= d < math.inf, "the smallest difference that matters is 0 or more, not {}")),
    Option("holes", "share of a top list that may be unjudged; above it, the answer must hold whatever those "
        "documents are (default: no such limit, they are estimated)", "S", decimal, None,
        _holds(lambda s: 0 <= s <= 1, "the share of unjudged documents allowed lies between 0 and 1, not {}")),
    Option("doubt", "take 'cannot tell' as fail (exit code 1) or as pass (0); by default it has an exit code of its "
        "own, 3", choices=("fail", "pass")),
    Option("junit", "write the findings as JUnit XML, too", "FILE"),
)
_JUDGMENTS = (
    Option("team", "team to leave out; repeatable: they leave together", "NAME", repeats=True),
    Option("run", "run to leave out; repeatable: they leave together", "NAME", repeats=True),
    Option("fewest", "take the K teams with the fewest documents that only they found", "K", whole),
    Option("rate", "share of the judgments to keep, above 0 and up to 1", "X", decimal, required=True),
    Option("min_relevant", "stratified: relevant documents every topic keeps, where it has them", parse=whole,
        default=1),
    Option("min_nonrelevant", "stratified: nonrelevant documents every topic keeps, where it has them", parse=whole,
        default=10),
    Option("collapse", "which grade becomes which, as 2:1,3:1; others stay", "MAP", grades),
    Option("binary", "compare relevant with nonrelevant, not grades", flag=True),
    Option("flip", "probability that a judgment turns into its opposite", "P", decimal),
    Option("flip_relevant", "the same for relevant documents alone", "P", decimal),
    Option("flip_nonrelevant", "the same for nonrelevant documents alone", "P", decimal),
    Option("favour_team", "a team whose nonrelevant documents become relevant", "NAME"),
    Option("favour_run", "a run whose nonrelevant documents become relevant", "NAME"),
    Option("confusion", "show the table of pairs of grades instead", flag=True),
    Option("per", "whose contributions are counted", default="team", choices=("team", "run")),
    Option("strategy", "how documents are chosen", "NAME", default="depth"),
    Option("budget", "number of documents to judge, shared evenly by the topics", parse=whole),
    Option("first", "judge the top K of every run before the strategy starts to learn", "K", whole),
    Option("no_judgments", "nothing is judged yet: all files are runs", flag=True),
    Option("set", "an option of the strategy; repeatable", "NAME=VALUE", setting, (), repeats=True),
    Option("fix", "write repaired copies as NAME.fixed beside the originals", flag=True),
)
_JUDGING = (
    Option("all", "settle all pairs of runs (the default with more than two runs)", flag=True),
    Option("batch", "documents to judge before the others are chosen again", parse=whole, default=10,
        check=_holds(lambda n: n >= 1, "a batch has at least 1 document, not {}")),
    Option("answers", "labels that came back, in one of the formats for assessors or as judgments; they are merged "
        "first", "FILE"),
    Option("merged", "write the judgments with the answers", "FILE"),
    Option("queries", "texts of the topics: queries.jsonl, TSV, TREC topics, or irds:ID", "FILE"),
    Option("corpus", "texts of the documents: corpus.jsonl, TSV, or irds:ID", "FILE"),
    Option("labels", "the file that keeps the labels (SQLite); it belongs to these judgments", "FILE.sqlite",
        default="labels.sqlite"),
    Option("judge", "the name labels are given under (default: yours on this computer)", "NAME"),
    Option("scale", "the grades: the highest one, or names from 0 up, as 'off topic,related,right' (default: those of "
        "the judgments)", "GRADES"),
    Option("export", "do not judge: write the labels as judgments (- for standard output)", "FILE"),
)
_SIMULATION = (
    Option("preset", "kind of collection (default adhoc)"),
    Option("scenario", "a numbered situation, 1 to 28 (23b, 26b: variants)"),
    Option("mechanism", "how scores come about: sums of terms that runs share, or features in a latent space",
        default="shared", choices=("shared", "latent")),
    Option("leave_out", "", "NAME", repeats=True, nargs="+"),  # parameters of the simulator, which explains them
    Option("quirk", "", "NAME[,NAME...]", repeats=True),
    Option("force", "write into a folder that holds other things", flag=True),
)
_EXPLAINING = (
    Option("old", "the earlier judgments", "OLD", flags=()),
    Option("outcomes", "the pairs of runs whose outcome is another one, and the label that moved them most", flag=True),
    Option("qrels_or_scores", "the judgments; or, without --reported, scores per topic or a value as map=0.221",
        "QRELS|OURS", flags=()),
    Option("run_or_scores", "the run; or other scores of it", "RUN|THEIRS", flags=()),
    Option("reported", "what somebody got, as ndcg@10=0.413, or a file of scores per topic; repeatable", "M=V|FILE",
        repeats=True),
    Option("most", "how many explanations to show", parse=whole, default=10,
        check=_holds(lambda n: n >= 1, "show at least 1 explanation, not {}")),
    Option("names", "a measure, a set of measures, a code such as UJ102, a study, or any word or column of an "
        "output", "NAME", flags=(), nargs="*"),
    Option("list", "all measures by family, sets, codes and words", flag=True),
    Option("shell", "the shell that reads the script", flags=(), choices=("bash", "zsh", "fish")),
)
# fmt: on
_BASE = {
    option.name: option
    for part in (_INPUT, _POOL, _SCORING, _TESTING, _STUDIES, _WORK, _OUTPUT, _CORRECTING, _REPORT, _GATE)
    for option in part
} | {option.name: option for part in (_JUDGMENTS, _JUDGING, _SIMULATION, _EXPLAINING) for option in part}

# fmt: off
_VARIANTS = (
    _variant("check", "qrels", help="the judgments: TREC text, plain or gz"),
    _variant("qrels agree", "qrels", help="two or more files of judgments", nargs="+"),
    _variant("qrels merge", "qrels", help="two or more files of judgments", nargs="+"),
    *(_variant(command, "runs", nargs="*") for command in ("pool build", "qrels reduce", "qrels noise")),
    *(_variant(command, "qrels", nargs="?") for command in ("study", "paper", "pool describe", "compare", "report")),
    *(_variant(command, "runs", nargs="*") for command in ("study", "paper", "pool describe", "compare", "report")),
    # pools
    _variant("qrels", "pooled", default="all"),
    _variant("pool describe", "pooled", default=None, help="the runs the pool was made from: a file with one name a "
        "line, or a TSV with the columns run and pooled (yes or no); infer: those that look pooled, as --runs does "
        "unless told; all: every run given, as the table does unless told"),
    _variant("qrels shallow", "depth", help="depth of the new pool", required=True),
    _variant("qrels noise", "depth", help="favour the top D documents", default=10, check=None),
    _variant("pool build", "depth", help="cut every list here first; the depth of a depth pool", check=None),
    # scoring
    _variant("score", "measures", default=("AP", "nDCG@10", "P@10", "RR", "bpref", "Judged@10")),
    _variant("ci", "measures", default=("nDCG@10", "P@10", "RR")),
    _variant("correct", "measures", default=("P@10",)),
    _variant("next", "measures", help="the measure that decides: P@k, nDCG@k or RBP", default=("nDCG@10",)),
    _variant("next", "new", help="the run that may be better than the baseline", metavar="RUN", repeats=False),
    _variant("next", "baseline", help="the run it is set against", metavar="RUN"),
    _variant("compare", "baseline", help="compare every run with this one, named or a file (default: all pairs)"),
    _variant("next", "top", help="settle which are the K best runs", metavar="K", parse=whole),
    _variant("next", "budget", help="documents to list (default: one batch)",
        check=_holds(lambda n: n >= 1, "the budget is at least 1 document, not {}")),
    _variant("next", "seed", help="seed of the shuffled lists for assessors"),
    _variant("judge", "runs", nargs="*"),
    _variant("judge", "seed", help="seed of the order within a topic"),
    _variant("judge", "merged", help="do not judge: write the judgments with the labels"),
    _variant("judge", "judge", help="the name labels are given under (default: yours on this computer); with --export "
        "and --merged, the labels of this judge alone"),
    _variant("judge", "rule", help="with --export and --merged: which grade counts where judges differ, as in qrels "
        "merge", metavar="RULE", default="majority", choices=()),
    _variant("estimate", "measures", default=("nDCG@10", "P@10", "RBP(p=0.8)")),
    _variant("score", "unjudged", help="what unjudged documents are: nonrelevant (the default), or condensed (removed "
        "before scoring); estimate gives the expected score, bounds the lowest and the highest they allow"),
    _variant("study", "measures", default="sakai2009"),
    _variant("study ranks", "measures"),
    _variant("study ranks", "resamples", help="how often topics are drawn again (default 1000)"),
    _variant("report", "measures", help=f"{_BASE['measures'].help}; the first one leads"),
    *(_variant(verb, "rel", help="smallest relevant grade", default=1) for verb in ("pool", "qrels")),
    _variant("study correction", "measures", help="measures besides P@n, corrected by webber-park, as RBP@10",
        default=()),
    _variant("study correction", "rel", help="smallest relevant grade", default=1),
    _variant("report", "unjudged", help="what unjudged documents are", choices=("nonrelevant", "condensed"),
        check=_holds(lambda p: p in ("nonrelevant", "condensed"),
            "unjudged documents can be nonrelevant or condensed, not {!r}")),
    *(_variant(verb, "unjudged", help="what unjudged documents are: estimate (the default: as often relevant as the "
        "judgments make likely, and as unsure), nonrelevant, or condensed (removed before scoring)" + more,
        default="estimate")
        for verb, more in (("compare", "; bounds: any grade at all"), ("study compare", "; bounds: any grade at all"),
            ("study winners", ""), ("study gate", ""))),
    _variant("study", "unjudged", help="what unjudged documents are: nonrelevant (the default), or condensed "
        "(removed before scoring)"),
    _variant("study", "topics", help="topics that count: judged (the default; a topic the run lacks counts 0) or "
        "common (answered by all runs)"),
    _variant("study", "undefined", help="what becomes of undefined values: zero (the default), or drop (the topic "
        "does not count; decided with all judgments)"),
    Option("qrels diff.new", "the later judgments", "NEW", flags=()),
    *(
        _variant(command, "corpus", help="ids of the documents there are (one a line, TSV, corpus.jsonl): "
            "judgments and runs that name others are told")
        for command in ("check", "ci")
    ),
    _variant("qrels diff", "runs", help="runs, to see what the change did to them", nargs="*"),
    _variant("qrels diff", "per_topic", help="a row per topic: labels added, removed, changed, and what they did"),
    _variant("qrels diff", "per_run", help="scores and ranks of each run before and after"),
    _variant("qrels diff", "measures", default=("nDCG@10",)),
    _variant("qrels diff", "output", help=_BASE["output"].help),
    _variant("qrels agree", "per_topic", help="show each topic, too"),
    # testing
    _variant("study correction", "test", help="test behind SRE*: tukey (HSD of all runs) or t (paired)",
        default="tukey"),
    _variant("ci", "baseline", help="file of the run to beat, or not to fall behind", metavar="RUN", required=True),
    _variant("compare", "test", help="test of two runs: t (paired, the default), bootstrap, wilcoxon, permutation, "
        "tukey, randomised-tukey", default="t"),
    _variant("ci", "correction", help="correction of a fail for the number of measures: holm (the default), "
        "bonferroni, bh (Benjamini-Hochberg), none"),
    _variant("ci", "margin", help="smallest loss that matters"),
    _variant("compare", "margin", help="two runs are the same where the whole interval of their difference lies within "
        "it (0: only where every topic ties)", default=0.0),
    _variant("compare", "pairs", help="lay out text, Markdown and LaTeX by pairs of runs instead of means (tsv, csv "
        "and JSON always do)"),
    _variant("study", "test", help=f"{_BASE['test'].help}; none, where a study can do without"),
    # studies
    _variant("pool describe", "curves", help="show judged@k of every run instead"),
    _variant("study judges", "resamples", help="how often topics are drawn again for ranges and intervals",
        default=1000),
    Option("study judges.labels", "one row per judge instead: coverage by grade, kappa, alpha, leniency, with "
        "intervals", flag=True),
    _variant("study judges", "confusion", help="the pairs of grades of every judge instead"),
    _variant("judges audit", "qrels", help="the human judgments", metavar="HUMAN"),
    _variant("judges audit", "second", help="judgments of the same topics by others, people or machines; a file of "
        "JSON lines may hold several, of whom FILE#JUDGE names one",
        metavar="OTHER", flags=(), nargs="+", repeats=False),
    _variant("judges audit", "runs", help="the runs: files, folders or globs (without them: labels alone)",
        flags=("--runs",), nargs="+", repeats=True, default=()),
    *(_variant(command, "judge_rel", help="smallest relevant grade of the machine (default: the human one, or the "
        "machine's highest grade where that is lower)", metavar="N", parse=whole, repeats=False)
        for command in ("study corrected",)),
    _variant("study corrected", "measures", default=("AP", "nDCG@10", "P@10")),
    _variant("study corrected", "baseline", help="every run against this one, too"),
    _variant("study corrected", "pairs", help="all pairs of runs, too"),
    _variant("study corrected", "alpha", help="1 minus the confidence of intervals; level of outcomes"),
    _variant("judges estimate", "qrels", help="the human judgments: whole topics, or a sample of documents",
        metavar="HUMAN"),
    _variant("judges estimate", "machine", metavar="MACHINE", flags=()),
    _variant("judges estimate", "queries", help="texts of the topics, where the human judgments name topics by them, "
        "as Quepid's do: queries.jsonl, TSV, TREC topics, or irds:ID"),
    _variant("judges estimate", "runs", help="the runs: files, folders or globs", flags=("--runs",), nargs="+",
        repeats=True, required=True),
    Option("study over-judges.show", "the table: scores (of every run), or pairs (of runs: do judges disagree?)",
        "TABLE", default="scores", choices=("scores", "pairs")),
    _variant("study over-judges", "measures", default=("AP", "nDCG@10", "P@10")),
    _variant("judges merge", "qrels", help="two or more files of judgments, one per judge, or a file of JSON lines "
        "with several", metavar="JUDGE", nargs="+"),
    _variant("judges merge", "rule", help="the merged grade: dawid-skene (the most probable, reliable judges count "
        "more), majority, median", default="dawid-skene", choices=("majority", "median", "dawid-skene")),
    _variant("judges merge", "runs", help="runs to score under every judge: files, folders or globs", flags=("--runs",),
        nargs="+", repeats=True, default=()),
    _variant("judges merge", "merged", help="write the merged judgments here, as TREC text"),
    Option("judges merge.show", "the table: judges (reliabilities), confusion (of each judge, by the model), "
        "documents (merged grade and its probability), and with --runs scores (the default then) and pairs",
        "TABLE", choices=("judges", "confusion", "documents", "scores", "pairs")),
    _variant("judges merge", "resamples", help="how often topics are drawn again for intervals of reliabilities",
        default=200),
    _variant("judges leaderboards", "resamples", help="how often topics are drawn again for ranges", default=1000),
    _variant("judges sample", "qrels", help="the judgments of the machine", metavar="MACHINE"),
    _variant("judges sample", "topics", help="topics to draw; all documents the machine judged there are assigned",
        metavar="N", parse=whole, default=None, choices=(), check=None),
    _variant("judges sample", "runs", help="the runs, for --strata top: files, folders or globs", flags=("--runs",),
        nargs="+", repeats=True, default=()),
    _variant("judges sample", "depth", help="ranks that are the top of a run", default=10),
    _variant("judges sample", "sampled", help="write here what `judges estimate` needs back (topics, or documents with "
        "stratum and inclusion probability)"),
    _variant("study noise", "repeats", default=3),
    _variant("study swap", "repeats", help="how often all trials are done again with other topic sets", default=10),
    _variant("study gate", "run", help="the run that may replace the baseline", repeats=False),
    _variant("study depth", "levels", help="pool depths, or shares of the depth below 1 (default 50,10,1, as far as "
        "the pool is deeper)",
        metavar="D,D", default=None),
    # correction
    _variant("correct", "confidence", help="confidence of the interval", metavar="C", parse=decimal, default=0.95,
        check=_holds(lambda c: 0 < c < 1, "the confidence lies between 0 and 1, not {}")),
    _variant("correct", "force", help="correct also where the trial shows no gain"),
    _variant("correct", "protocol", metavar="P", choices=()),
    Option("correct.method", "for P@n: lipani, webber-park, lipani-v2, webber-ratio, per-topic; for other measures "
        "webber-park, and webber-recall for R@n (default: the one that did best on left-out teams)", "M[,M...]"),
    # judgments
    _variant("qrels take", "team", help="team to take; repeatable"),
    _variant("qrels take", "run", help="run to take; repeatable"),
    _variant("qrels noise", "rate", help="probability of a favour", metavar="P", default=1.0, required=False),
    _variant("qrels noise", "binary", help="grades from N on become 1, lower ones 0", parse=whole, flag=False),
    _variant("qrels merge", "rule", help="how grades are merged", metavar="RULE", default="majority", choices=()),
    Option("qrels reduce.method", "stratified: relevant and nonrelevant documents apart, with the minima below; "
        "uniform: all judged documents alike", default="stratified", choices=("stratified", "uniform")),
    # output
    _variant("qrels", "output", help="write to FILE (.gz: compressed) instead of to standard output"),
    _variant("qrels agree", "output", help=_BASE["output"].help),
    _variant("pool build", "output", help="write to FILE (qrels: .gz compresses) instead of to standard output"),
    _variant("report", "open", help="open the report in the browser after it was written"),
    _variant("report", "format", default="html", choices=("html", "markdown", "json")),
    _variant("paper", "figure", help="only the figure of this number in the paper; repeatable", metavar="N",
        parse=whole, default=None),
    _variant("paper", "output", help="a folder for the page, its tables and figures, instead of standard output",
        metavar="DIR"),
    _variant("paper", "format", help="how the page is written to standard output", default="markdown",
        choices=("markdown", "html", "json")),
    _variant("paper", "trials", help="number of random topic sets of the swap method (default 1000)", default=None),
    _variant("simulate", "output", help="folder to write to", metavar="DIR", required=True),
    _variant("demo", "output", help="where to put the collection", metavar="DIR", default="demo"),
    # simulation
    *(
        _variant(command, "seed", help="every number gives another collection", default=1)
        for command in ("simulate", "demo")
    ),
    *(Option(f"simulate.{name}", "") for name in ("topics", "teams", "runs", "depth")),  # as for leave_out
    _variant("simulate", "jobs", help="number of processes; the files are the same with any number", default=1),
    _variant("simulate", "set", help="any parameter below, by name; repeatable", nargs="+"),
)
# fmt: on
OPTIONS: Mapping[str, Option] = _BASE | {option.name: option for option in _VARIANTS}
"""Every option by its name, and by `command.name` where it means something else in a command."""

_LIKE = {
    "serve": "report",
    "judge": "next",
    "study compare": "compare",
    "study winners": "compare",
    "study slices": "compare",
    "study correct": "correct",
    "study estimate": "estimate",
    "study gate": "ci",
    "judges audit": "study judges",
    "judges estimate": "study corrected",
    "judges merge": "study over-judges",
}
"""Commands whose options mean what they mean in another one."""


def option(name: str, command: str = "") -> Option:
    """What an option means in a command (`score`, `pool build`, `study depth`)."""
    verb = command.partition(" ")[0]
    for key in (f"{command}.{name}", f"{_LIKE.get(command)}.{name}", f"{verb}.{name}", name):
        if key in OPTIONS:
            return OPTIONS[key]
    raise KeyError(f"no option {name!r} is declared for {command!r}")


def default(name: str, command: str = "") -> Any:
    """The value of an option that was not given."""
    return option(name, command).default


def check(name: str, value: Any, command: str = "") -> None:
    """A UsageError for a value that means nothing; None is never refused."""
    declared = option(name, command)
    if value is None:
        return
    if declared.choices and value not in declared.choices:
        known = " or ".join(map(str, declared.choices))
        raise UsageError(f"{declared.argument} can be {known}, not {value!r}")
    if declared.check is not None:
        declared.check(value)


def of_study(name: str, value: Any, study: str) -> Option:
    """The option of a study's keyword argument; `value` is its default there.

    An argument of the user's own study that is not declared here, or means something else, is read by the kind of its
    default.
    """
    with contextlib.suppress(KeyError):
        declared = option(name, f"study {study}")
        if declared.flag == isinstance(value, bool) and declared.spellings:
            return replace(declared, default=value, required=False)
    parse: Callable[[str], Any] = str
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        parse = whole if isinstance(value, int) else decimal
    elif isinstance(value, (tuple, list)):
        parse = names if any(isinstance(part, str) for part in value) else numbers
    words = f"{name.replace('_', ' ')} of this study"
    return Option(name, words, parse=parse, default=value, flag=isinstance(value, bool))
