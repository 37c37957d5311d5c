"""Truncation does not matter: the optimum settles as the basis grows,
and the sampler steps as far at any size of it."""

import jax.numpy as jnp
import numpy as np

import giantstep as gs
from giantstep.checks import (
    EXPONENT,
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
from giantstep.checks.random import Stream, generator, normals
from giantstep.functions.activation import activation
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.results.table import with_error
from giantstep.systems.mean_field import HARMONICS, dual
from giantstep.systems.mean_field import particles as engine
from giantstep.systems.mean_field.bases import smoothness
from giantstep.systems.mean_field.training import features

CLAIM = Claim(
    order=1,
    of="giantstep",
    statement="Neurons may be functions: the optimum and the sampler settle as the basis grows, so "
    "that a truncation of the space does not matter.",
    where="abstract (infinite-dimensional neurons); the basis and the law in J are this library's",
    how="The distance of the optimal objective from that with 128 basis functions must go as the "
    "variance of <θ, x> that is cut, to the power 1, by a free fit to the root mean square "
    "over seeds. It must be at most 1% from J = 16 on. The share of accepted Crank-Nicolson "
    "steps at J = 4 to 64 must be that at J = 128.",
    judges=(
        Judge(
            "power of the cut variance",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "distance in %",
            side="below",
            margin=0.2,
            departure=0.5,
            because="the finite pool of draws",
        ),
        Judge(
            "acceptance less that at J = 128",
            margin=(0.03, 0.015),
            departure=(0.1, 0.05),
            because="the variance that is cut",
        ),
    ),
    seeds={"quick": Seeds(24, 80), "full": Seeds(60, 280)},
)

SIZES = {"quick": (100, 1000), "full": (100, 2000)}  # curves, draws of the prior
BASES = (4, 8, 16, 32)  # J, against 128
MOVED = (4, 8, 16, 32, 64, 128)  # J whose acceptance is measured
LAM = 0.02
STEP = 0.3
PARTICLES = 200
FEW = 16  # J from which the distance must be small
SMALL = 1.0  # that distance at most, in %


def distances(n: int, draws: int, seed: int) -> np.ndarray:
    """P*(J)/P*(128) - 1 in % for every J: neurons with J coordinates,
    and the same with the others drawn, of either sign.

    With both signs the noise of a finite pool cancels to first order in what is cut.
    """
    s = gs.MeanField(n, penalty=LAM, basis=HARMONICS, data=seed)
    X, y = s.curves
    u, white = normals(seed, (Stream.SKETCH,), 0, draws, HARMONICS), X * s.deviations

    def off(J: int) -> float:
        sides = np.where(np.arange(HARMONICS) < J, 1.0, -1.0)
        H = features(white, np.concatenate([u, sides * u]), s.training)
        cut = features(white[:, :J], u[:, :J], s.training)
        few, all_of_them = (dual.optimum(each, y, LAM, s.loss)[1].objective for each in (cut, H))
        return 100 * (few / all_of_them - 1)

    return np.array([off(J) for J in BASES])


def acceptances(n: int, J: int, seed: int) -> float:
    """Share of accepted Crank-Nicolson steps from the prior towards the potential of the labels,
    at one step size."""
    s = gs.MeanField(n, penalty=LAM, basis=J, data=seed)
    X, y = s.curves
    problem = engine.ParticleProblem(
        *(jnp.asarray(v, float) for v in (X * s.deviations, y, LAM, 1.0))
    )
    how = engine.How("square", activation("tanh"), 1)
    cloud = engine.start(normals(seed, (Stream.ROWS,), 0, PARTICLES, J), problem, how, STEP)
    pulled = cloud._replace(g=jnp.asarray(-y / 4))
    return engine.refreshed(generator(seed, Stream.STEP), pulled, problem, how)[1]


def measure(size: Size, seeds: range) -> Data:
    """Distances in %, (J, seeds), and acceptances, (J, seeds)."""
    n, draws = SIZES[size]
    accepted = cache.over(acceptances, [(n, J) for J in MOVED], seeds)
    return {"distances": cache.over(distances, (n, draws), seeds), "acceptances": accepted}


def predict(size: Size) -> Data:
    """The variance that is cut from <theta, x>, sum_{j>J} j^(-2 gamma - 2 decay)."""
    s = gs.MeanField(SIZES[size][0])
    squares = smoothness(HARMONICS, s.gamma + s.decay) ** 2
    return {"variance": np.array([squares[J:].sum() for J in BASES])}


def roots(off: np.ndarray) -> np.ndarray:
    """The root mean square over seeds at every J."""
    return np.sqrt(np.mean(off**2, axis=-1))


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The power of the cut variance, the distance from J = 16 on,
    and acceptances against that with 128 functions."""
    x = np.log(predicted["variance"]) - np.mean(np.log(predicted["variance"]))
    off, moves = measured["distances"], measured["acceptances"]
    power = statistics.pseudovalues(lambda v: x @ np.log(roots(v)) / np.sum(x**2), off)
    far = statistics.pseudovalues(lambda v: roots(v)[BASES.index(FEW) :], off)
    small, moved = ([f"J = {J}" for J in some] for some in (BASES[BASES.index(FEW) :], MOVED[:-1]))
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("power of the cut variance", power, 1.0),
        judge("distance in %", far, SMALL, at=small),
        judge("acceptance less that at J = 128", moves[:-1] - moves[-1], at=moved),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, draws = SIZES[size]
    root, moves = roots(measured["distances"]), measured["acceptances"].mean(axis=1)
    power = ruling.stated.of("power of the cut variance")
    return Verdict(
        sentence=f"The fewest basis functions leave the optimal objective {root[0]:.2g}% off, and "
        f"{FEW} leave it {root[BASES.index(FEW)]:.2g}% off. The distance goes as the cut variance "
        f"to the power {with_error(1 + power.difference[0], power.half[0])}. Of the Crank-Nicolson "
        f"steps {moves.min():.1%} to {moves.max():.1%} are accepted, with few basis functions and "
        "with many.",
        sizes=f"n = {n}, λ = {LAM:g}, {draws} draws of the prior, curves and neurons with "
        f"deviations 1/j and 3/j; steps of h = {STEP:g}, {PARTICLES} particles",
        figure=_figure(measured, predicted),
        caption="More basis functions bring the optimum closer, as the cut variance says (left), "
        "and do not change how many moves are accepted (right).",
    )


def _figure(measured: Data, predicted: Data) -> str:
    squares, spread = mean_and_error(measured["distances"] ** 2)
    root, variance = np.sqrt(squares), predicted["variance"]
    with style.figure(2, width=3.4, height=2.8) as (fig, (left, right)):
        line = variance * np.exp(np.mean(np.log(root / variance)))
        left.plot(BASES, line, "--", color=style.INK, label="∝ variance that is cut")
        look = {"color": style.COLOURS[0], "label": "root mean square over seeds"}
        style.dots(left, BASES, root, spread / (2 * root), **look)
        left.set(xlabel="basis functions J", ylabel="|P*(J)/P*(128) − 1| in %")
        ticks.logarithmic(left, "x", BASES)
        left.legend()
        moves, error = mean_and_error(measured["acceptances"])
        right.axhline(
            moves[-1],
            color=style.INK,
            linestyle="--",
            linewidth=1,
            label=f"that at J = {MOVED[-1]}",
        )
        style.dots(right, MOVED, moves, error, color=style.COLOURS[1], marker="s", label="measured")
        right.set(ylim=(0, 1), xlabel="basis functions J", ylabel="accepted Crank-Nicolson steps")
        ticks.logarithmic(right, "x", MOVED)
        right.legend()
        ticks.logarithmic(left)
        return style.svg(fig)
