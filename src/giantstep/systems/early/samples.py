"""What a run of ``Early`` starts from: losses of the margin, inputs and labels, weights, and the samples of every step."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine import memory
from giantstep._machine.random import Stream, generator, normals
from giantstep.errors import InputError
from giantstep.experiment.data.dataset import Dataset
from giantstep.functions import losses

if TYPE_CHECKING:
    from giantstep.systems.early import Early


class Loss(NamedTuple):
    """A loss of the margin z = y f: its value, its pull -loss'(z), and its curvature loss''(0) at the start."""

    value: Callable[[np.ndarray], np.ndarray]
    pull: Callable[[np.ndarray], np.ndarray]
    bend: float


def _margin(name: str) -> Loss:
    return Loss(
        lambda z: np.asarray(losses.value(name, z, 1.0)),
        lambda z: -np.asarray(losses.slope(name, z, 1.0)),
        float(losses.bend(name, np.zeros(1), 1.0)[0]),
    )


LOSSES = {name: _margin(name) for name in losses.CLASSES}


def inputs(system: "Early") -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
    """Inputs X (n x d) of length ``norm`` and labels: y = +-1, class +1 first, or with cross entropy the class numbers."""
    return _inputs(system, system.data.place if isinstance(system.data, Dataset) else None)


@lru_cache(maxsize=16)
def _inputs(system: "Early", place: str | None) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, " n"]]:
    n, d, c = system.n, system.d, system.cosine
    y = np.where(np.arange(n) < system.plus, 1.0, -1.0)
    if system.classes:
        y = np.repeat(np.arange(len(system.counts)), system.counts).astype(float)
    if isinstance(system.data, Dataset):
        X = _taken(system, system.data)
    else:
        V = normals(system.population, (Stream.POPULATION,), 0, n, d)
        if system.data == "cone":  # x = y (c u + sqrt(1 - c^2) v), u the first axis
            V = V * (np.arange(d) > 0)
            X = np.sqrt(1 - c**2) * V / np.linalg.norm(V, axis=1, keepdims=True)
            X[:, 0] = c
            X *= y[:, None]
        else:
            X = np.sqrt((1 - c**2) / d) * V
            X[:, 0] += c * y
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    if np.any(lengths == 0):
        raise InputError("an input is zero: it has no direction to scale")
    X = system.norm * X / lengths
    for array in (X, y):
        array.setflags(write=False)
    return X, y


def _taken(system: "Early", data: Dataset) -> Float[np.ndarray, "n d"]:
    X, component = data.split()
    order = data.order(system.population)
    rows = []
    for c, count in enumerate(system.counts):
        own = order[component[order] == c][:count]
        if len(own) < count:
            raise data.few(f"{len(own)} inputs of class {data.classes[c]}, not {count}")
        rows.append(own)
    return X[np.concatenate(rows)]


def extended(system: "Early") -> Float[np.ndarray, "n d1"]:
    """The inputs with a last column for the bias: 1, or 0 without a bias."""
    X, _ = inputs(system)
    return np.column_stack([X, np.full(len(X), float(system.bias != "none"))])


def gram(system: "Early") -> Float[np.ndarray, "n n"]:
    """Products of what trains: <x_i, x_j>, plus 1 where the bias does."""
    X, _ = inputs(system)
    return X @ X.T + float(system.bias == "trained")


def start(system: "Early", seed: int) -> tuple[Float[np.ndarray, "m d1"], Float[np.ndarray, "m ..."]]:
    """First layer with the bias as last column (m x (d + 1)), and second layer: m signs, or with cross entropy m x classes."""
    rows = normals(seed, (Stream.ROWS,), 0, system.width, system.d)
    shape = (system.width, system.classes) if system.classes else system.width
    a = np.where(generator(seed, Stream.SECOND_LAYER).random(shape) < 0.5, -1.0, 1.0)
    return system.init * np.column_stack([rows, np.ones(system.width)]), a


def check_memory(system: "Early") -> None:
    """Refuse a width whose activations do not fit into memory."""
    n, d, m = system.n, system.d, system.width
    memory.check(8.0 * (6 * n * m + 4 * m * d + 3 * n * d), None, lambda share: f"width = {max(1, int(m * share))}")


def batches(system: "Early", seed: int) -> Iterator[Int[np.ndarray, " B"]]:
    """Yield the samples of every step."""
    draw = generator(seed, Stream.STEP)
    for _ in range(system.steps):
        yield np.arange(system.n) if system.batch is None else draw.permutation(system.n)[: system.batch]
