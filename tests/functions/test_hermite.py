"""Hermite polynomials, quadrature and closed forms against NumPy, orthogonality and each other."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import hermite_e

from giantstep.functions import hermite
from giantstep.functions.activation import activation, normalised

FORMULAS = [
    "relu", "relu(x-0.5)", "relu(-2*x+0.3)", "leaky relu", "abs(x-1)", "sign(x+0.2)", "step(0.5-x)", "sin(x+pi/4)", "cos(2*x)",
    "tanh", "erf", "sigmoid", "softplus", "gelu", "silu", "elu", "H3", "0.3*H1 + 0.8*H2", "x^4 - 2*relu(x)", "tanh(8*x)", "He_2",
]  # fmt: skip


@pytest.mark.parametrize("order", range(8))
def test_polynomials_agree_with_numpy(order):
    x = np.linspace(-4, 4, 9)
    expected = hermite_e.hermeval(x, np.eye(8)[order])
    np.testing.assert_allclose(hermite.hermite(order, x), expected, atol=1e-10)
    np.testing.assert_allclose(hermite.hermite_table(7, x)[order] * np.sqrt(factorial(order)), expected, atol=1e-10)


@given(st.integers(0, 20))
def test_changes_of_basis_are_inverse(power):
    back: dict[int, Fraction] = {}
    for k, c in hermite.monomial_in_hermite(power).items():
        for m, e in hermite.hermite_in_monomials(k).items():
            back[m] = back.get(m, Fraction(0)) + c * e
    assert {m: c for m, c in back.items() if c} == {power: 1}


@pytest.mark.parametrize("formula", FORMULAS)
def test_closed_forms_agree_with_quadrature(formula):
    sigma = activation(formula)
    values, error = hermite.coefficients(lambda x: np.asarray(sigma(x)), 20, sigma.kinks)
    assert error < 1e-12
    np.testing.assert_allclose(normalised(sigma.hermite(20)), normalised(values), atol=1e-11)


@pytest.mark.parametrize("formula", FORMULAS)
def test_coefficients_of_the_derivative(formula):
    """c_k(sigma') = (k+1) c_{k+1}(sigma), which ties every slope to its function (jumps have none)."""
    sigma = activation(formula)
    if sigma.jumps:
        return
    slopes, _ = hermite.coefficients(lambda x: np.asarray(sigma.slope(x)), 10, sigma.kinks)
    np.testing.assert_allclose(slopes, sigma.hermite(11)[1:] * np.arange(1, 12), atol=1e-11)


@pytest.mark.parametrize("formula", ["relu(x-0.5)", "elu", "tanh", "sin(x+pi/4)"])
def test_mass_adds_up_to_the_mean_square(formula):
    sigma = activation(formula, centred=True)
    masses = normalised(sigma.hermite(60)) ** 2
    assert masses[0] == 0
    tail = 2e-3 if "relu" in formula else 1e-4  # a kink leaves a tail of order k^-3/2
    missing = 1 - masses.sum() / sigma.mean_square
    assert -1e-12 < missing < tail  # nothing is missing of a sine, and rounding has either sign


def test_the_published_table():
    """Centred activations: c_1, c_2, c_3, c_4, c_{>1}."""
    table = {
        "relu": (0.5, 0.1995, 0, -0.0166, 0.3014), "relu(x-0.5)": (0.3085, 0.1760, 0.0293, -0.0110, 0.2744),
        "softplus": (0.5, 0.1033, 0, -0.0026, 0.1467), "gelu": (0.5, 0.2116, 0, -0.0147, 0.3093),
        "elu": (0.7616, 0.1308, -0.0229, -0.0057, 0.1979), "tanh": (0.6057, 0, -0.0606, 0, 0.1656),
        "erf": (0.6515, 0, -0.0724, 0, 0.2004), "sin(x+pi/4)": (0.4289, -0.2144, -0.0715, 0.0179, 0.3635),
    }  # fmt: skip
    for formula, expected in table.items():
        sigma = activation(formula, centred=True)
        c = sigma.hermite(4)
        np.testing.assert_allclose([*c[1:], np.sqrt(sigma.mean_square - c[1] ** 2)], expected, atol=6e-5)


def test_quadrature_in_several_variables():
    values, error, power = hermite.quadrature_coefficients(lambda z: z[0] * z[1] ** 2 + z[1], 2, 4)
    assert error < 1e-12 and power == pytest.approx(3 + 1 + 2 * 0, abs=1e-10)
    nonzero = {b: round(c, 10) for b, c in values.items() if abs(c) > 1e-10}
    assert nonzero == {(1, 2): 1.0, (1, 0): 1.0, (0, 1): 1.0}
