"""One formula, two kinds of arrays: NumPy at once and JAX compiled give the same numbers."""

from dataclasses import replace

import numpy as np
import pytest

import giantstep as gs
from giantstep._machine.arrays import compiled, fold, frozen, in_turn, is_jax, over_seeds, repeat, until, xp
from giantstep._machine.backend import jax, jnp
from giantstep._training import plan
from giantstep.ridge import _resolvent as resolvent
from giantstep.theory.one_step import _conditional as conditional
from giantstep.theory.one_step import _grid as grid
from giantstep.theory.one_step._fixed_point import TOLERANCE
from giantstep.theory.one_step.parameters import parameters

SETTING = gs.Setting(
    gs.Gaussian(40),
    gs.target("x1 + H2(x1)/2", noise=0.4),
    gs.Network(60, "relu", centred=True),
    gs.Protocol((gs.GiantStep(150, [0.0, 4.0]),), gs.Ridge(200, [0.01, 1.0])),
)
FIELDS = ("test_error", "train_error", "train_objective", "captured", "singular_values", "overlaps")


def with_readout(**options):
    return replace(SETTING, protocol=replace(SETTING.protocol, readout=gs.Ridge(**options)))


def test_arrays_decide():
    assert not is_jax([1.0, (np.ones(2), None)]) and is_jax([1.0, (jnp.ones(2), None)])
    assert isinstance(xp.sqrt(np.ones(2)), np.ndarray) and is_jax(xp.sqrt(jnp.ones(2)))
    assert is_jax(xp.stack([np.ones(2), jnp.ones(2)])) and isinstance(xp.stack([np.ones(2)] * 2), np.ndarray)
    assert xp.pi == np.pi and is_jax(xp.linalg.solve(jnp.eye(2), jnp.ones(2)))


def test_what_lapack_refuses_is_nan():
    assert np.all(np.isnan(xp.linalg.solve(np.zeros((2, 2)), np.ones(2))))
    assert np.all(np.isnan(xp.linalg.solve(np.zeros((3, 2, 2)), np.ones((3, 2, 1)))))
    some = xp.linalg.solve(np.stack([np.eye(2), np.zeros((2, 2))])[:, None], np.ones((2, 3, 2, 1)))
    assert np.all(some[0] == 1) and np.all(np.isnan(some[1]))  # those beside it have their solutions
    assert np.all(np.isnan(xp.linalg.cholesky(-np.eye(2))))
    values, vectors = xp.linalg.eigh(np.full((2, 2), np.nan))
    assert np.all(np.isnan(values)) and np.all(np.isnan(vectors))


@pytest.mark.parametrize("kind", [np.asarray, jnp.asarray])
def test_loops(kind):
    x = kind(np.array([1.0, 2.0]))
    assert np.allclose(repeat(3, lambda s: 2 * s, x), 8 * np.asarray(x))
    assert np.allclose(fold(lambda s, row: 10 * s + row, 0 * x, kind(np.arange(6.0).reshape(3, 2))), [24, 135])
    assert np.allclose(
        fold(lambda s, row: 10 * s + row, 0 * x, kind(np.arange(6.0).reshape(3, 2)), reverse=True), [420, 531]
    )
    assert np.allclose(until(lambda s: s[0] < 100, lambda s: (3 * s[0], s[1] + 1), (kind(np.array(1.0)), 0)), (243, 5))
    assert np.allclose(in_turn(lambda row: row.sum(), kind(np.ones((3, 4)))), 4)
    assert np.allclose(over_seeds(lambda a, b: (a + b, a @ b))(kind(np.ones((2, 3))), kind(np.ones((2, 3))))[1], 3)
    assert np.allclose(frozen(x), x)


def test_what_is_compiled_runs_at_once_on_numpy():
    traced = []

    @compiled(static_argnames="times")
    def product(x, *, times):
        traced.append(is_jax(x))
        return times * x

    assert isinstance(product(np.ones(2), times=2), np.ndarray) and traced == [False]
    assert is_jax(product(jnp.ones(2), times=2)) and product(jnp.ones(2), times=2) is not None
    assert traced == [False, True]  # once for the program


@pytest.mark.parametrize(
    "setting, options",
    [
        (SETTING, {}),
        (with_readout(n=200, penalty=0.1), {"spectrum": True}),
        pytest.param(with_readout(n=200, penalty="gcv"), {}, marks=pytest.mark.slow),
        (with_readout(n=30, penalty="gcv"), {}),
        (with_readout(n=30, penalty=0.0), {}),
        (with_readout(n=200, penalty=0.1, deflate=2), {}),
        (replace(SETTING, network=gs.Network(4, "tanh")), {"method": "overlap"}),
    ],
)
def test_simulations(setting, options, monkeypatch):
    now = gs.simulate(setting, range(2), n_test=300, **options)
    monkeypatch.setattr(plan, "AT_ONCE", -1.0)
    monkeypatch.setattr(plan, "cores", lambda: [0, 1])
    later = gs.simulate(setting, range(2), n_test=300, **options)
    for name in FIELDS:
        a, b = getattr(now, name), getattr(later, name)
        assert (a is None) == (b is None), name
        if a is not None:
            assert np.allclose(a, b, rtol=1e-6, atol=1e-8 * np.max(np.abs(b))), name  # GCV is flat at its minimum
    assert now.status.ok == later.status.ok


@pytest.mark.parametrize("model", ["gaussian", "conditional", "hermite", "spiked"])
def test_equivalents(model, monkeypatch, coarse):
    now = gs.equivalent(SETTING, model, range(2), n_test=300)
    monkeypatch.setattr(plan, "AT_ONCE", -1.0)
    monkeypatch.setattr(plan, "cores", lambda: [0, 1])
    later = gs.equivalent(SETTING, model, range(2), n_test=300)
    assert np.allclose(now.test_error, later.test_error, rtol=1e-8)


def test_predictions():
    """Blocks of NumPy, whatever their size and order, against a program of JAX for one point at a time."""
    numbers, form = parameters(SETTING)
    one = jax.jit(lambda eta, lam: conditional.predict(numbers._replace(eta=eta, penalty=lam), form)[0])
    rng = np.random.default_rng(0)
    for rows in (1, 3, grid.BLOCK, grid.BLOCK + 2):
        etas = rng.uniform(0, 4, rows)
        each = grid.repeated(numbers, rows)._replace(eta=etas)
        penalties = 10.0 ** rng.uniform(-4, 1, (rows, 5))
        found = grid.pointwise(each, form, penalties)
        for e, k in ((0, 0), (rows // 2, 3), (rows - 1, 4)):
            errors = one(jnp.asarray(etas[e]), jnp.asarray(penalties[e, k]))
            assert np.allclose([x[e, k] for x in found.errors], errors, rtol=1e-9)
        assert np.max(found.residual) < TOLERANCE


def test_a_column_is_the_same_in_pieces_and_whole():
    from giantstep._machine.random import normals

    whole = normals(3, (1, 2), 0, 5000, 1)
    pieces = [normals(3, (1, 2), i, i + 700, 1) for i in range(0, 4900, 700)]
    assert np.array_equal(np.concatenate(pieces), whole[:4900])


def test_the_reduction_of_lapack_is_that_of_jax():
    A = np.random.default_rng(0).standard_normal((9, 9))
    A, B, lam = A @ A.T, np.eye(9)[:, :2], np.array([0.1, 2.0])
    host, device = resolvent.reduce(A), resolvent.reduce(jnp.asarray(A))
    for reduction in (host, device):
        given = B if reduction is host else jnp.asarray(B)
        found = resolvent.solve_path(
            reduction,
            resolvent.rotate(reduction, given, transpose=True),
            lam if reduction is host else jnp.asarray(lam),
        )
        assert np.allclose(found, [np.linalg.solve(A + each * np.eye(9), B) for each in lam])
        values = np.linalg.eigvalsh(A)
        assert np.allclose(resolvent.condition(reduction, np.asarray(lam)), (values[-1] + lam) / (values[0] + lam))
        assert np.allclose(
            resolvent.inverse_trace(reduction, lam if reduction is host else jnp.asarray(lam)),
            [np.sum(1 / (values + each)) for each in lam],
        )
