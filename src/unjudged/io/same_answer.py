"""Which answers of question answering count as the same: one text for all spellings of an answer."""

from __future__ import annotations

import re
import unicodedata

from unjudged.errors import UsageError, nearest

SAME_ANSWER = {
    "exact": "letter by letter, without blanks at both ends",
    "folded": "also whatever the case, the width of characters (NFKC) and the number of blanks between words",
    "words": "also whatever the punctuation and the English articles a, an and the (as SQuAD compares answers)",
}
"""Rule -> what it says."""

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def check_rule(rule: str) -> None:
    """A UsageError for a rule that there is not."""
    if rule not in SAME_ANSWER:
        known = ", ".join(SAME_ANSWER)
        raise UsageError(f"same_answer can be {known}, not {rule!r}{nearest(rule, SAME_ANSWER)}")


def normalised(answer: str, rule: str = "exact") -> str:
    """The text that stands for an answer; never empty where the answer is not.

    `words` follows the normalisation of SQuAD (Rajpurkar and others 2016): lower case, no punctuation, no articles.
    """
    exact = answer.strip()
    if rule == "exact":
        return exact
    folded = " ".join(unicodedata.normalize("NFKC", exact).casefold().split())
    if rule == "folded":
        return folded or exact
    plain = "".join(c for c in folded if not unicodedata.category(c).startswith("P"))
    return " ".join(_ARTICLES.sub(" ", plain).split()) or folded or exact
