"""The first stage of training, simulated: the network itself, with its activation patterns counted at every step.

b_k <- b_k + rate a_k (1/|S|) sum_{i in S} 1{k active on i} pull_i y_i x_i,     S all samples or a minibatch
"""

import numpy as np

from giantstep import _memory
from giantstep._record import whole
from giantstep.early import LOSSES, Course, Early, batches, crossing, curve, extended, inputs, ordered, shares, start
from giantstep.measure import partition
from giantstep.system import Parts


def run(system: Early, seed: int = 0) -> Course:
    """Train, and record every step."""
    seed = whole(seed, "seed", least=0)
    n, d, m = system.n, system.d, system.width
    needed = 8.0 * (6 * n * m + 4 * m * d + 3 * n * d)
    if needed > (allowed := _memory.budget(None)):
        raise _memory.refuse(needed, allowed, f"width = {max(1, int(m * allowed / needed))}")
    _, y = inputs(system)
    X, (B, a) = extended(system), start(system, seed)
    first_a, loss, both = a, LOSSES[system.loss], system.layers == "both"
    trained = np.ones(d + 1)
    trained[-1] = float(system.bias == "trained")
    losses, ratios, counts, changed = [], [], [], []
    before = after = np.zeros((n, m), dtype=bool)
    for t, rows in enumerate([*batches(system, seed), None]):
        hidden = np.maximum(X @ B.T, 0.0)
        before, after = after, hidden > 0
        if t == 0:
            first = before = after
        with np.errstate(over="ignore", invalid="ignore"):
            z = y * (hidden @ a)
            losses.append(np.mean(loss.value(z)))
            pull = loss.pull(z) * y
            whole_b, whole_a = _slope(X, hidden, after, pull, a, trained)
            ratios.append((np.sum(whole_b**2) + both * np.sum(whole_a**2)) / losses[-1])
        counts.append(partition(after, y, first_a))
        changed.append(np.mean(before != after))
        if rows is None:
            break
        own = (whole_b, whole_a)
        if system.batch is not None:
            own = _slope(X[rows], hidden[rows], after[rows], pull[rows], a, trained)
        B, a = B + system.rate * own[0], a + (system.rate * own[1] if both else 0.0)
    return Course(*map(np.array, (losses, ratios, counts, changed)), first, after, first_a)


def _slope(
    X: np.ndarray, hidden: np.ndarray, active: np.ndarray, pull: np.ndarray, a: np.ndarray, trained: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Minus the gradients by the first and by the second layer, over these samples."""
    first = a[:, None] * ((active * pull[:, None]).T @ X) * trained
    return first / len(X), hidden.T @ pull / len(X)


def measured(system: Early, seed: int) -> Parts:
    """Numbers and curves of one run."""
    course, (_, y) = run(system, seed), inputs(system)
    into, true = ordered(course.last, y, course.a), np.outer(y, course.a) > 0
    numbers = {
        "sorted_plus": np.sum(into & (course.a > 0)),
        "sorted_minus": np.sum(into & (course.a < 0)),
        "uncovered": float(np.any(~np.any(course.first & true, axis=1))),
        "drop_time": crossing(system.times, course.loss, (1 - system.drop) * course.loss[0]),
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
    return Parts(numbers, curves, (never,) if np.isnan(numbers["drop_time"]) else ())
