"""Frozen: training followed in the n outputs alone, from the activation patterns at the start (after Wang and Ma 2022).

As the start shrinks to nothing, the first batch S that holds an active sample of neuron k sets its weights, and so its pattern:

    b_k = rate a_k (1/|S|) sum_i pull_i y_i x_i,    active on j  <=>  a_k sum_i pull_i y_i K_ij > 0,    i in S with k active

On orthogonally separable data every neuron with a_k = +-1 is then active on class +- and on nothing else, for ever. While
patterns stay, the outputs follow

    f_j <- f_j + (rate/|S|) sum_{i in S} K_ij C_ij pull_i y_i,     C_ij the number of neurons active on both i and j

which no longer knows the network: exact to order ``init``, also for other data until a pattern changes.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from giantstep.systems.early.path import PathState, TrainingPath, gathered
from giantstep.systems.early.samples import LOSSES, batches, extended, gram, inputs, start

if TYPE_CHECKING:
    from giantstep.systems.early import Early


def follow(system: "Early", seed: int = 0) -> TrainingPath:
    """Follow the path that this seed's initial patterns and batches predict, with the second layer fixed."""
    B, a = start(system, seed)
    states = _states(system, extended(system) @ B.T > 0, a, batches(system, seed))
    return gathered(states, inputs(system)[1], a)


def _states(
    system: "Early",
    active: Bool[np.ndarray, "n m"],
    a: Float[np.ndarray, " m"],
    samples: Iterable[Int[np.ndarray, " _"]],
) -> Iterator[PathState]:
    (_, y), K, loss = inputs(system), gram(system), LOSSES[system.loss]
    f, still = np.zeros(system.n), np.any(active, axis=0)  # still: alive, and not moved by any batch yet
    every = _together(active)
    for rows in [*samples, None]:
        with np.errstate(over="ignore", invalid="ignore"):
            pull = loss.pull(y * f) * y
            # ||grad L||^2 = (1/n^2) sum_ij pull_i y_i pull_j y_j K_ij C_ij
            square = float(pull @ (K * every) @ pull) / system.n**2
            yield PathState(float(np.mean(loss.value(y * f))), square, active)
        if rows is None:
            return
        scale = system.rate / len(rows)
        # neurons that moved before
        moved = _together(active[:, ~still]) if np.any(still) else every
        f = f + scale * (K[:, rows] * moved[:, rows]) @ pull[rows]
        # those that this batch moves first take the pattern it gives them
        now = still & np.any(active[rows], axis=0)
        if np.any(now):
            push = scale * K[:, rows] @ (active[np.ix_(rows, now)] * pull[rows, None]) * a[now]
            f = f + np.maximum(push, 0.0) @ a[now]
            active, still = active.copy(), still & ~now
            active[:, now] = push > 0
            every = _together(active)


def _together(active: Bool[np.ndarray, "n m"]) -> Float[np.ndarray, "n n"]:
    """C_ij, how many neurons are active on both samples."""
    one = active.astype(float)
    return one @ one.T
