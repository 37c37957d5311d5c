"""The intrinsic dimension: of laws whose dimension is known, and what noise and scale do to it."""

import numpy as np
import pytest
from scipy.spatial import KDTree

import giantstep as gs
from giantstep.measure.intrinsic_dimension import nearest


def turned(X: np.ndarray, d: int, rng: np.random.Generator) -> np.ndarray:
    """The points in a random subspace of d dimensions."""
    frame, _ = np.linalg.qr(rng.normal(size=(d, X.shape[1])))
    return X @ frame.T


@pytest.mark.parametrize(("D", "neighbours"), [(1, 10), (2, 2), (3, 10)])
def test_a_piece_of_known_dimension(D, neighbours):
    rng = np.random.default_rng(D)
    found = gs.measure.intrinsic_dimension(turned(rng.random((2500, D)), 20, rng), neighbours)
    assert found.value == pytest.approx(D, rel=0.06, abs=4 * found.se)
    assert found.points == 2500 and found.neighbours == neighbours and found.se < 0.05 * D


def test_many_dimensions_need_more_points():
    """The estimate is too small, and less so with more points: neighbours are too far to be inside."""
    rng = np.random.default_rng(0)
    X = rng.random((3000, 8))
    few, many = (gs.measure.intrinsic_dimension(X, most=n).value for n in (300, 3000))
    assert few < many < 8 and many > 6


def test_a_curved_piece():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2500, 4))
    found = gs.measure.intrinsic_dimension(X / np.linalg.norm(X, axis=1, keepdims=True))
    assert found.value == pytest.approx(3, rel=0.05)


def test_noise_adds_its_dimensions_below_its_size():
    rng = np.random.default_rng(0)
    line = np.column_stack([np.linspace(0, 100, 2000), np.zeros((2000, 4))])
    near, far = (gs.measure.intrinsic_dimension(line + rng.normal(size=line.shape), k).value for k in (3, 600))
    assert near > 3.5 and far < 1.3


def test_neighbours_are_scipys():
    X = np.random.default_rng(0).normal(size=(700, 5)) + 100.0
    own = KDTree(X).query(X, 5)[0][:, 1:]
    np.testing.assert_allclose(nearest(X, 4), own, rtol=1e-12)


def test_few_rows_and_equal_rows():
    rng = np.random.default_rng(0)
    X = rng.random((50, 2))
    twice = gs.measure.intrinsic_dimension(np.concatenate([X, X]), 5)
    assert twice.points == 50 and twice.value == pytest.approx(gs.measure.intrinsic_dimension(X, 5).value)
    assert gs.measure.intrinsic_dimension(rng.random((300, 2)), most=100).points == 100
    for bad, words in (
        (lambda: gs.measure.intrinsic_dimension(X, 1), "neighbours must be"),
        (lambda: gs.measure.intrinsic_dimension(X[:5]), "at least 12 different rows"),
        (lambda: gs.measure.intrinsic_dimension(X[0]), "matrix of finite numbers"),
        (lambda: gs.measure.intrinsic_dimension([["a"]]), "matrix of finite numbers"),
    ):
        with pytest.raises(gs.InputError, match=words):
            bad()
