"""The conditional Gaussian equivalence carried over to two steps and several directions;
Gaussian features alone do not do."""

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
from giantstep.plot import rows, style
from giantstep.plot.frame import entry, explain_below
from giantstep_papers.dandi.conditional import (
    ERRORS,
    GIVEN,
    PENALTY,
    PLAIN,
    PRODUCTS,
    RATIO,
    SQUARES,
    STRENGTH,
    EquivalenceCase,
    differences,
    errors,
)

CLAIM = Claim(
    order=21,
    of="giantstep",
    statement="For n, p and d of one order, training and test errors after two giant steps are "
    "those of features that are Gaussian given the learned directions, and not those of Gaussian "
    "features.",
    where="the conditional Gaussian equivalence of the second talk (dandi/conditional), carried "
    "over to two steps and two or three directions",
    how="We compare the errors of both models with those of the network on the same draws, in "
    "units of these. The Gaussian model without conditions must be off by a fifth on average.",
    judges=(
        Judge(
            "conditional model's error less the network's",
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="corrections of order 1/d",
        ),
        Judge(
            "mean difference of the Gaussian model",
            side="above",
            margin=0.05,
            departure=0.2,
            because="corrections of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(12, 56), "full": Seeds(30, 170)},
)

CASES = (EquivalenceCase(SQUARES, "relu", 2), EquivalenceCase(PRODUCTS, "relu", 2))
SIZES = {"quick": 150, "full": 500}  # d
VISIBLE = 0.2  # of the error: by so much the Gaussian model should be off on average


def measure(size: Size, seeds: range) -> Data:
    """Errors of the network and of both models on the same draws, (cases, seeds),
    by kind of error and model."""
    return errors(CASES, SIZES[size], seeds, (GIVEN, PLAIN))


def predict(size: Size) -> Data:
    """The difference of the conditional model's errors from the network's, relative to them."""
    return {"difference": 0.0}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The conditional model against the network; and the Gaussian model should be visibly off."""
    at = [f"{case.name}, {what}" for what in ERRORS.values() for case in CASES]
    given = differences(measured, GIVEN)
    plain = np.mean(differences(measured, PLAIN), axis=(0, 1))
    judge, less = judging(CLAIM, size), "conditional model's error less the network's"
    return statistics.stated(
        judge("conditional model less network", given, predicted["difference"], by=less, at=at),
        judge("mean difference of the Gaussian model", plain[None], [VISIBLE]),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d = SIZES[size]
    given, plain = (100 * np.abs(differences(measured, m).mean(-1)) for m in (GIVEN, PLAIN))
    return Verdict(
        sentence=f"After two steps the conditional model is within {given.max():.1f}% of the "
        f"network. The Gaussian model is {plain.mean():.0f}% off on average. "
        f"{ruling.stated.sentence}",
        sizes=f"d = p = {d}, n = {RATIO}d a step and in the readout; s = {STRENGTH:g}; penalty "
        f"{PENALTY:g}",
        figure=_figure(measured),
        caption=f"After two steps the conditional model is within {given.max():.1f}% of the "
        f"network, and the Gaussian one is up to {plain.max():.0f}% off.",
        settings=tuple(case.setting(d).id for case in CASES),
    )


def _figure(measured: Data) -> str:
    """Differences in % around the zero that the equivalence predicts,
    one row for every case and error."""
    cells = [(i, k) for i in range(len(CASES)) for k in range(len(ERRORS))]
    models = ((GIVEN, "Gaussian given the directions"), (PLAIN, "Gaussian"))
    height = rows.height(len(cells), lines=2) + 0.1
    with style.figure(width=style.COLUMN, height=height) as (fig, ax):
        ax.axvline(0, color=style.INK, linewidth=0.8)
        for j, (model, _) in enumerate(models):
            mean, error = mean_and_error(100 * differences(measured, model))
            look = {"beside": 0.24 * j - 0.12, "color": style.COLOURS[j], "marker": "os"[j]}
            for row, (i, k) in enumerate(cells):
                rows.interval(ax, row, mean[k, i], error[k, i], **look)
        rows.name_rows(ax, [f"{CASES[i].label}:\n{list(ERRORS.values())[k]}" for i, k in cells])
        ax.set_xlabel("off the network, %")
        explain_below(
            fig,
            [entry(label, "os"[j], color=style.COLOURS[j]) for j, (_, label) in enumerate(models)],
        )
        return style.svg(fig)
