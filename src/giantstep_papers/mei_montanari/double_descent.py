"""Double descent of random features: the test error against the width peaks at p = n, and its
limit is known."""

import numpy as np
from jaxtyping import Float

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
from giantstep.checks.cache import one_blas_thread
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep_papers.shared import population

CLAIM = Claim(
    order=1,
    quote="We compute the precise asymptotics of the test error, in the limit N, n, d → ∞ with N/d "
    "and n/d fixed. This provides the first analytically tractable model that captures all "
    "the features of the double descent phenomenon",
    place="abstract only",
    kind="asymptotic limit",
    statement="The test error of random features has precise asymptotics with N/d and n/d fixed, "
    "which capture all the features of the double descent phenomenon.",
    where="the limiting test error of random-feature ridge regression, and its double descent at "
    "a small penalty",
    how="We compare population risks of ridge fits, averaged over the label noise and the "
    "direction of the target, with the predicted limits at seven widths and three penalties. "
    "At the smallest penalty the error at p = n must exceed that at p = 0.6n, 2n and 4n on "
    "the same draws.",
    judges=(
        Judge(
            "test error",
            relative=True,
            margin=(0.04, 0.015),
            departure=(0.1, 0.04),
            because="corrections of order 6/d",
        ),
        Judge(
            "log of the error at p = n over another",
            side="above",
            margin=0.0,
            departure=(0.2, 0.1),
        ),
    ),
    seeds={"quick": Seeds(6, 16), "full": Seeds(6, 24)},
)

DIMENSIONS = {"quick": 150, "full": 400}
SAMPLES = 3  # n/d
WIDTHS = (0.3, 0.6, 0.8, 1.0, 1.25, 2.0, 4.0)  # p/n
BESIDE = (0.6, 2.0, 4.0)  # widths that the peak at p = n must exceed
PENALTIES = (1e-4, 1e-3, 1e-1)  # in the paper's units: ours is p/d times as large


def experiment(d: int, width: float) -> gs.Setting:
    """The preset at n = 3d and p = width n; y = x1 + noise."""
    n = SAMPLES * d
    return gs.presets.mei_montanari(n, d, round(width * n), PENALTIES, noise=0.5)


def errors(d: int, seed: int) -> Float[np.ndarray, "widths penalties"]:
    """Test errors of ridge fits given inputs and neurons; the networks are the first neurons of
    the widest."""
    widest = experiment(d, max(WIDTHS))
    W, _ = draw.weights(widest, seed)
    X, _ = draw.rows(widest, seed, draw.readout_batch(widest))
    with one_blas_thread(d):
        F, second = np.maximum(X @ W.T, 0), population.relu_kernel(W, W)
        found = []
        for setting in (experiment(d, width) for width in WIDTHS):
            p, noise = setting.p, setting.target.noise
            penalties = np.atleast_1d(setting.protocol.readout.penalty)  # type: ignore[union-attr]
            found.append(mean_risks(X, F[:, :p], second[:p, :p], W[:p] / 2, penalties, noise))
    return np.array(found) + widest.target.noise**2


def mean_risks(
    X: Float[np.ndarray, "n d"],
    F: Float[np.ndarray, "n p"],
    second: Float[np.ndarray, "p p"],
    cross: Float[np.ndarray, "p d"],
    penalties: Float[np.ndarray, " L"],
    noise: float,
) -> Float[np.ndarray, " L"]:
    """The population risk of ridge fits to y = <beta, x> + noise, averaged over beta on the unit
    sphere and the noise.

    The fit is b = M y with M = (F^T F/n + lam)^{-1} F^T/n.
    With second moments K of the features and cross moments H = E f x^T,

        risk = 1 - (2/d) tr H^T M X + (1/d) tr X^T M^T K M X + noise^2 tr M^T K M.

    Averaging leaves the noise of X and W alone.
    """
    (n, p), d = F.shape, X.shape[1]
    if p <= n:  # F^T F/n = Q q Q^T, M = Q D Q^T F^T/n with D = 1/(q + lam)
        q, Q = np.linalg.eigh(F.T @ F / n)
        left, right, energy = Q, Q.T @ (F.T @ X / n), q / n
    else:  # F F^T/n = Q q Q^T, M = (F^T Q/n) D Q^T
        q, Q = np.linalg.eigh(F @ F.T / n)
        left, right, energy = F.T @ Q / n, Q.T @ X, np.ones(n)
    K, H = left.T @ second @ left, left.T @ cross
    risks = []
    for penalty in penalties:
        D = 1 / (np.maximum(q, 0) + penalty)
        fit = D[:, None] * right
        bias = 1 - 2 / d * np.sum(H * fit) + np.sum(fit * (K @ fit)) / d
        risks.append(bias + noise**2 * np.sum(D**2 * np.diag(K) * energy))
    return np.array(risks)


def measure(size: Size, seeds: range) -> Data:
    """Test errors (widths, penalties, seeds)."""
    return {"errors": cache.over(errors, (DIMENSIONS[size],), seeds)}


def predict(size: Size) -> Data:
    """Test errors in the proportional limit, (widths, penalties), and on a fine grid of widths."""
    d = DIMENSIONS[size]
    ratios = np.unique(np.concatenate([np.geomspace(0.25, 5, 36), np.linspace(0.9, 1.1, 13)]))
    return {
        "limits": np.array([gs.theory(experiment(d, width)).test_error for width in WIDTHS]),
        "ratios": ratios,
        "lines": np.array([gs.theory(experiment(10 * d, width)).test_error for width in ratios]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Every test error against its limit, and at the smallest penalty that at p = n against
    other widths, on the same draws."""
    at = [f"p = {width:g}n, λ = {penalty:g}" for width in WIDTHS for penalty in PENALTIES]
    logs = np.log(measured["errors"][:, 0])
    above = logs[WIDTHS.index(1.0)] - logs[[WIDTHS.index(width) for width in BESIDE]]
    beside = [f"p = {width:g}n" for width in BESIDE]
    judge = judging(CLAIM, size)
    levels = judge("test error", measured["errors"], predicted["limits"], at=at)
    peak = judge("log of the error at p = n over another", above, at=beside)
    return statistics.stated(levels, peak)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, (mean, se) = DIMENSIONS[size], mean_and_error(measured["errors"])
    at = WIDTHS.index(1.0)
    return Verdict(
        sizes=f"d = {d}, n = {SAMPLES}d, p/n = {', '.join(f'{r:g}' for r in WIDTHS)}",
        figure=_figure(d, mean, se, predicted),
        caption=f"At the smallest penalty the test error peaks at p = n, at {mean[at, 0]:.1f}, "
        "and a larger penalty takes the peak away.",
        settings=tuple(experiment(d, r).id for r in WIDTHS),
    )


def _figure(d: int, mean: np.ndarray, se: np.ndarray, predicted: Data) -> str:
    with style.figure(width=4.6) as (fig, ax):
        for k, (penalty, marker) in enumerate(zip(PENALTIES, "osD", strict=True)):
            colour, name = style.COLOURS[k], f"λ = $10^{{{np.log10(penalty):.0f}}}$"
            ax.plot(predicted["ratios"], predicted["lines"][:, k], color=colour)
            style.dots(ax, WIDTHS, mean[:, k], se[:, k], color=colour, marker=marker, label=name)
        ax.plot([], [], color=style.INK, label="limit")
        ax.axvline(1, color=style.INK, linewidth=0.8, linestyle=":")
        ax.set(xlabel="neurons per sample p/n", ylabel="test error")
        ticks.logarithmic(ax, "x", [0.25, 0.5, 1, 2, 4])
        ticks.logarithmic(ax, "y", [0.5, 1, 2, 4])
        ax.set_title(f"y = x₁ + noise, ReLU, d = {d}, n = {SAMPLES}d")
        ax.legend()
        return style.svg(fig)
