"""Exponents by free fits: slopes of logarithms that no bound keeps near the expected answer."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float


def exponent(
    sizes: Sequence[float], values: Float[np.ndarray, "sizes *more seeds"], *, of_means: bool = False
) -> Float[np.ndarray, "*more seeds"]:
    """The slope of log(values) against log(sizes), one a seed.

    With ``of_means`` it is the slope of the logarithms of the means over seeds, as jackknife values; choose it if values of
    one seed scatter over more than a factor of two, because the mean of their logarithms is then something else.
    """
    x = np.log(sizes) - np.mean(np.log(sizes))
    weights = x / np.sum(x**2)
    if of_means:
        return pseudovalues(lambda v: np.tensordot(weights, np.log(np.mean(v, axis=-1)), axes=1), values)
    return np.tensordot(weights, np.log(values), axes=1)


def pseudovalues(
    statistic: Callable[[np.ndarray], np.ndarray | float], samples: Float[np.ndarray, "*more seeds"]
) -> Float[np.ndarray, "*some seeds"]:
    """The jackknife values of a statistic of all seeds (Tukey 1958): S T - (S - 1) T without one seed, one a seed.

    Their mean estimates the statistic without its bias of order 1/S, and their scatter measures its noise.
    """
    seeds = samples.shape[-1]
    whole = np.asarray(statistic(samples))
    without = [np.asarray(statistic(np.delete(samples, s, axis=-1))) for s in range(seeds)]
    return np.stack([seeds * whole - (seeds - 1) * each for each in without], axis=-1)
