"""How far a prediction may be off: a band calibrated on simulations (``benchmarks/band.py``; not derived).

    half width / value = floor + near (1 + long min(U, 4)^2)/size^(3/4) + far,     size = min(d, p, n)

U is the move of a typical neuron, and ``far`` counts moves beyond those that were simulated. Of fresh settings 96% had their mean
test error over networks within the band and two standard errors of the measurement.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep.experiment.setting import Setting

FLOOR = {"test_error": 0.015, "train_error": 0.03}
NEAR = {"test_error": 1.5, "train_error": 2.0}
LONG = 0.2
LONGEST = 4.0  # U up to which the band was calibrated


def half_width(name: str, size: int, strength: Float[np.ndarray, " E"]) -> Float[np.ndarray, " E"]:
    """Half the band over the value, for moves U."""
    near = NEAR[name] * (1 + LONG * np.minimum(strength, LONGEST) ** 2) / size**0.75
    return FLOOR[name] + near + 0.05 * np.maximum(strength / LONGEST - 1, 0.0)


def bands(
    values: dict[str, Any], setting: Setting, strength: Float[np.ndarray, " E"]
) -> dict[str, Float[np.ndarray, "E L 2"]]:
    """The bands of the errors among the values (E, L), for the moves U at every step size."""
    size = min(setting.d, setting.p, setting.protocol.readout_size, *setting.protocol.sizes())
    result = {}
    for name in FLOOR:
        if name in values:
            half = np.abs(values[name]) * half_width(name, size, strength)[:, None]
            result[f"{name}_band"] = np.stack([values[name] - half, values[name] + half], axis=-1)
    return result
