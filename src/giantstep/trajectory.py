"""Trajectory: overlaps along one-pass SGD, the same noun for the simulation and for the theory."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Trajectory:
    """What was recorded on the way.

    Attributes:
        route: "simulate" or "theory".
        samples: how many samples had been seen, (R,).
        Q: W W^T, (R, p, p); a first axis of seeds where there are several.
        M: W W*^T with orthonormal target directions, (R, p, r).
        risk: E (f* - f)^2 of the network itself, second layer as it started, (R,).
    """

    route: str
    samples: np.ndarray
    Q: np.ndarray
    M: np.ndarray
    risk: np.ndarray

    @property
    def captured(self) -> np.ndarray:
        """Mean over neurons of cos^2 with every direction, (R, r)."""
        return np.mean(self.M**2 / np.diagonal(self.Q, axis1=-2, axis2=-1)[..., None], axis=-2)
