"""One giant step beats ridge regression on the inputs, random features and the kernel; a step of order one does not."""

import numpy as np

from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.ba import rivals
from giantstep.claims.ba.rivals import METHODS
from giantstep.claims.claim import claim
from giantstep.claims.margins import Margins
from giantstep.measure import mean_and_error
from giantstep.plot import style as _style

SIZES = {"quick": (160, 14), "full": (400, 20)}  # d, seeds
RATIOS = (1.0, 2.0, 4.0, 8.0)  # n/d
BETWEEN = (1.25, 1.6, 2.5, 3.2, 5.0, 6.3)  # where the lines are predicted besides
MARGINS = Margins(level=3.0, granted=0.05, needed=0.25)  # of a predicted error


def measure(size: Size) -> Data:
    """Test errors (n/d, seeds, methods), and the penalties, (n/d, methods), where theory says that they are least."""
    d, seeds = SIZES[size]
    penalties = [rivals.least(d, r)[1] for r in RATIOS]
    jobs = [(d, r, at, seed) for r, at in zip(RATIOS, penalties, strict=True) for seed in range(seeds)]
    errors = np.array(cache.each(rivals.errors, jobs))
    return {"errors": errors.reshape(len(RATIOS), seeds, -1), "penalties": np.array(penalties)}


def predict(size: Size) -> Data:
    """Least test errors (n/d, methods), those along the lines, and that of the best linear predictor."""
    d, _ = SIZES[size]
    fine = sorted({*RATIOS, *BETWEEN})
    return {
        "errors": np.array([rivals.least(d, r)[0] for r in RATIOS]),
        "ratios": fine,
        "lines": np.array([rivals.least(d, r)[0] for r in fine]),
        "linear": rivals.floor(),
    }


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds = SIZES[size]
    errors, expected, linear = measured["errors"], predicted["errors"], predicted["linear"]
    mean, se = mean_and_error(errors, axis=1)
    misses = int(np.sum(np.abs(mean - expected) > np.maximum(MARGINS.level * se, MARGINS.granted * expected)))
    # Paired: all methods see the same samples
    gain, gain_se = mean_and_error(errors[:, :, 2:] - errors[:, :, :1], axis=1)
    ahead, above = float(np.min(gain / gain_se)), float(np.min((mean[:, 1] - linear) / se[:, 1]))
    sure = (
        ahead > MARGINS.level
        and power.detectable(float(np.max(se / expected)), MARGINS.level, MARGINS.granted) < MARGINS.needed
    )
    last = dict(zip(METHODS, mean[-1], strict=True))
    versus = (
        f"{last['ridge on the inputs']:.3f} for ridge on the inputs, {last['random features']:.3f} for random features and "
        f"{last['kernel']:.3f} for the kernel"
    )
    return Verdict(
        outcome="fails"
        if misses or ahead < -MARGINS.level or above < -MARGINS.level
        else ("holds" if sure else "inconclusive"),
        sentence=f"The giant step (η = √p) is ahead of all three rivals by at least {ahead:.1f} s.e. at every n/d; at n = "
        f"{RATIOS[-1]:g}d its test error is {last['giant step']:.3f}, against {versus}. The step of order one (η = "
        f"{rivals.SMALL:g}) has {last['small step']:.3f} there, and the best linear predictor {linear:.3f}. {misses} of "
        f"{mean.size} test errors miss the theory by more than 3 s.e. and {100 * MARGINS.granted:g}%.",
        header=("n/d", "method", "best penalty", "test error", "s.e.", "predicted", "gap in %"),
        rows=tuple(
            (r, m, *map(float, (measured["penalties"][i, k], mean[i, k], se[i, k], t, 100 * (t / mean[i, k] - 1))))
            for i, r in enumerate(RATIOS)
            for k, (m, t) in enumerate(zip(METHODS, expected[i], strict=True))
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, p = {rivals.WIDTH}d, n/d = {', '.join(f'{r:g}' for r in RATIOS)}",
        figure=_figure(d, mean, se, predicted),
        caption=f"Test error at the best penalty against n/d for the five methods, dots over predicted lines. The giant step "
        f"reaches {last['giant step']:.2f} at n = {RATIOS[-1]:g}d, against {versus}; the step of order one "
        f"stays above the dotted line of the best linear predictor, {linear:.2f}.",
        power=power.stated(
            (se / expected).ravel(), MARGINS.level, MARGINS.granted, "% of a predicted error", scale=100, seeds=seeds
        ),
        settings=tuple(
            rivals.experiment(d, r, at[:3].tolist()).id for r, at in zip(RATIOS, measured["penalties"], strict=True)
        ),
    )


def _figure(d: int, mean: np.ndarray, se: np.ndarray, predicted: Data) -> str:
    labels = ("one step, η = √p", f"one step, η = {rivals.SMALL:g}", *METHODS[2:])
    with _style.figure(width=5.4) as (fig, ax):
        for i, (m, label) in enumerate(zip(METHODS, labels, strict=True)):
            colour, thin = _style.COLOURS[(1, 4, 3, 0, 2)[i]], m == "kernel"
            style = {"linestyle": (0, (4, 3)), "linewidth": 2} if thin else {}
            ax.plot(predicted["ratios"], predicted["lines"][:, i], color=colour, **style)
            hollow = {"markerfacecolor": "white", "markersize": 3} if thin else {}
            _style.dots(ax, RATIOS, mean[:, i], se[:, i], color=colour, label=label, zorder=4 if thin else 3, **hollow)
        ax.axhline(predicted["linear"], color=_style.INK, linewidth=0.8, linestyle=":", label="best linear predictor")
        ax.plot([], [], color=_style.INK, label="theory")
        ax.set(xscale="log", xlabel="samples per dimension n/d", ylabel="test error at the best penalty")
        ax.set_xticks(RATIOS, [f"{r:g}" for r in RATIOS])
        ax.minorticks_off()
        ax.set_title(rf"$y = x_1 + H_2(x_1)/\sqrt{{2}}$ + noise, d = {d}, p = {rivals.WIDTH * d}", loc="left")
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return _style.svg(fig)


CLAIM = claim("ba/baselines", measure=measure, predict=predict, judge=judge)
