"""Targets: exact tensors, quadrature with its error, directions, gradients."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import giantstep as gs
from giantstep._machine.backend import jnp


@pytest.mark.parametrize(
    ("formula", "exponent"),
    [
        ("x1", 1),
        ("H2(x1)", 2),
        ("H3(x1) + H2(x2)", 2),
        ("x1^2", 2),
        ("x1^3 - 3*x1", 3),
        ("x1*x2*x3", 3),
        ("x1^4", 2),
        ("H4(x1)", 4),
        ("5", None),
    ],
)
def test_information_exponent(formula, exponent):
    assert gs.target(formula).information_exponent == exponent


def test_expansions_are_exact():
    t = gs.target("x1 + H2(x1)*x2 + H3(x3)/2")
    assert dict(t.hermite) == {(1, 0, 0): 1, (2, 1, 0): 1, (0, 0, 3): Fraction(1, 2)}
    assert t.power == pytest.approx(1 + 2 + 6 / 4)
    assert [t.hermite.mass(k) for k in range(5)] == [0, 1, 0, 3.5, 0]


@given(st.integers(0, 2**31))
def test_the_tensor_contracts_to_the_mass(seed):
    rng = np.random.default_rng(seed)
    terms = [f"{int(c)}*x1^{int(a)}*x2^{int(b)}*x3^{int(e)}" for c, a, b, e in rng.integers(-3, 4, (4, 4)) % 4]
    t = gs.target(" + ".join(terms))
    total = sum(
        np.sum(t.hermite.tensor(k) ** 2) / float(np.prod(np.arange(1, k + 1))) for k in range(t.hermite.degree + 1)
    )
    assert total == pytest.approx(t.power, abs=1e-9)


def test_quadrature_agrees_with_the_exact_expansion():
    formula = "x1*x2^2 - x1^3/5 + x2"
    exact = gs.target(formula).hermite
    found = gs.target(lambda z: z[0] * z[1] ** 2 - z[0] ** 3 / 5 + z[1], rank=2).hermite
    assert set(found) == set(exact)
    for b in exact:
        assert found[b] == pytest.approx(float(exact[b]), abs=1e-10)


def test_kinks_in_one_variable_each_are_exact_to_rounding():
    t = gs.target("relu(x1 - 0.5)*x2 + abs(x2)")
    assert t.hermite.error < 1e-12
    assert t.hermite[(0, 2)] == pytest.approx(1 / np.sqrt(2 * np.pi), abs=1e-12)
    mixed = gs.target("relu(x1 + x2)")
    truth = 0.5  # c_1 of relu(sqrt(2) u) along u, seen along x1
    assert abs(mixed.hermite[(1, 0)] - truth) < 10 * mixed.hermite.error + 1e-12


def test_monte_carlo_agrees(seed):
    t = gs.target("tanh(x1*x2) + sin(x1)")
    z = np.random.default_rng(seed).standard_normal((2, 400_000))
    samples = np.asarray(t(z)) * z[0]
    assert samples.mean() == pytest.approx(t.hermite[(1, 0)], abs=5 * samples.std() / np.sqrt(samples.size))


def test_gradients():
    z = np.random.default_rng(0).standard_normal((2, 5))
    formula, function = gs.target("x1*x2 + tanh(x1)"), gs.target(lambda z: z[0] * z[1] + jnp.tanh(z[0]), rank=2)
    np.testing.assert_allclose(formula.gradient(z), np.asarray(function.gradient(z)), atol=1e-12)


def test_callables_of_either_shape():
    z = np.random.default_rng(0).standard_normal((2, 6))
    columns, rows = gs.target(lambda z: z[0] * z[1], rank=2), gs.target(lambda z: z[:, 0] * z[:, 1], rank=2)
    np.testing.assert_allclose(columns(z), rows(z))
    with pytest.raises(gs.InputError, match="one value per point"):
        gs.target(lambda z: z.sum(), rank=2)


def test_directions_that_are_not_orthonormal():
    """f = x1 x2 along e1 and e1 + e2 is q1^2 + q1 q2 in orthonormal coordinates."""
    t = gs.target("x1*x2", directions=[[1, 0, 0], [1, 1, 0]])
    assert {b: round(float(c), 12) for b, c in t.hermite.items()} == {(0, 0): 1, (2, 0): 1, (1, 1): 1}
    np.testing.assert_array_equal(t.matrix(3), [[1, 0, 0], [1, 1, 0]])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"source": "x1", "noise": -1.0}, "noise"),
        ({"source": "x2", "rank": 1}, "too small"),
        ({"source": lambda z: z[0]}, "needs its rank"),
        ({"source": "x1*x2", "directions": [[1, 0], [2, 0]]}, "independent"),
        ({"source": "x1*x2", "directions": [[1, 0]]}, "2 rows"),
        ({"source": "x1", "directions": "abc"}, "rows of finite numbers"),
    ],
)
def test_bad_targets(arguments, words):
    with pytest.raises(gs.InputError, match=words):
        gs.target(arguments.pop("source"), **arguments)


def test_the_power_of_kinked_targets_is_exact():
    """E (relu(x1) + relu(x2))^2 = 1/2 + 1/2 + 2 / (2 pi); four terms in four variables likewise."""
    two, four = gs.target("relu(x1) + relu(x2)"), gs.target("relu(x1) + relu(x2) + relu(x3) + relu(x4)")
    assert two.power == pytest.approx(1 + 1 / np.pi, abs=1e-12)
    assert four.power == pytest.approx(2 + 12 / (2 * np.pi), abs=1e-12)
    assert 0 < four.hermite.truncated < 0.01


def test_built_targets_refuse_further_arguments():
    with pytest.raises(gs.InputError, match="already"):
        gs.target(gs.target("x1"), noise=0.5)
    with pytest.raises(gs.InputError, match="order"):
        gs.target("x1").hermite.tensor(-1)
