"""Spikes of the updated features appear one by one as the step size n^alpha grows.

They lie along powers of X beta.
"""

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
    cache,
    judging,
    statistics,
)
from giantstep.experiment.setting import Setting
from giantstep.plot import style
from giantstep_papers.moniri import predicted as spectra
from giantstep_papers.moniri import talk
from giantstep_papers.moniri.outliers import new_outliers
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=4,
    quote="We show that with a learning rate that grows with the sample size, such training in "
    "fact introduces multiple rank-one components, each corresponding to a specific polynomial "
    "feature.",
    place="abstract of arXiv:2310.07891 only",
    kind="theorem",
    statement="With a learning rate that grows with the sample size, training introduces multiple "
    "rank-one components, each corresponding to a specific polynomial feature.",
    where="the spectrum of the updated feature matrix, alpha from 0.1 to 0.37",
    how="We take two activations, up to the alpha beyond which the gradient's remainder makes the "
    "longest row a spike of its own. The cos² of the first two new outliers with their powers of "
    "Xβ must be those of the finite-size theory. No outliers may lie elsewhere. The number of "
    "outliers must grow with alpha. Numbers of outliers are means over spectra.",
    judges=(
        Judge(
            "cos²",
            margin=(0.06, 0.04),
            departure=(0.2, 0.1),
            because="terms of order p^(−1/2)",
        ),
        Judge(
            "number of outliers elsewhere",
            side="below",
            margin=0.25,
            departure=1.0,
            because="borderline outliers, which some spectra show and others do not",
        ),
        Judge(
            "growth of the number of outliers",
            side="above",
            margin=0.25,
            departure=1.75,
            because="borderline outliers, which some spectra show and others do not",
        ),
    ),
    seeds={"quick": Seeds(14, 40), "full": Seeds(14, 50)},
)

# Beyond the last, the longest row that the gradient's remainder adds is longer than a row: it is
# eta sqrt(2 log p phi E y^2 Var sigma'/p), 1.3 (relu) and 1.5 (sine) at n = 500, alpha = 0.42.
# Such a row is a spike of its own, which vanishes only for larger n.
ALPHAS = (0.1, 0.2, 0.28, 0.37)
SHOWN = (0.1, 0.28, 0.37)  # in the figure
ACTIVATIONS = ("relu", "sin(x+pi/4)")
SIZES = {"quick": 500, "full": 2000}
NAMES = ("g", "g^2", "g^3", "g^4")  # powers of g = X beta looked for


def experiment(n: int, activation: str) -> Setting:
    return talk.experiment(n, ALPHAS, talk.setting_1(), activation=activation)


def measure(size: Size, seeds: range) -> Data:
    """What is counted and what the figure shows, of every activation.

    cosines: the cos^2 with their own power of the first two new singular vectors,
        (alphas, 2, seeds).
    elsewhere, count: the new outliers that lie along no power of theirs and all new ones,
        (alphas, seeds).
    """
    n, found = SIZES[size], {}
    for activation in ACTIVATIONS:
        runs = cache.each(new_outliers, [(n, ALPHAS, activation, seed) for seed in seeds])
        elsewhere, count = np.zeros((2, len(ALPHAS), len(seeds)))
        for s, run in enumerate(runs):
            for i, cosines in enumerate(run["cosines"]):
                along = np.array([row[k] if k < len(row) else 0.0 for k, row in enumerate(cosines)])
                elsewhere[i, s], count[i, s] = np.sum(along < 0.5), len(along)
        own = np.stack([run["own"] for run in runs], axis=-1)
        controls = np.transpose([run["controls"] for run in runs])
        at = [ALPHAS.index(alpha) for alpha in SHOWN]
        shown = ("values", "cosines", "spectrum")
        found[activation] = {
            "cosines": controlled(own, controls),
            "elsewhere": elsewhere,
            "count": count,
            "first": {name: [runs[0][name][i] for i in at] for name in shown},
        }
    return found


def predict(size: Size) -> Data:
    """The cos^2 of the first two outliers that are predicted to show, else NaN.

    (activations, alphas, 2)
    """
    every = [spectra.places(experiment(SIZES[size], activation)) for activation in ACTIVATIONS]
    return {"cosines": np.array([places[..., 1] for places in every])}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The cos^2 of every spike that is predicted to show, and the number of outliers.

    Those that lie elsewhere are few, and the number of all grows.
    """
    judge, names = judging(CLAIM, size), ("cosines", "elsewhere", "count")
    cosines, elsewhere, count = (
        np.array([measured[activation][name] for activation in ACTIVATIONS]) for name in names
    )
    labels = [f"{a}, alpha = {alpha:g}" for a in ACTIVATIONS for alpha in ALPHAS]
    later = [f"{a}, alpha = {alpha:g}" for a in ACTIVATIONS for alpha in ALPHAS[1:]]
    shown = np.isfinite(predicted["cosines"])
    at = [
        f"spike {k + 1}, {ACTIVATIONS[i]}, alpha = {ALPHAS[j]:g}" for i, j, k in np.argwhere(shown)
    ]
    growth, more = np.diff(count, axis=1), "outliers more than at the alpha before"
    return statistics.stated(
        judge("cos²", cosines[shown], predicted["cosines"][shown], at=at),
        judge("outliers elsewhere", elsewhere, by="number of outliers elsewhere", at=labels),
        judge(more, growth, by="growth of the number of outliers", at=later),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n = SIZES[size]
    return Verdict(
        sizes=f"n = {n}; {talk.RATIOS}",
        figure=_figure(n, measured),
        caption="As the step grows, spikes leave the bulk one by one, each along a power of "
        "g = Xβ.",
        settings=tuple(experiment(n, a).id for a in ACTIVATIONS),
    )


def _figure(n: int, measured: Data) -> str:
    """Histograms of the first seed; one range a row, so that the spikes are seen to move."""
    with style.figure(len(SHOWN), len(ACTIVATIONS), width=2.6, height=2.2) as (fig, axes):
        for row, activation in zip(axes, ACTIVATIONS, strict=True):
            first = measured[activation]["first"]
            for i, (ax, alpha) in enumerate(zip(row, SHOWN, strict=True)):
                powers = [int(np.argmax(cosines)) for cosines in first["cosines"][i]]
                labels = [f"${NAMES[k]}$" for k in powers]
                style.spectrum_panel(ax, first["spectrum"][i], first["values"][i], labels)
                ax.set_title(f"{activation.replace('pi', 'π')},  η = n$^{{{alpha}}}$")
            widest = max(ax.get_xlim()[1] for ax in row)
            tallest = max(ax.get_ylim()[1] for ax in row)
            for ax in row:
                ylabel = "density" if ax is row[0] else ""
                ax.set(xlim=(0, widest), ylim=(0, tallest), ylabel=ylabel)
        for ax in axes[:-1].flat:
            ax.set_xlabel("")
        look = {"color": style.COLOURS[1], "label": "new outlier, along a power of g = Xβ"}
        (spike,) = axes[0, 0].plot([], [], "v", **look)
        bulk, edge = axes[0, 0].get_legend_handles_labels()[0][:2]
        fig.legend(handles=[bulk, edge, spike], loc="outside lower center", ncols=3)
    return style.svg(fig)
