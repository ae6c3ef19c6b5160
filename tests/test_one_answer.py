"""One question, one answer: whoever asks (report, study, Python, command line) gets the same verdict object."""

from __future__ import annotations

import contextlib
import io
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from places import DATA

import unjudged as uj
from unjudged.cli import main
from unjudged.io.write import write_qrels
from unjudged.results import Verdict
from unjudged.studies import QUESTIONS

pytestmark = pytest.mark.slow

SHARED = {
    name: [str(DATA / name / "qrels.txt.gz"), str(DATA / name / "runs"), "--teams", str(DATA / name / "teams.tsv")]
    for name in ("dl19-passage", "robust03", "trec2-adhoc")
}
MADE = {
    "pool without a team": {"preset": "tiny", "seed": 3, "topics": 26, "runs": 21, "teams": 6, "leave_out": "team06"},
    "everyone pooled": {"preset": "tiny", "seed": 5, "topics": 30, "runs": 12, "teams": 4, "depth": 8},
    "few topics": {"preset": "tiny", "seed": 7, "topics": 9, "runs": 10, "teams": 5},
}
UNDER_OWN_NAME = {
    "which-measure": "power",
    "enough-topics": "reliability",
    "safe-comparisons": "compare",
    "after-correction": "correct",
}
"""Questions whose study is a function of its own in `uj`."""


@pytest.fixture(scope="module", params=[*SHARED, *MADE])
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The words of a command that read a collection."""
    if request.param in SHARED:
        if not DATA.is_dir():
            pytest.skip("no shared data")
        return [*SHARED[request.param], *(["--lenient"] if request.param == "trec2-adhoc" else [])]
    folder = tmp_path_factory.mktemp("made") / "c"
    options: dict[str, Any] = dict(MADE[request.param])
    uj.simulate(options.pop("preset"), out=folder, **options)
    return [str(folder / "qrels.txt"), str(folder / "runs"), "--teams", str(folder / "teams.tsv")]


@pytest.fixture(scope="module")
def collection(asked: list[str]) -> uj.Collection:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return uj.load(asked[0], asked[1], teams=asked[3], lenient="--lenient" in asked)


@pytest.fixture(scope="module")
def report(asked: list[str]) -> dict[str, dict[str, Any]]:
    """The sections of `unjudged report --format json`, by key."""
    return {section["key"]: section for section in run(["report", *asked])["sections"]}


def run(words: list[str]) -> dict[str, Any]:
    out = io.StringIO()
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape")
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(out):
        assert main([*words, "--format", "json", "--jobs", "1"]) == 0, out.getvalue()
    stream.flush()
    found: dict[str, Any] = json.loads(stream.buffer.getvalue())
    return found


def plain(verdict: Verdict | None) -> Any:
    return None if verdict is None else json.loads(json.dumps(verdict.to_dict()))


def test_every_question_is_there_in_order(report: dict[str, dict[str, Any]]) -> None:
    assert list(report) == [*QUESTIONS, "next"]


@pytest.mark.parametrize("key", QUESTIONS)
def test_the_report_says_what_the_study_says(
    key: str, asked: list[str], collection: uj.Collection, report: dict[str, dict[str, Any]]
) -> None:
    section = report[key]
    if key == "another-judge":  # nobody judged a second time
        assert section["command"] is None and section["verdict"] is None
        return
    assert section["verdict"] is not None
    assert plain(uj.study(key, collection, jobs=1).verdict) == section["verdict"]
    assert run(section["command"])["verdict"] == section["verdict"]
    if key in UNDER_OWN_NAME:
        options = {k: v for k, v in QUESTIONS[key].options.items() if k != "measures"}
        measures = [QUESTIONS[key].options["measures"]] if "measures" in QUESTIONS[key].options else []
        function = getattr(uj, UNDER_OWN_NAME[key])
        own = function(collection, None) if key == "after-correction" else function(collection, *measures, **options)
        assert plain(own.verdict) == section["verdict"]


def test_the_report_holds_every_second_judge_to_the_same_study(tmp_path: Path) -> None:
    uj.simulate("tiny", seed=5, out=tmp_path / "c", topics=26, runs=20, teams=6)
    asked = [str(tmp_path / "c" / "qrels.txt"), str(tmp_path / "c" / "runs"), "-m", "nDCG@10,AP"]
    collection = uj.load(*asked[:2])
    judges = {"lenient": {"nonrelevant": 0.3}, "strict": {"relevant": 0.5}}
    files = [str(tmp_path / f"{name}.txt") for name in judges]
    for file, errors in zip(files, judges.values(), strict=True):
        write_qrels(uj.flip(collection, seed=1, **errors).judgments, file)  # type: ignore[arg-type]
    (tmp_path / "families.tsv").write_text("run\tfamily\n" + "".join(f"{r}\todd\n" for r in collection.runs[::2]))
    more = ["--judge-rel", "strict=2", "--families", str(tmp_path / "families.tsv")]
    others = [word for file in files for word in ("--second-judge", file)]
    (section,) = [s for s in run(["report", *asked, *others, *more])["sections"] if s["key"] == "another-judge"]
    given = {"judge_rel": {"strict": 2}, "families": tmp_path / "families.tsv"}
    told = uj.audit(collection, files, "nDCG@10,AP", **given, jobs=1)
    assert plain(told.verdict) == section["verdict"] == run(section["command"])["verdict"]
    assert section["columns"] == list(told.columns)
    assert section["rows"] == json.loads(json.dumps([list(row) for row in told.rows()]))
    assert set(zip(told.frame.judge, told.frame.judge_rel, strict=True)) == {("lenient", 1), ("strict", 2)}
    with pytest.raises(uj.UnjudgedError, match="judge_rel: name the other judges, too"):
        uj.report(collection, judge_rel={"strict": 2})


@pytest.mark.skipif(not DATA.is_dir(), reason="no shared data")
@pytest.mark.parametrize("name", ["robust03", "dl19-passage"])
def test_real_collections_get_answers(name: str) -> None:
    sections = run(["report", *SHARED[name]])["sections"]
    known = [s["key"] for s in sections if s["verdict"] is not None and s["verdict"]["word"] != "unknown"]
    assert len(known) >= 8, known


# -- the contradictions that were found


def test_enough_topics_has_one_sentence(collection: uj.Collection) -> None:
    """`report` said "0.9 takes 150 topics", `study reliability` "29 topics would give 0.95"."""
    said = {
        plain_sentence(uj.study("enough-topics", collection, jobs=1)),
        plain_sentence(uj.study("reliability", collection, measures="AP,nDCG@10,P@10", jobs=1)),
        plain_sentence(uj.reliability(uj.score(collection, "AP,nDCG@10,P@10"))),
    }
    assert len(said) == 1


def test_a_shallower_pool_has_one_word(collection: uj.Collection) -> None:
    """`report` said with care, `study depth` fragile; now the levels that are shown decide nothing."""
    asked = uj.study("fewer-judgments", collection, jobs=1)
    study = asked.provenance.settings["study"]
    levels = (9, 3) if study == "depth" else (80, 20)
    again = uj.study(study, collection, measures="AP", test="none", levels=levels, jobs=1)
    assert asked.verdict is not None and again.verdict is not None
    assert (again.verdict.word, again.verdict.value) == (asked.verdict.word, asked.verdict.value)


def plain_sentence(result: uj.Result) -> str:
    assert result.verdict is not None
    return f"{result.verdict.word}: {result.verdict.sentence} {result.verdict.value}"


def test_a_new_run_is_not_called_fair_and_unfair(tmp_path: Path) -> None:
    """`report` called a collection unfair to outsiders where `correct` saw no sign of unfairness."""
    uj.simulate("tiny", seed=3, out=tmp_path / "c", topics=26, runs=21, teams=6, leave_out="team06")
    files = tmp_path / "c"
    c = uj.load(str(files / "qrels.txt"), str(files / "runs"), teams=files / "teams.tsv")
    assert "unfair" not in uj.correct(c, None, "P@10").table()
    fair = {plain_sentence(uj.study(name, c, jobs=1)) for name in ("fair-to-outsiders",)}
    fair.add(plain_sentence(uj.study("leave-team-out", c, measures="AP", all_runs=True, jobs=1)))
    assert len(fair) == 1


def test_a_machine_judge_gets_one_word(tmp_path: Path) -> None:
    """`report --second-judge` said solid, `qrels agree` fragile; labels alone have no word now."""
    uj.simulate("tiny", seed=3, out=tmp_path / "c", topics=26, runs=12, teams=4)
    files = tmp_path / "c"
    c = uj.load(str(files / "qrels.txt"), str(files / "runs"), teams=files / "teams.tsv")
    assert uj.judge_agreement(str(files / "qrels.txt"), str(files / "truth.txt")).verdict is None
    second = uj.load(str(files / "truth.txt"), str(files / "runs"))
    told = uj.report(c, second=second, jobs=1)["another-judge"]
    assert told.verdict == uj.study("judges", c, second=second, measures=["AP", "nDCG@10", "P@10"], jobs=1).verdict


def test_sections_are_results(tmp_path: Path) -> None:
    uj.simulate("tiny", seed=3, out=tmp_path / "c", topics=26, runs=12, teams=4)
    files = tmp_path / "c"
    made = uj.report(uj.load(str(files / "qrels.txt"), str(files / "runs"), teams=files / "teams.tsv"), jobs=1)
    assert made["winners"].verdict is not None and made["winners"].verdict.word in made.words["winners"]
    assert made["winners"].plot().spec["description"]
