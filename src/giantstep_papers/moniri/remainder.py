"""What is left of the gradient once its rank-one part is subtracted, against the batch size."""

import numpy as np
from scipy.special import ndtr

import giantstep as gs
from giantstep.checks import Data, Size, cache, statistics
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.simulate import train
from giantstep_papers.moniri import talk
from giantstep_papers.shared.controls import controlled

SIZES = {"quick": (75, 150, 300, 600), "full": (400, 800, 1600, 3200)}
RATE = -0.5  # the exponent of n of a sum of independent terms
# direction and residual
ARMS = ("Xᵀy, gradient of y − f₀", "Xᵀ(y − f₀), gradient of y − f₀", "Xᵀy, gradient of y")


def experiment(n: int, residual: str) -> gs.Setting:
    return talk.experiment(n, 0.0, talk.setting_1(), residual=residual)


def remainders(n: int, residual: str, seed: int) -> list[float]:
    """||G - c_1 a beta^T|| for the arms of a residual, c_1 |a| |beta| for the same, and three more.

    They are max |a_i|, and |a|^2/p and |W^T a|^2/p less their expectation 1.
    """
    setting = experiment(n, residual)
    layers = train(setting, seed, dtype="float32")
    arrays = layers.initial, layers.second_layer, layers.descent
    W, a, G = (np.asarray(x, dtype=float) for x in arrays)
    X, y = draw.rows(setting, seed, draw.step_batches(setting)[0])
    sigma, scale = setting.network.activation, setting.network.factor
    labels = [y, y - scale * np.asarray(sigma(X @ W.T)) @ a] if residual == "full" else [y]
    first = sigma.hermite(1)[1] * scale
    betas = [X.T @ r / n for r in labels]
    found = [gs.measure.operator_norm(G - first * np.outer(a, beta)) for beta in betas]
    found += [abs(first) * np.linalg.norm(a) * np.linalg.norm(beta) for beta in betas]
    controls = [np.max(np.abs(a)), np.mean(a**2) - 1, np.sum((W.T @ a) ** 2) / len(a) - 1]
    return [float(x) for x in (*found, *controls)]


def measure(size: Size, seeds: range, residuals: tuple[str, ...] = ("full", "target")) -> Data:
    """The norms of what is left and of the rank-one part, (sizes, arms, seeds).

    Also max |a_i|, (sizes, seeds), and two controls, (sizes, 2, seeds).
    """
    # by residual, so that two claims with one residual measure it once
    each = [[(n, residual) for n in SIZES[size]] for residual in residuals]
    found = [cache.over(remainders, cases, seeds) for cases in each]
    halves = [np.split(one[:, :-3], 2, axis=1) for one in found]
    norms, parts = (np.concatenate(each, axis=1) for each in zip(*halves, strict=True))
    largest, controls = found[0][:, -3], found[0][:, -2:]
    return {"norms": norms, "parts": parts, "largest": largest, "controls": controls}


def exponents(size: Size, measured: Data, arms: list[int], decaying: bool = True) -> np.ndarray:
    """Exponents of n of the norms of some arms, (arms, seeds).

    A norm that decays is divided by sqrt(log n), since the largest row of the remainder has |a_i|
    of that order.
    """
    sizes = SIZES[size]
    front = np.sqrt(np.log(sizes))[:, None, None] if decaying else 1.0
    return _steadied(size, measured, measured["norms"][:, arms] / front)


def relative(measured: Data) -> np.ndarray:
    """What is left over the rank-one part, (sizes, arms, seeds)."""
    return measured["norms"] / measured["parts"]


def relative_exponents(size: Size, measured: Data, arms: list[int]) -> np.ndarray:
    """Exponents of n of the relative remainder of some arms, (arms, seeds)."""
    return _steadied(size, measured, relative(measured)[:, arms])


def _steadied(size: Size, measured: Data, values: np.ndarray) -> np.ndarray:
    """Exponents of n of values (sizes, arms, seeds), with control variates.

    One is the exponent of max |a_i| less its expectation: the remainder is nearly proportional to
    max |a_i|. The others are |a| and |W^T a|, on which the initial output depends.
    """
    sizes, slopes = SIZES[size], statistics.exponent(SIZES[size], values)
    expected = np.array([log_largest(experiment(n, "full").p) for n in sizes])
    logs = np.log(measured["largest"]) - expected[:, None]
    largest = statistics.exponent(sizes, np.exp(logs))[None]
    ends = measured["controls"][[0, -1]].reshape(4, -1)
    return controlled(slopes, np.vstack([largest, ends]))


def log_largest(count: int) -> float:
    """E log max |a_i| of ``count`` standard Gaussian numbers.

    The distribution function of max |a_i| is (2 Phi(x) - 1)^count.
    """
    x = np.linspace(1e-3, 9.0, 20001)
    below = (2 * ndtr(x) - 1) ** count
    return float(np.sum(np.diff(below) * np.log((x[1:] + x[:-1]) / 2)))


def draw_decay(size: Size, norms: np.ndarray, arms: list[int], limit: float | None = None) -> str:
    """Norms (sizes, 3, seeds) against n with error bars, and a predicted limit as a line.

    A guide lies below each norm that decays.
    """
    from matplotlib.ticker import LogLocator  # here, as all of matplotlib: it is slow to import

    sizes = np.array(SIZES[size])
    names = (
        r"along $X^\top\! y$, residual $y - f_0$",
        r"along $X^\top\!(y - f_0)$, residual $y - f_0$",
        r"along $X^\top\! y$, residual $y$",
    )
    with style.figure(width=4.8, height=3.4) as (fig, ax):
        for i in arms:
            mean, error = mean_and_error(norms[:, i])
            look = {"color": style.COLOURS[i], "marker": "osD"[i]}
            style.dots(ax, sizes, mean, error, label=names[i], **look)
            if i:
                rate = np.sqrt(np.log(sizes) / sizes)
                guide = rate * np.exp(np.mean(np.log(mean / rate)))
                ax.plot(sizes, guide, "--", color=style.COLOURS[i], linewidth=0.9)
        ax.plot([], [], "--", color=style.INK, linewidth=0.9, label=r"$\propto (\log n/n)^{1/2}$")
        if limit is not None:
            ax.axhline(limit, color=style.COLOURS[0], label="predicted limit")
        ax.set(xlabel="batch size n", ylabel="operator norm of the remainder")
        ticks.logarithmic(ax, "x", sizes)
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 4, 6)))
        ax.yaxis.set_major_formatter("{x:g}")
        ticks.logarithmic(ax)
        return style.svg(fig, below=2)
