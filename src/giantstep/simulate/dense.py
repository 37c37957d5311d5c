"""The dense method: draw weights and data in d dimensions and take the steps. It runs any network and any protocol."""

import numpy as np

from giantstep._training.features import NetworkFeatures, Neurons, measured
from giantstep._training.first_layer import Run, train
from giantstep._training.job import Part


def part(run: Run, n_test: int, spectrum: bool) -> Part:
    """Measure one group of seeds: F = sigma(X W^T) with the trained W; without a readout the coefficients are s a."""
    run = run.holding_the_last()
    trained = train(run)
    own = None
    if run.setting.protocol.readout is None:
        own = np.asarray(trained.a, dtype=float)[:, None, :] * run.setting.network.factor
    family = NetworkFeatures(Neurons(run.sigma), trained.layers)
    return measured(run, family, trained.layers, n_test, spectrum, own)
