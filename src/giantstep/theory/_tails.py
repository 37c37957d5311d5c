"""What finite features fluctuate by, which the theories leave out, and when a prediction is no longer worth printing as one.

Every theory takes a sample's squared feature length, sum_i s(<w_i, x>)^2 with s = sigma - c_0, for its mean over the samples,
and a neuron's over the samples for its mean over the neurons. At finite sizes the first varies, relative to its square, by

    (kappa - 1)/p + l^2/(2 d),      kappa = E s^4/(E s^2)^2,      l = d log E s(b z)^2/d log b  at b = 1

(derived: given |x| the features are independent draws of s, and |x|^2/d has the variance 2/d), the second by (kappa - 1)/n; a
quadratic form of Gaussian variables varies by one over its size besides. So

    spread = (kappa - 1)/min(n, p) + l^2/(2 d) + 1/min(d, n, p) + 0.3 min(n, p)/(d^2/2)

where the last term, measured, counts the share of the d^2/2 quadratic functions that so many samples and features begin to
learn, while the theories take them for noise.

kappa is 2 for tanh, 5 for ReLU, 93 for H3, 639 for H4. Test errors differ from their theory by up to

    0.35 spread (1 + 0.4 (A - 1))

in relative terms, training errors by up to 1.2 spread: measured, for 95 of 100 settings (``benchmarks/tails.py``). A is the test
error of labels that are noise of unit variance, large close to interpolation.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.experiment.setting import Setting
from giantstep.functions import hermite
from giantstep.functions.activation import Activation

SHARE = {"test_error": 0.35, "train_error": 1.2}
AMPLIFIED = 0.4  # of the test error's share, for each unit of A beyond 1
QUADRATIC = 0.3
WORTH_A_WORD = 0.03
MOST = 0.1  # of the test error: beyond, a prediction is not ok
WIDTH = 0.125  # of panels


@lru_cache(maxsize=64)
def shape(sigma: Activation) -> tuple[float, float]:
    """kappa and l of an activation; a constant has neither."""
    z, weights = hermite.gaussian_panels(sigma.kinks, WIDTH, 13.0)
    values = np.asarray(sigma.varying(z), dtype=float)
    square = values**2
    power = float(weights @ square)
    if power == 0.0:
        return 1.0, 0.0
    # d E s(b z)^2/db = E (z^2 - 1) s(b z)^2 at b = 1
    along = float(weights @ ((z**2 - 1) * square))
    return float(weights @ square**2) / power**2, along / power


def spread(setting: Setting, *, narrow: bool = False) -> float:
    """The relative variance that finite sizes give to the features' squared lengths.

    Theories of ``narrow`` networks keep every neuron: only the samples are averaged.
    """
    kappa, length = shape(setting.network.activation)
    met = _met(setting, narrow)
    quadratic = 0.0 if narrow else QUADRATIC * min(met) / (setting.d**2 / 2)
    return (kappa - 1) / min(met) + length**2 / (2 * setting.d) + 1 / min(setting.d, *met) + quadratic


def half_width(
    name: str,
    setting: Setting,
    noise: Float[np.ndarray, "..."] | float = 1.0,
    *,
    narrow: bool = False,
) -> Any:
    """How far a prediction may be off for it, over its value; ``noise`` is A."""
    near = SHARE[name] * spread(setting, narrow=narrow)
    return near * (1 + AMPLIFIED * (noise - 1)) if name == "test_error" else near + 0.0 * noise


class Told(NamedTuple):
    """Sentences for which a prediction is not ok, and sentences that only say what to expect."""

    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def told(setting: Setting, width: float, *, narrow: bool = False) -> Told:
    """What that half width of the test error means, in words."""
    if not width > WORTH_A_WORD:
        return Told()
    kappa, _ = shape(setting.network.activation)
    smallest = min(setting.d, *_met(setting, narrow))
    reason = f"The smallest size is {smallest}, and the activation has a kurtosis of {kappa:.3g}."
    if width > MOST:
        far = f"{100 * width:.0f}%" if width < 1 else "more than its own size"
        return Told((f"The prediction is not reliable: the test error may be off by {far}. {reason}",))
    return Told(notes=(f"The test error may be off by {100 * width:.1g}%. {reason}",))


def _met(setting: Setting, narrow: bool) -> tuple[int, ...]:
    """The numbers of samples and of neurons that are averaged over."""
    protocol = setting.protocol
    neurons = () if narrow else (setting.network.drawn,)
    return (protocol.readout_size, *protocol.sizes(), *neurons)
