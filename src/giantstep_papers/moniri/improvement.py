"""A step of size n^alpha improves on random features, in the middle of the first regimes."""

from collections.abc import Sequence
from itertools import product

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
    judging,
    statistics,
)
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.plot.formula import rounded
from giantstep_papers.moniri import talk
from giantstep_papers.shared import paired

CLAIM = Claim(
    order=13,
    quote="Let ℓ ∈ ℕ and η ≍ n^α with (ℓ−1)/(2ℓ) < α < ℓ/(2ℓ+2), then […] we have L_tr(F₀) − "
    "L_tr(F) →ᴾ Δ_tr > 0, L_te(F₀) − L_te(F) →ᴾ Δ_te > 0",
    place="Moniri's talk of March 2024, slide “Analysis of the Training/Test Errors”",
    kind="asymptotic limit",
    statement="For η ≍ n^α with (ℓ−1)/(2ℓ) < α < ℓ/(2ℓ+2) the gains over random features in "
    "training objective and test error tend to positive limits.",
    where="the improvements over random features, at one alpha in the middle of each of the "
    "regimes ℓ = 1, 2, 3",
    how="We measure the gain of the step over random features on the same draws, for two targets, "
    "both errors, three alphas and three n. Positive means a good part of the gain that the "
    "finite-size theory predicts. In that theory a good part of the gain at hand must stay up to "
    "n = 10¹².",
    judges=(
        Judge(
            "gain",
            side="above",
            relative=True,
            margin=(0.5, 0.25),
            departure=(1.0, 0.5),
            because="a term of order n^(−1/2) that theory leaves out",
        ),
        Judge(
            "gain in theory at large n",
            side="above",
            relative=True,
            margin=0.5,
            departure=1.0,
            because="the way to a limit that need not be the gain at hand",
        ),
    ),
    seeds={"quick": Seeds(30, 180), "full": Seeds(30, 240)},
)

# the middles of the regimes (l - 1)/(2l) < alpha < l/(2l + 2), l = 1, 2, 3
ALPHAS = (0.125, 0.29, 0.355)
SIZES = {"quick": (120, 200, 320), "full": (250, 500, 1000)}
FAR = (10**6, 10**9, 10**12)  # where theory shows that a gain stays


def measure(size: Size, seeds: range) -> Data:
    """The gains, (sizes, targets, errors, alphas, seeds)."""
    runs = [
        [paired.gains(paired.measured(n, ALPHAS, name, seeds)) for name in talk.targets()]
        for n in SIZES[size]
    ]
    return {"gains": np.array(runs)}


def predict(size: Size) -> Data:
    """The gains here and far away, (sizes, targets, errors, alphas), and lines for the figure.

    The lines are at the largest n along a fine grid.
    """
    fine = np.linspace(0.01, 0.495, 31)
    here, far = (np.array([_gains(n, ALPHAS) for n in sizes]) for sizes in (SIZES[size], FAR))
    lines = _gains(SIZES[size][-1], fine.tolist())
    return {"gains": here, "far": far, "fine": fine, "lines": lines}


def _gains(n: int, alphas: Sequence[float]) -> np.ndarray:
    """Predicted gains, (targets, errors, alphas)."""
    settings = [paired.experiment(n, alphas, target) for target in talk.targets().values()]
    return np.array([paired.gains(paired.predicted(setting)) for setting in settings])


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Every gain is positive at every n, and in theory it stays as n grows."""
    judge, each = judging(CLAIM, size), product(talk.LABELS, paired.ERRORS.values(), ALPHAS)
    cells = [f"{name}, {what}, alpha = {a:g}" for name, what, a in each]
    at, far = (
        [f"{cell}, n = {n:.3g}" for n in sizes for cell in cells] for sizes in (SIZES[size], FAR)
    )
    at_hand = np.tile(predicted["gains"][-1], (len(FAR), 1, 1, 1))
    return statistics.trend(
        judge("gain", measured["gains"], predicted["gains"], at=at),
        judge("gain in theory at large n", predicted["far"], at_hand, at=far, noisy=False),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, n = SIZES[size], SIZES[size][-1]
    mean, error = mean_and_error(measured["gains"])
    first, last = mean[0], mean[-1]
    i = int(last.argmin())
    ends = i, last.argmax()
    least, most = (f"{last.flat[k]:.3f} ± {error[-1].flat[k]:.3f}" for k in ends)
    return Verdict(
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        sentence="In the middle of all three regimes a giant step lowers both errors. At the "
        f"largest n the gains lie between {least} and {most}."
        if ruling.stated.outcome == "holds"
        else "",
        figure=_figure(n, last, error[-1], predicted),
        caption=f"A giant step lowers both errors of both targets, by {last.min():.3f} to "
        f"{last.max():.3f}.",
        settings=tuple(
            paired.experiment(n, ALPHAS, target).id for target in talk.targets().values()
        ),
        trend=f"The smallest gain goes from {first.flat[i]:.3f} to {last.flat[i]:.3f} between "
        f"n = {sizes[0]} and {n}. In theory it is {predicted['far'][-1].flat[i]:.3f} at "
        f"n = {rounded(FAR[-1])}.",
    )


def _figure(n: int, mean: np.ndarray, error: np.ndarray, predicted: Data) -> str:
    """The gains in both errors over the theory's lines."""
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for i, name in enumerate(talk.LABELS.values()):
            for j, (ax, label) in enumerate(zip(axes, paired.ERRORS.values(), strict=True)):
                look = {"color": style.COLOURS[i]}
                ax.plot(predicted["fine"], predicted["lines"][i, j], **look)
                look |= {"marker": "os"[i], "label": name}
                style.dots(ax, ALPHAS, mean[i, j], error[i, j], **look)
                ax.set_ylabel(f"gain in {label}")
        for ax in axes:
            paired.step_axis(ax, 0.5)
            ax.set(xlim=(0, 0.51), ylim=(0, None))
        axes[0].plot([], [], color=style.INK, label=f"theory at n = {n}")
        return style.svg(fig, below=3)
