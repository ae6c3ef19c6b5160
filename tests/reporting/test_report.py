"""The trust report without a browser: the study's answers, files, formats, limits."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from places import DATA

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import InputError, UsageError
from unjudged.reporting import Cancelled, Report, Settings, failing, page
from unjudged.studies import QUESTIONS
from unjudged.studies.few_runs import standing
from unjudged.thresholds import read_thresholds

TINY: dict[str, Any] = {"topics": 26, "runs": 21, "teams": 6, "depth": 8, "K": 60, "C": 700, "leave_out": "team06"}


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
            if name in ("src", "srcset", "data", "action") or (
                name == "href" and tag != "a" and not str(value).startswith("#")
            ):
                self.loads.append(f"{tag} {name}={value}")

    def handle_endtag(self, tag: str) -> None:
        self._in_heading = False

    def handle_data(self, data: str) -> None:
        if self._in_heading:
            self.headings[-1] += data


def test_few_runs_say_why_more_is_possible_than_an_exact_estimate(collection: uj.Collection) -> None:
    """Every document of the two top lists was judged; relevant ones may still be found elsewhere."""
    alike = [run for run in collection.runs if collection.teams[run] != "team06"][:2]
    text = uj.report(collection.with_runs(alike), measures="nDCG@5", jobs=1).html()
    row = re.search(rf'<td>{alike[0]}</td><td class="number">\d+ of \d+</td>.*?</tr>', text)
    assert row is not None and ">exact<" in row[0]
    low, high = map(float, re.findall(r"([\d.]+) to ([\d.]+)", row[0])[0])
    assert (low < high) == ("nDCG divides by the best list there could be" in text) and low < high
    only = uj.report(collection.with_runs(alike), measures="P@5", jobs=1).html()
    assert ">exact<" in only and "nDCG divides" not in only


@pytest.mark.slow
def test_one_file_with_the_questions_in_order_and_nothing_loaded(report: Report, tmp_path: Path) -> None:
    report.to_html(tmp_path / "trust.html")
    text = (tmp_path / "trust.html").read_text("utf-8")
    seen = Structure()
    seen.feed(re.sub(r"<script>.*?</script>", "", text, flags=re.S))
    questions = [q.text for q in QUESTIONS.values()]
    assert seen.headings == ["What to do now", "The answers, one by one", *questions, "How was this made?"]
    assert [s.key for s in report.sections] == [*QUESTIONS, "next"]
    assert seen.loads == []
    assert len(text.encode()) < 250_000


def test_every_section_is_the_result_of_its_study(collection: uj.Collection, report: Report) -> None:
    by_name = collection.with_runs(sorted(collection.runs))
    for s in report.sections:
        if s.key in ("next", "another-judge"):
            unknown = s.verdict is not None and s.verdict.word == "unknown" and s.verdict.value is None
            assert s.command is None and unknown == (s.key == "another-judge")
            continue
        alone = uj.study(s.key, by_name, jobs=1)
        assert s.result.render("tsv") == alone.render("tsv") and s.verdict == alone.verdict
        assert s.plot().spec == alone.plot().spec and s.notes == alone.notes
        assert s.how and s.verdict is not None and s.verdict.limit.startswith("solid ")


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(collection: uj.Collection, report: Report) -> None:
    assert uj.report(collection, jobs=1).html() == report.html()
    turned = collection.with_runs(collection.runs[::-1])
    assert uj.report(turned, jobs=1).words == report.words


def test_long_tables_have_the_heads_of_their_columns(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page fills a table from its CSV, which carries fewer columns where it is very long."""
    whole = {s.key: page.view_of(s, 8)["columns"] for s in report.sections}
    monkeypatch.setattr(page, "VERY_LONG", 3)
    for s in report.sections:
        packed = gzip.decompress(base64.b64decode(page.csv_of(s))).decode().splitlines()
        heads = [column["name"] for column in page.view_of(s, 8)["columns"]]
        assert heads == [name.replace("_", " ") for name in packed[0].split(",")]
        assert all(len(row) == len(heads) for row in page.view_of(s, 8)["rows"])
    shorter = page.view_of(report["safe-comparisons"], 8)["columns"]
    assert len(shorter) < len(whole["safe-comparisons"])


def test_who_is_better_in_one_sentence() -> None:
    def told(*pairs: str) -> str:
        rows = [dict(zip(("run_a", "outcome", "run_b"), pair.split(), strict=True)) for pair in pairs]
        means = {run: 1 - i / 10 for i, run in enumerate(sorted({r[k] for r in rows for k in ("run_a", "run_b")}))}
        return standing(rows, means, "AP")

    assert told("a better b") == "a is better than b (AP 1.000)"
    assert told("a cannot_tell b") == "we cannot tell which of a and b is better"
    one_worse = told("a cannot_tell b", "a better c", "b cannot_tell c")
    assert one_worse == "we cannot tell which of a and b is best; c is worse than one of them"
    two_worse = told("a cannot_tell b", "a better c", "b better d", "c cannot_tell d")
    assert two_worse == "we cannot tell which of a and b is best; both c and d are worse than at least one of them"


def test_next_steps_come_from_the_verdicts(report: Report) -> None:
    rows = list(report["next"].result.rows())
    assert rows
    for key, word, step, effect, command in rows:
        verdict = report[key].verdict
        assert (
            verdict is not None and verdict.next is not None and (verdict.word, verdict.next.sentence) == (word, step)
        )
        assert effect == verdict.next.effect
        assert word != "solid" and (not command or command.startswith("unjudged "))
    order = ("fragile", "with care", "unknown")
    assert [row[1] for row in rows] == sorted((row[1] for row in rows), key=order.index)


def test_without_a_pool_or_teams() -> None:
    """Nothing can be left out where no list begins with a judged document; the verdicts say so."""
    qrels = {str(t): {f"d{i}": int(i % 3 == 0) for i in range(5, 12)} for t in range(3)}
    runs = {
        f"r{r}": {t: {f"d{i}": float((i * (r + 3)) % 13) if i >= 5 else 99.0 for i in range(13)} for t in qrels}
        for r in range(4)
    }
    made = uj.report(uj.load(qrels, runs), jobs=1)
    assert made.words["fair-to-outsiders"] == made.words["after-correction"] == "unknown"
    assert made["fewer-judgments"].result.provenance.settings["study"] == "reduction"
    assert made.html()


def test_json_carries_the_tables(report: Report) -> None:
    whole = json.loads(report.render("json"))
    assert [s["key"] for s in whole["sections"]] == [s.key for s in report.sections]
    for written, s in zip(whole["sections"], report.sections, strict=True):
        assert {"key", "question", "verdict", "columns", "rows", "command"} <= written.keys()
        assert len(written["rows"]) == len(list(s.result.rows())) and written["columns"] == list(s.result.columns)
    assert {t["key"] for t in whole["thresholds"]} >= set(QUESTIONS)


def test_markdown_is_for_a_log(report: Report) -> None:
    text = report.render("markdown")
    assert text.startswith("# sim\n") and text.count("\n| ") == len(report.words) + 2


def test_names_cannot_write_html(tmp_path: Path) -> None:
    hostile = "<script>window.hacked=1</script>"
    qrels = {f"</script>{t}": {f"d{i}": int(i < 3) for i in range(8)} for t in range(3)}
    run = {topic: {f"d{i}": 9.0 - i for i in range(12)} for topic in qrels}
    made = uj.report(uj.load(qrels, {hostile: run, "\udce9": run, "b": run}), jobs=1)
    text = made.html()
    assert hostile not in text and "&lt;script&gt;window" in text
    scripts = text.count('<script type="text/plain"') + text.count("<script>")
    assert text.count("</script>") == scripts and "\\udce9" in text
    assert set(made.words.values()) <= {"unknown", "solid", "with care", "fragile"}


def test_it_can_be_cancelled(collection: uj.Collection) -> None:
    def stop(key: str, share: float) -> None:
        if key == "winners":
            raise Cancelled

    with pytest.raises(Cancelled):
        uj.report(collection, progress=stop)


@pytest.mark.slow
def test_progress_goes_from_nothing_to_everything(collection: uj.Collection) -> None:
    told: list[tuple[str, float]] = []
    uj.report(collection, progress=lambda key, share: told.append((key, share)), jobs=1)
    assert told[0] == ("contents", 0.0) and {key for key, _ in told} == set(QUESTIONS)
    assert [share for _, share in told] == sorted(share for _, share in told) and told[-1][1] <= 1


@pytest.mark.slow
def test_a_work_folder_is_used(collection: uj.Collection, report: Report, tmp_path: Path) -> None:
    first = uj.report(collection, workdir=tmp_path / "kept", jobs=1)
    units = sorted(p.name for p in (tmp_path / "kept").rglob("*.unit"))
    assert units and first.words == report.words
    assert uj.report(collection, workdir=tmp_path / "kept", jobs=1).html() == first.html()
    assert sorted(p.name for p in (tmp_path / "kept").rglob("*.unit")) == units


@pytest.mark.slow
def test_thresholds_decide_the_words(collection: uj.Collection, tmp_path: Path) -> None:
    verdict = uj.study("never-judged", collection).verdict
    assert verdict is not None and verdict.value is not None and verdict.value > 0
    file = tmp_path / "t.toml"
    file.write_text(f"[never-judged]\nsolid = {verdict.value}\ncare = 1\n[contents]\nruns = 22\n")
    made = uj.report(collection, thresholds=read_thresholds(file), jobs=1)
    assert made.words["never-judged"] == "solid" and made.words["contents"] == "unknown"
    file.write_text(f"[never-judged]\nsolid = 0\ncare = {verdict.value / 2}\n")
    assert uj.report(collection, thresholds=file, jobs=1).words["never-judged"] == "fragile"
    with pytest.raises(InputError, match="cannot be read"):
        read_thresholds(tmp_path / "none.toml")


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
    for wrong in ({"measures": ()}, {"unjudged": "bounds"}, {"depth": 0}, {"measures": ("nonsense",)}):
        with pytest.raises(UsageError):
            Settings(**wrong)


def test_one_run_is_refused_and_one_topic_is_unknown() -> None:
    one = {"1": {"d": 1}, "2": {"d": 1}}
    run = {"1": {"d": 1.0}, "2": {"d": 1.0}}
    with pytest.raises(UsageError, match="two are needed"):
        uj.report(uj.load(one, {"a": run}))
    assert set(uj.report(uj.load({"1": {"d": 1}}, {"a": run, "b": run})).words.values()) == {"unknown"}
    with pytest.raises(UsageError, match="a seed is a whole number of 0 or more, not -1"):
        uj.report(uj.load(one, {"a": run, "b": run}), seed=-1)


@pytest.mark.slow
def test_command_line(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], report: Report) -> None:
    given = ["report", str(folder / "qrels.txt"), str(folder / "runs"), "--teams", str(folder / "teams.tsv")]
    out = tmp_path / "trust.html"
    assert main([*given, "-o", str(out), "--fail-on", "contents<solid"]) == 0
    shown = capsys.readouterr()
    assert "wrote" in shown.err and all(f"{word} " in shown.out for word in set(report.words.values()))
    assert "\033" not in shown.out and out.read_text("utf-8").startswith("<!doctype html>")
    assert main([*given, "--format", "json", "--fail-on", "never-judged<solid"]) == 1
    shown = capsys.readouterr()
    assert "failed: never-judged is" in shown.err
    section = next(s for s in json.loads(shown.out)["sections"] if s["key"] == "never-judged")
    assert section["rows"] == [list(r) for r in report["never-judged"].result.rows()]
    assert main([*given, "--format", "markdown", "--fail-on", "nonsense<solid"]) == 2
    assert main([*given, "-m", "nonsense"]) == 2


@pytest.mark.slow
def test_the_pool_can_be_stated(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["report", str(folder / "qrels.txt"), str(folder / "runs"), "--teams", str(folder / "teams.tsv")]
    pooled = str(folder / "pooled.tsv")
    assert main([*given, "--format", "json", "--pooled", pooled, "--depth", "8", "--workdir", str(tmp_path / "w")]) == 0
    sections = {s["key"]: s for s in json.loads(capsys.readouterr().out)["sections"]}
    command = sections["fair-to-outsiders"]["command"]
    assert command[-4:] == ["--depth", "8", "--pooled", pooled]
    assert main([*command, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == sections["fair-to-outsiders"]["verdict"]


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("trec2-adhoc", "50 topics, 38 runs of 22 teams, 62,620 judgments"),
        ("dl19-passage", "43 topics, 37 runs of 12 teams, 9,260 judgments"),
    ],
)
def test_real_collections(name: str, facts: str) -> None:
    """Complete, and small enough."""
    data = DATA / name
    if not data.is_dir():
        pytest.skip("the real collections are not here")
    collection = uj.load(str(data / "qrels.txt.gz"), str(data / "runs"), teams=data / "teams.tsv", lenient=True)
    made = uj.report(collection, jobs=1)
    verdict = made["contents"].verdict
    assert verdict is not None and facts in verdict.sentence
    assert all(s.plot().description for s in made.sections[:-1])
    assert len(made.html().encode()) < 320_000
