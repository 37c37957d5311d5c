"""Fig. 2c: the number of spikes of every component, of strengths theta U(0, 1), averaged over populations."""

from functools import partial
from typing import Any

from giantstep.checks.claim import Claim
from giantstep.claims.demir import judgement
from giantstep.claims.demir.panel import Panel, PanelCurve, measure, predict

QUICK, FULL = (1.0, 3.0, 8.0), (1.0, 2.0, 4.0, 8.0)
SIZES = {"quick": (200, 24), "full": (1000, 12)}  # n = m, populations


def strengths(rank: int, population: int, populations: int) -> tuple[float, ...]:
    """Uniform in (0, 1), every spike stratified over the populations; both components have them, so that the traces are equal."""
    import numpy as np

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
        f"{name}, random ξ", own, x, (8.0,), populations=count, untold=size == "quick"
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
RANK = Claim(
    name="demir/rank",
    statement="The rank of the components' covariances matters, higher ranks giving smaller errors, and the errors of the "
    "network and of the Hermite model align.",
    paper="demir",
    where="Fig. 2c, covariance rank at α = 1/2, β = 3/4⁻, strengths θ U(0, 1)",
    test="The raw error at rank 8 should be below that at rank 1 by 3 s.e. over populations; the Hermite model should be within "
    "3 s.e. or 10% (4% at full size) of the network on the same draws. The verdict is on the raw errors; errors over the "
    "variance of the labels stand beside it. Theory is asked at full size, within 3 s.e. or 3%. "
    "Open if a departure of 20% would not be seen.",
    measure=partial(measure, PANEL),
    predict=partial(predict, PANEL),
    judge=partial(judgement.judge, PANEL),
)
