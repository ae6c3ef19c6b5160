"""Tied documents: the mean of a measure over all their orders, and how far they can move a score.

`--ties expected` takes documents of equal score to stand in a uniformly random order. `expected` gives the mean of
a measure over all orders, exactly, with the measure's own definition evaluated on

* `Spread` (spread.py): every tied document at every rank of its group, for sums over documents and pairs of them;
* `States` (states.py): the same with the numbers of documents above, for sums of any function of these;
* `Scenarios` (scenarios.py): lists with their chance, as far as the measure looks at a list; where nothing else is
  known and they are few, all distinct orders.

After McSherry and Najork, Computing information retrieval performance measures efficiently in the presence of
tied scores, ECIR 2008. `docs/ties.md` says which measure goes which way.
"""

from unjudged.measures.ties.averaging import expected
from unjudged.measures.ties.effect import TieEffect, monotone, tie_effect

__all__ = ["TieEffect", "expected", "monotone", "tie_effect"]
