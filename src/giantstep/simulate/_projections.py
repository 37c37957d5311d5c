"""The first layer in few coordinates: for Gaussian data only its projections on the target and on itself matter.

Write W = A Q in k orthonormal directions Q of R^d, the first r of which span the target's. A row x ~ N(0, I_d) of a fresh
batch enters through its coordinates Q x ~ N(0, I_k) alone, so the network behaves as one with first layer A in dimension k;
the directions Q are never computed. Any A with the same A A^T and the same first r columns is equivalent.
"""

from dataclasses import replace

import numpy as np

from giantstep._machine.backend import jnp
from giantstep._machine.random import Stream, generator
from giantstep.experiment import draw
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.setting import Setting


def reduced(setting: Setting, columns: int) -> Setting:
    """The same experiment in that many coordinates, the target in the first r of them."""
    target = setting.target
    if target.directions is not None:
        mixing = np.eye(target.rank) if target.mixing is None else target.mixing
        target = replace(target, directions=np.pad(mixing, ((0, 0), (0, columns - target.rank))).tolist())
    network = replace(setting.network, weights=None)
    return replace(setting, data=Gaussian(columns), target=target, network=network)


def bartlett(rng: np.random.Generator, rows: int, dof: int) -> np.ndarray:
    """T with T T^T ~ Wishart_rows(dof): the triangular factor of a rows x dof matrix of N(0, 1) numbers.

    Below the diagonal N(0, 1), on it sqrt(chi^2_{dof - i}), i = 0, 1, ...; of shape rows x min(rows, dof).
    """
    columns = min(rows, dof)
    T = np.tril(rng.standard_normal((rows, columns)), -1)
    T[np.arange(columns), np.arange(columns)] = np.sqrt(rng.chisquare(dof - np.arange(columns)))
    return T


def initial(setting: Setting, seed: int) -> np.ndarray:
    """The first layer before the first step, p x k with k = r + min(rows drawn, d - r)."""
    network, d, r = setting.network, setting.d, setting.target.rank
    if network.weights is not None:
        return own(setting)
    rng = generator(seed, Stream.ROWS, 0, draw.OUTSIDE)
    W = np.concatenate([rng.standard_normal((network.drawn, r)), bartlett(rng, network.drawn, d - r)], axis=1)
    W /= np.linalg.norm(W, axis=1, keepdims=True) if network.rows == "sphere" else np.sqrt(d)
    return draw.paired(setting, W)


def own(setting: Setting) -> np.ndarray:
    """The user's first layer in coordinates: an orthonormal basis of the target's span, then of the rest."""
    W, r, d = setting.network.weights.W, setting.target.rank, setting.d
    all_of_it = setting.p + r >= d
    Q, R = np.linalg.qr(setting.target.matrix(d).T, mode="complete" if all_of_it else "reduced")
    Q[:, :r] *= np.where(np.diag(R) < 0, -1.0, 1.0)  # R^T is then the Cholesky factor of the directions' Gram matrix
    along = W @ Q
    if all_of_it:
        return along
    return np.concatenate([along, triangular(W - along @ Q.T)], axis=1)


def triangular(B: np.ndarray, device: bool = False) -> np.ndarray:
    """B' with B' B'^T = B B^T and no more columns than rows, (..., p, min(p, m)); its diagonal is not negative."""
    qr = jnp.linalg.qr if device else np.linalg.qr
    R = np.asarray(qr(np.swapaxes(B, -1, -2), mode="r"))
    sign = np.where(np.diagonal(R, axis1=-2, axis2=-1) < 0, -1.0, 1.0)
    return np.swapaxes(R * sign[..., None], -1, -2)


def compressed(W: np.ndarray, r: int, device: bool = False) -> np.ndarray:
    """W (S, p, k) in at most r + p coordinates, which the host computes or the device of JAX."""
    if W.shape[-1] <= r + W.shape[-2]:
        return W
    return np.concatenate([W[..., :r], triangular(W[..., r:], device)], axis=-1)


def padded(W: np.ndarray, columns: int) -> np.ndarray:
    """W with zeros for the coordinates that it does not have yet."""
    return np.pad(W, [(0, 0)] * (W.ndim - 1) + [(0, columns - W.shape[-1])])
