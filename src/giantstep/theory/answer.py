"""What a theory returns, before it becomes an Outcome."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.experiment.protocol import Ridge
from giantstep.experiment.setting import Setting

LEAST = 1e-10  # penalty that stands for 0, the minimum-norm fit, in units of E sigma^2


class Answer(NamedTuple):
    """Fields of an Outcome as arrays over step sizes (and penalties), sentences, and those for which it is not ok."""

    values: dict[str, Any]
    notes: list[str]
    doubts: tuple[str, ...] = ()


def penalties_of(setting: Setting, notes: list[str]) -> Float[np.ndarray, " L"]:
    """The penalties of a ridge readout; those too small for the theory are raised to the least it can take."""
    readout = setting.protocol.readout
    assert isinstance(readout, Ridge)
    penalties = np.atleast_1d(np.asarray(readout.penalty, dtype=float))
    least = LEAST * setting.network.activation.mean_square
    if np.any(penalties < least):
        notes.append(f"penalties below {least:.1e} are predicted as if they were {least:.1e}")
    return np.maximum(penalties, least)
