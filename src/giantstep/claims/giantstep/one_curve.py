"""One prediction for every step size, from random features through the staircase to sqrt(n), and a look beyond."""

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import Compared, compare
from giantstep.checks.power import decided
from giantstep.claims import paired
from giantstep.claims.claim import claim
from giantstep.claims.moniri import talk
from giantstep.experiment.setting import Setting
from giantstep.plot import style as _style

ALPHAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
UPDATES = {"rank1": "rank-one part", "gradient": "full gradient"}
ACTIVATIONS = ("relu", "tanh")
CASES = tuple(product(ACTIVATIONS, UPDATES))
SIZES = {"quick": (500, 20), "full": (2000, 40)}
PUBLISHED = "published limit"
NEAR = 3.0  # % granted to finite sizes
SURE = 4.0  # standard errors, for 56 comparisons
NONE = -0.3  # where random features stand on the axis of alpha
LAST = 0.5  # alpha up to which the prediction is judged; beyond, its status says that the step is too long for it


def experiment(n: int, activation: str, update: str, alphas: Any) -> Setting:
    """relu on H1 + H2/sqrt(2), whose quadratic part its second spike learns; tanh, which has none, on H1 + noise."""
    target = talk.setting_2() if activation == "relu" else talk.setting_1()
    return paired.experiment(n, alphas, target, activation=activation, update=update)


class CurvePoint(NamedTuple):
    activation: str
    update: str
    what: str
    alpha: float | str
    mean: float
    error: float
    predicted: float
    distance: float

    @property
    def off(self) -> float:  # in %
        return 100 * (self.mean / self.predicted - 1)


def measure(size: Size) -> Data:
    """Errors at step size 0 and every alpha, (activations and updates, errors, step sizes, seeds)."""
    n, seeds = SIZES[size]
    return {"errors": np.array([paired.measured(experiment(n, *case, ALPHAS), seeds) for case in CASES])}


def predict(size: Size) -> Data:
    """The same without seeds, along a fine grid, and the published limit, (activations, errors, stairs)."""
    n, start = SIZES[size][0], NONE + 0.05
    fine = np.linspace(start, max(ALPHAS) + 0.01, 48).tolist()
    steps = [k / (2 * k + 2) for k in range(12)]  # where the regimes of the staircase begin, each a flat piece
    stairs = [start, *(s + side for s in steps for side in (-1e-9, 1e-9))]
    errors = np.array([paired.predicted(experiment(n, *case, (*ALPHAS, *fine))) for case in CASES])
    at, lines = np.split(errors, [1 + len(ALPHAS)], axis=-1)
    limit = [paired.predicted(experiment(n, a, "rank1", stairs), "limit")[:, 1:] for a in ACTIVATIONS]
    return {"errors": at, "fine": fine, "lines": lines, "stairs": stairs, "limit": np.array(limit)}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    n, seeds = SIZES[size]
    every = compare(measured["errors"], predicted["errors"], level=SURE, granted=NEAR / 100 * predicted["errors"])
    columns = (x.ravel().tolist() for x in (every.mean, every.error, every.predicted, every.distance))
    at = [(*case, what, a) for case in CASES for what in paired.ERRORS.values() for a in ("no step", *ALPHAS)]
    rows = [CurvePoint(*where, *numbers) for where, numbers in zip(at, zip(*columns, strict=True), strict=True)]
    within = np.array([True, *(alpha <= LAST for alpha in ALPHAS)])
    comparison, right = every[..., within], np.broadcast_to(within, every.mean.shape).ravel()
    judged, rest = ([r for r, good in zip(rows, right, strict=True) if good == side] for side in (True, False))
    missed, worst, beyond = (
        int(np.sum(comparison.missed)),
        *(max(part, key=lambda r: abs(r.off)) for part in (judged, rest)),
    )
    whole = np.ptp(comparison.predicted, axis=-1, keepdims=True)  # what the step does at most
    mean = sum(abs(r.off) for r in judged) / len(judged)
    return Verdict(
        outcome=decided(bool(missed), float(np.max(comparison.seen / whole)), 1.0),
        sentence=f"{len(judged) - missed} of {len(judged)} errors, from no step to η = √n, agree with one prediction "
        f"within {SURE:g} s.e. or {NEAR:g}%: {mean:.1f}% off on average, "
        f"{worst.off:+.1f}% at most ({worst.mean:.3f} ± {worst.error:.3f} against {worst.predicted:.3f}: {worst.activation}, "
        f"{UPDATES[worst.update]}, {worst.what}, alpha = {worst.alpha}). Beyond, at η = n^{ALPHAS[-1]:g}, it is off by up to "
        f"{beyond.off:+.1f}% ({beyond.activation}, {UPDATES[beyond.update]}, {beyond.what}).",
        header=("activation", "update", "error", "alpha", "measured", "s.e.", "predicted", "distance in s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(every, predicted),
        caption="Test error (above) and training loss (below) for relu and tanh against alpha, after the rank-one part of "
        "the step and after the full gradient: dots on two smooth theory lines from random features to η = "
        f"n^{ALPHAS[-1]:g}, {mean:.1f}% off on average, beside the published staircase, dashed.",
        settings=tuple(experiment(n, *case, ALPHAS).id for case in CASES),
        power=comparison.relative().power("% of an error", 100),
    )


def _figure(every: Compared, predicted: Data) -> str:
    """Errors against alpha with one curve through all of them, and the published staircase beside it."""
    with _style.figure(len(ACTIVATIONS), 2, width=3.6, height=2.4) as (fig, axes):
        for k, (column, activation) in enumerate(zip(axes.reshape(2, -1).T, ACTIVATIONS, strict=True)):
            for j, (ax, label) in enumerate(zip(column, paired.ERRORS.values(), strict=True)):
                style = {"color": _style.INK, "linewidth": 0.9, "label": PUBLISHED}
                ax.plot(predicted["stairs"], predicted["limit"][k, j], "--", **style)
                for (update, name), colour in zip(UPDATES.items(), _style.COLOURS, strict=False):
                    i = CASES.index((activation, update)), j
                    ax.plot(predicted["fine"], predicted["lines"][i], color=colour, label=f"theory, {name}")
                    style = {"color": colour, "label": f"simulated, {name}"}
                    _style.dots(ax, [NONE, *ALPHAS], every.mean[i], every.error[i], **style)
                ax.set_xticks([NONE, 0, 0.2, 0.4, 0.6], ["none", "0", "0.2", "0.4", "0.6"])
                ax.set_ylabel(label)
                paired.step_axis(ax, 0.5)
            target = "x_1 + H_2(x_1)/\\sqrt{2}" if activation == "relu" else "x_1 + \\mathrm{noise}"
            column[0].set(xlabel="")
            column[0].set_title(f"{activation},  $y = {target}$", loc="left")
        named = dict(zip(*reversed(axes.flat[0].get_legend_handles_labels()), strict=True))
        order = [f"{what}, {name}" for name in UPDATES.values() for what in ("theory", "simulated")]
        fig.legend([named[k] for k in (*order, PUBLISHED)], [*order, PUBLISHED], loc="outside lower center", ncols=3)
        return _style.svg(fig)


CLAIM = claim("giantstep/one-curve", measure=measure, predict=predict, judge=judge)
