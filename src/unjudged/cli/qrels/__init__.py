"""Change judgments and write them as TREC text, in the order of the input."""

from __future__ import annotations

HELP = "write reduced or changed judgments"

PARTS = ("reduce", "leave-out", "take", "shallow")
