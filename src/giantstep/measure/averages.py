"""The mean of samples and its standard error."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from giantstep._given.declared import at_least, given
from giantstep.errors import InputError


@given(axis=at_least(-32, 31))
def mean_and_error(
    samples: Shaped[np.ndarray, "..."] | Sequence[Any], axis: int = -1
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """Mean and its standard error along an axis (NaN error for a single sample).

    Examples:
        >>> mean, error = gs.measure.mean_and_error([1.0, 2.0, 3.0])
        >>> float(mean), round(float(error), 3)
        (2.0, 0.577)
    """
    samples = np.asarray(samples)
    if not -samples.ndim <= axis < samples.ndim:
        raise InputError(f"samples of shape {samples.shape} have no axis {axis}")
    mean, count = np.asarray(samples.mean(axis=axis)), samples.shape[axis]
    spread = np.asarray(samples.std(axis=axis, ddof=1)) if count > 1 else np.full(mean.shape, np.nan)
    return mean, np.asarray(spread / np.sqrt(count))
