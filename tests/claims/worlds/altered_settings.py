"""Worlds in which the simulator of networks is altered and the models and predictions beside it are not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from giantstep.checks import cache
from giantstep.experiment.protocol import Power
from giantstep.experiment.setting import Setting

World = Callable[[pytest.MonkeyPatch], None]


def networks(change: Callable[[Setting], Setting]) -> World:
    """Every simulated network is that of the changed setting; results have the same form."""
    real = cache.simulate

    def world(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(cache, "simulate", lambda setting, *seeds, **options: real(change(setting), *seeds, **options))

    return world


def step(**fields: Any) -> Callable[[Setting], Setting]:
    """Fields of the first step, changed."""

    def change(setting: Setting) -> Setting:
        (own,) = setting.protocol.steps
        return replace(setting, protocol=replace(setting.protocol, steps=(replace(own, **fields),)))

    return change


def length(factor: float) -> Callable[[Setting], Setting]:
    """A step of another length; 0 is no step."""

    def change(setting: Setting) -> Setting:
        eta = setting.protocol.steps[0].eta
        if isinstance(eta, Power):
            return step(eta=replace(eta, times=factor * eta.times))(setting)
        return step(eta=tuple(factor * e for e in eta) if isinstance(eta, tuple) else factor * eta)(setting)

    return change


def penalty(factor: float) -> Callable[[Setting], Setting]:
    def change(setting: Setting) -> Setting:
        readout: Any = setting.protocol.readout
        own = replace(readout, penalty=factor * readout.penalty)
        return replace(setting, protocol=replace(setting.protocol, readout=own))

    return change


def reused(setting: Setting) -> Setting:
    """The readout is fitted on the batch of the step."""
    readout: Any = setting.protocol.readout
    return replace(setting, protocol=replace(setting.protocol, readout=replace(readout, n=None, batch="reuse")))


def unscaled(setting: Setting) -> Setting:
    """Labels of a direction of length one, whatever the spread."""
    return replace(setting, target=replace(setting.target, scale="1"))
