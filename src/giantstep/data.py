"""The law of the inputs."""

from dataclasses import dataclass

from giantstep._record import plain, whole


@dataclass(frozen=True)
class Gaussian:
    """``x ~ N(0, I_d)``."""

    d: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", whole(self.d, "d"))

    def to_plain(self) -> dict:
        return {"law": "gaussian", **plain(self)}
