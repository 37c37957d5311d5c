"""Wrong worlds of the claims on SGD over random features."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep_papers.liu import runs

World = Callable[[pytest.MonkeyPatch], None]


def faster(patch: pytest.MonkeyPatch) -> None:
    """The rate of the runs is 1.4 times as large; that of the prediction is not."""
    right = runs.risks
    patch.setattr(
        runs,
        "risks",
        lambda data, p, readout, *more, **options: right(
            data, p, replace(readout, rate=1.4 * readout.rate), *more, **options
        ),
    )


def noisier(patch: pytest.MonkeyPatch) -> None:
    right = runs.features

    def features(*arguments: Any) -> Any:
        data = right(*arguments)
        return {**data, "noise": 1.3 * data["noise"]}

    patch.setattr(runs, "features", features)


def last_iterate(patch: pytest.MonkeyPatch) -> None:
    right = runs.risks
    patch.setattr(
        runs,
        "risks",
        lambda data, p, readout, *more, **options: right(data, p, replace(readout, average=False), *more, **options),
    )


def ridge_in_place_of_the_fit(patch: pytest.MonkeyPatch) -> None:
    """A small penalty removes the divergence of the minimum-norm fit."""

    def ridge(F: np.ndarray, y: np.ndarray) -> tuple[np.ndarray]:
        return (np.linalg.solve(F.T @ F + 0.03 * len(y) * np.eye(F.shape[1]), F.T @ y),)

    patch.setattr(np.linalg, "lstsq", ridge)


def narrow(patch: pytest.MonkeyPatch) -> None:
    """Every network has the first quarter of its neurons only."""
    right = runs.risks
    patch.setattr(
        runs, "risks", lambda data, p, readout, *more, **options: right(data, max(p // 4, 1), readout, *more, **options)
    )


def one_pass(patch: pytest.MonkeyPatch) -> None:
    """All passes but the first are left out."""
    right = runs.risks
    patch.setattr(
        runs,
        "risks",
        lambda data, p, readout, *more, **options: right(data, p, replace(readout, passes=1), *more, **options),
    )


def slower(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(runs, "SHARE", 0.09)


WORLDS: dict[str, dict[str, World]] = {
    "liu/test-error": {"the rate is 1.4 times as large": faster, "the noise is 1.3 times as large": noisier},
    "liu/bias-variance": {"the last iterate in place of the average": last_iterate, "networks are too narrow": narrow},
    "liu/threshold": {"all passes but the first are left out": one_pass, "the rate is a tenth": slower},
    "giantstep/sgd-variance": {
        "the last iterate in place of the average": last_iterate,
        "networks are too narrow": narrow,
    },
    "giantstep/one-pass": {
        "ridge in place of the minimum-norm fit": ridge_in_place_of_the_fit,
        "the rate is a tenth": slower,
    },
}
