"""One giant step beats ridge regression on the inputs, random features and the kernel; a step of
order one does not."""

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
from giantstep.plot import style, ticks
from giantstep_papers.ba import rivals
from giantstep_papers.ba.rivals import METHODS
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=1,
    quote="For small η, […] cannot defeat the best linear model on the input. Whereas for "
    "sufficiently large η, […] for certain f*, […] can go beyond this ‘linear regime’ and "
    "outperform a wide range of (fixed) kernels.",
    place="abstract, NeurIPS 2022 (arXiv:2205.01445)",
    kind="asymptotic limit",
    statement="With a small step size η the network cannot defeat the best linear model on the "
    "input. For sufficiently large η it goes, for certain targets, beyond the linear regime and "
    "outperforms a wide range of fixed kernels.",
    where="the two learning rates, η = Θ(1) and η = Θ(√N), for one target that the step can learn: "
    "y = x1 + H2(x1)/√2 + noise, with ReLU; the kernel is the rotation invariant one of "
    "infinitely many neurons",
    how="On the same samples the small step must have a larger risk than ridge regression on the "
    "inputs. The giant step must have a smaller one than this, random features and the "
    "kernel, each at its best penalty. All five risks must be those predicted.",
    judges=(
        Judge(
            "test error",
            relative=True,
            margin=(0.045, 0.02),
            departure=(0.12, 0.04),
            mean=((0.045, 0.02), (0.1, 0.04)),
            because="corrections of order 7/d",
        ),
        Judge(
            "log of the giant step's error over a rival's",
            side="below",
            margin=0.0,
            departure=(0.1, 0.04),
        ),
        Judge(
            "log of the small step's error over that of ridge on the inputs",
            side="above",
            margin=0.0,
            departure=(0.1, 0.04),
        ),
    ),
    seeds={"quick": Seeds(16, 60), "full": Seeds(36, 190)},
)

DIMENSIONS = {"quick": 160, "full": 400}
RATIOS = {"quick": (1.0, 4.0), "full": (1.0, 2.0, 4.0, 8.0)}  # n/d
LINE = np.geomspace(1, 8, 9)  # n/d where the lines are predicted
LINEAR = METHODS.index("ridge on the inputs")


def measure(size: Size, seeds: range) -> Data:
    """Test errors (n/d, methods, seeds), at the penalties that theory calls best, without what
    controls explain."""
    d, ratios = DIMENSIONS[size], RATIOS[size]
    numbers = cache.over(rivals.errors, [(d, r, rivals.least(d, r)[1]) for r in ratios], seeds)
    count = len(METHODS)
    return {"errors": np.array([controlled(each[:count], each[count:]) for each in numbers])}


def predict(size: Size) -> Data:
    """Least test errors (n/d, methods), and those along the lines."""
    d = DIMENSIONS[size]
    return {
        "errors": np.array([rivals.least(d, r)[0] for r in RATIOS[size]]),
        "lines": np.array([rivals.least(d, float(r))[0] for r in LINE]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Every test error against its prediction; and on the same samples the giant step below its
    rivals, the small one above linear regression."""
    logs, ratios = np.log(measured["errors"]), RATIOS[size]
    at = [f"{method}, n = {ratio:g}d" for ratio in ratios for method in METHODS]
    rivals_at = [f"{method}, n = {ratio:g}d" for ratio in ratios for method in METHODS[2:]]
    giant = logs[:, :1] - logs[:, 2:]
    small = logs[:, 1] - logs[:, LINEAR]
    judge = judging(CLAIM, size)
    return statistics.stated(
        *judge.each_and_mean("test error", measured["errors"], predicted["errors"], at=at),
        judge("log of the giant step's error over a rival's", giant, at=rivals_at),
        judge(
            "log of the small step's error over that of ridge on the inputs",
            small,
            at=[f"n = {ratio:g}d" for ratio in ratios],
        ),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, ratios = DIMENSIONS[size], RATIOS[size]
    mean, se = mean_and_error(measured["errors"])
    last = dict(zip(METHODS, mean[-1], strict=True))
    rest, rival = min((value, name) for name, value in last.items() if name != "giant step")
    return Verdict(
        sentence=f"With the most samples the test error is {last['giant step']:.3f} after the "
        f"giant step. The best of the others, the {rival}, has {rest:.3f}. "
        f"{ruling.stated.sentence}",
        sizes=f"d = {d}, p = {rivals.WIDTH}d, n/d = {', '.join(f'{r:g}' for r in ratios)}",
        figure=_figure(d, ratios, mean, se, predicted),
        caption=f"The giant step reaches a test error of {last['giant step']:.2f}, and the best "
        f"of the other methods {rest:.2f}.",
        settings=tuple(rivals.experiment(d, r, list(rivals.least(d, r)[1][:3])).id for r in ratios),
    )


def _figure(
    d: int, ratios: tuple[float, ...], mean: np.ndarray, se: np.ndarray, predicted: Data
) -> str:
    labels = ("one step, η = √p", f"one step, η = {rivals.SMALL:g}", *METHODS[2:])
    with style.figure(width=5.6) as (fig, ax):
        for i, (method, label, marker) in enumerate(zip(METHODS, labels, "osD^o", strict=True)):
            colour, thin = style.COLOURS[(1, 4, 3, 0, 2)[i]], method == "kernel"
            line = {"linestyle": (0, (4, 3)), "linewidth": 2} if thin else {}
            ax.plot(LINE, predicted["lines"][:, i], color=colour, **line)
            look = {"color": colour, "marker": marker, "label": label, "zorder": 4 if thin else 3}
            hollow = {"markerfacecolor": "white", "markersize": 3} if thin else {}
            style.dots(ax, ratios, mean[:, i], se[:, i], **look, **hollow)
        ax.plot([], [], color=style.INK, label="theory")
        ax.set(xlabel="samples per dimension n/d", ylabel="test error at the best penalty")
        ticks.logarithmic(ax, "x", [1, 2, 4, 8])
        ax.set_title(rf"$y = x_1 + H_2(x_1)/\sqrt{{2}}$ + noise, d = {d}, p = {rivals.WIDTH * d}")
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        return style.svg(fig)
