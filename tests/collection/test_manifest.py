"""Manifests: several collections from one file, each with its own settings, and every mistake told with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

import unjudged as uj
from unjudged.cli import main
from unjudged.collection.manifest import KEYS, described

GOOD = """# two collections
[first]
judgments = "first/qrels.txt"
runs = "first/runs"
teams = "first/teams.tsv"
pooled = "all"
depth = 10

[[collection]]
name = "second one"
judgments = "second/qrels.txt"
runs = ["second/runs/team01-1", "second/runs/team04*"]
teams = "second/teams.tsv"
only = "101-104"
gains = {1 = 1, 2 = 5}
rel = 2
"""


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("manifest")
    for seed, name in enumerate(("first", "second"), 1):
        uj.simulate("tiny", seed=seed, out=where / name)
    return where


@pytest.fixture
def manifest(there: Path) -> Path:
    path = there / "collections.toml"
    path.write_text(GOOD)
    return path


@pytest.mark.filterwarnings("ignore")
def test_each_collection_has_its_own_settings(manifest: Path) -> None:
    found = uj.load_manifest(manifest)
    assert list(found) == ["first", "second one"] and len(found) == 2
    first, second = found.values()
    assert len(first.topics) == 10 and second.topics == ("101", "102", "103", "104")
    assert first.settings["gains"] == "grade" and second.settings["gains"] == {1: 1.0, 2: 5.0}
    assert len(first.runs) == 12 and set(second.runs) == {"team01-1", "team04-1"}
    assert found.settings == {"first": {"pooled": "all", "depth": 10}, "second one": {"rel": 2}}


@pytest.mark.filterwarnings("ignore")
def test_settings_reach_the_study_for_one_collection_alone(manifest: Path) -> None:
    """A study of both is the studies of each with the settings written out."""
    found = uj.load_manifest(manifest)
    both = uj.study("contributions", found, jobs=1)
    alone = {
        "first": uj.study("contributions", found["first"], pooled="all", depth=10, jobs=1),
        "second one": uj.study("contributions", found["second one"], rel=2, jobs=1),
    }
    assert [tuple(row) for row in both.rows()] == [(n, *row) for n, one in alone.items() for row in one.rows()]
    plain = uj.study("contributions", found["second one"], jobs=1)
    assert list(plain.rows()) != list(alone["second one"].rows())


@pytest.mark.filterwarnings("ignore")
def test_the_manifest_wins_over_an_option_and_says_so(manifest: Path) -> None:
    found = uj.load_manifest(manifest, "first")
    told = uj.study("contributions", found, depth=5, jobs=1)
    assert list(told.rows()) == list(uj.study("contributions", found["first"], pooled="all", depth=10, jobs=1).rows())
    assert "depth 10 of the manifest holds here, not 5" in told.notes


@pytest.mark.filterwarnings("ignore")
def test_described_side_by_side(manifest: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = uj.load_manifest(manifest)
    result = uj.describe(found)
    one = uj.describe(found["second one"], rel=2)
    assert [tuple(row[1:]) for row in result.rows() if row[0] == "second one"] == [tuple(r) for r in one.rows()]
    assert main(["pool", "describe", "--collections", str(manifest)]) == 0
    assert capfd.readouterr().out.split("\n")[0].split("  ")[-1].strip() == "second one"


def test_a_study_on_the_command_line(manifest: Path, capfd: pytest.CaptureFixture[str]) -> None:
    line = ["study", "power", "--collections", str(manifest), "-m", "AP", "--test", "t", "--format", "csv"]
    assert main(line) == 0
    rows = [row.split(",")[:3] for row in capfd.readouterr().out.split()[1:]]
    assert [" ".join(row) for row in rows][:1] == ["first AP 12"]
    assert main([*line, "--collection", "first", "--only", "101-105"]) == 0
    assert capfd.readouterr().out.split("\n")[1].startswith("AP,12,")


MISTAKES = [
    ("depth = 10", "depht = 10", 7, "a collection has no key 'depht' (did you mean depth?)"),
    ("rel = 2", "rel = true", 16, "rel is a whole number, not True"),
    ("depth = 10", "depth = 0", 7, "the pool depth is a positive number of documents, not 0"),
    ("first/qrels.txt", "first/qrel.txt", 3, "judgments: there is no file"),
    ("second/runs/team04*", "second/runs/team99*", 12, "runs: "),
    ('runs = "first/runs"', 'runs = "first/nothing"', 4, "runs: there is no file"),
    ('runs = "first/runs"\n', "", 2, "collection first needs the key runs"),
    ("second/teams.tsv", "strangers.tsv", 13, "names no run of this collection (it names alpha, beta"),
    ('"all"', '["alpha"]', 6, "pooled: the list names no run of this collection"),
    ('name = "second one"', 'name = "first"', 10, "two collections are called first"),
    ('name = "second one"\n', "", 9, "a table [[collection]] needs the key name"),
    ("only = ", "only ", 14, "this is not TOML"),
    ('only = "101-104"', 'only = "101-104"\nrun = "x"', 15, "a collection has no key 'run' (did you mean runs?)"),
    ("gains = {1 = 1, 2 = 5}", "gains = 3", 15, "gains is the gain of each grade"),
    ("rel = 2", 'ties = "random"', 16, "unknown tie rule 'random'"),
    ("rel = 2", 'negative = "bad"', 16, "negative can be unjudged or nonrelevant, not 'bad'"),
    ("rel = 2", 'qrels_format = "trek"', 16, "unknown format of judgments 'trek' (did you mean trec?)"),
    ("rel = 2", 'same_answer = "almost"', 16, "same_answer can be "),
    ('"101-104"', '"700-750"', 14, "only: no judged topic matches '700-750'"),
]


@pytest.mark.parametrize(("good", "bad", "line", "sentence"), MISTAKES)
def test_a_mistake_is_told_with_its_line(
    good: str, bad: str, line: int, sentence: str, there: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (there / "strangers.tsv").write_text("run\tteam\nalpha\tA\nbeta\tB\n")
    path = there / "wrong.toml"
    assert good in GOOD
    path.write_text(GOOD.replace(good, bad, 1))
    for command in (["study", "power"], ["pool", "describe"]):
        assert main([*command, "--collections", str(path)]) == 2
        told = capfd.readouterr()
        assert told.err.startswith(f"unjudged: {path}:{line}: "), told.err
        assert sentence in told.err and told.err.count("\n") == 1 and not told.out


def test_every_mistake_is_found_before_a_judgment_is_read(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = there / "wrong.toml"
    path.write_text(GOOD.replace("second/teams.tsv", "nowhere.tsv"))

    def read(*_: object, **__: object) -> None:
        raise AssertionError("something was read")

    monkeypatch.setattr("unjudged.collection.manifest.read_collection", read)
    with pytest.raises(uj.InputError, match=r"wrong\.toml:13: teams: there is no file"):
        uj.load_manifest(path, "first")


def test_an_unknown_collection(manifest: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "power", "--collections", str(manifest), "--collection", "frist"]) == 2
    err = capfd.readouterr().err
    assert "no collection 'frist' (did you mean first?); there are first, second one" in err


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["study", "power"], "QRELS and RUN missing"),
        (["study", "power", "qrels.txt"], "RUN missing: give the judgments and the runs"),
        (["pool", "describe"], "a manifest (--collections FILE)"),
        (["study", "power", "q", "r", "--collections", "MANIFEST"], "QRELS RUN... or --collections FILE, not both"),
        (["study", "power", "q", "r", "--collection", "first"], "--collection chooses from a manifest"),
        (["study", "power", "--collections", "MANIFEST", "--teams", "t"], "each collection names its own teams"),
        (["study", "power", "--collections", "MANIFEST", "--beside", "d"], "write it into the manifest instead"),
        (["study", "change", "--collections", "MANIFEST", "--before", "q"], "--before is for one collection"),
        (["study", "power", "--collections", "nowhere.toml"], "nowhere.toml"),
    ],
)
def test_misuse(line: list[str], sentence: str, manifest: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([str(manifest) if word == "MANIFEST" else word for word in line]) == 2
    err = capfd.readouterr().err
    assert sentence in err and err.count("\n") == 1


def test_one_pool_that_cannot_be_told_is_named_and_the_others_are_answered(
    there: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nobody's first document is judged: no depth can be seen. It is told at once, and in the notes."""
    lists = {"a": "d1 d2 d3", "b": "d4 d5 d6"}
    folder = there / "unseen"
    (folder / "runs").mkdir(parents=True)
    (folder / "qrels.txt").write_text("".join(f"{t} 0 z{d} {d % 2}\n" for t in (1, 2) for d in range(4)))
    (folder / "teams.tsv").write_text("run\tteam\na\tA\nb\tB\n")
    for run, docs in lists.items():
        text = "".join(f"{t} Q0 {d} 1 {9 - i} {run}\n" for t in (1, 2) for i, d in enumerate(docs.split()))
        (folder / "runs" / run).write_text(text)
    path = there / "unseen.toml"
    entry = '[{0}]\njudgments = "{0}/qrels.txt"\nruns = "{0}/runs"\nteams = "{0}/teams.tsv"\n'
    path.write_text(entry.format("unseen") + entry.format("first"))
    line = ["study", "contributions", "--collections", str(path), "--format", "csv", "--jobs", "1"]
    assert main(line) == 0
    told = capfd.readouterr()
    first = told.err.index("contributions, unseen: no answer here: the pool depth cannot be inferred")
    assert first < told.err.index("contributions, first: ")
    assert "note: unseen: no answer here" in told.err
    assert {row.split(",")[0] for row in told.out.split()[1:]} == {"first"}


def test_only_beside_a_collection_without_these_topics(there: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`--only` names topics of the first collection; another one has other topics and keeps them."""
    first = there / "first"
    other = there / "renumbered"
    (other / "runs").mkdir(parents=True, exist_ok=True)
    for file in (first / "qrels.txt", *sorted((first / "runs").iterdir())):
        where = other / file.name if file.name == "qrels.txt" else other / "runs" / file.name
        where.write_text("".join(f"9{line}\n" for line in file.read_text().splitlines()))
    line = [
        "study",
        "power",
        str(first / "qrels.txt"),
        str(first / "runs"),
        "-m",
        "AP",
        "--test",
        "t",
        "--only",
        "101-105",
    ]
    assert main([*line, "--beside", str(other), "--format", "json"]) == 0
    told = capfd.readouterr()
    assert "renumbered: none of the topics 101-105 is judged here; all of its topics are used" in told.err
    assert '"topics counted": {\n    "first": 5,\n    "renumbered": 10' in told.out


def test_keys_are_documented() -> None:
    from places import ROOT

    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    part = page[page.index("## Several collections in one file") :]
    for key in KEYS:
        assert f"`{key}`" in part, key


def test_described_checks_without_reading(manifest: Path) -> None:
    assert [entry.name for entry in described(manifest, ["second one"])] == ["second one"]
