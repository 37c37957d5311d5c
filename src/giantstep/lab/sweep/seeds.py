"""Seeds as a user writes them."""

from giantstep.errors import InputError

__all__ = ["parse"]


def parse(text: str, what: str = "seeds") -> int | range | tuple[int, ...]:
    """``"3"`` is one seed, ``"0-9"`` a range with both ends, ``"0,2,5"`` a list."""
    first, dash, last = text.partition("-")
    try:
        if not dash:
            numbers = tuple(_seed(part) for part in text.split(","))
            seeds = numbers[0] if len(numbers) == 1 else numbers
        else:
            seeds = range(_seed(first), _seed(last) + 1)
    except ValueError:
        seeds = ()
    if seeds == () or seeds == range(0) or (isinstance(seeds, tuple) and len(set(seeds)) < len(seeds)):
        raise InputError(f"{what} needs different whole numbers such as 3, 0-9 or 0,2,5, not {text!r}.")
    return seeds


def _seed(text: str) -> int:
    """Digits only: ``int`` would also take signs, underscores and other alphabets' numerals."""
    if not (text.strip().isascii() and text.strip().isdigit() and len(text.strip()) < 10):
        raise ValueError(text)
    return int(text)
