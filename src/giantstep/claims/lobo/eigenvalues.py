"""The kernel's eigenvalues before and after the step follow those of a spiked Gaussian law of the rows, spread by rho."""

from itertools import product
from typing import Any

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.lobo import experiment
from giantstep.claims.lobo.experiment import ACTIVATIONS, NUMBERS
from giantstep.claims.margins import Margins
from giantstep.plot import style as _style

SIZES = {"quick": (120, 6), "full": (300, 12)}  # d, seeds
ETA, RATIOS = 2.0, (1.0, 8.0)
LAW = "gaussian"
CASES = tuple(product(ACTIVATIONS, RATIOS))
MARGINS = Margins(level=4.0, granted=0.03, needed=0.1)  # of an eigenvalue
WHICH = ("radial before", "aligned before", "transverse before", "radial after", "aligned after", "transverse after")
MODES = len(NUMBERS) - 1  # without the angle


def measure(size: Size) -> Data:
    """Eigenvalues (cases, six, seeds)."""
    d, seeds = SIZES[size]
    runs = [(activation, d, ratio, (ETA,), LAW, seed) for activation, ratio in CASES for seed in range(seeds)]
    values = np.array(cache.each(experiment.measured, runs)).reshape(len(CASES), seeds, 2, -1)
    return {"values": _six(values)}


def predict(size: Size) -> Data:
    """The same given every seed's second layer and ||beta||, with rho and without it."""
    d, seeds = SIZES[size]
    settings = [experiment.setting(activation, d, ratio, (ETA,), LAW) for activation, ratio in CASES]
    every = {
        name: np.array([[experiment.predicted(s, seed, rho=keep) for seed in range(seeds)] for s in settings])
        for name, keep in (("values", True), ("unspread", False))
    }
    return {name: _six(values) for name, values in every.items()}


def _six(values: np.ndarray) -> np.ndarray:
    """(cases, seeds, 2, numbers) to (cases, six, seeds)."""
    return np.moveaxis(values[..., :MODES].reshape(*values.shape[:2], -1), 1, -1)


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds = SIZES[size]
    comparison = compare(measured["values"] / predicted["values"], 1.0, level=MARGINS.level, granted=MARGINS.granted)
    plain = compare(measured["values"] / predicted["unspread"], 1.0, level=MARGINS.level, granted=MARGINS.granted)
    mean, error = measured["values"].mean(-1), comparison.error * predicted["values"].mean(-1)
    rows: list[Any] = [
        (*CASES[i], WHICH[k], mean[i, k], error[i, k], predicted["values"][i, k].mean(), 100 * (comparison.mean[i, k] - 1),
         100 * (plain.mean[i, k] - 1))
        for i, k in np.ndindex(mean.shape)
    ]  # fmt: skip
    close = [case for case, (_, ratio) in enumerate(CASES) if ratio == min(RATIOS)]
    needs = bool(np.all(np.any(plain.missed[close], axis=1)))  # without rho some eigenvalue is missed where n = d
    worst, rival = max(rows, key=lambda r: abs(r[6])), max(rows, key=lambda r: abs(r[7]))
    return Verdict(
        outcome=decided(bool(np.any(comparison.missed)) or not needs, float(np.max(comparison.seen)), MARGINS.needed),
        sentence=f"{np.sum(~comparison.missed)} of {len(rows)} eigenvalues agree with the spread spiked law; the furthest is "
        f"{worst[6]:+.1f}% off ({worst[2]}, {worst[0]}, n/d = {worst[1]:g}). Without ρ {np.sum(plain.missed)} are missed, by "
        f"up to {rival[7]:+.0f}% ({rival[2]}, {rival[0]}, n/d = {rival[1]:g}).",
        header=tuple("activation|n/d|eigenvalue|measured|s.e.|predicted|gap in %|gap without ρ in %".split("|")),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, p = {experiment.WIDTH * d}, n/d = {', '.join(f'{r:g}' for r in RATIOS)}, η~ = {ETA:g}",
        figure=_figure(mean, error, predicted),
        caption="Eigenvalues of the kernel before (hollow) and after (filled) the step, one panel an activation and n/d: the "
        "aligned one rises by two orders of magnitude; lines are theory with ρ (full) and without (dashed), which part at n = d.",
        settings=tuple(experiment.setting(a, d, r, (ETA,), LAW).id for a, r in CASES),
        power=comparison.power("% of an eigenvalue", 100),
    )  # fmt: skip


def _figure(mean: np.ndarray, error: np.ndarray, predicted: Data) -> str:
    """A panel a case: radial, aligned and transverse eigenvalue, before and after."""
    at, lines = np.arange(MODES), {"values": "-", "unspread": (0, (3, 2))}
    with _style.figure(len(CASES), width=2.7, height=2.7) as (fig, axes):
        for ax, (activation, ratio), y, e, i in zip(axes, CASES, mean, error, range(len(CASES)), strict=True):
            for name, style in lines.items():
                label = "theory" if name == "values" else "without ρ"
                expected = predicted[name][i].mean(-1)
                for half in (expected[:MODES], expected[MODES:]):
                    ax.hlines(half, at - 0.3, at + 0.3, color=_style.INK, linestyle=style, linewidth=1.2, label=label)
                    label = None
            for k, fill in ((0, "white"), (MODES, _style.COLOURS[0])):
                name = "after the step" if k else "before it"
                part = slice(k, k + MODES)
                _style.dots(ax, at, y[part], e[part], color=_style.COLOURS[0], markerfacecolor=fill, label=name)
            ax.set(
                yscale="log",
                xlim=(-0.6, MODES - 0.4),
                ylim=(0.5 * np.min(mean), 2 * np.max(mean)),
                ylabel="eigenvalue" if i == 0 else "",
            )
            ax.set_xticks(at, ["radial", "aligned", "across u"])
            ax.set_title(f"{activation}, n/d = {ratio:g}", loc="left")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return _style.svg(fig)


CLAIM = claim("lobo/eigenvalues", measure=measure, predict=predict, judge=judge)
