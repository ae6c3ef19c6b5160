"""What a notebook shows: means sorted, never every topic; verdicts in words."""

from __future__ import annotations

import re

import unjudged as uj

QRELS = {t: {f"d{i}": int(i % 3 == 0) for i in range(9)} for t in "1234"}
RUNS = {
    name: {t: {f"d{i}": float(-((i + shift) % 9)) for i in range(9)} for t in QRELS}
    for name, shift in (("worst", 8), ("best", 0))
}


def test_scores_show_sorted_means() -> None:
    scores = uj.score(uj.load(QRELS, RUNS), ["AP", "P@3"])
    html = scores._repr_html_()
    means = scores.means()["AP"].sort_values(ascending=False)
    assert re.findall(r"<tr><td>(\w+)</td>", html) == list(means.index)
    assert f"{means.iloc[0]:.4f}" in html
    assert uj.score_bounds(uj.load(QRELS, RUNS), ["AP"])._repr_html_().count("<tr>") == 3


def test_verdicts_are_not_lost() -> None:
    found = uj.compare(uj.load(QRELS, RUNS), ["AP"])
    assert found.verdict is not None
    assert found._repr_html_().startswith(f"<p><strong>{found.verdict.word}</strong>")
    assert found.verdict.sentence in repr(found)
    assert len(repr(found).splitlines()) == 1
