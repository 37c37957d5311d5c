"""The talk's experiment: y = H1 + noise (setting 1) or H1 + H2/sqrt(2) (setting 2).

Its sizes are d : n : N = 3 : 5 : 4.
"""

from typing import Any

import numpy as np

import giantstep as gs
from giantstep.experiment import draw
from giantstep.experiment.target import Target

RATIOS = "d : n : p = 3 : 5 : 4"
# in figures
LABELS = {"setting 1": "$y = x_1$ + noise", "setting 2": r"$y = x_1 + H_2(x_1)/\sqrt{2}$"}


def setting_1() -> Target:
    """y = H1(<beta*, x>) + N(0, 1)."""
    return gs.target("x1", noise=1.0)


def setting_2() -> Target:
    """y = H1(<beta*, x>) + H2(<beta*, x>) / sqrt(2), no noise."""
    return gs.target("x1 + H2(x1)/sqrt(2)")


def targets() -> dict[str, Target]:
    """Both settings by name."""
    return dict(zip(LABELS, (setting_1(), setting_2()), strict=True))


# by name, as calls that are stored need them
TARGETS = {**targets(), "degree three": gs.target("x1 + H3(x1)/(2*sqrt(6))")}


def experiment(
    n: int,
    alpha: Any,
    target: Target,
    *,
    activation: str = "relu",
    residual: str = "target",
) -> gs.Setting:
    """The preset at batch size n and the talk's ratios."""
    d, p, penalty = 3 * n // 5, 4 * n // 5, 0.01
    return gs.presets.moniri(
        n, d, p, alpha, penalty, target=target, activation=activation, residual=residual
    )


def direction(setting: gs.Setting, seed: int) -> np.ndarray:
    """beta = X^T y / n on the batch of the first step."""
    X, y = draw.rows(setting, seed, draw.step_batches(setting)[0])
    return X.T @ y / len(y)
