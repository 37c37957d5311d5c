"""The gradient is rank one up to O(n^-1/2), and the trap: along which direction."""

from math import sqrt
from typing import TYPE_CHECKING

import giantstep as gs
from giantstep.claims.moniri import talk
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    import numpy as np

SIZES = {"quick": ((400, 800, 1600, 2400), 5), "full": ((400, 800, 1600, 3200, 6400), 12)}
DECAYS = -0.35  # a slope below this is the n^-1/2 of the theorem
STAYS = -0.2  # a slope above this is no decay


def remainders(n: int, seed: int, residual: str) -> tuple[float, float, float]:
    """||G - c_1 a beta^T||, ||G - c_1 a beta_eff^T|| and ||G|| with beta = X^T y/n, beta_eff = X^T (y - f_0(X))/n."""
    from giantstep import draw, measure
    from giantstep.simulate import train

    setting = talk.experiment(n, 0.0, talk.setting_1(), residual=residual)
    found = train(setting, seed)
    W, a, G = found.initial, found.second_layer, found.descent
    X, y = draw.rows(setting, seed, draw.step_batches(setting)[0])
    sigma, scale = setting.network.activation, setting.network.factor
    c1 = sigma.hermite(1)[1]
    effective = y - scale * sigma(X @ W.T) @ a if residual == "full" else y
    norms = [measure.operator_norm(G - c1 * scale * a[:, None] * (X.T @ r / n)) for r in (y, effective)]
    return norms[0], norms[1], measure.operator_norm(G)


def measured(size: Size, residual: str) -> tuple[tuple[int, ...], int, "np.ndarray"]:
    """Batch sizes, number of seeds, and the three norms as an array (sizes, seeds, 3)."""
    import numpy as np

    sizes, seeds = SIZES[size]
    return sizes, seeds, np.array([[remainders(n, s, residual) for s in range(seeds)] for n in sizes])


def slope(sizes: tuple[int, ...], norms: "np.ndarray", *, logarithm: bool) -> tuple[float, float]:
    """Slope of log norm in log n, one line per seed: mean and standard error over seeds.

    With ``logarithm`` the norm is divided by sqrt(log n) first: the remainder's largest rows have |a_i| of that order,
    the logarithm that the theorem's rate leaves open.
    """
    import numpy as np

    from giantstep.measure import mean_and_error

    front = np.sqrt(np.log(sizes)) if logarithm else 1.0
    each = [np.polyfit(np.log(sizes), np.log(column / front), 1)[0] for column in norms.T]
    mean, error = mean_and_error(np.array(each))
    return float(mean), float(error)


def judge_decay(value: float, error: float) -> str:
    """holds / fails / inconclusive for "the slope is that of n^-1/2"."""
    if value + 3 * error < DECAYS:
        return "holds"
    return "fails" if value - 3 * error > DECAYS else "inconclusive"


def draw_decay(sizes: tuple[int, ...], curves: list[tuple[str, "np.ndarray"]], limit: float | None = None) -> str:
    """Norms against n with error bars, a guide through the last of them, and a predicted limit as a line."""
    import numpy as np
    from matplotlib.ticker import LogLocator

    from giantstep import plot
    from giantstep.measure import mean_and_error

    with plot.figure() as (fig, ax):
        for i, (label, norms) in enumerate(curves):
            mean, error = mean_and_error(norms)
            plot.dots(ax, sizes, mean, error, label=label, color=plot.COLOURS[i])
        rate = np.sqrt(np.log(sizes) / np.array(sizes))
        guide = rate * np.exp(np.mean(np.log(mean / rate)))
        ax.plot(sizes, guide, "--", color=plot.INK, linewidth=0.9, label=r"guide $\propto (\log n/n)^{1/2}$")
        if limit is not None:
            ax.axhline(limit, color=plot.COLOURS[0], label="predicted limit")
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
        return plot.svg(fig)


def run(size: Size) -> Verdict:
    from giantstep.measure import mean_and_error

    sizes, seeds, norms = measured(size, "target")
    value, error = slope(sizes, norms[:, :, 0], logarithm=True)
    mean, se = mean_and_error(norms, axis=1)
    rows = tuple((n, float(mean[i, 0]), float(se[i, 0]), float(mean[i, 2])) for i, n in enumerate(sizes))
    return Verdict(
        outcome=judge_decay(value, error),  # type: ignore[arg-type]
        sentence=f"The remainder decays as n^({value:.3f} ± {error:.3f}) √log n; the theorem's rate is n^-1/2 up to logarithms.",
        header=("n", "‖G − c₁aβᵀ‖", "s.e.", "‖G‖"),
        rows=rows,
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}",
        figure=draw_decay(sizes, [(r"$\|G - c_1 a\beta^\top\|$", norms[:, :, 0])]),
        settings=tuple(talk.experiment(n, 0.0, talk.setting_1()).id for n in sizes),
    )


def trap_limit() -> float:
    """c_1 sqrt(c_1^2 + phi (c_1^2 + c_{>1}^2)), phi = d/n: what is left along X^T y when the initial output is kept."""
    sigma = gs.activation("relu", centred=True)
    c1, phi = sigma.hermite(1)[1], 0.6
    return c1 * sqrt(c1**2 + phi * sigma.mean_square)


def run_trap(size: Size) -> Verdict:
    from giantstep.measure import mean_and_error

    sizes, seeds, norms = measured(size, "full")
    naive, naive_se = slope(sizes, norms[:, :, 0], logarithm=False)
    true, true_se = slope(sizes, norms[:, :, 1], logarithm=True)
    mean, se = mean_and_error(norms, axis=1)
    limit, gap = trap_limit(), float(abs(mean[-1, 0] - trap_limit()) / se[-1, 0])
    stays = naive - 3 * naive_se > STAYS and abs(mean[-1, 0] / limit - 1) < max(0.05, 3 * se[-1, 0] / limit)
    decay = judge_decay(true, true_se)
    outcome = "holds" if stays and decay == "holds" else ("inconclusive" if decay == "inconclusive" else "fails")
    rows = tuple((n, *(float(v) for k in (0, 1) for v in (mean[i, k], se[i, k]))) for i, n in enumerate(sizes))
    return Verdict(
        outcome=outcome,
        sentence=f"Along Xᵀy the remainder stays: {mean[-1, 0]:.3f} ± {se[-1, 0]:.3f} at n = {sizes[-1]} (predicted {limit:.3f}, "
        f"{gap:.1f} s.e. away; slope {naive:.3f} ± {naive_se:.3f}). "
        f"Along Xᵀ(y − f₀) it decays as n^({true:.3f} ± {true_se:.3f}) √log n.",
        header=("n", "‖G − c₁aβᵀ‖", "s.e.", "‖G − c₁aβ_effᵀ‖", "s.e. "),
        rows=rows,
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}",
        figure=draw_decay(
            sizes,
            [(r"$\beta = X^\top\! y/n$", norms[:, :, 0]), (r"$\beta = X^\top\!(y - f_0)/n$", norms[:, :, 1])],
            limit,
        ),
        settings=tuple(talk.experiment(n, 0.0, talk.setting_1(), residual="full").id for n in sizes),
    )


RANK_ONE = Claim(
    name="moniri/rank-one",
    statement="The gradient is the rank-one matrix c₁aβᵀ, β = Xᵀy/n, up to an error of order n^-1/2 in operator norm.",
    paper="moniri",
    where="the rank-one approximation of the gradient, with the initial output left out of the residual",
    run=run,
)
TRAP = Claim(
    name="moniri/normalisation-trap",
    statement="With a ~ N(0, I/N) the initial output f₀ is of order one: the gradient is rank one along Xᵀ(y − f₀), and along "
    "Xᵀy an error of size c₁√(c₁² + φ E σ²) stays for ever.",
    paper="moniri",
    where="our correction to the rank-one approximation as the talk writes it",
    run=run_trap,
)
