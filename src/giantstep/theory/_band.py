"""How far a prediction may be off: the form is that of the next orders, the numbers are calibrated (``benchmarks/band.py``).

    half width / value = floor + (near + fit (A - 1)) (1 + long min(U, 4)^2)/sqrt(size) + far + tails,     size = min(d, p, n)

and AGAIN more after several steps: what the theory of those leaves out does not fall with the size. U is the move of a typical
neuron. A is the test error of labels that are noise of unit variance: it grows towards interpolation, where every error of the
theory is amplified. ``far`` counts moves beyond those that were simulated, ``tails`` what the features fluctuate by (``tails``).

The theory takes the target's quadratic part beyond the learned directions for noise. At finite d the features learn a share f of
it, so the band reaches lower, by LEARNED times f A times the power of that part over the error:

    f = (n/(d^2/2)) (1 - sqrt(train/test)) 2 c_2^2/sum_(k >= 2) k! c_k^2

There are d^2/2 quadratic functions, on which random features have equal strengths; next to those of the theory's noise they are
in the ratio of the last factor to d^2/2 (derived). Measured gaps follow f A with the slope 1.3 without a step, and 1.8 after one.
"""

from math import factorial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.experiment.setting import Setting
from giantstep.theory import _tails as tails

ORDERS = 12  # of the activation's coefficients
LEARNED = 2.0
LONG, LONGEST = 0.2, 4.0  # and U up to which the band was calibrated
FLOOR = {"test_error": 0.015, "train_error": 0.02}
NEAR = {"test_error": 0.42, "train_error": 0.45}
FIT = {"test_error": 0.12, "train_error": 0.4}
AGAIN = {"test_error": 0.05, "train_error": 0.08}  # the least hundredths with 96% of the means of 92 settings inside


class Move(NamedTuple):
    """What the steps did, at every step size: U, and I - C C^T for the target's coordinates C along the learned directions."""

    strength: Float[np.ndarray, " E"]
    beyond: Float[np.ndarray, "E r r"]


def half_width(
    name: str, size: int, strength: Float[np.ndarray, "..."], noise: Float[np.ndarray, "..."] | float, steps: int = 1
) -> Float[np.ndarray, "..."]:
    """Half the band over the value, for U and A after so many steps."""
    near = (NEAR[name] + FIT[name] * (noise - 1)) * (1 + LONG * np.minimum(strength, LONGEST) ** 2)
    return (
        (AGAIN[name] if steps > 1 else 0.0)
        + FLOOR[name]
        + near / size**0.5
        + 0.05 * np.maximum(strength / LONGEST - 1, 0.0)
    )


def quadratic(setting: Setting, move: Move) -> Float[np.ndarray, " E"]:
    """The power of the target's quadratic part beyond the learned directions, 1/2 tr(Q P Q P): Q = E Hess f*, P = ``beyond``."""
    Q = setting.target.hermite.tensor(2)
    return np.einsum("ab,ebc,cd,eda->e", Q, move.beyond, Q, move.beyond) / 2


def learned(setting: Setting) -> float:
    """The share of a quadratic part that random features can learn, n/(d^2/2) 2 c_2^2/sum_(k >= 2) k! c_k^2."""
    c = setting.network.activation.hermite(ORDERS)
    rest = sum(factorial(k) * c[k] ** 2 for k in range(2, ORDERS + 1))
    return float(2 * setting.protocol.readout_size / setting.d**2 * 2 * c[2] ** 2 / rest) if rest > 0 else 0.0


def bands(
    values: dict[str, Any], setting: Setting, move: Move, noise: Float[np.ndarray, "E L"]
) -> dict[str, Float[np.ndarray, "E L ..."]]:
    """The bands of the test and training errors among the values (E, L), for their move and A.

    With them, as "doubt", the part of the test error's half width that comes from the tails, and, as "moved", U.
    """
    size = min(setting.d, setting.p, setting.protocol.readout_size, *setting.protocol.sizes())
    test, train = values["test_error"], values["train_error"]
    fitted = 1 - np.sqrt(np.clip(train / test, 0.0, 1.0))
    lower = LEARNED * learned(setting) * quadratic(setting, move)[:, None] * fitted * noise / test
    result = {"doubt": tails.half_width("test_error", setting, noise), "moved": move.strength}
    for name in FLOOR:
        half = half_width(name, size, move.strength[:, None], noise, len(setting.protocol.steps))
        half = half + tails.half_width(name, setting, noise)
        low, high = np.maximum(1 - half - lower, 0.0), 1 + half
        result[f"{name}_band"] = np.stack([values[name] * low, values[name] * high], axis=-1)
    return result
