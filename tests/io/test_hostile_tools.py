"""Files of neighbouring tools with something wrong in them: one sentence and exit 2, or an answer."""

from __future__ import annotations
