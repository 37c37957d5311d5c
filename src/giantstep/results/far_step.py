"""The sentence about step sizes far outside what is usual: neurons of which nothing but the step is left."""

from typing import Any

import numpy as np

from giantstep.experiment.setting import Setting

FAR = 100.0  # lengths of a neuron; the settings of the papers move neurons by 0.1 to some tens of them


def far_sizes(setting: Setting, norms: np.ndarray) -> list[str]:
    """A sentence if a typical neuron became FAR times as long as it was; ``norms`` (E, ..., p) are for every step size."""
    steps = setting.protocol.steps
    begun = _begun(setting)
    if not steps or begun == 0:
        return []
    times = np.array([np.median(each) for each in norms]) / begun
    if not np.nanmax(np.where(np.isfinite(times), times, 0.0)) > FAR:
        return []
    worst = int(np.nanargmax(np.where(np.isfinite(times), times, 0.0)))
    etas = np.atleast_2d(setting.protocol.etas(setting.d, setting.p))[worst]
    sizes = ", ".join(f"{eta:.3g}" for eta in etas)
    return [
        f"eta = {sizes} is far outside what is usual: neurons become {times[worst]:.3g} times as long as they were, and of "
        "their start nothing is left"
    ]


def far_move(strength: Any) -> list[str]:
    """The same sentence for predictions, which know the move of a typical neuron in units of its length."""
    most = float(np.max(strength))
    if not most > FAR:
        return []
    return [
        f"the step size is far outside what is usual: it moves a neuron by {most:.3g} times its length, and of its start nothing "
        "is left"
    ]


def _begun(setting: Setting) -> float:
    """The length of a typical neuron before the steps."""
    network = setting.network
    if network.weights is not None:
        return float(np.median(np.linalg.norm(network.weights.W, axis=1)))
    return float(np.sqrt(setting.d / setting.data.trace)) if network.rows == "trace" else 1.0
