"""Course: what a run of ``Early`` does step by step, simulated or followed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from giantstep.measure import partition
from giantstep.results.system import Curve

if TYPE_CHECKING:
    from giantstep.systems.early import Early

POINTS = 60  # of a curve


class PathState(NamedTuple):
    """The loss, the squared length of its gradient, and the activation pattern (n x m) at a step."""

    loss: float
    square: float
    active: Bool[np.ndarray, "n m"]


@dataclass(frozen=True, eq=False)
class TrainingPath:
    """One value for every step; the first entry is before the first step.

    Attributes:
        loss: L.
        ratio: ‖∇L‖²/L, of the full gradient.
        counts: of ``measure.partition``, (steps + 1, 2, 4).
        changed: share of the activation pattern that the step changed.
        first: patterns, n x m, before the first step.
        last: patterns after the last step.
        a: second layer at the start.
    """

    loss: Float[np.ndarray, " t"]
    ratio: Float[np.ndarray, " t"]
    counts: Float[np.ndarray, "t 2 4"]
    changed: Float[np.ndarray, " t"]
    first: Bool[np.ndarray, "n m"]
    last: Bool[np.ndarray, "n m"]
    a: Float[np.ndarray, " m"]


def gathered(states: Iterable[PathState], y: Float[np.ndarray, " n"], a: Float[np.ndarray, " m"]) -> TrainingPath:
    """Collect the states of a run into its path."""
    losses, squares, counts, changed = [], [], [], []
    first = last = None
    for loss, square, active in states:
        first = active if first is None else first
        counts.append(counts[-1] if active is last else partition(active, y, a))
        changed.append(0.0 if last is None or active is last else float(np.mean(active != last)))
        losses.append(loss)
        squares.append(square)
        last = active
    assert first is not None and last is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.array(squares) / np.array(losses)
    return TrainingPath(np.array(losses), ratio, np.array(counts), np.array(changed), first, last, a)


def ordered(
    active: Bool[np.ndarray, "n m"], y: Float[np.ndarray, " n"], a: Float[np.ndarray, " m"]
) -> Bool[np.ndarray, " m"]:
    """Whether each neuron is sorted: true-living on its whole class and dead on the other."""
    return np.all(active == (np.outer(y, a) > 0), axis=0)


def crossing(times: Float[np.ndarray, " t"], loss: Float[np.ndarray, " t"], drop: float) -> float:
    """The time at which the loss has first lost this share of itself, linear between steps; NaN where it has not."""
    level = (1 - drop) * loss[0]
    below = np.flatnonzero(loss <= level)
    if not below.size:
        return float("nan")
    k = int(below[0])
    share = (loss[k - 1] - level) / (loss[k - 1] - loss[k])
    return float(times[k - 1] + share * (times[k] - times[k - 1]))


def curve(
    system: "Early", y: Float[np.ndarray, " t"], se: Float[np.ndarray, " t"] | None = None, log: str = ""
) -> Curve:
    """Thin the values of all steps to a curve over time."""
    points = np.unique(np.rint(np.linspace(0, system.steps, POINTS + 1)).astype(int))
    return Curve("time", system.times[points], y[points], None if se is None else se[points], log)


def shares(system: "Early", counts: Float[np.ndarray, "t 2 4"]) -> Float[np.ndarray, "t 4"]:
    """Partition counts (steps, 2, 4) as shares of the neurons, in the mean over all samples, (steps, 4)."""
    weights = np.array([system.plus, system.n - system.plus]) / (system.n * system.width)
    return np.einsum("tck,c->tk", counts, weights)
