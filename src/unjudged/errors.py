"""Every exception and warning of the package.

    UnjudgedError                 something this package refuses to do; its text is one sentence for the user
    ├── UsageError                the call is wrong: an unknown option or name, options that do not go together
    │   └── MeasureError          a measure or parameter is unknown or misspelt
    └── InputError                a file or object cannot be used; it knows the file and the line
    UnjudgedWarning               the result is valid, but there is something to know about it
    └── DataWarning               something in the data was skipped or repaired

The command line prints the sentence of an UnjudgedError and ends with exit code 2.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType


class UnjudgedError(Exception):
    """Something this package refuses to do; the text is one sentence for the user."""


class UsageError(UnjudgedError):
    """The call is wrong: an unknown name, a value out of range, options that exclude each other."""


class MeasureError(UsageError):
    """A measure or parameter that is unknown, misspelt, or not possible here."""


class InputError(UnjudgedError):
    """A file or object that cannot be used; `source` and `line` say where."""

    def __init__(self, message: str, source: str | None = None, line: int | None = None) -> None:
        self.source: str | None = source
        self.line: int | None = line
        where = "" if source is None else f"{source}: " if line is None else f"{source}:{line}: "
        super().__init__(where + message)


class UnjudgedWarning(UserWarning):
    """The result is valid, but there is something to know about it."""


class DataWarning(UnjudgedWarning):
    """Something in the data was skipped or repaired."""


def as_utf8(text: str) -> str:
    """The text as valid UTF-8: bytes that are not UTF-8 are shown escaped (\\xff)."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a lone surrogate, which stands for no byte
        return text.encode("utf-8", "backslashreplace").decode()


def one_line(text: str, limit: int = 600) -> str:
    """The text on one line, safe for a terminal: control characters are escaped, long texts are cut in the middle."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in as_utf8(text))
    return text if len(text) <= limit else f"{text[: limit // 2]} ... {text[-limit // 2 :]}"


def check_seed(seed: int) -> None:
    """A UsageError for a seed that no random generator accepts."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or seed < 0:
        raise UsageError(f"a seed is a whole number of 0 or more, not {seed}")


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean X?)` with the closest known word, or an empty text where none is close."""
    import difflib  # only for a wrong word

    folded: dict[str, str] = {}
    for k in known:
        folded.setdefault(k.casefold(), k)
    longer = [k for k in folded if len(word) > 2 and k.startswith(word.casefold())]
    close = longer or difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.5)
    return f" (did you mean {folded[close[0]]}?)" if close else ""


def one_of(given: str, known: Iterable[str], what: str) -> str:
    """What was given, if it is known; else a UsageError that names the nearest one and all there are."""
    there = list(known)
    if given not in there:
        raise UsageError(f"unknown {what} {given!r}{nearest(given, there)}; there are {', '.join(there)}")
    return given


def some(known: Sequence[str], most: int = 10) -> str:
    """`a, b, c and 5 more`: the first of the known names."""
    more = len(known) - most
    return ", ".join(known[:most]) + (f" and {more} more" if more > 0 else "")


class as_usage_errors:
    """What the statistics refuse (ValueError), as the sentence it is."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        if isinstance(problem, ValueError):
            raise UsageError(str(problem)) from None
