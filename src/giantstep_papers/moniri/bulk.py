"""The bulk of the features and of the first layer follows the predicted law, a step or none."""

import numpy as np

from giantstep import measure as read
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

CLAIM = Claim(
    order=6,
    of="giantstep",
    statement="Apart from a few outliers the singular values of the features, before and after the "
    "step, and of the first layer follow a deterministic law with a sharp edge.",
    where="the law of our conditional theory",
    how="For five matrices we compare the distribution function of the bulk with that of the law. "
    "We also compare the edge, read off both in one way.",
    judges=(
        Judge(
            "sup distance to the law",
            side="below",
            margin="eight over the number of singular values",
            departure=(0.1, 0.05),
            because="the rigidity of a spectrum, which moves few singular values",
        ),
        Judge(
            "edge of the bulk",
            relative=True,
            margin=(0.03, 0.01),
            departure=(0.07, 0.03),
            because="fluctuations of edges, of order p^(−2/3)",
        ),
    ),
    seeds={"quick": Seeds(5, 20), "full": Seeds(5, 10)},
)

ALPHA = 0.35  # two spikes for ReLU
CASES = ((("F0", "F"), "relu"), (("F0", "F"), "tanh"), (("W",), "relu"))
SIZES = {"quick": 500, "full": 2000}
# The sup distance that is allowed, times the number of singular values: a spectrum is rigid, its
# counts move by order one.
CLOSE = 8.0
TITLES = {
    "F0": "random features",
    "F": f"after a step, η = n$^{{{ALPHA}}}$",
    "W": "first layer after the step",
}
MATRICES = {"F0": r"$F_0/\sqrt{n}$", "F": r"$F/\sqrt{n}$", "W": "$W$"}


def experiment(n: int, sigma: str, count: int = 2) -> Setting:
    """The last ``count`` of the step sizes 0 and n^alpha."""
    return spectra.experiment(n, (0.0, n**ALPHA)[-count:], activation=sigma, update="gradient")


def values(n: int, sigma: str, count: int, seed: int) -> np.ndarray:
    """Singular values at step sizes 0 and n^alpha of the true gradient.

    They are those of F/sqrt(n), or for count 1 of W after the step.
    """
    return np.array(spectra.values(experiment(n, sigma, count), seed, weights=count == 1))


def measure(size: Size, seeds: range) -> Data:
    """Singular values by matrix and activation, (seeds, values)."""
    n, found = SIZES[size], {}
    for names, sigma in CASES:
        spectra_of = cache.each(values, [(n, sigma, len(names), seed) for seed in seeds])
        for i, name in enumerate(names):
            found[f"{name} {sigma}"] = np.array([one[i] for one in spectra_of])
    return found


def predict(size: Size) -> Data:
    """The law of every matrix."""
    found = {}
    for names, sigma in CASES:
        of = "weights" if names == ("W",) else "features"
        laws = spectra.laws(experiment(SIZES[size], sigma, len(names)), of, density=True)
        for name, law in zip(names, laws, strict=True):
            found[f"{name} {sigma}"] = spectra.plain(law)
    return found


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The distribution function of every bulk, and its edge as it is read off a spectrum."""
    laws = {name: spectra.law(data) for name, data in predicted.items()}
    at, judge = list(laws), judging(CLAIM, size)
    distances = [[spectra.distance(v, law) for v in measured[name]] for name, law in laws.items()]
    allowed = np.array([CLOSE / law.count for law in laws.values()])
    edges = [[read.bulk_edge(v) for v in measured[name]] for name in laws]
    reads = [spectra.edge(law) for law in laws.values()]
    return statistics.stated(
        judge("sup distance to the law", distances, at=at, margin=allowed),
        judge("edge of the bulk", edges, reads, at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n = SIZES[size]
    return Verdict(
        sizes=f"n = {n}; {talk.RATIOS}; true gradient, alpha = {ALPHA}",
        figure=_figure(measured, predicted),
        caption="The predicted densities follow the histograms, and the outliers stand at the "
        "predicted lines.",
        settings=tuple(experiment(n, sigma, len(names)).id for names, sigma in CASES),
    )


def _figure(measured: Data, predicted: Data) -> str:
    """The first seed's histograms with the predicted densities and outliers on top.

    The outliers of the other seeds are pale.
    """
    with style.figure(len(TITLES), width=2.9, height=2.6) as (fig, axes):
        for ax, (name, title) in zip(axes, TITLES.items(), strict=True):
            first, *others = measured[f"{name} relu"]
            style.spectrum_panel(ax, first, show_edge=False)
            style.law_panel(ax, spectra.law(predicted[f"{name} relu"]))
            out = [x for one in others for x in read.outliers(one)]
            pale = {"color": style.COLOURS[1], "alpha": 0.35}
            at_the_foot = ax.get_xaxis_transform()
            ax.plot(out, [0.03] * len(out), "v", transform=at_the_foot, **pale)
            ax.set_title(title)
            ylabel = "density" if ax is axes[0] else ""
            ax.set(xlabel=f"singular values of {MATRICES[name]}", ylabel=ylabel)
        named = [zip(*ax.get_legend_handles_labels(), strict=True) for ax in axes]
        handles = {label: drawn for each in named for drawn, label in each}
        place = "outside lower center"
        fig.legend(handles.values(), handles.keys(), loc=place, ncols=len(handles))
        return style.svg(fig)
