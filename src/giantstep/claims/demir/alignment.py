"""Fig. 2b: the cosine of the spikes of the two components."""

from functools import partial

from giantstep.checks.claim import Claim
from giantstep.claims.demir import judgement, seen
from giantstep.claims.demir.panel import Panel, both, measure, predict

QUICK = FULL = (-1.0, -0.5, 0.0, 0.5, 1.0)
PANEL = Panel(
    symbol="cos(γ₁, γ₂)",
    axis="alignment $\\cos(\\gamma_1, \\gamma_2)$",
    curves=both("random ξ", lambda x, _: {"alignment": x}, QUICK, (0.0,), FULL),
    better=1.0,
    worse=0.0,
)
ALIGNMENT = Claim(
    name="demir/alignment",
    statement="The alignment of the components' covariances matters, aligned spikes giving smaller errors, and the errors of the "
    "network and of the Hermite model align.",
    paper="demir",
    where="Fig. 2b, alignment at α = 1/2, β = 3/4⁻",
    test=f"The raw error at cosine 1 should be below that at cosine 0 by 3 s.e.; {seen.TEST}",
    measure=partial(measure, PANEL),
    predict=partial(predict, PANEL),
    judge=partial(judgement.judge, PANEL),
)
