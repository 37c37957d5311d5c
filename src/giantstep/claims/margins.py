"""The margins of a comparison between what is measured and what is predicted."""

from typing import NamedTuple


class Margins(NamedTuple):
    """When a departure counts, and when a test could have seen one.

    Attributes:
        level: standard errors that a departure must exceed.
        granted: the departure that is granted, mostly to finite sizes; one that exceeds both is a miss.
        needed: the departure that the test should see; where it would not, the verdict is inconclusive.
    """

    level: float
    granted: float
    needed: float
