"""Change judgments and write them as TREC text, in the order of the input."""

from __future__ import annotations

HELP = "write reduced, changed or merged judgments; agreement of judges"

PARTS = ("reduce", "leave-out", "take", "shallow", "noise", "merge", "agree")
