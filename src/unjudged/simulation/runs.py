"""Who takes part: runs fall to teams, teams to families; each has its quality, oddness and style."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unjudged.errors import UsageError
from unjudged.simulation.presets import Parameters, Sizes
from unjudged.simulation.streams import Floats, Ints, Purpose, Stream


@dataclass(frozen=True)
class Runs:
    """Who takes part: the runs, their teams and families, and what was drawn for them."""

    names: tuple[str, ...]
    team: Ints  # team of each run
    number: Ints  # which run of its team, from 0
    team_names: tuple[str, ...]
    family: Ints  # family of each team
    family_names: tuple[str, ...]
    quality: Floats  # per run
    team_oddness: Floats
    run_oddness: Floats
    style: Floats  # per team
    pooled: NDArray[np.bool_]  # per run
    favours: tuple[tuple[int, float], ...]  # families a judge favours


@dataclass(frozen=True)
class Line:
    """Who takes part, before anything is drawn for them: teams with their runs and families, and who is pooled."""

    names: tuple[str, ...]
    team: Ints
    number: Ints
    team_names: tuple[str, ...]
    family: Ints
    family_names: tuple[str, ...]
    pooled: NDArray[np.bool_]

    @property
    def which(self) -> list[tuple[int, int]]:
        """(team, number in the team) of each run."""
        return list(zip(self.team.tolist(), self.number.tolist(), strict=True))


def line_up(p: Sizes, seed: int, extra: int = 0) -> Line:
    """Runs fall to teams, teams to families; `extra` judgments are made beside the pool."""
    counts = np.ones(p.teams, dtype=np.int64)
    fall = Stream(seed, Purpose.ASSIGN_RUNS).uniforms(p.runs - p.teams)
    np.add.at(counts, np.floor(fall * p.teams).astype(np.int64), 1)
    team_names = _numbered("team", p.teams, 2)
    family_names = _numbered("family", len(p.families), 1)
    for j, (more,) in _options(p.big, "big", team_names, 1):
        if more < 0 or more != int(more):
            raise UsageError(f"option 'big' needs a whole number of runs, not {more:g}.")
        counts[j] += int(more)

    family = np.empty(p.teams, dtype=np.int64)
    family[Stream(seed, Purpose.ASSIGN_FAMILIES).permutation(p.teams)] = np.repeat(
        np.arange(len(p.families)), _share_out(p.teams, p.families)
    )
    team = np.repeat(np.arange(p.teams), counts)
    number = np.concatenate([np.arange(n) for n in counts])
    out = _left_out(p.leave_out, team_names, family, family_names)
    pooled = ~out[team] & (number < (np.inf if p.pool_per_team is None else p.pool_per_team))
    if not pooled.any() and not extra:
        raise UsageError("no run is pooled, so nothing would be judged; leave out fewer teams.")
    names = tuple(f"{team_names[j]}-{n + 1}" for j, n in zip(team.tolist(), number.tolist(), strict=True))
    return Line(names, team, number, team_names, family, family_names, pooled)


def draw_runs(p: Parameters, seed: int) -> Runs:
    """The runs of a collection: assigned to teams and families, with quality, oddness and style."""
    line = line_up(p, seed, p.extra)
    drawn = [Stream(seed, Purpose.TEAM, team=j) for j in range(p.teams)]
    team_quality = np.array([p.q_team * (1.0 - s.exponentials(1)[0]) for s in drawn])
    oddness, style = np.array([s.normals(2) for s in drawn]).T
    famq = np.resize(np.array(p.famq), len(p.families))
    team_quality += famq[line.family]
    team_oddness = np.exp(p.odd * oddness - p.odd**2 / 2)
    team_style = np.exp(p.style * style - p.style**2 / 2)
    for j, (quality, kappa) in _options(p.star, "star", line.team_names, 2):
        if kappa < 0:
            raise UsageError(f"option 'star' needs an oddness that is not negative, not {kappa:g}.")
        team_quality[j], team_oddness[j] = quality, kappa

    own = np.array([Stream(seed, Purpose.RUN, team=j, run=n).normals(2) for j, n in line.which])
    favours = tuple((h, chance) for h, (chance,) in _options(p.favour, "favour", line.family_names, 1))
    if any(not 0 <= chance <= 1 for _, chance in favours):
        raise UsageError(f"option 'favour' needs a probability between 0 and 1, not '{' '.join(p.favour)}'.")
    return Runs(
        **vars(line),
        quality=team_quality[line.team] + p.q_run * own[:, 0],
        team_oddness=team_oddness,
        run_oddness=np.exp(p.odd * own[:, 1] - p.odd**2 / 2),
        style=team_style,
        favours=favours,
    )


def _numbered(word: str, n: int, digits: int) -> tuple[str, ...]:
    digits = max(digits, len(str(n)))
    return tuple(f"{word}{i:0{digits}d}" for i in range(1, n + 1))


def _share_out(n: int, shares: tuple[float, ...]) -> Ints:
    """n split by shares, the largest remainders rounded up."""
    exact = np.array(shares) / sum(shares) * n
    counts = np.floor(exact + 1e-9).astype(np.int64)
    order = np.argsort(-(exact - counts), kind="stable")
    counts[order[: n - int(counts.sum())]] += 1
    return counts


def _options(texts: Iterable[str], option: str, names: tuple[str, ...], numbers: int) -> list[tuple[int, list[float]]]:
    """`NAME:number[:number]` texts as (index of NAME, numbers)."""
    out = []
    for text in texts:
        name, *values = text.split(":")
        try:
            found = [float(v) for v in values]
        except ValueError:
            found = []
        if len(found) != numbers:
            example = names[0] + ":1" * numbers
            raise UsageError(f"option '{option}' is written NAME{':NUMBER' * numbers}, like {example}, not '{text}'.")
        out.append((_index(name, names), found))
    return out


def _index(name: str, names: tuple[str, ...]) -> int:
    if name not in names:
        raise UsageError(f"there is no '{name}' in this collection; there are {names[0]} to {names[-1]}.")
    return names.index(name)


def _left_out(
    wanted: tuple[str, ...], team_names: tuple[str, ...], family: Ints, family_names: tuple[str, ...]
) -> NDArray[np.bool_]:
    """Which teams are kept out of the pool."""
    out = np.zeros(len(team_names), dtype=bool)
    for name in wanted:
        if name in family_names:
            out |= family == family_names.index(name)
        elif name in team_names:
            out[team_names.index(name)] = True
        else:
            raise UsageError(
                f"nothing to leave out by the name '{name}': teams are {team_names[0]} to {team_names[-1]}, "
                f"families {family_names[0]} to {family_names[-1]}."
            )
    return out
