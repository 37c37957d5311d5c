"""Ridge fits against scikit-learn, NumPy and their own definitions on small seeded problems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from giantstep._machine.backend import jax, jnp
from giantstep.errors import InputError
from giantstep.ridge import _resolvent as resolvent
from giantstep.ridge import ridge
from giantstep.ridge._resolvent import (
    choose_penalty,
    condition,
    gcv_dual,
    gcv_primal,
    gram,
    inverse_forms,
    inverse_trace,
    moment_error,
    reduce,
    rotate,
    solve_cholesky,
    solve_path,
)

# Shapes and numbers of penalties are the same across tests where they can be: XLA compiles once for each.
PENALTIES = np.array([1e-6, 1e-3, 0.1, 2.0, 1e3])
WITH_ZERO = np.array([0.0, 1e-3, 0.1, 2.0, 1e3])
SHAPES = [(30, 12), (12, 30), (15, 15)]


def problem(n, p, k=None, seed=0):
    rng = np.random.default_rng([seed, n, p])
    F = rng.normal(size=(n, p)) * np.exp(rng.normal(size=p))
    return F, rng.normal(size=n if k is None else (n, k)) + (F[:, :1] if k else F[:, 0])


def relative(a, b):
    return np.linalg.norm(np.asarray(a) - np.asarray(b)) / np.linalg.norm(np.asarray(b))


def at(fit, i):
    """The fit at penalty i of a path, as plain numbers."""
    return jax.tree.map(lambda x: np.asarray(x)[i], fit)


def dense(F, y, lam):
    """Coefficients, hat matrix and residual by plain normal equations."""
    n, p = F.shape
    inverse = np.linalg.inv(F.T @ F / n + lam * np.eye(p))
    return inverse @ F.T @ y / n, F @ inverse @ F.T / n, y - F @ inverse @ F.T @ y / n


@pytest.mark.parametrize(("n", "p", "k"), [(30, 12, None), (12, 30, None), (15, 15, None), (30, 12, 3), (12, 30, 3)])
def test_matches_scikit_learn(n, p, k):
    F, y = problem(n, p, k)
    path = ridge(F, y, PENALTIES, loo=True)
    for i, lam in enumerate(PENALTIES):
        expected = Ridge(fit_intercept=False, alpha=n * lam, solver="svd").fit(F, y).coef_.T
        error = np.mean((y - F @ expected) ** 2)
        # The path and the single fit take different routes: reduction and Cholesky.
        for fit in (ridge(F, y, lam), at(path, i)):
            assert relative(fit.coefficients, expected) < 1e-8
            assert fit.penalty == lam
            assert fit.train_error == pytest.approx(error, rel=1e-8, abs=1e-18)
            assert fit.train_objective == pytest.approx(error + lam * np.sum(expected**2) / (k or 1), rel=1e-8)
            assert fit.notes == ()
    assert path.coefficients.shape == (5, p) + (() if k is None else (k,))


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_degrees_of_freedom_gcv_and_condition_are_their_definitions(n, p):
    F, y = problem(n, p)
    path = ridge(F, y, PENALTIES, loo=True)
    squares = np.linalg.svd(F, compute_uv=False) ** 2 / n
    for i, lam in list(enumerate(PENALTIES))[2:]:  # where the textbook formulas below keep their digits
        _, hat, residual = dense(F, y, lam)
        single = ridge(F, y, lam)
        exact = (squares[0] + lam) / (squares[-1] + lam)
        for fit in (single, at(path, i)):
            assert fit.degrees_of_freedom == pytest.approx(np.trace(hat), rel=1e-8)
            assert fit.gcv == pytest.approx(np.mean(residual**2) / (1 - np.trace(hat) / n) ** 2, rel=1e-8)
        assert at(path, i).condition == pytest.approx(exact, rel=1e-8)
        assert exact / 2 <= single.condition <= exact * (1 + 1e-8)


@pytest.mark.parametrize(("n", "p", "k"), [(30, 12, None), (12, 30, None), (15, 15, None), (30, 12, 3), (12, 30, 3)])
def test_leave_one_out_is_an_explicit_refit(n, p, k):
    F, y = problem(n, p, k)
    fit = ridge(F, y, PENALTIES, loo=True)
    for i, lam in enumerate(PENALTIES):
        left_out = []
        for j in range(n):
            rest = np.arange(n) != j
            model = Ridge(fit_intercept=False, alpha=n * lam, solver="svd").fit(F[rest], y[rest])
            left_out.append(y[j] - F[j] @ model.coef_.T)
        assert at(fit, i).loo_error == pytest.approx(np.mean(np.square(left_out)), rel=1e-7)


@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("deficient", [False, True])
def test_zero_penalty_is_the_minimum_norm_fit(n, p, deficient):
    F, y = problem(n, p)
    rank = 4 if deficient else min(n, p)
    F = F[:, :4] @ np.random.default_rng(3).normal(size=(4, p)) if deficient else F
    path = ridge(F, y, WITH_ZERO, loo=True)
    fit = at(path, 0)
    expected = np.linalg.lstsq(F, y, rcond=None)[0]
    assert relative(fit.coefficients, expected) < 1e-8
    assert fit.train_error == pytest.approx(np.mean((y - F @ expected) ** 2), rel=1e-8, abs=1e-20)
    assert fit.degrees_of_freedom == pytest.approx(rank)
    refits = [np.linalg.lstsq(np.delete(F, i, 0), np.delete(y, i), rcond=None)[0] for i in range(n)]
    assert fit.loo_error == pytest.approx(np.mean((y - np.sum(F * refits, 1)) ** 2), rel=1e-7)
    for i, lam in enumerate(WITH_ZERO[2:], start=2):
        b, hat, residual = dense(F, y, lam)
        assert relative(at(path, i).coefficients, b) < 1e-8
        assert at(path, i).loo_error == pytest.approx(np.mean((residual / (1 - np.diag(hat))) ** 2), rel=1e-7)
        assert at(path, i).gcv == pytest.approx(np.mean(residual**2) / (1 - np.trace(hat) / n) ** 2, rel=1e-7)
    if deficient:
        assert f"minimum-norm fit by an SVD of F has the numerical rank 4 of {min(n, p)}" in fit.notes[0]
    else:
        assert fit.notes == ()


def test_gcv_of_interpolation_is_the_limit_from_positive_penalties():
    F, y = problem(12, 30)
    gram_route = ridge(F, y, [0.0, 1e-10, 1e-9, 1e-8, 1.0], loo=True)
    svd_route = ridge(np.vstack([F[:1] * 1e-6, F[1:]]), y, [0.0, 1e-15, 1e-9, 1e-8, 1.0], loo=True)
    assert gram_route.notes == () and len(svd_route.notes) == 1
    for fit in (gram_route, svd_route):
        assert at(fit, 0).gcv == pytest.approx(at(fit, 1).gcv, rel=1e-2 if fit is svd_route else 1e-6)
        assert at(fit, 0).gcv > 0


def test_a_leverage_of_one_goes_to_the_svd():
    F, y = problem(30, 12)
    F[:-1, 0] = 0
    fit = ridge(F, y, 0, loo=True)
    refits = [np.linalg.lstsq(np.delete(F, i, 0), np.delete(y, i), rcond=None)[0] for i in range(30)]
    assert fit.loo_error == pytest.approx(np.mean((y - np.sum(F * refits, 1)) ** 2), rel=1e-8)
    assert fit.notes == ("A leverage is within 1e-06 of 1. The fit by an SVD of F has the numerical rank 12 of 12.",)


@pytest.mark.parametrize(("n", "p", "k"), [(30, 12, None), (12, 30, None), (30, 12, 3)])
def test_gcv_choice_beats_a_fine_scan(n, p, k):
    F, y = problem(n, p, k)
    chosen = ridge(F, y, "gcv", loo=True)
    scan = np.logspace(-9, 3, 300).reshape(60, 5) * np.sum(F**2) / (n * min(n, p))
    assert chosen.gcv <= min(np.min(ridge(F, y, five, loo=True).gcv) for five in scan) * (1 + 1e-9)
    assert relative(chosen.coefficients, ridge(F, y, chosen.penalty, loo=True).coefficients) < 1e-12


def test_gcv_at_an_end_of_its_range_says_so():
    F, _ = problem(30, 12)
    unexplained = np.linalg.svd(F)[0][:, -1]
    assert "upper end" in ridge(F, unexplained, "gcv", loo=True).notes[0]
    F, _ = problem(12, 30)
    assert "lower end" in ridge(F, F[:, 0], "gcv", loo=True).notes[0]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), log_penalty=st.floats(-4, 3), wide=st.booleans())
def test_duplicated_data_leave_the_fit_unchanged(seed, log_penalty, wide):
    F, y = problem(*((12, 30) if wide else (15, 12)), seed=seed)
    penalties = 10.0 ** (log_penalty - np.arange(5) / 5)
    once = ridge(F, y, penalties, loo=True)
    twice = ridge(np.vstack([F, F]), np.concatenate([y, y]), penalties, loo=True)
    assert relative(twice.coefficients, once.coefficients) < 1e-7
    np.testing.assert_allclose(twice.train_objective, once.train_objective, rtol=1e-7)


@pytest.mark.parametrize(("n", "p"), SHAPES[:2])
def test_primal_equals_dual_through_the_pieces(n, p):
    F, y = problem(n, p, 2)
    penalties = jnp.asarray(PENALTIES[2:])

    @jax.jit
    def pieces(F, y):
        primal, dual = reduce(gram(F) / n), reduce(gram(F.T) / n)
        Qtc, QtY = rotate(primal, F.T @ y / n, transpose=True), rotate(dual, y, transpose=True)
        curves = gcv_primal(primal, Qtc, jnp.mean(y**2), n, penalties), gcv_dual(dual, QtY, penalties)
        traces = inverse_trace(primal, penalties), inverse_trace(dual, penalties)
        return solve_path(primal, Qtc, penalties), solve_path(dual, QtY, penalties), traces, curves

    b, a, traces, curves = pieces(F, y)
    assert relative(np.einsum("np,lnk->lpk", F, a) / n, b) < 1e-9
    # Both Gram matrices have the same non-zero eigenvalues, so the traces differ by (p - n) / lam.
    np.testing.assert_allclose((traces[0] - traces[1]) * penalties, p - n, atol=1e-8)
    np.testing.assert_allclose(*curves, rtol=1e-8)


def test_large_penalties_shrink_to_the_correlations():
    F, y = problem(30, 12)
    assert relative(ridge(F, y, 1e9).coefficients * 1e9, F.T @ y / 30) < 1e-6
    extreme = ridge(*problem(12, 30), [1e9, 1e50, 1e100, 1e200, 1e300], loo=True)
    assert extreme.loo_error is not None
    assert np.all(np.isfinite(extreme.gcv)) and np.all(np.isfinite(extreme.loo_error))


@pytest.mark.parametrize("p", [7, 700])
def test_gram_is_the_symmetric_product(p):
    F = np.random.default_rng(p).normal(size=(20, p))
    product = np.asarray(jax.jit(gram)(F))
    np.testing.assert_allclose(product, F.T @ F, atol=1e-12)
    assert np.array_equal(product, product.T)


@pytest.mark.parametrize("m", [1, 2, 6])
def test_reduction_pieces_at_small_sizes(m):
    rng = np.random.default_rng(m)
    F, B, penalties = rng.normal(size=(12, m)), rng.normal(size=(m, 4)), np.array([0.1, 3.0])

    @jax.jit
    def pieces(A, B, penalties):
        reduction = reduce(A)
        QtB = rotate(reduction, B, transpose=True)
        spectrum = inverse_trace(reduction, penalties), condition(reduction, penalties)
        solutions = solve_path(reduction, QtB, penalties), jax.vmap(solve_cholesky, (None, None, 0))(A, B, penalties)[0]
        return (
            reduction,
            rotate(reduction, jnp.eye(m), transpose=False),
            QtB,
            spectrum,
            solutions,
            inverse_forms(reduction, QtB, penalties),
        )

    A = F.T @ F
    reduction, Q, QtB, (traces, conditions), solutions, forms = jax.tree.map(np.asarray, pieces(A, B, penalties))
    off = reduction.off_diagonal[1:]
    np.testing.assert_allclose(Q @ (np.diag(reduction.diagonal) + np.diag(off, 1) + np.diag(off, -1)) @ Q.T, A)
    np.testing.assert_allclose(QtB, Q.T @ B)
    for i, lam in enumerate(penalties):
        inverse = np.linalg.inv(A + lam * np.eye(m))
        np.testing.assert_allclose(forms[i], np.diag(B.T @ inverse @ B), rtol=1e-10)
        np.testing.assert_allclose(traces[i], np.trace(inverse), rtol=1e-10)
        np.testing.assert_allclose(conditions[i], np.linalg.cond(A + lam * np.eye(m)), rtol=1e-10)
        for solution in solutions:
            np.testing.assert_allclose(solution[i], inverse @ B, rtol=1e-8, atol=1e-12)


def test_vmap_over_problems_is_the_loop():
    def pieces(F, Y):
        n = F.shape[0]
        A, c, penalties = gram(F) / n, F.T @ Y / n, jnp.asarray(PENALTIES)
        reduction = reduce(A)
        Qtc = rotate(reduction, c, transpose=True)
        b = solve_path(reduction, Qtc, penalties)
        errors = jax.vmap(moment_error, (None, None, None, 0))(A, c, jnp.mean(Y**2), b)
        best, _ = choose_penalty(reduction, lambda lam: gcv_primal(reduction, Qtc, jnp.mean(Y**2), n, lam))
        return b, solve_cholesky(A, c, best)[0], errors, condition(reduction, penalties)

    pairs = [problem(30, 12, 3, seed) for seed in range(4)]
    F, Y = np.stack([F for F, _ in pairs]), np.stack([Y for _, Y in pairs])
    together = jax.tree.map(np.asarray, jax.jit(jax.vmap(pieces))(F, Y))
    for i in range(4):
        for batched, alone in zip(together, jax.jit(pieces)(F[i], Y[i]), strict=True):
            np.testing.assert_allclose(batched[i], alone, rtol=1e-9, atol=1e-12)
        fit = ridge(F[i], Y[i], PENALTIES, loo=True)
        np.testing.assert_allclose(together[0][i], fit.coefficients, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(together[2][i], fit.train_error, rtol=1e-9)
        np.testing.assert_allclose(together[1][i], ridge(F[i], Y[i], "gcv", loo=True).coefficients, rtol=1e-6)


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_hilbert_features_give_finite_numbers_and_a_note(n, p):
    F = 1 / (1.0 + np.arange(n)[:, None] + np.arange(p))
    y = np.cos(np.arange(n))
    penalties = np.array([0, 1e-15, 1e-12, 1e-6, 1.0])
    path = ridge(F, y, penalties, loo=True)
    for fit in (path, ridge(F, y, "gcv", loo=True)) if n != p else (path,):
        assert fit.loo_error is not None
        numbers = (fit.train_error, fit.train_objective, fit.degrees_of_freedom, fit.gcv, fit.loo_error)
        assert all(bool(np.all(np.isfinite(x))) for x in (fit.coefficients, *numbers))
    assert "ill-conditioned: eps * condition = " in path.notes[0]
    for i, lam in enumerate(penalties[1:], start=1):
        expected = Ridge(fit_intercept=False, alpha=n * lam, solver="svd").fit(F, y).coef_
        assert relative(at(path, i).coefficients, expected) < 1e-6


def test_a_failed_cholesky_is_noted():
    F = np.outer(np.ones(32), 2.0 ** np.arange(12))  # powers of two: F^T F / 32 has rank one without any rounding
    y = np.arange(32.0)
    fit = ridge(F, y, 1e-300)
    assert relative(fit.coefficients, np.linalg.lstsq(F, y, rcond=None)[0]) < 1e-8
    assert "Cholesky failed" in fit.notes[0] and "numerical rank 1 of 12" in fit.notes[1]


@pytest.mark.parametrize(("n", "p"), [(1, 1), (1, 3), (3, 1), (30, 12), (12, 30)])
def test_degenerate_data(n, p):
    for F in (np.zeros((n, p)), np.ones((n, p)), problem(n, p)[0] * (np.arange(p) != 1)):
        for y in (np.ones(n), np.zeros(n)):
            for penalty in (WITH_ZERO, "gcv") if p > 1 else (WITH_ZERO,):
                fit = ridge(F, y, penalty, loo=True)
                assert fit.loo_error is not None
                numbers = (fit.train_error, fit.train_objective, fit.degrees_of_freedom, fit.gcv, fit.loo_error)
                assert all(bool(np.all(np.isfinite(x))) for x in (fit.coefficients, *numbers))
                assert not np.any(np.isnan(fit.condition))
                assert np.any(F) or not np.any(fit.coefficients)


def test_float32_and_jax_arrays_are_fitted_in_float64():
    F, y = (x.astype(np.float32) for x in problem(30, 12))
    fit, expected = ridge(jnp.asarray(F), jnp.asarray(y), 0.1), dense(F.astype(float), y.astype(float), 0.1)[0]
    assert fit.loo_error is None
    assert relative(fit.coefficients, expected) < 1e-12


@pytest.mark.parametrize(
    ("F", "y", "penalty", "words"),
    [
        (np.ones((3, 2)), np.ones(4), 1.0, "F has 3 rows and y has 4"),
        (np.ones(3), np.ones(3), 1.0, "F has shape"),
        (np.ones((3, 2, 1)), np.ones(3), 1.0, "n x p matrix"),
        (np.ones((0, 2)), np.ones(0), 1.0, "non-empty"),
        (np.ones((3, 0)), np.ones(3), 1.0, "non-empty"),
        (np.ones((3, 2)), np.ones((3, 0)), 1.0, "y has shape"),
        (np.ones((3, 2)), np.ones((3, 1, 1)), 1.0, "y has shape"),
        (np.full((3, 2), np.nan), np.ones(3), 1.0, "F has NaN"),
        (np.ones((3, 2)), np.array([1, np.inf, 1]), 1.0, "y has NaN, inf"),
        (np.full((3, 2), 1e200), np.ones(3), 1.0, "rescale"),
        (np.ones((3, 2)) * 1j, np.ones(3), 1.0, "real"),
        ([["a", "b"]], [1.0], 1.0, "real"),
        ([[1.0, 2.0], [1.0]], [1.0, 2.0], 1.0, "F has rows of different lengths"),
        (np.ones((3, 2)), np.ones(3), -1.0, "negative"),
        (np.ones((3, 2)), np.ones(3), [1.0, np.nan], "NaN"),
        (np.ones((3, 2)), np.ones(3), np.inf, "infinite"),
        (np.ones((3, 2)), np.ones(3), [], "non-empty sequence"),
        (np.ones((3, 2)), np.ones(3), [[1.0]], "not a number"),
        (np.ones((3, 2)), np.ones(3), [[1.0], [1.0, 2.0]], "not a number"),
        (np.ones((3, 2)), np.ones(3), None, "not a number"),
        (np.ones((3, 2)), np.ones(3), "cv", "penalty 'cv'"),
    ],
)
def test_bad_input_is_told_in_a_sentence(F, y, penalty, words):
    with pytest.raises(InputError, match="^ridge: .*\\.$") as caught:
        ridge(F, y, penalty)
    assert words in str(caught.value)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gram_on_an_accelerator_is_the_same_product(monkeypatch, dtype):
    monkeypatch.setattr(resolvent, "_on_cpu", lambda: False)
    monkeypatch.setattr(resolvent, "_SPLIT_ON_DEVICE", 10)
    F = np.random.default_rng(3).normal(size=(3, 20, 12)).astype(dtype)
    text = str(jax.make_jaxpr(gram)(jnp.asarray(F[0])))
    assert ("symmetric_product" in text) == (dtype == "float64")  # syrk has no rounded products
    for found, each in zip(np.asarray(jax.jit(jax.vmap(gram))(jnp.asarray(F))), F, strict=True):
        np.testing.assert_array_equal(found, found.T)
        np.testing.assert_allclose(found, each.T @ each, atol=1e-4 if dtype == "float32" else 1e-12)
