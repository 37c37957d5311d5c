"""Frozen: training followed in the n outputs alone, from the activation patterns at the start (after Wang and Ma 2022).

As the start shrinks to nothing, the first batch S that holds an active sample of neuron k sets its weights, and so its pattern:

    b_k = rate a_k (1/|S|) sum_{i in S, k active} pull_i y_i x_i,    active on j  <=>  a_k sum_{i in S, k active} pull_i y_i K_ij > 0

On orthogonally separable data every neuron with a_k = +-1 is then active on class +- and on nothing else, for ever. While patterns
stay, the outputs follow

    f_j <- f_j + (rate/|S|) sum_{i in S} K_ij C_ij pull_i y_i,     C_ij the number of neurons active on both i and j

which no longer knows the network: exact to order ``init``, also for other data until a pattern changes.
"""

import numpy as np

from giantstep.early import LOSSES, Course, Early, batches, extended, gram, inputs, start
from giantstep.measure import partition


def follow(system: Early, seed: int = 0) -> Course:
    """The course that the patterns of this seed's start and its batches predict; the second layer stays as it is."""
    X, (B, a) = extended(system), start(system, seed)
    return followed(system, X @ B.T > 0, a, batches(system, seed))


def followed(system: Early, active: np.ndarray, a: np.ndarray, samples) -> Course:
    """The same from patterns (n x m) and signs."""
    (_, y), K, loss = inputs(system), gram(system), LOSSES[system.loss]
    first, f, still = active, np.zeros(system.n), np.any(active, axis=0)  # still: alive, and not moved by any batch yet
    losses, ratios, counts, changed = [], [], [], []
    together, count, change = _together(active), partition(active, y, a), 0.0
    for rows in [*samples, None]:
        with np.errstate(over="ignore", invalid="ignore"):
            z = y * f
            losses.append(np.mean(loss.value(z)))
            pull = loss.pull(z) * y
            # ||grad L||^2 = (1/n^2) sum_ij pull_i pull_j y_i y_j K_ij C_ij
            ratios.append(pull @ (K * together) @ pull / (system.n**2 * losses[-1]))
        counts.append(count)
        changed.append(change)
        change = 0.0
        if rows is None:
            break
        moving = ~still
        if np.all(moving):
            f = f + system.rate / len(rows) * (K[:, rows] * together[:, rows]) @ pull[rows]
            continue
        # neurons that moved before go on as above; those that this batch moves first take the pattern it gives them
        known = _together(active[:, moving])
        f = f + system.rate / len(rows) * (K[:, rows] * known[:, rows]) @ pull[rows]
        now = still & np.any(active[rows], axis=0)
        push = system.rate / len(rows) * K[:, rows] @ (active[np.ix_(rows, now)] * pull[rows, None]) * a[now]
        f = f + np.maximum(push, 0.0) @ a[now]
        before, active = active, active.copy()
        active[:, now] = push > 0
        still = still & ~now
        together, count, change = _together(active), partition(active, y, a), float(np.mean(before != active))
    return Course(*map(np.array, (losses, ratios, counts, changed)), first, active, a)


def _together(active: np.ndarray) -> np.ndarray:
    """C_ij, how many neurons are active on both samples."""
    one = active.astype(float)
    return one @ one.T
