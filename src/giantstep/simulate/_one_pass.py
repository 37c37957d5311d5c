"""Simulate one-pass SGD on the first layer: every step uses a new sample.

W <- W + eta s a Delta sigma'(W x) x^T,    Delta = y - s a^T sigma(W x)
"""

from collections.abc import Iterable
from functools import partial

import numpy as np

from giantstep._given.declared import a, at_least, given
from giantstep._given.plain import real, whole
from giantstep._given.seeds import checked as seeds_given
from giantstep._given.seeds import seeds
from giantstep._machine.backend import alone, jax
from giantstep._machine.random import Stream
from giantstep.errors import InputError
from giantstep.experiment import draw
from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.draw import Batch
from giantstep.experiment.setting import Setting
from giantstep.results.trajectory import Trajectory


@alone()
@given(setting=a(Setting), samples=whole, eta=real, seed=seeds, records=at_least(2), n_test=at_least(2))
def sgd(
    setting: Setting, samples: int, eta: float, seed: int | Iterable[int] = 0, *, records: int = 50, n_test: int = 4000
) -> Trajectory:
    """Take ``samples`` steps of size ``eta``, one sample each; the protocol of the setting is not used.

    Args:
        setting: data, target and network; the second layer stays as it starts.
        samples: the number of samples, rounded to a multiple of ``records - 1``.
        eta: the step size.
        seed: one seed, or several, which give a first axis.
        records: the number of recorded points of the path.
        n_test: the number of samples on which the risk is measured.

    Examples:
        >>> s = gs.Setting(gs.Gaussian(50), "erf(x1)", gs.Network(4, "erf", scale="1"), gs.Protocol())
        >>> gs.simulate.sgd(s, samples=200, eta=0.5, records=5).M.shape  # points, neurons, directions
        (5, 4, 1)
    """
    if isinstance(setting.data, Dataset):
        raise InputError("simulate.sgd needs a new sample at every step, and a Dataset is finite")
    stride = max(round(samples / (records - 1)), 1)
    seeds, several = seeds_given(seed)
    paths = [_path(setting, stride, records, eta, s, n_test) for s in seeds]
    Q, M, risk = (np.stack(part) if several else part[0] for part in zip(*paths, strict=True))
    return Trajectory("simulate", stride * np.arange(records), Q, M, risk)


def _path(setting: Setting, stride: int, records: int, eta: float, seed: int, n_test: int):
    W, a = draw.weights(setting, seed)
    basis = setting.target.orthonormal(setting.d)
    batch = Batch((Stream.STEP,), stride * (records - 1))
    X_test, y_test = draw.rows(setting, seed, draw.test_batch(n_test))
    sigma, factor = setting.network.activation, setting.network.factor
    points = []
    for k in range(records):
        if k:
            X, y = draw.rows(setting, seed, batch, (k - 1) * stride, k * stride)
            W = np.asarray(_pass(W, a, X, y, eta * factor, factor, sigma=sigma))
        with np.errstate(all="ignore"):  # a path that diverges is recorded as it is
            risk = np.mean((y_test - factor * np.asarray(sigma(X_test @ W.T)) @ a) ** 2)
            points.append((W @ W.T, W @ basis.T, float(risk)))
    return tuple(np.stack(part) for part in zip(*points, strict=True))


@partial(jax.jit, static_argnames="sigma")
def _pass(W, a, X, y, rate, factor, *, sigma):
    def step(W, sample):
        x, label = sample
        h = W @ x
        delta = label - factor * sigma(h) @ a
        return W + (rate * delta * a * sigma.slope(h))[:, None] * x, None

    return jax.lax.scan(step, W, (X, y))[0]
