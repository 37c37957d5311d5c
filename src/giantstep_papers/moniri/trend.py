"""The network's gains follow the finite-size theory, and that tends to limits.

They are those of the rank-one part, but for one case.
"""

from typing import Any

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
from giantstep.plot import style
from giantstep.plot.formula import rounded
from giantstep_papers.moniri import lengths, talk
from giantstep_papers.moniri.lengths import ALPHAS, experiment
from giantstep_papers.shared import paired

CLAIM = Claim(
    order=15,
    of="giantstep",
    statement="The gains tend to the limits of the rank-one part of the step, but for one case: "
    "with a centred activation and no intercept the part of degree two is smaller, because the "
    "gradient lengthens the rows and g² + κ is free in place of g².",
    where="the limits of the gains for a network after the true gradient, κ = φ E y² Var "
    "σ′/(c₁‖β‖)²; the slides leave the expression to the paper, of which we could read the "
    "abstract only",
    how="We take ReLU up to ℓ = 2, centred, not centred, and centred with an intercept, and a "
    "sine for ℓ = 3. The simulated gains, in units of the error of random features, must be "
    "those of the finite-size theory. The difference of the two updates at ℓ = 2, in the same "
    "units, must be the predicted one. That theory at n = 10¹² must have reached the limits.",
    judges=(
        Judge(
            "theory at n = 10¹² against the limit",
            relative=True,
            margin=0.04,
            departure=0.1,
            because="what is left of the way to the limit at that n",
        ),
        Judge(
            "gain in units of the error of random features",
            margin=(0.035, 0.02),
            departure=(0.08, 0.04),
            because="a correction of 0.6 n^(−1/2)",
        ),
        Judge(
            "difference of the updates at ℓ = 2",
            margin=0.003,
            departure=(0.015, 0.01),
            because="terms of order 1/n",
        ),
    ),
    seeds={"quick": Seeds(40, 160), "full": Seeds(70, 380)},
)

SIZES = {"quick": 300, "full": 1000}
KINDS = ("full gradient", "rank-one part", "not centred", "with an intercept")
LARGE = tuple(round(10 ** (3 + 0.75 * k)) for k in range(13))  # predicted, up to 10^12


def measure(size: Size, seeds: range) -> Data:
    """The gains, (curves, seeds)."""
    found = [_errors(network, SIZES[size], seeds) for network in lengths.networks()]
    return {"gains": lengths.flat([paired.gains(errors) for errors in found])}


def _errors(network: lengths.SteppedNetwork, n: int, seeds: range) -> np.ndarray:
    alphas, name, centred = tuple(ALPHAS[k] for k in network.orders), network.name, network.centred
    return paired.measured(n, alphas, name, seeds, network.activation, network.update, centred)


def predict(size: Size) -> Data:
    """The gains at this size and at large ones, (curves, sizes).

    Also errors of random features, and the limits.
    """
    networks, sizes = lengths.networks(), (SIZES[size], *LARGE)
    errors = [[paired.predicted(experiment(network, n)) for network in networks] for n in sizes]
    gains = np.stack([lengths.flat([paired.gains(one) for one in row]) for row in errors], axis=-1)
    parts = zip(*map(lengths.limits, networks), strict=True)
    rank_one, limits = (lengths.flat(list(part)) for part in parts)
    before = lengths.flat([np.broadcast_to(one[:, :1], one[:, 1:].shape) for one in errors[0]])
    return {
        "here": gains[:, 0],
        "large": gains[:, 1:],
        "before": before,
        "rank one": rank_one,
        "limits": limits,
    }


def updates(gains: np.ndarray) -> np.ndarray:
    """The gain in test error of the rank-one part less that of the full gradient, at l = 2."""
    full, rank = (i for i, c in enumerate(lengths.curves()) if c.degree_two)
    return gains[rank] - gains[full]


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Gains and the difference of the updates against the finite-size theory.

    That theory at the largest n against the limits.
    """
    judge, scale = judging(CLAIM, size), predicted["before"]
    at = [curve.label for curve in lengths.curves()]
    gains, expected = measured["gains"] / scale[:, None], predicted["here"] / scale
    last, limits = predicted["large"][:, -1], predicted["limits"]
    name = "gain in units of the error of random features"
    what = "gain, in units of the error of random features"
    apart, theirs = updates(gains)[None], updates(expected)
    return statistics.stated(
        judge("theory at n = 10¹² against the limit", last, limits, at=at, noisy=False),
        judge(what, gains, expected, by=name, at=at),
        judge("difference of the updates at ℓ = 2", apart, theirs),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n = SIZES[size]
    curves, limits = lengths.curves(), predicted["limits"]
    full, rank = (limits[i] for i, c in enumerate(curves) if c.degree_two)
    free, _ = (
        limits[i] for i, c in enumerate(curves) if c.network.constant and c.error == "test error"
    )
    missing = np.abs(predicted["large"] / limits[:, None] - 1)
    first, last = missing[:, 0].max(), missing[:, -1].max()
    return Verdict(
        sizes=f"n = {n}, predicted up to {rounded(LARGE[-1])}; {talk.RATIOS}; "
        f"penalty {paired.PENALTY:g}",
        sentence="For centred ReLU at ℓ = 2 the test gain of the full gradient tends to "
        f"{full:.3f}, and that of its rank-one part to {rank:.3f}. With a free constant the gain "
        f"of the full gradient tends to {free:.3f}. At ℓ = 1 and 3 both updates have the same "
        "limits."
        if ruling.stated.outcome == "holds"
        else "",
        figure=_figure(n, measured["gains"], predicted),
        caption="At ℓ = 2 the gain of the full gradient of a centred ReLU tends to "
        f"{full:.3f}, below the {rank:.3f} of its rank-one part.",
        settings=tuple(experiment(network, n).id for network in lengths.networks()),
        trend=f"The largest gap between theory and a limit goes from {first:.0%} of the limit at "
        f"n = {rounded(LARGE[0])} to {last:.1%} at n = {rounded(LARGE[-1])}.",
    )


def _figure(n: int, gains: np.ndarray, predicted: Data) -> str:
    """Gains in test error against n: simulated, predicted, and their limits as dashed lines."""
    with style.figure(3, width=2.6, height=3.1) as (fig, axes):
        for i, curve in enumerate(lengths.curves()):
            if curve.error == "test error":
                _draw(axes[curve.order - 1], curve, i, n, gains, predicted)
        axes[0].set_ylabel("gain in test error")
        for dashes, label in (("-", "theory"), ("--", "its limit")):
            axes[1].plot([], [], dashes, color=style.INK, label=label, linewidth=1.2)
        fig.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return style.svg(fig)


def _draw(
    ax: Any, curve: lengths.GainCurve, i: int, n: int, gains: np.ndarray, predicted: Data
) -> None:
    """One curve, number ``i`` of all."""
    network, limit = curve.network, float(predicted["limits"][i])
    rank_one = network.update == "rank1"
    kind = KINDS.index(network.constant or ("rank-one part" if rank_one else "full gradient"))
    colour, marker = style.COLOURS[kind], "osD^"[kind]
    line = (n, *LARGE) if n < LARGE[0] else LARGE
    ax.plot(line, [predicted["here"][i], *predicted["large"][i]][-len(line) :], color=colour)
    ax.axhline(limit, color=colour, linestyle="--", linewidth=1.0)
    if curve.order == 2 and network.centred:
        text, up = ("rank-one part", 3) if rank_one else ("with longer rows", -12)
        at = {"xytext": (0, up), "textcoords": "offset points", "ha": "right", "fontsize": 8}
        ax.annotate(text, (LARGE[-1], limit), color=colour, **at)
    label = f"full gradient, {network.constant}" if network.constant else KINDS[kind]
    look = {"label": label, "color": colour, "marker": marker}
    style.dots(ax, [n], *mean_and_error(gains[i : i + 1]), **look)
    sigma = network.activation.replace("pi", "π")
    if network.centred:
        ax.set_title(f"ℓ = {curve.order},  η = n$^{{{ALPHAS[curve.order]:g}}}$,  {sigma}")
    ax.set(xscale="log", xlabel="n", xlim=(n / 3, 2 * LARGE[-1]))
    ax.set_ylim(0, 1.2 * float(max(predicted["limits"])))
    ax.set_xticks([10**k for k in (3, 6, 9, 12)])
    ax.minorticks_off()
