"""Where the third spike is missing: a second layer of signs, and ReLU."""

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.moniri_hassani import layers
from giantstep.measure import mean_and_error
from giantstep.plot import style

ALPHAS = (0.4, 0.45)
CASES = {  # activation and second layer, and whether the third direction can have a spike
    "Gaussian a, tanh": (layers.SMOOTH, "gaussian", True),
    "signs, tanh": (layers.SMOOTH, "rademacher", False),
    "Gaussian a, ReLU": ("relu", "gaussian", False),
}
SIZES = {"quick": (100, 4), "full": (400, 6)}  # d and seeds
ALLOWED = {"quick": 0.08, "full": 0.04}  # of a share
LEARNED = 0.2  # a share of the third direction in the outliers' span that tells the cases apart
SURE = 4.0
NEEDED = 0.35


def _calls(size: Size) -> list[tuple]:
    d, seeds = SIZES[size]
    return [((d, *ALPHAS, "fresh", *case[:2]), seed) for case in CASES.values() for seed in range(seeds)]


def _shares(size: Size, spectra: list) -> np.ndarray:
    """Share of every direction inside the span of the outliers, (cases, directions, seeds)."""
    shares = np.stack([one["cosines"][0].sum(axis=0) for one in spectra])
    return np.moveaxis(shares.reshape(len(CASES), -1, layers.DIRECTIONS), 1, 2)


def measure(size: Size) -> Data:
    return {"shares": _shares(size, cache.each(layers.measured, _calls(size)))}


def predict(size: Size) -> Data:
    shares = _shares(size, cache.each(layers.predicted, _calls(size)))
    return {"shares": shares, "third": [case[2] for case in CASES.values()]}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds = SIZES[size]
    comparison = compare(measured["shares"] - predicted["shares"], 0.0, level=SURE, granted=ALLOWED[size])
    mean, error = mean_and_error(measured["shares"])
    expected = np.mean(predicted["shares"], axis=-1)
    wrong = (mean[:, 2] > LEARNED) != np.array(predicted["third"])
    text = ", ".join(
        f"{mean[i, 2]:.3f} ± {error[i, 2]:.3f} ({expected[i, 2]:.3f} predicted) for {c}" for i, c in enumerate(CASES)
    )
    return Verdict(
        outcome=decided(
            bool(np.any(wrong) or np.any(comparison.missed)), float(np.max(comparison.seen, initial=0.0)), NEEDED
        ),
        sentence=f"Share of the third direction of the target in the span of the outliers: {text}.",
        header=("case", "direction", "share measured", "s.e.", "predicted"),
        rows=tuple(
            (case, k + 1, float(mean[i, k]), float(error[i, k]), float(expected[i, k]))
            for i, case in enumerate(CASES)
            for k in range(layers.DIRECTIONS)
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, {layers.SHAPE}; α = {ALPHAS[0]}, {ALPHAS[1]}; fresh batches",
        figure=_figure(mean, error, expected),
        caption="Share of each direction of the target in the span of the outliers: measured (dots) and predicted (bars). "
        "Signs have a³ = a and ReLU has no third Hermite coefficient: the third spike is missing.",
        settings=tuple(layers.experiment(d, *ALPHAS, "fresh", *case[:2]).id for case in CASES.values()),
        power=comparison.power(),
    )


def _figure(mean: np.ndarray, error: np.ndarray, expected: np.ndarray) -> str:
    with style.figure(width=4.6, height=2.8) as (fig, ax):
        for i, case in enumerate(CASES):
            at = np.arange(layers.DIRECTIONS) + 0.25 * (i - 1)
            ax.bar(at, expected[i], 0.22, color=style.COLOURS[i], alpha=0.35, label=case)
            style.dots(ax, at, mean[i], error[i], color=style.COLOURS[i])
        ax.set(xticks=range(layers.DIRECTIONS), xticklabels=["$x_1$", "$x_2$", "$x_3$"], ylim=(0, 1))
        ax.set_ylabel("share in the outliers' span")
        fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return style.svg(fig)


CLAIM = claim("moniri_hassani/degenerate", measure=measure, predict=predict, judge=judge)
