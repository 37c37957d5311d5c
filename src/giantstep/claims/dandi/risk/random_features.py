"""Random features and degree two: their risk is the mass of higher degree if samples and neurons outnumber d^2, and only then."""

from functools import lru_cache

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Tolerances, Verdict, cache, statistics
from giantstep.checks.cache import one_blas_thread
from giantstep.claims import population
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.theory.limits import by_degree

TARGET = "x1 + H2(x1)/sqrt(2) + H3(x1)/sqrt(6)"  # a mass of one in every degree
FLOOR = 1.0  # |P_>2 f*|^2
ACTIVATION = "sin(x+pi/4)"  # it has Hermite coefficients of all orders
POWERS = (2.0, 2.5)  # kappa: n = p = d^kappa
PENALTIES = tuple(10.0 ** (k / 2) for k in range(-12, 7))
SIZES = {"quick": (10, 14), "full": (20, 28)}  # d
FAR = 10**6  # the d at which the theory is compared with the floor
SEEDS: dict[Size, Seeds] = {"quick": Seeds(12, 100), "full": Seeds(12, 390)}
EACH = {"quick": Tolerance(0.08, 0.2), "full": Tolerance(0.05, 0.1)}
MEAN = {"quick": Tolerance(0.04, 0.1), "full": Tolerance(0.03, 0.04)}
REACHED = Tolerance(0.05, 0.1)  # of the floor


def experiment(d: int, power: float, penalty: float | tuple[float, ...] = PENALTIES) -> gs.Setting:
    count = round(d**power)
    return gs.Setting(
        gs.Gaussian(d), gs.target(TARGET), gs.Network(count, ACTIVATION), gs.Protocol((), gs.Ridge(count, penalty))
    )


@lru_cache
def best(d: int, power: float) -> tuple[float, float]:
    """The least risk that theory has on the grid of penalties, and its penalty."""
    risks = by_degree.test_error(experiment(d, power))
    return float(np.min(risks)), PENALTIES[int(np.argmin(risks))]


def risk(d: int, power: float, seed: int) -> float:
    """The population risk of the ridge fit at the penalty that theory calls best."""
    setting = experiment(d, power, best(d, power)[1])
    W, _ = draw.weights(setting, seed)
    X, y = draw.rows(setting, seed, draw.readout_batch(setting))
    with one_blas_thread(setting.p):
        F = np.asarray(setting.network.activation(X @ W.T))
        b = np.asarray(gs.ridge(F, y, setting.protocol.readout.penalty).coefficients)  # type: ignore[union-attr]
        return float(population.moments(setting, W).error(b))


def measure(size: Size, seeds: range) -> Data:
    """Risks (powers, sizes, seeds)."""
    return {"risks": cache.over(risk, [[(d, power) for d in SIZES[size]] for power in POWERS], seeds)}


def predict(size: Size) -> Data:
    """Risks at the sizes that are measured, (powers, sizes), and at a dimension far beyond them, (powers)."""
    return {
        "risks": np.array([[best(d, power)[0] for d in SIZES[size]] for power in POWERS]),
        "far": np.array([best(FAR, power)[0] for power in POWERS]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """As stated both powers end at the floor; as corrected the larger one does, and risks at finite d are those of theory."""
    at = [f"n = p = d^{power:g}, d = {d}" for power in POWERS for d in SIZES[size]]
    finite = statistics.each_and_mean(
        "risk", measured["risks"], predicted["risks"], at=at, relative=True, within=Tolerances(EACH[size], MEAN[size])
    )

    def far(chosen: slice) -> statistics.ComparedNumbers:
        return statistics.compare(
            f"risk by theory at d = {FAR:.0e}", predicted["far"][chosen], FLOOR, noisy=False, within=REACHED,
            at=[f"n = p = d^{power:g}" for power in POWERS[chosen]],
        )  # fmt: skip

    return Evidence((*finite, far(slice(None))), (*finite, far(slice(1, None))))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, mean = SIZES[size], measured["risks"].mean(axis=-1)
    square, more = (
        f"{found[-1]:.2f} at d = {sizes[-1]} and {far:.2f} by theory at d = {FAR:.0e}"
        for found, far in zip(mean, predicted["far"], strict=True)
    )
    return Verdict(
        sizes=f"d = {', '.join(map(str, sizes))}; n = p = d^κ, κ = {POWERS[0]:g}, {POWERS[1]:g}; {ACTIVATION}; the best of "
        f"{len(PENALTIES)} penalties by theory",
        figure=_figure(size, measured["risks"], predicted),
        caption=f"The risk of random features on {TARGET.replace('*', '')} against d, dots over the theory degree by degree. "
        f"With n = p = d² it is {square}; with n = p = d^2.5 it is {more}. The dotted line is the mass of degree three, "
        f"{FLOOR:g}.",
        settings=tuple(experiment(d, power).id for power in POWERS for d in sizes),
        trend=f"With n = p = d² the risk stays above the floor for ever: {square}. With n = p = d^2.5 it falls to the floor: "
        f"{more}.",
    )


def _figure(size: Size, risks: Float[np.ndarray, "powers sizes seeds"], predicted: Data) -> str:
    dimensions = np.unique(np.round(np.geomspace(SIZES[size][0], FAR, 30)).astype(int))
    mean, error = mean_and_error(risks)
    with style.figure(width=4.6) as (fig, ax):
        for k, power in enumerate(POWERS):
            lines = [best(int(d), power)[0] for d in dimensions]
            ax.plot(dimensions, lines, color=style.COLOURS[k])
            style.dots(
                ax, SIZES[size], mean[k], error[k], color=style.COLOURS[k], marker="os"[k],
                label=f"n = p = $d^{{{power:g}}}$",
            )  # fmt: skip
        ax.axhline(FLOOR, color=style.INK, linewidth=0.8, linestyle=":", label="mass of degree three")
        ax.plot([], [], color=style.INK, label="theory")
        ax.set(xscale="log", xlabel="dimension d", ylabel="risk", ylim=(0.8, None))
        ticks.logarithmic(ax, "x", [10, 10**3, 10**5])
        ax.legend()
        return style.svg(fig)
