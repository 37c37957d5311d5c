"""A panel of the poster: the network, the network without its step, the Hermite and the conditional model along an axis.

Everything is half a mean square error, as plotted. The paper's lambda = 1e-4 at n = 1000 is the penalty lambda k = 0.1 on our
features, and lambda = 0.1/n keeps it at other sizes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import cache
from giantstep.checks.claim import Data, Size
from giantstep.experiment.setting import Setting

PENALTY = 0.1  # lambda n
ALPHA = 0.5  # weighting, of most panels
BETA = 0.74  # strength, of most panels
TEST = 5  # test samples over m
SIZES = {"quick": (200, 20), "full": (1000, 8)}  # n = m, seeds
GIVEN = 8  # seeds of the conditional model
Options = Callable[[float, int], dict[str, Any]]
"""Arguments of the preset at an abscissa, for a population; ``width`` is k/m."""


@dataclass(frozen=True)
class PanelCurve:
    """Errors along the axis for one activation and target.

    ``some`` are the abscissae where theory and the conditional model, which take longest, join in. With ``populations`` every
    seed has a mixture of its own, and models and theory are asked for so many of them. ``linear`` adds the Hermite model of
    degree one; ``unpredicted`` leaves theory out.
    """

    name: str
    options: Options
    x: tuple[float, ...]
    some: tuple[float, ...]
    populations: int = 0
    linear: bool = False
    unpredicted: bool = False

    @property
    def predicted_at(self) -> tuple[float, ...]:
        """Abscissae where theory predicts."""
        return () if self.unpredicted else self.some

    def at(self, some: tuple[float, ...]) -> list[int]:
        return [self.x.index(x) for x in some]


@dataclass(frozen=True)
class Panel:
    """``better`` and ``worse`` are abscissae: the poster has the smaller error at the first. For curves of the activations in
    ``unjudged`` this is reported and not judged."""

    symbol: str
    axis: str
    curves: dict[Size, tuple[PanelCurve, ...]]
    better: float | None = None
    worse: float | None = None
    sizes: Any = None
    unjudged: tuple[str, ...] = ()

    def size(self, size: Size) -> tuple[int, int]:
        return (self.sizes or SIZES)[size]


def both(name: str, options: Options, quick: Any, some: Any, full: Any) -> dict[Size, tuple[PanelCurve, ...]]:
    """ReLU at quick size; ReLU and tanh, theory everywhere, at full size."""

    def tanh(x: float, population: int) -> dict[str, Any]:
        return {**options(x, population), "activation": "tanh"}

    relu = PanelCurve(f"ReLU, {name}", options, quick, some)
    return {
        "quick": (relu,),
        "full": (PanelCurve(relu.name, options, full, full), PanelCurve(f"tanh, {name}", tanh, full[::2], full[::2])),
    }


def experiment(n: int, curve: PanelCurve, x: float, population: int = 0, *, baseline: bool = False) -> Setting:
    """The preset at an abscissa; with ``baseline`` at step sizes zero and its own, on the same draws."""
    options = {"alpha": ALPHA, "beta": BETA, **curve.options(x, population)}
    k = round(options.pop("width", 1.0) * n)
    eta = float(n) ** (options["alpha"] * options["beta"])
    return gs.presets.demir(n, n, k, (0.0, eta) if baseline else eta, PENALTY / n, **options)


def measure(panel: Panel, size: Size) -> Data:
    """For every curve: errors of the network (x, without and with its step, seeds), of the models (x, seeds), half Var(y)."""
    n, seeds = panel.size(size)
    return {curve.name: _along(curve, n, seeds) for curve in panel.curves[size]}


def _along(curve: PanelCurve, n: int, seeds: int) -> Data:
    work: Any = {"n_test": TEST * n, "dtype": "float32"}  # the ridge fit stays in float64

    def errors(x: float, model: str | None, **how: Any) -> np.ndarray:
        count = min(seeds, GIVEN) if model == "conditional" else seeds
        own = range((curve.populations if model else seeds) if curve.populations else 0)
        mixtures = [(i, [i]) for i in own] or [(0, range(count))]
        every = [
            cache.equivalent(experiment(n, curve, x, i), model, which, **work, **how)
            if model
            else cache.simulate(experiment(n, curve, x, i, baseline=True), which, method="dense", **work)
            for i, which in mixtures
        ]
        return 0.5 * np.concatenate([each.test_error for each in every], axis=-1)

    runs = {
        "network": np.array([errors(x, None) for x in curve.x]),
        "hermite": np.array([errors(x, "hermite") for x in curve.x]),
        "conditional": np.array([errors(x, "conditional") for x in curve.some]),
        "variance": np.array([[0.5 * v for v in variances(n, curve, x, seeds)] for x in curve.x]),
    }
    return {**runs, "linear": np.array([errors(x, "hermite", degree=1) for x in curve.x])} if curve.linear else runs


def variances(n: int, curve: PanelCurve, x: float, seeds: int) -> list[float]:
    """Var(y) of every population, or the one that all seeds share."""
    populations = seeds if curve.populations else 1
    return [gs.labels(experiment(n, curve, x, i)).variance for i in range(populations)]


def predict(panel: Panel, size: Size) -> Data:
    """Half the test error by theory (some x, populations), and the difference of Hermite model and network in %: none."""
    n, _ = panel.size(size)
    errors = {
        curve.name: np.array(
            [
                [0.5 * float(gs.theory(experiment(n, curve, x, i)).test_error) for i in range(curve.populations or 1)]
                for x in curve.predicted_at
            ]
        )
        for curve in panel.curves[size]
    }
    return {"errors": errors, "difference": 0.0}
