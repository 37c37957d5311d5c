"""Fig. 1a: neurons per sample. The labels are the same along the axis."""

from functools import partial

from giantstep.claims.claim import claim
from giantstep.claims.demir import judgement
from giantstep.claims.demir.panel import Panel, both, measure, predict

QUICK, FULL = (0.3, 1.0, 3.0), (0.1, 0.3, 1.0, 2.0, 5.0)
PANEL = Panel(
    symbol="k/m",
    axis="neurons per sample k/m",
    curves=both("random ξ", lambda x, _: {"width": x}, QUICK, (1.0,), FULL),
)
CLAIM = claim(
    "demir/width",
    measure=partial(measure, PANEL),
    predict=partial(predict, PANEL),
    judge=partial(judgement.judge, PANEL),
)
