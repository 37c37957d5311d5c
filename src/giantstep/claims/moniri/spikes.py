"""Spikes of the updated features appear one by one as the step size n^alpha grows, along powers of X beta."""

from giantstep.claims.moniri import talk
from giantstep.claims.moniri.outliers import Spikes, new_outliers
from giantstep.lab.verdict import Claim, Size, Verdict

ALPHAS = (0.0, 0.1, 0.2, 0.28, 0.33, 0.37, 0.42)
JUDGED = 3 / 8  # the theorem's first three regimes; at finite n the gradient's remainder grows with alpha
ACTIVATIONS = ("relu", "sin(x+pi/4)")
SIZES = {"quick": (1000, 2), "full": (2500, 6)}
NAMES = ("g", "g^2", "g^3", "g^4")  # powers of g = X beta looked for
ALIGNED = 0.3


def run(size: Size) -> Verdict:
    import numpy as np

    n, seeds = SIZES[size]
    runs = {a: [new_outliers(n, ALPHAS, a, seed) for seed in range(seeds)] for a in ACTIVATIONS}
    rows, most, wrong, extra, monotone = [], [], 0, 0, True
    judged = sum(alpha < JUDGED for alpha in ALPHAS)
    for activation, each in runs.items():
        counts = np.array([[len(s.values) for s in one] for one in each])
        monotone &= bool(np.all(np.diff(counts[:, :judged], axis=1) >= 0))
        most.append(float(counts[:, judged - 1].mean()))
        for i, alpha in enumerate(ALPHAS):
            here = [one[i] for one in each]
            good = [(s.cosines > ALIGNED) & (s.powers == np.arange(1, len(s.powers) + 1)) for s in here]
            missing = sum(int(np.sum(~g)) for g in good)
            wrong, extra = (wrong + missing, extra) if i < judged else (wrong, extra + missing)
            along = sorted({int(k) for s in here for k in s.powers[s.cosines > ALIGNED]})
            least = min((float(s.cosines.min()) for s in here if len(s.cosines)), default=float("nan"))
            rows.append(
                (activation, alpha, float(counts[:, i].mean()), ", ".join(NAMES[k - 1] for k in along) or "none", least)
            )
    return Verdict(
        outcome="fails" if wrong or not monotone else ("holds" if min(most) >= 2 else "inconclusive"),
        sentence=_sentence(wrong, monotone, most, extra),
        header=("activation", "alpha", "new outliers", "along", "least cos²"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}",
        figure=_figure({a: each[0] for a, each in runs.items()}),
        settings=tuple(talk.experiment(n, ALPHAS, talk.setting_1(), activation=a).id for a in ACTIVATIONS),
    )


def _sentence(wrong: int, monotone: bool, most: list[float], extra: int) -> str:
    found = ", ".join(f"{m:g} for {a}" for m, a in zip(most, ACTIVATIONS, strict=True))
    aligned = "the k-th new outlier always has" if not wrong else f"{wrong} new outliers do not have"
    return (
        f"Up to alpha = 3/8 {aligned} cos² > {ALIGNED} with the k-th Gram-Schmidt power of g = Xβ, and their number "
        f"{'never falls' if monotone else 'falls somewhere'} as alpha grows (at the last such alpha: {found}). At alpha = "
        f"{ALPHAS[-1]}, which is not judged, {extra} lie elsewhere. Spikes appear later than in the limit."
    )


def _figure(example: dict[str, list[Spikes]]) -> str:
    """Histograms of the first seed; one range a row, so that the spikes are seen to move."""
    from giantstep import canvas

    shown = [ALPHAS.index(a) for a in (0.1, 0.28, 0.37)]
    with canvas.figure(len(shown), len(example), width=2.6, height=2.2) as (fig, axes):
        for row, (activation, runs) in zip(axes, example.items(), strict=True):
            for ax, i in zip(row, shown, strict=True):
                canvas.spectrum_panel(
                    ax, runs[i].all_values, runs[i].values, [f"${NAMES[k - 1]}$" for k in runs[i].powers]
                )
                ax.set_title(f"{activation.replace('pi', 'π')},  η = n$^{{{ALPHAS[i]}}}$", loc="left")
            widest, tallest = max(ax.get_xlim()[1] for ax in row), max(ax.get_ylim()[1] for ax in row)
            for ax in row:
                ax.set(xlim=(0, widest), ylim=(0, tallest), ylabel="density" if ax is row[0] else "")
        for ax in axes[:-1].flat:
            ax.set_xlabel("")
        spike = axes[0, 0].plot([], [], "v", color=canvas.COLOURS[1], label="new outlier, along a power of g = Xβ")[0]
        bulk, edge = axes[0, 0].get_legend_handles_labels()[0][:2]
        fig.legend(handles=[bulk, edge, spike], loc="outside lower center", ncols=3)
    return canvas.svg(fig)


SPIKES = Claim(
    name="moniri/spikes",
    statement="As alpha grows, spikes leave the bulk of the updated features one by one, the k-th along the k-th power of Xβ.",
    paper="moniri",
    where="the spectrum of the updated feature matrix",
    run=run,
)
