"""What a prediction depends on: the real numbers it can be differentiated in, and the choices it cannot."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import factorial
from typing import Any, NamedTuple

import numpy as np

from giantstep import _hermite
from giantstep._errors import InputError
from giantstep._smoothing import polynomial_part
from giantstep._xp import xp
from giantstep.activation import Activation
from giantstep.data import Gaussian
from giantstep.dataset import Dataset
from giantstep.labels import labels
from giantstep.mixture import Mixture
from giantstep.protocol import SGD, Ridge
from giantstep.setting import Setting, need_gaussian
from giantstep.target import Target
from giantstep.theory import descent
from giantstep.theory.evolution import is_narrow

SIMULATE = "simulate it, or take p + r at most d/10, where the overlaps can be followed"
ORDERS = 7  # Hermite coefficients c_0 .. c_6 that can be moved


class Parameters(NamedTuple):
    """The real numbers of a prediction.

    Attributes:
        d: input dimension.
        n1_over_d: samples of the step over d.
        n_over_d: samples of the readout over d.
        p_over_d: width over d.
        eta: step size.
        penalty: of the ridge readout.
        noise: standard deviation of the label noise.
        activation: Hermite coefficients c_0 .. c_6 of the activation; moving c_k adds a multiple of He_k to it.
        target: those of the target.
    """

    d: Any
    n1_over_d: Any
    n_over_d: Any
    p_over_d: Any
    eta: Any
    penalty: Any
    noise: Any
    activation: Any
    target: Any


@dataclass(frozen=True)
class Form:
    """What of a setting is not a number: its functions and choices; static under ``jax.jit``."""

    sigma: Activation
    target: Target  # without its noise, which is a number
    second_layer: str
    scale: str
    full: bool  # the residual keeps the initial output
    rank_one: bool  # update="rank1"
    deflated: bool  # the labels' mean is removed before the step
    gaussian_rows: bool = False  # rows of random length, which only spectra notice


class Function(NamedTuple):
    """A function of one Gaussian variable: values, kinks, Hermite coefficients, E f^2 and E f'^2."""

    value: Any
    kinks: tuple[float, ...]
    coefficients: Any
    square: Any
    slope_square: Any


def parameters(setting: Setting) -> tuple[Parameters, Form]:
    """A setting's numbers and its form; lists of step sizes and penalties stay lists. Refuses what the theory does not cover."""
    check(setting)
    protocol, network, d = setting.protocol, setting.network, float(setting.d)
    step, readout = protocol.steps[0], protocol.readout
    assert isinstance(readout, Ridge)
    full = step.residual == "full" and not network.symmetric
    form = Form(
        network.activation, replace(setting.target, noise=0.0), network.second_layer, network.scale,
        full, step.update == "rank1", step.deflate == 1, network.rows == "gaussian",
    )  # fmt: skip
    numbers = Parameters(
        d=d,
        n1_over_d=protocol.sizes()[0] / d,
        n_over_d=protocol.readout_size / d,
        p_over_d=setting.p / d,
        eta=step.etas(protocol.sizes()[0], setting.d, setting.p),
        penalty=np.nan if readout.penalty == "gcv" else readout.penalty,
        noise=setting.target.noise,
        activation=activation_constants(form.sigma)[0],
        target=target_constants(form.target)[0],
    )
    return Parameters(*(np.asarray(x, dtype=float) for x in numbers)), form


def needs_overlaps(setting: Any) -> bool:
    """Whether only the evolution of overlaps can cover it: several steps or directions, or pairs, in a narrow network."""
    if not isinstance(setting, Setting) or not isinstance(setting.data, Gaussian):
        return False
    if not setting.protocol.steps or not is_narrow(setting):
        return False
    return len(setting.protocol.steps) > 1 or setting.target.rank != 1 or setting.network.symmetric


def check(setting: Any, *, narrow: bool = False, mixed: bool = False, sgd: bool = False) -> None:
    """Refuse, in one sentence, a setting the one-step theory does not cover, or that of ``narrow`` networks, ``mixed`` data or
    ``sgd`` readouts."""
    if not isinstance(setting, Setting):
        raise InputError(f"theory takes a Setting, not {type(setting).__name__}")
    if isinstance(setting.data, Dataset):
        raise InputError(
            "theory needs a law of the data: replace the data set by the mixture fitted to it, data=setting.data.fitted()"
        )
    if not (mixed and isinstance(setting.data, Mixture)):
        need_gaussian(setting, "theory")
    protocol, network = setting.protocol, setting.network
    if isinstance(protocol.readout, SGD):
        if not sgd:
            raise InputError(
                "of an SGD readout theory knows the errors at finite sizes, gs.theory(setting), and nothing else"
            )
        return descent.check(setting)
    refusals = {
        "theory predicts a ridge readout, and this protocol has none": protocol.readout is None,
        f"theory covers one giant step or none at a width of the order of d; this protocol has more: {SIMULATE}; of two steps "
        "theory.second_step predicts the spectrum of the first layer": not narrow and len(protocol.steps) > 1,
        f"theory covers targets of one direction at a width of the order of d; this one has more: {SIMULATE}": not narrow
        and setting.target.rank != 1,
        "theory needs the law of the weights, and this network has weights of its own: simulate it": network.weights
        is not None,
        "theory needs a readout on fresh samples: fitted on the step's own batch, features and labels depend on each other "
        "beyond what it covers; use batch='fresh' or simulate": protocol.readout is not None
        and protocol.readout.batch == "reuse",
        "theory covers deflate = 0 or 1; deflate = 2 removes the direction that one step learns": any(
            s.deflate > 1 for s in protocol.steps
        ),
        "theory covers a readout fitted to the labels as they are; deflate in Ridge fits what is left of them: simulate it":
            protocol.readout is not None and protocol.readout.deflate > 0,
        f"theory covers symmetric=True without a step only at a width of the order of d: {SIMULATE}": not narrow
        and network.symmetric and bool(protocol.steps),
        "theory needs labels that are not zero": labels(setting).power + setting.target.noise**2 == 0,
        "theory on a mixture takes second layers of random signs or values: a constant one has an initial output with a mean":
            isinstance(setting.data, Mixture) and network.second_layer == "constant" and bool(protocol.steps),
        "theory on a mixture covers update='gradient' only": isinstance(setting.data, Mixture)
        and any(s.update != "gradient" for s in protocol.steps),
    }  # fmt: skip
    for sentence, applies in refusals.items():
        if applies:
            raise InputError(sentence)


@lru_cache(maxsize=64)
def activation_constants(sigma: Activation) -> tuple[np.ndarray, float, float]:
    """c_0 .. c_6, E sigma^2 and E sigma'^2."""
    slope = _hermite.mean_square(lambda x: np.asarray(sigma.slope(x)), sigma.kinks)
    return sigma.hermite(ORDERS - 1), sigma.mean_square, slope


@lru_cache(maxsize=64)
def target_constants(target: Target) -> tuple[np.ndarray, float]:
    """c*_0 .. c*_6 and E f*^2."""
    return np.array([float(target.hermite.get((k,), 0.0)) for k in range(ORDERS)]), target.power


def activation_of(numbers: Parameters, form: Form) -> Function:
    """The activation with its coefficients moved to the parameters'."""
    known, square, slope = activation_constants(form.sigma)
    return _moved(form.sigma, form.sigma.kinks, known, square, slope, numbers.activation)


def target_of(numbers: Parameters, form: Form) -> Function:
    """The target along its unit direction, with its coefficients moved to the parameters'."""
    known, square = target_constants(form.target)
    length = 1.0 if form.target.mixing is None else float(form.target.mixing[0, 0])
    kinks = tuple(k / length for k in form.target.kinks)
    return _moved(lambda y: form.target(length * y[None]), kinks, known, square, 0.0, numbers.target)


def _moved(plain: Any, kinks: Any, known: np.ndarray, square: float, slope: float, moved: Any) -> Function:
    """E f^2 = sum_k k! c_k^2 and E f'^2 = sum_k k k! c_k^2 change with the coefficients that moved."""
    change = np.array([float(factorial(k)) for k in range(len(known))]) * (moved**2 - known**2)
    extra = polynomial_part(moved, known)
    return Function(
        lambda y: plain(y) + extra(y), kinks, moved, square + xp.sum(change),
        slope + xp.sum(np.arange(len(known)) * change),
    )  # fmt: skip
