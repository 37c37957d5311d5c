"""Early: the first stage of training a mildly parameterised ReLU network on two classes (Wang and Ma 2022).

    f(x) = sum_k a_k relu(b_k . x + c_k),   a_k = +-1,   b_k ~ N(0, init^2 I),   c_k = init,   L = (1/n) sum_i loss(y_i f(x_i))

The start is so small that only the activation patterns of the neurons matter. Neuron k is, for sample i, true where a_k y_i > 0,
else false, and living where it is active, else dead.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from giantstep import _loss
from giantstep._errors import InputError
from giantstep._random import Stream, generator, normals
from giantstep._record import build, choice, real, whole
from giantstep.dataset import Dataset
from giantstep.system import System

DATA, LAYERS, BIASES = ("cone", "gaussian"), ("first", "both"), ("fixed", "trained", "none")


class Loss(NamedTuple):
    """A loss of the margin z = y f: its value, its pull -loss'(z), and its curvature loss''(0) at the start."""

    value: Callable[[np.ndarray], np.ndarray]
    pull: Callable[[np.ndarray], np.ndarray]
    bend: float


def _margin(name: str) -> Loss:
    value, slope, bend = (partial(of, name, y=1.0) for of in (_loss.value, _loss.slope, _loss.bend))
    return Loss(value, lambda z: -slope(z), float(bend(np.zeros(1))[0]))


LOSSES = {name: _margin(name) for name in _loss.CLASSES}


@dataclass(frozen=True)
class Early(System):
    """Full-batch or minibatch gradient descent from a tiny start.

    Attributes:
        n: samples, all of them seen again and again.
        d: dimension.
        width: neurons.
        loss: "square", "exponential" or "logistic".
        rate: step size.
        steps: how many; the time is ``rate`` times their number.
        batch: samples of a step, drawn anew without replacement; None takes all.
        init: size of the start.
        data: "cone" has x = y (c u + sqrt(1 - c^2) v), c the ``cosine`` and v a random direction orthogonal to u, orthogonally
            separable (y_i y_j <x_i, x_j> > 0 for all pairs) where c^2 > 1/2; "gaussian" has classes N(+-c u, (1 - c^2)/d I); or a
            Dataset of two classes, the first of which is +1. Inputs are scaled to the length ``norm``.
        cosine: of the inputs with the direction of their class.
        share: of class +1 among the samples.
        layers: "first" trains the first layer, "both" also the second.
        bias: "fixed" at init, "trained", or "none".
        norm: length of the inputs.
        drop: the share of the initial loss whose loss is timed.
        population: which draw of the inputs; they do not depend on the seed of a run, which draws weights and batches.
    """

    kind: ClassVar[str] = "early"
    words: ClassVar = {
        "sorted_plus": "neurons with a > 0 that live on all of class + and on nothing else",
        "sorted_minus": "neurons with a < 0 that live on all of class - and on nothing else",
        "uncovered": "a sample without a true-living neuron at the start (predicted: at most)",
        "drop_time": "time of the drop",
        "last_loss": "loss after the last step",
        "loss": "loss",
        "ratio": "‖∇L‖²/L",
        "true_living": "share of true-living neurons",
        "false_living": "share of false-living neurons",
        "bound": "bound on the loss",
    }

    n: int
    d: int
    width: int
    loss: str = "square"
    rate: float = 0.002
    steps: int = 100
    batch: int | None = None
    init: float = 1e-6
    data: Any = "cone"
    cosine: float = 0.8
    share: float = 0.5
    layers: str = "first"
    bias: str = "fixed"
    norm: float = 1.0
    drop: float = 0.2
    population: int = 0

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name, least in (("n", 2), ("d", 2), ("width", 1), ("steps", 1), ("population", 0)):
            put(self, name, whole(getattr(self, name), name, least))
        for name in ("rate", "init", "cosine", "share", "norm", "drop"):
            put(self, name, real(getattr(self, name), name, least=0.0))
        for name, options in (("loss", tuple(LOSSES)), ("layers", LAYERS), ("bias", BIASES)):
            choice(getattr(self, name), options, name)
        for name in ("rate", "init", "norm"):
            if getattr(self, name) == 0:
                raise InputError(f"{name} must be greater than 0")
        if self.cosine > 1:
            raise InputError(f"cosine must be between 0 and 1, not {self.cosine:g}")
        if not 0 < self.drop < 1:
            raise InputError(f"drop must be a share between 0 and 1, not {self.drop:g}")
        if not 1 <= self.plus < self.n:
            raise InputError(f"share = {self.share:g} of n = {self.n} leaves a class without samples")
        if self.batch is not None:
            put(self, "batch", whole(self.batch, "batch"))
            if self.batch > self.n:
                raise InputError(f"batch must be at most n = {self.n}, not {self.batch}")
        if isinstance(self.data, Dataset):
            _check(self.data, self.d)
        else:
            choice(self.data, DATA, "data")

    @property
    def plus(self) -> int:
        """Samples of class +1, which come first."""
        return round(self.share * self.n)

    @property
    def times(self) -> np.ndarray:
        """rate times the number of steps, from 0 on."""
        return self.rate * np.arange(self.steps + 1)

    @classmethod
    def from_plain(cls, data: Any) -> "Early":
        def inner(value: Any, where: str) -> Any:
            if not isinstance(value, dict):
                return value
            return Dataset.from_plain({k: v for k, v in value.items() if k != "law"}, where)

        return build(cls, data, cls.kind, {"data": inner})

    def __str__(self) -> str:
        how = "gradient descent" if self.batch is None else f"minibatches of {self.batch}"
        what = self.data if isinstance(self.data, str) else f"classes {' and '.join(map(str, self.data.classes))}"
        return f"{self.loss} loss, {what}, n = {self.n}, d = {self.d}, p = {self.width}, {how}"


def _check(data: Dataset, d: int) -> None:
    if len(data.classes) != 2:
        raise InputError(f"data must have two classes, not {len(data.classes)}")
    if data.signal is not None:
        raise InputError("data must be taken as they are: signal=None")
    if data.d != d:
        raise InputError(f"the inputs of data have d = {data.d}, not {d}")


def inputs(system: Early) -> tuple[np.ndarray, np.ndarray]:
    """Inputs X (n x d) of length ``norm`` and labels y = +-1; class +1 comes first."""
    return _inputs(system, system.data.place if isinstance(system.data, Dataset) else None)


@lru_cache(maxsize=16)
def _inputs(system: Early, place: str | None) -> tuple[np.ndarray, np.ndarray]:
    n, d, c = system.n, system.d, system.cosine
    y = np.where(np.arange(n) < system.plus, 1.0, -1.0)
    if isinstance(system.data, Dataset):
        X = _taken(system, system.data)
    else:
        V = normals(system.population, (Stream.POPULATION,), 0, n, d)
        if system.data == "cone":  # x = y (c u + sqrt(1 - c^2) v), u the first axis
            V[:, 0] = 0.0
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


def _taken(system: Early, data: Dataset) -> np.ndarray:
    X, component = data.split()
    order = data.order(system.population)
    rows = []
    for c, count in ((0, system.plus), (1, system.n - system.plus)):
        own = order[component[order] == c][:count]
        if len(own) < count:
            raise data.few(f"{len(own)} inputs of class {data.classes[c]}, not {count}")
        rows.append(own)
    return X[np.concatenate(rows)]


def extended(system: Early) -> np.ndarray:
    """The inputs with a last column for the bias: 1, or 0 without a bias."""
    X, _ = inputs(system)
    return np.column_stack([X, np.full(len(X), float(system.bias != "none"))])


def gram(system: Early) -> np.ndarray:
    """Products of what trains: <x_i, x_j>, plus 1 where the bias does."""
    X, _ = inputs(system)
    return X @ X.T + float(system.bias == "trained")


def start(system: Early, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """First layer with the bias as last column (m x (d + 1)), and second layer."""
    rows = normals(seed, (Stream.ROWS,), 0, system.width, system.d)
    a = np.where(generator(seed, Stream.SECOND_LAYER).random(system.width) < 0.5, -1.0, 1.0)
    return system.init * np.column_stack([rows, np.ones(system.width)]), a


def batches(system: Early, seed: int) -> Iterator[np.ndarray]:
    """The samples of every step."""
    draw = generator(seed, Stream.STEP)
    for _ in range(system.steps):
        yield np.arange(system.n) if system.batch is None else draw.permutation(system.n)[: system.batch]
