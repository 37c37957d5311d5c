"""Stacking: weights of several models, from their leave-one-out residuals (Wolpert 1992; Breiman 1996)."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.optimize import nnls

LEAST = 0.1  # a model with less weight is not worth its time
SURE = 2.0  # standard errors


def stacked(residuals: Sequence[Float[np.ndarray, "m k"]], weights: Float[np.ndarray, " m"]) -> Float[np.ndarray, " c"]:
    """a >= 0 with sum one that minimises sum_mu weight_mu |sum_c a_c r_c|^2. Small weights are set to zero."""
    kept = [c for c, r in enumerate(residuals) if np.all(np.isfinite(r))]
    while True:
        a = simplex_weights([residuals[c] for c in kept], weights)
        if a.min() >= LEAST or len(kept) == 1:
            break
        kept = [c for c, each in zip(kept, a, strict=True) if each > a.min()] or kept[:1]
    found = np.zeros(len(residuals))
    found[kept] = a
    return found


def surely_better(
    mixed: Float[np.ndarray, "m k"], plain: Float[np.ndarray, "m k"], weights: Float[np.ndarray, " m"]
) -> bool:
    """Whether a mix has a smaller error than a plain model by more than two standard errors of the difference over rows.

    Otherwise the plain model is the better guess: the weights of the mix were fitted to these rows.
    """
    w = weights / weights.sum()
    gain = (plain**2 - mixed**2).mean(axis=1)
    mean = float(w @ gain)
    return mean > SURE * float(np.sqrt(w**2 @ (gain - mean) ** 2))


def simplex_weights(
    residuals: Sequence[Float[np.ndarray, "m k"]], weights: Float[np.ndarray, " m"]
) -> Float[np.ndarray, " c"]:
    """By nonnegative least squares: with A = R^T R, the solution x of min |R x|^2 + |sum x - 1|^2 is parallel to it."""
    R = np.stack([(np.sqrt(weights)[:, None] * r).ravel() for r in residuals], axis=1)
    size = np.sqrt((R**2).sum(axis=0).min()) or 1.0
    A = np.concatenate([R / size, np.ones((1, R.shape[1]))])
    x, _ = nnls(A, np.r_[np.zeros(len(R)), 1.0])
    return x / x.sum() if x.sum() > 0 else np.full(len(x), 1 / len(x))
