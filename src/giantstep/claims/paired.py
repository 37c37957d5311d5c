"""A giant step and random features on the same draws: errors, what the step gains, and what theory says of both."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import cache
from giantstep.claims.moniri import talk
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.results.outcome import Outcome

PENALTY = 0.1
ERRORS = {"test_error": "test error", "train_objective": "training loss"}  # L_te, and L_tr with its penalty
N_TEST = 3000
STEP_SIZE = r"$\alpha$, step size $\eta = n^\alpha$"
OPAQUE: dict[str, Any] = {"frameon": True, "facecolor": "white", "edgecolor": "none", "framealpha": 1.0}  # for legends


def experiment(
    n: int,
    alphas: Sequence[float],
    target: Target,
    *,
    activation: str = "relu",
    update: str = "gradient",
    penalty: Any = PENALTY,
) -> Setting:
    """The talk's experiment at step sizes 0, which leaves random features, and n^alpha."""
    base = talk.experiment(n, 0.0, target, activation=activation)
    step = replace(base.protocol.steps[0], eta=(0.0, *(float(n) ** a for a in alphas)), update=update)
    return replace(base, protocol=gs.Protocol((step,), gs.Ridge(n, penalty)))


def simulated(setting: Setting, seeds: int) -> Outcome:
    """All step sizes on the same draws, for every seed."""
    return cache.simulate(setting, range(seeds), n_test=N_TEST, dtype="float32")  # the ridge fit stays in float64


def measured(setting: Setting, seeds: int) -> np.ndarray:
    """Test error and training loss, (2, step sizes, seeds)."""
    return _both(simulated(setting, seeds))


def predicted(setting: Setting, regime: str = "finite") -> np.ndarray:
    """Test error and training loss, (2, step sizes)."""
    return _both(gs.theory(setting, regime))


def _both(outcome: Outcome) -> np.ndarray:
    return np.stack([getattr(outcome, error) for error in ERRORS])


def gains(errors: np.ndarray) -> np.ndarray:
    """Errors of random features, the first step size, less those after the step: (2, step sizes - 1) and seeds if there are."""
    return errors[:, :1] - errors[:, 1:]


def over_line(ax: Any, x: Any, samples: np.ndarray, fine: Any, line: Any, *, colour: str, label: str) -> None:
    """Simulated values (x, seeds) as dots with error bars over a predicted line."""
    ax.plot(fine, line, color=colour)
    style.dots(ax, x, *mean_and_error(samples), color=colour, label=label)


def step_axis(ax: Any, threshold: float) -> None:
    """Name the axis of exponents, and mark where a regime ends by a thin vertical line."""
    ax.axvline(threshold, color=style.INK, linewidth=0.7, linestyle=":", zorder=0)
    ax.set_xlabel(STEP_SIZE)
