"""The claims on adversarial steps: the control variates have the means that are used, and tiny live runs."""

import numpy as np
import pytest

from giantstep.checks.verdict import rule
from giantstep.claims import select
from giantstep_papers.bubeck import failure, flips, linearity, random_networks, rate, width
from giantstep_papers.giantstep import flip_distance, ray_law


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setitem(failure.SIZES, "quick", ((12, 24), (6, 36)))
    monkeypatch.setitem(flips.DIMENSIONS, "quick", 12)
    monkeypatch.setitem(rate.SIZES, "quick", (8, 16))
    monkeypatch.setitem(linearity.SIZES, "quick", ((6, 12, 24), (0.5, 2.0)))
    monkeypatch.setitem(width.SIZES, "quick", (4, 6))
    monkeypatch.setitem(ray_law.DIMENSIONS, "quick", 12)
    monkeypatch.setattr(linearity, "FAR", (100, 1000))
    monkeypatch.setitem(flip_distance.DIMENSIONS, "quick", 12)


@pytest.mark.parametrize(
    "claim", select(["bubeck", "giantstep/flip-distance", "giantstep/ray-law"]), ids=lambda claim: claim.name
)
def test_a_claim_runs(claim, tiny):
    verdict = rule(claim, "quick", claim.measure("quick", range(7)), claim.predict("quick"))
    assert verdict.sentence and verdict.rows and "<svg" in verdict.figure and verdict.power


@pytest.mark.parametrize("name", ["relu", "tanh"])
def test_the_law_of_the_output(name):
    rng = np.random.default_rng(0)
    p = 40
    z, a = rng.standard_normal((2, 40000, p))
    values = np.maximum(z, 0) if name == "relu" else np.tanh(z)
    output = np.abs(np.sum(np.sign(a) * values, axis=1)) / p**0.5
    assert np.median(output) == pytest.approx(random_networks.median_output(name, p), rel=0.02)
    etas = np.array([0.5, 1.0, 2.0])
    level = etas * random_networks._constants(name)[1]
    found = np.mean(output[:, None] <= level, axis=0)
    assert found == pytest.approx(random_networks.linear_flips(name, p, etas), abs=0.01)


def test_more_networks_of_a_seed_are_averaged():
    names = ("relu", "tanh")
    alone, both = (random_networks.changes(6, 8, names, 5, networks, 3) for networks in (1, 2))
    _, second = random_networks.rays(6, 8, names, 2, 3, 5)
    moves = random_networks.generator(3, random_networks.Stream.STEP).standard_normal((2, 5, 6))[1]
    own = [np.mean(random_networks.turned(one, moves), axis=0) for one in second]
    np.testing.assert_allclose(both, (alone + own) / 2)
