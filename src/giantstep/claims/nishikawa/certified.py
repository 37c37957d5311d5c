"""Particles reach the optimum: their certificate closes as one over their number, and their network is the optimal one."""

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.growth import growth
from giantstep.claims.margins import Margins
from giantstep.functions import losses
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.systems.mean_field import MeanField
from giantstep.systems.mean_field.simulate import TEST
from giantstep.systems.mean_field.training import train

SIZES = {"quick": (40, (100, 600), 10), "full": (100, (200, 800, 3200, 12800), 20)}  # curves, particles, seeds
PASSES = 15
LAM = 0.02
POOL = 8192  # draws of the prior that solve the dual problem
FOLLOWED = 128  # draws of the prior that follow a run
NAMES = {"objective": "objective P", "kl": "KL to the prior", "train_loss": "training loss", "test_loss": "test loss"}
MARGINS = Margins(level=3.0, granted=6.0, needed=25.0)  # % of the optimum's numbers
POWER = 0.3  # granted to the power of M with which the gap falls
SMALL = 5.0  # % of P* that the gap should be below
HEADER = ("quantity", "particles", "measured", "s.e.", "optimum", "off in %", "in s.e.")


def system(n: int, particles: int, pool: int = FOLLOWED) -> MeanField:
    return gs.MeanField(n, penalty=LAM, particles=particles, passes=PASSES, pool=pool)


def numbers(n: int, particles: int, seed: int) -> list[float]:
    """The numbers of a run, and its gap."""
    s = system(n, particles)
    (X, y), (Xt, yt) = s.curves, s.sample(0, TEST, 1)  # the fresh curves of the theory
    field = train(X, y, s.deviations, s.training, seed)
    test = float(losses.value(s.loss, field.outputs(Xt), yt).mean())
    return [field.objective, field.kl, field.train_loss, test, field.gap]


def measure(size: Size) -> Data:
    """(particles, numbers and gap, seeds)."""
    n, sizes, seeds = SIZES[size]
    runs = np.array(cache.each(numbers, [(n, M, seed) for M in sizes for seed in range(seeds)]))
    return {"runs": runs.reshape(len(sizes), seeds, -1).transpose(0, 2, 1)}


def predict(size: Size) -> Data:
    """The optimum by its dual problem, its pool's standard errors, and the power of M with which the gap falls."""
    s = gs.theory(system(SIZES[size][0], 2, POOL))
    errors = [s.numbers[name].se or 0.0 for name in ("objective", "kl")]
    return {
        "optimum": np.array([s.numbers[name].value for name in NAMES]),
        "errors": np.array([*errors, 0.0, 0.0]),
        "power": -1.0,
    }


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    n, sizes, seeds = SIZES[size]
    mean, spread = mean_and_error(measured["runs"])
    best = predicted["optimum"]
    error = np.hypot(spread[:, :-1], predicted["errors"])
    off, off_error = 100 * (mean[:, :-1] / best - 1), 100 * error / best
    slope, slope_error = growth(sizes, measured["runs"][:, -1])
    share = 100 * mean[:, -1] / best[0], 100 * spread[:, -1] / best[0]
    missed = bool(np.any(np.abs(off[-1]) > np.maximum(MARGINS.level * off_error[-1], MARGINS.granted)))
    missed |= abs(slope - predicted["power"]) > max(MARGINS.level * slope_error, POWER)
    missed |= bool(share[0][-1] > SMALL + MARGINS.level * share[1][-1])
    detectable = max(power.detectable(float(e), MARGINS.level, MARGINS.granted) for e in off_error[-1])
    sure = power.detectable(slope_error, MARGINS.level, POWER) <= abs(predicted["power"])  # from a gap that stays
    rows = [
        (name, M, *map(float, (mean[i, k], error[i, k], best[k], off[i, k], off[i, k] / off_error[i, k])))
        for i, M in enumerate(sizes)
        for k, name in enumerate(NAMES.values())
    ]
    return Verdict(
        outcome="fails" if missed else "holds" if detectable <= MARGINS.needed and sure else "inconclusive",
        sentence=f"{sizes[-1]} particles have a certified gap of {share[0][-1]:.2g} ± {share[1][-1]:.1g}% of P* ({sizes[0]}: "
        f"{share[0][0]:.2g}%), which falls as their number to the {slope:.2f} ± {slope_error:.2f}; objective, entropy and "
        f"losses are {', '.join(f'{x:+.1f}' for x in off[-1])}% from the optimum (± "
        f"{', '.join(f'{x:.1f}' for x in off_error[-1])}).",
        header=HEADER,
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}, J = 16, λ = {LAM:g}, {PASSES} passes of coordinate ascent; optimum from {POOL} draws of the prior",
        figure=_figure(sizes, share, slope, off, off_error),
        caption="Left, the duality gap over the optimal objective against the number of particles on logarithmic axes: it "
        "falls along the dotted line of slope -1. Right, how far objective, entropy and losses are from the optimum in %, with "
        "error bars: they close in on zero.",
        power=power.stated(
            [float(e) for e in off_error[-1]], MARGINS.level, MARGINS.granted, "% of the optimum's numbers", seeds=seeds
        ),
        trend=f"The gap is {share[0][0]:.2g}% of P* with {sizes[0]} particles and {share[0][-1]:.2g}% with {sizes[-1]}.",
        settings=tuple(system(n, M).id for M in sizes),
    )


def _figure(sizes: tuple[int, ...], share: tuple, slope: float, off: np.ndarray, error: np.ndarray) -> str:
    M = np.array(sizes)
    with style.figure(2, width=3.4, height=2.8) as (fig, (left, right)):
        style.dots(left, M, *share, color=style.COLOURS[0], label="certified gap")
        left.plot(M, share[0][0] * M[0] / M, ":", color=style.INK, label="slope −1")
        left.set(xscale="log", yscale="log", ylabel="gap over P* in %")
        ticks = [t for t in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if min(share[0]) / 2 < t < 2 * max(share[0])]
        left.set_yticks(ticks, [f"{t:g}" for t in ticks])
        left.legend()
        for k, (name, colour) in enumerate(zip(NAMES.values(), style.COLOURS, strict=False)):
            style.dots(right, M * 1.04 ** (k - 1.5), off[:, k], error[:, k], color=colour, label=name)
        right.axhline(0, color=style.INK, linewidth=0.8)
        right.set(xscale="log", ylabel="off the optimum in %")
        right.legend()
        for ax in (left, right):
            ax.set_xticks(M, [str(m) for m in sizes])
            ax.minorticks_off()
            ax.set_xlabel("particles")
        return style.svg(fig)


CLAIM = claim("nishikawa/certified", measure=measure, predict=predict, judge=judge)
