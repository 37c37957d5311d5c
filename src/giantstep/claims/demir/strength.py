"""Fig. 1c: the strength beta of spread and step together; and labels along the spikes, which keep their size."""

from functools import partial

from giantstep.claims.claim import claim
from giantstep.claims.demir import judgement
from giantstep.claims.demir.panel import Panel, PanelCurve, both, measure, predict

QUICK = FULL = (0.0, 0.25, 0.5, 0.74, 1.0)
RANDOM = both("random ξ", lambda x, _: {"beta": x}, QUICK, (0.74,), FULL)


def clean(x: tuple[float, ...], some: tuple[float, ...]) -> PanelCurve:
    """Labels along the sum of the two spikes, as in Fig. 4a."""
    return PanelCurve("ReLU, ξ along the spikes", lambda b, _: {"beta": b, "spiked_target": True}, x, some)


PANEL = Panel(
    symbol="β",
    axis="β: spread and step $n^{\\beta/2}$ each",
    curves={
        "quick": (*RANDOM["quick"], clean((0.0, 0.74, 1.0), (0.74,))),
        "full": (*RANDOM["full"], clean(FULL, FULL)),
    },
    better=1.0,
    worse=0.0,
)
CLAIM = claim(
    "demir/strength",
    measure=partial(measure, PANEL),
    predict=partial(predict, PANEL),
    judge=partial(judgement.judge, PANEL),
)
