"""The law of the inputs."""

from dataclasses import dataclass

from giantstep._given.declared import given
from giantstep._given.plain import plain, settle, whole


@given()
@dataclass(frozen=True)
class Gaussian:
    """Isotropic Gaussian inputs, ``x ~ N(0, I_d)``.

    Examples:
        >>> gs.Gaussian(d=100).d
        100
    """

    d: int

    def __post_init__(self) -> None:
        settle(self, whole, "d")

    @property
    def spread(self) -> float:
        """Operator norm of the covariance."""
        return 1.0

    @property
    def trace(self) -> float:
        """Trace of the covariance."""
        return float(self.d)

    def to_plain(self) -> dict:
        return {"law": "gaussian", **plain(self)}
