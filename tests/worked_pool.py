"""The worked example of a pool: five runs of four teams, one topic, judged to depth 3.

Its scores were worked out apart from this package.
"""

from __future__ import annotations

import unjudged as uj

RUNS = {
    "r1": ["u1", "u2", "a", "b"],
    "r2": ["a", "u3", "b", "g"],
    "r3": ["b", "g", "a", "h"],
    "r4": ["h", "b", "g", "a"],
    "r5": ["h", "g", "u3", "a"],
}
TEAMS = {"r1": "t1", "r2": "t1", "r3": "t2", "r4": "t3", "r5": "t4"}
GRADES = {"a": 1, "b": 2, "g": 0, "h": 0, "u1": 0, "u2": 1, "u3": 0}
MEASURES = ("AP", "AP'", "Q", "Q'", "bpref")
FULL = {
    "r1": (0.638889, 0.638889, 0.615476, 0.615476, 0.666667),
    "r2": (0.555556, 0.555556, 0.460317, 0.460317, 0.555556),
    "r3": (0.555556, 0.555556, 0.571429, 0.571429, 0.555556),
    "r4": (0.333333, 0.333333, 0.408333, 0.408333, 0.333333),
    "r5": (0.083333, 0.083333, 0.083333, 0.083333, 0.0),
}
WITHOUT_T1 = {
    "r1": (0.416667, 1.0, 0.52381, 0.833333, 1.0),
    "r2": (0.833333, 0.833333, 0.75, 0.75, 0.75),
    "r3": (0.833333, 0.833333, 0.916667, 0.916667, 0.75),
    "r4": (0.5, 0.5, 0.657143, 0.657143, 0.25),
    "r5": (0.125, 0.125, 0.142857, 0.142857, 0.0),
}
"""run -> its scores by MEASURES, with all judgments and with team t1 left out of the pool."""


def load() -> uj.Collection:
    """The example as a collection."""
    runs = {name: {"t": {doc: -float(i) for i, doc in enumerate(docs)}} for name, docs in RUNS.items()}
    return uj.load({"t": GRADES}, runs, teams=TEAMS)
