"""The test error after one step of size eta ~ sqrt(n) has a limit: features that are Gaussian given the learned direction."""

from typing import NamedTuple

import numpy as np

import giantstep as gs
from giantstep.checks import cache, statistics
from giantstep.checks.cache import one_blas_thread
from giantstep.checks.claim import Data, Ruling, Size, Verdict
from giantstep.checks.statistics import Evidence, Seeds
from giantstep.claims import fit
from giantstep.claims.claim import claim
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.simulate import train

DIMENSIONS = {"quick": 250, "full": 2000}  # d = p
SEEDS: dict[Size, Seeds] = {"quick": Seeds(12, 60), "full": Seeds(10, 60)}
RULE = {
    "quick": {"margin": 0.04, "departure": 0.1},
    "full": {"margin": 0.015, "departure": 0.04},
}  # of a predicted error
RATIOS = (0.3, 0.6, 1.0, 2.0, 3.0)  # n/d
LINE = (0.2, 3.0, 29)  # n/d where the line is predicted


class NotebookCase(NamedTuple):
    """An experiment of the paper's notebooks: teacher, step size, samples of the step over d, and penalty, in its units."""

    teacher: str
    eta: float
    step_samples: float
    penalty: float


CASES = (NotebookCase("sin(x1)", 3.0, 20.0, 0.1), NotebookCase("tanh(x1)", 1.0, 0.5, 0.01))


def experiment(case: NotebookCase, d: int, ratio: float) -> Setting:
    """The preset with d = p, a tanh network and n = ratio d."""
    first, n = round(case.step_samples * d), round(ratio * d)
    return gs.presets.cui(first, n, d, d, case.eta, case.penalty, target=case.teacher)


def limit(case: NotebookCase, d: int, ratio: float) -> float:
    """The test error predicted."""
    return float(gs.theory(experiment(case, d, ratio)).test_error)


def errors(teacher: str, eta: float, step_samples: float, penalty: float, d: int, seed: int) -> list[float]:
    """Test errors at every n/d: one step, and the readout on the first rows of the largest batch."""
    case = NotebookCase(teacher, eta, step_samples, penalty)
    largest = experiment(case, d, max(RATIOS))
    X, y, Xt, yt = fit.samples(largest, seed, 4000)
    with one_blas_thread(d):
        W = train(largest, seed, memory=4.0).final
        F, Ft, losses = np.tanh(X @ W.T), np.tanh(Xt @ W.T), []
        for ratio in RATIOS:
            readout = experiment(case, d, ratio).protocol.readout
            losses.append(fit.error(F[: readout.n], y[: readout.n], Ft, yt, readout.penalty))  # type: ignore[union-attr, arg-type]
    return losses


def measure(size: Size, seeds: range) -> Data:
    """Test errors, (cases, n/d, seeds)."""
    runs = cache.each(errors, [(*case, DIMENSIONS[size], seed) for case in CASES for seed in seeds])
    return {"errors": np.moveaxis(np.reshape(runs, (len(CASES), len(seeds), -1)), 1, -1)}


def predict(size: Size) -> Data:
    """Test errors, (cases, n/d), and along the line."""
    d = DIMENSIONS[size]
    return {
        "errors": np.array([[limit(case, d, r) for r in RATIOS] for case in CASES]),
        "lines": np.array([[limit(case, d, r) for r in np.linspace(*LINE)] for case in CASES]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The mean test error of every case and n/d against the prediction."""
    at = [f"{case.teacher}, n = {ratio:g}d" for case in CASES for ratio in RATIOS]
    return Evidence(
        (statistics.compare("test error", measured["errors"], predicted["errors"], at=at, relative=True, **RULE[size]),)
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d = DIMENSIONS[size]
    means, errors = mean_and_error(measured["errors"])
    return Verdict(
        sizes=f"d = p = {d}; "
        + "; ".join(f"{c.teacher}: η = {c.eta:g}, n₀ = {c.step_samples:g}d, λ = {c.penalty:g}" for c in CASES),
        figure=_figure(d, means, errors, predicted),
        caption="Test error against samples per dimension. Each panel has one teacher, with simulated dots over the predicted "
        f"line, from n = {RATIOS[0]:g}d to {RATIOS[-1]:g}d: "
        + "; ".join(f"{c.teacher} {m[0]:.3f} to {m[-1]:.3f}" for c, m in zip(CASES, means, strict=True))
        + ".",
        settings=tuple(experiment(case, d, r).id for case in CASES for r in RATIOS),
    )


def _figure(d: int, means: np.ndarray, errors: np.ndarray, predicted: Data) -> str:
    with style.figure(len(CASES), width=3.5, height=2.9) as (fig, axes):
        for i, (ax, case) in enumerate(zip(axes, CASES, strict=True)):
            colour = style.COLOURS[i]
            ax.plot(np.linspace(*LINE), predicted["lines"][i], color=colour, label="theory")
            style.dots(ax, RATIOS, means[i], errors[i], color=colour, label=f"simulation, d = p = {d}")
            ax.set(xlabel="samples per dimension n/d", ylabel="test error")
            ax.set_ylim(0, None)
            teacher = case.teacher.replace("x1", "x₁")
            ax.set_title(
                f"y = {teacher}, η = {case.eta:g}, n₀ = {case.step_samples:g}d, λ = {case.penalty:g}", loc="left"
            )
            ax.legend()
        return style.svg(fig)


CLAIM = claim("cui/test-error", measure=measure, predict=predict, compare=compare, describe=describe, seeds=SEEDS)
