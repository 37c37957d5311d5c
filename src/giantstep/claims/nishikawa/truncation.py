"""Truncation does not matter: the optimum settles as the basis grows, and the sampler steps as far at any size of it."""

import jax.numpy as jnp
import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.random import Stream, generator, normals
from giantstep.claims.claim import claim
from giantstep.claims.margins import Margins
from giantstep.functions.activation import activation
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.systems.mean_field import HARMONICS, dual
from giantstep.systems.mean_field import particles as engine
from giantstep.systems.mean_field.bases import smoothness
from giantstep.systems.mean_field.training import features

SIZES = {"quick": (40, 1000, 8), "full": (200, 20000, 20)}  # curves, draws of the prior, seeds of both
SEEDS_OF_MOVES = 4
BASES = (2, 4, 8, 16, 32)  # J, against 128
MOVED = (8, 128)  # J whose acceptance is measured
LAM = 0.02
STEP = 0.3
PARTICLES = 400
MARGINS = Margins(level=3.0, granted=0.15, needed=0.5)  # of an exponent
SAME = 0.03  # granted to acceptances
SMALL = 1.0  # % from J = 16 on
HEADER = ("J", "P*(J)/P*(128) − 1, root mean square in %", "s.e.", "predicted", "acceptance", "s.e. of it")


def distances(n: int, draws: int, seed: int) -> np.ndarray:
    """P*(J)/P*(128) - 1 in % for every J: neurons with J coordinates, and the same with the others drawn, of either sign.

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
    """Share of accepted Crank-Nicolson steps from the prior towards the potential of the labels, at one step size."""
    s = gs.MeanField(n, penalty=LAM, basis=J, data=seed)
    X, y = s.curves
    problem = engine.ParticleProblem(*(jnp.asarray(v, float) for v in (X * s.deviations, y, LAM, 1.0)))
    cloud = engine.start(
        normals(seed, (Stream.ROWS,), 0, PARTICLES, J),
        problem,
        how := engine.How("square", activation("tanh"), 1),
        STEP,
    )
    return engine.refreshed(generator(seed, Stream.STEP), cloud._replace(g=jnp.asarray(-y / 4)), problem, how)[1]


def measure(size: Size) -> Data:
    """Distances (seeds, J) and acceptances (J, seeds)."""
    n, draws, seeds = SIZES[size]
    accepted = cache.each(acceptances, [(n, J, seed) for J in MOVED for seed in range(SEEDS_OF_MOVES)])
    return {
        "distances": np.array(cache.each(distances, [(n, draws, seed) for seed in range(seeds)])),
        "acceptances": np.array(accepted).reshape(len(MOVED), -1),
    }


def predict(size: Size) -> Data:
    """The variance that is cut from <theta, x>, sum_{j>J} j^(-2 gamma - 2 decay), and the power of it that the distance "
    "follows."""
    s = gs.MeanField(SIZES[size][0])
    squares = smoothness(HARMONICS, s.gamma + s.decay) ** 2
    return {"variance": np.array([squares[J:].sum() for J in BASES]), "exponent": 1.0, "change": 0.0}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    n, draws, seeds = SIZES[size]
    off = measured["distances"]
    squares, spread = mean_and_error(off**2, 0)
    root, error = np.sqrt(squares), spread / (2 * np.sqrt(squares))
    slope, slope_error = _exponent(off, predicted["variance"])
    moves, moves_error = mean_and_error(measured["acceptances"])
    change = float(moves[-1] - moves[0]), float(np.hypot(moves_error[-1], moves_error[0]))
    wrong = abs(slope - predicted["exponent"]) > max(MARGINS.level * slope_error, MARGINS.granted)
    wrong |= bool(np.any((root > SMALL + MARGINS.level * error)[BASES.index(16) :]))
    wrong |= abs(change[0] - predicted["change"]) > max(MARGINS.level * change[1], SAME)
    line = root[0] * (predicted["variance"] / predicted["variance"][0]) ** predicted["exponent"]
    known = {J: (float(a), float(e)) for J, a, e in zip(MOVED, moves, moves_error, strict=True)}
    every = sorted({*BASES, *MOVED})
    at = {J: i for i, J in enumerate(BASES)}
    values = [
        (float(root[at[J]]), float(error[at[J]]), float(line[at[J]])) if J in at else (0.0, 0.0, 0.0) for J in every
    ]
    return Verdict(
        outcome=power.decided(wrong, power.detectable(slope_error, MARGINS.level, MARGINS.granted), MARGINS.needed),
        sentence=f"The optimum with J basis functions is {root[BASES.index(16)]:.2g}% from that with 128 at J = 16 and "
        f"{root[0]:.2g}% at J = {BASES[0]}, a distance that follows the variance that is cut to the power {slope:.2f} ± "
        f"{slope_error:.2f}. Of Crank-Nicolson steps {moves[0]:.1%} are accepted at J = {MOVED[0]} and {moves[-1]:.1%} at J = "
        f"{MOVED[-1]} ({change[0]:+.3f} ± {change[1]:.3f}).",
        header=HEADER,
        rows=tuple((J, *v, *known.get(J, (float("nan"), float("nan")))) for J, v in zip(every, values, strict=True)),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}, λ = {LAM:g}, {draws} draws of the prior, curves and neurons with deviations 1/j and 3/j; steps of h = "
        f"{STEP:g}",
        figure=_figure(root, error, line, known),
        caption="Left, distance of the optimum from that with 128 basis functions against J on logarithmic axes: dots along "
        "the dashed line of the variance that is cut. Right, the share of accepted Crank-Nicolson steps against J: flat.",
        power=power.stated([slope_error], MARGINS.level, MARGINS.granted, " in the power", seeds=seeds),
    )


def _exponent(off: np.ndarray, variance: np.ndarray) -> tuple[float, float]:
    """Power of the variance in the root mean square over seeds, and its standard error by leaving out one seed after the "
    "other."""

    def slope(values: np.ndarray) -> float:
        return float(np.polyfit(np.log(variance), np.log(np.mean(values**2, axis=0)) / 2, 1)[0])

    count = len(off)
    without = np.array([slope(np.delete(off, i, axis=0)) for i in range(count)])
    return slope(off), float(np.sqrt((count - 1) * np.mean((without - without.mean()) ** 2)))


def _figure(root: np.ndarray, error: np.ndarray, line: np.ndarray, known: dict) -> str:
    with style.figure(2, width=3.3, height=2.7) as (fig, (left, right)):
        style.dots(left, BASES, root, error, color=style.COLOURS[0], label="root mean square over seeds")
        left.plot(BASES, line, "--", color=style.INK, label="variance that is cut")
        left.set(xscale="log", yscale="log", xlabel="basis functions J", ylabel="|P*(J)/P*(128) − 1| in %")
        left.set_xticks(BASES, [str(J) for J in BASES])
        left.legend()
        style.dots(right, list(known), *zip(*known.values(), strict=True), color=style.COLOURS[0])
        right.set(xscale="log", ylim=(0, 1), xlabel="basis functions J", ylabel="accepted Crank-Nicolson steps")
        right.set_xticks(MOVED, [str(J) for J in MOVED])
        for ax in (left, right):
            ax.minorticks_off()
        return style.svg(fig)


CLAIM = claim("nishikawa/truncation", measure=measure, predict=predict, judge=judge)
