"""Collections with known complete truth, to see how far estimates from a pool can be trusted.

    import unjudged as uj
    uj.simulate("adhoc", seed=1, out="sim")           # files like anybody's: qrels, runs, teams; and truth
    uj.simulate(scenario=9, seed=1, out="newcomers")  # one family of teams left out of a shallow pool
    uj.simulate("tiny", depth=5, leave_out="team02")  # any parameter can be changed
    uj.simulate(mechanism="latent", seed=1, out="other")  # made in another way, see `latent`

The judgments come from a pool of chosen depth and teams; the truth holds the grade of every document any run
retrieved, so every estimate can be compared with the true value. The presets reproduce statistics of real
collections (overlap of runs, unique documents, what a left-out team loses), but what holds in a simulation
need not hold in a real collection.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from unjudged.errors import UsageError
from unjudged.processes import context, end_with_parent, without_main
from unjudged.simulation import files
from unjudged.simulation.latent import Truth, draw_latent_runs, draw_latent_topic
from unjudged.simulation.model import Topic, draw_topic
from unjudged.simulation.presets import (
    LATENT_PRESETS,
    PRESETS,
    SCENARIOS,
    LatentParameters,
    Parameters,
    resolve,
    resolve_latent,
)
from unjudged.simulation.runs import Runs, draw_runs

__all__ = ["LATENT_PRESETS", "PRESETS", "SCENARIOS", "LatentParameters", "Parameters", "Simulation", "simulate"]

MECHANISMS = ("shared", "latent")
"""How scores come about: sums of terms that runs share, or features of documents in a latent space."""


@dataclass(frozen=True)
class Simulation:
    """A simulated collection.

    `runs` says who takes part and what was drawn for them, `results` holds one entry per topic with its
    documents, lists, true grades and judgments. `folder` is where the files are, if they were written.
    """

    parameters: Parameters | LatentParameters
    seed: int
    runs: Runs = field(repr=False)
    results: tuple[Topic, ...] = field(repr=False)
    folder: Path | None = None

    @cached_property
    def summary(self) -> dict[str, Any]:
        """True against observed: R, scores, order of the runs, gap of outside teams, rank of the best run."""
        from unjudged.simulation.summary import summarise

        return summarise(self.parameters, self.runs, self.results)

    @property
    def topics(self) -> tuple[str, ...]:
        """Topic ids."""
        return tuple(files.topic_name(t) for t in range(len(self.results)))

    @property
    def qrels(self) -> Path:
        """The file of the judgments a pool would have given."""
        return self._folder / files.QRELS

    @property
    def truth(self) -> Path:
        """The file of the complete judgments."""
        return self._folder / files.TRUTH

    @property
    def run_folder(self) -> Path:
        """The folder of the run files."""
        return self._folder / files.RUNS

    @property
    def teams(self) -> Path:
        """The file that names each run's team."""
        return self._folder / "teams.tsv"

    @property
    def _folder(self) -> Path:
        if self.folder is None:
            raise UsageError("this simulation was not written to files; give simulate() a folder as 'out'.")
        return self.folder

    def write(self, out: str | os.PathLike[str], *, force: bool = False) -> Simulation:
        """Write all files to the folder `out` and return this simulation with its `folder` set.

        The folder appears complete or not at all. A folder that holds other things is refused unless `force`.
        """
        ids = files.Ids(self.parameters.collection)
        with files.new_folder(Path(out), force) as work:
            files.write_runs(work / files.RUNS, self.runs, self.results, ids)
            files.write_qrels(work / files.QRELS, self.results, ids)
            files.write_truth(work / files.TRUTH, self.results, ids)
            files.write_tables(work, self.runs)
            files.write_about(work, self._about())
        written = replace(self, folder=Path(out))
        written.__dict__["summary"] = self.summary  # computed once
        return written

    def _about(self) -> dict[str, Any]:
        """What `simulation.json` says."""
        runs = self.runs
        return {
            "seed": self.seed,
            "parameters": self.parameters.as_dict(),
            "teams": [
                {
                    "team": name,
                    "family": runs.family_names[runs.family[j]],
                    "oddness": _round(runs.team_oddness[j]),
                    "style": _round(runs.style[j]),
                }
                for j, name in enumerate(runs.team_names)
            ],
            "runs": [
                {
                    "run": name,
                    "team": runs.team_names[runs.team[r]],
                    "pooled": bool(runs.pooled[r]),
                    "quality": _round(runs.quality[r]),
                    "oddness": _round(runs.run_oddness[r]),
                }
                for r, name in enumerate(runs.names)
            ],
            "topics": [
                {
                    "topic": name,
                    "ease": _round(topic.ease),
                    "agreement": _round(topic.agreement),
                    "relevant": topic.relevant,
                    "judged": len(topic.judged),
                    "judged_relevant": int(np.count_nonzero(topic.judgment > 0)),
                }
                for name, topic in zip(self.topics, self.results, strict=True)
            ],
            "summary": self.summary,
        }


def simulate(
    preset: str | None = None,
    *,
    scenario: int | str | None = None,
    mechanism: str = "shared",
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    force: bool = False,
    **parameters: object,
) -> Simulation:
    """Make a collection with known truth: topics, graded documents, teams with correlated runs, a pool.

    preset: `adhoc` (the default; deep pool, 120 runs of 40 teams, 50 topics), `passage` (shallow pool, three
    grades), `rounds` (very incomplete) or `tiny` (for tests and first steps).
    scenario: a numbered situation whose true answer is known, see `SCENARIOS`; instead of a preset.
    mechanism: how scores come about. `shared` (the default): sums of heavy-tailed terms that all runs, a family or a
    team share, and a lift for relevant documents. `latent`: documents are points of a space, relevance is nearness to
    the topic, a run weighs the features in its own way (presets `adhoc` and `tiny`). What holds under both is less
    likely to be an artefact of one.
    parameters: any field of `Parameters` (of `LatentParameters` for the mechanism latent) by name, for example
    `topics=150`, `depth=10`, `leave_out="team01"`.
    out: a folder for `qrels.txt`, `truth.txt`, `runs/`, `teams.tsv`, `pooled.tsv`, `families.tsv` and
    `simulation.json`; without it nothing is written. `force` allows a folder that holds other things.
    jobs: processes to work with; their number never changes a byte.

    The same seed gives the same runs and the same truth whatever is done to pool and judge, so that two pools
    can be compared in pairs; more topics leave the first ones as they were.
    """
    if mechanism not in MECHANISMS:
        raise UsageError(f"there is no mechanism '{mechanism}'; there are {' and '.join(MECHANISMS)}.")
    resolved = resolve_latent if mechanism == "latent" else resolve
    p: Parameters | LatentParameters = resolved(preset, scenario, parameters)
    if jobs < 1:
        raise UsageError(f"the number of jobs must be at least 1, not {jobs}.")
    if out is not None:
        files.check_folder(Path(out), force)
    if isinstance(p, LatentParameters):
        truth = Truth.draw(p, seed)
        runs, weights = draw_latent_runs(p, seed, truth)
        one = partial(draw_latent_topic, p, seed, truth, runs, weights)
    else:
        runs = draw_runs(p, seed)
        one = partial(draw_topic, p, seed, runs)
    with _workers(min(jobs, p.topics)) as mapped:
        simulation = Simulation(p, seed, runs, tuple(mapped(one, range(p.topics))))
    return simulation if out is None else simulation.write(out, force=force)


@contextmanager
def _workers(jobs: int) -> Iterator[Any]:
    """A `map` over this process or over several."""
    if jobs == 1:
        yield map
    else:
        with ProcessPoolExecutor(jobs, context("unjudged.simulation"), end_with_parent) as pool:

            def mapped(work: Callable[[int], Topic], topics: range) -> Iterator[Topic]:
                with without_main():
                    return pool.map(work, topics)

            yield mapped


def _round(value: Any) -> float:
    """Six decimals: what any platform agrees on."""
    return round(float(value), 6)
