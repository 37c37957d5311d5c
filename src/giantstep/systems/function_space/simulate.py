"""The function space of a network that took its step: the exact Galerkin modes of its own weights along its own direction."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from giantstep import measure
from giantstep.experiment import draw
from giantstep.experiment.setting import Setting
from giantstep.results.system import Curve, Reading
from giantstep.simulate import train
from giantstep.systems.function_space._modes import GRID, labelled

if TYPE_CHECKING:
    from giantstep.systems.function_space import FunctionSpace


def direction(setting: Setting, seed: int) -> Float[np.ndarray, " d"]:
    """beta = X^T r/n on the batch of the step; with f_0 in r, or labels deflated, read off the rank-one update c_1 s a beta^T."""
    step = setting.protocol.steps[0]
    if step.residual == "target" and not step.deflate:
        X, y = draw.rows(setting, seed, draw.step_batches(setting)[0])
        return X.T @ y / len(y)
    step = replace(step, update="rank1", eta=0.0)
    rank_one = train(replace(setting, protocol=replace(setting.protocol, steps=(step,), readout=None)), seed)
    assert rank_one.descent is not None
    a, c1 = rank_one.second_layer, setting.network.activation.hermite(1)[1]
    return rank_one.descent.T @ a / (c1 * setting.network.factor * (a @ a))


def covariance(W: Float[np.ndarray, "p d"], u: Float[np.ndarray, " d"]) -> dict[str, float]:
    """Of d W^T W/p: top eigenvalue, cos^2 of its vector with u, edge of the bulk; and d times a row's variance across u."""
    p, d = W.shape
    spectrum = measure.spectrum(W * (d / p) ** 0.5, vectors=1)
    across = float(np.sum(W**2) - np.sum((W @ u) ** 2)) / p * d / max(d - 1, 1)
    few = spectrum.values.size < measure.FEWEST
    return {
        "top": float(spectrum.values[0] ** 2),
        "overlap": float((spectrum.right[:, 0] @ u) ** 2),
        "edge": np.nan if few else measure.bulk_edge(spectrum.values) ** 2,
        "spread": across,
    }


def measured(system: "FunctionSpace", seed: int) -> Reading:
    """Measure the system's numbers and curves on the network of one seed."""
    setting = system.setting
    run, beta = train(setting, seed), direction(setting, seed)
    u, sigma, a = beta / np.linalg.norm(beta), setting.network.activation, run.second_layer
    listed = setting.protocol.steps[0].listed
    layers = run.final if listed else run.final[None]
    before = measure.kernel(run.initial, sigma, u)
    every = [measure.kernel(W, sigma, u) for W in layers]
    along = setting.target.orthonormal(setting.d) @ u
    numbers = {
        "strength": float(a @ (layers[-1] - run.initial) @ u / (a @ a)),
        "cosine": float(along[0] if along.size == 1 else np.linalg.norm(along)),
        **covariance(layers[-1], u),
    }
    own, more = labelled(before, every[-1], GRID)
    curves = {}
    if listed:
        start = before.values[before.aligned]
        amplified = np.array([m.values[m.aligned] / start for m in every])
        curves = {
            "amplifications": Curve("step size η", system.etas, amplified, log="xy"),
            "mixings": Curve("step size η", system.etas, np.array([m.mixing for m in every]), log="x"),
        }
    return Reading(numbers | own, curves | more, system.notes)
