"""The experiment behind the claims: two classes in opposite cones, and what a run keeps."""

from typing import Any

import numpy as np

from giantstep.systems.early import Early
from giantstep.systems.early.frozen_patterns import follow
from giantstep.systems.early.path import ordered
from giantstep.systems.early.samples import inputs
from giantstep.systems.early.simulate import run

D = 30
BATCH = 8
# classes that overlap, all trained
GENERAL = {"data": "gaussian", "cosine": 0.5, "bias": "trained", "layers": "both"}


def system(
    loss: str,
    n: int,
    width: int,
    rate: float,
    steps: int,
    batch: int | None = None,
    general: bool = False,
) -> Early:
    how: dict[str, Any] = GENERAL if general else {}
    return Early(n, D, width, loss, rate, steps, batch, **how)


def simulated(seed: int, *what: Any) -> np.ndarray:
    """The loss at every step of one run, and then its sorted neurons with a > 0 and with a < 0."""
    return _plain(run(system(*what), seed), what)


def followed(seed: int, *what: Any) -> np.ndarray:
    """The same without the network, from the patterns and batches of that run."""
    return _plain(follow(system(*what), seed), what)


def _plain(course: Any, what: tuple) -> np.ndarray:
    into = ordered(course.last, inputs(system(*what))[1], course.a)
    return np.append(course.loss, [np.sum(into & (course.a > 0)), np.sum(into & (course.a < 0))])
