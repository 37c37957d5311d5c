"""Random-feature errors against the published polynomials, simulations, and the limits of infinite width."""

from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erf
from threadpoolctl import threadpool_limits

from giantstep import InputError
from giantstep.functions.activation import activation
from giantstep.measure import mean_and_error
from giantstep.theory.limits.bulk import Shape, shape
from giantstep.theory.limits.random_features import kernel, linear_regression, random_features

RELU = Shape(0.6, 0.75, 0.25, 0.25 - 1 / (2 * pi))
RATIO = st.floats(-2.0, 2.0).map(lambda u: float(np.exp(u)))
PART = st.floats(0.02, 2.0)


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def mei_montanari(shape: Shape, penalty: float, target_linear: float, target_rest: float, twist: float = 1.0) -> float:
    """Definition 1 and Theorem 2 of arXiv 1908.05355: F1^2 E1/E0 + (F*^2 + tau^2) E2/E0 + F*^2, plus the label noise tau^2.

    psi1 = p/d, psi2 = n/d, zeta^2 = a/b and lambda-bar = psi lambda / b (their penalty is (p/d) lambda_theirs). At
    xi = i (psi1 psi2 lambda-bar)^(1/2) both nu are purely imaginary, nu_j = i x_j. ``twist`` multiplies one coefficient.
    """
    p1, p2, z = 1 / shape.psi, 1 / shape.phi, sqrt(shape.linear / shape.rest)
    k, x1, x2 = sqrt(p1 * p2 * shape.psi * penalty / shape.rest), 1.0, 1.0
    for _ in range(100_000):
        tail = 1 + z**2 / (1 + z**2 * x1 * x2)
        new = 0.5 * (x1 + p1 / (k + x2 * tail)), 0.5 * (x2 + p2 / (k + x1 * tail))
        done = abs(new[0] - x1) + abs(new[1] - x2) < 1e-15 * (x1 + x2)
        x1, x2 = new
        if done:
            break
    c = -x1 * x2
    E0 = (
        -(c**5) * z**6
        + 3 * c**4 * z**4
        + (p1 * p2 - p2 - p1 + 1) * c**3 * z**6
        - 2 * c**3 * z**4
        - 3 * c**3 * z**2
        + (p1 + p2 - 3 * p1 * p2 + 1) * c**2 * z**4
        + 2 * c**2 * z**2
        + c**2
        + 3 * p1 * p2 * c * z**2
        - p1 * p2
    )
    E1 = p2 * c**3 * z**4 - p2 * c**2 * z**2 + p1 * p2 * c * z**2 - p1 * p2
    E2 = (
        c**5 * z**6
        - 3 * c**4 * z**4
        + (p1 - 1) * c**3 * z**6
        + 2 * c**3 * z**4
        + 3 * twist * c**3 * z**2
        + (-p1 - 1) * c**2 * z**4
        - 2 * c**2 * z**2
        - c**2
    )
    return target_linear * E1 / E0 + target_rest * E2 / E0 + target_rest


@given(RATIO, RATIO, PART, PART, st.floats(-5.0, 2.0).map(lambda u: 10**u))
def test_the_test_error_is_mei_and_montanaris(phi, psi, a, b, penalty):
    s = Shape(phi, psi, a, b)
    assert random_features(s, penalty, 1.3, 0.7).test == pytest.approx(mei_montanari(s, penalty, 1.3, 0.7), rel=1e-10)


def test_a_perturbed_polynomial_disagrees():
    assert random_features(RELU, 0.1, 1, 1).test != pytest.approx(mei_montanari(RELU, 0.1, 1, 1, twist=1.02), rel=1e-4)


def test_values():
    found = random_features(RELU, np.array([0.1, 0.01]), 1.0, 1.0)
    np.testing.assert_allclose(found.objective, [0.85815315, 0.44015166], rtol=2e-8)
    np.testing.assert_allclose(found.test, [1.96831451, 3.33295932], rtol=2e-8)
    peak = random_features(Shape(0.6, 0.6, RELU.linear, RELU.rest), 0.01, 1.0, 1.0)
    assert (peak.objective, peak.test) == pytest.approx((0.2841, 3.566), rel=3e-4)


@given(RATIO, RATIO, PART, PART)
def test_training_error_from_the_objective_and_bounds(phi, psi, a, b):
    """train = objective - lambda d(objective)/d(lambda); train < objective < E y^2; the linear floor; lambda -> infinity."""
    s, lam = Shape(phi, psi, a, b), np.geomspace(1e-6, 1e4, 11)
    found = random_features(s, lam, 1.0, 0.4)
    h = 1e-4 * lam
    change = random_features(s, lam + h, 1.0, 0.4).objective - random_features(s, lam - h, 1.0, 0.4).objective
    np.testing.assert_allclose(found.train, found.objective - lam * change / (2 * h), atol=1e-7)
    assert np.all((found.train <= found.objective) & (found.objective <= 1.4) & (found.test > 0.4))
    far = random_features(s, 1e9, 1.0, 0.4)
    np.testing.assert_allclose(far, 1.4, rtol=1e-6)


def ridge(F: np.ndarray, y: np.ndarray, Ft: np.ndarray, yt: np.ndarray, lam: float) -> tuple[float, float, float]:
    n = len(y)
    b = np.linalg.solve(F.T @ F / n + lam * np.eye(F.shape[1]), F.T @ y / n)
    train = float(np.mean((y - F @ b) ** 2))
    return float(np.mean((yt - Ft @ b) ** 2)), train, train + lam * float(b @ b)


def simulated(name: str, centred: bool, mean: float, lam: float, seeds: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard error of (test, train, objective) for y = mean + x1 + noise N(0, 1)/2, rows on the sphere."""
    n, d, p = 300, 180, 240
    sigma, found = activation(name, centred=centred), []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        W = rng.standard_normal((p, d))
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        X, Xt = rng.standard_normal((n, d)), rng.standard_normal((1500, d))
        y, yt = (mean + Z[:, 0] + 0.5 * rng.standard_normal(len(Z)) for Z in (X, Xt))
        found.append(ridge(sigma(X @ W.T), y, sigma(Xt @ W.T), yt, lam))
    return mean_and_error(np.array(found), axis=0)


@pytest.mark.parametrize(("name", "centred"), [("relu", True), ("tanh", True), ("relu", False)])
def test_simulated_random_features(name, centred):
    """A target's mean is noise to a centred activation and free to one with a mean."""
    target_mean = 0.5
    mean, error = simulated(name, centred, target_mean, 0.05, 24)
    s = shape(activation(name), 300, 180, 240)
    rest = 0.25 + (target_mean**2 if centred else 0.0)
    expected = random_features(s, 0.05, 1.0, rest)
    assert np.all(np.abs(mean - expected) < 4 * error + 0.01 * np.array(expected))  # and O(1/n) of a bias
    wrong = random_features(s, 0.05, 1.0, 0.25 if centred else 0.25 + target_mean**2)
    assert np.any(np.abs(mean - wrong) > 4 * error + 0.01 * np.array(wrong))


@given(RATIO, st.floats(-3.0, 2.0).map(lambda u: 10**u), PART)
def test_linear_regression_is_infinitely_wide_linear_features(phi, penalty, rest):
    """F0 = X W0^T with p >> d has F0 F0^T = (p/d) X X^T: the penalty is multiplied by p/d = 1/psi."""
    psi = 1e-7
    wide = random_features(Shape(phi, psi, 1.0, 0.0), penalty / psi, 1.0, rest)
    np.testing.assert_allclose(linear_regression(phi, penalty, 1.0, rest), wide, rtol=1e-5)


def test_simulated_linear_regression():
    n, d, lam, found = 200, 120, 0.1, []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, Xt = rng.standard_normal((n, d)), rng.standard_normal((2000, d))
        y, yt = (Z[:, 0] + 0.8 * rng.standard_normal(len(Z)) for Z in (X, Xt))
        found.append(ridge(X, y, Xt, yt, lam))
    mean, error = mean_and_error(np.array(found), axis=0)
    expected = np.array(linear_regression(d / n, lam, 1.0, 0.64))
    assert np.all(np.abs(mean - expected) < 4 * error + 0.01 * expected)
    assert np.any(
        np.abs(mean - np.array(linear_regression(1.15 * d / n, lam, 1.0, 0.64))) > 4 * error + 0.01 * expected
    )


@given(RATIO, st.one_of(st.just(0.0), PART), PART, st.floats(-3.0, 2.0).map(lambda u: 10**u))
def test_the_kernel_is_the_limit_of_wide_features(phi, a, b, penalty):
    wide = [random_features(Shape(phi, psi, a, b), penalty / psi, 1.0, 0.6) for psi in (1e-4, 1e-6)]
    limit = kernel(phi, a, b, penalty, 1.0, 0.6)
    np.testing.assert_allclose(wide[1], limit, rtol=1e-4)
    distance = [max(abs(np.array(w) / np.array(limit) - 1)) for w in wide]
    assert distance[1] < 0.05 * distance[0] + 1e-9  # the distance is of order psi


def test_an_exact_kernel():
    """erf, w ~ N(0, I/d): K(x, x') = (2/pi) arcsin(2 s / sqrt((1 + 2 |x|^2/d)(1 + 2 |x'|^2/d))), s = <x, x'>/d (Williams)."""
    n, d, penalty, found = 300, 200, 0.05, []

    def K(X, Z):
        norms = np.sqrt(np.outer(1 + 2 * np.sum(X**2, 1) / d, 1 + 2 * np.sum(Z**2, 1) / d))
        return 2 / pi * np.arcsin(2 * X @ Z.T / d / norms)

    for seed in range(24):
        rng = np.random.default_rng(seed)
        X, Xt = rng.standard_normal((n, d)), rng.standard_normal((1500, d))
        y, yt = (Z[:, 0] + 0.5 * rng.standard_normal(len(Z)) for Z in (X, Xt))
        gram, lam = K(X, X), penalty / d
        alpha = np.linalg.solve(gram + n * lam * np.eye(n), y)
        train = float(np.mean((y - gram @ alpha) ** 2))
        found.append((np.mean((yt - K(Xt, X) @ alpha) ** 2), train, train + lam * alpha @ gram @ alpha))
    mean, error = mean_and_error(np.array(found), axis=0)
    sigma = activation("erf")
    z, w = np.polynomial.hermite_e.hermegauss(80)
    assert sigma.mean_square == pytest.approx(float(w @ erf(z) ** 2 / w.sum()), rel=1e-6)
    s = shape(sigma, n, d, 1)
    expected = np.array(kernel(d / n, s.linear, s.rest, penalty, 1.0, 0.25))
    assert np.all(np.abs(mean - expected) < 4 * error + 0.01 * expected)
    wrong = np.array(kernel(d / n, s.linear, 0.0, penalty, 1.0, 0.25))  # without the ridge that comes for free
    assert np.any(np.abs(mean - wrong) > 4 * error + 0.01 * wrong)


def test_an_interpolating_kernel():
    found = kernel(0.6, 0.4, 0.05, [0.0, 1e-9], 1.0, 0.2)
    assert found.train[0] == found.objective[0] == 0
    assert found.test[0] == pytest.approx(found.test[1], rel=1e-6)


def test_bad_input():
    with pytest.raises(InputError, match="target_rest"):
        random_features(RELU, 0.1, 1.0, -0.1)
    with pytest.raises(InputError, match="penalty"):
        linear_regression(0.5, 0.0, 1.0, 0.0)
    with pytest.raises(InputError, match="kernel"):
        kernel(0.5, 1.0, 0.0, 0.0, 1.0, 0.0)
    with pytest.raises(InputError, match="phi"):
        kernel(-0.5, 1.0, 0.1, 0.1, 1.0, 0.0)
