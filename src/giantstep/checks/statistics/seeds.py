"""Seeds: how many a claim measures at a size."""

from dataclasses import dataclass

MOST_SEEDS = 10_000  # of one claim; sets of seeds are this far apart


@dataclass(frozen=True)
class Seeds:
    """``pilot`` seeds measure the noise; the noise then sets the number of seeds, ``most`` at the most."""

    pilot: int
    most: int

    def __post_init__(self) -> None:
        if not 2 <= self.pilot <= self.most <= MOST_SEEDS:
            raise ValueError(
                f"A pilot has at least 2 seeds and a claim at most {MOST_SEEDS}, not {self.pilot} and {self.most}."
            )
