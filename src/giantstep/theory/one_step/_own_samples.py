"""The samples that a step has learned from, as its readout sees them again (derived here).

Given the residuals r and the target's coordinates, X outside the target's span conditioned on X^T r = n beta is

    X = (n/|r|^2) r beta^T + (1 - r r^T/|r|^2) X~,     X~ fresh

so that a training sample has (i) the coordinate N(0, 1) + sqrt(d/n) z along the noise xi of beta, z = r/sqrt(E r^2), where a new
one has N(0, 1), and (ii) all other coordinates orthogonal to r as vectors over the samples. xi has no part along the target nor,
where r has f_0 in it, along omega:

    <xi, v> = sqrt((d/n) E r^2)/||beta||,     <xi, e> = -L^{-1} rho <xi, v>,     <xi, omega> = 0

Then r = f*(z) - shift + noise - c <omega, x> - rest xi_0, where xi_0 is the part of f_0 that is not linear in x.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr, ndtri

from giantstep.functions import _nodes as nodes
from giantstep.theory.one_step._direction import Push, StepDirection
from giantstep.theory.one_step._label import Label
from giantstep.theory.one_step.parameters import Form, Parameters

KNOTS, TAIL = 64, 1.5  # of kappa, and how much wider they lie than its quantiles: tails hold most of long labels
NODES = 2**15  # Sobol points of samples
VALUES = 6  # of z at a knot


class TrainingBins(NamedTuple):
    """The training samples in bins of kappa: weights, moments of coordinates and labels, and values of z with their weights.

    A bin is a hat between knots: a sample belongs to the two knots next to its kappa, in shares that are linear in between, so
    that everything changes smoothly with the parameters.

    Coordinates: the directions v, e_1 .. e_r[, f]; 1; [along omega; xi_0;] and z.
    """

    kappa: Float[np.ndarray, " K"]
    pi: Float[np.ndarray, " K"]
    mean: Float[np.ndarray, "K N"]
    second: Float[np.ndarray, "K N N"]
    label: Float[np.ndarray, "K N"]
    power: Float[np.ndarray, " K"]
    z: Float[np.ndarray, "K Q"]
    share: Float[np.ndarray, "K Q"]


class Drawn(NamedTuple):
    """Nodes of fresh samples: coordinates along (v, e_1 .. e_r[, f]), label, residual[, along omega, xi_0], and weights."""

    fresh: Float[np.ndarray, "X N"]
    y: Float[np.ndarray, " N"]
    residual: Float[np.ndarray, " N"]
    output: tuple[Float[np.ndarray, " N"], ...]
    weights: Float[np.ndarray, " N"]


def training(
    numbers: Parameters, form: Form, star: Label, step: StepDirection, push: Push, offset: float = 0.0
) -> TrainingBins:
    """The bins; ``offset`` is the mean of the network's own initial output."""
    phi, drawn = 1 / float(numbers.n1_over_d), _drawn(numbers, form, star, step, push, offset)
    z = drawn.residual / np.sqrt(drawn.weights @ drawn.residual**2)
    xi = _noise_direction(numbers, step, push)
    own = drawn.fresh + phi**0.5 * xi[:, None] * z
    place, weights = _hats(own[0], drawn.weights)
    every = lambda values: np.tile(np.broadcast_to(values, z.shape), 2)  # noqa: E731
    pi = np.bincount(place, weights, minlength=KNOTS)
    mean_of = lambda values: np.bincount(place, weights * every(values), minlength=KNOTS) / pi  # noqa: E731
    coordinates = [*own, np.ones(z.size), *drawn.output, z]
    second = np.array([[mean_of(a * b) for a in coordinates] for b in coordinates])
    mean, label = (np.array([mean_of(c * x) for c in coordinates]) for x in (1.0, drawn.y))
    values, share = _values(every(z), weights, place)
    return TrainingBins(
        mean[0], pi, mean.T, np.transpose(second, (2, 0, 1)), label.T, mean_of(drawn.y**2), values, share
    )


def _drawn(numbers: Parameters, form: Form, star: Label, step: StepDirection, push: Push, offset: float) -> Drawn:
    """Sobol points of v, e, [f, xi_0] and the noise."""
    r, rho, L, noise = star.rank, np.asarray(step.rho), np.asarray(step.rest), float(numbers.noise)
    X = r + 1 if step.omega is None else r + 2
    made, weights = nodes.sobol(X + (1 if step.omega is None else 2), NODES, form.scramble)
    y = np.asarray(star.value(rho[:, None] * made[0] + L @ made[1 : r + 1])) + noise * made[-1]
    residual = y - float(push.residual.shift) - offset
    if step.omega is None:
        return Drawn(made[:X], y, residual, (), weights)
    along, xi = np.asarray(step.omega) @ made[:X], made[X]
    c, output = float(push.residual.along), float(push.residual.output)
    residual = residual - c * along - max(output - c**2, 0.0) ** 0.5 * xi
    return Drawn(made[:X], y, residual, (along, xi), weights)


def _noise_direction(numbers: Parameters, step: StepDirection, push: Push) -> Float[np.ndarray, " X"]:
    """The noise xi of beta on the directions (v, e_1 .. e_r[, f])."""
    v = float(np.sqrt(push.residual.square / numbers.n1_over_d) / step.beta)
    e = -np.linalg.solve(np.asarray(step.rest), np.asarray(step.rho)) * v
    if step.omega is None:
        return np.array([v, *e])
    o = np.asarray(step.omega)
    return np.array([v, *e, -(o[0] * v + o[1:-1] @ e) / o[-1]])


def _hats(
    kappa: Float[np.ndarray, " N"], weights: Float[np.ndarray, " N"]
) -> tuple[Int[np.ndarray, " M"], Float[np.ndarray, " M"]]:
    """The knots below and above every sample, and its weight in each; beyond the last knot all of it."""
    order = np.argsort(kappa)
    reached = (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
    knots = np.interp(ndtr(TAIL * ndtri((np.arange(KNOTS) + 0.5) / KNOTS)), reached, kappa[order])
    below = np.clip(np.searchsorted(knots, kappa) - 1, 0, KNOTS - 2)
    upper = np.clip((kappa - knots[below]) / (knots[below + 1] - knots[below]), 0.0, 1.0)
    return np.concatenate([below, below + 1]), np.concatenate([weights * (1 - upper), weights * upper])


def _values(
    z: Float[np.ndarray, " M"], weights: Float[np.ndarray, " M"], place: Int[np.ndarray, " M"]
) -> tuple[Float[np.ndarray, "K Q"], Float[np.ndarray, "K Q"]]:
    """A few values of z at every knot, each the mean of an equal share of it, and their weights."""
    order = np.lexsort((z, place))
    own, w, z = place[order], weights[order], z[order]
    total = np.bincount(place, weights, minlength=KNOTS)
    before = np.concatenate([[0.0], np.cumsum(total)[:-1]])
    high = np.clip((np.cumsum(w) - before[own]) / total[own], 0.0, 1.0) * VALUES
    low = np.maximum(high - VALUES * w / total[own], 0.0)
    share, values = np.zeros((2, KNOTS * VALUES))
    for part in range(VALUES):  # what of every sample lies in this share of its knot
        inside = np.clip(np.minimum(high, part + 1) - np.maximum(low, part), 0.0, None) * total[own] / VALUES
        share[part::VALUES] = np.bincount(own, inside, minlength=KNOTS)
        values[part::VALUES] = np.bincount(own, inside * z, minlength=KNOTS)
    values = values / np.maximum(share, 1e-300)
    return values.reshape(KNOTS, VALUES), share.reshape(KNOTS, VALUES) / total[:, None]
