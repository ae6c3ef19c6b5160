"""Studies as functions of their own: `uj.power(c, "AP,Q")` is `uj.study("power", c, measures="AP,Q")`.

They stand in a module of their own because the package `unjudged.studies` has modules of the same names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unjudged.results import Result
from unjudged.studies import study


def _under_its_own_name(name: str) -> Callable[..., Result]:
    def call(source: Any, measures: Any = None, **options: Any) -> Result:
        given = {} if measures is None else {"measures": measures}
        return study(name, source, **given, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"""The study {name} under its own name: `uj.study({name!r}, source, measures=measures, ...)`.

    `source` is a Collection, Scores where no judgments are needed, or several by name; the other options are those of
    `unjudged study {name} --help`.
    """
    return call


agreement = _under_its_own_name("agreement")
power = _under_its_own_name("power")
swap = _under_its_own_name("swap")
stability = _under_its_own_name("stability")
reliability = _under_its_own_name("reliability")
