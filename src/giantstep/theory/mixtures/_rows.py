"""What one giant step on a mixture does to the rows, neuron by neuron: w_i -> B^T u_i + U_i v + g_i.

A neuron starts with u_i inside the span B of spikes and means, and tau_i outside. Given a sample's coordinates kappa inside B,

    l_i = E sigma'(<u_i, kappa> + tau_i z),   s_i = E sigma''(<u_i, kappa> + tau_i z),   z ~ N(0, bulk)

and with residuals r, h = E[r x_e | kappa] along the target outside B, and step = eta s a_i,

    u_i <- u_i + step E[r l_i kappa] + step lbar_i xi_B + step N(0, E[r^2 (sigma'^2 - lbar_i^2) kappa kappa^T]/n_1)
           xi_B is the noise of X^T r/n_1 inside B, at its root mean square
    beta = X^T r/n_1 outside B,   ||beta||^2 = (E h)^2 + (d/n_1) E[r^2 bulk] + ||E[f_0 x]||^2,   v = beta/||beta||
    U_i = step lbar_i ||beta||,   lbar_i the mean of l_i that goes with beta
    g_i = (1 + step s_i M) w_i + white,   E ||white||^2 = step^2 (d/n_1) E[r^2 bulk (sigma'^2 - lbar_i^2 - tau_i^2 s_i^2)]

M = X^T diag(r) X/n_1 outside B, as in ``gradient_law``. Spikes need not be small: nothing is expanded in u_i. What is left out is
of the order of the change of l_i with kappa times the noise; its power is in the white part. The initial output f_0 of a residual
"full" counts by its power and by its correlation with the rows: w_i has -s a_i l tau^2/||beta|| along v from the start.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.arrays import Array
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target
from giantstep.functions import _nodes as nodes
from giantstep.functions import hermite
from giantstep.functions._gaussian_averages import averages
from giantstep.functions._nodes import FEW, MOST
from giantstep.functions.activation import Activation
from giantstep.theory.mixtures._structure import Part, Structure, samples
from giantstep.theory.one_step import _gradient_law as gradient_law
from giantstep.theory.one_step._gradient_law import SpectralModes

MODES = 3  # nodes of the law of M, and of its measure along v and e
COARSE = 6  # panels of the averages over a bulk: 1e-7
NARROW = 1e-4  # width that stands for none where the target has nothing outside B
LABEL_NODES, NOISE_NODES = 24, 6
CHUNK = 2**13  # averages at a time


class RowStart(NamedTuple):
    """The rows before the step: variance of an entry, and E ||w||^2 outside B."""

    entry: float
    outside: float

    @staticmethod
    def of(setting: Setting, k: int) -> "RowStart":
        d = setting.d
        entry = 1 / (setting.data.trace if setting.network.rows == "trace" else d)
        return RowStart(entry, (d - k) * entry)


class NodeResidual(NamedTuple):
    """Nodes of the step's samples (c, kappa), and moments of r given them: E[r], E[r^2], E[r^3], and E[f*'] xi_out."""

    kappa: Float[np.ndarray, "k N"]
    weights: Float[np.ndarray, " N"]
    bulk: Float[np.ndarray, " N"]
    mean: Float[np.ndarray, " N"]
    square: Float[np.ndarray, " N"]
    cube: Float[np.ndarray, " N"]
    slope: Float[np.ndarray, " N"]
    law: tuple[
        Float[np.ndarray, " Q"], Float[np.ndarray, " Q"], Float[np.ndarray, " Q"]
    ]  # of r: values, coordinate along e, weights


class SteppedRows(NamedTuple):
    """Neurons after the step, in groups: a_i, weights omega (J,), u (k, J), U (J,), and of g the variances on the modes.

    ``rho`` = cos(beta, e), and ``variance(mu)`` is V_j(mu), d times the variance of g along a mode.
    """

    a: Float[np.ndarray, " J"]
    omega: Float[np.ndarray, " J"]
    u: Float[np.ndarray, "k J"]
    U: Float[np.ndarray, " J"]
    outside: float
    turn: Float[np.ndarray, " J"]
    white: Float[np.ndarray, " J"]
    rho: float
    modes: SpectralModes
    along: SpectralModes

    def variance(self, mu: Float[Array, " M"]) -> Float[np.ndarray, "M J"]:
        return self.outside * (1 + self.turn * np.asarray(mu)[:, None]) ** 2 + self.white


def label(
    part: Part, centre: Float[np.ndarray, " N"], width: Float[np.ndarray, " N"]
) -> tuple[Float[np.ndarray, " N"], Float[np.ndarray, " N"], Float[np.ndarray, " N"]]:
    """E f, E f' and E f^2 of a component's labels around ``centre``."""
    mean, gain, square, _ = _in_chunks(part.target, False, centre, np.maximum(width, NARROW))
    return mean, gain, square


def table(
    sigma: Activation, t: Float[np.ndarray, "J N"], b: Float[np.ndarray, "..."], *, slope: bool = False
) -> tuple[Float[np.ndarray, "J N"], Float[np.ndarray, "J N"], Float[np.ndarray, "J N"], Float[np.ndarray, "J N"]]:
    """E f, E f', E f^2 and E (z^2 - 1) f of the activation less its constant, or of its slope, over groups of neurons and of
    samples; b broadcasts."""
    return _in_chunks(sigma, slope, t, np.broadcast_to(b, t.shape))  # type: ignore[return-value]


def _in_chunks(
    f: Activation | Target, slope: bool, t: Float[np.ndarray, "..."], b: Float[np.ndarray, "..."]
) -> tuple[np.ndarray, ...]:
    """Averages, in chunks that stay in the cache."""
    plain = (lambda z: np.asarray(f(z[None]))) if isinstance(f, Target) else f.slope if slope else f.split[0]
    chunks = (np.array_split(x.ravel(), -(-t.size // CHUNK)) for x in (t, b))
    parts = [averages(plain, x, width, f.kinks, COARSE) for x, width in zip(*chunks, strict=True)]
    return tuple(np.concatenate([part[k] for part in parts]).reshape(t.shape) for k in range(4))


def residual(setting: Setting, of: Structure, start: RowStart, count: int, seed: int) -> NodeResidual:
    """Compute the nodes of the step's samples and the moments of the residual at each."""
    step, noise = setting.protocol.steps[0], setting.target.noise**2
    full = step.residual == "full" and not setting.network.symmetric
    rows = np.full(of.k, start.entry**0.5)
    every = [samples(part, of, rows, [], count, seed + i) for i, part in enumerate(of.parts)]
    weights = np.concatenate([part.weight * n.weights for part, n in zip(of.parts, every, strict=True)])
    bulk = np.concatenate([n.bulk for n in every])
    labels = [label(p, of.inside @ n.points, of.outside * n.bulk**0.5) for p, n in zip(of.parts, every, strict=True)]
    mean, slope, square = (np.concatenate([each[i] for each in labels]) for i in range(3))
    shift = float(weights @ mean) if step.deflate else 0.0
    sigma, factor = setting.network.activation, setting.network.factor
    power = factor**2 * setting.p * sigma.mean_square if full else 0.0
    kappa = np.concatenate([n.points for n in every], axis=1)
    r, along, each = _values(of, every, shift, (noise + power) ** 0.5)
    cube = np.sum(each * r**3, axis=(1, 2)) / bulk**3
    square = square - 2 * shift * mean + shift**2 + noise + power
    law = (r.ravel(), along.ravel(), (weights[:, None, None] * each).ravel())
    return NodeResidual(kappa, weights, bulk, mean - shift, square, cube, of.outside * slope, law)


def _values(
    of: Structure, every: list, shift: float, noise: float
) -> tuple[Float[np.ndarray, "N z e"], Float[np.ndarray, "N z e"], Float[np.ndarray, "z e"]]:
    """Values of r bulk with the coordinate along e they go with, and their weights given the node; (nodes, along, noise)."""
    (z, w), (x, v) = hermite.gauss_hermite(LABEL_NODES), hermite.gauss_hermite(NOISE_NODES)
    values = []
    for part, n in zip(of.parts, every, strict=True):
        argument = (of.inside @ n.points)[:, None] + of.outside * n.bulk[:, None] ** 0.5 * z
        plain = np.asarray(part.target(argument.ravel()[None])).reshape(argument.shape) - shift
        values.append(n.bulk[:, None, None] * (plain[:, :, None] + noise * x))
    r = np.concatenate(values)
    return r, np.broadcast_to(z[:, None], r.shape), w[:, None] * v


def _neurons(
    setting: Setting, of: Structure, start: RowStart, strength: float, count: int, seed: int
) -> tuple[Float[np.ndarray, " J"], Float[np.ndarray, "k J"], Float[np.ndarray, " J"]]:
    """Nodes of (a_i, u_i): a (J,), u (k, J) and their weights."""
    law = setting.network.second_layer
    each = [max(np.linalg.norm(part.root[i]) for part in of.parts) * start.entry**0.5 for i in range(of.k)]
    gaussian = law == "gaussian"
    if of.k + gaussian <= FEW and of.exact:
        points, weights = nodes.product(nodes.rules([max(strength, 0.05)] * gaussian + each, MOST))
    else:
        points, weights = nodes.sobol(of.k + gaussian, count, seed + 97)
    u = points[gaussian:] * start.entry**0.5
    if gaussian:
        a = points[0]
    else:
        signs = np.array([1.0, -1.0]) if law == "rademacher" else np.ones(1)
        a, u, weights = (
            np.repeat(signs, weights.size),
            np.tile(u, signs.size),
            np.tile(weights, signs.size) / signs.size,
        )
    return a, u, weights


def after_step(setting: Setting, of: Structure, eta: float, count: int, seed: int) -> SteppedRows:
    """The rows after a step of that size; without a step, those before it."""
    start = RowStart.of(setting, of.k)
    if eta == 0 or not setting.protocol.steps:
        a, u, omega = _neurons(setting, of, start, 0.0, count, seed)
        still = np.zeros(a.size)
        none = SpectralModes(np.zeros(1), np.eye(2)[None])
        return SteppedRows(
            a, omega, u, still, start.outside, still, still, 0.0, SpectralModes(np.zeros(1), np.ones(1)), none
        )
    r = residual(setting, of, start, count // 2, seed)
    return _stepped(setting, of, start, r, eta, count, seed)


def _stepped(
    setting: Setting, of: Structure, start: RowStart, r: NodeResidual, eta: float, count: int, seed: int
) -> SteppedRows:
    sigma, d, n = setting.network.activation, setting.d, setting.protocol.sizes()[0]
    step, phi, tau2 = eta * setting.network.factor, d / n, start.outside
    full = setting.protocol.steps[0].residual == "full"
    plain = float(sigma.hermite(1)[1])
    lean = (setting.network.factor * plain) ** 2 * setting.p * tau2 if full else 0.0  # ||E[f_0 x]||^2 outside B
    signal, power = r.weights @ (r.slope * r.bulk), r.weights @ (r.square * r.bulk)
    beta2 = float(signal**2 + phi * power + lean)
    inside, spread = r.kappa @ (r.weights * r.mean), (r.kappa**2) @ (r.weights * r.square) / n
    widest = max((np.linalg.norm(part.root, 2) for part in of.parts), default=0.0) if of.k else 0.0
    strength = abs(step * plain) * (beta2**0.5 + widest * float(np.sqrt(np.sum(inside**2 + spread))))
    a, u, omega = _neurons(setting, of, start, strength, count, seed)
    t, b = u.T @ r.kappa, np.sqrt(tau2 * r.bulk)
    _, gain, _, curve = table(sigma, t, b)
    turned = table(sigma, t, b, slope=True)[2]
    # Means over the samples that go with beta: its noise and its signal
    lbar = (gain @ (r.weights * (phi * r.square * r.bulk + signal * r.slope * r.bulk + lean))) / beta2
    noise = np.where(inside < 0, -1.0, 1.0) * (np.sqrt(inside**2 + spread) - np.abs(inside))
    moved = (gain * (r.weights * r.mean)) @ r.kappa.T + lbar[:, None] * noise
    second = (curve / b**2) @ r.weights
    rest = turned @ (r.weights * r.square * r.bulk) - (lbar**2 + tau2 * second**2) * power
    beta = beta2**0.5
    white = omega @ turned - (omega @ lbar) ** 2
    u, leaning = _spread(r, start, u, step * a, second, white, phi / beta, n)
    start_along = setting.network.factor * plain * tau2 / beta if full else 0.0
    modes, along = _modes(r, phi, signal / beta, beta)
    return SteppedRows(
        a, omega, u + step * a * moved.T, a * (step * lbar * beta - start_along) + leaning, tau2, step * a * second,
        (step * a) ** 2 * phi * np.maximum(rest, 0.0), float(signal / beta), modes, along,
    )  # fmt: skip


def _spread(
    r: NodeResidual,
    start: RowStart,
    u: Float[np.ndarray, "k J"],
    step: Float[np.ndarray, " J"],
    second: Float[np.ndarray, " J"],
    white: Float[np.ndarray, " N"],
    per: float,
    n: int,
) -> tuple[Float[np.ndarray, "k J"], Float[np.ndarray, " J"]]:
    """u_i with the noise of its own step, and what of it shows along v: the noise inside B and that along v are correlated.

    With t = step s_i, M_Bv = (d/n_1) E[r^2 kappa]/||beta|| and E[r^2 kappa x_v] = (d/n_1) E[r^3 kappa]/||beta||,
    Cov(u_i, g_iv) = entry (2 t M_Bv + t^2 (M_vv M_Bv + (d/n_1) E[r^2 kappa x_v])) + step^2 E[r^2 white kappa x_v]/n_1.
    """
    own = (r.kappa * (r.weights * r.square * white)) @ r.kappa.T / n
    values, vectors = np.linalg.eigh(own)
    wider = np.sqrt(1 + np.maximum(values, 0.0)[:, None] / start.entry * step**2)
    plain = vectors.T @ u
    cross = per * (r.kappa @ (r.weights * r.square * r.bulk))  # M_Bv
    third = r.weights * r.cube * r.bulk**2
    corner = r.weights @ (r.mean * r.bulk) + per**2 * np.sum(third)  # M_vv
    phi, t = start.outside / start.entry / n, step * second
    cubic = per * (r.kappa @ third)  # E[r^2 kappa x_v]
    rest = np.maximum(white - start.outside * np.mean(second) ** 2, 0.0)
    covariance = start.entry * (2 * t * cross[:, None] + t**2 * (corner * cross + phi * cubic)[:, None])
    covariance = covariance + step**2 * (per * (r.kappa @ (third * rest)) / n)[:, None]
    leaning = np.sum((vectors.T @ covariance) * plain / (start.entry * wider), axis=0)
    return vectors @ (wider * plain), leaning


def _modes(r: NodeResidual, phi: float, rho: float, beta: float) -> tuple[SpectralModes, SpectralModes]:
    """Quadratures of M's law, and of its measure along v and e = (target outside B, beyond v)."""
    values, along, weights = r.law
    law = gradient_law.moments(values, along[None], weights, 2 * MODES + 3)
    rest = np.sqrt(1 - rho**2)
    basis = np.array([[0.0, 1 / beta], [1 / rest, -rho / (rest * beta)]])
    return gradient_law.quadratures(law, phi, basis, MODES, MODES)
