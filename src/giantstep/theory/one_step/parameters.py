"""What a prediction depends on: the real numbers it can be differentiated in, and the choices it cannot."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import factorial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._given.declared import a, given
from giantstep._machine.arrays import Array, xp
from giantstep.errors import InputError
from giantstep.experiment.protocol import Ridge
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target
from giantstep.functions import hermite
from giantstep.functions._gaussian_averages import Scalar, polynomial_part
from giantstep.functions.activation import Activation
from giantstep.theory._coverage import check
from giantstep.theory.one_step._label import ORDERS, Label, label, target_constants

DIFFERENTIABLE = (
    "rows",
    "one batch",
    "own batch",
    "pairs",
)  # theories besides that of one step whose numbers can be moved
Numbers = Float[Array, "..."] | float  # one, or one for each of several predictions


class Parameters(NamedTuple):
    """The real numbers of a prediction.

    Attributes:
        d: input dimension.
        n1_over_d: samples of the step over d; of several steps one number each, along the last axis.
        n_over_d: samples of the readout over d.
        p_over_d: width over d.
        eta: step size; of several steps one each, along the last axis.
        penalty: of the ridge readout.
        noise: standard deviation of the label noise.
        activation: Hermite coefficients c_0 .. c_6 of the activation; moving c_k adds a multiple of He_k to it.
        target: those of the target; of several directions all up to degree 3, in the order of ``label.movable``.
    """

    d: Numbers
    n1_over_d: Numbers
    n_over_d: Numbers
    p_over_d: Numbers
    eta: Numbers
    penalty: Numbers
    noise: Numbers
    activation: Float[Array, "... 7"]
    target: Float[Array, "... k"]


@dataclass(frozen=True)
class StepForm:
    """The choices of one step."""

    full: bool  # the residual keeps the network's output
    rank_one: bool  # update="rank1"
    deflated: bool  # the labels' mean is removed before the step
    reused: bool = False  # the batch is that of the step before


@dataclass(frozen=True)
class Form:
    """What of a setting is not a number: its functions and choices; static under ``jax.jit``."""

    sigma: Activation
    target: Target  # without its noise, which is a number
    second_layer: str
    scale: str
    steps: tuple[StepForm, ...]
    gaussian_rows: bool = False  # rows of random length, which only spectra notice
    scramble: int = 0  # of the Sobol points that a target of more than three directions takes
    symmetric: bool = False
    own_batch: bool = False  # the readout is on the batch of the step

    @property
    def full(self) -> bool:
        """Whether the residual of the first step keeps the initial output; that of a symmetric network is zero."""
        return self.steps[0].full and not self.symmetric

    @property
    def rank_one(self) -> bool:
        return self.steps[0].rank_one

    @property
    def deflated(self) -> bool:
        return self.steps[0].deflated

    def factor(self, p: Scalar) -> Scalar:
        """The scale of a network of p neurons."""
        return {"1/sqrt(p)": p**-0.5, "1/p": 1 / p, "1": xp.ones_like(p)}[self.scale]


class GaussianFunction(NamedTuple):
    """A function f + c of one Gaussian variable: the values of f, slopes, kinks, Hermite coefficients of the sum, Var f, E f'^2
    and the constant c, zero unless f would lose digits to it (``Activation.split``)."""

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    kinks: tuple[float, ...]
    coefficients: Float[Array, " k"]
    variance: Scalar
    slope_square: Scalar
    constant: Scalar


@given(setting=a(Setting))
def parameters(setting: Setting) -> tuple[Parameters, Form]:
    """A setting's numbers and its form; lists of step sizes and penalties stay lists.

    Examples:
        >>> s = gs.presets.moniri(n=400, d=200, N=300, alpha=0.3, penalty=0.1)
        >>> numbers, form = gs.theory.parameters(s)
        >>> float(numbers.d), float(numbers.n_over_d)
        (200.0, 2.0)
    """
    check(setting, DIFFERENTIABLE)
    protocol, network, d = setting.protocol, setting.network, float(setting.d)
    if not protocol.steps:
        raise InputError("theory.parameters needs a setting with a giant step; gs.theory takes it without one")
    readout, several = protocol.readout, len(protocol.steps) > 1
    assert isinstance(readout, Ridge)
    form = Form(
        network.activation, replace(setting.target, noise=0.0), network.second_layer, network.scale, choices(setting),
        network.rows == "gaussian", 0, network.symmetric, readout.batch == "reuse",
    )  # fmt: skip
    numbers = Parameters(
        d=d,
        n1_over_d=np.array(protocol.sizes()) / d if several else protocol.sizes()[0] / d,
        n_over_d=protocol.readout_size / d,
        p_over_d=setting.p / d,
        eta=protocol.etas(setting.d, setting.p)[... if several else (..., 0)],
        penalty=np.nan if readout.penalty == "gcv" else readout.penalty,  # type: ignore[arg-type]
        noise=setting.target.noise,
        activation=activation_constants(form.sigma)[0],
        target=target_constants(form.target)[0],
    )
    return Parameters(*(np.asarray(x, dtype=float) for x in numbers)), form


def choices(setting: Setting) -> tuple[StepForm, ...]:
    """The choices of every step."""
    return tuple(
        StepForm(step.residual == "full", step.update == "rank1", step.deflate == 1, step.batch == "reuse")
        for step in setting.protocol.steps
    )


@lru_cache(maxsize=64)
def activation_constants(sigma: Activation) -> tuple[Float[np.ndarray, " k"], float, float]:
    """The activation's Hermite coefficients c_0 .. c_6, Var sigma and E sigma'^2."""
    slope = hermite.mean_square(lambda x: np.asarray(sigma.slope(x)), sigma.kinks)
    return sigma.hermite(ORDERS - 1), sigma.variance, slope


def activation_of(numbers: Parameters, form: Form) -> GaussianFunction:
    """The activation with its coefficients moved to the parameters'."""
    return gaussian_function(form.sigma, numbers.activation)


def label_of(numbers: Parameters, form: Form) -> Label:
    """The target in orthonormal coordinates, with its coefficients moved to the parameters'."""
    return label(form.target, numbers.target)


def gaussian_function(sigma: Activation, moved: Float[Array, " k"] | None = None) -> GaussianFunction:
    """An activation, its coefficients moved to those given.

    Var f = sum_(k > 0) k! c_k^2 and E f'^2 = sum_k k k! c_k^2 change with the coefficients that moved. He_k' = k He_(k-1).
    """
    known, variance, slope = activation_constants(sigma)
    value, constant = sigma.split
    if moved is None:
        return GaussianFunction(value, sigma.slope, sigma.kinks, known, variance, slope, constant)
    order = np.arange(len(known))
    change = np.array([float(factorial(k)) for k in order]) * (moved**2 - known**2)
    extra = polynomial_part(moved * (order > 0), known * (order > 0))
    tilt = polynomial_part((order * moved)[1:], (order * known)[1:])
    return GaussianFunction(
        lambda y: value(y) + extra(y), lambda y: sigma.slope(y) + tilt(y), sigma.kinks, moved, variance + xp.sum(change[1:]),
        slope + xp.sum(order * change), constant + (moved[0] - known[0]),
    )  # fmt: skip
