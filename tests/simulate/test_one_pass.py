"""One-pass SGD: closed expectations against points, the differential equations against simulation."""

from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.theory.narrow import _erf_committee as erf_committee
from giantstep.theory.narrow.evolution import overlaps_of
from giantstep.theory.narrow.one_pass_sgd import _sampled


def experiment(sigma="erf", formula="erf(x1) + 0.5*erf(x2)", d=300, noise=0.1):
    network = gs.Network(4, sigma, scale="1/p", second_layer="rademacher")
    return gs.Setting(gs.Gaussian(d), gs.target(formula, noise=noise), network, gs.Protocol((), None))


@pytest.mark.parametrize("scale", ["", "/sqrt(2)"])
def test_closed_expectations_are_means_over_points(scale):
    """Drift, spread and risk of an erf committee by formula and by quasi-Monte Carlo; a wrong argument of erf is seen."""
    setting = experiment(f"erf(x{scale})", f"erf(x1{scale}) + 0.5*erf(x2{scale})")
    Q, M, a = overlaps_of(setting, 0, "draw")
    closed, points = erf_committee.means(setting, a), _sampled(setting, a)
    assert closed is not None
    for x, y in zip(closed(Q + 0.3, M + 0.2), points(Q + 0.3, M + 0.2), strict=True):
        assert np.allclose(x, y, atol=0.012)
    other = erf_committee.means(experiment("erf", "erf(x1/sqrt(2)) + 0.5*erf(x2/sqrt(2))"), a)
    assert other is not None
    assert not np.allclose(other(Q + 0.3, M + 0.2)[0], points(Q + 0.3, M + 0.2)[0], atol=0.012)


def test_what_is_no_committee_is_sampled():
    for sigma, formula in (("relu", "erf(x1)"), ("erf", "x1")):
        assert erf_committee.means(experiment(sigma, formula), np.ones(4)) is None


@pytest.mark.parametrize("sigma, formula", [("erf", "erf(x1) + 0.5*erf(x2)"), ("relu", "x1 + x1*x2")])
def test_the_equations_follow_simulation(sigma, formula):
    """Risk and shares along the way, seed by seed; at d = 300 they fluctuate by about 1/sqrt(d)."""
    setting, seeds = experiment(sigma, formula), range(4)
    run: dict[str, Any] = dict(samples=6000, eta=4.0 / 300, records=7)
    found = gs.simulate.sgd(setting, seed=seeds, **run)
    paths = [gs.theory.sgd(setting, seed=seed, **run) for seed in seeds]
    risk, shares = np.stack([p.risk for p in paths]), np.stack([p.captured for p in paths])
    assert np.all(np.abs(found.risk - risk) < 0.12 * risk[:, :1])
    assert np.all(np.abs(np.mean(found.risk - risk, axis=0)) < 0.04 * risk[:, 0].mean())
    assert np.all(np.abs(found.captured - shares).mean(axis=0) < 0.05)
    assert np.all(risk[:, -1] < 0.5 * risk[:, 0])


def test_no_step_stays():
    path = gs.theory.sgd(experiment(), samples=100, eta=0.0, records=3, start="limit")
    assert np.allclose(path.Q[-1], np.eye(4)) and np.all(path.M == 0)


def test_refusals():
    with pytest.raises(gs.InputError, match="samples"):
        gs.theory.sgd(experiment(), samples=0, eta=0.1)
    with pytest.raises(gs.InputError, match="start"):
        gs.theory.sgd(experiment(), samples=10, eta=0.1, start="elsewhere")


@pytest.mark.parametrize("wrong", [[0, 0], [], -1, "3", [1.5]])
def test_seeds_are_checked_as_everywhere(small, wrong):
    with pytest.raises(gs.InputError, match="seed must be"):
        gs.simulate.sgd(small, 100, 0.1, wrong)
