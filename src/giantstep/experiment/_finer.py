"""finer(setting): the same setting with more step sizes or penalties between those listed, for the line of a theory."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from giantstep.experiment.setting import Setting

POINTS = 61  # fewest step sizes (or penalties) on a predicted curve


def finer(setting: Setting) -> Setting | None:
    """The setting with more values along the axis that a picture draws: step sizes, or penalties if only they are listed.

    None without a list, and where several steps list step sizes: these move together, and nothing lies between them.
    """
    protocol, steps = setting.protocol, setting.protocol.steps
    listed = any(step.listed for step in steps)
    if listed and len(steps) == 1:
        grid = _subdivided(steps[0].etas(protocol.sizes()[0], setting.d, setting.p))
        changed = replace(protocol, steps=(replace(steps[0], eta=grid),))
    elif not listed and protocol.readout is not None and isinstance(protocol.readout.path, tuple):
        grid = _subdivided(np.array(protocol.readout.path))
        changed = replace(protocol, readout=replace(protocol.readout, **{protocol.readout.axis: grid}))
    else:
        return None
    return replace(setting, protocol=changed)


def _subdivided(values: Float[np.ndarray, " listed"]) -> tuple[float, ...]:
    """At least POINTS values: the given ones in order, and others evenly between them (in the logarithm if positive)."""
    ends = np.unique(values)
    pieces = max(len(ends) - 1, 1)
    between = [
        (np.geomspace if low > 0 else np.linspace)(low, high, -(-POINTS // pieces) + 1)[1:-1]
        for low, high in zip(ends[:-1], ends[1:], strict=True)
    ]
    return tuple(np.unique(np.concatenate([ends, *between])).tolist())
