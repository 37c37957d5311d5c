"""How a run of a sweep ended."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """new: trials that were written; refused: sentences, with the trials that they concern; left: trials that were not tried."""

    new: int
    refused: tuple[tuple[str, int], ...]
    left: int
