"""The step size and the penalty that theory calls best are the best in simulation."""

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import giantstep as gs
from giantstep.claims import paired
from giantstep.claims.moniri import talk
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from giantstep.setting import Setting
    from giantstep.theory import Optimum

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the best step size and of the best penalty
MIDDLE = FACTORS.index(1.0)
SIZES = {"quick": (400, 14), "full": (2000, 40)}
NEAR = 0.02  # finite-size bias granted to the error at the optimum


def predicted(n: int) -> "Optimum":
    return gs.optimal(talk.experiment(n, 0.3, talk.setting_1()))


def grid(best: "Optimum", of_eta: "Sequence[float]" = FACTORS, of_penalty: "Sequence[float]" = FACTORS) -> "Setting":
    """The setting at multiples of the best step size and penalty."""
    step, readout = best.setting.protocol.steps[0], best.setting.protocol.readout
    assert readout is not None
    step = replace(step, eta=tuple(f * best.eta for f in of_eta))
    readout = replace(readout, penalty=tuple(f * best.penalty for f in of_penalty))
    return replace(best.setting, protocol=gs.Protocol((step,), readout))


class Point(NamedTuple):
    """One row of the table: a point of the grid, and how far its error is above that at the optimum, on the same draws."""

    eta: float
    penalty: float
    mean: float
    predicted: float
    above: float
    error: float


def run(size: Size) -> Verdict:
    import numpy as np

    from giantstep.measure import mean_and_error

    n, seeds = SIZES[size]
    best = predicted(n)
    setting = grid(best)
    errors, expected = paired.simulated(setting, seeds).test_error, paired.predicted(setting).test_error
    there = paired.compare(errors[MIDDLE, MIDDLE], np.asarray(best.test_error))
    above, se = mean_and_error(errors - errors[MIDDLE, MIDDLE])
    columns = zip(*(np.ravel(x).tolist() for x in (errors.mean(axis=-1), expected, above, se)), strict=True)
    rows = [Point(*at, *column) for at, column in zip(product(FACTORS, FACTORS), columns, strict=True)]
    others = [r for r in rows if r[:2] != (1.0, 1.0)]
    better, near = [r for r in others if r.above < -3 * r.error], min(others, key=lambda r: r.above)
    right = abs(there.distance) <= 3 or abs(there.mean / best.test_error - 1) <= NEAR
    return Verdict(
        outcome="holds" if right and not better else "fails",
        sentence=f"At the predicted best η = {best.eta:.3g}, λ = {best.penalty:.3g} the test error is {there.mean:.4f} ± "
        f"{there.error:.4f}, predicted {best.test_error:.4f} (random features at their best: {best.random_features:.4f}). Of "
        f"the {len(others)} points around it {len(better)} are better by 3 s.e. and "
        f"{sum(r.above > 3 * r.error for r in others)} worse; the least above it is {near.eta:g}η, {near.penalty:g}λ by "
        f"{near.above:+.4f} ± {near.error:.4f}.",
        header=("η / best", "λ / best", "test error", "predicted", "above the optimum", "s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}",
        figure=_figure(best, errors),
        settings=(setting.id,),
    )


def _figure(best: "Optimum", errors: "np.ndarray") -> str:
    """Cuts through the optimum: along the step size at three penalties, and along the penalty at three step sizes."""
    import numpy as np

    from giantstep import canvas

    fine = np.geomspace(FACTORS[0] / 1.2, FACTORS[-1] * 1.2, 25).tolist()
    along = [paired.predicted(grid(best, *factors)).test_error for factors in ((fine, FACTORS), (FACTORS, fine))]
    with canvas.figure(2, width=3.5, height=2.9) as (fig, axes):
        for colour, j in zip(canvas.COLOURS, (0, MIDDLE, len(FACTORS) - 1), strict=False):
            times = {0: "¼ ", MIDDLE: "", len(FACTORS) - 1: "4 "}[j]
            lines, samples = (along[0][:, j], along[1][j]), (errors[:, j], errors[j])
            for ax, line, values, name in zip(axes, lines, samples, ("λ*", "η*"), strict=True):
                paired.over_line(ax, FACTORS, values, fine, line, colour=colour, label=f"{times}{name}")
        for ax, name in zip(axes, ("step size η/η*", "penalty λ/λ*"), strict=True):
            ax.set(xscale="log", xlabel=name, ylabel="test error")
            ax.set_xticks(FACTORS, ["1/4", "1/2", "1", "2", "4"])
            ax.minorticks_off()
            ax.axvline(1, color=canvas.INK, linewidth=0.7, linestyle=":", zorder=0)
            ax.plot([], [], color=canvas.INK, label="theory")
            ax.legend(loc="upper center", **paired.OPAQUE)
        return canvas.svg(fig)


OPTIMAL = Claim(
    name="giantstep/optimal",
    statement="The step size and the penalty with the least predicted test error have the least test error in simulation "
    "too, and it is the predicted one.",
    paper="giantstep",
    where="gs.optimal",
    run=run,
)
