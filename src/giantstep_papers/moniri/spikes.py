"""Spikes of the updated features appear one by one as the step size n^alpha grows, along powers of X beta."""

import numpy as np

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.experiment.setting import Setting
from giantstep.plot import style
from giantstep_papers.moniri import predicted as spectra
from giantstep_papers.moniri import talk
from giantstep_papers.moniri.outliers import new_outliers
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=4,
    quote="We show that with a learning rate that grows with the sample size, such training in fact"
    " introduces multiple rank-one components, each corresponding to a specific polynomial "
    "feature.",
    place="abstract of arXiv:2310.07891 only",
    kind="theorem",
    statement="With a learning rate that grows with the sample size, training introduces multiple "
    "rank-one components, each corresponding to a specific polynomial feature.",
    where="the spectrum of the updated feature matrix, alpha from 0.1 to 0.37",
    how="We take two activations, up to the alpha beyond which the gradient's remainder makes the"
    " longest row a spike of its own. The cos² of the first two new outliers with their "
    "powers of Xβ must be those of the finite-size theory, with a margin of order p^(−1/2). "
    "No outliers may lie elsewhere, but for borderline ones. Their number must grow with "
    "alpha.",
    seeds={"quick": Seeds(14, 40), "full": Seeds(14, 50)},
)

ALPHAS = (0.1, 0.2, 0.28, 0.37)
# Beyond, the longest row that the gradient's remainder adds, eta sqrt(2 log p phi E y^2 Var sigma'/p), is longer than a row: at
# n = 500 and alpha = 0.42 it is 1.3 (relu) and 1.5 (sine). Such a row is a spike of its own, which vanishes only for larger n.
SHOWN = (0.1, 0.28, 0.37)  # in the figure
ACTIVATIONS = ("relu", "sin(x+pi/4)")
SIZES = {"quick": 500, "full": 2000}
COSINE = {"quick": Tolerance(0.06, 0.2), "full": Tolerance(0.04, 0.1)}
ELSEWHERE = Tolerance(0.25, 1.0)  # outliers a spectrum
GROWTH = Tolerance(0.25, 1.75)  # outliers a spectrum
NAMES = ("g", "g^2", "g^3", "g^4")  # powers of g = X beta looked for


def experiment(n: int, activation: str) -> Setting:
    return talk.experiment(n, ALPHAS, talk.setting_1(), activation=activation)


def measure(size: Size, seeds: range) -> Data:
    """Of every activation the cos^2 with their own power of the first two new singular vectors, (alphas, 2, seeds); the new
    outliers that lie along no power of theirs and all new ones, (alphas, seeds); and what the figure shows."""
    n, found = SIZES[size], {}
    for activation in ACTIVATIONS:
        runs = cache.each(new_outliers, [(n, ALPHAS, activation, seed) for seed in seeds])
        elsewhere, count = np.zeros((2, len(ALPHAS), len(seeds)))
        for s, run in enumerate(runs):
            for i, cosines in enumerate(run["cosines"]):
                along = np.array([row[k] if k < len(row) else 0.0 for k, row in enumerate(cosines)])
                elsewhere[i, s], count[i, s] = np.sum(along < 0.5), len(along)
        own = controlled(
            np.stack([run["own"] for run in runs], axis=-1), np.transpose([run["controls"] for run in runs])
        )
        at = [ALPHAS.index(alpha) for alpha in SHOWN]
        first = {name: [runs[0][name][i] for i in at] for name in ("values", "cosines", "spectrum")}
        found[activation] = {"cosines": own, "elsewhere": elsewhere, "count": count, "first": first}
    return found


def predict(size: Size) -> Data:
    """The cos^2 of the first two outliers that are predicted to show, (activations, alphas, 2), else NaN."""
    return {"cosines": np.array([spectra.places(experiment(SIZES[size], a))[..., 1] for a in ACTIVATIONS])}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The cos^2 of every spike that is predicted to show, the outliers that lie elsewhere, and the growth of their number."""
    cosines, elsewhere, count = (
        np.array([measured[a][name] for a in ACTIVATIONS]) for name in ("cosines", "elsewhere", "count")
    )
    labels = [f"{a}, alpha = {alpha:g}" for a in ACTIVATIONS for alpha in ALPHAS]
    later = [f"{a}, alpha = {alpha:g}" for a in ACTIVATIONS for alpha in ALPHAS[1:]]
    shown = np.isfinite(predicted["cosines"])
    names = [f"spike {k + 1}, {ACTIVATIONS[i]}, alpha = {ALPHAS[j]:g}" for i, j, k in np.argwhere(shown)]
    growth = np.diff(count, axis=1)
    return statistics.stated(
        statistics.compare("cos²", cosines[shown], predicted["cosines"][shown], at=names, within=COSINE[size]),
        statistics.compare("outliers elsewhere", elsewhere, at=labels, side="below", within=ELSEWHERE),
        statistics.compare("outliers more than at the alpha before", growth, at=later, side="above", within=GROWTH),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n = SIZES[size]
    return Verdict(
        sizes=f"n = {n}; {talk.RATIOS}",
        figure=_figure(n, measured),
        caption="As the step grows, spikes leave the bulk one by one, each along a power of g = Xβ.",
        settings=tuple(experiment(n, a).id for a in ACTIVATIONS),
    )


def _figure(n: int, measured: Data) -> str:
    """Histograms of the first seed; one range a row, so that the spikes are seen to move."""
    with style.figure(len(SHOWN), len(ACTIVATIONS), width=2.6, height=2.2) as (fig, axes):
        for row, activation in zip(axes, ACTIVATIONS, strict=True):
            first = measured[activation]["first"]
            for i, (ax, alpha) in enumerate(zip(row, SHOWN, strict=True)):
                powers = [int(np.argmax(cosines)) for cosines in first["cosines"][i]]
                style.spectrum_panel(ax, first["spectrum"][i], first["values"][i], [f"${NAMES[k]}$" for k in powers])
                ax.set_title(f"{activation.replace('pi', 'π')},  η = n$^{{{alpha}}}$")
            widest, tallest = max(ax.get_xlim()[1] for ax in row), max(ax.get_ylim()[1] for ax in row)
            for ax in row:
                ax.set(xlim=(0, widest), ylim=(0, tallest), ylabel="density" if ax is row[0] else "")
        for ax in axes[:-1].flat:
            ax.set_xlabel("")
        spike = axes[0, 0].plot([], [], "v", color=style.COLOURS[1], label="new outlier, along a power of g = Xβ")[0]
        bulk, edge = axes[0, 0].get_legend_handles_labels()[0][:2]
        fig.legend(handles=[bulk, edge, spike], loc="outside lower center", ncols=3)
    return style.svg(fig)
