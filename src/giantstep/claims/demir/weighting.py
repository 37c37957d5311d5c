"""Fig. 1b: the strength n^beta as spread of the data or as step size; and labels along the spikes, which keep their size."""

from functools import partial

from giantstep.claims.claim import claim
from giantstep.claims.demir import judgement
from giantstep.claims.demir.panel import Panel, PanelCurve, both, measure, predict

QUICK, FULL = (0.0, 0.25, 0.5, 0.75, 1.0), (0.0, 0.25, 0.5, 0.75, 1.0)
RANDOM = both("random ξ", lambda x, _: {"alpha": x}, QUICK, (1.0,), FULL)


def clean(x: tuple[float, ...], some: tuple[float, ...]) -> PanelCurve:
    """Labels along the sum of the two spikes, as in Fig. 4a."""
    return PanelCurve(
        "ReLU, ξ along the spikes", lambda a, _: {"alpha": a, "spiked_target": True}, x, some, linear=True
    )


PANEL = Panel(
    symbol="α",
    axis="α: spread $n^{\\beta(1-\\alpha)}$, step $n^{\\beta\\alpha}$",
    curves={
        "quick": (*RANDOM["quick"], clean((0.0, 0.5, 1.0), (1.0,))),
        "full": (*RANDOM["full"], clean(FULL, FULL)),
    },
    better=0.0,
    worse=1.0,
)
CLAIM = claim(
    "demir/weighting",
    measure=partial(measure, PANEL),
    predict=partial(predict, PANEL),
    judge=partial(judgement.judge, PANEL),
)
