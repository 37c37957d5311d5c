"""Draws from a Setting: initial weights and labelled batches, which depend on (setting, seed) alone.

They are NumPy arrays. With ``source=counter.DEVICE`` they are arrays of JAX instead, drawn on the device from other random
numbers of the same law; seeds and the starts of batches may then be traced.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float, Int
from scipy.special import ndtri

from giantstep._machine.arrays import is_jax, xp
from giantstep._machine.random import HOST, Source, Stream
from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.data.mixture import Mixture, pattern_at
from giantstep.experiment.setting import Setting

Key = tuple[int, ...]
Array = Any  # of NumPy, or of JAX with the device as the source
NOISE, FEATURE_NOISE = 1, 2  # last entry of the key of a stream of label or feature noise; inputs have 0
OUTSIDE, OUTSIDE_ROWS = 3, 4  # and of what the data do outside the directions already known; see simulate/_overlap.py
APART = 5  # and of feature noise that pairs do not share
COMPONENT = 6  # and of the components of a mixture
STREAMS = 7  # of one batch


def weights(setting: Setting, seed: Any, source: Source = HOST) -> tuple[Float[Array, "p d"], Float[Array, " p"]]:
    """Initial first layer W and second layer a (without the scale)."""
    network, d = setting.network, setting.d
    if network.weights is not None:
        return network.weights.W, network.weights.a
    W = source.normals(seed, (Stream.ROWS,), 0, network.drawn, d)
    if network.rows == "sphere":
        W = W / xp.linalg.norm(W, axis=1, keepdims=True)
    else:
        W = W / np.sqrt(setting.data.trace if network.rows == "trace" else d)
    return paired(setting, W), second_layer(setting, seed, source)


def paired(setting: Setting, W: Float[Array, "half d"]) -> Float[Array, "p d"]:
    """The rows drawn, and their mirror image in a symmetric network: w_{p+1-i} = w_i."""
    return xp.concatenate([W, W[::-1]]) if setting.network.symmetric else W


def second_layer(setting: Setting, seed: Any, source: Source = HOST) -> Float[Array, " p"]:
    """The second layer a alone; a_{p+1-i} = -a_i in a symmetric network: the initial output is zero."""
    network = setting.network
    if network.weights is not None:
        return network.weights.a
    a = _second_layer(network.second_layer, seed, network.drawn, source)
    return xp.concatenate([a, -a[::-1]]) if network.symmetric else a


def _second_layer(law: str, seed: Any, p: int, source: Source) -> Float[Array, " p"]:
    if law == "constant":
        return np.ones(p)
    return source.vector(seed, (Stream.SECOND_LAYER,), p, "normal" if law == "gaussian" else "sign")


@dataclass(frozen=True)
class Batch:
    """Where a batch comes from: its stream of random numbers and its size."""

    key: Key
    n: int


def step_batches(setting: Setting) -> tuple[Batch, ...]:
    """The batch of every step; a reused one is that of the step before."""
    batches: list[Batch] = []
    for t, (step, n) in enumerate(zip(setting.protocol.steps, setting.protocol.sizes(), strict=True)):
        batches.append(batches[-1] if step.batch == "reuse" else Batch((Stream.STEP + t,), n))
    return tuple(batches)


def readout_batch(setting: Setting) -> Batch:
    """The batch of the readout; a reused one is that of the last step."""
    readout = setting.protocol.readout
    if readout is not None and readout.batch == "reuse":
        return step_batches(setting)[-1]
    return Batch((Stream.READOUT,), setting.protocol.readout_size)


def test_batch(n_test: int) -> Batch:
    """The test batch; it has no label noise."""
    return Batch((Stream.TEST,), n_test)


def kind(batch: Batch) -> Batch:
    """A batch that stands for all that are drawn in the same way from their streams: the test, or those with label noise."""
    return replace(batch, key=batch.key if batch.key == (Stream.TEST,) else (Stream.READOUT,), n=0)


def rows(
    setting: Setting,
    seed: int,
    batch: Batch,
    start: int = 0,
    stop: int | None = None,
    dtype: npt.DTypeLike = np.float64,
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
    """Inputs and labels of rows start..stop of a batch; test labels are noise-free. Inputs are rounded to the dtype, and labels
    are those of the inputs as rounded, in float64."""
    stop = batch.n if stop is None else min(stop, batch.n)
    return some_rows(setting, seed, batch, start, stop - start, dtype)


def some_rows(
    setting: Setting, seed: Any, batch: Batch, start: Any, count: int, dtype: npt.DTypeLike, source: Source = HOST
) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
    """As ``rows``, with the number of rows."""
    c, key, place = None, (*batch.key, 0), (start, count, setting.d)
    if isinstance(setting.data, Mixture):
        c = some_components(setting, seed, batch, start, count, source)
        X = setting.data.shaped(source.normals(seed, key, *place), c)
    elif isinstance(setting.data, Dataset):
        X, c = _finite(setting, seed, batch, start, start + count)
        X = X if setting.data.signal is None else X + source.normals(seed, key, *place)
        if setting.target.of_data:
            values = setting.data.source.values[_chosen(setting, seed, batch, start, start + count)]
            return X.astype(dtype, copy=False), _noisy(setting, seed, batch, values, start, source)
    else:
        X = source.normals(seed, key, *place, dtype)
    X = X if X.dtype == dtype else X.astype(dtype)
    return X, labels_of(setting, seed, batch, X, c, start, source)


def labels_of(
    setting: Setting,
    seed: Any,
    batch: Batch,
    X: Float[Array, "n d"],
    c: Int[Array, " n"] | None = None,
    start: Any = 0,
    source: Source = HOST,
) -> Float[Array, " n"]:
    """Labels of inputs of a batch from row ``start`` on, in the components c; other targets may have the same inputs."""
    target = setting.target
    z = X[:, : target.rank].astype(float) if target.directions is None else X @ target.matrix(setting.d).T
    if target.scale != "1":
        z = setting.length * z
    y = target(z.T if is_jax(z) else np.ascontiguousarray(z.T), c)
    y = y.astype(float) if is_jax(y) else np.asarray(y, dtype=float)
    return _noisy(setting, seed, batch, y, start, source)


def _noisy(
    setting: Setting, seed: Any, batch: Batch, y: Float[Array, " n"], start: Any, source: Source
) -> Float[Array, " n"]:
    """Labels with the noise of a batch; test labels are without."""
    if setting.target.noise and batch.key != (Stream.TEST,):
        return y + setting.target.noise * source.normals(seed, (*batch.key, NOISE), start, len(y), 1)[:, 0]
    return y


def components(
    setting: Setting, seed: int, batch: Batch, start: int = 0, stop: int | None = None
) -> Int[np.ndarray, " n"]:
    """The components, from 0, of rows start..stop of a batch; all 0 for Gaussian data."""
    stop = batch.n if stop is None else min(stop, batch.n)
    data = setting.data
    if isinstance(data, Dataset):
        return _finite(setting, seed, batch, start, stop)[1]
    if not isinstance(data, Mixture):
        return np.zeros(stop - start, dtype=int)
    return some_components(setting, seed, batch, start, stop - start)


def some_components(
    setting: Setting, seed: Any, batch: Batch, start: Any, count: int, source: Source = HOST
) -> Int[Array, " n"]:
    """As ``components`` of a mixture, with the number of rows."""
    data = setting.data
    assert isinstance(data, Mixture)
    if data.counts == "exact":
        return pattern_at(data.weights, start + np.arange(count))
    edges = ndtri(np.minimum(np.cumsum(data.weights)[:-1], 1.0))
    return xp.searchsorted(edges, source.normals(seed, (*batch.key, COMPONENT), start, count, 1)[:, 0], side="right")


def _finite(
    setting: Setting, seed: int, batch: Batch, start: int, stop: int
) -> tuple[Float[np.ndarray, "n d"], Int[np.ndarray, " n"]]:
    """Inputs, without noise, and components of rows start..stop of a batch of a Dataset."""
    assert isinstance(setting.data, Dataset)
    test = _place(setting, batch)[0]
    X, c = setting.data.split(test)
    own = _chosen(setting, seed, batch, start, stop)
    return X[own], c[own]


def _chosen(setting: Setting, seed: int, batch: Batch, start: int, stop: int) -> Int[np.ndarray, " n"]:
    """The places in a Dataset of rows start..stop of a batch."""
    assert isinstance(setting.data, Dataset)
    test, first = _place(setting, batch)
    count = len(setting.data.split(test)[1])
    if first + stop > count:
        what = f"{count} inputs for {'the test' if test else 'all batches'}, not {first + stop}"
        raise setting.data.few(what, test)
    return setting.data.order(seed, test)[first + start : first + stop]


def _place(setting: Setting, batch: Batch) -> tuple[bool, int]:
    """Whether a batch is of the inputs kept for the test, and where it starts in their permutation."""
    if batch.key == (Stream.TEST,) and isinstance(setting.data, Dataset) and setting.data.has_test:
        return True, 0
    sizes = {own.key: own.n for own in _fitted(setting)}  # in the order of use; the test comes last
    keys = list(sizes)
    before = keys[: keys.index(batch.key)] if batch.key in sizes else keys
    return False, sum(sizes[key] for key in before)


def _fitted(setting: Setting) -> tuple[Batch, ...]:
    """The batches that the protocol fits something to."""
    return (*step_batches(setting), *([] if setting.protocol.readout is None else [readout_batch(setting)]))


def check_size(setting: Setting, n_test: int) -> None:
    """Refuse a setting that needs more samples than its Dataset has."""
    if isinstance(setting.data, Dataset):
        for batch in (test_batch(n_test), *reversed(_fitted(setting))):  # the furthest first
            _finite(setting, 0, batch, batch.n, batch.n)


def feature_noise(
    setting: Setting, seed: int, batch: Batch, start: int = 0, stop: int | None = None, *, apart: bool = False
) -> Float[np.ndarray, "n p"]:
    """Z of rows start..stop of a batch: N(0, 1), the stand-in for the nonlinear part of the features.

    The neurons of a symmetric pair have one first layer, so they share their column of Z; ``apart`` gives another Z, independent
    of it, whose columns are all different.
    """
    stop = batch.n if stop is None else min(stop, batch.n)
    return some_feature_noise(setting, seed, batch, start, stop - start, apart=apart)


def some_feature_noise(
    setting: Setting, seed: Any, batch: Batch, start: Any, count: int, *, apart: bool = False, source: Source = HOST
) -> Float[Array, "n p"]:
    """As ``feature_noise``, with the number of rows."""
    if apart:
        return source.normals(seed, (*batch.key, APART), start, count, setting.p)
    symmetric = setting.network.symmetric
    columns = setting.p // 2 if symmetric else setting.p
    Z = source.normals(seed, (*batch.key, FEATURE_NOISE), start, count, columns)
    return xp.concatenate([Z, Z[:, ::-1]], axis=1) if symmetric else Z
