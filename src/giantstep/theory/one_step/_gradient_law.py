"""The law of the gradient's remainder: M = X^T diag(r) X / n on n samples with residuals r.

The row of neuron i after a step is w_i + eta s a_i (c_1 beta + E[z sigma'] M w_i + white): beyond its rank-one part the gradient
turns all rows by one matrix. With phi = d/n and g the Stieltjes transform of M's spectral law,

    g(zeta) = 1 / (E[r/(1 + phi r g)] - zeta)                                     (Marchenko and Pastur, signed weights)

and along the inputs' directions z that r depends on, and beta = X^T r/n,

    R_zz    = (E[z z^T r/(1 + phi r g)] - zeta)^{-1},     v = E[z r/(1 + phi r g)]
    R_zbeta = R_zz v,    R_betabeta = E[phi g r^2/(1 + phi r g)] + v^T R_zz v

As series in 1/zeta these give the moments of the laws, and the moments give Gauss quadratures: few nodes, smooth in everything.
"""

from functools import cache
from math import comb
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.arrays import Array, repeat, xp
from giantstep.functions._gaussian_averages import Scalar


class ResidualMoments(NamedTuple):
    """Moments of a residual: E[r^k], E[z r^k] (Z, k) and E[z z^T r^k] (Z, Z, k), k = 0..order."""

    plain: Float[Array, " k"]
    first: Float[Array, "Z k"]
    second: Float[Array, "Z Z k"]


class SpectralModes(NamedTuple):
    """A quadrature of a spectral law: nodes mu, and weights, scalar (M,) or matrices (M, X, X)."""

    nodes: Float[Array, " M"]
    weights: Float[Array, "M ..."]


def moments(r: Float[Array, " q"], z: Float[Array, "Z q"], weights: Float[Array, " q"], order: int) -> ResidualMoments:
    """From residuals r (Q,), coordinates z (Z, Q) and weights (Q,)."""
    powers = xp.concatenate([weights[None], r * xp.ones((order, 1))])
    powers = xp.cumprod(powers, 0)  # r^k weights
    return ResidualMoments(powers.sum(1), xp.einsum("zq,kq->zk", z, powers), xp.einsum("yq,zq,kq->yzk", z, z, powers))


def _product(a: Array, b: Array) -> Array:
    """Product of truncated power series along the last axis (leading axes broadcast)."""
    lag, known = _lags(a.shape[-1])
    return (a[..., None, :] @ (b[..., lag] * known))[..., 0, :]


@cache
def _lags(n: int) -> tuple[Int[np.ndarray, "n n"], Float[np.ndarray, "n n"]]:
    """j - i, and where it is not negative."""
    lag = np.arange(n) - np.arange(n)[:, None]
    return np.maximum(lag, 0), (lag >= 0).astype(float)


def _composed(phi: Float[Array, " n"]) -> Float[Array, "n n"]:
    """The matrix that takes the coefficients of a series F to those of F(h), h the series with h = x phi(h).

    Lagrange: [x^m] F(h) = (1/m) [h^{m-1}] F'(h) phi(h)^m.
    """
    n = phi.shape[-1]
    lag, known = _lags(n)
    times, powers = phi[lag] * known, [phi]
    for _ in range(n - 2):
        powers.append(powers[-1] @ times)
    m, j = np.arange(1, n)[:, None], np.arange(n)
    rows = xp.take_along_axis(xp.stack(powers), np.maximum(m - j, 0), 1) * np.where(j <= m, j / m, 0.0)
    return xp.concatenate([np.eye(n)[:1], rows])


def transform(plain: Float[Array, " k"], phi: Scalar, n: int) -> Float[Array, "n n"]:
    """The powers of h = -g as series in x = 1/zeta, one a row: h = x (1 + h E[r/(1 - phi r h)])."""
    return _composed(xp.concatenate([np.ones(1), plain[1:n] * phi ** np.arange(n - 1)])).T


def block_series(
    h: Float[Array, "n n"],
    second: Float[Array, "Z Z n"],
    first: Float[Array, "Z B n"],
    corner: Float[Array, "B B n"],
    phi: Scalar,
) -> Float[Array, "ZB ZB n"]:
    """-R in the basis (z, beta_m = X^T q_m/n), a series in x: from powers of h, E[z z^T r^(k+1)], E[z q r^k], E[q_m q_l r^k]."""
    n, scale = len(h), phi ** np.arange(len(h))
    x = xp.eye(n)[1]
    one = xp.eye(len(second))[..., None] * x  # x I
    K = (second * scale) @ h  # E[z z^T r/(1 - phi r h)]
    v = (first * scale) @ h  # E[z q/(1 - phi r h)]
    # -R_zz = x (I + K (-R_zz))
    R = repeat(n, lambda R: one + _product(x, _product(K[:, :, None], R[None]).sum(1)), one + 0 * K)
    Rv = _product(R[:, :, None], v[None]).sum(1)
    low = phi * _product(h[1], (corner * scale) @ h) + _product(v[:, :, None], Rv[:, None]).sum(0)
    return xp.concatenate([xp.concatenate([R, Rv], 1), xp.concatenate([xp.swapaxes(Rv, 0, 1), low], 1)])


def _series(
    law: ResidualMoments, phi: Scalar, terms: int
) -> tuple[Float[Array, " terms"], Float[Array, "Z1 Z1 terms"]]:
    """Moments 0..terms-1 of M's law, and matrix moments in the basis (z, beta) as an array (Z+1, Z+1, terms)."""
    n = terms + 1  # h = -g = x + m_1 x^2 + ...
    h = transform(law.plain, phi, n)
    first, corner = law.first[:, None, 1 : n + 1], law.plain[None, None, 2 : n + 2]
    block = block_series(h, law.second[..., 1 : n + 1], first, corner, phi)
    return h[1, 1:], block[..., 1:]


def quadratures(
    law: ResidualMoments, phi: Scalar, basis: Float[Array, "X Z1"], count: int, block: int
) -> tuple[SpectralModes, SpectralModes]:
    """Gauss quadratures: of M's law with ``count`` nodes, and of its matrix measure with ``block`` nodes a direction.

    ``basis`` (X, Z+1) holds orthonormal directions of input space as combinations of (z, beta).
    """
    scalar, matrix = _series(law, phi, 2 * max(count, block))
    matrix = xp.einsum("ac,cdk,bd->abk", basis, matrix, basis)
    (nodes, weights), along = (
        matrix_quadrature(scalar[None, None], scalar, count),
        matrix_quadrature(matrix, scalar, block),
    )
    return SpectralModes(nodes, weights[:, 0, 0]), SpectralModes(*along)


def matrix_quadrature(
    matrix: Float[Array, "X X terms"], scalar: Float[Array, " terms"], count: int
) -> tuple[Float[Array, " M"], Float[Array, "M X X"]]:
    """Nodes and matrix weights; the moments of ``scalar`` say where nodes may be expected."""
    centre = scalar[1]
    spread = xp.sqrt(scalar[2] - centre**2)
    nodes, weights = _gauss(_shifted(matrix, centre, spread), count)
    return centre + spread * nodes, weights


def _shifted(m: Float[Array, "... terms"], centre: Scalar, spread: Scalar) -> Float[Array, "... terms"]:
    """Moments of (mu - centre)/spread from those of mu."""
    n = m.shape[-1]
    binomial = np.array([[float(comb(k, i)) for i in range(n)] for k in range(n)])
    power = np.maximum(np.arange(n)[:, None] - np.arange(n), 0)
    return xp.einsum("ki,...i->...k", binomial * (-centre) ** power, m) / spread ** np.arange(n)


def _gauss(m: Float[Array, "X X terms"], count: int) -> tuple[Float[Array, " M"], Float[Array, "M X X"]]:
    """Nodes and matrix weights from matrix moments (X, X, >= 2 count): eigenpairs of the block Jacobi matrix.

    The Hankel matrix H = [m_{i+j}] = L L^T gives orthonormal polynomials; in them multiplication by mu is L^{-1} H' L^{-T},
    H' = [m_{i+j+1}], and the directions are its first block: L_00.
    """
    X = m.shape[0]
    index = np.arange(count)[:, None] + np.arange(count)
    hankel = xp.transpose(m[..., index], (2, 0, 3, 1)).reshape(count * X, count * X)
    moved = xp.transpose(m[..., index + 1], (2, 0, 3, 1)).reshape(count * X, count * X)
    L = xp.linalg.cholesky(hankel)
    half = xp.linalg.solve(L, moved)
    jacobi = xp.linalg.solve(L, half.T)
    nodes, vectors = xp.linalg.eigh((jacobi + jacobi.T) / 2)
    first = L[:X, :X] @ vectors[:X]  # (X, count X)
    return nodes, xp.einsum("ai,bi->iab", first, first)
