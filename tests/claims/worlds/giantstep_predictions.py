"""Wrong worlds of our claims on several directions, several steps and the step's own batch."""

from dataclasses import replace
from typing import Any

from worlds.altered_settings import World, length, networks, reused

from giantstep.experiment.setting import Setting


def noisy(setting: Setting) -> Setting:
    """Labels with more noise."""
    return replace(setting, target=replace(setting.target, noise=0.9))


def alone(setting: Setting) -> Setting:
    """Neurons that do not come in pairs."""
    return replace(setting, network=replace(setting.network, symmetric=False))


def first_step_only(setting: Setting) -> Setting:
    return replace(setting, protocol=replace(setting.protocol, steps=setting.protocol.steps[:1]))


def fresh(setting: Setting) -> Setting:
    """The readout has samples of its own."""
    readout: Any = setting.protocol.readout
    return replace(setting, protocol=replace(setting.protocol, readout=replace(readout, batch="fresh")))


WORLDS: dict[str, dict[str, World]] = {
    "giantstep/directions": {
        "the readout reuses the batch of the step": networks(reused),
        "the step is three times as long": networks(length(3.0)),
    },
    "giantstep/steps": {
        "neurons do not come in pairs": networks(alone),
        "the second step is forgotten": networks(first_step_only),
    },
    "giantstep/own-batch": {
        "the readout has fresh samples": networks(fresh),
        "the labels have more noise": networks(noisy),
    },
}
