"""The signal matrix of two giant steps: what they add to the first layer beyond noise, from a, X, y alone, never from W0.

The first step moves neuron i by t_i = eta_1 s a_i times (mu_1 beta + mu_2 M w_i + noise), beta = X1^T r1 / n1 and
M = X1^T diag(r1) X1 / n1. In the second step the slope of neuron i on sample x is sigma'(h), averaged over its z ~ N(0, 1):

    fresh batch:   h = b z + t mu_1 u,                                             u = <beta, x>,  b^2 = alpha^2 + t^2 v,
    reused batch:  h = alpha z + t (k sigma'(z) + mu_1 (u - k)) + t sqrt(v) z',    k = |x|^2 r1 / n1,
    alpha = 1 + t mu_2 tr M / d,   v = mu_2^2 (tr M^2 / d - (tr M / d)^2) + (Var sigma' - mu_2^2) sum r1^2 |x|^2 / n1^2,

so that S = mu_1 t beta^T + (eta_2 s / n2) [a_i E sigma'(h(t_i, x))] diag(r2) X2. All orders in eta_1 are kept: its expansion in t
has the right vectors X2^T (r2 o u^k) / n2 of left vectors a^(k+1), the spikes of Moniri and Hassani (arXiv 2605.17767). A reused
batch has the sample's own term k sigma'(z), through which it learns more. v lengthens the neurons, at finite size and step.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from numpy.polynomial import chebyshev
from scipy.interpolate import BarycentricInterpolator

from giantstep.experiment import draw
from giantstep.experiment.setting import Setting
from giantstep.functions import hermite
from giantstep.functions._gaussian_averages import slopes
from giantstep.functions.activation import Activation
from giantstep.theory.one_step.parameters import activation_constants

NODES = 17  # in t: 9 are off by 2% at eta_1 s = 1.3 (p = 1600, tanh)
GRID = 65  # Chebyshev points for functions of the shift t mu_1 u
PANELS = 6  # for z of a fresh batch, of 8 points each: good to 1e-7
POINTS = 48  # for z, and below for z', of a reused batch
NOISE_POINTS = 3
SMALLEST = 1e-3  # spread of z' that is used where t is next to nothing


@dataclass(frozen=True)
class Draws:
    """The seed's second layer and batches: r1 the residuals of the first step, y2 the labels of the second."""

    sigma: Activation
    scale: float
    a: Float[np.ndarray, " p"]
    X1: Float[np.ndarray, "n1 d"]
    r1: Float[np.ndarray, " n1"]
    X2: Float[np.ndarray, "n2 d"]
    y2: Float[np.ndarray, " n2"]
    reused: bool
    full: bool  # the second step's residual keeps the output

    @property
    def mu(self) -> tuple[float, float, float]:
        """mu_1 = E sigma', mu_2 = E sigma'' and Var sigma'."""
        coefficients, _, square = activation_constants(self.sigma)
        return float(coefficients[1]), 2 * float(coefficients[2]), square - float(coefficients[1]) ** 2

    @cached_property
    def beta(self) -> Float[np.ndarray, " d"]:
        return self.X1.T @ self.r1 / len(self.r1)

    @cached_property
    def M(self) -> Float[np.ndarray, "d d"]:
        """The weighted covariance of the first batch, X1^T diag(r1) X1 / n1."""
        return self.X1.T @ (self.r1[:, None] * self.X1) / len(self.r1)

    @cached_property
    def widths(self) -> tuple[float, float]:
        """tr M / d and v of the module's formula."""
        _, mu2, variance = self.mu
        mean, square = np.trace(self.M) / len(self.beta), np.sum(self.M**2) / len(self.beta)
        own = np.sum(self.r1**2 * np.sum(self.X1**2, axis=1)) / len(self.r1) ** 2
        return float(mean), float(mu2**2 * (square - mean**2) + (variance - mu2**2) * own)


def draws(setting: Setting, seed: int) -> Draws:
    """What ``simulate`` draws for that seed, without W0. The initial output is replaced by its mean over W0."""
    steps, network = setting.protocol.steps, setting.network
    first, second = draw.step_batches(setting)
    a = draw.second_layer(setting, seed)
    X1, y1 = draw.rows(setting, seed, first)
    X2, y2 = (X1, y1) if second == first else draw.rows(setting, seed, second)
    mean = network.factor * np.sum(a) * network.activation.hermite(0)[0]
    r1 = y1 - mean if steps[0].residual == "full" else y1
    return Draws(network.activation, network.factor, a, X1, r1, X2, y2, second == first, steps[1].residual == "full")


@dataclass(frozen=True)
class SignalSlopes:
    """sigma'(h) over the second batch at a few t, (nodes, n2): its mean over z, that of sigma''(h), what is left of its variance
    and of its covariance with sigma'(z); ``weights`` (p, nodes) carry it to every neuron's t, ``r2`` are the step's residuals."""

    mean: Float[np.ndarray, "nodes n2"]
    along: Float[np.ndarray, "nodes n2"]
    rest: Float[np.ndarray, "nodes n2"]
    shared: Float[np.ndarray, "nodes n2"]
    weights: Float[np.ndarray, "p nodes"]
    r2: Float[np.ndarray, " n2"]


def second_slopes(given: Draws, eta: float) -> SignalSlopes:
    """The averages of the second step after a first one of size eta."""
    t = eta * given.scale * given.a
    nodes = np.unique(t)
    weights = (t[:, None] == nodes).astype(float)
    if len(nodes) > NODES:
        nodes = np.max(np.abs(t)) * np.cos((np.arange(NODES) + 0.5) * np.pi / NODES)
        weights = BarycentricInterpolator(nodes, np.eye(NODES), rng=np.random.default_rng(0))(t)
    mean, along, rest, shared, output = (_reused if given.reused else _fresh)(given, nodes)
    r2 = given.y2 - (given.scale * given.a @ weights) @ output if given.full else given.y2
    return SignalSlopes(mean, along, rest, shared, weights, r2)


def _fresh(given: Draws, nodes: Float[np.ndarray, " nodes"]) -> Float[np.ndarray, "5 nodes n2"]:
    """E sigma'(h), E sigma''(h), E sigma'(h)^2 - (E sigma')^2 - b^2 (E sigma'')^2, 0 and E sigma(h), h = b z + t mu_1 u.

    Each is a smooth function of the shift, computed at Chebyshev points for all t at once.
    """
    mu1, mu2, _ = given.mu
    (mean, v), u = given.widths, given.X2 @ given.beta
    b = np.sqrt((1 + nodes * mu2 * mean) ** 2 + nodes**2 * v)[:, None]
    middle, half = (u.max() + u.min()) / 2, (u.max() - u.min()) / 2 or 1.0
    points = np.cos((np.arange(GRID) + 0.5) * np.pi / GRID)
    shift = mu1 * nodes[:, None] * (middle + half * points)
    table = _averages(shift, b, sigma=given.sigma, full=given.full)
    fitted = chebyshev.chebfit(points, table.reshape(-1, GRID).T, GRID - 1)
    return (chebyshev.chebvander((u - middle) / half, GRID - 1) @ fitted).T.reshape(*table.shape[:2], -1)


def _averages(
    shift: Float[np.ndarray, "nodes grid"], b: Float[np.ndarray, "nodes 1"], *, sigma: Activation, full: bool
) -> Float[np.ndarray, "5 nodes grid"]:
    (slope, along), (square,) = slopes(sigma.slope, shift, b, sigma.kinks, (1, 0), PANELS)
    ((output,),) = slopes(sigma, shift, b, sigma.kinks, (0,), PANELS) if full else ((0 * shift,),)
    return np.stack([slope, along, square - slope**2 - (b * along) ** 2, 0 * shift, output])


def _reused(given: Draws, nodes: Float[np.ndarray, " nodes"]) -> Float[np.ndarray, "5 nodes n2"]:
    """The same for h = alpha z + t (k sigma'(z) + mu_1 (u - k)) + t sqrt(v) z', with what sigma'(h) shares with sigma'(z)."""
    return np.stack([_reused_at(given, float(t)) for t in nodes], axis=1)


def _reused_at(given: Draws, t: float) -> Float[np.ndarray, "5 n2"]:
    """The five averages at one t, as sums over points for z and z'."""
    mu1, mu2, _ = given.mu
    mean, v = given.widths
    z, w = hermite.offset_trapezoid(POINTS)
    own = np.asarray(given.sigma.slope(z))
    k = np.sum(given.X1**2, axis=1) * given.r1 / len(given.r1)
    centre = (1 + t * mu2 * mean) * z + t * (k[:, None] * own + (mu1 * (given.X1 @ given.beta - k))[:, None])
    spread = max(abs(t) * np.sqrt(v), SMALLEST)  # E sigma''(h) = E[z' sigma'(h)] / spread
    # what gives the sums of sigma'(h), z sigma'(h) and sigma'(z) sigma'(h)
    over_z = w[:, None] * np.stack([np.ones_like(z), z, own], axis=1)
    sums, apart, square, output = np.zeros((len(k), 3)), *np.zeros((3, len(k)))
    for point, weight in zip(*hermite.gauss_hermite(NOISE_POINTS), strict=True):
        h = centre + spread * point
        slope = np.asarray(given.sigma.slope(h))
        found = weight * (slope @ over_z)
        sums += found
        apart += point * found[:, 0]
        square += weight * (slope**2 @ w)
        if given.full:
            output += weight * (np.asarray(given.sigma(h)) @ w)
    slope, linear, with_own = sums.T
    shared = with_own - slope * (w @ own) - linear * (w @ (z * own))
    return np.stack([slope, apart / spread, square - slope**2 - linear**2 - apart**2, shared, output])


@dataclass(frozen=True)
class SignalMatrix:
    """S = left diag(strengths) right^T with orthonormal columns, strengths in decreasing order."""

    strengths: Float[np.ndarray, " k"]
    left: Float[np.ndarray, "p k"]
    right: Float[np.ndarray, "d k"]

    def matrix(self) -> Float[np.ndarray, "p d"]:
        return (self.left * self.strengths) @ self.right.T

    def moved(self, directions: Float[np.ndarray, "p columns"]) -> Float[np.ndarray, "d columns"]:
        """S^T p for columns p: what the layer moved along, (d, columns)."""
        return self.right @ (self.strengths[:, None] * (self.left.T @ directions))


def signal(given: Draws, slopes: SignalSlopes, etas: tuple[float, float]) -> SignalMatrix:
    """S for step sizes of which the first is that of ``slopes``."""
    first, second = (eta * given.scale for eta in etas)
    # S = sum_j (a o L_j(t)) R_j^T + mu_1 t beta^T,   R_j = (eta_2 s / n2) X2^T (r2 o E sigma'(h_j))
    left = np.column_stack([given.a[:, None] * slopes.weights, given.a])
    R = given.X2.T @ (slopes.r2 * slopes.mean).T * (second / len(slopes.r2))
    right = np.column_stack([R, first * given.mu[0] * given.beta])
    (ql, rl), (qr, rr) = np.linalg.qr(left), np.linalg.qr(right)
    U, strengths, Vt = np.linalg.svd(rl @ rr.T)
    return SignalMatrix(strengths, ql @ U[:, : len(strengths)], qr @ Vt[: len(strengths)].T)


def outlier(strength: float, ratio: float) -> tuple[float, float, float]:
    """A spike of that strength in a p x d matrix of N(0, 1/d) numbers, ratio = p/d: its singular value, and cos^2 of the right
    and left vector (Benaych-Georges and Nadakuditi 2012); at the edge, with zeros, below the threshold ratio^(1/4)."""
    square = strength**2
    if square <= np.sqrt(ratio):
        return 1 + float(np.sqrt(ratio)), 0.0, 0.0
    position = np.sqrt((1 + square) * (ratio + square) / square)
    right = 1 - (ratio + square) / (square * (square + 1))
    left = 1 - ratio * (1 + square) / (square * (square + ratio))
    return float(position), float(right), float(left)
