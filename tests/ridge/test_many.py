"""Many ridge problems side by side: each is the solution of its own linear system."""

import numpy as np
import pytest

from giantstep._machine.backend import jax, jnp
from giantstep.ridge import _many as many
from giantstep.ridge import _resolvent as rg
from giantstep.ridge._refined import refined


@pytest.fixture
def problem(seed):
    """Gram matrices of a size that the blocks do not divide."""
    F = np.random.default_rng(seed).standard_normal((3, 400, 300))
    return np.einsum("snp,snq->spq", F, F) / 400, np.random.default_rng(seed + 1).standard_normal((3, 300))


@pytest.mark.parametrize("blocked", [True, False])
@pytest.mark.parametrize("at_once", [1, *(pytest.param(count, marks=pytest.mark.slow) for count in (2, 3))])
def test_the_solutions_are_those_of_the_systems(problem, blocked, at_once):
    A, B = problem
    penalties = np.array([1e-3, 0.1, 10.0])
    run = jax.jit(jax.vmap(lambda A, B: many.solve(A, B, jnp.asarray(penalties), at_once, blocked=blocked)))
    x, bound = run(A, B)
    for s in range(3):
        for i, lam in enumerate(penalties):
            shifted = A[s] + lam * np.eye(300)
            np.testing.assert_allclose(x[s, i], np.linalg.solve(shifted, B[s]), rtol=1e-9)
            assert 1 <= bound[s, i] <= np.linalg.cond(shifted) * (1 + 1e-9)


@pytest.mark.parametrize("at_once", [1, 2, 3, 4, 7])
def test_every_turn_is_of_one_loop(problem, at_once):
    """Two loops side by side, with batched LAPACK calls each, hung on two cores: in the 8th call, and in the 140th."""
    A, B = problem
    penalties = jnp.arange(1.0, 8.0)
    run = jax.jit(jax.vmap(lambda A, B: many.solve(A, B, penalties, at_once)))
    assert run.lower(A, B).as_text().count("lapack_dpotrf") == 1


def test_a_matrix_that_is_not_positive_gives_nan_in_its_own_place_only(problem):
    A, B = problem
    A[1] -= 10 * np.eye(300)
    x, _ = jax.jit(jax.vmap(many.in_blocks))(A, B)
    assert np.all(np.isfinite(x[0])) and np.all(np.isfinite(x[2])) and np.all(np.isnan(x[1]))


def test_a_rough_gram_matrix_is_refined_to_the_exact_fit(seed):
    rng = np.random.default_rng(seed)
    F, y = rng.standard_normal((200, 60)).astype(np.float32), rng.standard_normal(200)
    wide = F.astype(float)
    rough = wide.T @ wide * (1 + 1e-3 * rng.standard_normal((60, 60)))
    penalties = np.array([0.2, 20.0])
    found = jax.jit(refined)(F, y, (rough + rough.T) / 2, penalties)
    for i, lam in enumerate(penalties):
        b = np.linalg.solve(wide.T @ wide + lam * np.eye(60), wide.T @ y)
        np.testing.assert_allclose(found.coefficients[i], b, rtol=1e-9)
        np.testing.assert_allclose(found.error[i], np.mean((y - wide @ b) ** 2), rtol=1e-9)
    assert np.all(found.residual < 1e-11) and np.all((found.iterations > 1) & (found.iterations < 15))


def test_eigenvalues_serve_where_a_tridiagonal_matrix_does(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    G, B, lams = rng.standard_normal((50, 37)), rng.standard_normal((37, 2)), np.array([1e-3, 0.1, 5.0])
    A = jnp.asarray(G.T @ G / 50)
    plain = rg.reduce(np.asarray(A))
    monkeypatch.setattr(rg, "_on_cpu", lambda: False)
    eigen = rg.reduce(A)
    assert eigen.taus.shape == (0,)
    for name in ("inverse_trace", "condition"):
        np.testing.assert_allclose(getattr(rg, name)(eigen, lams), getattr(rg, name)(plain, lams), rtol=1e-9)
    for form in (eigen, plain):
        QtB = rg.rotate(form, B, transpose=True)
        np.testing.assert_allclose(
            rg.solve_path(form, QtB, lams)[1], np.linalg.solve(A + 0.1 * np.eye(37), B), rtol=1e-9
        )
        forms = np.einsum("mk,mk->k", B, np.linalg.solve(A + 0.1 * np.eye(37), B))
        np.testing.assert_allclose(rg.inverse_forms(form, QtB, lams)[1], forms, rtol=1e-9)
    Qtc = rg.rotate(eigen, B, transpose=True), rg.rotate(plain, B, transpose=True)
    curves = [rg.gcv_primal(form, c, 3.0, 50, lams) for form, c in zip((eigen, plain), Qtc, strict=True)]
    np.testing.assert_allclose(*curves, rtol=1e-8)
