"""Seeds as a user gives them: one or several in Python, or as text."""

from typing import Any

from giantstep._given.plain import several, whole
from giantstep.errors import InputError, quoted

MOST = 10**6  # in one call


def checked(seed: Any) -> tuple[tuple[int, ...], bool]:
    """The seeds, all different whole numbers from 0 on, and whether they were given as several."""
    if isinstance(seed, str):
        raise InputError(f"seed must be a whole number or a list of them, not the text {quoted(seed)}")
    entries = several(seed, "seed", MOST)
    seeds = tuple(whole(s, "seed", least=0) for s in ((seed,) if entries is None else entries))
    if not seeds or len(set(seeds)) < len(seeds):
        raise InputError("seed must be a whole number or a non-empty list of different ones")
    return seeds, entries is not None


def seeds(value: Any, what: str = "seed") -> int | tuple[int, ...]:
    """One seed, or several as a tuple."""
    found, many = checked(value)
    return found if many else found[0]


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
        raise InputError(f"{what} needs different whole numbers such as 3, 0-9 or 0,2,5, not {quoted(text)}.")
    return seeds


def _seed(text: str) -> int:
    """Digits only: ``int`` would also take signs, underscores and other alphabets' numerals."""
    if not (text.strip().isascii() and text.strip().isdigit() and len(text.strip()) < 10):
        raise ValueError(text)
    return int(text)
