"""Control variates take part of the noise out of a measurement.

They are numbers of the same draws whose means are known.
"""

import numpy as np
from jaxtyping import Float
from scipy.special import stdtrit

DOUBT = 1e-6  # the probability with which controls of mean zero are taken for others


def controlled(
    samples: Float[np.ndarray, "*more seeds"], controls: Float[np.ndarray, "controls seeds"]
) -> Float[np.ndarray, "*more seeds"]:
    """The samples less B Z: B has the slopes of a regression of the samples on the controls Z.

    The means of the controls are zero, so what is left estimates the same number with less noise.
    The regression fits q slopes, so what is left is stretched by sqrt((S - 1)/(S - 1 - q)) around
    its mean: the variance over S seeds is then that of S - 1 - q degrees of freedom.

    Controls whose mean is not zero are none: they would take a mistake in the draws, such as
    noisier labels, out of what is measured. The samples are then left as they are.
    """
    seeds, count = samples.shape[-1], len(controls)
    if seeds < 3 * count or not _centred(controls):  # too few seeds for slopes, or another mean
        return samples
    centred = controls - controls.mean(axis=1, keepdims=True)
    slopes = np.linalg.lstsq(centred.T, samples.reshape(-1, seeds).T, rcond=None)[0]
    left = samples - (slopes.T @ controls).reshape(samples.shape)
    mean = left.mean(axis=-1, keepdims=True)
    return mean + (left - mean) * np.sqrt((seeds - 1) / (seeds - 1 - count))


def _centred(controls: Float[np.ndarray, "controls seeds"]) -> bool:
    """Whether every mean is zero up to its noise: |mean| <= t s.e."""
    count, seeds = controls.shape
    error = np.std(controls, axis=1, ddof=1) / np.sqrt(seeds)
    t = stdtrit(seeds - 1, 1 - DOUBT / (2 * count))
    return bool(np.all(np.abs(np.mean(controls, axis=1)) <= t * error))
