"""Gains of one giant step in the limit: published values, a closed form, identities and free directions in a simulation."""

from math import factorial, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from giantstep import InputError
from giantstep.experiment._regime import degree
from giantstep.functions.activation import activation
from giantstep.functions.hermite import hermite
from giantstep.measure import mean_and_error
from giantstep.theory.limits.bulk import Shape, resolvent, shape
from giantstep.theory.limits.gains import direction, improvements

RELU = Shape(0.6, 0.75, 0.25, 0.25 - 1 / (2 * pi))
RATIO = st.floats(-2.0, 2.0).map(lambda u: float(np.exp(u)))
SETTING_2 = (0.0, 1.0, 1 / sqrt(2))  # y = H1 + H2 / sqrt(2)
RHO = 1 / sqrt(1 + 2 * RELU.phi)


def closed_form(shape: Shape, lam, c, rho: float, l: int, factor: float = 1.0):  # noqa: E741
    """D and D': c*_1^2 rho^2 m2 + kappa m1, kappa the sum over k = 2..l of k! c*_k^2 rho^(2k) less the missing constant's part,
    (sum over even k >= 2 of c*_k rho^k He_k(0))^2 / (sum over even k >= 0 of He_k(0)^2 / k!). Centred targets."""
    c = [*c, *[0.0] * (l + 1)]
    even = range(2, l + 1, 2)
    lost = sum(c[k] * rho**k * hermite(k, 0.0) for k in even) ** 2
    lost /= 1 + sum(hermite(k, 0.0) ** 2 / factorial(k) for k in even)
    kappa = sum(factorial(k) * c[k] ** 2 * rho ** (2 * k) for k in range(2, l + 1)) - factor * lost
    found = resolvent(shape, lam)
    first = c[1] ** 2 * rho**2 if l >= 1 else 0.0
    return first * found.m2 + kappa * found.m1, first * found.dm2 + kappa * found.dm1, found.m1


def test_published_values():
    """l = 1 and 2 for ReLU at d : n : p = 3 : 5 : 4, and at n = p = 500, d = 300."""
    lam = np.array([0.1, 0.01])
    one, two = improvements(RELU, lam, SETTING_2, RHO, [1]), improvements(RELU, lam, SETTING_2, RHO, [1, 2])
    np.testing.assert_allclose(one.objective, [0.13860866, 0.05722962], rtol=1e-7)
    np.testing.assert_allclose(one.test, [0.26575898, 0.39585607], rtol=2e-8)
    np.testing.assert_allclose(two.objective, [0.21480895, 0.10051426], rtol=1e-7)
    np.testing.assert_allclose(two.test, [0.45634366, 0.73498499], rtol=2e-8)
    square = Shape(0.6, 0.6, RELU.linear, RELU.rest)
    one, two = (improvements(square, 0.01, SETTING_2, RHO, orders) for orders in ([1], [1, 2]))
    assert (one.objective, one.test) == pytest.approx((0.0336, 0.362), rel=2e-3)
    assert (two.objective, two.test) == pytest.approx((0.0626, 0.744), rel=2e-3)


def test_the_second_gain_has_four_thirds():
    """Delta_2 - Delta_1 = (4/3) lambda c*_1^4 c*_2^2 m1 / ||beta||^4, and no other factor."""
    lam = 0.1
    gain = (
        improvements(RELU, lam, SETTING_2, RHO, [1, 2]).objective
        - improvements(RELU, lam, SETTING_2, RHO, [1]).objective
    )
    expected = lam * 0.5 * resolvent(RELU, lam).m1 * RHO**4
    assert gain == pytest.approx(4 / 3 * expected, rel=1e-12)
    assert gain != pytest.approx(1.02 * 4 / 3 * expected, rel=1e-3)


@given(
    RATIO,
    RATIO,
    st.floats(0.02, 2.0),
    st.floats(0.02, 2.0),
    st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=7),
    st.floats(-1.0, 1.0),
    st.integers(1, 6),
)
def test_the_closed_form(phi, psi, a, b, tail, rho, l):  # noqa: E741
    s, lam = Shape(phi, psi, a, b), np.geomspace(1e-4, 10, 5)
    found = improvements(s, lam, [0.0, *tail], rho, range(1, l + 1))
    D, slope, m1 = closed_form(s, lam, [0.0, *tail], rho, l)
    scale = 1 + np.abs(D)
    np.testing.assert_allclose(found.objective / lam / scale, D / scale, atol=1e-11)
    np.testing.assert_allclose(found.test, -slope / m1**2, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.train, -(lam**2) * slope, rtol=1e-9, atol=1e-11)


def test_a_perturbed_closed_form_disagrees():
    D, _, _ = closed_form(RELU, 0.1, SETTING_2, RHO, 2, factor=1.02)
    assert improvements(RELU, 0.1, SETTING_2, RHO, [1, 2]).objective / 0.1 != pytest.approx(D, rel=1e-4)


@given(
    st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=6),
    st.sets(st.integers(1, 6), min_size=1, max_size=4),
    st.booleans(),
)
def test_the_derivative_and_the_order_of_gains(c, orders, constant):
    """D' against differences; gains are positive, and grow with every function that comes free."""
    lam, h = 0.07, 1e-5
    here, up, down = (improvements(RELU, v, c, 0.6, orders, constant) for v in (lam, lam + h, lam - h))
    slope = (up.objective / (lam + h) - down.objective / (lam - h)) / (2 * h)
    np.testing.assert_allclose(here.test, -slope / resolvent(RELU, lam).m1 ** 2, rtol=1e-6, atol=1e-8)
    change = (up.objective - down.objective) / (2 * h)
    np.testing.assert_allclose(here.train, here.objective - lam * change, rtol=1e-6, atol=1e-8)
    more = improvements(RELU, lam, c, 0.6, orders | {1, 7}, constant)
    assert here.objective >= -1e-12 and more.objective >= here.objective - 1e-12


def test_a_free_constant():
    """With the constant nothing is missing from the span of g..g^l; c*_0 is fitted before and after."""
    lam, c = 0.1, (0.0, 1.0, 0.5, 0.3, 0.2)
    found = resolvent(RELU, lam)
    D = RHO**2 * found.m2 + sum(factorial(k) * c[k] ** 2 * RHO ** (2 * k) for k in (2, 3, 4)) * found.m1
    free = improvements(RELU, lam, c, RHO, range(1, 5), constant=True)
    assert free.objective == pytest.approx(lam * D, rel=1e-12)
    moved = improvements(RELU, lam, (0.7, *c[1:]), RHO, range(1, 5), constant=True)
    np.testing.assert_allclose(moved, free)
    # without it, g^2 = He_2 + 1 takes a part of the target's mean along
    assert (
        improvements(RELU, lam, (0.7, 1.0), RHO, [1, 2]).objective
        > improvements(RELU, lam, (0.0, 1.0), RHO, [1, 2]).objective
    )


def test_a_missing_order():
    """ReLU has no cubic spike: {1, 2, 4} gains less than {1, 2, 3, 4}; nothing is gained by no spike or with rho = 0."""
    c = (0.0, 1.0, 0.4, 0.3, 0.2)
    gains = [improvements(RELU, 0.1, c, 0.7, orders).objective for orders in ([], [1], [1, 2], [1, 2, 4], [1, 2, 3, 4])]
    assert gains[0] == 0 and np.all(np.diff(gains) > 1e-4)
    np.testing.assert_allclose(improvements(RELU, 0.1, c, 0.0, [1, 2, 3]), 0, atol=1e-14)


def test_linear_and_purely_nonlinear_activations():
    for s in (Shape(0.6, 0.75, 0.0, 0.3), Shape(0.6, 0.75, 0.3, 0.0)):
        found = improvements(s, [1e-6, 0.1], SETTING_2, RHO, [1, 2])
        assert np.all(np.isfinite(found)) and np.all(np.array(found) > 0)


@pytest.mark.parametrize("l", range(1, 12))
def test_regimes(l):  # noqa: E741
    low, high = (l - 1) / (2 * l), l / (2 * l + 2)
    assert degree((low + high) / 2) == degree(low + 1e-9) == degree(high - 1e-9) == l
    assert degree(high) == l  # critical: the next spike is of order one
    assert degree(low) == l - 1


def test_no_regime():
    assert degree(0.0) == degree(-1.0) == 0
    with pytest.raises(InputError, match="1/2"):
        degree(0.5)


def simulated(orders, constant: bool, seeds: int) -> tuple[np.ndarray, np.ndarray]:
    """Paired gains (test, train, objective) when g^k are appended to the features with a huge weight."""
    n, d, p, lam, rho = 400, 240, 320, 0.1, 0.7
    sigma, found = activation("tanh"), []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        W = rng.standard_normal((p, d))
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        X, Xt = rng.standard_normal((n, d)), rng.standard_normal((1000, d))
        y, yt = (0.4 * constant + Z[:, 0] + Z[:, 0] ** 2 / 2 - 0.5 for Z in (X, Xt))
        F, Ft = (np.hstack([sigma(Z @ W.T), np.full((len(Z), 1), 1e3 * constant)]) for Z in (X, Xt))
        g, gt = (rho * Z[:, 0] + sqrt(1 - rho**2) * Z[:, 1] for Z in (X, Xt))
        more, moret = (1e3 * np.stack([v**k for k in orders], axis=1) for v in (g, gt))
        before, after = ridge(F, y, Ft, yt, lam), ridge(np.hstack([F, more]), y, np.hstack([Ft, moret]), yt, lam)
        found.append(np.subtract(before, after))
    return mean_and_error(np.array(found), axis=0)


def ridge(F, y, Ft, yt, lam):
    n = len(y)
    alpha = np.linalg.solve(F @ F.T / n + lam * np.eye(n), y) / n
    b = F.T @ alpha
    train = np.mean((y - F @ b) ** 2)
    return np.mean((yt - Ft @ b) ** 2), train, train + lam * b @ b


@pytest.mark.parametrize(("orders", "constant"), [((1,), False), ((1, 2), False), ((1, 2), True)])
def test_simulated_free_directions(orders, constant):
    with threadpool_limits(1):
        mean, error = simulated(orders, constant, 24)
    s = shape(activation("tanh"), 400, 240, 320)
    expected = np.array(improvements(s, 0.1, (0.4, 1.0, 0.5) if constant else (0.0, 1.0, 0.5), 0.7, orders, constant))
    assert np.all(np.abs(mean - expected) < 4 * error + 0.02 * expected)  # a bias of order 1/n besides
    wrong = np.array(improvements(s, 0.1, (0.0, 1.0, 0.5), 0.5, orders, constant))
    assert np.any(np.abs(mean - wrong) > 4 * error + 0.02 * wrong)


def test_any_ridge_objective_gives_the_training_error():
    """train = L - lambda dL/dlambda, on an actual ridge fit."""
    rng = np.random.default_rng(0)
    F, y, lam, h = rng.standard_normal((30, 12)), rng.standard_normal(30), 0.3, 1e-5
    _, train, objective = ridge(F, y, F, y, lam)
    change = (ridge(F, y, F, y, lam + h)[2] - ridge(F, y, F, y, lam - h)[2]) / (2 * h)
    assert train == pytest.approx(objective - lam * change, rel=1e-8)


@pytest.mark.parametrize("full", [False, True])
def test_the_direction(full, seed):
    """||beta||^2 and the cosine, with and without the initial output of a network of scale 1/sqrt(p)."""
    n, d, p, sigma, found = 500, 300, 400, activation("relu", centred=True), []
    for s in range(20):
        rng = np.random.default_rng(100 * seed + s)
        W, X, a = rng.standard_normal((p, d)), rng.standard_normal((n, d)), rng.standard_normal(p) / sqrt(p)
        y = X[:, 0] + sqrt(0.5) * rng.standard_normal(n)
        r = y - sigma(X @ (W / np.linalg.norm(W, axis=1, keepdims=True)).T) @ a if full else y
        beta = X.T @ r / n
        found.append((np.linalg.norm(beta), beta[0] / np.linalg.norm(beta)))
    mean, error = mean_and_error(np.array(found), axis=0)
    expected = direction(d / n, 1.0, 1.5, *((RELU.linear, RELU.rest) if full else ()))
    assert np.all(np.abs(mean - expected) < 4 * error + 2 / n)
    wrong = direction(d / n if full else d / (2 * n), 1.0, 1.5)  # the output, or half the noise, forgotten
    assert abs(mean[0] - wrong.norm) > 3 * error[0]


def test_bad_input():
    with pytest.raises(InputError, match="cosine"):
        improvements(RELU, 0.1, SETTING_2, 1.2, [1])
    with pytest.raises(InputError, match="order"):
        improvements(RELU, 0.1, SETTING_2, 0.5, [0])
    with pytest.raises(InputError, match="orders go up to"):
        improvements(RELU, 0.1, SETTING_2, 0.5, [500])
    with pytest.raises(InputError, match="power"):
        direction(0.5, 1.0, -1.0)
