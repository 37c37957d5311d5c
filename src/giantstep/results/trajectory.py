"""Trajectory: overlaps along one-pass SGD. Evolution: overlaps after giant steps. Simulation and theory both return them."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, repr=False)
class Trajectory:
    """The recorded points of a path.

    Attributes:
        route: "simulate" or "theory".
        samples: the number of samples used so far, (R,).
        Q: W W^T, (R, p, p); with several seeds they are the first axis.
        M: W W*^T with orthonormal target directions, (R, p, r).
        risk: E (f* - f)^2 of the network with its initial second layer, (R,).
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

    def __repr__(self) -> str:
        p, r = self.M.shape[-2:]
        risk = np.mean(np.atleast_2d(self.risk), axis=0)
        head = f"Trajectory({self.route}: {p} neurons, {r} direction{'s' * (r > 1)}, {int(self.samples[-1])} samples"
        return f"{head}; risk from {risk[0]:.3g} to {risk[-1]:.3g})"


@dataclass(frozen=True, repr=False)
class Evolution:
    """Overlaps before the first step and after every step.

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

    def __repr__(self) -> str:
        steps, p, r = len(self.M) - 1, *self.M.shape[1:]
        last = ", ".join(f"w{k + 1} {share:.3g}" for k, share in enumerate(self.shares[-1].mean(axis=0)))
        head = f"Evolution({self.route}: {steps} step{'s' * (steps != 1)}, {p} neurons, {r} direction{'s' * (r > 1)}"
        return f"{head}; mean share after the last step: {last})"
