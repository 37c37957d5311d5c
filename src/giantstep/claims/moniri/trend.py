"""The network's gains follow the finite-size theory, and that tends to its limits as n grows, slowly."""

import numpy as np

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import Compared, compare
from giantstep.checks.power import decided
from giantstep.claims import paired
from giantstep.claims.claim import claim
from giantstep.claims.moniri import lengths, talk
from giantstep.claims.moniri.lengths import ALPHAS, experiment
from giantstep.plot import style as _style

SIZES = {"quick": ((500,), (16,)), "full": ((500, 1000, 2000), (80, 40, 20))}
LARGE = tuple(10**k for k in (3, 4, 6, 9, 12))  # predicted
NEAR = 0.05  # granted to a simulated gain, of order 1/n
LEFT = 0.03  # share of the limit still missing at the largest n
SURE = 4.0  # standard errors, for all comparisons of gains


def measure(size: Size) -> Data:
    """The gains, for every n (curves, seeds)."""
    return {
        "gains": [
            lengths.flat([paired.gains(paired.measured(experiment(network, n), s)) for network in lengths.networks()])
            for n, s in zip(*SIZES[size], strict=True)
        ]
    }


def predict(size: Size) -> Data:
    """The gains at the sizes of the simulation and at large ones, (curves, sizes), their published limits and ours."""
    networks, sizes = lengths.networks(), SIZES[size][0]
    gains = np.stack(
        [
            lengths.flat([paired.gains(paired.predicted(experiment(network, n))) for network in networks])
            for n in (*sizes, *LARGE)
        ],
        axis=-1,
    )
    published, ours = (lengths.flat(list(part)) for part in zip(*map(lengths.limits, networks), strict=True))
    return {"small": gains[:, : len(sizes)], "large": gains[:, len(sizes) :], "published": published, "ours": ours}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (sizes, seeds), curves, small = SIZES[size], lengths.curves(), predicted["small"]
    comparisons = [
        compare(gains, small[:, i], level=SURE, granted=NEAR * small[:, i]) for i, gains in enumerate(measured["gains"])
    ]
    missing = np.abs(predicted["large"] / predicted["ours"][:, None] - 1)
    astray = missing[:, -1] > np.minimum(LEFT, missing[:, 0])
    full, rank = (i for i, c in enumerate(curves) if c.degree_two)
    below = [compare(g[rank] - g[full], p[rank] - p[full]) for g, p in zip(measured["gains"], small.T, strict=True)]
    sharpest = max(below, key=lambda b: float(b.predicted / b.seen))  # the size that tells the two updates apart best
    missed, shares = sum(int(np.sum(f.missed)) for f in comparisons), [f.relative() for f in comparisons]
    # a whole gain, and the whole difference of the updates, must not pass unseen
    detectable = max(max(float(np.max(s.seen)) for s in shares), float(sharpest.seen / sharpest.predicted))
    away = [
        f"{np.max(np.abs(f.mean / predicted['ours'] - 1)):.0%} of the limits at n = {n}"
        for n, f in zip(sizes, comparisons, strict=True)
    ]
    tends = f"{predicted['ours'][full]:.3f} ({predicted['large'][full, -1]:.3f} at n = 10¹²)"
    ends = predicted["large"][:, -1], predicted["ours"], predicted["published"]
    apart = f"{below[-1].mean:.4f} ± {below[-1].error:.4f}"
    return Verdict(
        outcome=decided(bool(missed or np.any(astray) or any(b.missed for b in below)), detectable, 1.0),
        sentence=f"{len(curves) * len(sizes) - missed} of {len(curves) * len(sizes)} simulated gains agree with the "
        f"finite-size theory (furthest {max((float(z) for f in comparisons for z in f.distance), key=abs):+.1f} s.e.). From n = "
        f"10³ to 10¹² the theory comes from within {np.max(missing[:, 0]):.0%} to within {np.max(missing[:, -1]):.1%} of "
        "the limits for ℓ = 1, 2, 3: the published ones, except for the full gradient at ℓ = 2, whose test gain tends to "
        f"{tends} and not to the published {predicted['published'][full]:.3f}. At n = {sizes[-1]} it is {apart} below that "
        f"of the rank-one part (predicted {below[-1].predicted:.4f}).",
        header=("ℓ", "update", "error", "n", "gain", "s.e.", "predicted", "at n = 10¹²", "limit", "published"),
        rows=tuple(
            (c.order, c.network.update, c.error, n, *(float(x[i]) for x in (f.mean, f.error, f.predicted, *ends)))
            for i, c in enumerate(curves)
            for n, f in zip(sizes, comparisons, strict=True)
        ),
        seeds=", ".join(f"0-{s - 1}" for s in seeds),
        sizes=f"n = {', '.join(map(str, sizes))}, predicted up to 10¹²; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(sizes, comparisons, predicted),
        caption=f"Gain in test error against n from {sizes[0]} to 10¹² (logarithmic) for ℓ = 1, 2, 3: dots at small n on "
        f"theory lines that rise slowly to their dashed limits. At ℓ = 2 the full gradient's line ends at {tends}, below "
        f"that of the rank-one part, which ends at the published {predicted['published'][rank]:.3f}.",
        settings=tuple(experiment(network, n).id for network in lengths.networks() for n in sizes),
        power=" ".join(
            [f"n = {n}: {s.power('% of a gain', 100)}" for n, s in zip(sizes, shares, strict=True)]
            + [f"Difference of the updates: {sharpest.power(f', where {sharpest.predicted:.3f} is predicted,')}"]
        ),
        trend=f"The simulated gains are within {' and '.join(away)}; in theory within {np.max(missing[:, 0]):.0%} "
        f"at n = 10³ and within {np.max(missing[:, -1]):.1%} at n = 10¹².",
    )


def _figure(sizes: tuple[int, ...], comparisons: list[Compared], predicted: Data) -> str:
    """Gains in test error against n: simulated, predicted, and their limits as dashed lines."""
    with _style.figure(3, width=2.75, height=2.8) as (fig, axes):
        for i, c in enumerate(lengths.curves()):
            if c.error != "test error":
                continue
            ax, rank, ours = axes[c.order - 1], c.network.update == "rank1", float(predicted["ours"][i])
            colour = _style.COLOURS[1 if rank else 0]
            line = sorted(zip((*sizes, *LARGE), (*predicted["small"][i], *predicted["large"][i]), strict=True))
            ax.plot(*zip(*line, strict=True), color=colour)
            ax.axhline(ours, color=colour, linestyle="--", linewidth=1.0)
            if c.order == 2:
                text, up = ("published limit", 3) if rank else ("with longer rows", -12)
                at = {"xytext": (0, up), "textcoords": "offset points", "ha": "right", "fontsize": 8, "color": colour}
                ax.annotate(text, (LARGE[-1], ours), **at)
            mean, error = ([float(getattr(f, name)[i]) for f in comparisons] for name in ("mean", "error"))
            _style.dots(ax, sizes, mean, error, color=colour, label="rank-one part" if rank else "full gradient")
            sigma = c.network.activation.replace("pi", "π")
            ax.set_title(f"ℓ = {c.order},  η = n$^{{{ALPHAS[c.order]:g}}}$,  {sigma}", loc="left")
            ax.set(xscale="log", xlabel="n", xlim=(min(sizes) / 3, 2 * LARGE[-1]))
            ax.set_ylim(0, 1.2 * float(max(predicted["ours"])))
            ax.set_xticks([10**k for k in (3, 6, 9, 12)])
            ax.minorticks_off()
        axes[0].set_ylabel("gain in test error")
        for style, label in (("-", "theory"), ("--", "its limit")):
            axes[1].plot([], [], style, color=_style.INK, label=label, linewidth=1.2)
        axes[1].legend(loc="lower right")
        return _style.svg(fig)


CLAIM = claim("moniri/trend", measure=measure, predict=predict, judge=judge)
