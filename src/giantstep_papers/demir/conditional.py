"""On a mixture with spikes conditional Gaussian features have the network's errors.

They are Gaussian given the component, its spikes and the step.
"""

from typing import Any

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
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks

CLAIM = Claim(
    order=7,
    quote="(Informal Statement) The following two feature maps are equivalent in terms of "
    "generalization (and training) errors […] conditioned on (i) c: mixture component index, "
    "(ii) κ_c: alignment of the input sample with the spikes in data covariance and gradient.",
    place="ICLR slides of Demir and Dogan, “Theorem: Conditional Gaussian Equivalence”",
    kind="asymptotic limit",
    statement="The original feature map is equivalent, in terms of generalization (and training) "
    "errors, to a conditional Gaussian feature map, conditioned on the mixture component and "
    "on the alignment of the input with the spikes in data covariance and gradient.",
    where="theorem 3, in the setting of figure 4: components of mean zero, as the theorem assumes, "
    "and labels along the spikes",
    how="For both errors log(model/network) on the same draws must be 0. The penalty is ten times "
    "the paper's, away from interpolation, where errors scatter most.",
    judges=(
        Judge(
            "log of the model's error over the network's",
            margin=(0.05, 0.02),
            departure=(0.1, 0.04),
            because="entries of order 1/n of the remaining covariance, which are left out",
        ),
    ),
    seeds={"quick": Seeds(8, 30), "full": Seeds(14, 80)},
)

JUDGED = "log of the model's error over the network's"
Case = tuple[str, float, float]
CASES: dict[Size, tuple[Case, ...]] = {
    "quick": (("relu", 0.0, 0.74), ("relu", 1.0, 1.0), ("tanh", 0.0, 0.74)),
    "full": (
        ("relu", 0.0, 0.74),
        ("relu", 0.0, 0.86),
        ("relu", 0.5, 1.0),
        ("relu", 1.0, 1.0),
        ("tanh", 0.0, 0.74),
        ("tanh", 1.0, 1.0),
    ),
}  # activation, alpha, beta; at alpha = beta = 1 the step does most
SIZES = {"quick": 200, "full": 800}  # n; m = k = 5n/4 as in their figure 4
# lambda n, ten times the paper's: without it errors at k = m scatter by a tenth, at interpolation
PENALTY = 1.0
TEST = 4  # test samples over n
# the training error is theirs, with the penalty's term
ERRORS = {"test_error": "test error", "train_objective": "training error"}


def experiment(n: int, case: Case, *, baseline: bool = False) -> gs.Setting:
    """Labels along the sum of the spikes; with a baseline at step sizes 0 and n^(alpha beta)."""
    activation, alpha, beta = case
    eta: Any = [0.0, float(n) ** (alpha * beta)] if baseline else None
    m = 5 * n // 4
    options: Any = {"alpha": alpha, "beta": beta, "spiked_target": True, "activation": activation}
    return gs.presets.demir(n, m, m, eta, PENALTY / n, **options)


def network(n: int, case: Case, seeds: range) -> np.ndarray:
    """Both errors (errors, no step and the step, seeds)."""
    setting = experiment(n, case, baseline=True)
    outcome = cache.simulate(setting, seeds, n_test=TEST * n, dtype="float32", method="dense")
    return np.array([getattr(outcome, name) for name in ERRORS])


def replaced(n: int, case: Case, seeds: range, model: str, **options: Any) -> np.ndarray:
    """Both errors (errors, seeds) of an equivalent model on the same draws."""
    setting = experiment(n, case)
    outcome = cache.equivalent(setting, model, seeds, n_test=TEST * n, dtype="float32", **options)
    return np.array([getattr(outcome, name) for name in ERRORS])


def measure(size: Size, seeds: range) -> Data:
    """Errors of the network and of the model, and the variance of the labels.

    They are (cases, errors, no step and the step, seeds), (cases, errors, seeds) and (cases,).
    """
    n, cases = SIZES[size], CASES[size]
    return {
        "network": np.array([network(n, case, seeds) for case in cases]),
        "model": np.array([replaced(n, case, seeds, "conditional") for case in cases]),
        "variance": np.array([gs.labels(experiment(n, case)).total for case in cases]),
    }


def gaps(measured: Data) -> np.ndarray:
    """log(model) - log(network), (cases, errors, seeds)."""
    return np.log(measured["model"] / measured["network"][:, :, 1])


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Both errors of the model and the network in every case."""
    off = gaps(measured)
    at = [
        f"{a}, α = {alpha:g}, β = {beta:g}, {what}"
        for a, alpha, beta in CASES[size]
        for what in ERRORS.values()
    ]
    judge = judging(CLAIM, size)
    return statistics.stated(judge("log model/network", off, by=JUDGED, at=at))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, cases, off = SIZES[size], CASES[size], gaps(measured)
    share = measured["network"][:, 0].mean(axis=-1) / measured["variance"][:, None]
    largest = [i for i, case in enumerate(cases) if case == ("relu", 1.0, 1.0)][0]
    return Verdict(
        sentence=f"{ruling.stated.sentence} The longest step takes the test error of the ReLU "
        f"network from {share[largest, 0]:.3f} to {share[largest, 1]:.3f} of the labels' variance.",
        sizes=f"n = {n}; m = k = {5 * n // 4}; λ = {PENALTY / n:g}; labels along γ₁ + γ₂",
        figure=_figure(size, measured, off),
        caption="In every setting the conditional model is within "
        f"{100 * np.abs(off.mean(axis=-1)).max():.1f}% of the network (right).",
        settings=tuple(experiment(n, case).id for case in cases),
    )


def _figure(size: Size, measured: Data, off: np.ndarray) -> str:
    cases, x = CASES[size], np.arange(len(CASES[size]))
    with style.figure(2, width=4.3, height=3.3) as (fig, (left, right)):
        unit = measured["variance"][:, None]
        looks = (
            (
                "network, no step",
                measured["network"][:, 0, 0],
                {"color": style.INK, "marker": "s", "markerfacecolor": "white"},
            ),
            ("network", measured["network"][:, 0, 1], {"color": style.COLOURS[0]}),
            (
                "conditional model",
                measured["model"][:, 0],
                {"color": style.COLOURS[1], "marker": "x", "markersize": 6},
            ),
        )
        for j, (label, values, look) in enumerate(looks):
            style.dots(
                left, x + 0.14 * (j - 1), *mean_and_error(values / unit), label=label, **look
            )
        left.set_ylabel("test error / Var y")
        ticks.logarithmic(left)
        margin = 100 * judging(CLAIM, size).tolerance(JUDGED).margin
        right.axhspan(
            -margin, margin, color=style.INK, alpha=0.07, linewidth=0, label=f"margin, ±{margin:g}%"
        )
        right.axhline(0, color=style.INK, linewidth=0.8)
        for i, what in enumerate(ERRORS.values()):
            mean, error = mean_and_error(100 * off[:, i])
            look = {"color": style.COLOURS[1 + i], "marker": "xo"[i]}
            style.dots(right, x + 0.16 * (i - 0.5), mean, error, label=what, **look)
        right.set_ylabel("log(model / network), %")
        for ax in (left, right):
            ax.set_xticks(x, [f"{a}\n{alpha:g}, {beta:g}" for a, alpha, beta in cases])
            ax.set_xlabel("activation; α, β")
            ax.margins(x=0.12)
        fig.legend(*left.get_legend_handles_labels(), loc="outside lower left", ncols=3)
        fig.legend(*right.get_legend_handles_labels(), loc="outside lower right", ncols=3)
        return style.svg(fig)
