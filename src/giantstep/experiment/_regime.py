"""The regimes of one giant step: eta = n^alpha learns degree l for (l-1)/(2l) < alpha < l/(2l+2) (Moniri et al. 2024)."""

from math import ceil, inf

import numpy as np
from jaxtyping import Float

from giantstep._given.plain import real
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting


def exponents(setting: Setting) -> Float[np.ndarray, " E"]:
    """log(eta s sqrt(p)) / log(n) for every step size of the first step: its exponent in units of the scale s = 1/sqrt(p).

    -inf for no step.
    """
    n = setting.protocol.sizes()[0]
    etas = np.atleast_1d(setting.protocol.steps[0].etas(n, setting.d, setting.p))
    size = np.abs(etas) * setting.network.factor * np.sqrt(setting.p)
    with np.errstate(divide="ignore"):
        return np.log(size) / np.log(max(n, 2))


def degree(alpha: float) -> int:
    """l with (l-1)/(2l) < alpha < l/(2l+2): as many spikes grow without bound.

    At a threshold alpha = l/(2l+2) it is the l of the interval below, since the next spike is of order one there; so 0 up to
    alpha = 0.
    """
    if alpha == -inf:
        return 0
    alpha = real(alpha, "alpha")
    if alpha >= 0.5:
        raise InputError(f"the regimes end at alpha = 1/2, and alpha is {alpha:g}")
    # alpha < l/(2l+2) says 2 alpha / (1 - 2 alpha) < l
    return max(ceil(2 * alpha / (1 - 2 * alpha) * (1 - 1e-12)), 0)
