"""The simulator, read like anybody's files: bands, signs, limits, paired streams, no leak, pinned bits."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_digest import digest
from numpy.typing import NDArray

import unjudged as uj
from unjudged.cli import simulate as verb
from unjudged.errors import UnjudgedError, UsageError
from unjudged.simulation import SCENARIOS, files, simulate
from unjudged.simulation.streams import Purpose, Stream
from unjudged.statistics.correlation import tau_a, tau_b

Array = NDArray[Any]
Grades = dict[str, dict[int, int]]


def read_judgments(path: Path) -> Grades:
    """Topic -> document number -> grade."""
    out: Grades = {}
    for line in path.read_text().splitlines():
        topic, _, doc, grade = line.split()
        out.setdefault(topic, {})[int(doc[1:])] = int(grade)
    return out


class Read:
    """A folder as a stranger reads it: runs as topic -> documents in file order, qrels as topic -> grades."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names = sorted(path.name for path in (folder / "runs").iterdir())
        self.team = dict(self._rows("teams.tsv"))
        self.pooled = {run for run, pooled in self._rows("pooled.tsv") if pooled == "yes"}
        self.qrels, self.truth = read_judgments(folder / "qrels.txt"), read_judgments(folder / "truth.txt")
        self.topics = list(self.truth)
        self.runs = {name: self._run(name) for name in self.names}

    def _rows(self, name: str) -> list[list[str]]:
        return [line.split("\t") for line in (self.folder / name).read_text().splitlines()[1:]]

    def _run(self, name: str) -> dict[str, Array]:
        words = (self.folder / "runs" / name).read_bytes().split()
        topic, ids = np.array(words[0::6]), np.array(words[2::6])
        digits = ids.view(np.uint8).reshape(len(ids), -1)[:, 1:].astype(np.int64) - ord("0")
        doc = digits @ 10 ** np.arange(digits.shape[1] - 1, -1, -1)
        starts = np.flatnonzero(np.concatenate(([True], topic[1:] != topic[:-1])))
        return {t.decode(): d for t, d in zip(topic[starts], np.split(doc, starts[1:]), strict=True)}

    def grades(self, judgments: Grades, topic: str) -> Array:
        """Grade of every document number, -1 unjudged."""
        out = np.full(300_000, -1, dtype=np.int8)
        known = judgments.get(topic, {})
        out[list(known)] = list(known.values())
        return out

    def score(self, judgments: Grades, rel: int = 1, runs: Any = None) -> dict[str, Array]:
        """AP, AP', P@10 and judged@K: topics x runs, by the textbook."""
        names = self.names if runs is None else runs
        out = {m: np.zeros((len(self.topics), len(names))) for m in ("AP", "AP'", "P@10", "judged")}
        for t, topic in enumerate(self.topics):
            grade = self.grades(judgments, topic)
            total = max(1, np.count_nonzero(grade >= rel))
            for r, name in enumerate(names):
                listed = grade[self.runs[name].get(topic, np.zeros(0, dtype=int))]
                rank = np.flatnonzero(listed >= rel)
                found = np.arange(1, len(rank) + 1)
                out["AP"][t, r] = (found / (rank + 1)).sum() / total
                out["AP'"][t, r] = (found / np.cumsum(listed >= 0)[rank]).sum() / total
                out["P@10"][t, r] = np.count_nonzero(listed[:10] >= rel) / 10
                out["judged"][t, r] = (listed >= 0).mean() if len(listed) else 0
        return out

    def finders(self, depth: int) -> dict[str, dict[int, set[str]]]:
        """Per topic and document, the teams whose pooled runs found it."""
        out: dict[str, dict[int, set[str]]] = {topic: {} for topic in self.topics}
        for topic, found in out.items():
            for run in self.pooled:
                for doc in self.runs[run][topic][:depth].tolist():
                    found.setdefault(doc, set()).add(self.team[run])
        return out


def dice(a: Array, b: Array) -> float:
    return 2 * len(np.intersect1d(a, b)) / (len(a) + len(b)) if len(a) + len(b) else math.nan


def overlap(c: Read, k: int, relevant: bool, pairs: list[tuple[str, str]]) -> float:
    """Dice of the top k of pairs of runs, relevant or other documents alone, mean over pairs and topics."""
    values = []
    for topic in c.topics:
        grade = c.grades(c.qrels, topic)
        part = {}
        for run in {run for pair in pairs for run in pair}:
            top = c.runs[run][topic][:k]
            part[run] = top[(grade[top] > 0) == relevant]
        found = np.array([dice(part[a], part[b]) for a, b in pairs])
        if not np.isnan(found).all():
            values.append(np.nanmean(found))
    return float(np.mean(values))


@pytest.fixture(scope="module")
def adhoc(tmp_path_factory: pytest.TempPathFactory) -> list[Read]:
    """`adhoc` with 12 topics, seeds 1 to 3."""
    base = tmp_path_factory.mktemp("adhoc")
    for seed in (1, 2, 3):
        simulate("adhoc", topics=12, seed=seed, out=base / str(seed))
    return [Read(base / str(seed)) for seed in (1, 2, 3)]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny") / "collection"
    simulate("tiny", out=folder)
    return folder


# -- streams


def test_streams_are_pinned() -> None:
    def stream() -> Stream:
        return Stream(7, Purpose.RUN_SCORE, topic=3, team=2, run=1)

    assert [int(v) for v in stream().raw(3)] == RAW
    assert np.allclose(stream().uniforms(3), UNIFORMS, rtol=0, atol=1e-12)
    assert np.allclose(stream().normals(5), NORMALS, rtol=0, atol=1e-12)
    assert np.allclose(stream().exponentials(3), EXPONENTIALS, rtol=0, atol=1e-12)
    assert np.allclose(stream().gammas(3, 2), GAMMAS, rtol=0, atol=1e-12)
    assert stream().permutation(8).tolist() == PERMUTATION


def test_collections_are_pinned(tiny: Path) -> None:
    assert digest(tiny, "runs/", "qrels.txt", "truth.txt") == TINY


def test_streams_have_the_right_moments() -> None:
    def moments(values: Array) -> tuple[float, float, float]:
        return float(values.mean()), float(values.var()), float((values**3).mean())

    stream = Stream(1, Purpose.TEAM)
    assert moments(stream.normals(400_001)) == pytest.approx((0, 1, 0), abs=0.02)
    assert moments(stream.exponentials(400_000)) == pytest.approx((1, 1, 6), abs=0.12)
    for k in (1, 2, 3):
        assert moments(stream.gammas(400_000, k)) == pytest.approx((0, 1, 2 / k**0.5), abs=0.06)
    uniforms = stream.uniforms(100_000)
    assert 0 < uniforms.min() < 1e-4 and 1 - 1e-4 < uniforms.max() < 1
    assert sorted(stream.permutation(1000)) == list(range(1000))
    first = [Stream(seed, Purpose.IDS).permutation(5)[0] for seed in range(2000)]
    assert np.bincount(first).min() > 330


# -- 1: bands, reduced


@pytest.mark.slow
def test_bands(adhoc: list[Read]) -> None:
    nonrelevant, relevant, unique, p10, at_rank = [], [], [], [], []
    rng = np.random.default_rng(0)
    for c in adhoc:
        pairs = [(a, b) for i, a in enumerate(c.names) for b in c.names[:i] if c.team[a] != c.team[b]]
        pairs = [pairs[i] for i in rng.choice(len(pairs), 400, replace=False)]
        nonrelevant.append(overlap(c, 100, False, pairs))
        relevant.append(overlap(c, 100, True, pairs))
        alone = total = 0
        for topic, found in c.finders(100).items():
            assert found.keys() == c.qrels[topic].keys()
            counts = [len(found[doc]) for doc, grade in c.qrels[topic].items() if grade > 0]
            alone, total = alone + counts.count(1), total + len(counts)
        unique.append(alone / total)
        p10.append(c.score(c.qrels)["P@10"].mean())
        hits = [c.grades(c.qrels, t)[np.array([c.runs[n][t] for n in c.names])] > 0 for t in c.topics]
        at_rank.append([np.mean([h[:, rank - 1].mean() for h in hits]) for rank in (1, 10, 100)])
    assert 0.15 <= np.mean(nonrelevant) <= 0.36
    assert np.mean(relevant) - np.mean(nonrelevant) >= 0.07
    assert 0.10 <= np.mean(unique) <= 0.32
    assert 0.27 <= np.mean(p10) <= 0.60
    first, tenth, hundredth = np.mean(at_rank, axis=0)
    assert first > tenth > hundredth


# -- 2: signs


def leave_team_out(c: Read, depth: int, rel: int) -> dict[str, float]:
    """Mean relative change of a left-out team's runs, every team in turn."""
    full = {m: v.mean(axis=0) for m, v in c.score(c.qrels, rel).items()}
    changes: dict[str, list[float]] = {m: [] for m in full}
    found = c.finders(depth)
    for team in sorted(set(c.team.values())):
        own = [i for i, name in enumerate(c.names) if c.team[name] == team]
        own = [i for i in own if full["AP"][i] >= 0.3 * np.median(full["AP"])]
        judgments = {
            topic: {doc: grade for doc, grade in judged.items() if found[topic].get(doc) != {team}}
            for topic, judged in c.qrels.items()
        }
        less = c.score(judgments, rel, [c.names[i] for i in own])
        for m, value in less.items():
            changes[m] += (value.mean(axis=0) / full[m][own] - 1).tolist()
    return {m: float(np.mean(values)) for m, values in changes.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("preset", "topics", "depth", "rel"), [("passage", 8, 10, 2), ("rounds", 5, 7, 1)])
def test_signs_of_leave_team_out(preset: str, topics: int, depth: int, rel: int, tmp_path: Path) -> None:
    simulate(preset, topics=topics, out=tmp_path / "c")
    changes = leave_team_out(Read(tmp_path / "c"), depth, rel)
    assert changes["AP"] < 0 and changes["P@10"] < 0 < changes["AP'"]


@pytest.mark.slow
def test_signs_of_leave_team_out_and_depth_in_adhoc(adhoc: list[Read], tmp_path: Path) -> None:
    changes = leave_team_out(adhoc[0], 100, 1)
    assert changes["AP"] < 0 and changes["P@10"] < 0 < changes["AP'"]
    simulate("adhoc", topics=12, seed=1, depth=10, out=tmp_path / "shallow")
    c = adhoc[0]
    assert digest(c.folder, "runs/") == digest(tmp_path / "shallow", "runs/")
    deep, shallow = c.score(c.qrels), c.score(read_judgments(tmp_path / "shallow" / "qrels.txt"))
    rise = {m: shallow[m].mean() / deep[m].mean() for m in ("AP", "AP'")}
    assert rise["AP'"] > rise["AP"]
    pooled = [i for i, name in enumerate(c.names) if name in c.pooled]
    assert np.array_equal(deep["P@10"][:, pooled], shallow["P@10"][:, pooled])


# -- 3: limits


def test_a_pool_as_deep_as_the_lists_is_complete(tmp_path: Path) -> None:
    simulate("tiny", depth=100, pool_per_team="all", out=tmp_path / "c")
    c = Read(tmp_path / "c")
    observed, true = c.score(c.qrels), c.score(c.truth)
    assert observed["judged"].min() == 1 and true["judged"].min() == 1
    assert np.array_equal(observed["P@10"], true["P@10"])
    for t, topic in enumerate(c.topics):
        judged, whole = (sum(g > 0 for g in j[topic].values()) for j in (c.qrels, c.truth))
        assert judged <= whole
        assert observed["AP"][t] * judged == pytest.approx(true["AP"][t] * whole)


def test_nothing_shared_means_overlap_by_chance(tmp_path: Path) -> None:
    simulate("tiny", c=0, f=0, m=0, hard_c=0, hard_f=0, hard_t=0, step=0, out=tmp_path / "c")
    c = Read(tmp_path / "c")
    grades = {topic: c.grades(c.truth, topic) for topic in c.topics}
    observed, chance = [], []
    for topic in c.topics:
        parts = [top[grades[topic][top] <= 0] for top in (c.runs[name][topic] for name in c.names)]
        candidates = 1200 - sum(g > 0 for g in c.truth[topic].values())
        for i, a in enumerate(parts):
            for b in parts[:i]:
                observed.append(dice(a, b))
                chance.append(2 * len(a) * len(b) / candidates / (len(a) + len(b)))
    assert np.mean(observed) == pytest.approx(np.mean(chance), rel=0.1)


@pytest.mark.slow
def test_no_true_differences_means_alpha_false_alarms(tmp_path: Path) -> None:
    shares = []
    for seed in range(1, 11):
        simulate("tiny", topics=25, q_team=0, q_run=0, odd=0, style=0, seed=seed, out=tmp_path / str(seed))
        ap = (c := Read(tmp_path / str(seed))).score(c.truth)["AP"]
        i, j = np.triu_indices(ap.shape[1], 1)
        difference = ap[:, i] - ap[:, j]
        t = difference.mean(axis=0) / (difference.std(axis=0, ddof=1) / 5)
        shares.append((np.abs(t) > 2.0639).mean())  # Student, 24 degrees of freedom, two-sided .05
    error = np.std(shares, ddof=1) / math.sqrt(len(shares))
    assert np.mean(shares) == pytest.approx(0.05, abs=max(3 * error, 0.01)) and error < 0.03


# -- 4: summary


def test_summary_agrees_with_the_textbook(tmp_path: Path) -> None:
    result = simulate("tiny", leave_out="team02", depth=5, seed=2, out=tmp_path / "c")
    c = Read(tmp_path / "c")
    observed, true = c.score(c.qrels), c.score(c.truth)
    summary = json.loads((tmp_path / "c" / "simulation.json").read_text())["summary"]
    assert summary == result.summary
    out = np.array([c.team[name] == "team02" for name in c.names])
    pooled = np.array([name in c.pooled for name in c.names])
    groups = {"all": out | True, "pooled": pooled, "unpooled": ~pooled, "of outside teams": out}
    for row in summary["scores"]:
        if row["measure"] == "nDCG@10":
            continue
        chosen, exact = groups[row["runs"]], "AP" if row["measure"] == "AP'" else row["measure"]
        assert row["observed"] == pytest.approx(observed[row["measure"]][:, chosen].mean(), abs=1e-6)
        assert row["true"] == pytest.approx(true[exact][:, chosen].mean(), abs=1e-6)
    a, b = observed["AP"].mean(axis=0), true["AP"].mean(axis=0)
    gap = (a[out].mean() / b[out].mean()) / (a[~out].mean() / b[~out].mean()) - 1
    assert summary["gap_pct"]["AP"] == pytest.approx(100 * gap, abs=1e-5)
    assert summary["tau"]["AP"] == pytest.approx(tau_b(a, b), abs=1e-6)
    best = next(row for row in summary["best"] if row["measure"] == "AP" and row["runs"] == "all")
    assert best["run"] == c.names[int(b.argmax())]
    assert best["observed_rank"] == 1 + int((a > a[b.argmax()]).sum())
    assert summary["R"]["true"] == sum(g > 0 for j in c.truth.values() for g in j.values()) / 10


def test_summary_agrees_with_the_library_on_the_files(tmp_path: Path) -> None:
    options: dict[str, Any] = {"quirk": "ties,short,missing,negative", "rel": 2, "leave_out": "family2"}
    summary = simulate("tiny", out=tmp_path / "c", **options).summary
    names = {"AP": "AP(rel=2)", "AP'": "AP'(rel=2)", "P@10": "P(rel=2)@10", "nDCG@10": "nDCG@10"}
    rows = {row["measure"]: row for row in summary["scores"] if row["runs"] == "all"}
    for file, column in (("qrels.txt", "observed"), ("truth.txt", "true")):
        c = uj.load(str(tmp_path / "c" / file), str(tmp_path / "c" / "runs"))
        scores = uj.score(c, list(names.values()))
        for measure, spelling in names.items():
            value = np.nan_to_num(scores.matrix(spelling)).mean()
            assert rows[measure][column] == pytest.approx(value, abs=1e-6)


# -- 5: paired streams


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"depth": 3},
        {"leave_out": "team01 family1"},
        {"pool_per_team": "all"},
        {"extra": 20, "q_extra": 1},
        {"noise": 0.3},
        {"favour": "family1:0.5"},
        {"rate": 0.5},
        {"quirk": "negative"},
    ],
    ids=str,
)
def test_judgments_never_change_runs_or_truth(change: dict[str, Any], tiny: Path, tmp_path: Path) -> None:
    simulate("tiny", out=tmp_path / "c", **change)
    assert digest(tiny, "runs/", "truth.txt") == digest(tmp_path / "c", "runs/", "truth.txt")
    assert (tiny / "qrels.txt").read_bytes() != (tmp_path / "c" / "qrels.txt").read_bytes()


def test_more_topics_leave_the_first_ones_as_they_were(tiny: Path, tmp_path: Path) -> None:
    simulate("tiny", topics=15, out=tmp_path / "c")
    for name in ["qrels.txt", "truth.txt", *(f"runs/{path.name}" for path in (tiny / "runs").iterdir())]:
        few, many = (tiny / name).read_bytes(), (tmp_path / "c" / name).read_bytes()
        assert many.startswith(few) and len(many) > 1.3 * len(few)


def test_more_runs_of_one_team_leave_the_others_as_they_were(tiny: Path, tmp_path: Path) -> None:
    simulate("tiny", big="team03:4", out=tmp_path / "c")
    assert len(list((tmp_path / "c" / "runs").iterdir())) == 16
    for path in (tiny / "runs").iterdir():
        assert path.read_bytes() == (tmp_path / "c" / "runs" / path.name).read_bytes()


@pytest.mark.slow
def test_workers_do_not_run_the_script_of_the_user_again(tmp_path: Path) -> None:
    """A script without `if __name__ == "__main__"`, as processes begin on macOS, on Windows and from Python 3.14 on."""
    script = "import unjudged as uj\nprint(len(uj.simulate('tiny', jobs=2).runs.names))\n"
    (tmp_path / "mine.py").write_text(script)
    done = subprocess.run([sys.executable, tmp_path / "mine.py"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "12\n", "")


@pytest.mark.slow
def test_workers_do_not_matter_and_seeds_do(tiny: Path, tmp_path: Path) -> None:
    simulate("tiny", jobs=4, out=tmp_path / "four")
    assert digest(tmp_path / "four") == digest(tiny)
    simulate("tiny", seed=2, out=tmp_path / "other")
    assert digest(tmp_path / "other", "runs/") != digest(tiny, "runs/")


# -- 6: no leak


@pytest.mark.slow
def test_ids_carry_no_information(adhoc: list[Read]) -> None:
    for c in adhoc:
        grades = [(doc, grade > 0) for judged in c.truth.values() for doc, grade in judged.items()]
        docs, relevant = np.array([d for d, _ in grades]), np.array([g for _, g in grades])
        rank = np.empty(len(docs))
        rank[np.argsort(docs, kind="stable")] = np.arange(1, len(docs) + 1)
        n, m = relevant.sum(), (~relevant).sum()
        z = (rank[relevant].sum() - n * (n + m + 1) / 2) / math.sqrt(n * m * (n + m + 1) / 12)
        assert abs(z) < 2.576  # p > .01
        for name in ("qrels.txt", "truth.txt"):
            lines = [line.split() for line in (c.folder / name).read_text().splitlines()]
            assert lines == sorted(lines, key=lambda line: (int(line[0]), line[2]))


def test_runs_are_sorted_as_trec_eval_reads_them(tiny: Path) -> None:
    for path in (tiny / "runs").iterdir():
        rows = [line.split() for line in path.read_text().splitlines()]
        keys = [(-int(topic), float(score), doc) for topic, _, doc, _, score, _ in rows]
        assert keys == sorted(keys, reverse=True)
        assert [int(row[3]) for row in rows] == [*range(1, 101)] * 10
        assert {row[5] for row in rows} == {path.name}


# -- options


def test_quirks(tmp_path: Path) -> None:
    simulate("tiny", quirk="ties,short,missing,negative", topics=20, out=tmp_path / "c")
    c = Read(tmp_path / "c")
    lengths = [len(docs) for run in c.runs.values() for docs in run.values()]
    assert min(lengths) < 50 and max(lengths) == 100
    assert any(len(run) < 20 for run in c.runs.values()) and all("101" in run for run in c.runs.values())
    assert {-2, -1} <= {grade for judged in c.qrels.values() for grade in judged.values()}
    assert min(grade for judged in c.truth.values() for grade in judged.values()) == 0
    scores = [line.split()[4] for line in (tmp_path / "c" / "runs" / c.names[0]).read_text().splitlines()]
    assert len(set(scores)) < len(scores) / 10


def test_judge_options(tmp_path: Path) -> None:
    judges: dict[str, dict[str, Any]] = {"fair": {}, "noisy": {"noise": 0.4}, "kind": {"favour": "family1:1"}}
    for name, options in judges.items():
        simulate("tiny", out=tmp_path / name, **options)
    fair, noisy, kind = (Read(tmp_path / name) for name in ("fair", "noisy", "kind"))
    family = dict(fair._rows("families.tsv"))
    lost = total = 0
    for topic, judged in fair.qrels.items():
        relevant = [doc for doc, grade in judged.items() if grade > 0]
        lost, total = lost + sum(noisy.qrels[topic][d] == 0 for d in relevant), total + len(relevant)
        top = {
            doc
            for run in fair.pooled
            if family[fair.team[run]] == "family1"
            for doc in fair.runs[run][topic][:10].tolist()
        }
        for doc, grade in kind.qrels[topic].items():
            assert grade == (max(judged[doc], 1) if doc in top else judged[doc])
    assert lost / total == pytest.approx(0.4, abs=0.12)


def test_star_and_left_out_families(tmp_path: Path) -> None:
    result = simulate("tiny", star="team02:9:1", leave_out="family1", out=tmp_path / "c")
    assert {row["run"].split("-")[0] for row in result.summary["best"] if row["runs"] == "all"} == {"team02"}
    c = Read(tmp_path / "c")
    left = {team for team, family in c._rows("families.tsv") if family == "family1"}
    assert left and not any(c.team[run] in left for run in c.pooled)


@pytest.mark.slow
def test_every_scenario_can_be_made() -> None:
    assert {int(number.rstrip("b")) for number in SCENARIOS} == set(range(1, 29))
    for number in SCENARIOS:
        small: dict[str, Any] = {"topics": 1, "K": 20, "C": 400, "Rmax": 0.5}
        result = simulate(scenario=number, **small)
        assert len(result.results) == 1 and len(result.results[0].judged) > 0
    assert SCENARIOS["9"].parameters().leave_out == ("family3",)
    assert len(simulate(scenario=20, topics=1, K=20, C=400).runs.names) == 60


# -- files and the command line


def command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    verb.add_arguments(parser)
    return verb.run(parser.parse_args(words))


def test_command_line(tmp_path: Path, tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("-o", str(tmp_path / "c"), "--preset", "tiny") == 0
    assert digest(tmp_path / "c") == digest(tiny)
    shown = capsys.readouterr()
    assert "observed" in shown.out and "12 runs of 5 teams" in shown.err
    words = ["--preset", "tiny", "--seed", "3", "--topics", "4", "--depth", "5", "--leave-out", "team01"]
    assert command("-o", str(tmp_path / "c"), *words, "--set", "mu=5", "rate=0.9", "--quirk", "ties") == 0
    about = json.loads((tmp_path / "c" / "simulation.json").read_text())
    assert about["seed"] == 3 and about["parameters"]["mu"] == 5 and about["parameters"]["quirk"] == ["ties"]
    assert "gap of teams without pooled runs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"preset": "huge"}, "there is no preset 'huge'"),
        ({"scenario": 29}, "there is no scenario 29"),
        ({"scenario": 28, "preset": "tiny"}, "preset 'rounds', not 'tiny'"),
        ({"hardc": 1}, "did you mean 'hard_c'"),
        ({"topics": 0}, "at least 1"),
        ({"topics": 2.5}, "a whole number"),
        ({"mu": "nan"}, "a number"),
        ({"preset": "tiny", "leave_out": "team99"}, "team01 to team05"),
        ({"preset": "tiny", "star": "team01"}, "team01:1:1"),
        ({"preset": "tiny", "favour": "family1:2"}, "between 0 and 1"),
        ({"preset": "tiny", "pool_per_team": 0}, "no run is pooled"),
        ({"runs": 3}, "3 runs are too few for 40 teams"),
        ({"c": 0.9}, "at most 1"),
        ({"grades": "1,0", "rel": 3}, "the highest grade is 2"),
        ({"preset": "tiny", "seed": -1}, "seed"),
        ({"preset": "tiny", "jobs": 0}, "jobs"),
    ],
)
def test_misuse_gets_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        simulate(**options)


def test_other_peoples_folders_are_safe(tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    with pytest.raises(UsageError, match=r"thesis\.tex"):
        simulate("tiny", out=tmp_path / "mine")
    simulate("tiny", out=tmp_path / "mine", force=True)
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "precious"
    assert digest(tmp_path / "mine", "runs/") == digest(tiny, "runs/")
    with pytest.raises(UsageError, match="is a file"):
        simulate("tiny", out=tmp_path / "mine" / "thesis.tex")
    (tmp_path / "empty").mkdir()
    simulate("tiny", out=tmp_path / "empty")
    (tmp_path / "empty" / "runs" / "my-run").write_text("101 Q0 D000001 1 1.0 mine\n")
    with pytest.raises(UsageError, match="my-run"):
        simulate("tiny", out=tmp_path / "empty")


def test_an_earlier_simulation_is_replaced_as_a_whole(tmp_path: Path, tiny: Path) -> None:
    simulate("tiny", runs=20, out=tmp_path / "c")
    simulate("tiny", out=tmp_path / "c")
    assert digest(tmp_path / "c") == digest(tiny)


def test_nothing_is_left_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device", "truth.txt")

    monkeypatch.setattr(files, "write_truth", full)
    with pytest.raises(UnjudgedError, match="No space left"):
        simulate("tiny", out=tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_tiny_is_quick(tmp_path: Path) -> None:
    def seconds(attempt: int) -> float:
        start = time.process_time()
        simulate("tiny", out=tmp_path / str(attempt))
        return time.process_time() - start

    assert any(seconds(attempt) < 0.5 for attempt in range(10))  # a busy machine may be slow now and then


# -- rank correlation


def test_tau() -> None:
    assert tau_a([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(4 / 6)
    assert tau_b([1, 2, 3, 4], [1, 2, 4, 3]) == pytest.approx(4 / 6)
    assert tau_a([1, 1, 2, 3], [1, 2, 3, 4]) == pytest.approx(5 / 6)
    assert tau_b([1, 1, 2, 3], [1, 2, 3, 4]) == pytest.approx(5 / math.sqrt(30))
    assert tau_b([3, 2, 1], [1, 2, 3]) == -1
    assert math.isnan(tau_b([1, 1, 1], [1, 2, 3])) and tau_a([1, 1, 1], [1, 2, 3]) == 0
    assert math.isnan(tau_b([1], [1])) and math.isnan(tau_a([1, math.nan], [1, 2]))
    with pytest.raises(ValueError, match="one length"):
        tau_b([1, 2], [1, 2, 3])


RAW: list[int] = [6606831589713790075, 147515357044759218, 18297479365765580107]
UNIFORMS: list[float] = [0.358157058140678, 0.0079968235291451, 0.991908343968587]
NORMALS: list[float] = [-0.69161277382529, 1.12614570319307, 0.226554616412152, 0.856007450432142, 0.0566314457106551]
EXPONENTIALS: list[float] = [0.605538492056824, 1.02678367892608, 0.635705632731746]
GAMMAS: list[float] = [-0.967839367827009, -0.682422920753311, -0.640466867459185]
PERMUTATION: list[int] = [3, 1, 4, 0, 5, 7, 6, 2]
TINY = "614f6816ccd11f9ffd43eddfe2497b6c5b7a834cd47d6e92894e17d5c367459e"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted where Linux shows them")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_a_program_that_is_killed(number: signal.Signals, tmp_path: Path) -> None:
    """They would wait for topics for ever, and hold the streams they were born with."""
    words = [sys.executable, "-m", "unjudged", "simulate", "-o", str(tmp_path / "s"), "--topics", "5000", "--jobs", "2"]
    program = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    while len(of_session(program.pid)) < 5:  # program, resource tracker, fork server, two workers
        assert program.poll() is None
        time.sleep(0.1)
    program.send_signal(number)
    program.communicate(timeout=60)  # until the last of them has closed standard error
    assert program.returncode == -number


def of_session(number: int) -> list[str]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            found += [stat.parent.name] if fields[0] != "Z" and int(fields[3]) == number else []
    return found
