"""First layers after two steps: the experiment, its spectra, and when a count is sharp.

Spectra are measured and predicted.
"""

from typing import Any

import numpy as np

import giantstep as gs
from giantstep import measure
from giantstep.simulate import train
from giantstep.theory import SecondStep, second_step

STAIRCASE = "x1 + x1*x2 + H2(x1)*x3/sqrt(2)"
DIRECTIONS = 3  # of that target; others have as many at most
SMOOTH = "tanh(x+0.8)"
CONSTANTS = (2.7, 4.4)  # C1 and C2
WIDTH, SAMPLES = 4, 15  # p/d and n/d
SHAPE = f"p = {WIDTH}d, n = {SAMPLES}d"
TOP = 6  # singular values kept
# times the threshold: an outlier beyond it is clear
CLEAR = 1.1  # W0 moves one near the edge by up to 9% at d = 100


def experiment(
    d: int,
    alpha1: float,
    alpha2: Any,
    batch: str,
    activation: str = SMOOTH,
    second_layer: str = "gaussian",
    target: str = STAIRCASE,
) -> gs.Setting:
    """Two steps, the gradient of the labels alone."""
    return gs.presets.moniri_hassani(
        SAMPLES * d,
        d,
        WIDTH * d,
        alpha1,
        alpha2,
        C1=CONSTANTS[0],
        C2=CONSTANTS[1],
        batch=batch,
        target=target,
        activation=activation,
        second_layer=second_layer,
        residual="target",
    )


def measured(setting_of: tuple, seed: int) -> dict[str, np.ndarray]:
    """Spectra of the trained layers, one a second step size."""
    setting = experiment(*setting_of)
    weights = train(setting, seed, dtype="float32").final
    weights = weights if weights.ndim == 3 else weights[None]
    basis = setting.target.orthonormal(setting.d)
    return _stacked([measure.layer(np.asarray(W, dtype=float), basis) for W in weights])


def predicted(setting_of: tuple, seed: int) -> dict[str, np.ndarray]:
    """The same by theory, for the seed's second layer and batches but without its first layer."""
    steps = second_step(experiment(*setting_of), seed)
    steps = (steps,) if isinstance(steps, SecondStep) else steps
    return _stacked([one.layer for one in steps]) | {"own": np.array([one.own for one in steps])}


def _stacked(layers: Any) -> dict[str, np.ndarray]:
    """Top singular values (E, TOP), thresholds (E,) and cos^2 of outliers with directions.

    The last are (E, TOP, DIRECTIONS), zero for none.
    """
    cosines = np.zeros((len(layers), TOP, DIRECTIONS))
    for row, one in zip(cosines, layers, strict=True):
        row[: min(one.count, TOP), : one.alignment.shape[1]] = one.alignment[:TOP]
    return {
        "values": np.array([one.values[:TOP] for one in layers]),
        "thresholds": np.array([one.threshold for one in layers]),
        "cosines": cosines,
    }


def counts(spectra: Any, factor: float = 1.0) -> np.ndarray:
    """Singular values above the threshold times a factor, (..., seeds)."""
    thresholds = np.asarray(spectra["thresholds"])[..., None, :]
    return np.sum(np.asarray(spectra["values"]) > factor * thresholds, axis=-2)


def agree(one: Any, other: Any) -> np.ndarray:
    """Whether every clear outlier of each spectrum is one of the other, (..., seeds)."""
    return (counts(one, CLEAR) <= counts(other)) & (counts(other, CLEAR) <= counts(one))


def sharp(one: Any, other: Any) -> np.ndarray:
    """Whether both spectra have clear outliers alone: to agree is then to have the same number."""
    return (counts(one, CLEAR) == counts(one)) & (counts(other, CLEAR) == counts(other))
