"""Split <w_i, x> in one component into its mean given some directions of the input, and the rest.

    s = W Sigma Q^T (Q Sigma Q^T)^-1,   u = s Q (x - mu) + W mu,   r = W - s Q,   tau_i^2 = r_i Sigma r_i^T

u is the mean of W x given Q x, and tau the standard deviation of the rest; any rows Q with the same span give the same.
"""

from typing import NamedTuple

import numpy as np

from giantstep._machine.arrays import compiled, xp
from giantstep._training.first_layer import Array
from giantstep.equivalent._law import ComponentLaw, squares, times
from giantstep.equivalent._moments import GridRange

SAME = 1e-6  # a direction that adds less than this length to the others adds nothing


def basis(given: np.ndarray, V: np.ndarray, size: int) -> np.ndarray:
    """Orthonormal rows that span ``given`` (g, d) and V (S, k, d), and zeros, (S, size, d)."""
    left = V - (V @ given.T) @ given
    if len(given):  # V is orthonormal, but the part outside ``given`` is not
        _, values, left = np.linalg.svd(np.where(np.isfinite(left), left, 0.0), full_matrices=False)
        left = np.where((values > SAME)[:, :, None], left, 0.0)
    S, k, d = V.shape
    empty = np.zeros((S, size - len(given) - k, d))
    return np.concatenate([np.broadcast_to(given, (S, *given.shape)), left, empty], axis=1)


class SplitRows(NamedTuple):
    """Rows of W in one component: s (S, p, q), the rest of u, the mean and the spread of u, tau and rho, (S, p) each."""

    s: np.ndarray
    rest: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    tau: np.ndarray
    rho: np.ndarray

    @property
    def ranges(self) -> list[GridRange]:
        return [GridRange.of(*of) for of in zip(self.spread, self.tau, self.centre, strict=True)]


def split(W: Array, Q: np.ndarray, law: ComponentLaw) -> SplitRows:
    """Split W (S, p, d) given Q (S, q, d); weights that overflow appear only in X W^T."""
    across = times(Q, law.bulk, law.B, law.M)
    C = np.einsum("skd,sld->skl", across, Q)
    if not np.all(np.isfinite(C)):
        C, across = np.zeros_like(C), np.zeros_like(across)
    pull = np.linalg.pinv(C, rcond=1e-12, hermitian=True) @ across
    s, tau, rho = _outside(W, Q, pull, law.bulk, law.B, law.M)
    s, tau, rho, centre = (np.asarray(x) for x in (s, tau, rho, W.astype(float) @ law.mean))
    rest = centre - np.einsum("spk,sk->sp", s, Q @ law.mean)
    spread = np.sqrt(np.maximum(np.einsum("spk,skl,spl->sp", s, C, s), 0.0))
    good = np.isfinite(tau) & np.all(np.isfinite(s), axis=2) & np.isfinite(rest) & np.isfinite(spread)
    rho = np.minimum(np.abs(np.where(good, rho, 0.0)), 1.0)
    rest, centre, spread = (np.where(good, x, 0.0) for x in (rest, centre, spread))
    return SplitRows(np.where(good[:, :, None], s, 0.0), rest, centre, spread, np.where(good, tau, 1.0), rho)


@compiled
def _outside(W, Q, pull, bulk, B, M):
    W = W.astype(np.float64)
    s = W @ xp.swapaxes(pull, 1, 2)
    r = W - s @ Q
    square, mirrored = squares(r, bulk, B, M)
    tau = xp.sqrt(xp.maximum(square, 0.0))
    return s, tau, mirrored / xp.maximum(tau * tau[:, ::-1], 1e-300)
