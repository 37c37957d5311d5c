"""Outliers of the updated features that random features do not have.

Each lies along a power of X beta.
"""

from typing import Any

import numpy as np

from giantstep import measure
from giantstep.checks.cache import one_blas_thread
from giantstep.experiment import draw
from giantstep.simulate import train
from giantstep_papers.moniri import predicted, talk

POWERS = 4  # of g = X beta looked for
MOST = 2  # powers whose spikes are predicted


def new_outliers(n: int, alphas: tuple[float, ...], activation: str, seed: int) -> dict[str, Any]:
    """New outliers of F / sqrt(n) at every step size.

    They are those that random features of the same weights and samples do not have.

    values: their positions.
    cosines: their cos^2 with every power of X beta, orthogonal to the lower ones.
    spectrum: all singular values.
    own: the cos^2 of the first two new singular vectors with their own power, outliers or not:
        whether a spike near the edge counts as an outlier would be noise.
    controls: numbers of mean zero.
    """
    setting = talk.experiment(n, alphas, talk.setting_1(), activation=activation)
    layers = train(setting, seed, dtype="float32")
    initial, final = (W.astype(float) for W in (layers.initial, layers.final))
    X, _ = draw.rows(setting, seed, draw.readout_batch(setting))
    g, sigma = X @ talk.direction(setting, seed), setting.network.activation
    basis = measure.gram_schmidt_powers(g, POWERS)
    result = {"values": [], "cosines": [], "spectrum": [], "own": []}
    with one_blas_thread(setting.p):
        before = measure.spectrum(sigma(X @ initial.T) / np.sqrt(n), vectors=4)
        known = before.left[:, : min(4, len(measure.outliers(before.values)))]
        for W in final:
            after = measure.spectrum(sigma(X @ W.T) / np.sqrt(n), vectors=12)
            # not one that random features have already
            new = measure.alignments(after.left, known).sum(axis=1) < 0.5
            along = measure.alignments(after.left, basis)
            out = new & (np.arange(len(new)) < len(measure.outliers(after.values)))
            values, own = after.values[: len(out)][out], np.diag(along[new][:MOST])
            here = (values, along[out], after.values, own)
            for name, value in zip(result, here, strict=True):
                result[name].append(value)
    return {**result, "controls": predicted.controls(setting, seed)}
