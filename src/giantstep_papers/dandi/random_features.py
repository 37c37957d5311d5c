"""Random features learn a polynomial of degree kappa from d^kappa samples and neurons on.

The order hides a constant: at n = p = C d^kappa with a whole kappa the risk comes down to the
mass of higher degree as C grows.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Float

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
    statement="With n ≍ d^κ₁ and p ≍ d^κ₂ the risk is ‖P_{>κ} f*‖² + o(1), where κ = min(κ₁, κ₂). "
    "A polynomial approximation of degree κ is possible if and only if n, p = Ω(d^κ).",
    where="the theorem on random features as the second talk states it, at κ = 1, 1.5, 2 and 2.5; "
    "the paper's abstract (arXiv 2101.10588) keeps n and N apart by n^δ",
    how="We compare exact risks of ridge fits with n = p = d² and d^2.5 with the mass of degree "
    "three, and with theory degree by degree. The limit is that theory at d = 10⁶, if it "
    "agrees at hand. There n = p = d^κ for κ = 1.5 and 2.5, and C d^κ with a large C for κ = "
    "1 and 2, because Ω leaves the constant free.",
    judges=(
        Judge(
            "risk over theory",
            relative=True,
            margin=(0.08, 0.05),
            departure=(0.2, 0.1),
            mean=((0.04, 0.03), (0.1, 0.04)),
            because="the part that is not learned, which is noise with heavy tails",
        ),
        Judge(
            "risk over the mass of higher degree",
            relative=True,
            margin=(0.08, 0.05),
            departure=(0.2, 0.1),
            because="the part that is not learned, which is noise with heavy tails",
        ),
        Judge(
            "risk by theory over the mass of higher degree",
            relative=True,
            margin=0.02,
            departure=0.05,
            because="what is left at finite C and d",
        ),
    ),
    seeds={"quick": Seeds(12, 100), "full": Seeds(12, 390)},
)

TARGET = "x1 + H2(x1)/sqrt(2) + H3(x1)/sqrt(6)"  # a mass of one in every degree
ACTIVATION = "sin(x+pi/4)"  # it has Hermite coefficients of all orders
POWERS = (2.0, 2.5)  # kappa: n = p = d^kappa at sizes that run
PENALTIES = tuple(10.0 ** (k / 2) for k in range(-12, 7))
SIZES = {"quick": (10, 14), "full": (20, 28)}  # d
FAR, MANY = 10**6, (1, 10, 100, 1000)  # the d at which theory is compared with the masses, and C
SHOWN = 100  # the C of a line in the figure
# kappa, the degree that is learned, which is its largest whole number, and C
# C is large where kappa is whole, as the order allows
LIMITS = ((1.0, 1.0, MANY[-1]), (1.5, 1.0, 1), (2.0, 2.0, MANY[-1]), (2.5, 2.0, 1))


def experiment(
    d: int, power: float, penalty: float | tuple[float, ...] = PENALTIES, many: int = 1
) -> gs.Setting:
    """n = p = many d^power."""
    count = round(many * d**power)
    network = gs.Network(count, ACTIVATION)
    protocol = gs.Protocol((), gs.Ridge(count, penalty))
    return gs.Setting(gs.Gaussian(d), gs.target(TARGET), network, protocol)


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
        penalty = setting.protocol.readout.penalty  # type: ignore[union-attr]
        b = np.asarray(gs.ridge(F, y, penalty).coefficients)
        return float(population.moments(setting, W).error(b))


def measure(size: Size, seeds: range) -> Data:
    """Risks (powers, sizes, seeds)."""
    cells = [[(d, power, 1) for d in SIZES[size]] for power in POWERS]
    return {"risks": cache.over(risk, cells, seeds)}


def predict(size: Size) -> Data:
    """Risks at the sizes that are measured and far beyond them.

    Shapes: (powers, sizes); (limits); and there at kappa = 2 (C).
    """
    return {
        "risks": np.array([[best(d, power)[0] for d in SIZES[size]] for power in POWERS]),
        "far": np.array([best(FAR, power, many)[0] for power, _, many in LIMITS]),
        "scan": np.array([best(FAR, POWERS[0], many)[0] for many in MANY]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Risks that run against the mass of degree three, and theory against masses far beyond."""
    at = [f"n = p = d^{power:g}, d = {d}" for power in POWERS for d in SIZES[size]]
    judge, risks = judging(CLAIM, size), measured["risks"]
    theory = judge.each_and_mean("risk over theory", risks, predicted["risks"], at=at)
    hand = judge("risk over the mass of higher degree", risks, left(2.0), at=at)
    far = judge(
        f"risk by theory at d = {FAR:.0e} over the mass of higher degree",
        predicted["far"],
        [left(degree) for _, degree, _ in LIMITS],
        by="risk by theory over the mass of higher degree",
        at=[f"n = p = {many} d^{power:g}" for power, _, many in LIMITS],
        noisy=False,
    )
    return Evidence((hand, *theory), limit=vouched(theory, (far,)))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, mean = SIZES[size], measured["risks"].mean(axis=-1)
    first, *_, last = predicted["scan"]
    return Verdict(
        sentence=f"At the largest d the risk with n = p = d² is {mean[0, -1]:.2f}, where the "
        f"limit is the mass of degree three, {left(2.0):g}. By theory at large d {MANY[-1]} times "
        f"as many samples and neurons take it to {last:.3f}.",
        sizes=f"d = {', '.join(map(str, sizes))}; n = p = d^κ, κ = {POWERS[0]:g}, {POWERS[1]:g}; "
        f"{ACTIVATION}; the best of {len(PENALTIES)} penalties by theory",
        figure=_figure(size, measured["risks"], predicted),
        caption=f"With n = p = d² the risk stays at {predicted['scan'][0]:.2f} in theory, and "
        f"with {SHOWN} times as many it comes down to {predicted['scan'][MANY.index(SHOWN)]:.2f}.",
        settings=tuple(experiment(d, power).id for power in POWERS for d in sizes),
        trend=f"By theory at d = {rounded(FAR)} the risk with n = p = C d² goes from {first:.3f} "
        f"to {last:.3f} between C = {MANY[0]} and {MANY[-1]}.",
    )


def _figure(size: Size, risks: Float[np.ndarray, "powers sizes seeds"], predicted: Data) -> str:
    dimensions = np.unique(np.round(np.geomspace(SIZES[size][0], FAR, 30)).astype(int))
    mean, error = mean_and_error(risks)
    with style.figure(width=4.6) as (fig, ax):
        for k, power in enumerate(POWERS):
            lines = [best(int(d), power)[0] for d in dimensions]
            ax.plot(dimensions, lines, color=style.COLOURS[k])
            look = {"color": style.COLOURS[k], "marker": "os"[k]}
            name = f"n = p = $d^{{{power:g}}}$"
            style.dots(ax, SIZES[size], mean[k], error[k], **look, label=name)
        lines = [best(int(d), 2.0, SHOWN)[0] for d in dimensions]
        ax.plot(dimensions, lines, color=style.COLOURS[2], label=f"n = p = {SHOWN} $d^2$")
        mass = {"color": style.INK, "linewidth": 0.8, "linestyle": ":"}
        ax.axhline(left(2.0), **mass, label="mass of degree three")
        ax.plot([], [], color=style.INK, label="theory")
        ax.set(xscale="log", xlabel="dimension d", ylabel="risk", ylim=(0.8, None))
        ticks.logarithmic(ax, "x", [10, 10**3, 10**5])
        ax.legend()
        return style.svg(fig)
