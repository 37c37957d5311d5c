"""Random features learn a polynomial approximation of degree kappa if samples and neurons are of order d^kappa, and only then.

The order hides a constant: at n = p = C d^kappa with a whole kappa the risk comes down to the mass of higher degree as C grows.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Ruling,
    Seeds,
    Size,
    Tolerance,
    Tolerances,
    Verdict,
    cache,
    statistics,
)
from giantstep.checks.cache import one_blas_thread
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.plot.formula import rounded
from giantstep.theory.limits import by_degree
from giantstep_papers.shared import population
from giantstep_papers.shared.far import vouched

CLAIM = Claim(
    order=10,
    paper="mei_misiakiewicz_montanari",
    quote="Assume that n ≍ d^{κ₁}, p ≍ d^{κ₂}. Then E[…] = ‖P_{>κ} f*‖² + o(1) where κ = min(κ₁, "
    "κ₂). Possible to learn a polynomial approximation of degree κ if and only if n, p = "
    "Ω(d^κ).",
    place="Stephan's talk, slide “Large p regime: random feature regression”",
    kind="asymptotic limit",
    statement="With n ≍ d^κ₁ and p ≍ d^κ₂ the risk is ‖P_{>κ} f*‖² + o(1), where κ = min(κ₁, κ₂). A "
    "polynomial approximation of degree κ is possible if and only if n, p = Ω(d^κ).",
    where="the theorem on random features as the second talk states it, at κ = 1, 1.5, 2 and 2.5; "
    "the paper's abstract (arXiv 2101.10588) keeps n and N apart by n^δ",
    how="We compare exact risks of ridge fits with n = p = d² and d^2.5 with the mass of degree "
    "three, and with theory degree by degree. The limit is that theory at d = 10⁶, if it "
    "agrees at hand. There n = p = d^κ for κ = 1.5 and 2.5, and C d^κ with a large C for κ = "
    "1 and 2, because Ω leaves the constant free. The margin has this reason: the part that "
    "is not learned is noise with heavy tails.",
    seeds={"quick": Seeds(12, 100), "full": Seeds(12, 390)},
)

TARGET = "x1 + H2(x1)/sqrt(2) + H3(x1)/sqrt(6)"  # a mass of one in every degree
ACTIVATION = "sin(x+pi/4)"  # it has Hermite coefficients of all orders
POWERS = (2.0, 2.5)  # kappa: n = p = d^kappa at sizes that run
PENALTIES = tuple(10.0 ** (k / 2) for k in range(-12, 7))
SIZES = {"quick": (10, 14), "full": (20, 28)}  # d
FAR, MANY = 10**6, (1, 10, 100, 1000)  # the d at which theory is compared with the masses, and C
# kappa, the degree that is learned, which is its largest whole number, and C: large where kappa is whole, as the order allows
LIMITS = ((1.0, 1.0, MANY[-1]), (1.5, 1.0, 1), (2.0, 2.0, MANY[-1]), (2.5, 2.0, 1))
EACH = {"quick": Tolerance(0.08, 0.2), "full": Tolerance(0.05, 0.1)}
MEAN = {"quick": Tolerance(0.04, 0.1), "full": Tolerance(0.03, 0.04)}
REACHED = Tolerance(0.02, 0.05)  # of the mass of higher degree, by theory


def experiment(d: int, power: float, penalty: float | tuple[float, ...] = PENALTIES, many: int = 1) -> gs.Setting:
    """n = p = many d^power."""
    count = round(many * d**power)
    return gs.Setting(
        gs.Gaussian(d), gs.target(TARGET), gs.Network(count, ACTIVATION), gs.Protocol((), gs.Ridge(count, penalty))
    )


def left(degree: float) -> float:
    """The mass of higher degree."""
    return 3.0 - degree


@lru_cache
def best(d: int, power: float, many: int = 1) -> tuple[float, float]:
    """The least risk that theory has on the grid of penalties, and its penalty."""
    risks = by_degree.test_error(experiment(d, power, many=many))
    return float(np.min(risks)), PENALTIES[int(np.argmin(risks))]


def risk(d: int, power: float, many: int, seed: int) -> float:
    """The population risk of the ridge fit at the penalty that theory calls best."""
    setting = experiment(d, power, best(d, power, many)[1], many)
    W, _ = draw.weights(setting, seed)
    X, y = draw.rows(setting, seed, draw.readout_batch(setting))
    with one_blas_thread(setting.p):
        F = np.asarray(setting.network.activation(X @ W.T))
        b = np.asarray(gs.ridge(F, y, setting.protocol.readout.penalty).coefficients)  # type: ignore[union-attr]
        return float(population.moments(setting, W).error(b))


def measure(size: Size, seeds: range) -> Data:
    """Risks (powers, sizes, seeds)."""
    return {"risks": cache.over(risk, [[(d, power, 1) for d in SIZES[size]] for power in POWERS], seeds)}


def predict(size: Size) -> Data:
    """Risks at the sizes that are measured, (powers, sizes); far beyond them, (limits); and there at kappa = 2, (C)."""
    return {
        "risks": np.array([[best(d, power)[0] for d in SIZES[size]] for power in POWERS]),
        "far": np.array([best(FAR, power, many)[0] for power, _, many in LIMITS]),
        "scan": np.array([best(FAR, POWERS[0], many)[0] for many in MANY]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Risks that run against the mass of degree three, and theory against masses of higher degree far beyond them."""
    at = [f"n = p = d^{power:g}, d = {d}" for power in POWERS for d in SIZES[size]]
    theory = statistics.each_and_mean(
        "risk over theory", measured["risks"], predicted["risks"], at=at, relative=True,
        within=Tolerances(EACH[size], MEAN[size]),
    )  # fmt: skip
    hand = statistics.compare(
        "risk over the mass of higher degree", measured["risks"], left(2.0), at=at, relative=True, within=EACH[size]
    )
    far = statistics.compare(
        f"risk by theory at d = {FAR:.0e} over the mass of higher degree", predicted["far"],
        [left(degree) for _, degree, _ in LIMITS], at=[f"n = p = {many} d^{power:g}" for power, _, many in LIMITS],
        relative=True, noisy=False, within=REACHED,
    )  # fmt: skip
    return Evidence((hand, *theory), limit=vouched(theory, (far,)))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, mean = SIZES[size], measured["risks"].mean(axis=-1)
    first, *_, last = predicted["scan"]
    return Verdict(
        sentence=f"At the largest d the risk with n = p = d² is {mean[0, -1]:.2f}, where the limit is the "
        f"mass of degree three, {left(2.0):g}. By theory at large d a thousand times as many samples and "
        f"neurons take it to {last:.3f}.",
        sizes=f"d = {', '.join(map(str, sizes))}; n = p = d^κ, κ = {POWERS[0]:g}, {POWERS[1]:g}; {ACTIVATION}; the best of "
        f"{len(PENALTIES)} penalties by theory",
        figure=_figure(size, measured["risks"], predicted),
        caption=f"With n = p = d² the risk stays at {predicted['scan'][0]:.2f} in theory, and with a hundred times as many it "
        f"comes down to {predicted['scan'][MANY.index(100)]:.2f}.",
        settings=tuple(experiment(d, power).id for power in POWERS for d in sizes),
        trend=f"By theory at d = {rounded(FAR)} the risk with n = p = C d² goes from {first:.3f} to {last:.3f} "
        f"between C = {MANY[0]} and {MANY[-1]}.",
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
        ax.plot(
            dimensions,
            [best(int(d), 2.0, 100)[0] for d in dimensions],
            color=style.COLOURS[2],
            label="n = p = 100 $d^2$",
        )
        ax.axhline(left(2.0), color=style.INK, linewidth=0.8, linestyle=":", label="mass of degree three")
        ax.plot([], [], color=style.INK, label="theory")
        ax.set(xscale="log", xlabel="dimension d", ylabel="risk", ylim=(0.8, None))
        ticks.logarithmic(ax, "x", [10, 10**3, 10**5])
        ax.legend()
        return style.svg(fig)
