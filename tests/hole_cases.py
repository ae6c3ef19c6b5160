"""Collections on which the hole model is tested: the micro collection, real ones reduced, and drawn ones."""

from __future__ import annotations

import functools
import json
import warnings
from typing import Any

import numpy as np
from places import DATA, ROOT

import unjudged as uj
from unjudged.holes.reading import read
from unjudged.holes.weights import Weights, weigh
from unjudged.measures import parse
from unjudged.thresholds import default_thresholds

GOLDEN = json.loads((ROOT / "tests" / "golden" / "holes" / "micro.json").read_text("utf-8"))
MICRO = GOLDEN["micro"]
EXPECTED = DATA.parent / "holes_expected.json"
DEV = json.loads(EXPECTED.read_text("utf-8"))["dev"] if EXPECTED.exists() else {}
LIMIT = default_thresholds()["score-range"]


def lists_of(runs: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, dict[str, float]]]:
    """Lists of documents as scores that fall."""
    return {
        run: {topic: {doc: float(len(docs) - i) for i, doc in enumerate(docs)} for topic, docs in lists.items()}
        for run, lists in runs.items()
    }


def micro(case: str) -> uj.Collection:
    """The micro collection with the runs of a case."""
    return uj.load(MICRO["qrels"], lists_of({run: MICRO["runs"][run] for run in MICRO["cases"][case]["runs"]}))


def weights_of(collection: uj.Collection, measure: str) -> Weights:
    """The weights of a measure."""
    return weigh(collection, read(parse(measure)[0], collection.judgments, int(collection.hits.length.max())))


def real(name: str) -> uj.Collection:
    """A real collection with its teams."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = DATA / name
        return uj.load(folder / "qrels.txt.gz", folder / "runs", teams=folder / "teams.tsv", lenient=True)


@functools.cache
def dev(case: str) -> uj.Collection:
    """A development case, reduced here from what its description says."""
    if case == "dl19 full":
        return real("dl19-passage")
    if case == "dl19 leave team out":
        full = dev("dl19 full")
        hits, team = full.hits, np.array([full.teams[run] == "TU-Vienna" for run in full.runs])
        theirs, others = (np.zeros(len(full.judgments), bool) for _ in range(2))
        top = hits.rank <= 10
        theirs[hits.row[top & team[hits.run]]] = True
        others[hits.row[top & ~team[hits.run]]] = True
        return full.keeping(~theirs | others, "without what only this team has")
    if case == "dl19 engineer":
        return dev("dl19 leave team out").with_runs(["TUW19-p1-f", "TUW19-p1-re", "ICT-BERT2"])
    full = dev("dl19 full") if case.startswith("dl19") else real("trec2-adhoc")
    kept = np.zeros(len(full.judgments), bool)
    kept[full.hits.row[full.hits.rank <= 5]] = True
    return full.keeping(kept, "top 5")


def ids(weights: Weights, collection: uj.Collection, doc: int) -> tuple[str, str]:
    """Topic and id of a document of the lists."""
    judgments, code = collection.judgments, int(weights.lists.code[doc])
    name = judgments.docs[code] if code < len(judgments) else collection.rankings.unjudged[code - len(judgments)]
    return judgments.topics[int(weights.lists.topic[doc])], name


def drawn(seed: int, runs: int, topics: int, length: int, judged: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments and runs drawn at random: grades 0 to 2, lists of different order over the same documents."""
    rng = np.random.default_rng(seed)
    docs = [f"d{i}" for i in range(2 * length)]
    lists = {f"r{r}": {f"t{t}": list(rng.permutation(docs)[:length]) for t in range(topics)} for r in range(runs)}
    qrels = {
        f"t{t}": {doc: int(rng.integers(0, 3)) for doc in docs if rng.random() < judged} | {"known": 1}
        for t in range(topics)
    }
    return qrels, lists
