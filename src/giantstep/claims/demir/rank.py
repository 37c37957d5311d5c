"""Fig. 2c: the number of spikes of every component, of strengths theta U(0, 1), averaged over populations."""

from typing import Any

import numpy as np

from giantstep.checks.claim import Data, Size
from giantstep.checks.random import Stream, generator
from giantstep.claims.demir.figure import functions
from giantstep.claims.demir.panel import ALPHA, BETA, SIZES, STEPPED, Panel, PanelCurve
from giantstep.claims.demir.panel import SEEDS as SEEDS

QUICK, FULL = (1.0, 8.0), (1.0, 2.0, 4.0, 8.0)


def options(x: float, seed: int) -> dict[str, Any]:
    """Strengths uniform in (0, 1), the same in both components, so that the traces are equal; a larger rank adds to them."""
    own = generator(seed, Stream.POPULATION, 2, 97).random(round(max(FULL)))[: round(x)]
    return {"strengths": tuple(own.tolist()), "seed": seed}


def curve(name: str, x: tuple[float, ...], more: dict[str, Any]) -> PanelCurve:
    return PanelCurve(name, lambda at, seed: {**options(at, seed), **more}, x, (), x, own=True)


STEP = curve("ReLU, α = 1, β = 0.86", (8.0,), STEPPED)  # noqa: RUF001
PANEL = Panel(
    symbol="rank",
    axis="spikes of each component",
    caption="With eight spikes in a component the error is {change:.0f}% smaller than with one.",
    curves={
        "quick": (curve("ReLU, α = 1/2", QUICK, {}), STEP),  # noqa: RUF001
        "full": (curve("ReLU, α = 1/2", FULL, {}), curve("tanh, α = 1/2", FULL[::3], {"activation": "tanh"}), STEP),  # noqa: RUF001
    },
    better=8.0,
    worse=1.0,
)
measure, _, compare, describe = functions(PANEL)


def log_variance(theta: float, rank: int) -> float:
    """E log Var(y) but for a constant: Var(y) is proportional to 1/||Sigma|| = 1/(1 + theta max_i t_i/2), t_i ~ U(0, 1)."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    t = (nodes + 1) / 2
    return -float(weights @ (np.log1p(theta * t / 2) * rank * t ** (rank - 1))) / 2


def predict(size: Size) -> Data:
    """The mean over populations of log Var(y) at rank 8 less that at rank 1."""
    theta = SIZES[size] ** (BETA * (1 - ALPHA))
    return {"change of log Var(y)": log_variance(theta, 8) - log_variance(theta, 1)}
