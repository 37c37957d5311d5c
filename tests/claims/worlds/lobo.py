"""Worlds in which the step is taken otherwise than stated: the claims on function space must notice."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep.claims.lobo import covariance, experiment
from giantstep.experiment.setting import Setting
from giantstep.simulate import train

World = Callable[[pytest.MonkeyPatch], None]


def trained(module: Any, change: Callable[[Setting], Setting]) -> World:
    """The simulator takes another setting than the claim says."""
    return lambda patch: patch.setattr(
        module, "train", lambda setting, seed, **more: train(change(setting), seed, **more)
    )


def longer(factor: float) -> Callable[[Setting], Setting]:
    def change(setting: Setting) -> Setting:
        (step,) = setting.protocol.steps
        etas: Any = step.eta  # numbers here
        step = replace(step, eta=tuple((factor * np.atleast_1d(etas)).tolist()))
        return replace(setting, protocol=replace(setting.protocol, steps=(step,)))

    return change


def rank_one(setting: Setting) -> Setting:
    """The noise of the gradient is left out."""
    (step,) = setting.protocol.steps
    return replace(setting, protocol=replace(setting.protocol, steps=(replace(step, update="rank1"),)))


WORLDS: dict[str, dict[str, World]] = {
    "lobo/covariance": {
        "the step is 1.15 times as long": trained(covariance, longer(1.15)),
        "the noise of the gradient is left out": trained(covariance, rank_one),
    },
    "lobo/eigenvalues": {
        "the step is 1.15 times as long": trained(experiment, longer(1.15)),
        "the noise of the gradient is left out": trained(experiment, rank_one),
    },
    "lobo/amplification": {
        "the step is 1.1 times as long": trained(experiment, longer(1.1)),
        "the noise of the gradient is left out": trained(experiment, rank_one),
    },
    "lobo/mixing": {
        "the step is 1.3 times as long": trained(experiment, longer(1.3)),
        "the noise of the gradient is left out": trained(experiment, rank_one),
    },
}
