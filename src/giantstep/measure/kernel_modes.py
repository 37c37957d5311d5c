"""Eigenmodes under x ~ N(0, I_d) of a layer's kernel K(x, x') = (1/p) sum_i sigma(⟨w_i, x⟩) sigma(⟨w_i, x'⟩).

Exactly, in a basis: with tau = ⟨u, x⟩ along a unit direction u and D = d - 1 directions across it, a neuron of length nu at the
angle phi to u has, in the orthonormal functions h_j(tau) R_m(|x_perp|) (R_m the radial Hermite polynomial of even degree m),

    ⟨sigma(⟨w, x⟩), h_j R_m⟩ = alpha_{j+m}(nu) sqrt(C(j+m, j)) cos^j phi sin^m phi sqrt(k_m),   alpha_k(nu) = E sigma(nu z) h_k(z)
    k_m = E ⟨theta, theta'⟩^m = (m-1)!! / (D (D+2) ... (D+m-2)),  theta on the sphere of the D directions; k_0 = 1, k_2 = 1/D

and, in the transverse modes h_j(tau) ⟨e, x⟩ times its partner of degree three, alpha_{j+m} sqrt(C(j+m, j)) cos^j sin^m ⟨e, theta⟩
sqrt(t_m) with t_1 = 1, t_3 = 3/(D+2). Averages over neurons are over weights or, in theory, over their law.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from jaxtyping import Float
from scipy import linalg

from giantstep._given.arrays import FINITE
from giantstep._given.declared import at_least, given, number
from giantstep._given.plain import numbers, whole
from giantstep._machine import memory as _memory
from giantstep._machine.random import Stream, normals
from giantstep.errors import InputError
from giantstep.functions import _chebyshev as chebyshev
from giantstep.functions import hermite
from giantstep.functions.activation import MAX_ORDER, Activation, activation

ORDER, COUNT = 32, 6  # degree of the basis, modes kept
RADIAL = (0, 2, 4)  # degrees across u: what they leave out is of relative order 1/d^3
NAMED = 4  # 1, h_1, h_2, h_3: what sampled eigenfunctions are regressed on, besides the radial function
SHORT = 1e-6  # of the longest row: shorter ones are taken as that long


@dataclass(frozen=True)
class KernelModes:
    """The leading eigenpairs of a kernel, the largest first.

    Attributes:
        values: eigenvalues (k).
        components: of every eigenfunction, of unit norm, along h_0, h_1, ... of tau = ⟨u, x⟩ (k, J).
        radial: along (|x|^2 - d)/sqrt(2d) (k).
        transverse: eigenvalue of the modes linear across u, their mean over the d - 1 directions; None where it was sampled.
        points: how many inputs the kernel was sampled on; None for the exact Galerkin matrix.
    """

    values: Float[np.ndarray, " k"]
    components: Float[np.ndarray, "k j"]
    radial: Float[np.ndarray, " k"]
    transverse: float | None
    points: int | None = None

    @property
    def constant(self) -> int:
        """Which mode holds most of the kernel along the constant: the top radial mode."""
        return int(np.argmax(self.values * self.components[:, 0] ** 2))

    @property
    def aligned(self) -> int:
        """Which holds most of it along h_1(tau): the mode aligned with u."""
        return int(np.argmax(self.values * self.components[:, 1] ** 2))

    @property
    def mixing(self) -> float:
        """How far the top radial mode has turned towards h_2(tau): the angle of (<., 1>, <., h_2>), in degrees, -90 to 90."""
        one, two = self.components[self.constant, [0, 2]]
        return float(np.degrees(np.arctan2(np.sign(one) * two, abs(one))))

    def on(self, tau: Float[np.ndarray, " t"]) -> Float[np.ndarray, "k t"]:
        """The eigenfunctions' means given tau, signed so that the largest component on 1, h_1, h_2, h_3 is positive."""
        first = self.components[:, :NAMED]
        sign = np.sign(first[np.arange(len(first)), np.argmax(np.abs(first), axis=1)])
        return (sign[:, None] * self.components) @ hermite.hermite_table(self.components.shape[1] - 1, tau)


def profile(sigma: Activation, lengths: Float[np.ndarray, " n"], order: int) -> Float[np.ndarray, "k n"]:
    """alpha_k(nu) = E sigma(nu z) h_k(z), (order + 1, rows): by panels at Chebyshev points of log nu, and the polynomial through
    them (alpha_k is analytic for |arg nu| < pi/4, so a unit of log nu needs some twenty points)."""
    low, high = np.log(np.min(lengths)), np.log(np.max(lengths))
    middle, half = (high + low) / 2, max((high - low) / 2, 1e-9)
    count = 16 if half < 1e-3 else int(24 + 40 * half)
    values = _projections(sigma, np.exp(middle + half * chebyshev.nodes(count)), order)
    x = np.clip((np.log(lengths) - middle) / half, -1.0, 1.0)
    return (chebyshev.interpolation(x, count) @ values).T


def _projections(sigma: Activation, nu: Float[np.ndarray, " n"], order: int) -> Float[np.ndarray, "n k"]:
    """E sigma(nu z) h_k(z), (lengths, order + 1); the panels are cut where nu z meets a kink."""
    reach = max(13.0, 2 * order**0.5 + 9.0)
    if not any(sigma.kinks):  # none, or at zero for every length
        x, table = _table(sigma.kinks, reach, order)
        return np.asarray(sigma(nu[:, None] * x)) @ table.T
    cut = [_table(tuple(k / each for k in sigma.kinks), reach, order) for each in nu.tolist()]
    return np.array([table @ np.asarray(sigma(each * x)) for each, (x, table) in zip(nu, cut, strict=True)])


@lru_cache(maxsize=4)
def _table(
    kinks: tuple[float, ...], reach: float, order: int
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "k n"]]:
    x, w = hermite.gaussian_panels(kinks, 0.25, reach)
    return x, w * hermite.hermite_table(order, x)


def galerkin(
    sigma: Activation,
    along: Float[np.ndarray, " n"],
    across: Float[np.ndarray, " n"],
    weights: Float[np.ndarray, " n"],
    d: int,
    order: int = ORDER,
    count: int = COUNT,
) -> KernelModes:
    """Eigenmodes among functions of tau and |x_perp| of the average over neurons of these components along and lengths across."""
    nu = np.maximum(np.hypot(along, across), SHORT * np.max(np.hypot(along, across)))
    alpha, cos, sin = profile(sigma, nu, order), along / nu, across / nu
    parts = _parts(alpha, cos, np.sqrt(weights))
    shares = np.cumprod([1.0, 1 / max(d - 1, 1), 3 / (d + 1)])  # k_0, k_2, k_4
    B = np.concatenate([k**0.5 * sin**m * parts(m) for m, k in zip(RADIAL, shares, strict=True)])
    places = [(j, m) for m in RADIAL for j in range(order - m + 1)]
    # The constant may be by far the largest mode: singular values keep the digits of the others
    vectors, sizes, _ = np.linalg.svd(np.linalg.qr(B.T)[1].T)
    values, vectors = np.pad(sizes**2, (0, max(count - sizes.size, 0)))[:count], vectors[:, :count]
    plain = vectors[[i for i, (_, m) in enumerate(places) if m == 0]].T
    # (|x|^2 - d)/sqrt(2d) = sqrt(D/d) R_2 + sqrt(1/d) h_2(tau)
    radial = ((d - 1) / d) ** 0.5 * vectors[places.index((0, 2))] + d**-0.5 * vectors[places.index((2, 0))]
    T = np.concatenate([t**0.5 * sin**m * parts(m) for m, t in ((1, 1.0), (3, 3 / (d + 1)))])  # t_1, t_3
    transverse = float(linalg.eigvalsh(T @ T.T)[-1]) / max(d - 1, 1)
    return KernelModes(values, plain, radial, transverse)


def _parts(
    alpha: Float[np.ndarray, "k n"], cos: Float[np.ndarray, " n"], root: Float[np.ndarray, " n"]
) -> Callable[[int], np.ndarray]:
    """m -> alpha_{j+m} sqrt(C(j+m, j)) cos^j times the root of the weight, j = 0, 1, ..., one row each."""
    powers = root * np.cumprod(np.stack([np.ones_like(cos), *[cos] * (len(alpha) - 1)]), axis=0)

    def part(m: int) -> np.ndarray:
        binomial = np.sqrt([float(comb(j + m, j)) for j in range(len(alpha) - m)])
        return binomial[:, None] * alpha[m:] * powers[: len(alpha) - m]

    return part


@given(
    W=FINITE,
    direction=FINITE,
    points=at_least(2),
    seed=at_least(0),
    order=at_least(max(RADIAL), MAX_ORDER),
    count=whole,
    memory=number(1e-3),
)
def kernel(
    W: Float[np.ndarray, "p d"],
    activation: object,
    direction: Float[np.ndarray, " d"],
    *,
    points: int | None = None,
    seed: int = 0,
    order: int = ORDER,
    count: int = COUNT,
    memory: float | None = None,
) -> KernelModes:
    """Eigenvalues and eigenfunctions of the kernel of a layer W, under x ~ N(0, I_d), seen along a direction.

    Args:
        W: rows w_i; one's own trained weights are welcome.
        activation: a name, a formula, a callable or an Activation.
        direction: u, of any length: the target's direction, or that of X^T y.
        points: None for the exact Galerkin matrix among functions of ⟨u, x⟩ and |x|, without sampling noise; a number for the
            kernel on so many fresh inputs, all of its modes, with eigenfunctions regressed on 1, h_1, h_2, h_3 and the radial
            function; an eigenvalue of order one has a relative error of about sqrt(2/points).
        seed: of those inputs.
        order: degree of the basis.
        count: how many modes.
        memory: GiB to stay within when inputs are sampled; by default a share of what is free.

    Examples:
        >>> import numpy as np
        >>> W = np.random.default_rng(0).standard_normal((100, 20)) / 20**0.5
        >>> found = gs.measure.kernel(W, "tanh", np.eye(20)[0], count=2)
        >>> found.values.shape
        (2,)
    """
    sigma = _activation(activation)
    W, u = _weights(W, direction)
    if points is not None:
        return _sampled(W, sigma, u, points, seed, count, memory)
    along = W @ u
    across = np.sqrt(np.maximum(np.sum(W**2, axis=1) - along**2, 0.0))
    return galerkin(sigma, along, across, np.full(len(W), 1 / len(W)), W.shape[1], order, count)


def _activation(given: object) -> Activation:
    return given if isinstance(given, Activation) else activation(given)  # type: ignore[arg-type]


def _weights(W: object, direction: object) -> tuple[Float[np.ndarray, "p d"], Float[np.ndarray, " d"]]:
    needed = "W and direction must be finite numbers of shape (p, d) and (d,)"
    rows = numbers(W, (None, None), needed)
    u = numbers(direction, rows.shape[1:], needed)
    length = float(np.linalg.norm(u))
    if not np.isfinite(length) or length == 0 or not np.any(rows):
        raise InputError("direction must be finite and not zero, and W must have a row that is not zero")
    return rows, u / length


def _sampled(
    W: Float[np.ndarray, "p d"],
    sigma: Activation,
    u: Float[np.ndarray, " d"],
    points: int,
    seed: int,
    count: int,
    memory: float | None,
) -> KernelModes:
    p, d = W.shape
    _memory.check(8.0 * points * (d + 3 * p), memory, lambda share: f"points={int(points * share)}")
    X = normals(seed, (Stream.TEST, 0), 0, points, d)
    F = np.asarray(sigma(X @ W.T)) / np.sqrt(float(p) * points)
    k = min(count, min(F.shape) - 1)
    from scipy.sparse.linalg import svds  # here, like all that takes long to import and is seldom needed

    left, values, _ = svds(F, k=k, v0=np.random.default_rng(0).standard_normal(min(F.shape)))  # type: ignore[misc]
    by = np.argsort(values)[::-1]
    functions = np.asarray(left)[:, by] * points**0.5  # of unit mean square on the points
    tau = X @ u
    radial = (np.sum(X**2, axis=1) - d) / (2 * d) ** 0.5
    known = np.concatenate([hermite.hermite_table(NAMED - 1, tau), radial[None]])
    # coefficients to components: <radial, h_2> = sqrt(1/d)
    gram = np.eye(NAMED + 1)
    gram[2, NAMED] = gram[NAMED, 2] = d**-0.5
    components = np.linalg.lstsq(known.T, functions, rcond=None)[0].T @ gram
    return KernelModes(values[by] ** 2, components[:, :NAMED], components[:, NAMED], None, points)
