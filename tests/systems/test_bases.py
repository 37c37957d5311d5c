"""Curves and their coefficients: orthonormal bases, both ways of projecting, irregular grids, and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from giantstep import InputError
from giantstep.systems.mean_field.bases import BASES, basis, project, smoothness


@pytest.mark.parametrize("kind", BASES)
def test_a_basis_is_orthonormal(kind):
    t, w = np.polynomial.legendre.leggauss(200)
    E = basis((t + 1) / 2, 12, kind)
    np.testing.assert_allclose(E.T @ (w[:, None] / 2 * E), np.eye(12), atol=1e-12)


@given(st.sampled_from(BASES), st.integers(1, 12), st.integers(0, 10**6))
def test_least_squares_gives_back_the_coefficients(kind, count, seed):
    rng = np.random.default_rng(seed)
    c, t = rng.standard_normal((3, count)), (np.arange(40) + rng.random(40)) / 40
    np.testing.assert_allclose(project(c @ basis(t, count, kind).T, t, count, kind, domain=(0, 1)), c, atol=1e-7)


def test_quadrature_tends_to_the_integral():
    """The trapezoidal rule errs as m^-2."""
    c = np.array([[1.0, -0.5, 0.25, 0.1]])
    errors = []
    for m in (41, 81):
        t = np.linspace(2.0, 5.0, m)
        values = c @ basis((t - 2) / 3, 4, "sine").T
        errors.append(np.max(np.abs(project(values, t, 4, "sine", how="quadrature") - c)))
    assert errors[1] == pytest.approx(errors[0] / 4, rel=0.1) and errors[1] < 1e-3


def test_own_grids_are_the_common_grid_where_they_are_equal():
    rng = np.random.default_rng(0)
    t, curves = np.sort(rng.random(30)), rng.standard_normal((4, 30))
    np.testing.assert_allclose(
        project(list(curves), [t] * 4, 6, smooth=1e-3), project(curves, t, 6, smooth=1e-3), atol=1e-12
    )


def test_smoothing_tames_noise_on_few_points():
    rng = np.random.default_rng(1)
    c = rng.standard_normal((200, 8)) * smoothness(8, 2.0)
    t = [np.sort(rng.random(12)) for _ in c]
    values = [basis(s, 8) @ x + 0.3 * rng.standard_normal(12) for s, x in zip(t, c, strict=True)]
    plain, smooth = (project(values, t, 8, smooth=s, domain=(0, 1)) for s in (0.0, 0.02))
    assert np.mean((smooth - c) ** 2) < 0.1 * np.mean((plain - c) ** 2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((np.ones((2, 5)), [0, 1, 2, 3, 3], 2), "increasing"),
        ((np.ones((2, 5)), [0, 1, 2, 3], 2), "5 values on a grid of 4"),
        ((np.ones((2, 5)), [0, 1, 2, 3, 4], 6), "need as many values"),
        ((np.full((2, 5), np.nan), [0, 1, 2, 3, 4], 2), "missing"),
        (([np.ones(3)], [[0, 1, 2], [0, 1, 2]], 2), "as many grids"),
        ((np.ones(5), [0, 1, 2, 3, 4], 2), "must be a matrix"),
        ((np.ones((2, 5)), [0, 1, 2, 3, 4], 2, "haar"), "kind must be one of"),
    ],
)
def test_refusals(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        project(*arguments)


def test_a_grid_must_lie_in_the_domain():
    with pytest.raises(InputError, match="must lie in the domain"):
        project(np.ones((1, 3)), [0, 1, 2], 2, domain=(0.0, 1.0))
