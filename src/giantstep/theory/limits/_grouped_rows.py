"""The law of single neurons after giant steps on fresh batches: w = u + b v in groups, by their second-layer weight and start.

With x the target's coordinates, w_0 of length one, t = eta s a and the labels as they are (residual="target"), a step does

    u <- u + t E[y sigma'(<w, x>) x],    b^2 <- b^2 (1 + t E[y sigma''(<w, x>)])^2 + t^2 (d/n) E[y^2 sigma'(<w, x>)^2]

(Dandi et al. 2024). A long first step, t of order sqrt(d), on labels without mean and linear part (deflate=2) sees the start of a
neuron, zeta = sqrt(d) times its overlaps with the target: it adds t E[sigma''] H zeta/sqrt(d), with H the mean Hessian of the
target, to the start zeta/sqrt(d) along the directions of H. A plain first step has the start along E[y x], the direction that it
learns. Along other directions the start is left out.

The linear part is estimated on the batch itself, r = (1 - X X^T/n) y, so that X^T r/n = (1 - S) X^T y/n with S = X^T X/n is not
zero: all neurons move along it by t E sigma'. With phi = d/n, m = E[y x], v = E (y - E y - m.x)^2 and the moments of Marchenko
and Pastur (derived here)

    E X^T r/n = -phi m,     ||X^T r/n||^2 = |m|^2 (phi + 4 phi^2 + phi^3) + v (phi^2 + phi^3)
    E r^2 = v (1 - phi + phi^2) + |m|^2 (phi + phi^2)

The part of it across the target is one more coordinate of u, and what is left of the noise is t^2 phi E r^2 Var sigma'.

With residual="full" the step also sees the output f_0 = s sum_i a_i sigma(<w_i, x>) at the start, whose own mean and linear part
stay. Its linear part, of square length s^2 p c_1^2, is one more part of what the neurons share. Its mean, of variance
s^2 p c_0^2, turns neurons by t E[sigma''] times itself (derived here). What else the output does, a neuron's own part of it to
this neuron for one, is left out.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.backend import on_host
from giantstep.errors import InputError
from giantstep.experiment.protocol import GiantStep
from giantstep.experiment.setting import Setting
from giantstep.functions import _nodes as nodes
from giantstep.functions import hermite
from giantstep.functions._gaussian_averages import averages
from giantstep.theory.narrow.evolution import labels
from giantstep.theory.one_step._conditional import second_layer

NODES = {1: 60, 2: 24, 3: 12}  # of every coordinate of the target, by their number
START = 12  # nodes of zeta
PANELS = 6  # of averages over v
LEAST = 0.01  # b^2 of nodes whose start would be longer than one; they have hardly any weight
ROUNDED = 1e-20  # of the square of a move: less is rounding


class GroupedRows(NamedTuple):
    """Groups with weights omega (J,): a (J,), u along the target's r orthonormal directions, b (J,).

    After a long first step u has one more coordinate: what the neurons share across the target.
    """

    a: Float[np.ndarray, " J"]
    omega: Float[np.ndarray, " J"]
    u: Float[np.ndarray, "m J"]
    b: Float[np.ndarray, " J"]


def grouped_rows(setting: Setting) -> GroupedRows:
    """The rows after all steps of the protocol; targets of up to three directions."""
    steps, r = setting.protocol.steps, setting.target.rank
    if r not in NODES or setting.network.weights is not None:
        raise InputError("the law of single neurons covers targets of one to three directions and drawn weights")
    if any(step.batch == "reuse" or step.update == "rank1" for step in steps):
        raise InputError("the law of single neurons needs fresh batches and the gradient")
    if any(step.residual == "full" and step.deflate < 2 for step in steps):
        raise InputError("the law of single neurons needs residual='target' in a step without deflate=2")
    if any(step.deflate > (2 if t == 0 else 0) for t, step in enumerate(steps)):
        raise InputError("the law of single neurons has deflate=2 in the first step alone")
    with on_host():
        a, omega = (np.asarray(x) for x in second_layer(setting.network.second_layer))
        rows = GroupedRows(a, omega, np.zeros((r, a.size)), np.ones(a.size))
        if steps and steps[0].deflate < 2:
            rows = _started(setting, rows)
        etas = setting.protocol.etas(setting.d, setting.p).reshape(-1).tolist()
        for step, n, eta in zip(steps, setting.protocol.sizes(), etas, strict=True):
            move = _first if step.deflate == 2 else _stepped
            rows = move(setting, step, n, eta, rows)
    return rows


def _points(setting: Setting) -> tuple[Float[np.ndarray, "r N"], Float[np.ndarray, " N"], Float[np.ndarray, " N"]]:
    """Nodes of the target's coordinates, their weights, and the labels there."""
    r = setting.target.rank
    x, weights = nodes.product([hermite.gauss_hermite(NODES[r])] * r)
    return x, weights, labels(setting, x.T)


def _started(setting: Setting, rows: GroupedRows) -> GroupedRows:
    """Groups by a and by the overlap zeta/sqrt(d) with the direction E[y x] that a step learns."""
    x, weights, y = _points(setting)
    mean = x @ (weights * y)
    mean = np.where(np.abs(mean) > ROUNDED**0.5, mean, 0.0)
    if not np.any(mean):
        return rows
    zeta, chance = hermite.gauss_hermite(START)
    start = np.outer(mean / np.linalg.norm(mean), np.tile(zeta, rows.a.size)) / setting.d**0.5
    across = np.sqrt(np.maximum(1 - np.sum(start**2, axis=0), LEAST))
    return GroupedRows(np.repeat(rows.a, START), np.outer(rows.omega, chance).ravel(), start, across)


def _stepped(setting: Setting, step: GiantStep, n: int, eta: float, rows: GroupedRows) -> GroupedRows:
    sigma, (x, weights, y) = setting.network.activation, _points(setting)
    y = y - weights @ y if step.deflate else y
    t = eta * setting.network.factor * rows.a
    # what neurons share across the target is as good as noise to the labels: it counts with b, and turns as b does
    own, shared = rows.u[: len(x)], rows.u[len(x) :]
    width = np.sqrt(rows.b**2 + np.sum(shared**2, axis=0))
    # sigma' depends on the coordinates along which a row has moved: the labels are averaged over the others first
    moved = np.any(own != 0, axis=1)
    places, same = np.unique(x[moved], axis=1, return_inverse=True)
    gathered = lambda values: np.bincount(same.ravel(), weights * values, places.shape[1])  # noqa: E731
    slope = averages(sigma.slope, own[moved].T @ places, width[:, None], sigma.kinks, PANELS)
    u = own + t * np.stack([np.asarray(slope.mean) @ gathered(y * each) for each in x])
    turn = np.asarray(slope.gain) @ gathered(y)
    noise = np.asarray(slope.square) @ gathered(y**2 + setting.target.noise**2)
    small = np.sum((u - own) ** 2 @ rows.omega) * ROUNDED
    u = np.where(((u - own) ** 2 @ rows.omega > small)[:, None], u, own)
    return rows._replace(
        u=np.concatenate([u, shared * (1 + t * turn)]),
        b=np.sqrt((rows.b * (1 + t * turn)) ** 2 + t**2 * setting.d / n * noise),
    )


def _first(setting: Setting, step: GiantStep, n: int, eta: float, rows: GroupedRows) -> GroupedRows:
    """The long step on labels without mean and linear part; groups are by a and zeta."""
    sigma, (x, weights, y) = setting.network.activation, _points(setting)
    mean = x @ (weights * y)
    y = y - weights @ y - mean @ x
    hessian = (x * (weights * y)) @ x.T  # E[y x x^T] for labels of mean zero
    values, vectors = np.linalg.eigh(hessian)
    seen = np.abs(values) > 1e-8 * max(float(np.abs(values).max()), 1e-8)
    vectors = np.where(np.abs(vectors) > ROUNDED**0.5, vectors, 0.0)
    along = vectors[:, seen] * values[seen]
    if not np.any(seen):
        zeta, chance = np.zeros((0, 1)), np.ones(1)
    else:
        zeta, chance = nodes.product([hermite.gauss_hermite(START)] * int(seen.sum()))
    a, omega = np.repeat(rows.a, chance.size), np.outer(rows.omega, chance).ravel()
    t = eta * setting.network.factor * a
    start, far = (np.tile(part @ zeta, rows.a.size) / setting.d**0.5 for part in (vectors[:, seen], along))
    c0, _, c2 = (float(c) for c in sigma.hermite(2))
    u = start + t * 2 * c2 * far  # E sigma'' = 2 c_2
    slope = averages(sigma.slope, 0.0, 1.0, sigma.kinks)
    c1, square = float(np.asarray(slope.mean)), float(np.asarray(slope.square))
    phi, linear, v = setting.d / n, float(mean @ mean), float(weights @ y**2 + setting.target.noise**2)
    length = linear * (phi + 4 * phi**2 + phi**3) + v * (phi**2 + phi**3)  # ||X^T r/n||^2
    residual = v * (1 - phi + phi**2) + linear * (phi + phi**2)
    output = setting.network.factor**2 * setting.p if step.residual == "full" else 0.0  # s^2 p
    shared = np.array([*(-phi * mean), np.sqrt(length - phi**2 * linear + output * c1**2)])
    u = np.concatenate([u, 0 * u[:1]]) + t * c1 * shared[:, None]
    across = np.maximum(1 - np.sum(start**2, axis=0), LEAST)  # rows have length one at the start
    across = across * (1 + output * (2 * t * c2 * c0) ** 2)
    return GroupedRows(a, omega, u, np.sqrt(across + t**2 * phi * residual * (square - c1**2)))
