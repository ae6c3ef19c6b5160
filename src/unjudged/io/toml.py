"""TOML of the user: a dict, or a sentence with the line."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from unjudged.errors import InputError


def parsed(text: str, source: str, what: str = "this is") -> dict[str, Any]:
    """The tables of a TOML file; `what` begins the sentence where it is none."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{what} not TOML: nested too deep", source) from None
    except ValueError as problem:  # of TOML, or a number of more than 4,300 digits
        at = re.search(r"\(at line (\d+)", str(problem))
        said = problem if isinstance(problem, tomllib.TOMLDecodeError) else "a number has too many digits"
        raise InputError(f"{what} not TOML: {said}", source, int(at[1]) if at else None) from None
