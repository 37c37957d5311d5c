"""A target of one direction fitted to rows with real labels: ``y = sum_k c_k H_k(<w, x>) + noise``.

For Gaussian inputs with covariance Sigma and ``y = f(<w, x>)``, ``Cov(x, y)`` is along ``Sigma w`` (Stein 1981; Brillinger
1982), so least squares finds the direction of w whatever f is. The coefficients are least squares of y on the Hermite
polynomials of the projection. Directions and coefficients come from different rows, so that they do not fit the same noise.
"""

import numpy as np
from jaxtyping import Float

from giantstep._given.plain import whole
from giantstep.errors import InputError
from giantstep.experiment.target import Target
from giantstep.functions import hermite

FOLDS = 5
SMALL = 1e-3  # ridge of the direction, over the mean variance of an input
MOST = 8  # the largest degree
DIGITS = 5  # of a coefficient: more than any sample determines
NEGLIGIBLE = 1e-12  # coefficients below this share of the largest are left out


def direction(X: Float[np.ndarray, "n d"], y: Float[np.ndarray, " n"]) -> Float[np.ndarray, " d"]:
    """The unit vector along ``(Sigma + small I)^-1 Cov(x, y)``; the first axis if the labels do not depend on the inputs."""
    left, right = X - X.mean(axis=0), y - y.mean()
    S = left.T @ left / len(X)
    w = np.linalg.solve(S + (SMALL * np.trace(S) / len(S) or 1.0) * np.eye(len(S)), left.T @ right / len(X))
    length = float(np.linalg.norm(w))
    return w / length if length > 0 else np.eye(1, X.shape[1])[0]


def fit(X: Float[np.ndarray, "n d"], y: Float[np.ndarray, " n"], degree: int, noise: float) -> Target:
    """The target; ``noise`` is the standard deviation of what is added to every input before the network sees it."""
    if whole(degree, "degree") > MOST:
        raise InputError(f"degree must be at most {MOST}, not {degree}")
    if len(X) < FOLDS * (degree + 2):
        raise InputError(f"a target of degree {degree} needs at least {FOLDS * (degree + 2)} rows, not {len(X)}")
    rng = np.random.default_rng(0)
    rows = X + noise * rng.standard_normal(X.shape) if noise else X
    w = direction(rows, y)
    scale = float(np.std(rows @ w)) or 1.0
    centre = float(np.mean(rows @ w))  # zero for centred inputs
    places = rng.permutation(len(X)) % FOLDS
    coefficients, left = np.zeros(degree + 1), np.zeros(len(X))
    for fold in range(FOLDS):
        out = places == fold
        v = direction(rows[~out], y[~out])
        z = (rows @ v - np.mean(rows[~out] @ v)) / (np.std(rows[~out] @ v) or 1.0)
        H = np.stack([hermite.hermite(k, z) for k in range(degree + 1)], axis=1)
        coefficients += np.linalg.lstsq(H[out], y[out], rcond=None)[0] / FOLDS
        own = np.linalg.lstsq(H[~out], y[~out], rcond=None)[0]
        left[out] = y[out] - H[out] @ own
    return Target(
        _formula(coefficients, centre / scale), noise=float(np.sqrt(np.mean(left**2))), directions=[w / scale]
    )


def _formula(coefficients: Float[np.ndarray, " k"], shift: float) -> str:
    """``0.3 + 1.2*x1 - 0.5*H2(x1)``, with the projection shifted if the inputs have a mean."""
    x = "x1" if abs(shift) < 1e-9 else f"(x1 {'-' if shift > 0 else '+'} {abs(shift):.{DIGITS}g})"
    largest = float(np.max(np.abs(coefficients))) or 1.0
    terms = [(c, k) for k, c in enumerate(coefficients) if abs(c) > NEGLIGIBLE * largest]
    words = [f"{'-' if c < 0 else '+'} {abs(c):.{DIGITS}g}{_factor(k, x)}" for c, k in terms]
    return " ".join(words).removeprefix("+ ") or "0"


def _factor(order: int, x: str) -> str:
    return "" if order == 0 else f"*{x}" if order == 1 else f"*H{order}({x.strip('()')})"
