"""Options that studies share: unjudged documents, topics that count, undefined values, repeats, charts by name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import unjudged as uj
from unjudged import cli
from unjudged.errors import UsageError
from unjudged.results import Result
from unjudged.studies import find, known

QUICK: dict[str, dict[str, Any]] = {
    "agreement": {},
    "power": {"resamples": 50},
    "swap": {"trials": 20, "c": 3},
    "stability": {"trials": 20, "c": 3},
    "reliability": {},
    "ranks": {"resamples": 50},
    "leave-team-out": {"depth": 5, "pooled": "all"},
    "leave-run-out": {"depth": 5, "pooled": "all", "summary": True, "resamples": 50},
    "take-team": {"depth": 5, "pooled": "all"},
    "depth": {"depth": 5, "pooled": "all", "levels": (2,), "resamples": 50},
    "reduction": {"levels": (50,), "resamples": 50},
}
"""Studies that score, each with little work."""

TOPICS = [f"t{i}" for i in range(8)]
RUNS = ("a1", "a2", "b1", "c1", "d1")


def made(*, missing: str | None = None, barren: str | None = None) -> uj.Collection:
    """Five runs of four teams on eight topics, all judged to depth 5; one run lacks `missing`, `barren` has no R."""
    docs = [f"d{i}" for i in range(9)]
    qrels = {
        t: {d: int((3 * i + j) % 4 == 0 and t != barren) for j, d in enumerate(docs[:7])} for i, t in enumerate(TOPICS)
    }
    runs: dict[str, dict[str, dict[str, float]]] = {}
    for r, name in enumerate(RUNS):
        shift = lambda t, r=r: [docs[(5 * j * (r + 2) + r * t + j) % 9] for j in range(9)]  # noqa: E731
        runs[name] = {
            t: {d: 9.0 - k for k, d in enumerate(dict.fromkeys(shift(i)))}  # type: ignore[no-untyped-call]
            for i, t in enumerate(TOPICS)
            if not (name == "b1" and t == missing)
        }
    return uj.load(qrels, runs, teams={name: name[0] for name in RUNS})


def rows(name: str, collection: uj.Collection, **options: Any) -> list[tuple[Any, ...]]:
    result = uj.study(name, collection, **{"measures": "AP,P@3", **QUICK[name], **options})
    return [tuple("nan" if isinstance(v, float) and math.isnan(v) else v for v in row) for row in result.rows()]


UNLIKE = {
    "contributions",
    "contents",
    "change",
    "topics",
    "compare",
    "winners",
    "slices",
    "holes",
    "score-range",
    "correct",
} | {
    *("correction", "judges", "corrected", "over-judges", "noise", "gate", "estimate"),
}
"""Studies that score nothing, or that need more than a collection; they are tested by themselves."""


def test_every_study_that_scores_is_looked_at() -> None:
    assert set(QUICK) == set(known()) - UNLIKE
    for name in QUICK:
        assert {"rel", "unjudged", "topics", "undefined", "seed"} <= find(name).options.keys()


@pytest.mark.parametrize("name", QUICK)
def test_condensed_is_the_primed_measures(name: str) -> None:
    collection = made()
    primed = rows(name, collection, measures="AP',P'@3")
    assert rows(name, collection, unjudged="condensed") == primed != rows(name, collection)
    assert rows(name, collection, unjudged="condensed", measures="AP,AP',P@3") == primed  # each measure once


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(QUICK) - {"reduction"}))  # which draws other judgments from fewer topics
@pytest.mark.parametrize(("option", "way"), [("topics", "common"), ("undefined", "drop")])
def test_topics_that_do_not_count_might_as_well_not_be_there(name: str, option: str, way: str) -> None:
    collection = made(missing="t3") if option == "topics" else made(barren="t3")
    found = rows(name, collection, **{option: way})
    assert found == rows(name, uj.only(collection, [t for t in TOPICS if t != "t3"]))
    if (name, way) != ("agreement", "drop"):  # a topic of zeros for all changes no order
        assert found != rows(name, collection)
    result = uj.study(name, collection, **{"measures": "AP,P@3", **QUICK[name], option: way})
    assert result.provenance.settings[option] == way and result.provenance.settings["topics counted"] == 7
    assert "7 of 8 topics count" in result.notes


def test_a_topic_that_becomes_undefined_still_counts() -> None:
    """Dropping is decided with all judgments; what a shallower pool loses counts 0, whatever is measured together."""
    collection = made(barren="t3")
    given: dict[str, Any] = {"undefined": "drop", "levels": (1,)}
    together = rows("depth", collection, measures="AP,P@3,RR,nDCG@3,Q", **given)
    for m in ("P@3", "RR", "nDCG@3", "Q"):
        alone = rows("depth", collection, measures=f"AP,{m}", **given)
        assert [r for r in together if r[1] in ("AP", m)] == alone


def test_what_is_scored_stands_in_the_provenance() -> None:
    result = uj.study("agreement", made(), measures="AP,RR", rel=1, unjudged="condensed", seed=4)
    settings = result.provenance.settings
    assert (settings["unjudged"], settings["topics"], settings["undefined"]) == ("condensed", "judged", "zero")
    assert (settings["measures"], settings["topics counted"], settings["rel"]) == (["AP'", "RR'"], 8, 1)
    assert result.provenance.seed == 4
    both = uj.study("agreement", {"x": made(), "y": made(missing="t3")}, measures="AP,RR", topics="common")
    assert both.provenance.settings["topics counted"] == {"x": 8, "y": 7}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"unjudged": "bounds"}, "one value per score, bounds are two; take nonrelevant or condensed"),
        ({"unjudged": "relevant"}, "nonrelevant or condensed, not 'relevant'"),
        ({"topics": "run"}, "on the same topics, not each on its own; take judged or common"),
        ({"topics": "all"}, "judged or common, not 'all'"),
        ({"undefined": "nan"}, "nan is not a value; take zero or drop"),
        ({"undefined": "0"}, "zero or drop, not '0'"),
    ],
)
def test_what_a_study_cannot_do_is_said_before_anything_is_read(
    options: dict[str, str], sentence: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match=sentence):
        uj.study("power", made(), **options)  # type: ignore[arg-type]
    flags = [word for name, value in options.items() for word in (f"--{name}", value)]
    assert cli.main(["study", "power", "no-such-file", "no-such-run", *flags]) == 2
    assert sentence in capfd.readouterr().err


def test_no_topic_left_is_refused() -> None:
    collection = uj.load({"1": {"a": 0}}, {"x": {"1": {"a": 1.0}}, "y": {"1": {"b": 1.0}}})
    with pytest.raises(UsageError, match="no topic counts"):
        uj.study("agreement", collection, measures="AP,RR", undefined="drop")


# -- repeats


@pytest.mark.parametrize("flags", [{"all_runs": True}, {"all_runs": True, "summary": True, "resamples": 20}])
def test_alike_repeats_are_shown_once_and_told(flags: dict[str, Any]) -> None:
    once = uj.study("leave-team-out", made(), measures="AP", depth=5, pooled="all", **flags)
    thrice = uj.study("leave-team-out", made(), measures="AP", depth=5, pooled="all", repeats=3, **flags)
    assert thrice.table() == once.table() and "[" not in once.table()
    assert any(note.startswith("repeats are alike") for note in thrice.notes)
    assert len(list(thrice.rows())) == 3 * len(list(once.rows()))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("leave-team-out", {"depth": 5, "pooled": "all"}),
        ("leave-team-out", {"depth": 5, "pooled": "all", "summary": True, "resamples": 20}),
        ("depth", {"depth": 5, "pooled": "all", "levels": (2,), "resamples": 20, "one_per_team": True}),
        ("reduction", {"levels": (50,), "resamples": 20}),
    ],
)
def test_brackets_are_explained(name: str, options: dict[str, Any]) -> None:
    text = uj.study(name, made(), measures="AP", repeats=4, **options).table()
    assert "[" in text and "In 4 repeats: the mean, and in brackets where 95% of the values lie." in text


# -- charts


@pytest.mark.parametrize("name", [*QUICK, "contributions", "contents"])
def test_charts_have_the_names_declared(name: str) -> None:
    collection, study = made(), find(name)
    options: dict[str, Any] = {} if name == "contents" else dict(QUICK.get(name, {"depth": 5, "pooled": "all"}))
    if name in QUICK:
        options["measures"] = "AP,P@3"
    flags = [key for key in study.figures if key not in ("", "several")]
    for flag in (None, *flags):
        given = {k: v for k, v in options.items() if k not in flags} | ({flag: True} if flag else {})
        assert uj.study(name, collection, **given).figures == study.charts(given) != ()
        both: Result = uj.study(name, {"x": collection, "y": made(missing="t3")}, **given)
        assert both.figures == study.charts(given, several=True)


def test_a_chart_that_will_not_be_there_is_refused_before_the_work(capfd: pytest.CaptureFixture[str]) -> None:
    files = ["no-such-qrels", "no-such-run"]
    assert cli.main(["study", "power", *files, "--figure", "powr=x.svg"]) == 2
    assert "no chart 'powr' (did you mean power?); there are power\n" in capfd.readouterr().err
    assert cli.main(["study", "power", *files, "--pairs", "--figure", "power=x.svg"]) == 2
    assert "there are significance\n" in capfd.readouterr().err
    assert cli.main(["compare", *files, "--figure", "pears=x.svg"]) == 2
    assert "no chart 'pears' (did you mean pairs?); there are pairs, differences\n" in capfd.readouterr().err
    assert cli.main(["compare", *files, "--figure", "x.gif"]) == 2
    assert "a chart ends in .svg" in capfd.readouterr().err


def test_a_comparison_is_drawn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 b 1\n3 0 a 1\n")
    for name, docs in {"x": "ab", "y": "ba"}.items():
        lines = [f"{t} Q0 {d} {i} {9 - i} {name}\n" for t in "123" for i, d in enumerate(docs)]
        (tmp_path / name).write_text("".join(lines))
    charts = ["--figure", str(tmp_path / "main.svg"), "--figure", f"differences={tmp_path / 'd.json'}"]
    files = [str(tmp_path / "qrels"), str(tmp_path / "x"), str(tmp_path / "y")]
    assert cli.main(["compare", *files, "-m", "AP", *charts]) == 0
    assert (tmp_path / "main.svg").read_text("utf-8").startswith("<svg")
    assert "Differences of 1 pairs of runs" in (tmp_path / "d.json").read_text("utf-8")
    assert "not told apart" in capfd.readouterr().out
