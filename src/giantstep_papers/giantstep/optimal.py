"""The step size and the penalty that theory calls best are the best in simulation."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np

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
    judging,
    statistics,
)
from giantstep.checks import cache as store
from giantstep.plot import style
from giantstep.results.table import with_error
from giantstep.theory import Optimum
from giantstep_papers.moniri import talk
from giantstep_papers.shared import paired
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=2,
    of="giantstep",
    statement="The step size and the penalty with the least predicted test error have the least "
    "test error in simulation too, and it is the predicted one.",
    where="gs.optimal",
    how="We measure exact test errors on the same draws at the predicted optimum and at 24 points"
    " from a quarter to four times its step size and penalty. The error at the optimum must "
    "be the predicted one, and no other error may be lower. The mean rise towards the corners "
    "must be the predicted one, in units of the predicted error.",
    judges=(
        Judge(
            "test error at the optimum",
            relative=True,
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="terms of order n^(−1/2)",
        ),
        Judge(
            "error above that at the optimum",
            side="above",
            margin=(0.01, 0.005),
            departure=(0.05, 0.015),
            because="a shift of the optimum, whose effect is of second order",
        ),
        Judge(
            "rise towards the corners of the grid, less the predicted one",
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="terms of order n^(−1/2)",
        ),
    ),
    seeds={"quick": Seeds(24, 120), "full": Seeds(60, 420)},
)

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the best step size and of the best penalty
CUTS = (0.25, 1.0, 4.0)  # shown
SIZES = {"quick": 300, "full": 1000}


@cache
def best(n: int) -> Optimum:
    return gs.optimal(talk.experiment(n, 0.3, talk.setting_1()))


def experiment(n: int, etas: Sequence[float], penalties: Sequence[float]) -> gs.Setting:
    base = talk.experiment(n, 0.3, talk.setting_1())
    step = replace(base.protocol.steps[0], eta=tuple(etas))
    return replace(base, protocol=gs.Protocol((step,), gs.Ridge(n, tuple(penalties))))


def around(
    n: int, of_eta: Sequence[float] = FACTORS, of_penalty: Sequence[float] = FACTORS
) -> gs.Setting:
    """The experiment at multiples of the best step size and penalty."""
    there = best(n)
    return experiment(n, [f * there.eta for f in of_eta], [f * there.penalty for f in of_penalty])


def errors(
    n: int, etas: tuple[float, ...], penalties: tuple[float, ...], seed: int
) -> dict[str, object]:
    """Exact test errors, (step sizes, penalties), and controls of one seed."""
    setting = experiment(n, etas, penalties)
    return {"errors": paired.fits(setting, seed)[0], "controls": paired.draws(setting, seed)}


def measure(size: Size, seeds: range) -> Data:
    """Test errors around the predicted optimum, where theory says to look,
    (step sizes, penalties, seeds)."""
    n = SIZES[size]
    there = best(n)
    etas, penalties = (tuple(f * x for f in FACTORS) for x in (there.eta, there.penalty))
    found = store.over(errors, (n, etas, penalties), seeds)
    return {"test_error": controlled(found["errors"], found["controls"])}


def predict(size: Size) -> Data:
    """The optimum, its error, and errors on the grid and along two fine cuts of it."""
    n = SIZES[size]
    fine = np.geomspace(FACTORS[0] / 1.2, FACTORS[-1] * 1.2, 25).tolist()
    points = ((FACTORS, FACTORS), (fine, CUTS), (CUTS, fine))
    expected, etas, penalties = (gs.theory(around(n, *factors)).test_error for factors in points)
    numbers = {
        name: float(getattr(best(n), name))
        for name in ("eta", "penalty", "test_error", "random_features")
    }
    return {**numbers, "grid": expected, "fine": fine, "etas": etas.T, "penalties": penalties}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The error at the optimum against the predicted one, and those around it, on the same draws,
    from above."""
    errors, least, middle = measured["test_error"], predicted["test_error"], len(FACTORS) // 2
    others = np.ones((len(FACTORS), len(FACTORS)), dtype=bool)
    others[middle, middle] = False
    at = [f"{f:g}η*, {g:g}λ*" for f, g in product(FACTORS, FACTORS) if (f, g) != (1.0, 1.0)]
    above = (errors - errors[middle, middle]) / least
    expected = (predicted["grid"] - predicted["grid"][middle, middle]) / least
    far = np.array([[_far(f, g) for g in FACTORS] for f in FACTORS])
    rise = np.mean(above[far] - expected[far][:, None], axis=0, keepdims=True)
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("test error at the optimum", errors[middle, middle][None], least),
        judge("error above that at the optimum", above[others], at=at),
        judge("rise towards the corners of the grid, less the predicted one", rise),
    )


def _far(of_eta: float, of_penalty: float) -> bool:
    """Whether a point counts as towards a corner of the grid."""
    off = of_eta not in (0.5, 1.0) and of_penalty != 1.0
    return off and of_eta * of_penalty in (0.0625, 1.0, 16.0)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n = SIZES[size]
    there = ruling.stated.of("test error at the optimum")
    value = float(there.comparison.samples.mean())
    half = float(there.half[0]) * predicted["test_error"]
    return Verdict(
        sizes=f"n = {n}; {talk.RATIOS}; η* = {predicted['eta']:.3g}, λ* = "
        f"{predicted['penalty']:.3g}",
        figure=_figure(measured["test_error"], predicted),
        sentence="With the step size and the penalty that theory calls best the test error is "
        f"{with_error(value, half)}. The best random features have "
        f"{predicted['random_features']:.3f}. {ruling.stated.sentence}",
        caption=f"The test error is lowest, with {value:.2f}, at the step size and the penalty "
        "that theory predicts.",
        settings=(around(n).id,),
    )


def _figure(errors: np.ndarray, predicted: Data) -> str:
    """Cuts through the optimum: along the step size at three penalties,
    and along the penalty at three step sizes."""
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for k, (colour, factor) in enumerate(zip(style.COLOURS, CUTS, strict=False)):
            j, times = FACTORS.index(factor), {0.25: "¼ ", 1.0: "", 4.0: "4 "}[factor]
            samples = (errors[:, j], errors[j])
            lines = (predicted["etas"][k], predicted["penalties"][k])
            for ax, line, values, name in zip(axes, lines, samples, ("λ*", "η*"), strict=True):
                look = {"colour": colour, "label": f"{times}{name}", "marker": "osD"[k]}
                paired.over_line(ax, FACTORS, values, predicted["fine"], line, **look)
        for ax, name in zip(axes, ("step size η/η*", "penalty λ/λ*"), strict=True):
            ax.set(xscale="log", xlabel=name, ylabel="test error")
            ax.set_xticks(FACTORS, ["1/4", "1/2", "1", "2", "4"])
            ax.minorticks_off()
            ax.axvline(1, color=style.INK, linewidth=0.7, linestyle=":", zorder=0)
            ax.plot([], [], color=style.INK, label="theory")
            ax.legend(loc="upper center", **paired.OPAQUE)
        return style.svg(fig)
