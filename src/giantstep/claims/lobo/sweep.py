"""Step sizes: what they do to the aligned eigenvalue and to the top radial mode, where n = d."""

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size
from giantstep.claims.lobo import experiment
from giantstep.claims.lobo.experiment import ACTIVATIONS, NUMBERS
from giantstep.plot import style

SIZES = {"quick": (120, 8), "full": (300, 12)}  # d, seeds
RATIO, LAW = 1.0, "rademacher"
ETAS = (0.2, 0.5, 1.0, 2.0, 4.0)
FINE = (0.1, 0.14, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6)  # the lines


def sizes(size: Size) -> str:
    d, _ = SIZES[size]
    return f"n = d = {d}, p = {experiment.WIDTH * d}, a = ±1, η~ = {', '.join(f'{e:g}' for e in ETAS)}"


def settings(size: Size) -> tuple[str, ...]:
    return tuple(experiment.setting(a, SIZES[size][0], RATIO, ETAS, LAW).id for a in ACTIVATIONS)


def measure(size: Size) -> Data:
    """The numbers before and after every step size, (activations, 1 + etas, numbers, seeds)."""
    d, seeds = SIZES[size]
    runs = [(activation, d, RATIO, ETAS, LAW, seed) for activation in ACTIVATIONS for seed in range(seeds)]
    values = np.array(cache.each(experiment.measured, runs))
    return {"found": np.moveaxis(values.reshape(len(ACTIVATIONS), seeds, 1 + len(ETAS), len(NUMBERS)), 1, -1)}


def predict(size: Size) -> Data:
    """The same given every seed's ||beta||, with rho and without it, and lines from the limit of ||beta||."""
    return {
        "found": _given(size, True),
        "unspread": _given(size, False),
        "lines": _lines(size, True),
        "dashed": _lines(size, False),
    }


def _given(size: Size, rho: bool) -> np.ndarray:
    d, seeds = SIZES[size]
    every = [
        [experiment.predicted(experiment.setting(a, d, RATIO, ETAS, LAW), seed, rho=rho) for seed in range(seeds)]
        for a in ACTIVATIONS
    ]
    return np.moveaxis(np.array(every), 1, -1)


def _lines(size: Size, rho: bool) -> np.ndarray:
    d, _ = SIZES[size]
    return np.array([experiment.predicted(experiment.setting(a, d, RATIO, FINE, LAW), rho=rho) for a in ACTIVATIONS])


def amplified(values: np.ndarray, number: str) -> np.ndarray:
    """A number after every step over before, (activations, etas, ...)."""
    k = NUMBERS.index(number)
    return values[:, 1:, k] / values[:, :1, k]


def figure(panels: dict[str, tuple], label: str, log: str) -> str:
    """A panel an activation: measured dots (mean, error) over the lines, full with rho and dashed without."""
    with style.figure(len(ACTIVATIONS), width=3.4, height=2.8) as (fig, axes):
        for ax, activation in zip(axes, ACTIVATIONS, strict=True):
            (mean, error), full, dashed = panels[activation]
            ax.plot(FINE, full, color=style.INK, label="theory")
            ax.plot(FINE, dashed, color=style.INK, linestyle=(0, (3, 2)), linewidth=1, label="without ρ")
            style.dots(
                ax, ETAS, mean, error, color=style.COLOURS[0], label="measured, exact Galerkin modes of the weights"
            )
            ax.set(xscale="log", xlabel=r"step size $\tilde\eta$", ylabel=label if ax is axes[0] else "")
            if log:
                ax.set_yscale("log")
            ax.set_title(activation, loc="left")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return style.svg(fig)
