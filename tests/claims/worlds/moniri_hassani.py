"""Worlds in which two steps are taken otherwise than stated: the claims must notice."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import giantstep as gs
from giantstep.checks.random import Stream, generator
from giantstep.claims.moniri_hassani import layers, reuse, threshold
from giantstep.experiment.setting import Setting
from giantstep.simulate import train

World = Callable[[pytest.MonkeyPatch], None]
_cosine = reuse.cosine


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


def with_random_signs(name: str, batch: str, d: int, seed: int) -> float:
    """|cos| = 0.4 of random sign on fresh batches: the mean of the cosine is zero."""
    return (
        _cosine(name, batch, d, seed) if batch == "reuse" else 0.4 * float(generator(seed, Stream.STEP).choice([-1, 1]))
    )


def always_reused(name: str, batch: str, d: int, seed: int) -> float:
    return _cosine(name, "reuse", d, seed)


WORLDS: dict[str, dict[str, World]] = {
    "moniri_hassani/outliers": {
        "the second step is 1.2 times as long": trained(layers, longer(1, 1.2)),
        "the target has no third direction": trained(layers, without_x3),
    },
    "moniri_hassani/alignments": {
        "the second step is a fifth as long": trained(layers, longer(1, 0.2)),
        "the targets are their linear part": trained(layers, linear_part),
    },
    "moniri_hassani/phase-diagram": {
        "the second step is three times as long": trained(layers, longer(1, 3.0)),
        "the second step is a fifth as long": trained(layers, longer(1, 0.2)),
    },
    "moniri_hassani/exponents": {
        "the second step grows with 0.2 more": trained(layers, longer(1, 1.0, 0.2)),
        "the first step grows with 0.3 less": trained(layers, longer(0, 1.0, -0.3)),
    },
    "moniri_hassani/reuse": {
        "cosines of 0.4 with random signs on fresh batches": lambda patch: patch.setattr(
            reuse, "cosine", with_random_signs
        ),
        "one batch twice in place of fresh batches": lambda patch: patch.setattr(reuse, "cosine", always_reused),
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
