"""Step sizes: what they do to the aligned eigenvalue and to the top radial mode, where n = d."""

import numpy as np

from giantstep.checks import Data, Size, cache
from giantstep.experiment.setting import Setting
from giantstep.plot import style, ticks
from giantstep_papers.lobo import experiment
from giantstep_papers.lobo.experiment import ACTIVATIONS, NUMBERS, TITLES

DIMENSIONS = {"quick": 120, "full": 300}
RATIO, LAW = 1.0, "rademacher"
ETAS = (0.2, 0.5, 1.0, 2.0, 4.0)
FINE = (0.1, 0.14, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6)  # the lines


def setting(activation: str, size: Size, etas: tuple[float, ...] = ETAS) -> Setting:
    return experiment.setting(activation, DIMENSIONS[size], RATIO, etas, LAW)


def sizes(size: Size) -> str:
    d = DIMENSIONS[size]
    return (
        f"n = d = {d}, p = {experiment.WIDTH * d}, a = ±1, η~ = {', '.join(f'{e:g}' for e in ETAS)}"
    )


def settings(size: Size) -> tuple[str, ...]:
    return tuple(setting(a, size).id for a in ACTIVATIONS)


def labels() -> list[str]:
    return [f"{TITLES[a]}, η~ = {e:g}" for a in ACTIVATIONS for e in ETAS]


def measure(size: Size, seeds: range) -> Data:
    """The numbers before and after every step size, (activations, 1 + etas, numbers, seeds)."""
    cases = [(activation, DIMENSIONS[size], RATIO, ETAS, LAW) for activation in ACTIVATIONS]
    return {"found": cache.over(experiment.measured, cases, seeds)}


def predict_draws(size: Size, seeds: range) -> Data:
    """The same given every seed's ||beta||."""
    found = [[experiment.predicted(setting(a, size), seed) for seed in seeds] for a in ACTIVATIONS]
    return {"found": np.moveaxis(np.array(found), 1, -1)}


def predict(size: Size) -> Data:
    """Lines from the limit of ||beta||, with the spread of the rows and without it."""
    return {
        name: np.array([experiment.predicted(setting(a, size, FINE), rho=rho) for a in ACTIVATIONS])
        for name, rho in (("lines", True), ("dashed", False))
    }


def amplified(values: np.ndarray, number: str) -> np.ndarray:
    """A number after every step over before, (activations, etas, ...)."""
    k = NUMBERS.index(number)
    return values[:, 1:, k] / values[:, :1, k]


def figure(panels: dict[str, tuple], label: str, log: str) -> str:
    """A panel an activation: measured dots (mean, error) over the lines,
    full with the spread of the rows, dashed without."""
    with style.figure(len(ACTIVATIONS), width=3.5, height=3.0) as (fig, axes):
        for ax, activation in zip(axes, ACTIVATIONS, strict=True):
            (mean, error), full, dashed = panels[activation]
            theory = {
                "color": style.INK,
                "label": "theory, rows spread by the noise of the gradient (ρ)",
            }
            without = {
                "color": style.COLOURS[1],
                "linestyle": (0, (3, 2)),
                "linewidth": 1,
                "label": "theory with ρ = 0",
            }
            style.curve(ax, FINE, full, log="x", **theory)
            style.curve(ax, FINE, dashed, log="x", **without)
            style.dots(ax, ETAS, mean, error, color=style.COLOURS[0], label="measured")
            ax.set(xlabel=r"step size $\tilde\eta$", ylabel=label if ax is axes[0] else "")
            ticks.logarithmic(ax, "x", ETAS)
            if log:
                ax.set_yscale("log")
            ax.set_title(f"{TITLES[activation]}, n = d")
        return style.svg(fig, below=3)
