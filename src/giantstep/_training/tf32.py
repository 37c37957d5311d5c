"""Products that a GPU rounds to ten bits (tf32): many times faster, and what they cost in digits.

The step and the features are as rounded. The Gram matrix of the features is rounded too, but it only preconditions the ridge fit,
which is refined to the exact fit of these features (``ridge.refined``). What is left is the error of the features: the
predictions of some test samples are computed in float64 as well, and the status has their difference. A CPU rounds nothing.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from giantstep._machine.backend import jax, jnp
from giantstep._training.batches import Chunk
from giantstep._training.features import NetworkFeatures, left_over
from giantstep._training.first_layer import Array, FirstLayers, LinearPart, Run
from giantstep.ridge._refined import Refined, refined
from giantstep.ridge._resolvent import gram

PRECISIONS = ("full", "tf32")
SAMPLE = 256  # test samples whose predictions are computed in float64 too


def rounded(precision: str) -> AbstractContextManager:
    """Products of float32 by the rounded ones of a GPU, for "tf32"."""
    return jax.default_matmul_precision("tensorfloat32") if precision == "tf32" else nullcontext()


def fitted(
    run: Run, family: NetworkFeatures, e: Any, low: LinearPart | None, penalties: Array, sample: Chunk
) -> tuple[Refined, Array]:
    """The fit of member e at all penalties, and the relative gap of its predictions on the sample to those of float64."""
    batch = run.batches.readout

    def features(chunk: Chunk) -> tuple[Array, Array]:
        return family.recipe(*family.parts(chunk)(e))[0], left_over(chunk, low)[0]

    with rounded("tf32"):
        F, y = run.batches.joined(batch, features)
        A = gram(F).astype(float)
        seen = family.recipe(*family.parts(sample)(e))[0].astype(float)
    solution = refined(F, y, A, batch.n * penalties)
    exact = NetworkFeatures(family.recipe, FirstLayers((family.layers[e].astype(float),)))
    wide = Chunk(sample.batch, sample.start, sample.X.astype(float), sample.y)
    true = solution.coefficients @ exact.recipe(*exact.parts(wide)(0))[0].T
    gap = jnp.linalg.norm(solution.coefficients @ seen.T - true, axis=1) / jnp.linalg.norm(true, axis=1)
    return solution, gap


def sentence(gap: np.ndarray, residual: np.ndarray) -> str:
    """What the status says."""
    return (
        f"Products in tf32 change the predictions of {SAMPLE} test samples by up to {np.max(gap):.1g} of their size. The ridge "
        f"fits are refined to a relative residual of {np.max(residual):.1g}."
    )
