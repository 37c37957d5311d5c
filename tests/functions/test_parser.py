"""Formulas: what parses means what NumPy says it means; what does not parse gets one sentence and a caret."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from giantstep.errors import InputError
from giantstep.functions import _algebra as algebra
from giantstep.functions._parser import parse

Z = np.random.default_rng(0).standard_normal((3, 7))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("x1 + 2*x2 - x3", lambda x, y, z: x + 2 * y - z),
        ("-x1^2", lambda x, y, z: -(x**2)),
        ("2*-x1", lambda x, y, z: -2 * x),
        ("x1**3/4", lambda x, y, z: x**3 / 4),
        ("(x1 + x2)*(x1 - x3)^2", lambda x, y, z: (x + y) * (x - z) ** 2),
        ("H3(x1) + H2(x2)*x3", lambda x, y, z: x**3 - 3 * x + (y**2 - 1) * z),
        ("He4(x1)", lambda x, y, z: x**4 - 6 * x**2 + 3),
        ("1e-3*x1 + .5", lambda x, y, z: 1e-3 * x + 0.5 + 0 * y),
        ("sqrt(2)*x1/sqrt(3)", lambda x, y, z: np.sqrt(2 / 3) * x),
        ("relu(x1 - x2) + tanh(2*x3)", lambda x, y, z: np.maximum(x - y, 0) + np.tanh(2 * z)),
        ("sin(x1 + pi/4)*sign(x2)", lambda x, y, z: np.sin(x + np.pi / 4) * np.sign(y)),
        ("abs(x1)^3 + step(x2) + cos(x3)", lambda x, y, z: np.abs(x) ** 3 + (y > 0) + np.cos(z)),
    ],
)
def test_formulas_mean_what_they_say(text, meaning):
    np.testing.assert_allclose(algebra.value(parse(text), Z) + 0 * Z[0], meaning(*Z), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    "text", ["x1*x2*x3 + H3(x1*x2)", "tanh(x1*x2)^2", "gelu(x1) + silu(x2)*elu(x3)", "erf(x1)*x1^3", "x2"]
)
def test_derivatives_match_finite_differences(text):
    node, h = parse(text), 1e-6
    for i in range(3):
        up, down = Z.copy(), Z.copy()
        up[i] += h
        down[i] -= h
        numeric = (algebra.value(node, up) - algebra.value(node, down)) / (2 * h)
        np.testing.assert_allclose(algebra.slope(node, Z, i) + 0 * Z[0], numeric, atol=1e-7)


@pytest.mark.parametrize(
    ("text", "words", "place"),
    [
        ("x1 + foo(x2)", "unknown name 'foo'", 5),
        ("x0 + x1", "bad index", 0),
        ("x1*x9", "more than 8 directions", 3),
        ("(x1 + x2", "never closed", 0),
        ("x1)", "unbalanced", 2),
        ("x1^21", "over 20", 3),
        ("x1 + H21(x2)", "over 20", 5),
        ("(x1*x2)^11", "degree 22 is over 20", 0),
        ("x1/x2", "by a number only", 3),
        ("x1/0", "division by zero", 3),
        ("x1 $ x2", "unexpected character '$'", 3),
        ("x1 +", "ends too early", 4),
        ("", "empty", 0),
        ("x1^1.5", "whole number", 3),
        ("1e999*x1", "too large", 0),
        ("sqrt(x1)", "not negative", 0),
        ("import os", "unknown name", 0),
        ("__import__(x1)", "unknown name", 0),
    ],
)
def test_refusals_point_at_the_place(text, words, place):
    with pytest.raises(InputError) as caught:
        parse(text)
    sentence, shown, caret = str(caught.value).split("\n")
    assert words in sentence
    assert shown == f"  {text}"
    assert caret.index("^") - 2 == place


@given(st.text(max_size=40))
def test_any_text_parses_or_is_refused(text):
    for univariate in (False, True):
        try:
            parse(text, univariate=univariate)
        except InputError as error:
            assert str(error)


ATOMS = st.sampled_from(
    ["x1", "x2", "x3", "2", "0.5", "1e2", "(", ")", "+", "-", "*", "/", "^", "H2(", "relu(", "sqrt(", "pi", "20"]
)


@given(st.lists(ATOMS, max_size=25).map("".join))
def test_any_mixture_of_pieces_parses_or_is_refused(text):
    try:
        node = parse(text)
        with np.errstate(all="ignore"):
            algebra.value(node, Z)
        algebra.canonical(node)
        algebra.polynomial(node, 3)
    except InputError as error:
        assert str(error)


def test_order_does_not_change_the_canonical_text():
    texts = ("x1 + H2(x1)*x2", "x2*H2(x1) + x1", " (x1)+(H2( x1 ) * x2) ")
    assert len({algebra.canonical(parse(t)) for t in texts}) == 1
    assert algebra.canonical(parse("x1 - x2")) != algebra.canonical(parse("x2 - x1"))


def test_polynomials_are_exact():
    assert algebra.polynomial(parse("(x1 + x2/3)^2"), 2) == {(2, 0): 1, (1, 1): Fraction(2, 3), (0, 2): Fraction(1, 9)}
    assert algebra.polynomial(parse("tanh(x1)"), 1) is None


def test_too_many_monomials_are_refused():
    with pytest.raises(InputError, match="monomials"):
        algebra.polynomial(parse("(x1+x2+x3+x4+x5+x6+x7+x8+1)^20"), 8)


def test_kinks_are_found():
    node = parse("relu(x - 0.5) + abs(x^2 - 2) + tanh(x)", univariate=True)
    np.testing.assert_allclose(algebra.kinks(node), [-np.sqrt(2), 0.5, np.sqrt(2)], atol=1e-13)
