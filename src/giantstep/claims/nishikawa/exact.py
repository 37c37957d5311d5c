"""Both methods without sampling error: a pool of draws is the prior itself, and the guarantees hold for it word by word."""

from functools import lru_cache
from typing import Any

import jax.numpy as jnp
import numpy as np

import giantstep as gs
from giantstep.checks.random import Stream, generator, normals
from giantstep.functions.activation import activation
from giantstep.systems.mean_field import MeanField
from giantstep.systems.mean_field import dual as _dual
from giantstep.systems.mean_field import particles as engine
from giantstep.systems.mean_field.training import features

POOL = 1000  # draws


def system(loss: str, lam: float, method: str, n: int, passes: int) -> MeanField:
    return gs.MeanField(n, loss=loss, penalty=lam, method=method, passes=passes, pool=POOL, particles=POOL)


@lru_cache(maxsize=4)
def optimum(loss: str, lam: float, n: int) -> tuple[Any, np.ndarray, Any]:
    """White inputs and labels, draws, their features, and the state of the optimum."""
    s = system(loss, lam, "finite", n, 1)
    X, y = s.curves
    white, u = X * s.deviations, normals(0, (Stream.SKETCH, 3), 0, POOL, X.shape[1])
    H = features(white, u, s.training)
    return (white, y, u), H, _dual.optimum(H, y, lam, loss)[1]


def run(loss: str, lam: float, method: str, n: int, passes: int, seed: int) -> dict[str, np.ndarray]:
    """Objective and dual value over the optimum, after every pass ("finite") or sample ("online"); the first is the start."""
    (white, y, u), H, best = optimum(loss, lam, n)
    problem = engine.ParticleProblem(*(jnp.asarray(v, float) for v in (white, y, lam, 1.0)))
    how = engine.How(loss, activation("tanh"))
    samples = generator(seed, Stream.STEP).integers(0, n, passes * n)
    every = n if method == "finite" else 1
    cloud = engine.start(u, problem, how, 0.5)
    records = engine.run(generator(seed, Stream.TEST), cloud, samples, problem, how, method, every=every, refresh=0.0)
    duals = np.concatenate([np.zeros((1, n)), records.duals])
    objective, dual = _dual.path(H, y, duals, lam, loss)
    return {"objective": objective - best.objective, "dual": best.dual - dual, "kl": np.array(best.kl)}
