"""Fig. 2c: the number of spikes of every component, of strengths theta U(0, 1), averaged over populations."""

from functools import partial
from typing import Any

import numpy as np

from giantstep.claims.claim import claim
from giantstep.claims.demir import judgement
from giantstep.claims.demir.panel import Panel, PanelCurve, measure, predict

QUICK, FULL = (1.0, 3.0, 8.0), (1.0, 2.0, 4.0, 8.0)
SIZES = {"quick": (200, 24), "full": (1000, 12)}  # n = m, populations


def strengths(rank: int, population: int, populations: int) -> tuple[float, ...]:
    """Uniform in (0, 1), every spike stratified over the populations; both components have them, so that the traces are equal."""
    rng = np.random.default_rng(rank)
    place = np.array([rng.permutation(populations) for _ in range(rank)])[:, population]
    return tuple(((place + rng.random((populations, rank))[population]) / populations).tolist())


def options(populations: int, activation: str, x: float, population: int) -> dict[str, Any]:
    own = strengths(round(x), population, populations)
    return {"strengths": own, "seed": population, "activation": activation}


def curve(size: Any, activation: str, x: tuple[float, ...], count: int) -> PanelCurve:
    name = {"relu": "ReLU", "tanh": "tanh"}[activation]
    own = partial(options, SIZES[size][1], activation)
    return PanelCurve(
        f"{name}, random ξ", own, x, (8.0,), populations=count, unpredicted=size == "quick"
    )  # theory takes seconds a mixture


PANEL = Panel(
    symbol="rank",
    axis="spikes of each component",
    curves={
        "quick": (curve("quick", "relu", QUICK, 5),),
        "full": (curve("full", "relu", FULL, 8), curve("full", "tanh", FULL[::3], 8)),
    },
    better=8.0,
    worse=1.0,
    sizes=SIZES,
)
CLAIM = claim(
    "demir/rank",
    measure=partial(measure, PANEL),
    predict=partial(predict, PANEL),
    judge=partial(judgement.judge, PANEL),
)
