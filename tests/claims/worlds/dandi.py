"""Worlds in which a statement of Dandi et al. is wrong: the experiment is altered, the prediction is not."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep.checks import cache
from giantstep.checks.random import generator
from giantstep.experiment.protocol import GiantStep
from giantstep.experiment.setting import Setting
from giantstep_papers.dandi import (
    conditional,
    converse,
    deflated,
    floors,
    one_step,
    random_features,
    reuse,
    scaling,
    second_layer,
    small_batches,
    staircase,
    table,
    threshold,
)
from giantstep_papers.dandi.narrow import experiment
from giantstep_papers.dandi.share import STRENGTHS, limit
from giantstep_papers.giantstep import fresh_batches, sign_rank, tanh_climb

World = Callable[[pytest.MonkeyPatch], None]


def altered(step: Callable[[GiantStep], GiantStep], setting: Setting) -> Setting:
    """The setting with every step changed."""
    return replace(setting, protocol=replace(setting.protocol, steps=tuple(step(s) for s in setting.protocol.steps)))


def longer(factor: float) -> Callable[[GiantStep], GiantStep]:
    return lambda step: replace(step, eta=factor * step.eta)  # type: ignore[operator]


def _at(shift: float, order: int, d: int, n: int, first: int, count: int) -> np.ndarray:
    """Shares on the predicted curve, with n_c ~ d^(l + shift)."""
    noise = np.stack(
        [generator(seed, 99, n % 10_007).standard_normal(len(STRENGTHS)) for seed in range(first, first + count)]
    )
    return limit(order, np.array([n / d ** (order + shift)]))[0] * np.ones((len(STRENGTHS), 1)) + 0.02 * noise.T


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


def _other_steps(factor: float) -> World:
    """The network's steps are longer than the model's."""

    def world(patch: pytest.MonkeyPatch) -> None:
        simulate = cache.simulate
        patch.setattr(
            conditional.cache, "simulate", lambda s, seeds, **more: simulate(altered(longer(factor), s), seeds, **more)
        )

    return world


def _unconditional(patch: pytest.MonkeyPatch) -> None:
    equivalent = cache.equivalent
    patch.setattr(
        conditional.cache, "equivalent", lambda s, model, seeds, **more: equivalent(s, "gaussian", seeds, **more)
    )


def _other_cases(module: Any, **changes: Any) -> World:
    """All cases of a module with these fields."""

    def make(old: Any) -> Any:
        def cases(size: Any) -> Any:
            found = old(size)
            if isinstance(found, dict):
                return {name: case._replace(**changes) for name, case in found.items()}
            return tuple(case._replace(**changes) for case in found)

        return cases

    return changed(module, "cases", make)


_one_step = _other_cases(second_layer, steps=1)
EVEN = fresh_batches.CASES[-1].formula


def _even(case: Any) -> Any:
    return case._replace(formula=EVEN) if case.name == reuse.CASES[1].name else case


def _odd(case: Any) -> Any:
    return case._replace(formula=reuse.CASES[1].formula) if case.formula == EVEN else case


def _linear(regime: floors.Regime) -> floors.Regime:
    """The narrow network's second term is linear, too, so that the step learns all of the target."""
    return regime._replace(terms=("x1", "x2")) if regime.name == floors.NARROW.name else regime


def _reachable(regime: floors.Regime) -> floors.Regime:
    """The example's target is linear, so that one step learns all of it."""
    linear = ("x1", "x2", "x3", "x4", "x5")
    return regime if regime.name == floors.NARROW.name else regime._replace(terms=linear)


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
        "the step grows with d": changed(
            scaling, "setting", lambda old: lambda order, d: altered(longer(0.5 * d**0.25), old(order, d))
        ),
        "the batch has n^0.8 samples": changed(
            scaling, "samples", lambda old: lambda order, d: round(old(order, d) ** 0.8)
        ),
    },
    "giantstep/step-constants": {
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
            lambda old: {**old, "example 2": "x1 + x2 + 1.3*x1^2 + 0.7*x2^2 - 2"},
        ),
        "the steps are 1.3 times as long": changed(
            staircase, "cases", lambda old: lambda size: {k: c._replace(strength=1.3) for k, c in old(size).items()}
        ),
    },
    "dandi/second-layer": {
        "the Gaussian layer is one of signs": _other_cases(second_layer, second_layer="rademacher"),
        "one step in place of two": _one_step,
    },
    "dandi/floors": {
        "the narrow network sees all of its target": changed(floors, "REGIMES", lambda old: tuple(map(_linear, old))),
        "the target of the example is linear": changed(floors, "REGIMES", lambda old: tuple(map(_reachable, old))),
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
            random_features, "experiment", lambda old: lambda *arguments, **more: _halved(old(*arguments, **more))
        ),
        "the penalty is ten times the best": changed(
            random_features, "best", lambda old: lambda *arguments: (old(*arguments)[0], 10 * old(*arguments)[1])
        ),
        "the features have no second order": changed(random_features, "ACTIVATION", lambda old: "erf"),
    },
    "dandi/reuse": {
        "the batch is fresh": changed(reuse, "setting", lambda old: lambda case, d, batch: old(case, d, "fresh")),
        "the second target is even": changed(
            reuse, "setting", lambda old: lambda case, d, batch: old(_even(case), d, batch)
        ),
    },
    "giantstep/fresh-batches": {
        "the fresh batches are one batch": changed(
            reuse, "setting", lambda old: lambda case, d, batch: old(case, d, "reuse")
        ),
        "the even target has an odd part": changed(
            reuse, "setting", lambda old: lambda case, d, batch: old(_odd(case), d, batch)
        ),
    },
    "giantstep/tanh-climb": {
        "the activation is relu": _other_cases(tanh_climb, activation="relu"),
        "the target is linear in both directions": _other_cases(tanh_climb, formula="x1 + 2*x2 + x1^2 - x2^2"),
    },
    "giantstep/sign-rank": {
        "the second layer is Gaussian": _other_cases(sign_rank, second_layer="gaussian"),
        "the target has no linear part": _other_cases(sign_rank, formula="H2(x1) + H2(x2) + H2(x3)"),
    },
    "giantstep/integer-degree": {
        "half of the samples": changed(
            random_features, "experiment", lambda old: lambda *arguments, **more: _halved(old(*arguments, **more))
        ),
        "the penalty is ten times the best": changed(
            random_features, "best", lambda old: lambda *arguments: (old(*arguments)[0], 10 * old(*arguments)[1])
        ),
    },
    "giantstep/conditional-steps": {
        "the steps of the network are twice as long": _other_steps(2.0),
        "the model conditions on nothing": _unconditional,
    },
    "dandi/small-batches": {
        "H2 has a linear part": changed(small_batches, "cases", _formula(1, "H2(x1)/sqrt(2) + x1/2")),
        "the components are not equal": changed(
            small_batches, "cases", _formula(6, "(x1 + x2 + x3 + H2(x1) - H2(x2)/2)/sqrt(3)")
        ),
        "the control is not learned": changed(small_batches, "cases", _formula(7, "x1 + H2(x2)/sqrt(2)")),
    },
    "dandi/conditional": {
        "the step of the network is four times as long": _other_steps(4.0),
        "the model conditions on nothing": _unconditional,
    },
}
WORLDS["giantstep/deflated-step"] = WORLDS["dandi/single-step"]
