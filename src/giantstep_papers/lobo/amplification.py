"""The step amplifies the eigenvalue aligned with the target more than those across it."""

from itertools import pairwise

import numpy as np

from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    judging,
    statistics,
)
from giantstep.measure import mean_and_error
from giantstep_papers.lobo import sweep
from giantstep_papers.lobo.experiment import ACTIVATIONS, TITLES
from giantstep_papers.lobo.sweep import ETAS

CLAIM = Claim(
    order=3,
    quote="it selectively amplifies eigenvalues aligned with the target direction",
    place="abstract only",
    kind="remark",
    statement="Feature learning selectively amplifies eigenvalues aligned with the target "
    "direction.",
    where="the selective amplification of the abstract, at n = d",
    how="We measure how much more the aligned eigenvalue grows than the eigenvalues across u, for"
    " five step sizes and two activations at n = d. This ratio must be above one at every "
    "step size, rise from one to the next, and be above ten at the largest.",
    judges=(
        Judge(
            "log growth along u over across u",
            side="above",
            margin=0.04,
            departure=0.25,
            because="terms of order 1/d",
        ),
        Judge(
            "log growth along u over across u, largest step",
            side="above",
            margin=0.04,
            departure=0.4,
            because="terms of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(8, 40), "full": Seeds(16, 60)},
)

# the aligned eigenvalue grows so many times more than the transverse ones, at the largest step
LARGE = 10.0
measure, predict, predict_draws = sweep.measure, sweep.predict, sweep.predict_draws


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Growth along u over that across it: above one at every step size,
    and rising from step to step; large at the largest."""
    along, across = (
        np.log(sweep.amplified(measured["found"], number)) for number in ("aligned", "transverse")
    )
    more = along - across
    rise = [
        f"{TITLES[a]}, η~ = {one:g} to {other:g}"
        for a in ACTIVATIONS
        for one, other in pairwise(ETAS)
    ]
    names = [TITLES[a] for a in ACTIVATIONS]
    judge, what = judging(CLAIM, size), "log growth along u over across u"
    return statistics.stated(
        judge(what, more, 0.0, at=sweep.labels()),
        judge(f"{what}, rise", np.diff(more, axis=1), 0.0, by=what, at=rise),
        judge(f"{what}, largest step", more[:, -1], np.log(LARGE), at=names),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    grown, error = mean_and_error(sweep.amplified(measured["found"], "aligned"))
    across = sweep.amplified(measured["found"], "transverse").mean(-1)
    expected = sweep.amplified(predicted["found"], "aligned").mean(-1)
    words = " and ".join(
        f"by {grown[i, -1]:.0f} for {TITLES[a]}" for i, a in enumerate(ACTIVATIONS)
    )
    sentence = (
        f"The longest step multiplies the aligned eigenvalue {words}. Theory has "
        f"{' and '.join(f'{x:.0f}' for x in expected[:, -1])}. Across u eigenvalues grow at most "
        f"{across[:, -1].max():.1f}-fold."
    )
    lines, dashed = (sweep.amplified(predicted[name], "aligned") for name in ("lines", "dashed"))
    panels = {a: ((grown[i], error[i]), lines[i], dashed[i]) for i, a in enumerate(ACTIVATIONS)}
    return Verdict(
        sentence=sentence if ruling.stated.outcome == "holds" else "",
        sizes=sweep.sizes(size),
        figure=sweep.figure(panels, "growth of the aligned eigenvalue", "y"),
        caption="The longer the step, the larger the aligned eigenvalue: for ReLU it grows "
        f"{grown[0, -1]:.0f}-fold, on the predicted line.",
        settings=sweep.settings(size),
    )
