"""The corrected giant step: the gradient of the first layer with the noise of the residual instead of that of the labels.

A giant step moves neuron i along ``(1/n) sum_mu y_mu sigma'(h_i) x_mu``. For Gaussian x of covariance S Stein's identity says

    E[y sigma'(h_i) x] = S E[sigma'(h_i) grad y] + S w_i E[y sigma''(h_i)],

so that what a step learns is the gradient of the target averaged where the neuron is active, and its noise is that of all labels.
With a fit f of the labels on the present features, y = f + r, only the residual has to be averaged in this noisy way:

    g_i = (1/n) sum_mu sigma'(h_i) grad f(x_mu)  +  S^{-1} (1/n) sum_mu r_mu sigma'(h_i) x_mu.

The second term is the giant step on the residual (``step``). A small r means little noise, so each step is better than the one
before it. This is an average derivative with a correction for the error of the fit, as in Hristache, Juditsky, Polzehl and
Spokoiny (Annals of Statistics 29, 2001, 1537-1566), one average for each neuron's half-space.

Half of the neurons leave out the gradient common to all neurons of their output: it carries the linear part of the target and
would hide the directions in which the gradient averages to little.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.device import Arrays
from giantstep.estimator.steps._array import Array
from giantstep.estimator.steps.network import FirstLayer, FittedReadout, TablePiece, residuals, weighted

DAMPING = 1.0  # added to S, whose columns have variance one


def damped(spread: Float[Array, "d d"], where: Arrays) -> Float[Array, "d d"]:
    """The upper Cholesky factor of (S + damping) / (1 + damping), which replaces S because a table may have few rows."""
    return where.linalg.cho_factor((spread + DAMPING * where.xp.eye(len(spread))) / (1 + DAMPING))[0]


def descent(
    rows: Iterable[TablePiece],
    fitted: FittedReadout,
    outputs: Int[np.ndarray, " p"],
    covariance: Float[Array, "d d"],
    where: Arrays,
) -> Float[Array, "p d"]:
    """g_i for every neuron; neuron i sees the labels ``outputs[i]``.

    The first term is [(T^T T / n) o b^T] W + mean(T) b_0 with slopes T = sigma'(H), so that one product serves all outputs.
    """
    sums: Any = None
    layer: Any = None
    for piece in rows:
        if sums is None:
            layer, (p, d) = piece.layer, piece.layer.W.shape  # type: ignore[attr-defined]
            sums = where.zeros(p, p), where.zeros(p, d), where.zeros(p), where.zeros()
        sums = where.run(_with_slopes, sums, fitted, outputs, piece)
    return where.run(_descent, sums, fitted, outputs, layer, covariance, where=where)


def _with_slopes(sums: tuple, fitted: FittedReadout, outputs: Int[Array, " p"], piece: TablePiece) -> tuple:
    """T^T T, the pull of the residuals, the sums of T and of the weights, with those of some rows."""
    (both, pull, active, n), where, slopes = sums, piece.where, piece.slopes
    residual = piece.weights[:, None] * residuals(fitted, piece)
    residual = (residual if residual.shape[1] == 1 else residual[:, outputs]).astype(slopes.dtype)
    return (
        both + where.double(where.squares(weighted(slopes, piece.roots))),
        pull + where.double((slopes * residual).T @ piece.X),
        active + piece.weights @ slopes,
        n + piece.weights.sum(),
    )


def _descent(
    sums: tuple,
    fitted: FittedReadout,
    outputs: Int[Array, " p"],
    layer: FirstLayer,
    covariance: Float[Array, "d d"],
    where: Arrays,
) -> Float[Array, "p d"]:
    (both, pull, active, n), p, b = sums, len(layer.W), fitted.coefficients[:, outputs]
    explained = (both / n * b[:p].T) @ layer.W + (active / n)[:, None] * b[p:].T
    return explained + where.linalg.cho_solve((covariance, False), (pull / n).T).T


def without_common(g: Float[Array, "p d"], outputs: Int[np.ndarray, " p"], where: Arrays) -> Float[Array, "p d"]:
    """Subtract from every second neuron of an output the average over the neurons of that output."""
    k = int(outputs.max()) + 1
    member = where.put((outputs[:, None] == np.arange(k)).astype(float))
    every_second = where.put(((np.arange(len(outputs)) // k) % 2 == 0).astype(float))
    return where.run(_without_common, g, outputs, member, every_second)


def _without_common(
    g: Float[Array, "p d"], outputs: Int[Array, " p"], member: Float[Array, "p k"], every_second: Float[Array, " p"]
) -> Float[Array, "p d"]:
    common = (member.T @ g) / member.sum(axis=0)[:, None]
    return g - every_second[:, None] * common[outputs]


def moved(
    start: FirstLayer,
    g: Float[Array, "p d"],
    signs: Float[Array, " p"],
    eta: float,
    spread: Float[Array, "d d"],
    where: Arrays,
) -> FirstLayer:
    """w_i <- w_i + eta s_i g_i / |g_i| from the initial rows, with the signs s, then scaled so that the preactivations of the
    table have variance one.

    ``spread`` is the covariance of the table. A neuron that no row activates has no gradient and does not move.
    """
    g = signs[:, None] * g
    lengths = where.xp.sqrt((g**2).sum(axis=1))
    W = start.W + eta * g / where.xp.where(lengths > 0, lengths, 1.0)[:, None]
    return start.with_rows(unit(W, spread, where))


def unit(W: Float[Array, "p d"], spread: Float[Array, "d d"], where: Arrays) -> Float[Array, "p d"]:
    """Scale the rows so that ⟨w_i, x⟩ has variance one."""
    deviation = where.xp.sqrt(((W @ spread) * W).sum(axis=1))
    return W / where.xp.where(deviation > 0, deviation, 1.0)[:, None]
