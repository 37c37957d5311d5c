"""finer(setting): the same setting with more step sizes or penalties between those listed, for the line of a theory."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from giantstep.experiment.setting import Setting

POINTS = 61  # fewest step sizes (or penalties) on a predicted curve


def finer(setting: Setting) -> tuple[Setting, Int[np.ndarray, " listed"] | None]:
    """The setting with more step sizes, or penalties if only they are listed, and the places of the original ones.

    Without a list it is the setting itself, and the places are None.
    """
    protocol, steps = setting.protocol, setting.protocol.steps
    if len(steps) == 1 and steps[0].listed:
        own = steps[0].etas(protocol.sizes()[0], setting.d, setting.p)
        grid, index = _subdivided(own)
        changed = replace(protocol, steps=(replace(steps[0], eta=tuple(grid.tolist())),))
    elif protocol.readout is not None and isinstance(protocol.readout.path, tuple):
        grid, index = _subdivided(np.array(protocol.readout.path))
        changed = replace(protocol, readout=replace(protocol.readout, **{protocol.readout.axis: tuple(grid.tolist())}))
    else:
        return setting, None
    return replace(setting, protocol=changed), index


def _subdivided(values: Float[np.ndarray, " listed"]) -> tuple[Float[np.ndarray, " grid"], Int[np.ndarray, " listed"]]:
    """At least POINTS values, evenly spaced between the given ones (in the logarithm if positive), and the places of those."""
    ends = np.unique(values)
    pieces = max(len(ends) - 1, 1)
    between = [
        (np.geomspace if low > 0 else np.linspace)(low, high, -(-POINTS // pieces) + 1)[1:-1]
        for low, high in zip(ends[:-1], ends[1:], strict=True)
    ]
    grid = np.unique(np.concatenate([ends, *between]))
    return grid, np.searchsorted(grid, values)
