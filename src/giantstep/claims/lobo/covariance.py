"""The first layer after the step: a spiked covariance, its bulk spread by rho; without rho the bulk is missed where n ~ d."""

from itertools import product
from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.lobo import experiment
from giantstep.claims.margins import Margins
from giantstep.experiment.setting import Setting
from giantstep.plot import style as _style
from giantstep.simulate import train
from giantstep.systems.function_space.simulate import covariance, direction

SIZES = {"quick": (160, 6), "full": (400, 12)}  # d, seeds
ACTIVATIONS, RATIOS, ETA = ("relu", "tanh"), (1.0, 8.0), 1.5
CASES = tuple(product(ACTIVATIONS, RATIOS))
NAMES = ("spread", "top", "overlap", "edge")
SAID = {"top": "top eigenvalue", "overlap": "cos² with u", "spread": "variance across u", "edge": "edge of the bulk"}
MARGINS = Margins(level=4.0, granted=0.03, needed=0.1)  # of a predicted number


def setting(activation: str, d: int, ratio: float) -> Setting:
    return experiment.setting(activation, d, ratio, (ETA,), "gaussian")


def layer(activation: str, d: int, ratio: float, seed: int) -> dict[str, Any]:
    """What is measured of d W^T W/p, and its eigenvalues."""
    case = setting(activation, d, ratio)
    (W,), beta = train(case, seed).final, direction(case, seed)
    law = covariance(W, beta / float(sum(beta**2)) ** 0.5)
    values = gs.measure.spectrum(W * (d / len(W)) ** 0.5).values ** 2
    return {"numbers": [law[name] for name in NAMES], "values": values if seed == 0 else None}


def measure(size: Size) -> Data:
    """The numbers (cases, names, seeds), and the first seed's eigenvalues."""
    d, seeds = SIZES[size]
    runs = cache.each(layer, [(a, d, ratio, seed) for a, ratio in CASES for seed in range(seeds)])
    numbers = np.array([run["numbers"] for run in runs]).reshape(len(CASES), seeds, len(NAMES))
    return {"numbers": np.moveaxis(numbers, 1, -1), "values": [run["values"] for run in runs[::seeds]]}


def predict(size: Size) -> Data:
    """The same given every seed's second layer and ||beta||, with rho and without it."""
    d, seeds = SIZES[size]
    numbers = {name: np.zeros((len(CASES), len(NAMES), seeds)) for name in ("numbers", "unspread")}
    for (i, (a, ratio)), seed in product(enumerate(CASES), range(seeds)):
        for name, keep in (("numbers", True), ("unspread", False)):
            numbers[name][i, :, seed] = experiment.layer(setting(a, d, ratio), seed, rho=keep)
    return numbers


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds = SIZES[size]
    comparison, plain = (
        compare(measured["numbers"] / predicted[name], 1.0, level=MARGINS.level, granted=MARGINS.granted)
        for name in ("numbers", "unspread")
    )
    close = [i for i, (_, ratio) in enumerate(CASES) if ratio == min(RATIOS)]
    judged = np.ones(comparison.mean.shape, bool)
    judged[close, NAMES.index("edge")] = False  # the gradient's noise is not white there
    mean = measured["numbers"].mean(-1)
    rows: list[Any] = [
        (*CASES[i], SAID[NAMES[k]], mean[i, k], comparison.error[i, k] * mean[i, k], predicted["numbers"][i, k].mean(),
         100 * (comparison.mean[i, k] - 1), 100 * (plain.mean[i, k] - 1), "yes" if judged[i, k] else "no")
        for i, k in np.ndindex(mean.shape)
    ]  # fmt: skip
    needs = bool(np.all(plain.missed[close, 0]))
    worst = max((r for r in rows if r[8] == "yes"), key=lambda r: abs(r[6]))
    beyond = ", ".join(
        f"{a} {y:.3f} ± {e:.3f} against {x:.3f} ({gap:+.0f}%)"
        for a, _, _, y, e, x, gap, _, looked in rows
        if looked == "no"
    )
    short = ", ".join(f"{100 * (plain.mean[i, 0] - 1):+.0f}% for {CASES[i][0]}" for i in close)
    wrong = bool(np.any(comparison.missed[judged])) or not needs
    return Verdict(
        outcome=decided(wrong, float(np.max(comparison.seen[judged])), MARGINS.needed),
        sentence=f"{np.sum(~comparison.missed[judged])} of {judged.sum()} numbers follow [(1 + ρ)I + d s²uuᵀ]/d, the furthest "
        f"{worst[6]:+.1f}% off ({worst[2]}, {worst[0]}, n/d = {worst[1]:g}). Without ρ the variance of the bulk is missed at "
        f"n = d: {short}. Not judged are the edges at n = d, where the noise of the gradient is not white and the bulk reaches "
        f"further: {beyond}.",
        header=tuple("activation|n/d|number|measured|s.e.|predicted|gap in %|gap without ρ in %|judged".split("|")),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, p = {experiment.WIDTH * d}, n/d = {', '.join(f'{r:g}' for r in RATIOS)}, η~ = {ETA:g}",
        figure=_figure(measured, predicted),
        caption="Histograms of the bulk of d WᵀW/p of the first seed, a panel an activation and n/d, with the predicted edge "
        "with ρ (full line) and without (dashed): at n = 8d both are near; at n = d the bulk passes both. "
        f"The top eigenvalue lies far outside, at {mean[0, 1]:.0f} for ReLU at n = d.",
        settings=tuple(setting(a, d, r).id for a, r in CASES),
        power=comparison[judged].power("% of a number", 100),
    )  # fmt: skip


def _figure(measured: Data, predicted: Data) -> str:
    k = NAMES.index("edge")
    with _style.figure(len(CASES), width=2.4, height=2.5) as (fig, axes):
        for i, (ax, (activation, ratio)) in enumerate(zip(axes, CASES, strict=True)):
            bulk = measured["values"][i][1:]
            ax.hist(bulk, bins=24, density=True, color=_style.COLOURS[0], alpha=0.55, linewidth=0, label="first seed")
            for name, style, label in (("numbers", "-", "edge, theory"), ("unspread", (0, (3, 2)), "without ρ")):
                ax.axvline(
                    predicted[name][i, k].mean(), 0, 0.84, color=_style.INK, linestyle=style, linewidth=1.1, label=label
                )
            top = measured["numbers"][i, NAMES.index("top")].mean()
            ax.annotate(f"top: {top:.1f} →", (1.0, 0.94), xycoords="axes fraction", ha="right", color=_style.COLOURS[1])
            ax.set_ylim(0, 1.3 * ax.get_ylim()[1])
            ax.set(xlabel="eigenvalue of $d\\,W^TW/p$", ylabel="density" if i == 0 else "")
            ax.set_title(f"{activation}, n/d = {ratio:g}", loc="left")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return _style.svg(fig)


CLAIM = claim("lobo/covariance", measure=measure, predict=predict, judge=judge)
