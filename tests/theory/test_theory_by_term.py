"""Shares of terms in the fit: random features by degree, the span of two functions, the law of simulated rows, and refusals."""

from dataclasses import replace

import numpy as np
import pytest

import giantstep as gs
from giantstep.functions.hermite import gauss_hermite
from giantstep.simulate import train
from giantstep.theory.limits import by_degree, by_term
from giantstep.theory.limits._grouped_rows import grouped_rows

SIGMA = "tanh(x+0.8)"


def network(target, d, n, p, steps, penalty=(1e-2, 1.0), **more):
    return gs.Setting(
        gs.Gaussian(d), gs.target(target), gs.Network(p, SIGMA, scale="1/p", **more), gs.Protocol(steps, gs.Ridge(n, penalty))
    )  # fmt: skip


def test_without_a_step_it_is_the_risk_by_degree():
    setting = network("x1 + H2(x1)/sqrt(2) + H3(x1)/sqrt(6)", 3000, 10**7, 10**6, ())
    np.testing.assert_allclose(by_term.fitted(setting).risk, by_degree.test_error(setting), rtol=2e-3)


def test_signs_fit_the_span_of_two_functions():
    """With a = +-1 and endless neurons, p << d: the fit is that of E sigma(u kappa + b z) and E sigma(-u kappa + b z)."""
    step = gs.GiantStep(10**18, 2.0)
    setting = network("x1 + H3(x1)/sqrt(6)", 10**12, 2, 2, (step,), (1e-9,), second_layer="rademacher")
    found = by_term.fitted(setting, n=1e40, d=10**18, p=1e8)
    rows = grouped_rows(setting)
    (kappa, w), (z, v) = gauss_hermite(60), gauss_hermite(60)
    sigma = setting.network.activation
    few = [0, -1]  # one group of each sign: the others started elsewhere by 1e-6
    g = np.stack([np.asarray(sigma(rows.u[0, k] * kappa[:, None] + rows.b[k] * z)) @ v for k in few])
    f = kappa + (kappa**3 - 3 * kappa) / 6**0.5
    root = np.sqrt(w)
    fit = np.linalg.lstsq((g * root).T, f * root, rcond=None)[0] @ g
    assert found.risk[0] == pytest.approx(w @ (f - fit) ** 2, rel=1e-3)
    h3 = (kappa**3 - 3 * kappa) / 6**0.5
    assert found.shares[found.terms.index((3,)), 0] == pytest.approx(w @ (fit * h3), abs=1e-3)


def test_the_law_of_single_neurons_is_that_of_trained_ones():
    """One step, and a long one on labels without their linear part before it."""
    target = "x1 + H2(x2)/sqrt(2) + H2(x1)*x2/sqrt(2)"
    long, plain = gs.GiantStep(14_400, 400 * 30**0.5, deflate=2), gs.GiantStep(9600, 400.0)
    for d, steps in ((150, (plain,)), (30, (long, plain))):
        setting = network(target, d, 2, 400, steps)
        W, rows = np.stack([np.asarray(train(setting, seed).final) for seed in range(4)]), grouped_rows(setting)
        own = rows.u**2 @ rows.omega
        assert np.mean(W[..., 0] ** 2) == pytest.approx(own[0] + 1 / d, rel=0.25)
        assert np.mean(W[..., 1] ** 2) == pytest.approx(max(own[1], 1 / d), rel=0.35)
        total = (np.sum(rows.u**2, axis=0) + rows.b**2) @ rows.omega
        assert np.mean(np.sum(W**2, axis=-1)) == pytest.approx(total, rel=0.08)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"steps": (gs.GiantStep(50, 10.0, residual="full"),)}, "residual='target'"),
        ({"steps": (gs.GiantStep(50, 10.0), gs.GiantStep(50, 10.0, deflate=2))}, "first step alone"),
        ({"readout": gs.Ridge(50, 0.0)}, "positive penalties"),
        ({"readout": None}, "ridge readout"),
    ],
)
def test_what_it_does_not_cover_is_refused(change, words):
    setting = network("x1", 20, 50, 10, (gs.GiantStep(50, 10.0),))
    with pytest.raises(gs.InputError, match=words):
        by_term.fitted(replace(setting, protocol=replace(setting.protocol, **change)))


def test_four_directions_are_refused():
    with pytest.raises(gs.InputError, match="one to three directions"):
        by_term.fitted(network("x1 + x2*x3 + x4^2", 20, 50, 10, (gs.GiantStep(50, 10.0),)))
