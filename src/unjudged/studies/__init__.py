"""Studies: every table and figure of the papers for any collection, on a laptop or a cluster.

A study varies the judgments, scores the runs and compares. `study(name, collection, ...)` runs one;
`register` declares a new one. The option groups (`Scoring`, `Runs`, ...) are what most studies are asked alike.
"""

from __future__ import annotations

from unjudged.studies._study import NAMES, Lab, Study, find, known, register, study
from unjudged.studies.asked import Group, Pooling, Runs, RunsOfTeams, Scoring, Testing

__all__ = [
    "NAMES",
    "Group",
    "Lab",
    "Pooling",
    "Runs",
    "RunsOfTeams",
    "Scoring",
    "Study",
    "Testing",
    "find",
    "known",
    "register",
    "study",
]
