"""MeanField: an entropic mean-field network on curves, an infinite-dimensional input (Nishikawa, Suzuki, Nitanda and Wu 2022).

``fit`` trains one on your own curves. The system is an experiment with a known law,

    x(t) = sum_j j^-decay z_j e_j(t),  z_j ~ N(0, 1),      y = target(x_1, ..., x_r) + noise N(0, 1),

of n curves that are drawn once (``data`` is their seed); seeds of a run are those of the method. Neurons are functions too,
with the prior N(0, C), C = diag(scale^2 j^(-2 gamma)), of which J coordinates are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from giantstep._given.declared import given
from giantstep._given.plain import flag, real, settle, whole
from giantstep._machine.random import Stream, normals
from giantstep.errors import InputError
from giantstep.experiment.target import target
from giantstep.results.system import System
from giantstep.systems.mean_field._fit_curves import FittedCurves, fit
from giantstep.systems.mean_field.bases import basis, project, smoothness
from giantstep.systems.mean_field.follow import Followed, follow
from giantstep.systems.mean_field.kernel_inputs import FittedKernel, fit_kernel
from giantstep.systems.mean_field.training import Training

__all__ = ["HARMONICS", "FittedCurves", "FittedKernel", "Followed", "MeanField", "fit", "fit_kernel", "follow"]

HARMONICS = 128  # coefficients of the system's curves


@given()
@dataclass(frozen=True)
class MeanField(System):
    """The experiment; the fields of ``Training`` are among its own.

    Attributes:
        n: curves.
        basis: J, basis functions kept.
        gamma: smoothness of the neurons, above 1/2.
        target: a formula in x1, x2, ..., the coefficients of a curve; with the logistic loss the label is its sign.
        noise: of the labels.
        decay: smoothness of the curves.
        scale: standard deviation of a neuron's first coefficient.
        intercept: add the constant 1 to the inputs.
        points: values of a curve that are seen, on a regular grid; 0 for its coefficients themselves.
        blur: noise of those values.
        data: seed of the curves.

    Examples:
        >>> system = gs.MeanField(20, particles=100, passes=4, pool=512)
        >>> found = gs.simulate(system)
        >>> bool(0 < found.numbers["gap"].value < found.numbers["objective"].value)  # a certificate by duality
        True
    """

    kind: ClassVar[str] = "mean_field"
    words: ClassVar[Mapping[str, str]] = {
        "objective": "objective P",
        "kl": "KL to the prior",
        "train_loss": "training loss",
        "test_loss": "test loss",
        "gap": "duality gap P - D",
        "ess": "particles that carry the weight",
        "acceptance": "accepted Crank-Nicolson steps",
        "generalisation_bound": "bound on test less training loss",
        "dual_excess": "dual excess over its start (theory: at most)",
        "excess": "excess of P, averaged (theory: at most)",
    }

    n: int
    basis: int = 16
    gamma: float = 1.0
    penalty: float = 0.02
    particles: int = 600
    method: str = "finite"
    target: str = "tanh(2*x1 - 3*x2)"
    noise: float = 0.1
    loss: str = "square"
    passes: int = 30
    activation: str = "tanh"
    bound: float = 1.0
    decay: float = 1.0
    scale: float = 3.0
    intercept: bool = False
    points: int = 0
    blur: float = 0.0
    inner: int = 4
    sampler: str = "adjusted"
    step: float = 0.5
    pool: int = 8192
    data: int = 0

    def __post_init__(self) -> None:
        settle(self, whole, "n", least=2)
        settle(self, whole, "basis")
        settle(self, whole, "points", "data", least=0)
        settle(self, real, "gamma", "noise", "decay", "scale", "blur", least=0.0)
        if self.gamma <= 0.5:
            raise InputError(f"gamma must be above 1/2, or neurons are no functions; not {self.gamma:g}")
        if self.basis > HARMONICS or 0 < self.points < self.basis:
            raise InputError(f"basis must be at most {HARMONICS} and at most points; not {self.basis}")
        settle(self, flag, "intercept")
        target(self.target)  # refuses what it cannot read
        for field in fields(Training):
            object.__setattr__(self, field.name, getattr(self.training, field.name))

    @cached_property
    def training(self) -> Training:
        """The options of the training."""
        return Training(**{field.name: getattr(self, field.name) for field in fields(Training)})

    @property
    def deviations(self) -> Float[np.ndarray, " J"]:
        """Standard deviations of the prior along the inputs' coordinates."""
        own = smoothness(self.basis, self.gamma, self.scale)
        return np.append(own, self.scale) if self.intercept else own

    def sample(
        self, start: int, stop: int, *stream: int
    ) -> tuple[Float[np.ndarray, "rows J"], Float[np.ndarray, " rows"]]:
        """Inputs as the network sees them, and labels, of these rows of a stream of curves."""
        x = normals(self.data, (Stream.READOUT, *stream), start, stop, HARMONICS) * smoothness(HARMONICS, self.decay)
        goal = target(self.target)
        noise = normals(self.data, (Stream.READOUT, *stream, 1), start, stop, 1)[:, 0]
        y = np.asarray(goal(x[:, : goal.rank].T)) + self.noise * noise
        X = (
            self._seen(x, normals(self.data, (Stream.READOUT, *stream, 2), start, stop, self.points))
            if self.points
            else x
        )
        X = X[:, : self.basis]
        X = np.column_stack([X, np.ones(len(X))]) if self.intercept else X
        return X, np.where(y < 0, -1.0, 1.0) if self.loss == "logistic" else y

    def _seen(
        self, x: Float[np.ndarray, "rows harmonics"], noise: Float[np.ndarray, "rows points"]
    ) -> Float[np.ndarray, "rows J"]:
        """Project the values on the grid to coefficients."""
        t = (np.arange(self.points) + 0.5) / self.points
        values = x @ basis(t, HARMONICS).T + self.blur * noise
        return project(values, t, self.basis, domain=(0.0, 1.0))

    @property
    def curves(self) -> tuple[Float[np.ndarray, "n J"], Float[np.ndarray, " n"]]:
        """The n curves, as the network sees them, and their labels."""
        return self.sample(0, self.n, 0)

    def __str__(self) -> str:
        return (
            f"mean-field network, {self.target}, {self.loss} loss, {self.method} method, n = {self.n}, J = {self.basis}, "
            f"lam = {self.penalty:g}, {self.particles} particles"
        )
