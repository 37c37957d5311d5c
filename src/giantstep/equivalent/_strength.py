"""The strength of a setting, d^beta = eta ||Sigma||, and the default degree of the Hermite equivalent.

Demir and Dogan (arXiv 2503.00856): the expansion of degree l - 1 is enough for (l-2)/(l-1) < beta < (l-1)/l.
"""

from math import ceil, floor, inf

import numpy as np

from giantstep._given.declared import given
from giantstep._given.plain import real, whole
from giantstep.equivalent._law import laws
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting
from giantstep.functions.activation import MAX_ORDER

MAX_DEGREE = 4  # the largest default, as in the authors' code


@given(beta=real, alpha=real)
def degree_of(beta: float, alpha: float | None = None) -> int:
    """Degree l - 1 for ``eta ||Sigma|| = d^beta``, from 1 to 4; as in the paper, l is the smallest with beta <= (l-1)/l.

    With ``alpha``, for ``eta = d^(beta alpha)``, l is the smallest that the sizes of the shifts allow: l > 1/(2 s) with
    ``s = min((1 - beta (1 - alpha)) / 2, 1 - beta)``, since spikes shift <w_i, x> by d^(-(1 - beta (1 - alpha))/2) and the step
    by d^-(1 - beta), and a shift to the power l has to vanish against d^(-1/2).
    """
    if alpha is None:
        wanted = beta / (1 - beta) if beta < 1 else inf
        return MAX_DEGREE if wanted >= MAX_DEGREE else max(ceil(wanted * (1 - 1e-12)), 1)
    s = min((1 - beta * (1 - alpha)) / 2, 1 - beta)
    return MAX_DEGREE if s * 2 * MAX_DEGREE <= 1 else max(floor(1 / (2 * s) * (1 + 1e-12)), 1)


def strengths(setting: Setting) -> np.ndarray:
    """beta for every step size: log(eta s p theta) / log d, theta the strength of the largest spike of any component, and eta the
    largest of several steps; a factor below one counts as one."""
    etas = setting.protocol.etas(setting.d, setting.p)
    largest = np.max(np.abs(np.atleast_2d(etas)), axis=1, initial=0.0)
    theta = max(law.strength for law in laws(setting))
    sizes = np.maximum(largest * setting.network.factor * setting.p, 1.0) * max(theta, 1.0)
    return np.log(sizes) / np.log(max(setting.d, 2))


def degrees(setting: Setting, degree: int | None) -> tuple[int, ...]:
    """The degree for every step size: the one given, or the default for its strength (at a threshold the higher one)."""
    if degree is None:
        return tuple(degree_of(beta + 1e-9) for beta in strengths(setting).tolist())
    if whole(degree, "degree", least=0) > MAX_ORDER:
        raise InputError(f"degree must be at most {MAX_ORDER}, not {degree}")
    return (int(degree),) * len(np.atleast_2d(setting.protocol.etas(setting.d, setting.p)))
