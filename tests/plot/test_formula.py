import pytest

from giantstep.plot.formula import formula


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("(H2(x1)/sqrt(2) + H3(x1)/sqrt(6))/sqrt(2)", "(H₂(x₁)/√2 + H₃(x₁)/√6)/√2"),
        ("x1 + x1*x2 - x12^2", "x₁ + x₁x₂ − x₁₂²"),  # noqa: RUF001
        ("0.5*erf(x2) + 2*3*x1", "0.5 erf(x₂) + 2·3x₁"),
        ("sin(1.5*x)", "sin(1.5x)"),
        ("(-w2 + w3)/sqrt2", "(−w₂ + w₃)/√2"),  # noqa: RUF001
        ("tanh, rank-one update", "tanh, rank-one update"),
    ],
)
def test_a_formula_is_written_as_in_a_book(written, shown):
    assert formula(written) == shown
