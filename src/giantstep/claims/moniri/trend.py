"""The network's gains follow the finite-size theory, and that tends to its limits as n grows, slowly."""

from giantstep.claims import paired
from giantstep.claims.moniri import lengths, talk
from giantstep.claims.moniri.lengths import ALPHAS, Curve, experiment
from giantstep.lab.verdict import Claim, Size, Verdict

SIZES = {"quick": ((200, 500), (32, 10)), "full": ((500, 1000, 2000), (80, 40, 20))}
LARGE = tuple(10**k for k in (3, 4, 6, 8, 10, 12))  # predicted
NEAR, LEFT = (
    0.05,
    0.03,
)  # bias of order 1/n granted to a simulated gain; share of the limit still missing at the largest n


def measured(size: Size) -> list[Curve]:
    sizes, seeds = SIZES[size]
    found = []
    for network in lengths.networks():
        theory = {n: paired.predicted(experiment(network, n)) for n in (*sizes, *LARGE)}
        outcomes = [paired.simulated(experiment(network, n), s) for n, s in zip(sizes, seeds, strict=True)]
        for i, order in enumerate(network.orders):
            for e in paired.ERRORS:
                small, large = ([float(paired.gains(theory[n], e)[i]) for n in part] for part in (sizes, LARGE))
                samples = [paired.gains(outcome, e)[i] for outcome in outcomes]
                found.append(Curve(network, order, e, samples, small, large, *lengths.limits(network, order, e)))
    return found


def run(size: Size) -> Verdict:
    sizes, seeds = SIZES[size]
    curves = measured(size)
    dots = [dot for curve in curves for dot in curve.dots]
    # 4 standard errors for sixteen comparisons
    missed = [dot for dot in dots if abs(dot.mean - dot.predicted) > max(4 * dot.error, NEAR * dot.predicted)]
    astray = [c for c in curves if c.missing[1] > min(LEFT, c.missing[0])]
    full, rank = (c for c in curves if c.order == 2 and c.error == "test_error")
    below = paired.compare(rank.samples[-1] - full.samples[-1], rank.small[-1] - full.small[-1])  # type: ignore[arg-type]
    return Verdict(
        outcome="fails" if missed or astray or abs(below.distance) > 4 else "holds",
        sentence=f"{len(dots) - len(missed)} of {len(dots)} simulated gains agree with the finite-size theory (furthest "
        f"{max((float(d.distance) for d in dots), key=abs):+.1f} s.e.). From n = 10³ to 10¹² the theory comes from within "
        f"{100 * max(c.missing[0] for c in curves):.0f}% to within {100 * max(c.missing[1] for c in curves):.1f}% of the "
        "limits for ℓ = 1, 2, 3: the published ones, except for the full gradient at ℓ = 2, whose test gain tends to "
        f"{full.ours:.3f} ({full.large[-1]:.3f} at n = 10¹²) and not to the published {full.published:.3f}. At n = "
        f"{sizes[-1]} it is {below.mean:.4f} ± {below.error:.4f} below that of the rank-one part (predicted "
        f"{below.predicted:.4f}).",
        header=("ℓ", "update", "error", "n", "gain", "s.e.", "predicted", "at n = 10¹²", "limit", "published"),
        rows=tuple(
            (c.order, c.network.update, paired.ERRORS[c.error], n, *map(float, dot), c.large[-1], c.ours, c.published)
            for c in curves
            for n, dot in zip(sizes, c.dots, strict=True)
        ),
        seeds=", ".join(f"0-{s - 1}" for s in seeds),
        sizes=f"n = {', '.join(map(str, sizes))}, predicted up to 10¹²; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=draw(sizes, [c for c in curves if c.error == "test_error"]),
        settings=tuple(experiment(network, n).id for network in lengths.networks() for n in sizes),
    )


def draw(sizes: tuple[int, ...], curves: list[Curve]) -> str:
    """Gains in test error against n: simulated, predicted, and their limits as dashed lines."""
    from giantstep import canvas

    with canvas.figure(3, width=2.75, height=2.8) as (fig, axes):
        for c in curves:
            ax, rank = axes[c.order - 1], c.network.update == "rank1"
            colour = canvas.COLOURS[1 if rank else 0]
            line = sorted(zip((*sizes, *LARGE), (*c.small, *c.large), strict=True))
            ax.plot(*zip(*line, strict=True), color=colour)
            ax.axhline(c.ours, color=colour, linestyle="--", linewidth=1.0)
            if c.order == 2:
                text, up = ("published limit", 3) if rank else ("with longer rows", -12)
                at = {"xytext": (0, up), "textcoords": "offset points", "ha": "right", "fontsize": 8, "color": colour}
                ax.annotate(text, (LARGE[-1], c.ours), **at)
            label, dots = "rank-one part" if rank else "full gradient", c.dots
            canvas.dots(ax, sizes, [d.mean for d in dots], [d.error for d in dots], color=colour, label=label)
            ax.set_title(
                f"ℓ = {c.order},  η = n$^{{{ALPHAS[c.order]:g}}}$,  {c.network.activation.replace('pi', 'π')}",
                loc="left",
            )
            ax.set(
                xscale="log",
                xlabel="n",
                xlim=(min(sizes) / 3, 2 * LARGE[-1]),
                ylim=(0, 1.2 * max(k.ours for k in curves)),
            )
            ax.set_xticks([10**k for k in (3, 6, 9, 12)])
            ax.minorticks_off()
        axes[0].set_ylabel("gain in test error")
        for style, label in (("-", "theory"), ("--", "its limit")):
            axes[1].plot([], [], style, color=canvas.INK, label=label, linewidth=1.2)
        axes[1].legend(loc="lower right")
        return canvas.svg(fig)


TREND = Claim(
    name="moniri/trend",
    statement="As n grows the network's gains tend to the published limits for ℓ = 1, 2, 3; but at ℓ = 2 only for the "
    "rank-one part of the step: the full gradient also lengthens the rows, and then g² + κ is free instead of g².",
    paper="moniri",
    where="the limits of the improvements, with our correction for the full gradient, κ = φ E y² Var σ′/(c₁‖β‖)²",
    run=run,
)
