"""Is the difference real? Runs against runs, and measures against measures, on scores per topic."""
