"""Fig. 1a: neurons per sample. The labels are the same along the axis."""

from functools import partial

from giantstep.checks.claim import Claim
from giantstep.claims.demir import judgement
from giantstep.claims.demir.panel import Panel, both, measure, predict

QUICK, FULL = (0.3, 1.0, 3.0), (0.1, 0.3, 1.0, 2.0, 5.0)
PANEL = Panel(
    symbol="k/m",
    axis="neurons per sample k/m",
    curves=both("random ξ", lambda x, _: {"width": x}, QUICK, (1.0,), FULL),
)
WIDTH = Claim(
    name="demir/width",
    statement="The errors of the network after one step and of the Hermite model align along k/m.",
    paper="demir",
    where="Fig. 1a, impact of k/m at α = 1/2, β = 3/4⁻",
    test="At every k/m the Hermite model should be within 3 s.e. or 10% (4% at full size) of the network on the same draws, and "
    "theory within 3 s.e. or 6% (3%); one beyond fails. The labels do not change along the axis: the verdict is the same raw "
    "and normalised. Open if a departure of 20% would not be seen.",
    measure=partial(measure, PANEL),
    predict=partial(predict, PANEL),
    judge=partial(judgement.judge, PANEL),
)
