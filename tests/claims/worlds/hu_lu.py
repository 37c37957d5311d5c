"""Wrong worlds of the claims on universality."""

from collections.abc import Callable
from typing import Any

import pytest
from worlds.altered_settings import length, networks, penalty, step

from giantstep.checks import cache
from giantstep.equivalent import _gaussian as gaussian
from giantstep_papers.shared import replaced

World = Callable[[pytest.MonkeyPatch], None]


def one_spike(patch: pytest.MonkeyPatch) -> None:
    right = cache.equivalent

    def bare(*arguments: Any, **options: Any) -> Any:
        return right(*arguments, **options, degree=1)

    patch.setattr(replaced.cache, "equivalent", bare)


def weaker_noise(patch: pytest.MonkeyPatch) -> None:
    """Gaussian features whose nonlinear part is half as strong."""
    right = gaussian.GaussianFeatures.recipe.fget

    def recipe(self: Any) -> Any:
        assert right is not None
        made = right(self)
        return gaussian.Linearised(made.c0, made.c1, 0.5 * made.rest)

    patch.setattr(gaussian.GaussianFeatures, "recipe", property(recipe))


WORLDS: dict[str, dict[str, World]] = {
    "hu_lu/universality": {
        "the penalty of the network is doubled": networks(penalty(2.0)),
        "the nonlinear part of the features is half as strong": weaker_noise,
    },
    "moniri/universality": {
        "the spikes beyond the first are left out": one_spike,
        "the nonlinear part of the features is half as strong": weaker_noise,
    },
    "giantstep/leftover": {
        "the network takes the rank-one part": networks(step(update="rank1")),
        "the network takes no step": networks(length(0.0)),
    },
}
