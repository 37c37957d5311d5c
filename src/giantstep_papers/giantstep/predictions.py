"""Test and training error of simulated networks over those predicted at the same sizes:
what several of our claims compare."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks import ComparedNumbers, Data, Evidence, Judging, cache
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep_papers.shared.controls import controlled

# the training error with the penalty's term, which is less noisy
ERRORS = {"test_error": "test error", "train_objective": "training error"}
JUDGED = "error over its prediction"  # the name of the judge of claims that compare these
TEST = 4  # test samples over d, where a claim does not say otherwise


def measured(settings: Sequence[gs.Setting], seeds: range, test: int = TEST) -> Data:
    """Errors (settings, errors, step sizes, seeds),
    and the power of the labels drawn (settings, batches, seeds)."""
    work: Any = {"method": "dense", "dtype": "float32"}  # the ridge fit stays in float64
    found = [cache.simulate(each, seeds, n_test=test * each.d, **work) for each in settings]
    errors = [
        [np.reshape(getattr(each, name), (-1, len(seeds))) for name in ERRORS] for each in found
    ]
    drawn = cache.over(energies, [(each.to_json(), test) for each in settings], seeds)
    return {"errors": np.array(errors), "energies": drawn}


def energies(text: str, test: int, seed: int) -> list[float]:
    """mean(y^2)/E y^2 - 1 of the labels of the test and of the readout:
    the larger part of the noise of both errors."""
    setting = _setting(text)
    batches = [draw.test_batch(test * setting.d), draw.readout_batch(setting)]
    # test labels have no noise
    powers = (setting.target.power, setting.target.power + setting.target.noise**2)
    return [
        float(np.mean(draw.rows(setting, seed, batch)[1] ** 2) / power - 1)
        for batch, power in zip(batches, powers, strict=True)
    ]


@lru_cache(maxsize=32)
def _setting(text: str) -> gs.Setting:
    return gs.Setting.from_json(text)


def predicted(settings: Sequence[gs.Setting]) -> Data:
    """The same errors by theory, without seeds."""
    found = [gs.theory(each) for each in settings]
    return {
        "errors": np.array([[np.ravel(getattr(each, name)) for name in ERRORS] for each in found])
    }


def ratios(data: Data, theory: Data) -> Float[np.ndarray, "settings errors points seeds"]:
    """Errors over their predictions, without the noise of the labels' power."""
    raw = data["errors"] / theory["errors"][..., None]
    both = [
        controlled(each.reshape(-1, each.shape[-1]), known)
        for each, known in zip(raw, data["energies"], strict=True)
    ]
    return np.reshape(both, raw.shape)


def evidence(
    found: Float[np.ndarray, "settings errors points seeds"], at: Sequence[str], judge: Judging
) -> Evidence:
    """Both errors over their predictions: every cell, and the mean over all cells."""
    made: list[ComparedNumbers] = []
    for j, what in enumerate(ERRORS.values()):
        own = found[:, j].reshape(-1, found.shape[-1])
        made += judge.each_and_mean(f"{what} / predicted", own, 1.0, by=JUDGED, at=at)
    return Evidence(tuple(made))


def furthest(data: Data, theory: Data) -> str:
    """How far the furthest mean is from its prediction, in a sentence."""
    return (
        f"The furthest mean is {100 * np.abs(ratios(data, theory).mean(axis=-1) - 1).max():.1f}% "
        "off its prediction."
    )


def dots(data: Data, theory: Data) -> tuple[np.ndarray, np.ndarray]:
    """Means over seeds and their errors, without the noise of the labels' power,
    (settings, errors, points)."""
    mean, error = mean_and_error(ratios(data, theory))
    return mean * theory["errors"], error * theory["errors"]
