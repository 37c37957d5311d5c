"""Double descent of random features: the test error against the width peaks at p = n, and its limit is known."""

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims import fit
from giantstep.claims.claim import claim
from giantstep.claims.margins import Margins
from giantstep.experiment import draw
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style

SIZES = {"quick": (150, 32), "full": (400, 100)}  # d, seeds
SAMPLES = 3  # n/d
WIDTHS = (0.1, 0.3, 0.6, 0.85, 1.0, 1.2, 2.0, 4.0)  # p/n
PENALTIES = (1e-5, 1e-3, 1e-1)  # in the paper's units: ours is p/d times as large
MARGINS = Margins(level=3.0, granted=0.02, needed=0.5)  # of a limit


def experiment(d: int, width: float) -> Setting:
    """The preset at n = 3d and p = width n; y = x1 + noise."""
    n = SAMPLES * d
    return gs.presets.mei_montanari(n, d, round(width * n), PENALTIES, noise=0.5)


def errors(d: int, seed: int) -> np.ndarray:
    """Test errors (widths, penalties): the networks are the first neurons of the widest."""
    widest = experiment(d, max(WIDTHS))
    W, _ = draw.weights(widest, seed)
    X, y, Xt, yt = fit.samples(widest, seed, 1000)
    F, Ft = np.maximum(X @ W.T, 0), np.maximum(Xt @ W.T, 0)
    losses = []
    for setting in (experiment(d, width) for width in WIDTHS):
        p, readout = setting.p, setting.protocol.readout
        fits = fit.path(F[:, :p], y, Ft[:, :p], readout.penalty)  # type: ignore[union-attr]
        losses.append(np.mean((yt - fits) ** 2, axis=1))
    return np.array(losses) + widest.target.noise**2


def measure(size: Size) -> Data:
    """Test errors (seeds, widths, penalties)."""
    d, seeds = SIZES[size]
    return {"errors": np.array(cache.each(errors, [(d, seed) for seed in range(seeds)], threads=True))}


def predict(size: Size) -> Data:
    """Test errors in the proportional limit, (widths, penalties), and on a fine grid of widths."""
    d, _ = SIZES[size]
    ratios = np.unique(np.concatenate([np.geomspace(0.08, 5, 70), np.linspace(0.9, 1.1, 21)]))
    return {
        "limits": np.array([gs.theory(experiment(d, width)).test_error for width in WIDTHS]),
        "ratios": ratios,
        "lines": np.array([gs.theory(experiment(10 * d, width)).test_error for width in ratios]),
    }


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds = SIZES[size]
    (mean, se), expected = mean_and_error(measured["errors"], axis=0), predicted["limits"]  # (widths, penalties)
    gap, distance = np.abs(mean / expected - 1), np.abs(mean - expected) / se
    misses = int(np.sum((gap > MARGINS.granted) & (distance > MARGINS.level)))
    apart = peak(measured["errors"][:, :, 0])
    sure = (
        apart > MARGINS.level
        and power.detectable(float(np.max(se / expected)), MARGINS.level, MARGINS.granted) < MARGINS.needed
    )
    far, at = np.unravel_index(int(np.argmax(distance)), distance.shape), WIDTHS.index(1.0)
    return Verdict(
        outcome="fails" if misses or apart < -MARGINS.level else ("holds" if sure else "inconclusive"),
        sentence=f"{mean.size - misses} of {mean.size} test errors lie within 3 s.e. or {100 * MARGINS.granted:g}% of "
        f"the limit; the "
        f"furthest is {distance[far]:.1f} s.e. or {100 * gap[far]:.1f}% away, at p/n = {WIDTHS[far[0]]:g}. At the smallest "
        f"penalty the error is {mean[at, 0]:.2f} ± {se[at, 0]:.2f} at p = n, above every other width by at least {apart:.1f} "
        f"s.e., and {mean[-1, 0]:.2f} at p = {WIDTHS[-1]:g}n.",
        header=("p/n", "λ of the paper", "test error", "s.e.", "limit", "gap in %", "gap in s.e."),
        rows=tuple(
            (r, PENALTIES[k], *map(float, (mean[i, k], se[i, k], expected[i, k], 100 * gap[i, k], distance[i, k])))
            for k in range(len(PENALTIES))
            for i, r in enumerate(WIDTHS)
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, n = {SAMPLES}d, p/n = {', '.join(f'{r:g}' for r in WIDTHS)}",
        figure=_figure(d, mean, se, predicted),
        caption=f"Test error against p/n for {len(PENALTIES)} penalties, dots over the lines of the limit. At the smallest "
        f"penalty it is {mean[0, 0]:.2f} at p = {WIDTHS[0]:g}n, {mean[at, 0]:.1f} at p = n and {mean[-1, 0]:.2f} at p = "
        f"{WIDTHS[-1]:g}n; at the largest penalty {mean[at, -1]:.2f} at p = n.",
        power=power.stated(
            (se / expected).ravel(), MARGINS.level, MARGINS.granted, "% of a limit", scale=100, seeds=seeds
        ),
        settings=tuple(experiment(d, r).id for r in WIDTHS),
    )


def peak(errors: np.ndarray) -> float:
    """By how many standard errors that at p = n exceeds the next largest one, on the same draws; errors (seeds, widths)."""
    mean, se = mean_and_error(errors[:, [WIDTHS.index(1.0)]] - np.delete(errors, WIDTHS.index(1.0), axis=1), axis=0)
    return float(np.min(mean / se))


def _figure(d: int, mean: np.ndarray, se: np.ndarray, predicted: Data) -> str:
    with style.figure() as (fig, ax):
        for k, penalty in enumerate(PENALTIES):
            colour = style.COLOURS[k]
            ax.plot(predicted["ratios"], predicted["lines"][:, k], color=colour)
            style.dots(ax, WIDTHS, mean[:, k], se[:, k], color=colour, label=f"λ = $10^{{{np.log10(penalty):.0f}}}$")
        ax.plot([], [], color=style.INK, label="limit")
        ax.axvline(1, color=style.INK, linewidth=0.8, linestyle=":")
        ax.set(xscale="log", yscale="log", xlabel="neurons per sample p/n", ylabel="test error")
        ax.set_xticks([0.1, 0.25, 0.5, 1, 2, 4], ["0.1", "0.25", "0.5", "1", "2", "4"])
        ax.set_yticks([0.5, 1, 2, 5, 10], ["0.5", "1", "2", "5", "10"])
        ax.minorticks_off()
        ax.set_title(f"y = x₁ + noise, ReLU, d = {d}, n = {SAMPLES}d", loc="left")
        ax.legend()
        return style.svg(fig)


CLAIM = claim("mei_montanari/double-descent", measure=measure, predict=predict, judge=judge)
