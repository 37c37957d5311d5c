"""The numbers behind the figures: real simulations and predictions, from the settings of the scenes."""

from collections.abc import Callable
from typing import Any

from giantstep.story._scene import Scene
from giantstep.story.numbers import _one_step as one_step
from giantstep.story.numbers import _steps as steps
from giantstep.story.numbers import _structure as structure

__all__ = ["measure"]

FIGURES: dict[str, Callable[[Scene], dict[str, Any]]] = {
    "random-features": one_step.random_features,
    "one-giant-step": one_step.cosines,
    "spikes": one_step.spikes,
    "directions": steps.directions,
    "staircase": steps.staircase,
    "reuse": steps.reuse,
    "best-step": one_step.best_step,
    "structure": structure.spike,
    "where-theory-stops": one_step.limits,
}


def measure(scene: Scene) -> dict[str, Any]:
    """Run the simulations and predictions of a scene, and return its figure as plain data."""
    return FIGURES[scene.name](scene)
