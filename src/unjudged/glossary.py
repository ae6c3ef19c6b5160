"""Every word that an output uses and a reader may not know, in a sentence or two; `explain` looks them up here.

A name is a word of a sentence, a column of a table, or the value of an option. Several names of one thing share an
entry. Columns that end in `_low` and `_high` are the ends of the interval of what stands before.
"""

from __future__ import annotations

from collections.abc import Mapping

# fmt: off
_ENTRIES: tuple[tuple[str, str], ...] = (
    # what there is
    ("run, runs", "The ranked lists of one search engine or setting, one list of documents per topic; named after its "
        "file."),
    ("team, teams", "Who made a run. Runs of one team are alike, so that leaving out one of them says little: the "
        "whole team is left out (--teams FILE names them)."),
    ("topic, topics", "A question or need that runs answer, also called query. Scores are means over topics."),
    ("document, documents, doc", "What a run retrieves and a judge looks at: a page, a passage, an answer."),
    ("chunk, chunks", "A part of a document that a retriever returns by itself, named as paper7#3. --units doc:'#' "
        "puts chunks together to documents, each where its best chunk stood."),
    ("token, tokens, lengths, budget of tokens", "Pieces of words, as language models count text. --tokens N ends each "
        "list before the first chunk that does not fit into N tokens, by the lengths of the chunks (--lengths FILE); "
        "-m recall@2000tokens means the same."),
    ("judgment, judgments, qrels", "The grade that a judge gave a document for a topic. A file of them is called "
        "qrels."),
    ("judge, judges, judges_a, judges_b, judge_a, judge_b", "Who made judgments: a person, a crowd, a machine (a "
        "language model)."),
    ("human, machine", "Judgments by people, and those of a program (say, a language model) that judged more topics or "
        "documents."),
    ("grade, grades, grade_a, grade_b, true_grade, given_grade", "How relevant a document is: 0 not at all, 1 or more "
        "relevant; the highest grade depends on the collection. A negative grade counts as unjudged (--negative)."),
    ("relevant, rel, judge_rel", "A document with a grade of `rel` or more (--rel, usually 1). Measures that use "
        "grades (nDCG, Q) count every grade above 0."),
    ("nonrelevant", "Judged, with a grade below `rel`. As a policy (--unjudged nonrelevant): unjudged documents count "
        "as such, which is what trec_eval does."),
    ("unjudged, unjudged_a, unjudged_b, unjudged_run, unjudged_baseline, never judged, share_unjudged", "A document "
        "that nobody graded; also its share of a top list. It may be relevant or not: see hole, bounds, estimate."),
    ("judged", "A document that somebody graded. `judged@k` is the share of the top k that was."),
    ("hit, hits", "A retrieved document that is judged."),
    ("hole, holes, from_holes, hole_share", "A retrieved document that is not judged. Scores count it as nonrelevant "
        "unless told otherwise; `from holes` is the share of the variance of a difference judging would take away, "
        "`hole_share` how much of a run's weight lies in holes."),
    ("pool, pooled, unpooled, pools, in_the_pool", "The documents that were judged because they stood in the top of "
        "some run; such runs are pooled. A run outside the pool has more holes, so its score comes out too low."),
    ("depth, depths", "How many documents of every pooled run's top went into the pool."),
    ("inferred, infer", "Found from the judgments, not given: depth and pooled runs, by likelihood (docs/pools.md)."),
    ("outsider, outsiders", "A run or team that the pool was made without."),
    ("unique, unique_relevant, u", "Documents that only this team (or run) brought into the pool, and the relevant "
        "ones "
        "among them; means over topics."),
    ("collection", "Judgments and runs of the same topics. A TOML file with several of them is a manifest."),
    ("manifest", "A TOML file that describes one collection or several (--collections, docs/formats.md)."),
    ("slice, slices", "Topics that belong together, say one language or length (--slice FILE)."),
    ("family", "Runs of one kind, say those reranked by a language model; is one of them favoured by a judge?"),
    # scores
    ("measure, measures, metrics, measure_a, measure_b, judge_measure", "How a ranked list is scored. 'unjudged "
        "explain --list' "
        "shows all; names are written as nDCG@10."),
    ("score, scores, value, mean, means, full", "What a measure says about a run: the mean over topics, from 0 to 1 "
        "for most measures. `full`: with all judgments."),
    ("cut-off, cut-offs, n", "The rank at which a measure stops looking: 10 in P@10."),
    ("gain, gains", "What a document of a grade is worth to a measure of graded relevance (--gains 1:1,2:3); usually "
        "the grade."),
    ("discount, dcg, jk", "How much less a document counts further down the list. nDCG divides by log2(rank + 1); "
        "dcg='jk' is the form of Järvelin and Kekäläinen, which does not discount the first ranks."),
    ("graded, binary", "Binary measures ask whether a document is relevant, graded ones how much."),
    ("condensed", "Unjudged documents are taken out of the lists before scoring (--unjudged condensed). Written with a "
        "prime: AP', Q', nDCG'@10 (Sakai 2007)."),
    ("bounds, lowest, highest, ends, open", "The lowest and highest score (or difference) that any judgments of the "
        "unjudged documents allow. exact: reached by some judgments; outer: never left, but perhaps not reached."),
    ("exact, outer", "Exact bounds are reached by some judgments of the unjudged documents; outer ones are never left, "
        "but perhaps not reached."),
    ("estimate, estimated, expected", "What a score or a difference would be with all documents judged: every hole "
        "counts as relevant as the judgments make likely, and as unsure (docs/holes.md)."),
    ("completion, completions", "One way in which all unjudged documents might be judged, drawn at random by how "
        "likely it is."),
    ("policy", "What is done about unjudged documents: nonrelevant, condensed, bounds or estimate (--unjudged)."),
    ("ties, tie, tied", "In a list: documents with equal scores; their order is decided by --ties. Of two runs: topics "
        "on which both score the same. In stability: the share of comparisons closer than the fuzziness."),
    ("rank, ranks, rank_full, rank_reduced, rank_before, rank_after, rank_judge, rank_best, rank_worst, best_rank",
        "The place of a run by its mean, or of a document in a list; 1 is the best. Ranks with an end of their own "
        "(`reduced`, `after`, `judge`) are those after the change."),
    ("undefined", "A topic without a relevant document has no score in most measures; --undefined says what becomes of "
        "it."),
    ("positive, negative", "Above 0, below 0. A negative grade counts as unjudged (--negative)."),
    ("topics counted, counted", "The topics that the mean is taken over (--topics judged, run or common)."),
    # comparing
    ("outcome, outcomes", "What can be said of two runs: better, worse, same, or cannot tell (why: topics or holes)."),
    ("better, worse", "Outcome of a run against another: the difference is significant, and holds whatever can be "
        "expected of unjudged documents."),
    ("same", "Outcome of two runs: they tie on every topic, or the whole interval of their difference lies within "
        "--margin."),
    ("cannot tell, why", "Outcome of two runs that are neither told apart nor the same. why: topics (too few of them) "
        "or holes (unjudged documents could turn it round; 'unjudged next' says which to judge)."),
    ("safe, decided", "A pair of runs whose outcome is better, worse or same."),
    ("pair, pairs, comparisons", "Two runs that are compared, topic by topic. 10 runs have 45 pairs."),
    ("run_a, run_b, a, b", "The first and the second run of a pair. Differences are run_a - run_b."),
    ("difference", "Mean of one run minus mean of the other, over the same topics."),
    ("baseline", "The run that others are compared with (--baseline)."),
    ("margin", "The smallest difference that matters to you (--margin)."),
    ("detectable", "The smallest margin with which such topics would let an equal run pass 80 % of the time."),
    ("uncertainty, uncertain", "How far a number could be off, because topics are few or documents unjudged."),
    ("low, high, interval, intervals, low_simultaneous, high_simultaneous", "The ends of an interval: at 95 % "
        "confidence, 19 of 20 such intervals hold the true value. Simultaneous: all of them at once."),
    ("confidence", "How often an interval (or a rule) is right if all is done again: 95 % is 19 of 20 times."),
    ("give or take", "Half the length of the interval of a difference."),
    ("p_value, p value, p values, p", "How often a difference at least this large would come about by chance if the "
        "two runs were equally good. In the table of a correction, p is the precision of the run."),
    ("p_adjusted, adjusted", "The p value after the correction for testing many pairs (--correction; Holm)."),
    ("p_not_worse, p_worse", "p values of the gate's one-sided tests: small p_not_worse rules out a loss of the margin "
        "or more, small p_worse rules out a smaller one."),
    ("alpha, significance", "Level of significance, usually 0.05: the share of false alarms a test allows."),
    ("significant, significantly, significant_judge, significant_human", "A test says that chance alone would rarely "
        "give such a difference (p below alpha). It does not say that the difference is large."),
    ("effect_size, effect", "The mean difference over topics divided by its standard deviation: 0.2 is small, 0.8 "
        "large. In 'next': how far a judgment moves the difference; in 'qrels diff': what a changed label did."),
    ("wins, losses, won/tied/lost", "Topics on which the first run scores higher, or lower, than the second."),
    ("paired", "Compared topic by topic: both runs answer the same topics."),
    ("two-sided, one-sided", "Two-sided tests ask whether runs differ, one-sided ones whether one is better."),
    ("bootstrap, resamples, redrawn", "Topics are drawn again with replacement, often (--resamples); how the result "
        "varies shows how sure it is (Sakai 2006). Redrawn topics are such draws."),
    ("t, t test", "Student's paired t test: is the mean difference over topics far from 0 beside its spread?"),
    ("wilcoxon, signed-rank", "A paired test of the signs and ranks of the differences over topics."),
    ("permutation, randomisation, randomised", "A test that swaps the two runs' scores on topics at random."),
    ("tukey, hsd, randomised-tukey", "Tukey's honestly significant difference: one test of all runs at once, which "
        "needs no correction for the number of pairs (Carterette 2012; randomised: by permuting runs)."),
    ("holm, bonferroni, bh, correction for the number of pairs", "Ways to adjust p values where many pairs are tested: "
        "Holm and Bonferroni allow a false alarm in one of 20 families of tests, bh (Benjamini-Hochberg) in one of 20 "
        "findings."),
    ("letter, letters, group", "Runs that share a letter cannot be told apart (compact letter display, Piepho 2004)."),
    ("topics told apart, told apart, told", "Runs are told apart where a test says which of them is better."),
    # verdicts
    ("verdict, verdicts, word", "The answer to a question of the report in a word: solid, with care, fragile or "
        "unknown; of a gate: pass, fail or cannot tell."),
    ("solid, with care, fragile, unknown", "The words of a verdict. solid: rely on it; with care: mostly right, see "
        "what decided it; fragile: do not rely on it; unknown: the data cannot say. "
        "--thresholds FILE changes their limits."),
    ("gate, ci, pass, fail, passed", "A check that a new run is not worse than the baseline by the margin or more: "
        "pass, fail or cannot tell (exit code 0, 1, 3)."),
    ("next, next step", "What to do now, with the command that does it; 'unjudged next' lists documents to judge."),
    ("decided_by", "The runs, teams, topics or judges that decided a verdict."),
    # studies
    ("study, studies", "An experiment that answers one question about a collection; 'unjudged study' lists them."),
    ("tau, kendall's tau, kendall's", "How far two orders of runs agree: 1 the same order, 0 no relation, -1 "
        "reversed. tau 0.90 means that 95 of 100 pairs stand in the same order (Kendall 1938)."),
    ("tau_ap", "tau that weighs the top of the order more (Yilmaz, Aslam and Robertson 2008)."),
    ("top_tau", "Kendall's tau of the best runs alone."),
    ("rbo", "Rank-biased overlap: how alike two orders are, the top counting most (Webber et al. 2010)."),
    ("overlap", "What two judges share: in 'judges audit' the share of the best runs that are the same, in 'qrels "
        "agree' the share of relevant documents that both call relevant."),
    ("power, discriminative", "Discriminative power: the share of pairs of runs that a measure tells apart "
        "significantly (Sakai 2006)."),
    ("required_difference", "The difference of means that is just significant, or that other topics confirm."),
    ("misses, miss_rate", "Pairs that are significant with all judgments and no longer with fewer (or others)."),
    ("false alarms, false_alarms, false_alarm_rate, alarms", "Pairs that are significant with fewer judgments (or "
        "those of another judge) and not with all of them."),
    ("reversals, reversals_uncorrected", "Pairs that both judges decide, in opposite directions."),
    ("changed, changed_uncorrected", "The share of pairs whose decision another judge changes; uncorrected: without "
        "Holm's correction."),
    ("yardstick, yardsticks, times_yardstick", "The share of decisions that changes when only the topics are drawn "
        "again: what another judge changes is held against it."),
    ("swap, swaps, swap_rate, highest_rate, bin, bins", "A pair of runs swaps where two sets of topics disagree which "
        "is better. "
        "Rates are kept by the size of the difference, in bins of 0.01 (Voorhees and Buckley 2002)."),
    ("share_low, share_high", "Lowest and highest share of comparisons that reach the required difference, over the "
        "repeats of the swap method."),
    ("c", "Topics in each of two sets that are compared (--c)."),
    ("sampling, disjoint, replacement, independent", "How two sets of topics are drawn: disjoint (no topic in both), "
        "replacement (a topic may come twice), independent (sets may share topics)."),
    ("sensitivity, sensitive, max_performance, relative_difference", "The share of comparisons whose difference is "
        "large enough for other topics to confirm it; max_performance is the largest mean seen, relative_difference "
        "the required difference as a share of it (Sakai 2005)."),
    ("trial, trials", "One random draw of topic sets; or a correction tried on a team left out of the pool."),
    ("minority, minority_rate, fuzziness", "Stability: how often fewer sets of topics contradict the majority about a "
        "pair; differences below the fuzziness count as ties (Buckley and Voorhees 2000)."),
    ("stability", "Does a measure say the same on other topics? See minority and fuzziness."),
    ("reliability, reliabilities, erho2, rho, phi, phi_topics_needed, topics_needed", "How well these topics order the "
        "runs (E rho^2) and estimate their true scores (Phi), from 0 to 1, and how many topics would reach the wanted "
        "value (Urbano et al. 2013). Of a judge: the probability of giving a document its true grade."),
    ("var_runs, var_topics, var_error", "Parts of the variance of scores: between runs, between topics, the rest."),
    ("expected_tau, split_tau, formula_tau, noise", "Expected agreement with the order on 100 other topics: from "
        "halves of these topics (split_tau, extrapolated), from variances (formula_tau). noise: topics at which the "
        "order would be half reliable. As a study: errors of judges made on purpose."),
    ("level, levels, reduced, reduced-pool, rp, reduction, shallow", "How much of the judgments is kept: percent of "
        "them, or a pool depth. Reduced: with what is left; RP: scored with the reduced pool, without correction."),
    ("left_out, left-out, leave-team-out, leave-run-out", "What was taken out of the pool: its unique documents become "
        "unjudged, as if it had not taken part."),
    ("taken, excluded, take-team, take-one-team, take-three-teams", "The pool is made of the taken team alone. "
        "Excluded: a team that leaves too few judgments."),
    ("change_pct, change", "Change of a score in percent; change: before and after."),
    ("condition", "The judgments under which runs are scored: all of them (full), or without a team."),
    ("repeat, repeats", "The random part drawn again; results of several repeats have a range in brackets."),
    ("statistic", "What a row tells: a number about the pool or a test."),
    ("contributions", "What every team brought into the pool, and what only it found."),
    ("robust, robustness", "Changes little when judgments are missing."),
    ("kind, rate, rates", "The kind of change or error, and how many judgments it touches."),
    # pool bias
    ("bias, biased, favour, favours", "A score that is wrong in one direction: too low for runs outside the pool, or "
        "too "
        "high for runs a judge prefers."),
    ("correction, corrected, adjustment", "The score that a run would have had in the pool, estimated; the adjustment "
        "is what is added (docs/correction.md). Of machine judgments: corrected by a sample that humans judged."),
    ("lipani, lipani-v2", "Correction of P@n by what a run pushes out of the lists of pooled runs when merged with "
        "them (Lipani, Lupu and Hanbury 2015)."),
    ("webber-park, webber_park, webber-ratio, webber-recall, per-topic", "Corrections by what left-out runs lose on "
        "average: added (Webber and Park 2009), as a ratio, of recall, or per topic."),
    ("anti, anti-p, anti-precision", "The share of the top n that is judged and not relevant."),
    ("k, k measure", "The share of the top n that is unjudged (in lipani: that the pool does not know)."),
    ("lambda, delta_p, delta_anti_p, delta_k, delta, indicator", "What merging with a new run does to the pooled runs: "
        "to their precision (delta P), anti-precision and unjudged share. lambda = k (delta P anti-P - delta anti-P "
        "P); "
        "above 0 the run is better than the pool can tell, so lipani corrects it."),
    ("mae, mae_reduced, mae_corrected, mae_truth, mae_pool, error", "Mean absolute error: how far scores lie from the "
        "true ones on average, before and after correction."),
    ("sre, system rank error", "System rank error: how many ranks every run is away from its true one, added up."),
    ("sre_star, sre*", "System rank error that counts a rank only where the run passed there differs significantly "
        "(Lipani et al. 2015)."),
    ("bias_truth, bias_pool", "Mean error with its sign, against the truth and against the full pool."),
    ("method, methods", "The correction that was used: lipani, webber-park and others; in a paper, how it was done."),
    ("pooled_runs", "How many pooled runs a correction was made from."),
    ("protocol, sigir2015, strict", "Details of a correction: strict, or as in Lipani et al. 2015."),
    ("overestimate, overestimated, overestimation, underestimate", "A score above (below) the true one."),
    ("observed", "Scored with the judgments there are, beside the truth."),
    ("truth, true", "What complete judgments would say; known for simulated collections only."),
    # judges
    ("kappa, kappa_binary, kappa_linear, kappa_quadratic, fleiss_kappa", "Agreement of judges beyond chance: 1 always, "
        "0 as by chance. linear and quadratic count near misses as less wrong; Fleiss: several judges (Cohen 1960)."),
    ("alpha_nominal, alpha_ordinal, alpha_interval, alpha_binary, krippendorff", "Krippendorff's alpha: agreement "
        "beyond "
        "chance for any number of judges; grades as names, as an order, as numbers."),
    ("leniency", "How much more often a judge says relevant than the other one, on the same documents."),
    ("coverage, covered", "The share of documents that the other judge has judged, too."),
    ("shift, mean_judge, spread", "How far the other judge moves the scores of all runs alike (shift), and how "
        "unevenly "
        "(spread); mean_judge is the score under that judge."),
    ("agreement, agree", "The share of documents on which judges give the same grade; of measures: tau of their "
        "orders."),
    ("confusion", "How often one judge gives each grade where another gives each grade."),
    ("majority, median, dawid-skene, merged", "How grades of several judges become one: the most frequent, the middle "
        "one, or the most probable, where reliable judges count more (Dawid and Skene 1979)."),
    ("target, population", "What a corrected mean is about: all topics of this kind (population) or exactly these."),
    ("width_ratio, saved, saved_by_many, more_to_halve, more_to_settle", "What the machine is worth: the length of the "
        "interval beside that of humans alone, the human topics it saves, and how many more would halve the interval "
        "or settle the outcome."),
    ("slope", "How much weight the machine's judgments get in a corrected score."),
    ("labels, label, labelled", "Judgments that are being made, or were made by another judge."),
    ("stratum, stratified, strata", "Documents are drawn within groups (by rank or grade), each with a probability of "
        "its own."),
    ("probability, chance", "How likely something is, from 0 to 1: that a document is drawn, is relevant, or that a "
        "run "
        "was pooled."),
    ("grade_difference", "By how many grades a judge lies above (or below) the merged grade on average."),
    ("lowest_judge, highest_judge", "The judge under whom a run scores lowest, and highest."),
    # choosing what to judge
    ("batch, labels_left", "Documents to judge before the list is made again; labels_left is how many more may be "
        "needed to settle the outcome."),
    ("budget", "How many documents can be judged."),
    ("rrf, combmnz, borda, rbp-c, hedge, thompson, move-to-front, fair-take", "Ways to choose which documents to judge "
        "for a pool (unjudged pool build --strategy; docs/pools.md)."),
    # checking and diagnosis
    ("severity, warning, info, error of check", "How bad a finding of check is. error: score refuses the file, or its "
        "numbers mean nothing; warning: the numbers may not be what you want; info: good to know."),
    ("code, finding, findings", "A finding has a code (UJ102); 'unjudged explain UJ102' says what it means. In a "
        "paper: "
        "a statement that is tried on your collection."),
    ("fit, known_habit, settings", "doctor: whether a setting gives exactly the score somebody reported, and which "
        "tool "
        "is known to work so."),
    ("old, new", "Judgments before and after a change; a new run is one that may be better than the baseline, or was "
        "not pooled."),
    ("raw, claim, rule", "The numbers behind a statement of a paper, the statement, and how it was decided."),
    # words of the papers and of other tools
    ("avep, q-measure, r-measure, o-measure", "Older names of AP, Q, R_measure and O_measure in the papers."),
    ("s-relevant, a-relevant, b-relevant", "NTCIR's grades: highly relevant (S), relevant (A), partially (B)."),
    ("rigid-avep, relaxed-avep, rigid-pdoc, relaxed-pdoc, rigid-r-prec, relaxed-r-prec", "NTCIR's names: rigid counts "
        "S and A as relevant, relaxed B too; PDoc is P@n, R-Prec precision at R."),
    ("qa", "Question answering: runs give answers, judgments are classes of equal answers (--qa)."),
    ("lrr, relaxed, rigid", "Grades that count as relevant: rigid S and A, relaxed B too (NTCIR)."),
    ("ntcireval, ranx, trec_eval, uj", "Evaluation programs: NTCIR's, a Python package, TREC's; uj is this package in "
        "Python."),
    ("simulator, latent, simulated", "A program that makes collections whose complete truth is known (unjudged "
        "simulate)."),
    ("seed", "Number from which everything random follows: same seed, same numbers."),
    ("unit, units", "Of a study: a piece of work; finished ones are kept with --workdir. Of retrieval (--units): what "
        "counts as one result, see chunk."),
    ("normal", "As if values followed the normal (Gaussian) distribution."),
)
# fmt: on


def _by_name() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for names, text in _ENTRIES:
        for name in names.split(", "):
            assert name not in found, name
            found[name] = text
    return found


GLOSSARY: Mapping[str, str] = _by_name()
"""Name, in lower case -> what it means."""

ENDS = {"_low": "the lower end of the interval", "_high": "the upper end of the interval"}
"""Endings of columns that need no entry of their own."""


def meaning(name: str) -> str | None:
    """What a word or column means; None where it is not known. Upper and lower case, `_` and blanks are the same."""
    for spelled in (name.lower(), name.lower().replace(" ", "_"), name.lower().replace("_", " ")):
        if spelled in GLOSSARY:
            return GLOSSARY[spelled]
    for ending, words in ENDS.items():
        base = name.lower().removesuffix(ending)
        if base != name.lower() and base in GLOSSARY:
            return f"{words[0].upper()}{words[1:]} of {base}. {GLOSSARY[base]}"
    return None


def headings() -> list[tuple[str, str]]:
    """The first name of every entry and its first sentence, in the order of the table."""
    return [(names[0], text.partition(". ")[0].rstrip(".")) for names, text in entries()]


def entries() -> list[tuple[list[str], str]]:
    """All names of every entry and its text, in the order of the table."""
    return [(names.split(", "), text) for names, text in _ENTRIES]
