"""Where in the plane of exponents a reused batch makes a spike along a harder direction.

The direction has an information exponent above one. In the first step a sample of the batch moves
the field of neuron i on itself by t_i (d/n) y sigma'(z), t_i = eta_1 s a_i. So the second gradient
on the same batch has, at first order in t, the left vector a^2 and the right one E[y^2 x], with the
strength

    theta = eta_1 eta_2 s^2 sqrt(3 p) (d/n) E[sigma' sigma''] E[y^2 x]
    theta ~ p^(alpha_1 + alpha_2 - 1/2)

A spike leaves the bulk if its strength is above (p/d)^(1/4), so in the limit if its exponent is
positive. On an independent batch E[y x <beta, x>] is in the place of E[y^2 x]: it has no mean along
the target, whatever the exponents.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from jaxtyping import Float

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
from giantstep.experiment import draw
from giantstep.experiment.setting import Setting
from giantstep.functions.hermite import gauss_hermite
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.simulate import train
from giantstep_papers.moniri_hassani import reuse
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=6,
    of="giantstep",
    statement="If a batch is used twice and E y²x ≠ 0, the spike along a direction of information "
    "exponent three grows as p^(α₁ + α₂ − 1/2), so that it is learned if α₁ + α₂ > 1/2. On "
    "independent batches d cos² with it stays of order one for all α₁, α₂ below 1/2.",
    where="what the proper choice of α₁, α₂ in the abstract may be; for targets with E y²x ≠ 0 it "
    "is α₁ + α₂ > 1/2, which is ⌊α₂/(1/2 − α₁)⌋ ≥ 1",
    how="The target has an information exponent of three. On one batch used twice we measure the "
    "component along the target of what the layer moved along with the left vector a². Its "
    "exponent in p, between two dimensions, must be α₁ + α₂ − 1/2 in all 16 cells of the "
    "plane. Moments of the second layer and of the batch, of known mean, are regressed out. "
    "On fresh batches the exponent of d cos² with the target, averaged over α₁ and α₂, must "
    "be at most that of chance, 0. There d cos² is of order one with heavy tails, which sets "
    "what can be noticed. The length of the first step was set on other seeds.",
    judges=(
        Judge(
            "exponent of the spike on one batch used twice",
            margin=EXPONENT,
            departure=0.12,
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "exponent of d cos² on fresh batches",
            side="below",
            margin=EXPONENT,
            departure=0.35,
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"full": Seeds(150, 1600)},
)

# without its parts of degree 0, 1, 2 its information exponent is three, and E y^2 x is not zero
BENT = "tanh(4*(x1-1))"
ACTIVATION = "softplus(4*(x-0.5))/4"  # E sigma' sigma'' is not zero
ALPHAS = (0.1, 0.2, 0.35, 0.45)  # of both steps
REFERENCE = 200  # the width at which all exponents have the same two steps
# eta_1 s and eta_2 s there: the first is small, because strengths have corrections of order t^2
LENGTHS = (0.35, 2.0)
BATCHES = ("reuse", "fresh")
DIMENSIONS = (80, 400)
NODES = 120  # of E y^2 x
# the judges
SLOPE = "exponent of the spike on one batch used twice"
CHANCE = "exponent of d cos² on fresh batches"


@lru_cache
def target() -> str:
    """The bent function without its parts of degree zero, one and two, of unit power."""
    c = gs.target(BENT).hermite
    parts = [float(c[(k,)]) for k in range(3)]
    power = c.power - parts[0] ** 2 - parts[1] ** 2 - 2 * parts[2] ** 2
    return f"({BENT} - ({parts[0]!r}) - ({parts[1]!r})*x1 - ({parts[2]!r})*H2(x1))/{power**0.5!r}"


def experiment(d: int, alpha1: float, batch: str) -> Setting:
    """eta s = L (p/REFERENCE)^(alpha - 1/2) in both steps; the second one for every alpha_2."""
    p = 5 * d // 4
    setting = gs.presets.moniri_hassani(
        6 * d,
        d,
        p,
        alpha1,
        ALPHAS[0],
        C1=LENGTHS[0] * REFERENCE ** (0.5 - alpha1),
        batch=batch,
        target=target(),
        activation=ACTIVATION,
        residual="target",
    )
    first, second = setting.protocol.steps
    sizes = tuple(p * LENGTHS[1] * (p / REFERENCE) ** (a - 0.5) for a in ALPHAS)  # s = 1/p
    steps = (first, replace(second, eta=sizes))
    return replace(setting, protocol=replace(setting.protocol, steps=steps))


def spikes(d: int, alpha1: float, batch: str, seed: int) -> dict[str, np.ndarray]:
    """What the layer moved along with the left vector a^2, for every alpha_2.

    ``strength`` is its component along the target, and ``square`` its cos^2 with it. ``controls``
    are numbers of the draws whose mean is zero.
    """
    setting = experiment(d, alpha1, batch)
    layers, v = train(setting, seed, dtype="float32"), setting.target.orthonormal(d)[0]
    a = layers.second_layer
    moves = [np.asarray(W, dtype=float) - layers.initial for W in layers.final]
    moved = [gs.measure.moved(move, a, 2)[:, -1] for move in moves]
    along = np.array([each @ v for each in moved])
    X, y = draw.rows(setting, seed, draw.step_batches(setting)[1])
    x = X @ v
    known = (
        np.mean(a**2) - 1,
        np.mean(a**4) / 3 - 1,
        np.mean(y**2 * x) / _pull() - 1,
        np.mean(y * x),
        np.mean(y**2) - 1,
    )
    return {
        "strength": along,
        "square": along**2 / np.sum(np.square(moved), axis=1),
        "controls": np.array(known),
    }


@lru_cache
def _pull() -> float:
    """E y^2 x."""
    x, weights = gauss_hermite(NODES)
    return float(weights @ (np.asarray(gs.target(target())(x[None])) ** 2 * x))


def measure(size: Size, seeds: range) -> Data:
    """Strengths, cos^2 and controls of every batch.

    They are (alpha_1, alpha_2, d, seeds), and controls (alpha_1, d, controls, seeds).
    """
    found: Data = {}
    for batch in BATCHES:
        runs = cache.over(spikes, [[(d, a, batch) for d in DIMENSIONS] for a in ALPHAS], seeds)
        for key, values in runs.items():
            found[f"{batch} {key}"] = values if key == "controls" else np.swapaxes(values, 1, 2)
    return found


def predict(size: Size) -> Data:
    """alpha_1 + alpha_2 - 1/2, (alpha_1, alpha_2)."""
    return {"exponents": np.add.outer(ALPHAS, ALPHAS) - 0.5}


def exponents(measured: Data) -> Float[np.ndarray, "first second seeds"]:
    """Exponents in p of the spike on a reused batch.

    They are without the part of the noise that the controls explain.
    """
    own, known = (measured[f"reuse {key}"] for key in ("strength", "controls"))
    pairs = [
        [(own[i, :, k], known[i, k]) for i in range(len(ALPHAS))] for k in range(len(DIMENSIONS))
    ]
    cells = np.array([[controlled(*pair) for pair in row] for row in pairs])
    return statistics.exponent(DIMENSIONS, cells, of_means=True)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents of the spike of a reused batch in every cell.

    On fresh batches d cos^2 grows no more than chance does.
    """
    at = [f"α = {a:g}, {b:g}" for a in ALPHAS for b in ALPHAS]
    found = exponents(measured).reshape(len(at), -1)
    growth = reuse.slopes(DIMENSIONS, measured["fresh square"].mean(axis=(0, 1)))
    expected, judge = predicted["exponents"].ravel(), judging(CLAIM, size)
    return statistics.stated(
        judge("exponent of the spike, one batch twice", found, expected, by=SLOPE, at=at),
        judge("exponent of d cos², fresh batches", growth[None], by=CHANCE),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    (found, error), limit = mean_and_error(exponents(measured)), predicted["exponents"]
    chance = reuse.strength(DIMENSIONS, measured["fresh square"].mean(axis=1))
    least, most = f"{chance.min():.1f}", f"{chance.max():.1f}"
    return Verdict(
        sentence=f"{ruling.stated.sentence} On fresh batches cos² with the direction is "
        f"{least if least == most else f'{least} to {most}'} times chance, whatever α₁ and d.",
        header=("α₁", "α₂", "exponent", "± s.e.", "α₁ + α₂ − 1/2"),
        rows=tuple(
            (a, b, *(float(table[i, j]) for table in (found, error, limit)))
            for i, a in enumerate(ALPHAS)
            for j, b in enumerate(ALPHAS)
        ),
        sizes=f"d = {', '.join(map(str, DIMENSIONS))}, p = 5d/4, n = 6d; {ACTIVATION}; {BENT} "
        f"without degrees 0, 1, 2; ηs = {LENGTHS[0]:g}, {LENGTHS[1]:g} at p = {REFERENCE}",
        figure=_figure(found, error, chance),
        caption="On one batch used twice the spike grows with the width if α₁ + α₂ exceeds 1/2 "
        "(left), and on fresh batches the signal does not grow with d (right).",
        settings=tuple(experiment(d, a, b).id for b in BATCHES for a in ALPHAS for d in DIMENSIONS),
    )


def _figure(found: np.ndarray, error: np.ndarray, chance: np.ndarray) -> str:
    sums, sizes = np.add.outer(ALPHAS, ALPHAS), np.array(DIMENSIONS)
    with style.figure(2, width=3.6, height=3.2) as (fig, (ax, right)):
        for i, (a, marker) in enumerate(zip(ALPHAS, "osD^", strict=True)):
            look = {"color": style.COLOURS[i], "marker": marker}
            style.dots(ax, sums[i], found[i], error[i], label=f"α₁ = {a:g}", **look)
            right.plot(sizes, chance[i], **look)
        ends = np.array([sums.min(), sums.max()])
        ax.plot(ends, ends - 0.5, color=style.INK, linewidth=1, label="α₁ + α₂ − 1/2")
        ax.axvline(0.5, color=style.INK, linestyle=":", linewidth=0.9)
        ax.axhline(0.0, color=style.INK, linestyle=":", linewidth=0.9)
        ax.set(xlabel="α₁ + α₂", ylabel="exponent of p of the spike")
        right.set(xlabel="dimension d", ylabel="$d\\,\\cos^2/(1-\\cos^2)$, fresh batches")
        ticks.logarithmic(right, "x", sizes)
        right.set_ylim(bottom=0.0)
        return style.svg(fig, below=5)
