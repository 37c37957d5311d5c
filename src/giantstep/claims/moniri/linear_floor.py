"""Random features do not beat the best linear predictor, however many samples, neurons or penalties."""

from typing import TYPE_CHECKING

import giantstep as gs
from giantstep.claims.moniri import talk
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    from giantstep.target import Target

SIZES = {"quick": (150, 8), "full": (600, 20)}
SAMPLES = (2.0, 4.0, 8.0)
WIDTHS = (1.0, 4.0)
PENALTIES = (1e-4, 1e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 10.0)


def floor(target: "Target") -> float:
    """E f*^2 beyond degree one, plus the noise: the least error of a linear predictor."""
    return target.power - target.hermite.mass(0) - target.hermite.mass(1) + target.noise**2


def run(size: Size) -> Verdict:
    import numpy as np

    d, seeds = SIZES[size]
    target = talk.setting_2()
    least = floor(target)
    rows, ids = [], []
    for width in WIDTHS:
        for samples in SAMPLES:
            n, p = int(samples * d), int(width * d)
            network = gs.Network(p, "relu", centred=True)
            setting = gs.Setting(gs.Gaussian(d), target, network, gs.Protocol((), gs.Ridge(n, PENALTIES)))
            outcome = gs.simulate(setting, seed=range(seeds), n_test=5000).mean()
            best = int(np.argmin(outcome.test_error))
            value, error = outcome.test_error[best], outcome.test_error_se[best]
            rows.append((samples, width, PENALTIES[best], float(value), float(error), float((value - least) / error)))
            ids.append(setting.id)
    below = [r for r in rows if r[3] + 4 * r[4] < least]
    closest = min(rows, key=lambda r: r[3])
    return Verdict(
        outcome="fails" if below else "holds",
        sentence=f"The lowest test error at the best of {len(PENALTIES)} penalties is {closest[3]:.3f} ± {closest[4]:.3f} "
        f"(n = {closest[0]:g}d, p = {closest[1]:g}d); the linear floor is {least:.3f}. "
        f"{len(below)} of {len(rows)} cases lie below it by 4 s.e.",
        header=("n/d", "p/d", "best penalty", "test error", "s.e.", "above the floor, s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}",
        figure=_figure(rows, least),
        settings=tuple(ids),
    )


def _figure(rows: list, least: float) -> str:
    from giantstep import canvas

    with canvas.figure() as (fig, ax):
        for i, width in enumerate(WIDTHS):
            here = [r for r in rows if r[1] == width]
            canvas.dots(
                ax,
                SAMPLES,
                [r[3] for r in here],
                [r[4] for r in here],
                label=f"random features, p = {width:g}d".replace("= 1d", "= d"),
                color=canvas.COLOURS[i],
            )
        ax.axhline(least, color=canvas.INK, label="linear floor")
        ax.set(xscale="log", xlabel="samples per dimension n/d", ylabel="test error at the best penalty")
        ax.set_xticks(SAMPLES, [f"{r:g}" for r in SAMPLES])
        ax.minorticks_off()
        ax.set_ylim(0, None)
        ax.legend()
        return canvas.svg(fig)


LINEAR_FLOOR = Claim(
    name="moniri/linear-floor",
    statement="In the proportional regime random features learn only the linear part of the target: no test error below "
    "c*²_{>1} + noise².",
    paper="moniri",
    where="the random-feature baseline (with Mei and Montanari 2022, Hu and Lu 2023)",
    run=run,
)
