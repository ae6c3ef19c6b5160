"""A small simulated collection for all tests of studies."""

from __future__ import annotations

import pytest

import unjudged as uj


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> uj.Collection:
    """12 runs of 5 teams, 10 topics, pool of depth 10."""
    made = uj.simulate("tiny", seed=1, out=tmp_path_factory.mktemp("sim") / "tiny")
    return uj.load(made.qrels, made.run_folder, teams=made.teams)
