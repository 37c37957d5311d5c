"""Mean-field networks on curves: losses, the dual problem, the sampler, both methods, the certificate, and the verbs."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal

import giantstep as gs
from giantstep._machine.backend import jax, jnp
from giantstep._machine.random import generator
from giantstep.functions import losses
from giantstep.systems.mean_field import _crank_nicolson as crank_nicolson
from giantstep.systems.mean_field import dual as _dual
from giantstep.systems.mean_field import particles as engine
from giantstep.systems.mean_field import theory as theory
from giantstep.systems.mean_field.bases import basis
from giantstep.systems.mean_field.training import pool, train

SMALL = gs.MeanField(20, basis=8, particles=300, passes=15, pool=2048)
real = st.floats(-3, 3)


@given(st.sampled_from(losses.LOSSES), real, real, st.floats(-0.95, 0.95))
def test_losses_and_their_conjugates(loss, f, other, g):
    y = np.array(1.0 if other > 0 else -1.0) if loss == "logistic" else np.array(other)
    g = -y * abs(g) if loss == "logistic" else np.array(g)
    f = np.array(f)
    lost = lambda z: losses.value(loss, np.array(z), y) - g * z  # noqa: E731
    best: Any = minimize_scalar(lost, bounds=(-60, 60), method="bounded")
    assert losses.conjugate(loss, g, y) == pytest.approx(-best.fun, abs=1e-6)
    young = losses.value(loss, f, y) + losses.conjugate(loss, g, y) - g * f
    assert young > -1e-12
    own = losses.slope(loss, f, y)
    assert losses.value(loss, f, y) + losses.conjugate(loss, own, y) - own * f == pytest.approx(0, abs=1e-9)
    for order, one in ((losses.slope, losses.value), (losses.bend, losses.slope)):
        assert order(loss, f, y) == pytest.approx((one(loss, f + 1e-5, y) - one(loss, f - 1e-5, y)) / 2e-5, abs=1e-6)


@pytest.mark.parametrize("loss", losses.LOSSES)
def test_a_step_of_ascent_is_the_best(loss):
    for g, f, y, k in ((-0.3, 0.4, 1.0, 0.7), (0.2, -0.9, -1.0, 5.0), (0.0, 0.1, 1.0, 0.01)):
        found = float(losses.ascent(loss, g, f, y, k))  # type: ignore[arg-type]
        loses = partial(_lost, loss, g, f, y, k)
        ends = (0.0, -y) if loss == "logistic" else (-9.0, 9.0)
        best: Any = minimize_scalar(loses, bounds=sorted(ends), method="bounded", options={"xatol": 1e-10})
        assert found == pytest.approx(best.x, abs=1e-5) and loses(found) <= best.fun + 1e-9


def _lost(loss, g, f, y, k, v):
    return float(losses.conjugate(loss, np.array(v), y)) - v * f + k / 2 * (v - g) ** 2


def test_the_prior_is_kept_exactly_at_any_step():
    """(1 - h/2)^2 + 2 h = (1 + h/2)^2: with U = 0 the variance stays 1, and nothing is rejected."""
    rng = np.random.default_rng(0)
    for h in (0.01, 0.5, 2.0):
        u, xi = rng.standard_normal((2, 40, 3))
        v = crank_nicolson.propose(u, 0 * u, xi, h)
        a, b = (1 - h / 2) / (1 + h / 2), np.sqrt(2 * h) / (1 + h / 2)
        assert a**2 + b**2 == pytest.approx(1, abs=1e-14)
        np.testing.assert_allclose(v, a * u + b * xi)
        zero = np.zeros(40)
        np.testing.assert_array_equal(
            crank_nicolson.rho(u, v, zero, 0 * u, h) - crank_nicolson.rho(v, u, zero, 0 * u, h), zero
        )


def test_moves_are_in_detailed_balance():
    """rho(u, v) - rho(v, u) is the logarithm of pi(v) q(v, u) / (pi(u) q(u, v)), with densities written out."""
    rng, h = np.random.default_rng(1), 0.7
    A = rng.standard_normal((3, 3))
    U, slope = (lambda x: np.sum(np.cos(A @ x))), (lambda x: -A.T @ np.sin(A @ x))

    def density(x, to):
        mean = ((1 - h / 2) * x - h * slope(x)) / (1 + h / 2)
        return -U(x) - x @ x / 2 + multivariate_normal(mean, 2 * h / (1 + h / 2) ** 2 * np.eye(3)).logpdf(to)  # type: ignore[arg-type]

    for _ in range(5):
        u, v = rng.standard_normal((2, 3))
        ours = crank_nicolson.rho(u, v, U(u), slope(u), h) - crank_nicolson.rho(v, u, U(v), slope(v), h)
        assert float(ours) == pytest.approx(density(v, u) - density(u, v), abs=1e-10)


def test_adjusted_steps_sample_a_law_that_plain_ones_miss():
    """U = c x^2/2 turns N(0, 1) into N(0, 1/(1 + c)); plain steps keep another variance, known in closed form."""
    c, h, M = 3.0, 0.5, 40_000
    rng = np.random.default_rng(2)
    potential = lambda u: (c * jnp.sum(u**2, axis=1) / 2, c * u)  # noqa: E731
    walk = jax.jit(
        lambda u, xi, coins, adjusted: crank_nicolson.walk(u, potential(u), xi, coins, potential, h, adjusted),
        static_argnums=3,
    )
    xi, coins = rng.standard_normal((30, M, 1)), rng.random((30, M))
    exact, plain = (float(jnp.var(walk(rng.standard_normal((M, 1)), xi, coins, yes).u)) for yes in (True, False))
    error = 3.5 * np.sqrt(2 / M) / (1 + c)
    assert abs(exact - 1 / (1 + c)) < error
    # v = a u + b xi with a = (1 - h/2 - h c)/(1 + h/2): variance b^2/(1 - a^2)
    a, b2 = (1 - h / 2 - h * c) / (1 + h / 2), 2 * h / (1 + h / 2) ** 2
    assert abs(plain - b2 / (1 - a**2)) < 4 * error < abs(plain - 1 / (1 + c))


def drawn(loss="square", n=15, N=400, J=5):
    rng = np.random.default_rng(3)
    X, u = rng.standard_normal((n, J)), rng.standard_normal((N, J))
    y = np.sign(X[:, 0]) if loss == "logistic" else np.tanh(X[:, 0])
    return X, u, np.tanh(u @ X.T), y


@pytest.mark.parametrize("loss", losses.LOSSES)
def test_the_dual_problem_is_solved(loss):
    _, _, H, y = drawn(loss)
    g, best = _dual.optimum(H, y, 0.05, loss)
    assert -1e-12 < best.gap < 1e-9
    # the primal problem by mirror descent over the weights of the pool, a route without the dual
    w = np.full(len(H), 1 / len(H))
    for _ in range(4000):
        slope = H @ losses.slope(loss, w @ H, y) / len(y) + 0.05 * np.log(w * len(H))
        w = w * np.exp(-0.3 * slope)
        w /= w.sum()
    primal = np.mean(losses.value(loss, w @ H, y)) + 0.05 * np.sum(w * np.log(w * len(H)))
    assert primal == pytest.approx(best.objective, abs=1e-9)
    other = g + 0.1 * np.sin(np.arange(len(g))) * (-np.sign(y) if loss == "square" else 0.0) * 0.5
    objective, dual = _dual.path(H, y, np.stack([g, other, 0 * g]), 0.05, loss)
    assert np.all(dual <= best.dual + 1e-12) and np.all(objective >= best.objective - 1e-12)
    np.testing.assert_allclose(
        [_dual.at(H, y, v, 0.05, loss)[:2] for v in (g, other)], np.stack([objective, dual], 1)[:2]
    )


def test_the_error_of_the_pool_is_its_spread():
    s = gs.MeanField(15, basis=6, pool=1000)
    X, y = s.curves
    states = [_dual.optimum(pool(X * s.deviations, s.training, seed), y, s.penalty, "square")[1] for seed in range(30)]
    spread, said = np.std([s.objective for s in states], ddof=1), np.mean([s.error for s in states])
    assert 0.6 < spread / said < 1.5  # 30 pools: 13% of standard error


@pytest.mark.slow
@pytest.mark.parametrize("loss", losses.LOSSES)
def test_both_methods_keep_their_guarantees(loss):
    """On a pool that is the prior: the mean over 8 seeds stays below the curves of the theory."""
    X, u, H, y = drawn(loss)
    n, lam = len(y), 0.05
    problem = engine.ParticleProblem(*(jnp.asarray(v, float) for v in (X, y, lam, 1.0)))
    how, best = engine.How(loss, gs.activation("tanh")), _dual.optimum(H, y, lam, loss)[1]
    for method, steps in (("finite", 10 * n), ("online", 20 * n)):
        runs = []
        for seed in range(8):
            cloud = engine.start(u, problem, how, 0.5)
            samples = generator(seed, 0).integers(0, n, steps)
            run = engine.run(generator(seed, 1), cloud, samples, problem, how, method, refresh=0.0)
            runs.append(_dual.path(H, y, np.concatenate([np.zeros((1, n)), run.duals]), lam, loss))
        objective, dual = np.mean(runs, axis=0)
        t = np.arange(steps + 1)
        if method == "finite":
            rate = _dual.contraction(n, 1.0, lam, loss)
            fall = (best.dual - dual) / (best.dual - dual[0])
            assert np.all(fall <= (1 - rate) ** t * 1.3 + 1e-12) and fall[-1] < 0.1 * (1 - rate) ** steps
            # a step is the promised one: D rises by at least what the bound on the variance of h leaves
            assert np.all(np.diff(runs[0][1]) > -1e-12)
        else:
            s = t[1:]
            mean = np.cumsum(s * (objective[:-1] - best.objective)) / np.cumsum(s)
            assert np.all(mean <= _dual.averaging(s, best.kl, losses.steepest(loss, 1.0, y), 1.0, lam))
            assert mean[-1] < 0.3 * mean[steps // 10]


def test_the_certificate_is_that_of_the_law():
    """Gap, entropy and objective of the particles against the same law on a large pool."""
    s = SMALL
    X, y = s.curves
    field = train(X, y, s.deviations, s.training, 1)
    large = pool(X * s.deviations, replace(s.training, pool=2**14), 9)
    law = _dual.at(large, y, field.duals[-1], s.penalty, s.loss)
    assert abs(field.gap - law.gap) < 4 * field.errors["gap"] < 0.1 * law.objective
    assert abs(field.kl - law.kl) < 4 * np.hypot(field.errors["kl"], law.error / s.penalty)
    assert abs(field.objective - law.objective) < 4 * np.hypot(field.errors["objective"], law.error)
    np.testing.assert_allclose(losses.value("square", field.outputs(X), y).mean(), field.train_loss)
    assert field.status.ok and field.history.y[-1] < 0.2 * field.history.y[0]


def test_a_short_run_is_not_certified():
    s = replace(SMALL, penalty=0.0002)
    field = train(*s.curves, s.deviations, s.training)
    assert not field.status.ok and "of the objective. Take more passes" in " ".join(field.status.notes)


def test_both_routes_say_the_same_names():
    found, said = gs.simulate(SMALL, range(3)), gs.theory(SMALL)
    assert (
        said.numbers.keys() - found.numbers.keys() == {"generalisation_bound"}
        and found.curves.keys() == said.curves.keys()
    )
    for name in ("objective", "kl", "train_loss", "test_loss"):
        assert found.numbers[name].value == pytest.approx(said.numbers[name].value, rel=0.15)
    assert np.all(found.curves["dual_excess"].y[:10] <= said.curves["dual_excess"].y[:10] + 1e-9)
    assert gs.system.from_plain(SMALL.to_plain()) == SMALL and "mean-field network" in str(found)


def test_complexity_is_reached_and_bounded():
    """The supremum over laws within KL of R, by a second route: Lagrangian over eta; and its bound."""
    _, _, H, y = drawn()
    signs = np.random.default_rng(5).choice([-1.0, 1.0], (6, len(y)))
    found = theory.complexity(H, 0.8, signs)
    for e, value in zip(signs, found, strict=True):
        v = H @ e / len(y)
        # sup = min over eta of (R + log E exp(eta v))/eta
        dual: Any = minimize_scalar(
            lambda log, v=v: (0.8 + np.log(np.mean(np.exp(np.exp(log) * v)))) / np.exp(log),
            bounds=(-5, 5),
            method="bounded",
        )
        assert value == pytest.approx(dual.fun, rel=1e-6)
    assert found.mean() < theory.rademacher(1.0, 0.8, len(y))


def test_fit_on_noisy_curves_with_grids_of_their_own():
    rng = np.random.default_rng(0)
    c = rng.standard_normal((120, 6)) / np.arange(1, 7)
    t = [np.sort(rng.uniform(0, 10, rng.integers(15, 25))) for _ in c]
    curves = [basis(s / 10, 6) @ x + 0.05 * rng.standard_normal(len(s)) for s, x in zip(t, c, strict=True)]
    y = np.where(c[:, 0] - c[:, 1] > 0.3, 1.0, -1.0)
    options = {
        "count": 6,
        "smooth": 1e-3,
        "domain": (0, 10),
        "particles": 200,
        "passes": 10,
        "penalty": 0.01,
        "pool": 512,
    }
    fitted = gs.mean_field.fit(curves[:80], y[:80], t[:80], loss="logistic", **options)
    assert np.mean(np.sign(fitted.predict(curves[80:], t[80:])) == y[80:]) > 0.85
    assert fitted.gap < 0.05 * fitted.field.objective
    with pytest.raises(gs.InputError, match="predict needs grid"):
        fitted.predict(curves[80:])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"gamma": 0.5}, "gamma must be above 1/2"),
        ({"penalty": 0.0}, "penalty must be above 0"),
        ({"activation": "relu"}, "within -1 and 1"),
        ({"basis": 200}, "basis must be at most 128"),
        ({"basis": 16, "points": 10}, "at most points"),
        ({"method": "adam"}, "method must be one of"),
        ({"step": 3.0}, "step must be at most 2"),
        ({"target": "x1 + x200"}, "x200 asks for more than 8 directions"),
    ],
)
def test_refusals(options, sentence):
    with pytest.raises(gs.InputError, match=sentence):
        gs.MeanField(20, **options)


@pytest.mark.parametrize(
    ("y", "options", "sentence"),
    [
        (np.ones(3), {}, "4 finite numbers"),
        (np.arange(4.0), {"loss": "logistic"}, "must be \\+1 and -1"),
        (np.ones(4), {"rate": 1}, "no option 'rate'"),
        (np.ones(4), {"gamma": 0.2}, "gamma must be above 1/2"),
    ],
)
def test_fit_refuses(y, options, sentence):
    with pytest.raises(gs.InputError, match=sentence):
        gs.mean_field.fit(np.random.default_rng(0).random((4, 20)), y, np.linspace(0, 1, 20), **options)


def test_memory_is_refused_before_it_is_taken():
    with pytest.raises(gs.InputError, match="would fit"):
        train(np.ones((10**5, 2)), np.ones(10**5), np.ones(2), gs.MeanField(2, particles=10**8).training)
