"""Which neurons are active on which samples."""

import numpy as np
from jaxtyping import Bool, Float

from giantstep._given.declared import given


@given()
def partition(
    active: Bool[np.ndarray, "n m"], y: Float[np.ndarray, " n"], a: Float[np.ndarray, " m"]
) -> Float[np.ndarray, "2 4"]:
    """True-living, false-living, true-dead and false-dead neurons of a sample, in the mean over class + and over class -, (2, 4).

    Neuron k is true for sample i where a_k y_i > 0, and living where it is active (Wang and Ma 2022).

    Examples:
        >>> import numpy as np
        >>> active = np.array([[True, True, False], [False, True, True]])  # samples, neurons
        >>> gs.measure.partition(active, y=np.array([1.0, -1.0]), a=np.array([1.0, -1.0, 1.0]))
        array([[1., 1., 1., 0.],
               [1., 1., 0., 1.]])
    """
    found = []
    for sign in (1, -1):
        samples = active[sign * y > 0]
        true, living = sign * a > 0, samples.sum(axis=0)
        counts = [part[kind].sum() for part in (living, len(samples) - living) for kind in (true, ~true)]
        found.append(np.array(counts) / len(samples))
    return np.array(found)
