"""How fast the dual methods are: as their linearisation on a finite sample,
and as one over the samples online."""

import numpy as np

from giantstep.checks import (
    EXPONENT,
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
from giantstep.plot import style
from giantstep.plot.frame import explain_below
from giantstep_papers.nishikawa import exact, finite, online
from giantstep_papers.shared.said import power, where_it_holds

CLAIM = Claim(
    order=29,
    of="giantstep",
    statement="Near the optimum a pass of dual coordinate ascent leaves the share of the excess "
    "that its linearisation leaves. Online the excess falls as one over the number of samples.",
    where="the two dual methods of gs.mean_field; linearised in giantstep_papers.nishikawa.exact",
    how="The share of the dual excess that a pass leaves must be its mean over orders of the "
    "curves. That mean is from the linearisation at the optimum and the dual variables before "
    "the pass. The exponent in T of the excess must be −1, by a free fit over a"
    " factor of 32 in T. A pool of draws is the prior.",
    judges=(
        Judge(
            "share left by a pass over the predicted one",
            percent=True,
            margin=(0.04, 0.015),
            departure=(0.1, 0.04),
            because="what is not linear",
        ),
        Judge(
            "exponent of the excess in T",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"quick": Seeds(40, 120), "full": Seeds(200, 1600)},
)


def measure(size: Size, seeds: range) -> Data:
    """What the claims nishikawa/finite and nishikawa/online measure."""
    return {"finite": finite.measure(size, seeds), "online": online.measure(size, seeds)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The share that a pass leaves over its prediction, seed by seed,
    and the exponent of the excess in T against -1."""
    shares = np.array(
        [measured["finite"][case][0] / measured["finite"][case][1] for case in finite.CASES]
    )
    slopes = online.exponents(size, measured["online"])
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("share left by a pass over the predicted one", shares, 1.0, at=finite.CASES),
        judge("exponent of the excess in T", slopes, -1.0, at=online.cases(size)),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    share = ruling.stated.of("share left by a pass over the predicted one")
    online_fit = ruling.stated.of("exponent of the excess in T")
    fits = " and ".join(
        power("T", d - 1, h) for d, h in zip(online_fit.difference, online_fit.half, strict=True)
    )
    off = float(np.max(np.abs(share.difference)))
    words = (
        "A pass of coordinate ascent leaves the share of the excess that its linearisation leaves, "
        f"within {100 * off:.1f}%. Online the excess falls with the number T of samples like "
        f"{fits}."
    )
    return Verdict(
        sentence=where_it_holds(ruling, words),
        sizes=f"n = {finite.CURVES[size]} and a law of {online.SIZES[size][0]} curves, J = "
        f"{exact.BASIS}, a pool of {exact.POOL} draws as the prior, B = 1",
        figure=_figure(measured["finite"]),
        caption="On every draw a pass leaves the share of the excess that its linearisation "
        f"predicts, within {100 * off:.1f}% on average.",
    )


def _figure(measured: Data) -> str:
    """The share that a pass leaves against the predicted one, a dot for each seed."""
    with style.figure(width=style.COLUMN, height=3.6) as (fig, ax):
        marks = []
        for (case, found), mark, colour in zip(measured.items(), "os", style.COLOURS, strict=False):
            marks += ax.plot(found[1], found[0], mark, color=colour, alpha=0.5, label=case)
        ends = (min(ax.get_xlim()[0], ax.get_ylim()[0]), max(ax.get_xlim()[1], ax.get_ylim()[1]))
        marks += ax.plot(ends, ends, color=style.INK, linewidth=0.8, zorder=1, label="equality")
        ax.set(
            xlabel="share that a pass leaves, predicted",
            ylabel="measured",
            xlim=ends,
            ylim=ends,
            aspect="equal",
        )
        explain_below(fig, marks)
        return style.svg(fig)
