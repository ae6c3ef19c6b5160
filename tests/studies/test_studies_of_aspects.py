"""Subtopics, intents and nuggets in every study: an answer, or one sentence that says why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_scores import rows_of

import unjudged as uj
from unjudged.changes.noise import flip
from unjudged.cli import main
from unjudged.errors import UsageError
from unjudged.io.aspects import Aspects
from unjudged.studies import QUESTIONS, known

MEASURES = "alpha_nDCG@10,ERR_IA@10,StRecall@5,D_nDCG@10"
TEAMS = 4


def write(folder: Path) -> None:
    """12 topics of 2 to 4 subtopics, 8 runs of 4 teams, a pool of depth 10 of the first three teams."""
    rng = np.random.default_rng(3)
    (folder / "runs").mkdir()
    lines: dict[str, list[str]] = {}
    judged, second = [], []
    for topic in range(1, 13):
        many = int(rng.integers(2, 5))
        grade = np.where(rng.random((40, many)) < 0.25, rng.integers(1, 3, (40, many)), 0)
        grade[0, 0] = 1
        pool: set[int] = set()
        for team in range(1, TEAMS + 1):
            for place in (1, 2):
                score = (grade.max(axis=1) > 0) * (0.4 + 0.4 * team) + rng.normal(0, 1, 40)
                order = np.argsort(-score)[:30].tolist()
                pool |= set(order[:10]) if team < TEAMS else set()
                lines.setdefault(f"team{team}-{place}", []).extend(
                    f"{topic} Q0 d{doc:02d} {rank} {100 - rank} x\n" for rank, doc in enumerate(order, 1)
                )
        for doc in sorted(pool):
            for aspect in range(many):
                judged.append(f"{topic} {aspect + 1} d{doc:02d} {grade[doc, aspect]}\n")
                other = 0 if rng.random() < 0.1 else grade[doc, aspect]
                second.append(f"{topic} {aspect + 1} d{doc:02d} {other}\n")
    for run, text in lines.items():
        (folder / "runs" / run).write_text("".join(text))
    (folder / "qrels.txt").write_text("".join(judged))
    (folder / "second.txt").write_text("".join(second))
    (folder / "teams.tsv").write_text("run\tteam\n" + "".join(f"{run}\t{run[:5]}\n" for run in lines))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aspects")
    write(folder)
    return folder


@pytest.fixture(scope="module")
def collection(world: Path) -> Any:
    given: dict[str, Any] = {"teams": str(world / "teams.tsv"), "qrels_format": "diversity"}
    return uj.load(str(world / "qrels.txt"), str(world / "runs"), **given)


def options_of(name: str, world: Path, collection: Any) -> dict[str, Any]:
    second = uj.load(str(world / "second.txt"), str(world / "runs"), qrels_format="diversity")
    own: dict[str, dict[str, Any]] = {
        "gate": {"run": "team1-1", "baseline": "team2-1"},
        "judges": {"second": second},
        "another-judge": {"second": second},
        "over-judges": {"second": second},
        "corrected": {"machine": second},
        "change": {"before": collection},
        "swap": {"trials": 20, "repeats": 1},
        "stability": {"trials": 20},
        "topics": {"a": "team1-1", "b": "team2-1"},
        "take-team": {"teams_taken": ("team1",)},
        "slices": {"slice": dict.fromkeys(collection.topics, "all")},
        "noise": {"repeats": 1},
    }
    return own.get(name, {})


@pytest.mark.filterwarnings("ignore::unjudged.DataWarning")
@pytest.mark.parametrize("name", [*known(), *(key for key in QUESTIONS if key not in known())])
def test_every_study(world: Path, collection: Any, name: str) -> None:
    asked = options_of(name, world, collection)
    if name in ("contents", "contributions"):
        found = uj.study(name, collection, jobs=1)
        assert not [note for note in found.notes if "two grades" in note or "given twice" in note]
        assert rows_of(found)
        return
    if name in ("judges", "another-judge"):  # grades of whole documents are compared there
        with pytest.raises(UsageError, match="over-judges"):
            uj.study(name, collection, measures=MEASURES, jobs=1, **asked)
        return
    given: dict[str, Any] = {} if name == "correction" else {"measures": MEASURES}  # which is about P@n
    rows = rows_of(uj.study(name, collection, jobs=1, **given, **asked))
    assert rows
    named = {str(row.get("measure", row.get("measure_a", ""))) for row in rows} - {""}
    if named and name not in ("correction",):
        assert named <= {"alpha_nDCG@10", "ERR_IA@10", "StRecall@5", "D_nDCG@10"}


@pytest.mark.filterwarnings("ignore::unjudged.DataWarning")
def test_studies_rest_on_the_aspects(world: Path, collection: Any) -> None:
    """Not on the documents' grades: means of studies are those of score, which equal ndeval's (tests/measures)."""
    means = uj.score(collection, MEASURES).means()
    for row in rows_of(uj.study("ranks", collection, measures=MEASURES, jobs=1)):
        assert row["value"] == pytest.approx(means.loc[row["run"], row["measure"]])
    plain = uj.score(
        uj.load(str(world / "second.txt"), str(world / "runs"), qrels_format="diversity"), MEASURES
    ).means()
    over = rows_of(
        uj.study("over-judges", collection, measures="ERR_IA@10", **options_of("over-judges", world, collection))
    )
    for row in over:
        both = (means.loc[row["run"], "ERR_IA@10"] + plain.loc[row["run"], "ERR_IA@10"]) / 2
        assert row["mean"] == pytest.approx(both)


def test_errors_of_judges_in_aspects(collection: Any) -> None:
    """A document that is overlooked counts in no subtopic, one that is invented in one of them, in turn."""
    lost = flip(collection, relevant=1.0, nonrelevant=0.0)
    assert lost.judgments.aspects is not None
    assert (lost.judgments.aspects.grade == 0).all()
    assert (uj.score(lost, "StRecall@5").means().to_numpy() == 0).all()
    found = flip(collection, relevant=0.0, nonrelevant=1.0)
    assert found.judgments.aspects is not None
    before, after = collection.judgments.aspects.grade, found.judgments.aspects.grade
    new = collection.judgments.grade == 0
    assert ((after[new] > 0).sum(axis=1) == 1).all() and (after[~new] == before[~new]).all()
    for t in range(len(collection.topics)):
        here = new & (collection.judgments.topic == t)
        each = (after[here] > 0).sum(axis=0)[: len(collection.judgments.aspects.names[t])]
        assert each.max() - each.min() <= 1
    one = Aspects.one(np.array([0, 2], np.int32), 1)
    changed = one.with_errors(np.zeros(2, np.int32), np.array([0, 2], np.int32), np.array([1, 0], np.int32))
    assert changed is not None and changed.grade.tolist() == [[1], [0]]
    assert one.with_errors(np.zeros(2, np.int32), np.array([0, 2], np.int32), np.array([0, 1], np.int32)) is None


@pytest.mark.filterwarnings("ignore::unjudged.DataWarning")
def test_nuggets_in_studies(tmp_path: Path) -> None:
    """Nugget recall through power, leave-team-out and slices, from nugget JSONL."""
    import json

    rng = np.random.default_rng(2)
    judged = []
    runs: dict[str, dict[str, dict[str, float]]] = {f"r{r}": {} for r in range(4)}
    for t in range(11):
        docs = [f"d{d}" for d in range(12)]
        nuggets = [
            {
                "text": f"n{n}",
                "importance": "vital" if n < 2 else "okay",
                "docs": [d for d in docs if rng.random() < 0.2],
            }
            for n in range(4)
        ]
        judged.append(json.dumps({"qid": str(t), "nuggets": nuggets}))
        for r in range(4):
            runs[f"r{r}"][str(t)] = dict(zip(rng.permutation(docs)[: 5 + r].tolist(), range(9, 0, -1), strict=False))
    (tmp_path / "n.jsonl").write_text("\n".join(judged) + "\n")
    c = uj.load(str(tmp_path / "n.jsonl"), runs, teams={r: r for r in runs})
    wanted = "NuggetRecall,NuggetRecall(of='vital'),NuggetRecall(of='weighted',strict=False),NuggetPrecision@5"
    assert len(rows_of(uj.power(c, wanted, resamples=100, jobs=1))) == 4
    assert len(rows_of(uj.study("leave-run-out", c, measures=wanted, pooled="all", depth=3, jobs=1))) > 0
    found = rows_of(uj.study("ranks", c, measures=wanted, slice={str(t): "all" for t in range(11)}, jobs=1))
    means = uj.score(c, wanted).means()
    assert all(row["value"] == pytest.approx(means.loc[row["run"], row["measure"]]) for row in found)


@pytest.mark.filterwarnings("ignore::unjudged.DataWarning")
def test_audit_of_such_judgments_is_one_sentence(world: Path, capsys: Any, tmp_path: Path) -> None:
    out = tmp_path / "audit.txt"
    words = ["judges", "audit", str(world / "qrels.txt"), str(world / "second.txt"), "--runs", str(world / "runs")]
    assert main([*words, "--qrels-format", "diversity", "-m", "alpha-nDCG@10", "-o", str(out)]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("unjudged:")]
    assert len(said) == 1 and "study over-judges" in said[0] and not out.exists()
