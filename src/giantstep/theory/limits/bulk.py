"""Random features in the proportional limit: the bulk of F0 / sqrt(n), F0 = sigma(X W0^T), and its resolvent.

n samples, dimension d, width p; phi = d/n, psi = d/p, a = c_1^2, b = Var sigma - c_1^2. In the limit F0 is as good as
c_1 X W0^T + sqrt(b) Z with Z pure noise (Mei & Montanari 2022, arXiv 1908.05355; Adlam & Pennington 2020, arXiv 2008.06786;
Hu & Lu 2023, arXiv 2009.07669). A mean c_0 is left out: it makes one outlier, along the constant vector. With
Q = (F0 F0^T / n + lambda)^(-1),

    m1 = lim tr Q / n,   m2 = lim tr(X^T Q X) / (n d),   q = a m2 + b m1,
    lambda m1 + (phi/psi) q / (1 + q) = 1,   m1 - m2 = a m1 m2 / (psi (1 + q)).

One number, t = m1 / (1 + q), makes everything explicit, whether or not a or b vanish:

    w = 1 + a t / psi,   r = q / (1 + q) = a t / w + b t,   m1 = t / (1 - r),   m2 = m1 / w,
    lambda t = (1 - r) (1 - (phi/psi) r).

For lambda > 0 both factors on the right fall and are convex in t > 0. Above the bulk, at lambda = -z, t is negative, and
-1/t is the square of the rank-one strength whose outlier sits at z.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from jaxtyping import Float
from scipy.optimize import brentq

from giantstep._given.plain import real, whole
from giantstep.errors import InputError
from giantstep.functions.activation import Activation
from giantstep.theory.one_step._newton import newton

NEWTON = 400  # iterations; a double root (p = n) at penalty 1e-10 takes about 25


@dataclass(frozen=True)
class Shape:
    """phi = d/n, psi = d/p, linear = a = c_1^2, rest = b = E sigma^2 - c_0^2 - c_1^2."""

    phi: float
    psi: float
    linear: float
    rest: float

    def __post_init__(self) -> None:
        for name in ("phi", "psi", "linear", "rest"):
            object.__setattr__(self, name, real(getattr(self, name), name, least=0.0))
        if self.phi == 0 or self.psi == 0:
            raise InputError("phi = d/n and psi = d/p must be positive")

    @property
    def width(self) -> float:
        """The ratio of width to samples, p/n = phi/psi."""
        return self.phi / self.psi


class Resolvent(NamedTuple):
    """m1, m2 and their derivatives in the penalty, each of the penalties' shape."""

    m1: Float[np.ndarray, "..."]
    m2: Float[np.ndarray, "..."]
    dm1: Float[np.ndarray, "..."]
    dm2: Float[np.ndarray, "..."]


class Beyond(NamedTuple):
    """The resolvent above the bulk, at lambda = -z: z, and m1, m2, m-tilde (all negative)."""

    z: Any
    m1: Any
    m2: Any
    companion: Any


def shape(sigma: Activation, n: int, d: int, p: int) -> Shape:
    """The shape of n x p random features of d-dimensional inputs; parts of sigma below rounding count as zero."""
    n, d, p = (whole(value, name) for value, name in ((n, "n"), (d, "d"), (p, "p")))
    c1, power = float(sigma.hermite(1)[1]), sigma.variance
    linear = c1**2 if c1**2 > 1e-14 * power else 0.0
    rest = power - linear
    return Shape(d / n, d / p, linear, rest if rest > 1e-12 * power else 0.0)


def positive(penalty: npt.ArrayLike) -> Float[np.ndarray, "..."]:
    """Penalties as an array; refuse what is not positive and finite."""
    lam = np.asarray(penalty, dtype=float)
    if lam.size == 0 or not np.all(np.isfinite(lam)) or np.any(lam <= 0):
        raise InputError("a penalty must be a positive finite number")
    return lam


def resolvent(shape: Shape, penalty: npt.ArrayLike) -> Resolvent:
    """m1, m2 and their derivatives at a ridge penalty or an array of them."""
    lam = positive(penalty)
    a, b, psi, c = shape.linear, shape.rest, shape.psi, shape.width
    t = _newton(shape, lam)
    w = 1 + a * t / psi
    r = a * t / w + b * t
    # u = 1 - r and v = 1 - c r from u v = lambda t and v - u = (1 - c) r: nothing cancels at small penalties
    gap = (1 - c) * r
    large = (np.abs(gap) + np.sqrt(gap**2 + 4 * lam * t)) / 2
    u = np.where(gap >= 0, lam * t / large, large)
    v = np.where(gap >= 0, large, lam * t / large)
    m1 = t / u
    # dt/dlambda = -t / (lambda + r' (v + c u)),   dm1/dt = (u + t r') / u^2,   dm2/dt = (1 + a b t^2 / psi) / (u w)^2
    slope = a / w**2 + b
    dt = -t / (lam + slope * (v + c * u))
    return Resolvent(m1, m1 / w, dt * (u + t * slope) / u**2, dt * (1 + a * b * t**2 / psi) / (u * w) ** 2)


def _newton(shape: Shape, lam: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."] | float:
    """The root of f(t) = (1 - r)(1 - c r) - lambda t. f is convex and falls: Newton from the left climbs to it, always."""
    a, b, psi, c = shape.linear, shape.rest, shape.psi, shape.width

    def move(t):
        w = 1 + a * t / psi
        u = (1 + a * t * (1 - psi) / psi - b * t * w) / w
        v = (1 + a * t * (1 - shape.phi) / psi - c * b * t * w) / w
        slope = a / w**2 + b
        return (u * v - lam * t) / (lam + slope * (np.abs(v) + c * np.abs(u)))

    first = 1 / (lam + (a + b) * (1 + c))  # the first step, from t = 0
    return newton(move, first, 4e-16, NEWTON, relative=True)[0]


def companion(shape: Shape, at: Resolvent, penalty: npt.ArrayLike) -> Float[np.ndarray, "..."] | float:
    """m-tilde = lim tr (F0^T F0 / n + lambda)^(-1) / p = 1 / (lambda (1 + q)) = (psi/phi) m1 + (1 - psi/phi) / lambda."""
    return 1 / (np.asarray(penalty, dtype=float) * (1 + shape.linear * at.m2 + shape.rest * at.m1))


def beyond(shape: Shape, square: Any) -> Beyond:
    """The resolvent above the bulk, from the square y = -1/t of the strength whose outlier sits there; y > ``threshold``.

    R = -r = a / (y - a/psi) + b / y,   z = y (1 + R)(1 + c R),   m1 = -1 / (y (1 + R)),   m2 = m1 / (1 - a / (psi y)),
    m-tilde = -(1 + R) / z.
    """
    y, shift = square, shape.linear / shape.psi
    minus_r = shape.linear / (y - shift) + shape.rest / y
    u, v = 1 + minus_r, 1 + shape.width * minus_r
    z = y * u * v
    return Beyond(z, -1 / (y * u), -1 / ((y - shift) * u), -u / z)


def root(f: Callable[[float], float], low: float, high: float) -> float:
    """The zero of f between two signs, to rounding."""
    return float(brentq(f, low, high, xtol=1e-300, rtol=1e-14))  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def threshold(shape: Shape) -> float:
    """The y at which z(y) is least: strengths beyond make outliers (y = s^2, or s^2 + a/psi for a spike along X beta).

    z'(y) = (1 + R)(1 + c R) + y R' (1 + c + 2 c R) has one zero, since z is convex as a function of 1/y.
    """
    a, b, c, shift = shape.linear, shape.rest, shape.width, shape.linear / shape.psi
    if a + b == 0:
        return 0.0

    def slope(h: float) -> float:  # at y = shift + h
        y = shift + h
        minus_r, change = a / h + b / y, -a / h**2 - b / y**2
        return (1 + minus_r) * (1 + c * minus_r) + y * change * (1 + c + 2 * c * minus_r)

    low = high = a + b
    while slope(low) > 0:
        low /= 2
    while slope(high) < 0:
        high *= 2
    return shift + (low if low == high else root(slope, low, high))


def edge(shape: Shape) -> float:
    """Upper edge of the bulk of F0 / sqrt(n), as a singular value."""
    return sqrt(beyond(shape, threshold(shape)).z) if shape.linear + shape.rest > 0 else 0.0


def lower_edge(shape: Shape) -> float:
    """Least non-zero singular value of the bulk; 0 where it reaches zero (p = n).

    With k = 1/t, -z = k (1 - r)(1 - c r) is negative between its two largest zeros; z_- is the largest z there.
    """
    a, b, c, shift = shape.linear, shape.rest, shape.width, shape.linear / shape.psi
    # k^2 + (shift - f (a + b)) k - f b shift = 0 for f = 1 and f = c; and k = 0 if b = 0
    middle = [f * (a + b) - shift for f in (1.0, c)]
    zeros = [(m + sqrt(m**2 + 4 * f * b * shift)) / 2 for m, f in zip(middle, (1.0, c), strict=True)]
    low, high = sorted(zeros if b > 0 else [0.0, *middle])[-2:]
    if high - low <= 1e-12 * high:
        return 0.0

    def parts(k: float) -> tuple[float, float]:  # -z and its derivative
        r, change = a / (k + shift) + (b / k if b else 0.0), -a / (k + shift) ** 2 - (b / k**2 if b else 0.0)
        return k * (1 - r) * (1 - c * r), (1 - r) * (1 - c * r) - k * change * (1 + c - 2 * c * r)

    low += 1e-9 * (high - low)  # b = 0 and p = n make it a double zero
    where = root(lambda k: parts(k)[1], low, high)
    return sqrt(max(-parts(where)[0], 0.0))


def mass(shape: Shape) -> float:
    """Share of the n squared singular values of F0 / sqrt(n) that are not zero: min(1, p/n), or min(1, p/n, d/n) if b = 0."""
    if shape.linear + shape.rest == 0:
        return 0.0
    return min(1.0, shape.width, inf if shape.rest else shape.phi)


def density(shape: Shape, x: npt.ArrayLike) -> Float[np.ndarray, "..."]:
    """Density of the singular values of F0 / sqrt(n), counted per sample: it integrates to ``mass(shape)``.

    (2 x / pi) Im m1 at lambda = -x^2 - i0. With k = 1/t and P_f(k) = k (k + a/psi) - f (a k + b (k + a/psi)),

        P_1(k) P_c(k) = lambda k (k + a/psi)^2,   m1 = (k + a/psi) / P_1(k),   m2 = k / P_1(k),

    and of the roots the one with Im m1 > 0 and Im m2 > 0 counts.
    """
    x = np.asarray(x, dtype=float)
    if not np.all(np.isfinite(x)):
        raise InputError("a density is asked for at finite numbers")
    top = edge(shape)
    inside = (x >= 0) & (x <= top) & (top > 0)
    y = np.maximum(x[inside], 1e-5 * top)  # the limit at 0, where p = n puts a pole in m1
    result = np.zeros(x.shape)
    result[inside] = 2 * y / np.pi * _imaginary(shape, -(y**2))
    return result


def _imaginary(shape: Shape, lam: Float[np.ndarray, " points"]) -> Float[np.ndarray, " points"]:
    """Im m1 at lambda - i0 for negative lambda, from the roots of the polynomial in k (its known factors divided out)."""
    a, b, shift = shape.linear, shape.rest, shape.linear / shape.psi
    if a == 0:  # k^2 divides out
        near, far, right = ([1.0, -f * b] for f in (1.0, shape.width)), [1.0], [1.0, 0.0]
    elif b == 0:  # k divides out
        near, far, right = ([1.0, shift - f * a] for f in (1.0, shape.width)), [1.0, 0.0], [1.0, 2 * shift, shift**2]
    else:
        near = ([1.0, shift - f * (a + b), -f * b * shift] for f in (1.0, shape.width))
        far, right = [1.0], [1.0, 2 * shift, shift**2, 0.0]
    left = np.polymul(np.polymul(*near), far)
    rows = np.broadcast_to(left, (lam.size, left.size)) - lam[:, None] * np.pad(right, (left.size - len(right), 0))
    matrices = np.zeros((lam.size, left.size - 1, left.size - 1))
    matrices[:, 0, :] = -rows[:, 1:]
    matrices[:, range(1, left.size - 1), range(left.size - 2)] = 1.0
    k = np.linalg.eigvals(matrices) + 0j
    below = k * (k + shift) - a * k - b * (k + shift)
    m1, m2 = (np.divide(top, below, out=np.zeros_like(k), where=below != 0) for top in (k + shift, k))
    return np.max(np.where(np.imag(m2) > 0, np.imag(m1), 0.0), axis=1, initial=0.0)


def law(shape: Shape, x: npt.ArrayLike) -> Float[np.ndarray, "..."]:
    """Density of the non-zero singular values of F0 / sqrt(n) among themselves: it integrates to 1."""
    total = mass(shape)
    return density(shape, x) / total if total else np.zeros(np.shape(x))
