"""Ridge regression on the features of moved rows: the tables of ``one_step.conditional`` on the learned coordinates.

The directions that the readout can use are the learned ones f and those of the target beyond them, e. The law of g on them, D, is
taken in the basis in which its mean over the neurons is diagonal: one mode a direction.
"""

import numpy as np
from jaxtyping import Float

from giantstep.experiment.setting import Setting
from giantstep.theory.one_step.conditional import Rows, Samples, Sizes, tabulated
from giantstep.theory.one_step.errors import Signal
from giantstep.theory.one_step.fixed_point import Features, spanning
from giantstep.theory.one_step.label import given
from giantstep.theory.one_step.parameters import GaussianFunction, activation_constants
from giantstep.theory.steps.residual import coordinates, star_of
from giantstep.theory.steps.rows import MovedRows

SMALL = 1e-5  # singular values left out of the basis, against the largest


def problem(setting: Setting, rows: MovedRows) -> tuple[Features, Signal]:
    """The features' law and the signal, which can be solved at any penalty."""
    at, star, sigma = coordinates(rows, setting.p), star_of(setting), setting.network.activation
    weights, variance = rows.modes
    basis = np.concatenate([at.f, at.e], axis=1)  # (F, m + r)
    D = basis.T @ rows.D @ basis
    _, turned = np.linalg.eigh(np.einsum("j,jab->ab", rows.omega, D))
    along = np.einsum("ac,bc->cab", turned, turned)
    spread = np.einsum("ac,jab,bc->cj", turned, D, turned)
    law = Rows(rows.a, rows.omega, at.f.T @ rows.u, weights, variance, rows.white, along, spread)
    label = given(star, at.C, at.L, at.kappa, 0)
    moments = np.concatenate([label.mean[None], label.along])
    samples = Samples(
        at.kappa, at.pi, _coordinates(at.kappa, rows.rank), moments, label.square + setting.target.noise**2
    )
    sizes = Sizes(float(setting.d), float(setting.p), float(setting.protocol.readout_size))
    function = GaussianFunction(sigma, sigma.kinks, *activation_constants(sigma))
    features, signal, _ = tabulated(
        function, law, samples, sizes, gaussian_rows=setting.network.rows == "gaussian", lean=False
    )
    tables = [features.gain, *signal.patterns, *signal.scatter]
    return features._replace(basis=spanning(rows.omega, at.pi, tables, SMALL)), signal


def _coordinates(kappa: Float[np.ndarray, "m K"], r: int) -> Float[np.ndarray, "parts C K"]:
    """Every channel's coordinate over (1, tau_1 .. tau_r, xi): the directions f and e, the mean, the lengths."""
    part = np.eye(r + 2)[:, :, None] * np.ones(kappa.shape[1])
    constant, tau, length = part[0], part[1 : r + 1], part[r + 1]
    channels = [*(own * constant for own in kappa), *tau, constant, length, constant]
    return np.swapaxes(np.stack(channels), 0, 1)
