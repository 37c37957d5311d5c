"""What particles find: the objective and its certificate, the losses, and the excess along the run."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from giantstep.functions import losses as _losses
from giantstep.results.system import Curve, Number, Reading
from giantstep.systems.mean_field import dual as _dual
from giantstep.systems.mean_field.training import pool, train

if TYPE_CHECKING:
    from giantstep.systems.mean_field import MeanField

TEST = 4000  # fresh curves


def measured(system: "MeanField", seed: int) -> Reading:
    """One run of the method on the system's curves."""
    X, y = system.curves
    field = train(X, y, system.deviations, system.training, seed)
    Xt, yt = system.sample(0, TEST, 1)
    losses = _losses.value(system.loss, field.outputs(Xt), yt)
    numbers = {
        "objective": Number(field.objective, field.errors["objective"]),
        "kl": Number(field.kl, field.errors["kl"]),
        "train_loss": field.train_loss,
        "test_loss": Number(float(losses.mean()), float(losses.std() / TEST**0.5)),
        "gap": Number(field.gap, field.errors["gap"]),
        "ess": field.ess,
        "acceptance": field.acceptance,
    }
    told = ((), field.status.notes) if not field.status.ok else (field.status.notes, ())
    return Reading(numbers, _curve(system, X, y, field.duals, seed), *told)


def _curve(
    system: "MeanField",
    X: Float[np.ndarray, "n J"],
    y: Float[np.ndarray, " n"],
    duals: Float[np.ndarray, "records n"],
    seed: int,
) -> dict[str, Curve]:
    """The excess of the laws mu_g along the run over the optimum of a pool of this seed."""
    t, n = system.training, system.n
    H = pool(X * system.deviations, t, seed, 2)
    best = _dual.optimum(H, y, t.penalty, t.loss)[1]
    objective, dual = _dual.path(H, y, duals, t.penalty, t.loss)
    if t.method == "finite":
        first = best.dual - _dual.at(H, y, np.zeros(n), t.penalty, t.loss).dual
        x = np.arange(len(duals) + 1.0)
        return {"dual_excess": Curve("passes", x, np.append(1.0, (best.dual - dual) / first), log="y")}
    steps = np.ceil(t.passes * n / len(duals)) * np.arange(1, len(duals) + 1)
    # 2/(T(T+1)) sum_{s<=T} s [P(mu_s) - P*]
    mean = np.cumsum(steps * (objective - best.objective)) / np.cumsum(steps)
    shown = np.unique(np.round(np.geomspace(1, len(steps), 40)).astype(int)) - 1
    return {"excess": Curve("samples T", steps[shown], mean[shown], log="xy")}
