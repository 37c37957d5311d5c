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


def centred(setting: Setting) -> Setting:
    """Classes without means."""
    data: Any = setting.data
    return replace(setting, data=replace(data, components=tuple(replace(each, mean=None) for each in data.components)))


def equal(setting: Setting) -> Setting:
    """Classes with the covariance of the first."""
    data: Any = setting.data
    same = [replace(each, spikes=(), bulk=1.0) for each in data.components]
    return replace(setting, data=replace(data, components=tuple(same)))


WORLDS: dict[str, dict[str, World]] = {
    "giantstep/directions": {
        "the readout reuses the batch of the step": networks(reused),
        "the step is three times as long": networks(length(3.0)),
    },
    "giantstep/steps": {
        "neurons do not come in pairs": networks(alone),
        "the second step is forgotten": networks(first_step_only),
    },
    "giantstep/two-steps": {
        "the labels have more noise": networks(noisy),
        "the second step is forgotten": networks(first_step_only),
    },
    "giantstep/means": {
        "the means are zero": networks(centred),
        "the covariances are equal": networks(equal),
    },
    "giantstep/own-batch": {
        "the readout has fresh samples": networks(fresh),
        "the labels have more noise": networks(noisy),
    },
}
