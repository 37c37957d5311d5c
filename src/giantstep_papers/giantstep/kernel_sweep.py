"""What a step does to the kernel, over step sizes: growth along and across u and the mixing angle
against the law of the rows."""

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
from giantstep_papers.lobo.experiment import ACTIVATIONS, NUMBERS

CLAIM = Claim(
    order=24,
    paper="lobo",
    of="giantstep",
    statement="Over step sizes the growth of the kernel's eigenvalues along the target's direction "
    "and across it, and the angle by which its top radial mode turns, are those of the law of the "
    "rows.",
    where="the factor and the angle behind the amplification and the mixing of Lobo, Loureiro, "
    "Tran-Thanh and Liu, derived here",
    how="We compare the aligned eigenvalue, the transverse one and the angle of the top radial "
    "mode in the plane of the constant and h₂(⟨u, x⟩), for five step sizes and two activations at "
    "n = d, with theory given the seed's ‖β‖.",
    judges=(
        Judge(
            "log growth along u less predicted",
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="terms of order 1/d with a constant of five to seven",
        ),
        Judge(
            "log growth across u less predicted",
            margin=(0.06, 0.03),
            departure=(0.15, 0.06),
            because="terms of order 1/d with a constant of five to seven",
        ),
        Judge(
            "angle in degrees less predicted",
            margin=(0.9, 0.4),
            departure=(2.0, 1.0),
            because="terms of order 1/d with a constant of five to seven",
        ),
    ),
    seeds={"quick": Seeds(8, 40), "full": Seeds(20, 120)},
)

measure, predict, predict_draws = sweep.measure, sweep.predict, sweep.predict_draws


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Both growths beyond the law before the step, and the angle, at every step size."""
    along, across = (
        np.log(measured["found"][:, 1:, k] / predicted["found"][:, 1:, k])
        for k in (NUMBERS.index("aligned"), NUMBERS.index("transverse"))
    )
    mixing = NUMBERS.index("mixing")
    turned = measured["found"][:, 1:, mixing] - predicted["found"][:, 1:, mixing]
    judge, at = judging(CLAIM, size), sweep.labels()
    return statistics.stated(
        judge("log growth along u less predicted", along, at=at),
        judge("log growth across u less predicted", across, at=at),
        judge("angle in degrees less predicted", turned, at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    grown, error = mean_and_error(sweep.amplified(measured["found"], "aligned"))
    across, error_across = mean_and_error(sweep.amplified(measured["found"], "transverse"))
    lines, dashed = (sweep.amplified(predicted[name], "transverse") for name in ("lines", "dashed"))
    panels = {
        a: ((across[i], error_across[i]), lines[i], dashed[i]) for i, a in enumerate(ACTIVATIONS)
    }
    return Verdict(
        sentence="The largest step multiplies the kernel's eigenvalue along the target's direction "
        f"by up to {grown[:, -1].max():.0f}. {ruling.stated.sentence}",
        sizes=sweep.sizes(size),
        figure=sweep.figure(panels, "growth of the eigenvalues across u", "y"),
        caption="The eigenvalues across u follow theory with rows spread by the noise (full), "
        "and leave theory without it (dashed).",
        settings=sweep.settings(size),
    )
