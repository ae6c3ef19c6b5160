"""The trust report: how far can this collection be trusted? Every question answered by its study; computes nothing.

    uj.report(collection, "trust.html")         # one file, offline; returns a Report
    uj.report(collection).render("markdown")    # verdicts for a log
    uj.study("fair-to-outsiders", collection)   # one question alone, the same answer

(The package is not called `report`, because `uj.report` is the function.)
"""

from __future__ import annotations

from unjudged.reporting.report import Report, failing, report
from unjudged.reporting.sections import Asking, Cancelled, Section, Settings

__all__ = ["Asking", "Cancelled", "Report", "Section", "Settings", "failing", "report"]
