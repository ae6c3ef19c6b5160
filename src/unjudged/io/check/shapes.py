"""Run lines shaped unlike the others of their file: a blank inside an id shifts every field behind it."""

from __future__ import annotations

from unjudged.io.check.findings import Tally, quoted

Shape = tuple[int, bool, bool]
"""How many fields, is the rank a whole number, is the tag a number?"""


def _is_number(field: bytes) -> bool:
    return field.removeprefix(b"-").replace(b".", b"", 1).isdigit()


class Shapes:
    """The shapes of a file's lines: how many lines have each, and the first of them."""

    def __init__(self) -> None:
        self.found: dict[Shape, list[int]] = {}
        self.first: dict[Shape, bytes] = {}

    def see(self, number: int, line: bytes, fields: list[bytes]) -> None:
        """One more line of six fields or more."""
        shape = len(fields), fields[3].isdigit(), _is_number(fields[5])
        if counted := self.found.get(shape):
            counted[1] += 1
        else:
            self.found[shape], self.first[shape] = [number, 1], line

    def note_shifted(self, tally: Tally) -> None:
        """Lines with more fields than most, whose rank is no number or whose tag is one, unlike those of most lines."""
        if not self.found:
            return
        usual = max(self.found, key=lambda shape: self.found[shape][1])
        for shape, (number, count) in self.found.items():
            if shape[0] > usual[0] and (shape[1] < usual[1] or shape[2] > usual[2]):
                tally.note("UJ120", number, count, quoted(self.first[shape]))
