"""Fig. 2a: the share of the first component, where the label is the component."""

from functools import partial

from giantstep.claims.claim import claim
from giantstep.claims.demir import judgement
from giantstep.claims.demir.panel import Panel, both, measure, predict

QUICK = FULL = (0.05, 0.2, 0.5, 0.8, 0.95)
PANEL = Panel(
    symbol="ρ",
    axis="mixture ratio ρ",
    curves=both("y = ±1 by component", lambda x, _: {"rho": x, "target": "-1 | 1"}, QUICK, (0.5,), FULL),
    better=0.05,
    worse=0.5,
    unjudged=("tanh",),  # it is odd and fits no constant: its error does not feel the ratio
)
CLAIM = claim(
    "demir/ratio",
    measure=partial(measure, PANEL),
    predict=partial(predict, PANEL),
    judge=partial(judgement.judge, PANEL),
)
