"""Measurements against NumPy, identities and known laws."""

import numpy as np
import pytest

from giantstep import InputError, measure


def test_spectrum_agrees_with_the_svd(seed):
    rng = np.random.default_rng(seed)
    for shape in ((60, 45), (45, 60)):
        A = rng.standard_normal(shape)
        U, s, Vt = np.linalg.svd(A)
        found = measure.spectrum(A, vectors=3)
        np.testing.assert_allclose(found.values, s, rtol=1e-9)
        np.testing.assert_allclose(np.abs(np.sum(found.left * U[:, :3], axis=0)), 1, rtol=1e-9)
        np.testing.assert_allclose(np.abs(np.sum(found.right * Vt[:3].T, axis=0)), 1, rtol=1e-9)
        np.testing.assert_allclose(measure.spectrum(A).values, s, rtol=1e-9)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (5, 1), (3, 7), (40, 30), (30, 40)])
@pytest.mark.parametrize("vectors", [1, 2, 50])
def test_leading_vectors_belong_to_their_values(shape, vectors):
    A = np.random.default_rng(0).standard_normal(shape)
    found, count = measure.spectrum(A, vectors), min(vectors, *shape)
    np.testing.assert_allclose(found.values, np.linalg.svd(A, compute_uv=False), atol=1e-6)
    np.testing.assert_allclose(A @ found.right, found.left * found.values[:count], atol=1e-6)
    np.testing.assert_allclose(found.right.T @ found.right, np.eye(count), atol=1e-9)


@pytest.mark.parametrize("unit", [0.0, 1e-120, 1.0, 1e120])
def test_values_that_coincide_have_orthonormal_vectors(unit):
    found = measure.spectrum(unit * np.eye(60)[:, :40], 12)
    np.testing.assert_allclose(found.values, unit)
    np.testing.assert_allclose(found.right.T @ found.right, np.eye(12), atol=1e-12)


def test_operator_norm(seed):
    A = np.random.default_rng(seed).standard_normal((150, 120))
    assert measure.operator_norm(A) == pytest.approx(np.linalg.norm(A, 2), rel=1e-8)
    assert measure.operator_norm(A[:50]) == pytest.approx(np.linalg.norm(A[:50], 2), rel=1e-8)


def test_the_edge_of_a_marchenko_pastur_bulk_and_its_outlier(seed):
    """Singular values of Z / sqrt(n) end at 1 + sqrt(p/n); a spike theta u v^T shows at sqrt((1 + t)(c + t) / t), t = theta^2."""
    rng = np.random.default_rng(seed)
    n, p = 1600, 800
    Z = rng.standard_normal((n, p)) / np.sqrt(n)
    values = measure.spectrum(Z).values
    edge = 1 + np.sqrt(p / n)
    assert measure.bulk_edge(values) == pytest.approx(edge, rel=0.015)
    assert len(measure.outliers(values)) == 0
    theta = 2.0
    Z[:, 0] += theta * np.eye(n)[0]
    values = measure.spectrum(Z).values
    place = np.sqrt((1 + theta**2) * (p / n + theta**2) / theta**2)
    assert len(measure.outliers(values)) == 1
    assert measure.outliers(values)[0] == pytest.approx(place, rel=0.02)
    assert len(measure.outliers(values, edge=place * 1.2)) == 0


def test_gram_schmidt_powers(seed):
    g = np.random.default_rng(seed).standard_normal(20_000)
    basis = measure.gram_schmidt_powers(3 * g, 4)
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-12)
    limits = np.stack([g, g**2, g**3 - 3 * g, g**4 - 5 * g**2], axis=1)  # no constant among them
    np.testing.assert_allclose(np.diag(measure.alignments(limits, basis)), 1, atol=0.02)
    np.testing.assert_allclose(measure.alignments(g[:, None] ** 3, basis)[0, 2], 6 / 15, atol=0.02)
    np.testing.assert_allclose(np.linalg.norm(measure.powers(g, 3), axis=0), 1)


def test_shares_and_angles(seed):
    rng = np.random.default_rng(seed)
    W, Q = rng.standard_normal((50, 12)), np.linalg.qr(rng.standard_normal((12, 3)))[0].T
    each = measure.captured_by_neuron(W, Q)
    np.testing.assert_allclose(each.sum(axis=1), measure.in_subspace(W, Q))
    np.testing.assert_allclose(measure.captured_by_neuron(5 * W, 2 * Q), each)
    np.testing.assert_allclose(measure.in_subspace(Q, Q), 1)
    np.testing.assert_allclose(measure.overlaps(W, Q), W @ Q.T)
    turned = np.array([[np.cos(0.3), np.sin(0.3), 0.0]])
    np.testing.assert_allclose(measure.principal_angles(np.array([[1.0, 0, 0]]), turned), [0.3])
    shares = measure.in_subspace(W, Q)
    assert measure.null_level(W, Q) == pytest.approx(np.mean(1 - shares) / 9)
    assert measure.null_level(W, np.array([[1.0] + [0] * 11, [1.0, 0.1] + [0] * 10])) > 0  # rows need not be orthogonal


def test_bad_input():
    with pytest.raises(InputError, match="finite"):
        measure.spectrum(np.array([[np.nan]]))
    with pytest.raises(InputError, match="at least 40"):
        measure.bulk_edge(np.ones(10))


@pytest.mark.parametrize("scale, dtype", [(1e-200, float), (1e200, float), (1e-30, np.float32), (1e30, np.float32)])
def test_shares_do_not_depend_on_the_length_of_rows(scale, dtype):
    W, directions = np.random.default_rng(0).standard_normal((5, 4)), np.eye(4)[:2]
    scaled = (W * [[scale], [1.0], [scale], [1.0], [scale]]).astype(dtype)
    for share in (measure.captured_by_neuron, measure.in_subspace):
        np.testing.assert_allclose(share(scaled, directions), share(W, directions), rtol=1e-5)


def test_shares_of_long_and_of_empty_rows():
    W, directions = np.array([[3.0, 4.0], [0.0, 0.0], [1e200, 1e200]]), np.array([[1e200, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(measure.captured_by_neuron(W, directions), [[0.36, 0.0], [0.0, 0.0], [0.5, 0.0]])
