"""The gap of the regularised minimiser on functions goes as one over the curves,
and does not fall with the penalty."""

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
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.plot.frame import entry, explain_below
from giantstep_papers.nishikawa.generalisation import DRAWS, LAM, OTHERS, SIZES, across, measure
from giantstep_papers.shared.said import power, where_it_holds

CLAIM = Claim(
    order=30,
    of="giantstep",
    statement="Test less training loss of the regularised minimiser on curves goes as 1/n, faster "
    "than our bound, and does not fall with the penalty, as our bound does.",
    where="the regularised minimiser of gs.mean_field on curves, whose bound by entropy is ours",
    how="The exponent in n of the gap must be −1 and that in the penalty at least 0, by free fits "
    "to the means. A pool of draws is the prior.",
    judges=(
        Judge(
            "exponent of the gap in n",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "exponent of the gap in λ",
            side="above",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"quick": Seeds(30, 150), "full": Seeds(80, 400)},
)

__all__ = ["CLAIM", "compare", "describe", "measure"]

PENALTIES = (OTHERS[0], LAM, OTHERS[1])


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The exponent in n is -1, and that in the penalty at least 0."""
    by_n = statistics.exponent(SIZES[size], measured["n"][:, 0], of_means=True)
    by_lam = statistics.exponent(PENALTIES, across(measured)[:, 0], of_means=True)
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("exponent of the gap in n", by_n, -1.0),
        judge("exponent of the gap in λ", by_lam, 0.0),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    n, lam = (ruling.stated.of(f"exponent of the gap in {x}") for x in ("n", "λ"))
    bound = float(np.polyfit(np.log(PENALTIES), np.log(across(measured)[:, 1].mean(axis=-1)), 1)[0])
    by_n = power("n", n.difference[0] - 1, n.half[0])
    by_lam = power("λ", lam.difference[0], lam.half[0])
    words = (
        f"The gap of test and training loss falls like {by_n}, and our bound like n^(-1/2). "
        f"With the penalty it goes like {by_lam}, and the bound like λ^({bound:.2f})."
    ).replace("-", "−")
    return Verdict(
        sentence=where_it_holds(ruling, words),
        sizes=f"n = {', '.join(map(str, sizes))}; λ = {', '.join(f'{x:g}' for x in PENALTIES)} at "
        f"n = {sizes[1]}; a pool of {DRAWS} draws as the prior",
        figure=_figure(sizes, measured),
        caption="The gap falls as one over the curves, faster than its bound. With the penalty "
        "it grows, and the bound falls.",
    )


def _figure(sizes: tuple[int, ...], measured: Data) -> str:
    """Gap and bound over those at the middle, against the curves and the penalty over theirs:
    slopes are compared."""
    with style.figure(width=style.COLUMN, height=3.5) as (fig, ax):
        marks = []
        axes = (
            (sizes, sizes[1], measured["n"], "curves n", "o"),
            (PENALTIES, LAM, across(measured), "penalty λ", "s"),
        )
        for (x, middle, values, name, mark), colour in zip(axes, style.COLOURS, strict=False):
            at, scale = np.array(x) / middle, values[1].mean(axis=-1)[:, None]
            gap, bound = np.moveaxis(values / scale, 1, 0)
            line = {"linestyle": "--", "linewidth": 0.7, "markersize": 9, "color": colour}
            ax.plot(at, bound.mean(axis=-1), marker="_", zorder=1, **line)
            style.dots(ax, at, *mean_and_error(gap), color=colour, marker=mark, zorder=3)
            marks.append(entry(f"gap, {name}", mark, color=colour))
            marks.append(entry(f"bound, {name}", "_", **line))
        ends = np.array([sizes[0], sizes[-1]]) / sizes[1]
        marks.append(
            ax.plot(ends, 1 / ends, ":", color=style.INK, linewidth=1, label="slope −1")[0]
        )
        ax.set(
            xlabel="curves or penalty, over the middle one",
            ylabel="test less training error,\nover that at the middle",
        )
        ticks.logarithmic(ax, "x", (0.25, 0.5, 1, 2, 4))
        ticks.logarithmic(ax)
        explain_below(fig, marks)
        return style.svg(fig)
