"""The gap of the regularised minimiser on functions goes as one over the curves, and does not fall with the penalty."""

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Size, Tolerance, Verdict, statistics
from giantstep.claims.nishikawa.generalisation import (
    CAPTION,
    DRAWS,
    LAM,
    OTHERS,
    SEEDS,
    SIZES,
    across,
    figure,
    measure,
)

__all__ = ["SEEDS", "compare", "describe", "measure"]

PENALTIES = (OTHERS[0], LAM, OTHERS[1])
POWER = {
    "quick": Tolerance(statistics.EXPONENT_MARGIN, 0.2),
    "full": Tolerance(statistics.EXPONENT_MARGIN, 0.1),
}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The exponent in n is -1, and that in the penalty at least 0."""
    by_n = statistics.exponent(SIZES[size], measured["n"][:, 0], of_means=True)
    by_lam = statistics.exponent(PENALTIES, across(measured)[:, 0], of_means=True)
    return statistics.stated(
        statistics.compare("exponent of the gap in n", by_n, -1.0, within=POWER[size]),
        statistics.compare("exponent of the gap in λ", by_lam, 0.0, side="above", within=POWER[size]),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    n, lam = (ruling.stated.of(f"exponent of the gap in {x}") for x in ("n", "λ"))
    bound = float(np.polyfit(np.log(PENALTIES), np.log(across(measured)[:, 1].mean(axis=-1)), 1)[0])
    return Verdict(
        sentence=f"Test less training loss falls as n to the {n.difference[0] - 1:.2f} ± {n.half[0]:.2f}, where our bound falls "
        f"as n to the -1/2. It goes as λ to the {lam.difference[0]:+.2f} ± {lam.half[0]:.2f}, where the bound goes as λ to the "
        f"{bound:+.2f}.",
        sizes=f"n = {', '.join(map(str, sizes))}; λ = {', '.join(f'{x:g}' for x in PENALTIES)} at n = {sizes[1]}; a pool of "
        f"{DRAWS} draws as the prior",
        figure=figure(sizes, measured),
        caption=CAPTION,
    )
