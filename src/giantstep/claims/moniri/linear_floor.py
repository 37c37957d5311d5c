"""Random features do not beat the best linear predictor, however many samples, neurons or penalties."""

from itertools import product

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
from giantstep.plot import style

SIZES = {"quick": (150, 8), "full": (600, 20)}
SAMPLES = (2.0, 4.0, 8.0)
WIDTHS = (1.0, 4.0)
PENALTIES = (1e-4, 1e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 10.0)
SURE = 4.0  # standard errors, for the errors above the floor and those at their limits
NEAR = 0.05  # of an error, granted to finite sizes: of order n/d^2 of the quadratic part is learned
NEEDED = 0.5  # of the least error that only the quadratic part can lower: half of it learned must be seen


def floor(target: Target) -> float:
    """E f*^2 beyond degree one, plus the noise: the least error of a linear predictor."""
    return target.power - target.hermite.mass(0) - target.hermite.mass(1) + target.noise**2


def experiment(d: int, width: float, samples: float) -> Setting:
    network = gs.Network(int(width * d), "relu", centred=True)
    readout = gs.Ridge(int(samples * d), PENALTIES)
    return gs.Setting(gs.Gaussian(d), talk.setting_2(), network, gs.Protocol((), readout))


def measure(size: Size) -> Data:
    """Test errors, (widths and samples, penalties, seeds)."""
    d, seeds = SIZES[size]
    outcomes = [cache.simulate(experiment(d, *at), range(seeds), n_test=5000) for at in product(WIDTHS, SAMPLES)]
    return {"test_error": np.array([each.test_error for each in outcomes])}


def predict(size: Size) -> Data:
    """The floor, and the limits of the test errors, (widths and samples, penalties)."""
    limits = [gs.theory(experiment(SIZES[size][0], *at)).test_error for at in product(WIDTHS, SAMPLES)]
    return {"floor": floor(talk.setting_2()), "test_error": np.array(limits)}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds = SIZES[size]
    errors, least = measured["test_error"], predicted["floor"]
    rank = np.arange(len(errors)), np.argmin(errors.mean(axis=-1), axis=-1)  # the best penalty of every case
    limits = predicted["test_error"][rank]
    comparison = compare(errors[rank], limits, level=SURE, granted=NEAR * limits)
    below = comparison.mean + SURE * comparison.error < least
    columns = (
        comparison.mean,
        comparison.error,
        (comparison.mean - least) / comparison.error,
        comparison.predicted,
        comparison.distance,
    )
    rows = [
        (samples, width, PENALTIES[rank[1][i]], *(float(x[i]) for x in columns))
        for i, (width, samples) in enumerate(product(WIDTHS, SAMPLES))
    ]
    closest = min(rows, key=lambda r: r[3])
    lowest = f"{closest[3]:.3f} ± {closest[4]:.3f} (n = {closest[0]:g}d, p = {closest[1]:g}d)"
    return Verdict(
        outcome=decided(bool(np.any(below | comparison.missed)), float(np.max(comparison.seen)), NEEDED * least),
        sentence=f"The lowest test error at the best of {len(PENALTIES)} penalties is {lowest}; the linear floor is "
        f"{least:.3f}. {np.sum(below)} of {len(rows)} cases lie below it by {SURE:g} s.e., and {np.sum(~comparison.missed)} "
        "agree with the limit of random features that learn the linear part alone, the furthest "
        f"{max((r[7] for r in rows), key=abs):+.1f} s.e. away.",
        header=(
            "n/d",
            "p/d",
            "best penalty",
            "test error",
            "s.e.",
            "above the floor, s.e.",
            "limit",
            "distance in s.e.",
        ),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}",
        figure=_figure(comparison, least),
        caption="Test error of random features at the best penalty against n/d for p = d and p = 4d, dots over the "
        f"limit's lines: it falls with n and p, to {lowest}, and stays above the linear floor {least:.3f}.",
        settings=tuple(experiment(d, *at).id for at in product(WIDTHS, SAMPLES)),
        power=comparison.power(" in a test error"),
    )


def _figure(comparison: Compared, least: float) -> str:
    mean, error, limits = (
        x.reshape(len(WIDTHS), -1) for x in (comparison.mean, comparison.error, comparison.predicted)
    )
    with style.figure() as (fig, ax):
        for i, width in enumerate(WIDTHS):
            label = f"random features, p = {width:g}d".replace("= 1d", "= d")
            ax.plot(SAMPLES, limits[i], color=style.COLOURS[i])
            style.dots(ax, SAMPLES, mean[i], error[i], label=label, color=style.COLOURS[i])
        ax.axhline(least, color=style.INK, linestyle="--", label="linear floor")
        ax.set(xscale="log", xlabel="samples per dimension n/d", ylabel="test error at the best penalty")
        ax.set_xticks(SAMPLES, [f"{r:g}" for r in SAMPLES])
        ax.minorticks_off()
        ax.set_ylim(0, None)
        ax.plot([], [], color=style.INK, label="limit")
        ax.legend()
        return style.svg(fig)


CLAIM = claim("moniri/linear-floor", measure=measure, predict=predict, judge=judge)
