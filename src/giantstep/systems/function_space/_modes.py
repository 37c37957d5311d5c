"""The numbers and curves that both routes read off the kernel's eigenmodes."""

import numpy as np
from jaxtyping import Float

from giantstep.measure.kernel_modes import KernelModes
from giantstep.results.system import Curve

SHOWN = 3  # eigenvalues in a curve: before the step the next one is of order 1/d^4
GRID = np.linspace(-3.0, 3.0, 25)  # <u, x> where eigenfunctions are shown


def labelled(
    before: KernelModes, after: KernelModes, grid: Float[np.ndarray, " t"]
) -> tuple[dict[str, float], dict[str, Curve]]:
    """The numbers and curves that both routes read off two sets of modes."""
    numbers = {}
    for when, modes in (("before", before), ("after", after)):
        numbers[f"radial_{when}"] = float(modes.values[modes.constant])
        numbers[f"aligned_{when}"] = float(modes.values[modes.aligned])
    numbers["amplification"] = numbers["aligned_after"] / numbers["aligned_before"]
    numbers["mixing"] = after.mixing
    assert before.transverse is not None and after.transverse is not None
    numbers |= {"transverse_before": before.transverse, "transverse_after": after.transverse}
    index, functions = np.arange(1.0, SHOWN + 1), after.on(grid)
    curves = {
        "before": Curve("index", index, before.values[:SHOWN], log="y"),
        "after": Curve("index", index, after.values[:SHOWN], log="y"),
        "radial_mode": Curve("⟨u, x⟩", grid, functions[after.constant]),
        "aligned_mode": Curve("⟨u, x⟩", grid, functions[after.aligned]),
    }
    return numbers, curves
