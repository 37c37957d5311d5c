"""The first step's direction aligns with the target's, by a known amount."""

from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import Compared, compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.moniri import talk
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target
from giantstep.plot import style as _style
from giantstep.theory.limits.gains import direction

SIZES = {"quick": (600, 24), "full": (2400, 60)}
SAMPLES_PER_DIMENSION = (0.5, 1.0, 2.0, 4.0, 8.0)
SURE = 4.0  # standard errors, for ten comparisons
NEEDED = 0.05  # of a cosine: a departure that must be seen


def limit(target: Target, phi: float) -> float:
    """c*_1 / sqrt(c*_1^2 + phi (E f*^2 + noise^2)), phi = d/n (one-step limit of cos(beta, beta*))."""
    return direction(phi, float(target.hermite.get((1,), 0.0)), target.power + target.noise**2).cosine


def experiment(target: Target, d: int, ratio: float) -> Setting:
    """The preset at n = ratio d; the width plays no part."""
    return gs.presets.moniri(int(ratio * d), d, 2, 0.0, 0.01, target=target)


def cosine(name: str, d: int, ratio: float, seed: int) -> float:
    """cos(beta, beta*) with beta = X^T y / n on n = ratio d samples."""
    target = talk.targets()[name]
    return gs.measure.cosine(talk.direction(experiment(target, d, ratio), seed), target.matrix(d)[0])


def measure(size: Size) -> Data:
    d, seeds = SIZES[size]
    shape = (len(talk.targets()), len(SAMPLES_PER_DIMENSION), seeds)
    runs = [
        (name, d, ratio, seed) for name in talk.targets() for ratio in SAMPLES_PER_DIMENSION for seed in range(seeds)
    ]
    return {"cosines": np.reshape(cache.each(cosine, runs), shape)}


def predict(size: Size) -> Data:
    fine = np.geomspace(SAMPLES_PER_DIMENSION[0], SAMPLES_PER_DIMENSION[-1], 60)
    at, lines = (
        np.array([[limit(target, 1 / r) for r in ratios] for target in talk.targets().values()])
        for ratios in (SAMPLES_PER_DIMENSION, fine)
    )
    return {"limits": at, "fine": fine, "line": lines[0]}  # both targets have one line


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds = SIZES[size]
    comparison = compare(
        measured["cosines"], predicted["limits"], level=SURE, granted=2 / d
    )  # the O(1/d) bias of a cosine
    columns = [
        np.ravel(x).tolist() for x in (comparison.mean, comparison.error, comparison.predicted, comparison.distance)
    ]
    at = [(name, ratio) for name in talk.targets() for ratio in SAMPLES_PER_DIMENSION]
    rows: list[Any] = [(*where, *numbers) for where, numbers in zip(at, zip(*columns, strict=True), strict=True)]
    worst = max(rows, key=lambda r: abs(r[5]))
    return Verdict(
        outcome=decided(bool(np.any(comparison.missed)), float(np.max(comparison.seen)), NEEDED),
        sentence=f"{np.sum(~comparison.missed)} of {len(rows)} cosines agree with the limit; the furthest is "
        f"{worst[5]:+.1f} s.e. "
        f"away ({worst[2]:.4f} against {worst[4]:.4f} at n/d = {worst[1]:g}, {worst[0]}).",
        header=("target", "n/d", "cos(β, β*)", "s.e.", "limit", "distance in s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, n/d = {', '.join(f'{r:g}' for r in SAMPLES_PER_DIMENSION)}",
        figure=_figure(comparison, predicted),
        caption=f"Left, cos(β, β*) of both targets rises with n/d along the one limit, from {comparison.mean[0, 0]:.2f} to "
        f"{comparison.mean[0, -1]:.2f}; right, what is left when the limit is taken away: at most "
        f"{np.max(np.abs(comparison.mean - comparison.predicted)):.4f}, error bars around zero.",
        settings=tuple(experiment(t, d, r).id for t in talk.targets().values() for r in SAMPLES_PER_DIMENSION),
        power=comparison.power(" of a cosine"),
    )


def _figure(comparison: Compared, predicted: Data) -> str:
    """The cosines and the limit, and what is left when the limit is taken away."""
    with _style.figure(2, width=3.4, height=2.9) as (fig, (ax, rest)):
        ax.plot(predicted["fine"], predicted["line"], color=_style.INK, label="limit (both targets)")
        rest.axhline(0, color=_style.INK)
        for i, label in enumerate(talk.LABELS.values()):
            shift = 0.97 if i == 0 else 1.03  # side by side: the two settings have one limit
            x, style = shift * np.array(SAMPLES_PER_DIMENSION), {"label": label, "color": _style.COLOURS[i]}
            _style.dots(ax, x, comparison.mean[i], comparison.error[i], **style)
            _style.dots(rest, x, comparison.mean[i] - comparison.predicted[i], comparison.error[i], **style)
        ax.set_ylabel("cos(β, β*)")
        rest.set_ylabel("cos(β, β*) − limit")
        for each in (ax, rest):
            each.set(xscale="log", xlabel="samples per dimension n/d")
            each.set_xticks(SAMPLES_PER_DIMENSION, [f"{r:g}" for r in SAMPLES_PER_DIMENSION])
            each.minorticks_off()
        ax.legend()
        return _style.svg(fig)


CLAIM = claim("moniri/alignment", measure=measure, predict=predict, judge=judge)
