"""Mean-field networks on inputs known by a kernel: against curves with the same inner products, and against an exact law."""

import numpy as np
import pytest

import giantstep as gs
from giantstep.systems.mean_field import dual
from giantstep.systems.mean_field.training import Training, features, train

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((24, 3)), np.tanh(2 * RNG.standard_normal(24))
HOW = {"penalty": 0.05, "particles": 800, "passes": 20, "bound": 2.0}


def test_a_linear_kernel_is_the_network_on_its_coordinates():
    """K = X X^T: the same problem in rotated coordinates, so objective, entropy and outputs agree to the noise of particles."""
    fit = gs.mean_field.fit_kernel(X @ X.T, Y, intercept=False, **HOW)
    c = 3.0 / float(np.mean(np.sum(X**2, axis=1))) ** 0.5
    own = train(X, Y, np.full(3, c), Training(**HOW), 1)
    assert fit.field.neurons.shape == (800, 3) and fit.deviation == pytest.approx(c)
    error = np.hypot(fit.field.errors["objective"], own.errors["objective"])
    assert abs(fit.field.objective - own.objective) < 4 * error
    new = RNG.standard_normal((50, 3))
    apart = fit.predict(new @ X.T) - own.outputs(new)
    assert np.sqrt(np.mean(apart**2)) < 3 * 2.0 / 800**0.5
    np.testing.assert_allclose(fit.predict(new @ X.T, np.sum(new**2, axis=1)), fit.predict(new @ X.T), atol=1e-6)


def test_what_lies_outside_the_span_is_averaged_over_the_prior():
    """Against weights on draws of a Gaussian process at old and new inputs together, whose dual problem knows the old ones."""
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    K = np.exp(-squared / 2)
    old, new = slice(0, 16), slice(16, 24)
    fit = gs.mean_field.fit_kernel(K[old, old], Y[old], intercept=False, **HOW)
    paths = RNG.multivariate_normal(np.zeros(24), fit.deviation**2 * K, size=60_000)
    H = features(paths, np.eye(24), Training(**HOW)).T  # the draws as inputs, the places as neurons
    _, best = dual.optimum(H[:, old], Y[old], 0.05, "square")
    wanted = best.weights @ H[:, new]
    found = fit.predict(K[new, old], np.ones(8))
    assert abs(fit.field.objective - best.objective) < 4 * np.hypot(fit.field.errors["objective"], best.error) + fit.gap
    assert np.sqrt(np.mean((found - wanted) ** 2)) < 0.12
    without = fit.predict(K[new, old])
    assert np.sqrt(np.mean((without - wanted) ** 2)) > 1.1 * np.sqrt(np.mean((found - wanted) ** 2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gs.mean_field.fit_kernel(np.ones((3, 2)), np.ones(3)), "square matrix"),
        (lambda: gs.mean_field.fit_kernel([[1.0, 2.0], [0.0, 1.0]], [1.0, 2.0]), "symmetric"),
        (lambda: gs.mean_field.fit_kernel([[1.0, 2.0], [2.0, 1.0]], [1.0, 2.0]), "no negative eigenvalue"),
        (lambda: gs.mean_field.fit_kernel(np.eye(2), [1.0, 2.0, 3.0]), "y must be 2 finite numbers"),
        (lambda: gs.mean_field.fit_kernel(np.eye(2), [1.0, 2.0], loss="logistic"), r"\+1 and -1"),
        (lambda: gs.mean_field.fit_kernel(np.eye(2), [1.0, 2.0], spread=0.0), "spread must be above 0"),
        (lambda: gs.mean_field.fit_kernel(np.eye(2), [1.0, 2.0], speed=1), "no option 'speed'"),
    ],
)
def test_what_is_no_gram_matrix_is_refused_in_a_sentence(call, words):
    with pytest.raises(gs.InputError, match=words):
        call()


def test_graphs_are_told_apart_by_a_kernel_of_their_own():
    """Paths and stars, by the histogram of degrees: ten are fitted, and the two left out are right too."""

    def degrees(kind: str, nodes: int) -> np.ndarray:
        ends = [(i, i + 1) if kind == "path" else (0, i + 1) for i in range(nodes - 1)]
        return np.bincount(np.bincount(np.ravel(ends), minlength=nodes), minlength=10) / nodes

    H = np.array([degrees(kind, nodes) for nodes in range(4, 10) for kind in ("path", "star")])
    y = np.tile([1.0, -1.0], 6)
    K, kept = H @ H.T, np.arange(12) >= 2
    fit = gs.mean_field.fit_kernel(K[np.ix_(kept, kept)], y[kept], loss="logistic", particles=300, passes=15)
    assert np.array_equal(np.sign(fit.predict(K[:, kept], np.diag(K))), y)
