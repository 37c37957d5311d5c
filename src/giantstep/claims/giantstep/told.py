"""What the sentences of our own claims share: words for a world in which a statement holds, and a power of a quantity."""

from giantstep.checks import Ruling
from giantstep.results.table import with_error


def where_it_holds(ruling: Ruling, words: str) -> str:
    """The words if the statement holds at the sizes at hand; else nothing, and the verdict takes those of the ruling."""
    return words if ruling.stated.outcome == "holds" else ""


def power(of: str, exponent: float, half: float) -> str:
    """A power with the interval of its exponent: n^(−1.05 ± 0.09)."""  # noqa: RUF002
    return f"{of}^({with_error(exponent, half)})".replace("-", "−")  # noqa: RUF001
