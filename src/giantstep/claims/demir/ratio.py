"""Fig. 2a: the share of the first component, where the label is the component."""

from functools import partial

from giantstep.checks.claim import Claim
from giantstep.claims.demir import judgement, seen
from giantstep.claims.demir.panel import Panel, both, measure, predict

QUICK = FULL = (0.05, 0.2, 0.5, 0.8, 0.95)
PANEL = Panel(
    symbol="ρ",
    axis="mixture ratio ρ",
    curves=both("y = ±1 by component", lambda x, _: {"rho": x, "target": "-1 | 1"}, QUICK, (0.5,), FULL),
    better=0.05,
    worse=0.5,
    told=("tanh",),  # it is odd and fits no constant: its error does not feel the ratio
)
RATIO = Claim(
    name="demir/ratio",
    statement="In classification by component the mixture ratio matters, unbalanced components being easier, and the errors of "
    "the network and of the Hermite model align.",
    paper="demir",
    where="Fig. 2a, mixture ratio at α = 1/2, β = 3/4⁻",
    test="The raw error of the ReLU network at ρ = 0.05 should be below that at ρ = 1/2 by 3 s.e. (tanh, which is odd and fits "
    f"no constant, is told and not judged); {seen.TEST}",
    measure=partial(measure, PANEL),
    predict=partial(predict, PANEL),
    judge=partial(judgement.judge, PANEL),
)
