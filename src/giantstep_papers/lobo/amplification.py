"""The step amplifies the eigenvalue aligned with the target more than those across it."""

from itertools import pairwise

import numpy as np

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep.measure import mean_and_error
from giantstep_papers.lobo import sweep
from giantstep_papers.lobo.experiment import ACTIVATIONS, TITLES
from giantstep_papers.lobo.sweep import ETAS

CLAIM = Claim(
    order=3,
    quote="it selectively amplifies eigenvalues aligned with the target direction",
    place="abstract only",
    kind="remark",
    statement="Feature learning selectively amplifies eigenvalues aligned with the target direction.",
    where="the selective amplification of the abstract, at n = d",
    how="We measure how much more the aligned eigenvalue grows than the eigenvalues across u, for"
    " five step sizes and two activations at n = d. This ratio must be above one at every "
    "step size, rise from one to the next, and be above ten at the largest. The margin is of "
    "order 1/d.",
    seeds={"quick": Seeds(8, 40), "full": Seeds(16, 60)},
)

MORE = Tolerance(0.04, 0.25)  # of a logarithm
MUCH = Tolerance(0.04, 0.4)
LARGE = 10.0  # the aligned eigenvalue grows so many times more than the transverse ones, at the largest step
measure, predict, predict_draws = sweep.measure, sweep.predict, sweep.predict_draws


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Growth along u over that across it: above one at every step size, and rising from step to step; large at the largest."""
    along, across = (np.log(sweep.amplified(measured["found"], number)) for number in ("aligned", "transverse"))
    more = along - across
    rise = [f"{TITLES[a]}, η~ = {one:g} to {other:g}" for a in ACTIVATIONS for one, other in pairwise(ETAS)]
    names = [TITLES[a] for a in ACTIVATIONS]
    what = "log growth along u over across u"
    return statistics.stated(
        statistics.compare(what, more, 0.0, at=sweep.labels(), side="above", within=MORE),
        statistics.compare(f"{what}, rise", np.diff(more, axis=1), 0.0, at=rise, side="above", within=MORE),
        statistics.compare(f"{what}, largest step", more[:, -1], np.log(LARGE), at=names, side="above", within=MUCH),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    grown, error = mean_and_error(sweep.amplified(measured["found"], "aligned"))
    across = sweep.amplified(measured["found"], "transverse").mean(-1)
    expected = sweep.amplified(predicted["found"], "aligned").mean(-1)
    words = " and ".join(f"by {grown[i, -1]:.0f} for {TITLES[a]}" for i, a in enumerate(ACTIVATIONS))
    sentence = (
        f"The longest step multiplies the aligned eigenvalue {words}. Theory has "
        f"{' and '.join(f'{x:.0f}' for x in expected[:, -1])}. Across u eigenvalues grow at most "
        f"{across[:, -1].max():.1f}-fold."
    )
    return Verdict(
        sentence=sentence if ruling.stated.outcome == "holds" else "",
        sizes=sweep.sizes(size),
        figure=sweep.figure(
            {a: ((grown[i], error[i]), *(sweep.amplified(predicted[name], "aligned")[i] for name in ("lines", "dashed")))
             for i, a in enumerate(ACTIVATIONS)}, "growth of the aligned eigenvalue", "y"),
        caption="The longer the step, the larger the aligned eigenvalue: for ReLU it grows "
        f"{grown[0, -1]:.0f}-fold, on the predicted line.",
        settings=sweep.settings(size),
    )  # fmt: skip
