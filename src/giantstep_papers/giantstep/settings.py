"""Two targets with the same linear part and the same power: one error up to alpha = 1/4 as n grows."""

from itertools import product

import numpy as np

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep_papers.moniri import settings
from giantstep_papers.moniri.settings import ALPHAS, BELOW, EQUAL, SEEN, SIZES, apart
from giantstep_papers.shared import paired

CLAIM = Claim(
    order=3,
    of="giantstep",
    statement="y = H₁ + noise and y = H₁ + H₂/√2 of the same power have the same errors in the limit "
    "after a step of size n^alpha with alpha < 1/4: the quadratic part is noise there.",
    where="the simulations of Moniri et al. (2024), settings 1 and 2",
    how="We measure by how much the errors of setting 2 are lower than those of setting 1, after "
    "subtracting random features', in units of these. At hand the difference must be 0 below "
    "1/4, with a margin of order 1/n. The limit is judged by the finite-size theory at n = "
    "10¹². That theory must also have the difference at hand at every alpha, with a margin "
    "for terms of order n^(−1/2).",
    seeds={"quick": Seeds(60, 480), "full": Seeds(100, 600)},
)

measure, predict = settings.measure, settings.predict
APART = {"quick": Tolerance(0.02, 0.06), "full": Tolerance(0.01, 0.03)}  # of an error
FAR = Tolerance(0.002, 0.01)  # of an error, at the largest n


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """No difference below 1/4: at hand, and in theory at n = 10^12, which has the difference at hand at every alpha."""
    scale = predicted["scale"]
    found, here = (apart(each["errors"], scale) for each in (measured, predicted))
    far = apart(predicted["large"], scale)
    cells = [f"{what}, alpha = {a:g}" for what, a in product(paired.ERRORS.values(), ALPHAS)]
    low = [cell for cell, below in zip(cells, np.tile(BELOW, len(scale)), strict=True) if below]
    seen = np.repeat(SEEN[size], sum(BELOW)).reshape(len(scale), -1)
    name = "difference of the settings below 1/4"
    return Evidence(
        (statistics.compare(name, found[:, BELOW], at=low, within=Tolerance(EQUAL[size], seen)),),
        limit=(
            statistics.compare(f"{name} in theory at n = 10¹²", far[:, BELOW], at=low, noisy=False, within=FAR),
            statistics.compare("difference against theory", found, here, at=cells, within=APART[size]),
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
        sentence=f"At this size the test errors of the two settings are {abs(found[i]):.1%} apart at {at}, and theory has "
        f"{abs(here[i]):.1%}. At n = 10¹² theory has {abs(far[i]):.2%}.",
        figure=settings.draw(n, measured["errors"], predicted),
        caption="The two settings differ in test error at every step size (right), in the limit "
        "only beyond α = 1/4 (dashed).",
        settings=tuple(setting.id for setting in settings.experiments(n, ALPHAS)),
        trend=f"In theory the difference goes from {abs(here[i]):.1%} at n = {n} to {abs(far[i]):.2%} at n = 10¹².",
    )
