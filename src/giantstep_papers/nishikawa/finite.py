"""Finite sample: dual coordinate ascent closes the excess exponentially,
at least at the guaranteed rate."""

import numpy as np

from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.systems.mean_field import dual
from giantstep_papers.nishikawa import exact

CLAIM = Claim(
    order=2,
    quote="their rates of convergence are of polynomial order in the online setting and exponential"
    " order in the finite sample setting, respectively",
    place="abstract only",
    kind="upper bound",
    statement="In the finite sample setting the rate of convergence is of exponential order.",
    where="abstract; two losses, and a guarantee whose constants are ours "
    "(giantstep.systems.mean_field.dual)",
    how="The share of the dual excess that a pass leaves must be at most the guaranteed one, in "
    "earlier and in later passes alike. At a polynomial order later passes would leave more "
    "and more. The report says how much faster the method is. A pool of draws is the prior.",
    judges=(
        Judge(
            "share left by a pass over the guaranteed one",
            side="below",
            percent=True,
            margin=0.0,
            departure=(0.1, 0.04),
        ),
    ),
    seeds={"quick": Seeds(24, 60), "full": Seeds(120, 1600)},
)

# loss, lam, the passes (first, last) whose steps are compared: the excess must be small there,
# so that it is quadratic
CASES = {
    "square, λ = 0.004": ("square", 0.004, 5, 15),
    "logistic, λ = 0.002": ("logistic", 0.002, 12, 22),
}
CURVES = {"quick": 40, "full": 100}
STREAMS = 3  # orders of the curves that are drawn for a seed


def shares(loss: str, lam: float, first: int, last: int, n: int, seed: int) -> np.ndarray:
    """Mean share of the dual excess D* - D that a pass leaves, measured and predicted,
    and then the first stream's excess.

    The prediction is the mean over orders of the curves, given the dual variables before the pass.
    """
    solved = exact.optimum(loss, lam, n, seed)
    B = exact.after_a_pass(*(near := exact.curvature(solved, lam, loss)))
    found, predicted, curve = [], [], np.zeros(0)
    for stream in range(STREAMS):
        g = exact.duals(loss, lam, "finite", n, last, seed, stream)
        excess = solved.best.dual - dual.path(solved.H, solved.y, g, lam, loss)[1]
        d = g[first:last] - solved.g
        expected = np.einsum("pi,ij,pj->p", d, B, d) / np.einsum("pi,ij,pj->p", d, near[0], d)
        # excess(p + 1)/excess(p) has the mean `expected` given the state at p
        found.append(np.mean(excess[first + 1 : last + 1] / excess[first:last] / expected))
        predicted.append(np.mean(expected))
        curve = excess / excess[0] if not stream else curve
    return np.array([np.mean(found) * np.mean(predicted), np.mean(predicted), *curve])


def measure(size: Size, seeds: range) -> Data:
    """For every case: shares measured and predicted, and excess along a run,
    (2 + passes + 1, seeds)."""
    return {name: cache.over(shares, (*case, CURVES[size]), seeds) for name, case in CASES.items()}


def predict(size: Size) -> Data:
    """The guaranteed share, (1 - 1/(n + B^2 L/lam))^n."""
    n = CURVES[size]
    return {
        name: (1 - dual.contraction(n, 1.0, lam, loss)) ** n
        for name, (loss, lam, *_) in CASES.items()
    }


def halves(measured: Data) -> np.ndarray:
    """The mean share that a pass leaves over the first and the second half of the passes compared,
    (cases, 2, seeds)."""
    found = []
    for case, (*_, first, last) in CASES.items():
        run, middle = measured[case][2:], (first + last) // 2
        share = run[1:] / run[:-1]
        found.append([share[first:middle].mean(axis=0), share[middle:last].mean(axis=0)])
    return np.array(found)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The share that a pass leaves, earlier and later, over the guaranteed one:
    a slower order would leave more and more."""
    guaranteed = np.array([predicted[case] for case in CASES])[:, None]
    at = [f"{case}, {half}" for case in CASES for half in ("earlier passes", "later passes")]
    over = halves(measured) / guaranteed[..., None]
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("share left by a pass over the guaranteed one", over, 1.0, at=at)
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n = CURVES[size]
    left = halves(measured).mean(axis=-1)
    faster = np.log(left) / np.log([[predicted[case]] for case in CASES])
    return Verdict(
        sentence=f"The method converges {faster.min():.1f} to {faster.max():.1f} times as fast as "
        "guaranteed. The constants of the guarantee are ours.",
        sizes=f"n = {n}, J = {exact.BASIS}, a pool of {exact.POOL} draws as the prior, B = 1, "
        f"{STREAMS} orders of the curves a seed",
        figure=_figure(measured, predicted),
        caption="Every run falls faster than the guarantee (dashed), and at the rate of the "
        "linearised method (solid).",
        settings=tuple(
            exact.system(*case[:2], "finite", n, case[-1]).id for case in CASES.values()
        ),
        looseness=float(np.median(faster)),
    )


def _figure(measured: Data, predicted: Data) -> str:
    with style.figure(len(CASES), width=3.3, height=3.0) as (fig, axes):
        panels = zip(axes, CASES.items(), style.COLOURS, strict=False)
        for ax, (case, (*_, first, last)), colour in panels:
            runs, passes = measured[case][2:], np.arange(last + 1)
            ax.plot(passes, runs[:, :12], color=colour, linewidth=0.6, alpha=0.5)
            ax.plot([], [], color=colour, linewidth=0.6, label="runs")
            log, _ = mean_and_error(np.log(runs[first]))
            slope = np.log(measured[case][1].mean())
            ax.plot(
                passes[first:],
                np.exp(log + slope * (passes[first:] - first)),
                color=style.INK,
                label="linearised",
            )
            ax.plot(
                passes,
                predicted[case] ** passes,
                "--",
                color=style.INK,
                linewidth=1,
                label="guarantee",
            )
            ax.set(yscale="log", xlabel="passes", title=case)
        axes[0].set_ylabel("(D* − D) over its start")
        return style.svg(fig, below=3)
