"""The test error of one pass of SGD, averaged or not, at constant and falling rates, across p = n."""

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.liu import runs
from giantstep.claims.liu.runs import NOISE, WIDTHS
from giantstep.claims.margins import Margins
from giantstep.experiment.protocol import SGD
from giantstep.measure import mean_and_error
from giantstep.plot import style

SIZES = {"quick": (30, 150, 12), "full": (60, 600, 48)}  # d, n, seeds
DECAYS = (0.0, 0.25, 0.5)
CASES = (*((decay, True) for decay in DECAYS), (0.0, False), (0.5, False))
MARGINS = Margins(level=3.0, granted=0.03, needed=0.3)  # of an error


def readout(n: int, case: tuple[float, bool]) -> SGD:
    return gs.SGD(n, runs.rate(), decay=case[0], average=case[1])


def errors(d: int, n: int, seeds: tuple[int, ...]) -> np.ndarray:
    """Test errors (seeds, cases, widths)."""
    data = runs.features(d, n, seeds, runs.ACTIVATION)
    labels = data["signal"] + data["noise"]
    risks = [
        [runs.risks(data, round(width * n), readout(n, case), labels, data["truth"]) for width in WIDTHS]
        for case in CASES
    ]
    return np.moveaxis(np.array(risks), 2, 0) + NOISE**2


def measure(size: Size) -> Data:
    """Test errors (seeds, cases, widths)."""
    d, n, seeds = SIZES[size]
    return {"errors": np.concatenate(cache.each(errors, [(d, n, group) for group in runs.groups(seeds)]))}


def predict(size: Size) -> Data:
    """The same, given the first layer of every seed."""
    d, n, seeds = SIZES[size]
    errors_of = np.zeros((seeds, len(CASES), len(WIDTHS)))
    for k, i in np.ndindex(seeds, len(WIDTHS)):
        of = runs.moments(d, n, WIDTHS[i], k)
        errors_of[k, :, i] = [sum(runs.predicted(of, readout(n, case), n)) for case in CASES]
    return {"errors": errors_of + NOISE**2}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, n, seeds = SIZES[size]
    mean, se = mean_and_error(measured["errors"], axis=0)
    expected = predicted["errors"].mean(axis=0)
    apart, error = mean_and_error(
        measured["errors"] - predicted["errors"], axis=0
    )  # of every seed, given its first layer
    gap, distance = apart / expected, np.abs(apart) / error
    misses = int(np.sum((np.abs(gap) > MARGINS.granted) & (distance > MARGINS.level)))
    detectable = power.detectable(float(np.max(error / expected)), MARGINS.level, MARGINS.granted)
    worst = np.unravel_index(int(np.argmax(np.abs(gap))), gap.shape)
    at = WIDTHS.index(1.0)
    return Verdict(
        outcome=power.decided(misses > 0, detectable, MARGINS.needed),
        sentence=f"{gap.size - misses} of {gap.size} test errors lie within {MARGINS.level:g} s.e. or "
        f"{100 * MARGINS.granted:g}% of the theory; the "
        f"largest gap is {100 * gap[worst]:+.1f}% ({distance[worst]:.1f} s.e.), {_name(CASES[worst[0]])} at p/n = "
        f"{WIDTHS[worst[1]]:g}. At p = n and a constant rate the error is {mean[0, at]:.3f} averaged and "
        f"{mean[len(DECAYS), at]:.3f} at the last step (theory {expected[0, at]:.3f} and {expected[len(DECAYS), at]:.3f}).",
        header=("iterate", "decay", "p/n", "test error", "s.e.", "theory", "gap in %", "s.e. of the gap in %"),
        rows=tuple(
            (
                "averaged" if case[1] else "last",
                case[0],
                width,
                *map(
                    float, (mean[k, i], se[k, i], expected[k, i], 100 * gap[k, i], 100 * error[k, i] / expected[k, i])
                ),
            )
            for k, case in enumerate(CASES)
            for i, width in enumerate(WIDTHS)
        ),  # fmt: skip
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, n = {n}, one pass, rate {runs.rate():.3g}, p/n = {', '.join(f'{w:g}' for w in WIDTHS)}",
        figure=_figure(d, n, mean, se, expected),
        caption=f"Two panels, averaged and last iterates, show the test error against p/n for rates that fall as t to the 0, "
        f"-1/4 and -1/2: dots over the lines of the theory. At a constant rate it falls from {mean[0, 0]:.2f} to "
        f"{mean[0, -1]:.2f} averaged, and from {mean[len(DECAYS), 0]:.2f} to {mean[len(DECAYS), -1]:.2f} at the last step, "
        "without a peak at p = n.",
        power=power.stated(
            (error / expected).ravel(), MARGINS.level, MARGINS.granted, "% of an error", scale=100, seeds=seeds
        ),
        settings=tuple(runs.experiment(d, n, w).id for w in WIDTHS),
    )


def _name(case: tuple[float, bool]) -> str:
    return f"{'averaged' if case[1] else 'last iterate'}, decay {case[0]:g},"


def _figure(d: int, n: int, mean: np.ndarray, se: np.ndarray, expected: np.ndarray) -> str:
    with style.figure(2, width=3.6) as (fig, axes):
        for k, (decay, average) in enumerate(CASES):
            ax, colour = axes[0 if average else 1], style.COLOURS[DECAYS.index(decay)]
            ax.plot(WIDTHS, expected[k], color=colour)
            style.dots(
                ax, WIDTHS, mean[k], se[k], color=colour, label=f"rate ~ $t^{{-{decay:g}}}$" if decay else "constant"
            )
        for ax, title in zip(axes, ("averaged", "last iterate"), strict=True):
            ax.plot([], [], color=style.INK, label="theory")
            ax.axvline(1, color=style.INK, linewidth=0.8, linestyle=":")
            ax.set(xscale="log", xlabel="features per sample p/n", ylabel="test error")
            ax.set_xticks([0.1, 0.25, 0.5, 1, 3], ["0.1", "0.25", "0.5", "1", "3"])
            ax.minorticks_off()
            ax.set_title(f"{title}, d = {d}, n = {n}", loc="left")
        axes[0].legend()
        return style.svg(fig)


CLAIM = claim("liu/test-error", measure=measure, predict=predict, judge=judge)
