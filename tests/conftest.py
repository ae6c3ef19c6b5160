"""Generated examples are the same on every machine and every day; `HYPOTHESIS_PROFILE=explore` draws new ones."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import unjudged as uj
from unjudged.measures import ALIASES, REGISTRY
from unjudged.studies.engine import execution

calm = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
settings.register_profile(
    "fixed", derandomize=True, database=None, deadline=None, print_blob=True, suppress_health_check=calm
)
settings.register_profile("explore", deadline=None, print_blob=True, suppress_health_check=calm)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

execution._WORTH_PROCESSES = math.inf  # on a busy machine, studies would start processes that know nothing of a test


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests on generated examples and on real collections are slow; others say so themselves (`@pytest.mark.slow`)."""
    real = ("dl19", "robust03", "trec2-adhoc", "trec_2", "test_real", "_real_", "table_1", "published")
    for item in items:
        generated = getattr(getattr(item, "function", None), "is_hypothesis_test", False)
        if generated or any(name in item.nodeid.rpartition("/")[2] for name in real):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def own_measures_go() -> Iterator[None]:
    """What a test registers is gone after it: others look at all measures there are."""
    tables: tuple[dict[str, Any], ...] = (REGISTRY, ALIASES)
    before = [dict(table) for table in tables]
    yield
    for now, then in zip(tables, before, strict=True):
        now.clear()
        now.update(then)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium of the system; without one these tests are skipped, or fail where they are required."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        why = "no chromium on this system (UNJUDGED_REQUIRE_BROWSER=1 makes this a failure)"
        (pytest.fail if os.environ.get("UNJUDGED_REQUIRE_BROWSER") == "1" else pytest.skip)(why)
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=flags, timeout=180_000)
        yield started
        started.close()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> uj.Collection:
    """A small simulated collection: 12 runs of 5 teams, 10 topics, pool of depth 10."""
    made = uj.simulate("tiny", seed=1, out=tmp_path_factory.mktemp("sim") / "tiny")
    return uj.load(made.qrels, made.run_folder, teams=made.teams)
