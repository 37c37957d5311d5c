"""The best step sizes and penalty of several steps: no neighbour is better, and what is refused."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import giantstep as gs


def experiment(eta: Any = 8.0, penalty=0.1, d=200, p=300, **network):
    return gs.Setting(
        gs.Gaussian(d),
        gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5),
        gs.Network(p, "tanh(x + 0.8)", **network),
        gs.Protocol((gs.GiantStep(600, eta),) * 2, gs.Ridge(600, penalty)),
    )


def moved(setting, factors):
    """The setting with its step sizes times these factors."""
    steps = tuple(replace(step, eta=step.eta * f) for step, f in zip(setting.protocol.steps, factors, strict=True))
    return replace(setting, protocol=replace(setting.protocol, steps=steps))


def test_no_neighbour_of_the_optimum_is_better():
    best = gs.optimal(experiment(second_layer="rademacher"), over="eta")
    assert isinstance(best.eta, tuple) and len(best.eta) == 2
    assert best.eta == tuple(step.eta for step in best.setting.protocol.steps)
    assert best.test_error == pytest.approx(gs.theory(best.setting).test_error)
    assert best.test_error < best.random_features
    if not best.status.ok:  # at an end of the range, where a neighbour outside may be better
        assert "an end of the range" in str(best.status)
        return
    near = [(1.3, 1), (1 / 1.3, 1), (1, 1.3), (1, 1 / 1.3)]
    around = [gs.theory(moved(best.setting, each)).test_error for each in near]
    assert min(around) > best.test_error * (1 - 1e-3)
    assert best.test_error_band is not None
    low, high = best.test_error_band
    assert low < best.test_error < high and f"eta = {best.eta[0]:.4g}, {best.eta[1]:.4g}" in str(best)


def test_the_penalty_alone():
    best = gs.optimal(experiment(), over="penalty")
    grid = np.geomspace(best.penalty / 4, 4 * best.penalty, 9)
    errors = gs.theory(experiment(penalty=grid.tolist())).test_error
    assert best.eta == pytest.approx((8.0, 8.0)) and int(np.argmin(errors)) == 4
    none = gs.theory(replace(experiment(penalty=grid.tolist()), protocol=gs.Protocol((), gs.Ridge(600, grid.tolist()))))
    assert best.random_features <= none.test_error.min() * (1 + 1e-3)


def test_symmetric_networks():
    best = gs.optimal(experiment(second_layer="rademacher", symmetric=True), over="penalty")
    assert best.test_error <= gs.theory(best.setting).test_error * (1 + 1e-6) < best.random_features


def test_refusals():
    with pytest.raises(gs.InputError, match="far below d"):
        gs.optimal(experiment(d=4000, p=300))
    with pytest.raises(gs.InputError, match="one eta"):
        gs.optimal(experiment(eta=[1.0, 2.0]), over="penalty")
    with pytest.raises(gs.InputError, match="a giant step"):
        gs.optimal(replace(experiment(), protocol=gs.Protocol((), gs.Ridge(600, 0.1))))
