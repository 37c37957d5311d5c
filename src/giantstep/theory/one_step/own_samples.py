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

from giantstep.functions import hermite, nodes
from giantstep.theory.one_step.direction import Push, StepDirection
from giantstep.theory.one_step.label import Label, points
from giantstep.theory.one_step.parameters import Form, Parameters

BINS = 64  # groups of training samples, of equal weight
ALONG, NOISES = 40, 7  # nodes of kappa and of the noise behind them
BEYOND = {1: 32, 2: 12, 3: 7}  # nodes of tau along each direction, by the rank
MANY = 2**9  # Sobol points of more directions
ALL = 2**15  # Sobol points of everything, where the initial output counts too
VALUES = 6  # of z in a bin


class TrainingBins(NamedTuple):
    """The training samples in bins of kappa: weights, moments of coordinates and labels, and values of z with their weights.

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
    place, pi = _binned(own[0], drawn.weights)
    mean_of = lambda values: np.bincount(place, drawn.weights * values, minlength=pi.size) / pi  # noqa: E731
    coordinates = [*own, np.ones(z.size), *drawn.output, z]
    second = np.array([[mean_of(a * b) for a in coordinates] for b in coordinates])
    mean, label = (np.array([mean_of(c * x) for c in coordinates]) for x in (1.0, drawn.y))
    values, share = _values(z, drawn.weights, place, pi.size)
    return TrainingBins(
        mean[0], pi, mean.T, np.transpose(second, (2, 0, 1)), label.T, mean_of(drawn.y**2), values, share
    )


def _drawn(numbers: Parameters, form: Form, star: Label, step: StepDirection, push: Push, offset: float) -> Drawn:
    """Products of Gauss nodes while the residual is the label; Sobol points with the initial output."""
    r, rho, L, noise = star.rank, np.asarray(step.rho), np.asarray(step.rest), float(numbers.noise)
    shift = float(push.residual.shift) + offset
    if step.omega is None:
        (k, w), (x, v) = hermite.gauss_hermite(ALONG), hermite.gauss_hermite(NOISES)
        tau, t = points(r, BEYOND.get(r, MANY), form.scramble)
        shape = (k.size, t.size, x.size)
        fresh = np.array([np.broadcast_to(c, shape).ravel() for c in (k[:, None, None], *tau[:, None, :, None])])
        plain = np.asarray(star.value(rho[:, None, None] * k[:, None] + (L @ tau)[:, None, :]))
        y = (plain[:, :, None] + noise * x).ravel()
        return Drawn(fresh, y, y - shift, (), (w[:, None, None] * t[:, None] * v).ravel())
    made, weights = nodes.sobol(r + 4, ALL, form.scramble)  # v, e, f, xi_0 and the noise
    y = np.asarray(star.value(rho[:, None] * made[0] + L @ made[1 : r + 1])) + noise * made[r + 3]
    along, xi = np.asarray(step.omega) @ made[: r + 2], made[r + 2]
    c, output = float(push.residual.along), float(push.residual.output)
    residual = y - shift - c * along - max(output - c**2, 0.0) ** 0.5 * xi
    return Drawn(made[: r + 2], y, residual, (along, xi), weights)


def _noise_direction(numbers: Parameters, step: StepDirection, push: Push) -> Float[np.ndarray, " X"]:
    """The noise xi of beta on the directions (v, e_1 .. e_r[, f])."""
    v = float(np.sqrt(push.residual.square / numbers.n1_over_d) / step.beta)
    e = -np.linalg.solve(np.asarray(step.rest), np.asarray(step.rho)) * v
    if step.omega is None:
        return np.array([v, *e])
    o = np.asarray(step.omega)
    return np.array([v, *e, -(o[0] * v + o[1:-1] @ e) / o[-1]])


def _binned(
    kappa: Float[np.ndarray, " N"], weights: Float[np.ndarray, " N"]
) -> tuple[Int[np.ndarray, " N"], Float[np.ndarray, " K"]]:
    """The bin of every node, bins of equal weight along kappa, and the weights of the bins."""
    order = np.argsort(kappa)
    place = np.empty(kappa.size, int)
    reached = np.cumsum(weights[order]) / weights.sum()
    place[order] = np.minimum((reached * BINS * (1 - 1e-12)).astype(int), BINS - 1)
    _, place = np.unique(place, return_inverse=True)
    return place, np.bincount(place, weights)


def _values(
    z: Float[np.ndarray, " N"], weights: Float[np.ndarray, " N"], place: Int[np.ndarray, " N"], bins: int
) -> tuple[Float[np.ndarray, "K Q"], Float[np.ndarray, "K Q"]]:
    """A few values of z in every bin, each the mean of an equal share of it, and their weights."""
    order = np.lexsort((z, place))
    own, w = place[order], weights[order]
    total = np.bincount(place, weights, minlength=bins)
    before = np.concatenate([[0.0], np.cumsum(total)[:-1]])
    reached = (np.cumsum(w) - before[own]) / total[own]
    part = own * VALUES + np.clip((reached * VALUES * (1 - 1e-12)).astype(int), 0, VALUES - 1)
    share = np.bincount(part, w, minlength=bins * VALUES)
    values = np.bincount(part, w * z[order], minlength=bins * VALUES) / np.maximum(share, 1e-300)
    return values.reshape(bins, VALUES), share.reshape(bins, VALUES) / total[:, None]
