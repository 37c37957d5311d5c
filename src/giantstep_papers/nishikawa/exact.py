"""Both methods without sampling error: a pool of draws is the prior itself. Curves,
pool and stream depend on the seed."""

from functools import lru_cache
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

import giantstep as gs
from giantstep.checks.random import Stream, generator, normals
from giantstep.functions import losses
from giantstep.functions.activation import activation
from giantstep.systems.mean_field import MeanField, dual
from giantstep.systems.mean_field import particles as engine
from giantstep.systems.mean_field.training import features

POOL = 300  # draws
BASIS = MeanField.basis  # J


class Solved(NamedTuple):
    """White inputs, labels, draws and their features, the dual variables of the optimum and its
    state."""

    white: np.ndarray
    y: np.ndarray
    draws: np.ndarray
    H: np.ndarray
    g: np.ndarray
    best: dual.DualState


def system(loss: str, lam: float, method: str, n: int, passes: int, data: int = 0) -> MeanField:
    return gs.MeanField(
        n,
        loss=loss,
        penalty=lam,
        method=method,
        passes=passes,
        pool=POOL,
        particles=POOL,
        data=data,
    )


@lru_cache(maxsize=4)
def optimum(loss: str, lam: float, n: int, seed: int) -> Solved:
    s = system(loss, lam, "finite", n, 1, seed)
    X, y = s.curves
    white, draws = X * s.deviations, normals(seed, (Stream.SKETCH, 3), 0, POOL, X.shape[1])
    H = features(white, draws, s.training)
    return Solved(white, y, draws, H, *dual.optimum(H, y, lam, loss))


def duals(
    loss: str, lam: float, method: str, n: int, passes: int, seed: int, stream: int = 0
) -> np.ndarray:
    """Dual variables after every pass ("finite") or sample ("online");
    the first row is the start."""
    solved = optimum(loss, lam, n, seed)
    problem = engine.ParticleProblem(
        *(jnp.asarray(v, float) for v in (solved.white, solved.y, lam, 1.0))
    )
    how = engine.How(loss, activation("tanh"))
    samples = generator(seed, Stream.STEP, stream).integers(0, n, passes * n)
    cloud, every = engine.start(solved.draws, problem, how, 0.5), n if method == "finite" else 1
    rng = generator(seed, Stream.TEST, stream)
    records = engine.run(rng, cloud, samples, problem, how, method, every=every, refresh=0.0)
    return np.concatenate([np.zeros((1, n)), records.duals])


def curvature(solved: Solved, lam: float, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """A and c of the method near the optimum: 2n (D* - D) = d' A d and d_i <- d_i - c_i (A d)_i,
    with d = g - g*.

    A = diag(1/l'') + Cov(h_i, h_j)/(lam n) over the optimal law,
    and c_i = 1/(1/l''_i + B^2/(n lam)).
    """
    n, f, w = len(solved.y), solved.best.outputs, solved.best.weights
    centred, stiff = solved.H - f, 1 / np.asarray(losses.bend(loss, f, solved.y))
    covariance = (centred * w[:, None]).T @ centred / (lam * n)
    return np.diag(stiff) + covariance, 1 / (stiff + 1 / (n * lam))


def after_a_pass(A: np.ndarray, c: np.ndarray) -> np.ndarray:
    """B with E[d' A d] = d0' B d0 after n random coordinates:
    n times B <- E[(I - c_i A e_i e_i') B (I - c_i e_i e_i' A)]."""
    B, n = A, len(c)
    for _ in range(n):
        push = (A * c) @ B
        B = B - (push + push.T) / n + (A * (c**2 * np.diag(B))) @ A / n
    return B
