"""Numbers as a verdict says them, and words for a world in which a statement holds."""

from math import ceil, inf, log10

from giantstep.checks import Ruling


def signed(value: float, form: str = ".3g") -> str:
    """A number with a minus sign that is no hyphen: −0.5."""
    return f"{value:{form}}".replace("-", "−")  # noqa: RUF001


def power(of: str, exponent: float, half: float) -> str:
    """A power with an uncertain exponent, to one digit of the uncertainty: n^(−0.36 ± 0.06)."""
    digits = max(ceil(-log10(half)), 0) if 0 < half < inf else 2
    return f"{of}^({signed(exponent, f'.{digits}f')} ± {half:.{digits}f})"


def where_it_holds(ruling: Ruling, words: str) -> str:
    """The words if the statement holds at the sizes at hand; else those of the ruling are taken."""
    return words if ruling.stated.outcome == "holds" else ""
