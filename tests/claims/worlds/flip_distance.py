"""Worlds in which the giant step before the attack is other than stated."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from giantstep.experiment.setting import Setting
from giantstep.simulate import network
from giantstep_papers.giantstep import flip_distance

World = Callable[[pytest.MonkeyPatch], None]


def stepped(eta: float = 1.0, batch: float = 1.0) -> World:
    """The simulator takes another step than the claim says; step size and batch have these factors."""

    def change(setting: Setting, seed: int) -> object:
        steps = tuple(replace(step, eta=eta * step.eta, n=round(batch * step.n)) for step in setting.protocol.steps)  # type: ignore[operator, arg-type]
        return network(replace(setting, protocol=replace(setting.protocol, steps=steps)), seed)

    return lambda patch: patch.setattr(flip_distance, "network", change)


WORLDS: dict[str, dict[str, World]] = {
    "giantstep/flip-distance": {
        "the step is 1.15 times as long": stepped(eta=1.15),
        "the batch is half as large": stepped(batch=0.5),
    },
}
