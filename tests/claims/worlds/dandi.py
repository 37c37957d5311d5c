"""Worlds in which a statement of Dandi et al. is wrong: the experiment is altered, the prediction is not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep.checks import cache
from giantstep.checks.random import generator
from giantstep.claims.dandi.directions import (
    one_step,
    reuse,
    scaling,
    second_layer,
    small_batches,
    staircase,
    threshold,
)
from giantstep.claims.dandi.directions.narrow import experiment
from giantstep.claims.dandi.directions.share import limit
from giantstep.claims.dandi.risk import conditional, converse, deflated, floors, random_features, table
from giantstep.experiment.protocol import GiantStep
from giantstep.experiment.setting import Setting

World = Callable[[pytest.MonkeyPatch], None]


def altered(step: Callable[[GiantStep], GiantStep], setting: Setting) -> Setting:
    """The setting with every step changed."""
    return replace(setting, protocol=replace(setting.protocol, steps=tuple(step(s) for s in setting.protocol.steps)))


def longer(factor: float) -> Callable[[GiantStep], GiantStep]:
    return lambda step: replace(step, eta=factor * step.eta)  # type: ignore[operator]


def _at(shift: float, order: int, d: int, n: int, first: int, count: int) -> np.ndarray:
    """Shares on the predicted curve, with n_c ~ d^(l + shift)."""
    noise = np.stack([generator(seed, 99, n % 10_007).standard_normal(4) for seed in range(first, first + count)])
    return limit(order, np.array([n / d ** (order + shift)]))[0] * np.ones((4, 1)) + 0.02 * noise.T


def earlier(order: int, d: int, n: int, first: int, count: int) -> np.ndarray:
    return _at(-0.5, order, d, n, first, count)


def later(order: int, d: int, n: int, first: int, count: int) -> np.ndarray:
    return _at(0.5, order, d, n, first, count)


def _formula(which: int, formula: str) -> Callable[[Any], Any]:
    """The cases of ``small_batches`` with another target in one of them."""

    def of(old: Any) -> Any:
        def altered(size: Any) -> Any:
            every = list(old(size))
            every[which] = every[which]._replace(rank=every[which].rank._replace(formula=formula))
            return tuple(every)

        return altered

    return of


def changed(module: Any, name: str, make: Callable[[Any], Any]) -> World:
    """The attribute of a module, changed."""
    return lambda patch: patch.setattr(module, name, make(getattr(module, name)))


def _deflation(n: int, d: int = deflated.D, p: int = deflated.P, steps: int = 1) -> Setting:
    return altered(lambda step: replace(step, deflate=0), _ORIGINAL(n, d, p, steps))


_ORIGINAL = deflated.experiment


def _halved(setting: Setting) -> Setting:
    """The readout has half of its samples."""
    readout = replace(setting.protocol.readout, n=setting.protocol.readout_size // 2)  # type: ignore[type-var]
    return replace(setting, protocol=replace(setting.protocol, readout=readout))


def _narrower(setting: Setting) -> Setting:
    """A quarter of the neurons, each as far from its start."""
    network = replace(setting.network, width=setting.p // 4)
    return altered(longer(0.25), replace(setting, network=network))


def _untrained(setting: Setting) -> Setting:
    return replace(setting, protocol=replace(setting.protocol, steps=()))


def _half(n: int, d: int = deflated.D, p: int = deflated.P, steps: int = 1) -> Setting:
    return _ORIGINAL(n // 2, d, p, steps)


def _other_steps(patch: pytest.MonkeyPatch) -> None:
    """The network's steps are twice as long as the model's, as from a loss without its factor 1/2."""
    simulate = cache.simulate
    patch.setattr(
        conditional.cache, "simulate", lambda s, seeds, **more: simulate(altered(longer(2.0), s), seeds, **more)
    )


def _unconditional(patch: pytest.MonkeyPatch) -> None:
    equivalent = cache.equivalent
    patch.setattr(
        conditional.cache, "equivalent", lambda s, model, seeds, **more: equivalent(s, "gaussian", seeds, **more)
    )


WORLDS: dict[str, dict[str, World]] = {
    "dandi/threshold": {
        "the threshold is d^(l - 1/2)": lambda patch: patch.setattr(threshold, "shares", earlier),
        "the threshold is d^(l + 1/2)": lambda patch: patch.setattr(threshold, "shares", later),
        "the batch has n^0.8 samples": changed(
            threshold, "setting", lambda old: lambda order, d, n: old(order, d, max(round(n**0.8), 2))
        ),
    },
    "dandi/one-step": {
        "the linear part stays in the labels": changed(
            one_step, "cases", lambda old: lambda size: tuple(c._replace(deflate=0) for c in old(size))
        ),
        "the batch for l = 2 is of order d": changed(
            one_step, "cases", lambda old: lambda size: (*old(size)[:-1], old(size)[-1]._replace(power=1))
        ),
    },
    "dandi/single-step": {
        "the linear part stays in the labels of the step": lambda patch: patch.setattr(
            deflated, "experiment", _deflation
        ),
        "the batch is half as large": lambda patch: patch.setattr(deflated, "experiment", _half),
    },
    "dandi/scaling": {
        "the step is 1.15 times as long": changed(
            scaling, "setting", lambda old: lambda order, d: altered(longer(1.15), old(order, d))
        ),
        "the batch is 3/4 as large": lambda patch: patch.setattr(
            scaling,
            "setting",
            lambda order, d: experiment(
                scaling.target(order),
                d,
                round(0.75 * scaling.samples(order, d)),
                1,
                p=16,
                activation=scaling.ACTIVATIONS[order],
            ),
        ),
    },
    "dandi/staircase": {
        "example 2 has unequal components": changed(
            staircase,
            "CASES",
            lambda old: {**old, "example 2": old["example 2"]._replace(formula="x1 + x2 + 1.3*x1^2 + 0.7*x2^2 - 2")},
        ),
        "the steps are 1.3 times as long": changed(
            staircase, "cases", lambda old: lambda size: {k: c._replace(strength=1.3) for k, c in old(size).items()}
        ),
    },
    "dandi/second-layer": {
        "the Gaussian layer is one of signs": changed(
            second_layer,
            "cases",
            lambda old: lambda size: tuple(c._replace(second_layer="rademacher") for c in old(size)),
        ),
        "one step in place of two": changed(
            second_layer, "cases", lambda old: lambda size: tuple(c._replace(steps=1) for c in old(size))
        ),
    },
    "dandi/floors": {
        "random features have 4d samples": changed(
            floors, "REGIMES", lambda old: (old[0]._replace(samples=4), *old[1:])
        ),
        "the narrow network has a quarter of its neurons": changed(
            floors, "REGIMES", lambda old: (old[0], old[1]._replace(neurons=old[1].neurons // 4), *old[2:])
        ),
        "the narrow network takes no step": changed(
            floors, "REGIMES", lambda old: (old[0], old[1]._replace(steps=0), *old[2:])
        ),
    },
    "dandi/converse": {
        "there is no step": changed(converse, "experiment", lambda old: lambda *arguments: _untrained(old(*arguments))),
        "the Gaussian layer is one of signs": changed(
            converse, "experiment", lambda old: lambda layer, *rest: old("rademacher", *rest)
        ),
        "a quarter of the neurons": changed(
            converse, "at_penalties", lambda old: lambda setting, *rest: old(_narrower(setting), *rest)
        ),
    },
    "dandi/table": {
        "there is no step": changed(table, "experiment", lambda old: lambda *arguments: _untrained(old(*arguments))),
        "an eighth of the neurons": changed(
            table, "ROWS", lambda old: tuple(row._replace(width=max(row.width // 8, 1)) for row in old)
        ),
    },
    "dandi/random-features": {
        "half of the samples": changed(
            random_features, "experiment", lambda old: lambda *arguments: _halved(old(*arguments))
        ),
        "the penalty is ten times the best": changed(
            random_features, "best", lambda old: lambda *arguments: (old(*arguments)[0], 10 * old(*arguments)[1])
        ),
        "the features have no second order": changed(random_features, "ACTIVATION", lambda old: "erf"),
    },
    "dandi/reuse": {
        "the batch is fresh": changed(reuse, "setting", lambda old: lambda case, d, batch: old(case, d, "fresh")),
        "the fresh batches are one batch": changed(
            reuse, "setting", lambda old: lambda case, d, batch: old(case, d, "reuse")
        ),
    },
    "dandi/small-batches": {
        "H2 has a linear part": changed(small_batches, "cases", _formula(0, "H2(x1)/sqrt(2) + x1/2")),
        "the components are not equal": changed(
            small_batches, "cases", _formula(2, "(x1 + x2 + x3 + H2(x1) - H2(x2)/2)/sqrt(3)")
        ),
        "the control is not learned": changed(small_batches, "cases", _formula(3, "x1 + H2(x2)/sqrt(2)")),
    },
    "dandi/conditional": {
        "the steps of the network are twice as long": _other_steps,
        "the model conditions on nothing": _unconditional,
    },
}
