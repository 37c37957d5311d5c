"""What no readout goes below: the mass outside the directions that the first layer learned.

With U the directions learned, n ~ d^a samples and p ~ d^b neurons, the talk says

    p = O(1):  risk >= E Var(f* | P_U x),
    else:      risk >= |P_{U, > min(a, b)} f*|^2,  the mass of higher degree outside U.

The terms are scaled to mass one each, so that a floor of 3 says that three terms are out of
reach. The risk is that of the best penalty on the test samples themselves.
"""

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
    cache,
    judging,
    statistics,
)
from giantstep.plot import style
from giantstep.plot.formula import formula
from giantstep_papers.dandi import column
from giantstep_papers.dandi.regime import Regime
from giantstep_papers.dandi.terms import PENALTIES, fitted

CLAIM = Claim(
    order=7,
    quote="When p = O(1), if W^T only learned a subspace U* ⊆ V*, then for any bounded second layer"
    " a, E[(f* − f̂)²] ≥ E[Var(f*|P_{U*} x)] + o(1) […] for any value of λ, E[…] ≥ ‖P_{U*,>κ}"
    " f*‖² + o(1)",
    place="Stephan's talk, slides “Finite p regime” and “What about with feature learning ?”",
    kind="lower bound",
    statement="When p = O(1) and the first layer only learned U*, the risk is at least E "
    "Var(f*|P_{U*} x) + o(1), for any bounded second layer. It is at least ‖P_{U*,>κ} f*‖² + o(1) "
    "for any value of λ.",
    where="the lower bound for p = O(1), on a narrow network and on the example's target, and that "
    "of Conjecture 3, for n = O(d^κ₁) and p = O(d^κ₂), in the other regimes of the example; "
    "terms of equal mass",
    how="The risk, at the best of eight penalties on the test samples themselves, must not be "
    "below the floor. It is counted in masses of one term.",
    judges=(
        Judge(
            "risk above a floor",
            side="above",
            margin=(0.1, 0.05),
            departure=(0.5, 0.2),
            because="the o(1) of the bound",
        ),
    ),
    seeds={"quick": Seeds(24, 80), "full": Seeds(24, 160)},
)

NARROW = Regime("narrow network", "d", "1", 192, 32, ("x1", "x1*x2"), symmetric=False)
TABLE = tuple(
    Regime(f"n ~ {batch}, p ~ {width}", batch, width, samples, neurons)
    for batch, width, samples, neurons in (
        ("d", "1", 8, 16),
        ("d", "d", 8, 1),
        ("d^2", "1", 4, 16),
        ("d^2", "d", 4, 1),
        ("d^2", "d^2", 4, 1),
    )
)
REGIMES = (NARROW, *TABLE)
# dimensions in the order of the regimes, test samples
SIZES = {
    "quick": ((100, 60, 60, 24, 24, 12), 4000),
    "full": ((300, 200, 200, 48, 48, 20), 10_000),
}
RISK = "risk above a floor"


def measure(size: Size, seeds: range) -> Data:
    """For every regime the risk and the shares of the terms in the fit, (1 + terms, seeds)."""
    dimensions, n_test = SIZES[size]
    found = {}
    for r, d in zip(REGIMES, dimensions, strict=True):
        runs = cache.each(fitted, [(tuple(r), d, seed, n_test) for seed in seeds])
        found[r.name] = np.stack(runs, axis=-1)
    return found


def predict(size: Size) -> Data:
    """For every regime the floor."""
    return {r.name: r.floor for r in REGIMES}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Risks against the floors, from above."""
    risks = [measured[r.name][0] for r in REGIMES]
    floors = [predicted[r.name] for r in REGIMES]
    judge = judging(CLAIM, size)
    return statistics.stated(judge(RISK, risks, floors, at=[r.name for r in REGIMES]))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    ratios = {
        r.name: predicted[r.name] / float(measured[r.name][0].mean())
        for r in REGIMES
        if predicted[r.name]
    }
    nearest = max(ratios, key=lambda name: ratios[name])
    where = f"the {nearest}" if nearest == NARROW.name else nearest
    return Verdict(
        sentence=f"No risk lies below its floor. The floor comes closest for {where}, at "
        f"{ratios[nearest]:.0%} of the risk. In the median of the regimes it is "
        f"{np.median(list(ratios.values())):.0%}."
        if ruling.stated.outcome == "holds"
        else "",
        sizes="; ".join(f"{r.name}: d = {d}" for r, d in zip(REGIMES, SIZES[size][0], strict=True))
        + f"; one step, {NARROW.activation}, best of {len(PENALTIES)} penalties",
        figure=_figure(ruling.stated.of(RISK).half, measured, predicted),
        caption="No risk lies below its floor, whatever the regime of samples and neurons.",
        settings=tuple(r.setting(d).id for r, d in zip(REGIMES, SIZES[size][0], strict=True)),
        looseness=float(np.median(list(ratios.values()))),
    )


def _figure(half: np.ndarray, measured: Data, predicted: Data) -> str:
    """A row for every regime; the shade is what the floor puts out of reach."""

    def shown(r: Regime, own: float) -> column.ColumnRow:
        mean = float(measured[r.name][0].mean())
        return column.ColumnRow(formula(r.name), mean, float(own), predicted[r.name])

    every = [shown(r, own) for r, own in zip(REGIMES, half, strict=True)]
    with column.figure({"": every}, ["risk"], "floor") as (fig, ax, heights):
        shade = {"color": style.INK, "alpha": 0.12, "linewidth": 0, "zorder": 0}
        ax.barh(heights, [row.theory for row in every], 0.8, **shade)
        ax.set(xlabel="risk, in masses of a term", xlim=(-0.15, None))  # a floor of zero is seen
        return style.svg(fig, below=2)
