"""Worlds in which two steps are taken otherwise than stated: the claims must notice."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import giantstep as gs
from giantstep.experiment.setting import Setting
from giantstep.simulate import train
from giantstep_papers.moniri_hassani import layers, limit, limit_reuse, reuse, threshold

World = Callable[[pytest.MonkeyPatch], None]


def trained(module: Any, change: Callable[[Setting], Setting]) -> World:
    """The simulator takes another setting than the claim says."""
    return lambda patch: patch.setattr(
        module, "train", lambda setting, seed, **more: train(change(setting), seed, **more)
    )


def longer(which: int, factor: float, power: float = 0.0) -> Callable[[Setting], Setting]:
    """A step that is factor p^power times as long."""

    def change(setting: Setting) -> Setting:
        steps = list(setting.protocol.steps)
        eta: Any = steps[which].eta
        steps[which] = replace(steps[which], eta=replace(eta, times=eta.times * factor * setting.p**power))
        return replace(setting, protocol=replace(setting.protocol, steps=tuple(steps)))

    return change


def signs(setting: Setting) -> Setting:
    return replace(setting, network=replace(setting.network, second_layer="rademacher"))


def without_x3(setting: Setting) -> Setting:
    return replace(setting, target=gs.target("x1 + x1*x2 + 0.001*x3"))


def linear_part(setting: Setting) -> Setting:
    return replace(setting, target=gs.target("x1 + 0.001*x2"))


_strengths, _learned = limit.strengths, limit_reuse.learned


def strengths(change: Callable[[float, float], tuple[float, float]]) -> World:
    """A signal matrix of other exponents."""
    return lambda patch: patch.setattr(limit, "strengths", lambda N, a, b: _strengths(N, *change(a, b)))


def learned(change: Callable[[dict[str, Any]], dict[str, Any]]) -> World:
    """A theory of what is learned in which a batch is taken for another."""
    return lambda patch: patch.setattr(reuse, "learned", lambda **given: _learned(**change(given)))


WORLDS: dict[str, dict[str, World]] = {
    "moniri_hassani/outliers": {
        "the second step is a fifth as long": trained(layers, longer(1, 0.2)),
        "the target has no third direction": trained(layers, without_x3),
    },
    "giantstep/signal-matrix": {
        "the second step is 1.2 times as long": trained(layers, longer(1, 1.2)),
        "the target has no third direction": trained(layers, without_x3),
    },
    "moniri_hassani/alignments": {
        "the second step is a fifth as long": trained(layers, longer(1, 0.2)),
        "the targets are their linear part": trained(layers, linear_part),
    },
    "moniri_hassani/exponents": {
        "the second step grows with 0.2 more": trained(layers, longer(1, 1.0, 0.2)),
        "the first step grows with 0.3 less": trained(layers, longer(0, 1.0, -0.3)),
    },
    "moniri_hassani/threshold": {
        "the first step grows with 0.2 more": trained(threshold, longer(0, threshold.REFERENCE**-0.2, 0.2)),
        "the first step grows with 0.2 less": trained(threshold, longer(0, threshold.REFERENCE**0.2, -0.2)),
    },
    "moniri_hassani/degenerate": {
        "a second layer of signs everywhere": trained(layers, signs),
        "the target has no third direction": trained(layers, without_x3),
    },
}

THEORIES: dict[str, dict[str, World]] = {
    "moniri_hassani/phase-diagram": {
        "the first step grows with 0.2 less": strengths(lambda a, b: (a - 0.2, b)),
        "the second step grows with 0.1 more": strengths(lambda a, b: (a, b + 0.1)),
    },
    "moniri_hassani/reuse": {
        "fresh batches are one batch twice": learned(lambda given: given | {"reused": True}),
        "one batch twice is fresh batches": learned(lambda given: given | {"reused": False}),
    },
}
