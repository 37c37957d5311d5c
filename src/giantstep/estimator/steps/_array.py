"""Array: a NumPy or a JAX array, for annotations. Only type checkers import the type of JAX, because the host needs no JAX."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from giantstep._machine.arrays import Array
else:
    Array = np.ndarray

__all__ = ["Array"]
