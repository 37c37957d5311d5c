"""Seeds: how many a claim measures at a size."""

from dataclasses import dataclass

__all__ = ["Seeds"]


@dataclass(frozen=True)
class Seeds:
    """``pilot`` seeds measure the noise; the noise then sets the number of seeds, ``most`` at the most."""

    pilot: int
    most: int

    def __post_init__(self) -> None:
        if not 2 <= self.pilot <= self.most:
            raise ValueError(f"A pilot has at least 2 seeds and at most all of them, not {self.pilot} of {self.most}.")
