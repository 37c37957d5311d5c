"""Fig. 1c: the strength beta of spread and step together; and labels along the spikes, which keep their size."""

from functools import partial

from giantstep.checks.claim import Claim
from giantstep.claims.demir import judgement, seen
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
STRENGTH = Claim(
    name="demir/strength",
    statement="A larger strength parameter β results in improved generalization in general, and the errors of the network and of "
    "the Hermite model align.",
    paper="demir",
    where="Fig. 1c, impact of the strength β at α = 1/2, and the row β of Fig. 4a at the same α",
    test=f"The raw error at β = 1 should be below that at β = 0 by 3 s.e.; {seen.TEST}",
    measure=partial(measure, PANEL),
    predict=partial(predict, PANEL),
    judge=partial(judgement.judge, PANEL),
)
