"""How the outliers' singular values grow with the width at fixed exponents of the step sizes."""

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.moniri_hassani import layers
from giantstep.measure import mean_and_error
from giantstep.plot import style

ALPHAS = (0.35, 0.4)
SPIKES = 2  # that stand clear of the bulk at every size
SIZES = {"quick": ((60, 100, 160), 4), "full": ((100, 200, 400), 8)}  # d and seeds
ALLOWED = {"quick": 0.05, "full": 0.03}
SURE = 3.0
NEEDED = 0.2  # the distance of the two exponents, 0.15 in the limit


def _calls(size: Size) -> list[tuple]:
    sizes, seeds = SIZES[size]
    return [((d, *ALPHAS, "fresh"), seed) for d in sizes for seed in range(seeds)]


def _positions(spectra: list) -> np.ndarray:
    return np.stack([one["values"][0, :SPIKES] for one in spectra])


def measure(size: Size) -> Data:
    """The first singular values, (sizes, spikes, seeds)."""
    return {"positions": _shaped(size, _positions(cache.each(layers.measured, _calls(size))))}


def predict(size: Size) -> Data:
    """The same by theory, and the limit's exponents alpha_2 - k (1/2 - alpha_1)."""
    limits = [ALPHAS[1] - k * (0.5 - ALPHAS[0]) for k in range(SPIKES)]
    return {"positions": _shaped(size, _positions(cache.each(layers.predicted, _calls(size)))), "limits": limits}


def _shaped(size: Size, positions: np.ndarray) -> np.ndarray:
    return np.moveaxis(positions.reshape(len(SIZES[size][0]), -1, SPIKES), 1, 2)


def _slopes(size: Size, positions: np.ndarray) -> np.ndarray:
    """Exponents in p, (spikes, seeds)."""
    x = np.log(SIZES[size][0]) - np.mean(np.log(SIZES[size][0]))
    return np.tensordot(x, np.log(positions), 1) / np.sum(x**2)


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    sizes, seeds = SIZES[size]
    slopes = [_slopes(size, data["positions"]) for data in (measured, predicted)]
    comparison = compare(slopes[0] - slopes[1], 0.0, level=SURE, granted=ALLOWED[size])
    (mean, error), expected, limits = mean_and_error(slopes[0]), slopes[1].mean(axis=-1), predicted["limits"]
    text = "; ".join(
        f"spike {k + 1} as p to the {mean[k]:.3f} ± {error[k]:.3f}, {expected[k]:.3f} predicted, {limits[k]:.2f} in the limit"
        for k in range(SPIKES)
    )
    return Verdict(
        outcome=decided(bool(np.any(comparison.missed)), float(np.max(comparison.seen, initial=0.0)), NEEDED),
        sentence=f"The outliers grow: {text}. The limit is not reached at these sizes, where the corrections of relative order "
        f"p^(α₁ - 1/2) are {(4 * sizes[-1]) ** (ALPHAS[0] - 0.5) * layers.CONSTANTS[0]:.2f}.",
        header=("spike", "exponent", "s.e.", "predicted", "limit"),
        rows=tuple(
            (k + 1, float(mean[k]), float(error[k]), float(expected[k]), float(limits[k])) for k in range(SPIKES)
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {', '.join(map(str, sizes))}, {layers.SHAPE}; α = {ALPHAS[0]}, {ALPHAS[1]}; {layers.SMOOTH}, fresh batches",
        figure=_figure(size, measured["positions"], predicted["positions"], limits),
        caption="Singular values of the first two outliers against the width: measured (dots, one standard error), predicted "
        "from the signal matrix (lines), and the slopes of the limit (dashed).",
        settings=tuple(layers.experiment(d, *ALPHAS, "fresh").id for d in sizes),
        power=comparison.power(),
        trend=text + ".",
    )


def _figure(size: Size, measured: np.ndarray, predicted: np.ndarray, limits: list[float]) -> str:
    p = 4 * np.array(SIZES[size][0])
    with style.figure() as (fig, ax):
        for k in range(SPIKES):
            colour, line = style.COLOURS[k], predicted[:, k].mean(axis=-1)
            ax.plot(p, line, color=colour)
            ax.plot(p, line[0] * (p / p[0]) ** limits[k], color=colour, linestyle=(0, (4, 2)), linewidth=0.9)
            style.dots(ax, p, *mean_and_error(measured[:, k]), color=colour, label=f"outlier {k + 1}")
        ax.plot([], [], color=style.INK, label="signal matrix")
        ax.plot([], [], color=style.INK, linestyle=(0, (4, 2)), linewidth=0.9, label="slope of the limit")
        ax.set(xscale="log", yscale="log", xlabel="width p", ylabel="singular value of W", xticks=p, xticklabels=p)
        ax.set_yticks([5, 10, 20, 40], ["5", "10", "20", "40"])
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks([], minor=True)
        ax.legend()
        return style.svg(fig)


CLAIM = claim("moniri_hassani/exponents", measure=measure, predict=predict, judge=judge)
