"""One-pass SGD, the baseline of giant steps: its overlaps follow closed differential equations as d grows."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.growth import growth
from giantstep.claims.margins import Margins
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.results.trajectory import Trajectory
from giantstep.simulate import sgd as simulate_sgd
from giantstep.theory import sgd as theory_sgd

CASES = {"erf": "erf(x1) + 0.5*erf(x2)", "relu": "x1 + x1*x2"}
SIZES = {"quick": ((64, 256, 800), 6), "full": ((300, 1000, 3000), 12)}
TIME = 15  # samples a dimension
RATE = 1.0  # p eta / d
RECORDS = 11  # points of the path
WIDTH = 4  # neurons
MARGINS = Margins(level=3.0, granted=0.3, needed=0.8)  # of a power of d


def setting(case: str, d: int) -> Setting:
    network = gs.Network(WIDTH, case, scale="1/p", second_layer="rademacher")
    return gs.Setting(gs.Gaussian(d), gs.target(CASES[case], noise=0.1), network, gs.Protocol((), None))


def simulated(case: str, d: int, seed: int) -> Data:
    """One run: its overlaps and its risk."""
    return _plain(simulate_sgd(setting(case, d), TIME * d, RATE * WIDTH / d, seed, records=RECORDS))


def solved(case: str, d: int, seed: int) -> Data:
    """The equations from that run's own initial overlaps."""
    return _plain(theory_sgd(setting(case, d), TIME * d, RATE * WIDTH / d, seed, records=RECORDS))


def _plain(path: Trajectory) -> Data:
    """M and the upper triangle of Q, (records, p r + p (p + 1)/2), and the risk."""
    upper = np.triu_indices(WIDTH)
    overlaps = np.concatenate([path.M.reshape(RECORDS, -1), path.Q[:, *upper]], axis=1)
    return {"overlaps": overlaps, "risk": path.risk}


def measure(size: Size) -> Data:
    """For every case and d: overlaps (seeds, records, all of them) and risks (seeds, records) of the runs."""
    sizes, seeds = SIZES[size]
    jobs = [(case, d, seed) for case in CASES for d in sizes for seed in range(seeds)]
    return _gathered(size, iter(cache.each(simulated, jobs)))


def predict(size: Size) -> Data:
    """The same from the equations, and the power of d with which chance falls."""
    sizes, seeds = SIZES[size]
    paths = (solved(case, d, seed) for case in CASES for d in sizes for seed in range(seeds))
    return {"power": -0.5, **_gathered(size, paths)}


def _gathered(size: Size, paths: Iterator[Data]) -> Data:
    sizes, seeds = SIZES[size]

    def together() -> Data:
        several = [next(paths) for _ in range(seeds)]
        return {name: np.stack([path[name] for path in several]) for name in ("overlaps", "risk")}

    return {case: {str(d): together() for d in sizes} for case in CASES}


def gaps(measured: Data, predicted: Data) -> np.ndarray:
    """Measured less predicted overlaps of one case and d, squared, in the mean over all of M and Q: (seeds, records)."""
    i, j = np.triu_indices(WIDTH)
    weights = np.concatenate([np.ones(measured["overlaps"].shape[2] - len(i)), np.where(i == j, 1.0, 2.0)])
    return np.average((measured["overlaps"] - predicted["overlaps"]) ** 2, axis=2, weights=weights)


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    """Whether runs stay near their own predictions as chance allows."""
    sizes, seeds = SIZES[size]
    squares = {c: np.array([gaps(measured[c][str(d)], predicted[c][str(d)]) for d in sizes]) for c in CASES}
    distances = {case: np.sqrt(each.mean(axis=2)) for case, each in squares.items()}  # (sizes, seeds)
    slopes = {case: growth(sizes, each) for case, each in distances.items()}
    wrong = [
        c
        for c, (slope, error) in slopes.items()
        if abs(slope - predicted["power"]) > max(MARGINS.level * error, MARGINS.granted)
    ]
    sure = all(power.detectable(error, MARGINS.level, MARGINS.granted) < MARGINS.needed for _, error in slopes.values())
    fall = " and ".join(f"{slope:.2f} ± {error:.2f} ({case})" for case, (slope, error) in slopes.items())
    ends = [" and ".join(f"{each[i].mean():.3f} ({case})" for case, each in distances.items()) for i in (0, -1)]
    return Verdict(
        outcome="fails" if wrong else ("holds" if sure else "inconclusive"),
        sentence=f"The overlaps of a run stay within {ends[1]} (root mean square) of their own prediction at d = {sizes[-1]}, a "
        f"distance that falls as d to the {fall} (chance alone: {predicted['power']:g}; a wrong equation: 0).",
        header=("activation", "d", "samples/d", "risk", "s.e.", "predicted", "distance of overlaps"),
        rows=tuple(
            row
            for case in CASES
            for d, each in zip(sizes, squares[case], strict=True)
            for row in _rows(case, d, measured[case][str(d)]["risk"], predicted[case][str(d)]["risk"], each)
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {', '.join(map(str, sizes))}; p = {WIDTH}, {TIME}d samples, η = {RATE * WIDTH:g}/d, noise 0.1",
        figure=_figure(sizes, measured, predicted, distances),
        caption=f"Two panels show the risk of {seeds} runs at d = {sizes[-1]} against samples / d, dots that lie on the lines "
        f"of their own equations; the third the distance of the overlaps against d, which falls as d to the {fall}, along the "
        "dotted lines.",
        power=power.stated(
            [e for _, e in slopes.values()],
            MARGINS.level,
            MARGINS.granted,
            " in the power of d (a wrong equation: 0.5)",
            seeds=seeds,
        ),
        trend=f"The distance from the equations is {ends[0]} at d = {sizes[0]} and {ends[1]} at d = {sizes[-1]}.",
        settings=tuple(setting(case, sizes[-1]).id for case in CASES),
    )


def _rows(case: str, d: int, risk: np.ndarray, theory: np.ndarray, squares: np.ndarray) -> list[tuple]:
    columns = (np.linspace(0, TIME, RECORDS), *mean_and_error(risk, axis=0), theory.mean(0), np.sqrt(squares.mean(0)))
    return [(case, d, *(float(v[k]) for v in columns)) for k in range(0, RECORDS, 5)]


def _figure(sizes: tuple[int, ...], measured: Data, predicted: Data, distances: Any) -> str:
    """Left and middle: the risk of every run over its own prediction at the largest d; right: the distance against d."""
    d, time = sizes[-1], np.linspace(0, TIME, RECORDS)
    with style.figure(len(CASES) + 1, width=2.9, height=2.7) as (fig, axes):
        for ax, (case, formula), colour in zip(axes, CASES.items(), style.COLOURS, strict=False):
            theory, runs = predicted[case][str(d)]["risk"].T, measured[case][str(d)]["risk"].T
            none = [None] * (runs.shape[1] - 1)
            ax.plot(time, theory, color=colour, linewidth=0.9, label=["equations", *none])
            ax.plot(time, runs, "o", color=colour, markersize=3, label=[f"runs, d = {d}", *none])
            ax.set(yscale="log", xlabel="samples / d", ylabel="risk")
            ax.set_title(f"{case},  y = {formula}".replace("*", ""), loc="left", fontsize=8)
            ax.legend()
            middle, error = mean_and_error(distances[case])
            style.dots(axes[-1], sizes, middle, error, color=colour, label=case)
            chance = middle[0] * (np.array(sizes) / sizes[0]) ** predicted["power"]
            axes[-1].plot(sizes, chance, color=colour, linewidth=0.8, linestyle=":")
        axes[-1].set(xscale="log", yscale="log", xlabel="d", ylabel="distance of overlaps (dotted: $d^{-1/2}$)")
        axes[-1].set_xticks(sizes, [str(d) for d in sizes])
        axes[-1].minorticks_off()
        axes[-1].legend()
        return style.svg(fig)


CLAIM = claim("saad_solla/one-pass", measure=measure, predict=predict, judge=judge)
