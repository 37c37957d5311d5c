"""Bounds: a two-layer network trained by SGD with a Lipschitz loss, and how far its empirical error can be from the true one.

    f(x) = W2 sigma(W1 (x, 1)) + b2,     theta <- theta - rate * grad loss(f(x), y),     Z = (x, y) in R^D,  D = d_in + d_out

The loss need not be bounded. With independent test data the gap falls as n^{-1/2}, without as n^{-1/D}, and the coefficients
are known before training (Nguwi and Privault 2026, arXiv 2604.06281; the coefficients in ``theory.bounds`` are our own).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from giantstep._given.callable import callable_module
from giantstep._given.declared import given
from giantstep._given.plain import choice, real, settle, several, whole
from giantstep.errors import InputError
from giantstep.functions.activation import activation as read_activation
from giantstep.results.system import System
from giantstep.systems.bounds.lipschitz import extent
from giantstep.systems.bounds.own_table import bounds

LOSSES = ("absolute", "huber")
DATA = ("cube", "gaussian")


@given()
@dataclass(frozen=True)
class Bounds(System):
    """The experiment.

    Attributes:
        d_in: dimension of the input.
        d_out: dimension of the output.
        width: neurons m; entries of W1 start as N(0, 1/(d_in + 1)), of W2 as N(0, 1/m), b2 at 0.
        activation: any Lipschitz one.
        loss: of e = f(x) - y: "absolute" ||e||, or "huber" ||e||^2/2 up to ||e|| = 1 and ||e|| - 1/2 beyond.
        n: training samples.
        rate: the rate of SGD.
        steps: of SGD; more steps than samples go through them again.
        batch: samples of a step.
        frequency: of the labels y_j = sin(frequency x_k) + noise U[-1, 1], k = j modulo d_in.
        noise: the half width of their noise.
        data: x uniform on the "cube" [-1, 1]^d_in, or "gaussian".
        samples: sizes at which the gaps and the Wasserstein distance are measured.
        trainings: repetitions of everything for a seed.

    Examples:
        >>> b = gs.Bounds(d_in=2, width=10, n=50, steps=20, samples=(25, 50), trainings=2)
        >>> measured, bound = (route(b).numbers["test_gap"].value for route in (gs.simulate, gs.theory))
        >>> bool(measured < bound)
        True
    """

    kind: ClassVar[str] = "bounds"
    words: ClassVar[Mapping[str, str]] = {
        "test_gap": "gap on n fresh samples",
        "train_gap": "gap on the n training samples",
        "lipschitz": "Lipschitz modulus of the loss",
        "wasserstein": "W1 of n samples and their law",
        "realised_test_gap": "bound on fresh samples from the modulus after training",
        "realised_train_gap": "bound on training samples from it and the measured W1",
        "risk": "error after training",
        "trivial": "error of predicting zero",
    }

    d_in: int
    d_out: int = 1
    width: int = 20
    activation: Any = "tanh"
    loss: str = "absolute"
    n: int = 200
    rate: float = 0.004
    steps: int = 200
    frequency: float = 2.0
    noise: float = 0.1
    data: str = "cube"
    samples: tuple[int, ...] = (25, 50, 100, 200, 400)
    trainings: int = 20
    batch: int = 1

    def __post_init__(self) -> None:
        settle(self, whole, "d_in", "d_out", "width", "n", "batch")
        if self.batch > self.n:
            raise InputError(f"a batch of {self.batch} samples needs as many training samples, and n is {self.n}")
        settle(self, whole, "steps", least=0)
        settle(self, whole, "trainings", least=2)
        settle(self, real, "rate", "frequency", "noise", least=0.0)
        choice(self.loss, LOSSES, "loss")
        choice(self.data, DATA, "data")
        entries = several(self.samples, "samples")
        if entries is None:
            raise InputError("samples must be a list of whole numbers")
        samples = tuple(whole(n, "every entry of samples", least=2) for n in entries)
        if not samples or sorted(set(samples)) != list(samples):
            raise InputError("samples must not be empty and must increase")
        object.__setattr__(self, "samples", samples)
        object.__setattr__(self, "activation", read_activation(self.activation))
        if not np.isfinite(self.lipschitz):
            raise InputError(f"the activation must be Lipschitz, and {self.activation.name!r} is not")

    @property
    def dimension(self) -> int:
        """The dimension D = d_in + d_out of a sample z = (x, y)."""
        return self.d_in + self.d_out

    @cached_property
    def lipschitz(self) -> float:
        """L_sigma, the largest slope of the activation; infinite where slopes grow without end."""
        return float(np.max(np.abs(extent(self.activation, slope=True))))

    @cached_property
    def height(self) -> float:
        """S, the largest |sigma|; infinite for an activation that is not bounded."""
        return float(np.max(np.abs(extent(self.activation, slope=False))))

    def __str__(self) -> str:
        shape = f"d_in = {self.d_in}, d_out = {self.d_out}, m = {self.width}"
        return f"bounds for {self.activation.name}, {self.loss} loss, {shape}, {self.steps} steps of {self.rate:g}"


callable_module(__name__, bounds)
