"""How studies run: declaration, option groups, one collection at a time, work units, executors, work folder.

What most studies need is here; the modules of the engine hold the rest.
"""

from __future__ import annotations

from unjudged.studies.engine.answer import Answer, Answers, Chart, Table
from unjudged.studies.engine.case import Case, Progress
from unjudged.studies.engine.groups import Pooling, Runs, RunsOfTeams, Scoring, Testing, Unanswerable, UsualScoring
from unjudged.studies.engine.setup import Matrices, Setup, leading, matrices, prepare, team_of
from unjudged.studies.engine.study import NAMES, Study, find, known, register, run_study
from unjudged.studies.engine.workdir import Arrays

__all__ = ["Answer", "Answers", "Chart", "Table"]
__all__ += ["Case", "Progress"]
__all__ += ["Pooling", "Runs", "RunsOfTeams", "Scoring", "Testing", "Unanswerable", "UsualScoring"]
__all__ += ["Matrices", "Setup", "leading", "matrices", "prepare", "team_of"]
__all__ += ["NAMES", "Study", "find", "known", "register", "run_study"]
__all__ += ["Arrays"]
