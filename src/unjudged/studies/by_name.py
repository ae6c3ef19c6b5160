"""Studies as functions of their own: `uj.power(c, "AP,Q")` is `uj.study("power", c, measures="AP,Q")`.

They stand in a module of their own because the package `unjudged.studies` has modules of the same names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from unjudged.results import Result
from unjudged.studies import find, study


def _under_its_own_name(name: str) -> Callable[..., Result]:
    def call(source: Any, measures: Any = None, **options: Any) -> Result:
        given = {} if measures is None else {"measures": measures}
        return study(name, source, **given, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""{inspect.cleandoc(find(name).function.__doc__ or "")}

This is `uj.study({name!r}, source, measures=measures, ...)`. `source` is a Collection, Scores where no judgments are
needed, or several of them by name. An option is written `alpha=0.01` here and `--alpha 0.01` on the command line
(`unjudged study {name} --help` lists them).
"""
    return call


agreement = _under_its_own_name("agreement")
contributions = _under_its_own_name("contributions")
compare = _under_its_own_name("compare")
estimate = _under_its_own_name("estimate")
power = _under_its_own_name("power")
swap = _under_its_own_name("swap")
ranks = _under_its_own_name("ranks")
stability = _under_its_own_name("stability")
reliability = _under_its_own_name("reliability")


def gate(collection: Any, run: str, baseline: str, measures: Any = None, **options: Any) -> Result:
    """May `run` replace `baseline`? pass, fail or cannot tell for each measure: `uj.study("gate", collection, ...)`.

    `margin` is the smallest difference that matters, `holes` the share of a top list that may be unjudged; the other
    options are those of `unjudged study gate --help`.
    """
    given = {} if measures is None else {"measures": measures}
    return study("gate", collection, run=run, baseline=baseline, **given, **options)


def correct(source: Any, new: Any = None, wanted: Any = "P@10", *, validate: bool = True, **options: Any) -> Result:
    """Correct the scores of runs that were not pooled: `uj.correct(c, "new.run", "P@10")`.

    `new` is a run (a file, a dict, a data frame, or the name of a run of the collection), or a list of them; without
    it every run that was not pooled is corrected. `wanted` are the measures. `validate=False` saves the trial on the
    pool; the other options are those of `uj.study("correct", ...)` (`unjudged correct --help`).
    """
    return study("correct", source, new=new, measures=wanted, no_trial=not validate, **options)


def audit(collection: Any, others: Any, measures: Any = None, **options: Any) -> Result:
    """What other judges would change: `uj.audit(c, ["gpt.txt", "llama.txt"], "nDCG@10", rel=2)`.

    `others` are judgments of the same topics by a machine, a crowd or another assessor: a file, a dict, a data frame or
    a collection, a list of them, or {name: one of these}. This is `uj.study("judges", collection, second=others, ...)`;
    the options are those of `unjudged judges audit --help`.
    """
    given = {} if measures is None else {"measures": measures}
    return study("judges", collection, second=others, **given, **options)


def corrected(collection: Any, machine: Any, measures: Any = None, **options: Any) -> Result:
    """Scores from few human judgments and many of a machine: `uj.corrected(c, "gpt.txt", "nDCG@10", rel=2)`.

    The collection holds the human judgments, of some topics or of a sample of documents (`sampled`, the file that
    `unjudged judges sample` wrote); `machine` is a file, a dict, a data frame or a collection. This is
    `uj.study("corrected", collection, machine=machine, ...)`; the options are those of `unjudged judges estimate`.
    """
    given = {} if measures is None else {"measures": measures}
    return study("corrected", collection, machine=machine, **given, **options)
