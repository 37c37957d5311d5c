"""Classwise: on orthogonally separable data every class is a linear model of its own after one step (after Wang and Ma 2022).

With m_c neurons on class c and K its Gram matrix, y f = m_c a v and

    v <- v + rate a K pull/n,    a <- a + rate <v, pull>/n   (only if the second layer is trained)

from v = rate |K_c| (pull active/alive)/n after the first step, K_c now the rows of the class: before they are sorted, neurons are
active on samples of both classes, and both push them the same way. For the square loss and the first layer alone this is

    1 - y f(t) = (I - rate m_c K/n)^(t-1) (1 - y f(1))

a drop of order one in the time 1/m, whatever n.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from giantstep.systems.early import living_neurons
from giantstep.systems.early.samples import LOSSES, gram, inputs

if TYPE_CHECKING:
    from giantstep.systems.early import Early


class Path(NamedTuple):
    """One class's part of the loss, (values of m, steps + 1), and of the squared gradient."""

    loss: Float[np.ndarray, "k t"]
    square: Float[np.ndarray, "k t"]


class Class(NamedTuple):
    """Gram matrix (n_c x n_c) of a class, and |K_ij| active_j/alive (n_c x n), its products with all that the first step sees."""

    gram: Float[np.ndarray, "nc nc"]
    first: Float[np.ndarray, "nc n"]


def classes(system: "Early", alive: float) -> tuple[Class, Class]:
    """The models of class + and of class -."""
    (_, y), K = inputs(system), gram(system)
    first = np.abs(K) * living_neurons.active(system) / alive
    plus, minus = (Class(K[np.ix_(y == s, y == s)], first[y == s]) for s in (1, -1))
    return plus, minus


def descent(system: "Early", own: Class, m: Float[np.ndarray, " k"] | Int[np.ndarray, " k"]) -> Path:
    """Gradient descent of one class for several m."""
    n, rate, loss, both = system.n, system.rate, LOSSES[system.loss], system.layers == "both"
    m = np.asarray(m, dtype=float)[:, None]
    v, a = np.zeros((len(m), len(own.gram))), np.ones((len(m), 1))
    losses, squares = [], []
    for t in range(system.steps + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            z = m * a * v
            pull = loss.pull(z) / n
            losses.append(np.sum(loss.value(z), axis=1) / n)
            push, by_a = pull @ own.gram, np.sum(v * pull, axis=1, keepdims=True)
            # m (a^2 <pull, K pull> + <v, pull>^2), once the neurons are sorted
            squares.append(m[:, 0] * (a[:, 0] ** 2 * np.sum(pull * push, axis=1) + both * by_a[:, 0] ** 2))
            push = pull[:, :1] * own.first.sum(axis=1) if t == 0 else push  # all pulls are equal at the start
            v, a = v + rate * a * push, a + (rate * by_a if both else 0.0)
    return Path(np.array(losses).T, np.array(squares).T)


def first_ratio(system: "Early") -> float:
    """||grad L||^2/L before the first step: m pull^2/(n^2 L) sum_ij y_i y_j K_ij P(active on both)."""
    (_, y), loss, zero = inputs(system), LOSSES[system.loss], np.zeros(1)
    alone, pairs = living_neurons.dead(system)
    both = 1 - alone[:, None] - alone + pairs
    scale = system.width * float(loss.pull(zero)[0]) ** 2 / (system.n**2 * float(loss.value(zero)[0]))
    return scale * float(y @ (gram(system) * both) @ y)


def minibatches(system: "Early", own: Class, m: float) -> Float[np.ndarray, " t"]:
    """The mean square loss under minibatches of B of n, without replacement: C = E r r^T, r = 1 - y f, is closed.

    C <- C - (rate/n)(M C + C M^T) + (rate/B)^2 [(B/n - w) M diag(C) M^T + w M C M^T],   M = m K,  w = B(B - 1)/(n(n - 1))
    """
    n, rate, B = system.n, system.rate, system.batch or system.n
    w = B * (B - 1) / (n * (n - 1))
    # The first step: r = 1 - (rate/B) sum_{i in batch} M_i, over the samples of both classes
    M, one = m * own.first, np.ones(len(own.gram))
    total = M.sum(axis=1)
    C = np.outer(one, one) - rate / n * (np.outer(one, total) + np.outer(total, one))
    C = C + (rate / B) ** 2 * ((B / n - w) * M @ M.T + w * np.outer(total, total))
    M, losses = m * own.gram, [len(own.gram) / (2 * n)]
    for _ in range(system.steps):
        losses.append(np.trace(C) / (2 * n))
        drift = M @ C
        noise = (B / n - w) * (M * np.diag(C)) @ M.T + w * drift @ M.T
        C = C - rate / n * (drift + drift.T) + (rate / B) ** 2 * noise
    return np.array(losses)


def bound(system: "Early", m_plus: float, m_minus: float) -> Float[np.ndarray, " t"]:
    """What the exponential or logistic loss is at most at every step of gradient descent on the first layer.

    With mu the least K_ij of a class and h = m_+ m_- / (m_+ + m_-), Cauchy and Schwarz give ||grad L||^2 >= mu h (mean pull)^2.
    The exponential pull is the loss; the logistic one is concave in the loss, which stays below log 2: at least loss/(2 log 2).

        L(t) <= L_0 / (1 + mu h g^2 L_0 rate' (t - 1)),   g = 1 or 1/(2 log 2),   rate' = rate (1 - rate lam/2)

    and lam = max_c m_c lambda_max(K_c) loss''(0)/n bounds the curvature on the way. The first step is not counted.
    """
    from giantstep._machine.backend import one_blas_thread

    loss, pairs = LOSSES[system.loss], classes(system, 1.0)
    with one_blas_thread(system.n):
        top = [float(np.linalg.eigvalsh(own.gram)[-1]) for own in pairs]
    curvature = max(m * t for m, t in zip((m_plus, m_minus), top, strict=True)) * loss.bend / system.n
    least = min(float(np.min(own.gram)) for own in pairs)
    both = m_plus * m_minus / (m_plus + m_minus) if m_plus and m_minus else 0.0
    slope = {"exponential": 1.0, "logistic": 1 / (2 * np.log(2))}[system.loss]
    rate = system.rate * max(0.0, 1 - system.rate * curvature / 2)
    L0 = float(loss.value(np.zeros(1))[0])
    later = np.maximum(np.arange(system.steps + 1) - 1, 0)
    return L0 / (1 + least * both * slope**2 * L0 * rate * later)
