"""Fig. 2b: the cosine of the spikes of the two components."""

from functools import partial

from giantstep.claims.claim import claim
from giantstep.claims.demir import judgement
from giantstep.claims.demir.panel import Panel, both, measure, predict

QUICK = FULL = (-1.0, -0.5, 0.0, 0.5, 1.0)
PANEL = Panel(
    symbol="cos(γ₁, γ₂)",
    axis="alignment $\\cos(\\gamma_1, \\gamma_2)$",
    curves=both("random ξ", lambda x, _: {"alignment": x}, QUICK, (0.0,), FULL),
    better=1.0,
    worse=0.0,
)
CLAIM = claim(
    "demir/alignment",
    measure=partial(measure, PANEL),
    predict=partial(predict, PANEL),
    judge=partial(judgement.judge, PANEL),
)
