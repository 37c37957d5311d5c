"""A network along its own gradient after one giant step, or none: what the learned direction does to the way to the other sign.

The rows are w_i = U a_i v + g_i (``direction``), b_a^2 = E ||g_i||^2. With kappa = <v, x> and t = U a kappa

    f = M(kappa) + N(0, V),   M = p s E[a m(t)],   V = p s^2 (E[a^2 sigma^2] - E[a m]^2)
    ||grad f||^2 = M'^2 + R^2/d + N,   M' = p s E[a^2 U l(t)],   R = p s E[a b^2 l'(t)],   N = p s^2 E[a^2 b^2 sigma'^2]

m, l the mean of sigma and sigma' over N(t, b^2). M' is the gradient along v, R that along the rest of x, N all others. A move of
length t towards the other sign takes kappa along by t M'/||grad f|| and f down by t (N + R^2/d)/||grad f||. Before the step M = 0
and the distance is |f|/sqrt(N); after a giant one M ~ sqrt(p) rules, an odd function of kappa where a is symmetric: the way to
the other sign is |kappa|, still of order one. (Derived here, in first order orthogonally to v, for residual="target".)
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.protocol import Protocol, Ridge
from giantstep.experiment.setting import Setting
from giantstep.functions import hermite
from giantstep.functions._gaussian_averages import averages
from giantstep.results.system import Curve, Reading
from giantstep.theory.one_step._conditional import second_layer
from giantstep.theory.one_step._direction import direction
from giantstep.theory.one_step.parameters import activation_of, label_of, parameters

if TYPE_CHECKING:
    from giantstep.systems.attack import Attack

KAPPA, TABLE = 120, 400  # nodes of kappa, and of the table of M
GRID, REACH = 300, 6.0  # distances at which the sign is looked at, up to so many typical ones
PANELS = 12  # of the averages: 1e-8


class RayRows(NamedTuple):
    """Groups of neurons: a, their weights, U, and b."""

    a: Float[np.ndarray, " J"]
    omega: Float[np.ndarray, " J"]
    U: float
    b: Float[np.ndarray, " J"]


def refusal(setting: Setting) -> str | None:
    """Why nothing is predicted for a setting, or None."""
    steps, network = setting.protocol.steps, setting.network
    reasons = {
        "a readout makes the second layer depend on the rows": setting.protocol.readout is not None,
        "the data are not Gaussian": not isinstance(setting.data, Gaussian),
        "there is more than one step": len(steps) > 1,
        "the residual keeps the initial output": any(s.residual == "full" for s in steps) and not network.symmetric,
        "neurons come in pairs, or all have one sign": network.symmetric or network.second_layer == "constant",
        "the network has weights of its own": network.weights is not None,
        "the target has several directions": bool(steps) and setting.target.rank != 1,
        "labels are deflated twice": any(s.deflate > 1 for s in steps),
        "several step sizes are listed": any(s.listed for s in steps),
    }
    applying = [reason for reason, applies in reasons.items() if applies]
    return f"Nothing is predicted: {applying[0]}." if applying else None


def rows(setting: Setting) -> RayRows:
    """Group the neurons after the step."""
    if not setting.protocol.steps:
        a, omega = (np.asarray(x) for x in second_layer(setting.network.second_layer))
        return RayRows(a, omega, 0.0, np.ones_like(a))
    # the readout plays no part
    full = replace(setting, protocol=Protocol(setting.protocol.steps, Ridge(setting.d, 1.0)))
    numbers, form = parameters(full)
    step = direction(numbers, form, activation_of(numbers, form), label_of(numbers, form))
    a, omega = (np.asarray(x) for x in second_layer(form.second_layer))
    return RayRows(a, omega, float(step.strength), np.sqrt(step.modes.weights @ step.variance(step.modes.nodes, a)))


def _profiles(
    setting: Setting, of: RayRows, kappa: Float[np.ndarray, " K"]
) -> tuple[
    Float[np.ndarray, " K"],
    Float[np.ndarray, " K"],
    Float[np.ndarray, " K"],
    Float[np.ndarray, " K"],
    Float[np.ndarray, " K"],
]:
    """Compute M, M', R, V and N at every kappa."""
    sigma, p, s = setting.network.activation, setting.p, setting.network.factor
    t, b = of.U * of.a[:, None] * kappa, of.b[:, None]
    mean, gain, square, curve = averages(sigma, t, b, sigma.kinks, PANELS)
    turned = averages(sigma.slope, t, b, sigma.kinks, PANELS).square
    a, total = of.a[:, None], of.omega.__matmul__
    return (
        p * s * total(a * mean),
        p * s * total(a**2 * of.U * gain),
        p * s * total(a * curve),
        p * s**2 * (total(a**2 * square) - total(a * mean) ** 2),
        p * s**2 * total(a**2 * b**2 * turned),
    )


class Stepped(NamedTuple):
    """E f^2, E ||grad f||^2, and the share of inputs whose sign has changed before each distance of a grid."""

    output: float
    gradient: float
    distances: Float[np.ndarray, " t"]
    within: Float[np.ndarray, " t"]

    @property
    def median(self) -> float:
        return float(np.interp(0.5, self.within, self.distances, right=np.nan))


def law(setting: Setting) -> Stepped:
    """Compute the law of the distance to the other sign.

    For S = sign f and e ~ N(0, V) the sign has changed before t where -S M(kappa) < S e < h(t),
    h(t) = max_{s <= t} [s (N + R^2/d)/||grad f|| - S M(kappa - S s M'/||grad f||)].
    """
    of = rows(setting)
    kappa, w = hermite.offset_trapezoid(KAPPA)
    M, slope, radial, V, N = _profiles(setting, of, kappa)
    rest = N + radial**2 / setting.d
    length = np.sqrt(slope**2 + rest)
    output, gradient = float(w @ (M**2 + V)), float(w @ length**2)
    t = np.linspace(0, REACH * max(1.0, (output / gradient) ** 0.5), GRID)
    table = np.linspace(-kappa[-1] - t[-1], kappa[-1] + t[-1], TABLE)
    values, within = _profiles(setting, of, table)[0], np.zeros(GRID)
    for sign in (1.0, -1.0):
        along = np.interp(kappa[:, None] - sign * t * (slope / length)[:, None], table, values)
        reached = np.maximum.accumulate(t * (rest / length)[:, None] - sign * along, axis=1)
        level = ndtr(reached / np.sqrt(V)[:, None])
        within += w @ (level - level[:, :1])
    return Stepped(output, gradient, t, within)


def predicted(attack: "Attack", setting: Setting) -> Reading:
    """Numbers and curves of an attack on the networks of a setting."""
    reason = refusal(setting)
    if reason is not None:
        return Reading(notes=(reason,))
    after, before = law(setting), law(replace(setting, protocol=Protocol((), None)))
    numbers = {
        "output": after.output,
        "gradient": after.gradient,
        "median": after.median,
        "relative": after.median / setting.d**0.5,
        "untrained": before.median,
    }
    x = np.array(attack.distances)
    return Reading(numbers, {"within": Curve("distance", x, np.interp(x, after.distances, after.within))})
