"""What is left of the gradient once its rank-one part is taken away, against the batch size."""

import numpy as np
from matplotlib.ticker import LogLocator

import giantstep as gs
from giantstep.checks import cache
from giantstep.checks.claim import Data, Size
from giantstep.checks.compared import Compared, compare
from giantstep.claims.moniri import talk
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.simulate import train

SIZES = {"quick": ((400, 800, 1600, 2400), 5), "full": ((400, 800, 1600, 3200, 6400), 12)}
GRANTED = 0.15  # of a slope, to logarithms and corrections of order 1/n
TOLD = 0.25  # from n^-1/2 a decay like n^-1/4 must be told, or nothing is decided


def remainders(n: int, seed: int, residual: str) -> tuple[float, float, float]:
    """||G - c_1 a beta^T||, ||G - c_1 a beta_eff^T|| and ||G|| with beta = X^T y/n, beta_eff = X^T (y - f_0(X))/n."""
    setting = talk.experiment(n, 0.0, talk.setting_1(), residual=residual)
    layers = train(setting, seed)
    W, a, G = layers.initial, layers.second_layer, np.asarray(layers.descent)
    X, y = draw.rows(setting, seed, draw.step_batches(setting)[0])
    sigma, scale = setting.network.activation, setting.network.factor
    c1 = sigma.hermite(1)[1]
    effective = y - scale * sigma(X @ W.T) @ a if residual == "full" else y
    norms = [gs.measure.operator_norm(G - c1 * scale * a[:, None] * (X.T @ r / n)) for r in (y, effective)]
    return norms[0], norms[1], gs.measure.operator_norm(G)


def measure(size: Size, residual: str) -> Data:
    """The three norms for every batch size and seed, (sizes, seeds, 3)."""
    sizes, seeds = SIZES[size]
    runs = cache.each(remainders, [(n, seed, residual) for n in sizes for seed in range(seeds)])
    return {"norms": np.reshape(runs, (len(sizes), seeds, 3))}


def predict(size: Size) -> Data:
    """The theorem's rate n^-1/2, whatever the size."""
    return {"rate": -0.5}


def rate(sizes: tuple[int, ...], norms: np.ndarray, expected: float) -> Compared:
    """Slope of log norm in log n, one line a seed, beside the expected one.

    A norm that is to decay is divided by sqrt(log n) first: the remainder's largest rows have |a_i| of that order, the logarithm
    that the theorem's rate leaves open.
    """
    front = np.sqrt(np.log(sizes)) if expected else 1.0
    each = [np.polyfit(np.log(sizes), np.log(column / front), 1)[0] for column in norms.T]
    return compare(each, expected, granted=GRANTED)


def draw_decay(sizes: tuple[int, ...], curves: list[tuple[str, np.ndarray]], limit: float | None = None) -> str:
    """Norms against n with error bars, a guide through the last of them, and a predicted limit as a line."""
    with style.figure() as (fig, ax):
        mean = np.ones(len(sizes))
        for i, (label, norms) in enumerate(curves):
            mean, error = mean_and_error(norms)
            style.dots(ax, sizes, mean, error, label=label, color=style.COLOURS[i])
        rate = np.sqrt(np.log(sizes) / np.array(sizes))
        guide = rate * np.exp(np.mean(np.log(mean / rate)))
        ax.plot(sizes, guide, "--", color=style.INK, linewidth=0.9, label=r"guide $\propto (\log n/n)^{1/2}$")
        if limit is not None:
            ax.axhline(limit, color=style.COLOURS[0], label="predicted limit")
        ax.set(xscale="log", yscale="log", xlabel="batch size n", ylabel="operator norm of the remainder")
        ax.set_xticks(sizes, [str(n) for n in sizes])
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 4, 6, 8)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
        ax.margins(x=0.08)
        if limit is not None:  # room between the two sets of dots
            ax.legend(loc="center right", bbox_to_anchor=(1.0, 0.68))
        else:
            ax.legend()
        return style.svg(fig)
