"""Two targets with the same linear part and the same power: one curve up to alpha = 1/4, two beyond."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims import paired
from giantstep.claims.claim import claim
from giantstep.claims.moniri import talk
from giantstep.experiment.setting import Setting
from giantstep.plot import style as _style

ALPHAS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.35, 0.4, 0.45)
SIZES = {"quick": (500, 28), "full": (2000, 40)}
LARGE = 10**12  # where theory shows what stays of a difference
THRESHOLD = 0.25
SURE = 4.0  # standard errors, for 18 comparisons
NEAR = 0.1  # share of a difference granted to finite sizes
GONE = 0.1  # share of the least difference above the threshold that one below it may keep at the largest n
NAMES = ("setting 1: $x_1$ + noise", r"setting 2: $x_1 + H_2(x_1)/\sqrt{2}$")


class Difference(NamedTuple):
    """One row of the table: by how much setting 2 is lower, here and in theory at a large n."""

    what: str
    alpha: float
    mean: float
    error: float
    predicted: float
    distance: float
    stays: float


def experiments(n: int, alphas: Sequence[float]) -> list[Setting]:
    return [paired.experiment(n, alphas, target) for target in talk.targets().values()]


def apart(errors: np.ndarray) -> np.ndarray:
    """How much lower the errors of setting 2 are. Random features' errors, equal in the limit, are taken away first."""
    one, two = map(paired.gains, errors)
    return two - one


def measure(size: Size) -> Data:
    """Errors of both settings, (2, errors, step sizes, seeds)."""
    n, seeds = SIZES[size]
    return {"errors": np.array([paired.measured(setting, seeds) for setting in experiments(n, ALPHAS)])}


def predict(size: Size) -> Data:
    """Differences of the settings, (errors, alphas), here and at a large n, and the lines of the figure along a fine grid."""
    fine = np.linspace(0.0, max(ALPHAS) + 0.01, 31)
    here, large = (
        np.array([paired.predicted(setting) for setting in experiments(n, (*ALPHAS, *fine.tolist()))])
        for n in (SIZES[size][0], LARGE)
    )
    (at, line), (stays, far) = (np.split(apart(errors), [len(ALPHAS)], axis=1) for errors in (here, large))
    lines = here[:, :, 1 + len(ALPHAS) :]
    return {"apart": at, "stays": stays, "fine": fine, "errors": lines, "line": line[0], "far": far[0]}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (n, seeds), expected, stays = SIZES[size], predicted["apart"], predicted["stays"]
    comparison = compare(apart(measured["errors"]), expected, level=SURE, granted=NEAR * np.abs(expected))
    columns = (
        x.ravel().tolist()
        for x in (comparison.mean, comparison.error, comparison.predicted, comparison.distance, stays)
    )
    at = product(paired.ERRORS.values(), ALPHAS)
    rows = [Difference(*where, *numbers) for where, numbers in zip(at, zip(*columns, strict=True), strict=True)]
    above = np.array(ALPHAS) > THRESHOLD
    kept, least = np.max(np.abs(stays[:, ~above]), axis=1), np.min(stays[:, above], axis=1)
    missed, sure = int(np.sum(comparison.missed)), float(np.min((comparison.mean / comparison.error)[:, above]))
    # the difference above the threshold must be seen, and one like it below would have to be
    hidden = max(
        float(np.max(comparison.seen[:, ~above] / np.min(expected[:, above], axis=1, keepdims=True))), SURE / sure
    )
    most = max((r for r in rows if r.what == "test error" and r.alpha < THRESHOLD), key=lambda r: abs(r.mean))
    return Verdict(
        outcome=decided(bool(missed or np.any(kept > GONE * least)), hidden if sure > 0 else np.inf, 1.0),
        sentence=f"Above alpha = 1/4 setting 2 is lower by at least {sure:.1f} s.e. in both errors. Below, its test error is "
        f"lower by at most {most.mean:.3f} ± {most.error:.3f} ({most.mean / most.error:+.1f} s.e., alpha = {most.alpha:g}), "
        f"and {most.predicted:.3f} is predicted; in theory at n = 10¹² it is lower by at most {kept[0]:.4f} below "
        f"1/4 and by at least {least[0]:.3f} above. {len(rows) - missed} of {len(rows)} differences agree with the theory within "
        f"{SURE:g} s.e. or {NEAR:.0%}.",
        header=("error", "alpha", "difference", "s.e.", "predicted", "distance in s.e.", "predicted at n = 10¹²"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(n, measured["errors"], predicted),
        caption="Test error, training loss and the difference in test error of the two settings against alpha, dots over "
        f"the theory's lines: both fall together up to alpha = 1/4 and part beyond, by {comparison.mean[0, -1]:.3f} ± "
        f"{comparison.error[0, -1]:.3f} at alpha = {ALPHAS[-1]:g}. A dashed line shows the theory at n = 10¹², zero up to 1/4 "
        f"and at least {least[0]:.3f} beyond.",
        settings=tuple(setting.id for setting in experiments(n, ALPHAS)),
        power=comparison.power(" in a difference"),
        trend=f"The difference in test error at alpha = {most.alpha:g}, below the threshold, is {most.mean:.3f} ± "
        f"{most.error:.3f} at n = {n} and in theory {most.predicted:.3f}, and {most.stays:.4f} at n = 10¹².",
    )


def _figure(n: int, errors: np.ndarray, predicted: Data) -> str:
    """Both errors of both settings over the theory's lines, and their difference at this n and a large one."""
    fine = predicted["fine"]
    with _style.figure(3, width=2.85, height=2.8) as (fig, axes):
        for j, label in enumerate(paired.ERRORS.values()):
            for i, name in enumerate(NAMES):
                style = {"colour": _style.COLOURS[i], "label": name}
                paired.over_line(axes[j], ALPHAS, errors[i, j, 1:], fine, predicted["errors"][i, j], **style)
            axes[j].set_ylabel(label)
        style = {"colour": _style.COLOURS[2], "label": f"n = {n}"}
        paired.over_line(axes[2], ALPHAS, apart(errors)[0], fine, predicted["line"], **style)
        axes[2].plot(fine, predicted["far"], "--", color=_style.INK, label="theory, n = 10$^{12}$")
        axes[2].set_ylabel("difference in test error")
        for ax in axes:
            paired.step_axis(ax, THRESHOLD)
        low, high = axes[0].get_ylim()
        axes[0].set_ylim(low - 0.25 * (high - low), high)
        axes[0].legend(loc="lower left", fontsize=8, **paired.OPAQUE)
        axes[2].legend(loc="upper left", **paired.OPAQUE)
        return _style.svg(fig)


CLAIM = claim("moniri/settings", measure=measure, predict=predict, judge=judge)
