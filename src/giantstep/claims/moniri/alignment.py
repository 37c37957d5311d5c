"""The first step's direction aligns with the target's, by a known amount."""

from math import sqrt
from typing import TYPE_CHECKING

import giantstep as gs
from giantstep.claims.moniri import talk
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    from giantstep.setting import Setting
    from giantstep.target import Target

SIZES = {"quick": (600, 24), "full": (2400, 60)}
SAMPLES_PER_DIMENSION = (0.5, 1.0, 2.0, 4.0, 8.0)


def limit(target: "Target", phi: float) -> float:
    """c*_1 / sqrt(c*_1^2 + phi (E f*^2 + noise^2)), phi = d/n (one-step limit of cos(beta, beta*))."""
    first = float(target.hermite.get((1,), 0.0))
    return first / sqrt(first**2 + phi * (target.power + target.noise**2))


def experiment(target: "Target", d: int, ratio: float) -> "Setting":
    """The preset at n = ratio d; the width plays no part."""
    return gs.presets.moniri(int(ratio * d), d, 2, 0.0, 0.01, target=target)


def cosines(target: "Target", d: int, ratio: float, seeds: int) -> list[float]:
    """cos(beta, beta*) with beta = X^T y / n on n = ratio d samples, one number a seed."""
    from giantstep.measure import cosine

    setting, star = experiment(target, d, ratio), target.matrix(d)[0]
    return [cosine(talk.direction(setting, seed), star) for seed in range(seeds)]


def run(size: Size) -> Verdict:
    import numpy as np

    from giantstep.measure import mean_and_error

    d, seeds = SIZES[size]
    rows, curves = [], []
    for name, target in (("setting 1", talk.setting_1()), ("setting 2", talk.setting_2())):
        found = [mean_and_error(np.array(cosines(target, d, r, seeds))) for r in SAMPLES_PER_DIMENSION]
        curves.append((name, found))
        for ratio, (mean, se) in zip(SAMPLES_PER_DIMENSION, found, strict=True):
            expected = limit(target, 1 / ratio)
            rows.append((name, ratio, float(mean), float(se), expected, float((mean - expected) / se)))
    # 4 standard errors for ten comparisons, plus the O(1/d) bias of a cosine
    misses = [r for r in rows if abs(r[2] - r[4]) > 4 * r[3] + 2 / d]
    worst = max(rows, key=lambda r: abs(r[5]))
    return Verdict(
        outcome="fails" if misses else "holds",
        sentence=f"{len(rows) - len(misses)} of {len(rows)} cosines agree with the limit; the furthest is {worst[5]:+.1f} s.e. "
        f"away ({worst[2]:.4f} against {worst[4]:.4f} at n/d = {worst[1]:g}, {worst[0]}).",
        header=("target", "n/d", "cos(β, β*)", "s.e.", "limit", "distance in s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, n/d = {', '.join(f'{r:g}' for r in SAMPLES_PER_DIMENSION)}",
        figure=_figure(curves),
        settings=tuple(
            experiment(target, d, r).id
            for target in (talk.setting_1(), talk.setting_2())
            for r in SAMPLES_PER_DIMENSION
        ),
    )


def _figure(curves: list) -> str:
    """The cosines and the limit, and what is left when the limit is taken away."""
    import numpy as np

    from giantstep import canvas

    with canvas.figure(2, width=3.4, height=2.9) as (fig, (ax, rest)):
        line = np.geomspace(SAMPLES_PER_DIMENSION[0], SAMPLES_PER_DIMENSION[-1], 100)
        ax.plot(line, [limit(talk.setting_1(), 1 / r) for r in line], color=canvas.INK, label="limit (both targets)")
        rest.axhline(0, color=canvas.INK)
        labels = ("$y = x_1$ + noise", r"$y = x_1 + H_2(x_1)/\sqrt{2}$")
        for i, (label, (_, found)) in enumerate(zip(labels, curves, strict=True)):
            shift = 0.97 if i == 0 else 1.03  # side by side: the two settings have one limit
            x, style = shift * np.array(SAMPLES_PER_DIMENSION), {"label": label, "color": canvas.COLOURS[i]}
            mean, se = np.array(found).T
            canvas.dots(ax, x, mean, se, **style)
            canvas.dots(rest, x, mean - [limit(talk.setting_1(), 1 / r) for r in SAMPLES_PER_DIMENSION], se, **style)
        ax.set_ylabel("cos(β, β*)")
        rest.set_ylabel("cos(β, β*) − limit")
        for each in (ax, rest):
            each.set(xscale="log", xlabel="samples per dimension n/d")
            each.set_xticks(SAMPLES_PER_DIMENSION, [f"{r:g}" for r in SAMPLES_PER_DIMENSION])
            each.minorticks_off()
        ax.legend()
        return canvas.svg(fig)


ALIGNMENT = Claim(
    name="moniri/alignment",
    statement="β = Xᵀy/n aligns with the target's direction: cos(β, β*) → c*₁/√(c*₁² + (d/n)(E f*² + noise²)).",
    paper="moniri",
    where="the limit of ⟨β, β*⟩/‖β‖",
    run=run,
)
