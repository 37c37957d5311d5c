"""Worlds in which the giant step before the attack is other than stated."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from giantstep.claims.giantstep import flip_distance
from giantstep.experiment.setting import Setting
from giantstep.simulate import network

World = Callable[[pytest.MonkeyPatch], None]


def stepped(**changes: object) -> World:
    """The simulator takes another step than the claim says; ``eta`` is a factor."""

    def change(setting: Setting, seed: int) -> object:
        steps = tuple(
            replace(step, **{**changes, "eta": float(changes.get("eta", 1.0)) * step.eta})  # type: ignore[arg-type]
            for step in setting.protocol.steps
        )
        return network(replace(setting, protocol=replace(setting.protocol, steps=steps)), seed)

    return lambda patch: patch.setattr(flip_distance, "network", change)


WORLDS: dict[str, dict[str, World]] = {
    "giantstep/flip-distance": {
        "the step is 1.15 times as long": stepped(eta=1.15),
        "the noise of the gradient is left out": stepped(update="rank1"),
    },
}
