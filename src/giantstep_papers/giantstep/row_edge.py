"""The first layer after the step: a spiked covariance; where n ~ d its bulk is coloured and
reaches further."""

from itertools import product
from typing import Any

import numpy as np

import giantstep as gs
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
from giantstep.plot import style as _style
from giantstep.simulate import train
from giantstep.systems.function_space import coloured
from giantstep.systems.function_space.simulate import direction
from giantstep_papers.lobo import experiment
from giantstep_papers.shared.said import where_it_holds

CLAIM = Claim(
    order=23,
    paper="lobo",
    of="giantstep",
    statement="After one large step the spike of the first layer, its direction and the mean "
    "variance of the rows are those of a spiked Gaussian covariance. Where n ~ d the bulk is that "
    "of coloured rows, whose covariances differ with aᵢ² and follow the batch's Xᵀ D_r X and Xᵀ "
    "D_r² X, and it ends further out.",
    where="our computation of the bulk of the first layer; Lobo, Loureiro, Tran-Thanh and Liu "
    "speak of the features",
    how="We compare the variance across u, the top eigenvalue and its cos² with u of d WᵀW/p, for"
    " two activations at n = d and 8d, with those of the spiked law of variance 1 + ρ given "
    "the seed's second layer and ‖β‖. The edge of the bulk must be that of drawn coloured "
    "rows, read off in the same way. At n = d it must lie beyond that of the spiked law by a "
    "twentieth at least.",
    judges=(
        Judge(
            "number over that of the spiked law",
            relative=True,
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="terms of order 1/d",
        ),
        Judge(
            "log edge less that of the coloured rows",
            margin=(0.06, 0.03),
            departure=(0.15, 0.06),
            because="the scatter of an edge, of order d^(−2/3)",
        ),
        Judge(
            "log edge over that of the spiked law",
            side="above",
            margin=0.03,
            departure=0.1,
            because="the scatter of an edge, of order d^(−2/3)",
        ),
    ),
    seeds={"quick": Seeds(16, 60), "full": Seeds(20, 80)},
)

DIMENSIONS = {"quick": 120, "full": 300}
ACTIVATIONS, RATIOS, ETA = ("relu", "tanh"), (1.0, 8.0), 1.5
CASES = tuple(product(ACTIVATIONS, RATIOS))
NAMES = ("spread", "top", "overlap", "edge")
SAID = {
    "spread": "variance across u",
    "top": "top eigenvalue",
    "overlap": "cos² with u",
    "edge": "edge of the bulk",
}
FURTHER = 1.05  # the bulk ends so many times further out than by the spiked law, where n = d


def setting(activation: str, d: int, ratio: float) -> gs.Setting:
    return experiment.setting(activation, d, ratio, (ETA,), "gaussian")


def layer(activation: str, d: int, ratio: float, seed: int) -> dict[str, Any]:
    """Of d W^T W/p: variance across u, top eigenvalue, cos^2 of its vector with u,
    edge of the others; and all eigenvalues."""
    case = setting(activation, d, ratio)
    (W,), beta = train(case, seed, dtype="float32").final.astype(float), direction(case, seed)
    u, p = beta / np.linalg.norm(beta), len(W)
    spectrum = gs.measure.spectrum(W * (d / p) ** 0.5, vectors=1)
    spread = float(np.sum(W**2) - np.sum((W @ u) ** 2)) / p * d / (d - 1)
    overlap = float((spectrum.right[:, 0] @ u) ** 2)
    edge = gs.measure.bulk_edge(spectrum.values[1:]) ** 2
    return {
        "numbers": [spread, float(spectrum.values[0] ** 2), overlap, edge],
        "values": spectrum.values**2,
    }


def expected(activation: str, d: int, ratio: float, seed: int) -> dict[str, Any]:
    """The same given the seed's second layer and batch: of the spiked law,
    and the coloured bulk without its W0."""
    case = setting(activation, d, ratio)
    beta = direction(case, seed)
    values = coloured.drawn(coloured.coloured_rows(case, seed), beta / np.linalg.norm(beta), seed)
    return {
        "spiked": experiment.layer(case, seed, rho=True),
        "edge": gs.measure.bulk_edge(values) ** 2,
        "values": values**2,
    }


def measure(size: Size, seeds: range) -> Data:
    """The numbers (cases, names, seeds), and the first seed's eigenvalues."""
    found = cache.over(layer, [(a, DIMENSIONS[size], ratio) for a, ratio in CASES], seeds)
    return {**found, "values": found["values"][..., 0]}


def predict(size: Size) -> Data:
    """The edge of the coloured bulk in the limit, by the draws of seed 0: a line of the figure."""
    cases = [setting(a, DIMENSIONS[size], ratio) for a, ratio in CASES]
    return {"edges": [coloured.edge(coloured.coloured_rows(case, 0)) for case in cases]}


def predict_draws(size: Size, seeds: range) -> Data:
    """The spiked law's numbers (cases, names, seeds),
    and the coloured edge (cases, seeds) with a first seed's eigenvalues."""
    found = cache.over(expected, [(a, DIMENSIONS[size], ratio) for a, ratio in CASES], seeds)
    return {**found, "values": found["values"][..., 0]}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The spike, its direction and the mean variance are those of the spiked law;
    the edge is that of the coloured rows."""
    found, spiked = measured["numbers"], predicted["spiked"]
    where = [f"{a}, n = {ratio:g}d" for a, ratio in CASES]
    at = [f"{SAID[name]}, {case}" for case in where for name in NAMES[:-1]]
    close = [i for i, (_, ratio) in enumerate(CASES) if ratio == min(RATIOS)]
    beyond = np.log(found[close, -1] / spiked[close, -1])
    ratio, edge = found[:, :-1] / spiked[:, :-1], np.log(found[:, -1] / predicted["edge"])
    judge, number = judging(CLAIM, size), "number over that of the spiked law"
    return statistics.stated(
        judge("measured over spiked law", ratio, 1.0, by=number, at=at),
        judge("log edge less that of the coloured rows", edge, at=where),
        judge("log edge over that of the spiked law", beyond, np.log(FURTHER), at=ACTIVATIONS),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, edges = DIMENSIONS[size], measured["numbers"][:, -1].mean(-1)
    close = [i for i, (_, ratio) in enumerate(CASES) if ratio == min(RATIOS)]
    beyond = [edges[i] / predicted["spiked"][i, -1].mean() for i in close]
    more = [f"{x - 1:.0%} with {CASES[i][0]}" for i, x in zip(close, beyond, strict=True)]
    words = (
        "At n = d the edge of the bulk lies beyond that of the spiked law, by "
        f"{' and by '.join(more)}. "
    )
    return Verdict(
        sentence=where_it_holds(ruling, words) + ruling.stated.sentence,
        sizes=f"d = {d}, p = {experiment.WIDTH * d}, n/d = {', '.join(f'{r:g}' for r in RATIOS)}, "
        f"η~ = {ETA:g}",
        figure=_figure(measured, predicted),
        caption="At n = d the bulk passes the edge of the spiked law (dashed) and ends at that "
        "of its own rows (full line).",
        settings=tuple(setting(a, d, r).id for a, r in CASES),
    )


def _figure(measured: Data, predicted: Data) -> str:
    with _style.figure(2, 2, width=3.5, height=2.6) as (fig, axes):
        for i, (ax, (activation, ratio)) in enumerate(zip(axes.ravel(), CASES, strict=True)):
            bulk, law = measured["values"][i][1:], predicted["values"][i]
            spiked, edge = predicted["spiked"][i, -1].mean(), predicted["edges"][i]
            bins = np.linspace(0, 1.06 * max(bulk[0], law[0], edge), 30).tolist()
            ax.hist(
                bulk,
                bins,
                density=True,
                color=_style.COLOURS[0],
                alpha=0.5,
                linewidth=0,
                label="measured",
            )
            ax.hist(
                law,
                bins,
                density=True,
                histtype="step",
                color=_style.INK,
                label="coloured rows, drawn",
            )
            ax.axvline(edge, 0, 0.75, color=_style.INK, linewidth=1.2, label="edge, coloured rows")
            ax.axvline(
                spiked,
                0,
                0.75,
                color=_style.COLOURS[1],
                linestyle=(0, (4, 2)),
                label="edge, spiked law",
            )
            top = measured["numbers"][i, NAMES.index("top")].mean()
            ax.annotate(
                f"top eigenvalue {top:.0f} →",
                (1.0, 0.92),
                xycoords="axes fraction",
                ha="right",
                color=_style.COLOURS[1],
            )
            ax.set_ylim(0, 1.25 * ax.get_ylim()[1])
            ax.set(
                xlabel="eigenvalue of $d\\,W^TW/p$" if i > 1 else "",
                ylabel="density" if i % 2 == 0 else "",
            )
            ax.set_title(
                f"{'ReLU' if activation == 'relu' else activation}, n = {f'{ratio:g}'.strip('1')}d"
            )
        return _style.svg(fig, below=4)
