"""The bulk of random features: its two equations, limits that are known in closed form, and sampled matrices."""

from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from giantstep import InputError
from giantstep.functions.activation import activation
from giantstep.theory.limits import bulk
from giantstep.theory.limits.bulk import Shape, companion, density, edge, law, lower_edge, mass, resolvent, shape

RELU = Shape(0.6, 0.75, 0.25, 0.25 - 1 / (2 * pi))
PENALTIES = np.geomspace(1e-10, 1e6, 33)
RATIO = st.floats(-3.0, 3.0).map(lambda u: float(np.exp(u)))  # 0.05 .. 20
PART = st.one_of(st.just(0.0), st.floats(-7.0, 2.0).map(lambda u: float(np.exp(u))))


@st.composite
def shapes(draw):
    phi = draw(RATIO)
    psi = phi if draw(st.booleans()) and draw(st.booleans()) else draw(RATIO)  # p = n now and then
    return Shape(phi, psi, draw(PART), draw(PART))


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def residuals(shape: Shape, m1, m2, lam):
    """Of the two equations, each relative to its largest term."""
    a, q = shape.linear, shape.linear * m2 + shape.rest * m1
    first = lam * m1 + shape.phi / shape.psi * q / (1 + q) - 1
    second = (m1 - m2 - a * m1 * m2 / (shape.psi * (1 + q))) / m1
    return np.max(np.abs(first)), np.max(np.abs(second))


def test_values_for_relu():
    found = resolvent(RELU, [0.1, 0.01])
    np.testing.assert_allclose(found.m1, [5.53214093, 31.42464916], rtol=1e-8)
    np.testing.assert_allclose(found.m2, [3.04939052, 12.59051668], rtol=1e-8)
    np.testing.assert_allclose([found.dm1[0], found.dm2[0]], [-42.34587073, -17.89357454], rtol=1e-9)
    assert edge(RELU) ** 2 == pytest.approx(1.98911826, rel=1e-8)


@given(shapes())
def test_both_equations_hold_to_rounding(shape):
    found = resolvent(shape, PENALTIES)
    assert max(residuals(shape, found.m1, found.m2, PENALTIES)) < 1e-12
    assert np.all((found.m2 > 0) & (found.m2 <= found.m1 * (1 + 1e-12)) & (found.m1 <= (1 + 1e-12) / PENALTIES))
    assert np.all((found.dm1 < 0) & (found.dm2 < 0))


def test_a_perturbed_equation_does_not_hold():
    found = resolvent(RELU, PENALTIES)
    wrong = Shape(RELU.phi, RELU.psi, 1.02 * RELU.linear, RELU.rest)
    assert min(residuals(wrong, found.m1, found.m2, PENALTIES)) > 1e-4


@given(shapes())
def test_derivatives_solve_the_implicit_system(shape):
    """The two equations differentiated in lambda: a 2 x 2 linear system for m1', m2'."""
    lam, found = PENALTIES, resolvent(shape, PENALTIES)
    a, b, phi, psi = shape.linear, shape.rest, shape.phi, shape.psi
    m1, m2 = found.m1, found.m2
    D = 1 + a * m2 + b * m1
    A = [
        [lam + phi * b / (psi * D**2), phi * a / (psi * D**2)],
        [
            1 - a * m2 / (psi * D) + a * b * m1 * m2 / (psi * D**2),
            -1 - a * m1 / (psi * D) + a * a * m1 * m2 / (psi * D**2),
        ],
    ]
    det = A[0][0] * A[1][1] - A[0][1] * A[1][0]
    np.testing.assert_allclose(found.dm1, -m1 * A[1][1] / det, rtol=1e-9)
    np.testing.assert_allclose(lam * found.dm2 / m2, lam * m1 * A[1][0] / (det * m2), atol=1e-10)  # A_21 cancels
    h = 1e-4 * lam
    up, down = resolvent(shape, lam + h), resolvent(shape, lam - h)
    np.testing.assert_allclose(lam * found.dm1 / m1, lam * (up.m1 - down.m1) / (2 * h * m1), atol=1e-7)
    np.testing.assert_allclose(lam * found.dm2 / m2, lam * (up.m2 - down.m2) / (2 * h * m2), atol=1e-7)


@given(shapes())
def test_a_large_penalty_and_the_companion(shape):
    lam = 1e12
    found = resolvent(shape, lam)
    np.testing.assert_allclose([found.m1 * lam, found.m2 * lam], 1, rtol=1e-6)
    found = resolvent(shape, PENALTIES)
    direct = found.m1 / shape.width + (1 - 1 / shape.width) / PENALTIES
    np.testing.assert_allclose(companion(shape, found, PENALTIES), direct, atol=1e-13 * np.max(1 / shape.width) / 1e-10)
    t = found.m1 / (1 + shape.linear * found.m2 + shape.rest * found.m1)
    np.testing.assert_allclose(companion(shape, found, PENALTIES), t / (PENALTIES * found.m1), rtol=1e-12)


@given(RATIO, RATIO, st.floats(0.01, 5.0))
def test_without_a_linear_part_it_is_marchenko_pastur(phi, psi, b):
    shape, c = Shape(phi, psi, 0.0, b), phi / psi
    found, lam = resolvent(shape, PENALTIES), PENALTIES
    # lambda b m^2 + (lambda + (c - 1) b) m - 1 = 0
    half = (lam + (c - 1) * b) / 2
    root = np.sqrt(half**2 + lam * b)
    expected = np.where(half > 0, 1 / (np.abs(half) + root), (np.abs(half) + root) / (lam * b))
    np.testing.assert_allclose(found.m1, expected, rtol=1e-11)
    np.testing.assert_array_equal(found.m2, found.m1)
    assert edge(shape) == pytest.approx(sqrt(b) * (1 + sqrt(c)), rel=1e-9)
    assert lower_edge(shape) == pytest.approx(sqrt(b) * abs(1 - sqrt(c)), abs=1e-6)
    x = np.linspace(lower_edge(shape), edge(shape), 9)[1:-1]
    y = x**2 / b
    square = ((1 + sqrt(c)) ** 2 - y) * (y - (1 - sqrt(c)) ** 2)
    np.testing.assert_allclose(density(shape, x), np.sqrt(square) * x / (pi * y * b), rtol=1e-6)


@given(RATIO, RATIO, st.floats(0.01, 5.0))
def test_a_linear_activation_has_rank_d_at_most(phi, psi, a):
    shape = Shape(phi, psi, a, 0.0)
    found = resolvent(shape, 1e-10)
    share = min(1.0, phi / psi, phi)
    assert mass(shape) == share
    assert 1e-10 * found.m1 == pytest.approx(1 - share, abs=3e-3)
    assert np.all(np.isfinite(found))


def test_no_activation_at_all():
    nothing = Shape(0.6, 0.75, 0.0, 0.0)
    np.testing.assert_allclose(resolvent(nothing, [0.5, 2.0]).m1, [2.0, 0.5])
    assert edge(nothing) == lower_edge(nothing) == mass(nothing) == 0
    np.testing.assert_array_equal(law(nothing, [0.0, 1.0]), 0)


def integral(shape: Shape, values, points: int = 3000) -> float:
    """Of a function over the bulk, with nodes that crowd at its edges."""
    angle = (np.arange(points) + 0.5) * pi / points
    low, high = lower_edge(shape), edge(shape)
    x = low + (high - low) * (1 - np.cos(angle)) / 2
    return float(np.sum(values(x) * np.sin(angle)) * (high - low) / 2 * pi / points)


@pytest.mark.parametrize("phi", [0.3, 0.6, 2.5])
@pytest.mark.parametrize("psi", [0.1, 0.6, 0.75, 4.0])
@pytest.mark.parametrize("parts", [(0.25, 0.09), (0.8, 0.002), (0.0, 0.3), (0.5, 0.0)])
def test_the_law_integrates_to_one_and_gives_the_resolvent(phi, psi, parts):
    shape = Shape(phi, psi, *parts)
    assert integral(shape, lambda x: law(shape, x)) == pytest.approx(1, abs=1e-3)
    m1 = integral(shape, lambda x: density(shape, x) / (x**2 + 0.3)) + (1 - mass(shape)) / 0.3
    assert m1 == pytest.approx(float(resolvent(shape, 0.3).m1), rel=1e-3)
    outside = np.array([-1.0, 0.5 * lower_edge(shape), 1.01 * edge(shape)])
    np.testing.assert_allclose(density(shape, outside)[[0, 2]], 0)
    assert lower_edge(shape) < 0.05 or density(shape, outside)[1] < 1e-6


@given(shapes().filter(lambda s: s.linear + s.rest > 0), st.floats(0.01, 10.0))
def test_above_the_bulk_the_same_equations_hold(shape, excess):
    found = bulk.beyond(shape, bulk.threshold(shape) * (1 + excess))
    assert found.z > edge(shape) ** 2
    assert max(residuals(shape, found.m1, found.m2, -found.z)) < 1e-11 * (1 + 1 / excess)
    np.testing.assert_allclose(found.companion, found.m1 / shape.width - (1 - 1 / shape.width) / found.z, rtol=1e-7)


def features(name: str, n: int, d: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and F0 / sqrt(n), rows of W0 on the sphere."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((p, d))
    X = rng.standard_normal((n, d))
    F = activation(name, centred=True)(X @ (W / np.linalg.norm(W, axis=1, keepdims=True)).T)
    return X, F / sqrt(n)


@pytest.mark.parametrize(("name", "n", "d", "p"), [("relu", 900, 600, 700), ("tanh", 500, 600, 900)])
def test_a_sampled_spectrum(name, n, d, p, seed):
    X, B = features(name, n, d, p, seed)
    s = shape(activation(name), n, d, p)
    small = np.linalg.eigvalsh(B @ B.T)[::-1][: min(n, p)]
    values = np.sqrt(small)
    grid = np.linspace(lower_edge(s), edge(s), 4001)
    middles = (grid[1:] + grid[:-1]) / 2

    def gap(of: Shape) -> float:  # sup distance of the two distribution functions
        cdf = np.concatenate([[0.0], np.cumsum(law(of, middles) * np.diff(grid))])
        return float(
            np.max(np.abs(np.interp(np.sort(values), grid, cdf) - (np.arange(values.size) + 0.5) / values.size))
        )

    assert gap(s) < 0.01
    assert gap(Shape(s.phi, s.psi, 1.1 * s.linear, s.rest)) > 0.01  # and a perturbed law is seen to be wrong
    assert values[0] == pytest.approx(edge(s), rel=2.5 * min(n, p) ** (-2 / 3))  # its fluctuation
    assert values[-1] == pytest.approx(lower_edge(s), abs=0.02)
    lam = 0.1
    Q = np.linalg.inv(B @ B.T + lam * np.eye(n))
    found = resolvent(s, lam)
    assert np.trace(Q) / n == pytest.approx(float(found.m1), rel=0.015)
    assert np.sum(X * (Q @ X)) / (n * d) == pytest.approx(float(found.m2), rel=0.015)


def test_the_shape_of_an_activation():
    plain, centred = (shape(activation("relu", centred=c), 1000, 600, 800) for c in (False, True))
    for found in (plain, centred):
        np.testing.assert_allclose(list(vars(found).values()), list(vars(RELU).values()), rtol=1e-12)
    assert shape(activation("2*x"), 10, 10, 10).rest == 0
    assert shape(activation("H2"), 10, 10, 10).linear == 0


@pytest.mark.parametrize("penalty", [0.0, -1.0, np.inf, np.nan, [], [0.1, -0.1]])
def test_bad_penalties(penalty):
    with pytest.raises(InputError, match="penalty"):
        resolvent(RELU, penalty)


def test_bad_shapes():
    for wrong in ((0.0, 1.0, 1.0, 1.0), (1.0, -1.0, 1.0, 1.0), (1.0, 1.0, -1.0, 1.0), (1.0, 1.0, 1.0, np.nan)):
        with pytest.raises(InputError):
            Shape(*wrong)
    with pytest.raises(InputError, match="n must be"):
        shape(activation("relu"), 0, 5, 5)
    with pytest.raises(InputError, match="finite"):
        density(RELU, np.nan)
