"""Lipschitz constants: of an activation, and of a network f(x) = A sigma(W x + b) + c from x to its outputs.

The Jacobian of f is A D W with a diagonal D, its entries slopes of sigma in [low, high]. With m, r their middle and half range,
and any diagonal S > 0, which D commutes with,

    ||A D W|| <= max|slope| ||A S|| ||S^-1 W||          (the product; S = 1 or the balanced S_i = sqrt(|w_i|/|a_i|))
    ||A D W|| <= |m| ||A W|| + r ||A S|| ||S^-1 W||     (D = m I + r E, |E_i| <= 1)

For ReLU the second is half of ||A W|| + ||A|| ||W||. No table of inputs is needed; the largest gradient on one is below all.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.experiment.layers import Layers
from giantstep.functions.activation import Activation
from giantstep.measure import operator_norm

NEAR, FAR = 50.0, 1e6  # an activation that is Lipschitz or bounded up to the first is so up to the second
ROWS = 2000  # of a table at which gradients are computed


def extent(sigma: Activation, *, slope: bool) -> tuple[float, float]:
    """The least and the largest value of sigma' or sigma on a fine grid, infinite where it grows beyond the grid."""
    return _extent(sigma, slope) if sigma.formula is None else _known_extent(sigma, slope)


@lru_cache(maxsize=64)  # of a formula: a callable of one's own may change, or have no hash
def _known_extent(sigma: Activation, slope: bool) -> tuple[float, float]:
    return _extent(sigma, slope)


def _extent(sigma: Activation, slope: bool) -> tuple[float, float]:
    kinks = np.array(sigma.kinks)
    near = np.concatenate([np.linspace(-NEAR, NEAR, 100_001), kinks - 1e-9, kinks + 1e-9])
    far = np.concatenate([side * np.geomspace(NEAR, FAR, 2001) for side in (-1, 1)])
    with np.errstate(over="ignore", invalid="ignore"):
        inside, outside = (np.asarray(sigma.slope(x) if slope else sigma(x), dtype=float) for x in (near, far))
    room = np.max(np.abs(inside)) * 1e-6 + 1e-12
    low = float(inside.min()) if np.min(outside) >= inside.min() - room else -np.inf
    high = float(inside.max()) if np.max(outside) <= inside.max() + room else np.inf
    return low, high


@dataclass(frozen=True)
class NetworkLipschitz:
    """Lipschitz constants of a network.

    Attributes:
        slopes: the least and the largest slope of the activation.
        product: max|slope| ||A|| ||W||.
        balanced: the same with the neurons rescaled, max|slope| ||A S|| ||S^-1 W||.
        centred: |m| ||A W|| + r min over S of ||A S|| ||S^-1 W||.
        on_rows: the largest ||grad f|| at the rows of a table: no constant is below it. None without a table.
    """

    slopes: tuple[float, float]
    product: float
    balanced: float
    centred: float
    on_rows: float | None = None

    @property
    def constant(self) -> float:
        """The smallest of the proven constants."""
        return min(self.product, self.balanced, self.centred)


def slopes_of(sigma: Activation) -> tuple[float, float]:
    """The range of the slopes; refuses an activation that is not Lipschitz."""
    low, high = extent(sigma, slope=True)
    if not np.isfinite(low + high) or sigma.jumps:
        raise InputError(f"the activation must be Lipschitz, and {sigma.name!r} is not")
    return low, high


def balance(network: Layers) -> Float[np.ndarray, " p"]:
    """S_i = sqrt(|w_i|/|a_i|); 1 for a neuron that is not connected on one side."""
    first, second = np.linalg.norm(network.W, axis=1), np.linalg.norm(network.A, axis=0)
    return np.where((first > 0) & (second > 0), np.sqrt(first / np.where(second > 0, second, 1.0)), 1.0)


def network_lipschitz(network: Layers, X: Float[np.ndarray, "n d"] | None = None) -> NetworkLipschitz:
    """The constants of a network, and its largest gradient on the rows of X."""
    low, high = slopes_of(network.activation)
    scale, W, A = balance(network), network.W, network.A
    plain = operator_norm(A) * operator_norm(W)
    rescaled = operator_norm(A * scale) * operator_norm(W / scale[:, None])
    largest, middle, half = max(abs(low), abs(high)), (low + high) / 2, (high - low) / 2
    centred = abs(middle) * operator_norm(A @ W) + half * min(plain, rescaled)
    on_rows = None if X is None else largest_gradient(network, X)
    return NetworkLipschitz((low, high), largest * plain, largest * rescaled, centred, on_rows)


def largest_gradient(network: Layers, X: Float[np.ndarray, "n d"]) -> float:
    """max ||A diag(sigma'(W x + b)) W|| over the rows, at most ``ROWS`` of them, evenly chosen."""
    rows = X[np.unique(np.linspace(0, len(X) - 1, min(len(X), ROWS)).astype(int))]
    slopes = np.asarray(network.activation.slope(rows @ network.W.T + network.b))
    if network.outputs == 1:
        return float(np.max(np.linalg.norm((slopes * network.A[0]) @ network.W, axis=1)))
    gram = network.W @ network.W.T  # ||J||^2 is the largest eigenvalue of (A D) W W^T (A D)^T, q x q
    squares = [np.linalg.eigvalsh((network.A * s) @ gram @ (network.A * s).T)[-1] for s in slopes]
    return float(np.sqrt(max(max(squares), 0.0)))
