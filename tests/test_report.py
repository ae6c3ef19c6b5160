"""The trust report without a browser: numbers against independent computations, verdict words, files, formats."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import InputError, UsageError
from unjudged.reporting import SECTIONS, Report, Settings, Subject, failing, read_thresholds, section
from unjudged.reporting.section import Cancelled

TINY = {"topics": 26, "runs": 21, "teams": 6, "depth": 8, "K": 60, "C": 700, "leave_out": "team06"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small simulated collection whose pool left one team out."""
    out = tmp_path_factory.mktemp("report") / "sim"
    uj.simulate("tiny", seed=3, out=out, **TINY)
    return out


@pytest.fixture(scope="module")
def collection(folder: Path) -> uj.Collection:
    return uj.load(str(folder / "qrels.txt"), str(folder / "runs"), teams=folder / "teams.tsv")


@pytest.fixture(scope="module")
def report(collection: uj.Collection) -> Report:
    return uj.report(collection)


def columns(report: Report, key: str) -> dict[str, list]:  # type: ignore[type-arg]
    return report[key].columns()


class Structure(HTMLParser):
    """Headings, sections and everything that would be loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.loads: list[str] = []
        self._in_heading = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_heading = tag == "h2"
        if tag == "h2":
            self.headings.append("")
        for name, value in attrs:
            if name in ("src", "srcset", "data", "action") or (name == "href" and tag != "a"):
                self.loads.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        self._in_heading = False

    def handle_data(self, data: str) -> None:
        if self._in_heading:
            self.headings[-1] += data


def test_one_file_with_the_questions_in_order_and_nothing_loaded(report: Report, tmp_path: Path) -> None:
    report.to_html(tmp_path / "trust.html")
    text = (tmp_path / "trust.html").read_text("utf-8")
    seen = Structure()
    seen.feed(re.sub(r"<script>.*?</script>", "", text, flags=re.S))
    assert seen.headings == [s.question for s in report.sections]
    assert [s.key for s in report.sections] == ["in-short", *SECTIONS, "how-made"]
    assert seen.loads == []
    assert len(text.encode()) < 2_000_000


def test_every_inner_section_is_complete(report: Report) -> None:
    for s in report.sections:
        assert list(s.table.rows()) and s.how
        inner = s.key not in ("in-short", "how-made")
        assert (s.verdict is not None) == inner and (s.chart is not None) == inner
        if s.verdict is not None:
            assert s.verdict.threshold.startswith("solid ") and s.verdict.sentence.endswith(".")
            assert s.description and s.chart is not None and s.chart["description"] == s.description


def test_the_same_input_gives_the_same_bytes(collection: uj.Collection, report: Report) -> None:
    assert uj.report(collection).html() == report.html()


def test_winners_against_scipy(collection: uj.Collection, report: Report) -> None:
    x = uj.score(collection, ["AP"]).matrix("AP")
    means = x.mean(axis=0)
    order = sorted(range(len(means)), key=lambda r: (-means[r], collection.runs[r]))
    best = order[0]
    raw = {r: stats.ttest_rel(x[:, best], x[:, r]).pvalue for r in order[1:]}
    adjusted = dict(zip(raw, stats.false_discovery_control(list(raw.values())), strict=True))  # Holm is stricter
    got = columns(report, "winners")
    assert got["run"] == [collection.runs[r] for r in order]
    np.testing.assert_allclose(got["value"], means[order], rtol=1e-12)
    for place, r in enumerate(order):
        low, high = stats.t.interval(0.95, len(x) - 1, means[r], stats.sem(x[:, r]))
        assert got["low"][place] == pytest.approx(low) and got["high"][place] == pytest.approx(high)
        if r != best:
            assert got["p_adjusted"][place] >= adjusted[r] - 1e-12
    smallest = min(raw.values())
    assert min(p for p in got["p_adjusted"]) == pytest.approx(min(1.0, smallest * len(raw)))


def test_never_judged_against_a_plain_count(folder: Path, collection: uj.Collection, report: Report) -> None:
    judged = {tuple(line.split()[0:3:2]) for line in (folder / "qrels.txt").read_text().splitlines()}
    got = columns(report, "never-judged")
    seen = {
        (run, ranks): (n, m)
        for run, ranks, n, m in zip(got["run"], got["ranks"], got["documents"], got["unjudged"], strict=True)
    }
    for run in collection.runs:
        lines = [line.split() for line in (folder / "runs" / run).read_text().splitlines()]
        for ranks in set(got["ranks"]):
            low, _, high = ranks.partition("-")
            inside = [line for line in lines if int(low) <= int(line[3]) <= int(high or low)]
            missing = [line for line in inside if (line[0], line[2]) not in judged]
            assert seen[run, ranks] == (len(inside), len(missing))


def test_score_range_is_that_of_bounds(collection: uj.Collection, report: Report) -> None:
    got = columns(report, "score-range")
    found = uj.score_bounds(collection, ["nDCG@10"]).mean_values()[:, 0]
    for run, value, low, high in zip(got["run"], got["value"], got["low"], got["high"], strict=True):
        assert (value, low, high) == tuple(found[collection.runs.index(run)])
    could = sum(found[:, 2] >= found[:, 1].max() - 1e-12)
    assert f"open to {could} runs" in report["score-range"].verdict.sentence


def test_json_carries_the_tables(report: Report) -> None:
    whole = json.loads(report.render("json"))
    assert [s["key"] for s in whole["sections"]] == [s.key for s in report.sections]
    for written, s in zip(whole["sections"], report.sections, strict=True):
        assert len(written["rows"]) == len(list(s.table.rows())) and written["columns"] == list(s.table.columns)
    assert {t["key"] for t in whole["thresholds"]} >= set(SECTIONS)


def test_markdown_is_for_a_log(report: Report) -> None:
    text = report.render("markdown")
    assert text.startswith("# How far") and text.count("\n| ") == len(SECTIONS) + 2


def test_names_cannot_write_html(tmp_path: Path) -> None:
    hostile = "<script>window.hacked=1</script>"
    qrels = {f"</script>{t}": {f"d{i}": int(i < 3) for i in range(8)} for t in range(3)}
    run = {topic: {f"d{i}": 9.0 - i for i in range(12)} for topic in qrels}
    made = uj.report(uj.load(qrels, {hostile: run, "\udce9": run, "b": run}))
    text = made.html()
    assert hostile not in text and "&lt;script&gt;window" in text
    assert text.count("</script>") == 3 and "\\udce9" in text
    assert set(made.words.values()) <= {"unknown", "solid", "with care", "fragile"}


def test_a_section_alone_and_cancelled(collection: uj.Collection, report: Report) -> None:
    subject = Subject(collection)
    alone = section("never-judged", subject)
    assert list(alone.table.rows()) == list(report["never-judged"].table.rows())
    with pytest.raises(UsageError, match="never-judged"):
        section("never-judge", subject)

    def stop(key: str, share: float) -> None:
        if key == "winners":
            raise Cancelled

    with pytest.raises(Cancelled):
        uj.report(collection, progress=stop)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[winers]\nsolid = 0.1", "did you mean winners"),
        ("[winners]\nsolid = true", "needs a number"),
        ("[winners]\nsource = 'x'", "there are solid, care"),
        ("[winners]\nsolid = 0.5", "must not be easier"),
        ("[fewer-judgments]\ncare = 0.95", "must not be easier"),
        ("[needed]\nruns = 2.5", "whole number"),
        ("winners = 3", "is a table"),
        ("[winners", "not TOML"),
    ],
)
def test_thresholds_of_the_user_are_checked(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "t.toml").write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_thresholds(tmp_path / "t.toml")


def test_thresholds_decide_the_words(collection: uj.Collection, tmp_path: Path) -> None:
    value = uj.report(collection)["never-judged"].verdict.value
    assert value is not None and value > 0
    (tmp_path / "t.toml").write_text(f"[never-judged]\nsolid = {value}\ncare = 1\n[needed]\nruns = 22\n")
    limits = read_thresholds(tmp_path / "t.toml")
    made = uj.report(collection, thresholds=limits)
    assert made.words["never-judged"] == "solid" and made.words["contents"] == "unknown"
    (tmp_path / "t.toml").write_text(f"[never-judged]\nsolid = 0\ncare = {value / 2}\n")
    assert uj.report(collection, thresholds=tmp_path / "t.toml").words["never-judged"] == "fragile"
    with pytest.raises(InputError, match="cannot be read"):
        read_thresholds(tmp_path / "none.toml")


def test_limits_are_inclusive() -> None:
    limits = read_thresholds()
    tau, loss = limits["fewer-judgments"], limits["fair-to-outsiders"]
    assert [tau.word(v) for v in (0.9, 0.89, 0.8, 0.79, float("nan"))] == [
        "solid", "with care", "with care", "fragile", "unknown",
    ]  # fmt: skip
    assert [loss.word(v) for v in (0.02, 0.021, 0.1, 0.11)] == ["solid", "with care", "with care", "fragile"]


def test_fail_on() -> None:
    words = {"winners": "with care", "contents": "unknown"}
    assert failing("", words) == []
    assert failing("winners<with care", words) == []
    assert failing("winners<solid, contents < with care", words) == [
        "winners is with care, below solid",
        "contents is unknown, below with care",
    ]
    assert failing("contents<unknown", words) == []
    for wrong in ("winner<solid", "winners", "winners<good"):
        with pytest.raises(UsageError, match="--fail-on takes"):
            failing(wrong, words)


def test_settings_are_checked() -> None:
    assert Settings(("ndcg_cut_10", "map")).measures == ("nDCG@10", "AP")
    for wrong in ({"measures": ()}, {"unjudged": "bounds"}, {"alpha": 2.0}, {"depth": 0}, {"measures": ("nonsense",)}):
        with pytest.raises(UsageError):
            Settings(**wrong)  # type: ignore[arg-type]


def test_too_small_a_collection_is_refused() -> None:
    one = {"1": {"d": 1}, "2": {"d": 1}}
    run = {"1": {"d": 1.0}, "2": {"d": 1.0}}
    with pytest.raises(UsageError, match="two are needed"):
        uj.report(uj.load(one, {"a": run}))
    with pytest.raises(UsageError, match="two judged topics"):
        uj.report(uj.load({"1": {"d": 1}}, {"a": run, "b": run}))


def test_command_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], report: Report) -> None:
    given = ["report", str(folder / "qrels.txt"), str(folder / "runs"), "--teams", str(folder / "teams.tsv")]
    out = tmp_path / "trust.html"
    assert main([*given, "-o", str(out), "--fail-on", "contents<solid"]) == 0
    assert "wrote" in capsys.readouterr().err and out.read_text("utf-8").startswith("<!doctype html>")
    assert main([*given, "--format", "json", "--fail-on", "never-judged<solid"]) == 1
    shown = capsys.readouterr()
    assert "failed: never-judged is" in shown.err
    assert json.loads(shown.out)["sections"][3]["rows"] == [list(r) for r in report["never-judged"].table.rows()]
    assert main([*given, "--format", "markdown", "--fail-on", "nonsense<solid"]) == 2
    assert main([*given, "-m", "nonsense"]) == 2
