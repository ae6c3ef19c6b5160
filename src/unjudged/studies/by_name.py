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
power = _under_its_own_name("power")
swap = _under_its_own_name("swap")
stability = _under_its_own_name("stability")
reliability = _under_its_own_name("reliability")
