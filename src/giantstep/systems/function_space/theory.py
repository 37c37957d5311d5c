"""The function space that ``theory.kernel`` predicts: the kernel's eigenmodes and the first layer, over step sizes."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from giantstep.results.system import Curve, Reading
from giantstep.systems.function_space._modes import GRID, labelled
from giantstep.theory.kernel import kernel

if TYPE_CHECKING:
    from giantstep.systems.function_space import FunctionSpace

BETWEEN = 16  # step sizes of a curve
NOTICED = 1.05  # spread from which the colour of the noise shows
COLOURED = (
    "The edge is that of white noise. Where n ~ d the gradient's noise is not white, and the bulk reaches further."
)


def predicted(system: "FunctionSpace") -> Reading:
    """The system's numbers and curves; those over step sizes also between the ones listed."""
    etas = system.etas
    step = system.setting.protocol.steps[0]
    fine = np.unique(np.concatenate([etas, np.geomspace(etas.min(), etas.max(), BETWEEN)])) if etas.min() > 0 else etas
    along = fine if step.listed else etas
    protocol = replace(system.setting.protocol, steps=(replace(step, eta=tuple(along.tolist())),))
    every = kernel(replace(system.setting, protocol=protocol), system.rho)
    assert isinstance(every, tuple)
    last = every[int(np.argmin(np.abs(along - etas[-1])))]
    numbers = {name: getattr(last, name) for name in ("strength", "cosine", "spread", "top", "overlap", "edge")}
    curves = {}
    if step.listed:
        curves = {
            "amplifications": Curve("step size η", along, np.array([r.amplification for r in every]), log="xy"),
            "mixings": Curve("step size η", along, np.array([r.mixing for r in every]), log="x"),
        }
    own, more = labelled(last.before, last.after, GRID)
    notes = (COLOURED,) * (last.spread > NOTICED)
    return Reading(numbers | own, curves | more, system.notes + notes)
