"""Worlds in which the step is taken otherwise than stated: the claims on function space must notice."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from worlds import altered

from giantstep.experiment.setting import Setting
from giantstep.simulate import train
from giantstep_papers.giantstep import row_edge
from giantstep_papers.lobo import covariance, experiment

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


def idle(setting: Setting) -> Setting:
    """A step that is a tenth as long."""
    return longer(0.1)(setting)


WORLDS: dict[str, dict[str, World]] = {
    "lobo/covariance": {
        "the step is 1.15 times as long": trained(covariance, longer(1.15)),
        "rows of length one after the step": altered.unit_rows(covariance),
    },
    "lobo/eigenvalues": {
        "the step is 1.15 times as long": trained(experiment, longer(1.15)),
        "the noise of the gradient is left out": trained(experiment, rank_one),
    },
    "lobo/amplification": {
        "the step is a tenth as long": trained(experiment, idle),
        "the step goes astray": altered.astray(experiment),
    },
    "lobo/mixing": {
        "the step is a tenth as long": trained(experiment, idle),
        "the step goes astray": altered.astray(experiment),
    },
    "giantstep/kernel-sweep": {
        "the step is 1.1 times as long": trained(experiment, longer(1.1)),
        "the noise of the gradient is left out": trained(experiment, rank_one),
    },
    "giantstep/row-edge": {
        "the step is 1.15 times as long": trained(row_edge, longer(1.15)),
        "the noise of the gradient is left out": trained(row_edge, rank_one),
    },
}
