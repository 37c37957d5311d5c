"""Wrong worlds of the claim on universality."""

from collections.abc import Callable
from typing import Any

import pytest

from giantstep.checks import cache
from giantstep.claims.hu_lu import universality as claim
from giantstep.equivalent import gaussian

World = Callable[[pytest.MonkeyPatch], None]


def no_second_spike(patch: pytest.MonkeyPatch) -> None:
    right = cache.equivalent

    def short(*arguments: Any, **options: Any) -> Any:
        return right(*arguments, **options, degree=1)

    patch.setattr(claim.cache, "equivalent", short)


def weaker_noise(patch: pytest.MonkeyPatch) -> None:
    """Gaussian features whose nonlinear part is 0.8 times as strong."""
    right = gaussian.GaussianFeatures.recipe.fget

    def recipe(self: Any) -> Any:
        assert right is not None
        made = right(self)
        return gaussian.Linearised(made.c0, made.c1, 0.8 * made.rest)

    patch.setattr(gaussian.GaussianFeatures, "recipe", property(recipe))


WORLDS: dict[str, dict[str, World]] = {
    "hu_lu/universality": {
        "the spikes of degree two and three are left out": no_second_spike,
        "the Gaussian part of the features is too weak": weaker_noise,
    }
}
