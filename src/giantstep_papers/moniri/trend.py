"""The network's gains follow the finite-size theory, which tends to the limits of the rank-one part, but for one case."""

import numpy as np

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep.measure import mean_and_error
from giantstep.plot import style as _style
from giantstep.plot.formula import rounded
from giantstep_papers.moniri import lengths, talk
from giantstep_papers.moniri.lengths import ALPHAS, experiment
from giantstep_papers.shared import paired

CLAIM = Claim(
    order=15,
    of="giantstep",
    statement="The gains tend to the limits of the rank-one part of the step, but for one case: with a "
    "centred activation and no intercept the part of degree two is smaller, because the "
    "gradient lengthens the rows and g² + κ is free in place of g².",
    where="the limits of the gains for a network after the true gradient, κ = φ E y² Var "
    "σ′/(c₁‖β‖)²; the slides leave the expression to the paper, of which we could read the "
    "abstract only",
    how="We take ReLU up to ℓ = 2, centred, not centred, and centred with an intercept, and a "
    "sine for ℓ = 3. The simulated gains, in units of the error of random features, must be "
    "those of the finite-size theory, with a margin for a correction of 0.6 n^(−1/2). The "
    "difference of the two updates at ℓ = 2 must be the predicted one, with a margin of order"
    " 1/n. That theory at n = 10¹² must have reached the limits, with a margin for what is "
    "left at that n.",
    seeds={"quick": Seeds(40, 160), "full": Seeds(70, 380)},
)

SIZES = {"quick": 300, "full": 1000}
GAIN = {"quick": Tolerance(0.035, 0.08), "full": Tolerance(0.02, 0.04)}  # of random features' error
UPDATES = {"quick": Tolerance(0.003, 0.015), "full": Tolerance(0.003, 0.01)}  # of that error
LIMIT = Tolerance(0.04, 0.1)  # of a limit, at the largest n
KINDS = ("full gradient", "rank-one part", "not centred", "with an intercept")
LARGE = tuple(round(10 ** (3 + 0.75 * k)) for k in range(13))  # predicted, up to 10^12


def measure(size: Size, seeds: range) -> Data:
    """The gains, (curves, seeds)."""
    found = [
        paired.measured(
            SIZES[size], tuple(ALPHAS[k] for k in one.orders), one.name, seeds, one.activation, one.update, one.centred
        )
        for one in lengths.networks()
    ]
    return {"gains": lengths.flat([paired.gains(errors) for errors in found])}


def predict(size: Size) -> Data:
    """The gains at this size and at large ones, (curves, sizes), errors of random features, and the limits."""
    networks = lengths.networks()
    errors = [[paired.predicted(experiment(network, n)) for network in networks] for n in (SIZES[size], *LARGE)]
    gains = np.stack([lengths.flat([paired.gains(one) for one in row]) for row in errors], axis=-1)
    rank_one, limits = (lengths.flat(list(part)) for part in zip(*map(lengths.limits, networks), strict=True))
    before = lengths.flat([np.broadcast_to(one[:, :1], one[:, 1:].shape) for one in errors[0]])
    return {"here": gains[:, 0], "large": gains[:, 1:], "before": before, "rank one": rank_one, "limits": limits}


def updates(gains: np.ndarray) -> np.ndarray:
    """The gain in test error of the rank-one part less that of the full gradient, at l = 2."""
    full, rank = (i for i, c in enumerate(lengths.curves()) if c.degree_two)
    return gains[rank] - gains[full]


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Gains and the difference of the updates against the finite-size theory; that theory at the largest n against the limits."""
    at = [c.label for c in lengths.curves()]
    scale = predicted["before"]
    gains = statistics.compare(
        "gain, in units of the error of random features", measured["gains"] / scale[:, None], predicted["here"] / scale,
        at=at, within=GAIN[size],
    )  # fmt: skip
    apart = (updates(x / scale.reshape(-1, *[1] * (x.ndim - 1))) for x in (measured["gains"], predicted["here"]))
    found, expected = apart
    differ = statistics.compare("difference of the updates at ℓ = 2", found[None], expected, within=UPDATES[size])

    tends = statistics.compare(
        "theory at n = 10¹² against the limit", predicted["large"][:, -1], predicted["limits"], at=at, relative=True,
        noisy=False, within=LIMIT,
    )  # fmt: skip
    return statistics.stated(tends, gains, differ)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n = SIZES[size]
    full, rank = (i for i, c in enumerate(lengths.curves()) if c.degree_two)
    missing = np.abs(predicted["large"] / predicted["limits"][:, None] - 1)
    (free, _) = (i for i, c in enumerate(lengths.curves()) if c.network.constant and c.error == "test error")
    return Verdict(
        sizes=f"n = {n}, predicted up to 10¹²; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        sentence="For centred ReLU at ℓ = 2 the test gain of the full gradient tends to "
        f"{predicted['limits'][full]:.3f}, and that of its rank-one part to {predicted['limits'][rank]:.3f}. "
        f"With a free constant the gain of the full gradient tends to {predicted['limits'][free]:.3f}. At ℓ = "
        "1 and 3 both updates have the same limits."
        if ruling.stated.outcome == "holds"
        else "",
        figure=_figure(n, measured["gains"], predicted),
        caption="At ℓ = 2 the gain of the full gradient of a centred ReLU tends to "
        f"{predicted['limits'][full]:.3f}, below the {predicted['limits'][rank]:.3f} of its rank-one part.",
        settings=tuple(experiment(network, n).id for network in lengths.networks()),
        trend=f"The largest gap between theory and a limit goes from {np.max(missing[:, 0]):.0%} of the limit at n = "
        f"{rounded(LARGE[0])} to {np.max(missing[:, -1]):.1%} at n = {rounded(LARGE[-1])}.",
    )


def _figure(n: int, gains: np.ndarray, predicted: Data) -> str:
    """Gains in test error against n: simulated, predicted, and their limits as dashed lines."""
    with _style.figure(3, width=2.6, height=3.1) as (fig, axes):
        for i, c in enumerate(lengths.curves()):
            if c.error != "test error":
                continue
            ax, rank, ours = axes[c.order - 1], c.network.update == "rank1", float(predicted["limits"][i])
            look = KINDS.index(c.network.constant or ("rank-one part" if rank else "full gradient"))
            colour, marker = _style.COLOURS[look], "osD^"[look]
            line = (n, *LARGE) if n < LARGE[0] else LARGE
            ax.plot(line, [predicted["here"][i], *predicted["large"][i]][-len(line) :], color=colour)
            ax.axhline(ours, color=colour, linestyle="--", linewidth=1.0)
            if c.order == 2 and c.network.centred:
                text, up = ("rank-one part", 3) if rank else ("with longer rows", -12)
                at = {"xytext": (0, up), "textcoords": "offset points", "ha": "right", "fontsize": 8, "color": colour}
                ax.annotate(text, (LARGE[-1], ours), **at)
            label = f"full gradient, {c.network.constant}" if c.network.constant else KINDS[look]
            _style.dots(ax, [n], *mean_and_error(gains[i : i + 1]), label=label, color=colour, marker=marker)
            sigma = c.network.activation.replace("pi", "π")
            if c.network.centred:
                ax.set_title(f"ℓ = {c.order},  η = n$^{{{ALPHAS[c.order]:g}}}$,  {sigma}")
            ax.set(xscale="log", xlabel="n", xlim=(n / 3, 2 * LARGE[-1]))
            ax.set_ylim(0, 1.2 * float(max(predicted["limits"])))
            ax.set_xticks([10**k for k in (3, 6, 9, 12)])
            ax.minorticks_off()
        axes[0].set_ylabel("gain in test error")
        for style, label in (("-", "theory"), ("--", "its limit")):
            axes[1].plot([], [], style, color=_style.INK, label=label, linewidth=1.2)
        fig.legend(*axes[1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return _style.svg(fig)
