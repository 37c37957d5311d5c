"""Ended: the counts of a run of a sweep that is over."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """``new`` trials were written and ``left`` trials were not tried; ``refused`` counts the other trials by the reason."""

    new: int
    refused: tuple[tuple[str, int], ...]
    left: int
