"""Generated examples are the same on every machine and every day; `HYPOTHESIS_PROFILE=explore` draws new ones."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

calm = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
settings.register_profile(
    "fixed", derandomize=True, database=None, deadline=None, print_blob=True, suppress_health_check=calm
)
settings.register_profile("explore", deadline=None, print_blob=True, suppress_health_check=calm)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
