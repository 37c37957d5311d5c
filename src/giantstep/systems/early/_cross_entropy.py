"""Several classes with cross entropy: the first stage of training on any inputs, measured and predicted (after Wang and Ma 2022).

    f(x) = sum_k a_k relu(b_k . x + c_k) in R^C,   a_k in {-1, 1}^C,   L = (1/n) sum_i log sum_c exp(f_c(x_i)) - f_{y_i}(x_i)
    b_k <- b_k + (rate/n) sum_i 1{k active on i} <a_k, pull_i> x_i,     pull_i = e_{y_i} - softmax(f(x_i))

At the start f = 0 and pull_i = e_{y_i} - 1/C, whatever the network. So the gradient's mean square follows from the inputs alone,

    E ||grad L||^2 = (m/n^2) sum_ij <pull_i, pull_j> K_ij P(a neuron is active on both)

and while the residuals stay near those of the start, every neuron climbs Phi_k(b) = (1/n) sum_i <a_k, pull_i> relu(b . x_i) on
its own. Phi_k is homogeneous, so along the flow b' = grad Phi_k(b)

    d/dt Phi_k(b)/|b| = (|grad Phi_k|^2 - (b . grad Phi_k/|b|)^2)/|b| >= 0,     |grad Phi_k(b)| >= Phi_k(b)/|b|

which bounds the gradient from below, for any inputs: ||grad L||^2 >= sum_k max(Phi_k(b_k)/|b_k|, 0)^2, b_k the neuron after its
first step. In the limit of many neurons the loss depends on width times time alone: outputs are sums over neurons, each of which
moves at the same speed. That of a wide reference is the prediction (``wide_reference``).
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from giantstep.measure import mean_and_error
from giantstep.results.system import Number, Reading
from giantstep.systems.early import living_neurons
from giantstep.systems.early._wide_reference import FIRST, MANY, REFERENCES, WIDE, reference
from giantstep.systems.early.path import crossing, curve
from giantstep.systems.early.samples import batches, check_memory, extended, gram, inputs, start

if TYPE_CHECKING:
    from giantstep.systems.early import Early

NEAR = 0.05  # share of the loss up to whose drop the residuals count as those of the start


class ClassesPath(NamedTuple):
    """The loss and ||grad L||^2/L before every step and after the last, and the share of the patterns that each step changes."""

    loss: Float[np.ndarray, " t"]
    ratio: Float[np.ndarray, " t"]
    changed: Float[np.ndarray, " t"]


def pulls(f: Float[np.ndarray, "n C"], one_hot: Float[np.ndarray, "n C"]) -> Float[np.ndarray, "n C"]:
    """Minus the gradient of the cross entropy by the outputs: e_y - softmax(f)."""
    e = np.exp(f - f.max(axis=1, keepdims=True))
    return one_hot - e / e.sum(axis=1, keepdims=True)


def one_hot(system: "Early") -> Float[np.ndarray, "n C"]:
    """The classes of the samples as unit vectors."""
    return np.eye(system.classes)[inputs(system)[1].astype(int)]


def run(system: "Early", seed: int = 0) -> ClassesPath:
    """Train one network, and record every step."""
    X, Y, (B, a) = extended(system), one_hot(system), start(system, seed)
    check_memory(system)
    trained, both = np.ones(system.d + 1), system.layers == "both"
    trained[-1] = float(system.bias == "trained")
    losses, squares, changed = [], [], []
    last: Bool[np.ndarray, "n m"] | None = None
    for rows in [*batches(system, seed), None]:
        hidden = np.maximum(X @ B.T, 0.0)
        active, f = hidden > 0, hidden @ a
        pull, top = pulls(f, Y), f.max(axis=1)
        losses.append(float(np.mean(np.log(np.sum(np.exp(f - top[:, None]), axis=1)) + top - np.sum(f * Y, axis=1))))
        by_b, by_a = ((active * (pull @ a.T)).T @ X) * trained / len(X), hidden.T @ pull / len(X)
        squares.append(float(np.sum(by_b**2) + both * np.sum(by_a**2)))
        changed.append(0.0 if last is None else float(np.mean(active != last)))
        last = active
        if rows is None:
            break
        if system.batch is not None:
            part = active[rows] * (pull[rows] @ a.T)
            by_b, by_a = part.T @ X[rows] * trained / len(rows), hidden[rows].T @ pull[rows] / len(rows)
        B, a = B + system.rate * by_b, a + (system.rate * by_a if both else 0.0)
    return ClassesPath(np.array(losses), np.array(squares) / np.array(losses), np.array(changed))


def first_ratio(system: "Early") -> float:
    """E ||grad L||^2/L before the first step, exactly, with L = log C; of the first layer."""
    alone, pairs = living_neurons.dead(system)
    both = 1 - alone[:, None] - alone + pairs
    pull = one_hot(system) - 1 / system.classes
    return system.width / system.n**2 / np.log(system.classes) * float(np.sum((pull @ pull.T) * gram(system) * both))


def floor(system: "Early") -> Number:
    """The lower bound of ||grad L||^2/L while the residuals are those of the start, from the inputs alone, over drawn neurons."""
    wide = replace(system, width=living_neurons.DRAWS // 4)
    X, (B, a) = extended(wide), start(wide, FIRST)
    trained = np.ones(wide.d + 1)
    trained[-1] = float(wide.bias == "trained")
    weights = (one_hot(wide) - 1 / wide.classes) @ a.T / wide.n  # <a_k, pull_i>/n, (n, neurons)
    moved = (((X @ B.T > 0) * weights).T @ X) * trained  # after the first step, far from the start
    climbed = np.sum(weights * np.maximum(X @ moved.T, 0.0), axis=0)
    lengths = np.linalg.norm(moved, axis=1)
    speeds = np.maximum(np.where(lengths > 0, climbed / np.where(lengths > 0, lengths, 1.0), 0.0), 0.0) ** 2
    mean, error = mean_and_error(speeds)
    scale = system.width / float(np.log(system.classes))
    return Number(scale * float(mean), scale * float(error))


def least_ratio(path: ClassesPath) -> float:
    """The least ||grad L||^2/L after the first step until the loss has fallen by the share ``NEAR``."""
    near = path.loss >= (1 - NEAR) * path.loss[0]
    near[:2] = (False, True)
    return float(np.min(path.ratio[near]))


def _numbers(system: "Early", path: ClassesPath) -> dict[str, float]:
    return {
        "drop_time": crossing(system.times, path.loss, system.drop),
        "last_loss": float(path.loss[-1]),
        "changed": float(path.changed[min(2, len(path.changed) - 1)]),
    }


def measured(system: "Early", seed: int) -> Reading:
    """Measure the numbers and curves of one run."""
    path = run(system, seed)
    numbers = {**_numbers(system, path), "floor": least_ratio(path)}
    curves = {"loss": curve(system, path.loss, log="y"), "ratio": curve(system, path.ratio, log="y")}
    never = f"the loss did not fall by {system.drop:.0%} in {system.steps} steps"
    return Reading(numbers, curves, (never,) if np.isnan(numbers["drop_time"]) else ())


def predicted(system: "Early") -> Reading:
    """Predict the numbers and curves of a run: the loss from wide references, the gradient's floor from the inputs alone."""
    paths = [run(reference(system), FIRST + k) for k in range(REFERENCES)]
    each = [_numbers(system, path) for path in paths]
    numbers = {name: Number.of([one[name] for one in each]) for name in each[0]} | {"floor": floor(system)}
    loss, error = mean_and_error(np.array([path.loss for path in paths]), 0)
    # the references have M/m as many neurons, each with the same gradient
    ratio, ratio_error = mean_and_error(np.array([path.ratio for path in paths]) * system.width / WIDE, 0)
    ratio = np.concatenate([[first_ratio(system)], ratio[1:]])
    curves = {"loss": curve(system, loss, error, "y"), "ratio": curve(system, ratio, ratio_error, "y")}
    notes = ("The prediction holds the second layer fixed.",) if system.layers == "both" else ()
    return Reading(numbers, curves, (*notes, MANY))
