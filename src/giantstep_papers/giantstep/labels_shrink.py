"""The panels of Demir and Dogan once more: how much of what an axis does to the raw error it does
to the labels."""

from dataclasses import replace

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
from giantstep_papers.demir import alignment, panel, rank, ratio, strength, weighting
from giantstep_papers.demir.evidence import changes
from giantstep_papers.demir.panel import ALPHA, BETA, PENALTY, SIZES, Panel, PanelCurve
from giantstep_papers.shared.said import where_it_holds

CLAIM = Claim(
    order=33,
    of="giantstep",
    statement="On the poster's five panels the labels shrink where the error falls: most of the "
    "change of the raw error is that of Var(y), and the error over Var(y) changes less, as theory "
    "predicts. Labels along the spikes keep their size, and there spread and strength do improve "
    "learning.",
    where="the five panels of demir/weighting to demir/rank, whose labels have ‖ξ‖ = C/‖Σ^½‖, and "
    "the rows α and β of the paper's figure 4a, whose labels are along the spikes",
    how="Changes are differences of logarithms between the ends of an axis. That of error/Var(y) "
    "must be small beside that of Var(y), and it must be that of theory. Along the spikes, "
    "where the change is a factor of three, the error must fall by a fifth at least.",
    judges=(
        Judge(
            "change of log(error/Var y) over that of log Var y",
            margin=0.25,
            departure=0.5,
            because="the lesser part of the change, which is not that of Var(y)",
        ),
        Judge(
            "change of log(error/Var y) less that of theory",
            margin=(0.05, 0.02),
            departure=(0.15, 0.06),
            because="corrections of order 1/√n, which nearly cancel",
        ),
        Judge(
            "change along the spikes less that of theory",
            margin=(0.1, 0.04),
            departure=(0.3, 0.12),
            because="these corrections to a larger change",
        ),
        Judge(
            "change of log(error/Var y) along the spikes",
            side="below",
            margin=0.0,
            departure=0.2,
        ),
    ),
    seeds={"quick": Seeds(20, 70), "full": Seeds(36, 180)},
)

PANELS = {
    "spread or step": weighting.PANEL,
    "strength": strength.PANEL,
    "mixture ratio": ratio.PANEL,
    "alignment": alignment.PANEL,
    "rank": rank.PANEL,
}
SHARED = 2  # labels along the spikes scatter most; at full size the others have half of the seeds
LEARNED = 0.2  # the least fall of log error along the spikes, where it scatters


def ends(size: Size) -> dict[str, Panel]:
    """Every panel at the two ends of its axis: the poster's curve,
    and the one with labels along the spikes."""
    return {
        name: replace(each, curves={size: _curves(each, size)}, shared=SHARED)
        for name, each in PANELS.items()
    }


def _curves(of: Panel, size: Size) -> tuple[PanelCurve, ...]:
    first, *others = of.curves[size]
    x = (of.worse or 0.0, of.better or 0.0)
    line = x if first.line else ()
    return tuple(
        replace(c, x=x, line=line, aligned=())
        for c in (first, *(each for each in others if each.along))
    )


def measure(size: Size, seeds: range) -> Data:
    """By panel and curve, as ``demir.panel.measure``."""
    return {name: panel.measure(each, size, seeds) for name, each in ends(size).items()}


def predict(size: Size) -> Data:
    """By panel and curve the errors and variances at both ends;
    for the rank the change of log Var(y)."""
    every = {name: panel.predict(each, size) for name, each in ends(size).items()}
    return {**every, "rank": rank.predict(size)}


def moved(
    size: Size, measured: Data, predicted: Data
) -> dict[tuple[str, PanelCurve], tuple[np.ndarray, np.ndarray]]:
    """By panel and curve the changes of log(error/Var(y)) and of log Var(y), (seeds)."""
    return {
        (name, curve): changes(each, curve, measured[name][curve.name], predicted[name])
        for name, each in ends(size).items()
        for curve in each.curves[size]
    }


def expected(predicted: Data, name: str, curve: PanelCurve) -> float:
    """Theory's change of log(error/Var(y))."""
    (worse, better), (worse_labels, better_labels) = predicted[name][curve.name]
    return float(np.log(better / better_labels) - np.log(worse / worse_labels))


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """For labels as on the poster most of the change is that of Var(y), and theory has the rest;
    labels along the spikes are learned better."""
    every = moved(size, measured, predicted)
    parts = {
        name: share / labels.mean()
        for (name, curve), (share, labels) in every.items()
        if not curve.along
    }
    shares = {key: share for key, (share, _) in every.items()}
    judge = judging(CLAIM, size)
    theory = {
        False: "change of log(error/Var y) less that of theory",
        True: "change along the spikes less that of theory",
    }
    return statistics.stated(
        *(
            judge("change of log(error/Var y) over that of log Var y", part, at=[name])
            for name, part in parts.items()
        ),
        *(
            judge(
                f"change of log(error/Var y) against theory, {name}, {curve.name}",
                share,
                expected(predicted, name, curve),
                by=theory[curve.along],
            )
            for (name, curve), share in shares.items()
            if curve.line
        ),
        *(
            judge(
                f"change of log(error/Var y), {name}, {curve.name}",
                share,
                -LEARNED,
                by="change of log(error/Var y) along the spikes",
            )
            for (name, curve), share in shares.items()
            if curve.along
        ),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, every = SIZES[size], moved(size, measured, predicted)
    own = {
        name: (share.mean(), labels.mean())
        for (name, c), (share, labels) in every.items()
        if not c.along
    }
    along = [share.mean() for (_, c), (share, _) in every.items() if c.along]
    least = min(100 * labels / (share + labels) for share, labels in own.values())
    most = max(abs(np.expm1(share)) for share, _ in own.values())
    fall = -100 * np.expm1(along)
    words = (
        f"On every panel at least {least:.0f}% of the change of the error is that of the labels' "
        f"variance. The error over that variance changes by {100 * most:.0f}% at most. Only labels "
        f"along the spikes are learned better: their error falls by {fall.min():.0f}% to "
        f"{fall.max():.0f}%."
    )
    return Verdict(
        sentence=where_it_holds(ruling, words),
        sizes=f"n = m = {n}, λ = {PENALTY / n:g}; β = {BETA:g} and α = {ALPHA:g} but for the axis; "
        "ReLU",
        figure=_figure(size, measured, predicted),
        caption="On the poster's panels the labels shrink (bars) and the error over their "
        f"variance (dots) hardly changes, by {100 * most:.0f}% at most. Only labels along the "
        "spikes are learned better.",
        settings=tuple(
            panel.experiment(n, c, x).id
            for each in ends(size).values()
            for c in each.curves[size]
            for x in c.x
        ),
    )


def _figure(size: Size, measured: Data, predicted: Data) -> str:
    every = moved(size, measured, predicted)
    names = [f"{name}\nalong the spikes" if curve.along else name for name, curve in every]
    with style.figure(width=style.COLUMN, height=4.0) as (fig, ax):
        ax.axvline(0.0, color=style.INK, linewidth=0.8)
        for row, ((name, curve), (share, labels)) in enumerate(every.items()):
            ax.barh(row, labels.mean(), 0.6, color=style.COLOURS[0], alpha=0.3)
            rows.interval(ax, row, *mean_and_error(share), color=style.COLOURS[1])
            if curve.line:
                rows.tick(ax, row, expected(predicted, name, curve))
        rows.name_rows(ax, names)
        ax.set_xlabel("change of the logarithm")
        ax.margins(x=0.04)
        explain_below(
            fig,
            [
                entry("Var(y)", "s", markersize=9, color=style.COLOURS[0], alpha=0.3),
                entry("error / Var(y)", "o", color=style.COLOURS[1]),
                entry("theory of the dots", "|", markersize=9),
            ],
        )
        return style.svg(fig)
