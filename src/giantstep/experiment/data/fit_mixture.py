"""A Mixture fitted to rows in classes: which eigenvalues of a class are spikes, and how strong the spikes behind them are.

Rows of ``N(mu, s I + sum_i theta_i gamma_i gamma_i^T)``, n + 1 of them in d dimensions, phi = d/n. The eigenvalues of their
covariance that belong to the bulk end at ``s (1 + sqrt(phi))^2`` (Marchenko and Pastur 1967), the largest with fluctuations of
order ``n^(-2/3)`` (Johnstone 2001). A spike ``theta > s sqrt(phi)`` has an eigenvalue beyond (Baik, Ben Arous and Peche 2005;
Baik and Silverstein 2006),

    lambda = (s + theta) (1 + phi s / theta),

whose eigenvector has the cosine^2 ``(1 - phi s^2 / theta^2) / (1 + phi s / theta)`` with gamma (Paul 2007).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given.plain import several, whole
from giantstep.errors import InputError
from giantstep.experiment.data._labelled_rows import LabelledRows

TRACY_WIDOM = 3.27  # 99.9% quantile of the law of Tracy and Widom (1996) for real matrices
DEVIATIONS = 3.0  # from which a mean counts as one
NOTHING = 1e-12  # of the trace: no bulk


def edge(n: int, d: int, bulk: float = 1.0) -> float:
    """Eigenvalues of a covariance of n degrees of freedom in d dimensions above it are spikes: the edge of the bulk
    ``(1 + sqrt(d/n))^2`` and ``TRACY_WIDOM`` widths of its fluctuations (Johnstone 2001, eqs. 1.3 and 1.4)."""
    root = whole(n, "n") ** 0.5 + whole(d, "d") ** 0.5
    width = root * (n**-0.5 + d**-0.5) ** (1 / 3)
    return bulk * (root**2 + TRACY_WIDOM * width) / n


def eigenvalue(strength: Float[np.ndarray, "..."] | float, bulk: float, phi: float) -> Float[np.ndarray, "..."] | float:
    """lambda of a spike of the strength theta, for theta > bulk sqrt(phi)."""
    return (bulk + strength) * (1 + phi * bulk / strength)


def strength(
    eigenvalues: Float[np.ndarray, "..."] | float, bulk: float, phi: float
) -> Float[np.ndarray, "..."] | float:
    """theta of an eigenvalue beyond the edge: the larger root of ``theta^2 - (lambda - s (1 + phi)) theta + phi s^2 = 0``."""
    b = eigenvalues - bulk * (1 + phi)
    return (b + np.sqrt(np.maximum(b * b - 4 * phi * bulk**2, 0.0))) / 2


def cosine(strength: Float[np.ndarray, "..."] | float, bulk: float, phi: float) -> Float[np.ndarray, "..."] | float:
    """|⟨v, gamma⟩| of the eigenvector of a spike, for theta > bulk sqrt(phi)."""
    return np.sqrt(np.maximum(1 - phi * (bulk / strength) ** 2, 0.0) / (1 + phi * bulk / strength))


class FittedClass(NamedTuple):
    """The share of the rows, strengths (k,) and directions (k, d) of spikes, the mean where it is none of chance, the bulk."""

    weight: float
    strengths: Float[np.ndarray, " k"]
    directions: Float[np.ndarray, "k d"]
    mean: Float[np.ndarray, " d"] | None
    bulk: float


def fit(X: npt.ArrayLike, labels: npt.ArrayLike, spikes: int | None, classes: Any, noise: float) -> list[FittedClass]:
    """Fit the classes from which ``Mixture.fit`` builds its components."""
    rows = LabelledRows(X, labels)  # type: ignore[arg-type]
    entries = several(np.unique(rows.labels) if classes is None else classes, "classes")
    chosen = [whole(c, "every class", -(2**31)) for c in entries or ()]
    if not chosen or len(set(chosen)) < len(chosen):
        raise InputError("classes must be a list of different labels")
    parts = [rows.X[rows.labels == c] for c in chosen]
    for c, own in zip(chosen, parts, strict=True):
        if len(own) < 2:
            raise InputError(f"a covariance needs at least two rows of every class, and class {c} has {len(own)}")
    total = sum(map(len, parts))
    return [_fitted(own, len(own) / total, spikes, noise, c) for c, own in zip(chosen, parts, strict=True)]


def _fitted(X: Float[np.ndarray, "n d"], weight: float, most: int | None, noise: float, name: int) -> FittedClass:
    N, d = X.shape
    mean = X.mean(axis=0)
    values, vectors = _eigen(X - mean, d if most is None else most)
    trace, shrink = float(np.sum(values)), (N - 1) / N  # shrunk, the trace is that of the rows, the sum of np.var
    count, bulk = separate(values, N - 1, d)
    along = np.asarray(bulk + strength(values[: count if most is None else min(count, most)], bulk, d / (N - 1)))
    along, bulk = _visible(along, trace, N - 1, d, noise**2 / shrink)
    spikes = len(along)
    same = not np.any(np.ptp(X, axis=0))  # the trace is then zero but for the rounding of the mean
    if shrink * bulk + noise**2 <= NOTHING * trace or (same and noise == 0):
        raise InputError(
            f"the {N} rows of class {name} lie in {spikes} dimensions, which leaves no bulk: take noise > 0 or fewer spikes"
        )
    # ||mean||^2 of N rows of mean zero is Tr Sigma / N, with the standard deviation sqrt(2 Tr Sigma^2) / N
    squares = float(np.sum(along**2) + (d - spikes) * bulk**2)
    significant = mean @ mean > shrink * (trace + DEVIATIONS * (2 * squares) ** 0.5) / N
    own = shrink * (along - bulk)
    return FittedClass(weight, own, vectors[:spikes], mean if significant else None, shrink * bulk + noise**2)


def _visible(
    along: Float[np.ndarray, " spikes"], trace: float, n: int, d: int, noise: float
) -> tuple[Float[np.ndarray, " kept"], float]:
    """Variances along the spikes kept, and the bulk: what is left of the trace. A spike that as many rows with the noise would
    not show goes to the bulk: its eigenvalue would not be beyond the edge."""
    while True:
        bulk = (trace - float(np.sum(along))) / (d - len(along))
        if not noise or not len(along) or _shown(along[-1] - bulk, bulk + noise, n, d):
            return along, bulk
        along = along[:-1]


def _shown(theta: float, bulk: float, n: int, d: int) -> bool:
    return bool(theta > bulk * (d / n) ** 0.5 and eigenvalue(theta, bulk, d / n) > edge(n, d, bulk))


def separate(values: Float[np.ndarray, " k"], n: int, d: int) -> tuple[int, float]:
    """How many eigenvalues (decreasing; n degrees of freedom) are spikes, and the bulk.

    The bulk with k spikes solves ``d s + sum_i theta(lambda_i; s) = sum of all eigenvalues``; a further eigenvalue above its edge
    is one spike more.
    """
    from scipy.optimize import brentq  # here: it takes longer to import than most settings to simulate

    trace, phi, k = float(np.sum(values)), d / n, 0
    bulk = trace / d
    while k < min(n, d) - 1 and values[k] > edge(n, d, bulk) and bulk > NOTHING * trace:
        k += 1
        excess = lambda s, own=values[:k]: d * s + float(np.sum(strength(own, s, phi))) - trace  # noqa: E731
        bulk = float(brentq(excess, 0.0, bulk)) if excess(0.0) < 0 else 0.0  # type: ignore[arg-type]
    return k, bulk


def _eigen(X: Float[np.ndarray, "n d"], most: int) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, "most d"]]:
    """Eigenvalues (decreasing) of ``X^T X / n``, n = N - 1, and unit eigenvectors as rows, with their largest entry positive."""
    N, d = X.shape
    values, U = np.linalg.eigh(X.T @ X if d <= N else X @ X.T)
    values, U = np.maximum(values[::-1], 0.0) / (N - 1), U[:, ::-1].T
    rows = U[: min(most, N - 1)] if d <= N else U[: min(most, N - 1)] @ X
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.linalg.qr((rows / np.where(lengths > 0, lengths, 1.0)).T)[0].T if d > N else rows
    largest = np.take_along_axis(rows, np.argmax(np.abs(rows), axis=1)[:, None], axis=1)
    return values, rows * np.where(largest < 0, -1.0, 1.0)
