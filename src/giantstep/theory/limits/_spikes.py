"""Outliers of the features after one giant step, at finite strength: where they lie and along what.

After a step that adds tau g(x) a to the preactivations, g = <beta, x> / ||beta|| ~ N(0, 1) and a the second layer,

    F / sqrt(n) = F0 / sqrt(n) + U S V^T + small,
    S_kj = sqrt(p) E[T(g, a) h_k(g) h_j(a)],   T(g, a) = E_z sigma(z + tau g a) = sum_m c_m (tau g a)^m,

with U the normalised Hermite functions h_k(g) on the samples and V orthonormal functions of a on the neurons. For
tau = c_1 eta ||beta|| / sqrt(p), eta = n^alpha, these are the spikes of Moniri et al. 2024 (arXiv 2310.07891) with their
strengths kept finite, so that the appearance of each can be seen. Two more rank-one terms belong to random features: the radial
one, left ||x||^2 - d and right 1, and with Gaussian rows one with left 1 and right ||w||^2 - 1, both of strength
c_2 sqrt(2/psi). The mean c_0 of an activation enters S_00. An eigenvalue x of [[0, F], [F^T, 0]] / sqrt(n) above the bulk solves
det(1 - Sigma G(x)) = 0,

    Sigma = [[0, S], [S^T, 0]],   G(x) = -[[x A_U, C], [C^T, x A_V]],   A_V = m-tilde,   A_U = diag(m1, m2, m1, m1, ...),

at lambda = -x^2. C = 0 for the gradient of the labels alone. With the initial output kept in the residual, beta leans on the
first layer, beta = ... - (c_1 / sqrt(p)) W0^T a, and for its h_1(g) and a, with f = c_1^2 / ||beta||, t and w of ``bulk``:

    (A_U)_11 = m2 (1 - f^2 t / w),   C_11 = -f t / w.

Good for tau up to about 0.25; beyond, the bulk itself moves. Not for symmetric pairs of neurons, whose bulk is another one.
"""

from dataclasses import dataclass
from functools import cached_property
from math import factorial, inf, pi, sqrt
from typing import Any

import numpy as np
from jaxtyping import Float, Inexact

from giantstep._given.plain import choice, real, whole
from giantstep.errors import InputError
from giantstep.experiment.network import ISOTROPIC, SECOND_LAYERS
from giantstep.experiment.protocol import RESIDUALS
from giantstep.functions.activation import Activation
from giantstep.functions.hermite import gauss_hermite, hermite_table, monomial_in_hermite
from giantstep.theory.limits import bulk

ORDER = 10  # largest power of g kept; 6 are enough up to tau = 0.3
NODES = 40  # Gauss-Hermite nodes for g and a
FAR = 1e6  # the search for outliers ends at this multiple of the strongest strength's square


@dataclass(frozen=True)
class Step:
    """One giant step, as the features after it see it.

    Attributes:
        sigma: the activation.
        n: readout samples.
        d: dimension.
        p: width.
        tau: eta * scale * c_1 * ||beta||, the shift of a preactivation per unit of g and a.
        rows: of the first layer, "sphere" or "gaussian".
        second_layer: law of a, "gaussian", "rademacher" or "constant".
        residual: "target", or "full" if the initial output stays in the gradient.
        beta: ||beta||, used by residual="full".
        output: scale * sqrt(p), the size of the initial output, used by residual="full"; 1 for the scale 1/sqrt(p).
    """

    sigma: Activation
    n: int
    d: int
    p: int
    tau: float
    rows: str = "sphere"
    second_layer: str = "gaussian"
    residual: str = "target"
    beta: float = inf
    output: float = 1.0

    def __post_init__(self) -> None:
        for name in ("n", "d", "p"):
            object.__setattr__(self, name, whole(getattr(self, name), name))
        object.__setattr__(self, "tau", real(self.tau, "tau"))
        choice(self.rows, ISOTROPIC, "rows")
        choice(self.second_layer, SECOND_LAYERS, "second_layer")
        choice(self.residual, RESIDUALS, "residual")
        object.__setattr__(self, "output", real(self.output, "output", least=0.0))
        if self.residual == "full" and not 0 < self.beta < inf:
            raise InputError('residual="full" needs beta, the length of X^T r / n with r = y - f(X)')

    @cached_property
    def shape(self) -> bulk.Shape:
        return bulk.shape(self.sigma, self.n, self.d, self.p)

    @property
    def lean(self) -> float:
        """f = output c_1^2 / ||beta||, 0 for residual="target"."""
        return self.output * self.shape.linear / self.beta if self.residual == "full" else 0.0


@dataclass(frozen=True)
class PredictedSpike:
    """A singular value of F / sqrt(n) above the bulk.

    Attributes:
        position: the singular value.
        kind: what its left vector is mostly: "power" of g, "constant", "radial" (||x||^2 - d), or "rows" for the constant paired
            with ||w||^2 - 1.
        order: the power of g, after Gram-Schmidt on the lower ones; 0 for the other kinds.
        strength: of the rank-one term along its own left and right vectors, |u^T S v| for the unit u, v inside the spans.
        alignment: cos^2 of the left vector with its kind: the Gram-Schmidt direction of g^order, or the constant or radial one.
        powers: cos^2 with g, g^2, ..., each by itself.
        gram_schmidt: cos^2 with g, g^2, ... made orthonormal in that order, no constant among them.
        components: of the unit left vector along h_0(g), h_1(g), ..., the first non-zero one positive.
    """

    position: float
    kind: str
    order: int
    strength: float
    alignment: float
    powers: tuple[float, ...]
    gram_schmidt: tuple[float, ...]
    components: tuple[float, ...]


def low_rank(step: Step) -> Float[np.ndarray, "left right"]:
    """S: rows h_0(g)..h_10(g) and the radial function, columns the functions of a and, last, ||w||^2 - 1."""
    g, weight = gauss_hermite(NODES)
    a, law, functions = _second_layer(step.second_layer)
    T = smoothed(step.sigma, step.tau * np.multiply.outer(g, a))
    S = np.zeros((ORDER + 2, len(functions) + 1))
    S[:-1, :-1] = sqrt(step.p) * (hermite_table(ORDER, g) * weight) @ T @ (functions * law).T
    # a preactivation has variance ||w||^2 ||x||^2 / d: E sigma moves by c_2 times its excess, of standard deviation sqrt(2/d)
    radial = float(step.sigma.hermite(2)[2]) * sqrt(2 / step.shape.psi)
    S[-1, 0] = radial
    S[0, -1] = radial * (1 - 1e-9) if step.rows == "gaussian" else 0.0  # a hair apart: the two keep their own vectors
    return S


def _second_layer(
    law: str,
) -> tuple[Float[np.ndarray, " values"], Float[np.ndarray, " values"], Float[np.ndarray, "functions values"]]:
    """Values of a, their probabilities and the orthonormal functions of a, one a row."""
    if law == "gaussian":
        a, weight = gauss_hermite(NODES)
        return a, weight, hermite_table(ORDER, a)
    if law == "rademacher":
        return np.array([1.0, -1.0]), np.full(2, 0.5), np.array([[1.0, 1.0], [1.0, -1.0]])
    return np.ones(1), np.ones(1), np.ones((1, 1))


def smoothed(sigma: Activation, shift: Float[np.ndarray, "g a"]) -> Float[np.ndarray, "g a"]:
    """E_z sigma(z + shift) = integral of sigma(y) N(y; shift, 1) dy, by Gauss-Legendre panels split at the kinks of sigma."""
    reach = float(np.max(np.abs(shift))) + 10.0
    grid = np.linspace(-reach, reach, int(np.ceil(4 * reach)) + 1)
    edges = np.unique(np.concatenate([grid, [k for k in sigma.kinks if -reach < k < reach]]))
    x, w = np.polynomial.legendre.leggauss(12)
    half = np.diff(edges)[:, None] / 2
    y = (edges[:-1, None] + half * (1 + x)).ravel()
    values = (half * w).ravel() * np.asarray(sigma(y)) / sqrt(2 * pi)
    centres, where = np.unique(shift, return_inverse=True)
    means = np.array([np.exp(-0.5 * (y - u) ** 2) @ values for u in centres])
    return means[where].reshape(shift.shape)


def outliers(step: Step) -> tuple[PredictedSpike, ...]:
    """The outliers of F / sqrt(n), the largest first.

    With G = L L^T they are the x where an eigenvalue of L^T Sigma L, which falls as x grows, is 1; there are as many as
    eigenvalues above 1 at the edge. Above the bulk everything is explicit in y of ``bulk.beyond``, x = sqrt(z(y)).
    """
    S, start = low_rank(step), bulk.threshold(step.shape)
    if start == 0:
        start = 1e-12 * (1 + float(np.linalg.norm(S, 2)) ** 2)  # no bulk at all
    end = FAR * (start + float(np.linalg.norm(S, 2)) ** 2)
    count = int(np.sum(_curves(step, S, start)[0] > 1))
    spikes = []
    for i in range(count):
        y = bulk.root(lambda y, i=i: float(_curves(step, S, y)[0][i]) - 1, start, end)
        spikes.append(_outlier(step, S, y, i))
    return tuple(sorted(spikes, key=lambda o: -o.position))


def _green(step: Step, size: tuple[int, int], y: Any) -> tuple[Any, Inexact[np.ndarray, "both both"]]:
    """x and G(x); y may be complex, for derivatives."""
    resolvent = bulk.beyond(step.shape, y)
    x, (rows, columns) = np.sqrt(resolvent.z), size
    G = np.diag(np.concatenate([np.full(rows, -x * resolvent.m1), np.full(columns, -x * resolvent.companion)]))
    lean, kind = step.lean, rows + (0 if step.second_layer == "constant" else 1)
    over = -1 / (y - step.shape.linear / step.shape.psi)  # t / w
    G[1, 1] = -x * resolvent.m2 * (1 - lean**2 * over)
    G[1, kind] = G[kind, 1] = lean * over
    return x, G


def _curves(
    step: Step, S: Float[np.ndarray, "left right"], y: float
) -> tuple[Float[np.ndarray, " both"], Float[np.ndarray, "both both"]]:
    """Eigenvalues of L^T Sigma L in decreasing order, and L e for its eigenvectors e."""
    _, G = _green(step, S.shape, y)
    L = np.linalg.cholesky(G)
    values, vectors = np.linalg.eigh(L.T @ _bordered(S) @ L)
    return values[::-1], (L @ vectors)[:, ::-1]


def _bordered(S: Float[np.ndarray, "left right"]) -> Float[np.ndarray, "both both"]:
    rows, columns = S.shape
    return np.block([[np.zeros((rows, rows)), S], [S.T, np.zeros((columns, columns))]])


def _outlier(step: Step, S: Float[np.ndarray, "left right"], y: float, i: int) -> PredictedSpike:
    """(G^-1 - Sigma)^-1 has the residue l l^T / -mu'(x) at the outlier, l = L e and mu' = l^T G^-1 G' G^-1 l; U^T u u^T U is
    twice its block over the left functions."""
    vector = _curves(step, S, y)[1][:, i]
    tiny = 1e-30 * y
    x, G = _green(step, S.shape, y)
    dx, dG = (np.imag(part) / tiny for part in _green(step, S.shape, y + 1j * tiny))  # complex step: exact to rounding
    dual = np.linalg.solve(G, vector)
    both = vector * sqrt(2 / -(dual @ (dG / dx) @ dual))
    left, right = both[: len(S)], both[len(S) :]
    left, right = (part * np.sign(left[np.flatnonzero(np.abs(left) > 1e-9)[0]]) for part in (left, right))
    strength = float(np.abs(left @ S @ right) / (np.linalg.norm(left) * np.linalg.norm(right)))
    powers, schmidt = (tuple(((rows @ left[:-1]) ** 2).tolist()) for rows in _directions())
    squares = {"constant": left[0] ** 2, "radial": left[-1] ** 2, "power": max(schmidt)}
    kind = max(squares, key=squares.__getitem__)
    order = 1 + int(np.argmax(schmidt)) if kind == "power" else 0
    name = "rows" if kind == "constant" and right[-1] ** 2 > 0.5 * (right @ right) else kind
    return PredictedSpike(
        float(x), name, order, strength, float(squares[kind]), powers, schmidt, tuple(left[:-1].tolist())
    )


def _directions() -> tuple[Float[np.ndarray, "powers functions"], Float[np.ndarray, "powers functions"]]:
    """g, ..., g^10 over h_0..h_10, as unit rows and made orthonormal in that order."""
    rows = np.zeros((ORDER, ORDER + 1))
    for k in range(1, ORDER + 1):
        for j, value in monomial_in_hermite(k).items():
            rows[k - 1, j] = float(value) * sqrt(factorial(j))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), np.linalg.qr(rows.T)[0].T


def strengths(sigma: Activation, p: int, tau: float, count: int = ORDER) -> Float[np.ndarray, " count"]:
    """Leading order of the k-th spike's strength, k = 1..count: s_k = sqrt(p) |c_k| tau^k (2k-1)!!, a Gaussian second layer."""
    c, k = sigma.hermite(whole(count, "count")), np.arange(1, count + 1)
    return sqrt(whole(p, "p")) * np.abs(c[1:]) * abs(real(tau, "tau")) ** k * np.cumprod(2.0 * k - 1)


def critical(shape: bulk.Shape) -> tuple[float, float]:
    """Strengths at which an isolated spike leaves the bulk: of one along g, and of one along a higher power."""
    y = bulk.threshold(shape)
    return sqrt(y - shape.linear / shape.psi), sqrt(y)


def isolated(shape: bulk.Shape, strength: float, order: int) -> float | None:
    """Position of the outlier of one rank-one term along g^order by itself; None if it stays in the bulk.

    s^2 z m m-tilde = 1 at lambda = -z with m = m2 for order 1 and m1 above: y = s^2 + a/psi, or y = s^2.
    """
    y = real(strength, "strength", least=0.0) ** 2 + (shape.linear / shape.psi if whole(order, "order") == 1 else 0.0)
    return float(np.sqrt(bulk.beyond(shape, y).z)) if y > bulk.threshold(shape) else None
