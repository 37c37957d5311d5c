"""Feature learning: the trained law of neurons beats the kernel of its own prior,
and turns to the directions of the target."""

import numpy as np

import giantstep as gs
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
from giantstep.checks.random import Stream, normals
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.systems.mean_field import MeanField, dual
from giantstep.systems.mean_field.training import features

CLAIM = Claim(
    order=6,
    of="giantstep",
    statement="The mean-field network learns features, which the kernel of its prior cannot: its "
    "test loss is lower, and its neurons turn to the direction of the target.",
    where='abstract: "in the presence of feature learning"; the comparison with a kernel is ours; '
    "full size only",
    how="We put the regularised minimiser at λ = 0.001 beside ridge regression with the kernel of"
    " the same prior, whose penalty is the best of 24 on the test curves themselves. The log "
    "of the ratio of the test losses must be below 0 at every n. The share of the neurons "
    "along the target's direction must be at least twice the prior's. A pool of draws is the "
    "prior.",
    judges=(
        Judge(
            "log of the loss over the kernel's",
            side="below",
            margin=0.0,
            departure=0.1,
        ),
        Judge(
            "share of the target's direction over the prior's",
            side="above",
            margin=0.0,
            departure=0.4,
        ),
    ),
    seeds={"full": Seeds(32, 450)},
)

SIZES = (20, 40, 80, 160)  # n
DRAWS = 16384  # the pool that is the prior
LAM, DECAY, TEST = 0.001, 0.5, 500  # the penalty, the smoothness of the curves, curves of the test
# of the kernel, the best of which is taken on the test itself
PENALTIES = np.geomspace(1e-4, 30.0, 24)
GOAL = (2.0, -3.0)  # of the target tanh(2 x1 - 3 x2)
ALIGNED = 2.0  # times its share under the prior: the least that counts as learned


def compared(sizes: tuple[int, ...], draws: int, seed: int) -> np.ndarray:
    """At every n: test losses of the optimal network and of its prior's kernel,
    and the share of the target, (n, 3).

    The share is E <u, v>^2 / E |u|^2 in units of the prior, with v the target's direction,
    over that of the prior, 1/J.
    """
    s = gs.MeanField(2, penalty=LAM, decay=DECAY, data=seed)
    (X, y), (Xt, yt) = s.sample(0, max(sizes), 0), s.sample(0, TEST, 1)
    u = normals(seed, (Stream.SKETCH,), 0, draws, s.basis)
    H, Ht = (features(rows * s.deviations, u, s.training) for rows in (X, Xt))
    v = np.array(GOAL) / s.deviations[:2]
    along = (u[:, :2] @ v) ** 2 / (v @ v)
    rows = []
    for n in sizes:
        best = dual.optimum(H[:, :n], y[:n], LAM, s.loss)[1]
        share = s.basis * (best.weights @ along) / (best.weights @ np.sum(u**2, axis=1))
        loss = np.mean((best.weights @ Ht - yt) ** 2) / 2
        rows.append((loss, kernel_loss(H[:, :n], y[:n], Ht, yt), share))
    return np.array(rows)


def kernel_loss(H: np.ndarray, y: np.ndarray, Ht: np.ndarray, yt: np.ndarray) -> float:
    """The least test loss of kernel ridge regression with K = E_nu h(x) h(x') over the
    penalties."""
    values, vectors = np.linalg.eigh(H.T @ H / len(H))
    inside, seen = vectors.T @ y, (Ht.T @ H / len(H)) @ vectors
    outputs = seen @ (inside[:, None] / (np.maximum(values, 0.0)[:, None] + PENALTIES))
    return float(np.min(np.mean((outputs - yt[:, None]) ** 2, axis=0))) / 2


def measure(size: Size, seeds: range) -> Data:
    """Losses of network and kernel, and shares, (n, 3, seeds)."""
    return {"numbers": cache.over(compared, (SIZES, DRAWS), seeds)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The loss is below that of the kernel, and the share of the target above that of the prior."""
    network, kernel, share = np.moveaxis(measured["numbers"], 1, 0)
    at = [f"n = {n}" for n in SIZES]
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("log of the loss over the kernel's", np.log(network / kernel), 0.0, at=at),
        judge("share of the target's direction over the prior's", share, ALIGNED, at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    network, kernel, share = np.moveaxis(measured["numbers"].mean(axis=-1), 1, 0)
    ratio = network / kernel
    sentence = (
        f"The network's test loss is {ratio.min():.2f} to {ratio.max():.2f} times that of its "
        f"prior's kernel, at the kernel's best penalty. Its neurons have {share.min():.1f} to "
        f"{share.max():.1f} times the prior's share along the target."
    )
    return Verdict(
        sentence=sentence if ruling.stated.outcome == "holds" else "",
        sizes=f"J = {MeanField.basis}, λ = {LAM:g}, curves with decay {DECAY:g}, {DRAWS} draws "
        f"of the prior, {TEST} test curves",
        figure=_figure(measured["numbers"]),
        caption="The network errs less than the kernel of its prior (left), and its neurons turn "
        "to the target's direction (right).",
        trend=f"The ratio of the losses is {ratio[0]:.2f} at the smallest n and {ratio[-1]:.2f} at "
        "the largest.",
    )


def _figure(numbers: np.ndarray) -> str:
    n, (mean, error) = np.array(SIZES), mean_and_error(numbers)
    with style.figure(2, width=3.7, height=3.0) as (fig, (left, right)):
        for k, name in enumerate(("mean-field network", "kernel of the prior")):
            style.dots(
                left, n, mean[:, k], error[:, k], color=style.COLOURS[k], marker="os"[k], label=name
            )
        left.set(ylabel="test error")
        ticks.logarithmic(left, "y")
        left.legend()
        right.axhline(1, color=style.INK, linewidth=0.8, linestyle=":")
        look = {"color": style.COLOURS[2], "label": "share along the target"}
        style.dots(right, n, mean[:, 2], error[:, 2], **look)
        right.set(ylabel="share along the target,\nover the share under the prior", ylim=(0, None))
        for ax in (left, right):
            ticks.logarithmic(ax, "x", n)
            ax.set_xlabel("curves n")
        return style.svg(fig)
