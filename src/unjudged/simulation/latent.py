"""The latent mechanism: documents, topics and runs in a space of features.

A second way to make a collection with known truth, unlike the first in how scores come about (see `model`), so that
rules which hold under both are no artefact of one of them.

* A document is a point x of a space with `features` + `new_features` axes, a topic another point c. On every axis the
  document matches the topic the better the nearer it is: phi = -log(0.05 + (x - c)^2), scaled to mean 0, variance 1.
* Relevance is nearness: y = sqrt(1 - v) w*.phi + sqrt(v) Z, where w* (of length 1) says how much each axis counts,
  Z is normal noise, v the vague share. Each topic turns w* (`turn`) and has a v of its own (`ease`). The R documents
  with the largest y are relevant, the nearest with the highest grade; log R is normal over topics.
* A run's scores are linear in the features: s = w.phi + noise. Its weights w lie near those of its team, these near
  those of the team's family, these near w*: log w = log w* + far_family Z + far E Z + far_run Z, with E exponential, so
  that most teams are near the truth and a few far away; each topic turns a team's weights, too (`turn_team`). Noise has
  a part that a team's runs share. A weak run has the weights of chance and twice the noise.
* Most runs hardly look at the new features; a family of a new kind (`new_kind`) does, and finds other relevant
  documents than the rest.

Agreement of runs on nonrelevant documents follows by itself: they look at the same features, and relevance is more
than features tell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unjudged.simulation.model import Identities, Topic, finished, grade_limits, number_relevant
from unjudged.simulation.presets import LatentParameters
from unjudged.simulation.runs import Runs, line_up
from unjudged.simulation.streams import Floats, Purpose, Stream

NEAR = 0.05  # no two points are nearer than that, squared: it bounds how well one axis can match
MEAN, SD = -0.582, 1.403  # of log(NEAR + d * d), d normal with variance 1 + TOPIC_SPREAD^2: what scales phi
TOPIC_SPREAD = 0.5  # sd of a topic's point
SPREAD = 0.5  # of the true weights between features


@dataclass(frozen=True)
class Truth:
    """How much every feature counts for relevance (log weights), ordinary features first."""

    log_weights: Floats

    @classmethod
    def draw(cls, p: LatentParameters, seed: int) -> Truth:
        """Of a collection."""
        return cls(SPREAD * Stream(seed, Purpose.LATENT_TRUTH).normals(p.features + p.new_features))


def _weights(log_weights: Floats, features: int, new: float) -> Floats:
    """Weights of length 1, the share `new` of their square in the new features."""
    out = np.exp(log_weights)
    out[:features] *= np.sqrt((1 - new) / np.sum(out[:features] ** 2))
    out[features:] *= np.sqrt(new / np.sum(out[features:] ** 2))
    return out


def draw_latent_runs(p: LatentParameters, seed: int, truth: Truth) -> tuple[Runs, Floats]:
    """The runs, and the logs of their weights of the features (runs x features).

    `quality` is the cosine of a run's weights and the true ones, `team_oddness` and `run_oddness` scale the noise,
    `style` is the share of the team's score in the new features.
    """
    line = line_up(p, seed)
    n = p.features + p.new_features
    families = [p.far_family * Stream(seed, Purpose.LATENT_FAMILY, team=h).normals(n) for h in range(len(p.families))]
    new = np.resize(np.array(p.new_kind), len(p.families))[line.family]
    away, oddness = np.empty((p.teams, n)), np.empty(p.teams)
    for j in range(p.teams):
        stream = Stream(seed, Purpose.LATENT_TEAM, team=j)
        distance = p.far * stream.exponentials(1)[0]
        drawn = stream.normals(n + 1)
        away[j] = families[int(line.family[j])] + distance * drawn[:n]
        oddness[j] = np.exp(p.odd * drawn[n] - p.odd**2 / 2)
    right = _weights(truth.log_weights, p.features, p.new_truth)
    weights, run_oddness, quality = np.empty((len(line.names), n)), np.ones(len(line.names)), np.empty(len(line.names))
    for r, (j, number) in enumerate(line.which):
        stream = Stream(seed, Purpose.LATENT_RUN, team=j, run=number)
        chance = stream.uniforms(1)[0]
        drawn = stream.normals(n)
        weights[r] = truth.log_weights + away[j] + p.far_run * drawn
        if chance < p.weak:
            weights[r], run_oddness[r] = 2.0 * drawn, 2.0
        quality[r] = _weights(weights[r], p.features, float(new[j])) @ right
    runs = Runs(**vars(line), quality=quality, team_oddness=oddness, run_oddness=run_oddness, style=new, favours=())
    return runs, weights


def draw_latent_topic(p: LatentParameters, seed: int, truth: Truth, runs: Runs, weights: Floats, t: int) -> Topic:
    """Topic t (from 0): its point, its documents, every run's list, the pool and the judgments."""
    n = p.features + p.new_features
    drawn = Stream(seed, Purpose.LATENT_TOPIC, topic=t).normals(2 + 2 * n)
    relevant = number_relevant(p, float(drawn[0]))
    odds = p.vague / max(1 - p.vague, 1e-9) * np.exp(p.ease * drawn[1])
    vague = float(odds / (1 + odds))
    centre, turned = TOPIC_SPREAD * drawn[2 : 2 + n], p.turn * drawn[2 + n :]
    right = _weights(truth.log_weights + turned, p.features, p.new_truth)

    match = Stream(seed, Purpose.LATENT_FEATURES, topic=t).normals(p.C * n).reshape(n, p.C)
    match -= centre[:, None]
    match *= match
    match += NEAR
    np.log(match, out=match)
    match -= MEAN
    match *= -1 / SD
    nearness = np.sqrt(1 - vague) * (right @ match)
    nearness += np.sqrt(vague) * Stream(seed, Purpose.LATENT_RELEVANCE, topic=t).normals(p.C)

    ids = Identities.draw(p, seed, t)
    grade = np.zeros(p.C, dtype=np.int8)
    nearest, _ = ids.best(nearness, relevant)
    quantile = 1 - (np.arange(relevant) + 0.5) / relevant  # the nearest last in the order of grades
    grade[nearest] = 1 + np.searchsorted(grade_limits(p), quantile, side="right")

    lists = np.empty((len(runs.names), p.K), dtype=np.int32)
    listed = np.empty((len(runs.names), p.K), dtype=np.int64)
    for j in range(p.teams):
        shared = (
            p.own_team * runs.team_oddness[j] * Stream(seed, Purpose.LATENT_TEAM_NOISE, topic=t, team=j).normals(p.C)
        )
        turned = p.turn_team * Stream(seed, Purpose.LATENT_TEAM_TOPIC, topic=t, team=j).normals(n)
        for r in np.flatnonzero(runs.team == j):
            here = _weights(weights[r] + turned, p.features, float(runs.style[j]))
            own = Stream(seed, Purpose.LATENT_RUN_NOISE, topic=t, team=j, run=int(runs.number[r])).normals(p.C)
            own *= p.own_run * runs.team_oddness[j]
            own += shared
            own *= runs.run_oddness[r]
            own += here @ match
            lists[r], listed[r] = ids.best(own, p.K)
    return finished(p, seed, runs, t, ids, grade, lists, listed, None, ease=-float(drawn[1]), agreement=1 - vague)
