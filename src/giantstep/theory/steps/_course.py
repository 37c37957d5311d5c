"""A course of giant steps in numbers and functions: all that the law of the rows and the readout depend on.

Sizes are real numbers and functions may be moved along Hermite polynomials, so that predictions have derivatives in both.
"""

from dataclasses import dataclass

import numpy as np

from giantstep.experiment.setting import Setting
from giantstep.theory.one_step._label import Label, label, target_constants
from giantstep.theory.one_step.parameters import (
    Form,
    GaussianFunction,
    Parameters,
    StepForm,
    activation_of,
    choices,
    gaussian_function,
    label_of,
)


@dataclass(frozen=True)
class CourseStep:
    """One step: its samples and its choices."""

    n: float
    form: StepForm


@dataclass(frozen=True)
class Course:
    """The sizes d, p and n of the readout, the label noise, the network's scale and functions, and the steps."""

    d: float
    p: float
    n: float
    noise: float
    scale: float
    sigma: GaussianFunction
    star: Label
    steps: tuple[CourseStep, ...]
    second_layer: str
    symmetric: bool
    gaussian_rows: bool


def course(setting: Setting) -> Course:
    """That of a setting."""
    protocol, network, target = setting.protocol, setting.network, setting.target
    steps = tuple(CourseStep(float(n), own) for n, own in zip(protocol.sizes(), choices(setting), strict=True))
    return Course(
        float(setting.d), float(setting.p), float(protocol.readout_size), target.noise, network.factor,
        gaussian_function(network.activation), label(target, target_constants(target)[0]), steps, network.second_layer,
        network.symmetric, network.rows == "gaussian",
    )  # fmt: skip


def course_of(numbers: Parameters, form: Form) -> Course:
    """That of a setting's numbers, which may have been moved, and its form."""
    d = float(numbers.d)
    p = float(numbers.p_over_d) * d
    sizes = (np.atleast_1d(numbers.n1_over_d) * d).tolist()
    steps = tuple(CourseStep(n, own) for n, own in zip(sizes, form.steps, strict=True))
    return Course(
        d, p, float(numbers.n_over_d) * d, float(numbers.noise), float(form.factor(p)), activation_of(numbers, form),
        label_of(numbers, form), steps, form.second_layer, form.symmetric, form.gaussian_rows,
    )  # fmt: skip
