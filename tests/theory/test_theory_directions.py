"""Targets of several directions at a width of the order of d: identities, an equivalent target, derivatives and simulations."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep._machine.backend import jax
from giantstep.theory import parameters
from giantstep.theory.one_step import _conditional as conditional
from giantstep.theory.one_step import _gradient_law as gradient_law


def experiment(target, eta: Any = 15.0, d=300, n=900, p=450, sigma="relu", penalty=0.1, rank=0, step=None, **network):
    steps = () if eta is None else (gs.GiantStep(n, eta, **(step or {})),)
    return gs.Setting(
        gs.Gaussian(d),
        gs.target(target, noise=0.3, rank=rank),
        gs.Network(p, sigma, **network),
        gs.Protocol(steps, gs.Ridge(n, penalty)),
    )


ONE = "x1 + H2(x1)/sqrt(2)"
TURNED = "0.6*x1 + 0.8*x2 + (0.36*H2(x1) + 0.64*H2(x2) + 0.96*x1*x2)/sqrt(2)"  # ONE along (0.6, 0.8)


def errors(setting):
    o = gs.theory(setting)
    return np.array([o.test_error, o.train_error, o.train_objective]).ravel()


@pytest.mark.parametrize("step", [{}, {"update": "rank1"}, {"residual": "full"}, {"deflate": 1}])
def test_a_direction_that_does_not_matter(step):
    """A target of one direction may be written in two, turned or not: nothing changes but where the residual's tails are cut."""
    one, close = errors(experiment(ONE, step=step)), 1e-5 if step.get("update") == "rank1" else 2e-3
    assert np.allclose(errors(experiment(ONE, rank=2, step=step)), one, rtol=close)
    assert np.allclose(errors(experiment(TURNED, step=step)), one, rtol=close)


@pytest.mark.parametrize("rank", [2, 3, 6])
def test_without_a_step_the_rest_is_noise(rank):
    """Random features see E[f* x] alone; the mean is fitted by relu, and all else acts as noise."""
    many = "+".join(f"x{k}" for k in range(1, rank + 1)) + f" + x1*x{rank} + 0.5"
    noise = float(np.hypot(0.3, 1.0))
    one = replace(experiment("x1", None), target=gs.target(f"{rank**0.5}*x1", noise=noise))
    found, expected = gs.theory(experiment(many, None)), gs.theory(one)
    assert np.isclose(found.test_error, expected.test_error, rtol=1e-9)
    assert np.isclose(found.train_error, expected.train_error, rtol=1e-9)


def test_more_than_three_directions_take_sobol_points_with_their_error():
    few, many = gs.theory(experiment("x1 + x2*x3")), gs.theory(experiment("x1 + x2*x3", rank=5))
    assert 0 < many.test_error_se < 0.02 * many.test_error
    assert abs(many.test_error - few.test_error) < max(4 * many.test_error_se, 0.005 * few.test_error)
    assert many.captured.shape == (5,)


def test_the_remainder_on_several_directions():
    """The matrix measure of M on (v, e1, e2, e3) has the moments of a drawn M."""
    d, n = 800, 2400
    numbers, form = parameters(experiment("x1 + x2*x3", 15.0, d, n))
    step = conditional.problem(numbers, form).step
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)
    beta, M = X.T @ y / n, X.T @ (y[:, None] * X) / n
    v = beta / np.linalg.norm(beta)
    rho = v[:3]  # with its noise, so that the directions are orthonormal
    rest = np.linalg.cholesky(np.eye(3) - np.outer(rho, rho))
    e = np.linalg.solve(rest, np.eye(3, d) - np.outer(rho, v))
    B = np.concatenate([v[None], e])
    for k in (1, 2):
        drawn = B @ np.linalg.matrix_power(M, k) @ B.T
        predicted = np.einsum("m,mcd->cd", step.along.nodes**k, step.along.weights)
        assert np.max(np.abs(drawn - predicted)) < 0.25 * k
    assert isinstance(step.along, gradient_law.SpectralModes)


def test_derivatives():
    """Exact derivatives against differences, in the step size, the penalty and a coefficient of the second direction."""
    numbers, form = parameters(experiment("x1 + x1*x2", step={"update": "rank1"}))
    test = lambda x: gs.theory_errors(x, form).test  # noqa: E731
    slope = jax.jit(jax.grad(test), compiler_options={"xla_backend_optimization_level": 0})(numbers)  # it runs once
    for name, h in (("eta", 1e-4), ("penalty", 1e-6), ("p_over_d", 1e-5)):
        up, down = (numbers._replace(**{name: getattr(numbers, name) + s * h}) for s in (1, -1))
        assert np.isclose(getattr(slope, name), (test(up) - test(down)) / (2 * h), rtol=1e-4)
    h = 1e-5 * np.eye(numbers.target.size)[4]
    up, down = (numbers._replace(target=numbers.target + s * h) for s in (1, -1))
    assert np.isclose(slope.target[4], (test(up) - test(down)) / 2e-5, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("sigma, target", [("relu", "x1 + x1*x2"), ("tanh(x + 0.8)", "x1 + H2(x2)/sqrt(2)")])
def test_against_simulation(sigma, target):
    setting = experiment(target, [5.0, 15.0], sigma=sigma)
    theory, found = gs.theory(setting), gs.simulate(setting, range(8), progress=False).mean()
    for name in ("test_error", "train_error"):
        gap = np.abs(getattr(theory, name) / getattr(found, name) - 1)
        assert np.all(gap < 0.02 + 4 * getattr(found, f"{name}_se") / getattr(found, name))
    assert np.allclose(theory.captured, found.captured, rtol=0.15, atol=1e-3)


def _law(setting) -> Any:
    return gs.theory.spectrum(setting, density=False)


def test_spectrum():
    """The outliers of several directions are those of the one that the step learns."""
    update = {"update": "rank1"}
    one, two = (_law(experiment(t, 30.0, step=update)) for t in (ONE, TURNED))
    assert np.isclose(one.edge, two.edge, rtol=1e-5)
    assert np.allclose([o.position for o in one.outliers], [o.position for o in two.outliers], rtol=1e-5)


def test_the_published_limit():
    """The staircase of a turned target is that of the target along its direction."""
    one, two = (gs.theory(experiment(t, gs.power(0.3)), "limit") for t in (ONE, TURNED))
    assert np.isclose(one.test_error, two.test_error, rtol=1e-9)
