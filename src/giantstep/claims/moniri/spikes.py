"""Spikes of the updated features appear one by one as the step size n^alpha grows, along powers of X beta."""

from typing import Any

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.power import counted
from giantstep.claims.claim import claim
from giantstep.claims.moniri import talk
from giantstep.claims.moniri.outliers import new_outliers
from giantstep.plot import style

ALPHAS = (0.0, 0.1, 0.2, 0.28, 0.33, 0.37, 0.42)
SHOWN = (0.1, 0.28, 0.37)  # in the figure
JUDGED = 3 / 8  # the theorem's first three regimes; at finite n the gradient's remainder grows with alpha
ACTIVATIONS = ("relu", "sin(x+pi/4)")
SIZES = {"quick": (1000, 2), "full": (2000, 4)}
NAMES = ("g", "g^2", "g^3", "g^4")  # powers of g = X beta looked for
ALIGNED = 0.3  # cos^2 from which an outlier lies along a power; that of a random direction is of order 1/n
FEWEST = 10  # outliers judged from which the verdict says something


def measure(size: Size) -> Data:
    """The new outliers of every activation, seed and step size, and the spectra of the first seed that are shown."""
    n, seeds = SIZES[size]
    runs = cache.each(new_outliers, [(n, ALPHAS, a, seed) for a in ACTIVATIONS for seed in range(seeds)])
    spikes = {}
    for i, activation in enumerate(ACTIVATIONS):
        mine = runs[i * seeds : (i + 1) * seeds]
        new = {name: [run[name] for run in mine] for name in ("values", "cosines", "powers")}
        spikes[activation] = {**new, "spectra": [mine[0]["spectrum"][ALPHAS.index(alpha)] for alpha in SHOWN]}
    return spikes


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    n, seeds = SIZES[size]
    judged = sum(alpha < JUDGED for alpha in ALPHAS)
    rows, most, wrong, extra, monotone, looked = [], [], 0, 0, True, 0
    for activation in ACTIVATIONS:
        spikes = measured[activation]
        counts = np.array([[len(values) for values in run] for run in spikes["values"]])
        monotone &= bool(np.all(np.diff(counts[:, :judged], axis=1) >= 0))
        most.append(float(counts[:, judged - 1].mean()))
        looked += int(counts[:, :judged].sum())
        for i, alpha in enumerate(ALPHAS):
            cosines, powers = ([run[i] for run in spikes[name]] for name in ("cosines", "powers"))
            good = [(c > ALIGNED) & (k == np.arange(1, len(k) + 1)) for c, k in zip(cosines, powers, strict=True)]
            missing = sum(int(np.sum(~g)) for g in good)
            wrong, extra = (wrong + missing, extra) if i < judged else (wrong, extra + missing)
            along = sorted({int(k) for c, j in zip(cosines, powers, strict=True) for k in j[c > ALIGNED]})
            least = min((float(c.min()) for c in cosines if len(c)), default=float("nan"))
            names = ", ".join(NAMES[k - 1] for k in along) or "none"
            rows.append((activation, alpha, float(counts[:, i].mean()), names, least))
    words = ", ".join(f"{m:g} for {a}" for m, a in zip(most, ACTIVATIONS, strict=True))
    enough = min(most) >= 2 and looked >= FEWEST
    return Verdict(
        outcome="fails" if wrong or not monotone else ("holds" if enough else "inconclusive"),
        sentence=_sentence(wrong, monotone, words, extra),
        header=("activation", "alpha", "new outliers", "along", "least cos²"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}",
        figure=_figure(measured),
        caption=f"Histograms of the singular values of F/√n for {' and '.join(ACTIVATIONS)} at alpha = "
        f"{', '.join(f'{a:g}' for a in SHOWN)}: the bulk stays, and new outliers step out to the right, each marked with "
        f"the power of g = Xβ along which it lies; at alpha = {SHOWN[-1]:g} there are {words}.",
        settings=tuple(talk.experiment(n, ALPHAS, talk.setting_1(), activation=a).id for a in ACTIVATIONS),
        power=counted(looked, "new outliers are judged, each to lie along its own power of g"),
    )


def _sentence(wrong: int, monotone: bool, words: str, extra: int) -> str:
    aligned = "the k-th new outlier always has" if not wrong else f"{wrong} new outliers do not have"
    return (
        f"Up to alpha = 3/8 {aligned} cos² > {ALIGNED} with the k-th Gram-Schmidt power of g = Xβ, and their number "
        f"{'never falls' if monotone else 'falls somewhere'} as alpha grows (at the last such alpha: {words}). At alpha = "
        f"{ALPHAS[-1]}, which is not judged, {extra} lie elsewhere. Spikes appear later than in the limit."
    )


def _figure(measured: Data) -> str:
    """Histograms of the first seed; one range a row, so that the spikes are seen to move."""
    with style.figure(len(SHOWN), len(ACTIVATIONS), width=2.6, height=2.2) as (fig, axes):
        for row, activation in zip(axes, ACTIVATIONS, strict=True):
            spikes: Any = measured[activation]
            for ax, alpha, spectrum in zip(row, SHOWN, spikes["spectra"], strict=True):
                values, powers = (spikes[name][0][ALPHAS.index(alpha)] for name in ("values", "powers"))
                style.spectrum_panel(ax, spectrum, values, [f"${NAMES[int(k) - 1]}$" for k in powers])
                ax.set_title(f"{activation.replace('pi', 'π')},  η = n$^{{{alpha}}}$", loc="left")
            widest, tallest = max(ax.get_xlim()[1] for ax in row), max(ax.get_ylim()[1] for ax in row)
            for ax in row:
                ax.set(xlim=(0, widest), ylim=(0, tallest), ylabel="density" if ax is row[0] else "")
        for ax in axes[:-1].flat:
            ax.set_xlabel("")
        spike = axes[0, 0].plot([], [], "v", color=style.COLOURS[1], label="new outlier, along a power of g = Xβ")[0]
        bulk, edge = axes[0, 0].get_legend_handles_labels()[0][:2]
        fig.legend(handles=[bulk, edge, spike], loc="outside lower center", ncols=3)
    return style.svg(fig)


CLAIM = claim("moniri/spikes", measure=measure, judge=judge)
