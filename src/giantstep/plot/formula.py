"""A formula as a book writes it."""

import re

_LOW, _HIGH = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"), str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def formula(text: str) -> str:
    """A target, an activation or a direction as a book writes it.

    Examples:
        >>> formula("x1 + x1*x2 - H2(x1)/sqrt(2)")
        'x₁ + x₁x₂ − H₂(x₁)/√2'
    """
    text = re.sub(r"sqrt\(?(\d+)\)?", r"√\1", text)
    text = re.sub(r"(?<![A-Za-z])-|-(?![A-Za-z])", "−", text)  # noqa: RUF001
    text = re.sub(r"(?<=\d)\*(?=[\d√])", "·", text)  # 2*3 is not 23
    text = re.sub(r"\*(?=[a-z]{2})", " ", text).replace("*", "")  # 0.5*erf(x2) keeps a space
    text = re.sub(r"\^(\d+)", lambda found: found[1].translate(_HIGH), text)
    return re.sub(r"(?<=[xwHh])\d+", lambda found: found[0].translate(_LOW), text)


def rounded(value: float) -> str:
    """A large number to one digit as a book writes it.

    Examples:
        >>> rounded(6.2e6), rounded(1e12)
        ('6·10⁶', '10¹²')
    """
    digit, power = f"{value:.0e}".split("e")
    return formula(f"{digit}*10^{int(power)}").removeprefix("1·")
