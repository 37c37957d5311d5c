"""Parts of wrong worlds: simulators with one realistic mistake."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantstep.experiment import draw
from giantstep.simulate import Trained, train

Change = Callable[[pytest.MonkeyPatch], None]


def weights(module: Any, change: Callable[[Trained], np.ndarray]) -> Change:
    """Training in this module ends with other weights, and its gradient leads there."""

    def wrong(setting: Any, seed: int = 0, **options: Any) -> Trained:
        found = train(setting, seed, **options)
        if found.descent is None:
            return replace(found, final=change(found))
        one = replace(
            found, final=found.initial + found.descent
        )  # some claims take the step from the gradient themselves
        return replace(found, final=change(found), descent=change(one) - found.initial)

    return lambda patch: patch.setattr(module, "train", wrong)


def longer(module: Any, factor: float) -> Change:
    """The step is ``factor`` times as long."""
    return weights(module, lambda found: found.initial + factor * (found.final - found.initial))


def astray(module: Any) -> Change:
    """The step goes along a direction that knows nothing of the target: coordinates are shifted by one."""
    return weights(module, lambda found: found.initial + np.roll(found.final - found.initial, 1, axis=-1))


def unit_rows(module: Any) -> Change:
    """Rows are normalised to length one after the step."""
    return weights(module, lambda found: found.final / np.linalg.norm(found.final, axis=-1, keepdims=True))


def protocol(module: Any, **changes: Any) -> Change:
    """Training in this module takes a step with other fields."""

    def wrong(setting: Any, seed: int = 0, **options: Any) -> Trained:
        (step,) = setting.protocol.steps
        steps = (replace(step, **changes),)
        return train(replace(setting, protocol=replace(setting.protocol, steps=steps)), seed, **options)

    return lambda patch: patch.setattr(module, "train", wrong)


def half_batch(module: Any) -> Change:
    """The gradient sees half of the batch."""

    def wrong(setting: Any, seed: int = 0, **options: Any) -> Trained:
        (step,) = setting.protocol.steps
        etas = step.etas(step.n, setting.d, setting.p).tolist()  # a power of n would change with the batch
        steps = (replace(step, n=step.n // 2, eta=etas),)
        return train(replace(setting, protocol=replace(setting.protocol, steps=steps)), seed, **options)

    return lambda patch: patch.setattr(module, "train", wrong)


def reused(patch: pytest.MonkeyPatch) -> None:
    """The readout uses the batch of the step."""
    patch.setattr(draw, "readout_batch", lambda setting: draw.step_batches(setting)[0])


def noisier(extra: float) -> Change:
    """Labels have additional noise."""

    def change(patch: pytest.MonkeyPatch) -> None:
        labels = draw.labels_of

        def wrong(setting: Any, seed: int, batch: Any, X: np.ndarray, *rest: Any) -> np.ndarray:
            noise = np.random.default_rng([seed, *batch.key]).standard_normal(len(X))
            return labels(setting, seed, batch, X, *rest) + extra * noise

        patch.setattr(draw, "labels_of", wrong)

    return change
