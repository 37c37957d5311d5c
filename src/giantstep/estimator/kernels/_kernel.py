"""A kernel at landmarks as a layer: ridge regression on its features is kernel ridge regression on the span of the landmarks.

    f(u) = c + sum_l a_l (k(|u - z_l|^2) - k_l) + <b_0, u>,        a = R^{-1} b,   R^T R = K(Z, Z).

The features (K(u, Z) - k) R^{-1} are those of Nystroem (Williams and Seeger, NeurIPS 2000): |b|^2 is the squared norm of f in the
space of the kernel. The constants k_l, the means of K(Z, Z), change the intercept c alone. Without them, the variance of a wide
kernel would be lost in the rounding of its mean. The coordinates u are those that giant steps have learned, which makes this a
readout of them without a width.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.linalg import get_blas_funcs

from giantstep._machine.device import HOST, Arrays, noun
from giantstep.estimator.steps._array import Array
from giantstep.estimator.steps.network import FittedReadout, TablePiece
from giantstep.functions._named import namespace

JITTER = 1e-6  # added to K(Z, Z), whose diagonal is one: less of it makes wide kernels wild far from the rows
NEAR = 1e-6  # squared distances below this are rounding


@dataclass(frozen=True)
class KernelShape:
    """``value`` of squared distances D, and its derivative ``slope``."""

    name: str
    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]


def gaussian(D: Array) -> Array:
    """exp(-D / 2)."""
    return namespace(D).exp(-D / 2)


def gaussian_slope(D: Array) -> Array:
    return -gaussian(D) / 2


def laplace(D: Array) -> Array:
    """exp(-sqrt D)."""
    return namespace(D).exp(-namespace(D).sqrt(D))


def laplace_slope(D: Array) -> Array:
    length = namespace(D).sqrt(namespace(D).maximum(D, NEAR))
    return -namespace(D).exp(-length) / (2 * length)


GAUSSIAN = KernelShape("Gaussian", gaussian, gaussian_slope)
LAPLACE = KernelShape("Laplace", laplace, laplace_slope)


@noun("shape")
@dataclass(frozen=True)
class KernelLayer:
    """``landmarks`` z_l are rows of learned coordinates; ``whitening`` is R^{-1}, and ``means`` are k_l. Both are None in the
    form that predicts: its coefficients and its intercept contain them."""

    landmarks: Float[Array, "m r"]
    whitening: Float[Array, "m m"] | None
    means: Float[Array, " m"] | None
    shape: KernelShape

    @property
    def q(self) -> int:
        return sum(self.landmarks.shape)

    def preactivations(self, X: Float[Array, "n r"]) -> Float[Array, "n m"]:
        """D = |x - z_l|^2."""
        return distances(X, self.landmarks.astype(X.dtype))

    def outputs(self, H: Float[Array, "n m"]) -> Float[Array, "n m"]:
        K = self.shape.value(H)
        if self.whitening is None or self.means is None:
            return K
        return triangular_product(K - self.means.astype(H.dtype), self.whitening.astype(H.dtype))

    def gradient(self, piece: TablePiece, b: Float[Array, " q"]) -> Float[Array, "n r"]:
        """grad f = 2 sum_l a_l k'(D_l) (u - z_l) + b_0 for every row."""
        m = len(self.landmarks)
        a = (b[:m] if self.whitening is None else self.whitening @ b[:m]).astype(piece.X.dtype)
        slopes = 2 * self.shape.slope(piece.H)
        pull = slopes @ (a[:, None] * self.landmarks.astype(piece.X.dtype))
        return (slopes @ a)[:, None] * piece.X - pull + b[m:].astype(piece.X.dtype)

    def for_predictions(self, fitted: FittedReadout) -> tuple["KernelLayer", FittedReadout]:
        """a = R^{-1} b in the place of b, and c - sum_l a_l k_l in the place of c."""
        if self.whitening is None or self.means is None:
            return self, fitted.bare
        m, b, c = len(self.landmarks), fitted.bare.coefficients, fitted.bare.intercept
        a = np.asarray(self.whitening) @ b[:m]
        layer = KernelLayer(np.asarray(self.landmarks), None, None, self.shape)
        return layer, FittedReadout(np.concatenate([a, b[m:]]), c - np.asarray(self.means) @ a)

    def for_fits(self) -> "KernelLayer":
        return kernel_layer(self.landmarks, self.shape, HOST)


def triangular_product(K: Float[Array, "n m"], R: Float[Array, "m m"]) -> Float[Array, "n m"]:
    """K R for an upper triangular R. On the host this is half of the work of a full product, and K is overwritten."""
    if namespace(K) is not np:
        return K @ R
    trmm: Any = get_blas_funcs("trmm", (K,))
    return trmm(1.0, R, K.T, trans_a=1, overwrite_b=1).T  # (K R)^T = R^T K^T, in the order of Fortran


def distances(X: Float[Array, "n r"], Z: Float[Array, "m r"]) -> Float[Array, "n m"]:
    """Squared distances between rows."""
    D = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2 * (X @ Z.T)
    return namespace(D).maximum(D, 0.0)


def kernel_layer(landmarks: Float[Array, "m r"], shape: KernelShape, where: Arrays) -> KernelLayer:
    """The layer of a kernel at these landmarks."""
    Z = where.double(landmarks)
    K = shape.value(distances(Z, Z))
    R = where.linalg.cholesky(K + JITTER * len(Z) ** 0.5 * where.xp.eye(len(Z)))  # upper: R^T R = K
    whitening = where.linalg.solve_triangular(R, where.xp.eye(len(Z)), lower=False)
    return KernelLayer(landmarks, whitening, K.mean(axis=0), shape)
