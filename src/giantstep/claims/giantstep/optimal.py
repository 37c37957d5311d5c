"""The step size and the penalty that theory calls best are the best in simulation."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

import giantstep as gs
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided, stated
from giantstep.claims import paired
from giantstep.claims.claim import claim
from giantstep.claims.moniri import talk
from giantstep.experiment.setting import Setting
from giantstep.plot import style as _style
from giantstep.theory import Optimum

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the best step size and of the best penalty
CUTS = (0.25, 1.0, 4.0)  # shown
SIZES = {"quick": (400, 14), "full": (1000, 40)}
SURE = 4.0  # standard errors, for 25 comparisons
SEVERAL = 12  # points around the optimum that must be worse for the optimum to be one
NEAR = 0.02  # finite-size bias granted to the error at the optimum


@cache
def best(n: int) -> Optimum:
    return gs.optimal(talk.experiment(n, 0.3, talk.setting_1()))


def experiment(n: int, etas: Sequence[float], penalties: Sequence[float]) -> Setting:
    base = talk.experiment(n, 0.3, talk.setting_1())
    step = replace(base.protocol.steps[0], eta=tuple(etas))
    return replace(base, protocol=gs.Protocol((step,), gs.Ridge(n, tuple(penalties))))


def around(n: int, of_eta: Sequence[float] = FACTORS, of_penalty: Sequence[float] = FACTORS) -> Setting:
    """The experiment at multiples of the best step size and penalty."""
    there = best(n)
    return experiment(n, [f * there.eta for f in of_eta], [f * there.penalty for f in of_penalty])


class GridPoint(NamedTuple):
    """One row of the table: a point of the grid, and how far its error is above that at the optimum, on the same draws."""

    eta: float
    penalty: float
    mean: float
    predicted: float
    above: float
    error: float


def measure(size: Size) -> Data:
    """Test errors around the predicted optimum, where theory says to look, (step sizes, penalties, seeds)."""
    n, seeds = SIZES[size]
    outcome = paired.simulated(around(n), seeds)
    return {"eta": list(outcome.eta), "penalty": list(outcome.penalty), "test_error": outcome.test_error}  # type: ignore[arg-type]


def predict(size: Size) -> Data:
    """The optimum, its error, and errors on the grid and along two fine cuts of it."""
    n = SIZES[size][0]
    fine = np.geomspace(FACTORS[0] / 1.2, FACTORS[-1] * 1.2, 25).tolist()
    points = ((FACTORS, FACTORS), (fine, CUTS), (CUTS, fine))
    expected, etas, penalties = (gs.theory(around(n, *factors)).test_error for factors in points)
    numbers = {name: float(getattr(best(n), name)) for name in ("eta", "penalty", "test_error", "random_features")}
    return {**numbers, "grid": expected, "fine": fine, "etas": etas.T, "penalties": penalties}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (n, seeds), errors = SIZES[size], measured["test_error"]
    # the point of the grid that is nearest to the predicted optimum
    i, j = (int(np.argmin(np.abs(np.log(np.divide(measured[k], predicted[k]))))) for k in ("eta", "penalty"))
    there = compare(errors[i, j], predicted["test_error"], level=SURE, granted=NEAR * predicted["test_error"])
    above = compare(errors - errors[i, j], 0.0)
    columns = (np.ravel(x).tolist() for x in (errors.mean(axis=-1), predicted["grid"], above.mean, above.error))
    rows = [
        GridPoint(*at, *column)
        for at, column in zip(product(FACTORS, FACTORS), zip(*columns, strict=True), strict=True)
    ]
    others = [row for k, row in enumerate(rows) if k != i * len(FACTORS) + j]
    better, near = [r for r in others if r.above < -SURE * r.error], min(others, key=lambda r: r.above)
    worse = sum(r.above > SURE * r.error for r in others)
    gain = predicted["random_features"] - predicted["test_error"]
    hidden = max(float(there.seen) / gain, SEVERAL / max(worse, 0.5))
    return Verdict(
        outcome=decided(bool(there.missed or better), hidden, 1.0),
        sentence=f"At the predicted best η = {predicted['eta']:.3g}, λ = {predicted['penalty']:.3g} the test error is "
        f"{there.mean:.4f} ± {there.error:.4f}, predicted {predicted['test_error']:.4f} (random features at their best: "
        f"{predicted['random_features']:.4f}). Of the {len(others)} points around it {len(better)} are better by {SURE:g} "
        f"s.e. and {worse} worse; the least above it is {near.eta:g}η, {near.penalty:g}λ by {near.above:+.4f} ± "
        f"{near.error:.4f}.",
        header=("η / best", "λ / best", "test error", "predicted", "above the optimum", "s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}",
        figure=_figure(errors, predicted),
        caption="Test error against the step size (left, at three penalties) and against the penalty (right, at three "
        "step sizes), from a quarter to four times the predicted best: dots over valleys of the theory, lowest at the "
        f"optimum with {there.mean:.4f} ± {there.error:.4f}.",
        settings=(experiment(n, measured["eta"], measured["penalty"]).id,),
        power=f"At the optimum: {there.power()} Around it: "
        + stated([r.error for r in others], SURE, unit=" below the optimum", seeds=seeds),
    )


def _figure(errors: np.ndarray, predicted: Data) -> str:
    """Cuts through the optimum: along the step size at three penalties, and along the penalty at three step sizes."""
    with _style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for k, (colour, factor) in enumerate(zip(_style.COLOURS, CUTS, strict=False)):
            j, times = FACTORS.index(factor), {0.25: "¼ ", 1.0: "", 4.0: "4 "}[factor]
            samples, lines = (errors[:, j], errors[j]), (predicted["etas"][k], predicted["penalties"][k])
            for ax, line, values, name in zip(axes, lines, samples, ("λ*", "η*"), strict=True):
                style = {"colour": colour, "label": f"{times}{name}"}
                paired.over_line(ax, FACTORS, values, predicted["fine"], line, **style)
        for ax, name in zip(axes, ("step size η/η*", "penalty λ/λ*"), strict=True):
            ax.set(xscale="log", xlabel=name, ylabel="test error")
            ax.set_xticks(FACTORS, ["1/4", "1/2", "1", "2", "4"])
            ax.minorticks_off()
            ax.axvline(1, color=_style.INK, linewidth=0.7, linestyle=":", zorder=0)
            ax.plot([], [], color=_style.INK, label="theory")
            ax.legend(loc="upper center", **paired.OPAQUE)
        return _style.svg(fig)


CLAIM = claim("giantstep/optimal", measure=measure, predict=predict, judge=judge)
