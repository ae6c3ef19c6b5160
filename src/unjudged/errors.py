"""Every exception and warning of the package.

    UnjudgedError                 anything this package refuses, with one sentence for the user
    ├── UsageError                the call is wrong: unknown option, name, combination
    │   └── MeasureError          unknown or misspelt measure or parameter
    └── InputError                a file or object cannot be used; carries file and line
    UnjudgedWarning               the result stands, but the reader should know
    └── DataWarning               something in the data was passed over or repaired

The command line turns an UnjudgedError into its sentence and exit code 2.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence


class UnjudgedError(Exception):
    """Something this package refuses to do; the text is one sentence for the user."""


class UsageError(UnjudgedError):
    """The call is wrong: an unknown name, a value out of range, options that exclude each other."""


class MeasureError(UsageError):
    """A measure or parameter that does not exist or does not fit."""


class InputError(UnjudgedError):
    """A file or object that cannot be used; `source` and `line` say where."""

    def __init__(self, message: str, source: str | None = None, line: int | None = None) -> None:
        self.source: str | None = source
        self.line: int | None = line
        where = "" if source is None else f"{source}: " if line is None else f"{source}:{line}: "
        super().__init__(where + message)


class UnjudgedWarning(UserWarning):
    """The result stands, but the reader should know."""


class DataWarning(UnjudgedWarning):
    """Something in the data was passed over or repaired."""


def as_utf8(text: str) -> str:
    """The text where only UTF-8 will do: bytes of names that are none are shown escaped (\\xff)."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half a character that stands for no byte
        return text.encode("utf-8", "backslashreplace").decode()


def one_line(text: str, limit: int = 600) -> str:
    """A sentence fit for a terminal: names with newlines, escapes or odd bytes are shown escaped, endless ones cut."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in as_utf8(text))
    return text if len(text) <= limit else f"{text[: limit // 2]} ... {text[-limit // 2 :]}"


def check_seed(seed: int) -> None:
    """A sentence for a seed no generator takes."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or seed < 0:
        raise UsageError(f"a seed is a whole number of 0 or more, not {seed}")


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean X?)` for the closest known word, or nothing."""
    import difflib  # only for a wrong word

    folded: dict[str, str] = {}
    for k in known:
        folded.setdefault(k.casefold(), k)
    close = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.5)
    return f" (did you mean {folded[close[0]]}?)" if close else ""


def some(known: Sequence[str], most: int = 10) -> str:
    """`a, b, c and 5 more`: the first of the known names."""
    more = len(known) - most
    return ", ".join(known[:most]) + (f" and {more} more" if more > 0 else "")


@contextlib.contextmanager
def as_usage_errors() -> Iterator[None]:
    """What the statistics refuse (ValueError), as the sentence it is."""
    try:
        yield
    except ValueError as problem:
        raise UsageError(str(problem)) from None
