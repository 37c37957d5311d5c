"""Moments of a step's samples on the frame of the rows.

On a step's own batch a sample has the coordinates x~ + shift: x~ is that of a new sample, and the shift is the sample's own part
in the noise directions xi that the batch has made, sqrt(d/n) r phi(kappa) along each of them. So

    E[r^k w x x^T] = E[r^k w x~ x~^T] + sqrt(d/n) (E[r^(k + 1) w phi x~^T] + its transpose) + (d/n) E[r^(k + 2) w phi phi^T]
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.theory.steps._residual import Coordinates, Residual


class Frame(NamedTuple):
    """The samples in columns: coordinates and residual, their directions ``inside`` the frame (F, X), the projector on what is
    ``beyond`` those (F, F), and the shift over r (F, K)."""

    at: Coordinates
    residual: Residual
    inside: Float[np.ndarray, "F X"]
    beyond: Float[np.ndarray, "F F"]
    shift: Float[np.ndarray, "F K"]

    def first(self, k: int) -> Float[np.ndarray, "F K"]:
        """E[r^k x~ | kappa]."""
        return self.inside @ np.concatenate([self.at.kappa * self.residual.plain[k - 1], self.residual.first[k - 1]])

    def second(self, k: int, weights: Float[np.ndarray, "G K"], *, right: bool = True) -> Float[np.ndarray, "G F F"]:
        """E[r^k w x x^T], or E[r^k w x x~^T] where the factor on the right has no shift."""
        weighted, r = weights * self.at.pi, self.residual
        fresh = self.inside @ np.einsum("gk,abk->gab", weighted, self._moments(k)) @ self.inside.T
        fresh = fresh + (weighted @ r.plain[k - 1])[:, None, None] * self.beyond
        once = np.einsum("gk,ak,bk->gab", weighted, self.shift, self.first(k + 1), optimize=True)
        if not right:
            return fresh + once
        twice = np.einsum("gk,ak,bk->gab", weighted * r.plain[k + 1], self.shift, self.shift, optimize=True)
        return fresh + once + np.swapaxes(once, 1, 2) + twice

    def _moments(self, k: int) -> Float[np.ndarray, "X X K"]:
        """E[r^k x~ x~^T | kappa] on (kappa, tau)."""
        kappa, r, m = self.at.kappa, self.residual, len(self.at.kappa)
        both = np.zeros((m + len(self.at.L), m + len(self.at.L), self.at.pi.size))
        both[:m, :m] = kappa[:, None] * kappa * r.plain[k - 1]
        both[:m, m:] = kappa[:, None] * r.first[k - 1]
        both[m:, :m] = np.swapaxes(both[:m, m:], 0, 1)
        both[m:, m:] = r.second[k - 1]
        return both


def framed(at: Coordinates, r: Residual, shift: Float[np.ndarray, "F K"]) -> Frame:
    """The frame of ``at``, longer by new noise directions where ``shift`` has more rows."""
    F, new = len(at.f), len(shift) - len(at.f)
    inside = np.concatenate([at.f, at.e], axis=1)
    beyond = np.eye(F + new)
    beyond[:F, :F] -= at.f @ at.f.T + at.e @ at.e.T
    return Frame(at, r, np.pad(inside, ((0, new), (0, 0))), beyond, shift)
