"""Trajectory: overlaps along one-pass SGD; Evolution: those after giant steps. The same nouns for simulation and theory."""

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


@dataclass(frozen=True)
class Evolution:
    """Overlaps before the first step and after every one.

    Attributes:
        Q: W W^T, (T + 1, p, p).
        M: W W*^T with orthonormal target directions, (T + 1, p, r).
        a: the second layer (p,).
        route: "simulate" or "theory".
    """

    Q: np.ndarray
    M: np.ndarray
    a: np.ndarray
    route: str

    @property
    def shares(self) -> np.ndarray:
        """cos^2 of every neuron with every direction, (T + 1, p, r)."""
        return self.M**2 / np.diagonal(self.Q, axis1=1, axis2=2)[:, :, None]
