"""Every number that can turn a word stands in thresholds.toml, is used, and nowhere else."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

import unjudged
import unjudged as uj
from unjudged.errors import InputError
from unjudged.studies import QUESTIONS
from unjudged.thresholds import default_thresholds, read_thresholds

POOLS = ("fair-to-outsiders", "fewer-judgments", "after-correction")
ROOT = Path(unjudged.__file__).parent
TABLE = tomllib.loads((ROOT / "thresholds.toml").read_text("utf-8"))
SOURCE = {p.relative_to(ROOT): p.read_text("utf-8") for p in sorted(ROOT.rglob("*.py"))}


def deciding(tree: ast.AST) -> list[ast.FunctionDef]:
    """Functions that make a verdict: they call Verdict(...), .verdict(...), .unknown(...) or .word(...)."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
        named = {c.id for c in calls if isinstance(c, ast.Name)} | {
            c.attr for c in calls if isinstance(c, ast.Attribute)
        }
        if named & {"Verdict", "word", "too_few"}:
            found.append(node)
    return found


def numbers_compared(function: ast.FunctionDef) -> list[str]:
    """Comparisons with a number other than 0, 1 or 2 (none, one, a pair): those are limits."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                if (
                    isinstance(side, ast.Constant)
                    and isinstance(side.value, (int, float))
                    and not isinstance(side.value, bool)
                    and side.value not in (0, 1, 2)
                ):
                    found.append(f"{function.name}:{node.lineno} compares with {side.value}")
    return found


@pytest.mark.parametrize("path", [p for p in SOURCE if p.parts[0] in ("studies", "reporting", "judges", "correction")])
def test_no_number_decides_a_word_outside_the_table(path: Path) -> None:
    tree = ast.parse(SOURCE[path])
    assert [line for function in deciding(tree) for line in numbers_compared(function)] == []


def test_such_a_number_would_be_seen() -> None:
    bad = ast.parse("def f(case, x):\n    return limit.verdict('a', x) if x > 0.3 else Verdict('solid', 'b')")
    assert [line for function in deciding(bad) for line in numbers_compared(function)] == ["f:2 compares with 0.3"]


def test_one_key_per_question_and_no_other_place() -> None:
    assert set(QUESTIONS) <= set(TABLE)
    for path, text in SOURCE.items():
        if path.name != "thresholds.py":
            assert "thresholds.toml" not in text or path.parts[0] in ("studies",), path


@pytest.mark.parametrize("key", TABLE)
def test_every_key_is_used_and_complete(key: str) -> None:
    used = [path for path, text in SOURCE.items() if f'limits["{key}"]' in text or f'limit="{key}"' in text]
    assert used, f"[{key}] decides nothing"
    entry = TABLE[key]
    assert {"what", "unit", "better", "solid", "care", "source"} <= entry.keys()
    assert entry["better"] in ("higher", "lower")
    assert (entry["solid"] >= entry["care"]) == (entry["better"] == "higher") or entry["solid"] == entry["care"]
    for name in set(entry) - {"what", "unit", "better", "solid", "care", "source", "runs", "topics", "teams"}:
        assert any(f'["{name}"]' in text for text in SOURCE.values()), f"[{key}] {name} is used nowhere"


def test_words_at_the_limit() -> None:
    limit = default_thresholds()["fewer-judgments"]
    assert [limit.word(v) for v in (1.0, 0.89, 0.8899, 0.78, 0.7799, float("nan"))] == [
        "solid", "solid", "with care", "with care", "fragile", "unknown",
    ]  # fmt: skip


def test_a_user_may_change_numbers_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[fewer-judgments]\nsolid = 0.95\ntail = 0.2\nruns = 3\n")
    limit = read_thresholds(file)["fewer-judgments"]
    assert (limit.solid, limit["tail"], limit.needed["runs"], limit.care) == (0.95, 0.2, 3, 0.78)
    for text, sentence in (
        ("[fewer-judgment]\nsolid = 1\n", "did you mean fewer-judgments"),
        ("[fewer-judgments]\nwhat = 1\n", "has no number 'what'"),
        ("[fewer-judgments]\nsolid = 'x'\n", "needs a number"),
        ("[fewer-judgments]\nruns = 2.5\n", "needs a whole number"),
        ("fewer-judgments = 3\n", "is a table with numbers"),
        ("[", "not TOML"),
    ):
        file.write_text(text)
        with pytest.raises(InputError, match=sentence):
            read_thresholds(file)


EVERY = (
    *("winners", "never-judged", "score-range", "fewer-judgments", "enough-topics", "which-measure"),
    "safe-comparisons",
)


def test_one_topic_and_no_order_are_unknown() -> None:
    """Cases that must not get a word: everything rests on one topic, or no measure orders the runs."""
    runs = {f"r{r}": {"1": {f"d{i}": float((i * (r + 3)) % 17) for i in range(16)}} for r in range(8)}
    teams = {run: run for run in runs}
    one = uj.load({"1": {f"d{i}": int(i % 3 == 0) for i in range(16)}}, runs, teams=teams)
    for key in (*EVERY, "contents", "fair-to-outsiders", "after-correction"):
        verdict = uj.study(key, one, pooled="all", depth=8) if key in POOLS else uj.study(key, one)
        assert verdict.verdict is not None and verdict.verdict.word == "unknown", key
    barren = {str(t): {f"d{i}": 0 for i in range(16)} for t in range(30)}
    alike = {run: dict.fromkeys(barren, lists["1"]) for run, lists in runs.items()}
    nothing = uj.load(barren, alike, teams=teams)
    for key in EVERY:
        told = uj.study(key, nothing).verdict
        assert told is not None and told.word == "unknown" and ",:" not in told.sentence, key


def test_two_runs_get_no_word_that_counts_runs() -> None:
    """A share of two runs is 0, a half or all of them, whatever the collection is like."""
    lists = {
        f"r{r}": {str(t): {f"d{i}": float((i * (r + t + 3)) % 17) for i in range(16)} for t in range(30)}
        for r in (0, 1)
    }
    two = uj.load({str(t): {f"d{i}": int((i + t) % 3 == 0) for i in range(12)} for t in range(30)}, lists)
    for key in ("contents", "score-range", "never-judged", "fewer-judgments", "enough-topics", "which-measure"):
        told = uj.study(key, two).verdict
        assert told is not None and told.word == "unknown", key


def test_too_few_is_said_in_english() -> None:
    limit = default_thresholds()["fair-to-outsiders"]
    assert limit.too_few(topics=1, teams=9) == "there is only 1 topic (at least 25 are needed)"
    assert limit.too_few(topics=2, teams=1).startswith("there are only 2 topics (at least 25 are needed) and 1 team")
    assert limit.too_few(topics=25, teams=4) == ""
