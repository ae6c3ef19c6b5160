"""What is said of runs whose topics or documents do not fit the judgments: in these words, whoever has read them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

NONE_JUDGED = "no retrieved document is judged; 'unjudged check' tells whether the ids are those of the judgments"


def outside(topics: int, example: str, at_least: bool = False) -> str:
    """Topics that are not among the judgments."""
    many = f"{'at least ' * at_least}{topics} topic{'s' * (topics > 1)}"
    return f"{many} outside the judgments ignored (e.g. {example})"


def not_answered(topics: int, example: str) -> str:
    """Judged topics that a run leaves out."""
    return f"{topics} judged topic{'s' * (topics > 1)} not answered (e.g. {example})"


def told_once(noticed: Iterable[tuple[str, str]]) -> list[str]:
    """(source, note) -> notes with their source; a note that several runs share is told once."""
    told: dict[str, list[str]] = {}
    for source, note in noticed:
        told.setdefault(note, []).append(source)
    shared = sorted((min(sources), len(sources), note) for note, sources in told.items())
    return [f"{first}: {note}" if many == 1 else f"{many} runs ({first}, ...): {note}" for first, many, note in shared]
