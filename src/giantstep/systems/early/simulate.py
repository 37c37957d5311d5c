"""The first stage of training, simulated: the network itself, with its activation patterns counted at every step.

    b_k <- b_k + rate a_k (1/|S|) sum_{i in S} 1{k active on i} pull_i y_i x_i

S is all samples or a minibatch.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from giantstep._given.plain import whole
from giantstep.results.system import Reading
from giantstep.systems.early.path import PathState, TrainingPath, crossing, curve, gathered, ordered, shares
from giantstep.systems.early.samples import LOSSES, batches, check_memory, extended, inputs, start

if TYPE_CHECKING:
    from giantstep.systems.early import Early


def run(system: "Early", seed: int = 0) -> TrainingPath:
    """Train one network, and record every step."""
    seed = whole(seed, "seed", least=0)
    check_memory(system)
    return gathered(_states(system, seed), inputs(system)[1], start(system, seed)[1])


def _states(system: "Early", seed: int) -> Iterator[PathState]:
    X, (_, y), (B, a) = extended(system), inputs(system), start(system, seed)
    loss, both = LOSSES[system.loss], system.layers == "both"
    trained = np.ones(system.d + 1)
    trained[-1] = float(system.bias == "trained")
    for rows in [*batches(system, seed), None]:
        with np.errstate(over="ignore", invalid="ignore"):  # a rate too large ends in numbers that are none
            hidden = np.maximum(X @ B.T, 0.0)
            active = hidden > 0
            z = y * (hidden @ a)
            pull = loss.pull(z) * y
            by_b, by_a = _slope(X, hidden, active, pull, a, trained)
            yield PathState(float(np.mean(loss.value(z))), float(np.sum(by_b**2) + both * np.sum(by_a**2)), active)
            if rows is not None and system.batch is not None:
                by_b, by_a = _slope(X[rows], hidden[rows], active[rows], pull[rows], a, trained)
            B, a = B + system.rate * by_b, a + (system.rate * by_a if both else 0.0)


def _slope(
    X: Float[np.ndarray, "B d1"],
    hidden: Float[np.ndarray, "B m"],
    active: Bool[np.ndarray, "B m"],
    pull: Float[np.ndarray, " B"],
    a: Float[np.ndarray, " m"],
    trained: Float[np.ndarray, " d1"],
) -> tuple[Float[np.ndarray, "m d1"], Float[np.ndarray, " m"]]:
    """Minus the gradients by the first and by the second layer, over these samples."""
    first = a[:, None] * ((active * pull[:, None]).T @ X) * trained
    return first / len(X), hidden.T @ pull / len(X)


def measured(system: "Early", seed: int) -> Reading:
    """Measure the numbers and curves of one run."""
    course, (_, y) = run(system, seed), inputs(system)
    into, true = ordered(course.last, y, course.a), np.outer(y, course.a) > 0
    numbers = {
        "sorted_plus": np.sum(into & (course.a > 0)),
        "sorted_minus": np.sum(into & (course.a < 0)),
        "uncovered": float(np.any(~np.any(course.first & true, axis=1))),
        "drop_time": crossing(system.times, course.loss, system.drop),
        "last_loss": course.loss[-1],
    }
    lives = shares(system, course.counts)
    curves = {
        "loss": curve(system, course.loss, log="y"),
        "ratio": curve(system, course.ratio, log="y"),
        "true_living": curve(system, lives[:, 0]),
        "false_living": curve(system, lives[:, 1]),
    }
    never = f"the loss did not fall by {system.drop:.0%} in {system.steps} steps"
    return Reading(numbers, curves, (never,) if np.isnan(numbers["drop_time"]) else ())
