"""The sentence about step sizes far outside what is usual: neurons of which nothing but the step is left."""

from typing import Any

import numpy as np

from giantstep.experiment.setting import Setting

FAR = 100.0  # lengths of a neuron; the settings of the papers move neurons by 0.1 to some tens of them


def far_sizes(setting: Setting, norms: np.ndarray) -> list[str]:
    """Sentences if a typical neuron became FAR times as long as it was; ``norms`` (E, ..., p) are for every step size."""
    steps = setting.protocol.steps
    begun = _begun(setting)
    if not steps or begun == 0:
        return []
    times = np.array([np.median(each) for each in norms]) / begun
    if not np.nanmax(np.where(np.isfinite(times), times, 0.0)) > FAR:
        return []
    worst = int(np.nanargmax(np.where(np.isfinite(times), times, 0.0)))
    etas = np.atleast_2d(setting.protocol.etas(setting.d, setting.p))[worst]
    longest = f"The step size {np.max(etas):.3g} is"
    return [
        f"{longest} far outside what is usual.",
        f"Neurons become {times[worst]:.3g} times as long as they were, and nothing is left of their start.",
    ]


def far_move(strength: Any) -> list[str]:
    """The same for predictions, which know the move of a typical neuron in units of its length."""
    most = float(np.max(strength))
    if not most > FAR:
        return []
    return [
        "The step size is far outside what is usual.",
        f"It moves a neuron by {most:.3g} times its length, and nothing is left of its start.",
    ]


def _begun(setting: Setting) -> float:
    """The length of a typical neuron before the steps."""
    network = setting.network
    if network.weights is not None:
        return float(np.median(np.linalg.norm(network.weights.W, axis=1)))
    return float(np.sqrt(setting.d / setting.data.trace)) if network.rows == "trace" else 1.0
