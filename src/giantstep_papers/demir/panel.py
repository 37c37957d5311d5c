"""A panel of the poster: test errors along an axis.

They are of the network, with its step and without, and of the Hermite model.

Everything is half a mean square error, as plotted. The paper's lambda = 1e-4 at n = 1000 is the
penalty lambda k = 0.1 on our features, and lambda = 0.1/n keeps it at other sizes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import Data, Size, cache
from giantstep.equivalent import degree_of

PENALTY = 0.1  # lambda n
ALPHA = 0.5  # weighting, of most panels
BETA = 0.74  # strength, of most panels
# where the step lowers the error by a tenth or more for a random xi
STEPPED = {"alpha": 1.0, "beta": 0.86}
TEST = 3  # test samples over m
SIZES = {"quick": 200, "full": 1000}  # n = m
Options = Callable[[float, int], dict[str, Any]]
"""Arguments of the preset at an abscissa, for a seed; ``width`` is k/m."""


@dataclass(frozen=True)
class PanelCurve:
    """Errors along the axis for one activation and target, measured at ``x``.

    They are predicted at ``line``.

    ``own`` says that every seed has a mixture of its own; there is then no theory. ``aligned`` are
    the abscissae where the Hermite model is compared with the network. ``along`` says that the
    labels are along the spikes.
    """

    name: str
    options: Options
    x: tuple[float, ...]
    line: tuple[float, ...] = ()
    aligned: tuple[float, ...] = ()
    own: bool = False
    along: bool = False


@dataclass(frozen=True)
class Panel:
    """A panel with its axis, and what the poster says of it.

    ``better`` and ``worse`` are abscissae: the poster's figure has the smaller error at the first,
    and ``directed`` says that its words say so too.

    The change along the axis scatters most where the labels are along the spikes. At full size
    everything else is measured on one of ``shared`` seeds. ``caption`` may name ``change`` (in %)
    and ``times``, which the axis does to the error, and ``step``, the most that a step does (in %).
    """

    symbol: str
    axis: str
    caption: str
    curves: dict[Size, tuple[PanelCurve, ...]]
    better: float | None = None
    worse: float | None = None
    directed: bool = False
    log: bool = False
    shared: int = 1

    def fewer(self, size: Size, seeds: range) -> range:
        return seeds[: max(len(seeds) // self.shared, 8)] if size == "full" else seeds


def activated(curve: PanelCurve, x: tuple[float, ...], activation: str = "tanh") -> PanelCurve:
    """The same curve for another activation."""

    def options(at: float, seed: int) -> dict[str, Any]:
        return {**curve.options(at, seed), "activation": activation}

    name = curve.name.replace("ReLU", activation)
    return PanelCurve(
        name, options, x, x if curve.line else (), x if curve.aligned else (), curve.own
    )


def experiment(
    n: int, curve: PanelCurve, x: float, seed: int = 0, *, baseline: bool = False
) -> gs.Setting:
    """The preset at an abscissa.

    With ``baseline`` it has the step sizes zero and its own, on the same draws.
    """
    options = {"alpha": ALPHA, "beta": BETA, **curve.options(x, seed)}
    k = round(options.pop("width", 1.0) * n)
    eta = float(n) ** (options["alpha"] * options["beta"])
    return gs.presets.demir(n, n, k, (0.0, eta) if baseline else eta, PENALTY / n, **options)


def measure(panel: Panel, size: Size, seeds: range) -> Data:
    """For every curve: errors of the network and of the Hermite model, half the labels' variance.

    They are (x, without and with its step, seeds), (aligned x, fewer seeds) and (x, seeds).
    """
    fewer = panel.fewer(size, seeds)
    return {
        curve.name: _along(curve, SIZES[size], seeds if curve.along else fewer, fewer)
        for curve in panel.curves[size]
    }


def _along(curve: PanelCurve, n: int, seeds: range, fewer: range) -> Data:
    work: Any = {"n_test": TEST * n, "dtype": "float32"}  # the ridge fit stays in float64

    def network(x: float, of: int, which: Any) -> np.ndarray:
        return cache.simulate(
            experiment(n, curve, x, of, baseline=True), which, method="dense", **work
        ).test_error

    def hermite(x: float, of: int, which: Any) -> np.ndarray:
        beta = curve.options(x, of).get("beta", BETA)
        setting, degree = experiment(n, curve, x, of), degree_of(beta)  # by beta, as in the paper
        return cache.equivalent(setting, "hermite", which, degree=degree, **work).test_error

    def errors(run: Callable[..., np.ndarray], x: float, which: range) -> np.ndarray:
        every = [run(x, seed, [seed]) for seed in which] if curve.own else [run(x, 0, which)]
        return 0.5 * np.concatenate(every, axis=-1)

    def variance(x: float) -> np.ndarray:
        every = [
            gs.labels(experiment(n, curve, x, seed)).variance
            for seed in (seeds if curve.own else (0,))
        ]
        return np.broadcast_to(0.5 * np.array(every), len(seeds))

    return {
        "network": np.array([errors(network, x, seeds) for x in curve.x]),
        "hermite": np.array([errors(hermite, x, fewer) for x in curve.aligned]),
        "variance": np.array([variance(x) for x in curve.x]),
    }


def predict(panel: Panel, size: Size) -> Data:
    """For every curve with theory: half the test error and half the labels' variance, (2, line)."""
    n = SIZES[size]
    return {
        curve.name: np.array([_limit(experiment(n, curve, x)) for x in curve.line]).T.reshape(2, -1)
        for curve in panel.curves[size]
    }


def _limit(setting: gs.Setting) -> tuple[float, float]:
    return 0.5 * float(gs.theory(setting).test_error), 0.5 * gs.labels(setting).variance
