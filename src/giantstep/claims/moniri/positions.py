"""Where the outliers lie and along what, step size by step size."""

from itertools import product
from typing import Any

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import Compared, compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.moniri import predicted as spectra
from giantstep.claims.moniri import talk
from giantstep.experiment.setting import Setting
from giantstep.plot import style as _style

ALL = (("target", "rank1"), ("target", "gradient"), ("full", "rank1"), ("full", "gradient"))  # residual and update
VARIANTS = {"quick": (*ALL[:2], ALL[3]), "full": ALL}
KEPT = {"target": "$y$", "full": "$y - f_0$"}
UPDATES = {"rank1": "rank-one update", "gradient": "true gradient"}
SIZES = {"quick": (800, 5), "full": (1600, 8)}
ALPHAS = {"quick": (0.2, 0.3, 0.37, 0.45), "full": (0.1, 0.2, 0.25, 0.3, 0.33, 0.37, 0.41, 0.45)}
BETWEEN = (0.25, 0.335, 0.35, 0.41)  # predicted for the lines alone
ALLOWED = 0.02  # of a position, or absolute for a cos^2: terms of relative order 1/sqrt(p)
SURE = 4.0  # standard errors: 36 comparisons, with few seeds
NEEDED = 0.3  # of a position or a cos^2: a departure that must be seen


def experiment(n: int, alphas: tuple[float, ...], residual: str, update: str) -> Setting:
    """One variant at the step sizes n^alpha."""
    return spectra.experiment(n, tuple(float(n**a) for a in alphas), residual=residual, update=update)


def grid(size: Size) -> tuple[float, ...]:
    """Where the lines are predicted."""
    return tuple(sorted({*ALPHAS[size], *BETWEEN}))


def leading(n: int, alphas: tuple[float, ...], residual: str, update: str, seed: int) -> np.ndarray:
    return spectra.leading(experiment(n, alphas, residual, update), seed)


def measure(size: Size) -> Data:
    """Position and cos^2 of the two largest singular values, (variants, step sizes, spikes, 2, seeds)."""
    n, seeds = SIZES[size]
    runs = cache.each(leading, [(n, ALPHAS[size], *v, seed) for v in VARIANTS[size] for seed in range(seeds)])
    shape = (len(VARIANTS[size]), seeds, len(ALPHAS[size]), 2, 2)
    return {"leading": np.moveaxis(np.reshape(runs, shape), 1, -1)}


def predict(size: Size) -> Data:
    """The same along the grid, NaN where no outlier is predicted to show: (variants, grid, spikes, 2)."""
    return {"lines": np.array([spectra.places(experiment(SIZES[size][0], grid(size), *v)) for v in VARIANTS[size]])}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (n, seeds), alphas = SIZES[size], ALPHAS[size]
    expected = predicted["lines"][:, np.isin(grid(size), alphas)]
    by = np.stack([expected[..., 0], np.ones(expected.shape[:-1])], axis=-1)  # positions are judged as shares
    every = compare(measured["leading"] / by[..., None], expected / by, level=SURE, granted=ALLOWED)
    shown = np.isfinite(expected[..., 0])
    comparison, (places, cosines) = every[shown], (every[..., k][shown] for k in (0, 1))
    scale = by[shown][:, 0]
    numbers = (scale * places.mean, scale * places.error, scale, 100 * (places.mean - 1))
    columns = (*numbers, cosines.mean, cosines.error, cosines.predicted)
    rows: list[Any] = [
        (*VARIANTS[size][v], alphas[i], int(k) + 1, *(float(x[row]) for x in columns))
        for row, (v, i, k) in enumerate(np.argwhere(shown))
    ]
    furthest = [max((r for r in rows if r[3] == k), key=lambda r: abs(r[7])) for k in sorted({r[3] for r in rows})]
    words = "; ".join(
        f"of spike {k} {y:.3f} ± {e:.3f} against {x:.3f} ({gap:+.1f}%; {UPDATES[update]}, residual {residual}, alpha = {alpha:g})"
        for residual, update, alpha, k, y, e, x, gap, *_ in furthest
    )
    off = float(np.max(np.abs(cosines.mean - cosines.predicted), initial=0.0))
    enough = NEEDED if len(furthest) == 2 else 0.0  # both spikes must be there
    return Verdict(
        outcome=decided(bool(np.any(comparison.missed)), float(np.max(comparison.seen, initial=0.0)), enough),
        sentence=f"{np.sum(~comparison.missed)} of {comparison.mean.size} positions and cos² agree with the prediction within "
        f"{SURE:g} s.e. or {ALLOWED:.0%}. The furthest position {words}; the largest difference of a cos² is {off:.3f}.",
        header=tuple("residual|update|alpha|spike|position|s.e.|predicted|gap in %|cos²|s.e. |predicted ".split("|")),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}; centred ReLU",
        figure=_figure(size, every, by, shown, predicted["lines"]),
        caption="Positions of the first two outliers (above) and cos² with their powers of Xβ (below) against alpha, a column a "
        "variant of the step: all dots lie on the predicted rising lines. The furthest position " + words + ".",
        settings=tuple(experiment(n, alphas, *variant).id for variant in VARIANTS[size]),
        power=f"Positions: {places.power('%', 100)} cos²: {cosines.power()}",
    )


def _figure(size: Size, every: Compared, by: np.ndarray, shown: np.ndarray, lines: np.ndarray) -> str:
    """Positions above, cos^2 below, a column a variant: dots over predicted lines."""
    at, labels = np.array(ALPHAS[size]), (r"spike 1, along $g = X\beta$", "spike 2, along $g^2$ beyond $g$")
    with _style.figure(len(VARIANTS[size]), 2, width=2.6, height=2.0) as (fig, axes):
        axes = axes.reshape(2, -1)
        for v, (residual, update) in enumerate(VARIANTS[size]):
            for (row, ax), k in product(enumerate(axes[:, v]), (0, 1)):
                known, style = shown[v, :, k], {"color": _style.COLOURS[k]}
                mean, error = ((x * by)[v, known, k, row] for x in (every.mean, every.error))
                ax.plot(grid(size), lines[v, :, k, row], **style)
                _style.dots(ax, at[known], mean, error, label=labels[k], **style)
            axes[0, v].set_title(f"{UPDATES[update]}, residual {KEPT[residual]}", loc="left", fontsize=9)
            axes[1, v].set(xlabel="exponent α of the step size", ylim=(0.5, 1.03))
        for ax in axes[0]:
            ax.set_ylim(0, max(each.get_ylim()[1] for each in axes[0]))
        axes[0, 0].set_ylabel("singular value of F/√n")
        axes[1, 0].set_ylabel("cos²")
        axes[0, 0].plot([], [], color=_style.INK, label="predicted")
        fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return _style.svg(fig)


CLAIM = claim("moniri/positions", measure=measure, predict=predict, judge=judge)
