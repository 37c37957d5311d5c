"""Ridge regression on the features of moved rows: the tables of ``one_step.conditional`` on the learned coordinates.

The directions that the readout can use are the learned ones f and those of the target beyond them, e.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.theory.one_step._conditional import Rows, Samples, Sizes, tabulated
from giantstep.theory.one_step._fixed_point import Features, spanning
from giantstep.theory.one_step._label import given
from giantstep.theory.one_step.errors import Signal
from giantstep.theory.one_step.parameters import GaussianFunction
from giantstep.theory.pairs._errors import PairedProblem
from giantstep.theory.pairs._rows import PairedRows, entries, tabulated_pairs
from giantstep.theory.steps._course import Course
from giantstep.theory.steps._residual import coordinates
from giantstep.theory.steps._rows import MovedRows

SMALL = 1e-5  # singular values left out of the basis, against the largest


class Tables(NamedTuple):
    """What features of moved rows are made of: along the learned directions u (m, J), on the others ``along`` and ``spread`` (by
    entries), the samples, the sizes and the activation."""

    u: Float[np.ndarray, "m J"]
    along: Float[np.ndarray, "B X X"]
    spread: Float[np.ndarray, "B E"]
    samples: Samples
    sizes: Sizes
    sigma: GaussianFunction


def tables(course: Course, rows: MovedRows) -> Tables:
    """The coordinates of samples and rows."""
    at = coordinates(rows, course.p)
    basis = np.concatenate([at.f, at.e], axis=1)  # (F, m + r)
    along, spread = rows.along(basis)
    label = given(course.star, at.C, at.L, at.kappa, 0)
    moments = np.concatenate([label.mean[None], label.along])
    samples = Samples(at.kappa, at.pi, _coordinates(at.kappa, rows.rank), moments, label.square + course.noise**2)
    sizes = Sizes(course.d, course.p, course.n)
    return Tables(at.f.T @ rows.u, along, spread, samples, sizes, course.sigma)


def problem(course: Course, rows: MovedRows) -> tuple[Features, Signal]:
    """The features' law and the signal, which can be solved at any penalty."""
    (u, along, spread, samples, sizes, sigma), (weights, variance) = tables(course, rows), rows.modes
    law = Rows(rows.a, rows.omega, u, weights, variance, rows.added, along, spread)
    features, signal, _ = tabulated(sigma, law, samples, sizes, gaussian_rows=course.gaussian_rows, lean=False)
    held = [np.asarray(features.gain), *signal.tables]
    return features._replace(basis=spanning(rows.omega, np.asarray(samples.pi), held, SMALL)), signal


def paired_problem(course: Course, rows: MovedRows) -> PairedProblem:
    """The same of a symmetric network: the pairs (a, -a) with a > 0, and the entries of their blocks."""
    (u, along, spread, samples, sizes, sigma), (weights, variance) = tables(course, rows), rows.modes
    J = rows.a.size
    first = np.flatnonzero(rows.a > 0)
    neurons = np.stack([first, J - 1 - first], axis=1).ravel()
    take = np.stack([first, J + first, J + first, J - 1 - first], axis=1).ravel()
    law = PairedRows(
        np.repeat(2 * rows.omega[first], 4), *entries(first.size), u[:, neurons], weights, variance[:, take], rows.added[take],
        along, spread[:, take],
    )  # fmt: skip
    made = tabulated_pairs(sigma, law, samples, sizes, gaussian_rows=course.gaussian_rows)
    held = [made.features.gain, *made.signal.tables]
    basis = spanning(rows.omega[neurons], np.asarray(samples.pi), held, SMALL)
    return made._replace(features=made.features._replace(basis=basis))


def _coordinates(kappa: Float[np.ndarray, "m K"], r: int) -> Float[np.ndarray, "parts C K"]:
    """Every channel's coordinate over (1, tau_1 .. tau_r, xi): the directions f and e, the mean, the lengths."""
    part = np.eye(r + 2)[:, :, None] * np.ones(kappa.shape[1])
    constant, tau, length = part[0], part[1 : r + 1], part[r + 1]
    channels = [*(own * constant for own in kappa), *tau, constant, length, constant]
    return np.swapaxes(np.stack(channels), 0, 1)
