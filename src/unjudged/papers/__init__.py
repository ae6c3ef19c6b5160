"""Papers: every table and figure of a paper for one's own collections, under the paper's numbers, with its findings.

    uj.paper("sakai2009", uj.load_manifest("collections.toml"), out="sakai2009/")
    unjudged paper sakai2009 --collections collections.toml -o sakai2009

One file per paper: its studies with the paper's options, its tables and figures, its names of measures, and the rule
that decides whether a finding holds here. Nothing is computed in this package that a study computes.
"""

from __future__ import annotations

from unjudged.errors import one_of
from unjudged.papers import lipani2015, sakai2005, sakai2007, sakai2009
from unjudged.papers.declaration import Paper

PAPERS: dict[str, Paper] = {p.name: p for p in (sakai2005.PAPER, sakai2007.PAPER, sakai2009.PAPER, lipani2015.PAPER)}
"""By name, in the order they appeared."""


def find(name: str) -> Paper:
    """The paper of this name, or a UsageError that names the nearest one."""
    return PAPERS[one_of(name, PAPERS, "paper")]
