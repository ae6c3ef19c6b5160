"""The methods paragraph of a paper, true to the settings a result was made with, and BibTeX of what it names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from unjudged.errors import MeasureError
from unjudged.measures import CITATIONS, parse
from unjudged.results import Result
from unjudged.text import counted, listed

TESTS = {
    "t": "two-sided paired t tests",
    "one-sided paired t": "one-sided paired t tests",
    "bootstrap": "two-sided paired bootstrap tests",
    "wilcoxon": "Wilcoxon's signed-rank tests",
    "permutation": "two-sided paired permutation tests",
    "tukey": "Tukey's HSD test",
    "randomised-tukey": "the randomised version of Tukey's HSD test",
}
CORRECTIONS = {
    "holm": "Holm's procedure",
    "bonferroni": "Bonferroni's correction",
    "bh": "the procedure of Benjamini and Hochberg",
}
UNJUDGED = {
    "nonrelevant": "Unjudged documents counted as nonrelevant.",
    "condensed": "Unjudged documents were removed before scoring (condensed lists).",
    "estimate": "Unjudged documents were estimated from the judgments, and their uncertainty was added to that of the "
    "topics.",
    "bounds": "For unjudged documents every grade was allowed, and the smallest and largest value is given.",
}
TIES = {
    "trec10": "by document id, descending (as trec_eval does)",
    "trec9": "by document id, descending, with scores in single precision (as trec_eval 9 does)",
    "file": "as in the file",
    "ascending": "by document id, ascending",
    "expected": "in every possible way, and scores averaged over these orders",
}
SOURCES = {
    "bootstrap": "Sakai, Evaluating evaluation metrics based on the bootstrap, SIGIR 2006",
    "permutation": "Smucker, Allan & Carterette, A comparison of statistical significance tests for information "
    "retrieval evaluation, CIKM 2007",
    "randomised-tukey": "Carterette, Multiple testing in statistical analysis of systems-based information retrieval "
    "experiments, ACM TOIS 30(1), 2012",
    "wilcoxon": "Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1(6), 1945",
    "holm": "Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6(2), "
    "1979",
    "bh": "Benjamini & Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society B "
    "57(1), 1995",
}
"""Where tests and corrections come from, by their names in the settings."""


def methods(result: Result) -> str:
    """A paragraph on how a result was made, then the BibTeX of the measures, tests and corrections it names."""
    entries = list(_bibtex(result))
    return "\n\n".join([" ".join(_sentences(result)), *entries]) + "\n"


def _sentences(result: Result) -> Iterator[str]:
    said, version = result.provenance.settings, result.provenance.version
    names = list(map(str, said.get("measures", ())))
    runs, topics = len(result.provenance.inputs) - 1, said.get("topics counted")
    what = " of ".join(filter(None, [listed(names, 99), counted(runs, "run") if runs > 0 else ""])) or "All scores"
    over = f" over {counted(topics, 'topic')}" if isinstance(topics, int) else ""
    verb = "was" if len(names) == 1 else "were"
    yield f"{what}{over} {verb} computed with unjudged {version}."
    if said.get("ties") in TIES:
        yield f"Documents with equal scores were ordered {TIES[said['ties']]}."
    if isinstance(said.get("gains"), dict):
        gains = listed([f"{gain:g} for grade {grade}" for grade, gain in said["gains"].items()], 99)
        yield f"The gains were {gains}."
    if said.get("truncate"):
        yield f"Lists were cut after {said['truncate']} documents."
    if said.get("units"):
        yield "Chunks were put together to documents, each at the rank of its best chunk."
    if said.get("tokens"):
        yield f"Lists ended before the first chunk that did not fit into {said['tokens']:,} tokens."
    if said.get("unjudged") in UNJUDGED:
        yield UNJUDGED[said["unjudged"]]
    if said.get("test") in TESTS:
        yield _tested(result)


def _tested(result: Result) -> str:
    said = result.provenance.settings
    against = f" with {said['baseline']}" if said.get("baseline") else ""
    text = f"Runs were compared{against} by {TESTS[said['test']]}"
    if said.get("resamples"):
        text += f" ({said['resamples']:,} resamples, seed {result.provenance.seed})"
    if said.get("correction") in CORRECTIONS and "tukey" not in said["test"]:
        over = "measures" if said.get("study") == "gate" else "pairs within each measure"
        text += f", corrected for the number of {over} by {CORRECTIONS[said['correction']]}"
    margin = f", against a margin of {said['margin']:g}" if said.get("margin") else ""
    return f"{text}{margin}, at a level of {said['alpha']:g}."


def _bibtex(result: Result) -> Iterator[str]:
    said = result.provenance.settings
    found: dict[str, str] = {}
    for name in map(str, said.get("measures", ())):
        try:
            cited = parse(name)[0].definition.cite
        except MeasureError:
            continue  # a measure of a score table
        if cited:
            found[cited if cited in CITATIONS else re.sub(r"\W+", "", name).lower()] = CITATIONS.get(cited, cited)
    found |= {str(key): SOURCES[key] for key in (said.get("test"), said.get("correction")) if key in SOURCES}
    for key, text in found.items():
        yield entry(key, text)


def entry(key: str, text: str) -> str:
    """`Sakai, Alternatives to bpref, SIGIR 2007` as an entry of BibTeX."""
    year = re.search(r"\b(1[89]|20)\d\d$", text)
    if year is None:
        return f"@misc{{{key},\n  title = {{{_escaped(text)}}}\n}}"
    parts = text[: year.start()].rstrip(", ").split(", ")
    joined = next((place for place, part in enumerate(parts[:-2]) if " & " in part), 0)
    authors = " and ".join(", ".join(parts[: joined + 1]).replace(" & ", ", ").split(", "))
    title, venue = ", ".join(parts[joined + 1 : -1]) or parts[-1], parts[-1]
    fields = {"author": authors, "title": f"{{{title}}}", "howpublished": venue, "year": year[0]}
    inside = ",\n".join(f"  {name} = {{{_escaped(value)}}}" for name, value in fields.items())
    return f"@misc{{{key},\n{inside}\n}}"


def _escaped(text: str) -> str:
    return text.replace("&", r"\&").replace("_", r"\_")
