"""The trust report without a browser: numbers against independent computations, verdict words, files, formats."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from places import DATA
from scipy import stats

import unjudged as uj
from unjudged.cli import main
from unjudged.errors import DataWarning, InputError, UsageError
from unjudged.io.check import runs as lint
from unjudged.reporting import (
    SECTIONS,
    Report,
    Settings,
    Subject,
    failing,
    fewer_judgments,
    page,
    read_thresholds,
    section,
)
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


class Plain:
    """The collection read from its files by hand: grades, lists, teams, pooled runs."""

    def __init__(self, folder: Path) -> None:
        self.grade: dict[str, dict[str, int]] = {}
        for line in (folder / "qrels.txt").read_text().splitlines():
            topic, _, doc, grade = line.split()
            self.grade.setdefault(topic, {})[doc] = int(grade)
        self.lists: dict[str, dict[str, list[str]]] = {}
        for file in sorted((folder / "runs").iterdir()):
            lists = self.lists.setdefault(file.name, {})
            for line in file.read_text().splitlines():
                lists.setdefault(line.split()[0], []).append(line.split()[2])
        table = [line.split("\t") for line in (folder / "teams.tsv").read_text().splitlines()[1:]]
        self.team = dict(table)
        table = [line.split("\t") for line in (folder / "pooled.tsv").read_text().splitlines()[1:]]
        self.pooled = [run for run, answer in table if answer == "yes"]

    def p10(self, run: str, without: dict[str, set[str]] | None = None) -> float:
        gone = without or {}
        scores = [
            sum(grades.get(d, 0) > 0 and d not in gone.get(t, ()) for d in self.lists[run][t][:10]) / 10
            for t, grades in self.grade.items()
        ]
        return float(np.mean(scores))

    def top(self, runs: list[str], depth: int) -> dict[str, set[str]]:
        return {t: {d for run in runs for d in self.lists[run][t][:depth]} for t in self.grade}

    def ap(self, run: str, known: dict[str, set[str]]) -> float:
        scores = []
        for t, grades in self.grade.items():
            relevant = {d for d, g in grades.items() if g > 0 and d in known[t]}
            found = total = 0.0
            for rank, doc in enumerate(self.lists[run][t], 1):
                if doc in relevant:
                    found += 1
                    total += found / rank
            scores.append(total / len(relevant) if relevant else 0.0)
        return float(np.mean(scores))


@pytest.fixture(scope="module")
def plain(folder: Path) -> Plain:
    return Plain(folder)


def test_the_pool_is_recognised(collection: uj.Collection, plain: Plain) -> None:
    pool = Subject(collection).pool
    assert pool is not None and pool.depth == TINY["depth"]
    assert set(plain.pooled) <= set(pool.runs)


def test_outsiders_against_counting_by_hand(collection: uj.Collection, plain: Plain, report: Report) -> None:
    subject = Subject(collection)
    assert subject.pool is not None
    pooled, depth = list(subject.pool.runs), subject.pool.depth
    got = columns(report, "fair-to-outsiders")
    losses = []
    for team in sorted({plain.team[run] for run in pooled}):
        theirs = [run for run in pooled if plain.team[run] == team]
        mine, others = plain.top(theirs, depth), plain.top([r for r in pooled if r not in theirs], depth)
        gone = {t: mine[t] - others[t] for t in mine}
        before, after = [plain.p10(run) for run in theirs], [plain.p10(run, gone) for run in theirs]
        losses.append(1 - np.mean(after) / np.mean(before))
        for run, full, reduced in zip(theirs, before, after, strict=True):
            (row,) = [i for i, m in enumerate(got["measure"]) if m == "P@10" and got["run"][i] == run]
            assert got["full"][row] == pytest.approx(full) and got["reduced"][row] == pytest.approx(reduced)
            assert got["rank_full"][row] == 1 + sum(plain.p10(r) > full + 1e-12 for r in collection.runs)
            assert got["rank_reduced"][row] == 1 + sum(plain.p10(r, gone) > reduced + 1e-12 for r in collection.runs)
    numbers = report["fair-to-outsiders"].numbers
    assert numbers["left out"] == pytest.approx(np.mean(losses))
    assert [subject.runs[r] for r in subject.outsiders] == [r for r in collection.runs if plain.team[r] == "team06"]
    assert 0 < numbers["outside"] < 1
    assert report["fair-to-outsiders"].verdict.value == max(numbers.values())


def test_fewer_judgments_against_scipy(collection: uj.Collection, plain: Plain, report: Report) -> None:
    pool = Subject(collection).pool
    assert pool is not None
    got = columns(report, "fewer-judgments")
    everything = {t: set(g) for t, g in plain.grade.items()}
    full = [plain.ap(run, everything) for run in collection.runs]
    for depth in (4, 2):
        cut = [plain.ap(run, plain.top(list(pool.runs), depth)) for run in collection.runs]
        (row,) = [i for i, m in enumerate(got["measure"]) if m == "AP" and got["level"][i] == f"depth {depth}"]
        assert got["tau"][row] == pytest.approx(stats.kendalltau(full, cut).statistic)
        assert got["mean"][row] == pytest.approx(np.mean(cut))
        assert got["judgments"][row] == sum(
            len(plain.top(list(pool.runs), depth)[t] & set(g)) for t, g in plain.grade.items()
        )
    assert report["fewer-judgments"].verdict.value == got["tau"][row]  # a quarter of 8
    assert {"AP", "AP'", "nDCG@10", "P@10"} == set(got["measure"])


def test_safe_pairs_against_statsmodels(collection: uj.Collection, report: Report) -> None:
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    x = uj.score(collection, ["AP"]).matrix("AP")
    got = columns(report, "safe-comparisons")
    runs = {run: r for r, run in enumerate(collection.runs)}
    pairs = [(runs[a], runs[b]) for a, b in zip(got["better"], got["other"], strict=True)]
    assert len({frozenset(pair) for pair in pairs}) == len(pairs) == len(runs) * (len(runs) - 1) // 2
    raw = [stats.ttest_rel(x[:, a], x[:, b]).pvalue for a, b in pairs]
    np.testing.assert_allclose(got["p_adjusted"], multipletests(raw, method="holm")[1], rtol=1e-6, atol=1e-12)
    for state, p, half, lifted in zip(got["state"], got["p_adjusted"], got["half_depth"], got["lifted"], strict=True):
        assert state == ("open" if p >= 0.05 else "reversed" if half < 0 or lifted < 0 else "safe")
    assert min(got["difference"]) >= 0
    said = report["safe-comparisons"].verdict
    assert said.value == got["state"].count("safe") / len(pairs)
    assert f"{got['state'].count('safe')} of {len(pairs)} pairs" in said.sentence


def test_judges(folder: Path, collection: uj.Collection, report: Report, tmp_path: Path) -> None:
    got = columns(report, "another-judge")
    assert all(tau == 1 for tau, rate in zip(got["tau"], got["rate"], strict=True) if rate == 0)
    assert {kind for kind in got["kind"] if kind.startswith("favours")} <= {f"favours team0{i}" for i in range(1, 7)}
    assert report["another-judge"].verdict.word in ("unknown", "fragile")  # never solid without a second judge
    subject = Subject(collection, second=collection)
    same = section("another-judge", subject)
    assert same.verdict.word == "solid" and same.verdict.value == 1
    lines = [line.split() for line in (folder / "qrels.txt").read_text().splitlines()]
    turned = "".join(f"{t} 0 {d} {int(g == '0')}\n" for t, _, d, g in lines)
    (tmp_path / "second.txt").write_text(turned)
    second = uj.load(str(tmp_path / "second.txt"), str(folder / "runs"))
    other = section("another-judge", Subject(collection, second=second))
    ap = [uj.score(c, ["AP"]).mean_values()[:, 0] for c in (collection, second)]
    assert other.verdict.word == "fragile"
    assert other.verdict.value == pytest.approx(stats.kendalltau(*ap).statistic)


def test_without_a_pool_or_teams() -> None:
    """Nothing can be left out where no list begins with a judged document; the verdicts say so."""
    qrels = {str(t): {f"d{i}": int(i % 3 == 0) for i in range(5, 12)} for t in range(3)}
    runs = {
        f"r{r}": {t: {f"d{i}": float((i * (r + 3)) % 13) if i >= 5 else 99.0 for i in range(13)} for t in qrels}
        for r in range(4)
    }
    made = uj.report(uj.load(qrels, runs))
    assert "no pool can be recognised" in made["fair-to-outsiders"].verdict.sentence
    assert made.words["fair-to-outsiders"] == "unknown"
    assert columns(made, "fewer-judgments")["level"][-1].endswith("at random")
    assert made.html()


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
    with pytest.raises(UsageError, match="a seed is a whole number of 0 or more, not -1"):
        uj.report(uj.load(one, {"a": run, "b": run}), seed=-1)


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


@pytest.mark.parametrize(
    ("name", "facts", "loss"),
    [
        ("trec2-adhoc", "50 topics, 38 runs of 22 teams, 62,620 judgments", 0.0208),
        ("dl19-passage", "43 topics, 37 runs of 12 teams, 9,260 judgments", 0.048),
    ],
)
def test_real_collections(name: str, facts: str, loss: float) -> None:
    """Complete, small enough, and near the losses of left-out teams measured elsewhere (every run taken as pooled)."""
    data = DATA / name
    if not data.is_dir():
        pytest.skip("the real collections are not here")
    collection = uj.load(str(data / "qrels.txt.gz"), str(data / "runs"), teams=data / "teams.tsv", lenient=True)
    made = uj.report(collection)
    assert facts in made["contents"].verdict.sentence
    assert all(s.chart for s in made.sections[1:-1]) and len(made.sections) == 12
    assert made["fair-to-outsiders"].numbers["left out"] == pytest.approx(loss, abs=0.01)
    assert "unknown" not in {word for key, word in made.words.items() if key != "another-judge"}
    assert len(made.html().encode()) < 2_000_000


FROM_LISTS = ("UJ103", "UJ104", "UJ105", "UJ107", "UJ109", "UJ110", "UJ115", "UJ131", "UJ132")
"""What the lists of a run show; everything about judgments is looked at line by line."""


def test_findings_are_those_of_check(tmp_path: Path) -> None:
    """The report looks at lists in memory, `check` at lines: the same findings, as often, in as many files."""
    made = uj.simulate(preset="tiny", topics=6, teams=3, runs=6, seed=4, out=tmp_path / "c", quirk="ties,short,missing")
    runs = sorted(Path(made.run_folder).iterdir())
    (runs[0].parent / "zzz-copy").write_bytes(runs[0].read_bytes())  # the same lists, the same tag
    topic, *_ = runs[1].read_text().split(None, 1)
    with runs[1].open("a") as file:
        file.write("".join(f"stray Q0 d{i} {i + 1} {-i} {runs[1].name}\n" for i in range(3)))
    lines = [line.split() for line in runs[2].read_text().splitlines()]
    runs[2].write_text("".join(" ".join([*f[:4], "1" if f[0] == lines[0][0] else f[4], f[5]]) + "\n" for f in lines))
    long = "".join(f"{topic} Q0 x{i} {i + 1} {2000 - i} {runs[3].name}\n" for i in range(1001))
    kept = [line for line in runs[3].read_text().splitlines(keepends=True) if line.split()[0] != topic]
    runs[3].write_text(long + "".join(kept))
    with Path(made.qrels).open("a") as file:
        file.write("barren 0 d1 0\nhidden 0 d1 -1\n")
    tallies, _ = lint.check(str(made.qrels), [str(made.run_folder)])
    by_code: dict[str, list[int]] = {}
    for tally in tallies:
        for finding in tally.findings():
            by_code.setdefault(finding.code, []).append(finding.count)
    expected = {c: (len(n), sum(n)) for c, n in by_code.items() if c in FROM_LISTS or c.startswith("UJ12")}
    assert set(FROM_LISTS) | {"UJ124", "UJ125", "UJ126"} <= expected.keys()
    with pytest.warns(DataWarning):
        found = section("contents", Subject(uj.load(made.qrels, made.run_folder)))
    assert {kind.code: (kind.files, kind.count) for kind in found.findings} == expected
    severities = [kind.severity for kind in found.findings]
    assert severities == sorted(severities, key=("error", "warning", "info").index)
    text = page.fragment(found)
    assert all(f'<span class="code">{code}</span>' in text for code in expected)
    assert "leave out all but one" in text and "Leave one out." in text  # the sentence, and what explain says


def test_findings_without_files() -> None:
    qrels = {f"t{i}": {"a": 1, "b": 0} for i in range(3)}
    runs = {name: {topic: {"a": 1.0, "c": 1.0, "b": 0.5} for topic in qrels} for name in ("one", "two")}
    found = section("contents", Subject(uj.load(qrels, runs)))
    assert [(kind.code, kind.files, kind.count) for kind in found.findings] == [("UJ132", 1, 2), ("UJ105", 2, 12)]


@pytest.mark.parametrize(
    ("outsiders", "teams", "left_out", "outside", "word"),
    [
        (20, 3, 0.01, 0.01, "fragile"),  # most runs are outside, and hardly anybody made the pool
        (19, 3, 0.01, 0.01, "solid"),
        (20, 4, 0.01, 0.01, "solid"),
        (10, 9, 0.05, 0.12, "with care"),  # many outside an unfair pool
        (9, 9, 0.05, 0.12, "solid"),
        (10, 9, 0.05, 0.125, "fragile"),  # 2.5 times what a left-out team loses: runs of another kind
        (10, 9, 0.03, 0.10, "solid"),  # not unfair: 10 % still earns "with care"
    ],
)
def test_outsiders_limit_the_word_on_the_order(
    outsiders: int, teams: int, left_out: float, outside: float, word: str
) -> None:
    subject = SimpleNamespace(
        outsiders=list(range(outsiders)),
        runs=("run",) * 40,
        pooled_teams=dict.fromkeys(range(teams)),
        thresholds=read_thresholds(),
        outside=lambda: SimpleNamespace(loss=left_out, outside=outside, value=max(left_out, outside)),
    )
    found, why = fewer_judgments._outsiders_say(subject)  # type: ignore[arg-type]
    assert found == word and bool(why) == (word != "solid")
