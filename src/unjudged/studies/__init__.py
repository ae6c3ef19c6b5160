"""Studies: every table and figure of the papers for any collection, on a laptop or a cluster.

A study varies the judgments, scores the runs and compares. `study(name, collection, ...)` runs one;
`register` declares a new one.
"""

from __future__ import annotations

from unjudged.studies._study import NAMES, Lab, Study, find, known, register, study

__all__ = ["NAMES", "Lab", "Study", "find", "known", "register", "study"]
