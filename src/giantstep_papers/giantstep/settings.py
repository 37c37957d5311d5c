"""Two targets with the same linear part and the same power:
one error up to alpha = 1/4 as n grows."""

from dataclasses import astuple
from itertools import product

import numpy as np

from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Tolerance,
    Verdict,
    judging,
    statistics,
)
from giantstep_papers.moniri import settings
from giantstep_papers.moniri.settings import ALPHAS, BELOW, SIZES, apart
from giantstep_papers.shared import paired

CLAIM = Claim(
    order=3,
    of="giantstep",
    statement="y = H₁ + noise and y = H₁ + H₂/√2 of the same power have the same errors in the "
    "limit after a step of size n^alpha with alpha < 1/4: the quadratic part is noise there.",
    where="the simulations of Moniri et al. (2024), settings 1 and 2",
    how="We measure by how much the errors of setting 2 are lower than those of setting 1, after "
    "subtracting random features', in units of these. At hand the difference must be 0 below "
    "1/4. The limit is judged by the finite-size theory at n = 10¹². That theory must also "
    "have the difference at hand at every alpha.",
    judges=(
        Judge(
            "difference of the test errors below 1/4",
            margin=(0.005, 0.002),
            departure=(0.02, 0.01),
            because="terms of order 1/n",
        ),
        Judge(
            "difference of the training objectives below 1/4",
            margin=(0.005, 0.002),
            departure=(0.04, 0.02),
            because="terms of order 1/n",
        ),
        Judge(
            "difference below 1/4 in theory at n = 10¹²",
            margin=0.002,
            departure=0.01,
            because="terms that vanish beyond that n",
        ),
        Judge(
            "difference against theory",
            margin=(0.02, 0.01),
            departure=(0.06, 0.03),
            because="terms of order n^(−1/2)",
        ),
    ),
    seeds={"quick": Seeds(60, 480), "full": Seeds(100, 600)},
)

measure, predict = settings.measure, settings.predict
HAND = [
    f"difference of the {errors} below 1/4" for errors in ("test errors", "training objectives")
]


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """No difference below 1/4: at hand, and in theory at n = 10^12,
    which has the difference at hand at every alpha."""
    scale = predicted["scale"]
    found, here = (apart(each["errors"], scale) for each in (measured, predicted))
    far = apart(predicted["large"], scale)
    cells = [f"{what}, alpha = {a:g}" for what, a in product(paired.ERRORS.values(), ALPHAS)]
    low = [cell for cell, below in zip(cells, np.tile(BELOW, len(scale)), strict=True) if below]
    name, judge = "difference of the settings below 1/4", judging(CLAIM, size)
    each = [judge.tolerance(errors) for errors in HAND]  # of the test error and of the objective
    margin, departure = (np.array(one)[:, None] for one in zip(*map(astuple, each), strict=True))
    within = Tolerance(margin, departure)
    by = "difference below 1/4 in theory at n = 10¹²"
    return Evidence(
        (statistics.compare(name, found[:, BELOW], at=low, within=within),),
        limit=(
            judge(f"{name} in theory at n = 10¹²", far[:, BELOW], by=by, at=low, noisy=False),
            judge("difference against theory", found, here, at=cells),
        ),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n = SIZES[size]
    found = apart(measured["errors"], predicted["scale"])[0].mean(axis=-1)
    here, far = (apart(predicted[name], predicted["scale"])[0] for name in ("errors", "large"))
    i = max(k for k, below in enumerate(BELOW) if below)
    at = f"α = {ALPHAS[i]:g}"
    return Verdict(
        sizes=settings.setup(size),
        sentence=f"At this size the test errors of the two settings are {abs(found[i]):.1%} apart "
        f"at {at}, and theory has {abs(here[i]):.1%}. At n = 10¹² theory has {abs(far[i]):.2%}.",
        figure=settings.draw(n, measured["errors"], predicted),
        caption="The two settings differ in test error at every step size (right), in the limit "
        "only beyond α = 1/4 (dashed).",
        settings=tuple(setting.id for setting in settings.experiments(n, ALPHAS)),
        trend=f"In theory the difference goes from {abs(here[i]):.1%} at n = {n} to "
        f"{abs(far[i]):.2%} at n = 10¹².",
    )
