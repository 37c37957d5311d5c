"""What a step does to the kernel, over step sizes: growth along and across u and the mixing angle against the law of the rows."""

import numpy as np

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep.measure import mean_and_error
from giantstep_papers.lobo import sweep
from giantstep_papers.lobo.experiment import ACTIVATIONS, NUMBERS

CLAIM = Claim(
    order=24,
    paper="lobo",
    of="giantstep",
    statement="Over step sizes the growth of the kernel's eigenvalues along the target's direction and "
    "across it, and the angle by which its top radial mode turns, are those of the law of the"
    " rows.",
    where="the factor and the angle behind the amplification and the mixing of Lobo, Loureiro, "
    "Tran-Thanh and Liu, derived here",
    how="We compare the aligned eigenvalue, the transverse one and the angle of the top radial "
    "mode in the plane of 1 and h₂(⟨u, x⟩), for five step sizes and two activations at n = d,"
    " with theory given the seed's ‖β‖. The margins are for terms of order 1/d with a "
    "constant of five to seven.",
    seeds={"quick": Seeds(8, 40), "full": Seeds(20, 120)},
)

ALONG = {"quick": Tolerance(0.04, 0.1), "full": Tolerance(0.02, 0.04)}  # of a logarithm
ACROSS = {"quick": Tolerance(0.06, 0.15), "full": Tolerance(0.03, 0.06)}
ANGLE = {"quick": Tolerance(0.9, 2.0), "full": Tolerance(0.4, 1.0)}  # degrees
measure, predict, predict_draws = sweep.measure, sweep.predict, sweep.predict_draws


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Both growths beyond the law before the step, and the angle, at every step size."""
    along, across = (
        np.log(measured["found"][:, 1:, k] / predicted["found"][:, 1:, k])
        for k in (NUMBERS.index("aligned"), NUMBERS.index("transverse"))
    )
    turned = measured["found"][:, 1:, NUMBERS.index("mixing")] - predicted["found"][:, 1:, NUMBERS.index("mixing")]
    at = sweep.labels()
    return statistics.stated(
        statistics.compare("log growth along u less predicted", along, at=at, within=ALONG[size]),
        statistics.compare("log growth across u less predicted", across, at=at, within=ACROSS[size]),
        statistics.compare("angle in degrees less predicted", turned, at=at, within=ANGLE[size]),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    grown, error = mean_and_error(sweep.amplified(measured["found"], "aligned"))
    across, error_across = mean_and_error(sweep.amplified(measured["found"], "transverse"))
    panels = {
        a: ((across[i], error_across[i]), *(sweep.amplified(predicted[name], "transverse")[i] for name in ("lines", "dashed")))
        for i, a in enumerate(ACTIVATIONS)
    }  # fmt: skip
    return Verdict(
        sentence="The largest step multiplies the kernel's eigenvalue along the target's direction by up to "
        f"{grown[:, -1].max():.0f}. {ruling.stated.sentence}",
        sizes=sweep.sizes(size),
        figure=sweep.figure(panels, "growth of the eigenvalues across u", "y"),
        caption="The eigenvalues across u follow theory with rows spread by the noise (full), "
        "and leave theory without it (dashed).",
        settings=sweep.settings(size),
    )
