"""What entropic mean-field training should find: the optimum itself, by its dual problem, and the rates that are guaranteed.

The prior is replaced by a pool of draws, so the optimum has an error of the pool, said beside it; the dual problem is solved to
rounding. Finite sample: E[D* - D_t] <= (1 - 1/(n + B^2 L/lam))^t (D* - D_0). Online: see ``_dual.averaging``. Laws with
KL(mu | nu) <= R have the Rademacher complexity at most ``B sqrt(2 R/n)`` on n points, whatever their dimension, by
``sup <u, mu> <= (R + log E_nu exp(eta u))/eta``; twice that times the slope of the loss bounds test less training loss in the
mean.
"""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq

from giantstep.functions import losses as _losses
from giantstep.results.system import Curve, Number, Reading
from giantstep.systems.mean_field import dual
from giantstep.systems.mean_field.training import CARRIED, features, pool

if TYPE_CHECKING:
    from giantstep.systems.mean_field import MeanField

TEST = 4000  # fresh curves
ENOUGH = 1e-6  # gap over objective at which the dual problem counts as solved


def predicted(system: "MeanField") -> Reading:
    """The optimum on the system's curves, and the guaranteed excess along a run."""
    t, (X, y) = system.training, system.curves
    _, best = dual.optimum(pool(X * system.deviations, t, system.data, 0), y, t.penalty, t.loss)
    losses = _losses.value(t.loss, _test_outputs(system, best.weights), system.sample(0, TEST, 1)[1])
    steepest = _losses.steepest(t.loss, t.bound, y)
    numbers = {
        "objective": Number(best.objective, best.error),
        "kl": Number(best.kl, best.error / t.penalty),
        "train_loss": float(np.mean(_losses.value(t.loss, best.outputs, y))),
        "test_loss": Number(float(losses.mean()), float(losses.std() / TEST**0.5)),
        "gap": 0.0,
        "generalisation_bound": 2 * steepest * rademacher(t.bound, best.kl, system.n),
    }
    doubts = ()
    if best.ess < CARRIED:
        doubts += (
            f"Only {best.ess:.0f} of {t.pool} draws of the prior carry the optimum. Take a larger pool or penalty.",
        )
    if best.gap > ENOUGH * best.objective:
        doubts += (f"The dual problem did not converge: it has a gap of {best.gap:.1e}.",)
    return Reading(numbers, _guaranteed(system, best.kl, steepest), doubts=doubts)


def _test_outputs(system: "MeanField", weights: Float[np.ndarray, " draws"]) -> Float[np.ndarray, " rows"]:
    """The optimal network on fresh curves."""
    from giantstep._machine.random import Stream, normals

    t, Xt = system.training, system.sample(0, TEST, 1)[0] * system.deviations
    u = normals(system.data, (Stream.SKETCH, 0), 0, t.pool, Xt.shape[1])
    carried = np.argsort(weights)[::-1]
    carried = carried[: np.searchsorted(np.cumsum(weights[carried]), 1 - 1e-6) + 1]  # the rest changes nothing
    w = weights[carried] / weights[carried].sum()
    return np.concatenate([w @ features(x, u[carried], t) for x in np.array_split(Xt, 8)])


def _guaranteed(system: "MeanField", kl: float, steepest: float) -> dict[str, Curve]:
    t, n = system.training, system.n
    if t.method == "finite":
        x = np.arange(t.passes + 1.0)
        rate = dual.contraction(n, t.bound, t.penalty, t.loss)
        return {"dual_excess": Curve("passes", x, (1 - rate) ** (n * x), log="y")}
    x = np.geomspace(1, t.passes * n, 60)
    return {"excess": Curve("samples T", x, dual.averaging(x, kl, steepest, t.bound, t.penalty), log="xy")}


def rademacher(bound: float, kl: float, n: int) -> float:
    """The bound B sqrt(2 R/n) on the Rademacher complexity."""
    return bound * (2 * kl / n) ** 0.5


def complexity(
    H: Float[np.ndarray, "draws n"], kl: float, signs: Float[np.ndarray, "rows n"]
) -> Float[np.ndarray, " rows"]:
    """sup of (1/n) sum_i e_i f_mu(x_i) over KL(mu | nu) <= R for every row of signs e, nu the pool with the features H.

    It is reached by mu = exp(eta v) nu / Z with v = H e/n and the eta at which KL = R, found by bisection.
    """
    from giantstep._machine.backend import one_blas_thread

    with one_blas_thread():
        return np.array([_supremum(H @ e / H.shape[1], kl) for e in signs])


def _supremum(v: Float[np.ndarray, " draws"], kl: float) -> float:
    def tilted(eta: float) -> tuple[float, float]:
        w = np.exp(eta * (v - v.max()))
        total = w.sum()
        mean = float(w @ v / total)
        return mean, eta * (mean - float(v.max())) - float(np.log(total / len(v)))

    high = 1.0
    while tilted(high)[1] < kl and high < 1e9:
        high *= 2
    return tilted(float(brentq(lambda eta: tilted(eta)[1] - kl, 0.0, high)))[0]  # type: ignore[arg-type]
