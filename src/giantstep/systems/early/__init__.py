"""Early: the first stage of training a mildly parameterised ReLU network on two classes (Wang and Ma 2022).

    f(x) = sum_k a_k relu(b_k . x + c_k),   a_k = +-1,   b_k ~ N(0, init^2 I),   c_k = init,   L = (1/n) sum_i loss(y_i f(x_i))

The start is so small that only the activation patterns of the neurons matter. Neuron k is, for sample i, true where a_k y_i > 0,
else false, and living where it is active, else dead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from giantstep._given.declared import given
from giantstep._given.plain import build, choice, real, settle, whole
from giantstep.errors import InputError
from giantstep.experiment.data.dataset import Dataset
from giantstep.results.system import Reading, System
from giantstep.systems.early.samples import LOSSES

CROSS_ENTROPY = "cross_entropy"
DATA, LAYERS, BIASES = ("cone", "gaussian"), ("first", "both"), ("fixed", "trained", "none")


@given()
@dataclass(frozen=True)
class Early(System):
    """Full-batch or minibatch gradient descent from a tiny start.

    Attributes:
        n: samples, all of them seen again and again.
        d: dimension.
        width: neurons.
        loss: "square", "exponential" or "logistic" of two classes; "cross_entropy" of the classes of a Dataset, each with an
            output of its own, f(x) in R^C, and a_k in {-1, 1}^C.
        rate: step size.
        steps: how many; the time is ``rate`` times their number.
        batch: samples of a step, drawn anew without replacement; None takes all.
        init: size of the start.
        data: "cone" has x = y (c u + sqrt(1 - c^2) v), c the ``cosine`` and v a random direction orthogonal to u, orthogonally
            separable (y_i y_j ⟨x_i, x_j⟩ > 0 for all pairs) where c^2 > 1/2; "gaussian" has classes N(+-c u, (1 - c^2)/d I); or a
            Dataset of two classes, the first of which is +1, or with cross entropy of two or more. Inputs are scaled to the
            length ``norm``.
        cosine: of the inputs with the direction of their class.
        share: of class +1 among the samples; with cross entropy all classes have the same.
        layers: "first" trains the first layer, "both" also the second.
        bias: "fixed" at init, "trained", or "none".
        norm: length of the inputs.
        drop: the share of the initial loss whose loss is timed.
        population: which draw of the inputs; they do not depend on the seed of a run, which draws weights and batches.

    Examples:
        >>> e = gs.Early(n=20, d=10, width=30, rate=0.002, steps=50)
        >>> measured, predicted = (route(e).numbers["drop_time"].value for route in (gs.simulate, gs.theory))
        >>> bool(abs(measured / predicted - 1) < 0.1)  # when the loss has dropped by a fifth
        True
    """

    kind: ClassVar[str] = "early"
    words: ClassVar[Mapping[str, str]] = {
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
        "floor": "least ‖∇L‖²/L while the residuals are those of the start (predicted: at least)",
        "changed": "share of the patterns that change in the second step",
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
        settle(self, whole, "n", "d", least=2)
        settle(self, whole, "width", "steps")
        settle(self, whole, "population", least=0)
        settle(self, real, "rate", "init", "cosine", "share", "norm", "drop", least=0.0)
        for name, options in (("loss", (*LOSSES, CROSS_ENTROPY)), ("layers", LAYERS), ("bias", BIASES)):
            choice(getattr(self, name), options, name)
        for name in ("rate", "init", "norm"):
            if getattr(self, name) == 0:
                raise InputError(f"{name} must be greater than 0")
        if self.cosine > 1:
            raise InputError(f"cosine must be between 0 and 1, not {self.cosine:g}")
        if not 0 < self.drop < 1:
            raise InputError(f"drop must be a share between 0 and 1, not {self.drop:g}")
        if self.share > 1 or not 1 <= self.plus < self.n:
            raise InputError(f"share = {self.share:g} of n = {self.n} leaves a class without samples")
        if self.batch is not None:
            settle(self, whole, "batch")
            if self.batch > self.n:
                raise InputError(f"batch must be at most n = {self.n}, not {self.batch}")
        if isinstance(self.data, Dataset):
            _check(self.data, self.d, several=self.loss == CROSS_ENTROPY)
        else:
            choice(self.data, DATA, "data")
            if self.loss == CROSS_ENTROPY:
                raise InputError("cross_entropy needs the classes of a Dataset as data")
        if self.classes > self.n:
            raise InputError(f"n = {self.n} samples leave a class without samples: there are {self.classes}")

    def measured(self, seed: int) -> Reading:
        """Simulate one seed."""
        from giantstep.systems.early import _cross_entropy as cross_entropy
        from giantstep.systems.early import simulate

        return cross_entropy.measured(self, seed) if self.classes else simulate.measured(self, seed)

    def predicted(self) -> Reading:
        """Compute the predictions of theory."""
        from giantstep.systems.early import _cross_entropy as cross_entropy
        from giantstep.systems.early import theory

        return cross_entropy.predicted(self) if self.classes else theory.predicted(self)

    @property
    def plus(self) -> int:
        """Samples of class +1, which come first."""
        return round(self.share * self.n)

    @property
    def classes(self) -> int:
        """The number of outputs with cross entropy; 0 for one output and two classes."""
        return len(self.data.classes) if self.loss == CROSS_ENTROPY and isinstance(self.data, Dataset) else 0

    @property
    def counts(self) -> tuple[int, ...]:
        """Samples of every class."""
        if not self.classes:
            return self.plus, self.n - self.plus
        return tuple(self.n * (c + 1) // self.classes - self.n * c // self.classes for c in range(self.classes))

    @property
    def times(self) -> np.ndarray:
        """The time of every step: ``rate`` times its number, from 0 on."""
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


def _check(data: Dataset, d: int, several: bool) -> None:
    if several and len(data.classes) < 2:
        raise InputError("cross_entropy needs at least two classes")
    if not several and len(data.classes) != 2:
        raise InputError(f"data must have two classes, not {len(data.classes)}; take loss = 'cross_entropy' for more")
    if data.signal is not None:
        raise InputError("data must be taken as they are: signal=None")
    if data.d != d:
        raise InputError(f"the inputs of data have d = {data.d}, not {d}")
