"""Charts: specs that Vega-Lite draws, with the data of the result, a description, and colours that print."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from html import escape
from pathlib import Path
from typing import Any

import pytest

import unjudged as uj
from unjudged.errors import InputError, UsageError
from unjudged.figures import ENDINGS, Figure, theme
from unjudged.results import Result

MEASURES = "AP,AP',P@10"
STUDIES: dict[str, dict[str, Any]] = {
    "agreement": {},
    "power": {"test": "t"},
    "power --pairs": {"test": "t", "pairs": True},
    "power --curves": {"test": "t", "curves": True},
    "swap": {"trials": 20},
    "swap --curve": {"trials": 20, "curve": True},
    "stability": {"trials": 20},
    "reduction": {"test": "t", "levels": (70, 30), "repeats": 2},
    "leave-team-out": {},
    "leave-team-out --summary": {"test": "t", "summary": True},
    "leave-run-out": {},
    "take-team": {},
    "take-team --summary": {"test": "t", "summary": True},
    "depth": {"test": "t", "levels": (5, 1)},
    "ranks": {"resamples": 50},
    "reliability": {},
    "contributions": {},
    "contents": {},
}


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> uj.Collection:
    made = uj.simulate("tiny", seed=1, out=tmp_path_factory.mktemp("sim") / "tiny")
    return uj.load(made.qrels, made.run_folder, teams=made.teams)


@pytest.fixture(scope="module")
def results(sim: uj.Collection) -> dict[str, Result]:
    found = {}
    for name, options in STUDIES.items():
        study = name.split()[0]
        if study not in ("contributions", "contents"):
            options = {"measures": MEASURES, **options}
        found[name] = uj.study(study, sim, **options)
    return found


def values(spec: dict[str, Any]) -> list[dict[str, Any]]:
    return spec["data"]["values"]  # type: ignore[no-any-return]


def test_every_study_is_drawn(results: dict[str, Result]) -> None:
    from unjudged.studies import known

    elsewhere = {"compare", "winners", "gate", "holes", "score-range", "correct", "correction", "judges", "noise"}
    assert {name.split()[0] for name in results} >= set(known()) - elsewhere - {
        "change",
        "topics",
        "estimate",
        "slices",
        "corrected",  # tests/judges
        "over-judges",
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_charts_are_drawn_and_described(name: str, results: dict[str, Result]) -> None:
    result = results[name]
    assert result.figures
    for chart in result.figures:
        figure = result.plot(chart)
        assert isinstance(figure, Figure)
        assert len(figure.description) > 40 and figure.description[-1] == "."
        json.dumps(figure.spec, allow_nan=False)  # plain data, no NaN
        assert values(figure.spec)
        drawn = ET.fromstring(figure.svg())
        marks = drawn.iter("{http://www.w3.org/2000/svg}path")
        assert sum(1 for _ in marks) > len(values(figure.spec)) ** 0.5


def test_a_chart_holds_the_numbers_of_the_table(results: dict[str, Result]) -> None:
    result = results["leave-team-out"]
    drawn = {(r["left_out"], r["measure"]): r["change_pct"] for r in values(result.plot("changes").spec)}
    for row in result.frame.to_dict("records"):
        assert drawn[row["left_out"], row["measure"]] == pytest.approx(row["change_pct"], abs=5e-5)
    drawn = {(r["measure"], r["topics"]): r for r in values(results["reliability"].plot("topics").spec)}
    for row in results["reliability"].frame.to_dict("records"):
        here = drawn[row["measure"], 10]  # ten topics were studied
        assert (here["tau"], here["erho2"]) == pytest.approx((row["expected_tau"], row["erho2"]), abs=6e-5)
        reached = [n for (m, n), r in drawn.items() if m == row["measure"] and r["erho2"] >= 0.95]
        assert all(n >= row["topics_needed"] - 1 for n in reached)
    curve = values(results["power --pairs"].plot().spec)
    for measure in MEASURES.split(","):
        p = [r["p_value"] for r in curve if r["measure"] == measure]
        assert p == sorted(p, reverse=True) and len(p) == 66


def test_bounds_are_drawn(sim: uj.Collection) -> None:
    bounds = uj.score_bounds(sim, ["nDCG@10", "P@10"])
    figure = bounds.plot("range")
    ET.fromstring(figure.svg())
    drawn = {(r["run"], r["measure"]): (r["value"], r["low"], r["high"]) for r in values(figure.spec)}
    means = bounds.means()
    assert len(drawn) == 2 * len(sim.runs) <= 2 * 20
    for (run, measure), found in drawn.items():
        assert found == pytest.approx([means.loc[run, (measure, end)] for end in ("value", "low", "high")], abs=5e-5)


def test_files_of_every_kind(tmp_path: Path, results: dict[str, Result]) -> None:
    figure = results["power"].plot()
    for ending in ENDINGS:
        figure.save(tmp_path / f"chart{ending}")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "chart.pdf").read_bytes().startswith(b"%PDF")
    assert ET.fromstring((tmp_path / "chart.svg").read_text("utf-8")).tag.endswith("svg")
    page = (tmp_path / "chart.html").read_text("utf-8")
    assert "<svg" in page and escape(figure.description) in page and "<script" not in page and "https://cdn" not in page
    again = json.loads((tmp_path / "chart.json").read_text("utf-8"))
    assert again["data"] == figure.spec["data"] and again["config"]["range"]["category"][0] == "#0072B2"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(f"chart{e}" for e in ENDINGS)
    with pytest.raises(UsageError, match=r"ends in .svg.*did you mean .png"):
        figure.save(tmp_path / "chart.pngg")
    with pytest.raises(InputError, match="cannot be written"):
        figure.save(tmp_path / "nowhere" / "chart.svg")


def test_the_same_result_gives_the_same_bytes(results: dict[str, Result]) -> None:
    assert results["depth"].plot().svg() == results["depth"].plot().svg()


def test_notebooks_get_a_picture_and_the_spec(results: dict[str, Result]) -> None:
    bundle = results["power"].plot()._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert bundle["application/vnd.vegalite.v6+json"]["description"] in bundle["text/plain"]


def test_light_and_dark(results: dict[str, Result]) -> None:
    figure = results["power"].plot()
    assert theme.paper("light") in figure.svg("light") and theme.paper("dark") in figure.svg("dark")
    with pytest.raises(UsageError, match="light or dark"):
        figure.svg("sepia")  # type: ignore[arg-type]


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_can_be_read(mode: Any) -> None:
    """4.5:1 against the paper, for text and guides."""
    paper = luminance(theme.paper(mode))
    for colour in (theme.ink(mode), theme.quiet(mode)):
        light, dark = sorted((luminance(colour), paper), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_nine_measures_differ_in_colour_and_dash() -> None:
    names = [f"m{i}" for i in range(16)]
    dashes = theme.dash("measure", names)["scale"]["range"]
    colours = [theme.OKABE_ITO[i % len(theme.OKABE_ITO)] for i in range(16)]
    assert len({(c, tuple(d)) for c, d in zip(colours, dashes, strict=True)}) == 16


def test_dashes_mean_condensed_and_hues_the_measure() -> None:
    """As in the papers: ordinary measures in full lines, condensed ones dashed, AP' in the colour of AP."""
    names = ["AP'", "Q'(gains={1: 1, 2: 3})", "bpref", "AP", "Q(gains={1: 1, 2: 3})", "P@10"]
    hues = dict(zip(names, theme.colour("measure", names)["scale"]["range"], strict=True))
    assert hues["AP"] == hues["AP'"] and hues[names[1]] == hues[names[4]]
    assert len(set(hues.values())) == 4
    dashes = dict(zip(names, theme.dash("measure", names)["scale"]["range"], strict=True))
    assert {tuple(dashes[n]) for n in names[:3]} == {(4, 3)} and {tuple(dashes[n]) for n in names[3:]} == {(1, 0)}
    many = [f"{name}{prime}" for name in "ABCDEFGHIJKLMN" for prime in ("", "'")]
    looks = zip(
        theme.colour("measure", many)["scale"]["range"], theme.dash("measure", many)["scale"]["range"], strict=True
    )
    assert len({(hue, tuple(dash)) for hue, dash in looks}) == len(many)


def test_a_chart_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="description"):
        Figure({"mark": "bar"})


def test_a_result_without_charts_says_so(sim: uj.Collection) -> None:
    with pytest.raises(UsageError, match="no chart"):
        uj.judge_agreement({"1": {"a": 1, "b": 0}}, {"1": {"a": 0, "b": 0}}).plot()
    with pytest.raises(UsageError, match="there are power"):
        uj.study("power", sim, measures="AP", test="t").plot("tau")
