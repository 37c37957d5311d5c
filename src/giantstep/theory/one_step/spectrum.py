"""Spectra from the fixed point: the law of the bulk, its edge, and the outliers with their directions.

``continuation`` has the fixed point above the bulk as a function of s. An outlier of position sqrt(z) is a zero of
det(I + Delta S) (see ``errors``): with -S = L L^T an eigenvalue of L^T Delta L, which falls with z, passes one. With the columns
of L in any units D, an eigenvalue e of D (L^T Delta L - 1) D passes zero. -S = -S0 + G G^T/(-s) has the column G/sqrt(-s), which
the activation's mean makes as long as it likes, and long steps make columns of L0 with -S0 = L0 L0^T as long as the strengths of
their spikes. In units in which no column is long, l those of L0 and g = max(|G|, sqrt(-s)), that is

    N = (L0/l, G/g)^T Delta (L0/l, G/g) - diag(1/l^2, -s/g^2),      l = max(length of the column, 1)

whose eigenvalues pass zero one at a time at any strength: of columns in other units, a short one keeps an eigenvalue near zero
all along, and a spike's eigenvector and slope are lost in it. With eigenvector u, x = (L0/l, G/g) u and y = Delta x, for which
S y = -x, the slope needs no derivative of L,

    de/ds = x^T (dDelta/ds) x - y^T (dS/ds) y,      G^T y = -s u_G/g

with dS/ds from dq/ds and dalpha/ds as in ``errors`` (derived). There the sample-space vector has

    cos^2 with a function h(kappa) of unit square = (sum_k alpha_k h_k E[z|k] . x_k)^2 (-dlog z/ds) / (de/ds)

If omega = W^T a/sqrt(p) has a pattern of its own, what is left of W has nothing along a: (S^{-1} - A + A R A)^{-1} stands for S
on that pattern, R = sum_mu w_mu S^mu, and the zeros are those with Delta - A + A R A in place of Delta.

The same equations with linear features and endless samples give the spectrum of W itself.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq

from giantstep import measure
from giantstep._machine.backend import on_host
from giantstep.experiment.protocol import GiantStep
from giantstep.experiment.setting import Setting
from giantstep.functions.hermite import gauss_hermite
from giantstep.theory.one_step._conditional import StepProblem, problem, second_layer
from giantstep.theory.one_step._continuation import Bulk, Point
from giantstep.theory.one_step._fixed_point import Features, applied, gram, inner, modes, outer
from giantstep.theory.one_step.errors import Signal, channels, form_slopes, lean_part, mode_slopes
from giantstep.theory.one_step.parameters import Form, parameters

POWERS = 4  # of kappa that outliers are compared with
ENDLESS = 1e-9  # p/n of as good as infinitely many samples
CELLS = 128  # of the density's grid
LOST = 1e-3  # rounding of a strength squared over that of an outlier, from which its alignments are NaN


@dataclass(frozen=True)
class Outlier:
    """A singular value above the bulk, and cos^2 of its left vector with kappa, kappa^2, ... in turn (Gram-Schmidt, without the
    constant) and with the constant; for W, cos^2 of its right vector with v alone. They are NaN for an outlier a million times
    smaller than the largest: there double precision does not know them."""

    position: float
    alignments: tuple[float, ...]
    constant: float = 0.0


@dataclass(frozen=True)
class Law:
    """The bulk of a matrix's non-zero singular values, from ``low`` to ``edge``, and the outliers, the largest first.

    ``density`` integrates to one. It is known at the middles, in angle, of cells x = (low + edge)/2 - (edge - low)/2 cos(angle):
    fine where a density starts and ends as a square root. ``count`` is the number of singular values.
    """

    count: int
    low: float
    edge: float
    x: Float[np.ndarray, " cells"]
    density: Float[np.ndarray, " cells"]
    outliers: tuple[Outlier, ...]

    @property
    def visible(self) -> tuple[Outlier, ...]:
        """The outliers that ``measure.outliers`` would tell from the edge's own fluctuation."""
        return tuple(o for o in self.outliers if o.position > self.edge * (1 + measure.margin(self.count)))

    def cdf(self, x: Float[np.ndarray, "..."] | float) -> Float[np.ndarray, "..."] | float:
        """The share of the bulk below x."""
        ends = np.linspace(0.0, np.pi, len(self.x) + 1)
        mass = self.density * np.sin((ends[1:] + ends[:-1]) / 2) * (self.edge - self.low) / 2 * ends[1]
        along = (2 * np.asarray(x, dtype=float) - self.low - self.edge) / (self.edge - self.low)
        return np.interp(np.arccos(-np.clip(along, -1.0, 1.0)), ends, np.concatenate([[0.0], np.cumsum(mass)]))


def laws(setting: Setting, of: str, *, density: bool) -> list[Law]:
    """The law of the singular values of F/sqrt(n), or of="weights" of W, after one step or none; one a step size."""
    if not setting.protocol.steps:  # a step of size zero
        zero = GiantStep(setting.protocol.readout_size, 0.0, update="rank1")
        setting = replace(setting, protocol=replace(setting.protocol, steps=(zero,)))
    numbers, form = parameters(setting)
    found = []
    with on_host():
        for eta in np.atleast_1d(numbers.eta):
            made = problem(numbers._replace(eta=eta), form)
            found.append(_of_features(made, density) if of == "features" else _of_weights(made, form, density))
    return found


def _of_features(made: StepProblem, density: bool) -> Law:
    n, d, p = _sizes(made)
    bulk, pi = Bulk(made.features, n, p), np.asarray(made.features.pi)
    found = outliers(bulk, bulk.full, made.signal, powers(gauss_hermite(pi.size)[0], pi), made.step.omega is not None)
    rank = min(n, p) if np.max(made.features.noise) > 1e-12 else min(n, p, d)
    return law(bulk, found, rank, density, share=n / rank, rows=False)


def _of_weights(made: StepProblem, form: Form, density: bool) -> Law:
    """Linear features of endless samples with the one pattern U a along v.

    With the initial output kept in the residual v leans on omega = W^T a/sqrt(p): there is a second direction u, and the pattern
    a along omega = o_v v + o_u u.
    """
    f, s, (n, d, p) = made.features, made.signal, _sizes(made)
    a, one = np.asarray(second_layer(form.second_layer)[0]), np.ones_like(f.gain)
    basis, patterns, on = np.eye(s.weights.shape[-1])[:1], [made.step.strength * a], [[1.0], [1.0]]
    if made.step.omega is not None:
        o_v, o_u = made.step.omega[0], np.sqrt(1 - made.step.omega[0] ** 2)
        basis = np.stack([basis[0], [0.0, *np.asarray(made.step.omega)[1:] / o_u]])
        patterns.append(a / np.sqrt(p))
        on = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [o_v, o_u]]
    # Coordinates of every channel over (v, u); their part along v is what the right vector is compared with
    along, K = np.array(on), f.pi.size
    tables: Any = np.stack(patterns)[:, :, None] * one
    mean: Any = np.tile(along[:, 0], (K, 1))
    second: Any = np.tile(along @ along.T, (K, 1, 1))
    weights: Any = np.einsum("xc,mcd,yd->mxy", basis, s.weights, basis)
    signal = Signal(weights, s.variance, tables, tables[:0], mean, second, mean, f.pi, s.p)
    bulk = Bulk(f._replace(gain=one, noise=0 * one, p_over_n=np.asarray(ENDLESS)), n, p)
    found = outliers(bulk, bulk.full, signal, np.ones((1, K)), made.step.omega is not None)
    found = [Outlier(o.position, (o.constant,)) for o in found]
    return law(bulk, found, min(p, d), density, share=p / min(p, d), rows=True)


def _sizes(made: StepProblem) -> tuple[float, float, float]:
    p = float(made.signal.p)
    return p / float(made.features.p_over_n), p / float(made.features.p_over_d), p


def powers(kappa: Float[np.ndarray, " K"], pi: Float[np.ndarray, " K"]) -> Float[np.ndarray, "functions K"]:
    """The constant, then kappa, kappa^2, ... made orthonormal in that order without it: rows over the nodes."""
    columns = np.stack([kappa**k for k in range(1, POWERS + 1)], axis=1) * np.sqrt(pi)[:, None]
    basis, _ = np.linalg.qr(columns)
    return np.concatenate([np.ones((1, pi.size)), (basis / np.sqrt(pi)[:, None]).T])


def law(
    bulk: Bulk, found: list[Outlier], count: float, density: bool, *, share: float, rows: bool, cells: int = CELLS
) -> Law:
    """A law of ``count`` singular values that are not zero, one in ``share`` of the samples or, for ``rows``, the neurons."""
    edge, count = bulk.singular_value(bulk.edge), round(count)
    if not density:
        return Law(count, 0.0, edge, np.zeros(0), np.zeros(0), tuple(found))
    x = _middles(0.0, edge, cells // 2)
    low = _low(x, np.nan_to_num(bulk.density(x, rows=rows)))
    x = _middles(low, edge, cells)
    return Law(count, low, edge, x, share * bulk.density(x, rows=rows), tuple(found))


def _middles(low: float, edge: float, cells: int) -> Float[np.ndarray, " cells"]:
    return (low + edge) / 2 - (edge - low) / 2 * np.cos(np.pi * (np.arange(cells) + 0.5) / cells)


def _low(x: Float[np.ndarray, " cells"], density: Float[np.ndarray, " cells"]) -> float:
    """Where the density starts: its square grows along a line there; 0 if it is there from the first point on."""
    i = int(np.argmax(density > 1e-4 * density.max()))
    if i == 0 or i == x.size - 1:
        return 0.0
    a, b = density[i] ** 2, density[i + 1] ** 2
    start = x[i] - a * (x[i + 1] - x[i]) / (b - a) if b > a else x[i - 1]
    return float(np.clip(start, x[i - 1], x[i]))


def outliers(
    bulk: Bulk, f: Features, signal: Signal, h: Float[np.ndarray, "functions K"], lean: bool = False
) -> list[Outlier]:
    """Zeros of det(I + Delta S) above the bulk, with cos^2 along the rows of h: first the constant, then the rest.

    ``f`` is the bulk's ``full``, with a basis or without.
    """
    if f.basis is None:  # one function a group, of unit square: the groups of hardly any samples weigh as the others
        f = f._replace(basis=np.diag(np.asarray(f.pi) ** -0.5))
    spikes = lambda s: _spikes(f, signal, bulk.point(s), lean=lean)  # noqa: E731
    found = []
    for i in range(int(np.sum(spikes(bulk.edge)[0] > 0))):
        excess = lambda s, i=i: float(spikes(s)[0][i])  # noqa: E731
        far = bulk.far
        while excess(far) > 0:
            far = bulk.farther()
        s = float(brentq(excess, far, bulk.edge, xtol=1e-10))  # type: ignore[arg-type]
        point, (_, x, held, lost) = bulk.point(s), spikes(s)
        reach, slope = _along(f, signal, point, x[i], float(held[i]), lean=lean)
        cosines = (h @ reach) ** 2 * point.fall / (slope if lost < LOST else np.nan)
        found.append(Outlier(bulk.singular_value(s), tuple(cosines[1:].tolist()), float(cosines[0])))
    return found


def _spikes(
    f: Features, signal: Signal, point: Point, *, lean: bool
) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, "N C r"], Float[np.ndarray, " N"], float]:
    """Eigenvalues of N in falling order, for each x in the basis and G^T y, and the rounding of L0 L0^T."""
    S, excess, S_m, _ = channels(f, signal, point.q, point.alpha)
    C, r = S.mean.shape
    values, vectors = np.linalg.eigh(-S.around.reshape(C * r, C * r))
    size, level = np.sqrt(np.maximum(values, 0.0)), np.sqrt(-S.share)
    G = np.reshape(S.mean, (C * r, 1))
    unit, g = np.maximum(size, 1.0), max(float(np.linalg.norm(G)), float(level))
    L = np.concatenate([vectors * (size / unit), G / g], axis=1)
    delta = np.moveaxis(np.asarray(gram(f, point.alpha * np.moveaxis(np.asarray(excess), 0, -1))), 2, 1).copy()
    if lean:
        c = _last_pattern(signal)
        R = np.einsum("m,mkl->kl", f.modes, modes(f, point.q, point.alpha, f.variance)[0])
        delta[c, :, c] -= lean_part(np.asarray(gram(f, point.alpha)), R)
    N = L.T @ delta.reshape(C * r, C * r) @ L - np.diag(np.append(1 / unit, level / g) ** 2)
    e, u = np.linalg.eigh(N)
    return (
        e[::-1],
        (L @ u).T[::-1].reshape(-1, C, r),
        (u[-1] * level**2 / g)[::-1],
        float(np.finfo(float).eps * unit.max() ** 2),
    )


def _along(
    f: Features, signal: Signal, point: Point, x: Float[np.ndarray, "C r"], held: float, *, lean: bool
) -> tuple[Float[np.ndarray, " K"], float]:
    """alpha_k E[z|k] . x_k, and de/ds; ``held`` is G^T y."""
    q, alpha, dq, dalpha, _ = point
    _, excess, S_m, Y_m = channels(f, signal, q, alpha)
    X: Any = outer(f, x)
    moved: Any = applied(excess, X.T)  # (K, C)
    slope = np.sum(dalpha * np.sum(X.T * moved, axis=1))
    if lean:
        c = _last_pattern(signal)
        on_modes = modes(f, q, alpha, f.variance)
        inside = np.asarray(gram(f, alpha)) @ x[c]  # A x
        R: Any = outer(f, np.einsum("m,mkl,l->k", f.modes, on_modes[0], inside))  # R A x
        # d(x^T (A - A R A) x)/ds, R moved by alpha and q
        by_alpha, by_q = mode_slopes(f, f.modes[:, None, None], f.variance, on_modes, inside[None])
        slope += np.sum(dalpha * (by_alpha + 2 * X[c] * R - X[c] ** 2)) + np.sum(dq * f.omega * by_q)
        moved = moved - (X[c] - R)[:, None] * (np.arange(len(x)) == c)
    y = (alpha[:, None] * moved).T
    by_alpha, by_q = form_slopes(f, signal, q, (S_m, Y_m), (y, inner(f, y / np.asarray(f.pi)), np.asarray(held)))
    slope -= np.sum(dalpha * by_alpha) + np.sum(dq * by_q)
    return alpha * np.sum(signal.mean.T * X, axis=0), float(slope)


def _last_pattern(signal: Signal) -> int:
    return signal.weights.shape[-1] + signal.patterns.shape[0] - 1
