"""What a theory returns, before it becomes an Outcome."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.experiment.labels import labels
from giantstep.experiment.protocol import Ridge
from giantstep.experiment.setting import Setting

LEAST = 1e-10  # penalty that stands for 0, the minimum-norm fit, in units of E sigma^2
LOST = 1e-7  # rounding of the features, in their standard deviations, from which digits of a prediction are gone


class Answer(NamedTuple):
    """Fields of an Outcome as arrays over step sizes (and penalties), sentences, and those for which it is not ok.

    ``residual`` is the largest relative one of the equations that were solved; ``moved`` among the values is U.
    """

    values: dict[str, Any]
    notes: list[str]
    doubts: tuple[str, ...] = ()
    residual: float = 0.0


def penalties_of(setting: Setting, notes: list[str]) -> Float[np.ndarray, " L"]:
    """The penalties of a ridge readout; those too small for the theory are raised to the least it can take."""
    readout = setting.protocol.readout
    assert isinstance(readout, Ridge)
    penalties = np.atleast_1d(np.asarray(readout.penalty, dtype=float))
    sigma = setting.network.activation
    # a mean that is taken apart is fitted by an intercept and sets no scale
    least = LEAST * (sigma.mean_square if sigma.split[1] == 0 else sigma.variance)
    if np.any(penalties < least):
        notes.append(f"A penalty below {least:.1e} is predicted as {least:.1e}.")
    return np.maximum(penalties, least)


def beyond(setting: Setting) -> list[str]:
    """A sentence where the activation's mean is too large for a prediction, which is then not to be trusted."""
    sigma, network, steps = setting.network.activation, setting.network, setting.protocol.steps
    notes = []
    if sigma.lost > LOST:
        notes.append(
            f"Beside its mean the activation {sigma.name} is rounded by {sigma.lost:.1e} of its spread. A constant costs no "
            "digits if a formula adds it, as in relu(x) + 100."
        )
    keeps = (
        any(step.residual == "full" for step in steps) and not network.symmetric and network.second_layer != "constant"
    )
    square = network.factor**2 * setting.p * float(sigma.hermite(0)[0]) ** 2
    if len(steps) > 1 and keeps and square > (power := labels(setting).power + setting.target.noise**2):
        notes.append(
            f"The initial output is larger than the labels: its mean has the mean square {square:.3g}, and they have "
            f"{power:.3g}. The theory of several steps leaves it out."
        )
    return notes
