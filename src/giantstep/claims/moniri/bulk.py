"""The bulk of the features and of the first layer, before and after a step, follows the predicted law."""

from typing import Any

import numpy as np

from giantstep import measure as read
from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.moniri import predicted as spectra
from giantstep.claims.moniri import talk
from giantstep.experiment.setting import Setting
from giantstep.plot import style

ALPHA = 0.35  # two spikes for ReLU
CASES = ((("F0", "F"), "relu"), (("F0", "F"), "tanh"), (("W",), "relu"))
SIZES = {"quick": (1000, 3), "full": (2000, 5)}
CLOSE = (
    8.0  # sup distance allowed, over the number of singular values: a spectrum is rigid, its counts move by order one
)
EDGE = 0.01  # relative distance allowed of the edges, both read off in one way
NEEDED = 0.05  # of a distribution function or of an edge: a departure that must be seen
TITLES = {"F0": "random features", "F": f"after a step, η = n$^{{{ALPHA}}}$", "W": "first layer after the step"}
MATRICES = {"F0": r"$F_0/\sqrt{n}$", "F": r"$F/\sqrt{n}$", "W": "$W$"}


def experiment(n: int, sigma: str, count: int = 2) -> Setting:
    """The last ``count`` of the step sizes 0 and n^alpha."""
    return spectra.experiment(n, (0.0, n**ALPHA)[-count:], activation=sigma, update="gradient")


def values(n: int, sigma: str, count: int, seed: int) -> np.ndarray:
    """Singular values of F/sqrt(n) at step sizes 0 and n^alpha of the true gradient, or for count 1 of W after it."""
    return np.array(spectra.values(experiment(n, sigma, count), seed, weights=count == 1))


def measure(size: Size) -> Data:
    """Singular values by matrix and activation, (seeds, values)."""
    n, seeds = SIZES[size]
    distances = {}
    for names, sigma in CASES:
        spectra_of = cache.each(values, [(n, sigma, len(names), seed) for seed in range(seeds)])
        distances |= {f"{name} {sigma}": np.array([one[i] for one in spectra_of]) for i, name in enumerate(names)}
    return distances


def predict(size: Size) -> Data:
    """The law of every matrix."""
    found = {}
    for names, sigma in CASES:
        laws = spectra.laws(
            experiment(SIZES[size][0], sigma, len(names)), "weights" if names == ("W",) else "features", density=True
        )
        found |= {f"{name} {sigma}": spectra.plain(law) for name, law in zip(names, laws, strict=True)}
    return found


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    n, seeds = SIZES[size]
    laws = {name: spectra.law(data) for name, data in predicted.items()}
    distances = [[spectra.distance(v, law) for v in measured[name]] for name, law in laws.items()]
    far = compare(distances, 0.0, granted=[CLOSE / law.count for law in laws.values()])
    reads = np.array([spectra.edge(law) for law in laws.values()])
    edges = compare([[read.bulk_edge(v) for v in measured[name]] for name in laws], reads, granted=EDGE * reads)
    share = edges.relative()
    columns = (far.mean, far.granted, edges.mean, edges.error, edges.predicted, 100 * (share.mean - 1))
    rows: list[Any] = [
        (*name.split(" "), *(float(x[i]) for x in columns), laws[name].edge) for i, name in enumerate(laws)
    ]
    worst, widest = max(rows, key=lambda r: r[2] / r[3]), max(rows, key=lambda r: abs(r[7]))
    missed = far.missed | edges.missed
    return Verdict(
        outcome=decided(bool(np.any(missed)), float(np.max([far.seen, share.seen])), NEEDED),
        sentence=f"{np.sum(~missed)} of {len(rows)} bulks follow the predicted law: the largest sup distance of their "
        f"distribution functions is {worst[2]:.4f} ({worst[0]}, {worst[1]}; allowed {worst[3]:.4f}), the furthest edge "
        f"{widest[4]:.3f} ± {widest[5]:.3f} against {widest[6]:.3f} ({widest[0]}, {widest[1]}, {widest[7]:+.1f}%).",
        header=tuple(
            "matrix|activation|sup distance|allowed|edge|s.e.|read off the law|gap in %|law's edge".split("|")
        ),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}; true gradient, alpha = {ALPHA}",
        figure=_figure(measured, predicted),
        caption="Histograms of singular values for ReLU with the predicted densities on top, one panel each for random "
        "features, features after the step and the first layer; the densities run along the histograms (sup distance of "
        f"the distribution functions at most {worst[2]:.4f}) and the outliers stand at the predicted dashed lines.",
        settings=tuple(experiment(n, sigma, len(names)).id for names, sigma in CASES),
        power=f"Laws: {far.power(' in sup distance')} Edges: {share.power('%', 100)}",
    )


def _figure(measured: Data, predicted: Data) -> str:
    """The first seed's histograms with the predicted densities and outliers on top; the other seeds' outliers are pale."""
    with style.figure(len(TITLES), width=2.9, height=2.6) as (fig, axes):
        for ax, (name, title) in zip(axes, TITLES.items(), strict=True):
            first, *others = measured[f"{name} relu"]
            style.spectrum_panel(ax, first, show_edge=False)
            style.law_panel(ax, spectra.law(predicted[f"{name} relu"]))
            out = [x for one in others for x in read.outliers(one)]
            pale = {"color": style.COLOURS[1], "alpha": 0.35, "transform": ax.get_xaxis_transform()}
            ax.plot(out, [0.03] * len(out), "v", **pale)
            ax.set_title(title, loc="left")
            ax.set(xlabel=f"singular values of {MATRICES[name]}", ylabel="density" if ax is axes[0] else "")
        handles = {label: h for ax in axes for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        fig.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles))
        return style.svg(fig)


CLAIM = claim("moniri/bulk", measure=measure, predict=predict, judge=judge)
